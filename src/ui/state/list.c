/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/list.h"

#include "base/jsonio.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 2, REPLY_WORDS = 32, NAMES_MAX = 64 };

struct list {
	struct item **items; /* in the order of the list, once it is settled */
	size_t count, size;
	struct line *lines;
	size_t line_count, line_size;
	struct strvec collapsed; /* paths of groups */
	struct strvec words;     /* of the search, in lower case */
	enum list_order order;
	enum list_scope scope;
	char *only_agent, *only_group; /* NULL: all */
	bool needs_sort, needs_lines;
	struct list_counts counts;
	size_t chosen;

	size_t cursor, top;
	char *selected; /* id of the session where the cursor stays; NULL: a group, or nothing */
	char *selected_group; /* its path; or NULL */
};

/* ---- words ------------------------------------------------------------------------------------ */

const char *doing_name(enum doing doing)
{
	static const char *const names[DOING_COUNT] = {
		"waiting", "error",    "unknown",  "busy",    "idle",
		"running", "starting", "stopping", "stopped",
	};
	return names[doing];
}

bool doing_needs_user(enum doing doing)
{
	return doing <= DOING_UNKNOWN;
}

const char *list_order_name(enum list_order order)
{
	static const char *const names[ORDER_COUNT] = { "creation", "urgency", "title", "use",
							"memory" };
	return names[order];
}

const char *list_scope_name(enum list_scope scope)
{
	static const char *const names[SCOPE_COUNT] = { "all", "those that need you",
							"those that run" };
	return names[scope];
}

/* ---- sessions --------------------------------------------------------------------------------- */

struct list *list_new(void)
{
	return xcalloc(1, sizeof(struct list));
}

static void item_clear_texts(struct item *item)
{
	free(item->id);
	free(item->title);
	free(item->group);
	free(item->agent);
	free(item->directory);
	free(item->reason);
	free(item->haystack);
}

static void item_free(struct item *item)
{
	item_clear_texts(item);
	free(item);
}

void list_free(struct list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++)
		item_free(list->items[i]);
	free(list->items);
	free(list->lines);
	strvec_clear(&list->collapsed);
	strvec_clear(&list->words);
	free(list->selected);
	free(list->selected_group);
	free(list->only_agent);
	free(list->only_group);
	free(list);
}

/* ASCII only: so a text keeps its length, and a search means the same in every locale. */
static char *lower(char *text)
{
	for (char *at = text; *at; at++)
		*at = (char)((unsigned char)*at < 0x80 ? tolower((unsigned char)*at) : *at);
	return text;
}

static void fill(struct item *item, const struct facts *facts)
{
	*item = (struct item){
		.id = visible(or_empty(facts->id)),
		.title = visible(or_empty(facts->title)),
		.group = visible(or_empty(facts->group)),
		.agent = visible(or_empty(facts->agent)),
		.directory = visible(or_empty(facts->directory)),
		.reason = visible(or_empty(facts->reason)),
		.doing = facts->doing,
		.marks = facts->marks,
		.asks_first = facts->asks_first,
		.since_us = facts->since_us,
		.created_us = facts->created_us,
		.used_us = facts->used_us,
		.memory = item->memory,
		.cpu = item->cpu,
		.owner = item->owner,
		.index = item->index,
		.line = item->line,
		.is_chosen = item->is_chosen,
		.replied = item->replied,
	};
	item->haystack = lower(xasprintf("%s\n%s\n%s\n%s\n%s\n%s\n%s", item->title, item->group,
					 item->agent, item->directory, item->id, item->reason,
					 doing_name(item->doing)));
}

struct item *list_add(struct list *list, const struct facts *facts)
{
	struct item *item = xcalloc(1, sizeof(*item));
	item->line = SIZE_MAX;
	item->memory = item->cpu = -1;
	fill(item, facts);
	if (list->count == list->size) {
		list->size = list->size ? 2 * list->size : 64;
		list->items = xreallocarray(list->items, list->size, sizeof(struct item *));
	}
	item->index = list->count;
	list->items[list->count++] = item;
	list->needs_sort = list->needs_lines = true;
	return item;
}

/* Can the change have moved the session? */
static bool has_moved(const struct list *list, const struct item *before, const struct item *now)
{
	return !streq(before->group, now->group) || !streq(before->title, now->title) ||
	       (list->order == ORDER_URGENCY && before->doing != now->doing) ||
	       (list->order == ORDER_USE && before->used_us != now->used_us);
}

void list_change(struct list *list, struct item *item, const struct facts *facts)
{
	struct item before = *item;
	fill(item, facts);
	/* What does not run uses nothing. */
	if (item->doing == DOING_STOPPED || item->doing == DOING_ERROR)
		list_measure(list, item, -1, -1);
	list->needs_sort |= has_moved(list, &before, item);
	/* Lines point into the text of a group. */
	list->needs_lines = true;
	item_clear_texts(&before);
}

void list_remove(struct list *list, struct item *item)
{
	list_choose(list, item, false);
	memmove(&list->items[item->index], &list->items[item->index + 1],
		(list->count - item->index - 1) * sizeof(struct item *));
	list->count--;
	for (size_t i = item->index; i < list->count; i++)
		list->items[i]->index = i;
	item_free(item);
	list->needs_lines = true;
}

struct item *list_find(const struct list *list, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (streq(list->items[i]->id, id))
			return list->items[i];
	return NULL;
}

void list_measure(struct list *list, struct item *item, int64_t memory, int64_t cpu)
{
	if (list->order == ORDER_MEMORY && item->memory != memory)
		list->needs_sort = list->needs_lines = true;
	item->memory = memory;
	item->cpu = cpu;
}

/* ---- order ------------------------------------------------------------------------------------ */

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
	int r = compare_groups(a->group, b->group);
	if (r == 0 && order == ORDER_URGENCY)
		r = compare_numbers(a->doing, b->doing);
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
	switch (list->scope) {
	case SCOPE_NEEDS_USER:
		return doing_needs_user(item->doing) || item->marks & MARK_HELD;
	case SCOPE_RUNNING:
		return item->doing != DOING_STOPPED && item->doing != DOING_ERROR;
	default:
		return true;
	}
}

static bool is_in_group(const struct item *item, const char *group)
{
	const size_t length = strlen(group);
	return strncmp(item->group, group, length) == 0 &&
	       (item->group[length] == '\0' || item->group[length] == '/');
}

static bool is_shown(const struct list *list, const struct item *item)
{
	if (!is_in_scope(list, item) ||
	    (list->only_agent && !streq(item->agent, list->only_agent)) ||
	    (list->only_group && !is_in_group(item, list->only_group)))
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

static bool is_collapsed(const struct list *list, const char *group, size_t length)
{
	for (size_t i = 0; list->words.count == 0 && i < list->collapsed.count; i++)
		if (strlen(list->collapsed.items[i]) == length &&
		    memcmp(list->collapsed.items[i], group, length) == 0)
			return true;
	return false;
}

/* The groups around the session before, the outermost first. */
struct trail {
	size_t lines[NAMES_MAX]; /* their lines; SIZE_MAX: inside a collapsed one */
	size_t lengths[NAMES_MAX];
	unsigned depth;
	const char *group;
	unsigned hidden_from; /* the depth below which nothing is shown */
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
	const char *group = item->group;
	trail->depth = common_depth(trail, group);
	trail->group = group;
	if (trail->hidden_from > trail->depth)
		trail->hidden_from = UINT32_MAX;
	size_t at = trail->depth ? trail->lengths[trail->depth - 1] + 1 : 0;
	while (at < strlen(group) && trail->depth < NAMES_MAX) {
		const size_t length = at + strcspn(group + at, "/");
		const bool is_visible = trail->hidden_from == UINT32_MAX;
		const struct line line = {
			.kind = LINE_GROUP,
			.depth = trail->depth,
			.item = item,
			.path_length = length,
			.name_start = at,
			.is_collapsed = is_collapsed(list, group, length),
		};
		trail->lines[trail->depth] = is_visible ? list->line_count : SIZE_MAX;
		trail->lengths[trail->depth++] = length;
		if (is_visible)
			add_line(list, &line);
		if (is_visible && line.is_collapsed)
			trail->hidden_from = trail->depth;
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
		line->waiting += item->doing == DOING_WAITING;
		line->errors += item->doing == DOING_ERROR;
	}
}

static void count(struct list_counts *counts, const struct item *item)
{
	counts->all++;
	counts->waiting += item->doing == DOING_WAITING;
	counts->errors += item->doing == DOING_ERROR;
	counts->running += item->doing != DOING_STOPPED && item->doing != DOING_ERROR;
}

static void make_lines(struct list *list)
{
	struct trail trail = { .group = "", .hidden_from = UINT32_MAX };
	list->line_count = 0;
	list->counts = (struct list_counts){ 0 };
	for (size_t i = 0; i < list->count; i++) {
		struct item *item = list->items[i];
		count(&list->counts, item);
		item->line = SIZE_MAX;
		if (!is_shown(list, item))
			continue;
		list->counts.shown++;
		enter_groups(list, &trail, item);
		count_in_groups(list, &trail, item);
		if (trail.hidden_from != UINT32_MAX)
			continue;
		item->line = list->line_count;
		add_line(list, &(struct line){
				       .kind = LINE_SESSION, .depth = trail.depth, .item = item });
	}
}

static bool is_path(const struct line *line, const char *path)
{
	return line->kind == LINE_GROUP && strlen(path) == line->path_length &&
	       memcmp(line->item->group, path, line->path_length) == 0;
}

static void note_selected(struct list *list)
{
	const struct line *line = list->cursor < list->line_count ? &list->lines[list->cursor]
								  : NULL;
	const bool is_session = line && line->kind == LINE_SESSION;
	replace_string(&list->selected, is_session ? line->item->id : NULL);
	free(TAKE_PTR(list->selected_group));
	if (line && line->kind == LINE_GROUP)
		list->selected_group = xstrndup(line->item->group, line->path_length);
}

/* The cursor follows what it was on. */
static void find_cursor(struct list *list)
{
	const struct item *selected = list->selected ? list_find(list, list->selected) : NULL;
	if (selected && selected->line != SIZE_MAX)
		list->cursor = selected->line;
	for (size_t i = 0; list->selected_group && i < list->line_count; i++) {
		if (is_path(&list->lines[i], list->selected_group)) {
			list->cursor = i;
			break;
		}
	}
	if (list->cursor >= list->line_count)
		list->cursor = list->line_count ? list->line_count - 1 : 0;
	/* What a search hides comes back under the cursor. */
	if (!selected || selected->line != SIZE_MAX || !list->words.count)
		note_selected(list);
}

/* Until then the lines may point to sessions that are gone. */
static void settle(struct list *list)
{
	if (list->needs_sort)
		sort(list);
	if (list->needs_sort || list->needs_lines) {
		make_lines(list);
		find_cursor(list);
	}
	list->needs_sort = list->needs_lines = false;
}

size_t list_lines(struct list *list)
{
	settle(list);
	return list->line_count;
}

const struct line *list_line(struct list *list, size_t index)
{
	settle(list);
	return &list->lines[index];
}

struct list_counts list_counts(struct list *list)
{
	settle(list);
	return list->counts;
}

/* ---- the cursor ------------------------------------------------------------------------------- */

size_t list_cursor(struct list *list)
{
	settle(list);
	return list->cursor;
}

struct item *list_selected(struct list *list)
{
	settle(list);
	const bool is_session = list->cursor < list->line_count &&
				list->lines[list->cursor].kind == LINE_SESSION;
	return is_session ? list->lines[list->cursor].item : NULL;
}

void list_go(struct list *list, size_t line)
{
	settle(list);
	list->cursor = line < list->line_count ? line : list->line_count ? list->line_count - 1 : 0;
	note_selected(list);
}

void list_move(struct list *list, long lines)
{
	const long to = (long)list_cursor(list) + lines;
	list_go(list, to > 0 ? (size_t)to : 0);
}

/* No longer collapsed, by its index among those that are. */
static void open_group(struct list *list, size_t index)
{
	struct strvec *paths = &list->collapsed;
	free(paths->items[index]);
	/* With the NULL at the end. */
	memmove(&paths->items[index], &paths->items[index + 1],
		(paths->count - index) * sizeof(char *));
	paths->count--;
}

static bool is_below(const char *group, const char *path)
{
	const size_t length = strlen(path);
	return strncmp(group, path, length) == 0 && (group[length] == '\0' || group[length] == '/');
}

bool list_select(struct list *list, struct item *item)
{
	settle(list);
	if (item->line == SIZE_MAX) {
		for (size_t i = list->collapsed.count; i-- > 0;)
			if (is_below(item->group, list->collapsed.items[i]))
				open_group(list, i);
		make_lines(list);
	}
	if (item->line == SIZE_MAX)
		return false;
	list_go(list, item->line);
	return true;
}

/* Does a wait before b?  A time that is not known is the latest. */
static bool waits_longer(const struct item *a, const struct item *b)
{
	const int64_t left = a->since_us ? a->since_us : INT64_MAX;
	const int64_t right = b->since_us ? b->since_us : INT64_MAX;
	return left != right ? left < right : strcmp(a->id, b->id) < 0;
}

struct item *list_next_waiting(struct list *list)
{
	const struct item *now = list_selected(list);
	struct item *first = NULL, *next = NULL;
	for (size_t i = 0; i < list->count; i++) {
		struct item *item = list->items[i];
		if (item->doing != DOING_WAITING)
			continue;
		if (!first || waits_longer(item, first))
			first = item;
		if (now && now->doing == DOING_WAITING && item != now && waits_longer(now, item) &&
		    (!next || waits_longer(item, next)))
			next = item;
	}
	struct item *item = next ? next : first;
	if (item && !list_select(list, item)) {
		list_search(list, "");
		list_set_scope(list, SCOPE_ALL);
		list_set_only_agent(list, NULL);
		list_set_only_group(list, NULL);
		(void)list_select(list, item);
	}
	return item;
}

static size_t find_collapsed(const struct list *list, const char *path)
{
	size_t i = 0;
	while (i < list->collapsed.count && !streq(list->collapsed.items[i], path))
		i++;
	return i;
}

void list_set_collapsed(struct list *list, bool is_to_be_collapsed)
{
	settle(list);
	if (list->cursor >= list->line_count)
		return;
	const struct line *line = &list->lines[list->cursor];
	const struct item *item = line->item;
	/* A collapsed group within another collapses that one next. */
	size_t length = line->kind == LINE_GROUP ? line->path_length : strlen(item->group);
	if (line->kind == LINE_GROUP && line->is_collapsed && is_to_be_collapsed)
		length = line->name_start ? line->name_start - 1 : 0;
	if (length == 0 || (line->kind == LINE_SESSION && !is_to_be_collapsed))
		return;
	cleanup_free char *path = xstrndup(item->group, length);
	const size_t at = find_collapsed(list, path);
	if (is_to_be_collapsed && at == list->collapsed.count) {
		strvec_push(&list->collapsed, path);
	} else if (!is_to_be_collapsed && at < list->collapsed.count) {
		open_group(list, at);
	}
	replace_string(&list->selected, NULL);
	replace_string(&list->selected_group, path);
	make_lines(list);
	find_cursor(list);
}

size_t list_top(struct list *list, size_t height)
{
	settle(list);
	const size_t margin = height > 2 * MARGIN ? MARGIN : 0;
	const size_t last = list->line_count > height ? list->line_count - height : 0;
	if (list->cursor < list->top + margin)
		list->top = list->cursor > margin ? list->cursor - margin : 0;
	else if (list->cursor + margin >= list->top + height)
		list->top = list->cursor + margin + 1 - height;
	if (list->top > last)
		list->top = last;
	return list->top;
}

/* ---- which ------------------------------------------------------------------------------------ */

void list_search(struct list *list, const char *text)
{
	cleanup_free char *copy = lower(xstrdup(text));
	char *rest = copy;
	strvec_clear(&list->words);
	for (const char *word; (word = strsep(&rest, " "));)
		if (*word)
			strvec_push(&list->words, word);
	for (size_t i = 0; i < list->count; i++)
		list->items[i]->replied = 0;
	list->needs_lines = true;
}

bool list_is_searched(const struct list *list)
{
	return list->words.count > 0;
}

static unsigned words_in(const struct list *list, struct json_object *found)
{
	cleanup_strvec struct strvec words = { 0 };
	unsigned bits = 0;
	json_get_strings(found, "words", &words);
	for (size_t i = 0; i < list->words.count && i < REPLY_WORDS; i++)
		if (strvec_contains(&words, list->words.items[i]))
			bits |= 1U << i;
	return bits;
}

void list_search_replies(struct list *list, const char *text)
{
	cleanup_json struct json_object *array = NULL;
	if (json_parse(text, strlen(text), "agentdeck search", &array, NULL) < 0 ||
	    !json_object_is_type(array, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		struct json_object *found = json_object_array_get_idx(array, i);
		struct item *item = list_find(list, json_get_string(found, "id", ""));
		if (item)
			item->replied = words_in(list, found);
	}
	list->needs_lines = true;
}

void list_set_order(struct list *list, enum list_order order)
{
	list->order = order;
	list->needs_sort = true;
}

void list_set_scope(struct list *list, enum list_scope scope)
{
	list->scope = scope;
	list->needs_lines = true;
}

enum list_order list_order(const struct list *list)
{
	return list->order;
}

enum list_scope list_scope(const struct list *list)
{
	return list->scope;
}

static void set_only(struct list *list, char **only, const char *text)
{
	replace_string(only, text);
	list->needs_lines = true;
}

void list_set_only_agent(struct list *list, const char *agent)
{
	set_only(list, &list->only_agent, agent);
}

void list_set_only_group(struct list *list, const char *group)
{
	set_only(list, &list->only_group, group);
}

const char *list_only_agent(const struct list *list)
{
	return list->only_agent;
}

const char *list_only_group(const struct list *list)
{
	return list->only_group;
}

/* ---- several ---------------------------------------------------------------------------------- */

void list_choose(struct list *list, struct item *item, bool is_chosen)
{
	list->chosen += (size_t)is_chosen - (size_t)item->is_chosen;
	item->is_chosen = is_chosen;
}

void list_choose_none(struct list *list)
{
	for (size_t i = 0; list->chosen && i < list->count; i++)
		list_choose(list, list->items[i], false);
}

size_t list_chosen(const struct list *list)
{
	return list->chosen;
}

struct item **list_group(struct list *list, size_t *ret_count)
{
	settle(list);
	if (list->line_count == 0 || list->lines[list->cursor].kind != LINE_GROUP)
		return NULL;
	const struct line *line = &list->lines[list->cursor];
	cleanup_free char *path = xstrndup(line->item->group, line->path_length);
	struct item **items = xcalloc(list->count, sizeof(struct item *));
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		if (is_in_group(list->items[i], path) && is_shown(list, list->items[i]))
			items[count++] = list->items[i];
	*ret_count = count;
	return items;
}

struct item **list_targets(struct list *list, size_t *ret_count)
{
	struct item *selected = list_selected(list);
	struct item **targets = NULL;
	*ret_count = 0;
	if (!list->chosen && !selected)
		return NULL;
	targets = xcalloc(list->chosen + 1, sizeof(struct item *));
	for (size_t i = 0; list->chosen && i < list->count; i++)
		if (list->items[i]->is_chosen)
			targets[(*ret_count)++] = list->items[i];
	if (!list->chosen)
		targets[(*ret_count)++] = selected;
	return targets;
}
