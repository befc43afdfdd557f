/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a container comes back: the tiers.  From facts to ordered steps.
 *
 *   tier 0  it runs: open a window
 *   tier 1  it exists: start it
 *   tier 2  it is gone, and its image is there: create it from the recipe
 *   tier 3  the image is gone: build it again from the recipe, only with consent
 *
 * The lowest tier that the facts allow is chosen.  What a later step needs is proved before an
 * earlier one destroys anything: an image is built before the old container is removed.
 *
 * Pure: no input or output here.  The conversation is not a matter of tiers: model/plan/resume.h.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "model/session/recipe.h"

#include <stddef.h>

enum recreate_container {
	RECREATE_UNKNOWN, /* the engine does not answer */
	RECREATE_NONE,    /* there is no container of this name */
	RECREATE_FOREIGN, /* there is one, and it is not ours */
	RECREATE_OURS_RUNNING,
	RECREATE_OURS_PAUSED,
	RECREATE_OURS_STOPPED, /* created or exited */
	RECREATE_OURS_BROKEN,  /* removing, dead: it is to be removed first */
};

/* An image of the recipe: by its id, or, where the id differs, by its layers. */
enum recreate_image { IMAGE_UNKNOWN, IMAGE_SAME, IMAGE_SAME_LAYERS, IMAGE_GONE };

struct recreate_facts {
	enum recreate_container container;
	enum recreate_image image;
	enum recreate_image base;  /* that the build begins from; IMAGE_SAME if it needs none */
	bool answers;              /* the capsule answers on its socket */
	bool recipe_is_same;       /* the container was made from today's recipe (its label) */
	bool network_is_there;     /* or the container has none of its own */
	const char *missing_mount; /* a source that does not exist; NULL: none.  Borrowed */
	/* a source that leads through a link, and led through none when it was noted; NULL: none */
	const struct recipe_place *linked_mount;
	const char *link; /* then: that link.  Borrowed */
	bool has_build;   /* the recipe has a build directory, and it is there */
	bool may_rebuild; /* its user consents to tier 3 */
	bool may_unpause; /* its user asked for a start */
	bool is_new;      /* no container was made of this session before */
	/* For messages.  Borrowed; NULL: not known. */
	const char *name; /* of the container */
	const char *image_name, *base_name;
	const char *build;  /* the build directory */
	bool build_changed; /* since the image was built */
};

enum recreate_step {
	STEP_WINDOW, /* it runs: nothing but the window is missing */
	STEP_UNPAUSE,
	STEP_STOP,    /* it runs, and its capsule does not answer */
	STEP_REMOVE,  /* the container, by id */
	STEP_NETWORK, /* make it, and connect a container that exists */
	STEP_BUILD,
	STEP_TAG, /* give the image our name, so that a prune leaves it */
	STEP_CREATE,
	STEP_START,
	STEP_COUNT
};

enum { RECREATE_STEPS = 8 };

struct recreate_plan {
	unsigned tier; /* 0 to 3 */
	enum recreate_step steps[RECREATE_STEPS];
	size_t count;
	char *lost; /* what does not come back with it (the writable layer), or NULL */
};
void recreate_plan_clear(struct recreate_plan *plan);
#define cleanup_recreate_plan CLEANUP(recreate_plan_clear)

/* title: of the session, for messages.  A capsule that answers is running, whatever the engine
 * says.  Errors, which say what to do:
 *
 *   ERROR_UNAVAILABLE  the engine does not say what is needed
 *   ERROR_INVALID      a stranger's container has the name, a link is in the place of a mount's
 *                      source, or consent is missing: the message names the next tier and how to
 *                      ask for it
 *   ERROR_NOT_FOUND    an input is missing; the message says which */
int recreate_plan(const struct recreate_facts *facts, const char *title, struct recreate_plan *ret,
		  struct error *err);

/* "start the container", for the log and for people.  Static. */
const char *recreate_step_text(enum recreate_step step);
/* "its container was made again".  Static. */
const char *recreate_tier_text(unsigned tier);
/* A step of this tier has failed: how to ask for the next one, "next, ...: agentdeck ...".
 * has_build: the recipe has a build directory.  The caller frees. */
char *recreate_next_text(unsigned tier, bool has_build, const char *title) MUST_USE;
