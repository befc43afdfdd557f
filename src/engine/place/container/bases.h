/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a build begins from: which images the names in its Dockerfile meant when it was built first,
 * and that a later build begins from the same ones.
 */
#pragma once

#include "driver/engine/engine.h"
#include "model/session/recipe.h"

/* The names for the time of a build: so many digits of the image's id, "-", the session's base.
 * podman looks for a name with this first part on this machine only. */
#define BASES_REPOSITORY "localhost/agentdeck/base"
enum { BASES_DIGITS = 12 };

struct bases {
	struct strvec found; /* for recipe->bases */
	/* "NAME=OTHER": the name means another image now, and bases_tag() gives the one of the
	 * recipe the other name. */
	struct strvec pins;
	/* The first one that the engine lacks, as its program downloads it; NULL: it has all.  Of
	 * one that the recipe has it is "NAME@DIGEST" if a registry has that. */
	char *missing;
};
void bases_clear(struct bases *bases);
#define cleanup_bases CLEANUP(bases_clear)

/* Compare the names with the recipe and the engine.  Changes nothing.  What has a variable in its
 * name is for the engine.  BASES_NO_FILE: there is no Dockerfile. */
enum { BASES_NO_FILE = 1 };
int bases_settle(struct engine *engine, const struct recipe *recipe, struct bases *ret,
		 struct error *err);
/* For the time of a build.  What fails leaves the name. */
int bases_tag(struct engine *engine, const struct bases *bases, struct error *err);
void bases_untag(struct engine *engine, const struct bases *bases);
