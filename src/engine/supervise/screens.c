/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/screens.h"

#include "base/runner.h"
#include "engine/screen/activity.h"
#include "engine/supervise/filelimit.h"
#include "engine/terminal/terminal.h"

enum { TIMEOUT_MS = 10000, SCREEN_MAX = 4 << 20 };

static void look_end(struct screens_look *look)
{
	free(look->profile);
	free(look->id);
	*look = (struct screens_look){ 0 };
}

void screens_clear(struct screens *screens)
{
	for (size_t i = 0; i < ARRAY_SIZE(screens->looks); i++)
		look_end(&screens->looks[i]);
}

static void run(struct screens *screens, const struct strvec *argv, size_t max_output,
		runner_handler handler, void *context)
{
	const struct runner_request request = {
		.child = {
			.argv = (const char *const *)argv->items,
			.new_session = true,
			.outlives_us = true,
			.max_output = max_output,
		},
		.timeout_ms = TIMEOUT_MS,
		.files = filelimit_usual(screens->usual_files),
	};
	runner_start(screens->loop, &request, handler, context);
}

static void on_told(const struct child_result *result UNUSED, const struct error *failure UNUSED,
		    void *context)
{
	look_end(context);
}

/* False: the screen tells what is known. */
static bool tells(struct screens_look *look, const char *screen)
{
	cleanup_strvec struct strvec argv = { 0 };
	const struct roster_entry *entry = roster_find(look->screens->roster, look->profile,
						       look->id);
	if (!entry)
		return false;
	if (!activity_differs(look->screens->deck, &entry->row, screen)) {
		activity_note_look(&entry->row);
		return false;
	}
	strvec_push_array(&argv,
			  (const char *const[]){ look->screens->program, "--profile", look->profile,
						 "look", "--", look->id, NULL });
	run(look->screens, &argv, 0, on_told, look);
	return true;
}

static void on_screen(const struct child_result *result, const struct error *failure UNUSED,
		      void *context)
{
	struct screens_look *look = context;
	const bool is_read = result && result->exit_status == 0;
	if (is_read && tells(look, strbuf_text(&result->output)))
		return;
	look_end(look);
}

void screens_look(struct screens *screens, struct roster_entry *entry)
{
	cleanup_strvec struct strvec argv = { 0 };
	size_t i = 0;
	while (i < ARRAY_SIZE(screens->looks) && screens->looks[i].id)
		i++;
	if (i == ARRAY_SIZE(screens->looks)) {
		roster_look_later(entry);
		return;
	}
	if (terminal_check(entry->row.run.socket, NULL) < 0)
		return;
	struct screens_look *look = &screens->looks[i];
	*look = (struct screens_look){ screens, xstrdup(entry->profile), xstrdup(entry->row.id) };
	terminal_look_argv(entry->row.run.socket, &argv);
	run(screens, &argv, SCREEN_MAX, on_screen, look);
}
