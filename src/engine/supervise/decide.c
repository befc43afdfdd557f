/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/decide.h"

#include "base/machine.h"
#include "model/plan/restart.h"
#include "model/session/state.h"

int64_t supervise_patience_ms(unsigned failures, int64_t first_ms, int64_t most_ms)
{
	int64_t delay = first_ms;
	for (unsigned i = 1; i < failures && delay < most_ms; i++)
		delay *= 2;
	return delay < most_ms ? delay : most_ms;
}

/* A command is starting or stopping it, or was killed in the middle of that. */
static bool is_intent(const struct supervise_facts *facts)
{
	const struct instance *instance = facts->instance;
	if (!instance)
		return false;
	const struct machine_stamp written = { .boot_id = instance->observed.boot_id,
					       .id = instance->observed.machine_id,
					       .pid_namespace = instance->observed.pid_namespace };
	if (machine_relation(&written) != MACHINE_THIS_BOOT)
		return false;
	return state_is_stopping(instance->observed.state) ||
	       (state_is_starting(instance->observed.state) && !facts->is_live);
}

/* The session is to run and does not. */
static struct supervise_decision plan(const struct supervise_facts *facts,
				      const struct settings *settings, int64_t now_ms,
				      int64_t now_us)
{
	const enum machine_relation relation = facts->lost_manager
						       ? MACHINE_EARLIER_BOOT
						       : instance_relation(facts->instance);
	const struct restart_plan restart = restart_decide(facts->instance, settings, relation,
							   now_us);
	/* The failure is in the manifest, and its change is what brings us here: without a pause
	 * that would go round and round. */
	const int64_t pause_ms = facts->not_before_ms - now_ms;
	const int64_t delay_ms = restart.delay_ms > pause_ms ? restart.delay_ms : pause_ms;
	if (restart.verdict == RESTART_LEAVE)
		return (struct supervise_decision){ .act = ACT_NONE, .is_left = true };
	return (struct supervise_decision){
		.act = delay_ms > 0 ? ACT_WAIT : ACT_REVIVE,
		.delay_ms = delay_ms > 0 ? delay_ms : 0,
		.is_planned = true,
	};
}

struct supervise_decision supervise_decide(const struct supervise_facts *facts,
					   enum supervise_cause cause,
					   const struct settings *settings, int64_t now_ms,
					   int64_t now_us)
{
	static const struct supervise_decision keep = { .act = ACT_KEEP },
					       none = { .act = ACT_NONE },
					       revive = { .act = ACT_REVIVE };
	const struct instance *instance = facts->instance;
	if (facts->is_working || facts->is_elsewhere)
		return cause == CAUSE_NUDGED ? keep : none;
	/* The start did not see its agent, which may be running. */
	if (cause == CAUSE_NUDGED)
		return instance && facts->is_between && !instance->run.pane.pid && !is_intent(facts)
			       ? revive
			       : keep;
	if (is_intent(facts))
		return cause == CAUSE_DUE
			       ? (struct supervise_decision){ .act = ACT_REVIVE,
							      .unless_locked = true }
			       : (struct supervise_decision){ .act = ACT_WAIT,
							      .delay_ms = supervise_patience_ms(
								      facts->failures,
								      SUPERVISE_INTENT_MS,
								      SUPERVISE_RETRY_MOST_MS) };
	if (facts->is_live && facts->lacks_window)
		return facts->not_before_ms > now_ms
			       ? (struct supervise_decision){ .act = ACT_WAIT,
							      .delay_ms = facts->not_before_ms -
									  now_ms }
			       : revive;
	if (facts->is_live)
		return (struct supervise_decision){ .act = ACT_NONE,
						    .forget_failures = !facts->is_between };
	/* What it has left is still to be seen to. */
	if (instance && instance->desired == DESIRED_STOPPED &&
	    instance->ending.stage == ENDING_DUE && facts->not_before_ms <= now_ms)
		return revive;
	if (!instance || instance->desired != DESIRED_RUNNING)
		return none;
	/* What is to be done with it is decided under its lock (engine/run/revive.h). */
	return cause == CAUSE_DUE ? revive : plan(facts, settings, now_ms, now_us);
}
