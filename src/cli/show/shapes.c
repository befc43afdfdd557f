/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/shapes.h"

#include "base/clock.h"
#include "base/machine.h"
#include "base/version.h"
#include "engine/place/alive.h"
#include "engine/place/oom.h"

/* A member that the object does not have yet, under a literal: what a list of thousands needs most
 * often. */
static void add(struct json_object *object, const char *literal, struct json_object *value)
{
	if (json_object_object_add_ex(object, literal, value,
				      JSON_C_OBJECT_ADD_KEY_IS_NEW |
					      JSON_C_OBJECT_KEY_IS_CONSTANT) < 0)
		abort();
}

static void add_text(struct json_object *object, const char *literal, const char *text)
{
	add(object, literal, text ? json_text(text) : NULL);
}

static void add_time(struct json_object *object, const char *literal, int64_t wall_us)
{
	char date[CLOCK_TEXT_SIZE];
	add_text(object, literal, wall_us > 0 ? clock_format(wall_us, date) : NULL);
}

void json_stamp(struct json_object *value)
{
	if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(value); i++)
			json_stamp(json_object_array_get_idx(value, i));
	} else if (json_object_is_type(value, json_type_object) &&
		   !json_object_object_get_ex(value, "protocol", NULL)) {
		add(value, "protocol", json_object_new_int(JSON_PROTOCOL));
		add_text(value, "host", machine_host());
	}
}

void json_set_time(struct json_object *object, const char *key, int64_t wall_us)
{
	char date[CLOCK_TEXT_SIZE];
	json_set_string(object, key, wall_us > 0 ? clock_format(wall_us, date) : NULL);
}

static struct json_object *json_of_shared(const struct shared_conversation *shared)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "session_id", shared->session_id);
	json_set_string(object, "owner", shared->owner);
	json_set_string(object, "title", shared->title);
	json_set_string(object, "profile", shared->profile);
	return object;
}

const char *view_activity(const struct view *view)
{
	return state_is_running(view->state) && !view->is_silent
		       ? instance_activity_name(view->activity)
		       : NULL;
}

struct json_object *json_of_row(const struct store_row *row, const struct view *view,
				const char *profile)
{
	struct json_object *object = json_object_new_object();
	add_text(object, "id", row->id);
	add_text(object, "copy_of", row->copy_of);
	add_text(object, "title", row->title);
	add_text(object, "path", row->lookup_directory);
	add_text(object, "group", or_empty(row->group));
	add_text(object, "notes", row->notes);
	add_text(object, "profile", profile);
	add_text(object, "agent", row->agent);
	add_text(object, "status", view_status(view));
	add_text(object, "activity", view_activity(view));
	add(object, "activity_is_old", json_object_new_boolean(view->is_old));
	add_text(object, "reason", view->reason);
	add(object, "is_undecided", json_object_new_boolean(view->is_undecided));
	add_time(object, "since_at", view_since(row, view));
	add_text(object, "other_host", view->host);
	add_text(object, "session_id", row->session_id);
	add(object, "shares", view->is_sharing ? json_of_shared(&row->shared) : NULL);
	add_text(object, "held", row->held);
	add_text(object, "backend", row->backend);
	add_text(object, "workspace", row->workspace);
	add(object, "asks_first", json_object_new_boolean(view_asks_first(row, view)));
	add_time(object, "created_at", row->created_at);
	add_time(object, "last_used_at", row->last_used_at);
	return object;
}

struct json_object *json_of_entry(const struct roster_entry *entry, bool is_removed)
{
	struct json_object *object = json_of_row(&entry->row, &entry->view, entry->profile);
	json_set_time(object, "since_at", entry->since_us);
	if (!is_removed)
		return object;
	json_set_string(object, "status", "removed");
	json_set_string(object, "activity", NULL);
	json_set_bool(object, "activity_is_old", false);
	json_set_string(object, "reason", NULL);
	return object;
}

struct json_object *json_of_instance(const struct deck *deck, const struct instance *instance)
{
	struct store_row row = { 0 };
	const bool is_there = store_load_row(deck->store, instance->base, &row) == 0;
	/* The session may have been removed meanwhile. */
	const struct store_row rest = { .id = instance->id,
					.title = instance->title,
					.agent = instance->agent,
					.group = instance->group,
					.session_id = instance->conversation.session_id,
					.state = STATE_STOPPED,
					.created_at = instance->created_at };
	cleanup_view struct view view = view_of(is_there ? &row : &rest);
	struct json_object *object = json_of_row(is_there ? &row : &rest, &view, deck->profile);
	store_row_free(&row);
	return object;
}

/* The agent may have taken another attempt since. */
const char *comeback_rung(const struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	const enum rung noted = instance->came_back.rung;
	if (noted == RUNG_NONE)
		return NULL;
	return rung_name(attempt ? attempt->rung : noted);
}

static struct json_object *json_of_comeback(const struct instance *instance)
{
	const struct comeback *comeback = &instance->came_back;
	if (!comeback->at)
		return NULL;
	struct json_object *object = json_object_new_object();
	json_set_int(object, "tier", (int64_t)comeback->tier);
	json_set_string(object, "rung", comeback_rung(instance));
	json_set_time(object, "last_at", comeback->at);
	json_set_string(object, "lost", comeback->lost);
	return object;
}

void json_add_run(struct json_object *object, const struct instance *instance)
{
	const struct run *run = &instance->run;
	const struct attempt *attempt = run_attempt(run);
	const struct place_run place_run = place_run_of(instance);
	const bool is_live = place_is_live(&place_run);
	const pid_t server = run_tmux_server(run)->pid;
	struct json_object *tmux = json_make_object(object, "tmux");
	json_set_string(tmux, "socket", run->socket);
	json_set_string(tmux, "session", run->socket ? "agent" : NULL);
	json_set(tmux, "server_pid", is_live && server ? json_object_new_int64(server) : NULL);
	struct json_object *scope = json_make_object(object, "scope");
	cleanup_free char *cgroup = is_live ? place_control_group(&place_run) : NULL;
	json_set_string(scope, "unit", run->unit);
	json_set_string(scope, "cgroup", cgroup);
	const int64_t kills = cgroup && run->unit ? oom_look(run->directory, cgroup) : -1;
	json_set(scope, "oom_kills", kills >= 0 ? json_object_new_int64(kills) : NULL);
	struct json_object *resume = json_make_object(object, "resume");
	json_set_string(resume, "rung", attempt ? rung_name(attempt->rung) : NULL);
	json_set_string(resume, "reason", attempt ? attempt_reason(attempt) : NULL);
	json_set_string(resume, "history_note", run->history_note);
	json_set_strings(resume, "argv", attempt ? &attempt->argv : &instance->resume_argv);
	json_set(object, "agent_pid",
		 is_live && run->pane.pid ? json_object_new_int64(run->pane.pid) : NULL);
	json_set(object, "came_back", json_of_comeback(instance));
}

struct json_object *json_success(const char *id, const char *title)
{
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "id", id);
	json_set_string(object, "title", title);
	return object;
}
