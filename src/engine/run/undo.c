/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/undo.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/conversation/owner.h"
#include "engine/deck/home.h"
#include "engine/place/container/nesting.h"
#include "engine/place/place.h"
#include "engine/workspace/branch.h"
#include "engine/workspace/tree.h"
#include "model/session/naming.h"

#include <string.h>

enum { LOCK_TIMEOUT_MS = 30000 };

static int lock_profile(struct deck *deck, struct store_profile_lock **ret, struct error *err)
{
	int r = store_lock_profile(deck->store, clock_ms() + LOCK_TIMEOUT_MS, ret, err);
	return r > 0 ? error_set(err, ERROR_BUSY,
				 "another agentdeck holds the profile's lock: try again")
		     : r;
}

static bool fits(const struct removed *removed, const char *target)
{
	const struct instance *instance = removed->instance;
	return !removed->is_rest &&
	       (!target || streq(removed->base, target) ||
		(instance && (streq(instance->title, target) || streq(instance->id, target))));
}

static int find(const struct trash *trash, const char *target, struct removed **ret,
		struct error *err)
{
	for (size_t i = trash->count; i-- > 0;) {
		if (!fits(&trash->items[i], target))
			continue;
		*ret = &trash->items[i];
		return 0;
	}
	cleanup_free char *shown = visible(or_empty(target));
	if (target)
		return error_set(err, ERROR_NOT_FOUND,
				 "no removed session has the title or the id '%s': agentdeck prune "
				 "--dry-run lists those that can come back",
				 shown);
	return error_set(err, ERROR_NOT_FOUND, "the trash is empty: there is nothing to undo");
}

bool undo_can(const struct deck *deck, const char *target)
{
	cleanup_trash struct trash trash = { 0 };
	struct removed *removed;
	return trash_list(deck->store, &trash, NULL) == 0 &&
	       find(&trash, target, &removed, NULL) == 0;
}

int undo_last(struct deck *deck, struct strvec *ret, struct error *err)
{
	cleanup_trash struct trash trash = { 0 };
	struct removed *last;
	if (trash_list(deck->store, &trash, err) < 0 || find(&trash, NULL, &last, err) < 0)
		return -1;
	const char *with = last->instance ? last->instance->removed_with : NULL;
	for (size_t i = 0; i < trash.count; i++) {
		struct removed *removed = &trash.items[i];
		const bool is_with = with && fits(removed, NULL) && removed->instance &&
				     streq(or_empty(removed->instance->removed_with), with);
		if (removed == last || is_with)
			strvec_push(ret, removed->base);
	}
	return 0;
}

static int check_names(struct deck *deck, const struct instance *instance, const char *title,
		       struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(deck->store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		cleanup_free char *shown = visible(title);
		if (streq(rows.rows[i].title, title))
			return error_set(err, ERROR_EXISTS,
					 "session %s has the title '%s' now: choose another one "
					 "with agentdeck undo %s --title TITLE",
					 rows.rows[i].id, shown, instance->id);
		if (streq(rows.rows[i].id, instance->id))
			return error_set(err, ERROR_EXISTS, "session '%s' has the id %s now", shown,
					 instance->id);
	}
	return 0;
}

/* A corrupt manifest comes back unchecked, so that it can be repaired.  Any other may be whole, and
 * say a title or a conversation that another session has. */
static int check_unreadable(struct removed *removed, const char *title, struct error *err)
{
	if (removed->error.code != ERROR_NONE && removed->error.code != ERROR_CORRUPT) {
		error_move(err, &removed->error);
		return error_prefix(err, "%s stays in the trash", removed->base);
	}
	if (title)
		return error_set(err, ERROR_INVALID,
				 "the manifest of %s is corrupt, so its title cannot be changed: "
				 "restore it without --title",
				 removed->base);
	return 0;
}

/* The conversation became free when the session was removed. */
static int check(struct deck *deck, struct removed *removed, const char *title, struct error *err)
{
	const struct instance *instance = removed->instance;
	if (!instance)
		return check_unreadable(removed, title, err);
	const char *session_id = instance->conversation.session_id;
	if (title && naming_check_title(title, err) < 0)
		return -1;
	if (check_names(deck, instance, title ? title : instance->title, err) < 0)
		return -1;
	if (!session_id || owner_check(deck, instance, session_id, err) == 0)
		return 0;
	cleanup_free char *shown = visible(instance->title);
	return error_prefix(err, "%s stays in the trash", shown);
}

/* Work in it counts again, also before the next start. */
static int reclaim_tree(struct store_profile_lock *lock, const struct removed *removed,
			struct error *err)
{
	const bool changed = removed->instance && tree_reclaim(removed->instance->workspace);
	return changed ? trash_save(lock, removed, err) : 0;
}

/* A newer container may have a place above or below one of this one's.  A start looks at the places
 * again, but the engine's own restart does not. */
static void warn_of_places(struct deck *deck, const struct instance *instance)
{
	cleanup_error struct error err = { 0 };
	if (instance && nesting_check_session(deck, instance, &err) < 0)
		deck_warn(deck, "%s is back, but a container should not have its places: %s",
			  instance->title, err.message);
}

int undo_removal(struct deck *deck, const char *target, const char *title, struct instance **ret,
		 struct error *err)
{
	cleanup_fs_lock struct fs_lock conversations = FS_UNLOCKED;
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	cleanup_trash struct trash trash = { 0 };
	struct removed *removed;
	/* Until it is back, no other session may take its title or its conversation. */
	if (owner_lock(deck, &conversations, err) < 0 || lock_profile(deck, &lock, err) < 0 ||
	    trash_list(deck->store, &trash, err) < 0 || find(&trash, target, &removed, err) < 0)
		return -1;
	if (check(deck, removed, title, err) < 0 || reclaim_tree(lock, removed, err) < 0 ||
	    trash_restore(lock, removed, title, err) < 0)
		return -1;
	log_set_instance(removed->base);
	log_info("restored from the trash: %s", removed->name);
	warn_of_places(deck, removed->instance);
	*ret = TAKE_PTR(removed->instance);
	return 0;
}

/* Another session may have the id meanwhile, and with it the directory. */
static void leave_home(struct deck *deck, const struct removed *removed,
		       const struct store_rows *rows)
{
	cleanup_free char *id = removed->instance ? xstrdup(removed->instance->id)
						  : naming_id_of_base(removed->base);
	for (size_t i = 0; i < rows->count; i++)
		if (streq(rows->rows[i].id, id))
			return;
	home_leave(deck, id, HOME_PRUNED);
}

/* What its engine could not free when it was removed. */
static int free_container(struct deck *deck, struct instance *instance, struct error *err)
{
	const struct place *place;
	if (!instance || !instance_has_container(instance))
		return 0;
	if (place_find(instance, &place, err) < 0 ||
	    place->discard(deck, instance, DISCARD_FOR_GOOD, err) < 0)
		return error_prefix(err, "its container is left (--leave-containers gives it up)");
	return 0;
}

struct saving {
	struct store_profile_lock *lock;
	const struct removed *removed;
};

static int save(void *context, struct error *err)
{
	const struct saving *saving = context;
	return trash_save(saving->lock, saving->removed, err);
}

static int delete_tree(struct deck *deck, struct store_profile_lock *lock,
		       const struct removed *removed, struct error *err)
{
	struct saving saving = { lock, removed };
	const struct tree_saver saver = { save, &saving };
	return tree_delete(deck, removed->instance, &saver, err);
}

/* Returns whether it is gone; else the user is warned. */
static bool prune(struct deck *deck, struct store_profile_lock *lock, const struct removed *removed,
		  const struct prune_order *order, bool *failed)
{
	cleanup_error struct error err = { 0 };
	bool is_there = true;
	int r = trash_has(lock, removed, &is_there, &err);
	/* What it has is a session's again. */
	if (!is_there)
		return false;
	if (r == 0 && !order->may_leave_containers)
		r = free_container(deck, removed->instance, &err);
	if (r == 0 && removed->instance)
		r = delete_tree(deck, lock, removed, &err);
	if (r == TREE_KEPT)
		return false;
	if (r == 0 && removed->instance)
		r = branch_delete(deck, removed->instance, order->branches, &err);
	if (r == 0)
		r = trash_delete(lock, removed, &err);
	if (r == 0)
		log_info("deleted from the trash: %s", removed->name);
	else if (r == TRASH_KEPT)
		deck_warn(deck, "%s/%s/.trash/%s stays: it has a file that is not agentdeck's",
			  deck->paths.state, deck->profile, removed->name);
	else
		deck_warn(deck, "%s/%s/.trash/%s was not deleted: %s", deck->paths.state,
			  deck->profile, removed->name, err.message);
	*failed = *failed || r < 0;
	return r == 0;
}

static bool has_branch(const struct removed *removed)
{
	const struct instance *instance = removed->instance;
	return instance && instance->workspace && instance->workspace->made_branch;
}

int undo_prune(struct deck *deck, const struct trash *trash, const struct prune_order *order,
	       size_t *ret_deleted, struct error *err)
{
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	cleanup_store_rows struct store_rows rows = { 0 };
	size_t deleted = 0;
	bool failed = false;
	if (lock_profile(deck, &lock, err) < 0 || store_list(deck->store, &rows, err) < 0)
		return -1;
	/* First those for which no branch was made, since they may need that of another. */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < trash->count; i++) {
			const struct removed *removed = &trash->items[i];
			if (has_branch(removed) != (pass == 1) ||
			    !prune(deck, lock, removed, order, &failed))
				continue;
			deleted++;
			leave_home(deck, removed, &rows);
		}
	if (failed)
		return error_set(err, ERROR_SYSTEM,
				 "deleted %zu of %zu removed sessions: see the warnings, and run "
				 "agentdeck prune again",
				 deleted, trash->count);
	*ret_deleted = deleted;
	return 0;
}
