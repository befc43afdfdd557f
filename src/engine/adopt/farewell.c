/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/adopt/farewell.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "driver/tmux/tmux-panes.h"
#include "model/plan/resume.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* A second press of the same key must arrive alone; some agents take what comes in one read for a
 * paste. */
enum {
	KEY_PAUSE_MS = 150,
	LOOK_AGAIN_MS = 100,
	ROUNDS = 2,
	KILL_TIMEOUT_MS = 5000,
	STAT_MAX = 4096
};

static const struct strvec *keys_of(const struct agent *agent)
{
	return agent->banner_keys.count ? &agent->banner_keys : &agent->quit_keys;
}

/* Whether it has its terminal's foreground, so that it gets what is typed there.  proc(5),
 * /proc/PID/stat, pgrp and tpgid. */
static bool is_in_front(const struct process_id *process)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = xasprintf("/proc/%d/stat", (int)process->pid);
	int group, front;
	if (fs_read(AT_FDCWD, path, STAT_MAX, &text, NULL) != 0)
		return false;
	const char *rest = strrchr(strbuf_text(&text), ')');
	return rest && sscanf(rest, ") %*c %*d %d %*d %*d %d", &group, &front) == 2 &&
	       group == front;
}

bool farewell_is_heard(const struct farewell *farewell)
{
	return farewell->agent->exit_banner && farewell->pane && farewell->socket &&
	       keys_of(farewell->agent)->count && is_in_front(farewell->process);
}

static size_t count_of(const char *text, const char *word)
{
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		count++;
	return count;
}

/* The id that the pane now shows once more than before: it may still show the end of another
 * conversation.  The caller frees. */
static char *new_id(const struct farewell *farewell, const char *before)
{
	cleanup_free char *now = NULL;
	if (tmux_user_pane_text(farewell->socket, farewell->pane, &now, NULL) < 0)
		return NULL;
	cleanup_free char *id = resume_match_id(farewell->agent, farewell->agent->exit_banner, now);
	return id && count_of(now, id) > count_of(before, id) ? TAKE_PTR(id) : NULL;
}

static bool has_ended(const struct farewell *farewell, int64_t deadline_ms)
{
	return process_wait_end(farewell->process, deadline_ms, NULL) != PROCESS_STILL_ALIVE;
}

static int ask(const struct farewell *farewell, struct error *err)
{
	const struct strvec *keys = keys_of(farewell->agent);
	for (size_t i = 0; i < keys->count; i++) {
		if (tmux_user_pane_press(farewell->socket, farewell->pane, keys->items[i], err) < 0)
			return -1;
		if (has_ended(farewell, clock_ms() + KEY_PAUSE_MS))
			return 0;
	}
	return 0;
}

/* Returns true if it ended, or if two looks saw the same id: then the id is complete. */
static bool listen_until(const struct farewell *farewell, const char *before, int64_t deadline,
			 char **ret)
{
	cleanup_free char *last = NULL;
	for (;;) {
		bool ended = has_ended(farewell, clock_ms() + LOOK_AGAIN_MS);
		char *id = new_id(farewell, before);
		bool is_sure = id && last && streq(id, last);
		free(last);
		last = id;
		if (ended || is_sure)
			break;
		if (clock_ms() >= deadline)
			return false;
	}
	*ret = TAKE_PTR(last);
	return true;
}

/* A key may have done something else, such as clearing the input or stopping a turn.  Then press it
 * again. */
static int ask_and_listen(const struct farewell *farewell, const char *before, char **ret,
			  struct error *err)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (ask(farewell, err) < 0)
			return -1;
		if (listen_until(farewell, before, clock_ms() + farewell->patience_ms / ROUNDS,
				 ret))
			return 0;
		if (!is_in_front(farewell->process))
			break;
	}
	return FAREWELL_STAYED;
}

int farewell_hear(const struct farewell *farewell, char **ret, struct error *err)
{
	struct tmux_user_hold hold = { 0 };
	cleanup_free char *before = NULL, *id = NULL;
	if (tmux_user_pane_text(farewell->socket, farewell->pane, &before, err) < 0 ||
	    tmux_user_pane_hold(farewell->socket, farewell->pane, &hold, err) < 0)
		return -1;
	int r = ask_and_listen(farewell, before, &id, err);
	/* Wait for what it writes while it exits: that is the conversation. */
	if (r == 0 && id)
		(void)has_ended(farewell, clock_ms() + farewell->patience_ms / ROUNDS);
	tmux_user_pane_release(farewell->socket, farewell->pane, &hold);
	if (r == 0)
		*ret = TAKE_PTR(id);
	return r;
}

int farewell_end(const struct farewell *farewell, const struct process_id *tree, size_t count,
		 struct error *err)
{
	if (process_signal(farewell->process, SIGTERM, err) < 0 ||
	    process_wait_end(farewell->process, clock_ms() + farewell->patience_ms, err) < 0)
		return -1;
	int64_t deadline = clock_ms() + KILL_TIMEOUT_MS;
	for (size_t i = 0; i < count; i++)
		(void)process_signal(tree + i, SIGKILL, NULL);
	for (size_t i = 0; i < count; i++) {
		int r = process_wait_end(tree + i, deadline, err);
		if (r < 0)
			return -1;
		if (r == PROCESS_STILL_ALIVE)
			return error_set(
				err, ERROR_TIMEOUT,
				"process %d does not end, even after SIGKILL: it is waiting for a "
				"device or a file system",
				(int)tree[i].pid);
	}
	return 0;
}
