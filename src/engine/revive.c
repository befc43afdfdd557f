/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/revive.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/conversation.h"
#include "engine/lifecycle-internal.h"
#include "model/restart.h"

static const char *const outcome_names[REVIVE_OUTCOME_COUNT] = {
	[REVIVED] = "revived",     [REVIVE_ALIVE] = "running", [REVIVE_NOT_WANTED] = "not-wanted",
	[REVIVE_LEFT] = "left",    [REVIVE_HELD] = "held",     [REVIVE_LATER] = "later",
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
	free(result->reason);
	instance_free(result->instance);
	*result = (struct revive_result){ 0 };
}

/* What one revive works with. */
struct revival {
	struct deck *deck;
	struct store_lock *lock;
	struct instance *instance;
	const struct backend *backend;
	enum revive_cause cause;
	bool dry;
};

static void settle(struct revive_result *ret, enum revive_outcome outcome, const char *reason)
{
	ret->outcome = outcome;
	replace_string(&ret->reason, reason);
}

/* A run whose server was killed has left nobody to write its end down.  From then on the wait for a restart
 * counts. */
static int note_death(const struct revival *revival, const char *why, struct error *err)
{
	struct instance *instance = revival->instance;
	const enum instance_state state = instance->observed.state;
	if (state != STATE_RUNNING && state != STATE_STARTING)
		return 0;
	lifecycle_set_state(instance, STATE_ERROR, why);
	return revival->dry ? 0 : store_save(revival->lock, instance, err);
}

static int hold(const struct revival *revival, struct revive_result *ret, struct error *err)
{
	struct instance *instance = revival->instance;
	cleanup_free char *why = restart_limit_text(&revival->deck->settings);
	restart_hold(instance, why);
	lifecycle_set_state(instance, STATE_ERROR, why);
	settle(ret, REVIVE_HELD, why);
	if (revival->dry)
		return 0;
	log_warning("not brought back any more: %s", why);
	return store_save(revival->lock, instance, err);
}

/* The supervisor's question: may it come back by itself, now?  REVIVED: yes. */
static int decide_unasked(const struct revival *revival, struct revive_result *ret, struct error *err)
{
	struct instance *instance = revival->instance;
	const int64_t now = clock_wall_us();
	const struct restart_plan plan =
		restart_decide(instance, &revival->deck->settings, process_boot_id(), now);
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
	settle(ret, REVIVED, NULL);
	return 0;
}

/* Only a stop whose command was killed is left to do. */
static int leave_stopped(const struct revival *revival, struct revive_result *ret, struct error *err)
{
	bool was_running;
	settle(ret, REVIVE_NOT_WANTED, "it is to be stopped");
	if (revival->dry || revival->instance->observed.state != STATE_STOPPING)
		return 0;
	log_warning("a stop was interrupted: it is finished");
	return lifecycle_stop_locked(revival->deck, revival->lock, revival->instance, revival->backend, &was_running,
				     err);
}

/* Whether it may be started; REVIVED: yes. */
static int decide(const struct revival *revival, struct revive_result *ret, struct error *err)
{
	struct instance *instance = revival->instance;
	struct observation seen = { .why = "not started" };
	if (instance->desired != DESIRED_RUNNING)
		return leave_stopped(revival, ret, err);
	if (instance->observed.state == STATE_STOPPING) {
		/* A restart that was killed while it ended the run: the start finishes that first, whatever is there. */
		settle(ret, REVIVED, NULL);
		return 0;
	}
	if (instance->run.socket)
		seen = revival->backend->observe(revival->deck, instance, OBSERVE_ANSWER);
	if (seen.presence == PRESENCE_UNKNOWN)
		return lifecycle_unknown(instance, seen.why, err);
	bool shell = lifecycle_is_shell(instance);
	if (seen.presence == PRESENCE_ALIVE && !(shell && revival->cause == REVIVE_BY_USER)) {
		settle(ret, REVIVE_ALIVE, shell ? instance->observed.reason : NULL);
		/* A start that was killed before it could say so. */
		if (revival->dry || shell)
			return 0;
		return lifecycle_note_alive(revival->lock, instance, &seen, err);
	}
	if (seen.presence == PRESENCE_NONE && note_death(revival, seen.why, err) < 0)
		return -1;
	if (!revival->deck->settings.resume_agents ||
	    conversation_policy(revival->deck, instance) == POLICY_NEVER) {
		settle(ret, REVIVE_LEFT, NULL);
		ret->reason = xasprintf("%s: start it with agentdeck session start %s",
					revival->deck->settings.resume_agents ? "its resume policy is \"never\""
									      : "resume_agents is off",
					instance->id);
		return 0;
	}
	if (revival->cause == REVIVE_UNASKED)
		return decide_unasked(revival, ret, err);
	restart_forget(instance);
	settle(ret, REVIVED, NULL);
	return 0;
}

/* No agent has run, so it is no end that counts: whoever asked tries again, and what hinders it may pass.  It still is
 * to come back for the end that it had, in this boot or with the last one. */
static void note_failure(const struct revival *revival, const char *last_boot, bool is_noted, const char *why)
{
	struct instance *instance = revival->instance;
	if (instance->observed.state != STATE_RUNNING) {
		if (is_noted)
			restart_unnote(instance);
		lifecycle_set_state(instance, STATE_ERROR, why);
		replace_string(&instance->observed.boot_id, last_boot);
	}
	/* Else it has come back, and only that could not be written down. */
	log_error("not brought back: %s", why);
	(void)store_save(revival->lock, instance, NULL);
}

static int bring_back(const struct revival *revival, struct error *err)
{
	struct instance *instance = revival->instance;
	struct error failure = { 0 };
	const struct agent *agent;
	cleanup_free char *last_boot = xstrdup_or_null(instance->run.boot_id ? instance->run.boot_id
									      : instance->observed.boot_id);
	/* A restart that was cut is finished: nothing has ended. */
	const bool is_noted = revival->cause == REVIVE_UNASKED && !revival->dry && process_same_boot(last_boot) &&
			      instance->observed.state != STATE_STOPPING;
	bool already;
	int r;
	/* With the first save of the start: one that is killed in the middle counts. */
	if (is_noted)
		restart_note(instance, clock_wall_us());
	if (revival->dry) {
		r = lifecycle_check(revival->deck, instance, &agent, &failure);
		if (r == 0)
			r = conversation_foretell(revival->deck, instance, agent, &failure);
	} else {
		r = lifecycle_start_locked(revival->deck, revival->lock, instance, revival->backend, START_AGAIN,
					   &already, &failure);
		if (r < 0)
			note_failure(revival, last_boot, is_noted, failure.message);
	}
	return r < 0 ? error_move(err, &failure) : r;
}

int revive(struct deck *deck, const char *base, enum revive_cause cause, bool dry,
	   struct revive_result *ret, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	cleanup_revive_result struct revive_result result = { 0 };
	struct error failure = { 0 };
	const struct backend *backend;
	deck->needs_scope = cause == REVIVE_UNASKED;
	if (lifecycle_open_settled(deck, base, &lock, &instance, &backend, &failure) < 0) {
		if (failure.code == ERROR_NOT_FOUND) {
			error_clear(&failure);
			settle(&result, REVIVE_NOT_WANTED, "it was removed");
			*ret = result;
			result = (struct revive_result){ 0 };
			return 0;
		}
		return error_move(err, &failure);
	}
	const struct revival revival = {
		.deck = deck, .lock = lock, .instance = instance, .backend = backend,
		.cause = cause, .dry = dry,
	};
	if (decide(&revival, &result, err) < 0 ||
	    (result.outcome == REVIVED && bring_back(&revival, err) < 0))
		return -1;
	result.instance = TAKE_PTR(instance);
	*ret = result;
	result = (struct revive_result){ 0 };
	return 0;
}
