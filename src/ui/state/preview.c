/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/preview.h"

#include <string.h>
#include <time.h>

enum { SCROLL_LINES = 3 };

void preview_free(struct preview *preview)
{
	free(preview->id);
	free(preview->text);
	painting_free(&preview->painting);
	*preview = (struct preview){ 0 };
}

/* The tabs: what each is called, and the command whose output it is. */
static const struct {
	const char *name;
	const char *words[4];
} kinds[PREVIEW_COUNT] = {
	[PREVIEW_NONE] = { "", { NULL } },
	[PREVIEW_SCREEN] = { "screen", { "output", "--pane" } },
	[PREVIEW_REPLY] = { "reply", { "output" } },
	[PREVIEW_TURNS] = { "talk", { "output", "--turns", "20" } },
	[PREVIEW_FACTS] = { "facts", { "show" } },
	[PREVIEW_LOG] = { "log", { "logs", "--lines", "100" } },
	[PREVIEW_CHANGES] = { "changes", { "changes" } },
};

const char *preview_name(enum preview_kind kind)
{
	return kinds[kind].name;
}

enum preview_kind preview_of_name(const char *name)
{
	size_t kind = 0;
	while (kind < PREVIEW_COUNT && !streq(preview_name(kind), name))
		kind++;
	return (enum preview_kind)kind;
}

bool preview_is_from_top(enum preview_kind kind)
{
	return kind == PREVIEW_FACTS || kind == PREVIEW_CHANGES;
}

void preview_add_words(enum preview_kind kind, const char *id, struct strvec *ret)
{
	strvec_push_array(ret, kinds[kind].words);
	strvec_push(ret, id);
}

bool preview_shows(const struct preview *preview, enum preview_kind kind, const char *id)
{
	return preview->shown == kind && streq(or_empty(preview->id), id);
}

bool preview_is_due(const struct preview *preview, const char *id)
{
	return id && preview->kind != PREVIEW_NONE &&
	       (preview->is_stale || !preview_shows(preview, preview->kind, id));
}

/* "2026-11-25T16:13:16.306Z info launch pid=140 instance=rrgvp5gz state ..." as "Nov 25 16:13:16
 * launch: state ...": the heading names the session.  A line of another form is not changed. */
static void add_log_line(const char *line, struct strbuf *ret)
{
	struct tm at = { 0 };
	char when[32];
	const char *rest = strptime(line, "%Y-%m-%dT%H:%M:%S", &at);
	const char *level = rest ? strchr(rest, ' ') : NULL;
	const char *who = level ? strchr(level + 1, ' ') : NULL;
	const char *text = who ? strchr(who + 1, ' ') : NULL;
	if (!text) {
		strbuf_addf(ret, "%s\n", line);
		return;
	}
	const time_t then = timegm(&at);
	(void)localtime_r(&then, &at);
	if (strftime(when, sizeof(when), "%b %d %H:%M:%S", &at) == 0)
		*when = '\0';
	strbuf_adds(ret, when);
	if (!starts_with(level + 1, "info "))
		strbuf_addf(ret, " %.*s", (int)(who - level - 1), level + 1);
	strbuf_addf(ret, " %.*s:", (int)(text - who - 1), who + 1);
	/* A line that was cut off may end in one of them. */
	while (*text && (starts_with(text + 1, "pid=") || starts_with(text + 1, "instance=")))
		text += 1 + strcspn(text + 1, " ");
	strbuf_addf(ret, "%s\n", text);
}

/* The caller frees. */
static char *readable_log(const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	struct strbuf lines = { 0 };
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			add_log_line(line, &lines);
	return strbuf_take(&lines);
}

bool preview_set(struct preview *preview, enum preview_kind kind, const char *id, const char *text)
{
	const bool is_same = preview->shown == kind && preview->text &&
			     streq(preview->text, text) && streq(or_empty(preview->id), id);
	preview->has_failed = false;
	if (is_same)
		return false;
	/* Another text begins at its own start.  A longer version of this one does not move. */
	if (preview->shown != kind || !streq(or_empty(preview->id), id))
		preview->back = 0;
	cleanup_free char *shown = kind == PREVIEW_LOG ? readable_log(text) : xstrdup(text);
	replace_string(&preview->id, id);
	replace_string(&preview->text, text);
	preview->shown = kind;
	painting_free(&preview->painting);
	paint_parse(shown, &preview->painting);
	return true;
}

void preview_scroll(struct preview *preview, bool is_up)
{
	if (is_up != preview_is_from_top(preview->kind))
		preview->back += SCROLL_LINES;
	else
		preview->back -= preview->back < SCROLL_LINES ? preview->back : SCROLL_LINES;
}
