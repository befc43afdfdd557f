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

enum { ACTIVITY_LOCK_MS = 1000 };

struct report {
	const char *event, *session_id, *transcript_path, *source, *cwd;
};

/* Events by what they say about the agent's doing.  NULL-terminated by its size. */
static const struct {
	const char *event;
	enum instance_activity activity;
	bool prompt;
} events[] = {
	{ "SessionStart", ACTIVITY_IDLE, false },
	{ "UserPromptSubmit", ACTIVITY_BUSY, true },
	{ "PreToolUse", ACTIVITY_BUSY, false },
	{ "PostToolUse", ACTIVITY_BUSY, false },
	{ "Notification", ACTIVITY_WAITING, false },
	{ "PermissionRequest", ACTIVITY_WAITING, false },
	{ "Stop", ACTIVITY_IDLE, false },
};

static void note_activity(const struct instance *instance, const char *event)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_close int fd = open(instance->run.directory,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Two hooks at once must not lose a count; a lock that cannot be had loses less than a wait. */
	if (fd < 0 || fs_lock(fd, "activity.lock", clock_ms() + ACTIVITY_LOCK_MS, &lock, NULL) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		cleanup_activity struct activity now = { 0 };
		if (!streq(events[i].event, event))
			continue;
		activity_read(instance->run.directory, &now);
		if (now.activity != events[i].activity || !now.since)
			now.since = clock_wall_us();
		now.activity = events[i].activity;
		now.prompts += events[i].prompt;
		replace_string(&now.event, event);
		(void)activity_write(instance->run.directory, &now, NULL);
	}
}

/* The hint beside the manifest.  Nobody reads it but people and tests. */
static void write_sidecar(struct deck *deck, const struct instance *instance)
{
	cleanup_close int fd = -1;
	cleanup_free char *name = xasprintf("%s.sid", instance->id);
	const char *id = instance->conversation.session_id;
	if (id && fs_open_private_directory_at(store_state_directory(deck->store), "hooks", true, &fd,
					       NULL) == 0)
		(void)fs_replace(fd, name, id, strlen(id), FS_VOLATILE, NULL);
}

/* May this start event say which conversation the run is in? */
static bool may_move(const struct instance *instance, const struct report *report)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	if (streq(report->source, "clear") || streq(report->source, "resume") ||
	    streq(report->source, "compact"))
		return true;
	/* The first start of a run whose id we did not give, or whose arguments a wrapper dropped; and what
	 * we gave, though the late report of a rung that failed came before. */
	return !instance->run.reported || !attempt || !attempt->session_id ||
	       streq(attempt->session_id, report->session_id);
}

/* A fresh id in the place of one that could not be resumed: it counts from its first turn on. */
static bool is_provisional(const struct instance *instance, const char *session_id)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	return attempt && attempt->rung == RUNG_FRESH && instance->conversation.session_id &&
	       streq(or_empty(attempt->reason), REASON_RESUME_FAILED) &&
	       streq(or_empty(attempt->session_id), session_id);
}

static bool take_start(struct instance *instance, const struct report *report)
{
	struct conversation *conversation = &instance->conversation;
	const struct attempt *attempt = run_attempt(&instance->run);
	bool changed = !instance->run.reported;
	/* A copy: the conversation gives its own up. */
	cleanup_free char *stored = xstrdup_or_null(conversation->session_id);

	bool other = report->session_id && (!stored || !streq(stored, report->session_id));
	if (other && is_provisional(instance, report->session_id) &&
	    !streq(report->source, "clear")) {
		instance->run.reported = true;
		return changed;
	}
	if (other) {
		if (!may_move(instance, report)) {
			log_warning("report of conversation %s ignored: source=%s", report->session_id,
				    report->source);
			return changed;
		}
		bool ours = attempt && attempt->session_id && streq(attempt->session_id, report->session_id);
		conversation_set_id(conversation, report->session_id,
				    ours ? ORIGIN_MINTED : ORIGIN_REPORTED, clock_wall_us());
		for (size_t i = 0; i < instance->resume_argv.count && stored; i++)
			if (streq(instance->resume_argv.items[i], stored))
				replace_string(&instance->resume_argv.items[i], report->session_id);
		changed = true;
	}
	instance->run.reported = true;
	conversation->captured_at = clock_wall_us();
	return changed;
}

/* Does the report change what must last?  Then the manifest is saved. */
static bool apply(struct instance *instance, const struct report *report)
{
	struct conversation *conversation = &instance->conversation;
	bool changed = false;
	if (streq(report->event, "SessionStart"))
		changed = take_start(instance, report);
	if (streq(report->event, "UserPromptSubmit") && report->session_id &&
	    is_provisional(instance, report->session_id) &&
	    !streq(conversation->session_id, report->session_id)) {
		conversation_set_id(conversation, report->session_id, ORIGIN_MINTED, clock_wall_us());
		changed = true;
	}
	bool same = report->session_id && conversation->session_id &&
		    streq(report->session_id, conversation->session_id);
	if (!same)
		return changed;
	if (streq(report->event, "UserPromptSubmit") && !conversation->first_turn_seen)
		changed = conversation->first_turn_seen = true;
	if (report->transcript_path &&
	    !streq(report->transcript_path, or_empty(conversation->transcript_path))) {
		replace_string(&conversation->transcript_path, report->transcript_path);
		changed = true;
	}
	return changed;
}

static int parse(const char *text, size_t length, struct json_object **ret_object,
		 struct report *ret, struct error *err)
{
	cleanup_json struct json_object *object = NULL;
	if (json_parse(text, length, "report", &object, err) < 0)
		return -1;
	struct report report = {
		.event = json_get_string(object, "hook_event_name", NULL),
		.session_id = json_get_string(object, "session_id", NULL),
		.transcript_path = json_get_string(object, "transcript_path", NULL),
		.source = json_get_string(object, "source", ""),
		.cwd = json_get_string(object, "cwd", NULL),
	};
	if (!report.event)
		return error_set(err, ERROR_CORRUPT, "the report names no hook_event_name");
	if (report.session_id && !naming_is_session_id(report.session_id))
		return error_set(err, ERROR_CORRUPT, "the report's session_id is none");
	if (report.transcript_path && *report.transcript_path != '/')
		report.transcript_path = NULL;
	*ret = report;
	*ret_object = TAKE_PTR(object);
	return 0;
}

static bool is_from_run(const struct instance *instance, const char *token)
{
	cleanup_free char *expected = runfiles_token(instance);
	return token && expected && *expected && streq(token, expected);
}

/* A look without the lock: most reports change nothing that lasts, and whoever is ending this very agent
 * holds the lock while it waits for it.  True when the manifest must be changed. */
static int look(struct deck *deck, const char *id, const char *token, const struct report *report,
		bool *ret_change, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	int r = store_load(deck->store, id, &instance, err);
	if (r < 0)
		return -1;
	if (r > 0 || !is_from_run(instance, token)) {
		log_warning("report %s ignored: not from the present run", report->event);
		return REPORT_FOREIGN;
	}
	note_activity(instance, report->event);
	*ret_change = apply(instance, report);
	return 0;
}

int report_take(struct deck *deck, const char *id, const char *token, const char *text,
		size_t length, struct error *err)
{
	cleanup_json struct json_object *object = NULL;
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	struct report report = { 0 };
	bool change = false;

	if (parse(text, length, &object, &report, err) < 0)
		return -1;
	/* It changes nothing, and who ends the run holds the lock and waits for the agent, which waits for
	 * this hook. */
	if (streq(report.event, "SessionEnd"))
		return 0;
	log_set_instance(id);
	int r = look(deck, id, token, &report, &change, err);
	if (r != 0 || !change)
		return r;
	r = store_lock(deck->store, id, clock_ms() + REPORT_TIMEOUT_MS, &lock, err);
	if (r == STORE_BUSY)
		return error_set(err, ERROR_BUSY, "session %s is locked", id);
	if (r == 0)
		r = store_load_locked(lock, &instance, err);
	if (r < 0)
		return -1;
	/* The run may have ended while we waited. */
	if (r > 0 || !is_from_run(instance, token))
		return REPORT_FOREIGN;
	if (!apply(instance, &report))
		return 0;
	if (store_save(lock, instance, err) < 0)
		return -1;
	write_sidecar(deck, instance);
	log_info("report %s source=%s id=%s", report.event, report.source,
		 or_empty(report.session_id));
	return 0;
}
