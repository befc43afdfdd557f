/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/conversation.h"

#include "engine/conversation/conversation-internal.h"
#include "engine/conversation/location.h"
#include "engine/conversation/owner.h"
#include "engine/deck/hint.h"
#include "engine/place/alive.h"
#include "model/session/naming.h"
#include "model/session/state.h"

bool conversation_shares_directory(const struct agent *agent)
{
	return registry_strategy(agent) == STRATEGY_CONTINUE && !agent->isolation_arguments.count &&
	       !agent->isolation_environment.count;
}

bool conversation_is_neighbour(const struct store_row *row, const struct instance *instance)
{
	return !row->damage && streq(row->agent, instance->agent) &&
	       streq(row->owner_directory, instance_owner_directory(instance));
}

static bool needs_claim(const struct instance *instance, const struct agent *agent)
{
	return instance->conversation.session_id || conversation_shares_directory(agent);
}

/* An agent can outlive its tmux server, for a moment or because it ignores SIGHUP, and it still
 * writes.  What another machine runs cannot be seen from here. */
static bool is_open(const struct store_row *row)
{
	const struct place_run *run = &row->run;
	const enum machine_relation relation = place_relation(run);
	return row->rung != RUNG_SHELL &&
	       (relation == MACHINE_OTHER || place_is_live(run) || place_agent_is_live(run) ||
		(relation == MACHINE_THIS_BOOT && state_is_starting(row->state)));
}

static bool has_it_open(const struct store_row *row, const struct instance *instance,
			const struct agent *agent)
{
	const struct conversation *conversation = &instance->conversation;
	return !row->damage && naming_same_session_id(row->session_id, conversation->session_id) &&
	       streq(row->agent, instance->agent) &&
	       location_same_home(agent, row->config_home, conversation->config_home) &&
	       is_open(row);
}

/* " on HOST", for what another machine runs, else NULL.  The caller frees. */
static char *on_host(const struct store_row *row)
{
	cleanup_free char *host = place_elsewhere(&row->run);
	cleanup_free char *shown = host ? visible(host) : NULL;
	return shown ? xasprintf(" on %s", shown) : NULL;
}

/* How the user can free the conversation.  No command of this machine reaches another one, but the
 * user may know that nothing runs there any more.  The caller frees. */
static char *remedy(enum holding holding, const char *hint, bool is_elsewhere)
{
	const bool attaches = holding != HOLDING_DIRECTORY;
	if (is_elsewhere)
		return xasprintf("%sstop it there first; if it no longer runs there: agentdeck "
				 "stop --take-over %s",
				 attaches ? "work there, or " : "", hint);
	return attaches ? xasprintf("attach to that one with agentdeck attach %s, or stop it "
				    "first with agentdeck stop %s",
				    hint, hint)
			: xasprintf("stop that one first with agentdeck stop %s", hint);
}

/* Has the user of this row's session opened the instance's conversation in it? */
static bool has_picked_it(const struct store_row *row, const struct instance *instance)
{
	return !row->damage && streq(or_empty(row->shared.owner), or_empty(instance->id)) &&
	       naming_same_session_id(row->shared.session_id, instance->conversation.session_id) &&
	       is_open(row);
}

static enum holding holding_of(const struct store_row *row, const struct instance *instance,
			       const struct agent *agent)
{
	if (conversation_shares_directory(agent) && conversation_is_neighbour(row, instance) &&
	    is_open(row))
		return HOLDING_DIRECTORY;
	if (has_picked_it(row, instance))
		return HOLDING_PICKED;
	return has_it_open(row, instance, agent) ? HOLDING_OPEN : HOLDING_NOTHING;
}

static int refuse_claim(const struct owner_profile *profile, const struct store_row *row,
			const struct instance *instance, const struct agent *agent,
			struct error *err)
{
	cleanup_free char *title = visible(row->title);
	cleanup_free char *host = on_host(row);
	cleanup_free char *hint = hint_named(store_profile(profile->store), row->id);
	const enum holding holding = holding_of(row, instance, agent);
	cleanup_free char *what = remedy(holding, hint, host);
	if (holding == HOLDING_DIRECTORY)
		return error_set(
			err, ERROR_EXISTS,
			"session '%s' (%s)%s runs %s in this directory "
			"already, and %s only finds the latest conversation of a directory: "
			"%s, or work in another directory (a git worktree)",
			title, row->id, or_empty(host), agent->title, agent->title, what);
	return error_set(err, ERROR_EXISTS,
			 "conversation %s is open in session '%s' (%s)%s: two "
			 "agents on one conversation would split its history; %s",
			 instance->conversation.session_id, title, row->id, or_empty(host), what);
}

/* Check the claim against the sessions of one profile.  warnings gets what the user should know of
 * a claim that is not refused. */
static int check_claim_in(const struct owner_profile *profile, const struct instance *instance,
			  const struct agent *agent, struct strvec *warnings, struct error *err)
{
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct store_row *row = &profile->rows.rows[i];
		if (owner_is_self(profile, row, instance))
			continue;
		cleanup_free char *title = visible(row->title);
		switch (holding_of(row, instance, agent)) {
		case HOLDING_OPEN:
		case HOLDING_DIRECTORY:
			return refuse_claim(profile, row, instance, agent, err);
		case HOLDING_PICKED:
			/* This session owns the conversation, so its start is not refused. */
			strvec_pushf(
				warnings,
				"conversation %s is also open in session '%s' (%s), where its user "
				"chose it: close it there, or the conversation will split into two "
				"branches",
				instance->conversation.session_id, title, row->id);
			break;
		case HOLDING_NOTHING:
			break;
		}
	}
	return 0;
}

void conversation_holder_clear(struct conversation_holder *holder)
{
	free(holder->base);
	free(holder->id);
	free(holder->title);
	free(holder->agent);
	free(holder->directory);
	free(holder->profile);
	free(holder->host);
	*holder = (struct conversation_holder){ 0 };
}

static void describe_holder(const struct owner_profile *profile, const struct store_row *row,
			    enum holding holding, struct conversation_holder *ret)
{
	conversation_holder_clear(ret);
	*ret = (struct conversation_holder){
		.holding = holding,
		.base = xstrdup(row->base),
		.id = xstrdup(row->id),
		.title = xstrdup(row->title),
		.agent = xstrdup(row->agent),
		.directory = xstrdup(row->lookup_directory),
		.profile = profile->is_own ? NULL : xstrdup(store_profile(profile->store)),
		.host = place_elsewhere(&row->run),
		.since = row->since,
		.server = row->run.server,
		.pane = row->run.pane,
	};
}

int conversation_find_holder(struct deck *deck, const struct instance *instance,
			     const struct agent *agent, struct conversation_holder *ret,
			     struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (!needs_claim(instance, agent))
		return 0;
	if (owner_list(deck, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++) {
		const struct owner_profile *profile = &profiles.items[i];
		for (size_t j = 0; j < profile->rows.count; j++) {
			const struct store_row *row = &profile->rows.rows[j];
			const enum holding holding = owner_is_self(profile, row, instance)
							     ? HOLDING_NOTHING
							     : holding_of(row, instance, agent);
			if (holding == HOLDING_NOTHING ||
			    (holding == HOLDING_PICKED && ret->holding != HOLDING_NOTHING))
				continue;
			describe_holder(profile, row, holding, ret);
			if (holding != HOLDING_PICKED)
				return 0;
		}
	}
	return 0;
}

int conversation_check_claim(struct deck *deck, const struct instance *instance,
			     const struct agent *agent, struct strvec *warnings, struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (!needs_claim(instance, agent))
		return 0;
	if (owner_list(deck, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++)
		if (check_claim_in(&profiles.items[i], instance, agent, warnings, err) < 0)
			return -1;
	return 0;
}

int conversation_claim(struct deck *deck, const struct instance *instance,
		       const struct agent *agent, struct fs_lock *lock, struct error *err)
{
	cleanup_strvec struct strvec warnings = { 0 };
	if (!needs_claim(instance, agent))
		return 0;
	if (owner_lock(deck, lock, err) < 0)
		return -1;
	const int r = conversation_check_claim(deck, instance, agent, &warnings, err);
	for (size_t i = 0; i < warnings.count; i++)
		deck_warn(deck, "%s", warnings.items[i]);
	return r;
}
