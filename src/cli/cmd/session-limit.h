/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options that set limits: of add, launch and session limit.  And when a limit holds.
 */
#pragma once

#include "cli/core/command.h"

/* The options set the struct limit_change that is this member of `struct options`. */
#define LIMIT_OPTIONS(member)                                                                        \
	{ 0, "memory-high", "SIZE",                                                                  \
	  "above this its processes are slowed down, and their memory is reclaimed",                 \
	  TO_LIMIT(member, LIMIT_MEMORY_HIGH) },                                                     \
		{ 0, "memory-max", "SIZE", "above this the kernel kills one of them",                \
		  TO_LIMIT(member, LIMIT_MEMORY_MAX) },                                              \
		{ 0, "tasks-max", "N", "how many processes and threads there may be",                \
		  TO_LIMIT(member, LIMIT_TASKS_MAX) },                                               \
	{                                                                                            \
		0, "cpu-weight", "N",                                                                \
			"its share of the processors when they are short, 1 to 10000; usual is 100", \
			TO_LIMIT(member, LIMIT_CPU_WEIGHT)                                           \
	}

/* "hold now": when limits that were just set take effect, also where this machine does not enforce
 * them. Static. */
const char *limit_effect_text(struct deck *deck, const struct instance *instance,
			      enum limit_effect effect);
