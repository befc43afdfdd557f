/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/asking.h"
#include "cli/cmd/commands.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "cli/show/shapes.h"
#include "cli/show/table.h"

#include "base/clock.h"
#include "engine/run/undo.h"
#include "engine/workspace/branch.h"

struct options {
	bool force, dry_run, leave_containers, branches;
	int64_t older_days; /* AS_CONFIGURED: not given */
};

enum { AS_CONFIGURED = -1 };

static const struct command_option options[] = {
	{ 0, "branches", NULL,
	  "also the branches that agentdeck made for their worktrees, if they are merged",
	  TO_FLAG(branches) },
	{ 'f', "force", NULL, "do not ask", TO_FLAG(force) },
	{ 0, "leave-containers", NULL,
	  "also sessions whose engine does not answer: their containers stay there",
	  TO_FLAG(leave_containers) },
	{ 'n', "dry-run", NULL, "list the removed sessions, and delete nothing", TO_FLAG(dry_run) },
	{ 0, "older", "DAYS",
	  "only those that were removed at least so many days ago; 0: all (default: [trash] keep)",
	  TO_NUMBER(older_days, 0, TRASH_DAYS_MOST) },
	{ 0 },
};

static void print_trash(const struct app *app, const struct trash *trash)
{
	cleanup_table struct table *table = table_new(
		app, (const char *const[]){ "TITLE", "ID", "REMOVED", "CONVERSATION", NULL });
	for (size_t i = 0; i < trash->count; i++) {
		const struct removed *removed = &trash->items[i];
		const struct instance *instance = removed->instance;
		char date[CLOCK_TEXT_SIZE];
		table_add(table,
			  (const char *const[]){
				  instance ? instance->title : removed->base,
				  instance ? instance->id : removed->base,
				  clock_local(removed->removed_at, date),
				  instance ? or_empty(instance->conversation.session_id) : "",
				  NULL },
			  NULL);
	}
	table_print(table);
}

static struct json_object *json_of_trash(const struct trash *trash)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < trash->count; i++) {
		const struct removed *removed = &trash->items[i];
		const struct instance *instance = removed->instance;
		struct json_object *object = json_object_new_object();
		json_set_string(object, "id", instance ? instance->id : removed->base);
		json_set_string(object, "title", instance ? instance->title : NULL);
		json_set_string(object, "session_id",
				instance ? instance->conversation.session_id : NULL);
		json_set_time(object, "removed_at", removed->removed_at);
		json_object_array_add(array, object);
	}
	return array;
}

/* The branches that agentdeck made for these, each with what becomes of it. */
static int list_branches(const struct app *app, const struct trash *trash, struct json_object *ret,
			 struct error *err)
{
	const struct options *given = app->options;
	for (size_t i = 0; given->branches && i < trash->count; i++) {
		const struct instance *instance = trash->items[i].instance;
		cleanup_branch_fate struct branch_fate fate = { 0 };
		if (!instance || !instance->workspace)
			continue;
		if (branch_look(&app->deck, instance, trash, &fate, err) < 0)
			return -1;
		if (!fate.name)
			continue;
		struct json_object *object = json_object_new_object();
		json_set_string(object, "branch", fate.name);
		json_set_string(object, "repository", instance->workspace->source);
		json_set_bool(object, "goes", fate.goes);
		json_set_string(object, "why", fate.why);
		json_object_array_add(ret, object);
	}
	return 0;
}

static void print_branches(struct json_object *branches)
{
	for (size_t i = 0; i < json_object_array_length(branches); i++) {
		struct json_object *object = json_object_array_get_idx(branches, i);
		cleanup_free char *name = visible(json_get_string(object, "branch", ""));
		cleanup_free char *where = visible(json_get_string(object, "repository", ""));
		cleanup_free char *why = visible(json_get_string(object, "why", ""));
		printf("Branch %s of %s %s: %s\n", name, where,
		       json_get_bool(object, "goes", false) ? "goes" : "stays", why);
	}
}

/* Refuse to delete without consent: there is no terminal to ask on, and no option gives it. */
static int check_wish(const struct app *app, const struct trash *trash, struct error *err)
{
	const struct options *given = app->options;
	if (given->force || trash->count == 0 || (!app->json && ask_is_possible()))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "%zu removed session%s would be deleted for good: add --force to do it",
			 trash->count, trash->count == 1 ? "" : "s");
}

static int confirm(const struct app *app, const struct trash *trash, struct error *err)
{
	const struct options *given = app->options;
	if (given->force || given->dry_run || trash->count == 0)
		return 0;
	return ask_yes(asking_prune_prompt(trash), "Nothing was deleted.", err);
}

static char *conclusion(const struct app *app, const struct trash *all, size_t old, size_t deleted)
{
	const struct options *given = app->options;
	const size_t younger = all->count - old;
	cleanup_free char *rest =
		younger ? xasprintf(" %zu younger one%s left alone: agentdeck prune --older 0 "
				    "takes all.",
				    younger, younger == 1 ? " was" : "s were")
			: xstrdup("");
	if (all->count == 0 && given->dry_run)
		return xstrdup("The trash is empty.");
	if (given->dry_run)
		return xasprintf("Nothing was deleted.%s", rest);
	return xasprintf("Deleted %zu removed session%s.%s", deleted, deleted == 1 ? "" : "s",
			 rest);
}

static int cmd_prune(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_trash struct trash all = { 0 };
	cleanup_json struct json_object *branches = json_object_new_array();
	size_t deleted = 0;
	if (trash_list(app->deck.store, &all, err) < 0)
		return -1;
	const int64_t days = given->older_days == AS_CONFIGURED ? app->deck.settings.trash_keep_days
								: given->older_days;
	const struct trash trash = { all.items, asking_count_old(&all, days) };
	app->deck.branches_wish = given->branches ? BRANCHES_MERGED : BRANCHES_STAY;
	app->deck.may_leave_containers = given->leave_containers;
	if (!given->dry_run && check_wish(app, &trash, err) < 0)
		return -1;
	if (!app->json && trash.count)
		print_trash(app, &trash);
	if (list_branches(app, &trash, branches, err) < 0)
		return -1;
	if (!app->json)
		print_branches(branches);
	int r = confirm(app, &trash, err);
	if (r != 0)
		return r < 0 ? -1 : 1;
	if (!given->dry_run && undo_prune(&app->deck, &trash, &deleted, err) < 0)
		return -1;
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_int(object, "deleted", (int64_t)deleted);
	json_set(object, "removed", json_of_trash(&trash));
	json_set(object, "branches", TAKE_PTR(branches));
	json_set_int(object, "younger", (int64_t)(all.count - trash.count));
	return print_done(app, object, conclusion(app, &all, trash.count, deleted));
}

const struct command command_prune = {
	.name = "prune",
	.arguments = "",
	.summary = "delete the removed sessions for good",
	OWN_OPTIONS,
	.defaults = &(const struct options){ .older_days = AS_CONFIGURED },
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_prune,
};
