/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The images that an engine needs for a Dockerfile.  Nothing else of it is understood here.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/text.h"

struct dockerfile_bases {
	struct strvec all; /* images that a stage begins FROM, or takes files of, each once */
	char *frontend;    /* "# syntax=" for BuildKit, which reads the rest with it; NULL: none */
	char *unknown; /* the first image that a variable names which has no value; NULL: none */
};
void dockerfile_bases_clear(struct dockerfile_bases *bases);
#define cleanup_dockerfile_bases CLEANUP(dockerfile_bases_clear)

/* The text with other names after FROM, where pins has "NAME=OTHER".  The caller frees. */
char *dockerfile_pin(const char *text, const struct strvec *args,
		     const struct strvec *pins) MUST_USE;

/* args: NAME=VALUE of the build, or NULL.  Left out: "scratch" and stages of this file. */
void dockerfile_read_bases(const char *text, const struct strvec *args,
			   struct dockerfile_bases *ret);
