/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "driver/transcript.h"
#include "engine/lifecycle.h"
#include "engine/runfiles.h"
#include "model/naming.h"

#include <fcntl.h>
#include <string.h>

enum { CLAIM_TIMEOUT_MS = 10000 };

static bool knows_transcripts(const struct agent *agent)
{
	return agent->transcript && streq(agent->transcript, "claude-projects");
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
		return -1;
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

static int discover(struct deck *deck, struct instance *instance, enum transcript_fact *ret_fact,
		    struct error *err)
{
	cleanup_ownership struct ownership ownership = { .instance = instance };
	cleanup_transcript struct transcript found = { 0 };
	if (list_owners(deck, &ownership, err) < 0)
		return -1;
	int r = transcript_latest(instance->conversation.config_home, instance->cwd, is_owned,
				  &ownership, &found, err);
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

/* A run that ended without a word may have moved to its fresh id all the same: its transcript tells. */
static int settle_unfinished(struct instance *instance, const struct agent *agent,
			     struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	const struct attempt *attempt = run_attempt(&instance->run);
	const char *stored = instance->conversation.session_id;
	if (!attempt || !attempt->session_id || !knows_transcripts(agent) ||
	    (stored && streq(stored, attempt->session_id)) ||
	    /* It was the conversation's already, and gave way to a later one. */
	    strvec_contains(&instance->conversation.previous, attempt->session_id))
		return 0;
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
		if (adopted && naming_is_session_id(adopted))
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
	if ((!conversation->session_id || unused) && discover(deck, instance, &fact, err) < 0)
		return -1;
	*ret_fact = fact;
	return 0;
}

static bool is_holder(const struct store_row *row, const struct instance *instance)
{
	const struct conversation *conversation = &instance->conversation;
	return !row->damage && !streq(row->id, instance->id) && row->session_id &&
	       streq(row->session_id, conversation->session_id) &&
	       streq(row->agent, instance->agent) &&
	       streq(or_empty(row->config_home), or_empty(conversation->config_home)) &&
	       row->rung != RUNG_SHELL &&
	       (lifecycle_row_is_live(row) ||
		(row->state == STATE_STARTING && streq(or_empty(row->boot_id), process_boot_id())));
}

static int find_holder(struct store *store, const struct instance *instance, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		if (!is_holder(&rows.rows[i], instance))
			continue;
		cleanup_free char *title = visible(rows.rows[i].title);
		return error_set(err, ERROR_EXISTS, "conversation %s is open in session '%s' (%s): two "
				 "agents on one conversation would split its history; attach to that "
				 "one, or stop it first", instance->conversation.session_id, title,
				 rows.rows[i].id);
	}
	return 0;
}

int conversation_claim(struct deck *deck, const struct instance *instance, struct fs_lock *ret,
		       struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_strvec struct strvec profiles = { 0 };
	if (!instance->conversation.session_id) {
		*ret = FS_UNLOCKED;
		return 0;
	}
	int r = fs_lock(store_state_directory(deck->store), "conversations.lock",
			clock_ms() + CLAIM_TIMEOUT_MS, &lock, err);
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_BUSY, "another agentdeck holds conversations.lock: try again");
	if (r < 0 || find_holder(deck->store, instance, err) < 0 ||
	    other_profiles(deck, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++) {
		cleanup_store struct store *store = NULL;
		if (store_open(deck->paths.state, profiles.items[i], &store, err) < 0 ||
		    find_holder(store, instance, err) < 0)
			return -1;
	}
	*ret = lock;
	lock = FS_UNLOCKED;
	return 0;
}

static void store_resume_command(struct instance *instance, const struct agent *agent,
				 const char *session_id)
{
	cleanup_strvec struct strvec argv = { 0 };
	resume_carried_argv(agent, &instance->argv, &argv);
	resume_push_template(&argv, &agent->resume, session_id);
	strvec_clear(&instance->resume_argv);
	instance->resume_argv = argv;
	argv = (struct strvec){ 0 };
}

int conversation_plan(struct deck *deck, struct instance *instance, const struct agent *agent,
		      enum transcript_fact fact, bool resume_wish, struct error *err UNUSED)
{
	cleanup_free char *new_id = naming_new_uuid();
	cleanup_free char *settings = runfiles_settings(instance);
	const char *shell = getenv("SHELL");
	cleanup_free char *found_shell = NULL;
	if (is_empty(shell) ||
	    child_find_program(shell, NULL, instance->cwd, &found_shell, NULL) != 0)
		shell = "/bin/sh";
	const struct resume_facts facts = {
		.agent = agent,
		.instance = instance,
		.transcript = fact,
		.resume_enabled = resume_wish && deck->settings.resume_agents &&
				  instance->resume_policy != POLICY_NEVER,
		.new_session_id = new_id,
		.settings_file = settings,
		.shell = shell,
	};
	resume_plan(&facts, &instance->run);
	const struct attempt *first = run_attempt(&instance->run);
	if (!instance->conversation.session_id && first->session_id)
		conversation_set_id(&instance->conversation, first->session_id, ORIGIN_MINTED,
				    clock_wall_us());
	if (instance->conversation.session_id && agent->resume.count)
		store_resume_command(instance, agent, instance->conversation.session_id);
	return 0;
}

void conversation_commit(struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	if (attempt && attempt->rung == RUNG_FRESH && attempt->session_id)
		conversation_set_id(&instance->conversation, attempt->session_id, ORIGIN_MINTED,
				    clock_wall_us());
}
