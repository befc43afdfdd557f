/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of the store share; no other file includes it.
 */
#pragma once

#include "base/fsutil.h"
#include "model/session/instance.h"

#include <sys/stat.h>

#define STORE_MANIFEST     "instance.json"
#define STORE_DAMAGED      STORE_MANIFEST ".damaged-"
#define STORE_INDEX        "instances.json"
#define STORE_PROFILE_LOCK STORE_INDEX ".lock"

enum { STORE_MANIFEST_MAX = 4 << 20, STORE_INDEX_MAX = 256 << 20 };

struct store {
	int state, directory; /* <state>, <state>/<profile> */
	char *profile;
	char *path;             /* of the profile's directory, for messages and inotify(7) */
	bool profile_locked;    /* through store_lock_profile() */
	bool is_new;            /* store_open() has made the profile */
	char *runtime, *direct; /* as store_set_roots() got them, else NULL */
};

struct store_lock {
	struct store *store;
	char *base;
	int directory;
	struct fs_lock lock;
};

struct store_profile_lock {
	struct store *store;
	struct fs_lock lock;
};

/* "<base>.lock".  The caller frees. */
char *store_lock_name(const char *base) MUST_USE;

/* Read the manifest of base from this directory, as store_load() does. */
int store_load_from(struct store *store, const char *base, int directory, struct instance **ret,
		    struct stat *ret_stat, struct error *err);
/* Replace the manifest in this directory, durably. */
int store_write_manifest(struct store *store, const struct instance *instance, int directory,
			 struct error *err);

/* Whether directory, socket and unit of a run that was read are those that a run of this id has
 * here.  Also true when no roots are set. */
bool store_is_own_place(const struct store *store, const char *id, const char *directory,
			const char *socket, const char *unit);
/* Replace them by those that a run of this instance has here. */
void store_settle_place(const struct store *store, struct instance *instance);

/* Whether this can be the name of an instance's directory: [A-Za-z0-9][A-Za-z0-9._-]{0,127}, and
 * not one of the names beside such directories. */
bool store_is_base(const char *name);

/* Like store_load(); *ret_stat is the file that the instance was read from (NULL: not wanted). */
int store_load_stat(struct store *store, const char *base, struct instance **ret,
		    struct stat *ret_stat, struct error *err);
