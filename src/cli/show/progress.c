/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/progress.h"

#include "cli/show/output.h"

#include <unistd.h>

enum { INTERVAL_MS = 1000 };

static void print_step(FILE *to, const char *text, bool is_failure, size_t number, size_t count)
{
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_string(object, "event", "progress");
	json_set(object, "text", json_text(text));
	json_set_bool(object, "is_failure", is_failure);
	json_set(object, "number", count ? json_object_new_int64((int64_t)number) : NULL);
	json_set(object, "count", count ? json_object_new_int64((int64_t)count) : NULL);
	print_json_line_to(to, object);
}

void progress_line(const char *line, bool is_failure)
{
	print_step(stderr, line, is_failure, 0, 0);
}

void progress_begin(struct progress *progress, FILE *to, bool is_json, int64_t now_ms)
{
	*progress = (struct progress){
		.to = is_json || isatty(fileno(to)) ? to : NULL,
		.is_json = is_json,
		.shown_ms = now_ms,
	};
}

void progress_step(struct progress *progress, int64_t now_ms, const char *what, size_t number,
		   size_t count)
{
	if (!progress->to || now_ms - progress->shown_ms < INTERVAL_MS)
		return;
	progress->shown_ms = now_ms;
	if (progress->is_json) {
		print_step(progress->to, what, false, number, count);
		(void)fflush(progress->to);
		return;
	}
	progress->is_shown = true;
	fprintf(progress->to, "\r%s %zu of %zu", what, number, count);
	(void)fflush(progress->to);
}

void progress_clear(struct progress *progress)
{
	if (!progress->is_shown)
		return;
	fputs("\r\033[K", progress->to);
	(void)fflush(progress->to);
	progress->is_shown = false;
}
