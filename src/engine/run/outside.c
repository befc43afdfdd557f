/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/outside.h"

#include "driver/transcript/holder.h"
#include "engine/deck/proof.h"

enum taken_state outside_taken(const struct operation *operation)
{
	const enum taken_state state = taken_look(&operation->instance->taken);
	return state == TAKEN_ELSEWHERE && operation->deck->takes_over ? TAKEN_ENDED : state;
}

/* The process outside of agentdeck that has this conversation.  session_id: NULL for the latest.
 * HOLDER_NONE: nothing shows one. */
static int find_outside(const struct operation *operation, const char *session_id,
			struct process_id *ret)
{
	const struct instance *instance = operation->instance;
	const char *home = instance->conversation.config_home;
	cleanup_strvec struct strvec own = { 0 };
	if (outside_taken(operation) == TAKEN_LIVES &&
	    taken_may_have(&instance->taken, session_id)) {
		*ret = instance->taken.process;
		return 0;
	}
	if (!session_id || !home)
		return HOLDER_NONE;
	proof_markers(instance->id, &own);
	return holder_find(operation->agent, home, session_id, &own, ret);
}

/* Does the attempt go on with a conversation that another process may have? */
static bool may_share(const struct attempt *attempt)
{
	return attempt->rung == RUNG_CONTINUE ||
	       (attempt->session_id && attempt->rung != RUNG_FRESH);
}

/* session_id: as of find_outside(). */
static enum outside look(const struct operation *operation, const char *session_id,
			 struct process_id *ret)
{
	const struct taken *taken = &operation->instance->taken;
	if (outside_taken(operation) == TAKEN_ELSEWHERE && taken_may_have(taken, session_id)) {
		*ret = taken->process;
		return OUTSIDE_MACHINE;
	}
	return find_outside(operation, session_id, ret) == 0 ? OUTSIDE_PROCESS : OUTSIDE_NOTHING;
}

enum outside outside_find(const struct operation *operation, struct process_id *ret)
{
	const struct instance *instance = operation->instance;
	for (size_t i = 0; i < instance->run.attempt_count; i++) {
		const struct attempt *attempt = &instance->run.attempts[i];
		if (!may_share(attempt))
			continue;
		const enum outside found = look(operation, attempt->session_id, ret);
		if (found != OUTSIDE_NOTHING)
			return found;
	}
	return OUTSIDE_NOTHING;
}

enum outside outside_find_present(const struct operation *operation, struct process_id *ret)
{
	return look(operation, operation->instance->conversation.session_id, ret);
}
