/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The image of a session that has a Dockerfile: built when the session is made, and again when the
 * image is gone (tier 3 of model/plan/recreate.h).
 */
#pragma once

#include "driver/engine/engine.h"
#include "engine/deck/deck.h"
#include "model/plan/recreate.h"
#include "model/session/recipe.h"

/* Is this a directory to build from?  *ret, the caller's, is its real path.  ERROR_NOT_FOUND. */
int build_find(const char *directory, char **ret, struct error *err);

/* The first of the images that the build begins from and that the engine does not have; NULL: it
 * has all.  *ret is the caller's. */
int build_find_missing(struct engine *engine, const struct recipe *recipe, char **ret,
		       struct error *err);

/* Build the image of recipe->build, and write into the recipe what came of it: the image with its
 * layers, the digest of the directory's content, the base.  Until build_settle() the image has only
 * a name by its content, agentdeck/build:<digest>.  deck->on_progress gets what the build says.
 * On an error the recipe is as it was, and the engine has no new image.  ERROR_NOT_FOUND: the
 * directory, or an image that its Dockerfile begins from.  ERROR_CHILD: the build failed. */
int build_image(struct deck *deck, struct engine *engine, struct recipe *recipe, struct error *err);

/* Give the image of the recipe its keep_tag, if it has one, and take away the name that a build
 * gave it. */
int build_settle(struct engine *engine, const struct recipe *recipe, struct error *err);

/* Take away the name that a build gave it, and so the image if it has no other.  What fails leaves
 * it. */
void build_discard(struct engine *engine, const struct recipe *recipe);

/* Before a build: is what it needs there? */
struct build_facts {
	bool is_there;            /* the directory, with a Dockerfile */
	bool has_changed;         /* since the image was built */
	enum recreate_image base; /* what the Dockerfile begins from */
	char *base_name;          /* the one that is missing, or NULL */
};
void build_facts_clear(struct build_facts *facts);
#define cleanup_build_facts CLEANUP(build_facts_clear)
int build_look(struct engine *engine, const struct recipe *recipe, struct build_facts *ret,
	       struct error *err);
