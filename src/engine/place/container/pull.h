/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Images from a registry, by the engine's own program: that one has its user's logins.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/session/recipe.h"

/* Can a registry have an image of this name?  No: an id, or a name that this machine gives. */
bool pull_is_possible(const char *image);

/* The words of a failure are known, or they are only passed on: what to do, such as "check its name
 * and its tag".  *ret is static. */
enum error_code pull_explain(const char *words, const char **ret);

/* Download it into the recipe's engine, which may take an hour.  deck->on_progress gets what the
 * program says.  ERROR_UNAVAILABLE: the program is missing, or the registry does not answer.
 * ERROR_NOT_FOUND: the registry has no such image.  ERROR_CHILD: it failed otherwise. */
int pull_image(struct deck *deck, const struct recipe *recipe, const char *image,
	       struct error *err);
