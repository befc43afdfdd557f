/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/progress.h"

#include <unistd.h>

enum { INTERVAL_MS = 1000 };

void progress_begin(struct progress *progress, FILE *to, int64_t now_ms)
{
	*progress = (struct progress){ .to = isatty(fileno(to)) ? to : NULL, .shown_ms = now_ms };
}

void progress_step(struct progress *progress, int64_t now_ms, const char *what, size_t number,
		   size_t count)
{
	if (!progress->to || now_ms - progress->shown_ms < INTERVAL_MS)
		return;
	progress->shown_ms = now_ms;
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
