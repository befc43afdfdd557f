/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a row and a view say in lists: the words, and the marks.
 */
#include "unit/test.h"

#include "base/jsonio.h"
#include "engine/roster/facts.h"
#include "model/session/facts.h"

static struct roster_entry entry_with(struct view view)
{
	return (struct roster_entry){ .profile = "default",
				      .row = { .id = (char *)"0123abcd", .since = 7 },
				      .view = view,
				      .since_us = 9 };
}

static void the_words_are_those_of_the_view(void **state UNUSED)
{
	static const struct {
		struct view view;
		const char *status, *activity;
		enum doing doing;
	} cases[] = {
		{ { .state = STATE_STOPPED }, "stopped", NULL, DOING_STOPPED },
		{ { .state = STATE_ERROR }, "error", NULL, DOING_ERROR },
		{ { .state = STATE_STARTING }, "starting", NULL, DOING_STARTING },
		{ { .state = STATE_STOPPING }, "stopping", NULL, DOING_STOPPING },
		{ { .state = STATE_RUNNING }, "running", "unknown", DOING_RUNNING },
		{ { .state = STATE_RUNNING, .activity = ACTIVITY_BUSY },
		  "running",
		  "busy",
		  DOING_BUSY },
		{ { .state = STATE_RUNNING, .activity = ACTIVITY_IDLE },
		  "running",
		  "idle",
		  DOING_IDLE },
		{ { .state = STATE_RUNNING, .activity = ACTIVITY_WAITING },
		  "running",
		  "waiting",
		  DOING_WAITING },
		{ { .state = STATE_RUNNING, .activity = ACTIVITY_WAITING, .asks = true },
		  "running",
		  "waiting",
		  DOING_ASKS },
		{ { .state = STATE_RUNNING, .is_silent = true }, "unknown", NULL, DOING_UNKNOWN },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct roster_entry entry = entry_with(cases[i].view);
		const struct facts facts = facts_of(&entry);
		assert_string_equal(facts.status, cases[i].status);
		assert_string_equal(or_empty(facts.activity), or_empty(cases[i].activity));
		assert_int_equal(facts.doing, cases[i].doing);
		assert_string_equal(facts.key.id, "0123abcd");
		assert_string_equal(facts.key.profile, "default");
		assert_null(facts.key.host);
		assert_int_equal(facts.since_us, 9);
		assert_int_equal(facts.state_since_us, 7);
	}
}

static void what_holds_a_session_is_said_before_its_reason(void **state UNUSED)
{
	struct roster_entry entry = entry_with((struct view){ .reason = (char *)"it was killed" });
	struct facts facts = facts_of(&entry);
	assert_string_equal(facts_reason(&facts), "it was killed");
	entry.row.held = (char *)"it ended too often";
	facts = facts_of(&entry);
	assert_string_equal(facts.reason, "it was killed");
	assert_string_equal(facts_reason(&facts), "it ended too often");
}

static void each_mark_has_its_cause(void **state UNUSED)
{
	struct roster_entry entry = entry_with((struct view){ .state = STATE_STOPPED });
	assert_int_equal(facts_of(&entry).marks, 0);
	entry.row.held = (char *)"it ended too often";
	assert_int_equal(facts_of(&entry).marks, MARK_HELD);
	entry.row.held = NULL;
	entry.row.backend = (char *)"container";
	assert_int_equal(facts_of(&entry).marks, MARK_CONTAINER);
	entry.row.backend = (char *)PLACE_DEFAULT;
	entry.row.ending = ENDING_UNDECIDED;
	assert_int_equal(facts_of(&entry).marks, MARK_UNDECIDED);
	assert_true(facts_of(&entry).asks_first);
	entry.row.ending = ENDING_NONE;
	entry.row.workspace = (char *)"worktree";
	assert_int_equal(facts_of(&entry).marks, MARK_WORKTREE);
	entry.row.workspace = (char *)"clone";
	assert_int_equal(facts_of(&entry).marks, MARK_CLONE);
	entry.row.workspace = NULL;
	entry.row.queued = 3;
	assert_int_equal(facts_of(&entry).queued, 3);
	entry.row.is_pinned = true;
	assert_int_equal(facts_of(&entry).marks, MARK_PINNED);
	entry.row.is_pinned = false;
	entry.row.held = (char *)"it ended too often";
	entry.row.archived_at = 5;
	assert_int_equal(facts_of(&entry).marks, MARK_HELD | MARK_ARCHIVED);
	const struct attention attention = facts_attention(&entry);
	assert_false(attention_is_needed(&attention));
	entry.row.held = NULL;
	entry.row.archived_at = 0;
	entry.view.host = (char *)"far";
	assert_int_equal(facts_of(&entry).marks, MARK_ELSEWHERE);
	assert_string_equal(facts_of(&entry).runs_on, "far");
	entry.view.host = NULL;
	entry.view.note = VIEW_SHARING;
	assert_int_equal(facts_of(&entry).marks, MARK_SHARED);
	assert_ptr_equal(facts_of(&entry).shared, &entry.row.shared);
}

static void a_container_is_that_of_its_own_session_or_of_another(void **state UNUSED)
{
	struct roster_entry entry = entry_with((struct view){ .state = STATE_STOPPED });
	entry.row.base = (char *)"ad-one";
	entry.row.backend = (char *)PLACE_DEFAULT;
	assert_null(facts_of(&entry).container);
	entry.row.backend = (char *)PLACE_CONTAINER;
	assert_string_equal(facts_of(&entry).container, "ad-one");
	entry.row.backend = (char *)PLACE_GUEST;
	entry.row.within = (char *)"ad-two";
	assert_string_equal(facts_of(&entry).container, "ad-two");
}

static bool take(const char *text, struct facts *ret)
{
	static struct json_object *object;
	json_object_put(object);
	object = NULL;
	assert_int_equal(json_parse(text, strlen(text), "a session", &object, NULL), 0);
	const bool is_good = facts_read(object, ret);
	if (!is_good)
		*ret = (struct facts){ 0 };
	return is_good;
}

static void what_is_printed_is_read_again(void **state UNUSED)
{
	struct facts facts;
	assert_true(take("{\"id\": \"0123abcd\", \"title\": \"api\", \"group\": \"work/api\", "
			 "\"profile\": \"default\", \"status\": \"running\", "
			 "\"activity\": \"waiting\", \"held\": \"it is held\", \"shares\": {}, "
			 "\"backend\": \"container\", \"other_host\": \"b\", "
			 "\"is_undecided\": true, \"workspace\": \"clone\", "
			 "\"asks_first\": true, \"since_at\": \"1970-01-01T00:00:02.000Z\"}",
			 &facts));
	assert_string_equal(facts.title, "api");
	assert_string_equal(facts.group, "work/api");
	assert_null(facts.key.host);
	assert_int_equal(facts.doing, DOING_WAITING);
	assert_int_equal(facts.marks, MARK_HELD | MARK_SHARED | MARK_CONTAINER | MARK_ELSEWHERE |
					      MARK_UNDECIDED | MARK_CLONE);
	assert_true(facts.asks_first);
	assert_int_equal(facts.since_us, 2000000);
	assert_string_equal(facts_reason(&facts), "it is held");
	assert_null(facts.tags);
	assert_true(take("{\"id\": \"0123abcd\", \"status\": \"stopped\", \"is_pinned\": true, "
			 "\"tags\": [\"b\", \"<x>\", \"a\"], "
			 "\"archived_at\": \"1970-01-01T00:00:02.000Z\"}",
			 &facts));
	assert_string_equal(facts.tags, "a,b");
	assert_int_equal(facts.marks, MARK_PINNED | MARK_ARCHIVED);
	assert_true(take("{\"id\": \"0123abcd\", \"status\": \"running\", \"activity\": "
			 "\"waiting\", \"activity_asks\": true}",
			 &facts));
	assert_int_equal(facts.doing, DOING_ASKS);
	assert_true(take("{\"id\": \"0123abcd\", \"status\": \"running\", "
			 "\"activity\": \"unknown\", \"workspace\": \"worktree\"}",
			 &facts));
	assert_int_equal(facts.doing, DOING_RUNNING);
	assert_int_equal(facts.marks, MARK_WORKTREE);
	assert_true(take("{\"id\": \"0123abcd\", \"status\": \"unknown\", \"activity\": null}",
			 &facts));
	assert_int_equal(facts.doing, DOING_UNKNOWN);
	assert_int_equal(facts.since_us, 0);
}

static void what_a_host_may_not_say_is_not_read(void **state UNUSED)
{
	static const char *const bad[] = {
		"{}",
		"{\"id\": \"../../etc\", \"status\": \"stopped\"}",
		"{\"id\": \"gpu2:0123abcd\", \"status\": \"stopped\"}",
		"{\"id\": \"0123abcd\", \"status\": \"flying\"}",
		"{\"id\": \"0123abcd\"}",
		"{\"id\": 7, \"status\": \"stopped\"}",
	};
	struct facts facts;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(take(bad[i], &facts));
	assert_true(take("{\"id\": \"0123abcd\", \"status\": \"stopped\", \"group\": \"a//b\"}",
			 &facts));
	assert_null(facts.group);
}

/* Each comes before the next. */
static void who_needs_the_user_has_one_order(void **state UNUSED)
{
	static const struct attention order[] = {
		{ DOING_ASKS, 0, 6, "b" },
		{ DOING_WAITING, 0, 5, "b" },
		{ DOING_WAITING, 0, 7, "a" },
		{ DOING_WAITING, 0, 7, "c" },
		{ DOING_WAITING, 0, 0, "d" }, /* since when is not known */
		{ DOING_ERROR, 0, 9, "e" },
		{ DOING_UNKNOWN, MARK_ELSEWHERE, 1, "f" },
		{ DOING_STOPPED, MARK_HELD, 1, "g" },
		{ DOING_STOPPED, MARK_UNDECIDED, 2, "h" },
	};
	static const struct attention others[] = {
		{ DOING_BUSY, MARK_CONTAINER, 1, "i" },
		{ DOING_STOPPED, 0, 1, "j" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		assert_true(attention_is_needed(&order[i]));
		assert_int_equal(attention_compare(&order[i], &order[i]), 0);
		if (i) {
			assert_true(attention_compare(&order[i - 1], &order[i]) < 0);
			assert_true(attention_compare(&order[i], &order[i - 1]) > 0);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(attention_is_needed(&others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_needs_the_user_has_one_order),
		cmocka_unit_test(the_words_are_those_of_the_view),
		cmocka_unit_test(what_holds_a_session_is_said_before_its_reason),
		cmocka_unit_test(each_mark_has_its_cause),
		cmocka_unit_test(a_container_is_that_of_its_own_session_or_of_another),
		cmocka_unit_test(what_is_printed_is_read_again),
		cmocka_unit_test(what_a_host_may_not_say_is_not_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
