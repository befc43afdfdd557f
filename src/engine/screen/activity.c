/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/screen/activity.h"

#include "base/clock.h"
#include "engine/place/activityfile.h"
#include "engine/place/alive.h"
#include "engine/place/runfiles.h"
#include "engine/terminal/terminal.h"
#include "model/agent/display.h"
#include "model/agent/limit.h"
#include "model/session/state.h"

#include <sys/stat.h>

enum {
	DRAWN_US = 1500000, /* an agent reports before it draws, or has drawn for some time */
	LOOKS = 2,          /* a screen that is being drawn may lack what counts */
	LOOK_MS = 100,      /* between two looks */
	SETTLE_MS = 700,    /* between two that contradict a report */
	/* An agent that works although it reported the end shows that by movement: some show
	 * only the seconds (codex). */
	MOVE_MS = 1100,
	STEP_MS = 150, /* what moves may look the same after any one time */
	OLD_US = 5000000,
	/* The kernel notes the time of a terminal's output in steps of this. */
	OUTPUT_US = 8000000,
};

static bool is_reported(const struct activity *activity)
{
	return activity->activity != ACTIVITY_UNKNOWN && !activity->is_seen;
}

bool activity_may_be_at_prompt(const struct agent *agent, const char *event)
{
	cleanup_free char *kinds = xasprintf("%s:", or_empty(event));
	for (size_t i = 0; i < agent->report_idle.count; i++)
		if (event && starts_with(agent->report_idle.items[i], kinds))
			return true;
	return false;
}

/* Does what the screen shows count more than what is known?  A screen that fits no pattern tells
 * nothing against a report, nor against what an agent with reports was seen to do. */
static bool counts_more(const struct agent *agent, const struct activity *now,
			enum instance_activity seen)
{
	if (seen == ACTIVITY_UNKNOWN && (is_reported(now) || agent_reports(agent)))
		return false;
	if (is_reported(now) && now->activity == ACTIVITY_WAITING && seen == ACTIVITY_IDLE &&
	    activity_may_be_at_prompt(agent, now->event)) /* the box is no answer */
		return false;
	/* An unchanged activity is not written, so that no watcher wakes up. */
	return now->activity != seen;
}

/* What the screen shows of an agent of which this is known. */
static enum instance_activity seen_on(const struct agent *agent, const struct activity *now,
				      const char *screen)
{
	/* The choices and the countdown that come with a usage limit need no answer. */
	const bool is_limited = now->failure && streq(now->failure, FAILURE_LIMIT) &&
				(display_shows(&agent->limit_menu, screen) ||
				 display_shows(&agent->limit_resumes, screen));
	const enum instance_activity seen = is_limited ? ACTIVITY_IDLE
						       : display_activity(agent, screen);
	const bool waits = now->has_tasks && display_shows(&agent->tasks_shown, screen);
	return seen == ACTIVITY_IDLE && waits ? ACTIVITY_BUSY : seen;
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
	return !row->damage && state_is_running(row->state) && row->rung != RUNG_SHELL &&
	       row->run.directory && row->run.socket && place_is_live(&row->run) &&
	       place_agent_is_live(&row->run) && !place_was_silent(&row->run);
}

bool activity_can_change(struct deck *deck, const struct store_row *row)
{
	return can_be_looked_at(row) && agent_with_patterns(deck, row);
}

char *activity_terminal(struct deck *deck, const struct store_row *row)
{
	return activity_can_change(deck, row) ? place_terminal(&row->run) : NULL;
}

bool activity_is_old(struct deck *deck, const struct store_row *row)
{
	struct stat st;
	cleanup_free char *terminal = activity_terminal(deck, row);
	if (!terminal || stat(terminal, &st) < 0)
		return false;
	const int64_t known = runfiles_known_at(row->run.directory),
		      output = st.st_mtim.tv_sec * INT64_C(1000000);
	return known < output + OUTPUT_US && known < clock_wall_us() - OLD_US;
}

static int64_t young_us(const struct activity *now)
{
	const int64_t age = clock_wall_us() - now->since;
	if (!is_reported(now) || age >= DRAWN_US)
		return 0;
	/* A clock that was set back. */
	return age < 0 ? DRAWN_US : DRAWN_US - age;
}

int64_t activity_young_ms(const struct store_row *row)
{
	cleanup_activity struct activity now = { 0 };
	if (!can_be_looked_at(row))
		return 0;
	activity_read(row->run.directory, &now);
	return (young_us(&now) + 999) / 1000;
}

bool activity_differs(struct deck *deck, const struct store_row *row, const char *styled)
{
	cleanup_activity struct activity now = { 0 };
	cleanup_display_screen struct display_screen screen = { 0 };
	if (!activity_can_change(deck, row))
		return false;
	const struct agent *agent = agent_with_patterns(deck, row);
	display_read(styled, &screen);
	activity_read(row->run.directory, &now);
	return counts_more(agent, &now, seen_on(agent, &now, screen.text));
}

/* What a look has found. */
struct seen {
	enum instance_activity activity;
	bool is_suspended;
	bool is_limited;
	int64_t limited_until;
};

static void store_seen(const struct agent *agent, const char *directory, const struct seen *seen)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_activity struct activity now = { 0 };
	cleanup_announced struct announced announced = { 0 };
	if (activityfile_lock(directory, &lock, NULL) != 0)
		return;
	activity_read(directory, &now);
	announced_read(directory, &announced);
	if (!counts_more(agent, &now, seen->activity) || young_us(&now) > 0)
		return;
	if (!now.is_seen)
		now.reported = now.activity;
	now.activity = seen->activity;
	now.is_suspended = seen->is_suspended;
	now.asks = seen->activity == ACTIVITY_WAITING && !seen->is_suspended;
	now.is_seen = true;
	now.has_tasks = false;
	/* The failure is shown for as long as nothing else happens. */
	if (seen->activity == ACTIVITY_IDLE)
		now.queued = 0;
	else
		activity_fail(&now, NULL, 0);
	if (seen->is_limited)
		activity_fail(&now, FAILURE_LIMIT, seen->limited_until);
	now.since = clock_wall_us();
	replace_string(&now.event, NULL);
	(void)activityfile_write(directory, &now, &announced, NULL);
}

/* What two looks agree about; ACTIVITY_UNKNOWN: nothing.  An agent that reported that it is done
 * may have quoted what one that works shows, but then nothing moves. */
static enum instance_activity agreed(const struct agent *agent, const struct activity *now,
				     const char *const screens[LOOKS])
{
	const enum instance_activity seen = seen_on(agent, now, screens[0]);
	if (seen != seen_on(agent, now, screens[1]))
		return ACTIVITY_UNKNOWN;
	const bool moves = !streq(screens[0], screens[1]);
	return seen == ACTIVITY_BUSY && now->activity == ACTIVITY_IDLE && !moves ? ACTIVITY_UNKNOWN
										 : seen;
}

static int64_t pause_of(const struct activity *now, enum instance_activity seen)
{
	if (seen == ACTIVITY_WAITING || now->activity == ACTIVITY_WAITING)
		return LOOK_MS;
	return seen == ACTIVITY_BUSY ? MOVE_MS : SETTLE_MS;
}

static int read_screen(const struct store_row *row, char **ret)
{
	const int r = terminal_screen(row->run.socket, ret, NULL);
	if (r == TERMINAL_SILENT)
		runfiles_note_answer(row->run.directory, false);
	return r;
}

/* The screen after the pause, or as soon as it has moved, where that is what counts. */
static int read_again(const struct store_row *row, const char *first, int64_t pause_ms, char **ret)
{
	const int64_t deadline = clock_ms() + pause_ms;
	const int64_t step_ms = pause_ms == MOVE_MS ? STEP_MS : pause_ms;
	for (;;) {
		const int64_t next = clock_ms() + step_ms;
		cleanup_free char *screen = NULL;
		clock_pause_until(next < deadline ? next : deadline);
		const int r = read_screen(row, &screen);
		if (r != 0 || clock_ms() >= deadline || !streq(screen, first)) {
			*ret = TAKE_PTR(screen);
			return r;
		}
	}
}

void activity_look(struct deck *deck, const struct store_row *row)
{
	cleanup_activity struct activity now = { 0 };
	cleanup_free char *first = NULL, *second = NULL;
	if (!activity_can_change(deck, row) || read_screen(row, &first) != 0)
		return;
	const struct agent *agent = agent_with_patterns(deck, row);
	activity_read(row->run.directory, &now);
	enum instance_activity seen = seen_on(agent, &now, first);
	const bool differs = counts_more(agent, &now, seen);
	if (differs && is_reported(&now)) {
		/* Nothing says when a screen is drawn. */
		if (read_again(row, first, pause_of(&now, seen), &second) != 0)
			return;
		seen = agreed(agent, &now, (const char *const[LOOKS]){ first, second });
	}
	/* A server that has ended meanwhile has left its place to the next run. */
	if (!place_is_live(&row->run))
		return;
	const char *last = second ? second : first;
	struct seen found = { .activity = seen, .is_suspended = display_is_suspended(agent, last) };
	/* An agent that reports the end of each turn has reported the limit as well. */
	if (seen == ACTIVITY_IDLE && now.activity == ACTIVITY_BUSY && agent->limit.count &&
	    !agent->report_failed.count) {
		cleanup_free char *words = display_last_words(agent, last);
		found.is_limited = limit_announced(agent, words, clock_wall_us(),
						   &found.limited_until);
	}
	if (differs)
		store_seen(agent, row->run.directory, &found);
	runfiles_note_look(row->run.directory);
}

void activity_note_look(const struct store_row *row)
{
	runfiles_note_look(row->run.directory);
}
