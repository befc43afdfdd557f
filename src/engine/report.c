/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/report.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "engine/runfiles.h"
#include "model/naming.h"
#include "model/resume.h"

#include <fcntl.h>
#include <string.h>

/* What an event says. */
enum {
	MEANS_START = 1 << 0,
	MEANS_PROMPT = 1 << 1,
	MEANS_BUSY = 1 << 2,
	MEANS_WAITING = 1 << 3,
	MEANS_IDLE = 1 << 4,
	MEANS_TURN = 1 << 5,
	MEANS_END = 1 << 6,
};

/* Borrowed from the JSON object, and from the instance. */
struct report {
	unsigned meaning;
	const char *event, *session_id, *transcript_path, *source, *cwd;
};

static unsigned meaning_of(const struct agent *agent, const char *event)
{
	const struct {
		const struct strvec *events;
		unsigned meaning;
	} table[] = {
		{ &agent->report_start, MEANS_START },	   { &agent->report_prompt, MEANS_PROMPT },
		{ &agent->report_busy, MEANS_BUSY },	   { &agent->report_waiting, MEANS_WAITING },
		{ &agent->report_idle, MEANS_IDLE },	   { &agent->report_turn, MEANS_TURN },
		{ &agent->report_end, MEANS_END },
	};
	unsigned meaning = 0;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strvec_contains(table[i].events, event))
			meaning |= table[i].meaning;
	return meaning;
}

static enum instance_activity activity_of(unsigned meaning)
{
	if (meaning & MEANS_WAITING)
		return ACTIVITY_WAITING;
	return meaning & (MEANS_PROMPT | MEANS_BUSY) ? ACTIVITY_BUSY : ACTIVITY_IDLE;
}

/* moves: it names the conversation that the run is in from now on. */
static void note_activity(const struct instance *instance, const struct report *report, bool moves)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_activity struct activity now = { 0 };
	/* A lock that cannot be had loses less than a wait. */
	if (activity_lock(instance->run.directory, &lock, NULL) < 0)
		return;
	activity_read(instance->run.directory, &now);
	enum instance_activity activity = activity_of(report->meaning);
	if (now.activity != activity || !now.since)
		now.since = clock_wall_us();
	now.activity = activity;
	now.is_seen = false;
	now.prompts += report->meaning & MEANS_PROMPT ? 1 : 0;
	replace_string(&now.event, report->event);
	if (report->cwd)
		replace_string(&now.cwd, report->cwd);
	if (moves)
		replace_string(&now.session_id, report->session_id);
	(void)activity_write(instance->run.directory, &now, NULL);
}

/* The hint beside the manifest.  Nobody reads it but people and tests. */
static void write_sidecar(struct deck *deck, const struct store_lock *lock, const struct instance *instance)
{
	cleanup_close int fd = -1;
	cleanup_free char *name = xasprintf("%s.sid", instance->id);
	const char *id = instance->conversation.session_id;
	if (id && fs_open_private_directory_at(store_state_directory(deck->store), "hooks", true, &fd,
					       NULL) == 0)
		(void)fs_replace_from(store_lock_directory(lock), fd, name, id, strlen(id), FS_VOLATILE, NULL);
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

/* Did the user go to another conversation inside the agent? */
static bool moved_inside(const struct report *report)
{
	return report->meaning & MEANS_START &&
	       (streq(report->source, "clear") || streq(report->source, "resume"));
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
	cleanup_activity struct activity last = { 0 };
	cleanup_free char *real = NULL, *home = NULL;
	activity_read(instance->run.directory, &last);
	if (is(last.cwd, cwd))
		return true;
	/* What is not there any more is compared as it is written. */
	if (fs_real_directory(cwd, &real, NULL) != 0)
		real = xstrdup(cwd);
	if (fs_real_directory(instance->cwd, &home, NULL) != 0)
		home = xstrdup(instance->cwd);
	return is_in_directory(real, home);
}

/* An attempt that failed had not reported; what it had to say may come when the next one runs already. */
static bool is_late(const struct instance *instance, const struct report *report)
{
	const struct run *run = &instance->run;
	if (run->reported || !report->session_id || is(known_id(instance), report->session_id))
		return false;
	for (size_t i = 0; i < run->attempt && i < run->attempt_count; i++)
		if (is(run->attempts[i].session_id, report->session_id))
			return true;
	return false;
}

/* NULL: the report is the present run's own.  Else why it is not, static. */
static const char *why_foreign(const struct instance *instance, const struct agent *agent,
			       const struct report *report)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	const char *id = report->session_id, *known = known_id(instance);
	bool is_known = is(known, id) || is(instance->conversation.session_id, id);
	if (attempt && attempt->rung == RUNG_SHELL)
		return "the session's agent is not running";
	if (is_late(instance, report))
		return "it comes from an attempt that failed";
	if (agent->report_binds == BINDS_FIRST && id && known && !streq(known, id) && !moved_inside(report))
		return "it is about another conversation";
	if (!is_known && report->cwd && !is_at_home(instance, report->cwd))
		return "it comes from another directory";
	return NULL;
}

/* Has a start event said so that was not taken, since its hook was killed, or could not save it?  Others of a
 * conversation that the run's agent never announced may come from an agent inside of it. */
static bool was_announced(const struct instance *instance, const char *session_id)
{
	cleanup_activity struct activity last = { 0 };
	activity_read(instance->run.directory, &last);
	return is(last.session_id, session_id);
}

/* May this start event say which conversation the run is in? */
static bool may_move(const struct instance *instance, const struct report *report)
{
	const char *known = known_id(instance);
	if (streq(report->source, "clear") || streq(report->source, "resume") ||
	    streq(report->source, "compact"))
		return true;
	/* The first start of a run whose id we did not give, or whose arguments a wrapper dropped; and what
	 * we gave. */
	return !instance->run.reported || !known || streq(known, report->session_id) ||
	       was_announced(instance, report->session_id);
}

/* A conversation in the place of one that could not be resumed: it counts from its first turn on. */
static bool is_provisional(const struct instance *instance, const char *session_id)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	return attempt && (attempt->rung == RUNG_FRESH || attempt->rung == RUNG_LAUNCH) &&
	       instance->conversation.session_id && is(attempt->reason, REASON_RESUME_FAILED) &&
	       is(attempt->session_id, session_id);
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
	if (!attempt || !report->session_id || is(attempt->session_id, report->session_id) ||
	    (attempt->session_id && agent->report_binds == BINDS_START))
		return false;
	replace_string(&attempt->session_id, report->session_id);
	return true;
}

/* The agent is up, and says what conversation it is in. */
static bool take_id(struct instance *instance, const struct agent *agent,
		    const struct report *report)
{
	struct conversation *conversation = &instance->conversation;
	const char *id = report->session_id;
	bool changed = !instance->run.reported;
	bool other = id && !is(conversation->session_id, id);
	bool given = is(known_id(instance), id) && agent->assign.count;

	if (other && !may_move(instance, report)) {
		log_warning("report of conversation %s ignored: source=%s", id, report->source);
		return changed;
	}
	if (!instance->run.reported && id)
		changed |= resume_note_reported(instance, id);
	changed |= learn(instance, agent, report);
	instance->run.reported = true;
	if (other && is_provisional(instance, id) && !streq(report->source, "clear"))
		return changed;
	if (other)
		set_id(instance, agent, id, given ? ORIGIN_MINTED : ORIGIN_REPORTED);
	conversation->captured_at = clock_wall_us();
	return changed || other;
}

/* Does the report change what must last?  Then the manifest is saved. */
static bool apply(struct instance *instance, const struct agent *agent, const struct report *report)
{
	struct conversation *conversation = &instance->conversation;
	const char *id = report->session_id;
	bool is_turn = report->meaning & (MEANS_PROMPT | MEANS_TURN), changed = false;
	if (report->meaning & MEANS_START || (agent->report_binds == BINDS_FIRST && id) ||
	    (is_turn && id && !is(conversation->session_id, id) && was_announced(instance, id)))
		changed = take_id(instance, agent, report);
	if (is_turn && is_provisional(instance, id) && !is(conversation->session_id, id)) {
		set_id(instance, agent, id, agent->assign.count ? ORIGIN_MINTED : ORIGIN_REPORTED);
		changed = true;
	}
	if (!is(conversation->session_id, id))
		return changed;
	if (is_turn && !conversation->first_turn_seen)
		changed = conversation->first_turn_seen = true;
	if (report->transcript_path && !is(conversation->transcript_path, report->transcript_path)) {
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

/* Agents that we tell the place or the name of their conversation may call it otherwise among themselves;
 * what those say, and those that name nothing, is about the conversation of the run. */
static bool names_conversations(const struct agent *agent)
{
	return agent->id_key && (agent->id_kind == ID_UUID || agent->id_kind == ID_ANY);
}

static int decode(struct json_object *object, const struct instance *instance,
		  const struct agent *agent, struct report *ret, struct error *err)
{
	struct report report = {
		.event = member(object, agent->event_key),
		.session_id = member(object, agent->id_key),
		.transcript_path = absolute(member(object, agent->transcript_key)),
		.source = or_empty(member(object, agent->source_key)),
		.cwd = absolute(member(object, agent->cwd_key)),
	};
	if (!report.event)
		return error_set(err, ERROR_CORRUPT, "the report has no %s",
				 agent->event_key ? agent->event_key : "event that the agent's entry knows");
	if (!names_conversations(agent))
		report.session_id = known_id(instance);
	else if (report.session_id && !(agent->id_kind == ID_UUID ? naming_is_uuid(report.session_id)
								  : naming_is_session_id(report.session_id)))
		return error_set(err, ERROR_CORRUPT, "the report's %s is none", agent->id_key);
	report.meaning = meaning_of(agent, report.event);
	*ret = report;
	return 0;
}

static bool is_from_run(const struct instance *instance, const char *token)
{
	cleanup_free char *expected = runfiles_token(instance);
	return token && expected && *expected && streq(token, expected);
}

/* The report as this instance sees it: 0, or REPORT_FOREIGN. */
static int judge(struct deck *deck, const struct instance *instance, const char *token,
		 struct json_object *object, const struct agent **ret_agent, struct report *ret,
		 struct error *err)
{
	if (!is_from_run(instance, token)) {
		log_warning("report ignored: not from the present run");
		return REPORT_FOREIGN;
	}
	log_set_run(instance->run.id);
	if (deck_agent(deck, instance->agent, ret_agent, err) < 0 ||
	    decode(object, instance, *ret_agent, ret, err) < 0)
		return -1;
	const char *why = why_foreign(instance, *ret_agent, ret);
	if (!why)
		return 0;
	log_warning("report %s of %s ignored: %s", ret->event, or_empty(ret->session_id), why);
	return REPORT_FOREIGN;
}

/* A look without the lock: most reports change nothing that lasts, and whoever is ending this very agent
 * holds the lock while it waits for it.  True when the manifest must be changed. */
static int look(struct deck *deck, const char *id, const char *token, struct json_object *object,
		bool *ret_change, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	const struct agent *agent;
	struct report report;
	int r = store_load(deck->store, id, &instance, err);
	if (r < 0)
		return -1;
	if (r > 0) {
		log_warning("report ignored: there is no such session");
		return REPORT_FOREIGN;
	}
	r = judge(deck, instance, token, object, &agent, &report, err);
	/* An end changes nothing, and who ends the run holds the lock and waits for the agent, which waits for
	 * this hook. */
	if (r != 0 || !report.meaning || report.meaning & MEANS_END)
		return r;
	note_activity(instance, &report,
		      report.meaning & MEANS_START && report.session_id && may_move(instance, &report));
	*ret_change = apply(instance, agent, &report);
	return 0;
}

static int take_locked(struct deck *deck, struct store_lock *lock, const char *token,
		       struct json_object *object, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	const struct agent *agent;
	struct report report;
	int r = store_load_locked(lock, &instance, err);
	if (r != 0)
		return r < 0 ? -1 : REPORT_FOREIGN;
	/* The run may have ended while we waited, or its attempt. */
	r = judge(deck, instance, token, object, &agent, &report, err);
	if (r != 0)
		return r;
	cleanup_free char *before = xstrdup_or_null(instance->conversation.session_id);
	if (!apply(instance, agent, &report))
		return 0;
	/* First: who waits for the manifest to say so finds nothing changing behind it. */
	write_sidecar(deck, lock, instance);
	if (store_save(lock, instance, err) < 0)
		return -1;
	const char *now = or_empty(instance->conversation.session_id);
	if (!streq(or_empty(before), now))
		log_info("conversation: %s -> %s event=%s source=%s", before ? before : "none", now,
			 report.event, *report.source ? report.source : "none");
	log_info("report %s source=%s id=%s", report.event, report.source,
		 or_empty(report.session_id));
	return 0;
}

int report_take(struct deck *deck, const char *id, const char *token, const char *text,
		size_t length, struct error *err)
{
	cleanup_json struct json_object *object = NULL;
	cleanup_store_lock struct store_lock *lock = NULL;
	bool change = false;

	log_set_instance(id);
	if (json_parse(text, length, "report", &object, err) < 0)
		return -1;
	int r = look(deck, id, token, object, &change, err);
	if (r != 0 || !change)
		return r;
	r = store_lock(deck->store, id, clock_ms() + REPORT_TIMEOUT_MS, &lock, err);
	if (r < 0)
		return -1;
	if (r == STORE_BUSY)
		return error_set(err, ERROR_BUSY, "session %s is locked", id);
	return r == 0 ? take_locked(deck, lock, token, object, err) : REPORT_FOREIGN;
}
