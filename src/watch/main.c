/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck-watch PID MILLISECONDS [PROGRAM [ARGUMENT...]]
 *
 * Watches the process in a pane through its probation, and makes sure that its tmux server notices
 * its end.  tmux before 3.5 sometimes misses it: when the terminal closes, tmux runs libutempter's
 * helper, which sets SIGCHLD to its default action for a moment, and a signal that arrives in that
 * moment is lost.  The pane then stays dead without a status, and no hook runs.  Another SIGCHLD
 * makes tmux look again; one too many does no harm.
 *
 * The first process exits at once.  Its grandchild watches, and exits when the probation is over,
 * so that nothing runs beside an agent that is up; if there is a PROGRAM, it becomes that.  Exit
 * status: 0, or 64 for wrong arguments.
 */
#include "base/libc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUDGE_TRIES = 60, NUDGE_PAUSE_MS = 50 };

/* Whether the process of this descriptor is still unreaped. */
static int unreaped(int pidfd)
{
	return pidfd_send_signal(pidfd, 0, NULL, 0) == 0 || errno == EPERM;
}

/* Is it up when the time is over? */
static int watch(int agent, int server, int milliseconds)
{
	struct pollfd event = { .fd = agent, .events = POLLIN };
	int n;

	do
		n = poll(&event, 1, milliseconds);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return 1;
	/* POLLHUP, since Linux 6.9: it was reaped. Give the first signal time to arrive. */
	event.events = 0;
	for (int i = 0; i < NUDGE_TRIES && unreaped(agent); i++) {
		(void)poll(&event, 1, NUDGE_PAUSE_MS);
		if (unreaped(agent))
			(void)pidfd_send_signal(server, SIGCHLD, NULL, 0);
	}
	return 0;
}

int main(int argc, char *argv[])
{
	long pid = argc >= 3 ? strtol(argv[1], NULL, 10) : 0;
	long milliseconds = argc >= 3 ? strtol(argv[2], NULL, 10) : 0;

	/* Our parent is the process to watch, and its parent is the tmux server. */
	if (pid <= 0 || milliseconds <= 0 || getppid() != (pid_t)pid) {
		fprintf(stderr, "agentdeck-watch: part of agentdeck, not for people\n");
		return 64;
	}
	char path[64], line[512] = "";
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	FILE *stat = fopen(path, "re");
	size_t length = stat ? fread(line, 1, sizeof(line) - 1, stat) : 0;
	if (stat)
		(void)fclose(stat);
	line[length] = '\0';
	const char *rest = NULL;
	for (const char *c = line; *c; c++)
		if (*c == ')')
			rest = c;
	int server_pid = 0;
	if (!rest || sscanf(rest + 1, " %*c %d", &server_pid) != 1)
		return 1;
	int agent = pidfd_open((pid_t)pid, 0);
	int server = pidfd_open(server_pid, 0);
	if (agent < 0 || server < 0)
		return 1;
	/* The watched process leads the terminal's session.  If it ends at once, its hang-up must
	 * not kill us before setsid(). */
	(void)signal(SIGHUP, SIG_IGN);
	if (fork() != 0)
		_exit(0);
	(void)setsid();
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		(void)dup2(null, fd);
	if (watch(agent, server, (int)milliseconds) && argc > 3) {
		(void)signal(SIGHUP, SIG_DFL);
		(void)execv(argv[3], argv + 3);
	}
	return 0;
}
