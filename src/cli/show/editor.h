/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's editor, on the terminal.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

/* Append its argv: VISUAL, else EDITOR, split into words as a shell does, else "editor".
 * ERROR_USAGE: that is no list of words. */
int editor_argv(struct strvec *ret, struct error *err);

/* Run it, with the file at the end of argv, until it ends.  ERROR_UNAVAILABLE: it is not installed;
 * ERROR_CHILD: it failed. */
int editor_run(const struct strvec *argv, struct error *err);

/* Have the user write a text in a new file.  *ret_path: the file, which the caller removes and
 * frees.  ERROR_USAGE: standard input or output is no terminal.  ERROR_INVALID: the user has left
 * it empty. */
int editor_write(char **ret_path, struct error *err);
