/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/notice.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/systemd/desktop.h"
#include "engine/place/alive.h"
#include "engine/place/runfiles.h"
#include "engine/terminal/alert.h"
#include "engine/terminal/terminal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { DESKTOP_MS = 500, AGAIN_S = 5, OCCASION_MAX = 64 };

const char *notice_text(const char *occasion)
{
	static const char *const texts[][2] = {
		{ "waiting", "waits for you" },
		{ "idle", "finished its turn" },
		{ "error", "ended with an error" },
		{ "held", "ended, and will not restart automatically" },
		{ "oom", "lost a process: not enough memory" },
		{ "recovered", "was restarted" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (streq(texts[i][0], occasion))
			return texts[i][1];
	return "wants you";
}

/* The last notice is a file of the run: its content is the occasion, its date the time. */
static bool is_double(const char *run_directory, const char *occasion)
{
	cleanup_strbuf struct strbuf last = { 0 };
	cleanup_close int fd = run_directory ? runfiles_open(run_directory) : -1;
	struct stat st;
	if (fd < 0)
		return false;
	if (fs_read(fd, RUN_NOTICE, OCCASION_MAX, &last, NULL) == 0 &&
	    fstatat(fd, RUN_NOTICE, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    streq(strbuf_text(&last), occasion)) {
		const int64_t age_s = clock_wall_us() / 1000000 - st.st_mtime;
		if (age_s >= 0 && age_s < AGAIN_S)
			return true;
	}
	(void)fs_replace(fd, RUN_NOTICE, occasion, strlen(occasion), FS_VOLATILE, NULL);
	return false;
}

static void show_on_desktop(const struct deck *deck, const struct notice *notice)
{
	cleanup_error struct error err = { 0 };
	cleanup_free char *title = visible(notice->title);
	const struct desktop_text text = {
		.summary = title,
		.body = notice_text(notice->occasion),
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
		.text = notice_text(notice->occasion),
		.bell = deck->settings.notify.bell,
		.osc = deck->settings.notify.osc,
	};
	if (store_list(store, &rows, NULL) < 0)
		return;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		const struct place_run run = place_run_of_row(row);
		if (!row->damage && row->socket && terminal_has_clients(row->socket) &&
		    place_is_live(&run) && !place_was_silent(&run))
			alert_attached(row->socket, &alert);
	}
}

static bool is_wanted(const struct deck *deck, const char *occasion)
{
	return (deck->settings.notify.desktop || deck->settings.notify.bell ||
		deck->settings.notify.osc != NOTIFY_OSC_NONE) &&
	       strvec_contains(&deck->settings.notify.on, occasion);
}

void notice_give(const struct deck *deck, struct store *store, const struct notice *notice)
{
	if (!is_wanted(deck, notice->occasion) ||
	    is_double(notice->run_directory, notice->occasion))
		return;
	if (deck->settings.notify.bell || deck->settings.notify.osc != NOTIFY_OSC_NONE)
		alert_terminals(deck, store, notice);
	if (deck->settings.notify.desktop)
		show_on_desktop(deck, notice);
}

/* NULL: it is no occasion. */
static const char *occasion_of(enum instance_activity before, enum instance_activity now)
{
	if (now == ACTIVITY_WAITING && before != ACTIVITY_WAITING)
		return "waiting";
	return now == ACTIVITY_IDLE && before == ACTIVITY_BUSY ? "idle" : NULL;
}

void notice_activity(const struct deck *deck, struct store *store, const char *base,
		     enum instance_activity before, enum instance_activity now)
{
	struct store_row row;
	const char *occasion = occasion_of(before, now);
	if (!occasion || !is_wanted(deck, occasion) || store_load_row(store, base, &row) != 0)
		return;
	notice_give(deck, store, &(struct notice){ occasion, row.title, row.run_directory });
	store_row_free(&row);
}
