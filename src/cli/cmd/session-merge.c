/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "cli/show/removal.h"
#include "engine/deck/hint.h"
#include "engine/place/alive.h"
#include "engine/run/stop.h"
#include "engine/run/work.h"
#include "engine/workspace/branch.h"
#include "engine/workspace/bring.h"
#include "engine/workspace/tree.h"

struct options {
	const char *into;
	bool squash;
};

static const struct command_option options[] = {
	{ 0, "into", "NAME",
	  "a branch of your repository; without it the one that the tree began on", TO_TEXT(into) },
	{ 0, "squash", NULL, "as one commit", TO_FLAG(squash) },
	{ 0 },
};

static const char *const outcomes[] = {
	[BRING_MERGED] = "merged",
	[BRING_FORWARD] = "fast-forward",
	[BRING_ALREADY] = "already",
	[BRING_CONFLICT] = "conflict",
};

enum { STATUS_CONFLICT = 1 };

/* "agentdeck/api", or a commit.  The caller frees. */
static char *name_of(const struct bring_result *result)
{
	return result->branch ? visible(result->branch) : xasprintf("%.12s", result->commit);
}

static char *outcome_text(const struct bring_result *result)
{
	cleanup_free char *name = name_of(result);
	cleanup_free char *into = visible(result->into);
	if (result->outcome == BRING_ALREADY)
		return xasprintf("%s has all of %s already.", into, name);
	return xasprintf("Merged %s into %s: %.12s -> %.12s%s.", name, into, result->before,
			 result->after, result->outcome == BRING_FORWARD ? " (fast-forward)" : "");
}

static void say_conflict(const struct instance *instance, const struct bring_result *result,
			 bool is_squash)
{
	cleanup_free char *name = name_of(result);
	cleanup_free char *files = strvec_join(&result->conflicts, ", ");
	cleanup_free char *switch_to = tree_git_text(instance->workspace, "switch", result->into);
	cleanup_free char *merge = tree_git_text(instance->workspace, "merge",
						 result->branch ? result->branch : result->commit);
	complain(
		"%s conflicts with %s in %s: nothing was changed. To resolve it yourself: %s && %s%s. "
		"Or have its agent merge %s into its branch, and try again",
		name, result->into, files, switch_to, merge, is_squash ? " --squash" : "",
		result->into);
}

/* ---- what is left to do with the session ---- */

/* What becomes of tree and branch when the session is removed.  The caller frees. */
static char *deletion_text(const struct instance *instance, const struct bring_result *result,
			   const struct branch_fate *fate)
{
	const char *kind = workspace_kind_name(instance->workspace->kind);
	cleanup_free char *name = visible(fate->name ? fate->name : or_empty(result->branch));
	if (fate->goes)
		return xasprintf("agentdeck prune --branches deletes its %s and the branch %s",
				 kind, name);
	return xasprintf("agentdeck prune deletes its %s%s%s%s", kind, *name ? ", the branch " : "",
			 name, *name ? " stays" : "");
}

static int offer_removal(struct app *app, const struct instance *instance,
			 const struct bring_result *result, struct error *err)
{
	const struct store_row *row = app->session;
	cleanup_branch_fate struct branch_fate fate = { 0 };
	cleanup_free char *hint = hint_row(&app->deck, &app->rows, row);
	cleanup_free char *title = visible(row->title);
	const bool runs = place_is_live(&row->run);
	if (branch_look(&app->deck, instance, NULL, &fate, err) < 0)
		return -1;
	if (runs || !ask_is_possible()) {
		say("Nothing would be lost with its tree now%s: agentdeck remove %s && agentdeck "
		    "prune%s",
		    runs ? ", once it has ended" : "", hint, fate.goes ? " --branches" : "");
		return 0;
	}
	cleanup_free char *deletion = deletion_text(instance, result, &fate);
	cleanup_free char *question = xasprintf(
		"Nothing would be lost with its tree now. Remove %s? After that, %s; agentdeck undo "
		"restores the session until then.",
		title, deletion);
	int r = ask_yes(question, "It stays.", err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	/* The removal checks the tree again, and keeps work that has come meanwhile. */
	const struct removal_order order = { .how = REMOVE_STOPPED };
	if (lifecycle_remove(&app->deck, row->base, &order, err) < 0)
		return -1;
	say_to(stdout, removal_text(&app->deck, row, instance, !app->instance));
	return 0;
}

/* The verdict about its tree proves that nothing is lost, not the merge. */
static int look_at_rest(struct app *app, const struct instance *instance,
			const struct bring_result *result, struct error *err)
{
	cleanup_verdict struct verdict verdict = { 0 };
	int r = tree_judge(&app->deck, instance, &verdict, err);
	if (r < 0)
		return -1;
	if (r == TREE_ABSENT || verdict_is_safe(&verdict))
		return offer_removal(app, instance, result, err);
	cleanup_free char *count = verdict_count_text(&verdict);
	cleanup_free char *hint = hint_row(&app->deck, &app->rows, app->session);
	say("Its tree %s, %s: agentdeck check %s says which.", verdict_claim(&verdict), count,
	    hint);
	return 0;
}

/* ---- the command ---- */

static void print_json_merge(const struct app *app, const struct instance *instance,
			     const struct bring_result *result)
{
	struct json_object *object = json_success(app->session->id, app->session->title);
	json_set_bool(object, "success", result->outcome != BRING_CONFLICT);
	json_set_string(object, "result", outcomes[result->outcome]);
	json_set_string(object, "source", instance->workspace->source);
	json_set_string(object, "branch", result->branch);
	json_set_string(object, "commit", result->commit);
	json_set_string(object, "into", result->into);
	json_set_string(object, "before", result->before);
	json_set_string(object, "after", result->after ? result->after : result->before);
	json_set_strings(object, "conflicts", &result->conflicts);
	print_json(object);
	json_object_put(object);
}

static int cmd_session_merge(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const struct bring_order order = { .into = given->into, .is_squash = given->squash };
	cleanup_instance struct instance *instance = NULL;
	cleanup_bring_result struct bring_result result = { 0 };
	if (deck_load(&app->deck, app->session->base, &instance, err) < 0 ||
	    bring_merge(&app->deck, instance, &order, &result, err) < 0)
		return -1;
	const bool is_conflict = result.outcome == BRING_CONFLICT;
	if (!is_conflict)
		work_look_again(&app->deck, instance, false);
	if (app->json)
		print_json_merge(app, instance, &result);
	else if (is_conflict)
		say_conflict(instance, &result, given->squash);
	else if (!app->quiet)
		say_to(stdout, outcome_text(&result));
	if (app->json || app->quiet || is_conflict)
		return is_conflict ? STATUS_CONFLICT : 0;
	return look_at_rest(app, instance, &result, err);
}

const struct command command_session_merge = {
	.name = "session merge",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION",
	.summary = "merge what an agent has committed into your repository",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_merge,
};
