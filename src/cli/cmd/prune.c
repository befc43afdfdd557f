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
	  "also the branches that agentdeck made, if they are merged and have no other session",
	  TO_FLAG(branches) },
	{ 'f', "force", NULL, "do not ask", TO_FLAG(force) },
	{ 0, "leave-containers", NULL,
	  "also sessions whose engine does not answer: their containers stay there",
	  TO_FLAG(leave_containers) },
	{ 'n', "dry-run", NULL, "list the removed sessions, and delete nothing", TO_FLAG(dry_run),
	  .kind = COMMAND_READS },
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
			  TONE_PLAIN);
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

static void add_branch(struct json_object *array, const struct branch_fate *fate,
		       const char *repository)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "branch", fate->name);
	json_set_string(object, "repository", repository);
	json_set_bool(object, "goes", fate->goes);
	json_set_string(object, "why", fate->why);
	json_object_array_add(array, object);
}

/* The branches that agentdeck made for these, and those of no session, each with what becomes of
 * it. */
static int list_branches(const struct app *app, const struct trash *trash,
			 struct branch_strays *strays, struct json_object *ret, struct error *err)
{
	const struct options *given = app->options;
	if (given->branches && branch_list_strays(&app->deck, ".", strays, err) < 0)
		return -1;
	for (size_t i = 0; given->branches && i < trash->count; i++) {
		const struct instance *instance = trash->items[i].instance;
		cleanup_branch_fate struct branch_fate fate = { 0 };
		if (!instance || !instance->workspace)
			continue;
		if (branch_look(&app->deck, instance, trash, &fate, err) < 0)
			return -1;
		if (!fate.name)
			continue;
		add_branch(ret, &fate, instance->workspace->source);
	}
	for (size_t i = 0; i < strays->count; i++)
		add_branch(ret, &strays->items[i].fate, strays->items[i].repository);
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

static size_t count_going(const struct branch_strays *strays)
{
	size_t count = 0;
	for (size_t i = 0; i < strays->count; i++)
		count += strays->items[i].fate.goes;
	return count;
}

/* "3 removed sessions", "1 branch without a session", or both.  The caller frees. */
static char *count_text(size_t sessions, size_t branches)
{
	cleanup_free char *first = xasprintf("%zu removed session%s", sessions,
					     sessions == 1 ? "" : "s");
	cleanup_free char *second = xasprintf("%zu branch%s without a session", branches,
					      branches == 1 ? "" : "es");
	return xasprintf("%s%s%s", sessions || !branches ? first : "",
			 sessions && branches ? " and " : "", branches ? second : "");
}

static bool needs_consent(const struct options *given, size_t count)
{
	return !given->force && !given->dry_run && count;
}

/* Before the question.  Without a terminal, the error is all. */
static void print_going(const struct app *app, const struct trash *trash, size_t branches,
			struct json_object *fates)
{
	if (app->json ||
	    (needs_consent(app->options, trash->count + branches) && !ask_is_possible()))
		return;
	if (trash->count)
		print_trash(app, trash);
	print_branches(fates);
}

static int confirm(struct app *app, const struct trash *trash, size_t branches, struct error *err)
{
	if (!needs_consent(app->options, trash->count + branches))
		return 0;
	cleanup_free char *count = count_text(trash->count, branches);
	cleanup_free char *without = xasprintf("%s would be deleted for good: add --force to do it",
					       count);
	const struct consent consent = {
		trash->count ? asking_prune_prompt(trash) : "Delete these branches?",
		"Nothing was deleted.",
		"--force",
		without,
		ERROR_INVALID,
	};
	return ask_consent(app, &consent, err);
}

static int delete_strays(struct deck *deck, const struct branch_strays *strays, size_t *ret_deleted,
			 struct error *err)
{
	for (size_t i = 0; i < strays->count; i++) {
		if (!strays->items[i].fate.goes)
			continue;
		const int r = branch_delete_stray(deck, strays->items + i, err);
		if (r < 0)
			return -1;
		*ret_deleted += r == 0;
	}
	return 0;
}

static char *conclusion(const struct app *app, const struct trash *all, size_t old,
			const char *deleted)
{
	const struct options *given = app->options;
	const size_t younger = all->count - old;
	cleanup_free char *rest =
		younger ? xasprintf(" %zu younger one%s left alone: agentdeck prune --older 0 "
				    "takes all.",
				    younger, younger == 1 ? " was" : "s were")
			: xstrdup("");
	if (all->count == 0 && given->dry_run && !given->branches)
		return xstrdup("The trash is empty.");
	if (given->dry_run)
		return xasprintf("Nothing was deleted.%s", rest);
	return xasprintf("Deleted %s.%s", deleted, rest);
}

static int cmd_prune(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_trash struct trash all = { 0 };
	cleanup_json struct json_object *branches = json_object_new_array();
	cleanup_branch_strays struct branch_strays strays = { 0 };
	size_t deleted = 0, deleted_branches = 0;
	if (trash_list(app->deck.store, &all, err) < 0)
		return -1;
	const int64_t days = given->older_days == AS_CONFIGURED ? app->deck.settings.trash_keep_days
								: given->older_days;
	const struct trash trash = { all.items, asking_count_old(&all, days) };
	const struct prune_order order = {
		.branches = given->branches ? BRANCHES_MERGED : BRANCHES_STAY,
		.may_leave_containers = given->leave_containers,
	};
	if (list_branches(app, &trash, &strays, branches, err) < 0)
		return -1;
	const size_t going = count_going(&strays);
	print_going(app, &trash, going, branches);
	int r = confirm(app, &trash, going, err);
	if (r != 0)
		return r < 0 ? -1 : 1;
	if (!given->dry_run && (undo_prune(&app->deck, &trash, &order, &deleted, err) < 0 ||
				delete_strays(&app->deck, &strays, &deleted_branches, err) < 0))
		return -1;
	cleanup_free char *text = count_text(deleted, deleted_branches);
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_int(object, "deleted", (int64_t)deleted);
	json_set(object, "removed", json_of_trash(&trash));
	json_set(object, "branches", TAKE_PTR(branches));
	json_set_int(object, "younger", (int64_t)(all.count - trash.count));
	return print_done(app, object, conclusion(app, &all, trash.count, text));
}

const struct command command_prune = {
	.name = "prune",
	.kind = COMMAND_CHANGES,
	.arguments = "",
	.summary = "delete the removed sessions for good",
	OWN_OPTIONS,
	.defaults = &(const struct options){ .older_days = AS_CONFIGURED },
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_prune,
};
