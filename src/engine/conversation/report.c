/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/report.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/transcript/holder.h"
#include "engine/conversation/location.h"
#include "engine/conversation/owner.h"
#include "engine/conversation/report-internal.h"
#include "engine/place/activityfile.h"
#include "engine/place/place.h"
#include "engine/place/runfiles.h"
#include "engine/screen/activity.h"
#include "model/plan/resume.h"
#include "model/session/naming.h"

#include <string.h>
#include <unistd.h>

/* A report names a conversation, which is compared with these ids:
 *
 *   run.attempts[].session_id    what this attempt was given, or said first (report_attempt_id());
 *                                with BINDS_FIRST also what its user has switched to
 *   conversation.session_id      what the next start resumes
 *   announced.session_id         what a start event said last; it counts from its first turn on,
 *                                at the latest
 *   conversation.shared          open here, and owned by another session
 *   conversation.previous        what the session has left
 */

/* ---- what the agent does ---------------------------------------------------------------------- */

static enum instance_activity activity_of(unsigned meaning)
{
	if (meaning & MEANS_WAITING)
		return ACTIVITY_WAITING;
	return meaning & (MEANS_PROMPT | MEANS_BUSY) ? ACTIVITY_BUSY : ACTIVITY_IDLE;
}

/* What the agent does after the report; counts its queue and notes its tasks in *now.  Some agents
 * report a prompt when it is queued, not when its turn begins (claude 2.1.330).  If the prompt
 * joined the turn before instead, only the screen tells. */
static enum instance_activity advance_activity(const struct report *report, struct activity *now)
{
	const enum instance_activity activity = activity_of(report->meaning);
	const bool is_busy = now->activity == ACTIVITY_BUSY;
	/* A screen may show a turn before its own prompt is reported. */
	const bool is_turn = is_busy && !now->has_tasks &&
			     !(now->is_seen && now->reported == ACTIVITY_IDLE);
	now->has_tasks = report->meaning & MEANS_IDLE && report->has_tasks;
	if (report->meaning & MEANS_PROMPT)
		now->queued += is_turn && report->agent->busy.count && report->agent->ready.count;
	if (report->meaning & MEANS_IDLE && is_busy && now->queued > 0) {
		now->queued--;
		return ACTIVITY_BUSY;
	}
	if (now->has_tasks)
		return ACTIVITY_BUSY;
	if (activity == ACTIVITY_IDLE)
		now->queued = 0;
	return activity;
}

static void update_activity(const struct report *report, struct activity *now,
			    struct report_news *ret_news)
{
	const enum instance_activity before = now->activity;
	const enum instance_activity activity = advance_activity(report, now);
	if (before != activity || !now->since)
		now->since = clock_wall_us();
	now->activity = activity;
	now->is_suspended = false;
	/* A reminder that it is idle says nothing of its last turn. */
	const bool reminds = before == ACTIVITY_IDLE && activity == ACTIVITY_IDLE &&
			     !(report->meaning & MEANS_START);
	if (report->meaning & MEANS_FAILED)
		activity_fail(now, report->failure, report->limited_until);
	else if (!reminds)
		activity_fail(now, NULL, 0);
	*ret_news = (struct report_news){ before, activity, now->since };
	now->is_seen = false;
	const bool asks = activity == ACTIVITY_WAITING &&
			  (report->kind ||
			   !activity_may_be_at_prompt(report->agent, report->event));
	/* The question itself is worth more than a notification that there is one. */
	if (before != activity || activity != ACTIVITY_WAITING || (asks && !now->asks)) {
		replace_string(&now->event, report->event);
		now->asks = asks;
	}
}

/* Write the activity file of the run.  announces: the conversation counts from its first turn on,
 * at the latest.  A report of an end gives only its directory: another conversation may follow
 * there, and that was not reported. */
static void record_activity(const struct instance *instance, const struct report *report,
			    bool announces, struct report_news *ret_news)
{
	const bool is_end = report->meaning & MEANS_END;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_activity struct activity now = { 0 };
	cleanup_announced struct announced announced = { 0 };
	/* Waits a second at most, and then writes without the lock, since an agent waits for its
	 * hook.  An error: the run's directory is gone. */
	if ((is_end && !report->cwd) || activityfile_lock(instance->run.directory, &lock, NULL) < 0)
		return;
	activity_read(instance->run.directory, &now);
	announced_read(instance->run.directory, &announced);
	if (report->cwd)
		replace_string(&announced.directory, report->cwd);
	if (!is_end)
		update_activity(report, &now, ret_news);
	if (!is_end && report->meaning & MEANS_PROMPT)
		announced.prompts++;
	if (announces)
		replace_string(&announced.session_id, report->session_id);
	(void)activityfile_write(instance->run.directory, &now, &announced, NULL);
}

/* ---- may it speak, and does it switch? -------------------------------------------------------- */

static bool same_text(const char *text, const char *other)
{
	return text && other && streq(text, other);
}

static bool is_id(const char *session_id, const char *other)
{
	return naming_same_session_id(session_id, other);
}

/* Did the user go to another conversation inside the agent?  A fork of another process (claude's
 * background) is another agent's. */
static bool user_switched(const struct report *report)
{
	return report->meaning & MEANS_START &&
	       (streq(report->source, "clear") || streq(report->source, "resume") ||
		(streq(report->source, "fork") && report->relation == SENDER_AGENT));
}

static bool is_in_directory(const char *path, const char *directory)
{
	size_t length = strlen(directory);
	while (length > 0 && directory[length - 1] == '/')
		length--;
	return strncmp(path, directory, length) == 0 && (path[length] == '/' || !path[length]);
}

static bool is_in_session_directory(const struct instance *instance, const char *cwd)
{
	cleanup_announced struct announced last = { 0 };
	cleanup_free char *real = NULL, *own = NULL;
	const char *began = instance_transcript_directory(instance);
	announced_read(instance->run.directory, &last);
	if (same_text(last.directory, cwd))
		return true;
	/* A directory that is gone is compared as it is written. */
	if (fs_real_directory(cwd, &real, NULL) != 0)
		real = xstrdup(cwd);
	if (fs_real_directory(began, &own, NULL) != 0)
		own = xstrdup(began);
	return is_in_directory(real, own) ||
	       is_in_directory(real, instance_launch_directory(instance));
}

/* Is the report of an earlier attempt?  The report of one that failed may come when the next one
 * runs already. */
static bool is_late(const struct instance *instance, const struct report *report)
{
	const struct run *run = &instance->run;
	if (run->reported || !report->session_id ||
	    is_id(report_attempt_id(instance), report->session_id))
		return false;
	for (size_t i = 0; i < run->attempt && i < run->attempt_count; i++)
		if (is_id(run->attempts[i].session_id, report->session_id))
			return true;
	return false;
}

/* NULL: the report is the present run's own.  Else why it is not, static. */
static const char *why_foreign(const struct instance *instance, const struct report *report)
{
	const char *id = report->session_id, *known = report_attempt_id(instance);
	bool is_shared = is_id(instance->conversation.shared.session_id, id);
	bool is_known = is_id(known, id) || is_id(instance->conversation.session_id, id) ||
			is_shared;
	if (run_is_shell(&instance->run))
		return "the session's agent is not running";
	if (is_late(instance, report))
		return "it comes from an attempt that failed";
	if (report->agent->report_binds == BINDS_FIRST && id && known && !is_id(known, id) &&
	    !is_shared && !user_switched(report))
		return "it is about another conversation";
	if (!is_known && id && report->relation == SENDER_NESTED)
		return "it comes from an agent started by the session's agent";
	if (!is_known && report->cwd && !is_in_session_directory(instance, report->cwd))
		return "it comes from another directory";
	return NULL;
}

/* Did a start event announce this id?  It was not taken then: it counts from its first turn, or the
 * hook could not save it, or was killed.  Any other id of a later event may be a nested agent's. */
static bool was_announced(const struct instance *instance, const char *session_id)
{
	cleanup_announced struct announced last = { 0 };
	announced_read(instance->run.directory, &last);
	return is_id(last.session_id, session_id);
}

/* Is the run in the report's conversation from this event on? */
static bool switches_now(const struct instance *instance, const struct report *report)
{
	const char *known = report_attempt_id(instance);
	if (user_switched(report) || streq(report->source, "compact"))
		return true;
	/* At the first report any id holds: we gave none, or a wrapper dropped our arguments.
	 * Later: the attempt's own id, or one that a start announced. */
	return !instance->run.reported || !known || is_id(known, report->session_id) ||
	       (!(report->meaning & MEANS_START) && was_announced(instance, report->session_id));
}

/* Is the run in that conversation now, or from its first turn on?  The session's own agent may begin
 * another one without saying why: it has executed itself in place (claude's /tui), or the user has
 * asked for one (codex's /new).  Nothing is in it yet, and something may be in the present one. */
static bool will_switch(const struct instance *instance, const struct report *report)
{
	return switches_now(instance, report) || report->relation == SENDER_AGENT;
}

/* Is it the conversation that an attempt began because the stored one could not be resumed?  It
 * counts from its first turn on. */
static bool replaces_failed_resume(const struct instance *instance, const char *session_id)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	return attempt && (attempt->rung == RUNG_FRESH || attempt->rung == RUNG_LAUNCH) &&
	       instance->conversation.session_id && attempt->reason == REASON_RESUME_FAILED &&
	       is_id(attempt->session_id, session_id);
}

/* ---- what it changes --------------------------------------------------------------------------- */

static void set_id(struct instance *instance, const struct agent *agent, const char *session_id,
		   enum session_origin origin)
{
	cleanup_strvec struct strvec argv = { 0 };
	conversation_set_id(&instance->conversation, session_id, origin, clock_wall_us());
	if (!agent->resume.count)
		return;
	resume_carried_argv(agent, &instance->argv, &argv);
	resume_push_template(&argv, &agent->resume, session_id);
	strvec_clear(&instance->resume_argv);
	strvec_push_all(&instance->resume_argv, &argv);
}

/* Note the attempt's id: the one that it was given, or that it said first.  True: it has changed. */
static bool learn_attempt_id(struct instance *instance, const struct agent *agent,
			     const struct report *report)
{
	struct run *run = &instance->run;
	struct attempt *attempt = run_attempt(run) ? &run->attempts[run->attempt] : NULL;
	if (!attempt || !report->session_id || is_id(attempt->session_id, report->session_id) ||
	    (attempt->session_id && agent->report_binds == BINDS_START))
		return false;
	replace_string(&attempt->session_id, report->session_id);
	return true;
}

/* The agent has gone to a conversation of another session.  The owner keeps it, and this instance
 * keeps its own id.  True: that is news. */
static bool note_visit(struct instance *instance, const struct report *report)
{
	struct shared_conversation *shared = &instance->conversation.shared;
	const struct shared_conversation *owned = &report->owned;
	if (is_id(shared->session_id, owned->session_id) && same_text(shared->owner, owned->owner))
		return false;
	shared_conversation_clear(shared);
	*shared = (struct shared_conversation){
		.session_id = xstrdup(owned->session_id),
		.owner = xstrdup(owned->owner),
		.title = xstrdup(owned->title),
		.profile = xstrdup_or_null(owned->profile),
		.since = clock_wall_us(),
	};
	return true;
}

static void note_reporter(struct run *run, const struct report *report)
{
	if (!run->reported)
		run->reporter = report->process;
	run->reported = true;
}

/* The first report could not be traced to its process: a later one of the same conversation can. */
static bool note_reporter_later(struct run *run, const struct report *report)
{
	if (!run->reported || run->reporter.pid || !report->process.pid)
		return false;
	run->reporter = report->process;
	return true;
}

/* The agent is up, and says what conversation it is in.  True: the manifest must be saved.  The
 * order matters: resume_note_reported() looks at the attempt's id, and note_reporter() sets
 * run.reported, after which no report is the first one. */
static bool take_id(struct instance *instance, const struct agent *agent,
		    const struct report *report)
{
	struct conversation *conversation = &instance->conversation;
	const char *id = report->session_id;
	bool changed = !instance->run.reported;
	bool other = id && !is_id(conversation->session_id, id);
	bool given = is_id(report_attempt_id(instance), id) && agent->assign.count;

	if (other && !switches_now(instance, report)) {
		if (will_switch(instance, report))
			log_info("conversation %s counts from its first turn on: source=%s", id,
				 report->source);
		else
			log_warning("report of conversation %s ignored: source=%s", id,
				    report->source);
		return changed;
	}
	if (report->owned.session_id) {
		note_reporter(&instance->run, report);
		return note_visit(instance, report) || changed;
	}
	if (!instance->run.reported && id)
		changed |= resume_note_reported(agent, instance, id);
	changed |= learn_attempt_id(instance, agent, report);
	note_reporter(&instance->run, report);
	if (other && replaces_failed_resume(instance, id) && !streq(report->source, "clear"))
		return changed;
	if (other)
		set_id(instance, agent, id, given ? ORIGIN_MINTED : ORIGIN_REPORTED);
	conversation->captured_at = clock_wall_us();
	return changed || other;
}

/* Is the path the better one?  Some versions name, at their start, a file that they do not write
 * to. */
static bool names_better(const char *known, const char *path)
{
	return path && !same_text(known, path) &&
	       !(known && access(known, F_OK) == 0 && access(path, F_OK) < 0);
}

/* Does the report say which conversation the run is in? */
static bool says_conversation(const struct instance *instance, const struct report *report)
{
	const char *id = report->session_id;
	if (report->meaning & MEANS_START)
		return true;
	if (!id)
		return false;
	return report->agent->report_binds == BINDS_FIRST ||
	       (report->meaning & (MEANS_PROMPT | MEANS_TURN) &&
		!is_id(instance->conversation.session_id, id) && was_announced(instance, id));
}

/* Change the instance as the report says.  True: it has changed, and must be saved. */
static bool apply_report(struct instance *instance, const struct report *report)
{
	const struct agent *agent = report->agent;
	struct conversation *conversation = &instance->conversation;
	const char *id = report->session_id;
	bool is_turn = report->meaning & (MEANS_PROMPT | MEANS_TURN), changed = false;
	if (says_conversation(instance, report))
		changed = take_id(instance, agent, report);
	if (is_turn && replaces_failed_resume(instance, id) &&
	    !is_id(conversation->session_id, id)) {
		set_id(instance, agent, id, agent->assign.count ? ORIGIN_MINTED : ORIGIN_REPORTED);
		changed = true;
	}
	if (!is_id(conversation->session_id, id))
		return changed;
	changed |= note_reporter_later(&instance->run, report);
	/* The agent's files bear the id as the agent writes it. */
	if (!same_text(conversation->session_id, id)) {
		set_id(instance, agent, id, conversation->origin);
		changed = true;
	}
	if (conversation->shared.session_id) {
		shared_conversation_clear(&conversation->shared);
		changed = true;
	}
	/* Before its first turn the agent may have made its own directory, and no transcript. */
	changed |= location_learn(instance, agent, report->transcript_path, report->cwd);
	if (is_turn && !conversation->first_turn_seen)
		changed = conversation->first_turn_seen = true;
	if (names_better(conversation->transcript_path, report->transcript_path)) {
		replace_string(&conversation->transcript_path, report->transcript_path);
		changed = true;
	}
	return changed;
}

/* ---- one report -------------------------------------------------------------------------------- */

static bool is_from_run(struct deck *deck, const struct instance *instance,
			const struct sender *sender)
{
	const char *token = sender->token;
	if (sender->run)
		return instance->run.id && streq(sender->run, instance->run.id);
	cleanup_free char *expected = runfiles_token(instance);
	/* The run's directory was cleared away: the agent knows which token was there. */
	if (!expected && token && run_relation(&instance->run) == MACHINE_THIS_BOOT &&
	    runfiles_restore(deck, instance, &instance->run.pane, NULL) == 0)
		expected = runfiles_token(instance);
	return token && expected && *expected && streq(token, expected);
}

/* Find the owner of the conversation that the report names.  A hook must be fast, so this is done
 * only for a conversation that the instance does not have.  lock: held afterwards, so that no other
 * session takes it before this instance is saved; NULL for a look. */
static int find_owner(struct deck *deck, const struct instance *instance, struct fs_lock *lock,
		      struct report *report, struct error *err)
{
	if (!report->session_id || is_id(instance->conversation.session_id, report->session_id) ||
	    !(report->meaning & (MEANS_START | MEANS_PROMPT | MEANS_TURN)))
		return 0;
	if (lock && owner_lock(deck, lock, err) < 0)
		return -1;
	return owner_find(deck, instance, report->session_id, &report->owned, err) < 0 ? -1 : 0;
}

/* A report that came in. */
struct incoming {
	struct deck *deck;
	const struct sender *sender;
	struct json_object *object;
	struct report_news *news;
};

/* Decode the report for this instance, and ask whether it is the present run's own.  *ret lacks
 * only `owned`.  REPORT_FOREIGN: it is not. */
static int judge_report(const struct incoming *incoming, const struct instance *instance,
			struct report *ret, struct error *err)
{
	struct sender sender = *incoming->sender;
	const struct agent *agent;
	if (!is_from_run(incoming->deck, instance, &sender)) {
		log_warning("report ignored: not from the present run");
		return REPORT_FOREIGN;
	}
	log_set_run(instance->run.id);
	if (deck_agent(incoming->deck, instance->agent, &agent, err) < 0 ||
	    report_decode(incoming->object, instance, agent, ret, err) < 0)
		return -1;
	/* Looked up here, not by the caller: only the manifest that is changed surely names the
	 * run's server. */
	if (sender.run)
		sender_find_outside(&sender, &instance->run);
	ret->relation = sender_relation(&sender, &instance->run);
	if (sender.count && sender.processes[0].pid > 0)
		ret->process = sender.processes[0];
	const char *why = why_foreign(instance, ret);
	if (!why)
		return 0;
	log_warning("report %s of %s ignored: %s", ret->event, or_empty(ret->session_id), why);
	return REPORT_FOREIGN;
}

/* Write the activity file, and apply the report to a copy.  *ret_change: the copy differs, so
 * take_locked() must do the same to the manifest.  Without the lock of the session: most reports
 * change nothing that lasts, and a command that ends this agent holds the lock meanwhile. */
static int record_and_check(const struct incoming *incoming, const char *base, bool *ret_change,
			    struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_report struct report report = { 0 };
	int r = store_load(incoming->deck->store, base, &instance, err);
	if (r < 0)
		return -1;
	if (r > 0) {
		log_warning("report ignored: no such session exists");
		return REPORT_FOREIGN;
	}
	log_set_instance(instance->id);
	r = judge_report(incoming, instance, &report, err);
	if (r == 0)
		r = find_owner(incoming->deck, instance, NULL, &report, err);
	if (r != 0 || !report.meaning)
		return r;
	const bool is_end = report.meaning & MEANS_END;
	record_activity(instance, &report,
			!is_end && report.meaning & MEANS_START && report.session_id &&
				will_switch(instance, &report),
			incoming->news);
	/* An end changes nothing, and must not wait for the lock: the command that ends the run
	 * holds it and waits for the agent, which waits for this hook. */
	*ret_change = !is_end && apply_report(instance, &report);
	return 0;
}

/* The hint beside the manifest, for people and tests only. */
static void write_sidecar(struct deck *deck, const struct store_lock *lock,
			  const struct instance *instance)
{
	cleanup_close int fd = -1;
	cleanup_free char *name = xasprintf("%s.sid", instance->id);
	const char *id = instance->conversation.session_id;
	if (id && fs_open_private_directory_at(store_state_directory(deck->store), "hooks", true,
					       &fd, NULL) == 0)
		(void)fs_replace_from(
			store_lock_directory(lock), fd, name,
			&(struct fs_content){ id, strlen(id), FS_VOLATILE, NULL, NULL }, NULL);
}

static int take_locked(const struct incoming *incoming, struct store_lock *lock, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_fs_lock struct fs_lock conversations = FS_UNLOCKED;
	cleanup_report struct report report = { 0 };
	int r = store_load_locked(lock, &instance, err);
	if (r != 0)
		return r < 0 ? -1 : REPORT_FOREIGN;
	/* The run may have ended while we waited, or its attempt. */
	r = judge_report(incoming, instance, &report, err);
	if (r == 0)
		r = find_owner(incoming->deck, instance, &conversations, &report, err);
	if (r != 0)
		return r;
	cleanup_free char *before = xstrdup_or_null(instance->conversation.session_id);
	cleanup_free char *shared = xstrdup_or_null(instance->conversation.shared.session_id);
	cleanup_free char *place = xstrdup(instance_launch_directory(instance));
	if (!apply_report(instance, &report))
		return 0;
	/* Before the manifest: a reader that waits for the manifest finds both. */
	write_sidecar(incoming->deck, lock, instance);
	if (store_save(lock, instance, err) < 0)
		return -1;
	const char *now = or_empty(instance->conversation.session_id);
	if (!streq(or_empty(before), now))
		log_info("conversation: %s -> %s event=%s source=%s", before ? before : "none", now,
			 report.event, *report.source ? report.source : "none");
	if (!streq(place, instance_launch_directory(instance)))
		log_info("conversation %s: moved to %s", now, instance_launch_directory(instance));
	const struct shared_conversation *shares = &instance->conversation.shared;
	if (!streq(or_empty(shared), or_empty(shares->session_id)))
		log_info("shared conversation: %s -> %s owner=%s event=%s source=%s",
			 shared ? shared : "none", shares->session_id ? shares->session_id : "none",
			 shares->owner ? shares->owner : "none", report.event,
			 *report.source ? report.source : "none");
	log_info("report %s source=%s id=%s", report.event, report.source,
		 or_empty(report.session_id));
	return 0;
}

int report_take(const struct report_parcel *parcel, struct report_news *ret_news, struct error *err)
{
	const char *base = parcel->base;
	cleanup_json struct json_object *object = NULL;
	cleanup_store_lock struct store_lock *lock = NULL;
	bool change = false;

	*ret_news = (struct report_news){ 0 };
	log_set_instance(base);
	if (json_parse(parcel->text, parcel->length, "report", &object, err) < 0)
		return -1;
	const struct incoming incoming = {
		.deck = parcel->deck, .sender = parcel->sender, .object = object, .news = ret_news
	};
	int r = record_and_check(&incoming, base, &change, err);
	if (r != 0 || !change)
		return r;
	r = store_lock(parcel->deck->store, base, clock_ms() + REPORT_TIMEOUT_MS, &lock, err);
	if (r < 0)
		return -1;
	if (r == STORE_BUSY)
		return error_set(err, ERROR_BUSY, "session %s is locked", base);
	return r == 0 ? take_locked(&incoming, lock, err) : REPORT_FOREIGN;
}

/* ---- what the agent notes for itself ----------------------------------------------------------- */

/* The note that the run's agent left, if it names a conversation that no report has named. */
static int read_agent_note(const struct instance *instance, const struct agent *agent,
			   struct holder_note *ret, struct process_id *ret_process)
{
	const struct conversation *conversation = &instance->conversation;
	const struct process_id processes[] = { instance->run.reporter, instance->run.pane };
	cleanup_holder_note struct holder_note note = { 0 };
	/* The agent in a container has another pid there. */
	if (!agent->processes || place_home(instance) || !run_attempt(&instance->run) ||
	    !conversation->config_home || run_relation(&instance->run) == MACHINE_OTHER)
		return HOLDER_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(processes) && !note.session_id; i++)
		if (holder_read_note(agent, conversation->config_home, &processes[i], &note) == 0)
			*ret_process = processes[i];
	const char *id = note.session_id;
	/* A report has said that the agent has left an earlier one. */
	if (!id || !resume_takes_id(agent, id) || is_id(conversation->session_id, id) ||
	    is_id(conversation->shared.session_id, id) || is_id(report_attempt_id(instance), id) ||
	    naming_has_session_id(&conversation->previous, id))
		return HOLDER_NONE;
	*ret = note;
	note = (struct holder_note){ 0 };
	return 0;
}

int report_take_note(struct deck *deck, struct instance *instance, const struct agent *agent,
		     struct fs_lock *lock, struct error *err)
{
	cleanup_holder_note struct holder_note note = { 0 };
	cleanup_transcript struct transcript found = { 0 };
	cleanup_report struct report report = { .agent = agent,
						.meaning = MEANS_START,
						.event = "note",
						.source = "resume",
						.relation = SENDER_AGENT };
	if (read_agent_note(instance, agent, &note, &report.process) != 0)
		return 0;
	report.session_id = note.session_id;
	report.cwd = report_absolute(note.directory);
	const char *why = report_is_start_of_fork(instance, &report)
				  ? "it is that of the fork's parent"
				  : why_foreign(instance, &report);
	const int r = why ? 0 : location_find(instance, note.session_id, &found, err);
	if (r < 0)
		return -1;
	/* Until something was said in it, the one before may have more. */
	if (!why && !found.has_turns)
		why = "nothing was said in it";
	if (why) {
		if (lock)
			log_warning("note of conversation %s ignored: %s", note.session_id, why);
		return 0;
	}
	report.transcript_path = found.path;
	if (find_owner(deck, instance, lock, &report, err) < 0)
		return -1;
	cleanup_free char *before = xstrdup_or_null(instance->conversation.session_id);
	if (!apply_report(instance, &report))
		return 0;
	if (lock)
		log_info("%s: %s -> %s source=note",
			 report.owned.session_id ? "shared conversation" : "conversation",
			 before ? before : "none", note.session_id);
	return REPORT_FOLLOWED;
}
