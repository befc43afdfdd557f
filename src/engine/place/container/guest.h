/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A guest: a session whose agent lives in the container of another session, its owner.
 *
 * Its recipe names the owner by its base (recipe.within), and a room: one of the directories of the
 * owner which every container has mounted for the capsules of guests.  The rest of the container is
 * the owner's: image, mounts, network, limits and the agents' home.  A guest has a manifest, a
 * conversation, secrets, a capsule, a window and a ladder of its own.
 *
 * Two locks: the guest's first, then the owner's, and never the other way round.  What asks for the
 * guests of an owner reads their manifests without a lock.
 */
#pragma once

#include "engine/place/container/resolve.h"
#include "engine/place/place.h"
#include "model/session/instance.h"

/* How many guests a container has room for. */
enum { GUEST_ROOMS = 4 };

static inline bool guest_is(const struct instance *instance)
{
	return instance->recipe && instance->recipe->within;
}

/* The base of the session whose container it is: the owner's, or its own.  Borrowed. */
static inline const char *guest_owner_base(const struct instance *instance)
{
	return guest_is(instance) ? instance->recipe->within : instance->base;
}

/* ERROR_NOT_FOUND: the owner with that base was removed. */
int guest_refuse_removed(const char *base, struct error *err);

/* The owner, locked until it is closed. */
struct guest_owner {
	struct store_lock *lock;   /* owned */
	struct instance *instance; /* owned */
};
void guest_owner_close(struct guest_owner *owner);
#define cleanup_guest_owner CLEANUP(guest_owner_close)
/* order: an automatic start waits for the commands of the owner's role; NULL: no start.
 * ERROR_NOT_FOUND: it was removed.  ERROR_BUSY: another command has it for too long. */
int guest_open_owner(struct deck *deck, const char *base, const struct place_order *order,
		     struct guest_owner *ret, struct error *err);

/* The recipe of a guest that is to be, of which argv, agent and group are set; *ret is the
 * caller's.  The caller holds the owner's lock until the guest is in the store.  order: NULL,
 * or its secrets, auth and program count.  ERROR_INVALID: the owner is a guest itself, is
 * in no container, or has no room; or the container lacks what the agent needs, and the message
 * says how it gets that. */
int guest_resolve(struct deck *deck, const struct container_order *order,
		  const struct instance *owner, const struct instance *instance,
		  struct recipe **ret, struct error *err);
/* The instance is a guest with this recipe: backend and room.  Takes the recipe. */
void guest_place(struct instance *instance, struct recipe *recipe);

/* Before a start: what the owner's recipe says today counts for the guest, and its room is no other
 * guest's.  A new room is saved at once.  Takes no lock.  ERROR_NOT_FOUND: the owner was removed.
 * ERROR_INVALID: the container does not have the guest's directory any more. */
int guest_follow(struct deck *deck, struct store_lock *lock, struct instance *instance,
		 struct error *err);
/* Is this process, which answers in the room of a guest, the capsule of another session?  False as
 * well when that cannot be read. */
bool guest_is_foreign(const struct place_run *run, const struct process_id *capsule);

/* Is the instance in the container of this owner the only one that may live there?  ERROR_BUSY
 * names another one, or a session that may be one.  instance: a guest, or the owner itself. */
int guest_check_alone(struct deck *deck, const struct instance *owner,
		      const struct instance *instance, struct error *err);
/* May the owner be removed?  ERROR_BUSY names a guest, or what may be one.  Its removal would take
 * the guest's home. */
int guest_check_none(struct deck *deck, const struct instance *owner, struct error *err);
/* May it be deleted for good?  The same for guests in the trash, which undo would bring back. */
int guest_check_trash(struct deck *deck, const struct instance *owner, struct error *err);
