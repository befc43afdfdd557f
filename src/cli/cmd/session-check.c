/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "engine/workspace/tree.h"

enum { STATUS_UNSAFE = 1 };

static void print_json_verdict(const struct store_row *row, const struct instance *instance,
			       const struct verdict *verdict)
{
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "path", verdict ? instance->workspace->path : NULL);
	json_set(object, "verdict", verdict ? verdict_to_json(verdict) : NULL);
	print_json(object);
	json_object_put(object);
}

static void print_verdict(const struct app *app, const struct instance *instance,
			  const struct verdict *verdict)
{
	cleanup_strbuf struct strbuf lines = { 0 };
	if (app->quiet)
		return;
	if (verdict_is_safe(verdict))
		say("safe to delete: %s", instance->workspace->path);
	else
		say("not safe to delete: %s %s", instance->workspace->path, verdict_claim(verdict));
	/* The verdict's lines are already in the form that a terminal shows. */
	verdict_add_text(verdict, &lines);
	printf("%s", strbuf_text(&lines));
}

static void say_absence(const struct app *app, const struct instance *instance)
{
	cleanup_free char *absence = tree_absence(&app->deck, instance);
	if (absence)
		say("nothing to lose: %s", absence);
	else
		say("%s has no tree to itself: agentdeck deletes no files of its directory",
		    instance->title);
}

static int cmd_session_check(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	cleanup_instance struct instance *instance = NULL;
	cleanup_verdict struct verdict verdict = { 0 };
	if (deck_load(&app->deck, row->base, &instance, err) < 0)
		return -1;
	int r = tree_judge(&app->deck, instance, &verdict, err);
	if (r < 0)
		return -1;
	const bool is_there = r != TREE_ABSENT;
	if (app->json)
		print_json_verdict(row, instance, is_there ? &verdict : NULL);
	else if (is_there)
		print_verdict(app, instance, &verdict);
	else if (!app->quiet)
		say_absence(app, instance);
	return !is_there || verdict_is_safe(&verdict) ? 0 : STATUS_UNSAFE;
}

const struct command command_session_check = {
	.name = "session check",
	.kind = COMMAND_READS,
	.arguments = "SESSION",
	.summary = "say what would be lost with a session's worktree or clone",
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_check,
};
