/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One commit of a repository that is someone else's: it is fetched, and its files are laid out, and
 * nothing of it runs.
 *
 * The repository that keeps the commits is bare and only ours.  Git gets no hooks, filters,
 * attributes and submodules, asks for no password, and speaks only what its user named.  The
 * caller keeps others from the repository with a lock.
 */
#pragma once

#include "base/text.h"

struct snapshot_source {
	const char *url, *ref; /* ref NULL: the branch that the repository has checked out */
	bool is_local; /* url is a path of this machine; else only https and ssh are spoken */
};

struct snapshot {
	char *commit;
	char *before; /* what the ref was when it was fetched last; NULL: it was not fetched yet */
};
void snapshot_clear(struct snapshot *snapshot);
#define cleanup_snapshot CLEANUP(snapshot_clear)

/* Make the bare repository if needed, and fetch the commit of the ref.  ERROR_CHILD, ERROR_TIMEOUT:
 * git's words.  ERROR_INVALID: it is too large, or its Git directory leads elsewhere. */
int snapshot_fetch(const char *repository, const struct snapshot_source *source,
		   struct snapshot *ret, struct error *err);

/* Does the bare repository, which may be missing, have this commit with all of its files? */
int snapshot_has(const char *repository, const char *commit, bool *ret, struct error *err);

/* What the files of a commit may be at most. */
enum { SNAPSHOT_MAX_FILES = 50000, SNAPSHOT_MAX_MIB = 256, SNAPSHOT_MAX_FILE_MIB = 64 };

/* Write the files of a commit into this directory, which is empty.  Submodules are empty
 * directories.  ERROR_INVALID: it has too much, or a name or link that leads out of it. */
int snapshot_lay_out(const char *repository, const char *commit, int directory, struct error *err);
