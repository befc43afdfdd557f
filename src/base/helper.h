/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The programs of agentdeck: which one this is, and where those are that come with it.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

/* The absolute path of this program, or of the one that it helps.  The caller frees. */
char *helper_own_program(void) MUST_USE;
/* Let this process act for the agentdeck in this file, which helper_own_program() is from now on.
 * Borrowed. */
void helper_act_for(const char *program);

/* Find a program that comes with this one (helper_own_program()): beside it (a build tree), in
 * ../libexec/agentdeck (an installation, wherever it is), or where it was configured to be.  When
 * it is in none of them, *ret is the last one.  ERROR_SYSTEM: people who may not write this program
 * may write that one, or a directory above it.  Such people are a user other than root, ourselves
 * and the owner of this program; everybody; and a group other than root's and our own. */
int helper_find(const char *program, const char *name, char **ret, struct error *err);

/* The command line of the program of this name that comes with this one, as of helper_become(). */
int helper_argv(const char *name, const struct strvec *words, struct strvec *ret,
		struct error *err);

/* Become the program of this name that comes with this one: NAME --program OWN WORDS...  Returns
 * only with an error.  ERROR_UNAVAILABLE: it is not there, or does not run. */
int helper_become(const char *name, const struct strvec *words, struct error *err);

/* The configured directory.  The build makes it: a new --prefix or --libexecdir reaches it. */
extern const char helper_directory[];
