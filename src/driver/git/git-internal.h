/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of this folder share: running git.
 *
 *   git.c      repositories and trees
 *   branch.c   deleting a branch
 */
#pragma once

#include "base/child.h"

enum { GITCMD_ASK_MS = 30 * 1000 };

/* words: NULL-terminated.  Any exit status is fine here. */
int gitcmd_run(const char *directory, const char *const *words, int timeout_ms,
	       struct child_result *ret, struct error *err);
/* The same; any exit status but 0 is an error.  ret: or NULL. */
int gitcmd_must_run(const char *directory, const char *const *words, int timeout_ms,
		    struct child_result *ret, struct error *err);
/* Call take for each line.  A path with a newline in it is refused where it matters. */
void gitcmd_each_line(const struct strbuf *output, void (*take)(const char *line, void *context),
		      void *context);
