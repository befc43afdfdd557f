/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/view.h"

#include "base/clock.h"
#include "engine/place/activityfile.h"
#include "engine/place/alive.h"
#include "engine/place/place.h"
#include "model/session/state.h"

const char *view_status(const struct view *view)
{
	return view->is_silent ? "unknown" : instance_state_name(view->state);
}

static enum doing doing_of_running(const struct view *view)
{
	switch (view->activity) {
	case ACTIVITY_WAITING:
		return view->asks ? DOING_ASKS : DOING_WAITING;
	case ACTIVITY_BUSY:
		return DOING_BUSY;
	case ACTIVITY_IDLE:
		return DOING_IDLE;
	default:
		return DOING_RUNNING;
	}
}

enum doing doing_of(const struct view *view)
{
	if (view->is_silent)
		return DOING_UNKNOWN;
	switch (view->state) {
	case STATE_RUNNING:
		return doing_of_running(view);
	case STATE_STARTING:
		return DOING_STARTING;
	case STATE_STOPPING:
		return DOING_STOPPING;
	case STATE_ERROR:
		return DOING_ERROR;
	default:
		return view->note == VIEW_ASLEEP ? DOING_ASLEEP : DOING_STOPPED;
	}
}

bool view_asks_first(const struct store_row *row, const struct view *view)
{
	return row->ending == ENDING_UNDECIDED || row->ending == ENDING_KEPT ||
	       (!view->is_silent && (view->state == STATE_STOPPED || view->state == STATE_ERROR));
}

int64_t view_since(const struct store_row *row, const struct view *view)
{
	if (view->activity != ACTIVITY_UNKNOWN)
		return view->activity_since;
	if ((view->is_silent && !view->host) || view->state != row->state)
		return clock_wall_us();
	return row->damage ? 0 : row->since;
}

void view_ask(struct deck *deck, const struct instance *instance)
{
	const struct place_run run = place_run_of(instance);
	const struct place *place;
	if (!state_is_running(instance->observed.state) || place_find(instance, &place, NULL) < 0)
		return;
	(void)place->observe(deck, instance, OBSERVE_ANSWER);
	if (place_is_between(&run.server, &run.pane))
		place_nudge(&run);
}

void view_free(struct view *view)
{
	free(view->reason);
	free(view->host);
	*view = (struct view){ 0 };
}

bool view_is_over(const struct place_run *run, enum instance_state stored,
		  enum instance_state *ret_state, const char **ret_why)
{
	const enum machine_relation relation = place_relation(run);
	const bool had_server = state_has_run(stored, run->server.pid);
	const bool is_of_earlier_boot = run->boot_id && relation == MACHINE_EARLIER_BOOT;
	/* Where no server is recorded its place cannot tell, and the state decides alone. */
	const enum presence presence = run->server.pid ? place_presence(run) : PRESENCE_NONE;
	if (relation == MACHINE_OTHER || !place_of(run) || presence != PRESENCE_NONE ||
	    !(had_server || (state_is_starting(stored) && is_of_earlier_boot)))
		return false;
	/* Half a restart is shown as a stop: nothing runs. */
	const enum state_phase phase = state_phase(stored, DESIRED_STOPPED);
	const struct state_cell lost = state_look_up(EVENT_LOST, phase);
	*ret_state = lost.next;
	*ret_why = lost.effects & EFFECT_NO_REASON ? NULL : place_end_reason(run);
	return true;
}

/* "rate_limit" for people. */
static char *failure_text(const struct activity *activity)
{
	char date[CLOCK_TEXT_SIZE];
	const int64_t until = activity->limited_until, now = clock_wall_us();
	if (until > now)
		return xasprintf("limited until %s", clock_until(until, now, date));
	if (until)
		return xasprintf("usage limit, over since %s", clock_moment(until, now, date));
	char *text = xasprintf("failed: %s", activity->failure);
	for (char *c = text; *c; c++)
		if (*c == '_')
			*c = ' ';
	return text;
}

/* Takes the reason. */
static void note(struct view *view, enum view_note note, char *reason)
{
	view->note = note;
	free(view->reason);
	view->reason = reason;
}

struct view view_of(const struct store_row *row)
{
	struct view view = { .state = row->state };
	const char *why;
	if (row->damage)
		return (struct view){ .state = STATE_ERROR, .reason = xstrdup(row->damage) };
	if (row->run.socket && !place_of(&row->run)) {
		view.is_silent = true;
		view.reason = xasprintf("this agentdeck does not know its backend '%s'",
					or_empty(row->backend));
		return view;
	}
	view.host = place_elsewhere(&row->run);
	if (view.host) {
		view.is_silent = true;
		view.reason = xasprintf("its run is on %s", view.host);
		return view;
	}
	if (view_is_over(&row->run, row->state, &view.state, &why)) {
		view.reason = xstrdup_or_null(why);
		return view;
	}
	why = state_is_running(row->state) ? place_silence(&row->run) : NULL;
	view.is_silent = why != NULL;
	view.reason = xstrdup_or_null(why ? why : row->reason);
	if (move_blocks(row->move))
		note(&view, VIEW_MOVING, move_text(row->move, row->move_host));
	else if (row->state == STATE_STOPPED && row->desired == DESIRED_ASLEEP)
		note(&view, VIEW_ASLEEP, xstrdup("it was idle: attach or send wakes it"));
	else if (row->state == STATE_STOPPED)
		view.note = row->ending == ENDING_UNDECIDED ? VIEW_UNDECIDED
			    : row->ending == ENDING_FREED   ? VIEW_FREED
							    : VIEW_PLAIN;
	if (!state_is_running(row->state) || why)
		return view;
	cleanup_activity struct activity activity = { 0 };
	activity_read(row->run.directory, &activity);
	cleanup_free char *shared = shared_conversation_text(&row->shared);
	view.activity = activity.activity;
	view.asks = activity.asks;
	view.activity_since = activity.since;
	if (activity.is_suspended)
		note(&view, VIEW_SUSPENDED,
		     xstrdup("suspended (Ctrl-Z): attach or send continues it"));
	else if (shared)
		note(&view, VIEW_SHARING, xasprintf("shares %s", shared));
	else if (activity.activity == ACTIVITY_IDLE && activity.failure)
		note(&view, VIEW_FAILED, failure_text(&activity));
	view.limited_until = view.note == VIEW_FAILED ? activity.limited_until : 0;
	view.may_continue = view.limited_until && activity_may_continue(&activity);
	return view;
}
