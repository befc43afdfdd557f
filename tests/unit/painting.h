/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ui/state/paint.h"

/* The text of all lines.  The caller frees. */
static inline char *painting_text(const struct painting *painting)
{
	struct strbuf text = { 0 };
	for (size_t i = 0; i < painting->count; i++) {
		for (size_t k = 0; k < painting->lines[i].count; k++)
			strbuf_adds(&text, painting->lines[i].spans[k].text);
		strbuf_adds(&text, "\n");
	}
	return strbuf_take(&text);
}
