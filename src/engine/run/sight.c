/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/sight.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/deck/hint.h"
#include "engine/run/ending.h"
#include "engine/run/lifecycle-internal.h"

/* Asked under the lock: it may have been started since its user has seen it. */
static int check_rest(const struct operation *operation, struct error *err)
{
	const struct instance *instance = operation->instance;
	cleanup_free char *why = NULL;
	const enum presence presence =
		operation->place->observe(operation->deck, instance, OBSERVE_PROCESS).presence;
	if (lifecycle_check_hold(operation, &why, err) < 0)
		return -1;
	cleanup_free char *title = visible(instance->title);
	if (why)
		return error_set(err, ERROR_INVALID,
				 "%s was not archived: it is %s, or use --stop, which ends it",
				 title, why);
	if (!instance->run.socket || presence == PRESENCE_NONE)
		return 0;
	cleanup_free char *hint = hint_session(operation->deck, instance->title, instance->id);
	return error_set(err, ERROR_INVALID,
			 "%s was not archived: %s. Stop it first with agentdeck stop %s, or use "
			 "--stop",
			 title,
			 presence == PRESENCE_UNKNOWN ? "it is not known whether it runs"
						      : "it is running",
			 hint);
}

/* Such a session needs no stop, which would hide why it ended, and when. */
static bool is_settled(const struct instance *instance)
{
	return instance->observed.state == STATE_STOPPED && instance->desired == DESIRED_STOPPED &&
	       !instance->run.socket;
}

int lifecycle_archive(struct deck *deck, const char *base, bool stops, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	bool was_running;
	if (operation_open_settled(deck, base, &operation, err) < 0 ||
	    operation_admit(&operation, false, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	if (instance_archived_at(instance))
		return SIGHT_SAME;
	if ((!stops && check_rest(&operation, err) < 0) ||
	    (!is_settled(instance) && lifecycle_stop_locked(&operation, &was_running, err) < 0))
		return -1;
	/* An archived session asks its user nothing. */
	if (instance->ending.stage == ENDING_DUE || instance->ending.stage == ENDING_UNDECIDED)
		ending_forget(instance);
	instance->archived_at = clock_wall_us() / 1000 * 1000;
	log_info("archived");
	return operation_save(&operation, err);
}

int lifecycle_unarchive(struct deck *deck, const char *base, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	if (!instance_archived_at(operation.instance))
		return SIGHT_SAME;
	operation.instance->archived_at = 0;
	log_info("unarchived");
	return operation_save(&operation, err);
}
