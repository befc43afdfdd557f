/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck-gate PROGRAM ARGUMENT...
 *
 * Waits for one byte on descriptor 0 and then becomes PROGRAM; ends when the descriptor ends without
 * one.  agentdeck starts it, has the user manager make a scope around it, and lets it go: so no
 * process of a run exists outside the run's scope, and none remains when agentdeck dies in between.
 *
 * Exit status: 75 not let go, 127 PROGRAM is not there, 126 it cannot be executed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	char byte;
	ssize_t n;

	if (argc < 2) {
		fprintf(stderr, "agentdeck-gate: part of agentdeck, not for people\n");
		return 64;
	}
	do
		n = read(STDIN_FILENO, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return 75;
	int null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		return 126;
	if (null > STDERR_FILENO)
		(void)close(null);
	execvp(argv[1], argv + 1);
	fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
