/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/outside.h"

#include "driver/transcript/holder.h"
#include "engine/deck/proof.h"

enum taken_state outside_taken(const struct operation *operation, struct process_id *ret)
{
	const enum taken_state state = taken_look(&operation->instance->taken, ret);
	return state == TAKEN_ELSEWHERE && operation->takes_over ? TAKEN_ENDED : state;
}

/* All that is known of the session's own processes. */
struct own {
	const char *id;
	struct process_id tops[3]; /* with what is below them */
};

/* By more than its environment, which an agent may have cleared. */
static bool is_own(const void *context, pid_t pid)
{
	const struct own *own = context;
	return proof_is_in_scope(own->id, pid) ||
	       proof_is_below(pid, own->tops, ARRAY_SIZE(own->tops));
}

/* The process outside of agentdeck that has this conversation.  session_id: NULL for the latest.
 * HOLDER_NONE: nothing shows one. */
static int find_outside(const struct operation *operation, const struct outside_own *run,
			const char *session_id, struct process_id *ret)
{
	const struct instance *instance = operation->instance;
	const char *home = instance->conversation.config_home;
	const struct own own = { instance->id, { run->server, run->pane, run->reporter } };
	cleanup_holder_skip struct holder_skip skip = { .is_own = is_own, .context = &own };
	struct process_id living = { 0 };
	if (outside_taken(operation, &living) == TAKEN_LIVES &&
	    taken_may_have(&instance->taken, session_id)) {
		*ret = living;
		return 0;
	}
	if (!session_id || !home)
		return HOLDER_NONE;
	proof_markers(instance->id, &skip.marks);
	return holder_find(operation->agent, home, session_id, &skip, ret);
}

/* Does the attempt continue a conversation that another process may have? */
static bool may_share(const struct attempt *attempt)
{
	return attempt->rung == RUNG_CONTINUE ||
	       (attempt->session_id && attempt->rung != RUNG_FRESH);
}

/* session_id: as of find_outside(). */
static enum outside look(const struct operation *operation, const struct outside_own *own,
			 const char *session_id, struct process_id *ret)
{
	const struct taken *taken = &operation->instance->taken;
	struct process_id there;
	if (outside_taken(operation, &there) == TAKEN_ELSEWHERE &&
	    taken_may_have(taken, session_id)) {
		*ret = there;
		return OUTSIDE_MACHINE;
	}
	return find_outside(operation, own, session_id, ret) == 0 ? OUTSIDE_PROCESS
								  : OUTSIDE_NOTHING;
}

enum outside outside_find(const struct operation *operation, const struct outside_own *own,
			  struct process_id *ret)
{
	const struct instance *instance = operation->instance;
	for (size_t i = 0; i < instance->run.attempt_count; i++) {
		const struct attempt *attempt = &instance->run.attempts[i];
		if (!may_share(attempt))
			continue;
		const enum outside found = look(operation, own, attempt->session_id, ret);
		if (found != OUTSIDE_NOTHING)
			return found;
	}
	return OUTSIDE_NOTHING;
}

enum outside outside_find_present(const struct operation *operation, struct process_id *ret)
{
	return look(operation, &(struct outside_own){ 0 },
		    operation->instance->conversation.session_id, ret);
}

bool outside_find_beside(struct deck *deck, const struct instance *instance, struct process_id *ret)
{
	const struct conversation *conversation = &instance->conversation;
	const struct run *run = &instance->run;
	const struct own own = { instance->id, { run->server, run->pane, run->reporter } };
	const struct agent *agent;
	cleanup_holder_skip struct holder_skip skip = { 0 };
	const bool is_shell = run_is_shell(&instance->run);
	if (place_home(instance) || !run->socket || !conversation->session_id ||
	    !conversation->config_home || deck_agent(deck, instance->agent, &agent, NULL) < 0)
		return false;
	/* In its pane is no agent of ours then. */
	if (!is_shell) {
		skip = (struct holder_skip){ .is_own = is_own, .context = &own };
		proof_markers(instance->id, &skip.marks);
	}
	return holder_find(agent, conversation->config_home, conversation->session_id, &skip,
			   ret) == 0 &&
	       (!is_shell || proof_is_below(ret->pid, &run->pane, 1));
}
