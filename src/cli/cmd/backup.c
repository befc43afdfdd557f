/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/progress.h"
#include "cli/show/table.h"

#include "base/clock.h"
#include "base/machine.h"
#include "driver/archive/archive.h"
#include "engine/export/pack.h"
#include "engine/supervise/filelimit.h"

#include <stdlib.h>
#include <time.h>

static void show_progress(void *data, size_t index, size_t count)
{
	progress_step(data, clock_ms(), "Packing session", index + 1, count);
}

/* agentdeck-HOST-2026-11-25-160203.tar; the caller frees. */
static char *default_name(void)
{
	char text[sizeof("2026-11-25-160203")];
	const time_t now = (time_t)(clock_wall_us() / 1000000);
	struct tm parts;
	if (!localtime_r(&now, &parts) ||
	    strftime(text, sizeof(text), "%Y-%m-%d-%H%M%S", &parts) == 0)
		*text = '\0';
	return xasprintf("agentdeck-%s-%s.tar", machine_host(), text);
}

static struct json_object *json_of_item(const struct pack_item *item)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "profile", item->profile);
	json_set_string(object, "id", item->id);
	json_set(object, "title", json_text(item->title));
	json_set_bool(object, "is_packed", item->is_packed);
	json_set_bool(object, "has_conversation", item->has_conversation);
	json_set_bool(object, "was_running", item->runs);
	json_set(object, "reason", item->why ? json_text(item->why) : NULL);
	return object;
}

static void print_as_json(const struct pack_list *list, const char *path)
{
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *sessions = json_object_new_array();
	for (size_t i = 0; i < list->count; i++)
		json_object_array_add(sessions, json_of_item(&list->items[i]));
	json_set_bool(object, "success", true);
	json_set(object, "file", json_text(path));
	json_set(object, "sessions", sessions);
	json_set_strings(object, "left", &list->left.paths);
	print_json(object);
}

/* What is not in there, or not whole. */
static void print_gaps(const struct app *app, const struct pack_list *list)
{
	static const char *const headings[] = { "INCOMPLETE", "PROFILE", "REASON", NULL };
	cleanup_table struct table *table = table_new(app, headings);
	bool has_some = false;
	for (size_t i = 0; i < list->count; i++) {
		const struct pack_item *item = &list->items[i];
		if (!item->why && !item->runs)
			continue;
		has_some = true;
		table_add(table,
			  (const char *const[]){
				  item->title, item->profile,
				  item->why ? item->why : "it runs: its last turn may be missing" },
			  item->why ? TONE_WARNING : TONE_PLAIN);
	}
	if (has_some) {
		table_print(table);
		printf("\n");
	}
}

static void print_result(const struct app *app, const struct pack_list *list, const char *name)
{
	size_t packed = 0, conversations = 0;
	for (size_t i = 0; i < list->count; i++) {
		packed += list->items[i].is_packed;
		conversations += list->items[i].has_conversation;
	}
	print_gaps(app, list);
	for (size_t i = 0; i < list->left.paths.count; i++)
		say("%s is not in the file: %s", list->left.paths.items[i],
		    list->left.reasons.items[i]);
	say("%zu session%s with %zu conversation%s: in %s", packed, packed == 1 ? "" : "s",
	    conversations, conversations == 1 ? "" : "s", name);
}

static int cmd_backup(struct app *app, struct error *err)
{
	cleanup_free char *name = app->operands.count ? xstrdup(app->operands.items[0])
						      : default_name();
	cleanup_pack_list struct pack_list list = { 0 };
	struct progress progress;
	struct rlimit usual;
	if (streq(name, ARCHIVE_STANDARD))
		return error_set(err, ERROR_USAGE,
				 "a backup needs a file, which agentdeck reads again: name one");
	/* Each conversation is open until the file is written. */
	filelimit_raise(&usual);
	progress_begin(&progress, stderr, app->json, clock_ms());
	const struct pack_deck_order order = { .file = name,
					       .looks = show_progress,
					       .data = &progress };
	const int r = pack_deck(&app->deck, &order, &list, err);
	progress_clear(&progress);
	if (r < 0)
		return -1;
	/* A script may read it in another directory. */
	cleanup_free char *path = realpath(name, NULL);
	if (app->json)
		print_as_json(&list, path ? path : name);
	else
		print_result(app, &list, name);
	return 0;
}

const struct command command_backup = {
	.name = "backup",
	.kind = COMMAND_CHANGES,
	.arguments = "[FILE]",
	.summary = "write all sessions, conversations and settings to a file",
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_backup,
};
