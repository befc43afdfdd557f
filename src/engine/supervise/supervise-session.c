/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/supervise-internal.h"

#include "base/clock.h"
#include "base/jsonio.h"
#include "base/log.h"
#include "engine/place/alive.h"
#include "engine/place/environment.h"
#include "engine/place/isolation.h"
#include "engine/run/correct.h"
#include "engine/run/due.h"
#include "engine/run/queue.h"
#include "engine/run/recover.h"
#include "engine/run/sleep.h"
#include "engine/supervise/decide.h"
#include "engine/supervise/notify.h"
#include "model/session/state.h"

#include <string.h>

enum {
	RETRY_MS = 2000, /* after a command that failed, and whose manifest cannot be read */
	/* what it failed for may be over: a mount that came late, a full disk */
	REVIVE_MOST_MS = 30000,
	LOGGED = 5,               /* of the times that a manifest cannot be read; damage stays */
	TOLD_AFTER = 6,           /* after such failures, some eight seconds, tell its user */
	PAUSE_MS = 250,           /* after any that failed, whatever the policy says */
	WORK_TIMEOUT_MS = 180000, /* longer than all that a start or a stop waits for */
	/* then it ends by itself, if we are not there to end it and say so */
	WORK_MARGIN_S = 10,
	IDLE_BUSY_MS = 1000,    /* while other commands are at work */
	IDLE_RETRY_MS = 300000, /* at most, from a try that was hindered to the next */
	QUEUE_RETRY_MS = 60000, /* the same, of a message that its user waits for */
};

/* ---- what is known ----------------------------------------------------------------------------- */

/* The environment of a server cannot be read after its end. */
static void keep_environment(struct session *session)
{
	const struct place_run *run = &session->entry->row.run;
	cleanup_instance struct instance *instance = NULL;
	if (!place_is_live(run) || process_same(&session->environment_of, &run->server) ||
	    environment_of_run(run, &session->environment) != 0)
		return;
	/* Only the agent has its secrets, and may not be there yet. */
	const bool is_inside = run->window.pid;
	if (!is_inside ||
	    (store_load(session->entry->store, session->entry->row.base, &instance, NULL) == 0 &&
	     environment_of_secrets(instance, &session->environment) == 0))
		session->environment_of = run->server;
}

/* ---- the timer --------------------------------------------------------------------------------- */

static void on_timer(void *context);

static void set_timer_of(struct session *session, struct loop_source **timer,
			 loop_timer_handler handler, int64_t at_ms)
{
	cleanup_error struct error err = { 0 };
	int r = *timer ? loop_set_timer(*timer, at_ms, &err)
		       : loop_add_timer(session->supervisor->loop, at_ms, handler, session, timer,
					&err);
	if (r < 0)
		log_error("%s: %s", session->entry->row.id, err.message);
}

static void set_timer(struct session *session, int64_t delay_ms)
{
	set_timer_of(session, &session->timer, on_timer, clock_ms() + delay_ms);
}

static void clear_timer(struct session *session)
{
	loop_remove(TAKE_PTR(session->timer));
}

/* ---- what is done ------------------------------------------------------------------------------ */

static void on_revived(const struct child_result *result, const struct error *failure,
		       void *context);

/* how: --automatic, or one of idle[]. */
static void begin_work(struct session *session, const char *how, runner_handler handler)
{
	cleanup_strvec struct strvec arguments = { 0 };
	cleanup_free char *within = xasprintf("%d", WORK_TIMEOUT_MS / 1000 + WORK_MARGIN_S);
	bool handed = session->environment.count != 0;
	strvec_push_array(&arguments, (const char *const[]){ "--profile", session->entry->profile,
							     "revive", how, "--within", within,
							     session->entry->row.base, NULL });
	session->work = WORK_REVIVE;
	session->supervisor->working++;
	supervisor_start(session->supervisor, &arguments, handed ? &session->environment : NULL,
			 WORK_TIMEOUT_MS, handler, session);
}

static void run_queue(struct supervisor *supervisor)
{
	const unsigned room = recover_jobs();
	while (supervisor->working < room) {
		struct session *next = NULL;
		for (size_t i = 0; i < roster_count(supervisor->roster); i++) {
			const struct roster_entry *entry = roster_at(supervisor->roster, i);
			struct session *session = entry->owner;
			if (session && session->next == NEXT_RESTART &&
			    session->work != WORK_REVIVE &&
			    (!next || entry->row.last_used_at > next->entry->row.last_used_at))
				next = session;
		}
		if (!next)
			return;
		next->next = NEXT_NOTHING;
		begin_work(next, "--automatic", on_revived);
	}
}

static void queue(struct session *session)
{
	session->next = NEXT_RESTART;
	run_queue(session->supervisor);
}

/* A command that changes the session holds its lock. */
static bool is_in_work(const struct session *session)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	return store_lock(session->entry->store, session->entry->row.base, 0, &lock, NULL) ==
	       STORE_BUSY;
}

static void act(struct session *session, const struct supervise_decision *decision,
		const struct instance *instance)
{
	if (decision->act == ACT_KEEP)
		return;
	clear_timer(session);
	session->next = decision->is_left ? NEXT_LEFT : NEXT_NOTHING;
	if (decision->forget_failures) {
		session->failures = 0;
		session->not_before_ms = 0;
	}
	/* After a restart of the machine there is no server to take it from. */
	if (decision->is_planned && !session->environment.count)
		environment_of_kept(instance, &session->environment);
	if (decision->act == ACT_WAIT)
		set_timer(session, decision->delay_ms);
	else if (decision->unless_locked && is_in_work(session))
		set_timer(session, SUPERVISE_INTENT_MS);
	else if (decision->act == ACT_REVIVE)
		queue(session);
}

/* Once it can be read again nothing tells of that. */
static void note_unread(struct session *session, const char *why)
{
	/* Every listing tells of it, too; nothing is done on a guess. */
	if (session->unread++ < LOGGED)
		log_error("%s/%s cannot be read: %s", session->entry->profile,
			  session->entry->row.base, why);
	set_timer(session,
		  supervise_patience_ms(session->unread, RETRY_MS, SUPERVISE_RETRY_MOST_MS));
}

/* What lives and runs, or rests and is to, needs no manifest. */
static bool needs_instance(const struct store_row *row)
{
	return state_is_starting(row->state) || state_is_stopping(row->state) ||
	       row->ending == ENDING_DUE ||
	       (place_is_live(&row->run) ? !row->run.pane.pid : row->desired == DESIRED_RUNNING);
}

static int load(struct session *session, struct instance **ret)
{
	cleanup_error struct error err = { 0 };
	const struct store_row *row = &session->entry->row;
	if (row->damage) {
		note_unread(session, row->damage);
		return -1;
	}
	int r = needs_instance(row) ? store_load(session->entry->store, row->base, ret, &err) : 0;
	if (r < 0)
		note_unread(session, err.message);
	else
		session->unread = 0;
	return r;
}

/* The wait for its restart counts from when its end is written down. */
static int load_corrected(struct session *session, struct instance **ret)
{
	const struct roster_entry *entry = session->entry;
	const struct store_row *row = &entry->row;
	if (entry->view.state != row->state && row->run.server.pid && !row->damage &&
	    needs_instance(row) && place_relation(&row->run) == MACHINE_THIS_BOOT)
		(void)correct_row(session->supervisor->deck, entry->store, row);
	return load(session, ret);
}

static void decide(struct session *session, enum supervise_cause cause)
{
	struct supervisor *supervisor = session->supervisor;
	const struct roster_entry *entry = session->entry;
	cleanup_instance struct instance *instance = NULL;
	int r = cause == CAUSE_CHANGED ? load_corrected(session, &instance)
				       : load(session, &instance);
	if (r != 0)
		return;
	const struct place_run *run = &entry->row.run;
	const bool is_live = place_is_live(run);
	const struct supervise_facts facts = {
		.instance = instance,
		.is_live = is_live,
		.is_between = is_live && place_is_between(&run->server, &run->pane),
		.lacks_window = place_lacks_window(run),
		.is_elsewhere = entry->view.host != NULL,
		.lost_manager = instance &&
				isolation_lost_manager(supervisor->deck, &instance->run),
		.is_working = session->work == WORK_REVIVE,
		.failures = session->failures,
		.not_before_ms = session->not_before_ms,
	};
	const struct supervise_decision decision = supervise_decide(
		&facts, cause, &supervisor->deck->settings, clock_ms(), clock_wall_us());
	if (decision.is_planned && decision.act == ACT_WAIT)
		log_info("%s (%s) restarts in %lld ms", entry->row.id, entry->row.title,
			 (long long)decision.delay_ms);
	act(session, &decision, instance);
}

static void on_timer(void *context)
{
	struct session *session = context;
	clear_timer(session);
	if (session->work == WORK_REVIVE)
		return;
	if (!session->unread) {
		decide(session, CAUSE_DUE);
		return;
	}
	roster_look(session->entry);
	supervisor_read(session->supervisor);
}

/* ---- while its agent is idle --------------------------------------------------------------------
 */

/* µs on the clock of the wall from which on it may sleep; 0: it does not. */
static int64_t sleep_at(const struct session *session, int64_t *ret_retry_ms)
{
	const struct roster_entry *entry = session->entry;
	cleanup_instance struct instance *instance = NULL;
	if (store_load(entry->store, entry->row.base, &instance, NULL) < 0)
		return 0;
	const int64_t after_us = lifecycle_sleep_after_us(session->supervisor->deck, instance);
	if (after_us && after_us / 1000 < *ret_retry_ms)
		*ret_retry_ms = after_us / 1000;
	return after_us ? entry->view.activity_since + after_us : 0;
}

static int64_t queued_at(const struct session *session, int64_t *ret_retry_ms)
{
	const struct roster_entry *entry = session->entry;
	cleanup_instance struct instance *instance = NULL;
	if (!entry->row.queued || store_load(entry->store, entry->row.base, &instance, NULL) != 0)
		return 0;
	*ret_retry_ms = QUEUE_RETRY_MS;
	return lifecycle_queue_due_us(session->supervisor->deck, instance);
}

/* Likewise, from which on something is to be said to it. */
static int64_t say_at(const struct session *session, int64_t *ret_retry_ms)
{
	const struct view *view = &session->entry->view;
	if (!view->may_continue || session->supervisor->deck->settings.on_limit != LIMIT_CONTINUE)
		return queued_at(session, ret_retry_ms);
	return view->limited_until + DUE_MARGIN_S * INT64_C(1000000);
}

static const struct {
	const char *option, *result; /* of revive, and in its answer */
	int64_t (*at)(const struct session *session, int64_t *ret_retry_ms);
} idle[IDLE_COUNT] = {
	[IDLE_SLEEP] = { "--sleep", "reason", sleep_at },
	[IDLE_SAY] = { "--due", "due", say_at },
};

static void on_tried(const struct child_result *result, const struct error *failure, void *context);
static void on_sleepy(void *context);
static void on_due(void *context);
static const loop_timer_handler idle_handlers[IDLE_COUNT] = {
	[IDLE_SLEEP] = on_sleepy,
	[IDLE_SAY] = on_due,
};

static void try_it(struct session *session, enum idle_what what)
{
	if (session->work != WORK_NONE || session->supervisor->working >= recover_jobs()) {
		set_timer_of(session, &session->tries[what].timer, idle_handlers[what],
			     clock_ms() + IDLE_BUSY_MS);
		return;
	}
	session->trying = what;
	begin_work(session, idle[what].option, on_tried);
}

static void on_sleepy(void *context)
{
	try_it(context, IDLE_SLEEP);
}

static void on_due(void *context)
{
	try_it(context, IDLE_SAY);
}

/* A new turn ends the timers, and the end of that turn sets them again. */
static void plan_idle(struct session *session)
{
	const struct view *view = &session->entry->view;
	const bool is_idle = view->activity == ACTIVITY_IDLE && !view->is_silent &&
			     state_is_running(view->state);
	for (enum idle_what what = 0; what < IDLE_COUNT; what++) {
		struct idle_try *try = &session->tries[what];
		int64_t retry_ms = IDLE_RETRY_MS;
		const int64_t at_us = is_idle ? idle[what].at(session, &retry_ms) : 0;
		if (!at_us) {
			loop_remove(TAKE_PTR(try->timer));
			try->tried_ms = 0;
			continue;
		}
		const int64_t left_us = at_us - clock_wall_us();
		const int64_t at_ms = clock_ms() + (left_us > 0 ? left_us / 1000 + 1 : 0);
		/* Nothing tells of the end of what hindered the last try. */
		const int64_t again_ms = try->tried_ms ? try->tried_ms + retry_ms : 0;
		set_timer_of(session, &try->timer, idle_handlers[what],
			     at_ms > again_ms ? at_ms : again_ms);
	}
}

static void end_tries(struct session *session)
{
	for (enum idle_what what = 0; what < IDLE_COUNT; what++)
		loop_remove(TAKE_PTR(session->tries[what].timer));
}

/* ---- what is heard ----------------------------------------------------------------------------- */

static void tell(struct session *session, const struct roster_event *event)
{
	if (event->what != ROSTER_ADDED && !event->differs)
		return;
	calls_session_changed(session);
	calls_notify(session, notify_doing(event), NULL);
	calls_notify(session, notify_end(event, session->next == NEXT_LEFT), NULL);
}

void session_free(struct session *session)
{
	if (!session)
		return;
	clear_timer(session);
	end_tries(session);
	strvec_clear(&session->environment);
	free(session);
}

static void forget(struct session *session)
{
	calls_session_removed(session);
	clear_timer(session);
	end_tries(session);
	session->entry = NULL;
	/* A job or a look that is not done still needs the session. */
	if (session->work == WORK_NONE)
		session_free(session);
}

void session_on_event(struct supervisor *supervisor, const struct roster_event *event)
{
	struct session *session = event->entry->owner;
	if (event->what == ROSTER_ADDED) {
		session = event->entry->owner = xcalloc(1, sizeof(*session));
		*session = (struct session){ .supervisor = supervisor, .entry = event->entry };
	}
	switch (event->what) {
	case ROSTER_ADDED:
	case ROSTER_CHANGED:
		keep_environment(session);
		decide(session, CAUSE_CHANGED);
		if (!event->entry->row.damage)
			tell(session, event);
		plan_idle(session);
		break;
	case ROSTER_ACTIVITY:
		tell(session, event);
		plan_idle(session);
		break;
	case ROSTER_OUTPUT:
		screens_look(&supervisor->screens, event->entry);
		break;
	case ROSTER_NUDGED:
		decide(session, CAUSE_NUDGED);
		break;
	case ROSTER_KILLED:
		calls_notify(session, "oom", NULL);
		break;
	case ROSTER_REMOVED:
		forget(session);
		break;
	}
}

/* ---- what came of it --------------------------------------------------------------------------- */

/* False: it was removed. */
static bool look_again(struct session *session)
{
	if (session->entry) {
		roster_look(session->entry);
		session->work = WORK_LOOK;
		supervisor_read(session->supervisor);
		if (session->work == WORK_LOOK)
			session->work = WORK_NONE;
	}
	return session->entry != NULL;
}

static void take_outcome(struct session *session, const struct revive_result *answer)
{
	session->failures = 0;
	session->not_before_ms = 0;
	if (!look_again(session) || session->unread)
		return;
	switch (answer->outcome) {
	case REVIVED:
		calls_notify(session, "recovered", answer->note);
		break;
	case REVIVE_LATER:
		set_timer(session, answer->delay_ms);
		break;
	case REVIVE_ALIVE:
	case REVIVE_LEFT:
	case REVIVE_HELD:
	case REVIVE_NOT_WANTED:
	case REVIVE_FAILED:
	case REVIVE_OUTCOME_COUNT:
		/* A live session has no start planned. */
		if (place_is_live(&session->entry->row.run))
			break;
		/* Nothing to do until something changes, whatever the look above has planned. */
		clear_timer(session);
		if (session->next == NEXT_RESTART)
			session->next = NEXT_NOTHING;
		break;
	}
}

static void take_failure(struct session *session, const char *words)
{
	session->failures++;
	session->not_before_ms = clock_ms() +
				 supervise_patience_ms(session->failures, PAUSE_MS, REVIVE_MOST_MS);
	/* What the manifest tells now may have planned the next time already. */
	if (!look_again(session))
		return;
	if (!session->timer && session->next == NEXT_NOTHING &&
	    !place_is_live(&session->entry->row.run))
		set_timer(session, supervise_patience_ms(session->failures, RETRY_MS,
							 SUPERVISE_RETRY_MOST_MS));
	if (session->failures == TOLD_AFTER)
		calls_notify(session, "error", words);
}

static void on_revived(const struct child_result *result, const struct error *failure,
		       void *context)
{
	struct session *session = context;
	struct supervisor *supervisor = session->supervisor;
	cleanup_revive_result struct revive_result answer = { .outcome = REVIVE_FAILED };
	if (result)
		revive_answer(result, &answer);
	session->work = WORK_NONE;
	supervisor->working--;
	if (answer.outcome != REVIVE_FAILED) {
		take_outcome(session, &answer);
	} else {
		const char *words = result ? answer.error : failure->message;
		log_error("%s was not restarted: %s",
			  session->entry ? session->entry->row.id : "a removed session", words);
		take_failure(session, words);
	}
	if (!session->entry && session->work == WORK_NONE)
		session_free(session);
	run_queue(supervisor);
}

static void on_tried(const struct child_result *result, const struct error *failure, void *context)
{
	struct session *session = context;
	struct supervisor *supervisor = session->supervisor;
	cleanup_json struct json_object *answer = NULL;
	if (result)
		(void)json_parse(strbuf_text(&result->output), result->output.length,
				 "agentdeck revive", &answer, NULL);
	session->work = WORK_NONE;
	supervisor->working--;
	const char *outcome = json_get_string(answer, idle[session->trying].result,
					      failure ? failure->message : "it failed");
	/* After a success the next one waits for nothing but its agent. */
	session->tries[session->trying].tried_ms = streq(outcome, due_name(DUE_SAID)) ? 0
										      : clock_ms();
	if (session->entry)
		log_debug("%s %s: %s", session->entry->row.id, idle[session->trying].option,
			  outcome);
	if (!look_again(session) && session->work == WORK_NONE)
		session_free(session);
	run_queue(supervisor);
}
