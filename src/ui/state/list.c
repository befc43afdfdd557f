/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/list.h"

#include "base/jsonio.h"
#include "model/session/tags.h"
#include "ui/state/list-internal.h"
#include "ui/state/list-paths.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 2 };

/* ---- words ------------------------------------------------------------------------------------ */

const char *list_order_name(enum list_order order)
{
	static const char *const names[ORDER_COUNT] = { "creation", "urgency", "title", "use",
							"memory" };
	return names[order];
}

const char *list_scope_name(enum list_scope scope)
{
	static const char *const names[SCOPE_COUNT] = { "all", "those that need you",
							"those that run",
							"those that are archived" };
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
	free(item->path);
	free(item->agent);
	free(item->directory);
	free(item->reason);
	free(item->tags);
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
	strvec_clear(&list->opened);
	strvec_clear(&list->unfolded);
	strvec_clear(&list->words);
	free(list->place.name);
	free(list->only[ONLY_AGENT]);
	free(list->only[ONLY_GROUP]);
	free(list->kept_text);
	list_free_hosts(list);
	free(list);
}

/* ASCII only: so a text keeps its length, and a search means the same in every locale. */
static char *lower(char *text)
{
	for (char *at = text; *at; at++)
		*at = (char)((unsigned char)*at < 0x80 ? tolower((unsigned char)*at) : *at);
	return text;
}

/* "#api #urgent".  The caller frees. */
static char *tags_text(const char *tags)
{
	cleanup_strvec struct strvec words = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	tags_split(tags, &words);
	for (size_t i = 0; i < words.count; i++)
		strbuf_addf(&text, "%s#%s", i ? " " : "", words.items[i]);
	return visible(strbuf_text(&text));
}

static void fill(const struct list *list, struct item *item, const struct facts *facts)
{
	const struct session_key *key = &facts->key;
	const size_t host = list_host_named(list, key->host);
	cleanup_free char *group = visible(or_empty(facts->group));
	cleanup_free char *id = host ? xasprintf("%s:%s", key->host, or_empty(key->id))
				     : xstrdup(or_empty(key->id));
	const char *group_in_path;
	char *path = list_make_path(list, host, group, &group_in_path);
	*item = (struct item){
		.id = visible(id),
		.title = visible(or_empty(facts->title)),
		.path = path,
		.group = group_in_path,
		.host = host,
		.is_twin = item->is_twin,
		.agent = visible(or_empty(facts->agent)),
		.directory = visible(or_empty(facts->directory)),
		.reason = visible(or_empty(facts_reason(facts))),
		.tags = tags_text(facts->tags),
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
		.pinned_line = item->pinned_line,
		.hidden_by = item->hidden_by,
		.rests = item->rests && doing_is_at_rest(facts->doing) &&
			 !(facts->marks & MARK_PINNED),
		.is_chosen = item->is_chosen,
		.replied = item->replied,
	};
	item->haystack = lower(xasprintf("%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s", item->title, item->path,
					 item->agent, item->directory, item->id, item->reason,
					 item->tags, doing_name(item->doing)));
}

struct item *list_add(struct list *list, const struct facts *facts)
{
	struct item *item = xcalloc(1, sizeof(*item));
	item->line = item->pinned_line = item->hidden_by = SIZE_MAX;
	item->memory = item->cpu = -1;
	fill(list, item, facts);
	if (list->count == list->size) {
		list->size = list->size ? 2 * list->size : 64;
		list->items = xreallocarray(list->items, list->size, sizeof(struct item *));
	}
	item->index = list->count;
	list->items[list->count++] = item;
	list->needs_sort = list->needs_lines = list->needs_twins = true;
	return item;
}

/* Can the change have moved the session? */
static bool has_moved(const struct list *list, const struct item *before, const struct item *now)
{
	return !streq(before->path, now->path) || !streq(before->title, now->title) ||
	       before->rests != now->rests || (before->marks ^ now->marks) & MARK_PINNED ||
	       (list->order == ORDER_URGENCY &&
		(before->doing != now->doing || before->since_us != now->since_us ||
		 before->marks != now->marks)) ||
	       (list->order == ORDER_USE && before->used_us != now->used_us);
}

void list_change(struct list *list, struct item *item, const struct facts *facts)
{
	struct item before = *item;
	fill(list, item, facts);
	/* What does not run uses nothing. */
	if (!doing_is_alive(item->doing))
		list_measure(list, item, -1, -1);
	/* What comes to life is seen. */
	if (before.rests && !item->rests)
		paths_take_around(&list->collapsed, item->path);
	list->needs_sort |= has_moved(list, &before, item);
	list->needs_twins |= list_twins_may_differ(&before, item);
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
	list->needs_lines = list->needs_twins = true;
}

size_t list_count(const struct list *list)
{
	return list->count;
}

const struct item *list_at(const struct list *list, size_t index)
{
	return list->items[index];
}

void list_measure(struct list *list, struct item *item, int64_t memory, int64_t cpu)
{
	if (list->order == ORDER_MEMORY && item->memory != memory)
		list->needs_sort = list->needs_lines = true;
	if (item->memory != memory)
		replace_string(&list->kept_text, NULL);
	item->memory = memory;
	item->cpu = cpu;
}

size_t list_lines(struct list *list)
{
	list_settle(list);
	return list->line_count;
}

const struct line *list_line(struct list *list, size_t index)
{
	list_settle(list);
	return &list->lines[index];
}

struct list_counts list_counts(struct list *list)
{
	list_settle(list);
	return list->counts;
}

struct list_widths list_widths(struct list *list)
{
	list_settle(list);
	return list->widths;
}

/* ---- the cursor ------------------------------------------------------------------------------- */

size_t list_cursor(struct list *list)
{
	list_settle(list);
	return list->cursor;
}

struct item *list_selected(struct list *list)
{
	list_settle(list);
	const bool is_session = list->cursor < list->line_count &&
				list->lines[list->cursor].kind == LINE_SESSION;
	return is_session ? list->lines[list->cursor].item : NULL;
}

char *list_selected_path(struct list *list)
{
	if (list_lines(list) == 0)
		return NULL;
	const struct line *line = &list->lines[list->cursor];
	const char *path = line->item->path;
	const size_t length = line->kind == LINE_SESSION ? strlen(path) : line->path_length;
	return length ? xstrndup(path, length) : NULL;
}

char *list_selected_group(struct list *list)
{
	cleanup_free char *path = list_selected_path(list);
	if (!path || !list->host_count)
		return TAKE_PTR(path);
	const char *slash = strchr(path, '/');
	return slash ? xstrdup(slash + 1) : NULL;
}

size_t list_selected_host(struct list *list)
{
	return list_lines(list) ? list_line(list, list_cursor(list))->item->host : 0;
}

void list_go(struct list *list, size_t line)
{
	list_settle(list);
	list_put_cursor(list, line);
	list_note_place(list);
}

void list_move(struct list *list, long lines)
{
	const long to = (long)list_cursor(list) + lines;
	size_t line = to > 0 ? (size_t)to : 0;
	/* Over a heading, and not back from it. */
	if (lines < 0 && line && list->lines[line].kind == LINE_HEADING)
		line--;
	list_go(list, line);
}

bool list_has_line(struct list *list, const struct item *item)
{
	list_settle(list);
	return item->line != SIZE_MAX;
}

bool list_select(struct list *list, struct item *item)
{
	list_settle(list);
	if (item->line == SIZE_MAX) {
		paths_take_around(&list->collapsed, item->path);
		if (item->rests)
			paths_add(&list->unfolded, list_path_of(list, item));
		list_make_lines(list);
	}
	if (item->line == SIZE_MAX)
		return false;
	list_go(list, item->pinned_line != SIZE_MAX ? item->pinned_line : item->line);
	return true;
}

struct item *list_first_waiting(const struct list *list)
{
	struct item *first = NULL;
	for (size_t i = 0; i < list->count; i++)
		if (item_waits(list->items[i]) && (!first || item_is_before(list->items[i], first)))
			first = list->items[i];
	return first;
}

/* Does a come before b in the order of the key n (is_back: of N)? */
static bool comes_before(const struct item *a, const struct item *b, bool is_back)
{
	return is_back ? item_is_before(b, a) : item_is_before(a, b);
}

struct item *list_next_waiting(struct list *list, bool is_back)
{
	const struct item *now = list_selected(list);
	struct item *next = NULL, *first = NULL;
	for (size_t i = 0; i < list->count; i++) {
		struct item *item = list->items[i];
		if (!item_waits(item))
			continue;
		if (!first || comes_before(item, first, is_back))
			first = item;
		if (now && item_waits(now) && item != now && comes_before(now, item, is_back) &&
		    (!next || comes_before(item, next, is_back)))
			next = item;
	}
	struct item *item = next ? next : first;
	if (item && !list_select(list, item)) {
		list_search(list, "");
		list_set_scope(list, SCOPE_ALL);
		list_set_only(list, ONLY_AGENT, NULL);
		list_set_only(list, ONLY_GROUP, NULL);
		(void)list_select(list, item);
	}
	return item;
}

size_t list_top(struct list *list, size_t height)
{
	list_settle(list);
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

const struct strvec *list_words(const struct list *list)
{
	return &list->words;
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

void list_search_replies(struct list *list, size_t host, const char *text)
{
	cleanup_json struct json_object *array = NULL;
	if (json_parse(text, strlen(text), "agentdeck search", &array, NULL) < 0 ||
	    !json_object_is_type(array, json_type_array))
		return;
	/* Each is in it once: more than the list has would only take time. */
	for (size_t i = 0; i < list->count && i < json_object_array_length(array); i++) {
		struct json_object *found = json_object_array_get_idx(array, i);
		const char *id = json_get_string(found, "id", "");
		cleanup_free char *name = host ? xasprintf("%s:%s", list->hosts[host].name, id)
					       : xstrdup(id);
		struct item *item = list_find(list, name);
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

void list_set_only(struct list *list, enum list_only only, const char *text)
{
	replace_string(&list->only[only], text);
	list->needs_lines = true;
}

const char *list_only(const struct list *list, enum list_only only)
{
	return list->only[only];
}

/* ---- what is kept for the next deck ----------------------------------------------------------- */

void list_save(const struct list *list, struct json_object *ret)
{
	/* The next deck folds by itself what only rests, and what is gone is forgotten. */
	cleanup_strvec struct strvec collapsed = { 0 };
	for (size_t i = 0; i < list->count; i++)
		if (!list->items[i]->rests)
			paths_add_around(&list->collapsed, list->items[i]->path, &collapsed);
	json_set_string(ret, "order", list_order_name(list->order));
	json_set_strings(ret, "collapsed", &collapsed);
	json_set_strings(ret, "opened", &list->opened);
	json_set_strings(ret, "unfolded", &list->unfolded);
}

void list_restore(struct list *list, const struct json_object *saved)
{
	for (size_t i = 0; i < ORDER_COUNT; i++)
		if (streq(json_get_string(saved, "order", ""), list_order_name((enum list_order)i)))
			list_set_order(list, (enum list_order)i);
	json_get_strings(saved, "collapsed", &list->collapsed);
	json_get_strings(saved, "opened", &list->opened);
	json_get_strings(saved, "unfolded", &list->unfolded);
	paths_sort(&list->collapsed);
	paths_sort(&list->opened);
	paths_sort(&list->unfolded);
	list->needs_lines = true;
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

/* Is it below this line, of a group or of the sessions of one that rest? */
static bool is_below(const struct list *list, const struct line *line, const char *path,
		     const struct item *item)
{
	return line->kind == LINE_GROUP ? list_is_in_group(item, path)
					: item->rests && streq(list_path_of(list, item), path);
}

struct item **list_group(struct list *list, size_t *ret_count)
{
	list_settle(list);
	const struct line *line = list->line_count ? &list->lines[list->cursor] : NULL;
	if (!line || line->kind == LINE_SESSION)
		return NULL;
	cleanup_free char *path = xstrndup(line->item->path, line->path_length);
	struct item **items = xcalloc(list->count, sizeof(struct item *));
	size_t count = 0;
	/* The items below a line follow each other, and the line has the first shown one. */
	for (size_t i = line->item->index; i < list->count; i++) {
		if (!is_below(list, line, path, list->items[i]))
			break;
		if (list_is_shown(list, list->items[i]))
			items[count++] = list->items[i];
	}
	*ret_count = count;
	return items;
}

const char *list_kept_text(struct list *list)
{
	list_settle(list);
	return list->kept_line == list->cursor ? list->kept_text : NULL;
}

const char *list_keep_text(struct list *list, char *text)
{
	free(list->kept_text);
	list->kept_text = text;
	list->kept_line = list->cursor;
	return text;
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
