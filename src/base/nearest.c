/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/nearest.h"

#include <string.h>

struct nearest nearest_begin(const char *typed)
{
	return (struct nearest){ .typed = typed, .distance = (strlen(typed) + 1) / 3 };
}

void nearest_clear(struct nearest *nearest)
{
	strvec_clear(&nearest->names);
}

void nearest_consider(struct nearest *nearest, const char *word, const char *meant)
{
	size_t distance = text_distance(nearest->typed, word);
	if (distance > 1 && strlen(nearest->typed) > 1 && starts_with(word, nearest->typed))
		distance = 1;
	if (distance > nearest->distance || strvec_contains(&nearest->names, meant))
		return;
	if (distance < nearest->distance)
		strvec_clear(&nearest->names);
	nearest->distance = distance;
	strvec_push(&nearest->names, meant);
}

char *nearest_text(const struct nearest *nearest, size_t most)
{
	const size_t count = nearest->names.count;
	struct strbuf text = { 0 };
	if (count == 0 || count > most)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		strbuf_adds(&text, i == 0 ? "'" : i + 1 < count ? ", '" : " or '");
		strbuf_add_visible(&text, nearest->names.items[i]);
		strbuf_adds(&text, "'");
	}
	return strbuf_take(&text);
}
