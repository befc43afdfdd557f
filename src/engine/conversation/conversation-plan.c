/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/conversation.h"

#include "base/clock.h"
#include "base/program.h"
#include "engine/conversation/conversation-internal.h"
#include "engine/conversation/create.h"
#include "engine/conversation/report.h"
#include "engine/deck/hint.h"
#include "engine/deck/home.h"
#include "engine/place/environment.h"
#include "engine/place/place.h"
#include "engine/place/runfiles.h"

#include <stdlib.h>

/* A removed session counts until prune deletes it: its conversation is still the directory's, and
 * the session can come back. */
static bool has_neighbour(const struct owner_profile *profile, const struct trash *trash,
			  const struct instance *instance)
{
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct store_row *row = &profile->rows.rows[i];
		if (!owner_is_self(profile, row, instance) &&
		    conversation_is_neighbour(row, instance))
			return true;
	}
	for (size_t i = 0; i < trash->count; i++) {
		const struct instance *removed = trash->items[i].instance;
		if (removed && streq(removed->agent, instance->agent) &&
		    streq(instance_owner_directory(removed), instance_owner_directory(instance)))
			return true;
	}
	return false;
}

static int find_neighbour(struct deck *deck, const struct instance *instance,
			  const struct agent *agent, bool *ret, struct error *err)
{
	cleanup_ownership struct ownership ownership = { .instance = instance };
	bool found = false;
	if (conversation_shares_directory(agent) && ownership_list(deck, &ownership, err) < 0)
		return -1;
	for (size_t i = 0; i < ownership.profiles.count; i++)
		found |= has_neighbour(&ownership.profiles.items[i], &ownership.trash[i], instance);
	*ret = found;
	return 0;
}

/* A new id, in case the plan needs one.  If the agent itself makes the conversation, only when one
 * is surely needed: else empty conversations pile up. */
static int make_id(const struct planning *planning, const char *state, bool resume_enabled,
		   char **ret, struct error *err)
{
	struct instance *instance = planning->instance;
	const struct agent *agent = planning->agent;
	bool needed = !instance->conversation.session_id ||
		      (!resume_enabled && instance->last_used_at != 0);
	if (registry_strategy(agent) != STRATEGY_CREATE)
		*ret = resume_new_id(agent, instance, state);
	else if (needed &&
		 create_conversation(planning->deck, instance, planning->order, ret, err) < 0)
		return -1;
	return 0;
}

static char *find_shell(const struct instance *instance)
{
	const char *shell = place_home(instance) ? "/bin/sh" : getenv("SHELL");
	cleanup_free char *found = is_empty(shell)
					   ? NULL
					   : program_path(shell, NULL,
							  instance_launch_directory(instance));
	return xstrdup(found ? shell : "/bin/sh");
}

enum resume_policy conversation_policy(const struct deck *deck, const struct instance *instance)
{
	return instance->resume_policy == POLICY_DEFAULT
		       ? settings_resume_policy(&deck->settings, instance->agent)
		       : instance->resume_policy;
}

/* Is there something to come back to, so that asking makes sense? */
static bool brings_back(const struct run *run)
{
	const struct attempt *first = run_attempt(run);
	return first->rung == RUNG_CONTINUE ||
	       (first->rung == RUNG_RESUME && first->reason != REASON_FRESH_SESSION &&
		first->reason != REASON_FORKED);
}

/* The last run was in a conversation that another instance owns.  This instance returns to its own,
 * and tells its user. */
static void note_visited(struct instance *instance)
{
	struct shared_conversation *shared = &instance->conversation.shared;
	cleanup_free char *text = shared_conversation_text(shared);
	if (!text)
		return;
	cleanup_free char *shown = visible(text);
	char *note = xasprintf(
		"%s%s%s was open here but belongs to that session, so this session has its own "
		"conversation again; to copy that one: agentdeck session fork %s",
		or_empty(instance->run.history_note), instance->run.history_note ? "; " : "", shown,
		or_empty(shared->owner));
	free(instance->run.history_note);
	instance->run.history_note = note;
	shared_conversation_clear(shared);
}

/* Was something said in it, as far as that is known? */
static bool has_turns(const struct conversation *conversation, enum transcript_fact fact)
{
	return conversation->first_turn_seen || fact == TRANSCRIPT_TURNS ||
	       fact == TRANSCRIPT_ELSEWHERE;
}

static void note_set_aside(const struct planning *planning, const char *why, const char *when)
{
	struct instance *instance = planning->instance;
	const char *id = instance->conversation.set_aside;
	cleanup_free char *hint = hint_session(planning->deck, instance->title, instance->id);
	cleanup_free char *before = instance->run.history_note;
	instance->run.history_note = xasprintf(
		"%s%s%s; conversation %s is kept, and to resume that one%s: agentdeck session stop "
		"%s, then agentdeck session set %s session-id %s",
		or_empty(before), before ? "; " : "", why, id, when, hint, hint, id);
}

/* While resuming is off, each start begins a conversation.  The next start with resuming on would
 * resume that one, although nothing was said in it, so the conversation before is remembered:
 *
 *   a fresh start was asked for                forget it
 *   something was said, resuming is off        remember this conversation instead
 *   something was said, resuming is on         forget it
 *   nothing was said                           keep it
 *   unknown, resuming is off                   keep it, or remember this one if none is remembered
 *   unknown, resuming is on                    keep it: update_set_aside() names it once
 *
 * is_left: resuming is off, and there is a conversation to resume. */
static void remember_set_aside(struct conversation *conversation, bool is_left, bool is_fresh,
			       enum transcript_fact fact)
{
	const bool is_used = has_turns(conversation, fact);
	const bool is_first = is_left && !is_used && fact == TRANSCRIPT_UNKNOWN &&
			      !conversation->set_aside;
	if (is_fresh)
		replace_string(&conversation->set_aside, NULL);
	else if (is_used || is_first)
		replace_string(&conversation->set_aside, is_left ? conversation->session_id : NULL);
}

static void update_set_aside(const struct planning *planning, enum resume_policy policy)
{
	struct conversation *conversation = &planning->instance->conversation;
	const bool is_left = run_attempt(&planning->instance->run)->reason ==
			     REASON_RESUME_DISABLED;
	remember_set_aside(conversation, is_left, planning->purpose == PLAN_FRESH, planning->fact);
	if (!conversation->set_aside)
		return;
	if (is_left) {
		note_set_aside(planning,
			       policy == POLICY_NEVER ? "its resume policy is never"
						      : "resume_agents is off",
			       " when resuming is on");
		return;
	}
	note_set_aside(planning, "nothing was said in it yet", "");
	if (planning->fact == TRANSCRIPT_UNKNOWN)
		replace_string(&conversation->set_aside, NULL);
}

int conversation_plan(const struct planning *planning, struct error *err)
{
	struct deck *deck = planning->deck;
	struct instance *instance = planning->instance;
	const struct agent *agent = planning->agent;
	const bool foretell = planning->purpose == PLAN_FORETELL;
	cleanup_free char *settings = foretell ? NULL : runfiles_settings(instance);
	cleanup_free char *hook = environment_hook(deck, instance);
	cleanup_free char *state = home_path(deck, instance->id);
	cleanup_free char *shell = find_shell(instance);
	cleanup_free char *new_id = NULL;
	const enum resume_policy policy = conversation_policy(deck, instance);
	struct resume_facts facts = {
		.agent = agent,
		.instance = instance,
		.transcript = planning->fact,
		.resume_enabled = planning->purpose != PLAN_FRESH && deck->settings.resume_agents &&
				  policy != POLICY_NEVER,
		.settings_file = settings,
		.hook = hook,
		.state = state,
		.shell = shell,
	};
	if ((!foretell && home_make(deck, instance, agent, err) < 0) ||
	    find_neighbour(deck, instance, agent, &facts.place_shared, err) < 0)
		return -1;
	/* PLAN_FORETELL must not make the agent create a conversation. */
	if (!(foretell && registry_strategy(agent) == STRATEGY_CREATE) &&
	    make_id(planning, state, facts.resume_enabled, &new_id, err) < 0)
		return -1;
	facts.new_session_id = new_id;
	/* A report of this run must count as later than its start, even if the clock was set back. */
	if (instance->conversation.captured_at > clock_wall_us())
		instance->conversation.captured_at = clock_wall_us();
	resume_plan(&facts, &instance->run);
	const struct attempt *first = run_attempt(&instance->run);
	if (!instance->conversation.session_id && first->session_id)
		conversation_set_id(&instance->conversation, first->session_id, ORIGIN_MINTED,
				    clock_wall_us());
	instance->run.offer = policy == POLICY_CONFIRM && facts.resume_enabled &&
			      brings_back(&instance->run);
	free(instance->run.history_note);
	instance->run.history_note = resume_history_note(agent, instance);
	note_visited(instance);
	update_set_aside(planning, policy);
	strvec_clear(&instance->resume_argv);
	resume_command(agent, instance, state, &instance->resume_argv);
	return 0;
}

int conversation_foretell(struct deck *deck, struct instance *instance, const struct agent *agent,
			  struct error *err)
{
	struct planning planning = {
		.deck = deck,
		.instance = instance,
		.agent = agent,
		.purpose = PLAN_FORETELL,
	};
	if (report_take_note(deck, instance, agent, NULL, err) < 0 ||
	    conversation_reclaim(deck, instance, err) < 0 ||
	    conversation_choose(deck, instance, agent, &planning.fact, err) < 0 ||
	    conversation_check_claim(deck, instance, agent, &deck->warnings, err) < 0)
		return -1;
	run_clear(&instance->run);
	return conversation_plan(&planning, err);
}
