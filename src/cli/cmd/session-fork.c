/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/attach.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/containeropts.h"
#include "cli/cmd/roleask.h"
#include "cli/cmd/roles.h"
#include "cli/cmd/start.h"
#include "cli/cmd/treeopts.h"
#include "cli/show/output.h"
#include "engine/deck/hint.h"
#include "engine/run/fork.h"

struct options {
	const char *title, *group;
	bool no_start, no_wait, attach;
	struct container_options container;
	struct tree_options tree;
};

static const struct command_option options[] = {
	{ 't', "title", "TITLE", "its title; default: SESSION's title with -fork added",
	  TO_TEXT(title) },
	{ 'g', "group", "GROUP", "a group to list it under; without it SESSION's", TO_TEXT(group) },
	{ 0, "no-start", NULL, "make it, and start it later", TO_FLAG(no_start) },
	{ 0, "no-wait", NULL, "return when the session is saved, without waiting for the agent",
	  TO_FLAG(no_wait) },
	{ 'a', "attach", NULL, "and attach to it", TO_FLAG(attach) },
	CONTAINER_OPTIONS(container),
	TREE_OPTIONS(tree),
	{ 0 },
};

/* What a user would look for in it in vain. */
static void tell_tree(const struct app *app, const struct instance *fork)
{
	const struct workspace *workspace = fork->workspace;
	if (!workspace || app->json || app->quiet)
		return;
	cleanup_free char *shown = visible(workspace->path);
	complain("%s has a %s to itself, %s, on branch %s at commit %.12s: what is not committed "
		 "is not in it",
		 fork->title, workspace_kind_name(workspace->kind), shown, workspace->branch,
		 workspace->base);
}

/* The agent makes the copy, and makes it again if it is killed before its first message. */
static void tell_open(struct app *app, const struct instance *fork, const struct store_row *row)
{
	const struct agent *agent;
	if (fork->conversation.forked_at || place_home(fork) || app->json || app->quiet ||
	    deck_agent(&app->deck, fork->agent, &agent, NULL) < 0 ||
	    (fork->workspace && agent->id_scope != ID_SCOPE_GLOBAL))
		return;
	cleanup_free char *title = visible(row->title);
	complain("%s is open until its first message: a start before that copies the conversation "
		 "again, with what was said to %s by then",
		 fork->title, title);
}

/* The directory and, unless it gets another one, the group are those of the session. */
static int read_role(struct app *app, const char *base, struct role_source *ret, struct error *err)
{
	const struct options *given = app->options;
	cleanup_instance struct instance *source = NULL;
	if (deck_load(&app->deck, base, &source, err) < 0)
		return -1;
	const struct role_session place = { instance_lookup_directory(source),
					    given->group ? given->group : source->group };
	const int r = role_choose(app, &given->container, &place, ret, err);
	return r == 0 ? role_consent(app, ret, err) : r;
}

static int cmd_session_fork(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	const struct options *given = app->options;
	cleanup_instance struct instance *fork = NULL;
	cleanup_role_source struct role_source role = { 0 };
	cleanup_role_answers struct role_answers answers = { 0 };
	struct container_order order_of = { 0 };
	struct tree_order tree = { 0 };
	int r = container_read_options(&given->container, false, &order_of, err);
	const int has_tree = tree_read_options(&given->tree, &tree, err);
	const struct lifecycle_branch branch = {
		.title = given->title,
		.group = given->group,
		.container = r == 0 ? &order_of : NULL,
		.on_host = given->container.is_refused,
		.tree = has_tree == 0 ? &tree : NULL,
	};
	const int has_role = r == 0 ? read_role(app, row->base, &role, err) : ROLE_NOT_WISHED;
	if (has_role == 0)
		order_of.role = &role;
	if (r < 0 || has_tree < 0 || has_role < 0 ||
	    role_ask_variables(app, &order_of, &answers, err) < 0 ||
	    lifecycle_fork(&app->deck, row->base, &branch, &fork, err) < 0)
		return -1;
	tell_tree(app, fork);
	tell_open(app, fork, row);
	if (given->no_start) {
		struct json_object *object = json_of_instance(&app->deck, fork);
		cleanup_free char *hint = hint_session(&app->deck, fork->title, fork->id);
		json_set_bool(object, "success", true);
		return print_done(
			app, object,
			xasprintf("%s (%s): made; it is started with: agentdeck session start %s",
				  fork->title, fork->id, hint));
	}
	const struct start_order order = { .base = fork->base, .no_wait = given->no_wait };
	r = run_start(app, &order, err);
	if (r == 0 && given->attach && !app->json)
		return run_attach(app, fork->base, ATTACH_FULLY, err);
	return r;
}

const struct command command_session_fork = {
	.name = "session fork",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION",
	.summary = "begin another session with a copy of a conversation",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | IS_STRICT | HAS_JSON,
	.run = cmd_session_fork,
};
