/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The manifest's members: docs/state-format.md is the manual.
 */
#include "model/session/instance.h"

#include "base/clock.h"
#include "model/session/manifest-internal.h"
#include "model/session/naming.h"

#include <limits.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

/* A list that is longer than ours was written with another limit: the latest count. */
static void read_restarts(const struct manifest_section *observed, struct instance *instance)
{
	struct json_object *array = manifest_member(observed, "restarts", json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	size_t first = count > INSTANCE_RESTARTS ? count - INSTANCE_RESTARTS : 0;
	for (size_t i = first; i < count; i++) {
		int64_t at = manifest_parse_time(json_object_array_get_idx(array, i));
		if (at < 0) {
			manifest_fail(observed, "restarts", "holds something that is not a time");
			return;
		}
		instance->observed.restarts[instance->observed.restart_count++] = at;
	}
}

/* A later version may know further kinds. */
static void read_hold(const struct manifest_section *observed, struct instance *instance)
{
	instance->observed.held = manifest_text(observed, "held");
	cleanup_free char *kind = manifest_text(observed, "hold");
	if (instance->observed.held && (!kind || !hold_parse(kind, &instance->observed.hold)))
		instance->observed.hold = HOLD_OTHER;
}

static void read_observed(const struct manifest_section *root, struct instance *instance)
{
	const struct manifest_section observed = manifest_section(root, "observed", "observed.");
	const struct manifest_section exit = manifest_section(&observed, "exit", "observed.exit.");

	if (manifest_require(root, "observed"))
		(void)manifest_require(&observed, "state");
	MANIFEST_WORD(&observed, "state", instance_state_parse, &instance->observed.state);
	instance->observed.since = manifest_time(&observed, "since");
	instance->observed.reason = manifest_text(&observed, "reason");
	instance->observed.boot_id = manifest_text(&observed, "boot_id");
	instance->observed.machine_id = manifest_text(&observed, "machine_id");
	instance->observed.pid_namespace = manifest_text(&observed, "pid_namespace");
	instance->observed.host = manifest_text(&observed, "host");
	instance->observed.exit = (struct exit_record){
		.present = exit.object != NULL,
		.code = (int)manifest_int(&exit, "code", INT_MAX),
		.signal = (int)manifest_int(&exit, "signal", INT_MAX),
		.oom = manifest_bool(&exit, "oom"),
		.oom_victim = manifest_text(&exit, "oom_victim"),
		.last_words = manifest_text(&exit, "last_words"),
	};
	read_restarts(&observed, instance);
	read_hold(&observed, instance);
}

static void read_conversation(const struct manifest_section *root, struct conversation *ret)
{
	const struct manifest_section section = manifest_section(root, "conversation",
								 "conversation.");
	ret->session_id = manifest_text(&section, "session_id");
	MANIFEST_WORD(&section, "origin", session_origin_parse, &ret->origin);
	manifest_texts(&section, "previous", &ret->previous);
	ret->transcript_path = manifest_text(&section, "transcript_path");
	ret->first_turn_seen = manifest_bool(&section, "first_turn_seen");
	ret->captured_at = manifest_time(&section, "captured_at");
	ret->config_home = manifest_text(&section, "config_home");
	ret->home_is_default = manifest_bool(&section, "config_home_is_default");
	ret->forked_from = manifest_text(&section, "forked_from");
	ret->forked_at = manifest_int(&section, "forked_at", INT64_MAX);
	ret->set_aside = manifest_text(&section, "set_aside");
	ret->directory = manifest_text(&section, "directory");
	if (ret->directory && *ret->directory != '/')
		manifest_fail(&section, "directory", "is not an absolute path");
	const struct manifest_section shared = manifest_section(&section, "shared",
								"conversation.shared.");
	ret->shared = (struct shared_conversation){
		.session_id = manifest_text(&shared, "session_id"),
		.owner = manifest_text(&shared, "owner"),
		.title = manifest_text(&shared, "title"),
		.profile = manifest_text(&shared, "profile"),
		.since = manifest_time(&shared, "since"),
	};
}

static void read_reason(const struct manifest_section *section, struct attempt *attempt)
{
	cleanup_free char *name = manifest_text(section, "reason");
	attempt->reason = name ? reason_of_name(name) : REASON_NONE;
	if (attempt->reason == REASON_OTHER)
		attempt->other_reason = TAKE_PTR(name);
}

static void read_attempts(const struct manifest_section *run, struct run *ret)
{
	struct json_object *array = manifest_member(run, "attempts", json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	for (size_t i = 0; i < count; i++) {
		const struct manifest_section section = { .reader = run->reader,
							  .name = "run.attempts[].",
							  .object = json_object_array_get_idx(array,
											      i) };
		struct attempt attempt = { 0 };
		if (!json_object_is_type(section.object, json_type_object)) {
			manifest_fail(run, "attempts", "holds something that is not an object");
			return;
		}
		MANIFEST_WORD(&section, "rung", rung_parse, &attempt.rung);
		read_reason(&section, &attempt);
		attempt.session_id = manifest_text(&section, "session_id");
		manifest_texts(&section, "argv", &attempt.argv);
		run_add_attempt(ret, &attempt);
		attempt_clear(&attempt);
	}
	ret->attempt = (size_t)manifest_int(run, "attempt", INT_MAX);
	if (ret->attempt > 0 && ret->attempt >= ret->attempt_count)
		manifest_fail(run, "attempt", "is out of range");
}

static void read_run(const struct manifest_section *root, struct run *ret)
{
	const struct manifest_section section = manifest_section(root, "run", "run.");
	if (!section.object)
		return;
	ret->id = manifest_text(&section, "id");
	ret->socket = manifest_text(&section, "socket");
	ret->directory = manifest_text(&section, "directory");
	ret->unit = manifest_text(&section, "unit");
	ret->invocation_id = manifest_text(&section, "invocation_id");
	ret->boot_id = manifest_text(&section, "boot_id");
	ret->machine_id = manifest_text(&section, "machine_id");
	ret->pid_namespace = manifest_text(&section, "pid_namespace");
	ret->host = manifest_text(&section, "host");
	ret->server.pid = (pid_t)manifest_int(&section, "server_pid", INT_MAX);
	ret->server.start = (uint64_t)manifest_int(&section, "server_start", INT64_MAX);
	ret->pane.pid = (pid_t)manifest_int(&section, "pane_pid", INT_MAX);
	ret->pane.start = (uint64_t)manifest_int(&section, "pane_start", INT64_MAX);
	ret->window.pid = (pid_t)manifest_int(&section, "window_pid", INT_MAX);
	ret->window.start = (uint64_t)manifest_int(&section, "window_start", INT64_MAX);
	ret->capsule = manifest_text(&section, "capsule");
	read_attempts(&section, ret);
	ret->attempt_since = manifest_time(&section, "attempt_since");
	ret->attempt_since_boot_ms = manifest_int(&section, "attempt_since_boot_ms", INT64_MAX);
	ret->offer = manifest_bool(&section, "offer");
	ret->reported = manifest_bool(&section, "reported");
	ret->reporter.pid = (pid_t)manifest_int(&section, "reporter_pid", INT_MAX);
	ret->reporter.start = (uint64_t)manifest_int(&section, "reporter_start", INT64_MAX);
	ret->history_note = manifest_text(&section, "history_note");
}

static void read_recipe(const struct manifest_section *root, struct instance *instance)
{
	struct manifest_reader *reader = root->reader;
	struct json_object *object = manifest_member(root, "recipe", json_type_object);
	if (object && !reader->failed &&
	    recipe_from_json(object, reader->what, &instance->recipe, reader->err) < 0)
		reader->failed = true;
	instance->container_id = manifest_text(root, "container_id");
	instance->container_memory = manifest_int(root, "container_memory", INT64_MAX);
	instance->container_pids = manifest_int(root, "container_pids", INT64_MAX);
}

static void read_workspace(const struct manifest_section *root, struct instance *instance)
{
	struct manifest_reader *reader = root->reader;
	struct json_object *object = manifest_member(root, "workspace", json_type_object);
	if (object && !reader->failed &&
	    workspace_from_json(object, reader->what, &instance->workspace, reader->err) < 0)
		reader->failed = true;
}

/* A later version may know further stages. */
static void read_ending(const struct manifest_section *root, struct ending *ret)
{
	const struct manifest_section section = manifest_section(root, "ending", "ending.");
	if (!section.object)
		return;
	cleanup_free char *stage = manifest_text(&section, "stage");
	if (!stage || !ending_stage_parse(stage, &ret->stage))
		ret->stage = ENDING_OTHER;
	ret->at = manifest_time(&section, "at");
	ret->why = manifest_text(&section, "why");
	ret->seen = manifest_text(&section, "seen");
}

static void read_comeback(const struct manifest_section *root, struct comeback *ret)
{
	const struct manifest_section section = manifest_section(root, "came_back", "came_back.");
	ret->at = manifest_time(&section, "at");
	ret->tier = (unsigned)manifest_int(&section, "tier", 3);
	MANIFEST_WORD(&section, "rung", rung_parse, &ret->rung);
	ret->lost = manifest_text(&section, "lost");
}

/* Without a pid there is no process. */
static void read_taken_process(const struct manifest_section *section, struct taken *ret)
{
	const struct process_id process = {
		.pid = (pid_t)manifest_int(section, "pid", INT_MAX),
		.start = (uint64_t)manifest_int(section, "start", INT64_MAX),
	};
	if (process.pid && ret->count < TAKEN_MAX)
		ret->processes[ret->count++] = process;
}

static void read_launched(const struct manifest_section *taken, struct taken *ret)
{
	struct json_object *array = manifest_member(taken, "launched", json_type_array);
	for (size_t i = 0; array && i < json_object_array_length(array); i++) {
		const struct manifest_section section = {
			.reader = taken->reader,
			.name = "taken_from.launched[].",
			.object = json_object_array_get_idx(array, i),
		};
		if (json_object_is_type(section.object, json_type_object))
			read_taken_process(&section, ret);
		else
			manifest_fail(taken, "launched", "holds something that is not an object");
	}
}

static void read_taken(const struct manifest_section *root, struct taken *ret)
{
	const struct manifest_section section = manifest_section(root, "taken_from", "taken_from.");
	if (!section.object)
		return;
	read_taken_process(&section, ret);
	read_launched(&section, ret);
	ret->boot_id = manifest_text(&section, "boot_id");
	ret->machine_id = manifest_text(&section, "machine_id");
	ret->pid_namespace = manifest_text(&section, "pid_namespace");
	ret->session_id = manifest_text(&section, "session_id");
}

static void read_limits(const struct manifest_section *root, struct limits *ret)
{
	const struct manifest_section section = manifest_section(root, "limits", "limits.");
	ret->memory_high = manifest_int(&section, "memory_high", INT64_MAX);
	ret->memory_max = manifest_int(&section, "memory_max", INT64_MAX);
	ret->tasks_max = manifest_int(&section, "tasks_max", INT64_MAX);
	ret->cpu_weight = manifest_int(&section, "cpu_weight", INT64_MAX);
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

static void read_identity(const struct manifest_section *root, struct instance *instance)
{
	instance->id = manifest_need_text(root, "id");
	if (instance->id && !naming_is_id(instance->id))
		manifest_fail(root, "id", "is not an instance id");
	instance->profile = manifest_text(root, "profile");
	instance->title = manifest_need_text(root, "title");
	instance->group = manifest_text(root, "group");
	instance->notes = manifest_text(root, "notes");
	instance->imported_from = manifest_text(root, "imported_from");
	instance->removed_title = manifest_text(root, "removed_title");
	instance->cwd = manifest_need_text(root, "cwd");
	if (instance->cwd && *instance->cwd != '/')
		manifest_fail(root, "cwd", "is not an absolute path");
	(void)manifest_require(root, "created_at");
	instance->created_at = manifest_time(root, "created_at");
	instance->last_used_at = manifest_time(root, "last_used_at");
	instance->agent = manifest_need_text(root, "agent");
	(void)manifest_require(root, "argv");
	manifest_texts(root, "argv", &instance->argv);
	if (!instance->argv.count)
		manifest_fail(root, "argv", "is empty");
	instance->backend = manifest_need_text(root, "backend");
	instance->base = manifest_text(root, "base");
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
	struct manifest_reader reader = { .what = what, .err = err };
	const struct manifest_section root = { .reader = &reader, .name = "", .object = object };

	if (!json_object_is_type(object, json_type_object))
		return error_set(err, ERROR_CORRUPT, "%s: is not a JSON object", what);
	if (check_format(object, what, err) < 0)
		return -1;
	cleanup_instance struct instance *instance = instance_new();
	read_identity(&root, instance);
	const struct manifest_section env = manifest_section(&root, "env", "env.");
	manifest_texts(&env, "kept", &instance->env_kept);
	const struct manifest_section policy = manifest_section(&root, "policy", "policy.");
	MANIFEST_WORD(&policy, "resume", resume_policy_parse, &instance->resume_policy);
	MANIFEST_WORD(&policy, "restart", restart_policy_parse, &instance->restart_policy);
	MANIFEST_WORD(&policy, "on_end", end_policy_parse, &instance->end_policy);
	(void)manifest_require(&root, "desired");
	MANIFEST_WORD(&root, "desired", instance_desired_parse, &instance->desired);
	read_observed(&root, instance);
	read_conversation(&root, &instance->conversation);
	manifest_texts(&root, "resume_argv", &instance->resume_argv);
	read_run(&root, &instance->run);
	read_limits(&root, &instance->limits);
	read_recipe(&root, instance);
	read_workspace(&root, instance);
	read_comeback(&root, &instance->came_back);
	read_taken(&root, &instance->taken);
	read_ending(&root, &instance->ending);
	if (reader.failed)
		return -1;
	instance->unknown = json_object_get(object);
	*ret = TAKE_PTR(instance);
	return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void put_exit(struct json_object *observed, const struct exit_record *record)
{
	const struct json_object *old = json_get_object(observed, "exit");
	if (!record->present || json_get_int(old, "code", 0) != record->code ||
	    json_get_int(old, "signal", 0) != record->signal ||
	    json_get_bool(old, "oom", false) != record->oom ||
	    !manifest_is_same(old, "oom_victim", record->oom_victim) ||
	    !manifest_is_same(old, "last_words", record->last_words))
		json_object_object_del(observed, "exit");
	if (!record->present)
		return;
	struct json_object *object = json_make_object(observed, "exit");
	if (record->signal)
		json_object_object_del(object, "code");
	else
		json_set_int(object, "code", record->code);
	manifest_put_number(object, "signal", record->signal);
	manifest_put_flag(object, "oom", record->oom);
	manifest_put_text(object, "oom_victim", record->oom_victim);
	manifest_put_text(object, "last_words", record->last_words);
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
	manifest_put_time(object, "since", instance->observed.since);
	manifest_put_text(object, "reason", instance->observed.reason);
	put_exit(object, &instance->observed.exit);
	manifest_put_text(object, "boot_id", instance->observed.boot_id);
	manifest_put_text(object, "machine_id", instance->observed.machine_id);
	manifest_put_text(object, "pid_namespace", instance->observed.pid_namespace);
	manifest_put_text(object, "host", instance->observed.host);
	manifest_put_text(object, "held", instance->observed.held);
	manifest_put_text(object, "hold",
			  instance->observed.held ? hold_name(instance->observed.hold) : NULL);
	/* It is put at the end each time. */
	put_restarts(object, instance);
}

static void put_shared(struct json_object *conversation, const struct shared_conversation *shared)
{
	const struct json_object *old = json_get_object(conversation, "shared");
	if (!manifest_is_same(old, "session_id", shared->session_id) ||
	    !manifest_is_same(old, "owner", shared->owner))
		json_object_object_del(conversation, "shared");
	if (!shared->session_id)
		return;
	struct json_object *object = json_make_object(conversation, "shared");
	manifest_put_text(object, "session_id", shared->session_id);
	manifest_put_text(object, "owner", shared->owner);
	manifest_put_text(object, "title", shared->title);
	manifest_put_text(object, "profile", shared->profile);
	manifest_put_time(object, "since", shared->since);
}

static void put_conversation(struct json_object *root, const struct conversation *conversation)
{
	struct json_object *object = json_make_object(root, "conversation");
	manifest_put_text(object, "session_id", conversation->session_id);
	json_set_string(object, "origin", session_origin_name(conversation->origin));
	manifest_put_texts(object, "previous", &conversation->previous);
	manifest_put_text(object, "transcript_path", conversation->transcript_path);
	json_set_bool(object, "first_turn_seen", conversation->first_turn_seen);
	manifest_put_time(object, "captured_at", conversation->captured_at);
	manifest_put_text(object, "set_aside", conversation->set_aside);
	manifest_put_flag(object, "config_home_is_default", conversation->home_is_default);
	manifest_put_text(object, "config_home", conversation->config_home);
	manifest_put_text(object, "forked_from", conversation->forked_from);
	manifest_put_number(object, "forked_at", conversation->forked_at);
	manifest_put_text(object, "directory", conversation->directory);
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
		if (item && manifest_is_same(item, "rung", rung_name(attempt->rung)) &&
		    manifest_is_same(item, "session_id", attempt->session_id))
			item = json_object_get(item);
		else
			item = json_object_new_object();
		if (!item || json_object_array_add(array, item) < 0)
			abort();
		json_set_string(item, "rung", rung_name(attempt->rung));
		manifest_put_text(item, "reason", attempt_reason(attempt));
		manifest_put_text(item, "session_id", attempt->session_id);
		manifest_put_texts(item, "argv", &attempt->argv);
	}
	json_set(object, "attempts", array);
}

static void put_run(struct json_object *root, const struct run *run)
{
	const struct json_object *old = json_get_object(root, "run");
	bool empty = !run->id && !run->socket && !run->unit && run->attempt_count == 0;
	if (empty || !manifest_is_same(old, "id", run->id))
		json_object_object_del(root, "run");
	if (empty)
		return;
	struct json_object *object = json_make_object(root, "run");
	manifest_put_text(object, "id", run->id);
	manifest_put_text(object, "socket", run->socket);
	manifest_put_text(object, "directory", run->directory);
	manifest_put_text(object, "unit", run->unit);
	manifest_put_text(object, "invocation_id", run->invocation_id);
	manifest_put_text(object, "boot_id", run->boot_id);
	manifest_put_text(object, "machine_id", run->machine_id);
	manifest_put_text(object, "pid_namespace", run->pid_namespace);
	manifest_put_text(object, "host", run->host);
	manifest_put_number(object, "server_pid", run->server.pid);
	manifest_put_number(object, "server_start", (int64_t)run->server.start);
	manifest_put_number(object, "pane_pid", run->pane.pid);
	manifest_put_number(object, "pane_start", (int64_t)run->pane.start);
	manifest_put_number(object, "window_pid", run->window.pid);
	manifest_put_number(object, "window_start", (int64_t)run->window.start);
	manifest_put_text(object, "capsule", run->capsule);
	put_attempts(object, run);
	json_set_int(object, "attempt", (int64_t)run->attempt);
	manifest_put_time(object, "attempt_since", run->attempt_since);
	manifest_put_number(object, "attempt_since_boot_ms", run->attempt_since_boot_ms);
	manifest_put_flag(object, "offer", run->offer);
	json_set_bool(object, "reported", run->reported);
	manifest_put_number(object, "reporter_pid", run->reporter.pid);
	manifest_put_number(object, "reporter_start", (int64_t)run->reporter.start);
	manifest_put_text(object, "history_note", run->history_note);
}

static void put_limits(struct json_object *root, const struct limits *limits)
{
	struct json_object *object = json_make_object(root, "limits");
	manifest_put_number(object, "memory_high", limits->memory_high);
	manifest_put_number(object, "memory_max", limits->memory_max);
	manifest_put_number(object, "tasks_max", limits->tasks_max);
	manifest_put_number(object, "cpu_weight", limits->cpu_weight);
	if (json_object_object_length(object) == 0)
		json_object_object_del(root, "limits");
}

static void put_recipe(struct json_object *root, const struct instance *instance)
{
	if (instance->recipe)
		json_set(root, "recipe", recipe_to_json(instance->recipe));
	else
		json_object_object_del(root, "recipe");
	manifest_put_text(root, "container_id", instance->container_id);
	manifest_put_number(root, "container_memory", instance->container_memory);
	manifest_put_number(root, "container_pids", instance->container_pids);
}

static void put_workspace(struct json_object *root, const struct instance *instance)
{
	if (instance->workspace)
		json_set(root, "workspace", workspace_to_json(instance->workspace));
	else
		json_object_object_del(root, "workspace");
}

static void put_comeback(struct json_object *root, const struct comeback *comeback)
{
	if (!comeback->at) {
		json_object_object_del(root, "came_back");
		return;
	}
	struct json_object *object = json_make_object(root, "came_back");
	manifest_put_time(object, "at", comeback->at);
	json_set_int(object, "tier", (int64_t)comeback->tier);
	manifest_put_text(object, "rung", comeback->rung ? rung_name(comeback->rung) : NULL);
	manifest_put_text(object, "lost", comeback->lost);
}

static void put_taken_process(struct json_object *object, const struct process_id *process)
{
	manifest_put_number(object, "pid", process->pid);
	manifest_put_number(object, "start", (int64_t)process->start);
}

static void put_launched(struct json_object *taken_from, const struct taken *taken)
{
	json_object_object_del(taken_from, "launched");
	if (taken->count < 2)
		return;
	struct json_object *array = json_object_new_array();
	for (size_t i = 1; i < taken->count; i++) {
		struct json_object *object = json_object_new_object();
		put_taken_process(object, &taken->processes[i]);
		json_object_array_add(array, object);
	}
	json_object_object_add(taken_from, "launched", array);
}

static void put_taken(struct json_object *root, const struct taken *taken)
{
	if (!taken->count) {
		json_object_object_del(root, "taken_from");
		return;
	}
	struct json_object *object = json_make_object(root, "taken_from");
	put_taken_process(object, &taken->processes[0]);
	put_launched(object, taken);
	manifest_put_text(object, "boot_id", taken->boot_id);
	manifest_put_text(object, "machine_id", taken->machine_id);
	manifest_put_text(object, "pid_namespace", taken->pid_namespace);
	manifest_put_text(object, "session_id", taken->session_id);
}

static void put_ending(struct json_object *root, const struct ending *ending)
{
	if (ending->stage == ENDING_OTHER)
		return;
	if (ending->stage == ENDING_NONE) {
		json_object_object_del(root, "ending");
		return;
	}
	struct json_object *object = json_make_object(root, "ending");
	manifest_put_text(object, "stage", ending_stage_name(ending->stage));
	manifest_put_time(object, "at", ending->at);
	manifest_put_text(object, "why", ending->why);
	manifest_put_text(object, "seen", ending->seen);
}

struct json_object *instance_to_json(const struct instance *instance)
{
	struct json_object *root = manifest_copy(instance->unknown);
	json_set_int(root, "format", INSTANCE_FORMAT);
	manifest_put_text(root, "id", instance->copy_of ? instance->copy_of : instance->id);
	manifest_put_text(root, "profile", instance->profile);
	manifest_put_text(root, "title", instance->title);
	manifest_put_text(root, "group", instance->group);
	manifest_put_text(root, "notes", instance->notes);
	manifest_put_text(root, "imported_from", instance->imported_from);
	manifest_put_text(root, "removed_title", instance->removed_title);
	manifest_put_text(root, "cwd", instance->cwd);
	char created_at[CLOCK_TEXT_SIZE];
	json_set_string(root, "created_at", clock_format(instance->created_at, created_at));
	manifest_put_time(root, "last_used_at", instance->last_used_at);
	manifest_put_text(root, "agent", instance->agent);
	manifest_put_texts(root, "argv", &instance->argv);
	manifest_put_texts(json_make_object(root, "env"), "kept", &instance->env_kept);
	manifest_put_text(root, "backend", instance->backend);
	manifest_put_text(root, "base", instance->base);
	struct json_object *policy = json_make_object(root, "policy");
	json_set_string(policy, "resume", resume_policy_name(instance->resume_policy));
	json_set_string(policy, "restart", restart_policy_name(instance->restart_policy));
	manifest_put_text(policy, "on_end",
			  instance->end_policy ? end_policy_name(instance->end_policy) : NULL);
	json_set_string(root, "desired", instance_desired_name(instance->desired));
	put_observed(root, instance);
	put_conversation(root, &instance->conversation);
	manifest_put_texts(root, "resume_argv", &instance->resume_argv);
	put_run(root, &instance->run);
	put_limits(root, &instance->limits);
	put_recipe(root, instance);
	put_workspace(root, instance);
	put_comeback(root, &instance->came_back);
	put_taken(root, &instance->taken);
	put_ending(root, &instance->ending);
	return root;
}
