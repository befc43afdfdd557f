/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands under strace(1): the steps that they take, and what becomes of them when one step fails, or is their last.
 *
 * Only the command itself is traced.  What it starts is not, and lives on as it would without strace.
 */
#pragma once

#include "persistence/machine.h"

/* A system call that took place and changed something: the ordinal-th of its name.  line: as strace wrote it down,
 * with the paths of its descriptors.  The texts live as long as the test. */
struct point {
	const char *call, *line;
	unsigned ordinal;
};

enum { POINTS_MAX = 400 };
struct points {
	struct point points[POINTS_MAX];
	size_t count;
};

/* Leave the test if there is no strace in the machine. */
void strace_required(void);

/* words under strace, which writes down what it traces ("trace=CALL,...") in strace_output().  inject: what it does
 * to the command, "inject=..." of strace(1), or NULL. */
const char *const *strace_argv(const char *const *words, const char *trace, const char *inject);
const char *strace_output(void);

/* The steps of words when nobody disturbs them; they must succeed. */
struct points strace_watch(const char *const *words);

/* Of each call its first, its last, and what lies evenly between: so many of each at most, two or more. */
struct points strace_sample(const struct points *all, size_t most);

/* Run words and kill them as they enter this call.  False: this time they needed fewer of these calls, and were done
 * before.  where: for the message. */
bool strace_kill(const char *const *words, const struct point *point, const char *where);

/* Run words and fail this call with the error ("ENOSPC"), without letting it happen.  *ret_line is the call that was
 * failed; NULL: there was none. */
struct answer strace_fail(const char *const *words, const struct point *point, const char *error,
			  const char **ret_line);
