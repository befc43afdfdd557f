/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck-gate PROGRAM ARGUMENT...
 * agentdeck-gate --while PID
 * agentdeck-gate --below PID PROGRAM ARGUMENT...
 *
 * Waits for one byte on descriptor 0 and then becomes PROGRAM.  It exits when descriptor 0 ends
 * without a byte.  agentdeck starts it, has the user manager put a scope around it, and then sends
 * the byte.  So no process of a run exists outside the run's scope, and none remains when agentdeck
 * dies in between.
 *
 * PROGRAM without a slash is searched in PATH as execvp(3) does, but only in its absolute folders:
 * the working directory is the session's, and files there are not ours to run.
 *
 * --while: exits when the process PID does.
 *
 * --below: becomes PROGRAM at once, which gets SIGTERM when its parent, the process PID, ends in
 * whatever way.
 *
 * Exit status: 75 no byte came, or the process PID has ended, 127 PROGRAM does not exist, 126 it
 * cannot be executed.
 */
#include "base/libc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NOT_YET = 75, NOT_EXECUTED = 126, NOT_FOUND = 127 };

/* Returns only on failure, with errno set. */
static void become(char *argv[])
{
	const char *folder = getenv("PATH");
	char path[PATH_MAX];
	int why = ENOENT;

	if (strchr(argv[0], '/')) {
		execv(argv[0], argv);
		return;
	}
	for (folder = folder ? folder : "/usr/local/bin:/usr/bin:/bin"; *folder;) {
		size_t length = strcspn(folder, ":");
		int n = snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, argv[0]);
		if (*folder == '/' && n < (int)sizeof(path)) {
			execv(path, argv);
			if (errno != ENOENT && errno != ENOTDIR)
				why = errno;
		}
		folder += length + (folder[length] == ':');
	}
	errno = why;
}

static int try_to_become(char *argv[])
{
	become(argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	return errno == ENOENT ? NOT_FOUND : NOT_EXECUTED;
}

static int wait_for(const char *pid)
{
	struct pollfd event = { .fd = pidfd_open((pid_t)strtol(pid, NULL, 10), 0),
				.events = POLLIN };

	while (event.fd >= 0 && poll(&event, 1, -1) < 0 && errno == EINTR)
		;
	return 0;
}

static int become_below(const char *pid, char *argv[])
{
	/* The parent may have ended before we asked for its signal. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != (pid_t)strtol(pid, NULL, 10))
		return NOT_YET;
	return try_to_become(argv);
}

int main(int argc, char *argv[])
{
	char byte;
	ssize_t n;

	if (argc < 2) {
		fprintf(stderr, "agentdeck-gate: part of agentdeck, not for people\n");
		return 64;
	}
	if (strcmp(argv[1], "--while") == 0 && argc == 3)
		return wait_for(argv[2]);
	if (strcmp(argv[1], "--below") == 0 && argc > 3)
		return become_below(argv[2], argv + 3);
	do
		n = read(STDIN_FILENO, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return NOT_YET;
	int null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		return NOT_EXECUTED;
	if (null > STDERR_FILENO)
		(void)close(null);
	return try_to_become(argv + 1);
}
