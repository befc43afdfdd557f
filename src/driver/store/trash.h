/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The trash of a profile: sessions that were removed, and can come back until they are deleted.
 *
 *   <state>/<profile>/.trash/<time>-<base>/   the instance's whole directory
 *
 * One rename takes a session there, and one brings it back, so after a kill it is in one place or
 * in the other.  What is in the trash is not a session: it owns no conversation and no title.
 */
#pragma once

#include "driver/store/store.h"

#define TRASH_DIRECTORY ".trash"

/* A removed session. */
struct removed {
	char *name;                /* of its directory in the trash */
	char *base;                /* the directory that it had */
	int64_t removed_at;        /* microseconds since the Epoch; after that of earlier ones */
	struct instance *instance; /* NULL: its manifest cannot be read */
	bool is_retitled;          /* a restore with another title was cut off */
	struct error error;        /* why; ERROR_CORRUPT: nothing in it can be checked */
	bool is_rest;              /* a deletion was cut off: there is nothing to bring back */
};

struct trash {
	struct removed *items; /* the last removed one last */
	size_t count;
};
void trash_free(struct trash *trash);
#define cleanup_trash CLEANUP(trash_free)

/* Move the instance's directory into the trash, durably, and end the lock in every case.  After an
 * error it is where it was. */
int trash_put(struct store_lock *lock, struct error *err);

/* What is in the trash.  Directories that are not ours are left out. */
int trash_list(struct store *store, struct trash *ret, struct error *err);

/* The bases of all that is in the trash, also of what cannot be read. */
int trash_bases(const struct store *store, struct strvec *ret, struct error *err);

/* Is it still there, now that the profile is locked?  It may have come back since it was listed. */
int trash_has(const struct store_profile_lock *lock, const struct removed *removed, bool *ret,
	      struct error *err);

/* Save removed->instance where it is, in the trash. */
int trash_save(struct store_profile_lock *lock, const struct removed *removed, struct error *err);

/* Bring it back, durably.  title: its new one (not without an instance), which it has from the
 * moment in which it is back; NULL: it keeps its own.  The caller has checked that no session has
 * the title or the conversation; a corrupt manifest cannot be checked.  ERROR_EXISTS: its
 * directory's name is taken. */
int trash_restore(struct store_profile_lock *lock, struct removed *removed, const char *title,
		  struct error *err);

enum { TRASH_KEPT = 1 };
/* Could trash_delete() delete this instance, which is not in the trash?  TRASH_KEPT: no, something
 * in its directory is not agentdeck's.  *ret (the caller's): its name. */
int trash_check(const struct store_lock *lock, const struct instance *instance, char **ret,
		struct error *err);

/* Delete it, of a session in a container with its agent's home.  TRASH_KEPT: something in its
 * directory is not agentdeck's (another name, or no regular file), and nothing was deleted. */
int trash_delete(struct store_profile_lock *lock, const struct removed *removed, struct error *err);
