/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/revive.h"

#include "base/clock.h"
#include "base/jsonio.h"
#include "base/log.h"
#include "engine/conversation/conversation.h"
#include "engine/deck/hint.h"
#include "engine/deck/transition.h"
#include "engine/place/isolation.h"
#include "engine/run/ending.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/run/need.h"
#include "model/plan/restart.h"

static const char *const outcome_names[REVIVE_OUTCOME_COUNT] = {
	[REVIVED] = "revived",      [REVIVE_ALIVE] = "running", [REVIVE_NOT_WANTED] = "not-wanted",
	[REVIVE_LEFT] = "left",     [REVIVE_HELD] = "held",     [REVIVE_LATER] = "later",
	[REVIVE_FAILED] = "failed",
};

const char *revive_outcome_name(enum revive_outcome outcome)
{
	return outcome_names[outcome];
}

bool revive_outcome_parse(const char *name, enum revive_outcome *ret)
{
	for (int i = 0; i < REVIVE_OUTCOME_COUNT; i++) {
		if (!streq(outcome_names[i], name))
			continue;
		*ret = (enum revive_outcome)i;
		return true;
	}
	return false;
}

void revive_result_free(struct revive_result *result)
{
	free(result->id);
	free(result->title);
	free(result->reason);
	free(result->error);
	free(result->rung);
	free(result->note);
	free(result->session_id);
	*result = (struct revive_result){ 0 };
}

void revive_answer(const struct child_result *result, struct revive_result *ret)
{
	cleanup_json struct json_object *object = NULL;
	const struct strbuf *text = &result->output;
	(void)json_parse(strbuf_text(text), text->length, "agentdeck revive", &object, NULL);
	*ret = (struct revive_result){
		.outcome = REVIVE_FAILED,
		.id = xstrdup_or_null(json_get_string(object, "id", NULL)),
		.title = xstrdup_or_null(json_get_string(object, "title", NULL)),
		.reason = xstrdup_or_null(json_get_string(object, "reason", NULL)),
		.error = xstrdup_or_null(json_get_string(object, "error", NULL)),
		.rung = xstrdup_or_null(json_get_string(object, "rung", NULL)),
		.note = xstrdup_or_null(json_get_string(object, "note", NULL)),
		.session_id = xstrdup_or_null(json_get_string(object, "session_id", NULL)),
		.elsewhere = json_get_bool(object, "elsewhere", false),
		.delay_ms = json_get_int(object, "delay_ms", 0),
	};
	const char *outcome = json_get_string(object, "outcome", "");
	if (ret->error ||
	    (result->exit_status == 0 && revive_outcome_parse(outcome, &ret->outcome)))
		return;
	cleanup_free char *words = child_last_words(result);
	ret->error = xasprintf("agentdeck revive ended with status %d: %s", result->exit_status,
			       words);
}

/* What one revive works with. */
struct revival {
	struct operation *operation;
	enum revive_cause cause;
	enum revive_mode mode;
	struct lifecycle_order start;
};

static void settle(struct revive_result *ret, enum revive_outcome outcome, const char *reason)
{
	ret->outcome = outcome;
	replace_string(&ret->reason, reason);
}

/* The state changes by this event; in a dry run only in memory. */
static int note(const struct revival *revival, enum state_event event, const char *why,
		struct error *err)
{
	const struct operation *operation = revival->operation;
	struct store_lock *lock = revival->mode == REVIVE_TRIAL ? NULL : operation->lock;
	return transition(lock, operation->instance, event, why, err) < 0 ? -1 : 0;
}

static int hold(const struct revival *revival, struct revive_result *ret, struct error *err)
{
	struct instance *instance = revival->operation->instance;
	cleanup_free char *why = restart_limit_text(&revival->operation->deck->settings);
	restart_hold(instance, HOLD_LIMIT, why);
	settle(ret, REVIVE_HELD, why);
	if (revival->mode == REVIVE_REALLY)
		log_warning("no longer restarted: %s", why);
	return note(revival, EVENT_HELD, why, err);
}

/* For a restart, the end of a user manager counts like the end of a boot. */
static enum machine_relation relation_of_end(const struct revival *revival)
{
	const struct instance *instance = revival->operation->instance;
	return isolation_lost_manager(revival->operation->deck, &instance->run)
		       ? MACHINE_EARLIER_BOOT
		       : instance_relation(instance);
}

/* The supervisor's question: may it come back by itself, now?  REVIVED: yes. */
static int decide_automatic(const struct revival *revival, struct revive_result *ret,
			    struct error *err)
{
	struct instance *instance = revival->operation->instance;
	const int64_t now = clock_wall_us();
	const struct restart_plan plan = restart_decide(
		instance, &revival->operation->deck->settings, relation_of_end(revival), now);
	if (plan.verdict == RESTART_LIMIT)
		return hold(revival, ret, err);
	if (plan.verdict == RESTART_LEAVE) {
		settle(ret, instance->observed.held ? REVIVE_HELD : REVIVE_LEFT, plan.why);
		return 0;
	}
	if (plan.delay_ms > 0) {
		settle(ret, REVIVE_LATER, NULL);
		ret->delay_ms = plan.delay_ms;
		return 0;
	}
	/* A hold of an earlier boot. */
	restart_release(instance);
	settle(ret, REVIVED, NULL);
	return 0;
}

/* The user asks for the session. */
static int decide_for_user(const struct revival *revival, struct revive_result *ret,
			   struct error *err)
{
	cleanup_free char *why = NULL;
	if (lifecycle_check_hold(revival->operation, &why, err) < 0)
		return -1;
	if (why) {
		settle(ret, REVIVE_HELD, why);
		return 0;
	}
	restart_forget(revival->operation->instance);
	settle(ret, REVIVED, NULL);
	return 0;
}

/* The agent ended by its own wish, and what it left is not dealt with yet. */
static int settle_end(const struct revival *revival, struct revive_result *ret, struct error *err)
{
	cleanup_ending_result struct ending_result result = { 0 };
	settle(ret, REVIVE_NOT_WANTED, "its agent ended by itself");
	if (revival->mode == REVIVE_TRIAL)
		return 0;
	if (ending_settle_locked(revival->operation, &(struct ending_order){ 0 }, &result, err) < 0)
		return -1;
	/* A failure is tried again. */
	if (result.outcome == ENDED_NOTHING)
		return error_set(err, ERROR_BUSY,
				 "its agent ended by itself, and what was made for it cannot be "
				 "freed yet");
	if (result.text)
		settle(ret, REVIVE_NOT_WANTED, result.text);
	return 0;
}

/* Only a stop whose command was killed is left to do. */
static int leave_stopped(const struct revival *revival, struct revive_result *ret,
			 struct error *err)
{
	bool was_running;
	struct operation *operation = revival->operation;
	const bool sleeps = operation->instance->desired == DESIRED_ASLEEP;
	settle(ret, REVIVE_NOT_WANTED, sleeps ? "it sleeps" : "it was told to stop");
	if (revival->mode == REVIVE_TRIAL ||
	    !state_is_stopping(operation->instance->observed.state))
		return 0;
	log_warning("a stop was interrupted: finishing it");
	return sleeps ? lifecycle_sleep_locked(operation, &was_running, err)
		      : lifecycle_stop_locked(operation, &was_running, err);
}

/* Whether it may be started; REVIVED: yes. */
static int decide(const struct revival *revival, struct revive_result *ret, struct error *err)
{
	struct deck *deck = revival->operation->deck;
	struct instance *instance = revival->operation->instance;
	struct observation seen = { .why = "not started" };
	if (instance_relation(instance) == MACHINE_OTHER && !revival->start.takes_over) {
		cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
		cleanup_free char *host = instance_host(instance);
		settle(ret, REVIVE_LEFT, NULL);
		ret->elsewhere = true;
		ret->reason = xasprintf("it ran on %s: if it no longer runs there, take it over "
					"with agentdeck session start --take-over %s",
					host, hint);
		return 0;
	}
	if (operation_admit(revival->operation, revival->start.takes_over, err) < 0)
		return -1;
	if (instance->run.socket)
		seen = *operation_look(revival->operation);
	const bool is_shell = run_is_shell(&instance->run);
	const struct need_facts facts = {
		.state = instance->observed.state,
		.desired = instance->desired,
		.presence = seen.presence,
		.is_shell = is_shell && revival->cause == REVIVE_BY_USER,
		.lacks_window = seen.lacks_window,
	};
	switch (need_of(&facts)) {
	case NEED_REST:
		return instance->ending.stage == ENDING_DUE ? settle_end(revival, ret, err)
							    : leave_stopped(revival, ret, err);
	case NEED_WINDOW:
		settle(ret, REVIVE_ALIVE, "its window was closed");
		return revival->mode == REVIVE_TRIAL
			       ? 0
			       : lifecycle_open_window(revival->operation, &revival->start, &seen,
						       err);
	case NEED_FINISH:
		settle(ret, REVIVED, NULL);
		return 0;
	case NEED_ANSWER:
		return lifecycle_unknown(revival->operation, seen.why, err);
	case NEED_VERDICT: /* operation_open_settled() has waited for it */
	case NEED_NOTHING:
		settle(ret, REVIVE_ALIVE, is_shell ? instance->observed.reason : NULL);
		/* A start that was killed before it could say so. */
		if (revival->mode == REVIVE_TRIAL || is_shell)
			return 0;
		return operation_note_alive(revival->operation, &seen, err);
	case NEED_START:
		break;
	}
	/* No process could record the end of a run whose server was killed.  From now on the wait
	 * for a restart counts. */
	cleanup_free char *why = restart_end_text(instance, &deck->settings, seen.why);
	if (seen.presence == PRESENCE_NONE && note(revival, EVENT_LOST, why, err) < 0)
		return -1;
	if (revival->cause == REVIVE_AUTOMATIC)
		return decide_automatic(revival, ret, err);
	return decide_for_user(revival, ret, err);
}

/* No agent has run, so this end does not count: the caller tries again, and the hindrance may
 * pass.  It still is to come back for the end that it had, in this boot or with the last one. */
static void note_failure(const struct revival *revival, const char *last_boot, bool is_noted,
			 const char *why)
{
	struct instance *instance = revival->operation->instance;
	/* A restart that was cut, and has not ended its run yet: it is still to be finished. */
	const bool is_pending = state_is_restarting(instance->observed.state, instance->desired) &&
				instance->run.boot_id;
	if (is_noted && !state_is_running(instance->observed.state))
		restart_unnote(instance);
	log_error("not restarted: %s", why);
	/* The session has come back; only the record of it failed. */
	if (transition_of_boot(revival->operation->lock, instance,
			       is_pending ? EVENT_RESTART_PENDING : EVENT_NOT_REVIVED, why,
			       last_boot, NULL) == TRANSITION_NONE)
		(void)operation_save(revival->operation, NULL);
}

static int bring_back(const struct revival *revival, struct error *err)
{
	struct instance *instance = revival->operation->instance;
	struct error failure = { 0 };
	cleanup_free char *last_boot = xstrdup_or_null(
		instance->run.boot_id ? instance->run.boot_id : instance->observed.boot_id);
	/* A restart that was cut is finished: nothing has ended. */
	const bool is_noted = revival->cause == REVIVE_AUTOMATIC &&
			      revival->mode == REVIVE_REALLY &&
			      relation_of_end(revival) == MACHINE_THIS_BOOT &&
			      !state_is_stopping(instance->observed.state);
	bool already;
	int r;
	/* With the first save of the start: one that is killed in the middle counts. */
	if (is_noted)
		restart_note(instance, clock_wall_us());
	if (revival->mode == REVIVE_TRIAL) {
		r = operation_find_agent(revival->operation, &failure);
		if (r == 0)
			r = conversation_foretell(revival->operation->deck, instance,
						  revival->operation->agent, &failure);
		if (r == 0)
			r = lifecycle_check(revival->operation, &failure);
	} else {
		r = lifecycle_start_locked(revival->operation, &revival->start, &already, &failure);
		if (r < 0)
			note_failure(revival, last_boot, is_noted, failure.message);
	}
	return r < 0 ? error_move(err, &failure) : r;
}

static void describe(const struct instance *instance, struct revive_result *ret)
{
	const bool runs = ret->outcome == REVIVED || ret->outcome == REVIVE_ALIVE;
	const struct attempt *attempt = runs ? run_attempt(&instance->run) : NULL;
	/* The run's members, as in json_of_start(). */
	const bool is_fresh = attempt && attempt->rung == RUNG_FRESH;
	ret->id = xstrdup(instance->id);
	ret->title = xstrdup(instance->title);
	ret->session_id = xstrdup_or_null(is_fresh ? attempt->session_id
						   : instance->conversation.session_id);
	if (!attempt)
		return;
	if (!ret->reason)
		ret->reason = xstrdup_or_null(attempt_reason(attempt));
	ret->rung = xstrdup(rung_name(attempt->rung));
	ret->note = xstrdup_or_null(instance->run.history_note);
}

int revive(struct deck *deck, const char *base, const struct revive_order *order,
	   struct revive_result *ret, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_revive_result struct revive_result result = { 0 };
	struct error failure = { 0 };
	if (operation_open_settled(deck, base, &operation, &failure) < 0) {
		if (failure.code != ERROR_NOT_FOUND)
			return error_move(err, &failure);
		error_clear(&failure);
		settle(&result, REVIVE_NOT_WANTED, "it was removed");
	} else {
		const struct revival revival = {
			.operation = &operation,
			.cause = order->cause,
			.mode = order->mode,
			.start = { .wish = START_AGAIN,
				   .takes_over = order->takes_over,
				   .place.needs_scope = order->cause == REVIVE_AUTOMATIC,
				   .place.leaves_paused = order->cause == REVIVE_AUTOMATIC },
		};
		if (decide(&revival, &result, err) < 0 ||
		    (result.outcome == REVIVED && bring_back(&revival, err) < 0))
			return -1;
		describe(operation.instance, &result);
	}
	*ret = result;
	result = (struct revive_result){ 0 };
	return 0;
}
