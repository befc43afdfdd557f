/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lose-signal SERVER CHILD
 *
 * Kills CHILD, a child of SERVER, with SIGKILL, and makes sure that SERVER never gets the SIGCHLD,
 * by ptrace(2).  So what libutempter's helper sometimes does to tmux (see src/watch/main.c) happens
 * each time.
 *
 * Exit status: 0; 1: this is not possible here, or SERVER got the signal after all.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* After QUIET_LOOKS looks in a row without a signal none is pending. */
enum { LOOK_MS = 10, QUIET_LOOKS = 20, MOST_LOOKS = 1000 };

static bool is_zombie(pid_t pid)
{
	char path[64], state = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	bool read = fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
	(void)fclose(file);
	return read && state == 'Z';
}

/* Returns true if it had stopped; then it continues, without the signal if that was SIGCHLD. */
static bool let_go_on(pid_t server)
{
	int status;
	if (waitpid(server, &status, WNOHANG | __WALL) <= 0 || !WIFSTOPPED(status))
		return false;
	if (status >> 16 == PTRACE_EVENT_STOP) {
		(void)ptrace(PTRACE_LISTEN, server, NULL, NULL);
		return true;
	}
	long number = WSTOPSIG(status) == SIGCHLD ? 0 : WSTOPSIG(status);
	(void)ptrace(PTRACE_CONT, server, NULL, number);
	return true;
}

int main(int argc, char *argv[])
{
	pid_t server = argc == 3 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	pid_t child = argc == 3 ? (pid_t)strtol(argv[2], NULL, 10) : 0;
	int quiet = 0;
	if (server <= 0 || child <= 0 || ptrace(PTRACE_SEIZE, server, NULL, NULL) < 0) {
		perror("ptrace");
		return 1;
	}
	if (kill(child, SIGKILL) < 0) {
		perror("kill");
		return 1;
	}
	for (int i = 0; i < MOST_LOOKS && quiet < QUIET_LOOKS; i++) {
		if (let_go_on(server)) {
			quiet = 0;
			continue;
		}
		quiet += is_zombie(child);
		(void)poll(NULL, 0, LOOK_MS);
	}
	if (!is_zombie(child)) {
		fprintf(stderr, "process %d is no zombie: %d has heard of its end\n", (int)child,
			(int)server);
		return 1;
	}
	/* It is detached when we exit anyway, and we could not continue a stopped one. */
	(void)ptrace(PTRACE_INTERRUPT, server, NULL, NULL);
	int status;
	if (waitpid(server, &status, __WALL) == server)
		(void)ptrace(PTRACE_DETACH, server, NULL, NULL);
	return 0;
}
