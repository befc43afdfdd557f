/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent finds in its home in a container: a login, and the answers to its first questions.
 * Which files these are is in the agent's entry of the registry (docs/adding-an-agent.md).
 *
 * An agent can write whatever it likes into that home.  So every directory on the way is opened by
 * itself without following a link, and must be ours alone.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "model/agent/registry.h"

/* A file of a login has at most this size. */
#define AGENTHOME_LOGIN_MAX ((size_t)1 << 20)

/* A home in a container.  All borrowed. */
struct agenthome {
	const struct agent *agent;
	const char *path;      /* of this host; it exists */
	const char *directory; /* the work directory */
	/* NAME=VALUE of its secrets: the seed gets the ends of those that hold its login.  NULL:
	 * they are not known yet. */
	const struct strvec *secrets;
};

/* The user's own.  All borrowed. */
struct agenthome_user {
	const char *home;   /* "~" */
	const char *config; /* "{home}" of the agent; NULL: it has none */
};

/* Write the seed of the agent's entry.  A missing file is written whole; a JSON object gets the
 * members that it lacks, and a list in it the elements; what is there stays as it is.  Nothing
 * happens where the entry has none. */
int agenthome_seed(const struct agenthome *home, struct error *err);

/* Copy each file of the agent's login that is newer in the user's home than in this one, or missing
 * here, with mode 0600.  The copy gets the time of its source, so that a login which the agent has
 * renewed inside is the newer one.  Only regular files of ours are copied, and no link is followed.
 * The agent's entry names at least one file.  *ret_reason, the caller's: why this home has no login
 * now, for people; NULL if it has one. */
int agenthome_copy_login(const struct agenthome *home, const struct agenthome_user *user,
			 char **ret_reason, struct error *err);
