/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise-internal.h"

#include "base/clock.h"
#include "base/jsonio.h"
#include "base/log.h"
#include "engine/environment.h"
#include "engine/recover.h"
#include "engine/runfiles.h"
#include "engine/view.h"
#include "model/restart.h"

#include <string.h>

enum {
	INTENT_MS = 500,      /* from one look at a start or a stop of somebody else to the next */
	RETRY_MS = 2000,      /* after a command that failed, and whose manifest cannot be read */
	RETRY_MOST_MS = 60000,
	REVIVE_MOST_MS = 30000, /* what it failed for may be over: a mount that came late, a full disk */
	LOGGED = 5,	      /* of the times that a manifest cannot be read; damage stays */
	TOLD_AFTER = 6,	      /* such failures, some eight seconds, its user is told */
	PAUSE_MS = 250,       /* after any that failed, whatever the policy says */
	WORK_TIMEOUT_MS = 180000, /* longer than all that a start or a stop waits for */
	WORK_MARGIN_S = 10,       /* then it ends by itself, if we are not there to end it and say so */
};

/* ---- the table --------------------------------------------------------------------------------- */

static size_t find_slot(const struct supervisor *supervisor, const char *key, bool *ret_found)
{
	size_t low = 0, high = supervisor->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(supervisor->sessions[middle]->key, key);
		if (order == 0) {
			*ret_found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_found = false;
	return low;
}

struct session *session_find(struct supervisor *supervisor, const char *profile, const char *base,
			     bool make)
{
	bool found;
	cleanup_free char *key = xasprintf("%s/%s", profile, base);
	size_t slot = find_slot(supervisor, key, &found);
	if (found)
		return supervisor->sessions[slot];
	if (!make)
		return NULL;
	if (supervisor->count == supervisor->capacity) {
		supervisor->capacity = supervisor->capacity ? 2 * supervisor->capacity : 64;
		supervisor->sessions = xreallocarray(supervisor->sessions, supervisor->capacity,
						     sizeof(struct session *));
	}
	struct session *session = xcalloc(1, sizeof(*session));
	*session = (struct session){ .supervisor = supervisor, .key = TAKE_PTR(key),
				     .profile = xstrdup(profile), .base = xstrdup(base),
				     .id = xstrdup(base), .oom_fd = -1 };
	memmove(supervisor->sessions + slot + 1, supervisor->sessions + slot,
		(supervisor->count - slot) * sizeof(struct session *));
	supervisor->sessions[slot] = session;
	supervisor->count++;
	return session;
}

struct session *session_by_target(struct supervisor *supervisor, const char *target)
{
	struct session *by_title = NULL;
	bool several = false;
	for (size_t i = 0; i < supervisor->count; i++) {
		struct session *session = supervisor->sessions[i];
		if (streq(session->id, target))
			return session;
		if (session->title && streq(session->title, target)) {
			several |= by_title != NULL;
			by_title = session;
		}
	}
	return several ? NULL : by_title;
}

/* ---- what is known ------------------------------------------------------------------------------ */

static void learn(struct session *session, const struct instance *instance)
{
	replace_string(&session->id, instance->id);
	replace_string(&session->title, instance->title);
	replace_string(&session->group, instance->group);
	replace_string(&session->agent, instance->agent);
	replace_string(&session->directory, instance->cwd);
	replace_string(&session->session_id, instance->conversation.session_id);
	replace_string(&session->reason, instance->observed.reason);
	replace_string(&session->held, instance->observed.held);
	session->state = instance->observed.state;
	session->desired = instance->desired;
	session->since = instance->observed.since;
	session->last_used_at = instance->last_used_at;
}

static bool has_ended_unseen(const struct instance *instance)
{
	const enum instance_state state = instance->observed.state;
	const struct run *run = &instance->run;
	return (state == STATE_RUNNING || state == STATE_STARTING || state == STATE_STOPPING) &&
	       run->server.pid && process_same_boot(run->boot_id) && !watch_is_live(run);
}

/* The wait for its restart counts from when that is written down. */
static void write_end(const struct session *session, const struct instance *instance)
{
	struct deck *deck = session->supervisor->deck;
	const struct store_row row = {
		.base = session->base,
		.state = instance->observed.state,
		.desired = instance->desired,
		.server = instance->run.server,
		.boot_id = instance->run.boot_id,
	};
	deck->store = supervise_store(session->supervisor, session->profile);
	lifecycle_correct(deck, &row);
	deck->store = NULL;
}

/* What is stored is not true once its server has ended. */
static void correct_view(struct session *session, const struct instance *instance)
{
	if (session->is_live ||
	    (session->state != STATE_RUNNING &&
	     !(session->state == STATE_STARTING && instance->run.server.pid)))
		return;
	bool same_boot = process_same_boot(instance->run.boot_id);
	session->state = STATE_ERROR;
	replace_string(&session->reason, same_boot ? "its tmux server was killed"
						   : "the machine was restarted");
}

void session_describe(const struct session *session, struct service_session *ret)
{
	bool runs = session->is_live && session->state == STATE_RUNNING;
	*ret = (struct service_session){
		.id = session->id,
		.profile = session->profile,
		.title = session->title,
		.group = session->group,
		.agent = session->agent,
		.directory = session->directory,
		.session_id = session->session_id,
		.status = instance_state_name(session->state),
		.activity = runs ? instance_activity_name(session->activity) : NULL,
		.reason = session->held ? session->held : session->reason,
		.desired = session->desired == DESIRED_RUNNING,
		.since_us = session->since,
		.activity_since_us = runs ? session->activity_since : 0,
	};
}

static void note_activity(struct session *session)
{
	cleanup_activity struct activity activity = { 0 };
	const enum instance_activity before = session->activity;
	if (session->run_directory)
		activity_read(session->run_directory, &activity);
	session->activity = activity.activity;
	session->activity_since = activity.since;
	if (activity.activity == before)
		return;
	if (activity.activity == ACTIVITY_WAITING)
		calls_notify(session, "waiting", "it waits for its user");
	else if (activity.activity == ACTIVITY_IDLE && before == ACTIVITY_BUSY)
		calls_notify(session, "idle", "it has finished its turn");
}

/* ---- what is done -------------------------------------------------------------------------------- */

static void on_revived(const struct child_result *result, const char *failure, void *context);

static void begin_revive(struct session *session)
{
	cleanup_strvec struct strvec arguments = { 0 };
	cleanup_free char *within = xasprintf("%d", WORK_TIMEOUT_MS / 1000 + WORK_MARGIN_S);
	bool handed = session->environment.count != 0;
	strvec_push_array(&arguments, (const char *const[]){ "--profile", session->profile, "revive", "--unasked",
							     "--within", within, session->base, NULL });
	session->is_working = true;
	work_start(session->supervisor, &arguments, handed ? &session->environment : NULL, WORK_TIMEOUT_MS,
		   on_revived, session);
}

static void queue(struct session *session)
{
	session->is_queued = true;
	session_run_queue(session->supervisor);
}

void session_run_queue(struct supervisor *supervisor)
{
	const unsigned room = recover_jobs();
	while (supervisor->working < room) {
		struct session *next = NULL;
		for (size_t i = 0; i < supervisor->count; i++) {
			struct session *session = supervisor->sessions[i];
			if (session->is_queued && !session->is_working &&
			    (!next || session->last_used_at > next->last_used_at))
				next = session;
		}
		if (!next)
			return;
		next->is_queued = false;
		supervisor->working++;
		begin_revive(next);
	}
}

/* Nothing tells when what hinders it is over: so later and later, while one failure follows the other. */
static int64_t patience_ms(unsigned failures, int64_t first_ms, int64_t most_ms)
{
	int64_t delay = first_ms;
	for (unsigned i = 1; i < failures && delay < most_ms; i++)
		delay *= 2;
	return delay < most_ms ? delay : most_ms;
}

/* It is to run and does not. */
static void plan(struct session *session, const struct instance *instance)
{
	struct deck *deck = session->supervisor->deck;
	struct restart_plan decision = restart_decide(instance, &deck->settings, process_boot_id(),
						      clock_wall_us());
	if (decision.verdict == RESTART_LEAVE) {
		session->is_left = true;
		return;
	}
	/* After a restart of the machine there is no server to take it from. */
	if (!session->environment.count)
		environment_of_kept(instance, &session->environment);
	if (decision.delay_ms > 0)
		log_info("%s (%s) comes back in %lld ms", session->id, or_empty(session->title),
			 (long long)decision.delay_ms);
	/* The failure stands in the manifest, and its change is what brings us here: without a pause that would go round
	 * and round. */
	const int64_t pause_ms = session->not_before_ms - clock_ms();
	const int64_t delay_ms = decision.delay_ms > pause_ms ? decision.delay_ms : pause_ms;
	if (delay_ms > 0)
		watch_set_timer(session, delay_ms);
	else
		queue(session);
}

/* Somebody is starting or stopping it, or was killed in the middle of that. */
static bool is_intent(const struct instance *instance)
{
	const bool same_boot = process_same_boot(instance->observed.boot_id);
	return same_boot && (instance->observed.state == STATE_STOPPING ||
			     (instance->observed.state == STATE_STARTING && !watch_is_live(&instance->run)));
}

/* Whoever does something to it holds its lock. */
static bool is_in_work(const struct session *session)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	struct store *store = supervise_store(session->supervisor, session->profile);
	return store && store_lock(store, session->base, 0, &lock, NULL) == STORE_BUSY;
}

static void judge(struct session *session, const struct instance *instance)
{
	watch_clear_timer(session);
	session->is_queued = false;
	if (session->is_working)
		return;
	if (watch_is_between(session)) {
		watch_nudge_later(session);
		return;
	}
	if (is_intent(instance)) {
		watch_set_timer(session, patience_ms(session->failures, INTENT_MS, RETRY_MOST_MS));
		return;
	}
	/* By its user's hand, maybe: what failed before says nothing of what comes. */
	if (session->is_live) {
		session->failures = 0;
		session->not_before_ms = 0;
		if (session->is_unwatched)
			watch_set_timer(session, RETRY_MS);
	} else if (instance->desired == DESIRED_RUNNING) {
		plan(session, instance);
	}
}

/* What the others see of it; told when it is another than the last time. */
static void tell(struct session *session)
{
	struct service_session now;
	session_describe(session, &now);
	char *shown = xasprintf("%s\n%s\n%s\n%s\n%s\n%s\n%s\n%d", or_empty(now.title), or_empty(now.group),
				or_empty(now.agent), or_empty(now.session_id), now.status,
				or_empty(now.activity), or_empty(now.reason), now.desired);
	bool is_new = !session->shown || !streq(session->shown, shown);
	free(session->shown);
	session->shown = shown;
	if (is_new)
		calls_session_changed(session);
}

/* Once it can be read again nothing tells of that. */
static void note_unread(struct session *session, const char *why)
{
	/* Every listing tells of it, too; nothing is done on a guess. */
	if (session->unread++ < LOGGED)
		log_error("%s cannot be read: %s", session->key, why);
	watch_set_timer(session, patience_ms(session->unread, RETRY_MS, RETRY_MOST_MS));
}

/* 0, or the session cannot be looked at, and may be gone. */
static int load(struct session *session, struct instance **ret)
{
	cleanup_error struct error err = { 0 };
	struct store *store = supervise_store(session->supervisor, session->profile);
	int r = store ? store_load(store, session->base, ret, &err) : -1;
	if (r > 0)
		session_forget(session);
	else if (r < 0)
		note_unread(session, err.message ? err.message : "its profile cannot be opened");
	else
		session->unread = 0;
	return r;
}

bool session_look(struct session *session)
{
	cleanup_instance struct instance *instance = NULL;
	int r = load(session, &instance);
	if (r == 0 && has_ended_unseen(instance)) {
		write_end(session, instance);
		instance_free(TAKE_PTR(instance));
		r = load(session, &instance);
	}
	if (r != 0)
		return r < 0;
	const enum instance_state state = session->state;
	const bool was_held = session->held != NULL, was_known = session->title != NULL;
	learn(session, instance);
	watch_run(session, instance);
	correct_view(session, instance);
	session->is_left = false;
	judge(session, instance);
	note_activity(session);
	tell(session);
	if (was_known && session->held && !was_held)
		calls_notify(session, "held", session->held);
	else if (was_known && session->state == STATE_ERROR && state != STATE_ERROR && session->is_left)
		calls_notify(session, "error", or_empty(session->reason));
	return true;
}

void session_note_activity(struct session *session)
{
	note_activity(session);
	tell(session);
}

void session_on_timer(struct session *session)
{
	cleanup_instance struct instance *instance = NULL;
	watch_clear_timer(session);
	if (session->is_working)
		return;
	if (session->unread || session->is_unwatched) {
		(void)session_look(session);
		return;
	}
	if (load(session, &instance) != 0)
		return;
	const bool is_between = watch_is_between(session), has_intent = is_intent(instance);
	if (is_between)
		watch_nudge(session);
	if (is_between && !has_intent) {
		/* A start that could not see its agent: it may be there. */
		if (!session->pane.pid)
			queue(session);
		return;
	}
	if (has_intent && is_in_work(session)) {
		watch_set_timer(session, INTENT_MS);
		return;
	}
	/* What is to be done with it is decided under its lock (engine/revive.h). */
	if (has_intent || (instance->desired == DESIRED_RUNNING && !session->is_live))
		queue(session);
}

/* What `agentdeck revive` says came of it; NULL when it says nothing that can be read. */
static struct json_object *outcome_of(const struct child_result *result)
{
	struct json_object *object = NULL;
	if (result && json_parse(strbuf_text(&result->output), result->output.length, "revive", &object,
				 NULL) < 0)
		return NULL;
	return object;
}

static void take_outcome(struct session *session, const struct json_object *object)
{
	const char *word = json_get_string(object, "outcome", "");
	enum revive_outcome outcome = REVIVE_NOT_WANTED;
	if (!revive_outcome_parse(word, &outcome))
		log_error("%s: revive says \"%s\"", session->key, word);
	session->failures = 0;
	session->not_before_ms = 0;
	if (!session_look(session) || session->unread)
		return;
	switch (outcome) {
	case REVIVED:
		calls_notify(session, "recovered", json_get_string(object, "reason", "it was brought back"));
		break;
	case REVIVE_LATER:
		watch_set_timer(session, json_get_int(object, "delay_ms", RETRY_MS));
		break;
	case REVIVE_ALIVE:
	case REVIVE_LEFT:
	case REVIVE_HELD:
	case REVIVE_NOT_WANTED:
	case REVIVE_OUTCOME_COUNT:
		/* For a live one the look has planned no start; a nudge, maybe. */
		if (session->is_live)
			break;
		/* Nothing to do until something changes, whatever the look above has planned. */
		watch_clear_timer(session);
		session->is_queued = false;
		break;
	}
}

static void on_revived(const struct child_result *result, const char *failure, void *context)
{
	struct session *session = context;
	struct supervisor *supervisor = session->supervisor;
	cleanup_json struct json_object *object = outcome_of(result);
	session->is_working = false;
	supervisor->working--;
	if (result && result->exit_status == 0 && object) {
		take_outcome(session, object);
	} else {
		const char *said = json_get_string(object, "error", NULL);
		cleanup_free char *words = said || !result ? xstrdup(said ? said : failure)
							    : child_last_words(result);
		log_error("%s is not back: %s", session->key, words);
		session->failures++;
		session->not_before_ms = clock_ms() + patience_ms(session->failures, PAUSE_MS, REVIVE_MOST_MS);
		/* What the manifest tells now may have planned the next time already. */
		const bool is_there = session_look(session);
		if (is_there && !session->timer && !session->is_queued && !session->is_live &&
		    !session->is_left)
			watch_set_timer(session, patience_ms(session->failures, RETRY_MS, RETRY_MOST_MS));
		if (is_there && session->failures == TOLD_AFTER)
			calls_notify(session, "error", words);
	}
	session_run_queue(supervisor);
}

void session_free(struct session *session)
{
	watch_clear_timer(session);
	watch_end(session);
	strvec_clear(&session->environment);
	char *const texts[] = { session->key, session->profile, session->base, session->id, session->title,
				session->group, session->agent, session->directory, session->session_id,
				session->reason, session->held, session->shown };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	free(session);
}

void session_forget(struct session *session)
{
	struct supervisor *supervisor = session->supervisor;
	bool found;
	size_t slot = find_slot(supervisor, session->key, &found);
	if (session->title && !session->is_gone)
		calls_session_removed(session);
	session->is_gone = true;
	/* Who works on it still has to say so. */
	if (session->is_working || !found)
		return;
	supervisor->count--;
	memmove(supervisor->sessions + slot, supervisor->sessions + slot + 1,
		(supervisor->count - slot) * sizeof(struct session *));
	session_free(session);
}
