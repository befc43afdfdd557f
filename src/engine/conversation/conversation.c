/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/conversation.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/transcript/shelf.h"
#include "engine/conversation/conversation-internal.h"
#include "engine/conversation/location.h"
#include "engine/conversation/owner.h"
#include "engine/deck/home.h"
#include "model/session/naming.h"

#include <string.h>

void ownership_free(struct ownership *ownership)
{
	for (size_t i = 0; ownership->trash && i < ownership->profiles.count; i++)
		trash_free(&ownership->trash[i]);
	free(ownership->trash);
	owner_profiles_free(&ownership->profiles);
}

int ownership_list(struct deck *deck, struct ownership *ownership, struct error *err)
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
 * another.  One that cannot be read may have any. */
static bool is_in_trash(const struct trash *trash, const char *session_id)
{
	for (size_t i = 0; i < trash->count; i++) {
		const struct instance *removed = trash->items[i].instance;
		if (removed ? naming_same_session_id(removed->conversation.session_id,
						     session_id) ||
				      had_id(removed, session_id)
			    : !trash->items[i].is_rest)
			return true;
	}
	return false;
}

/* Does another instance of the profile have the id, or did it have it before a /clear?  unread:
 * the answer where one cannot be read. */
static bool is_owned_in(const struct owner_profile *profile, const struct instance *instance,
			const char *session_id, bool unread)
{
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct store_row *row = &profile->rows.rows[i];
		cleanup_instance struct instance *other = NULL;
		if (owner_is_self(profile, row, instance))
			continue;
		if ((row->damage && unread) || naming_same_session_id(row->session_id, session_id))
			return true;
		if (row->damage || !streq(row->owner_directory, instance_owner_directory(instance)))
			continue;
		const int r = store_load(profile->store, row->base, &other, NULL);
		if (r < 0 ? unread : r == 0 && had_id(other, session_id))
			return true;
	}
	return false;
}

/* Is the id another instance's, of any profile, now or earlier?  An instance may come back to its
 * own earlier ids.  The run itself says the id, so one that cannot be read is no obstacle.  True
 * also where the sessions cannot be listed. */
static bool was_ever_anothers(struct deck *deck, const struct instance *instance,
			      const char *session_id)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (owner_list(deck, &profiles, NULL) < 0)
		return true;
	for (size_t i = 0; i < profiles.count; i++)
		if (is_owned_in(&profiles.items[i], instance, session_id, false))
			return true;
	return false;
}

/* For shelf_latest(): also the instance's own earlier ids, which it has left. */
static bool must_not_guess(const char *session_id, void *data)
{
	const struct ownership *ownership = data;
	for (size_t i = 0; i < ownership->profiles.count; i++)
		if (is_owned_in(&ownership->profiles.items[i], ownership->instance, session_id,
				true) ||
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
	if (ownership_list(deck, &ownership, err) < 0)
		return -1;
	return shelf_latest(instance->conversation.config_home,
			    instance_transcript_directory(instance), must_not_guess, &ownership,
			    ret, err);
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

/* A run that ended without a report may still have moved to its fresh id: its transcript tells.  If
 * the agent neither reports nor shows its transcripts, take the fresh id: the agent refused the
 * stored one, so what was said since is under the fresh one.  The stored id stays among the
 * previous ones. */
static int take_id_of_unfinished_run(struct instance *instance, const struct agent *agent,
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

int conversation_reclaim_and_log(struct deck *deck, struct instance *instance, struct fs_lock *lock,
				 struct error *err)
{
	const struct conversation *conversation = &instance->conversation;
	if (!conversation->shared.session_id)
		return 0;
	cleanup_free char *before = xstrdup_or_null(conversation->session_id);
	if (owner_lock(deck, lock, err) < 0 || conversation_reclaim(deck, instance, err) < 0)
		return -1;
	if (!conversation->shared.session_id)
		log_id(instance, before, "released");
	return 0;
}

/* 1: an owner may be among the sessions that cannot be read. */
static int may_be_owned(struct deck *deck, struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (owner_list(deck, &profiles, err) < 0)
		return -1;
	return owner_check_read(&profiles, NULL) < 0;
}

int conversation_reclaim(struct deck *deck, struct instance *instance, struct error *err)
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
	r = may_be_owned(deck, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	cleanup_free char *id = xstrdup(conversation->shared.session_id);
	conversation_set_id(conversation, id, ORIGIN_REPORTED, clock_wall_us());
	/* The conversation was resumed there, so it had a turn. */
	conversation->first_turn_seen = true;
	return 0;
}

int conversation_choose(struct deck *deck, struct instance *instance, const struct agent *agent,
			enum transcript_fact *ret_fact, struct error *err)
{
	struct conversation *conversation = &instance->conversation;
	enum transcript_fact fact = TRANSCRIPT_UNKNOWN;

	if (!conversation->config_home)
		conversation->config_home = deck_config_home(deck, agent);
	(void)location_settle_home(deck, instance, agent);
	if (take_id_of_unfinished_run(instance, agent, err) < 0)
		return -1;
	if (!conversation->session_id && agent->resume.count) {
		const char *adopted = resume_adopted_id(agent, &instance->argv);
		if (adopted && !conversation->forked_from && resume_takes_id(agent, adopted) &&
		    !was_ever_anothers(deck, instance, adopted))
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
		      !registry_is_own_command(agent, &instance->argv);
	if ((!conversation->session_id || unused) &&
	    discover(deck, instance, agent, &fact, err) < 0)
		return -1;
	*ret_fact = fact;
	return 0;
}

int conversation_choose_and_log(struct deck *deck, struct instance *instance,
				const struct agent *agent, enum transcript_fact *ret_fact,
				struct error *err)
{
	const struct conversation *conversation = &instance->conversation;
	cleanup_free char *id = xstrdup_or_null(conversation->session_id);
	cleanup_free char *home = xstrdup_or_null(conversation->config_home);
	cleanup_free char *directory = xstrdup(instance_launch_directory(instance));
	bool is_made = false;
	if (conversation_choose(deck, instance, agent, ret_fact, err) < 0 ||
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
	if (was_ever_anothers(deck, instance, id)) {
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
