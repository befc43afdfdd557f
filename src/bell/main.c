/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck-bell FIFO
 *
 * Reads what a pane prints (tmux pipe-pane) and throws it away, at once and always, so that neither
 * tmux nor the agent ever waits for a process that looks at it.  Each time it touches the FIFO,
 * which inotify(7) tells to every process that watches it: IN_ATTRIB, one event for any number of
 * touches that were not read yet.  No process reads the FIFO itself: without a reader the bell ends
 * at once, and it ends when tmux closes the pipe.
 *
 * Exit status: 0, or 64 for wrong arguments.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Throw away what is there.  Returns 0 at the end, 1 if there was something, -1: nothing. */
static int drain(void)
{
	static char buffer[1 << 16];
	int found = -1;
	for (;;) {
		const ssize_t n = read(STDIN_FILENO, buffer, sizeof(buffer));
		if (n > 0)
			found = 1;
		else if (n == 0)
			return 0;
		else if (errno != EINTR)
			return errno == EAGAIN ? found : 0;
	}
}

int main(int argc, char *argv[])
{
	struct stat st;
	if (argc != 2) {
		fprintf(stderr, "%s: part of agentdeck, not for people\n",
			argc > 0 ? argv[0] : "agentdeck-bell");
		return 64;
	}
	/* ENXIO: the last reader has gone. */
	const int fifo = open(argv[1], O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	const int flags = fcntl(STDIN_FILENO, F_GETFL);
	if (fifo < 0 || fstat(fifo, &st) < 0 || !S_ISFIFO(st.st_mode) || flags < 0 ||
	    fcntl(STDIN_FILENO, F_SETFL, flags | O_NONBLOCK) < 0)
		return 0;
	for (;;) {
		struct pollfd events[] = { { .fd = STDIN_FILENO, .events = POLLIN },
					   { .fd = fifo } };
		if (poll(events, 2, -1) < 0 && errno != EINTR)
			return 0;
		if (events[1].revents)
			return 0;
		const int found = drain();
		if (found == 0)
			return 0;
		if (found > 0)
			(void)futimens(fifo, NULL);
	}
}
