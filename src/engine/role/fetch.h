/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Roles from Git repositories.
 *
 *   <state>/roles.cache/<SHA-256 of the URL>/git        the commits that were fetched, bare
 *   <state>/roles.cache/<SHA-256 of the URL>/<commit>/  the files of one of them
 *   <state>/roles.cache/<SHA-256 of the URL>.lock       held while these change
 */
#pragma once

#include "engine/role/source.h"

/* Like role_source_read(), but where says what its user types: a directory, or a Git repository
 * (model/role/role-what.h), whose commit is fetched, unless it is named with all of its digits and
 * is there already.  ERROR_BUSY: another process fetches from there.  The others: snapshot.h. */
int role_source_fetch(const struct deck *deck, const char *where, const char *workspace,
		      const char *group, struct role_source *ret, struct error *err);

/* Lay out the files of a commit that was fetched before, if they are not there, without the
 * network. name: that of the role.  ERROR_NOT_FOUND: the cache does not have it any more, and the
 * message says what to do. */
int role_restore(const struct deck *deck, const char *url, const char *commit, const char *name,
		 struct error *err);
