/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a program is, and why it does not start: execve(2) has the same error number for a missing
 * file and for a missing interpreter or library of it.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

/* The PATH for a process that has none. */
#define PROGRAM_DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* Absolute path of the executable of this name in this PATH (NULL: ours; empty: the default one),
 * NULL when there is none.  A name with a slash is only checked, relative to directory.  The caller
 * frees. */
char *program_path(const char *name, const char *path, const char *directory) MUST_USE;
/* Is there one, for us? */
bool program_is_installed(const char *name);

/* Check that this program can be found (program_path()), and also the one that a first line
 * "#!/usr/bin/env NAME" names.  path: the PATH for both.  ERROR_UNAVAILABLE says what is missing. */
int program_find(const char *name, const char *path, const char *directory, struct error *err);

/* Check that execve(2) can execute this file, as far as its first line and its header tell.
 * ERROR_UNAVAILABLE says why not. */
int program_check(const char *file, struct error *err);

/* Is the file not empty, and without a NUL in its first line?  Shells ask this before they run a
 * file that the kernel does not recognize. */
bool program_is_text(const char *file);

/* The loader that the file's header names, as an absolute path.  NULL: it needs none (a static
 * program, a script), or cannot be read.  The caller frees. */
char *program_loader(const char *file) MUST_USE;

/* "<strerror>", then what that means for this file and what to do.  The caller frees. */
char *program_explain(const char *file, int os_errno) MUST_USE;
