/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/clip.h"

#include "ui/term/term.h"

#include <string.h>

/* What terminals take, and a pipe. */
enum { COPY_MAX = 60000, TIMEOUT_MS = 10000 };

/* "Copied 12 lines." */
static void tell_copied(struct errands *errands, const char *text)
{
	size_t lines = *text != '\0';
	for (const char *at = text; *at; at++)
		lines += *at == '\n' && at[1];
	cleanup_free char *news = xasprintf("Copied %zu line%s.", lines, lines == 1 ? "" : "s");
	ui_tell(errands->ui, news, false);
	*errands->is_changed = true;
}

static void on_loaded(const struct child_result *result, const struct error *failure, void *context)
{
	if (!result || result->exit_status != 0)
		errand_tell(context, result, failure);
}

/* tmux keeps it as a buffer, too ("-w" is for the clipboard of the terminal that it runs in). */
static void load_into_tmux(struct errands *errands, const char *text)
{
	const struct runner_request request = {
		.child = {
			.argv = (const char *const[]){ "tmux", "load-buffer", "-w", "-", NULL },
			.input = text,
			.input_length = strlen(text),
			.new_session = true,
			.outlives_us = true,
		},
		.timeout_ms = TIMEOUT_MS,
	};
	runner_start(errands->loop, &request, on_loaded, errands);
}

static void on_printed(const struct child_result *result, const struct error *failure,
		       void *context)
{
	struct errands *errands = context;
	const char *text = result ? strbuf_text(&result->output) : "";
	if (!result || result->exit_status != 0) {
		errand_tell(errands, result, failure);
		return;
	}
	if (strlen(text) > COPY_MAX) {
		cleanup_free char *news = xasprintf("Nothing is copied: it has %zu bytes, and a "
						    "clipboard takes %d.",
						    strlen(text), COPY_MAX);
		ui_tell(errands->ui, news, true);
		*errands->is_changed = true;
		return;
	}
	if (!is_empty(getenv("TMUX")))
		load_into_tmux(errands, text);
	else
		term_copy(text);
	tell_copied(errands, text);
}

void clip_copy(struct errands *errands, const struct strvec *words)
{
	const struct errand errand = { .words = words, .timeout_ms = TIMEOUT_MS };
	errand_start(errands, &errand, on_printed, errands);
}
