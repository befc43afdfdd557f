/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whose conversations on disk are: the plan alone.
 */
#include "unit/test.h"

#include "model/plan/discover.h"

#define ID_A "aaaaaaaa-1111-4111-8111-111111111111"
#define ID_B "bbbbbbbb-2222-4222-8222-222222222222"
#define ID_C "cccccccc-3333-4333-8333-333333333333"

static void own(struct discover_owners *owners, const char *session_id, enum discover_bond bond,
		const char *id)
{
	const struct discover_owner owner = { .session_id = (char *)session_id,
					      .bond = bond,
					      .id = (char *)id };
	discover_owners_add(owners, &owner);
}

static void the_closest_owner_counts(void **state UNUSED)
{
	struct discover_owners owners = { 0 };
	own(&owners, ID_B, DISCOVER_REMOVED, "removed");
	own(&owners, ID_B, DISCOVER_HAD, "had");
	own(&owners, ID_B, DISCOVER_HAS, "has");
	own(&owners, ID_A, DISCOVER_REMOVED, "removed");
	own(&owners, NULL, DISCOVER_HAS, "none");
	discover_owners_sort(&owners);
	assert_int_equal(owners.count, 4);
	assert_string_equal(discover_owner_of(&owners, ID_B)->id, "has");
	assert_string_equal(discover_owner_of(&owners, ID_A)->id, "removed");
	assert_string_equal(discover_owner_of(&owners, "AAAAAAAA-1111-4111-8111-111111111111")->id,
			    "removed");
	assert_null(discover_owner_of(&owners, ID_C));
	discover_owners_free(&owners);
	assert_null(discover_owner_of(&owners, ID_A));
}

static void the_newest_come_first_and_only_those_of_nobody(void **state UNUSED)
{
	struct discover_owners owners = { 0 };
	struct discover_item items[] = {
		{ .path = "/old", .session_id = ID_A, .modified_us = 10 },
		{ .path = "/new", .session_id = ID_C, .modified_us = 30, .agent = 2 },
		{ .path = "/owned", .session_id = ID_B, .modified_us = 20 },
		/* Two entries of the registry have the same home. */
		{ .path = "/new", .session_id = ID_C, .modified_us = 30, .agent = 1 },
	};
	own(&owners, ID_B, DISCOVER_HAD, "had");
	discover_owners_sort(&owners);
	size_t count = discover_plan(items, 4, &owners, &(struct discover_filter){ 0 });
	assert_int_equal(count, 3);
	assert_string_equal(items[0].path, "/new");
	assert_int_equal(items[0].agent, 1);
	assert_null(items[0].owner);
	assert_string_equal(items[1].owner->id, "had");
	assert_string_equal(items[2].path, "/old");
	count = discover_plan(items, count, &owners,
			      &(struct discover_filter){ .since_us = 11, .nobodys = true });
	assert_int_equal(count, 1);
	assert_string_equal(items[0].path, "/new");
	discover_owners_free(&owners);
}

static void ages_have_units(void **state UNUSED)
{
	int64_t age = -1;
	static const char *const bad[] = {
		"", "1", "d", "-1d", "1.5h", "1X", "1dd", "99999999999d"
	};
	assert_int_equal(discover_parse_age("90s", &age, NULL), 0);
	assert_int_equal(age, INT64_C(90000000));
	assert_int_equal(discover_parse_age("2w", &age, NULL), 0);
	assert_int_equal(age, INT64_C(1209600000000));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		assert_int_equal(discover_parse_age(bad[i], &age, &err), -1);
		assert_int_equal(err.code, ERROR_USAGE);
	}
	assert_int_equal(age, INT64_C(1209600000000));
}

static void texts_become_one_short_line(void **state UNUSED)
{
	static const struct {
		const char *text, *expected;
		size_t most;
	} cases[] = {
		{ "", "", 10 },
		{ " \n ", "", 10 },
		{ "  mend\n\ta  bug \n", "mend a bug", 20 },
		{ "0123456789", "0123456789", 10 },
		{ "0123456789a", "0123456789...", 10 },
		{ "012345678\u00e4", "012345678...", 10 },
		{ "01234 6789 b", "01234 6789 ...", 10 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *line = discover_shorten(cases[i].text, cases[i].most);
		assert_string_equal(line, cases[i].expected);
	}
	assert_null(discover_shorten(NULL, 10));
}

static void titles_are_unique(void **state UNUSED)
{
	cleanup_json struct json_object *taken = json_object_new_object();
	static const char *const directories[] = { "/work/api", "/home/api", "/",
						   "/work/a\033[2Jb" };
	static const char *const expected[] = { "api-2", "api-3", "session", "a [2Jb" };
	json_set_int(taken, "api", 1);
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		cleanup_free char *title = discover_title(directories[i], taken);
		assert_string_equal(title, expected[i]);
	}
	json_set_int(taken, "api-4", 1);
	cleanup_free char *after = discover_title("/srv/api", taken);
	assert_string_equal(after, "api-5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_closest_owner_counts),
		cmocka_unit_test(the_newest_come_first_and_only_those_of_nobody),
		cmocka_unit_test(ages_have_units),
		cmocka_unit_test(texts_become_one_short_line),
		cmocka_unit_test(titles_are_unique),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
