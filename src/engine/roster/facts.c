/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/facts.h"

#include "model/session/state.h"

static unsigned marks_of(const struct roster_entry *entry)
{
	const struct store_row *row = &entry->row;
	unsigned marks = 0;
	if (row->held)
		marks |= MARK_HELD;
	if (entry->view.note == VIEW_SHARING)
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
	if (row->is_pinned)
		marks |= MARK_PINNED;
	if (row->archived_at)
		marks |= MARK_ARCHIVED;
	return marks;
}

struct attention facts_attention(const struct roster_entry *entry)
{
	return (struct attention){ doing_of(&entry->view), marks_of(entry), entry->since_us,
				   entry->row.id };
}

static const char *container_of_row(const struct store_row *row)
{
	return streq(or_empty(row->backend), PLACE_CONTAINER) ? row->base : row->within;
}

struct facts facts_of(const struct roster_entry *entry)
{
	const struct store_row *row = &entry->row;
	const struct view *view = &entry->view;
	return (struct facts){
		.key = { .profile = entry->profile, .id = row->id },
		.title = row->title,
		.group = row->group,
		.agent = row->agent,
		.directory = row->lookup_directory,
		.session_id = row->session_id,
		.copy_of = row->copy_of,
		.notes = row->notes,
		.tags = row->tags,
		.backend = row->backend,
		.container = container_of_row(row),
		.workspace = row->workspace,
		.status = view_status(view),
		.activity = state_is_running(view->state) && !view->is_silent
				    ? instance_activity_name(view->activity)
				    : NULL,
		.asks = view->asks && doing_of(view) == DOING_ASKS,
		.reason = view->reason,
		.move = row->move == MOVE_NONE ? NULL : move_state_words[row->move],
		.move_host = row->move_host,
		.held = row->held,
		.runs_on = view->host,
		.shared = view->note == VIEW_SHARING ? &row->shared : NULL,
		.work = row->seen.at ? &row->seen : NULL,
		.doing = doing_of(view),
		.state = view->state,
		.marks = marks_of(entry),
		.is_desired = row->desired == DESIRED_RUNNING,
		.is_old = view->is_old,
		.limited_until = view->limited_until,
		.queued = row->queued,
		.is_asleep = view->note == VIEW_ASLEEP,
		.is_undecided = view->note == VIEW_UNDECIDED,
		.asks_first = view_asks_first(row, view),
		.since_us = entry->since_us,
		.state_since_us = row->since,
		.activity_since_us = view->activity_since,
		.created_us = row->created_at,
		.used_us = row->last_used_at,
		.archived_us = row->archived_at,
	};
}
