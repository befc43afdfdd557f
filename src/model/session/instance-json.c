/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The manifest's members: docs/state-format.md is the manual.
 */
#include "model/session/instance.h"

#include "base/clock.h"
#include "model/session/naming.h"

#include <limits.h>
#include <string.h>

/* --- text that may be any bytes --------------------------------------------------------------- */

/* JSON text is Unicode, a path and an argument are bytes: what is not UTF-8 is written as an
 * object. */
#define BYTES "bytes"

struct json_object *instance_text_to_json(const char *text)
{
	cleanup_strbuf struct strbuf hex = { 0 };
	if (is_utf8(text, strlen(text)))
		return json_text(text);
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		static const char digits[] = "0123456789abcdef";
		strbuf_add(&hex, (char[]){ digits[*s >> 4], digits[*s & 15] }, 2);
	}
	struct json_object *object = json_object_new_object();
	if (!object)
		abort();
	json_set_string(object, BYTES, strbuf_text(&hex));
	return object;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *instance_text_from_json(struct json_object *value)
{
	if (json_object_is_type(value, json_type_string)) {
		const char *text = json_object_get_string(value);
		size_t length = (size_t)json_object_get_string_len(value);
		return strlen(text) == length ? xstrdup(text) : NULL;
	}
	const char *hex = json_get_string(value, BYTES, NULL);
	size_t length = hex ? strlen(hex) : 1;
	if (length % 2)
		return NULL;
	cleanup_free char *text = xcalloc(length / 2 + 1, 1);
	for (size_t i = 0; i < length; i += 2) {
		int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
		if (high < 0 || low < 0 || high + low == 0)
			return NULL;
		text[i / 2] = (char)(high << 4 | low);
	}
	return TAKE_PTR(text);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The first failure is kept and makes the rest of the reading idle, so that the readers of the
 * members below are plain lists. */
struct reader {
	const char *what;
	struct error *err;
	bool failed;
};

/* One object of the manifest; object NULL: it is not there. */
struct section {
	struct reader *reader;
	const char *name; /* for messages: "run." */
	struct json_object *object;
};

static void fail(const struct section *section, const char *key, const char *why)
{
	if (section->reader->failed)
		return;
	section->reader->failed = true;
	error_set(section->reader->err, ERROR_CORRUPT, "%s: %s%s %s", section->reader->what,
		  section->name, key, why);
}

/* NULL: absent (null is as good), or of another type, which is a failure. */
static struct json_object *member(const struct section *section, const char *key,
				  enum json_type type)
{
	struct json_object *value;
	if (!section->object || !json_object_object_get_ex(section->object, key, &value) || !value)
		return NULL;
	if (json_object_is_type(value, type))
		return value;
	fail(section, key,
	     type == json_type_object    ? "is not an object"
	     : type == json_type_array   ? "is not an array"
	     : type == json_type_int     ? "is not an integer"
	     : type == json_type_boolean ? "is not true or false"
					 : "is not a string");
	return NULL;
}

static bool require(const struct section *section, const char *key)
{
	struct json_object *value;
	if (section->object && json_object_object_get_ex(section->object, key, &value) && value)
		return true;
	fail(section, key, "is missing");
	return false;
}

static struct section subsection(const struct section *section, const char *key, const char *name)
{
	return (struct section){ .reader = section->reader,
				 .name = name,
				 .object = member(section, key, json_type_object) };
}

static char *read_text(const struct section *section, const char *key)
{
	struct json_object *value;
	if (!section->object || !json_object_object_get_ex(section->object, key, &value) || !value)
		return NULL;
	char *text = instance_text_from_json(value);
	if (!text)
		fail(section, key, "is not a string");
	return text;
}

static char *need_text(const struct section *section, const char *key)
{
	char *text = require(section, key) ? read_text(section, key) : NULL;
	if (text && !*text)
		fail(section, key, "is empty");
	return text;
}

static void read_texts(const struct section *section, const char *key, struct strvec *ret)
{
	struct json_object *array = member(section, key, json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	for (size_t i = 0; i < count; i++) {
		char *text = instance_text_from_json(json_object_array_get_idx(array, i));
		if (!text) {
			fail(section, key, "holds something that is not a string");
			return;
		}
		strvec_push_take(ret, text);
	}
}

static int64_t read_int(const struct section *section, const char *key, int64_t max)
{
	struct json_object *value = member(section, key, json_type_int);
	int64_t number = value ? json_object_get_int64(value) : 0;
	if (number < 0 || number > max) {
		fail(section, key, "is out of range");
		return 0;
	}
	return number;
}

static bool read_bool(const struct section *section, const char *key)
{
	struct json_object *value = member(section, key, json_type_boolean);
	return value && json_object_get_boolean(value);
}

/* -1: none, or one behind the year 9999, which we could write and not read. */
static int64_t parse_time(struct json_object *value)
{
	int64_t time = json_object_is_type(value, json_type_string)
			       ? clock_parse(json_object_get_string(value))
			       : -1;
	return time > INT64_C(253402300799999000) ? -1 : time;
}

static int64_t read_time(const struct section *section, const char *key)
{
	struct json_object *value = member(section, key, json_type_string);
	int64_t time = value ? parse_time(value) : 0;
	if (time < 0) {
		fail(section, key, "is not a time such as 2026-04-14T09:08:01.000Z");
		return 0;
	}
	return time;
}

/* Absent: the target stays as it is. */
#define READ_WORD(section, key, parse, ret)                                         \
	do {                                                                        \
		struct json_object *word_ = member(section, key, json_type_string); \
		if (word_ && !parse(json_object_get_string(word_), ret))            \
			fail(section, key, "has an unknown value");                 \
	} while (0)

/* A list that is longer than ours was written with another limit: the latest count. */
static void read_restarts(const struct section *observed, struct instance *instance)
{
	struct json_object *array = member(observed, "restarts", json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	size_t first = count > INSTANCE_RESTARTS ? count - INSTANCE_RESTARTS : 0;
	for (size_t i = first; i < count; i++) {
		int64_t at = parse_time(json_object_array_get_idx(array, i));
		if (at < 0) {
			fail(observed, "restarts", "holds something that is not a time");
			return;
		}
		instance->observed.restarts[instance->observed.restart_count++] = at;
	}
}

static void read_observed(const struct section *root, struct instance *instance)
{
	const struct section observed = subsection(root, "observed", "observed.");
	const struct section exit = subsection(&observed, "exit", "observed.exit.");

	if (require(root, "observed"))
		(void)require(&observed, "state");
	READ_WORD(&observed, "state", instance_state_parse, &instance->observed.state);
	instance->observed.since = read_time(&observed, "since");
	instance->observed.reason = read_text(&observed, "reason");
	instance->observed.boot_id = read_text(&observed, "boot_id");
	instance->observed.machine_id = read_text(&observed, "machine_id");
	instance->observed.host = read_text(&observed, "host");
	instance->observed.exit = (struct exit_record){
		.present = exit.object != NULL,
		.code = (int)read_int(&exit, "code", INT_MAX),
		.signal = (int)read_int(&exit, "signal", INT_MAX),
		.oom = read_bool(&exit, "oom"),
		.oom_victim = read_text(&exit, "oom_victim"),
		.last_words = read_text(&exit, "last_words"),
	};
	read_restarts(&observed, instance);
	instance->observed.held = read_text(&observed, "held");
}

static void read_conversation(const struct section *root, struct conversation *ret)
{
	const struct section section = subsection(root, "conversation", "conversation.");
	ret->session_id = read_text(&section, "session_id");
	READ_WORD(&section, "origin", session_origin_parse, &ret->origin);
	read_texts(&section, "previous", &ret->previous);
	ret->transcript_path = read_text(&section, "transcript_path");
	ret->first_turn_seen = read_bool(&section, "first_turn_seen");
	ret->captured_at = read_time(&section, "captured_at");
	ret->config_home = read_text(&section, "config_home");
	ret->forked_from = read_text(&section, "forked_from");
	ret->directory = read_text(&section, "directory");
	if (ret->directory && *ret->directory != '/')
		fail(&section, "directory", "is not an absolute path");
	const struct section shared = subsection(&section, "shared", "conversation.shared.");
	ret->shared = (struct shared_conversation){
		.session_id = read_text(&shared, "session_id"),
		.owner = read_text(&shared, "owner"),
		.title = read_text(&shared, "title"),
		.profile = read_text(&shared, "profile"),
		.since = read_time(&shared, "since"),
	};
}

static void read_reason(const struct section *section, struct attempt *attempt)
{
	cleanup_free char *name = read_text(section, "reason");
	attempt->reason = name ? reason_of_name(name) : REASON_NONE;
	if (attempt->reason == REASON_OTHER)
		attempt->other_reason = TAKE_PTR(name);
}

static void read_attempts(const struct section *run, struct run *ret)
{
	struct json_object *array = member(run, "attempts", json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	for (size_t i = 0; i < count; i++) {
		const struct section section = { .reader = run->reader,
						 .name = "run.attempts[].",
						 .object = json_object_array_get_idx(array, i) };
		struct attempt attempt = { 0 };
		if (!json_object_is_type(section.object, json_type_object)) {
			fail(run, "attempts", "holds something that is not an object");
			return;
		}
		READ_WORD(&section, "rung", rung_parse, &attempt.rung);
		read_reason(&section, &attempt);
		attempt.session_id = read_text(&section, "session_id");
		read_texts(&section, "argv", &attempt.argv);
		run_add_attempt(ret, &attempt);
		attempt_clear(&attempt);
	}
	ret->attempt = (size_t)read_int(run, "attempt", INT_MAX);
	if (ret->attempt > 0 && ret->attempt >= ret->attempt_count)
		fail(run, "attempt", "is out of range");
}

static void read_run(const struct section *root, struct run *ret)
{
	const struct section section = subsection(root, "run", "run.");
	if (!section.object)
		return;
	ret->id = read_text(&section, "id");
	ret->socket = read_text(&section, "socket");
	ret->directory = read_text(&section, "directory");
	ret->unit = read_text(&section, "unit");
	ret->invocation_id = read_text(&section, "invocation_id");
	ret->boot_id = read_text(&section, "boot_id");
	ret->machine_id = read_text(&section, "machine_id");
	ret->host = read_text(&section, "host");
	ret->server.pid = (pid_t)read_int(&section, "server_pid", INT_MAX);
	ret->server.start = (uint64_t)read_int(&section, "server_start", INT64_MAX);
	ret->pane.pid = (pid_t)read_int(&section, "pane_pid", INT_MAX);
	ret->pane.start = (uint64_t)read_int(&section, "pane_start", INT64_MAX);
	read_attempts(&section, ret);
	ret->attempt_since = read_time(&section, "attempt_since");
	ret->attempt_since_boot_ms = read_int(&section, "attempt_since_boot_ms", INT64_MAX);
	ret->offer = read_bool(&section, "offer");
	ret->reported = read_bool(&section, "reported");
	ret->reporter.pid = (pid_t)read_int(&section, "reporter_pid", INT_MAX);
	ret->reporter.start = (uint64_t)read_int(&section, "reporter_start", INT64_MAX);
	ret->history_note = read_text(&section, "history_note");
}

static void read_limits(const struct section *root, struct limits *ret)
{
	const struct section section = subsection(root, "limits", "limits.");
	ret->memory_high = read_int(&section, "memory_high", INT64_MAX);
	ret->memory_max = read_int(&section, "memory_max", INT64_MAX);
	ret->tasks_max = read_int(&section, "tasks_max", INT64_MAX);
	ret->cpu_weight = read_int(&section, "cpu_weight", INT64_MAX);
}

/* Two manifests can bear one id, when a directory was copied by hand.  The directory's name tells
 * them apart, and all that is named after an id (the run's directory, its scope, a report) goes by
 * it. */
static void take_base(struct instance *instance)
{
	if (!instance->id || !instance->backend || !streq(instance->backend, PLACE_DEFAULT) ||
	    streq(instance->base, instance->id))
		return;
	instance->copy_of = instance->id;
	instance->id = xstrdup(instance->base);
}

static void read_identity(const struct section *root, struct instance *instance)
{
	instance->id = need_text(root, "id");
	if (instance->id && !naming_is_id(instance->id))
		fail(root, "id", "is not an instance id");
	instance->profile = read_text(root, "profile");
	instance->title = need_text(root, "title");
	instance->group = read_text(root, "group");
	instance->notes = read_text(root, "notes");
	instance->cwd = need_text(root, "cwd");
	if (instance->cwd && *instance->cwd != '/')
		fail(root, "cwd", "is not an absolute path");
	(void)require(root, "created_at");
	instance->created_at = read_time(root, "created_at");
	instance->last_used_at = read_time(root, "last_used_at");
	instance->agent = need_text(root, "agent");
	(void)require(root, "argv");
	read_texts(root, "argv", &instance->argv);
	instance->backend = need_text(root, "backend");
	instance->base = read_text(root, "base");
	if (!instance->base)
		instance->base = xstrdup_or_null(instance->id);
	take_base(instance);
}

/* The format comes first: a newer one is not ours to judge. */
static int check_format(struct json_object *object, const char *what, struct error *err)
{
	int64_t format = json_get_int(object, "format", 0);
	if (format > INSTANCE_FORMAT)
		return error_set(err, ERROR_NEWER,
				 "%s: format %lld was written by a newer agentdeck (this one knows "
				 "up to %d): install that version",
				 what, (long long)format, INSTANCE_FORMAT);
	if (format < 1)
		return error_set(err, ERROR_CORRUPT, "%s: format is missing or not a format number",
				 what);
	return 0;
}

int instance_from_json(struct json_object *object, const char *what, struct instance **ret,
		       struct error *err)
{
	struct reader reader = { .what = what, .err = err };
	const struct section root = { .reader = &reader, .name = "", .object = object };

	if (!json_object_is_type(object, json_type_object))
		return error_set(err, ERROR_CORRUPT, "%s: is not a JSON object", what);
	if (check_format(object, what, err) < 0)
		return -1;
	cleanup_instance struct instance *instance = instance_new();
	read_identity(&root, instance);
	const struct section env = subsection(&root, "env", "env.");
	read_texts(&env, "kept", &instance->env_kept);
	const struct section policy = subsection(&root, "policy", "policy.");
	READ_WORD(&policy, "resume", resume_policy_parse, &instance->resume_policy);
	READ_WORD(&policy, "restart", restart_policy_parse, &instance->restart_policy);
	(void)require(&root, "desired");
	READ_WORD(&root, "desired", instance_desired_parse, &instance->desired);
	read_observed(&root, instance);
	read_conversation(&root, &instance->conversation);
	read_texts(&root, "resume_argv", &instance->resume_argv);
	read_run(&root, &instance->run);
	read_limits(&root, &instance->limits);
	if (reader.failed)
		return -1;
	instance->unknown = json_object_get(object);
	*ret = TAKE_PTR(instance);
	return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void put_text(struct json_object *object, const char *key, const char *text)
{
	if (text)
		json_set(object, key, instance_text_to_json(text));
	else
		json_object_object_del(object, key);
}

static void put_texts(struct json_object *object, const char *key, const struct strvec *texts)
{
	struct json_object *array = json_object_new_array();
	if (!array)
		abort();
	for (size_t i = 0; i < texts->count; i++)
		if (json_object_array_add(array, instance_text_to_json(texts->items[i])) < 0)
			abort();
	json_set(object, key, array);
}

/* 0 is "none" or "never" for every number that is written with this. */
static void put_number(struct json_object *object, const char *key, int64_t value)
{
	if (value)
		json_set_int(object, key, value);
	else
		json_object_object_del(object, key);
}

static void put_time(struct json_object *object, const char *key, int64_t wall_us)
{
	char buffer[CLOCK_TEXT_SIZE];
	put_text(object, key, wall_us ? clock_format(wall_us, buffer) : NULL);
}

static bool same(const struct json_object *object, const char *key, const char *text)
{
	return streq(json_get_string(object, key, ""), or_empty(text));
}

/* False is the absence of the key, also of one that was read. */
static void put_flag(struct json_object *object, const char *key, bool value)
{
	if (value)
		json_set_bool(object, key, true);
	else
		json_object_object_del(object, key);
}

static void put_exit(struct json_object *observed, const struct exit_record *record)
{
	const struct json_object *old = json_get_object(observed, "exit");
	if (!record->present || json_get_int(old, "code", 0) != record->code ||
	    json_get_int(old, "signal", 0) != record->signal ||
	    json_get_bool(old, "oom", false) != record->oom ||
	    !same(old, "oom_victim", record->oom_victim) ||
	    !same(old, "last_words", record->last_words))
		json_object_object_del(observed, "exit");
	if (!record->present)
		return;
	struct json_object *object = json_make_object(observed, "exit");
	if (record->signal)
		json_object_object_del(object, "code");
	else
		json_set_int(object, "code", record->code);
	put_number(object, "signal", record->signal);
	put_flag(object, "oom", record->oom);
	put_text(object, "oom_victim", record->oom_victim);
	put_text(object, "last_words", record->last_words);
}

static void put_restarts(struct json_object *observed, const struct instance *instance)
{
	json_object_object_del(observed, "restarts");
	if (!instance->observed.restart_count)
		return;
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < instance->observed.restart_count; i++) {
		char text[CLOCK_TEXT_SIZE];
		json_object_array_add(array, json_object_new_string(clock_format(
						     instance->observed.restarts[i], text)));
	}
	json_object_object_add(observed, "restarts", array);
}

static void put_observed(struct json_object *root, const struct instance *instance)
{
	struct json_object *object = json_make_object(root, "observed");
	json_set_string(object, "state", instance_state_name(instance->observed.state));
	put_time(object, "since", instance->observed.since);
	put_text(object, "reason", instance->observed.reason);
	put_exit(object, &instance->observed.exit);
	put_text(object, "boot_id", instance->observed.boot_id);
	put_text(object, "machine_id", instance->observed.machine_id);
	put_text(object, "host", instance->observed.host);
	put_restarts(object, instance);
	put_text(object, "held", instance->observed.held);
}

static void put_shared(struct json_object *conversation, const struct shared_conversation *shared)
{
	const struct json_object *old = json_get_object(conversation, "shared");
	if (!same(old, "session_id", shared->session_id) || !same(old, "owner", shared->owner))
		json_object_object_del(conversation, "shared");
	if (!shared->session_id)
		return;
	struct json_object *object = json_make_object(conversation, "shared");
	put_text(object, "session_id", shared->session_id);
	put_text(object, "owner", shared->owner);
	put_text(object, "title", shared->title);
	put_text(object, "profile", shared->profile);
	put_time(object, "since", shared->since);
}

static void put_conversation(struct json_object *root, const struct conversation *conversation)
{
	struct json_object *object = json_make_object(root, "conversation");
	put_text(object, "session_id", conversation->session_id);
	json_set_string(object, "origin", session_origin_name(conversation->origin));
	put_texts(object, "previous", &conversation->previous);
	put_text(object, "transcript_path", conversation->transcript_path);
	json_set_bool(object, "first_turn_seen", conversation->first_turn_seen);
	put_time(object, "captured_at", conversation->captured_at);
	put_text(object, "config_home", conversation->config_home);
	put_text(object, "forked_from", conversation->forked_from);
	put_text(object, "directory", conversation->directory);
	put_shared(object, &conversation->shared);
}

static void put_attempts(struct json_object *object, const struct run *run)
{
	struct json_object *old = json_get_array(object, "attempts");
	size_t old_count = old ? json_object_array_length(old) : 0;
	struct json_object *array = json_object_new_array();
	if (!array)
		abort();
	for (size_t i = 0; i < run->attempt_count; i++) {
		const struct attempt *attempt = &run->attempts[i];
		struct json_object *item = i < old_count ? json_object_array_get_idx(old, i) : NULL;
		if (item && same(item, "rung", rung_name(attempt->rung)) &&
		    same(item, "session_id", attempt->session_id))
			item = json_object_get(item);
		else
			item = json_object_new_object();
		if (!item || json_object_array_add(array, item) < 0)
			abort();
		json_set_string(item, "rung", rung_name(attempt->rung));
		put_text(item, "reason", attempt_reason(attempt));
		put_text(item, "session_id", attempt->session_id);
		put_texts(item, "argv", &attempt->argv);
	}
	json_set(object, "attempts", array);
}

static void put_run(struct json_object *root, const struct run *run)
{
	const struct json_object *old = json_get_object(root, "run");
	bool empty = !run->id && !run->socket && !run->unit && run->attempt_count == 0;
	if (empty || !same(old, "id", run->id))
		json_object_object_del(root, "run");
	if (empty)
		return;
	struct json_object *object = json_make_object(root, "run");
	put_text(object, "id", run->id);
	put_text(object, "socket", run->socket);
	put_text(object, "directory", run->directory);
	put_text(object, "unit", run->unit);
	put_text(object, "invocation_id", run->invocation_id);
	put_text(object, "boot_id", run->boot_id);
	put_text(object, "machine_id", run->machine_id);
	put_text(object, "host", run->host);
	put_number(object, "server_pid", run->server.pid);
	put_number(object, "server_start", (int64_t)run->server.start);
	put_number(object, "pane_pid", run->pane.pid);
	put_number(object, "pane_start", (int64_t)run->pane.start);
	put_attempts(object, run);
	json_set_int(object, "attempt", (int64_t)run->attempt);
	put_time(object, "attempt_since", run->attempt_since);
	put_number(object, "attempt_since_boot_ms", run->attempt_since_boot_ms);
	put_flag(object, "offer", run->offer);
	json_set_bool(object, "reported", run->reported);
	put_number(object, "reporter_pid", run->reporter.pid);
	put_number(object, "reporter_start", (int64_t)run->reporter.start);
	put_text(object, "history_note", run->history_note);
}

static void put_limits(struct json_object *root, const struct limits *limits)
{
	struct json_object *object = json_make_object(root, "limits");
	put_number(object, "memory_high", limits->memory_high);
	put_number(object, "memory_max", limits->memory_max);
	put_number(object, "tasks_max", limits->tasks_max);
	put_number(object, "cpu_weight", limits->cpu_weight);
	if (json_object_object_length(object) == 0)
		json_object_object_del(root, "limits");
}

static struct json_object *copy_of(struct json_object *source)
{
	struct json_object *copy = NULL;
	if (!source)
		copy = json_object_new_object();
	else if (json_object_deep_copy(source, &copy, NULL) < 0)
		copy = NULL;
	if (!copy)
		abort();
	return copy;
}

struct json_object *instance_to_json(const struct instance *instance)
{
	struct json_object *root = copy_of(instance->unknown);
	json_set_int(root, "format", INSTANCE_FORMAT);
	put_text(root, "id", instance->copy_of ? instance->copy_of : instance->id);
	put_text(root, "profile", instance->profile);
	put_text(root, "title", instance->title);
	put_text(root, "group", instance->group);
	put_text(root, "notes", instance->notes);
	put_text(root, "cwd", instance->cwd);
	char created_at[CLOCK_TEXT_SIZE];
	json_set_string(root, "created_at", clock_format(instance->created_at, created_at));
	put_time(root, "last_used_at", instance->last_used_at);
	put_text(root, "agent", instance->agent);
	put_texts(root, "argv", &instance->argv);
	put_texts(json_make_object(root, "env"), "kept", &instance->env_kept);
	put_text(root, "backend", instance->backend);
	put_text(root, "base", instance->base);
	struct json_object *policy = json_make_object(root, "policy");
	json_set_string(policy, "resume", resume_policy_name(instance->resume_policy));
	json_set_string(policy, "restart", restart_policy_name(instance->restart_policy));
	json_set_string(root, "desired", instance_desired_name(instance->desired));
	put_observed(root, instance);
	put_conversation(root, &instance->conversation);
	put_texts(root, "resume_argv", &instance->resume_argv);
	put_run(root, &instance->run);
	put_limits(root, &instance->limits);
	return root;
}
