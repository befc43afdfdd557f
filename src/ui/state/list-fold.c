/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/list.h"

#include "ui/state/list-internal.h"
#include "ui/state/list-paths.h"

#include <stdlib.h>
#include <string.h>

static void set_path(struct strvec *paths, const char *path, bool is_in)
{
	if (is_in)
		paths_add(paths, path);
	else
		paths_take(paths, path);
}

/* What a line collapses or opens; false: nothing.  What is collapsed collapses the group around it
 * next. */
static bool fold_of(const struct line *line, bool is_to_be_collapsed, struct list_place *ret)
{
	const bool is_again = line->is_collapsed && is_to_be_collapsed;
	size_t length = line->kind == LINE_SESSION ? strlen(line->item->path) : line->path_length;
	*ret = (struct list_place){ .kind = LINE_GROUP };
	if (line->kind == LINE_STOPPED && !is_again)
		ret->kind = LINE_STOPPED;
	else if (line->kind == LINE_GROUP && is_again)
		length = line->name_start ? line->name_start - 1 : 0;
	if ((length == 0 && ret->kind == LINE_GROUP) ||
	    (line->kind == LINE_SESSION && !is_to_be_collapsed))
		return false;
	ret->name = xstrndup(line->item->path, length);
	return true;
}

void list_set_collapsed(struct list *list, bool is_to_be_collapsed)
{
	struct list_place place;
	list_settle(list);
	if (list->cursor >= list->line_count ||
	    (list->order == ORDER_URGENCY && list->lines[list->cursor].kind == LINE_SESSION) ||
	    !fold_of(&list->lines[list->cursor], is_to_be_collapsed, &place))
		return;
	if (place.kind == LINE_STOPPED) {
		set_path(&list->unfolded, place.name, !is_to_be_collapsed);
	} else {
		set_path(&list->collapsed, place.name, is_to_be_collapsed);
		set_path(&list->opened, place.name, !is_to_be_collapsed);
	}
	free(list->place.name);
	list->place = place;
	list->needs_lines = true;
	list_settle(list);
}

static bool is_at_rest(const struct item *item)
{
	return doing_is_at_rest(item->doing) && !item_needs_user(item) &&
	       !(item->marks & (MARK_UNDECIDED | MARK_PINNED));
}

/* Collapse the outermost group of the line's in which everything rests.  Returns the line behind
 * it. */
static size_t fold_group(struct list *list, size_t at)
{
	const struct line *line = &list->lines[at];
	bool rests = line->sessions > 0;
	size_t next = at + 1;
	while (next < list->line_count && list->lines[next].depth > line->depth) {
		const struct line *below = &list->lines[next++];
		rests &= below->kind == LINE_SESSION
				 ? below->item->rests
				 : below->kind != LINE_GROUP ||
					   below->doing[DOING_STOPPED] +
							   below->doing[DOING_ASLEEP] ==
						   below->sessions;
	}
	if (!rests)
		return at + 1;
	cleanup_free char *path = xstrndup(line->item->path, line->path_length);
	if (paths_have(&list->opened, path, line->path_length))
		return at + 1;
	paths_add(&list->collapsed, path);
	return next;
}

/* Fold the groups of one host, or of all (SIZE_MAX). */
static void fold_groups(struct list *list, size_t host)
{
	if (list_lines(list) <= list->fold_height)
		return;
	for (size_t i = 0; i < list->count; i++)
		if (host == SIZE_MAX || list->items[i]->host == host)
			list->items[i]->rests = is_at_rest(list->items[i]);
	for (size_t i = 0; i < list->line_count;) {
		const struct line *line = &list->lines[i];
		const bool is_wanted = host == SIZE_MAX || line->item->host == host;
		i = line->kind == LINE_GROUP && is_wanted ? fold_group(list, i) : i + 1;
	}
	list->needs_sort = true;
}

void list_fold(struct list *list, size_t height)
{
	list->has_pins = list->needs_lines = true;
	list->fold_height = height;
	fold_groups(list, SIZE_MAX);
}

void list_complete_host(struct list *list, size_t host)
{
	for (size_t i = list->count; i-- > 0;)
		if (list->items[i]->host == host && list->items[i]->is_away)
			list_remove(list, list->items[i]);
	list_tell_host(list, host, HOST_THERE, 0, NULL);
	if (!list->hosts[host].is_folded)
		fold_groups(list, host);
	list->hosts[host].is_folded = true;
}
