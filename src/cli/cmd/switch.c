/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From one session to another in the same terminal.  The keys of a session run it in a popup over
 * its agent.
 */
#include "cli/cmd/commands.h"

#include "base/helper.h"
#include "engine/roster/next.h"
#include "engine/run/correct.h"
#include "engine/terminal/terminal.h"

#define PROGRAM "agentdeck-ui"

struct options {
	const char *client;
	bool next;
};

static const struct command_option options[] = {
	{ 'n', "next", NULL, "the session that waits next for an answer", TO_FLAG(next) },
	{ 0, "client", "TERMINAL", "the terminal whose key has called", TO_TEXT(client),
	  .is_hidden = true },
	{ 0 },
};

/* The session that this terminal shows.  *ret is borrowed from rows. */
static int find_own(struct app *app, struct store_rows *rows, const struct store_row **ret,
		    struct error *err)
{
	if (store_list(app->deck.store, rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->rows[i].run.socket && terminal_is_own(rows->rows[i].run.socket)) {
			*ret = &rows->rows[i];
			return 0;
		}
	}
	return error_set(
		err, ERROR_REFUSED,
		"this terminal does not show a session of profile %s: agentdeck attach opens one",
		app->deck.profile);
}

/* *ret is the caller's. */
static int find_next(struct app *app, const char *own, char **ret, struct error *err)
{
	cleanup_roster struct roster *roster = NULL;
	const struct roster_order order = { .profile = app->deck.profile,
					    .looks = ROSTER_LOOKS,
					    .asks = true };
	if (correct_list(&app->deck, &order, &roster, err) < 0)
		return -1;
	const struct roster_entry *next = roster_next_waiting(roster, own);
	if (!next)
		return error_set(err, ERROR_NOT_FOUND, "no other session waits for you");
	*ret = xstrdup(next->row.id);
	return 0;
}

static int find_named(struct app *app, const char *own, char **ret, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0)
		return -1;
	if (streq(row->id, own)) {
		cleanup_free char *title = visible(row->title);
		return error_set(err, ERROR_REFUSED, "this terminal shows session %s already",
				 title);
	}
	*ret = xstrdup(row->id);
	return 0;
}

/* Let the user choose: the deck calls us again with what they have chosen. */
static int pick(const struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_strvec struct strvec words = { 0 };
	cleanup_error struct error why = { 0 };
	strvec_push_array(&words, (const char *const[]){ "--profile", app->deck.profile, "--pick",
							 or_empty(given->client), NULL });
	(void)helper_become(PROGRAM, &words, &why);
	return error_set(err, why.code, "%s; agentdeck switch SESSION works without it",
			 why.message);
}

static int cmd_switch(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *own = NULL;
	cleanup_free char *target = NULL;
	if (app->operands.count && given->next)
		return error_set(err, ERROR_USAGE, "--next chooses the session itself: omit '%s'",
				 app->operands.items[0]);
	if (find_own(app, &rows, &own, err) < 0)
		return -1;
	if (!app->operands.count && !given->next)
		return pick(app, err);
	int r = given->next ? find_next(app, own->id, &target, err)
			    : find_named(app, own->id, &target, err);
	return r < 0 ? -1 : terminal_send_on(own->run.socket, given->client, target, err);
}

const struct command command_switch = {
	.name = "switch",
	.kind = COMMAND_TERMINAL,
	.arguments = "[SESSION]",
	.summary = "show another session in this terminal",
	OWN_OPTIONS,
	.flags = NEEDS_STORE,
	.run = cmd_switch,
};
