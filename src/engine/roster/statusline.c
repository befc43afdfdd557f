/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/statusline.h"

#include "engine/place/activityfile.h"
#include "engine/place/alive.h"
#include "engine/roster/view.h"

static bool is_shown(const struct store_row *row)
{
	const struct place_run run = place_run_of_row(row);
	return !row->damage && row->socket && terminal_has_clients(row->socket) &&
	       place_is_live(&run) && !place_was_silent(&run);
}

static const char *activity_text(enum instance_activity activity)
{
	return activity == ACTIVITY_UNKNOWN ? "" : instance_activity_name(activity);
}

struct looked {
	enum instance_activity *activities; /* of each row */
	unsigned waiting;                   /* how many of them wait */
};

static void looked_free(struct looked *looked)
{
	free(looked->activities);
}

static void look_at_all(const struct store_rows *rows, struct looked *ret)
{
	ret->activities = xcalloc(rows->count + 1, sizeof(*ret->activities));
	for (size_t i = 0; i < rows->count; i++) {
		cleanup_view struct view view = view_of(&rows->rows[i]);
		if (state_is_running(view.state) && !view.is_silent)
			ret->activities[i] = view.activity;
		ret->waiting += ret->activities[i] == ACTIVITY_WAITING;
	}
}

static struct terminal_status status_at(const struct looked *looked, size_t i)
{
	const bool waits = looked->activities[i] == ACTIVITY_WAITING;
	return (struct terminal_status){ activity_text(looked->activities[i]),
					 looked->waiting - waits };
}

enum instance_activity statusline_activity(const char *run_directory)
{
	cleanup_activity struct activity now = { 0 };
	if (run_directory)
		activity_read(run_directory, &now);
	return now.activity;
}

struct terminal_status statusline_of(struct store *store, const char *base)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	CLEANUP(looked_free) struct looked looked = { 0 };
	if (store_list(store, &rows, NULL) < 0)
		return (struct terminal_status){ .activity = "" };
	look_at_all(&rows, &looked);
	for (size_t i = 0; i < rows.count; i++)
		if (streq(rows.rows[i].base, base))
			return status_at(&looked, i);
	return (struct terminal_status){ .activity = "", .others = looked.waiting };
}

/* Most changes concern one session, and nobody looks at it: that is found out without a list. */
static bool is_own_shown(struct store *store, const char *base)
{
	struct store_row row;
	if (store_load_row(store, base, &row) != 0)
		return false;
	const bool is = is_shown(&row);
	store_row_free(&row);
	return is;
}

void statusline_follow(struct store *store, const char *base, enum instance_activity before,
		       enum instance_activity now)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	CLEANUP(looked_free) struct looked looked = { 0 };
	const bool concerns_all = before == ACTIVITY_WAITING || now == ACTIVITY_WAITING;
	if (before == now || (!concerns_all && !is_own_shown(store, base)) ||
	    store_list(store, &rows, NULL) < 0)
		return;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		if ((!concerns_all && !streq(row->base, base)) || !is_shown(row))
			continue;
		if (!looked.activities)
			look_at_all(&rows, &looked);
		const struct terminal_status status = status_at(&looked, i);
		(void)terminal_show(row->socket, &status, NULL);
	}
}
