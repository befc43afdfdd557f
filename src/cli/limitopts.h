/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options that say limits: of add, launch and session limit.
 */
#pragma once

#include "cli/command.h"
#include "engine/limit.h"

#define LIMIT_OPTIONS                                                                              \
	{ 0, "memory-high", "SIZE", "above this its processes are slowed down, and their memory is reclaimed" }, \
	{ 0, "memory-max", "SIZE", "above this the kernel kills one of them" },                    \
	{ 0, "tasks-max", "N", "how many processes and threads there may be" },                    \
	{ 0, "cpu-weight", "N", "its share of the processors when they are short, 1 to 10000; usual is 100" }

/* What was given of them. */
int limit_options_read(const struct app *app, struct limit_change *ret, struct error *err);
