/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tests that make a system call fail with strace(1).
 */
#pragma once

#include "unit/test.h"

#include "base/child.h"

/* Without strace, or where it traces nothing (an emulator, a container), the test skips. */
static inline void skip_without_strace(void)
{
	enum { TRACE_MS = 10000 };
	static const char *const argv[] = { "strace",    "-qq", "-o",
					    "/dev/null", "-e",  "inject=fsync:signal=KILL:when=1",
					    "true",      NULL };
	const struct child_request request = { .argv = argv };
	cleanup_child_result struct child_result result = { 0 };
	if (child_run(&request, TRACE_MS, &result, NULL) == 0 && result.exit_status == 0)
		return;
	print_message("strace cannot trace here\n");
	skip();
}
