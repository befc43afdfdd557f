/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/screen/activity.h"

#include "base/clock.h"
#include "engine/place/activityfile.h"
#include "engine/place/alive.h"
#include "engine/place/runfiles.h"
#include "engine/terminal/terminal.h"
#include "model/agent/display.h"
#include "model/session/state.h"

/* An agent reports its question before it draws it. */
enum {
	DRAWN_US = 3000000,
	LOOKS = 2,     /* a screen that is being drawn may lack the question */
	LOOK_MS = 100, /* between two looks */
};

static bool is_reported(const struct activity *activity)
{
	return activity->activity != ACTIVITY_UNKNOWN && !activity->is_seen;
}

/* Does what the screen shows count more than what is known?  Many agents report nothing when their
 * question is answered, so that a report of waiting counts only as long as the screen does not say
 * that the agent works.  At its prompt it may well wait. */
static bool counts_more(const struct activity *now, enum instance_activity seen)
{
	if (is_reported(now))
		return now->activity == ACTIVITY_WAITING && seen == ACTIVITY_BUSY;
	/* What did not change is not written, so that nobody is woken by it. */
	return now->activity != seen;
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

bool activity_can_change(struct deck *deck, const struct store_row *row)
{
	cleanup_activity struct activity now = { 0 };
	if (!can_be_looked_at(row))
		return false;
	activity_read(row->run_directory, &now);
	const struct agent *agent = agent_with_patterns(deck, row);
	return agent &&
	       (!is_reported(&now) || (agent->waiting.count && now.activity == ACTIVITY_WAITING));
}

static int64_t young_us(const struct activity *now)
{
	const int64_t age = clock_wall_us() - now->since;
	if (!is_reported(now) || now->activity != ACTIVITY_WAITING || age >= DRAWN_US)
		return 0;
	/* A clock that was set back. */
	return age < 0 ? DRAWN_US : DRAWN_US - age;
}

int64_t activity_young_ms(const struct store_row *row)
{
	cleanup_activity struct activity now = { 0 };
	if (!can_be_looked_at(row))
		return 0;
	activity_read(row->run_directory, &now);
	return (young_us(&now) + 999) / 1000;
}

bool activity_differs(struct deck *deck, const struct store_row *row, const char *styled)
{
	cleanup_activity struct activity now = { 0 };
	cleanup_display_screen struct display_screen screen = { 0 };
	if (!activity_can_change(deck, row))
		return false;
	display_read(styled, &screen);
	activity_read(row->run_directory, &now);
	return counts_more(&now, display_activity(agent_with_patterns(deck, row), screen.text));
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
	if (!counts_more(&now, seen) || young_us(&now) > 0)
		return;
	now.activity = seen;
	now.is_seen = true;
	now.since = clock_wall_us();
	replace_string(&now.event, NULL);
	(void)activityfile_write(directory, &now, &announced, NULL);
}

void activity_look(struct deck *deck, const struct store_row *row)
{
	enum instance_activity seen = ACTIVITY_UNKNOWN;
	if (!activity_can_change(deck, row))
		return;
	const bool is_told = !activity_needs_look(deck, row);
	for (int i = 0; i < (is_told ? LOOKS : 1); i++) {
		cleanup_free char *screen = NULL;
		/* Nothing says when a screen is drawn. */
		if (i > 0)
			clock_pause_until(clock_ms() + LOOK_MS);
		const int r = terminal_screen(row->socket, &screen, NULL);
		if (r == TERMINAL_SILENT)
			runfiles_note_answer(row->run_directory, false);
		if (r != 0)
			return;
		seen = display_activity(agent_with_patterns(deck, row), screen);
		if (is_told && seen != ACTIVITY_BUSY)
			return;
	}
	/* A server that has ended meanwhile has left its place to the next run. */
	if (place_row_is_live(row))
		store_seen(row->run_directory, seen);
}
