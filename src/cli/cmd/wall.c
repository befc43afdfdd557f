/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "model/session/naming.h"

#define PROGRAM "agentdeck-ui"

static const struct command_option options[] = {
	{ 'g', "group", "GROUP", "the sessions in this group and in the groups below it",
	  TO_APP_TEXT(group) },
	{ 0 },
};

static int check_group(const struct store_rows *rows, const char *group, struct error *err)
{
	for (size_t i = 0; i < rows->count; i++)
		if (naming_is_in_group(or_empty(rows->rows[i].group), group))
			return 0;
	cleanup_free char *shown = visible(group);
	return error_set(err, ERROR_NOT_FOUND,
			 "no session is in group %s: agentdeck group list shows the groups", shown);
}

/* Append the ids of those that were named. */
static int add_named(struct app *app, struct strvec *words, struct error *err)
{
	for (size_t i = 0; i < app->operands.count; i++) {
		cleanup_store_rows struct store_rows rows = { 0 };
		const struct store_row *row;
		if (app_resolve(app, app->operands.items[i], &rows, &row, err) < 0)
			return -1;
		strvec_push(words, row->id);
	}
	return 0;
}

static int check(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (app->group && app->operands.count)
		return error_set(err, ERROR_USAGE, "give sessions or --group, but not both");
	if (store_list(app->deck.store, &rows, err) < 0)
		return -1;
	return app->group ? check_group(&rows, app->group, err) : 0;
}

static int check_terminal(struct error *err)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, ERROR_USAGE,
				 "the wall needs a terminal: agentdeck list works without one");
	return 0;
}

static int cmd_wall(struct app *app, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	strvec_push_array(&words,
			  (const char *const[]){ "--profile", app->deck.profile, "--wall", NULL });
	if (app->group)
		strvec_push_array(&words, (const char *const[]){ "--group", app->group, NULL });
	strvec_push(&words, "--");
	if (check(app, err) < 0 || add_named(app, &words, err) < 0 || check_terminal(err) < 0)
		return -1;
	return give_terminal(app, PROGRAM, &words, err);
}

const struct command command_wall = {
	.name = "wall",
	.kind = COMMAND_TERMINAL,
	.arguments = "[SESSION...]",
	.summary = "show the screens of several sessions side by side",
	.options = options,
	.flags = NEEDS_STORE,
	.run = cmd_wall,
};
