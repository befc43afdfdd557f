/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/linediff.h"

#include <string.h>

static void split(const char *text, struct strvec *ret)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (rest || *line)
			strvec_push(ret, line);
}

/* common[i * (after + 1) + j]: how many lines the rests from i and j have in common. */
static unsigned *count_common(const struct strvec *before, const struct strvec *after)
{
	const size_t width = after->count + 1;
	unsigned *common = xcalloc((before->count + 1) * width, sizeof(*common));
	for (size_t i = before->count; i-- > 0;)
		for (size_t j = after->count; j-- > 0;) {
			const unsigned skip_i = common[(i + 1) * width + j];
			const unsigned skip_j = common[i * width + j + 1];
			common[i * width + j] = streq(before->items[i], after->items[j])
							? common[(i + 1) * width + j + 1] + 1
						: skip_i > skip_j ? skip_i
								  : skip_j;
		}
	return common;
}

static void walk(const struct strvec *before, const struct strvec *after, const unsigned *common,
		 struct strvec *ret)
{
	const size_t width = after->count + 1;
	size_t i = 0, j = 0;
	while (i < before->count || j < after->count) {
		const bool has_both = i < before->count && j < after->count;
		if (has_both && streq(before->items[i], after->items[j])) {
			i++, j++;
		} else if (j == after->count ||
			   (has_both && common &&
			    common[(i + 1) * width + j] >= common[i * width + j + 1]) ||
			   (has_both && !common)) {
			strvec_pushf(ret, "-%s", before->items[i++]);
		} else {
			strvec_pushf(ret, "+%s", after->items[j++]);
		}
	}
}

void linediff(const char *before, const char *after, struct strvec *ret)
{
	cleanup_strvec struct strvec old = { 0 }, new = { 0 };
	split(before, &old);
	split(after, &new);
	const bool is_small = old.count <= LINEDIFF_MOST && new.count <= LINEDIFF_MOST;
	cleanup_free unsigned *common = is_small ? count_common(&old, &new) : NULL;
	walk(&old, &new, common, ret);
}
