/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deck's list as a table of texts: what is where, and where the cursor is.
 */
#include "unit/test.h"

#include "base/jsonio.h"
#include "ui/state/list-paths.h"
#include "ui/state/list.h"

#include <string.h>

struct row {
	const char *title, *group;
	enum doing doing;
	int64_t since_us;
};

static const struct row usual[] = {
	{ "solo", NULL, DOING_IDLE, 5 },      { "api", "work/back", DOING_WAITING, 40 },
	{ "docs", "work", DOING_STOPPED, 1 }, { "web", "work/back", DOING_BUSY, 7 },
	{ "toy", "play", DOING_WAITING, 20 }, { "two", "work-2", DOING_ERROR, 3 },
};
enum { USUAL = ARRAY_SIZE(usual) };

struct facts_text {
	char id[32];
};

static struct facts facts_of(const struct row *row, size_t index, struct facts_text *text)
{
	(void)snprintf(text->id, sizeof(text->id), "id%06zu", index);
	return (struct facts){ .key.id = text->id,
			       .title = row->title,
			       .group = row->group,
			       .agent = "demo",
			       .directory = "/home/me/Projects",
			       .doing = row->doing,
			       .since_us = row->since_us,
			       .created_us = 1000 + (int64_t)index,
			       .used_us = 2000 - (int64_t)index };
}

static struct list *make(const struct row *rows, size_t count, struct item **ret)
{
	struct list *list = list_new();
	for (size_t i = 0; i < count; i++) {
		struct facts_text text;
		const struct facts facts = facts_of(&rows[i], i, &text);
		ret[i] = list_add(list, &facts);
	}
	return list;
}

static void change(struct list *list, struct item *item, size_t index, const struct row *row)
{
	struct facts_text text;
	const struct facts facts = facts_of(row, index, &text);
	list_change(list, item, &facts);
}

/* "solo|-play|  toy|>..." */
static void check(struct list *list, const char *expected)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (size_t i = 0; i < list_lines(list); i++) {
		const struct line *line = list_line(list, i);
		strbuf_addf(&text, "%s%*s%s", i ? "|" : "", (int)line->depth, "",
			    i == list_cursor(list) ? ">" : "");
		if (line->kind == LINE_SESSION)
			strbuf_addf(&text, "%s%s", line->is_pinned ? "!" : "", line->item->title);
		else if (line->kind == LINE_HEADING)
			strbuf_addf(&text, "=%zu", line->sessions);
		else if (line->kind == LINE_STOPPED)
			strbuf_addf(&text, "%c%zu", line->is_collapsed ? '+' : '-', line->sessions);
		else
			strbuf_addf(&text, "%c%.*s", line->is_collapsed ? '+' : '-',
				    (int)(line->path_length - line->name_start),
				    line->item->group + line->name_start);
	}
	assert_string_equal(strbuf_text(&text), expected);
}

static void groups_are_a_tree(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	check(list, ">solo|-play| toy|-work| docs| -back|  api|  web|-work-2| two");
	const struct line *work = list_line(list, 3);
	assert_int_equal(work->sessions, 3);
	assert_int_equal(work->doing[DOING_WAITING], 1);
	assert_int_equal(work->doing[DOING_ERROR], 0);
	const struct list_counts counts = list_counts(list);
	assert_int_equal(counts.all, 6);
	assert_int_equal(counts.doing[DOING_WAITING], 2);
	assert_int_equal(counts.doing[DOING_ERROR], 1);
	assert_int_equal(counts.needy, 3);
	assert_int_equal(counts.shown, 6);
}

static void mark(struct list *list, struct item *item, size_t index, unsigned marks,
		 const char *tags)
{
	struct facts_text text;
	struct facts facts = facts_of(&usual[index], index, &text);
	facts.marks = marks;
	facts.tags = tags;
	list_change(list, item, &facts);
}

static void a_pinned_session_is_the_first_of_its_group(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	mark(list, items[3], 3, MARK_PINNED, NULL);
	check(list, ">solo|-play| toy|-work| docs| -back|  web|  api|-work-2| two");
	/* Those that need the user stay above it. */
	mark(list, items[2], 2, MARK_PINNED, NULL);
	list_set_order(list, ORDER_URGENCY);
	check(list, "toy|api|two|web|docs|>solo");
	mark(list, items[2], 2, 0, NULL);
	mark(list, items[3], 3, 0, NULL);
	check(list, "toy|api|two|web|>solo|docs");
}

static void what_is_pinned_does_not_rest(void **state UNUSED)
{
	static const struct row rows[] = { { "a", "g", DOING_STOPPED, 1 } };
	struct item *items[1];
	cleanup_list struct list *list = make(rows, 1, items);
	struct facts_text text;
	struct facts facts = facts_of(rows, 0, &text);
	facts.marks = MARK_PINNED;
	list_change(list, items[0], &facts);
	list_fold(list, 1);
	check(list, ">-g| a");
}

static void tags_are_found_by_their_sign(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	mark(list, items[0], 0, 0, "api,urgent");
	mark(list, items[4], 4, 0, "urgent");
	list_search(list, "#urgent");
	check(list, ">solo|-play| toy");
	list_search(list, "#urgent #api");
	check(list, ">solo");
	assert_string_equal(items[0]->tags, "#api #urgent");
}

static void what_is_archived_has_its_own_scope(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	/* Also one that would need the user. */
	mark(list, items[2], 2, MARK_ARCHIVED, NULL);
	mark(list, items[5], 5, MARK_ARCHIVED, NULL);
	check(list, ">solo|-play| toy|-work| -back|  api|  web");
	const struct list_counts counts = list_counts(list);
	assert_int_equal(counts.all, 4);
	assert_int_equal(counts.archived, 2);
	assert_int_equal(counts.needy, 2);
	list_search(list, "docs");
	check(list, "");
	list_search(list, "");
	list_set_scope(list, SCOPE_ARCHIVE);
	check(list, ">-work| docs|-work-2| two");
	mark(list, items[2], 2, 0, NULL);
	check(list, ">-work-2| two");
}

static void an_empty_list_takes_every_call(void **state UNUSED)
{
	cleanup_list struct list *list = list_new();
	size_t count;
	list_move(list, 3);
	list_move(list, -3);
	list_set_collapsed(list, true);
	assert_null(list_selected(list));
	assert_null(list_next_waiting(list, false));
	assert_null(list_targets(list, &count));
	assert_int_equal(list_top(list, 10), 0);
	check(list, "");
}

static void groups_collapse_and_open(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	assert_true(list_select(list, items[1]));
	list_set_collapsed(list, true);
	check(list, "solo|-play| toy|-work| docs| >+back|-work-2| two");
	/* Once more: the group around it. */
	list_set_collapsed(list, true);
	check(list, "solo|-play| toy|>+work|-work-2| two");
	assert_int_equal(list_line(list, 3)->sessions, 3);
	list_set_collapsed(list, false);
	check(list, "solo|-play| toy|>-work| docs| +back|-work-2| two");
	/* A session in a collapsed group opens it. */
	assert_true(list_select(list, items[3]));
	check(list, "solo|-play| toy|-work| docs| -back|  api|  >web|-work-2| two");
}

static void the_cursor_stays_on_its_session(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	(void)list_select(list, items[3]);
	/* Others come and go. */
	list_remove(list, items[0]);
	check(list, "-play| toy|-work| docs| -back|  api|  >web|-work-2| two");
	change(list, items[1], 1, &(struct row){ "api", "zoo", DOING_IDLE, 0 });
	check(list, "-play| toy|-work| docs| -back|  >web|-work-2| two|-zoo| api");
	/* It moves itself. */
	change(list, items[3], 3, &(struct row){ "web", "zoo", DOING_IDLE, 0 });
	check(list, "-play| toy|-work| docs|-work-2| two|-zoo| api| >web");
	/* It is gone: the line stays, or the last one. */
	list_remove(list, items[3]);
	check(list, "-play| toy|-work| docs|-work-2| two|-zoo| >api");
	list_go(list, 0);
	list_remove(list, items[4]);
	check(list, ">-work| docs|-work-2| two|-zoo| api");
}

/* Each question knows of it, without another call before. */
static void a_session_that_is_removed_is_no_answer(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	size_t count;
	(void)list_select(list, items[3]);
	list_remove(list, items[1]);
	list_remove(list, items[3]);
	assert_string_equal(list_selected(list)->id, "id000005");
	list_remove(list, items[5]);
	cleanup_free struct item **targets = list_targets(list, &count);
	assert_string_equal(targets[0]->id, "id000002");
	list_remove(list, items[0]);
	list_go(list, 3);
	assert_string_equal(list_selected(list)->id, "id000002");
	assert_null(list_find(list, "id000003"));
	list_remove(list, items[2]);
	list_remove(list, items[4]);
	list_move(list, -1);
	assert_null(list_selected(list));
	assert_int_equal(list_counts(list).all, 0);
}

/* As where its directory was away for a moment. */
static void the_cursor_stays_on_a_session_that_comes_again(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	struct facts_text text;
	const struct facts facts = facts_of(&usual[3], 3, &text);
	(void)list_select(list, items[3]);
	list_remove(list, items[3]);
	list_remove(list, items[0]);
	list_add(list, &facts);
	check(list, "-play| toy|-work| docs| -back|  api|  >web|-work-2| two");
}

static void the_cursor_stays_on_its_group(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	list_go(list, 3);
	list_remove(list, items[0]);
	check(list, "-play| toy|>-work| docs| -back|  api|  web|-work-2| two");
}

static void a_change_of_state_moves_nothing(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	change(list, items[3], 3, &(struct row){ "web", "work/back", DOING_ERROR, 9 });
	check(list, ">solo|-play| toy|-work| docs| -back|  api|  web|-work-2| two");
	assert_int_equal(list_line(list, 3)->doing[DOING_ERROR], 1);
	list_set_order(list, ORDER_URGENCY);
	change(list, items[1], 1, &(struct row){ "api", "work/back", DOING_STOPPED, 9 });
	/* Across all groups, and no key folds one that is not seen. */
	check(list, "toy|two|web|>solo|docs|api");
	list_set_collapsed(list, true);
	list_set_order(list, ORDER_CREATION);
	check(list, ">solo|-play| toy|-work| docs| -back|  api|  web|-work-2| two");
}

static void a_search_looks_at_everything(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	static const struct {
		const char *text, *lines;
	} cases[] = {
		{ "api", ">-work| -back|  api" },
		{ "BACK busy", ">-work| -back|  web" },
		{ "waiting", ">-play| toy|-work| -back|  api" },
		{ "projects demo play", ">-play| toy" },
		{ "id000000", ">solo" },
		{ "nowhere", "" },
		{ "", ">solo|-play| toy|-work| docs| -back|  api|  web|-work-2| two" },
	};
	list_go(list, 3);
	list_set_collapsed(list, true);
	list_go(list, 0);
	for (size_t i = 0; i + 1 < ARRAY_SIZE(cases); i++) {
		list_search(list, cases[i].text);
		list_go(list, 0);
		check(list, cases[i].lines);
	}
	/* Afterwards what was collapsed is so again. */
	list_search(list, "");
	check(list, ">solo|-play| toy|+work|-work-2| two");
}

static void what_a_search_hides_comes_back_under_the_cursor(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	(void)list_select(list, items[3]);
	list_search(list, "toy");
	check(list, "-play| >toy");
	list_search(list, "");
	check(list, "solo|-play| toy|-work| docs| -back|  api|  >web|-work-2| two");
}

static void a_search_finds_replies(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	list_search(list, "zebra toy");
	check(list, "");
	/* Each word counts, here or there; what is not of this form does not. */
#define FOUND(words) "{\"id\": \"%s\", \"words\": " words "}"
	cleanup_free char *found = xasprintf(
		"[" FOUND("[\"zebra\"]") "," FOUND("[\"zebra\"]") ",{\"id\": \"gone\"}," FOUND(
			"7") ", 1]",
		items[3]->id, items[0]->id, items[1]->id);
	list_search_replies(list, 0, found);
	list_search_replies(list, 0, "");
	list_search_replies(list, 0, "{}");
	cleanup_free char *toy = NULL;
	for (size_t i = 0; i < USUAL; i++)
		if (streq(items[i]->title, "toy"))
			toy = xasprintf("[" FOUND("[\"zebra\"]") "]", items[i]->id);
	list_search_replies(list, 0, toy);
	check(list, ">-play| toy");
	/* Another search begins without them. */
	list_search(list, "zebra");
	check(list, "");
}

static void scopes_show_a_part(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	list_set_scope(list, SCOPE_NEEDS_USER);
	check(list, ">-play| toy|-work| -back|  api|-work-2| two");
	list_set_scope(list, SCOPE_RUNNING);
	list_go(list, 0);
	check(list, ">solo|-play| toy|-work| -back|  api|  web");
}

static void the_greatest_come_first(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	list_set_order(list, ORDER_MEMORY);
	list_measure(list, items[3], 1 << 20, 100);
	list_go(list, 0);
	check(list, ">solo|-play| toy|-work| docs| -back|  web|  api|-work-2| two");
	list_measure(list, items[1], 2 << 20, -1);
	check(list, ">solo|-play| toy|-work| docs| -back|  api|  web|-work-2| two");
	/* What stops uses nothing, and a change of anything else keeps what was measured. */
	change(list, items[3], 3, &(struct row){ "web", "work/back", DOING_IDLE, 8 });
	assert_true(items[3]->memory == 1 << 20 && items[3]->cpu == 100);
	change(list, items[1], 1, &(struct row){ "api", "work/back", DOING_STOPPED, 9 });
	assert_true(items[1]->memory == -1);
	check(list, ">solo|-play| toy|-work| docs| -back|  web|  api|-work-2| two");
}

static void an_agent_or_a_group_is_shown_alone(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	list_change(list, items[0],
		    &(struct facts){ .key.id = "x", .title = "x", .agent = "codex" });
	list_set_only(list, ONLY_AGENT, "codex");
	check(list, ">x");
	assert_string_equal(list_only(list, ONLY_AGENT), "codex");
	list_set_only(list, ONLY_AGENT, NULL);
	list_set_only(list, ONLY_GROUP, "work");
	list_go(list, 0);
	/* and not work-2 */
	check(list, ">-work| docs| -back|  api|  web");
	assert_null(list_only(list, ONLY_AGENT));
}

static void a_question_comes_before_an_older_wait(void **state UNUSED)
{
	static const struct row rows[] = { { "a", NULL, DOING_WAITING, 10 },
					   { "b", NULL, DOING_ASKS, 30 },
					   { "c", NULL, DOING_ASKS, 20 } };
	struct item *items[ARRAY_SIZE(rows)];
	cleanup_list struct list *list = make(rows, ARRAY_SIZE(rows), items);
	(void)list_select(list, items[0]);
	assert_ptr_equal(list_first_waiting(list), items[2]);
	assert_ptr_equal(list_next_waiting(list, false), items[2]);
	assert_ptr_equal(list_next_waiting(list, false), items[1]);
	assert_ptr_equal(list_next_waiting(list, false), items[0]);
	assert_ptr_equal(list_next_waiting(list, true), items[1]);
}

static void next_waiting_goes_round_by_age(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	assert_ptr_equal(list_next_waiting(list, false), items[4]); /* since 20 */
	assert_ptr_equal(list_next_waiting(list, false), items[1]); /* since 40 */
	assert_ptr_equal(list_next_waiting(list, true), items[4]);
	assert_ptr_equal(list_next_waiting(list, true), items[1]); /* it wraps */
	assert_ptr_equal(list_next_waiting(list, false), items[4]);
	/* A search and a collapsed group hide nothing from it. */
	(void)list_select(list, items[1]);
	list_set_collapsed(list, true);
	list_search(list, "toy");
	(void)list_select(list, items[4]);
	assert_ptr_equal(list_next_waiting(list, false), items[1]);
	check(list, "solo|-play| toy|-work| docs| -back|  >api|  web|-work-2| two");
	change(list, items[1], 1, &usual[0]);
	change(list, items[4], 4, &usual[0]);
	assert_null(list_next_waiting(list, false));
}

#define TREE "|=6|solo|-play| toy|-work| docs| -back|  api|  web|-work-2| two"

static void those_that_need_the_user_are_above_all(void **state UNUSED)
{
	struct item *items[USUAL];
	cleanup_list struct list *list = make(usual, USUAL, items);
	list_fold(list, 100);
	/* Off the heading; the one that waits longest is first, and errors are behind. */
	list_go(list, 0);
	check(list, "=3|>!toy|!api|!two" TREE);
	list_move(list, 1);
	assert_ptr_equal(list_next_waiting(list, false), items[4]);
	check(list, "=3|>!toy|!api|!two" TREE);
	list_move(list, 3);
	assert_ptr_equal(list_selected(list), items[0]);
	list_move(list, -1);
	check(list, "=3|!toy|!api|>!two" TREE);
	/* Moved up to the first heading, it stays below it. */
	list_move(list, -5);
	check(list, "=3|>!toy|!api|!two" TREE);
	/* What is answered is followed to its group: no key may hit another session. */
	change(list, items[4], 4, &(struct row){ "toy", "play", DOING_BUSY, 50 });
	check(list, "=2|!api|!two|=6|solo|-play| >toy|-work| docs| -back|  api|  web|-work-2| two");
	/* A search and a scope show each once. */
	list_search(list, "api");
	check(list, "-work| -back|  >api");
	list_search(list, "");
	list_set_scope(list, SCOPE_NEEDS_USER);
	list_go(list, 0);
	check(list, ">-work| -back|  api|-work-2| two");
	list_set_scope(list, SCOPE_ALL);
	list_set_only(list, ONLY_GROUP, "work");
	list_go(list, 0);
	check(list, "=1|>!api|=3|-work| docs| -back|  api|  web");
}

static const struct row many[] = {
	{ "one", "mixed", DOING_IDLE, 1 },         { "old1", "mixed", DOING_STOPPED, 1 },
	{ "old2", "mixed", DOING_STOPPED, 1 },     { "old3", "mixed", DOING_STOPPED, 1 },
	{ "a1", "archive", DOING_STOPPED, 1 },     { "a2", "archive/x", DOING_STOPPED, 1 },
	{ "root1", NULL, DOING_STOPPED, 1 },       { "root2", NULL, DOING_STOPPED, 1 },
	{ "root3", NULL, DOING_STOPPED, 1 },       { "few", "little", DOING_IDLE, 1 },
	{ "stopped", "little", DOING_STOPPED, 1 },
};
enum { MANY = ARRAY_SIZE(many) };

static void what_rests_is_folded_where_not_all_fits(void **state UNUSED)
{
	struct item *items[MANY];
	cleanup_list struct list *list = make(many, MANY, items);
	size_t count;
	list_fold(list, 100);
	check(list, ">root1|root2|root3|-archive| a1| -x|  a2|-little| few| stopped|-mixed| one|"
		    " old1| old2| old3");
	list_fold(list, 10);
	list_go(list, 0);
	check(list, ">+3|+archive|-little| few| stopped|-mixed| one| +3");
	/* Opened, each has its line; an action is for all of them. */
	list_set_collapsed(list, false);
	check(list, ">-3|root1|root2|root3|+archive|-little| few| stopped|-mixed| one| +3");
	free(list_group(list, &count));
	assert_int_equal(count, 3);
	list_set_collapsed(list, true);
	list_go(list, 7);
	cleanup_free struct item **group = list_group(list, &count);
	assert_int_equal(count, 3);
	assert_string_equal(group[0]->title, "old1");
	list_set_collapsed(list, true);
	check(list, "+3|+archive|-little| few| stopped|>+mixed");
	/* What is folded is found, and a search opens all. */
	assert_true(list_select(list, items[2]));
	check(list, "+3|+archive|-little| few| stopped|-mixed| one| -3| old1| >old2| old3");
	list_search(list, "a2");
	check(list, "-archive| -x|  >a2");
}

/* What rests is folded by the next deck itself; a group that is gone is forgotten. */
static void only_what_its_user_folded_is_kept(void **state UNUSED)
{
	struct item *items[MANY], *others[MANY];
	cleanup_json struct json_object *saved = json_object_new_object();
	cleanup_strvec struct strvec collapsed = { 0 };
	cleanup_list struct list *list = make(many, MANY, items);
	list_fold(list, 10);
	(void)list_select(list, items[9]);
	list_set_collapsed(list, true);
	list_save(list, saved);
	json_get_strings(saved, "collapsed", &collapsed);
	assert_int_equal(collapsed.count, 1);
	assert_string_equal(collapsed.items[0], "little");
	/* A group around a collapsed one that lives does not rest. */
	cleanup_list struct list *next = make(many, MANY, others);
	change(next, others[9], 9, &(struct row){ "few", "archive/little", DOING_BUSY, 1 });
	change(next, others[10], 10,
	       &(struct row){ "stopped", "archive/little", DOING_STOPPED, 1 });
	(void)list_select(next, others[9]);
	list_set_collapsed(next, true);
	list_fold(next, 10);
	list_go(next, 0);
	check(next, ">+3|-archive| a1| +little| +x|-mixed| one| +3");
}

static void what_comes_to_life_is_seen(void **state UNUSED)
{
	struct item *items[MANY];
	cleanup_list struct list *list = make(many, MANY, items);
	list_fold(list, 10);
	list_go(list, 0);
	change(list, items[5], 5, &(struct row){ "a2", "archive/x", DOING_STARTING, 2 });
	change(list, items[7], 7, &(struct row){ "root2", NULL, DOING_IDLE, 2 });
	check(list,
	      ">root2|root1|root3|-archive| a1| -x|  a2|-little| few| stopped|-mixed| one| +3");
	/* What stops while one looks keeps its line. */
	change(list, items[0], 0, &(struct row){ "one", "mixed", DOING_STOPPED, 2 });
	assert_true(list_select(list, items[0]));
	assert_string_equal(list_selected(list)->title, "one");
}

static void the_window_follows_with_a_margin(void **state UNUSED)
{
	enum { COUNT = 100, HEIGHT = 10 };
	static struct row rows[COUNT];
	struct item *items[COUNT];
	for (size_t i = 0; i < COUNT; i++)
		rows[i] = (struct row){ "same", NULL, DOING_IDLE, 0 };
	cleanup_list struct list *list = make(rows, COUNT, items);
	static const struct {
		long move;
		size_t top;
	} steps[] = {
		{ 0, 0 },  { 7, 0 },   { 1, 1 },     { 1, 2 },   { -4, 2 },
		{ -1, 2 }, { -1, 1 },  { 1000, 90 }, { -5, 90 }, { -3, 89 },
		{ 2, 89 }, { -85, 6 }, { -1000, 0 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		list_move(list, steps[i].move);
		assert_int_equal(list_top(list, HEIGHT), steps[i].top);
	}
	/* A window that is smaller than its margins. */
	list_go(list, 50);
	assert_int_equal(list_top(list, 1), 50);
	assert_int_equal(list_top(list, 1000), 0);
}

static void actions_are_for_what_is_chosen(void **state UNUSED)
{
	struct item *items[USUAL];
	size_t count;
	cleanup_list struct list *list = make(usual, USUAL, items);
	struct item **targets = list_targets(list, &count);
	assert_int_equal(count, 1);
	assert_ptr_equal(targets[0], items[0]);
	free(targets);
	list_choose(list, items[3], true);
	list_choose(list, items[3], true);
	list_choose(list, items[4], true);
	assert_int_equal(list_chosen(list), 2);
	targets = list_targets(list, &count);
	assert_int_equal(count, 2);
	assert_ptr_equal(targets[0], items[4]);
	assert_ptr_equal(targets[1], items[3]);
	free(targets);
	list_remove(list, items[4]);
	assert_int_equal(list_chosen(list), 1);
	list_choose_none(list);
	assert_int_equal(list_chosen(list), 0);
	/* On a group, and nothing is chosen. */
	list_go(list, 1);
	assert_null(list_targets(list, &count));
	assert_int_equal(count, 0);
}

static void texts_move_no_terminal(void **state UNUSED)
{
	struct item *items[1];
	const struct row row = { "a\033[2Jb", "g\nh", DOING_IDLE, 0 };
	cleanup_list struct list *list UNUSED = make(&row, 1, items);
	assert_string_equal(items[0]->title, "a\\033[2Jb");
	assert_string_equal(items[0]->group, "g\\nh");
}

static void deep_groups_are_bounded(void **state UNUSED)
{
	struct item *items[1];
	cleanup_strbuf struct strbuf group = { 0 };
	for (int i = 0; i < 500; i++)
		strbuf_addf(&group, "%sg", i ? "/" : "");
	const struct row row = { "deep", strbuf_text(&group), DOING_IDLE, 0 };
	cleanup_list struct list *list = make(&row, 1, items);
	assert_true(list_lines(list) > 1);
	assert_true(list_select(list, items[0]));
}

/* The file of the last deck is as the user left it, also by hand. */
static void what_is_kept_may_be_in_any_order_and_twice(void **state UNUSED)
{
	static const char *const groups[] = { "b", "a/x", "a", "c", "a-b", "a/x/y" };
	cleanup_list struct list *list = list_new();
	cleanup_json struct json_object *saved = NULL, *again = json_object_new_object();
	cleanup_strvec struct strvec collapsed = { 0 };
	const char *text = "{\"collapsed\": [\"c\", \"a/x\", \"b\", \"a/x\", \"gone\", \"a\"]}";
	assert_int_equal(json_parse(text, strlen(text), "", &saved, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		list_add(list, &(struct facts){ .key.id = groups[i],
						.title = groups[i],
						.group = groups[i],
						.doing = DOING_IDLE });
	list_restore(list, saved);
	/* a, a-b and its session, b, c */
	assert_int_equal(list_lines(list), 5);
	list_save(list, again);
	json_get_strings(again, "collapsed", &collapsed);
	assert_int_equal(collapsed.count, 4);
	assert_string_equal(collapsed.items[1], "a/x");
	/* Opened from the outside in. */
	list_set_collapsed(list, false);
	assert_int_equal(list_lines(list), 7);
}

/* What the lines of the list are, "local scratch gpu1 work api"; the caller frees. */
static char *lines_text(struct list *list)
{
	struct strbuf text = { 0 };
	for (size_t i = 0; i < list_lines(list); i++) {
		const struct line *line = list_line(list, i);
		if (line->kind == LINE_SESSION)
			strbuf_addf(&text, " %s", line->item->title);
		else if (line->kind == LINE_GROUP)
			strbuf_addf(&text, " %.*s", (int)(line->path_length - line->name_start),
				    line->item->path + line->name_start);
	}
	return strbuf_take(&text);
}

static void expect_lines(struct list *list, const char *expected)
{
	cleanup_free char *text = lines_text(list);
	assert_string_equal(text, expected);
}

static struct item *add_of(struct list *list, const char *host, const char *id, const char *title,
			   const char *group)
{
	return list_add(list, &(struct facts){ .key = { .host = host, .id = id },
					       .title = title,
					       .group = group,
					       .doing = DOING_WAITING });
}

static struct list *make_hosts(void)
{
	struct list *list = list_new();
	cleanup_strvec struct strvec names = { 0 };
	strvec_push_array(&names, (const char *const[]){ "local", "gpu2", "gpu1", NULL });
	list_set_hosts(list, &names);
	return list;
}

static void hosts_are_the_top_of_the_tree(void **state UNUSED)
{
	cleanup_list struct list *list = make_hosts();
	expect_lines(list, " local gpu2 gpu1");
	list_go(list, 1);
	assert_int_equal(list_selected_host(list), 1);
	assert_string_equal(list_host_of(list, list_line(list, 1))->name, "gpu2");
	assert_null(list_selected_group(list));
	add_of(list, "gpu1", "id-b", "api", "work");
	add_of(list, NULL, "id-a", "here", NULL);
	/* In the order of the hosts, and the cursor stays on its host. */
	expect_lines(list, " local here gpu2 gpu1 work api");
	assert_int_equal(list_selected_host(list), 1);
	assert_null(list_find(list, "id-b"));
	struct item *api = list_find(list, "gpu1:id-b");
	assert_true(list_select(list, api));
	cleanup_free char *group = list_selected_group(list), *path = list_selected_path(list);
	assert_string_equal(group, "work");
	assert_string_equal(path, "gpu1/work");
	assert_string_equal(api->group, "work");
	list_set_only(list, ONLY_GROUP, path);
	expect_lines(list, " gpu1 work api");
}

static void a_session_that_two_hosts_share_is_shown_once(void **state UNUSED)
{
	cleanup_list struct list *list = make_hosts();
	struct facts facts = { .key = { .host = "gpu1", .id = "id-a" },
			       .title = "there",
			       .doing = DOING_BUSY };
	add_of(list, NULL, "id-a", "here", NULL);
	struct item *there = list_add(list, &facts);
	/* Both know how it is: the first one counts. */
	expect_lines(list, " local here gpu2 gpu1");
	assert_int_equal(list_counts(list).all, 1);
	list_change(list, list_find(list, "id-a"),
		    &(struct facts){ .key.id = "id-a", .title = "here", .doing = DOING_UNKNOWN });
	expect_lines(list, " local gpu2 gpu1 there");
	assert_int_equal(list_counts(list).needy, 0);
	/* Nor does a host that does not answer know it. */
	list_tell_host(list, 2, HOST_AWAY, 0, NULL);
	expect_lines(list, " local here gpu2 gpu1");
	list_remove(list, list_find(list, "id-a"));
	expect_lines(list, " local gpu2 gpu1 there");
	assert_false(there->is_twin);
}

static void the_cursor_follows_a_session_to_its_other_host(void **state UNUSED)
{
	cleanup_list struct list *list = make_hosts();
	struct item *here = add_of(list, NULL, "id-a", "here", NULL);
	struct item *there = add_of(list, "gpu1", "id-a", "there", NULL);
	add_of(list, NULL, "id-b", "other", NULL);
	assert_true(list_select(list, here));
	list_choose(list, here, true);
	list_change(list, here,
		    &(struct facts){ .key.id = "id-a", .title = "here", .doing = DOING_UNKNOWN });
	expect_lines(list, " local other gpu2 gpu1 there");
	assert_ptr_equal(list_selected(list), there);
	assert_true(there->is_chosen);
	assert_false(here->is_chosen);
	assert_int_equal(list_chosen(list), 1);
	/* And back, when the host takes its own away. */
	list_remove(list, there);
	assert_ptr_equal(list_selected(list), here);
}

static void a_host_answers_a_search_for_no_more_than_the_list_has(void **state UNUSED)
{
	cleanup_list struct list *list = make_hosts();
	struct item *api = add_of(list, "gpu1", "id-a", "api", NULL);
	list_search(list, "word");
	list_search_replies(list, 2,
			    "[{\"id\":\"id-x\",\"words\":[\"word\"]},"
			    "{\"id\":\"id-a\",\"words\":[\"word\"]}]");
	assert_int_equal(api->replied, 0);
	list_search_replies(list, 2, "[{\"id\":\"id-a\",\"words\":[\"word\"]}]");
	assert_int_equal(api->replied, 1);
}

static void what_a_host_told_stays_while_it_is_away(void **state UNUSED)
{
	cleanup_list struct list *list = make_hosts();
	add_of(list, "gpu1", "id-a", "api", NULL);
	add_of(list, "gpu1", "id-b", "web", NULL);
	list_complete_host(list, 2);
	assert_int_equal(list_host(list, 2)->condition, HOST_THERE);
	assert_int_equal(list_counts(list).needy, 2);
	list_tell_host(list, 2, HOST_AWAY, 7, "no route");
	/* Grey, and nothing of it can be answered now. */
	expect_lines(list, " local gpu2 gpu1 api web");
	assert_int_equal(list_count_of(list, 2), 2);
	assert_int_equal(list_counts(list).all, 2);
	assert_int_equal(list_counts(list).needy, 0);
	assert_int_equal(list_counts(list).doing[DOING_WAITING], 0);
	assert_null(list_next_waiting(list, false));
	/* It comes back with one of them. */
	list_change(list, list_find(list, "gpu1:id-b"),
		    &(struct facts){ .key = { .host = "gpu1", .id = "id-b" },
				     .title = "web",
				     .doing = DOING_WAITING });
	list_complete_host(list, 2);
	expect_lines(list, " local gpu2 gpu1 web");
	assert_int_equal(list_counts(list).needy, 1);
}

/* From each path to each other one, in order and against it. */
static void a_set_is_asked_for_one_path_after_the_other(void **state UNUSED)
{
	static const char *const asked[] = { "a", "a-b", "a/b", "a/b/c", "b", "c", "d", "e" };
	cleanup_strvec struct strvec paths = { 0 };
	strvec_push_array(&paths, (const char *const[]){ "c", "a/b", "a-b", "d", "a", NULL });
	paths_sort(&paths);
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++)
		for (size_t k = 0; k < ARRAY_SIZE(asked); k++) {
			size_t next = 0;
			(void)paths_have_next(&paths, asked[i], strlen(asked[i]), &next);
			assert_int_equal(paths_have_next(&paths, asked[k], strlen(asked[k]), &next),
					 paths_have(&paths, asked[k], strlen(asked[k])));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_is_asked_for_one_path_after_the_other),
		cmocka_unit_test(groups_are_a_tree),
		cmocka_unit_test(a_pinned_session_is_the_first_of_its_group),
		cmocka_unit_test(what_is_pinned_does_not_rest),
		cmocka_unit_test(tags_are_found_by_their_sign),
		cmocka_unit_test(what_is_archived_has_its_own_scope),
		cmocka_unit_test(an_empty_list_takes_every_call),
		cmocka_unit_test(groups_collapse_and_open),
		cmocka_unit_test(the_cursor_stays_on_its_session),
		cmocka_unit_test(a_session_that_is_removed_is_no_answer),
		cmocka_unit_test(the_cursor_stays_on_a_session_that_comes_again),
		cmocka_unit_test(the_cursor_stays_on_its_group),
		cmocka_unit_test(a_change_of_state_moves_nothing),
		cmocka_unit_test(a_search_looks_at_everything),
		cmocka_unit_test(what_a_search_hides_comes_back_under_the_cursor),
		cmocka_unit_test(a_search_finds_replies),
		cmocka_unit_test(scopes_show_a_part),
		cmocka_unit_test(the_greatest_come_first),
		cmocka_unit_test(an_agent_or_a_group_is_shown_alone),
		cmocka_unit_test(a_question_comes_before_an_older_wait),
		cmocka_unit_test(next_waiting_goes_round_by_age),
		cmocka_unit_test(those_that_need_the_user_are_above_all),
		cmocka_unit_test(what_rests_is_folded_where_not_all_fits),
		cmocka_unit_test(only_what_its_user_folded_is_kept),
		cmocka_unit_test(what_comes_to_life_is_seen),
		cmocka_unit_test(the_window_follows_with_a_margin),
		cmocka_unit_test(actions_are_for_what_is_chosen),
		cmocka_unit_test(texts_move_no_terminal),
		cmocka_unit_test(deep_groups_are_bounded),
		cmocka_unit_test(what_is_kept_may_be_in_any_order_and_twice),
		cmocka_unit_test(hosts_are_the_top_of_the_tree),
		cmocka_unit_test(a_session_that_two_hosts_share_is_shown_once),
		cmocka_unit_test(the_cursor_follows_a_session_to_its_other_host),
		cmocka_unit_test(a_host_answers_a_search_for_no_more_than_the_list_has),
		cmocka_unit_test(what_a_host_told_stays_while_it_is_away),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
