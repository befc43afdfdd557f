/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands under strace(1): their steps, and what happens when a step fails or is their last.
 *
 * Only the command itself is traced.  Its children are not, and live on as they would without
 * strace.
 */
#pragma once

#include "persistence/machine.h"

/* A system call that took place and changed something: the ordinal-th with its name.  line:
 * strace's text, with the paths of its descriptors.  The texts live as long as the test. */
struct point {
	const char *call, *line;
	unsigned ordinal;
};

enum { POINTS_MAX = 400 };
struct points {
	struct point points[POINTS_MAX];
	size_t count;
};

/* Skip the test if there is no strace in the machine. */
void strace_required(void);

/* Run words under strace, which writes what it traces ("trace=CALL,...") to strace_output().
 * inject: what it does to the command, "inject=..." of strace(1), or NULL. */
const char *const *strace_argv(const char *const *words, const char *trace, const char *inject);
const char *strace_output(void);

/* The steps of words when nothing disturbs them; they must succeed. */
struct points strace_watch(const char *const *words);

/* At most so many of each call (two or more): its first, its last, and evenly spaced ones
 * between. */
struct points strace_sample(const struct points *all, size_t most);

/* Run words and kill them as they enter this call.  Returns false if they finished before, because
 * this time they needed fewer of these calls.  where: for the message. */
bool strace_kill(const char *const *words, const struct point *point, const char *where);

/* Run words and fail this call with the error ("ENOSPC"), so that it does not take place.
 * *ret_line is the failed call; NULL: there was none. */
struct answer strace_fail(const char *const *words, const struct point *point, const char *error,
			  const char **ret_line);
