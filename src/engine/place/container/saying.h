/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What another program says while it makes an image: it is kept in the file of the run, shown when
 * it takes long, and its last lines are shown when it fails.
 */
#pragma once

#include "engine/deck/deck.h"

struct saying {
	const struct deck *deck;
	int64_t since_ms;    /* clock_ms() */
	struct strvec lines; /* the last ones, visible */
	size_t told;         /* how many of them were shown */
};
void saying_clear(struct saying *saying);
#define cleanup_saying CLEANUP(saying_clear)

/* data: the struct saying. */
void saying_add(const char *line, void *data);
/* End the line of a step that failed. */
void saying_end_badly(const struct saying *saying);
