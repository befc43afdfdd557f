/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Look at the screen of a session where its agent has not reported what it does, or may have been
 * answered.  For agentdeck-ui, which sees a screen change, and agentdeck-watch, at the end of an
 * agent's probation.
 */
#include "cli/cmd/commands.h"

#include "base/clock.h"
#include "driver/store/store-watch.h"
#include "engine/roster/statusline.h"
#include "engine/screen/activity.h"

/* The agent's question may not be drawn yet. */
static int wait_until_drawn(const struct app *app, const struct store_row *row, struct error *err)
{
	cleanup_store_watch struct store_watch *watch = NULL;
	const int64_t deadline = clock_ms() + activity_young_ms(row);
	if (store_watch_open(app->deck.store, row->base, row->run_directory, &watch, err) < 0)
		return -1;
	while (activity_young_ms(row) > 0 && clock_ms() < deadline)
		if (store_watch_wait(watch, deadline, err) < 0)
			return -1;
	return 0;
}

static int cmd_look(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0)
		return -1;
	if (activity_young_ms(row) > 0 && wait_until_drawn(app, row, err) < 0)
		return -1;
	statusline_look(&app->deck, app->deck.store, row);
	return 0;
}

const struct command command_look = {
	.name = "look",
	.kind = COMMAND_INTERNAL,
	.arguments = "SESSION",
	.summary =
		"read from a screen what its agent does (agentdeck-ui and agentdeck-watch call this)",
	.flags = NEEDS_STORE,
	.run = cmd_look,
};
