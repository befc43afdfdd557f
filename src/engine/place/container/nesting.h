/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent in a container can put a link in the place of whatever is below a directory that it
 * writes.  So no container mounts a place that is below what an agent can write: its own, or that
 * of another session in a container, of any profile.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/session/recipe.h"

/* May a session have this recipe?  id: of the session, whose present recipe does not count; NULL:
 * the session is new.  ERROR_INVALID: a place of the recipe is below a directory that an agent can
 * write, or the session's agent could write agentdeck's own files, or the directory above a place
 * of another session. */
int nesting_check(const struct deck *deck, const char *id, const struct recipe *recipe,
		  struct error *err);

/* Is this real path one of agentdeck's own directories (state, configuration, sockets), or in one? */
bool nesting_is_ours(const struct deck *deck, const char *path);

/* May the session keep the recipe that it has?  One without a container has none. */
int nesting_check_session(const struct deck *deck, const struct instance *instance,
			  struct error *err);

/* Does a link lead on the way to this place (as its user has named it) that an agent in a container
 * can have made?  ERROR_INVALID. */
int nesting_check_path(const struct deck *deck, const char *path, struct error *err);
