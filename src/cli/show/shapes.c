/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/shapes.h"

#include "base/clock.h"
#include "base/machine.h"
#include "base/version.h"
#include "engine/place/alive.h"
#include "engine/place/oom.h"
#include "model/session/tags.h"

void json_stamp(struct json_object *value)
{
	if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(value); i++)
			json_stamp(json_object_array_get_idx(value, i));
	} else if (json_object_is_type(value, json_type_object) &&
		   !json_object_object_get_ex(value, "protocol", NULL)) {
		json_set_int(value, "protocol", JSON_PROTOCOL);
		json_set_string(value, "host", machine_host());
	}
}

void json_write_stamped_end(struct json_writer *writer)
{
	json_write_int(writer, "protocol", JSON_PROTOCOL);
	json_write_string(writer, "host", machine_host());
	json_write_end(writer, '}');
}

void json_set_time(struct json_object *object, const char *key, int64_t wall_us)
{
	char date[CLOCK_TEXT_SIZE];
	json_set_string(object, key, wall_us > 0 ? clock_format(wall_us, date) : NULL);
}

void json_write_time(struct json_writer *writer, const char *key, int64_t wall_us)
{
	char date[CLOCK_TEXT_SIZE];
	json_write_string(writer, key, wall_us > 0 ? clock_format(wall_us, date) : NULL);
}

static void write_shared(struct json_writer *writer, const struct shared_conversation *shared)
{
	json_write_begin(writer, "shares", '{');
	json_write_string(writer, "session_id", shared->session_id);
	json_write_string(writer, "owner", shared->owner);
	json_write_string(writer, "title", shared->title);
	json_write_string(writer, "profile", shared->profile);
	json_write_end(writer, '}');
}

static void write_request(struct json_writer *writer, const struct pull_request *request)
{
	if (!request->number) {
		json_write_string(writer, "pull_request", NULL);
		return;
	}
	json_write_begin(writer, "pull_request", '{');
	json_write_int(writer, "number", request->number);
	json_write_string(writer, "state", request->state);
	json_write_string(writer, "url", request->url);
	json_write_bool(writer, "is_draft", request->is_draft);
	json_write_end(writer, '}');
}

static void write_work(struct json_writer *writer, const struct seen_work *work)
{
	if (!work) {
		json_write_string(writer, "work", NULL);
		return;
	}
	json_write_begin(writer, "work", '{');
	json_write_string(writer, "branch", work->branch);
	json_write_int(writer, "commits", work->commits);
	json_write_int(writer, "files", work->files);
	json_write_int(writer, "uncommitted", work->uncommitted);
	json_write_string(writer, "merged", changes_merged_words[work->merged]);
	write_request(writer, &work->request);
	json_write_time(writer, "seen_at", work->at);
	json_write_end(writer, '}');
}

static void write_tags(struct json_writer *writer, const char *tags)
{
	cleanup_strvec struct strvec words = { 0 };
	tags_split(tags, &words);
	json_write_begin(writer, "tags", '[');
	for (size_t i = 0; i < words.count; i++)
		json_write_string(writer, NULL, words.items[i]);
	json_write_end(writer, ']');
}

void json_write_facts(struct json_writer *writer, const struct facts *facts, bool is_removed)
{
	json_write_string(writer, "id", facts->key.id);
	json_write_string(writer, "copy_of", facts->copy_of);
	json_write_string(writer, "title", facts->title);
	json_write_string(writer, "path", facts->directory);
	json_write_string(writer, "group", or_empty(facts->group));
	json_write_string(writer, "notes", facts->notes);
	write_tags(writer, facts->tags);
	json_write_bool(writer, "is_pinned", facts->marks & MARK_PINNED);
	json_write_time(writer, "archived_at", facts->archived_us);
	json_write_string(writer, "profile", facts->key.profile);
	json_write_string(writer, "agent", facts->agent);
	json_write_string(writer, "status", is_removed ? "removed" : facts->status);
	json_write_string(writer, "activity", is_removed ? NULL : facts->activity);
	json_write_bool(writer, "activity_asks", facts->asks && !is_removed);
	json_write_bool(writer, "activity_is_old", facts->is_old && !is_removed);
	json_write_string(writer, "reason", is_removed ? NULL : facts->reason);
	json_write_time(writer, "limit_ends_at", is_removed ? 0 : facts->limited_until);
	json_write_int(writer, "queued", is_removed ? 0 : facts->queued);
	json_write_bool(writer, "is_asleep", facts->is_asleep);
	json_write_bool(writer, "is_undecided", facts->is_undecided);
	json_write_time(writer, "since_at", facts->since_us);
	json_write_string(writer, "other_host", facts->runs_on);
	json_write_string(writer, "session_id", facts->session_id);
	if (facts->shared)
		write_shared(writer, facts->shared);
	else
		json_write_string(writer, "shares", NULL);
	json_write_string(writer, "held", facts->held);
	json_write_string(writer, "move", facts->move);
	json_write_string(writer, "move_host", facts->move_host);
	json_write_string(writer, "backend", facts->backend);
	json_write_string(writer, "container", facts->container);
	json_write_string(writer, "workspace", facts->workspace);
	write_work(writer, facts->work);
	json_write_bool(writer, "asks_first", facts->asks_first);
	json_write_time(writer, "created_at", facts->created_us);
	json_write_time(writer, "last_used_at", facts->used_us);
}

struct json_object *json_of_entry(const struct roster_entry *entry)
{
	cleanup_json_writer struct json_writer writer = { .is_line = true };
	const struct facts facts = facts_of(entry);
	struct json_object *object;
	json_write_begin(&writer, NULL, '{');
	json_write_facts(&writer, &facts, false);
	json_write_end(&writer, '}');
	if (json_parse(writer.text.data, writer.text.length, "session", &object, NULL) < 0)
		abort();
	return object;
}

struct json_object *json_of_row(const struct store_row *row, const struct view *view,
				const char *profile)
{
	const struct roster_entry entry = {
		.profile = profile, .row = *row, .view = *view, .since_us = view_since(row, view)
	};
	return json_of_entry(&entry);
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

void json_set_failure(struct json_object *object, const struct error *err)
{
	json_set_bool(object, "success", false);
	json_set_string(object, "error", err->message);
	json_set_string(object, "code", error_code_name(err->code));
}
