/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a Dockerfile begins from.  Nothing else of it is understood here.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/text.h"

struct dockerfile_bases {
	struct strvec all; /* images that a stage begins FROM, each once */
	char *last;        /* that the last stage comes from; NULL: nothing, or a variable says */
};
void dockerfile_bases_clear(struct dockerfile_bases *bases);
#define cleanup_dockerfile_bases CLEANUP(dockerfile_bases_clear)

/* Left out: "scratch", stages of this file, and what has a variable in it. */
void dockerfile_read_bases(const char *text, struct dockerfile_bases *ret);
