/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/transition.h"

#include "base/clock.h"
#include "base/log.h"

static int refuse(const struct instance *instance, enum state_event event, struct error *err)
{
	const char *state = instance_state_name(instance->observed.state);
	log_error("state %s: \"%s\" is refused", state, state_event_name(event));
	return error_set(err, ERROR_INVALID,
			 "session %s is %s, which does not allow \"%s\": see agentdeck logs",
			 instance->id, state, state_event_name(event));
}

static void log_change(enum instance_state before, const struct instance *instance)
{
	const char *reason = instance->observed.reason;
	if (before == instance->observed.state && !reason)
		return;
	log_info("state %s -> %s%s%s", instance_state_name(before),
		 instance_state_name(instance->observed.state), reason ? ": " : "",
		 or_empty(reason));
}

int transition_of_boot(struct store_lock *lock, struct instance *instance, enum state_event event,
		       const char *reason, const char *boot_id, struct error *err)
{
	const enum instance_state before = instance->observed.state;
	const struct machine_stamp here = machine_stamp_of_boot(boot_id);
	const struct state_stamp stamp = {
		.now_us = clock_wall_us(),
		.boot_id = boot_id,
		.machine_id = here.id,
		.pid_namespace = here.pid_namespace,
		.host = here.host,
	};
	const enum state_verdict verdict = state_apply(instance, event, reason, &stamp);
	if (verdict == STATE_REFUSED)
		return refuse(instance, event, err);
	if (verdict == STATE_UNCHANGED)
		return TRANSITION_NONE;
	if (!lock)
		return 0;
	if (store_save(lock, instance, err) < 0)
		return -1;
	log_change(before, instance);
	return 0;
}

int transition(struct store_lock *lock, struct instance *instance, enum state_event event,
	       const char *reason, struct error *err)
{
	return transition_of_boot(lock, instance, event, reason, machine_stamp().boot_id, err);
}
