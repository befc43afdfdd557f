/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "base/clock.h"
#include "engine/deck/hint.h"
#include "engine/run/queue.h"

#include <string.h>

struct options {
	const char *cancel;
};

static const struct command_option options[] = {
	{ 0, "cancel", "ID", "take this message out; all: every one", TO_TEXT(cancel) },
	{ 0 },
};

static void print_queue_json(struct app *app, const struct instance *instance)
{
	cleanup_json struct json_object *object = json_success(instance->id, instance->title);
	const enum queue_verdict verdict = lifecycle_queue_verdict(&app->deck, instance);
	struct json_object *list = json_object_new_array();
	json_set_string(object, "waits_for", instance->queue_count ? queue_why(verdict) : NULL);
	for (size_t i = 0; i < instance->queue_count; i++) {
		const struct queued *queued = &instance->queue[i];
		struct json_object *one = json_object_new_object();
		json_set_string(one, "message_id", queued->id);
		json_set_string(one, "text", queued->text);
		json_set_time(one, "queued_at", queued->at);
		json_set_string(one, "state",
				queued_state_name(lifecycle_queued_state(instance, queued)));
		json_set_string(one, "why", queued->why);
		json_object_array_add(list, one);
	}
	json_set(object, "queue", list);
	print_json(object);
}

static void print_table(const struct app *app, const struct instance *instance)
{
	cleanup_table struct table *table = table_new(
		app, (const char *const[]){ "ID", "SINCE", "STATE", "TEXT", NULL });
	const int64_t now_us = clock_wall_us();
	for (size_t i = 0; i < instance->queue_count; i++) {
		const struct queued *queued = &instance->queue[i];
		char since[CLOCK_TEXT_SIZE];
		const size_t length = strcspn(queued->text, "\n");
		cleanup_free char *first = xasprintf("%.*s%s", (int)length, queued->text,
						     queued->text[length] ? " ..." : "");
		table_add(table,
			  (const char *const[]){
				  queued->id, clock_moment(queued->at, now_us, since),
				  queued_state_name(lifecycle_queued_state(instance, queued)),
				  first, NULL },
			  TONE_PLAIN);
	}
	table_print(table);
}

/* What the first message waits for, or what the user has to do about it. */
static void print_wait(struct app *app, const struct instance *instance)
{
	const struct queued *head = &instance->queue[0];
	const enum queued_state state = lifecycle_queued_state(instance, head);
	const enum queue_verdict verdict = lifecycle_queue_verdict(&app->deck, instance);
	cleanup_free char *hint = hint_row(&app->deck, &app->rows, app->session);
	if (state == QUEUED_WAITS)
		say("Waits: %s.", queue_why(verdict));
	else if (state == QUEUED_TYPING)
		say("It is typed at this moment.");
	else
		say("%s may have been typed%s%s, so it is not typed again, and the others wait. "
		    "Look with agentdeck attach %s, then agentdeck session queue %s --cancel %s.",
		    head->id, head->why ? ": " : "", or_empty(head->why), hint, hint, head->id);
}

static int cancel(struct app *app, const char *id, struct error *err)
{
	const struct store_row *row = app->session;
	size_t count;
	if (!*id)
		return error_set(err, ERROR_USAGE, "--cancel takes the id of a message, or all");
	if (lifecycle_cancel_queued(&app->deck, row->base, streq(id, "all") ? NULL : id, &count,
				    err) < 0)
		return -1;
	struct json_object *object = json_success(row->id, row->title);
	json_set_int(object, "cancelled", (int64_t)count);
	return print_done(app, object, xasprintf("%s: %zu cancelled", row->title, count));
}

static int cmd_session_queue(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_instance struct instance *instance = NULL;
	if (given->cancel)
		return cancel(app, given->cancel, err);
	if (deck_load(&app->deck, app->session->base, &instance, err) < 0)
		return -1;
	if (app->json) {
		print_queue_json(app, instance);
	} else if (!instance->queue_count) {
		say("%s: nothing is queued", instance->title);
	} else {
		print_table(app, instance);
		print_wait(app, instance);
	}
	return 0;
}

const struct command command_session_queue = {
	.name = "session queue",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION",
	.summary = "show or cancel the messages that wait for its agent",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_queue,
};
