/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/statusline.h"

#include "engine/place/activityfile.h"
#include "engine/roster/shown.h"
#include "engine/roster/view.h"
#include "engine/screen/activity.h"
#include "model/session/state.h"

/* Each further time there was a change meanwhile. */
enum { SHOW_MOST = 16 };

struct looked {
	enum doing *doings; /* of each row; DOING_COUNT: that is not known */
	unsigned waiting;   /* how many of them wait */
};

static void looked_free(struct looked *looked)
{
	free(looked->doings);
}

static void look_at_all(const struct store_rows *rows, struct looked *ret)
{
	ret->doings = xcalloc(rows->count + 1, sizeof(*ret->doings));
	for (size_t i = 0; i < rows->count; i++) {
		cleanup_view struct view view = view_of(&rows->rows[i]);
		const bool is_known = state_is_running(view.state) && !view.is_silent &&
				      view.activity != ACTIVITY_UNKNOWN;
		ret->doings[i] = is_known ? doing_of(&view) : DOING_COUNT;
		ret->waiting += doing_waits(ret->doings[i]);
	}
}

static struct terminal_status status_at(const struct looked *looked, size_t i)
{
	const enum doing doing = looked->doings[i];
	return (struct terminal_status){ doing == DOING_COUNT ? "" : doing_name(doing),
					 looked->waiting - doing_waits(doing) };
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

/* Most changes concern one session that is not visible: that is found out without a list. */
static bool is_own_shown(struct store *store, const char *base)
{
	struct store_row row;
	if (store_load_row(store, base, &row) != 0)
		return false;
	const bool is = shown_now(&row);
	store_row_free(&row);
	return is;
}

static bool is_meant(const struct store_row *row, const char *only)
{
	return (!only || streq(row->base, only)) && shown_now(row);
}

/* Show the line in one session's terminals (NULL: in all) if it differs from *last.  False: nothing
 * was shown. */
static bool show_changes(struct store *store, const char *only, struct strbuf *last)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	CLEANUP(looked_free) struct looked looked = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	if (store_list(store, &rows, NULL) < 0)
		return false;
	for (size_t i = 0; i < rows.count; i++) {
		if (!is_meant(&rows.rows[i], only))
			continue;
		if (!looked.doings)
			look_at_all(&rows, &looked);
		const struct terminal_status status = status_at(&looked, i);
		strbuf_addf(&text, "%s %s %u\n", rows.rows[i].base, status.activity, status.others);
	}
	if (!looked.doings || streq(strbuf_text(&text), strbuf_text(last)))
		return false;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		if (!is_meant(row, only))
			continue;
		const struct terminal_status status = status_at(&looked, i);
		shown_note_answer(row, terminal_show(row->run.socket, &status, NULL));
	}
	strbuf_free(last);
	*last = text;
	text = (struct strbuf){ 0 };
	return true;
}

/* Two processes that show at the same time may write in the wrong order.  So each looks again after
 * it has written: the last writer finds its text still true, or writes it again. */
void statusline_show(struct store *store, const char *only)
{
	cleanup_strbuf struct strbuf last = { 0 };
	for (int i = 0; i < SHOW_MOST && show_changes(store, only, &last); i++)
		continue;
}

void statusline_follow(struct store *store, const char *base, enum instance_activity before,
		       enum instance_activity now)
{
	const bool concerns_all = before == ACTIVITY_WAITING || now == ACTIVITY_WAITING;
	if (before != now && (concerns_all || is_own_shown(store, base)))
		statusline_show(store, concerns_all ? NULL : base);
}

void statusline_look(struct deck *deck, struct store *store, const struct store_row *row)
{
	const enum instance_activity before = statusline_activity(row->run.directory);
	activity_look(deck, row);
	statusline_follow(store, row->base, before, statusline_activity(row->run.directory));
}
