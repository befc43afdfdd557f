/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/guest.h"

#include "base/clock.h"
#include "driver/store/trash.h"
#include "engine/deck/hint.h"
#include "engine/place/alive.h"
#include "engine/place/container/container-internal.h"
#include "model/session/naming.h"

#include <string.h>
#include <unistd.h>

enum { OWNER_MS = 30000 };

/* ---- the owner ------------------------------------------------------------------------------- */

void guest_owner_close(struct guest_owner *owner)
{
	store_unlock(owner->lock);
	instance_free(owner->instance);
	*owner = (struct guest_owner){ 0 };
}

int guest_refuse_removed(const char *base, struct error *err)
{
	cleanup_free char *id = naming_id_of_base(base);
	return error_set(err, ERROR_NOT_FOUND,
			 "its container is that of session %s, which was removed: bring it back "
			 "with agentdeck undo %s",
			 id, id);
}

int guest_open_owner(struct deck *deck, const char *base, const struct place_order *order,
		     struct guest_owner *ret, struct error *err)
{
	cleanup_guest_owner struct guest_owner owner = { 0 };
	const bool is_automatic = order && order->needs_scope;
	const int64_t wait_ms = OWNER_MS +
				(is_automatic ? deck->settings.setup_timeout_s * 1000 : 0);
	int r = store_lock(deck->store, base, clock_ms() + wait_ms, &owner.lock, err);
	if (r == STORE_BUSY)
		return error_set(err, ERROR_BUSY,
				 "another agentdeck works on session %s, whose container it is: "
				 "try again",
				 base);
	if (r == 0)
		r = store_load_locked(owner.lock, &owner.instance, err);
	if (r != 0)
		return r < 0 ? -1 : guest_refuse_removed(base, err);
	*ret = owner;
	owner = (struct guest_owner){ 0 };
	return 0;
}

/* ---- the guests of an owner ------------------------------------------------------------------ */

/* The guests of an owner, but for one. */
struct guests {
	struct instance **items;
	size_t count;
	char *unread; /* a session that may be one: its manifest cannot be read; NULL: none */
};

static void guests_clear(struct guests *guests)
{
	for (size_t i = 0; i < guests->count; i++)
		instance_free(guests->items[i]);
	free(guests->items);
	free(guests->unread);
}
#define cleanup_guests CLEANUP(guests_clear)

static int gather(struct deck *deck, const char *owner, const char *except, struct guests *ret,
		  struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(deck->store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		cleanup_instance struct instance *guest = NULL;
		const struct store_row *row = &rows.rows[i];
		if ((!row->damage && !streq(or_empty(row->within), owner)) ||
		    streq(row->id, or_empty(except)) || streq(row->base, owner))
			continue;
		const int r = row->damage ? -1 : store_load(deck->store, row->base, &guest, NULL);
		if (r < 0)
			replace_string(&ret->unread, row->base);
		if (r != 0 || !streq(guest_owner_base(guest), owner))
			continue;
		ret->items = xreallocarray(ret->items, ret->count + 1, sizeof(*ret->items));
		ret->items[ret->count++] = TAKE_PTR(guest);
	}
	return 0;
}

bool guest_is_foreign(const struct place_run *run, const struct process_id *capsule)
{
	cleanup_free char *whose = NULL;
	return streq(or_empty(run->backend), PLACE_GUEST) && capsule->pid &&
	       process_variable(capsule->pid, ENV_INSTANCE, &whose, NULL) == 0 && whose &&
	       !streq(whose, run->id);
}

/* May the capsule of another session live in this room?  instance: NULL, or a guest, whose own
 * capsule does not count.  What does not answer may live. */
static bool is_occupied(struct deck *deck, const struct instance *owner, int64_t room,
			const struct instance *instance)
{
	cleanup_capsule struct capsule *capsule = NULL;
	cleanup_free char *path = container_room(deck, owner, (int)room);
	const int r = capsule_connect(path, clock_ms() + CAPSULE_ANSWER_MS, &capsule, NULL);
	if (r != 0)
		return r != CAPSULE_ABSENT;
	if (!instance)
		return true;
	const struct process_id process = capsule_process(capsule);
	const struct place_run run = place_run_of(instance);
	return guest_is_foreign(&run, &process);
}

/* The rooms that guests have by their manifests. */
static void mark_rooms(const struct guests *guests, bool taken[static GUEST_ROOMS + 1])
{
	for (size_t i = 0; i < guests->count; i++) {
		const int64_t room = guests->items[i]->recipe->room;
		if (room > 0 && room <= GUEST_ROOMS)
			taken[room] = true;
	}
}

/* Does a session live here whose manifest cannot be read?  The manifests of the others tell. */
static bool has_unread(struct deck *deck, const struct instance *owner, const struct guests *guests,
		       const struct instance *instance)
{
	bool known[GUEST_ROOMS + 1] = { true };
	mark_rooms(guests, known);
	if (guest_is(instance) && instance->recipe->room <= GUEST_ROOMS)
		known[instance->recipe->room] = true;
	for (int64_t room = 1; guests->unread && room <= GUEST_ROOMS; room++)
		if (!known[room] && is_occupied(deck, owner, room, NULL))
			return true;
	return false;
}

/* Has a guest ever run in it? */
static bool had_guests(struct deck *deck, const struct instance *owner)
{
	for (int room = 1; room <= GUEST_ROOMS; room++) {
		cleanup_free char *path = container_room(deck, owner, room);
		cleanup_free char *token = path_join(path, CAPSULE_TOKEN);
		if (access(token, F_OK) == 0)
			return true;
	}
	return false;
}

/* Not only what is seen: a start may be under way, and what does not answer may live. */
static bool may_live(const struct instance *instance)
{
	const struct place_run run = place_run_of(instance);
	if (!instance->run.socket)
		return false;
	return instance->observed.state == STATE_STARTING || place_presence(&run) != PRESENCE_NONE;
}

int guest_check_alone(struct deck *deck, const struct instance *owner,
		      const struct instance *instance, struct error *err)
{
	cleanup_guests struct guests guests = { 0 };
	const struct instance *other = NULL;
	if (gather(deck, owner->base, instance->id, &guests, err) < 0)
		return -1;
	if (!streq(owner->id, instance->id) && may_live(owner))
		other = owner;
	for (size_t i = 0; !other && i < guests.count; i++)
		if (may_live(guests.items[i]))
			other = guests.items[i];
	if (!other && has_unread(deck, owner, &guests, instance))
		return error_set(
			err, ERROR_BUSY,
			"session %s may live in this container, too, and its manifest "
			"cannot be read: restore it, or remove it with agentdeck remove %s",
			guests.unread, guests.unread);
	if (!other)
		return 0;
	cleanup_free char *title = visible(other->title);
	cleanup_free char *hint = hint_session(deck, other->title, other->id);
	return error_set(err, ERROR_BUSY,
			 "session '%s' lives in this container, too: stop it first with agentdeck "
			 "stop %s",
			 title, hint);
}

int guest_check_none(struct deck *deck, const struct instance *owner, struct error *err)
{
	cleanup_guests struct guests guests = { 0 };
	if (guest_is(owner) || !owner->recipe)
		return 0;
	if (gather(deck, owner->base, owner->id, &guests, err) < 0)
		return -1;
	cleanup_free char *own = visible(owner->title);
	if (!guests.count && guests.unread && had_guests(deck, owner))
		return error_set(err, ERROR_BUSY,
				 "%s was not removed, because session %s may have its "
				 "conversation in its container, and its manifest cannot be read: "
				 "restore it, or remove it with agentdeck remove %s",
				 own, guests.unread, guests.unread);
	if (!guests.count)
		return 0;
	cleanup_free char *title = visible(guests.items[0]->title);
	cleanup_free char *hint = hint_session(deck, guests.items[0]->title, guests.items[0]->id);
	return error_set(err, ERROR_BUSY,
			 "%s was not removed, because session '%s' lives in its container, and "
			 "its conversation is there: remove that one first with agentdeck remove "
			 "%s",
			 own, title, hint);
}

int guest_check_trash(struct deck *deck, const struct instance *owner, struct error *err)
{
	cleanup_trash struct trash trash = { 0 };
	cleanup_free char *own = visible(owner->title);
	if (guest_is(owner) || !owner->recipe)
		return 0;
	if (trash_list(deck->store, &trash, err) < 0)
		return -1;
	for (size_t i = 0; i < trash.count; i++) {
		const struct removed *removed = &trash.items[i];
		const struct instance *guest = removed->instance;
		if (removed->is_rest ||
		    (guest ? !guest_is(guest) || !streq(guest_owner_base(guest), owner->base)
			   : !had_guests(deck, owner)))
			continue;
		return error_set(
			err, ERROR_BUSY,
			"%s was not deleted, because session %s, which was removed, %s its "
			"conversation in its container: bring it back with agentdeck undo "
			"%s, or delete all that was removed with agentdeck prune --older 0",
			own, removed->base, guest ? "has" : "may have", removed->base);
	}
	return 0;
}

/* A room that no other guest has, nor a capsule that answers there; 0: there is none.  instance:
 * NULL, or the guest that has one already, and keeps it if it can. */
static int64_t free_room(struct deck *deck, const struct instance *owner,
			 const struct guests *guests, const struct instance *instance)
{
	bool taken[GUEST_ROOMS + 1] = { true };
	const int64_t wished = instance ? instance->recipe->room : 0;
	mark_rooms(guests, taken);
	if (wished > 0 && wished <= GUEST_ROOMS && !taken[wished] &&
	    !is_occupied(deck, owner, wished, instance))
		return wished;
	for (int64_t room = 1; room <= GUEST_ROOMS; room++)
		if (room != wished && !taken[room] && !is_occupied(deck, owner, room, instance))
			return room;
	return 0;
}

static int refuse_full(const struct instance *owner, struct error *err)
{
	cleanup_free char *title = visible(owner->title);
	return error_set(err, ERROR_INVALID,
			 "the container of '%s' has room for %d other sessions, which it has: "
			 "remove one of them, or give this one a container of its own",
			 title, GUEST_ROOMS);
}

/* ---- its recipe ------------------------------------------------------------------------------ */

/* Take what the owner's recipe says of the container into the guest's. */
static void follow(const struct instance *owner, struct recipe *recipe)
{
	const struct recipe *of = owner->recipe;
	replace_string(&recipe->within, owner->base);
	replace_string(&recipe->engine, of->engine);
	replace_string(&recipe->address, of->address);
	replace_string(&recipe->tls, of->tls);
	replace_string(&recipe->context, of->context);
	replace_string(&recipe->image, of->image);
	replace_string(&recipe->image_id, of->image_id);
	replace_string(&recipe->user, of->user);
	replace_string(&recipe->home, of->home);
	replace_string(&recipe->network, of->network);
	strvec_clear(&recipe->environment);
	strvec_push_all(&recipe->environment, &of->environment);
}

/* Does the container of this recipe have the path at the same place? */
static bool has_path(const struct recipe *recipe, const char *path)
{
	const char *program = recipe_program_mount(recipe);
	bool has = path_is_below(path, recipe->directory) ||
		   (program && path_is_below(path, program));
	for (size_t i = 0; i < recipe->mount_count; i++)
		has |= streq(recipe->mounts[i].source, recipe->mounts[i].target) &&
		       path_is_below(path, recipe->mounts[i].target);
	return has;
}

/* Mounts are fixed when a container is made. */
static int check_program(struct deck *deck, const struct instance *owner, bool is_asked,
			 struct recipe *recipe, struct error *err)
{
	const char *mount = recipe_program_mount(recipe);
	if (!mount || has_path(owner->recipe, mount))
		return 0;
	if (!is_asked) {
		recipe->program = PROGRAM_IN_IMAGE;
		return 0;
	}
	cleanup_free char *shown = visible(mount), *title = visible(owner->title);
	cleanup_free char *hint = hint_session(deck, owner->title, owner->id);
	return error_set(err, ERROR_INVALID,
			 "the container of '%s' does not have %s, and what it has mounted is fixed "
			 "when it is made: agentdeck set %s recipe.mount %s:%s:ro, then agentdeck "
			 "restart %s, and try again",
			 title, shown, hint, shown, shown, hint);
}

static int check_agent(const struct agent *agent, struct error *err)
{
	const bool is_isolated = agent->isolation_arguments.count ||
				 agent->isolation_environment.count;
	return is_isolated || agent->create.count
		       ? error_set(err, ERROR_INVALID,
				   "%s cannot be a second agent in a container, because it %s: "
				   "give it a container of its own",
				   agent->title,
				   is_isolated ? "needs a directory for its conversation that the "
						 "container lacks"
					       : "makes its conversation with a command first")
		       : 0;
}

static int check_owner(const struct instance *owner, struct error *err)
{
	cleanup_free char *title = visible(owner->title);
	if (guest_is(owner))
		return error_set(err, ERROR_INVALID,
				 "'%s' has no container of its own: it lives in that of session "
				 "%s. Name that one",
				 title, owner->recipe->within);
	return owner->recipe ? 0
			     : error_set(err, ERROR_INVALID,
					 "'%s' runs on this host: it has no container", title);
}

int guest_resolve(struct deck *deck, const struct container_order *order,
		  const struct instance *owner, const struct instance *instance,
		  struct recipe **ret, struct error *err)
{
	cleanup_recipe struct recipe *recipe = recipe_new();
	cleanup_guests struct guests guests = { 0 };
	const struct agent *agent;
	static const struct container_order nothing = { 0 };
	bool is_asked = false;
	if (check_owner(owner, err) < 0 || deck_agent(deck, instance->agent, &agent, err) < 0 ||
	    check_agent(agent, err) < 0 ||
	    container_resolve_agent(deck, order ? order : &nothing, instance, recipe, &is_asked,
				    err) < 0 ||
	    check_program(deck, owner, is_asked, recipe, err) < 0 ||
	    gather(deck, owner->base, NULL, &guests, err) < 0)
		return -1;
	follow(owner, recipe);
	replace_string(&recipe->directory, instance_lookup_directory(owner));
	recipe->room = free_room(deck, owner, &guests, NULL);
	if (!recipe->room)
		return refuse_full(owner, err);
	*ret = TAKE_PTR(recipe);
	return 0;
}

void guest_place(struct instance *instance, struct recipe *recipe)
{
	replace_string(&instance->backend, PLACE_GUEST);
	recipe_free(instance->recipe);
	instance->recipe = recipe;
}

static int check_directory(struct deck *deck, const struct instance *owner,
			   const struct instance *instance, struct error *err)
{
	const char *directory = instance_launch_directory(instance);
	if (has_path(owner->recipe, directory))
		return 0;
	cleanup_free char *shown = visible(directory), *title = visible(owner->title);
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	return error_set(err, ERROR_INVALID,
			 "the container of '%s' does not have %s any more: agentdeck set %s path "
			 "DIRECTORY names one that it has",
			 title, shown, hint);
}

/* Others choose theirs by the manifests.  The rest of the run is saved when it is planned. */
static int take_room(struct deck *deck, struct store_lock *lock, struct instance *instance,
		     int64_t room, struct error *err)
{
	cleanup_instance struct instance *saved = NULL;
	if (deck_load(deck, instance->base, &saved, err) < 0)
		return -1;
	if (guest_is(saved))
		saved->recipe->room = room;
	if (store_save(lock, saved, err) < 0)
		return -1;
	instance->recipe->room = room;
	return 0;
}

/* No lock is held here: the caller has the conversations', and so may the owner's command that
 * waits for them.  Each guest saves its room first, and then looks for another one that has it. */
static int settle_room(struct deck *deck, struct store_lock *lock, const struct instance *owner,
		       struct instance *instance, struct error *err)
{
	for (unsigned i = 0; i <= GUEST_ROOMS; i++) {
		cleanup_guests struct guests guests = { 0 };
		if (gather(deck, owner->base, instance->id, &guests, err) < 0)
			return -1;
		const int64_t room = free_room(deck, owner, &guests, instance);
		if (!room)
			return refuse_full(owner, err);
		if (room == instance->recipe->room)
			return 0;
		if (take_room(deck, lock, instance, room, err) < 0)
			return -1;
	}
	return error_set(err, ERROR_BUSY,
			 "other sessions take their places in its container just now: try again");
}

int guest_follow(struct deck *deck, struct store_lock *lock, struct instance *instance,
		 struct error *err)
{
	cleanup_instance struct instance *owner = NULL;
	const char *base = instance->recipe->within;
	const int r = store_load(deck->store, base, &owner, err);
	if (r != 0)
		return r < 0 ? -1 : guest_refuse_removed(base, err);
	if (check_owner(owner, err) < 0 || check_directory(deck, owner, instance, err) < 0)
		return -1;
	follow(owner, instance->recipe);
	return settle_room(deck, lock, owner, instance, err);
}
