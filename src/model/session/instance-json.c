/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fields of an instance: docs/state-format.md is their manual.
 */
#include "model/session/instance.h"

#include "base/clock.h"
#include "model/session/fields.h"
#include "model/session/naming.h"
#include "model/session/tags.h"

#include <string.h>

/* --- process ids ------------------------------------------------------------------------------ */

/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name takes none */
#define PROCESS(record, member, pid_key, start_key) \
	FIELD(record, member.pid, pid_key), FIELD(record, member.start, start_key)
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct field process_members[] = {
	FIELD(struct process_id, pid, "pid"),
	FIELD(struct process_id, start, "start"),
};
static const struct fields process_fields = FIELDS(struct process_id, process_members);

/* --- the conversation ------------------------------------------------------------------------- */

static const struct field shared_members[] = {
	FIELD(struct shared_conversation, session_id, "session_id", .identifies = true,
	      .decides = true),
	FIELD(struct shared_conversation, owner, "owner", .identifies = true),
	FIELD(struct shared_conversation, title, "title"),
	FIELD(struct shared_conversation, profile, "profile"),
	FIELD_OF_TIME(struct shared_conversation, since, "since"),
};
static const struct fields shared_fields = FIELDS(struct shared_conversation, shared_members);

static const struct field conversation_members[] = {
	FIELD(struct conversation, session_id, "session_id"),
	FIELD(struct conversation, origin, "origin", .words = session_origin_words, .always = true),
	FIELD(struct conversation, previous, "previous", .always = true),
	FIELD(struct conversation, transcript_path, "transcript_path"),
	FIELD(struct conversation, first_turn_seen, "first_turn_seen", .always = true),
	FIELD_OF_TIME(struct conversation, captured_at, "captured_at"),
	FIELD(struct conversation, set_aside, "set_aside"),
	FIELD(struct conversation, home_is_default, "config_home_is_default"),
	FIELD(struct conversation, config_home, "config_home"),
	FIELD(struct conversation, forked_from, "forked_from"),
	FIELD(struct conversation, forked_at, "forked_at"),
	FIELD(struct conversation, directory, "directory", .is_path = true),
	FIELD_OF_STRUCT(struct conversation, shared, "shared", &shared_fields),
};
static const struct fields conversation_fields = FIELDS(struct conversation, conversation_members);

void conversation_copy(const struct conversation *conversation, struct conversation *ret)
{
	fields_copy(&conversation_fields, conversation, ret);
}

void conversation_clear(struct conversation *conversation)
{
	fields_clear(&conversation_fields, conversation);
}

void shared_conversation_clear(struct shared_conversation *shared)
{
	fields_clear(&shared_fields, shared);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void read_reason(const struct manifest_section *section, const char *key, void *record)
{
	struct attempt *attempt = record;
	cleanup_free char *name = manifest_text(section, key);
	attempt->reason = name ? reason_of_name(name) : REASON_NONE;
	if (attempt->reason == REASON_OTHER)
		attempt->other_reason = TAKE_PTR(name);
}

const char *attempt_reason(const struct attempt *attempt)
{
	return attempt->reason == REASON_OTHER ? attempt->other_reason
					       : reason_name(attempt->reason);
}

static void put_reason(struct json_object *object, const char *key, const void *record)
{
	manifest_put_text(object, key, attempt_reason(record));
}

static const struct field attempt_members[] = {
	FIELD(struct attempt, rung, "rung", .words = rung_words, .always = true,
	      .identifies = true),
	FIELD(struct attempt, reason, "reason", .read = read_reason, .put = put_reason),
	FIELD(struct attempt, other_reason, NULL),
	FIELD(struct attempt, session_id, "session_id", .identifies = true),
	FIELD(struct attempt, argv, "argv", .always = true),
};
static const struct fields attempt_fields = FIELDS(struct attempt, attempt_members);

static void check_run(const struct manifest_section *section, void *record)
{
	const struct run *run = record;
	if (run->attempt > 0 && run->attempt >= run->attempt_count)
		manifest_fail(section, "attempt", "is out of range");
}

static const struct field run_members[] = {
	FIELD(struct run, id, "id", .identifies = true, .decides = true),
	FIELD(struct run, socket, "socket", .decides = true),
	FIELD(struct run, directory, "directory"),
	FIELD(struct run, unit, "unit", .decides = true),
	FIELD(struct run, invocation_id, "invocation_id"),
	FIELD(struct run, boot_id, "boot_id"),
	FIELD(struct run, machine_id, "machine_id"),
	FIELD(struct run, pid_namespace, "pid_namespace"),
	FIELD(struct run, host, "host"),
	PROCESS(struct run, server, "server_pid", "server_start"),
	PROCESS(struct run, pane, "pane_pid", "pane_start"),
	PROCESS(struct run, window, "window_pid", "window_start"),
	FIELD(struct run, capsule, "capsule"),
	FIELD_OF_LIST(struct run, attempts, attempt_count, "attempts", &attempt_fields,
		      .always = true, .decides = true),
	FIELD(struct run, attempt, "attempt", .always = true),
	FIELD_OF_TIME(struct run, attempt_since, "attempt_since"),
	FIELD(struct run, attempt_since_boot_ms, "attempt_since_boot_ms"),
	FIELD(struct run, offer, "offer"),
	FIELD(struct run, reported, "reported", .always = true),
	PROCESS(struct run, reporter, "reporter_pid", "reporter_start"),
	FIELD(struct run, history_note, "history_note"),
};
static const struct fields run_fields = FIELDS(struct run, run_members, .check = check_run);

void attempt_clear(struct attempt *attempt)
{
	fields_clear(&attempt_fields, attempt);
}

void run_copy(const struct run *run, struct run *ret)
{
	fields_copy(&run_fields, run, ret);
}

void run_clear(struct run *run)
{
	fields_clear(&run_fields, run);
}

void run_add_attempt(struct run *run, const struct attempt *attempt)
{
	run->attempts = xreallocarray(run->attempts, run->attempt_count + 1, sizeof(*attempt));
	fields_copy(&attempt_fields, attempt, &run->attempts[run->attempt_count++]);
}

/* --- what was seen ---------------------------------------------------------------------------- */

static void check_exit(const struct manifest_section *section UNUSED, void *record)
{
	struct exit_record *exit = record;
	exit->present = true;
}

static void put_code(struct json_object *object, const char *key, const void *record)
{
	const struct exit_record *exit = record;
	if (exit->signal)
		json_object_object_del(object, key);
	else
		json_set_int(object, key, exit->code);
}

static const struct field exit_members[] = {
	FIELD(struct exit_record, present, NULL, .decides = true),
	FIELD(struct exit_record, code, "code", .put = put_code, .identifies = true),
	FIELD(struct exit_record, signal, "signal", .identifies = true),
	FIELD(struct exit_record, oom, "oom", .identifies = true),
	FIELD(struct exit_record, oom_victim, "oom_victim", .identifies = true),
	FIELD(struct exit_record, last_words, "last_words", .identifies = true),
};
static const struct fields exit_fields = FIELDS(struct exit_record, exit_members,
						.check = check_exit);

/* A list that is longer than ours was written with another limit: the latest count. */
static void read_restarts(const struct manifest_section *section, const char *key, void *record)
{
	struct instance *instance = record;
	struct json_object *array = manifest_member(section, key, json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	size_t first = count > INSTANCE_RESTARTS ? count - INSTANCE_RESTARTS : 0;
	for (size_t i = first; i < count; i++) {
		int64_t at = manifest_parse_time(json_object_array_get_idx(array, i));
		if (at < 0) {
			manifest_fail(section, key, "holds something that is not a time");
			return;
		}
		instance->observed.restarts[instance->observed.restart_count++] = at;
	}
}

static void put_restarts(struct json_object *object, const char *key, const void *record)
{
	const struct instance *instance = record;
	cleanup_strvec struct strvec times = { 0 };
	for (size_t i = 0; i < instance->observed.restart_count; i++) {
		char text[CLOCK_TEXT_SIZE];
		strvec_push(&times, clock_format(instance->observed.restarts[i], text));
	}
	if (times.count)
		manifest_put_texts(object, key, &times);
	else
		json_object_object_del(object, key);
}

static void check_observed(const struct manifest_section *section UNUSED, void *record)
{
	struct instance *instance = record;
	if (!instance->observed.held)
		instance->observed.hold = HOLD_NONE;
	else if (!instance->observed.hold)
		instance->observed.hold = HOLD_OTHER;
}

/* The fields of an instance that are an object of their own in JSON only. */
static const struct field observed_members[] = {
	FIELD(struct instance, observed.state, "state", .words = instance_state_words,
	      .needed = true, .always = true),
	FIELD_OF_TIME(struct instance, observed.since, "since"),
	FIELD(struct instance, observed.reason, "reason"),
	FIELD_OF_STRUCT(struct instance, observed.exit, "exit", &exit_fields),
	FIELD(struct instance, observed.boot_id, "boot_id"),
	FIELD(struct instance, observed.machine_id, "machine_id"),
	FIELD(struct instance, observed.pid_namespace, "pid_namespace"),
	FIELD(struct instance, observed.host, "host"),
	FIELD(struct instance, observed.held, "held"),
	FIELD(struct instance, observed.hold, "hold", .words = hold_words, .other = HOLD_OTHER),
	{ .key = "restarts", .type = FIELD_CUSTOM, .read = read_restarts, .put = put_restarts },
};
static const struct fields observed_fields = FIELDS(struct instance, observed_members,
						    .check = check_observed);

static const struct field policy_members[] = {
	FIELD(struct instance, resume_policy, "resume", .words = resume_policy_words,
	      .always = true),
	FIELD(struct instance, restart_policy, "restart", .words = restart_policy_words,
	      .always = true),
	FIELD(struct instance, end_policy, "on_end", .words = end_policy_words),
	FIELD(struct instance, sleep_after, "sleep_after"),
};
static const struct fields policy_fields = FIELDS(struct instance, policy_members);

static const struct field env_members[] = {
	FIELD(struct instance, env_kept, "kept", .always = true),
	FIELD(struct instance, env_names, "names"),
};
static const struct fields env_fields = FIELDS(struct instance, env_members);

static const struct field terminal_members[] = {
	FIELD(struct termsize, columns, "columns"),
	FIELD(struct termsize, rows, "rows"),
};
static const struct fields terminal_fields = FIELDS(struct termsize, terminal_members);

void exit_record_clear(struct exit_record *record)
{
	fields_clear(&exit_fields, record);
}

/* --- the end, a take-over, limits ------------------------------------------------------------- */

static void check_ending(const struct manifest_section *section UNUSED, void *record)
{
	struct ending *ending = record;
	if (ending->stage == ENDING_NONE)
		ending->stage = ENDING_OTHER;
}

static const struct field ending_members[] = {
	FIELD(struct ending, stage, "stage", .words = ending_stage_words, .other = ENDING_OTHER,
	      .decides = true),
	FIELD_OF_TIME(struct ending, at, "at"),
	FIELD(struct ending, why, "why"),
	FIELD(struct ending, seen, "seen"),
};
static const struct fields ending_fields = FIELDS(struct ending, ending_members,
						  .check = check_ending);

static const struct field move_members[] = {
	FIELD(struct move, state, "state", .words = move_state_words, .other = MOVE_OTHER,
	      .decides = true),
	FIELD(struct move, id, "id"),
	FIELD(struct move, host, "host"),
	FIELD(struct move, was_here, "was_here"),
	FIELD(struct move, tree, "tree"),
	FIELD_OF_TIME(struct move, at, "at"),
};
static const struct fields move_fields = FIELDS(struct move, move_members);

static const struct field comeback_members[] = {
	FIELD_OF_TIME(struct comeback, at, "at", .decides = true),
	FIELD(struct comeback, tier, "tier", .max = 3, .always = true),
	FIELD(struct comeback, rung, "rung", .words = rung_words),
	FIELD(struct comeback, lost, "lost"),
};
static const struct fields comeback_fields = FIELDS(struct comeback, comeback_members);

static const struct field limits_members[] = {
	FIELD(struct limits, memory_high, "memory_high"),
	FIELD(struct limits, memory_max, "memory_max"),
	FIELD(struct limits, tasks_max, "tasks_max"),
	FIELD(struct limits, cpu_weight, "cpu_weight"),
};
static const struct fields limits_fields = FIELDS(struct limits, limits_members);

/* The first process of a take-over is in the object itself. Without a pid there is none. */
static void read_taken_process(const struct manifest_section *section, struct taken *taken)
{
	struct process_id process = { 0 };
	fields_read(section, &process_fields, &process);
	if (process.pid && taken->count < TAKEN_MAX)
		taken->processes[taken->count++] = process;
}

static void read_pid(const struct manifest_section *section, const char *key UNUSED, void *record)
{
	read_taken_process(section, record);
}

static void put_pid(struct json_object *object, const char *key UNUSED, const void *record)
{
	const struct taken *taken = record;
	fields_put(object, &process_fields, &taken->processes[0]);
}

static void read_launched(const struct manifest_section *section, const char *key, void *record)
{
	struct json_object *array = manifest_member(section, key, json_type_array);
	for (size_t i = 0; array && i < json_object_array_length(array); i++) {
		const struct manifest_section item = { section->reader, "taken_from.launched[].",
						       json_object_array_get_idx(array, i) };
		if (json_object_is_type(item.object, json_type_object))
			read_taken_process(&item, record);
		else
			manifest_fail(section, key, "holds something that is not an object");
	}
}

static void put_launched(struct json_object *object, const char *key, const void *record)
{
	const struct taken *taken = record;
	json_object_object_del(object, key);
	if (taken->count < 2)
		return;
	struct json_object *array = json_object_new_array();
	for (size_t i = 1; i < taken->count; i++) {
		struct json_object *process = json_object_new_object();
		fields_put(process, &process_fields, &taken->processes[i]);
		json_object_array_add(array, process);
	}
	json_set(object, key, array);
}

static const struct field taken_members[] = {
	FIELD(struct taken, count, NULL, .decides = true),
	{ .key = "pid", .type = FIELD_CUSTOM, .read = read_pid, .put = put_pid },
	{ .key = "launched", .type = FIELD_CUSTOM, .read = read_launched, .put = put_launched },
	FIELD(struct taken, boot_id, "boot_id"),
	FIELD(struct taken, machine_id, "machine_id"),
	FIELD(struct taken, pid_namespace, "pid_namespace"),
	FIELD(struct taken, session_id, "session_id"),
};
static const struct fields taken_fields = FIELDS(struct taken, taken_members);

void ending_clear(struct ending *ending)
{
	fields_clear(&ending_fields, ending);
}

void move_clear(struct move *move)
{
	fields_clear(&move_fields, move);
}

void move_set(struct move *move, enum move_state state, const char *id, const char *host,
	      int64_t now_us)
{
	const struct move now = {
		.id = xstrdup_or_null(id),
		.host = xstrdup_or_null(host),
		.state = state,
		.was_here = move->was_here && move->state != MOVE_ARRIVED,
		.tree = streq(or_empty(move->id), or_empty(id)) ? xstrdup_or_null(move->tree)
								: NULL,
		.at = now_us / 1000 * 1000,
	};
	move_clear(move);
	*move = now;
}

void taken_clear(struct taken *taken)
{
	fields_clear(&taken_fields, taken);
}

/* --- the queue -------------------------------------------------------------------------------- */

static const struct field queued_members[] = {
	FIELD(struct queued, id, "id", .needed = true, .identifies = true),
	FIELD(struct queued, text, "text", .needed = true),
	FIELD_OF_TIME(struct queued, at, "at"),
	FIELD(struct queued, state, "state", .words = queued_state_words, .other = QUEUED_OTHER,
	      .needed = true, .always = true),
	FIELD(struct queued, why, "why"),
	FIELD(struct queued, is_raw, "is_raw"),
};
static const struct fields queued_fields = FIELDS(struct queued, queued_members);

void instance_drop_queued(struct instance *instance, size_t index)
{
	struct queued *at = &instance->queue[index];
	fields_clear(&queued_fields, at);
	instance->queue_count--;
	memmove(at, at + 1, (instance->queue_count - index) * sizeof(*at));
}

struct queued *instance_find_queued(const struct instance *instance, const char *id)
{
	for (size_t i = 0; i < instance->queue_count; i++)
		if (streq(instance->queue[i].id, id))
			return &instance->queue[i];
	return NULL;
}

/* --- the instance ----------------------------------------------------------------------------- */

static void put_id(struct json_object *object, const char *key, const void *record)
{
	const struct instance *instance = record;
	manifest_put_text(object, key, instance->copy_of ? instance->copy_of : instance->id);
}

static void read_tags(const struct manifest_section *section, const char *key, void *ret)
{
	struct instance *instance = ret;
	instance->tags = tags_from_json(section->object, key);
}

static void put_tags(struct json_object *object, const char *key, const void *record)
{
	const struct instance *instance = record;
	tags_to_json(object, key, instance->tags);
}

/* What the code of containers relies on. */
static void check_container(const struct manifest_section *section, const struct instance *instance)
{
	const struct run *run = &instance->run;
	if (!instance->recipe)
		manifest_fail(section, "recipe", "of its container is missing");
	if (run->socket && !run->id)
		manifest_fail(section, "run.id", "is missing");
	if (run->socket && !run->capsule)
		manifest_fail(section, "run.capsule", "is missing");
}

/* Both become parts of a path. */
static void check_guest(const struct manifest_section *section, const struct recipe *recipe)
{
	const char *within = recipe ? or_empty(recipe->within) : "";
	if (!*within || *within == '.' || strchr(within, '/'))
		manifest_fail(section, "recipe.within", "names no session");
	if (recipe && (recipe->room < 1 || recipe->room > INT16_MAX))
		manifest_fail(section, "recipe.room", "is no room");
}

static void check_instance(const struct manifest_section *section, void *ret)
{
	const struct instance *instance = ret;
	if (instance->id && !naming_is_id(instance->id))
		manifest_fail(section, "id", "is not an instance id");
	const char *backend = or_empty(instance->backend);
	if (streq(backend, PLACE_CONTAINER) || streq(backend, PLACE_GUEST))
		check_container(section, instance);
	const bool is_within = instance->recipe && instance->recipe->within;
	if (is_within && !streq(backend, PLACE_GUEST))
		manifest_fail(section, "recipe.within", "is not for this backend");
	if (is_within || streq(backend, PLACE_GUEST))
		check_guest(section, instance->recipe);
}

static const struct field instance_members[] = {
	FIELD(struct instance, id, "id", .needed = true, .put = put_id),
	FIELD(struct instance, copy_of, NULL),
	FIELD(struct instance, profile, "profile"),
	FIELD(struct instance, title, "title", .needed = true),
	FIELD(struct instance, group, "group"),
	FIELD(struct instance, notes, "notes"),
	FIELD(struct instance, tags, "tags", .read = read_tags, .put = put_tags),
	FIELD(struct instance, is_pinned, "is_pinned"),
	FIELD_OF_TIME(struct instance, archived_at, "archived_at"),
	FIELD(struct instance, imported_from, "imported_from"),
	FIELD(struct instance, once, "once"),
	FIELD(struct instance, launched_by, "launched_by"),
	FIELD(struct instance, removed_title, "removed_title"),
	FIELD(struct instance, removed_with, "removed_with"),
	FIELD(struct instance, cwd, "cwd", .needed = true, .is_path = true),
	FIELD_OF_TIME(struct instance, created_at, "created_at", .needed = true, .always = true),
	FIELD_OF_TIME(struct instance, last_used_at, "last_used_at"),
	FIELD(struct instance, agent, "agent", .needed = true),
	FIELD(struct instance, argv, "argv", .needed = true, .always = true),
	{ .key = "env", .type = FIELD_STRUCT, .fields = &env_fields },
	FIELD(struct instance, backend, "backend", .needed = true),
	FIELD(struct instance, base, "base"),
	{ .key = "policy", .type = FIELD_STRUCT, .fields = &policy_fields },
	FIELD(struct instance, desired, "desired", .words = instance_desired_words, .needed = true,
	      .always = true),
	{ .key = "observed", .type = FIELD_STRUCT, .fields = &observed_fields, .needed = true },
	FIELD_OF_STRUCT(struct instance, conversation, "conversation", &conversation_fields),
	FIELD(struct instance, resume_argv, "resume_argv", .always = true),
	FIELD_OF_STRUCT(struct instance, terminal, "terminal", &terminal_fields),
	FIELD_OF_STRUCT(struct instance, run, "run", &run_fields),
	FIELD_OF_STRUCT(struct instance, limits, "limits", &limits_fields),
	FIELD_OF_POINTER(struct instance, recipe, "recipe", &recipe_fields),
	FIELD(struct instance, container_id, "container_id"),
	FIELD(struct instance, container_memory, "container_memory"),
	FIELD(struct instance, container_pids, "container_pids"),
	FIELD_OF_POINTER(struct instance, workspace, "workspace", &workspace_fields),
	FIELD_OF_STRUCT(struct instance, came_back, "came_back", &comeback_fields),
	FIELD_OF_STRUCT(struct instance, taken, "taken_from", &taken_fields),
	FIELD_OF_STRUCT(struct instance, ending, "ending", &ending_fields),
	FIELD_OF_STRUCT(struct instance, move, "move", &move_fields),
	FIELD_OF_LIST(struct instance, queue, queue_count, "queue", &queued_fields),
	FIELD_OF_TIME(struct instance, queue_said_at, "queue_said_at"),
};
static const struct fields instance_fields = FIELDS(struct instance, instance_members,
						    .unknown = offsetof(struct instance, unknown),
						    .check = check_instance);

void instance_free(struct instance *instance)
{
	fields_free(&instance_fields, instance);
}

/* Two manifests can bear one id, when a directory was copied by hand.  The directory's name tells
 * them apart, and all that is named after an id (the run's directory, its scope, a report) goes by
 * it. */
static void take_base(struct instance *instance)
{
	if (!instance->base)
		instance->base = xstrdup(instance->id);
	if (!streq(instance->backend, PLACE_DEFAULT) || streq(instance->base, instance->id))
		return;
	instance->copy_of = instance->id;
	instance->id = xstrdup(instance->base);
}

int instance_from_json(struct json_object *object, const char *what, struct instance **ret,
		       struct error *err)
{
	if (json_object_is_type(object, json_type_object) &&
	    manifest_check_format(object, what, INSTANCE_FORMAT_MOVE, err) < 0)
		return -1;
	struct instance *instance = fields_parse(object, what, "", &instance_fields, err);
	if (!instance)
		return -1;
	take_base(instance);
	*ret = instance;
	return 0;
}

struct json_object *instance_to_json(const struct instance *instance)
{
	struct json_object *object = fields_to_json(&instance_fields, instance);
	json_set_int(object, "format",
		     move_blocks(instance->move.state) ? INSTANCE_FORMAT_MOVE : INSTANCE_FORMAT);
	return object;
}
