/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"
#include "model/session/state.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct count {
	size_t sessions, running;
};

static int count_sessions(const struct app *app, const char *name, struct count *ret,
			  struct error *err)
{
	cleanup_store struct store *store = NULL;
	cleanup_store_rows struct store_rows rows = { 0 };
	if (deck_open_profile(&app->deck, name, &store, err) < 0 ||
	    store_list(store, &rows, err) < 0)
		return -1;
	*ret = (struct count){ .sessions = rows.count };
	for (size_t i = 0; i < rows.count; i++) {
		if (rows.rows[i].damage)
			continue;
		cleanup_view struct view view = view_of(&rows.rows[i]);
		ret->running += state_is_running(view.state);
	}
	return 0;
}

static int cmd_profile_list(struct app *app, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_table struct table *table = table_new(
		app, (const char *const[]){ "PROFILE", "SESSIONS", "RUNNING", NULL });
	if (deck_profiles(&app->deck, &names, err) < 0)
		return -1;
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), compare);
	for (size_t i = 0; i < names.count; i++) {
		struct count count;
		if (count_sessions(app, names.items[i], &count, err) < 0)
			return -1;
		cleanup_free char *sessions = xasprintf("%zu", count.sessions);
		cleanup_free char *running = xasprintf("%zu", count.running);
		table_add(table, (const char *const[]){ names.items[i], sessions, running, NULL },
			  TONE_PLAIN);
		if (!app->json)
			continue;
		cleanup_json struct json_object *object = json_object_new_object();
		json_set_string(object, "profile", names.items[i]);
		json_set_int(object, "sessions", (int64_t)count.sessions);
		json_set_int(object, "running", (int64_t)count.running);
		print_json_element(object, i);
	}
	if (app->json)
		print_json_end(names.count);
	else
		table_print(table);
	return 0;
}

const struct command command_profile_list = {
	.name = "profile list",
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "list the profiles and how many sessions are in each",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_profile_list,
};

static int cmd_profile_remove(struct app *app, struct error *err)
{
	const char *name = app->operands.items[0];
	if (deck_remove_profile(&app->deck, name, err) < 0)
		return -1;
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "profile", name);
	return print_done(app, object, xasprintf("Removed the profile %s", name));
}

const struct command command_profile_remove = {
	.name = "profile remove",
	.kind = COMMAND_CHANGES,
	.arguments = "PROFILE",
	.summary = "remove a profile that has no sessions",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_profile_remove,
};
