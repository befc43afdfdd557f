/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The owner of a conversation: the instance, of any profile, running or not, whose current session
 * id it is, or whose run is about to move to it.  An id that an instance had before has no owner.
 *
 * The owner keeps it.  Code that gives an instance an id that it did not have asks here first, and
 * saves the manifest before it lets the lock go.  Order of the locks: the instance's, this one, the
 * profile's.
 */
#pragma once

#include "engine/deck/deck.h"

/* conversations.lock.  ERROR_BUSY: another process holds it for too long.  One that is held already
 * stays as it is. */
int owner_lock(struct deck *deck, struct fs_lock *lock, struct error *err);

/* The rows of every profile, this one's first. */
struct owner_profile {
	struct store *store; /* borrowed when it is the deck's own */
	bool is_own;
	struct store_rows rows;
};
struct owner_profiles {
	struct owner_profile *items;
	size_t count;
};
int owner_list(struct deck *deck, struct owner_profiles *ret, struct error *err);
void owner_profiles_free(struct owner_profiles *profiles);
#define cleanup_owner_profiles CLEANUP(owner_profiles_free)

/* For who gives a conversation to a session that is not in these rows: a session that cannot be
 * read may have it. */
int owner_fail_unread(const char *id, struct error *err);
int owner_check_read(const struct owner_profiles *profiles, struct error *err);

/* Is this row, of a profile in that list, the instance's own? */
bool owner_is_self(const struct owner_profile *profile, const struct store_row *row,
		   const struct instance *instance);

/* The owner of this conversation of the instance's agent and home, other than the instance itself.
 * *ret is the caller's, with since unset.  OWNER_NONE: it has no owner. */
enum { OWNER_NONE = 1 };
int owner_find(struct deck *deck, const struct instance *instance, const char *session_id,
	       struct shared_conversation *ret, struct error *err);

/* "agentdeck", with the profile in which the owner is found.  The caller frees. */
char *owner_command(const struct shared_conversation *owned) MUST_USE;

/* 0 when no other instance owns it; ERROR_EXISTS names the owner and what to do. */
int owner_check(struct deck *deck, const struct instance *instance, const char *session_id,
		struct error *err);
/* Like owner_check(), but for the conversation of each of these instances (one without an id
 * passes), with one look at the sessions. */
int owner_check_many(struct deck *deck, const struct instance *const *instances, size_t count,
		     struct error *err);

/* Add the naming_session_id_key() of every conversation that these sessions own, or are about to
 * take, as members of the object. */
void owner_list_ids(const struct owner_profiles *profiles, struct json_object *ret);
