/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line on a terminal that says how far a long look has come.  It appears after a second, and in a
 * pipe or a file not at all.
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *to; /* borrowed; NULL: no terminal */
	int64_t shown_ms;
	bool is_shown;
};

/* now_ms: clock_ms(). */
void progress_begin(struct progress *progress, FILE *to, int64_t now_ms);
/* At item `number` of `count`: "<what> 7 of 90", at most once a second. */
void progress_step(struct progress *progress, int64_t now_ms, const char *what, size_t number,
		   size_t count);
/* Take the line off the terminal. */
void progress_clear(struct progress *progress);
