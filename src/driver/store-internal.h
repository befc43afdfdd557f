/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of the store share; nobody else includes it.
 */
#pragma once

#include "driver/store.h"

#define STORE_MANIFEST "instance.json"
#define STORE_DAMAGED STORE_MANIFEST ".damaged-"
#define STORE_INDEX "instances.json"
#define STORE_PROFILE_LOCK STORE_INDEX ".lock"

enum { STORE_MANIFEST_MAX = 4 << 20, STORE_INDEX_MAX = 256 << 20 };

struct store {
	int state, directory; /* <state>, <state>/<profile> */
	char *profile;
	char *path; /* of the profile's directory: for messages, and for inotify(7) */
	bool profile_locked; /* through store_lock_profile() */
};

/* Can this be the name of an instance's directory?  [A-Za-z0-9][A-Za-z0-9._-]{0,127}, and none of
 * the names that stand beside such directories. */
bool store_is_base(const char *name);

/* store_load() that also says of which file the instance was made (NULL: not asked for). */
int store_load_stat(struct store *store, const char *base, struct instance **ret,
		    struct stat *ret_stat, struct error *err);
