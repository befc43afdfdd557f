/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/report.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/transcript/holder.h"
#include "engine/conversation/location.h"
#include "engine/conversation/owner.h"
#include "engine/place/activityfile.h"
#include "engine/place/place.h"
#include "engine/place/runfiles.h"
#include "engine/screen/activity.h"
#include "model/agent/display.h"
#include "model/agent/limit.h"
#include "model/plan/resume.h"
#include "model/session/naming.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What an event says. */
enum {
	MEANS_START = 1 << 0,
	MEANS_PROMPT = 1 << 1,
	MEANS_BUSY = 1 << 2,
	MEANS_WAITING = 1 << 3,
	MEANS_IDLE = 1 << 4,
	MEANS_TURN = 1 << 5,
	MEANS_END = 1 << 6,
	MEANS_FAILED = 1 << 7,
};

/* Borrowed from the JSON object, and from the instance. */
struct report {
	const struct agent *agent; /* of the instance; borrowed from the deck */
	unsigned meaning;
	bool has_tasks; /* in the background, whose end it waits for */
	const char *event, *kind, *session_id, *transcript_path, *source, *cwd, *failure;
	int64_t limited_until; /* as in struct activity */
	/* whose it is, when the conversation is another instance's; the report's own */
	struct shared_conversation owned;
	enum sender_relation relation;
	struct process_id process; /* of the sender; pid 0: unknown */
};

static void report_clear(struct report *report)
{
	shared_conversation_clear(&report->owned);
}
#define cleanup_report CLEANUP(report_clear)

static unsigned meaning_of_name(const struct agent *agent, const char *event)
{
	const struct {
		const struct strvec *events;
		unsigned meaning;
	} table[] = {
		{ &agent->report_start, MEANS_START }, { &agent->report_prompt, MEANS_PROMPT },
		{ &agent->report_busy, MEANS_BUSY },   { &agent->report_waiting, MEANS_WAITING },
		{ &agent->report_idle, MEANS_IDLE },   { &agent->report_turn, MEANS_TURN },
		{ &agent->report_end, MEANS_END },     { &agent->report_failed, MEANS_FAILED },
	};
	unsigned meaning = 0;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strvec_contains(table[i].events, event))
			meaning |= table[i].meaning;
	return meaning;
}

/* An entry may tell the kinds of an event apart: "Notification:idle_prompt". */
static unsigned meaning_of(const struct agent *agent, const char *event, const char *kind)
{
	cleanup_free char *name = xasprintf("%s:%s", event, or_empty(kind));
	unsigned meaning = kind ? meaning_of_name(agent, name) : 0;
	return meaning ? meaning : meaning_of_name(agent, event);
}

static enum instance_activity activity_of(unsigned meaning)
{
	if (meaning & MEANS_WAITING)
		return ACTIVITY_WAITING;
	return meaning & (MEANS_PROMPT | MEANS_BUSY) ? ACTIVITY_BUSY : ACTIVITY_IDLE;
}

/* Some agents report a prompt when it is queued, and not when its turn begins (claude 2.1.330).  Or
 * it has joined the turn that is over: then the screen says so. */
static enum instance_activity activity_after(const struct report *report, struct activity *now)
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

/* From a report of an end take only the directory: another conversation may follow there, and the
 * move was not reported.  moves: it names the conversation that the run is in from now on. */
static void note_activity(const struct instance *instance, const struct report *report, bool moves,
			  struct report_news *ret_news)
{
	const bool is_end = report->meaning & MEANS_END;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_activity struct activity now = { 0 };
	cleanup_announced struct announced announced = { 0 };
	/* A lock that cannot be had loses less than a wait. */
	if ((is_end && !report->cwd) || activityfile_lock(instance->run.directory, &lock, NULL) < 0)
		return;
	activity_read(instance->run.directory, &now);
	announced_read(instance->run.directory, &announced);
	if (report->cwd)
		replace_string(&announced.directory, report->cwd);
	if (!is_end) {
		enum instance_activity activity = activity_after(report, &now);
		const enum instance_activity before = now.activity;
		if (before != activity || !now.since)
			now.since = clock_wall_us();
		now.activity = activity;
		now.is_suspended = false;
		/* A reminder that it is idle says nothing of its last turn. */
		const bool reminds = before == ACTIVITY_IDLE && activity == ACTIVITY_IDLE &&
				     !(report->meaning & MEANS_START);
		if (report->meaning & MEANS_FAILED)
			activity_fail(&now, report->failure, report->limited_until);
		else if (!reminds)
			activity_fail(&now, NULL, 0);
		*ret_news = (struct report_news){ before, activity, now.since };
		now.is_seen = false;
		const bool asks = activity == ACTIVITY_WAITING &&
				  (report->kind ||
				   !activity_may_be_at_prompt(report->agent, report->event));
		/* What it asks for a permission with comes before a mere notification of that. */
		if (before != activity || activity != ACTIVITY_WAITING || (asks && !now.asks)) {
			replace_string(&now.event, report->event);
			now.asks = asks;
		}
		announced.prompts += report->meaning & MEANS_PROMPT ? 1 : 0;
	}
	if (moves)
		replace_string(&announced.session_id, report->session_id);
	(void)activityfile_write(instance->run.directory, &now, &announced, NULL);
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

/* The conversation that the present attempt is known to run in, NULL while it is not.  Borrowed. */
static const char *known_id(const struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	return attempt ? attempt->session_id : NULL;
}

static bool is(const char *text, const char *other)
{
	return text && other && streq(text, other);
}

static bool is_id(const char *session_id, const char *other)
{
	return naming_same_session_id(session_id, other);
}

/* Did the user go to another conversation inside the agent?  A fork of another process (claude's
 * background) is another agent's. */
static bool moved_inside(const struct report *report)
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

static bool is_at_home(const struct instance *instance, const char *cwd)
{
	cleanup_announced struct announced last = { 0 };
	cleanup_free char *real = NULL, *home = NULL;
	const char *began = instance_transcript_directory(instance);
	announced_read(instance->run.directory, &last);
	if (is(last.directory, cwd))
		return true;
	/* What is not there any more is compared as it is written. */
	if (fs_real_directory(cwd, &real, NULL) != 0)
		real = xstrdup(cwd);
	if (fs_real_directory(began, &home, NULL) != 0)
		home = xstrdup(began);
	return is_in_directory(real, home) ||
	       is_in_directory(real, instance_launch_directory(instance));
}

/* An attempt that failed had not reported; what it had to say may come when the next one runs
 * already. */
static bool is_late(const struct instance *instance, const struct report *report)
{
	const struct run *run = &instance->run;
	if (run->reported || !report->session_id || is_id(known_id(instance), report->session_id))
		return false;
	for (size_t i = 0; i < run->attempt && i < run->attempt_count; i++)
		if (is_id(run->attempts[i].session_id, report->session_id))
			return true;
	return false;
}

/* NULL: the report is the present run's own.  Else why it is not, static. */
static const char *why_foreign(const struct instance *instance, const struct report *report)
{
	const char *id = report->session_id, *known = known_id(instance);
	bool is_shared = is_id(instance->conversation.shared.session_id, id);
	bool is_known = is_id(known, id) || is_id(instance->conversation.session_id, id) ||
			is_shared;
	if (run_is_shell(&instance->run))
		return "the session's agent is not running";
	if (is_late(instance, report))
		return "it comes from an attempt that failed";
	if (report->agent->report_binds == BINDS_FIRST && id && known && !is_id(known, id) &&
	    !is_shared && !moved_inside(report))
		return "it is about another conversation";
	if (!is_known && id && report->relation == SENDER_NESTED)
		return "it comes from an agent started by the session's agent";
	if (!is_known && report->cwd && !is_at_home(instance, report->cwd))
		return "it comes from another directory";
	return NULL;
}

/* Has a start event said so that was not taken, since its hook was killed, or could not save it?
 * Others of a conversation that the run's agent never announced may come from an agent inside of
 * it. */
static bool was_announced(const struct instance *instance, const char *session_id)
{
	cleanup_announced struct announced last = { 0 };
	announced_read(instance->run.directory, &last);
	return is_id(last.session_id, session_id);
}

/* May this start event say which conversation the run is in? */
static bool may_move(const struct instance *instance, const struct report *report)
{
	const char *known = known_id(instance);
	if (moved_inside(report) || streq(report->source, "compact"))
		return true;
	/* The first start of a run whose id we did not give, or whose arguments a wrapper dropped;
	 * and what we gave. */
	return !instance->run.reported || !known || is_id(known, report->session_id) ||
	       (!(report->meaning & MEANS_START) && was_announced(instance, report->session_id));
}

/* The session's own agent begins another conversation without saying why: it has executed itself in
 * place (claude's /tui), or the user has asked for one (codex's /new).  Nothing is in it yet, and
 * something may be in the present one: so it is announced, and its first turn moves the session. */
static bool may_announce(const struct instance *instance, const struct report *report)
{
	return may_move(instance, report) || report->relation == SENDER_AGENT;
}

/* A conversation in the place of one that could not be resumed: it counts from its first turn on. */
static bool is_provisional(const struct instance *instance, const char *session_id)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	return attempt && (attempt->rung == RUNG_FRESH || attempt->rung == RUNG_LAUNCH) &&
	       instance->conversation.session_id && attempt->reason == REASON_RESUME_FAILED &&
	       is_id(attempt->session_id, session_id);
}

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

/* The run's id is what it was given, or what it said first. */
static bool learn(struct instance *instance, const struct agent *agent, const struct report *report)
{
	struct run *run = &instance->run;
	struct attempt *attempt = run_attempt(run) ? &run->attempts[run->attempt] : NULL;
	if (!attempt || !report->session_id || is_id(attempt->session_id, report->session_id) ||
	    (attempt->session_id && agent->report_binds == BINDS_START))
		return false;
	replace_string(&attempt->session_id, report->session_id);
	return true;
}

/* The owner keeps its conversation, and this instance its id: that the agent has gone there is only
 * noted. */
static bool share(struct instance *instance, const struct report *report)
{
	struct shared_conversation *shared = &instance->conversation.shared;
	const struct shared_conversation *owned = &report->owned;
	if (is_id(shared->session_id, owned->session_id) && is(shared->owner, owned->owner))
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

/* The agent is up, and says what conversation it is in. */
static bool take_id(struct instance *instance, const struct agent *agent,
		    const struct report *report)
{
	struct conversation *conversation = &instance->conversation;
	const char *id = report->session_id;
	bool changed = !instance->run.reported;
	bool other = id && !is_id(conversation->session_id, id);
	bool given = is_id(known_id(instance), id) && agent->assign.count;

	if (other && !may_move(instance, report)) {
		if (may_announce(instance, report))
			log_info("conversation %s counts from its first turn on: source=%s", id,
				 report->source);
		else
			log_warning("report of conversation %s ignored: source=%s", id,
				    report->source);
		return changed;
	}
	if (report->owned.session_id) {
		note_reporter(&instance->run, report);
		return share(instance, report) || changed;
	}
	if (!instance->run.reported && id)
		changed |= resume_note_reported(agent, instance, id);
	changed |= learn(instance, agent, report);
	note_reporter(&instance->run, report);
	if (other && is_provisional(instance, id) && !streq(report->source, "clear"))
		return changed;
	if (other)
		set_id(instance, agent, id, given ? ORIGIN_MINTED : ORIGIN_REPORTED);
	conversation->captured_at = clock_wall_us();
	return changed || other;
}

/* Some versions name, at their start, a file that they do not write to. */
static bool names_better(const char *known, const char *path)
{
	return path && !is(known, path) &&
	       !(known && access(known, F_OK) == 0 && access(path, F_OK) < 0);
}

/* Does the report change what must last?  Then the manifest is saved. */
static bool apply(struct instance *instance, const struct report *report)
{
	const struct agent *agent = report->agent;
	struct conversation *conversation = &instance->conversation;
	const char *id = report->session_id;
	bool is_turn = report->meaning & (MEANS_PROMPT | MEANS_TURN), changed = false;
	if (report->meaning & MEANS_START || (agent->report_binds == BINDS_FIRST && id) ||
	    (is_turn && id && !is_id(conversation->session_id, id) && was_announced(instance, id)))
		changed = take_id(instance, agent, report);
	if (is_turn && is_provisional(instance, id) && !is_id(conversation->session_id, id)) {
		set_id(instance, agent, id, agent->assign.count ? ORIGIN_MINTED : ORIGIN_REPORTED);
		changed = true;
	}
	if (!is_id(conversation->session_id, id))
		return changed;
	changed |= note_reporter_later(&instance->run, report);
	/* The agent's files bear the id as the agent writes it. */
	if (!is(conversation->session_id, id)) {
		set_id(instance, agent, id, conversation->origin);
		changed = true;
	}
	if (conversation->shared.session_id) {
		shared_conversation_clear(&conversation->shared);
		changed = true;
	}
	/* The one before its first turn: the agent may have made its own directory, and no
	 * transcript yet. */
	changed |= location_learn(instance, agent, report->transcript_path, report->cwd);
	if (is_turn && !conversation->first_turn_seen)
		changed = conversation->first_turn_seen = true;
	if (names_better(conversation->transcript_path, report->transcript_path)) {
		replace_string(&conversation->transcript_path, report->transcript_path);
		changed = true;
	}
	return changed;
}

/* Where the entry has no such member: NULL. */
static const char *member(struct json_object *object, const char *key)
{
	return key ? json_get_string(object, key, NULL) : NULL;
}

static const char *absolute(const char *path)
{
	return path && *path == '/' ? path : NULL;
}

/* Agents that we tell the place or the name of their conversation may call it otherwise among
 * themselves; what those say, and those that name nothing, is about the conversation of the run. */
static bool names_conversations(const struct agent *agent)
{
	return agent->id_key && (agent->id_kind == ID_UUID || agent->id_kind == ID_ANY);
}

/* Some agents report the start of a fork under the id of its parent, and name the fork from its
 * first turn on. */
static bool is_start_of_fork(const struct instance *instance, const struct report *report)
{
	const struct conversation *conversation = &instance->conversation;
	const struct attempt *attempt = run_attempt(&instance->run);
	return report->meaning & MEANS_START && attempt && attempt->reason == REASON_FORKED &&
	       !conversation->first_turn_seen &&
	       is_id(conversation->forked_from, report->session_id);
}

/* An agent in a container can report any path, also one of another conversation of the user. */
static bool is_in_reach(const struct instance *instance, const char *path)
{
	const char *home = place_home(instance);
	return !home || (path_is_below(path, home) && !strstr(path, "/../"));
}

/* claude's word for a conversation that is too long is that for any request that is refused, and
 * its word for a usage limit is that for any request that came too soon. */
static const char *failure_of(struct json_object *object, const struct agent *agent,
			      int64_t *ret_limited_until)
{
	const char *text = member(object, agent->failure_text_key);
	*ret_limited_until = 0;
	if (text && limit_announced(agent, text, clock_wall_us(), ret_limited_until))
		return FAILURE_LIMIT;
	return text && display_fits(&agent->context_full, text)
		       ? "context_full"
		       : member(object, agent->failure_key);
}

static bool has_tasks(struct json_object *object, const struct agent *agent)
{
	struct json_object *tasks = NULL;
	if (!agent->tasks_key || !json_object_object_get_ex(object, agent->tasks_key, &tasks) ||
	    !json_object_is_type(tasks, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(tasks); i++) {
		struct json_object *task = json_object_array_get_idx(tasks, i);
		if (json_object_is_type(task, json_type_object) &&
		    strvec_contains(&agent->tasks, json_get_string(task, "type", "")))
			return true;
	}
	return false;
}

static int decode(struct json_object *object, const struct instance *instance,
		  const struct agent *agent, struct report *ret, struct error *err)
{
	int64_t limited_until;
	const char *failure = failure_of(object, agent, &limited_until);
	struct report report = {
		.agent = agent,
		.event = member(object, agent->event_key),
		.failure = failure,
		.limited_until = limited_until,
		.has_tasks = has_tasks(object, agent),
		.session_id = member(object, agent->id_key),
		.transcript_path = absolute(member(object, agent->transcript_key)),
		.source = or_empty(member(object, agent->source_key)),
		.cwd = absolute(member(object, agent->cwd_key)),
	};
	if (report.transcript_path && !is_in_reach(instance, report.transcript_path))
		report.transcript_path = NULL;
	if (!report.event)
		return error_set(err, ERROR_CORRUPT, "the report has no %s",
				 agent->event_key ? agent->event_key
						  : "event listed in the agent's entry");
	if (!names_conversations(agent))
		report.session_id = known_id(instance);
	else if (report.session_id &&
		 !(agent->id_kind == ID_UUID ? naming_is_uuid(report.session_id)
					     : naming_is_session_id(report.session_id)))
		return error_set(err, ERROR_CORRUPT, "the report's %s is not a valid id",
				 agent->id_key);
	report.kind = member(object, agent->kind_key);
	report.meaning = meaning_of(agent, report.event, report.kind);
	if (is_start_of_fork(instance, &report)) {
		report.session_id = known_id(instance);
		report.transcript_path = NULL;
	}
	*ret = report;
	return 0;
}

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

/* The report as this instance sees it: 0, or REPORT_FOREIGN.  lock: see find_owner(). */
static int judge(const struct incoming *incoming, const struct instance *instance,
		 struct fs_lock *lock, struct report *ret, struct error *err)
{
	struct sender sender = *incoming->sender;
	const struct agent *agent;
	if (!is_from_run(incoming->deck, instance, &sender)) {
		log_warning("report ignored: not from the present run");
		return REPORT_FOREIGN;
	}
	log_set_run(instance->run.id);
	if (deck_agent(incoming->deck, instance->agent, &agent, err) < 0 ||
	    decode(incoming->object, instance, agent, ret, err) < 0)
		return -1;
	/* Here, since this manifest is the one that the report changes: an older one may not name
	 * the server yet. */
	if (sender.run)
		sender_find_outside(&sender, &instance->run);
	ret->relation = sender_relation(&sender, &instance->run);
	if (sender.count && sender.processes[0].pid > 0)
		ret->process = sender.processes[0];
	const char *why = why_foreign(instance, ret);
	if (!why)
		return find_owner(incoming->deck, instance, lock, ret, err);
	log_warning("report %s of %s ignored: %s", ret->event, or_empty(ret->session_id), why);
	return REPORT_FOREIGN;
}

/* A look without the lock: most reports change nothing that lasts, and a command that ends this
 * agent holds the lock while it waits for the end.  True when the manifest must be changed. */
static int look(const struct incoming *incoming, const char *base, bool *ret_change,
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
	r = judge(incoming, instance, NULL, &report, err);
	if (r != 0 || !report.meaning)
		return r;
	const bool is_end = report.meaning & MEANS_END;
	note_activity(instance, &report,
		      !is_end && report.meaning & MEANS_START && report.session_id &&
			      may_announce(instance, &report),
		      incoming->news);
	/* An end changes nothing, and who ends the run holds the lock and waits for the agent,
	 * which waits for this hook. */
	*ret_change = !is_end && apply(instance, &report);
	return 0;
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
	r = judge(incoming, instance, &conversations, &report, err);
	if (r != 0)
		return r;
	cleanup_free char *before = xstrdup_or_null(instance->conversation.session_id);
	cleanup_free char *shared = xstrdup_or_null(instance->conversation.shared.session_id);
	cleanup_free char *place = xstrdup(instance_launch_directory(instance));
	if (!apply(instance, &report))
		return 0;
	/* First: who waits for the manifest to say so finds nothing changing behind it. */
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
	int r = look(&incoming, base, &change, err);
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
static int read_note(const struct instance *instance, const struct agent *agent,
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
	    is_id(conversation->shared.session_id, id) || is_id(known_id(instance), id) ||
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
	if (read_note(instance, agent, &note, &report.process) != 0)
		return 0;
	report.session_id = note.session_id;
	report.cwd = absolute(note.directory);
	const char *why = is_start_of_fork(instance, &report) ? "it is that of the fork's parent"
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
	if (!apply(instance, &report))
		return 0;
	if (lock)
		log_info("%s: %s -> %s source=note",
			 report.owned.session_id ? "shared conversation" : "conversation",
			 before ? before : "none", note.session_id);
	return REPORT_FOLLOWED;
}
