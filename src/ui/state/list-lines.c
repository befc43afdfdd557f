/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/list.h"

#include "ui/state/list-internal.h"
#include "ui/state/list-paths.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAMES_MAX = 64,
	PINNED_MOST = 5,   /* the others are found with their groups, and by list_next_waiting() */
	STOPPED_LEAST = 3, /* fewer keep their lines */
};

/* ---- order ------------------------------------------------------------------------------------ */

static struct attention attention_of(const struct item *item)
{
	return (struct attention){ item->doing, item->marks, item->since_us, item->id };
}

bool item_needs_user(const struct item *item)
{
	const struct attention attention = attention_of(item);
	return !item->is_away && attention_is_needed(&attention);
}

/* Also of a host that is away, which may be back soon: its sessions keep their place. */
static bool is_urgent(const struct item *item)
{
	const struct attention attention = attention_of(item);
	return attention_is_needed(&attention);
}

static int is_pinned(const struct item *item)
{
	return (item->marks & MARK_PINNED) != 0;
}

static int compare_attention(const void *left, const void *right)
{
	const struct attention a = attention_of(*(struct item *const *)left);
	const struct attention b = attention_of(*(struct item *const *)right);
	return attention_compare(&a, &b);
}

void items_sort_by_need(struct item **items, size_t count)
{
	qsort(items, count, sizeof(struct item *), compare_attention);
}

bool item_is_before(const struct item *a, const struct item *b)
{
	return compare_attention(&a, &b) < 0;
}

/* A group comes before those below it: "a", "a/b", "a-b". */
static int compare_groups(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	const int left = *a == '/' ? 1 : *a ? (unsigned char)*a + 1 : 0;
	const int right = *b == '/' ? 1 : *b ? (unsigned char)*b + 1 : 0;
	return (left > right) - (left < right);
}

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct item *a = *(struct item *const *)left, *b = *(struct item *const *)right;
	const enum list_order order = *(const enum list_order *)context;
	int r = order == ORDER_URGENCY ? 0 : compare_numbers((int64_t)a->host, (int64_t)b->host);
	r = r || order == ORDER_URGENCY ? r : compare_groups(a->path, b->path);
	r = r ? r : a->rests - b->rests;
	if (r == 0 && order != ORDER_URGENCY)
		r = is_pinned(b) - is_pinned(a);
	if (r == 0 && order == ORDER_URGENCY)
		r = is_urgent(b) - is_urgent(a);
	if (r == 0 && order == ORDER_URGENCY && !is_urgent(a))
		r = is_pinned(b) - is_pinned(a);
	if (r == 0 && order == ORDER_URGENCY)
		r = compare_attention(left, right);
	if (r == 0 && order == ORDER_TITLE)
		r = strcasecmp(a->title, b->title);
	if (r == 0 && order == ORDER_USE)
		r = compare_numbers(b->used_us, a->used_us);
	if (r == 0 && order == ORDER_MEMORY)
		r = compare_numbers(b->memory, a->memory);
	r = r ? r : compare_numbers(a->created_us, b->created_us);
	return r ? r : strcmp(a->id, b->id);
}

static void sort(struct list *list)
{
	if (list->count > 1)
		qsort_r(list->items, list->count, sizeof(struct item *), compare, &list->order);
	for (size_t i = 0; i < list->count; i++)
		list->items[i]->index = i;
}

/* ---- lines ------------------------------------------------------------------------------------ */

static bool is_in_scope(const struct list *list, const struct item *item)
{
	if (item->marks & MARK_ARCHIVED)
		return list->scope == SCOPE_ARCHIVE;
	switch (list->scope) {
	case SCOPE_NEEDS_USER:
		return item_needs_user(item);
	case SCOPE_RUNNING:
		return doing_is_alive(item->doing);
	case SCOPE_ARCHIVE:
		return false;
	default:
		return true;
	}
}

const char *list_path_of(const struct list *list, const struct item *item)
{
	return list->order == ORDER_URGENCY ? "" : item->path;
}

bool list_is_in_group(const struct item *item, const char *group)
{
	const size_t length = strlen(group);
	return strncmp(item->path, group, length) == 0 &&
	       (item->path[length] == '\0' || item->path[length] == '/');
}

bool list_is_shown(const struct list *list, const struct item *item)
{
	if (item->is_twin || !is_in_scope(list, item) ||
	    (list->only[ONLY_AGENT] && !streq(item->agent, list->only[ONLY_AGENT])) ||
	    (list->only[ONLY_GROUP] && !list_is_in_group(item, list->only[ONLY_GROUP])))
		return false;
	for (size_t i = 0; i < list->words.count; i++)
		if (!(i < REPLY_WORDS && item->replied >> i & 1) &&
		    !strstr(item->haystack, list->words.items[i]))
			return false;
	return true;
}

static struct line *add_line(struct list *list, const struct line *line)
{
	if (list->line_count == list->line_size) {
		list->line_size = list->line_size ? 2 * list->line_size : 64;
		list->lines = xreallocarray(list->lines, list->line_size, sizeof(*list->lines));
	}
	list->lines[list->line_count] = *line;
	return &list->lines[list->line_count++];
}

/* What the lines so far end in. */
struct trail {
	size_t lines[NAMES_MAX]; /* of the groups around the session before, the outermost first;
				  * SIZE_MAX: inside a collapsed one */
	size_t lengths[NAMES_MAX];
	unsigned depth;
	const char *group;
	unsigned hidden_from;  /* the depth below which nothing is shown */
	size_t hidden_by;      /* the line of the group that hides it */
	const char *lively;    /* the group of the last session that does not rest; NULL: none */
	const char *resting;   /* the group whose resting sessions were counted; NULL: none */
	size_t folded_by;      /* the line that stands for these; SIZE_MAX: each has its own */
	size_t next_collapsed; /* for paths_have_next() */
};

/* How many groups the next session shares with the one before. */
static unsigned common_depth(const struct trail *trail, const char *group)
{
	unsigned depth = 0;
	while (depth < trail->depth) {
		const size_t length = trail->lengths[depth];
		if (strncmp(trail->group, group, length) != 0 ||
		    (group[length] != '\0' && group[length] != '/'))
			break;
		depth++;
	}
	return depth;
}

/* Enter the groups of the session that the one before was not in. */
static void enter_groups(struct list *list, struct trail *trail, struct item *item)
{
	const char *group = list_path_of(list, item);
	const size_t whole = strlen(group);
	trail->depth = common_depth(trail, group);
	trail->group = group;
	if (trail->hidden_from > trail->depth)
		trail->hidden_from = UINT32_MAX;
	size_t at = trail->depth ? trail->lengths[trail->depth - 1] + 1 : 0;
	while (at < whole && trail->depth < NAMES_MAX) {
		const size_t length = at + strcspn(group + at, "/");
		const bool is_visible = trail->hidden_from == UINT32_MAX;
		const struct line line = {
			.kind = LINE_GROUP,
			.depth = trail->depth,
			.item = item,
			.path_length = length,
			.name_start = at,
			/* While there is a search, everything is open. */
			.is_collapsed = !list->words.count &&
					paths_have_next(&list->collapsed, group, length,
							&trail->next_collapsed),
		};
		trail->lines[trail->depth] = is_visible ? list->line_count : SIZE_MAX;
		trail->lengths[trail->depth++] = length;
		if (is_visible && line.is_collapsed) {
			trail->hidden_from = trail->depth;
			trail->hidden_by = list->line_count;
		}
		if (is_visible)
			add_line(list, &line);
		at = length + 1;
	}
}

static void count_in_groups(struct list *list, const struct trail *trail, const struct item *item)
{
	for (unsigned i = 0; i < trail->depth; i++) {
		if (trail->lines[i] == SIZE_MAX)
			continue;
		struct line *line = &list->lines[trail->lines[i]];
		line->sessions++;
		line->doing[item->doing] += !item->is_away;
	}
}

static void count(struct list_counts *counts, const struct item *item)
{
	if (item->is_twin)
		return;
	if (item->marks & MARK_ARCHIVED) {
		counts->archived++;
		return;
	}
	counts->all++;
	counts->doing[item->doing] += !item->is_away;
	counts->needy += item_needs_user(item);
}

/* How many that rest the group of this one has from here on: they are behind one another. */
static size_t count_resting(const struct list *list, size_t first)
{
	size_t count = 0;
	for (size_t i = first; i < list->count; i++) {
		if (!streq(list_path_of(list, list->items[i]),
			   list_path_of(list, list->items[first])))
			break;
		count += list_is_shown(list, list->items[i]);
	}
	return count;
}

/* The sessions of a group that rest have one line, where others in it are alive.  Outside of groups
 * they always have, since no group can be collapsed around them. */
static void enter_resting(struct list *list, struct trail *trail, struct item *item)
{
	const char *group = list_path_of(list, item);
	if (trail->resting && streq(trail->resting, group))
		return;
	trail->resting = group;
	trail->folded_by = SIZE_MAX;
	const size_t count = count_resting(list, item->index), length = strlen(group);
	const bool is_alone = length && (!trail->lively || !streq(trail->lively, group));
	if (is_alone || count < STOPPED_LEAST || list->words.count)
		return;
	const bool is_folded = !paths_have(&list->unfolded, group, length);
	if (is_folded)
		trail->folded_by = list->line_count;
	add_line(list, &(struct line){ .kind = LINE_STOPPED,
				       .depth = trail->depth,
				       .item = item,
				       .path_length = length,
				       .name_start = length,
				       .is_collapsed = is_folded,
				       .sessions = count });
}

static void add_session(struct list *list, struct trail *trail, struct item *item)
{
	enter_groups(list, trail, item);
	count_in_groups(list, trail, item);
	item->hidden_by = SIZE_MAX;
	if (trail->hidden_from != UINT32_MAX) {
		item->hidden_by = trail->hidden_by;
		return;
	}
	if (item->rests)
		enter_resting(list, trail, item);
	else
		trail->lively = list_path_of(list, item);
	if (item->rests && trail->folded_by != SIZE_MAX) {
		item->hidden_by = trail->folded_by;
		return;
	}
	item->line = list->line_count;
	add_line(list, &(struct line){ .kind = LINE_SESSION, .depth = trail->depth, .item = item });
}

static size_t characters(const char *text)
{
	size_t count = 0;
	for (; *text; text++)
		count += !is_inside_character(*text);
	return count;
}

const char *marks_text(unsigned marks, char buffer[MARKS_TEXT_SIZE])
{
	static const struct {
		enum mark mark;
		const char *word;
	} words[] = {
		{ MARK_HELD, "held" },      { MARK_SHARED, "shared" }, { MARK_UNDECIDED, "ended" },
		{ MARK_ELSEWHERE, "away" }, { MARK_CONTAINER, "box" }, { MARK_WORKTREE, "wt" },
		{ MARK_CLONE, "clone" },
	};
	size_t length = 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (marks & words[i].mark && length < MARKS_TEXT_SIZE)
			length += (size_t)snprintf(buffer + length, MARKS_TEXT_SIZE - length,
						   "%s%s", length ? "," : "", words[i].word);
	buffer[length] = '\0';
	return buffer;
}

static void measure(struct list_widths *widths, const struct item *item)
{
	char buffer[MARKS_TEXT_SIZE];
	const size_t agent = characters(item->agent);
	const size_t marks = item->marks ? strlen(marks_text(item->marks, buffer)) : 0;
	widths->agent = agent > widths->agent ? agent : widths->agent;
	widths->marks = marks > widths->marks ? marks : widths->marks;
}

static void add_heading(struct list *list, enum line_heading heading, struct item *item,
			size_t sessions)
{
	add_line(list, &(struct line){ .kind = LINE_HEADING,
				       .heading = heading,
				       .item = item,
				       .sessions = sessions });
}

/* Sessions that need the user come first: a long list would hide them. */
static void add_needy(struct list *list)
{
	if (!list->has_pins || list->order == ORDER_URGENCY || list->words.count ||
	    list->scope != SCOPE_ALL || !list->counts.needy)
		return;
	cleanup_free struct item **needy = xcalloc(list->counts.needy, sizeof(struct item *));
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		if (item_needs_user(list->items[i]) && list_is_shown(list, list->items[i]))
			needy[count++] = list->items[i];
	if (!count)
		return;
	items_sort_by_need(needy, count);
	add_heading(list, HEADING_NEEDS_YOU, needy[0], count);
	for (size_t i = 0; i < count && i < PINNED_MOST; i++) {
		needy[i]->pinned_line = list->line_count;
		add_line(list, &(struct line){
				       .kind = LINE_SESSION, .item = needy[i], .is_pinned = true });
	}
	add_heading(list, HEADING_ALL, needy[0], list->counts.shown);
}

/* Add the hosts before this one that have no line yet: none of their sessions is shown. */
static void add_empty_hosts(struct list *list, size_t *at, size_t host)
{
	for (; *at < host && list_shows_hosts(list); ++*at) {
		struct item *anchor = &list->hosts[*at].anchor;
		add_line(list, &(struct line){ .kind = LINE_GROUP,
					       .item = anchor,
					       .path_length = strlen(anchor->path) });
	}
	if (*at == host)
		++*at;
}

void list_make_lines(struct list *list)
{
	struct trail trail = { .group = "", .hidden_from = UINT32_MAX, .folded_by = SIZE_MAX };
	list->line_count = 0;
	replace_string(&list->kept_text, NULL);
	list_find_twins(list);
	list->counts = (struct list_counts){ 0 };
	list->widths = (struct list_widths){ 0 };
	for (size_t i = 0; i < list->count; i++) {
		struct item *item = list->items[i];
		count(&list->counts, item);
		measure(&list->widths, item);
		list->counts.shown += list_is_shown(list, item);
		item->place = list->counts.shown;
		item->line = item->pinned_line = item->hidden_by = SIZE_MAX;
	}
	add_needy(list);
	size_t host = 0;
	for (size_t i = 0; i < list->count; i++) {
		if (!list_is_shown(list, list->items[i]))
			continue;
		add_empty_hosts(list, &host, list->items[i]->host);
		add_session(list, &trail, list->items[i]);
	}
	add_empty_hosts(list, &host, list->host_count);
}

/* ---- the place of the cursor ------------------------------------------------------------------ */

void list_note_place(struct list *list)
{
	const struct line *line = list->cursor < list->line_count ? &list->lines[list->cursor]
								  : NULL;
	free(list->place.name);
	list->place = (struct list_place){ .kind = line ? line->kind : LINE_HEADING };
	if (!line || line->kind == LINE_HEADING)
		return;
	list->place.is_pinned = line->is_pinned;
	list->place.name = line->kind == LINE_SESSION
				   ? xstrdup(line->item->id)
				   : xstrndup(line->item->path, line->path_length);
}

void list_put_cursor(struct list *list, size_t line)
{
	const size_t last = list->line_count ? list->line_count - 1 : 0;
	list->cursor = line < last ? line : last;
	/* A heading is not a place to be: a session is below it. */
	if (list->line_count && list->lines[list->cursor].kind == LINE_HEADING)
		list->cursor += list->cursor < last;
}

struct item *list_find(const struct list *list, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (streq(list->items[i]->id, id))
			return list->items[i];
	return NULL;
}

/* SIZE_MAX: nothing is shown for it. */
static size_t line_of_session(const struct list *list, const struct item *item)
{
	if (list->place.is_pinned && item->pinned_line != SIZE_MAX)
		return item->pinned_line;
	return item->line != SIZE_MAX ? item->line : item->hidden_by;
}

static size_t line_of_group(const struct list *list)
{
	for (size_t i = 0; i < list->line_count; i++) {
		const struct line *line = &list->lines[i];
		if (line->kind == list->place.kind &&
		    strlen(list->place.name) == line->path_length &&
		    memcmp(line->item->path, list->place.name, line->path_length) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* The cursor follows what it was on. */
static void find_cursor(struct list *list)
{
	const bool is_session = list->place.name && list->place.kind == LINE_SESSION;
	const struct item *item = is_session ? list_find(list, list->place.name) : NULL;
	size_t line = SIZE_MAX;
	/* The session's other host shows it now. */
	if (is_session && list->host_count && (!item || item->is_twin))
		item = list_find_shown(list, list->place.name);
	if (item)
		line = line_of_session(list, item);
	else if (list->place.name && !is_session)
		line = line_of_group(list);
	list_put_cursor(list, line != SIZE_MAX ? line : list->cursor);
	/* What a search hides comes back under the cursor. */
	if (!item || line != SIZE_MAX || !list->words.count)
		list_note_place(list);
}

void list_settle(struct list *list)
{
	if (list->needs_sort)
		sort(list);
	if (list->needs_sort || list->needs_lines) {
		list_make_lines(list);
		find_cursor(list);
	}
	list->needs_sort = list->needs_lines = false;
}
