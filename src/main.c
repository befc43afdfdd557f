/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/main/dispatch.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

/* With a smaller stack the kernel kills us with a signal that gives no reason. */
enum { STACK_MIN_KIB = 128 };

static bool has_stack(void)
{
	struct rlimit stack;
	if (getrlimit(RLIMIT_STACK, &stack) < 0 || stack.rlim_cur >= STACK_MIN_KIB << 10)
		return true;
	fprintf(stderr,
		"agentdeck: the stack may have %lu KiB and needs %d: raise the limit of the stack (ulimit -s), then "
		"try again\n",
		(unsigned long)(stack.rlim_cur >> 10), STACK_MIN_KIB);
	return false;
}

int main(int argc, char *argv[])
{
	if (!has_stack())
		return 1;
	/* Only for the width of text in tables.  All that programs read or write stays as in the C
	 * locale. */
	setlocale(LC_CTYPE, "");
	/* At its file size limit (RLIMIT_FSIZE) a write then fails with an error, as on a full
	 * disk, and we can report it. */
	(void)signal(SIGXFSZ, SIG_IGN);
	/* Occupy closed standard descriptors: a file of ours with that number would be printed
	 * into. */
	for (int fd = open("/dev/null", O_RDWR | O_CLOEXEC); fd >= 0 && fd <= STDERR_FILENO;)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return dispatch(argc, argv);
}
