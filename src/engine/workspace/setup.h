/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a new tree lacks: files that Git does not have, and what a program makes of it.  Both are
 * what the user's own config.toml says.  Nothing in the repository can ask for them.
 *
 *   <state>/<profile>/trees/<id>/setup.log     the output of the setup
 *
 * The setup and the processes that it starts hold a lock on the log through their output, so that a
 * second one never runs beside them, also after a kill.
 */
#pragma once

#include "base/child.h"
#include "engine/deck/deck.h"

#define SETUP_LOG "setup.log"

/* Copy the files of [workspace] copy from the source into the tree.  One that is missing, or is in
 * the tree, is left out; one that is no regular file below the source is a warning. */
int setup_copy(struct deck *deck, const struct instance *instance, struct error *err);

/* Note that the setup has to run, if there is one.  The caller saves the instance. */
void setup_want(const struct deck *deck, struct instance *instance);

/* The tree is used without its setup: it does not have to run any more.  The instance is saved. */
int setup_leave(struct store_lock *lock, struct instance *instance, struct error *err);

/* Run the setup if it has to, and wait for it; not for a session in a container.  The instance is
 * saved.  ERROR_CHILD, ERROR_TIMEOUT:
 * it failed, with its last line, and the next start tries it again. */
int setup_run(struct deck *deck, struct store_lock *lock, struct instance *instance,
	      struct error *err);

/* For a session in a container, where it runs inside: does it have to?  *ret gets its words.  The
 * caller runs it there, and then says how that went. */
bool setup_begin_inside(struct deck *deck, const struct instance *instance, struct strvec *ret);
/* Keep its output, and save the instance.  failure: why it did not end, or NULL; it is freed.
 * Errors as above. */
int setup_end_inside(struct deck *deck, struct store_lock *lock, struct instance *instance,
		     const struct child_result *result, struct error *failure, struct error *err);

/* Path of its output.  The caller frees. */
char *setup_log(const struct deck *deck, const struct instance *instance) MUST_USE;
