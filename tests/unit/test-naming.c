/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/session/naming.h"

#include <string.h>

/* count times the text; the caller frees. */
static char *repeated(const char *text, size_t count)
{
	struct strbuf buf = { 0 };
	for (size_t i = 0; i < count; i++)
		strbuf_adds(&buf, text);
	return strbuf_take(&buf);
}

static void assert_usage(int r, struct error *err, const char *part)
{
	assert_int_equal(r, -1);
	assert_int_equal(err->code, ERROR_USAGE);
	if (!strstr(err->message, part))
		fail_msg("\"%s\" does not say \"%s\"", err->message, part);
	error_clear(err);
}

static void new_ids_are_ids_and_differ(void **state)
{
	(void)state;
	cleanup_strvec struct strvec seen = { 0 };
	for (int i = 0; i < 200; i++) {
		char *id = naming_new_id();
		assert_true(naming_is_id(id));
		assert_false(strvec_contains(&seen, id));
		strvec_push_take(&seen, id);
	}
}

static void the_characters_of_new_ids_do_not_depend_on_each_other(void **state)
{
	(void)state;
	static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
	/* 1,024 pairs at each of 7 places: in one of 10^13 runs a pair is missing after so many
	 * ids. */
	static bool seen[7][32][32];
	for (int i = 0; i < 40 * 1024; i++) {
		cleanup_free char *id = naming_new_id();
		for (size_t place = 0; place < 7; place++)
			seen[place][strchr(alphabet, id[place]) - alphabet]
			    [strchr(alphabet, id[place + 1]) - alphabet] = true;
	}
	for (size_t place = 0; place < 7; place++)
		for (size_t pair = 0; pair < 32 * 32; pair++)
			assert_true(seen[place][pair / 32][pair % 32]);
}

static void ids_have_eight_characters_of_lower_case_crockford(void **state)
{
	(void)state;
	assert_true(naming_is_id("0123456z"));
	static const char *const others[] = { "",         "0123456",  "012345678",    "0123456i",
					      "0123456l", "0123456o", "0123456u",     "0123456A",
					      "0123456-", "012345 7", "0123456\u00e9" };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(naming_is_id(others[i]));
}

static void ids_of_agent_deck_are_told_from_ours(void **state)
{
	(void)state;
	static const char *const others[] = {
		"",           "0123456",     "01234567",    "01234567-",
		"0123456g-1", "01234567-1x", "012345678-1", "01234567_1"
	};
	assert_true(naming_is_foreign_id("409a6ace-1795308038"));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(naming_is_foreign_id(others[i]));
	for (unsigned i = 0; i < 100; i++) {
		cleanup_free char *id = naming_new_id();
		assert_false(naming_is_foreign_id(id));
	}
}

static void new_uuids_are_version_4_in_lower_case(void **state)
{
	(void)state;
	cleanup_free char *a = naming_new_uuid();
	cleanup_free char *b = naming_new_uuid();
	assert_true(naming_is_uuid(a));
	assert_string_not_equal(a, b);
	assert_int_equal(strspn(a, "0123456789abcdef-"), 36);
	assert_int_equal(a[14], '4');
	assert_non_null(strchr("89ab", a[19]));
}

static void uuids_are_told_from_other_texts(void **state)
{
	(void)state;
	assert_true(naming_is_uuid("550e8400-e29b-11d4-a716-446655440000"));
	assert_true(naming_is_uuid("550E8400-E29B-41D4-A716-446655440000"));
	assert_false(naming_is_uuid(""));
	assert_false(naming_is_uuid("550e8400-e29b-41d4-a716-44665544000"));
	assert_false(naming_is_uuid("550e8400-e29b-41d4-a716-4466554400000"));
	assert_false(naming_is_uuid("550e8400-e29b-41d4-a716-44665544000g"));
	assert_false(naming_is_uuid("550e8400e29b41d4a716446655440000"));
}

static void titles_are_any_visible_text(void **state)
{
	(void)state;
	struct error err = { 0 };
	cleanup_free char *longest = repeated("x", 250);
	static const char *const good[] = { "a",   "api: fix (2)", "\u00fcber \u732b", "-x",
					    "a/b", "#(x)",         "\xf0\x9f\x90\x88" };
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(naming_check_title(good[i], &err), 0);
	assert_int_equal(naming_check_title(longest, &err), 0);
}

static void a_bad_title_is_told_the_rule_that_it_breaks(void **state)
{
	(void)state;
	struct error err = { 0 };
	cleanup_free char *too_long = repeated("x", 251);
	cleanup_free char *too_long_in_bytes = repeated("\u00fc", 126);
	assert_usage(naming_check_title("", &err), &err, "empty");
	assert_usage(naming_check_title(too_long, &err), &err, "250");
	assert_usage(naming_check_title(too_long_in_bytes, &err), &err, "252 bytes");
	assert_usage(naming_check_title("a\xff", &err), &err, "UTF-8");
	assert_usage(naming_check_title("a\nb", &err), &err, "control character");
	assert_usage(naming_check_title("a\x1b[0m", &err), &err, "invalid title \"a\\033[0m\"");
	assert_usage(naming_check_title("a\x7f", &err), &err, "control character");
	assert_usage(naming_check_title("a\xc2\x9b", &err), &err, "control character");
	assert_usage(naming_check_title(" a", &err), &err, "white space");
	assert_usage(naming_check_title("a ", &err), &err, "white space");
	assert_usage(naming_check_title("a\u3000", &err), &err, "white space");
	assert_usage(naming_check_title("\u00a0"
					"a",
					&err),
		     &err, "white space");
}

static void a_group_has_the_groups_below_it(void **state)
{
	(void)state;
	assert_true(naming_is_in_group("work", "work"));
	assert_true(naming_is_in_group("work/api/old", "work"));
	assert_false(naming_is_in_group("workshop", "work"));
	assert_false(naming_is_in_group("work", "work/api"));
	assert_false(naming_is_in_group("", "work"));
	assert_false(naming_is_in_group(NULL, "work"));
}

static void groups_are_titles_between_slashes(void **state)
{
	(void)state;
	struct error err = { 0 };
	cleanup_free char *too_long = repeated("a/", 126);
	assert_int_equal(naming_check_group("work", &err), 0);
	assert_int_equal(naming_check_group("work/api/old stuff", &err), 0);
	assert_usage(naming_check_group("", &err), &err, "empty");
	assert_usage(naming_check_group("/a", &err), &err, "a part between \"/\": it is empty");
	assert_usage(naming_check_group("a/", &err), &err, "empty");
	assert_usage(naming_check_group("a//b", &err), &err, "empty");
	assert_usage(naming_check_group("a/ b", &err), &err, "white space");
	assert_usage(naming_check_group("a/b\tc", &err), &err, "control character");
	assert_usage(naming_check_group(too_long, &err), &err, "250");
}

static void profiles_are_file_names(void **state)
{
	(void)state;
	struct error err = { 0 };
	cleanup_free char *longest = repeated("x", 64);
	cleanup_free char *too_long = repeated("x", 65);
	assert_int_equal(naming_check_profile("default", &err), 0);
	assert_int_equal(naming_check_profile("A.b_c-9", &err), 0);
	assert_int_equal(naming_check_profile("logs2", &err), 0);
	assert_int_equal(naming_check_profile(longest, &err), 0);
	static const char *const bad[] = { "", ".hidden", "..", "-x", "_x", "a/b", "a b", "\u00fc" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_usage(naming_check_profile(bad[i], &err), &err, "letters, digits");
	assert_usage(naming_check_profile(too_long, &err), &err, "1 to 64");
}

static void profiles_leave_the_names_beside_them_alone(void **state)
{
	(void)state;
	struct error err = { 0 };
	static const char *const taken[] = { "logs", "hooks",   "agents",      "run",
					     "once", "answers", "roles.cache", "config.toml" };
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		assert_usage(naming_check_profile(taken[i], &err), &err,
			     "agentdeck uses this name itself");
}

static void agents_are_named_like_files(void **state)
{
	(void)state;
	assert_true(naming_is_agent("claude"));
	assert_true(naming_is_agent("gpt-5.x_Y"));
	assert_false(naming_is_agent(""));
	assert_false(naming_is_agent("../claude"));
	assert_false(naming_is_agent("-claude"));
}

static void session_ids_fit_an_argv_and_a_file_name(void **state)
{
	(void)state;
	cleanup_free char *longest = repeated("x", 128);
	cleanup_free char *too_long = repeated("x", 129);
	assert_true(naming_is_session_id("550e8400-e29b-41d4-a716-446655440000"));
	assert_true(naming_is_session_id("ses_0aB.c"));
	assert_true(naming_is_session_id(longest));
	static const char *const bad[] = { "",    "-x",  "--resume", ".",    "..",    ".x",
					   "a/b", "a b", "a;b",      "a\nb", "\u00fc" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(naming_is_session_id(bad[i]));
	assert_false(naming_is_session_id(too_long));
}

static void session_ids_that_are_uuids_are_the_same_in_either_case(void **state)
{
	(void)state;
	struct strvec ids = { 0 };
	strvec_push(&ids, "550e8400-e29b-41d4-a716-446655440000");
	strvec_push(&ids, "ses_0aB");
	assert_true(naming_same_session_id("550e8400-e29b-41d4-a716-44665544abcd",
					   "550E8400-E29B-41D4-A716-44665544ABCD"));
	assert_true(naming_same_session_id("ses_0aB", "ses_0aB"));
	assert_false(naming_same_session_id("ses_0aB", "ses_0ab"));
	assert_false(naming_same_session_id("550e8400-e29b-41d4-a716-446655440000",
					    "550e8400-e29b-41d4-a716-446655440001"));
	assert_false(naming_same_session_id(NULL, NULL));
	assert_false(naming_same_session_id("x", NULL));
	assert_true(naming_has_session_id(&ids, "550E8400-E29B-41D4-A716-446655440000"));
	assert_true(naming_has_session_id(&ids, "ses_0aB"));
	assert_false(naming_has_session_id(&ids, "ses_0ab"));
	assert_false(naming_has_session_id(&ids, NULL));
	strvec_clear(&ids);
}

static void a_scope_is_named_after_its_instance(void **state)
{
	(void)state;
	cleanup_free char *scope = naming_scope("0123abcd");
	assert_string_equal(scope, "agentdeck-tmux-0123abcd.scope");
}

static void a_slice_is_in_no_other_one(void **state UNUSED)
{
	cleanup_free char *slice = naming_slice("0123abcd");
	cleanup_free char *of_copy = naming_slice("ad-0123abcd_x.y");
	assert_string_equal(slice, "agentdeck-0123abcd.slice");
	assert_string_equal(of_copy, "agentdeck-ad\\x2d0123abcd\\x5fx\\x2ey.slice");
}

static void a_group_of_a_session_is_its_slice_or_its_scope(void **state UNUSED)
{
	static const char *const groups[][2] = {
		{ "/u/agentdeck.slice/agentdeck-1.slice/agentdeck-tmux-1.scope",
		  "/u/agentdeck.slice/agentdeck-1.slice" },
		{ "/u/agentdeck.slice/agentdeck-1.slice/tmux-spawn-7.scope",
		  "/u/agentdeck.slice/agentdeck-1.slice" },
		{ "/u/agentdeck-1.slice", "/u/agentdeck-1.slice" },
		{ "/u/agentdeck.slice/agentdeck-tmux-1.scope/below",
		  "/u/agentdeck.slice/agentdeck-tmux-1.scope" },
		{ "/u/agentdeck-tmux-1.scopes/agentdeck-tmux-1.scope",
		  "/u/agentdeck-tmux-1.scopes/agentdeck-tmux-1.scope" },
		{ "/u/agentdeck.slice/agentdeck-12.slice/agentdeck-tmux-12.scope", NULL },
		{ "/u/x-agentdeck-1.slice", NULL },
		{ "agentdeck-1.slice", NULL },
		{ "/", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		cleanup_free char *found = naming_session_group("1", groups[i][0]);
		if (groups[i][1])
			assert_string_equal(found, groups[i][1]);
		else
			assert_null(found);
	}
}

static void a_base_tells_the_id(void **state)
{
	(void)state;
	static const char *const bases[][2] = {
		{ "0123abcd", "0123abcd" },
		{ "ad-0123abcd-api-claude", "0123abcd" },
		{ "ad-0123abcd", "0123abcd" },
		{ "ad-api", "ad-api" },
		{ "ad-", "ad-" },
		{ "", "" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		cleanup_free char *id = naming_id_of_base(bases[i][0]);
		assert_string_equal(id, bases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_ids_are_ids_and_differ),
		cmocka_unit_test(the_characters_of_new_ids_do_not_depend_on_each_other),
		cmocka_unit_test(ids_have_eight_characters_of_lower_case_crockford),
		cmocka_unit_test(ids_of_agent_deck_are_told_from_ours),
		cmocka_unit_test(new_uuids_are_version_4_in_lower_case),
		cmocka_unit_test(uuids_are_told_from_other_texts),
		cmocka_unit_test(titles_are_any_visible_text),
		cmocka_unit_test(a_bad_title_is_told_the_rule_that_it_breaks),
		cmocka_unit_test(groups_are_titles_between_slashes),
		cmocka_unit_test(a_group_has_the_groups_below_it),
		cmocka_unit_test(profiles_are_file_names),
		cmocka_unit_test(profiles_leave_the_names_beside_them_alone),
		cmocka_unit_test(agents_are_named_like_files),
		cmocka_unit_test(session_ids_fit_an_argv_and_a_file_name),
		cmocka_unit_test(session_ids_that_are_uuids_are_the_same_in_either_case),
		cmocka_unit_test(a_scope_is_named_after_its_instance),
		cmocka_unit_test(a_slice_is_in_no_other_one),
		cmocka_unit_test(a_group_of_a_session_is_its_slice_or_its_scope),
		cmocka_unit_test(a_base_tells_the_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
