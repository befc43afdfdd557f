/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/preview.h"

#include <string.h>

enum { TAB_STOP = 8 };

void preview_free(struct preview *preview)
{
	free(preview->id);
	strvec_clear(&preview->lines);
	*preview = (struct preview){ 0 };
}

const char *preview_name(enum preview_kind kind)
{
	static const char *const names[PREVIEW_COUNT] = { "", "screen", "last reply", "facts",
							  "log" };
	return names[kind];
}

void preview_add_words(enum preview_kind kind, const char *id, struct strvec *ret)
{
	static const char *const words[PREVIEW_COUNT][4] = {
		[PREVIEW_SCREEN] = { "output", "--pane" },
		[PREVIEW_REPLY] = { "output" },
		[PREVIEW_FACTS] = { "show" },
		[PREVIEW_LOG] = { "logs", "--lines", "100" },
	};
	strvec_push_array(ret, words[kind]);
	strvec_push(ret, id);
}

bool preview_is_due(const struct preview *preview, const char *id)
{
	return id && preview->kind != PREVIEW_NONE &&
	       (preview->is_stale || preview->shown != preview->kind || !preview->id ||
		!streq(preview->id, id));
}

/* A terminal would jump to the next stop. */
static char *without_tabs(const char *line)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (; *line; line++) {
		if (*line != '\t')
			strbuf_add(&text, line, 1);
		while (*line == '\t' && (strbuf_adds(&text, " "), text.length % TAB_STOP))
			;
	}
	return visible(strbuf_text(&text));
}

void preview_set(struct preview *preview, enum preview_kind kind, const char *id, const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	replace_string(&preview->id, id);
	preview->shown = kind;
	preview->is_stale = false;
	strvec_clear(&preview->lines);
	for (const char *line; (line = strsep(&rest, "\n"));)
		strvec_push_take(&preview->lines, without_tabs(line));
	struct strvec *lines = &preview->lines;
	for (; lines->count && !*lines->items[lines->count - 1]; lines->count--)
		free(TAKE_PTR(lines->items[lines->count - 1]));
}
