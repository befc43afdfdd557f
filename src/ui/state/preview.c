/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/preview.h"

#include <string.h>

void preview_free(struct preview *preview)
{
	free(preview->id);
	free(preview->text);
	painting_free(&preview->painting);
	*preview = (struct preview){ 0 };
}

const char *preview_name(enum preview_kind kind)
{
	static const char *const names[PREVIEW_COUNT] = { "",           "screen",
							  "last reply", "conversation",
							  "facts",      "log" };
	return names[kind];
}

void preview_add_words(enum preview_kind kind, const char *id, struct strvec *ret)
{
	static const char *const words[PREVIEW_COUNT][4] = {
		[PREVIEW_SCREEN] = { "output", "--pane" },    [PREVIEW_REPLY] = { "output" },
		[PREVIEW_TURNS] = { "last-turns" },           [PREVIEW_FACTS] = { "show" },
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

bool preview_set(struct preview *preview, enum preview_kind kind, const char *id, const char *text)
{
	const bool is_same = preview->shown == kind && preview->text &&
			     streq(preview->text, text) && streq(or_empty(preview->id), id);
	if (is_same)
		return false;
	replace_string(&preview->id, id);
	replace_string(&preview->text, text);
	preview->shown = kind;
	painting_free(&preview->painting);
	paint_parse(text, &preview->painting);
	return true;
}
