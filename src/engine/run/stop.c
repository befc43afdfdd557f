/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lifecycle_stop() and lifecycle_remove(): what ends a run.
 */
#include "engine/run/stop.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/store/reserve.h"
#include "driver/store/trash.h"
#include "engine/conversation/conversation.h"
#include "engine/conversation/report.h"
#include "engine/deck/home.h"
#include "engine/roster/statusline.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/run/undo.h"
#include "engine/run/work.h"
#include "engine/workspace/tree.h"
#include "engine/workspace/users.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>

int lifecycle_end_run(const struct operation *operation, struct error *err)
{
	struct deck *deck = operation->deck;
	const struct agent *agent = NULL;
	cleanup_free char *words = NULL;
	(void)deck_agent(deck, operation->instance->agent, &agent, NULL);
	bool listen = agent && agent->exit_banner;
	int r = operation->place->end(deck, operation->instance,
				      (int)deck->settings.stop_timeout_s * 1000,
				      listen ? &words : NULL, err);
	/* The agent has ended and cannot say it again.  What cannot be saved now is part of the
	 * next save. */
	if (conversation_take_words(deck, operation->instance, words))
		(void)operation_save(operation, NULL);
	return r;
}

void lifecycle_take_note(const struct operation *operation)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_error struct error why = { 0 };
	const struct agent *agent = NULL;
	if (deck_agent(operation->deck, operation->instance->agent, &agent, NULL) < 0)
		return;
	int r = report_take_note(operation->deck, operation->instance, agent, &lock, &why);
	if (r == REPORT_FOLLOWED)
		r = operation_save(operation, &why);
	if (r < 0)
		log_warning("the agent's note is not followed: %s", why.message);
}

/* An agent that fills the disk has to end before anything can be written. */
static int note_wish(const struct operation *operation, enum state_event wanted, struct error *err)
{
	struct error failure = { 0 };
	if (operation_note(operation, wanted, NULL, &failure) == 0)
		return 0;
	if (wanted != EVENT_STOP_WANTED || !failure.os_errno)
		return error_move(err, &failure);
	log_warning("it ends although that cannot be saved: %s", failure.message);
	error_clear(&failure);
	return 0;
}

int lifecycle_end_locked(const struct operation *operation, enum state_event wanted,
			 bool *ret_was_running, struct error *err)
{
	struct deck *deck = operation->deck;
	struct instance *instance = operation->instance;
	struct observation seen = operation->place->observe(deck, instance, OBSERVE_PROCESS);
	bool had_run = instance->run.socket != NULL;
	/* A start that was interrupted may have left a run whose processes were not recorded. */
	if (seen.presence == PRESENCE_ALIVE)
		operation_take_seen(operation, &seen);
	if (had_run) {
		/* An agent that ends in order removes it. */
		lifecycle_take_note(operation);
		if (note_wish(operation, wanted, err) < 0 || lifecycle_end_run(operation, err) < 0)
			return -1;
	} else if (instance->last_used_at &&
		   operation->place->end_unknown(deck, instance->id, err) < 0) {
		/* An agent that ended by itself may have left something running. */
		return -1;
	}
	run_clear(&instance->run);
	*ret_was_running = seen.presence != PRESENCE_NONE;
	return 0;
}

static int note_stopped(const struct operation *operation, struct error *err)
{
	struct error failure = { 0 };
	if (operation_note(operation, EVENT_STOPPED, NULL, &failure) == 0)
		return 0;
	if (!failure.os_errno)
		return error_move(err, &failure);
	if (reserve_spend(operation->deck->store) && operation_save(operation, NULL) == 0) {
		error_clear(&failure);
		return 0;
	}
	cleanup_free char *title = visible(operation->instance->title);
	(void)error_move(err, &failure);
	return error_prefix(err, "%s was stopped, but that could not be saved", title);
}

static int stop_locked(struct operation *operation, enum state_event wanted, bool *ret_was_running,
		       struct error *err)
{
	const struct instance *instance = operation->instance;
	const enum instance_activity before = statusline_activity(instance->run.directory);
	bool was_running;
	if (lifecycle_end_locked(operation, wanted, &was_running, err) < 0)
		return -1;
	if (was_running)
		work_look_at_end(operation);
	if (note_stopped(operation, err) < 0)
		return -1;
	statusline_follow(operation->deck->store, instance->base, before, ACTIVITY_UNKNOWN);
	log_info("%s%s", wanted == EVENT_SLEEP_WANTED ? "asleep" : "stopped",
		 was_running ? "" : " (was not running)");
	*ret_was_running = was_running;
	return 0;
}

int lifecycle_stop_locked(struct operation *operation, bool *ret_was_running, struct error *err)
{
	return stop_locked(operation, EVENT_STOP_WANTED, ret_was_running, err);
}

int lifecycle_sleep_locked(struct operation *operation, bool *ret_was_running, struct error *err)
{
	return stop_locked(operation, EVENT_SLEEP_WANTED, ret_was_running, err);
}

/* Asked under the lock: it may have been started again since its user was asked. */
static int check_run(const struct operation *operation, const struct lifecycle_seen *seen,
		     struct error *err)
{
	const struct run *run = &operation->instance->run;
	if (process_same(&run->server, &seen->server) && process_same(&run->pane, &seen->pane))
		return 0;
	cleanup_free char *title = visible(operation->instance->title);
	return error_set(err, ERROR_INVALID,
			 "%s was not stopped, because it was started or stopped since it was "
			 "shown: look again",
			 title);
}

int lifecycle_stop(struct deck *deck, const char *base, const struct stop_order *order,
		   bool *ret_was_running, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0 ||
	    operation_admit(&operation, order->takes_over, err) < 0 ||
	    (order->seen && check_run(&operation, order->seen, err) < 0))
		return -1;
	return lifecycle_stop_locked(&operation, ret_was_running, err);
}

int lifecycle_rest(struct deck *deck, const char *base, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	bool was_running;
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	const struct instance *instance = operation.instance;
	if (instance->desired != DESIRED_RUNNING || !instance->run.socket ||
	    run_relation(&instance->run) != MACHINE_THIS_BOOT)
		return 0;
	if (lifecycle_end_locked(&operation, EVENT_RESTART_WANTED, &was_running, err) < 0)
		return -1;
	log_info("ended with its host: it comes back with the next one");
	return operation_save(&operation, err);
}

/* Remove the hint before the session, so that a removal that fails can be repeated. */
static int forget_hint(struct deck *deck, const char *id, struct error *err)
{
	cleanup_free char *sidecar = xasprintf("hooks/%s.sid", id);
	if (unlinkat(store_state_directory(deck->store), sidecar, 0) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove %s/%s", deck->paths.state, sidecar);
	return 0;
}

/* Nothing can be learned from a damaged manifest: what runs under its name, and what is there,
 * is all that there is to remove. */
static int remove_damaged(struct deck *deck, const char *base, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	cleanup_error struct error damage = { 0 };
	int r = store_lock(deck->store, base, clock_ms() + OPERATION_TIMEOUT_MS, &lock, err);
	if (r > 0)
		return error_set(err, r == STORE_BUSY ? ERROR_BUSY : ERROR_NOT_FOUND,
				 "session %s is %s", base, r == STORE_BUSY ? "locked" : "gone");
	if (r < 0)
		return -1;
	/* Only a manifest that no version can read: a newer agentdeck's is kept, and so is one that
	 * was repaired meanwhile. */
	r = store_load(deck->store, base, &instance, &damage);
	if (r == 0)
		return error_set(err, ERROR_BUSY, "session %s has just been repaired: try again",
				 base);
	if (r < 0 && damage.code != ERROR_CORRUPT)
		return error_set(err, damage.code, "%s", damage.message);
	log_warning("removing %s, whose manifest is damaged", base);
	cleanup_free char *id = naming_id_of_base(base);
	if (place_end_unknown(deck, id, err) < 0 || forget_hint(deck, id, err) < 0)
		return -1;
	home_leave(deck, id, HOME_TRASHED);
	return trash_put(TAKE_PTR(lock), err);
}

/* Asked under the lock: it may have been started since its user was asked. */
static int check_stopped(const struct operation *operation, struct error *err)
{
	struct instance *instance = operation->instance;
	const struct observation seen = operation->place->observe(operation->deck, instance,
								  OBSERVE_PROCESS);
	if (!instance->run.socket || seen.presence == PRESENCE_NONE)
		return 0;
	cleanup_free char *title = visible(instance->title);
	return error_set(err, ERROR_INVALID,
			 "%s is running: stop it first, or use --force, which stops it", title);
}

/* Without a run, a removal would end the agent's background processes. */
static int check_background(const struct operation *operation, struct error *err)
{
	cleanup_free char *why = NULL;
	if (lifecycle_check_hold(operation, &why, err) < 0)
		return -1;
	cleanup_free char *title = visible(operation->instance->title);
	return why ? error_set(err, ERROR_INVALID,
			       "%s was not removed: it is %s, or use --force, which ends it", title,
			       why)
		   : 0;
}

int lifecycle_eject(struct deck *deck, const char *base, enum removal how, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	bool was_running;
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0 ||
	    operation_admit(&operation, false, err) < 0)
		return -1;
	if (!place_home(operation.instance)) {
		cleanup_free char *title = visible(operation.instance->title);
		return error_set(err, ERROR_INVALID, "%s runs on this host: it has no container",
				 title);
	}
	if (instance_within(operation.instance)) {
		cleanup_free char *title = visible(operation.instance->title);
		return error_set(err, ERROR_INVALID,
				 "%s has no container of its own: it lives in that of session %s",
				 title, instance_within(operation.instance));
	}
	if (operation.place->check_alone &&
	    operation.place->check_alone(deck, operation.instance, err) < 0)
		return error_prefix(err, "nothing was changed");
	if ((how == REMOVE_STOPPED && check_stopped(&operation, err) < 0) ||
	    lifecycle_stop_locked(&operation, &was_running, err) < 0)
		return -1;
	const int r = operation.place->discard(deck, operation.instance, DISCARD_FOR_NOW, err);
	if (r < 0)
		return -1;
	log_info("ejected: %s", r == 0 ? "its container was removed" : "it had no container");
	return operation_save(&operation, err) < 0 ? -1 : r;
}

/* What its place has kept for the next start is of no use without the session.  An engine that does
 * not answer does not keep a session from being removed: the manifest says that there may be
 * something, and prune tries again. */
static int discard(const struct operation *operation, bool must_free, struct error *err)
{
	struct deck *deck = operation->deck;
	struct instance *instance = operation->instance;
	struct error why = { 0 };
	if (operation->place->discard(deck, instance, DISCARD_FOR_GOOD, &why) < 0) {
		if (must_free)
			return error_move(err, &why);
		deck_warn(deck, "the container %s is left: %s; agentdeck prune tries again",
			  instance->base, why.message);
		error_clear(&why);
	}
	return place_home(instance) ? operation_save(operation, err) : 0;
}

/* What still runs could add to what its user was shown, so it ends first. */
static int check_seen(struct operation *operation, const char *work_seen, struct error *err)
{
	cleanup_verdict struct verdict verdict = { 0 };
	bool was_running;
	if (lifecycle_stop_locked(operation, &was_running, err) < 0 ||
	    tree_judge(operation->deck, operation->instance, &verdict, err) < 0)
		return -1;
	cleanup_free char *now = verdict_digest(&verdict);
	cleanup_free char *title = visible(operation->instance->title);
	if (streq(now, work_seen))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "%s was not removed, because its tree has changed since it was shown: "
			 "look again",
			 title);
}

/* What only its tree has is lost at the next prune. */
static int check_tree(struct operation *operation, const struct removal_order *order,
		      struct error *err)
{
	cleanup_verdict struct verdict verdict = { 0 };
	struct deck *deck = operation->deck;
	struct workspace *workspace = operation->instance->workspace;
	if (!workspace)
		return 0;
	if (order->may_lose_work && order->work_seen &&
	    check_seen(operation, order->work_seen, err) < 0)
		return -1;
	/* What was said at an earlier removal is over: it came back, or was not removed. */
	workspace->may_be_lost = order->may_lose_work;
	if (workspace->may_be_lost)
		return 0;
	int r = tree_judge(deck, operation->instance, &verdict, err);
	if (r != 0 || verdict_is_safe(&verdict))
		return r < 0 ? -1 : 0;
	cleanup_free char *title = visible(operation->instance->title);
	cleanup_free char *path = visible(workspace->path);
	cleanup_free char *line = verdict_line(&verdict);
	const bool is_known = !verdict_has(&verdict, FINDING_UNKNOWN);
	return error_set(err, ERROR_INVALID,
			 "%s was not removed, because its tree %s %s: %s %sgive it up with "
			 "--discard",
			 title, path, verdict_claim(&verdict), line,
			 is_known ? "commit and push it, or " : "");
}

/* The session's own processes are ended; a shell beside them is its user's. */
static int check_unused_by_others(const struct instance *instance, struct error *err)
{
	cleanup_tree_user struct tree_user user = { 0 };
	if (tree_find_user(instance->workspace->path, instance->id, &user, err) < 0)
		return -1;
	if (!user.text || user.is_of_run)
		return 0;
	return error_set(
		err, ERROR_BUSY,
		"nothing was deleted, because process %s works in its tree: end it, or let "
		"it leave the directory",
		user.text);
}

/* Asked before anything is changed.  What changes later keeps the rest in the trash. */
static int check_purge(const struct operation *operation, struct error *err)
{
	struct deck *deck = operation->deck;
	struct instance *instance = operation->instance;
	cleanup_free char *foreign = NULL;
	if (operation->place->check_deletion &&
	    operation->place->check_deletion(deck, instance, err) < 0)
		return -1;
	if (operation->place->check_discard &&
	    operation->place->check_discard(deck, instance, err) < 0)
		return error_prefix(err, "nothing was deleted");
	if (instance->workspace &&
	    (tree_check_ours(deck, instance, err) < 0 || check_unused_by_others(instance, err) < 0))
		return -1;
	int r = trash_check(operation->lock, instance, &foreign, err);
	if (r != TRASH_KEPT)
		return r;
	cleanup_free char *shown = visible(foreign);
	return error_set(err, ERROR_INVALID,
			 "%s/%s/%s has %s, which is not agentdeck's: move it away first",
			 deck->paths.state, deck->profile, instance->base, shown);
}

static int note_company(struct operation *operation, const char *with, struct error *err)
{
	replace_string(&operation->instance->removed_with, with);
	return operation_save(operation, err);
}

int lifecycle_remove_locked(struct operation *operation, const struct removal_order *order,
			    struct error *err)
{
	const enum removal how = order->how;
	struct deck *deck = operation->deck;
	const struct instance *instance = operation->instance;
	bool was_running;
	if (operation->place->check_removal &&
	    operation->place->check_removal(deck, instance, err) < 0)
		return -1;
	if ((how == REMOVE_STOPPED &&
	     (check_stopped(operation, err) < 0 || check_background(operation, err) < 0)) ||
	    (order->must_free && check_purge(operation, err) < 0) ||
	    (how != REMOVE_UNUSED && check_tree(operation, order, err) < 0) ||
	    lifecycle_stop_locked(operation, &was_running, err) < 0 ||
	    forget_hint(deck, instance->id, err) < 0)
		return -1;
	if (discard(operation, order->must_free, err) < 0)
		return -1;
	/* The importer that put a conversation there takes it back after this. */
	if (how == REMOVE_UNUSED && instance->imported_from)
		(void)home_remove(deck, instance->id, NULL);
	else if (!order->must_free)
		home_leave(deck, instance->id, how == REMOVE_UNUSED ? HOME_PRUNED : HOME_TRASHED);
	if (how == REMOVE_UNUSED && tree_delete(deck, operation->instance, NULL, err) < 0)
		return -1;
	if (order->with && note_company(operation, order->with, err) < 0)
		return -1;
	log_info("removed; conversation %s is kept by its agent",
		 instance->conversation.session_id ? instance->conversation.session_id : "none");
	return how == REMOVE_UNUSED ? store_remove(TAKE_PTR(operation->lock), err)
				    : trash_put(TAKE_PTR(operation->lock), err);
}

int lifecycle_remove(struct deck *deck, const char *base, const struct removal_order *order,
		     struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (order->how == REMOVE_DAMAGED)
		return remove_damaged(deck, base, err);
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0 ||
	    operation_admit(&operation, order->takes_over, err) < 0)
		return -1;
	return lifecycle_remove_locked(&operation, order, err);
}

int lifecycle_withdraw(struct deck *deck, const char *base, struct error *err)
{
	return lifecycle_remove(deck, base, &(struct removal_order){ .how = REMOVE_UNUSED }, err);
}

int lifecycle_purge(struct deck *deck, const char *base, const struct removal_order *order,
		    struct error *err)
{
	cleanup_trash struct trash trash = { 0 };
	struct removal_order removal = *order;
	const struct prune_order prune = { .branches = order->branches };
	size_t deleted = 0;
	removal.must_free = true;
	if (lifecycle_remove(deck, base, &removal, err) < 0 ||
	    trash_list(deck->store, &trash, err) < 0)
		return -1;
	/* The last one: a base that is taken again was removed before. */
	size_t at = trash.count;
	while (at > 0 && !streq(trash.items[at - 1].base, base))
		at--;
	const struct trash one = { trash.items + at - 1, 1 };
	if (at && undo_prune(deck, &one, &prune, &deleted, err) < 0)
		return -1;
	return deleted ? 0
		       : error_set(err, ERROR_BUSY,
				   "it is in the trash, and something of it stays: see the "
				   "warnings, and run agentdeck prune");
}
