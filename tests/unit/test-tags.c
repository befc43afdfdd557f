/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The words by which a user finds a session: how they change, and what is none.
 */
#include "unit/test.h"

#include "base/jsonio.h"
#include "model/session/tags.h"

static void a_change_replaces_adds_and_removes(void **state UNUSED)
{
	static const struct {
		const char *tags, *change, *expected;
	} changes[] = {
		{ NULL, "b,a", "a,b" },    { "a,b", "c", "c" },
		{ "a,b", "+c,-a", "b,c" }, { "a", "+a", "a" },
		{ "a,b", "", "" },         { "a", "-b", "a" },
		{ "a", "-a", "" },         { NULL, "+x-1,+y.2,+z_3", "x-1,y.2,z_3" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		cleanup_free char *tags = NULL;
		cleanup_error struct error err = { 0 };
		if (tags_change(changes[i].tags, changes[i].change, &tags, &err) < 0)
			fail_msg("%zu: %s", i, err.message);
		assert_string_equal(or_empty(tags), changes[i].expected);
	}
}

static void what_is_no_tag_is_refused(void **state UNUSED)
{
	static const char *const changes[] = {
		"A",
		"a b",
		"\n",
		"\303\244",
		"+",
		"a123456789012345678901234567890123",
		"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q",
	};
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		cleanup_error struct error err = { 0 };
		char *tags = NULL;
		if (tags_change("old", changes[i], &tags, &err) == 0)
			fail_msg("'%s' makes '%s'", changes[i], or_empty(tags));
		assert_int_equal(err.code, ERROR_USAGE);
		assert_null(tags);
	}
}

static void words_are_no_changes(void **state UNUSED)
{
	static const char *const bad[] = { "", "-a", "+a", "a,", "A" };
	cleanup_strvec struct strvec words = { 0 };
	cleanup_free char *none = NULL;
	assert_int_equal(tags_join(&words, &none, NULL), 0);
	assert_null(none);
	strvec_push(&words, "b");
	strvec_push(&words, "a,b");
	cleanup_free char *tags = NULL;
	assert_int_equal(tags_join(&words, &tags, NULL), 0);
	assert_string_equal(tags, "a,b");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_strvec struct strvec one = { 0 };
		char *joined = NULL;
		strvec_push(&one, bad[i]);
		if (tags_join(&one, &joined, NULL) == 0)
			fail_msg("'%s' is '%s'", bad[i], or_empty(joined));
	}
}

static void all_that_are_wanted_are_there(void **state UNUSED)
{
	assert_true(tags_have("a,tag,d", "tag"));
	assert_true(tags_have("a,tag,d", "d,a"));
	assert_false(tags_have("a,tag,d", "t"));
	assert_false(tags_have("a", "a,b"));
	assert_false(tags_have(NULL, "a"));
}

/* Another program may have written anything. */
static void what_was_read_is_made_whole(void **state UNUSED)
{
	static const char text[] = "{\"tags\":[\"b\",\"NO\",3,null,\"a\",\"b\",\"x,y\"]}";
	cleanup_json struct json_object *object = NULL;
	assert_int_equal(json_parse(text, sizeof(text) - 1, "it", &object, NULL), 0);
	cleanup_free char *tags = tags_from_json(object, "tags");
	assert_string_equal(or_empty(tags), "a,b");
	cleanup_free char *none = tags_from_json(object, "other");
	assert_null(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_replaces_adds_and_removes),
		cmocka_unit_test(what_is_no_tag_is_refused),
		cmocka_unit_test(words_are_no_changes),
		cmocka_unit_test(all_that_are_wanted_are_there),
		cmocka_unit_test(what_was_read_is_made_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
