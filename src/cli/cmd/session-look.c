/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Look at the screen of a session where its agent has not reported what it does, or may have been
 * answered.  The deck calls this when a screen changes, and agentdeck-watch at the end of an
 * agent's probation.
 */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "base/clock.h"
#include "driver/store/store-watch.h"
#include "engine/roster/statusline.h"
#include "engine/screen/activity.h"

/* The agent's question may not be drawn yet. */
static int wait_until_drawn(const struct app *app, const struct store_row *row, struct error *err)
{
	cleanup_store_watch struct store_watch *watch = NULL;
	const int64_t deadline = clock_ms() + activity_young_ms(row);
	if (store_watch_open(app->deck.store, row->base, row->run.directory, &watch, err) < 0)
		return -1;
	while (activity_young_ms(row) > 0 && clock_ms() < deadline)
		if (store_watch_wait(watch, deadline, err) < 0)
			return -1;
	return 0;
}

/* What it is after the look. */
static int print_status(struct app *app, const char *base, struct error *err)
{
	struct store_row row = { 0 };
	if (store_load_row(app->deck.store, base, &row) != 0)
		return error_set(err, ERROR_NOT_FOUND, "the session was removed meanwhile");
	cleanup_view struct view view = view_of(&row);
	cleanup_free char *status = view_text(&view);
	const int r = print_done(app, json_of_row(&row, &view, app->deck.profile),
				 xasprintf("%s: %s", or_empty(row.title), status));
	store_row_free(&row);
	return r;
}

static int cmd_session_look(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	if (activity_young_ms(row) > 0 && wait_until_drawn(app, row, err) < 0)
		return -1;
	statusline_look(&app->deck, app->deck.store, row);
	return print_status(app, row->base, err);
}

const struct command command_session_look = {
	.name = "session look",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION",
	.summary = "read from its screen what its agent does",
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_look,
};
