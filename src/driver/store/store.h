/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Instances on disk: one manifest each, which is the truth, and an index, which is a cache.
 *
 *   <state>/<profile>/<base>/instance.json   manifest, replaced atomically and durably
 *   <state>/<profile>/<base>.lock            instance lock (OFD lock; removed only while held)
 *   <state>/<profile>/instances.json         index of the manifests, made by readers
 *   <state>/<profile>/instances.json.lock    profile lock: names are given and taken under it
 *
 * Writers never touch the index.  A row is valid only while device, inode, size and modification
 * time of its manifest are those that it was made from, and every replacement makes a new inode.
 * So a reader finds each stale, missing or damaged row itself, and reads that manifest instead.  A
 * reader that had to read many manifests writes a new index, without syncing it: its loss does no
 * harm.  So the cost of a change does not depend on the number of instances.
 *
 * A manifest that does not parse is set aside as instance.json.damaged-<time> by the next process
 * that holds its lock.  Every listing reports it, it is never overwritten, and it disturbs no other
 * instance.
 */
#pragma once

#include "base/fsutil.h"
#include "model/session/instance.h"

struct store;

/* Open the state directory and the profile in it; make them when missing.  *ret is the caller's. */
int store_open(const char *state, const char *profile, struct store **ret, struct error *err);
void store_close(struct store *store);

/* Has store_open() made the profile? */
bool store_is_new(const struct store *store);

/* Set where runs live (paths.runtime, paths.direct; copied).  From then on, each read of a manifest
 * replaces a directory, socket or unit that cannot belong to a run of the instance by the one that
 * a run of it has here, so that an edited manifest cannot name another. */
void store_set_roots(struct store *store, const char *runtime, const char *direct);
CLEANUP_OF(store_closep, struct store, store_close);
#define cleanup_store CLEANUP(store_closep)

/* Descriptors that live as long as the store: <state>, <state>/<profile>. Borrowed. */
int store_state_directory(const struct store *store);
int store_profile_directory(const struct store *store);
const char *store_profile(const struct store *store);

/* Proof of holding one instance's lock, or the profile's.  Release them before the store. */
struct store_lock;
struct store_profile_lock;

enum { STORE_ABSENT = 1, STORE_BUSY = 2 };

/* Lock an instance by its base name, waiting until deadline_ms of clock_ms() (0: do not wait).
 * STORE_BUSY: another process holds it.  STORE_ABSENT: there is no such instance directory. While
 * it is held, temporary files of earlier crashes below the instance are removed. */
int store_lock(struct store *store, const char *base, int64_t deadline_ms, struct store_lock **ret,
	       struct error *err);
void store_unlock(struct store_lock *lock);
CLEANUP_OF(store_unlockp, struct store_lock, store_unlock);
#define cleanup_store_lock CLEANUP(store_unlockp)
/* Descriptor of the instance's directory, in which temporary files are removed.  Borrowed. */
int store_lock_directory(const struct store_lock *lock);

int store_lock_profile(struct store *store, int64_t deadline_ms, struct store_profile_lock **ret,
		       struct error *err);
void store_unlock_profile(struct store_profile_lock *lock);
CLEANUP_OF(store_unlock_profilep, struct store_profile_lock, store_unlock_profile);
#define cleanup_store_profile_lock CLEANUP(store_unlock_profilep)

/* Read one manifest; needs no lock (replacement is atomic).  STORE_ABSENT: no such instance, or it
 * was removed.  ERROR_CORRUPT and ERROR_NEWER leave the file where it is. */
int store_load(struct store *store, const char *base, struct instance **ret, struct error *err);

/* Read it under its lock: a damaged manifest is set aside, and the error says under which name. */
int store_load_locked(struct store_lock *lock, struct instance **ret, struct error *err);

/* Puts more into the directory of a new instance than its manifest, durably. */
struct store_filler {
	int (*fill)(int directory, void *data, struct error *err);
	void *data;
};

/* Make a new instance: directory, lock file and manifest.  Its directory appears as a whole, with
 * what the filler (NULL: nothing) puts there.  It needs the profile's lock, so that titles and ids
 * are unique.  ERROR_EXISTS: the base is taken. */
int store_create(struct store_profile_lock *lock, const struct instance *instance,
		 const struct store_filler *filler, struct error *err);

struct store_new {
	const struct instance *instance;
	const struct store_filler *filler; /* NULL: nothing */
};

/* Like store_create(), but for many, with one fsync for all their names.  Each is on disk as a
 * whole before the first appears, and all appear before it returns.  *made: how many have appeared,
 * in their order, after a failure, too: these the caller removes, and of the others nothing is
 * left. A crash leaves whole ones, which are perhaps not all. */
int store_create_many(struct store_profile_lock *lock, const struct store_new *new, size_t count,
		      size_t *made, struct error *err);

/* Replace the manifest of the instance whose lock is held, durably. */
int store_save(struct store_lock *lock, const struct instance *instance, struct error *err);

/* Remove the instance's directory and lock file, and end the lock in every case.  The directory is
 * first renamed to ".removed-<base>", so that a crash leaves either the instance or a remnant that
 * the next store_lock_profile() clears. */
int store_remove(struct store_lock *lock, struct error *err);

/* The index's data about one instance.  A text that is absent or empty is NULL. */
struct store_row {
	char *storage; /* private: owns the texts */
	char *base, *id, *title, *group, *agent, *backend, *session_id, *notes;
	char *tags; /* as in struct instance */
	bool is_pinned;
	int64_t archived_at; /* instance_archived_at() */
	int64_t queued;      /* messages that wait until it is idle */
	char *within; /* the base of the session whose container it is; NULL: no other one's */
	/* instance_lookup_directory(), instance_owner_directory() */
	char *lookup_directory, *owner_directory;
	char *copy_of;         /* as in struct instance */
	char *workspace;       /* workspace_kind_name() of its own tree; NULL: it has none */
	struct seen_work seen; /* in that; borrowed from storage */
	enum instance_state state;
	enum instance_desired desired;
	enum ending_stage ending;
	enum move_state move; /* of move.state */
	char *move_host;      /* move.host */
	int64_t created_at, last_used_at;
	int64_t since;       /* observed.since */
	char *reason, *held; /* observed.reason, observed.held */
	struct place_run run;
	enum rung rung;    /* of the current attempt */
	char *config_home; /* of the conversation */
	/* the id that the run is about to take; NULL: it keeps session_id */
	char *next_session_id;
	struct shared_conversation shared; /* without since; borrowed from storage */
	char *damage; /* not NULL: why the manifest cannot be read; then only base, id and title
			 (the base) are set */
};

struct store_rows {
	struct store_row *rows; /* by created_at, then id */
	size_t count;
};
void store_rows_free(struct store_rows *rows);
#define cleanup_store_rows CLEANUP(store_rows_free)

/* List every instance of the profile, always as the manifests say.  A damaged index counts as
 * absent. */
int store_list(struct store *store, struct store_rows *ret, struct error *err);

/* Read the row of one instance from its manifest.  STORE_ABSENT: there is no such instance.  *ret:
 * store_row_free(). */
int store_load_row(struct store *store, const char *base, struct store_row *ret);
void store_row_free(struct store_row *row);

/* Find the row by an exact title, an exact id, the id that it is a copy of, a unique id prefix of
 * at least 3 characters, or the path of a directory (its realpath), in this order.  The path finds
 * no archived session.  ERROR_NOT_FOUND says what to try; ERROR_AMBIGUOUS lists the candidates
 * (title and id).  *ret is borrowed from rows. */
int store_resolve(const struct store_rows *rows, const char *target, const struct store_row **ret,
		  struct error *err);
