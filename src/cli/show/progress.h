/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How far a long command has come.  With --json each step is a line of JSON on standard error
 * (docs/json.md), so that standard output has only the result.
 */
#pragma once

#include "engine/deck/stages.h"

/* A line of what a command does now, on standard error with --json.  is_failure: it is one of the
 * last lines of something that failed. */
void progress_line(const char *line, bool is_failure);

/* A stage of a session that comes up: at a terminal, in a line that appears when it takes long; and
 * as a line of JSON. */
void progress_stage(const struct stage_news *news);
void progress_stage_line(const struct stage_news *news);

/* A look at many things, one after the other.  At a terminal it has a line, which appears after a
 * second; in a pipe or a file only --json says where it is. */
struct progress {
	FILE *to; /* borrowed; NULL: nothing is shown */
	bool is_json;
	int64_t shown_ms;
	bool is_shown;
};

/* now_ms: clock_ms(). */
void progress_begin(struct progress *progress, FILE *to, bool is_json, int64_t now_ms);
/* At item `number` of `count`: "<what> 7 of 90", at most once a second. */
void progress_step(struct progress *progress, int64_t now_ms, const char *what, size_t number,
		   size_t count);
/* Take the line off the terminal. */
void progress_clear(struct progress *progress);
