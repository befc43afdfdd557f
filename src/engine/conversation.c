/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "driver/transcript.h"
#include "engine/create.h"
#include "engine/environment.h"
#include "engine/place.h"
#include "engine/runfiles.h"
#include "engine/view.h"
#include "model/naming.h"

#include <fcntl.h>
#include <string.h>

enum { CLAIM_TIMEOUT_MS = 10000 };

static bool knows_transcripts(const struct agent *agent)
{
	return agent->transcript && streq(agent->transcript, "projects");
}

/* Whether the agent is started by its own name, so that it gets the arguments we add; a wrapper may
 * drop them. */
static bool is_own_command(const struct agent *agent, const struct instance *instance)
{
	size_t program = registry_program(&instance->argv);
	return program < instance->argv.count &&
	       strvec_contains(&agent->match, path_basename(instance->argv.items[program]));
}

/* The instances of every profile. */
struct ownership {
	const struct instance *instance;
	struct profile_rows {
		struct store *store;
		bool own;
		struct store_rows rows;
	} *profiles;
	size_t count;
};

static void ownership_free(struct ownership *ownership)
{
	for (size_t i = 0; i < ownership->count; i++) {
		store_rows_free(&ownership->profiles[i].rows);
		if (!ownership->profiles[i].own)
			store_close(ownership->profiles[i].store);
	}
	free(ownership->profiles);
}
#define cleanup_ownership CLEANUP(ownership_free)

/* Another instance's, now or earlier: also the ids that it had before a /clear. */
static bool is_owned_in(const struct profile_rows *profile, const struct instance *instance,
			const char *session_id)
{
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct store_row *row = &profile->rows.rows[i];
		cleanup_instance struct instance *other = NULL;
		if (row->damage || (profile->own && streq(row->id, instance->id)))
			continue;
		if (row->session_id && streq(row->session_id, session_id))
			return true;
		if (!streq(row->cwd, instance->cwd) ||
		    store_load(profile->store, row->base, &other, NULL) != 0)
			continue;
		if (strvec_contains(&other->conversation.previous, session_id))
			return true;
		for (size_t j = 0; j < other->run.attempt_count; j++)
			if (other->run.attempts[j].session_id &&
			    streq(other->run.attempts[j].session_id, session_id))
				return true;
	}
	return false;
}

static bool is_owned(const char *session_id, void *data)
{
	const struct ownership *ownership = data;
	for (size_t i = 0; i < ownership->count; i++)
		if (is_owned_in(&ownership->profiles[i], ownership->instance, session_id))
			return true;
	return strvec_contains(&ownership->instance->conversation.previous, session_id);
}

/* Every directory of the state root that can be a profile. */
static int other_profiles(struct deck *deck, struct strvec *ret, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(store_state_directory(deck->store), &names, err) < 0)
		return error_prefix(err, "%s", deck->paths.state);
	for (size_t i = 0; i < names.count; i++) {
		struct stat st;
		if (naming_check_profile(names.items[i], NULL) == 0 &&
		    !streq(names.items[i], deck->profile) &&
		    fstatat(store_state_directory(deck->store), names.items[i], &st,
			    AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
			strvec_push(ret, names.items[i]);
	}
	return 0;
}

static int list_owners(struct deck *deck, struct ownership *ret, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (other_profiles(deck, &names, err) < 0)
		return -1;
	ret->profiles = xcalloc(names.count + 1, sizeof(*ret->profiles));
	ret->profiles[ret->count++] = (struct profile_rows){ .store = deck->store, .own = true };
	if (store_list(deck->store, &ret->profiles[0].rows, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct profile_rows *profile = &ret->profiles[ret->count];
		if (store_open(deck->paths.state, names.items[i], &profile->store, err) < 0)
			return -1;
		ret->count++;
		if (store_list(profile->store, &profile->rows, err) < 0)
			return -1;
	}
	return 0;
}

int conversation_latest(struct deck *deck, const struct instance *instance, const struct agent *agent,
			struct transcript *ret, struct error *err)
{
	cleanup_ownership struct ownership ownership = { .instance = instance };
	if (!knows_transcripts(agent) || !instance->conversation.config_home)
		return TRANSCRIPT_NONE;
	if (list_owners(deck, &ownership, err) < 0)
		return -1;
	return transcript_latest(instance->conversation.config_home, instance->cwd, is_owned,
				 &ownership, ret, err);
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
	log_info("conversation %s found on disk: newest of this directory that no instance owns",
		 found.session_id);
	*ret_fact = TRANSCRIPT_TURNS;
	return 0;
}

static int look_at_transcript(const struct instance *instance, enum transcript_fact *ret_fact,
			      struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	const struct conversation *conversation = &instance->conversation;
	int r = transcript_find(conversation->config_home, instance->cwd, conversation->session_id,
				conversation->transcript_path, &found, err);
	if (r < 0)
		return -1;
	*ret_fact = r == TRANSCRIPT_NONE ? TRANSCRIPT_ABSENT
		    : found.has_turns    ? TRANSCRIPT_TURNS
					 : TRANSCRIPT_EMPTY;
	return 0;
}

static bool can_report(const struct agent *agent)
{
	return agent->report.count || agent->report_environment.count;
}

/* A run that ended without a word may have moved to its fresh id all the same: its transcript tells.  Of an agent
 * that neither reports nor shows its transcripts nothing will ever tell: it refused the stored id, and what
 * was said since stands under the fresh one.  The stored one stays among the previous ones. */
static int settle_unfinished(struct instance *instance, const struct agent *agent,
			     struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	const struct attempt *attempt = run_attempt(&instance->run);
	const char *stored = instance->conversation.session_id;
	if (!attempt || !attempt->session_id || (!knows_transcripts(agent) && can_report(agent)) ||
	    (stored && streq(stored, attempt->session_id)) ||
	    /* It was the conversation's already, and gave way to a later one. */
	    strvec_contains(&instance->conversation.previous, attempt->session_id))
		return 0;
	if (!knows_transcripts(agent)) {
		conversation_commit(instance);
		return 0;
	}
	int r = transcript_find(instance->conversation.config_home, instance->cwd,
				attempt->session_id, NULL, &found, err);
	if (r == 0 && found.has_turns)
		conversation_commit(instance);
	return r < 0 ? -1 : 0;
}

int conversation_settle(struct deck *deck, struct instance *instance, const struct agent *agent,
			enum transcript_fact *ret_fact, struct error *err)
{
	struct conversation *conversation = &instance->conversation;
	enum transcript_fact fact = TRANSCRIPT_UNKNOWN;

	if (!conversation->config_home)
		conversation->config_home = deck_config_home(deck, agent);
	if (settle_unfinished(instance, agent, err) < 0)
		return -1;
	if (!conversation->session_id && agent->resume.count) {
		const char *adopted = resume_adopted_id(agent, &instance->argv);
		if (adopted && resume_takes_id(agent, adopted))
			conversation_set_id(conversation, adopted, ORIGIN_ADOPTED, clock_wall_us());
	}
	if (!knows_transcripts(agent) || !conversation->config_home) {
		*ret_fact = fact;
		return 0;
	}
	fact = TRANSCRIPT_ABSENT;
	if (conversation->session_id && look_at_transcript(instance, &fact, err) < 0)
		return -1;
	/* A wrapper that drops our arguments leaves a minted id that nobody ever used; one that the agent
	 * has reported (then it said where it will write) it did use. */
	bool unused = conversation->session_id && conversation->origin == ORIGIN_MINTED &&
		      fact == TRANSCRIPT_ABSENT && !conversation->first_turn_seen &&
		      !conversation->transcript_path &&
		      instance->last_used_at != 0 && !is_own_command(agent, instance);
	if ((!conversation->session_id || unused) && discover(deck, instance, agent, &fact, err) < 0)
		return -1;
	*ret_fact = fact;
	return 0;
}

/* Does the agent come back to whatever is the latest of its directory, with nothing to tell one instance's
 * from another's? */
static bool shares_directory(const struct agent *agent)
{
	return registry_strategy(agent) == STRATEGY_CONTINUE && !agent->isolation_arguments.count &&
	       !agent->isolation_environment.count;
}

/* Another instance of the same agent in the same directory, running or not. */
static bool is_neighbour(const struct store_row *row, const struct instance *instance)
{
	return !row->damage && !streq(row->id, instance->id) && streq(row->agent, instance->agent) &&
	       streq(row->cwd, instance->cwd);
}

/* An agent can outlive its tmux server, for a moment or because it ignores SIGHUP, and it goes on writing. */
static bool is_open(const struct store_row *row)
{
	bool same_boot = process_same_boot(row->boot_id);
	return row->rung != RUNG_SHELL &&
	       (lifecycle_row_is_live(row) ||
		(same_boot && (row->state == STATE_STARTING || process_alive(&row->pane))));
}

static bool is_holder(const struct store_row *row, const struct instance *instance)
{
	const struct conversation *conversation = &instance->conversation;
	return !row->damage && !streq(row->id, instance->id) && row->session_id &&
	       conversation->session_id && streq(row->session_id, conversation->session_id) &&
	       streq(row->agent, instance->agent) &&
	       streq(or_empty(row->config_home), or_empty(conversation->config_home)) && is_open(row);
}

static int find_holder(struct store *store, const struct instance *instance,
		       const struct agent *agent, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		cleanup_free char *title = visible(row->title);
		if (shares_directory(agent) && is_neighbour(row, instance) && is_open(row))
			return error_set(err, ERROR_EXISTS, "session '%s' (%s) runs %s in this directory "
					 "already, and %s only finds the latest conversation of a directory: "
					 "stop that one first, or work in another directory (a git worktree)",
					 title, row->id, agent->title, agent->title);
		if (!is_holder(row, instance))
			continue;
		return error_set(err, ERROR_EXISTS, "conversation %s is open in session '%s' (%s): two "
				 "agents on one conversation would split its history; attach to that "
				 "one, or stop it first", instance->conversation.session_id, title,
				 row->id);
	}
	return 0;
}

int conversation_claim(struct deck *deck, const struct instance *instance, const struct agent *agent,
		       struct fs_lock *ret, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_strvec struct strvec profiles = { 0 };
	if (!instance->conversation.session_id && !shares_directory(agent)) {
		*ret = FS_UNLOCKED;
		return 0;
	}
	int r = fs_lock(store_state_directory(deck->store), "conversations.lock",
			clock_ms() + CLAIM_TIMEOUT_MS, &lock, err);
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_BUSY, "another agentdeck holds conversations.lock: try again");
	if (r < 0)
		return error_prefix(err, "%s", deck->paths.state);
	if (find_holder(deck->store, instance, agent, err) < 0 ||
	    other_profiles(deck, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++) {
		cleanup_store struct store *store = NULL;
		if (store_open(deck->paths.state, profiles.items[i], &store, err) < 0 ||
		    find_holder(store, instance, agent, err) < 0)
			return -1;
	}
	*ret = lock;
	lock = FS_UNLOCKED;
	return 0;
}

static int find_neighbour(struct deck *deck, const struct instance *instance,
			  const struct agent *agent, bool *ret, struct error *err)
{
	cleanup_ownership struct ownership ownership = { .instance = instance };
	bool found = false;
	if (shares_directory(agent) && list_owners(deck, &ownership, err) < 0)
		return -1;
	for (size_t i = 0; i < ownership.count; i++)
		for (size_t j = 0; j < ownership.profiles[i].rows.count; j++)
			found |= is_neighbour(&ownership.profiles[i].rows.rows[j], instance);
	*ret = found;
	return 0;
}

/* A new id where one may be needed.  Of what the agent has to make only when it is: nobody wants a heap of
 * empty conversations. */
static int make_id(struct deck *deck, const struct instance *instance, const struct agent *agent,
		   const char *state, bool resume_enabled, char **ret, struct error *err)
{
	bool needed = !instance->conversation.session_id ||
		      (!resume_enabled && instance->last_used_at != 0);
	if (registry_strategy(agent) != STRATEGY_CREATE)
		*ret = resume_new_id(agent, instance, state);
	else if (needed && create_conversation(deck, instance, agent, ret, err) < 0)
		return -1;
	return 0;
}

static char *find_shell(const struct instance *instance)
{
	const char *shell = getenv("SHELL");
	cleanup_free char *found = NULL;
	bool usable = !is_empty(shell) &&
		      child_find_program(shell, NULL, instance->cwd, &found, NULL) == 0;
	return xstrdup(usable ? shell : "/bin/sh");
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
	       (first->rung == RUNG_RESUME && !streq(first->reason, REASON_FRESH_SESSION) &&
		!streq(first->reason, REASON_FORK));
}

static int plan(struct deck *deck, struct instance *instance, const struct agent *agent,
		enum transcript_fact fact, bool resume_wish, bool foretell, struct error *err)
{
	cleanup_free char *settings = foretell ? NULL : runfiles_settings(instance);
	cleanup_free char *hook = environment_hook(deck);
	cleanup_free char *state = place_path(deck, instance->id);
	cleanup_free char *shell = find_shell(instance);
	cleanup_free char *new_id = NULL;
	const enum resume_policy policy = conversation_policy(deck, instance);
	struct resume_facts facts = {
		.agent = agent,
		.instance = instance,
		.transcript = fact,
		.resume_enabled = resume_wish && deck->settings.resume_agents && policy != POLICY_NEVER,
		.settings_file = settings,
		.hook = hook,
		.state = state,
		.shell = shell,
	};
	if ((!foretell && place_make(deck, instance, agent, err) < 0) ||
	    find_neighbour(deck, instance, agent, &facts.place_shared, err) < 0)
		return -1;
	/* An id that only the agent can make is not made for an answer. */
	if (!(foretell && registry_strategy(agent) == STRATEGY_CREATE) &&
	    make_id(deck, instance, agent, state, facts.resume_enabled, &new_id, err) < 0)
		return -1;
	facts.new_session_id = new_id;
	resume_plan(&facts, &instance->run);
	const struct attempt *first = run_attempt(&instance->run);
	if (!instance->conversation.session_id && first->session_id)
		conversation_set_id(&instance->conversation, first->session_id, ORIGIN_MINTED,
				    clock_wall_us());
	instance->run.offer = policy == POLICY_CONFIRM && facts.resume_enabled && brings_back(&instance->run);
	free(instance->run.history_note);
	instance->run.history_note = resume_history_note(agent, instance);
	strvec_clear(&instance->resume_argv);
	resume_command(agent, instance, state, &instance->resume_argv);
	return 0;
}

int conversation_plan(struct deck *deck, struct instance *instance, const struct agent *agent,
		      enum transcript_fact fact, bool resume_wish, struct error *err)
{
	return plan(deck, instance, agent, fact, resume_wish, false, err);
}

int conversation_foretell(struct deck *deck, struct instance *instance, const struct agent *agent,
			  struct error *err)
{
	enum transcript_fact fact;
	cleanup_fs_lock struct fs_lock claim = FS_UNLOCKED;
	if (conversation_settle(deck, instance, agent, &fact, err) < 0 ||
	    conversation_claim(deck, instance, agent, &claim, err) < 0)
		return -1;
	run_clear(&instance->run);
	return plan(deck, instance, agent, fact, true, true, err);
}

/* Its own earlier ones it may well come back to. */
bool conversation_is_anothers(struct deck *deck, const struct instance *instance, const char *session_id)
{
	cleanup_ownership struct ownership ownership = { .instance = instance };
	if (list_owners(deck, &ownership, NULL) < 0)
		return true;
	for (size_t i = 0; i < ownership.count; i++)
		if (is_owned_in(&ownership.profiles[i], instance, session_id))
			return true;
	return false;
}

bool conversation_take_words(struct deck *deck, struct instance *instance, const char *words)
{
	const struct agent *agent;
	struct conversation *conversation = &instance->conversation;
	const struct run *run = &instance->run;
	const struct attempt *attempt = run_attempt(run);
	/* A screen can say anything; a report carries the run's token. */
	bool reported = run->reported || conversation->captured_at > run->attempt_since;

	if (!words || !attempt || attempt->rung == RUNG_SHELL || reported ||
	    deck_agent(deck, instance->agent, &agent, NULL) < 0)
		return false;
	cleanup_free char *id = resume_match_id(agent, agent->exit_banner, words);
	if (!id || streq(id, or_empty(conversation->session_id)))
		return false;
	if (conversation_is_anothers(deck, instance, id)) {
		log_warning("last words name conversation %s, which is another session's: ignored", id);
		return false;
	}
	log_info("conversation: %s -> %s source=last_words",
		 conversation->session_id ? conversation->session_id : "none", id);
	conversation_set_id(conversation, id, ORIGIN_REPORTED, clock_wall_us());
	conversation->first_turn_seen = true;
	cleanup_free char *state = place_path(deck, instance->id);
	strvec_clear(&instance->resume_argv);
	resume_command(agent, instance, state, &instance->resume_argv);
	return true;
}

void conversation_commit(struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	const char *before = instance->conversation.session_id;
	if (!attempt || attempt->rung != RUNG_FRESH || !attempt->session_id)
		return;
	if (!streq(or_empty(before), attempt->session_id))
		log_info("conversation: %s -> %s source=fresh_start", before ? before : "none",
			 attempt->session_id);
	conversation_set_id(&instance->conversation, attempt->session_id, ORIGIN_MINTED,
			    clock_wall_us());
}
