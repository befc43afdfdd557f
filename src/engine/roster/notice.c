/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/notice.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/systemd/desktop.h"
#include "engine/place/activityfile.h"
#include "engine/place/runfiles.h"
#include "engine/roster/shown.h"
#include "engine/roster/view.h"
#include "engine/terminal/alert.h"
#include "model/session/look.h"

#include <string.h>

enum { DESKTOP_MS = 500, CLAIM_MAX = 100 };

static const char *usual_text(const char *occasion)
{
	const char *const texts[][2] = {
		{ doing_name(DOING_WAITING), doing_phrase(DOING_WAITING) },
		{ "idle", "finished its turn" },
		{ "error", "ended with an error" },
		{ "held", "ended, and will not restart automatically" },
		{ "oom", "lost a process: not enough memory" },
		{ "recovered", "was restarted" },
		{ "ends", "ends with its host in ten minutes or less" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (streq(texts[i][0], occasion))
			return texts[i][1];
	return "wants you";
}

bool notice_claim(const struct notice *notice)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_strbuf struct strbuf last = { 0 };
	cleanup_close int fd = notice->run_directory ? runfiles_open(notice->run_directory) : -1;
	if (fd < 0 || notice->since_us <= 0)
		return true;
	/* One for each occasion: a late process must not repeat an earlier occasion. As exact as
	 * the files that say since when. */
	cleanup_free char *name = xasprintf(RUN_NOTICE "%s", notice->occasion);
	cleanup_free char *claim = xasprintf("%lld", (long long)(notice->since_us / 1000));
	/* Without the lock: twice is better than never. */
	(void)activityfile_lock(notice->run_directory, &lock, NULL);
	if (fs_read(fd, name, CLAIM_MAX, &last, NULL) == 0 && streq(strbuf_text(&last), claim))
		return false;
	(void)fs_replace(fd, name, claim, strlen(claim), FS_VOLATILE, NULL);
	return true;
}

static void show_on_desktop(const struct deck *deck, const struct notice *notice)
{
	cleanup_error struct error err = { 0 };
	cleanup_free char *title = visible(notice->title), *body = visible(notice->text);
	const struct desktop_text text = {
		.summary = title,
		.body = body,
		.is_urgent = !streq(notice->occasion, "idle") &&
			     !streq(notice->occasion, "recovered"),
	};
	if (desktop_notify(deck->paths.user_runtime, &text, clock_ms() + DESKTOP_MS, &err) < 0)
		log_warning("notify: %s", err.message);
}

static void alert_terminals(const struct deck *deck, struct store *store,
			    const struct notice *notice)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct alert alert = {
		.title = notice->title,
		.text = notice->text,
		.bell = deck->settings.notify.bell,
		.osc = deck->settings.notify.osc,
	};
	if (store_list(store, &rows, NULL) < 0)
		return;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		if (shown_now(row))
			shown_note_answer(row, alert_attached(row->run.socket, &alert, NULL));
	}
}

bool notice_is_wanted(const struct deck *deck, const char *occasion)
{
	return (deck->settings.notify.desktop || deck->settings.notify.bell ||
		deck->settings.notify.osc != NOTIFY_OSC_NONE) &&
	       strvec_contains(&deck->settings.notify.on, occasion);
}

void notice_give(const struct deck *deck, struct store *store, const struct notice *notice)
{
	if (!notice_is_wanted(deck, notice->occasion) || !notice_claim(notice))
		return;
	if (deck->settings.notify.bell || deck->settings.notify.osc != NOTIFY_OSC_NONE)
		alert_terminals(deck, store, notice);
	if (deck->settings.notify.desktop)
		show_on_desktop(deck, notice);
}

const char *notice_doing(enum instance_activity before, enum instance_activity now, bool has_failed)
{
	if (now == ACTIVITY_WAITING && before != ACTIVITY_WAITING)
		return "waiting";
	if (now != ACTIVITY_IDLE || before != ACTIVITY_BUSY)
		return NULL;
	return has_failed ? "error" : "idle";
}

static void give(const struct deck *deck, struct store *store, const struct store_row *row,
		 const struct view *view, const char *occasion, int64_t since_us)
{
	const bool is_turn = streq(occasion, "error") && view->note == VIEW_FAILED;
	notice_give(deck, store,
		    &(struct notice){ occasion, row->title,
				      is_turn ? view->reason : usual_text(occasion),
				      row->run.directory, since_us });
}

void notice_session(const struct deck *deck, struct store *store, const char *base,
		    const char *occasion, int64_t since_us)
{
	struct store_row row;
	if (!notice_is_wanted(deck, occasion) || store_load_row(store, base, &row) != 0)
		return;
	cleanup_view struct view view = view_of(&row);
	give(deck, store, &row, &view, occasion, since_us);
	store_row_free(&row);
}

void notice_activity(const struct deck *deck, struct store *store, const char *base,
		     const struct notice_change *change)
{
	struct store_row row;
	const char *usual = notice_doing(change->before, change->now, false);
	if (!usual || (!notice_is_wanted(deck, usual) && !notice_is_wanted(deck, "error")) ||
	    store_load_row(store, base, &row) != 0)
		return;
	cleanup_view struct view view = view_of(&row);
	const bool has_failed = view.note == VIEW_FAILED;
	give(deck, store, &row, &view, notice_doing(change->before, change->now, has_failed),
	     change->since_us);
	store_row_free(&row);
}
