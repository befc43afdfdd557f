/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/screen/activity.h"

#include "base/clock.h"
#include "engine/place/activityfile.h"
#include "engine/place/alive.h"
#include "engine/place/runfiles.h"
#include "engine/terminal/terminal.h"
#include "model/agent/display.h"
#include "model/session/state.h"

static bool is_reported(const struct activity *activity)
{
	return activity->activity != ACTIVITY_UNKNOWN && !activity->is_seen;
}

static const struct agent *agent_with_patterns(struct deck *deck, const struct store_row *row)
{
	const struct agent *agent;
	if (!row->agent || deck_agent(deck, row->agent, &agent, NULL) < 0)
		return NULL;
	return agent->ready.count || agent->busy.count || agent->waiting.count ? agent : NULL;
}

static bool can_be_looked_at(const struct store_row *row)
{
	const struct place_run run = place_run_of_row(row);
	return !row->damage && state_is_running(row->state) && row->rung != RUNG_SHELL &&
	       row->run_directory && row->socket && place_is_live(&run) &&
	       place_agent_is_live(&run) && !place_was_silent(&run);
}

bool activity_needs_look(struct deck *deck, const struct store_row *row)
{
	cleanup_activity struct activity now = { 0 };
	if (!can_be_looked_at(row))
		return false;
	activity_read(row->run_directory, &now);
	return !is_reported(&now) && agent_with_patterns(deck, row);
}

static void store_seen(const char *directory, enum instance_activity seen)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_activity struct activity now = { 0 };
	cleanup_announced struct announced announced = { 0 };
	if (activityfile_lock(directory, &lock, NULL) != 0)
		return;
	activity_read(directory, &now);
	announced_read(directory, &announced);
	/* What did not change is not written, so that nobody is woken by it. */
	if (is_reported(&now) || now.activity == seen)
		return;
	now.activity = seen;
	now.is_seen = true;
	now.since = clock_wall_us();
	replace_string(&now.event, NULL);
	(void)activityfile_write(directory, &now, &announced, NULL);
}

void activity_look(struct deck *deck, const struct store_row *row)
{
	cleanup_free char *screen = NULL;
	if (!activity_needs_look(deck, row))
		return;
	int r = terminal_screen(row->socket, &screen, NULL);
	if (r == TERMINAL_SILENT)
		runfiles_note_answer(row->run_directory, false);
	/* A server that has ended meanwhile has left its place to the next run. */
	if (r != 0 || !place_row_is_live(row))
		return;
	store_seen(row->run_directory, display_activity(agent_with_patterns(deck, row), screen));
}
