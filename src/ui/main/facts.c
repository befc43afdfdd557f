/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/facts.h"

static enum doing doing_of_running(enum instance_activity activity)
{
	switch (activity) {
	case ACTIVITY_WAITING:
		return DOING_WAITING;
	case ACTIVITY_BUSY:
		return DOING_BUSY;
	case ACTIVITY_IDLE:
		return DOING_IDLE;
	default:
		return DOING_RUNNING;
	}
}

static enum doing doing_of(const struct view *view)
{
	if (view->is_silent)
		return DOING_UNKNOWN;
	switch (view->state) {
	case STATE_RUNNING:
		return doing_of_running(view->activity);
	case STATE_STARTING:
		return DOING_STARTING;
	case STATE_STOPPING:
		return DOING_STOPPING;
	case STATE_ERROR:
		return DOING_ERROR;
	default:
		return DOING_STOPPED;
	}
}

static unsigned marks_of(const struct roster_entry *entry)
{
	const struct store_row *row = &entry->row;
	unsigned marks = 0;
	if (row->held)
		marks |= MARK_HELD;
	if (entry->view.is_sharing)
		marks |= MARK_SHARED;
	if (row->backend && !streq(row->backend, PLACE_DEFAULT))
		marks |= MARK_CONTAINER;
	if (entry->view.host)
		marks |= MARK_ELSEWHERE;
	if (row->ending == ENDING_UNDECIDED)
		marks |= MARK_UNDECIDED;
	if (streq(or_empty(row->workspace), workspace_kind_name(WORKSPACE_WORKTREE)))
		marks |= MARK_WORKTREE;
	else if (row->workspace)
		marks |= MARK_CLONE;
	return marks;
}

struct facts facts_of(const struct roster_entry *entry)
{
	const struct store_row *row = &entry->row;
	const enum doing doing = doing_of(&entry->view);
	return (struct facts){
		.id = row->id,
		.title = row->title,
		.group = row->group,
		.agent = row->agent,
		.directory = row->lookup_directory,
		.reason = row->held ? row->held : entry->view.reason,
		.doing = doing,
		.marks = marks_of(entry),
		.asks_first = view_asks_first(row, &entry->view),
		.since_us = entry->since_us,
		.created_us = row->created_at,
		.used_us = row->last_used_at,
	};
}
