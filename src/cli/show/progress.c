/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/progress.h"

#include "cli/show/output.h"

#include <unistd.h>

enum { INTERVAL_MS = 1000 };

static struct json_object *json_of_step(const char *text, bool is_failure, size_t number,
					size_t count)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "event", "progress");
	json_set(object, "text", json_text(text));
	json_set_bool(object, "is_failure", is_failure);
	json_set(object, "number", count ? json_object_new_int64((int64_t)number) : NULL);
	json_set(object, "count", count ? json_object_new_int64((int64_t)count) : NULL);
	return object;
}

static void print_step(FILE *to, const char *text, bool is_failure, size_t number, size_t count)
{
	cleanup_json struct json_object *object = json_of_step(text, is_failure, number, count);
	print_json_line_to(to, object);
}

void progress_line(const char *line, bool is_failure)
{
	print_step(stderr, line, is_failure, 0, 0);
}

void progress_stage(const struct stage_news *news)
{
	const bool is_slow = news->ms >= INTERVAL_MS || news->is_slow;
	if (!isatty(STDERR_FILENO) || !is_slow || news->is_failure)
		return;
	if (news->is_last)
		complain("up in %.1f s: %s", (double)news->ms / 1000, news->text);
	else if (!news->is_end)
		complain("%s ...", news->text);
}

void progress_stage_line(const struct stage_news *news)
{
	cleanup_json struct json_object *object = json_of_step(news->text, news->is_failure, 0, 0);
	json_set_string(object, "run", news->run);
	json_set_string(object, "stage", news->is_last ? NULL : news->text);
	json_set(object, "ms", news->is_end ? json_object_new_int64(news->ms) : NULL);
	print_json_line_to(stderr, object);
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
