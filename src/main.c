/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/main/dispatch.h"

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
	return has_stack() ? dispatch(argc, argv) : 1;
}
