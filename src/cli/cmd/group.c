/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "engine/run/change.h"
#include "model/session/naming.h"
#include "model/session/state.h"

#include <stdlib.h>
#include <string.h>

struct options {
	bool move;
};

static const struct command_option options[] = {
	{ 0, "move", NULL, "move its sessions to the group above it", TO_FLAG(move) },
	{ 0 },
};

/* Sessions in a group or below it, and how many of them run and are archived. */
struct group_counts {
	size_t all, running, archived;
};
static struct group_counts count_sessions(const struct store_rows *rows, const char *group)
{
	struct group_counts counts = { 0 };
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->rows[i].damage ||
		    !naming_is_in_group(or_empty(rows->rows[i].group), group))
			continue;
		cleanup_view struct view view = view_of(&rows->rows[i]);
		counts.running += state_is_running(view.state);
		counts.archived += rows->rows[i].archived_at != 0;
		counts.all++;
	}
	return counts;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The groups of the sessions and of config.toml, and those above them; sorted. */
static void find_groups(const struct app *app, const struct store_rows *rows, struct strvec *ret)
{
	cleanup_strvec struct strvec names = { 0 };
	for (size_t i = 0; i < rows->count; i++)
		if (!is_empty(rows->rows[i].group))
			strvec_push(&names, rows->rows[i].group);
	for (size_t i = 0; i < app->deck.settings.group_count; i++)
		strvec_push(&names, app->deck.settings.groups[i].group);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *name = xstrdup(names.items[i]);
		for (char *slash = name + strlen(name); slash; slash = strrchr(name, '/')) {
			*slash = '\0';
			if (!strvec_contains(ret, name))
				strvec_push(ret, name);
		}
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare);
}

static int cmd_group_list(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_strvec struct strvec names = { 0 };
	cleanup_table struct table *table = table_new(
		app, (const char *const[]){ "GROUP", "SESSIONS", "RUNNING", NULL });
	if (store_list(app->deck.store, &rows, err) < 0)
		return -1;
	find_groups(app, &rows, &names);
	for (size_t i = 0; i < names.count; i++) {
		const struct group_counts counts = count_sessions(&rows, names.items[i]);
		const size_t count = counts.all - counts.archived;
		cleanup_free char *sessions = xasprintf("%zu", count);
		cleanup_free char *live = xasprintf("%zu", counts.running);
		table_add(table, (const char *const[]){ names.items[i], sessions, live, NULL },
			  TONE_PLAIN);
		if (!app->json)
			continue;
		cleanup_json struct json_object *object = json_object_new_object();
		json_set_string(object, "group", names.items[i]);
		json_set_int(object, "sessions", (int64_t)count);
		json_set_int(object, "running", (int64_t)counts.running);
		print_json_element(object, i);
	}
	if (app->json)
		print_json_end(names.count);
	else if (names.count)
		table_print(table);
	else
		say("No groups. Put a session into one with: agentdeck session set SESSION group "
		    "GROUP");
	return 0;
}

const struct command command_group_list = {
	.name = "group list",
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "list the groups and how many sessions are in each",
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_group_list,
};

static int check_exists(struct app *app, const char *group, size_t *ret_count, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(app->deck.store, &rows, err) < 0)
		return -1;
	*ret_count = *group ? count_sessions(&rows, group).all : 0;
	if (*ret_count)
		return 0;
	cleanup_strvec struct strvec names = { 0 };
	find_groups(app, &rows, &names);
	if (strvec_contains(&names, group))
		return error_set(err, ERROR_NOT_FOUND,
				 "group '%s' has no session; config.toml names it: agentdeck "
				 "config edit",
				 group);
	return error_set(err, ERROR_NOT_FOUND,
			 "no session is in a group '%s': agentdeck group list", group);
}

/* to: empty for no group. */
static int move(struct app *app, const char *from, const char *to, struct error *err)
{
	size_t count;
	if (lifecycle_move_group(&app->deck, from, to, &count, err) < 0)
		return -1;
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "group", to);
	json_set_string(object, "old_group", from);
	json_set_int(object, "sessions", (int64_t)count);
	return print_done(app, object,
			  xasprintf("%zu session%s moved from %s to %s", count,
				    count == 1 ? "" : "s", from, *to ? to : "no group"));
}

static int cmd_group_rename(struct app *app, struct error *err)
{
	const char *from = app->operands.items[0], *to = app->operands.items[1];
	size_t count;
	if (naming_check_group(to, err) < 0)
		return -1;
	if (naming_is_in_group(to, from))
		return error_set(err, ERROR_USAGE,
				 "'%s' is '%s' or below it: choose a name outside of it", to, from);
	return check_exists(app, from, &count, err) < 0 ? -1 : move(app, from, to, err);
}

/* The sessions may join a group that exists. */
static struct offer offer_groups(const struct app *line, bool behind_dashes UNUSED)
{
	return (struct offer){ .kind = line->operands.count < 2 ? VALUE_GROUP : VALUE_BY_ARGUMENT };
}

const struct command command_group_rename = {
	.name = "group rename",
	.kind = COMMAND_CHANGES,
	.arguments = "GROUP NAME",
	.summary = "give a group, and the groups below it, another name",
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_group_rename,
	.offer = offer_groups,
};

static int cmd_group_remove(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const char *group = app->operands.items[0], *slash = strrchr(group, '/');
	cleanup_free char *around = xstrndup(group, slash ? (size_t)(slash - group) : 0);
	size_t count;
	if (check_exists(app, group, &count, err) < 0)
		return -1;
	if (!given->move)
		return error_set(err, ERROR_INVALID, "group '%s' has %zu session%s: --move %s%s",
				 group, count, count == 1 ? "" : "s",
				 *around ? "moves them to " : "takes them out of it", around);
	return move(app, group, around, err);
}

const struct command command_group_remove = {
	.name = "group remove",
	.kind = COMMAND_CHANGES,
	.arguments = "GROUP",
	.summary = "remove a group; its sessions stay",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_group_remove,
};
