/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The image that a role was built to last, and what it was built from: beside its trust, in
 * roles.json.  An image's own labels do not count for this, since the builder of one can write
 * them.
 */
#pragma once

#include "engine/deck/deck.h"

struct built {
	char *address; /* of the engine that has it */
	char *image_id;
	char *commit;        /* of a role from Git, or NULL */
	char *dockerfile;    /* SHA-256 of its text */
	char *inputs;        /* SHA-256 of the build's files, stage and arguments */
	struct strvec bases; /* as in the recipe */
	char *version;       /* of agentdeck */
};
void built_clear(struct built *built);
#define cleanup_built CLEANUP(built_clear)

/* name: of the role (struct role_source).  BUILT_NONE: it was not built, or is not trusted. */
enum { BUILT_NONE = 1 };
int built_load(const struct deck *deck, const char *name, struct built *ret, struct error *err);
/* In place of an earlier one.  A role that is not trusted has none. */
int built_save(const struct deck *deck, const char *name, const struct built *built,
	       struct error *err);

/* What has changed since, for people: "its Dockerfile, the base debian:12".  NULL: nothing.  The
 * caller frees. */
char *built_difference(const struct built *before, const struct built *now) MUST_USE;
