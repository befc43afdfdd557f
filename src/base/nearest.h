/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * "did you mean ...?": the names that are nearest to what was typed.
 */
#pragma once

#include "base/text.h"

struct nearest {
	const char *typed; /* the caller's */
	size_t distance;   /* of those in names; a name that is further away is not meant */
	struct strvec names;
};

/* typed: stays the caller's, and must live as long as this. */
struct nearest nearest_begin(const char *typed);
void nearest_clear(struct nearest *nearest);
#define cleanup_nearest CLEANUP(nearest_clear)

/* word: what may have been meant.  It is kept, as meant (what to write instead), unless another one
 * is nearer.  The beginning of a word is as near as one typing error. */
void nearest_consider(struct nearest *nearest, const char *word, const char *meant);

/* "'api'", "'api', 'web' or 'docs'", visible; NULL: there is no such name, or more than most of
 * them.  The caller frees. */
char *nearest_text(const struct nearest *nearest, size_t most) MUST_USE;
