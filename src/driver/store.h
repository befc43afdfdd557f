/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Instances on disk: one manifest each, which is the truth, and an index, which is a cache.
 *
 *   <state>/<profile>/<base>/instance.json   manifest, replaced atomically and durably
 *   <state>/<profile>/<base>.lock            instance lock (OFD lock; removed only while held)
 *   <state>/<profile>/instances.json         index of the manifests, made by readers
 *   <state>/<profile>/instances.json.lock    profile lock: names are given and taken under it
 *
 * Writers never touch the index: a row counts only while device, inode, size and modification time of its
 * manifest are those that the row was made from (every replace makes a new inode), so a reader
 * finds each stale, missing or damaged row by itself and reads that manifest instead.  A reader that had to
 * read many writes the index anew, without syncing it: it can be lost at no harm.  So the cost of a
 * change does not depend on how many instances there are.
 *
 * A manifest that does not parse is set aside as instance.json.damaged-<time> by whoever holds its lock, is
 * reported in every listing, never overwritten, and takes no other instance down.
 */
#pragma once

#include "base/fsutil.h"
#include "model/instance.h"

struct store;

/* Open (and make) the state directory and the profile in it.  *ret is the caller's. */
int store_open(const char *state, const char *profile, struct store **ret, struct error *err);
void store_close(struct store *store);
static inline void store_closep(struct store **store)
{
	store_close(*store);
}
#define cleanup_store CLEANUP(store_closep)

/* Descriptors that live as long as the store: <state>, <state>/<profile>. Borrowed. */
int store_state_directory(const struct store *store);
int store_profile_directory(const struct store *store);
const char *store_profile(const struct store *store);

/* Proof of holding one instance's lock, or the profile's.  They end before their store does. */
struct store_lock;
struct store_profile_lock;

enum { STORE_ABSENT = 1, STORE_BUSY = 2 };

/* Lock an instance by its base name, waiting until deadline_ms of clock_ms() (0: not at all).
 * STORE_BUSY: held by another.  STORE_ABSENT: there is no such instance directory.
 * While it is held, temporaries of earlier crashes below the instance are swept. */
int store_lock(struct store *store, const char *base, int64_t deadline_ms,
	       struct store_lock **ret, struct error *err);
void store_unlock(struct store_lock *lock);
static inline void store_unlockp(struct store_lock **lock)
{
	store_unlock(*lock);
}
#define cleanup_store_lock CLEANUP(store_unlockp)
/* The base name that the lock is for. Borrowed. */
const char *store_lock_base(const struct store_lock *lock);
/* Descriptor of the instance's directory, where temporaries are swept.  Borrowed. */
int store_lock_directory(const struct store_lock *lock);

int store_lock_profile(struct store *store, int64_t deadline_ms, struct store_profile_lock **ret,
		       struct error *err);
void store_unlock_profile(struct store_profile_lock *lock);
static inline void store_unlock_profilep(struct store_profile_lock **lock)
{
	store_unlock_profile(*lock);
}
#define cleanup_store_profile_lock CLEANUP(store_unlock_profilep)

/* Read one manifest; no lock needed (a replace is atomic).  STORE_ABSENT: no such instance, or it was
 * removed.  ERROR_CORRUPT and ERROR_NEWER leave the file where it is. */
int store_load(struct store *store, const char *base, struct instance **ret, struct error *err);

/* Read it under its lock: a damaged manifest is set aside, and the error says where it is. */
int store_load_locked(struct store_lock *lock, struct instance **ret, struct error *err);

/* Make a new instance: directory, lock file and manifest.  Under the profile's lock, so that titles and ids
 * are unique: ERROR_EXISTS when the base is taken. */
int store_create(struct store_profile_lock *lock, const struct instance *instance,
		 struct error *err);

/* Replace the manifest of the instance whose lock is held, durably. */
int store_save(struct store_lock *lock, const struct instance *instance, struct error *err);

/* Remove the instance's directory and lock file; ends the lock in every case.  The directory is renamed to
 * ".removed-<base>" first, so that a crash leaves either the instance or a remnant that the next
 * store_lock_profile() clears. */
int store_remove(struct store_lock *lock, struct error *err);

/* What the index knows of one instance.  A text that is absent or empty is NULL. */
struct store_row {
	char *storage;           /* private: owns the texts */
	char *base, *id, *title, *group, *cwd, *agent, *backend, *session_id;
	enum instance_state state;
	enum instance_desired desired;
	int64_t created_at, last_used_at;
	char *reason;            /* observed.reason */
	char *unit, *socket, *run_directory, *boot_id; /* of the run; NULL when there is none */
	struct process_id server, pane;
	enum rung rung;          /* of the current attempt */
	char *config_home;       /* of the conversation */
	char *damage;            /* not NULL: the manifest cannot be read, and this is why; then only
				  * base and id are set, and title is base */
};

struct store_rows {
	struct store_row *rows; /* by created_at, then id */
	size_t count;
};
void store_rows_free(struct store_rows *rows);
#define cleanup_store_rows CLEANUP(store_rows_free)

/* Every instance of the profile, always true to the manifests.  A damaged index is as good as none. */
int store_list(struct store *store, struct store_rows *ret, struct error *err);

/* The row of an exact title, an exact id, a unique id prefix of at least 3 characters, or the path of a
 * directory (its realpath), in this order.  ERROR_NOT_FOUND with what to try; ERROR_AMBIGUOUS
 * lists the candidates (title and id).  *ret is borrowed from rows. */
int store_resolve(const struct store_rows *rows, const char *target, const struct store_row **ret,
		  struct error *err);

/* Wait until the manifest of base is replaced or removed, or something changes in directory watch
 * (absolute path or NULL), up to deadline_ms: inotify(7), no polling.  Open the watcher before looking
 * at the state, so that no change is missed.  ERROR_NOT_FOUND: there is no such instance. */
struct store_watch;
int store_watch_open(struct store *store, const char *base, const char *watch,
		     struct store_watch **ret, struct error *err);
enum { STORE_WATCH_TIMEOUT = 1 };
int store_watch_wait(struct store_watch *watch, int64_t deadline_ms, struct error *err);
void store_watch_close(struct store_watch *watch);
static inline void store_watch_closep(struct store_watch **watch)
{
	store_watch_close(*watch);
}
#define cleanup_store_watch CLEANUP(store_watch_closep)
