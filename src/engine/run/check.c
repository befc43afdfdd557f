/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is asked before a start, and before something is ended that is to be started again.
 */
#include "engine/run/lifecycle-internal.h"

#include "base/log.h"
#include "engine/conversation/conversation.h"
#include "engine/conversation/location.h"
#include "engine/deck/hint.h"
#include "engine/place/environment.h"

/* The caller's PATH; where that does not have what is needed (cron, env -i) the one that the
 * session was last started, or added, with. */
static int settle_path(const struct operation *operation, struct error *err)
{
	const struct instance *instance = operation->instance;
	const struct place *place = operation->place;
	struct error failure = { 0 };
	const char *own = getenv("PATH"), *kept = environment_kept_path(instance);
	if (is_empty(kept) || streq(kept, or_empty(own)))
		return place->check_path(instance, own, err);
	if (!is_empty(own) && place->check_path(instance, own, &failure) == 0)
		return 0;
	if (place->check_path(instance, kept, is_empty(own) ? &failure : NULL) < 0)
		return error_move(err, &failure);
	error_clear(&failure);
	log_info("PATH: %s, so the stored one is used",
		 is_empty(own) ? "the caller has no PATH" : "a program is not in the caller's");
	environment_take_kept(instance);
	return 0;
}

int lifecycle_check(struct operation *operation, struct error *err)
{
	if (operation_find_agent(operation, err) < 0 ||
	    location_check(operation->deck, operation->instance, err) < 0)
		return -1;
	return settle_path(operation, err);
}

int lifecycle_check_move(const struct operation *operation, struct error *err)
{
	const struct instance *instance = operation->instance;
	const struct move *move = &instance->move;
	if (!move_blocks(move->state))
		return 0;
	cleanup_free char *text = move_text(move->state, move->host);
	cleanup_free char *where = visible(text);
	cleanup_free char *host = visible(or_empty(move->host));
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *hint = hint_session(operation->deck, instance->title, instance->id);
	if (move->state == MOVE_MOVED)
		return error_set(err, ERROR_INVALID,
				 "session '%s' was %s: start it there, or bring it back with "
				 "agentdeck session move %s:%s --to local",
				 title, where, host, instance->id);
	if (move->state == MOVE_LEAVING)
		return error_set(err, ERROR_INVALID,
				 "session '%s' is %s: agentdeck session move %s --to %s continues "
				 "that, and agentdeck session move %s --abandon keeps it here",
				 title, where, hint, host, hint);
	return error_set(err, ERROR_INVALID,
			 "session '%s' is %s: repeat the agentdeck session move that was begun, or "
			 "if that host is lost for good, run agentdeck session move %s --abandon",
			 title, where, hint);
}

int lifecycle_find_background(const struct operation *operation, char **ret, struct error *err)
{
	const struct instance *instance = operation->instance;
	*ret = NULL;
	if (instance->observed.hold != HOLD_BACKGROUND || instance->run.socket ||
	    instance_relation(instance) != MACHINE_THIS_BOOT || !operation->place->survivors)
		return 0;
	return operation->place->survivors(operation->deck, instance->id, ret, err);
}

int lifecycle_check_hold(const struct operation *operation, char **ret_why, struct error *err)
{
	const struct instance *instance = operation->instance;
	cleanup_free char *left = NULL;
	*ret_why = NULL;
	if (lifecycle_find_background(operation, &left, err) < 0)
		return -1;
	if (!left)
		return 0;
	cleanup_free char *hint = hint_session(operation->deck, instance->title, instance->id);
	cleanup_free char *held = visible(instance->observed.held);
	*ret_why = xasprintf("%s; %s: end the background agent there, or end it with "
			     "agentdeck session stop %s",
			     held, left, hint);
	return 0;
}

int lifecycle_check_before_end(struct operation *operation, struct error *err)
{
	struct deck *deck = operation->deck;
	const struct instance *instance = operation->instance;
	cleanup_fs_lock struct fs_lock claim = FS_UNLOCKED;
	if (lifecycle_check(operation, err) < 0 || operation->place->probe(deck, instance, err) < 0)
		return -1;
	return conversation_claim(deck, instance, operation->agent, &claim, err) < 0 ? -1 : 0;
}
