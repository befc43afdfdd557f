/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A .dockerignore: which files of a directory are not for the build.
 * https://docs.docker.com/build/concepts/context/#dockerignore-files
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/text.h"

struct ignore {
	struct strvec patterns; /* clean; the ones that take files back begin with '!' */
	bool takes_back;        /* there are some of these */
};
void ignore_clear(struct ignore *ignore);
#define cleanup_ignore CLEANUP(ignore_clear)

void ignore_parse(const char *text, struct ignore *ret);
/* path: relative to the directory, without "." and "..".  What is below a path that a pattern
 * matches is matched, too, and the last pattern that matches decides. */
bool ignore_has(const struct ignore *ignore, const char *path);
