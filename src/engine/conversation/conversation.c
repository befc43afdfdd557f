/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/conversation.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/program.h"
#include "driver/store/trash.h"
#include "driver/transcript/shelf.h"
#include "engine/conversation/create.h"
#include "engine/conversation/location.h"
#include "engine/conversation/owner.h"
#include "engine/conversation/report.h"
#include "engine/deck/hint.h"
#include "engine/deck/home.h"
#include "engine/place/alive.h"
#include "engine/place/environment.h"
#include "engine/place/runfiles.h"
#include "model/session/naming.h"
#include "model/session/state.h"

#include <fcntl.h>
#include <string.h>

/* Whether the agent is started by its own name, so that it gets the arguments we add; a wrapper may
 * drop them. */
static bool is_own_command(const struct agent *agent, const struct instance *instance)
{
	size_t program = registry_program(&instance->argv);
	return program < instance->argv.count &&
	       strvec_contains(&agent->match, path_basename(instance->argv.items[program]));
}

/* For shelf_latest(). */
struct ownership {
	const struct instance *instance;
	struct owner_profiles profiles;
	struct trash *trash; /* one for each profile */
};

static void ownership_free(struct ownership *ownership)
{
	for (size_t i = 0; ownership->trash && i < ownership->profiles.count; i++)
		trash_free(&ownership->trash[i]);
	free(ownership->trash);
	owner_profiles_free(&ownership->profiles);
}
#define cleanup_ownership CLEANUP(ownership_free)

static int list_ownership(struct deck *deck, struct ownership *ownership, struct error *err)
{
	struct owner_profiles *profiles = &ownership->profiles;
	if (owner_list(deck, profiles, err) < 0)
		return -1;
	ownership->trash = xcalloc(profiles->count, sizeof(*ownership->trash));
	for (size_t i = 0; i < profiles->count; i++)
		if (trash_list(profiles->items[i].store, &ownership->trash[i], err) < 0)
			return -1;
	return 0;
}

/* An id that it had before a /clear, or that its run was given. */
static bool had_id(const struct instance *instance, const char *session_id)
{
	if (naming_has_session_id(&instance->conversation.previous, session_id))
		return true;
	for (size_t i = 0; i < instance->run.attempt_count; i++)
		if (naming_same_session_id(instance->run.attempts[i].session_id, session_id))
			return true;
	return false;
}

/* A removed session owns nothing, but it can come back: its conversation is never guessed for
 * another. */
static bool is_in_trash(const struct trash *trash, const char *session_id)
{
	for (size_t i = 0; i < trash->count; i++) {
		const struct instance *removed = trash->items[i].instance;
		if (removed &&
		    (naming_same_session_id(removed->conversation.session_id, session_id) ||
		     had_id(removed, session_id)))
			return true;
	}
	return false;
}

/* Another instance's, now or earlier: also the ids that it had before a /clear. */
static bool is_owned_in(const struct owner_profile *profile, const struct instance *instance,
			const char *session_id)
{
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct store_row *row = &profile->rows.rows[i];
		cleanup_instance struct instance *other = NULL;
		if (row->damage || owner_is_self(profile, row, instance))
			continue;
		if (naming_same_session_id(row->session_id, session_id))
			return true;
		if (!streq(row->owner_directory, instance_owner_directory(instance)) ||
		    store_load(profile->store, row->base, &other, NULL) != 0)
			continue;
		if (had_id(other, session_id))
			return true;
	}
	return false;
}

/* Is this id another instance's, of any profile, now or earlier?  Its own earlier ones it may well
 * come back to.  True also when that cannot be found out. */
static bool is_anothers(struct deck *deck, const struct instance *instance, const char *session_id)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (owner_list(deck, &profiles, NULL) < 0)
		return true;
	for (size_t i = 0; i < profiles.count; i++)
		if (is_owned_in(&profiles.items[i], instance, session_id))
			return true;
	return false;
}

static bool is_owned(const char *session_id, void *data)
{
	const struct ownership *ownership = data;
	for (size_t i = 0; i < ownership->profiles.count; i++)
		if (is_owned_in(&ownership->profiles.items[i], ownership->instance, session_id) ||
		    is_in_trash(&ownership->trash[i], session_id))
			return true;
	return naming_has_session_id(&ownership->instance->conversation.previous, session_id);
}

int conversation_latest(struct deck *deck, const struct instance *instance,
			const struct agent *agent, struct transcript *ret, struct error *err)
{
	cleanup_ownership struct ownership ownership = { .instance = instance };
	if (!location_is_known(agent) || !instance->conversation.config_home)
		return TRANSCRIPT_NONE;
	if (list_ownership(deck, &ownership, err) < 0)
		return -1;
	return shelf_latest(instance->conversation.config_home,
			    instance_transcript_directory(instance), is_owned, &ownership, ret,
			    err);
}

static int discover(struct deck *deck, struct instance *instance, const struct agent *agent,
		    enum transcript_fact *ret_fact, struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	int r = conversation_latest(deck, instance, agent, &found, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	conversation_set_id(&instance->conversation, found.session_id, ORIGIN_DISCOVERED,
			    clock_wall_us());
	replace_string(&instance->conversation.transcript_path, found.path);
	*ret_fact = TRANSCRIPT_TURNS;
	return 0;
}

static void take_fresh_id(struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	if (attempt && attempt->rung == RUNG_FRESH && attempt->session_id)
		conversation_set_id(&instance->conversation, attempt->session_id, ORIGIN_MINTED,
				    clock_wall_us());
}

/* A run that ended without a word may still have moved to its fresh id: its transcript
 * tells.  Of an agent that neither reports nor shows its transcripts nothing will ever tell: it
 * refused the stored id, and what was said since is under the fresh one.  The stored one stays
 * among the previous ones. */
static int settle_unfinished(struct instance *instance, const struct agent *agent,
			     struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	const struct attempt *attempt = run_attempt(&instance->run);
	const char *stored = instance->conversation.session_id;
	if (!attempt || !attempt->session_id ||
	    (!location_is_known(agent) && agent_reports(agent)) ||
	    naming_same_session_id(stored, attempt->session_id) ||
	    /* The id was the conversation's already, and gave way to a later one. */
	    naming_has_session_id(&instance->conversation.previous, attempt->session_id))
		return 0;
	if (!location_is_known(agent)) {
		take_fresh_id(instance);
		return 0;
	}
	int r = transcript_find(instance->conversation.config_home,
				instance_launch_directory(instance), attempt->session_id, NULL,
				&found, err);
	if (r == 0 && found.has_turns)
		take_fresh_id(instance);
	return r < 0 ? -1 : 0;
}

static void log_id(const struct instance *instance, const char *before, const char *source)
{
	const char *id = instance->conversation.session_id;
	if (id && !naming_same_session_id(before, id))
		log_info("conversation: %s -> %s source=%s", before ? before : "none", id, source);
}

int conversation_settle_shared(struct deck *deck, struct instance *instance, struct fs_lock *lock,
			       struct error *err)
{
	const struct conversation *conversation = &instance->conversation;
	if (!conversation->shared.session_id)
		return 0;
	cleanup_free char *before = xstrdup_or_null(conversation->session_id);
	if (owner_lock(deck, lock, err) < 0 || conversation_look_shared(deck, instance, err) < 0)
		return -1;
	if (!conversation->shared.session_id)
		log_id(instance, before, "released");
	return 0;
}

int conversation_look_shared(struct deck *deck, struct instance *instance, struct error *err)
{
	struct conversation *conversation = &instance->conversation;
	struct shared_conversation owned = { 0 };
	if (!conversation->shared.session_id)
		return 0;
	int r = owner_find(deck, instance, conversation->shared.session_id, &owned, err);
	if (r < 0)
		return -1;
	if (r == 0) {
		owned.since = conversation->shared.since;
		shared_conversation_clear(&conversation->shared);
		conversation->shared = owned;
		return 0;
	}
	cleanup_free char *id = xstrdup(conversation->shared.session_id);
	conversation_set_id(conversation, id, ORIGIN_REPORTED, clock_wall_us());
	/* The conversation was resumed there, so it had a turn. */
	conversation->first_turn_seen = true;
	return 0;
}

int conversation_look(struct deck *deck, struct instance *instance, const struct agent *agent,
		      enum transcript_fact *ret_fact, struct error *err)
{
	struct conversation *conversation = &instance->conversation;
	enum transcript_fact fact = TRANSCRIPT_UNKNOWN;

	if (!conversation->config_home)
		conversation->config_home = deck_config_home(deck, agent);
	(void)location_settle_home(deck, instance, agent);
	if (settle_unfinished(instance, agent, err) < 0)
		return -1;
	if (!conversation->session_id && agent->resume.count) {
		const char *adopted = resume_adopted_id(agent, &instance->argv);
		if (adopted && !conversation->forked_from && resume_takes_id(agent, adopted) &&
		    !is_anothers(deck, instance, adopted))
			conversation_set_id(conversation, adopted, ORIGIN_ADOPTED, clock_wall_us());
	}
	if (!location_is_known(agent) || !conversation->config_home) {
		*ret_fact = fact;
		return 0;
	}
	fact = TRANSCRIPT_ABSENT;
	if (conversation->session_id && location_look(instance, &fact, err) < 0)
		return -1;
	/* A wrapper that drops our arguments leaves a minted id that was never used.  An id that
	 * the agent has reported (then it said where it will write) was used. */
	bool unused = conversation->session_id && conversation->origin == ORIGIN_MINTED &&
		      fact == TRANSCRIPT_ABSENT && !conversation->first_turn_seen &&
		      !conversation->transcript_path && instance->last_used_at != 0 &&
		      !is_own_command(agent, instance);
	if ((!conversation->session_id || unused) &&
	    discover(deck, instance, agent, &fact, err) < 0)
		return -1;
	*ret_fact = fact;
	return 0;
}

int conversation_settle(struct deck *deck, struct instance *instance, const struct agent *agent,
			enum transcript_fact *ret_fact, struct error *err)
{
	const struct conversation *conversation = &instance->conversation;
	cleanup_free char *id = xstrdup_or_null(conversation->session_id);
	cleanup_free char *home = xstrdup_or_null(conversation->config_home);
	cleanup_free char *directory = xstrdup(instance_launch_directory(instance));
	bool is_made = false;
	if (conversation_look(deck, instance, agent, ret_fact, err) < 0 ||
	    (*ret_fact == TRANSCRIPT_ABSENT &&
	     location_make_fork(instance, agent, &is_made, err) < 0))
		return -1;
	if (is_made)
		*ret_fact = TRANSCRIPT_TURNS;
	if (home && !streq(home, conversation->config_home))
		log_info("home: %s -> %s", home, conversation->config_home);
	log_id(instance, id, session_origin_name(conversation->origin));
	location_log(instance, directory);
	return 0;
}

/* Does the agent come back to whatever is the latest of its directory, with nothing to tell one
 * instance's from another's? */
static bool shares_directory(const struct agent *agent)
{
	return registry_strategy(agent) == STRATEGY_CONTINUE && !agent->isolation_arguments.count &&
	       !agent->isolation_environment.count;
}

static bool needs_claim(const struct instance *instance, const struct agent *agent)
{
	return instance->conversation.session_id || shares_directory(agent);
}

/* Another instance of the same agent in the same directory, running or not. */
static bool is_neighbour(const struct store_row *row, const struct instance *instance)
{
	return !row->damage && streq(row->agent, instance->agent) &&
	       streq(row->owner_directory, instance_owner_directory(instance));
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

static bool is_holder(const struct store_row *row, const struct instance *instance,
		      const struct agent *agent)
{
	const struct conversation *conversation = &instance->conversation;
	return !row->damage && naming_same_session_id(row->session_id, conversation->session_id) &&
	       streq(row->agent, instance->agent) &&
	       location_same_home(agent, row->config_home, conversation->config_home) &&
	       is_open(row);
}

/* " on HOST", for what another machine runs, else NULL.  The caller frees. */
static char *where(const struct store_row *row)
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

/* Has its agent picked the instance's conversation? */
static bool is_taker(const struct store_row *row, const struct instance *instance)
{
	return !row->damage && streq(or_empty(row->shared.owner), or_empty(instance->id)) &&
	       naming_same_session_id(row->shared.session_id, instance->conversation.session_id) &&
	       is_open(row);
}

static enum holding holding_of(const struct store_row *row, const struct instance *instance,
			       const struct agent *agent)
{
	if (shares_directory(agent) && is_neighbour(row, instance) && is_open(row))
		return HOLDING_DIRECTORY;
	if (is_taker(row, instance))
		return HOLDING_PICKED;
	return is_holder(row, instance, agent) ? HOLDING_OPEN : HOLDING_NOTHING;
}

static int refuse_claim(const struct owner_profile *profile, const struct store_row *row,
			const struct instance *instance, const struct agent *agent,
			struct error *err)
{
	cleanup_free char *title = visible(row->title);
	cleanup_free char *place = where(row);
	cleanup_free char *hint = hint_named(store_profile(profile->store), row->id);
	const enum holding holding = holding_of(row, instance, agent);
	cleanup_free char *what = remedy(holding, hint, place);
	if (holding == HOLDING_DIRECTORY)
		return error_set(
			err, ERROR_EXISTS,
			"session '%s' (%s)%s runs %s in this directory "
			"already, and %s only finds the latest conversation of a directory: "
			"%s, or work in another directory (a git worktree)",
			title, row->id, or_empty(place), agent->title, agent->title, what);
	return error_set(err, ERROR_EXISTS,
			 "conversation %s is open in session '%s' (%s)%s: two "
			 "agents on one conversation would split its history; %s",
			 instance->conversation.session_id, title, row->id, or_empty(place), what);
}

/* warnings gets what the user should know of a claim that is not refused. */
static int find_holder(const struct owner_profile *profile, const struct instance *instance,
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

static int check_claim(struct deck *deck, const struct instance *instance,
		       const struct agent *agent, struct strvec *warnings, struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (!needs_claim(instance, agent))
		return 0;
	if (owner_list(deck, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++)
		if (find_holder(&profiles.items[i], instance, agent, warnings, err) < 0)
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
	const int r = check_claim(deck, instance, agent, &warnings, err);
	for (size_t i = 0; i < warnings.count; i++)
		deck_warn(deck, "%s", warnings.items[i]);
	return r;
}

/* A removed one counts until prune deletes it: its conversation is still the directory's, and it
 * can come back for it. */
static bool has_neighbour(const struct owner_profile *profile, const struct trash *trash,
			  const struct instance *instance)
{
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct store_row *row = &profile->rows.rows[i];
		if (!owner_is_self(profile, row, instance) && is_neighbour(row, instance))
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
	if (shares_directory(agent) && list_ownership(deck, &ownership, err) < 0)
		return -1;
	for (size_t i = 0; i < ownership.profiles.count; i++)
		found |= has_neighbour(&ownership.profiles.items[i], &ownership.trash[i], instance);
	*ret = found;
	return 0;
}

/* A new id where one may be needed.  Where the agent itself makes the conversation, only if it is
 * needed: else empty conversations pile up. */
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

/* The last run was in a conversation that another instance owns: this one returns to its own,
 * and tells its user. */
static void note_shared(struct instance *instance)
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

/* Was something said in it, as far as anybody knows? */
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
 * resume that one, although nothing was said in it.  So name the earlier conversation, but only
 * once if the transcript cannot show whether anything was said. */
static void settle_set_aside(const struct planning *planning, enum resume_policy policy)
{
	struct conversation *conversation = &planning->instance->conversation;
	const bool is_fresh = planning->purpose == PLAN_FRESH;
	const bool is_left = run_attempt(&planning->instance->run)->reason ==
			     REASON_RESUME_DISABLED;
	const bool is_used = has_turns(conversation, planning->fact);
	const bool is_unknown = !is_used && planning->fact == TRANSCRIPT_UNKNOWN;
	if (is_used || is_fresh || (is_left && is_unknown && !conversation->set_aside))
		replace_string(&conversation->set_aside,
			       is_left && !is_fresh ? conversation->session_id : NULL);
	if (!conversation->set_aside)
		return;
	if (is_left)
		note_set_aside(planning,
			       policy == POLICY_NEVER ? "its resume policy is never"
						      : "resume_agents is off",
			       " when resuming is on");
	else
		note_set_aside(planning, "nothing was said in it yet", "");
	if (!is_left && is_unknown)
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
	/* An id that only the agent can make is not made for an answer. */
	if (!(foretell && registry_strategy(agent) == STRATEGY_CREATE) &&
	    make_id(planning, state, facts.resume_enabled, &new_id, err) < 0)
		return -1;
	facts.new_session_id = new_id;
	/* A report of this run is later than its start, also when the clock was set back before it.
	 */
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
	note_shared(instance);
	settle_set_aside(planning, policy);
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
	    conversation_look_shared(deck, instance, err) < 0 ||
	    conversation_look(deck, instance, agent, &planning.fact, err) < 0 ||
	    check_claim(deck, instance, agent, &deck->warnings, err) < 0)
		return -1;
	run_clear(&instance->run);
	return conversation_plan(&planning, err);
}

bool conversation_take_words(struct deck *deck, struct instance *instance, const char *words)
{
	const struct agent *agent;
	struct conversation *conversation = &instance->conversation;
	struct shared_conversation owned = { 0 };
	const struct run *run = &instance->run;
	const struct attempt *attempt = run_attempt(run);
	/* A screen can say anything; a report carries the run's token. */
	bool reported = run->reported || conversation->captured_at > run->attempt_since;

	if (!words || !attempt || attempt->rung == RUNG_SHELL || reported ||
	    deck_agent(deck, instance->agent, &agent, NULL) < 0)
		return false;
	cleanup_free char *id = resume_match_id(agent, agent->exit_banner, words);
	if (!id || naming_same_session_id(id, conversation->session_id))
		return false;
	if (owner_find(deck, instance, id, &owned, NULL) == 0) {
		log_warning("last words name conversation %s, which session %s owns", id,
			    owned.owner);
		owned.since = clock_wall_us();
		shared_conversation_clear(&conversation->shared);
		conversation->shared = owned;
		return true;
	}
	if (is_anothers(deck, instance, id)) {
		log_warning("last words name conversation %s, which was another session's: ignored",
			    id);
		return false;
	}
	log_info("conversation: %s -> %s source=last_words",
		 conversation->session_id ? conversation->session_id : "none", id);
	conversation_set_id(conversation, id, ORIGIN_REPORTED, clock_wall_us());
	conversation->first_turn_seen = true;
	cleanup_free char *state = home_path(deck, instance->id);
	strvec_clear(&instance->resume_argv);
	resume_command(agent, instance, state, &instance->resume_argv);
	return true;
}

void conversation_commit(struct instance *instance)
{
	cleanup_free char *before = xstrdup_or_null(instance->conversation.session_id);
	take_fresh_id(instance);
	log_id(instance, before, "fresh_start");
}
