/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/ending.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/run/stop.h"
#include "engine/run/undo.h"
#include "engine/run/work.h"
#include "engine/workspace/tree.h"
#include "engine/workspace/users.h"

enum { CLOSING_MS = 3000, CLOSING_STEP_MS = 20 };

/* ---- from the end to the next start ---------------------------------------------------------- */

void ending_begin(struct operation *operation)
{
	struct instance *instance = operation->instance;
	const bool has_any = instance->workspace || instance_has_container(instance) ||
			     settings_end_policy(&operation->deck->settings, instance) == END_CLEAN;
	ending_clear(&instance->ending);
	/* A shell in the agent's place is not the agent. */
	if (!has_any || !ending_is_wish(&instance->observed.exit) || run_is_shell(&instance->run) ||
	    instance->desired != DESIRED_RUNNING || state_is_stopping(instance->observed.state))
		return;
	instance->ending.stage = ENDING_DUE;
	instance->ending.at = clock_wall_us();
}

void ending_forget(struct instance *instance)
{
	struct workspace *workspace = instance->workspace;
	/* The process that freed it was killed before that could be saved. */
	if (workspace && workspace->is_made && instance->ending.stage == ENDING_DUE &&
	    access(workspace->path, F_OK) != 0)
		tree_note_freed(workspace);
	/* An agent is about to work in it again: what was said of its loss is over. */
	if (workspace)
		workspace->may_be_lost = false;
	ending_clear(&instance->ending);
}

/* ---- what is there ---------------------------------------------------------------------------- */

void ending_result_free(struct ending_result *result)
{
	free(result->text);
	verdict_free(&result->verdict);
	*result = (struct ending_result){ 0 };
}

char *ending_losses_text(const struct verdict *verdict)
{
	cleanup_strbuf struct strbuf text = { 0 };
	verdict_add_losses(verdict, &text);
	return xstrdup(strbuf_text(&text));
}

/* Find processes that the agent left running, and any other in its tree, such as a shell. */
static int find_processes(const struct operation *operation, bool *ret, bool *ret_may_close,
			  struct error *err)
{
	const struct place *place = operation->place;
	const struct instance *instance = operation->instance;
	cleanup_tree_user struct tree_user user = { 0 };
	cleanup_free char *why = NULL;
	if ((instance->workspace &&
	     tree_find_user(instance->workspace->path, instance->id, &user, err) < 0) ||
	    (place->survivors && place->survivors(operation->deck, instance->id, &why, err) < 0))
		return -1;
	*ret = why || user.text;
	*ret_may_close = !user.text || user.is_of_run;
	return 0;
}

/* The window of the run may still be closing. */
static int look_for_processes(const struct operation *operation, bool *ret, struct error *err)
{
	const int64_t deadline = clock_ms() + CLOSING_MS;
	bool may_close = false;
	for (;;) {
		if (find_processes(operation, ret, &may_close, err) < 0)
			return -1;
		if (!*ret || !may_close || clock_ms() >= deadline)
			return 0;
		clock_pause_until(clock_ms() + CLOSING_STEP_MS);
	}
}

static int gather(const struct operation *operation, const struct ending_order *order,
		  struct ending_facts *facts, struct verdict *verdict, struct error *err)
{
	struct deck *deck = operation->deck;
	const struct instance *instance = operation->instance;
	*facts = (struct ending_facts){
		.policy = settings_end_policy(&deck->settings, instance),
		.wish = order->wish,
		/* The agent of another session may live in it. */
		.has_container = instance_has_container(instance) &&
				 (!operation->place->check_alone ||
				  operation->place->check_alone(deck, instance, NULL) == 0),
	};
	int r = tree_judge(deck, instance, verdict, err);
	if (r < 0 || look_for_processes(operation, &facts->has_processes, err) < 0)
		return -1;
	if (r == 0)
		work_look_at_end(operation);
	facts->has_tree = r == 0;
	facts->is_safe = verdict_is_safe(verdict);
	/* An ignored file is not always one that can be made again. */
	if (!facts->has_tree || !facts->is_safe || facts->policy != END_ASK ||
	    verdict_has(verdict, FINDING_IGNORED))
		return 0;
	return tree_is_as_made(deck, instance, &facts->is_as_made, err);
}

/* ---- what is done ----------------------------------------------------------------------------- */

static void set_stage(struct instance *instance, enum ending_stage stage, const char *why,
		      const struct verdict *verdict)
{
	cleanup_free char *seen = verdict ? ending_losses_text(verdict) : NULL;
	ending_clear(&instance->ending);
	instance->ending = (struct ending){
		.stage = stage,
		.at = clock_wall_us(),
		.why = xstrdup_or_null(why),
		.seen = TAKE_PTR(seen),
	};
}

static int leave_undecided(const struct operation *operation, const struct ending_facts *facts,
			   struct ending_result *ret, struct error *err)
{
	struct instance *instance = operation->instance;
	cleanup_free char *count = verdict_count_text(&ret->verdict);
	cleanup_free char *why = xasprintf("%s%s%s", count,
					   *count && facts->has_processes ? ", " : "",
					   facts->has_processes ? "processes that still run" : "");
	cleanup_free char *reason = xasprintf("undecided: %s", why);
	cleanup_free char *seen = ending_losses_text(&ret->verdict);
	ret->outcome = ENDED_ASKS;
	ret->text = xstrdup(reason);
	if (instance->ending.stage == ENDING_UNDECIDED && instance->ending.seen &&
	    streq(instance->ending.seen, seen) && streq(or_empty(instance->ending.why), why))
		return 0;
	set_stage(instance, ENDING_UNDECIDED, why, &ret->verdict);
	log_info("ended by its own wish, undecided: %s", why);
	/* The end of a killed agent is only asked about when its user comes. */
	return instance->observed.state == STATE_STOPPED
		       ? operation_note(operation, EVENT_UNDECIDED, reason, err)
		       : operation_save(operation, err);
}

/* 1: it could not be done now, and the user is warned. */
static int free_container(const struct operation *operation)
{
	cleanup_error struct error local = { 0 };
	struct instance *instance = operation->instance;
	if (operation->place->discard(operation->deck, instance, DISCARD_FOR_NOW, &local) >= 0)
		return 0;
	deck_warn(operation->deck, "the container %s was not freed: %s", instance->base,
		  local.message);
	log_warning("its container was not freed: %s", local.message);
	return 1;
}

static int save(void *context, struct error *err)
{
	return operation_save(context, err);
}

static int free_tree(const struct operation *operation, struct error *err)
{
	struct instance *instance = operation->instance;
	const struct tree_saver saver = { save, (void *)operation };
	int r = tree_delete(operation->deck, instance, &saver, err);
	if (r != 0)
		return r;
	tree_note_freed(instance->workspace);
	return 0;
}

static bool has_lost_tree(const struct instance *instance, const struct ending_facts *facts)
{
	return instance->workspace && instance->workspace->is_made && !facts->has_tree;
}

/* "2 commits on agentdeck/api"; NULL: none.  The caller frees. */
static char *work_text(const struct instance *instance)
{
	return instance->workspace ? tree_work_text(instance->workspace) : NULL;
}

/* The session's reason from now on: "tree freed, 2 commits on agentdeck/api". */
static char *freed_reason(const struct instance *instance, bool tree, bool container)
{
	cleanup_free char *work = tree ? work_text(instance) : NULL;
	return xasprintf("%s%s%s freed%s%s", tree ? "tree" : "", tree && container ? " and " : "",
			 container ? "container" : "", work ? ", " : "", or_empty(work));
}

/* What stays, stays; the rest can be made again. */
static int leave(const struct operation *operation, const struct ending_facts *facts,
		 const struct ending_plan *plan, struct ending_result *ret, struct error *err)
{
	struct instance *instance = operation->instance;
	bool freed_tree = false, freed_container = false;
	const bool was_undecided = instance->ending.stage == ENDING_UNDECIDED &&
				   instance->observed.state == STATE_STOPPED;
	if (plan->frees_container) {
		if (free_container(operation) != 0)
			return 0;
		freed_container = true;
	}
	/* A tree that is gone: a deletion that was killed is brought to its end. */
	if (plan->frees_tree || (has_lost_tree(instance, facts) && facts->policy == END_ASK)) {
		int r = free_tree(operation, err);
		if (r < 0)
			return -1;
		/* Something uses it just now, so its end stays due. */
		if (r == TREE_KEPT && plan->frees_tree)
			return operation_save(operation, err);
		freed_tree = r == 0;
	}
	const bool freed = freed_tree || freed_container;
	set_stage(instance, freed ? ENDING_FREED : ENDING_KEPT, NULL,
		  facts->has_tree && !freed_tree ? &ret->verdict : NULL);
	ret->outcome = ENDED_LEFT;
	cleanup_free char *reason = freed ? freed_reason(instance, freed_tree, freed_container)
					  : xstrdup("exit 0");
	if (freed)
		ret->text = xasprintf("%s; the next start makes %s again", reason,
				      freed_tree && freed_container ? "them" : "it");
	log_info("its end is settled: %s", ret->text ? ret->text : "everything stays");
	return was_undecided || freed ? operation_note(operation, EVENT_DECIDED, reason, err)
				      : operation_save(operation, err);
}

/* From the trash, where it is now.  Its branch goes, too, if nothing was committed to it. */
static int forget_removed(struct deck *deck, const char *id, struct error *err)
{
	const struct prune_order order = { .branches = BRANCHES_WITHOUT_COMMITS };
	cleanup_trash struct trash trash = { 0 };
	size_t deleted;
	if (trash_list(deck->store, &trash, err) < 0)
		return -1;
	for (size_t i = trash.count; i-- > 0;) {
		if (!trash.items[i].instance || !streq(trash.items[i].instance->id, id))
			continue;
		const struct trash one = { &trash.items[i], 1 };
		return undo_prune(deck, &one, &order, &deleted, err);
	}
	return 0;
}

/* A kill between the two steps leaves the session in the trash, for undo or prune.  Ignored files
 * leave it there, too: its user has not seen their list, and an .env may not be possible to make
 * again.  So do messages that wait in its queue. */
static int remove_all(struct operation *operation, const struct ending_order *order,
		      struct ending_result *ret, struct error *err)
{
	struct deck *deck = operation->deck;
	cleanup_free char *id = xstrdup(operation->instance->id);
	const char *kept_for = operation->instance->queue_count ? "messages wait in its queue"
			       : verdict_has(&ret->verdict, FINDING_IGNORED)
				       ? "its tree has files that Git ignores"
				       : NULL;
	cleanup_free char *work = work_text(operation->instance);
	const struct removal_order removal = {
		.how = REMOVE_STOPPED,
		.may_lose_work = order->wish == ENDING_CLEAN_IT,
	};
	if (lifecycle_remove_locked(operation, &removal, err) < 0)
		return -1;
	ret->outcome = ENDED_REMOVED;
	ret->text = kept_for ? xasprintf("it is in the trash, because %s: agentdeck undo brings it "
					 "back, agentdeck prune deletes it",
					 kept_for)
			     : xasprintf("everything that was made for it was deleted%s%s",
					 work ? ", but for " : "", or_empty(work));
	return kept_for ? 0 : forget_removed(deck, id, err);
}

static bool has_more(const struct ending_order *order, const struct verdict *verdict)
{
	cleanup_free char *now = verdict_digest(verdict);
	return order->wish == ENDING_CLEAN_IT && !streq(now, or_empty(order->seen));
}

/* Is there anything to do?  With an answer there must be. */
static int check(const struct operation *operation, const struct ending_order *order,
		 struct error *err)
{
	const struct instance *instance = operation->instance;
	const enum ending_stage stage = instance->ending.stage;
	const struct observation seen = operation->place->observe(operation->deck, instance,
								  OBSERVE_PROCESS);
	const bool runs = instance->run.socket && seen.presence != PRESENCE_NONE;
	cleanup_free char *title = visible(instance->title);
	if (order->wish == ENDING_BY_POLICY)
		return runs || (stage != ENDING_DUE && stage != ENDING_UNDECIDED);
	return runs ? error_set(err, ERROR_INVALID, "%s is running: stop it first", title) : 0;
}

int ending_settle_locked(struct operation *operation, const struct ending_order *order,
			 struct ending_result *ret, struct error *err)
{
	cleanup_ending_result struct ending_result result = { 0 };
	struct ending_facts facts;
	int r = check(operation, order, err);
	if (r == 0 && gather(operation, order, &facts, &result.verdict, err) < 0)
		return -1;
	if (r == 0) {
		const struct ending_plan plan = ending_decide(&facts);
		if (plan.act == ENDING_ASK || has_more(order, &result.verdict))
			r = leave_undecided(operation, &facts, &result, err);
		else if (plan.act == ENDING_REMOVE)
			r = remove_all(operation, order, &result, err);
		else
			r = leave(operation, &facts, &plan, &result, err);
	}
	if (r < 0)
		return -1;
	*ret = result;
	result = (struct ending_result){ 0 };
	return 0;
}

int ending_settle(struct deck *deck, const char *base, const struct ending_order *order,
		  struct ending_result *ret, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0 ||
	    operation_admit(&operation, order->takes_over, err) < 0)
		return -1;
	return ending_settle_locked(&operation, order, ret, err);
}
