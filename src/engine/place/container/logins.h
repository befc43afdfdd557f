/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The logins of a container: of the session's agent, of other agents, and of GitHub.  For each one
 * its user says how it gets in.  A role can only name those that it has a use for.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/session/recipe.h"

/* What its user and its role say of the logins.  All borrowed. */
struct logins_order {
	const char *agent;                         /* of the session, whose login needs no name */
	const struct strvec *words;                /* "HOW", "NAME=HOW"; NULL: none */
	const struct strvec *of_role;              /* names; NULL: none */
	const struct container_defaults *defaults; /* for what the words do not say */
};

/* Files and variables of the login with this name: the entry of an agent, or that of GitHub, which
 * has nothing else.  Borrowed from the deck. */
int logins_find(struct deck *deck, const char *name, const struct agent **ret, struct error *err);

/* How the login of this name gets in.  NULL: neither its user nor the configuration says it.
 * Borrowed. */
const char *logins_how(const struct logins_order *order, const char *name);

/* The recipe gets the variables that hold the login of its own agent, by --auth token. */
int logins_add_own(const struct strvec *variables, struct recipe *recipe, struct error *err);

/* The recipe gets the other logins: those that the words name, and those of its role.
 * ERROR_USAGE says what to give. */
int logins_add(struct deck *deck, const struct logins_order *order, struct recipe *recipe,
	       struct error *err);
