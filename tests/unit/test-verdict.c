/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/workspace/verdict.h"

#include <string.h>

static void nothing_found_is_safe(void **state UNUSED)
{
	struct verdict verdict = { 0 };
	assert_true(verdict_is_safe(&verdict));
	verdict_add(&verdict, FINDING_IGNORED, "", "build/", "");
	verdict_add(&verdict, FINDING_KEPT_STASH, "", "stash@{0}", "WIP");
	verdict_add(&verdict, FINDING_MERGED, "", "fix", "");
	assert_true(verdict_is_safe(&verdict));
	verdict_free(&verdict);
}

static void every_loss_is_unsafe(void **state UNUSED)
{
	for (int kind = 0; kind < FINDING_KIND_COUNT; kind++) {
		struct verdict verdict = { 0 };
		verdict_add(&verdict, (enum finding_kind)kind, NULL, "x", NULL);
		assert_int_equal(verdict_is_safe(&verdict), kind >= FINDING_IGNORED);
		verdict_free(&verdict);
	}
}

static void names_of_kinds_lead_back(void **state UNUSED)
{
	for (int kind = 0; kind < FINDING_KIND_COUNT; kind++)
		assert_int_equal(finding_kind_of_name(finding_kind_name((enum finding_kind)kind)),
				 kind);
	assert_int_equal(finding_kind_of_name("nothing"), FINDING_KIND_COUNT);
}

static void a_long_list_is_counted(void **state UNUSED)
{
	struct verdict verdict = { 0 };
	struct strbuf text = { 0 };
	for (int i = 0; i < VERDICT_MOST + 7; i++)
		verdict_add(&verdict, FINDING_FILE, "", "?? x", "");
	verdict_add(&verdict, FINDING_STASH, "", "stash@{0}", "WIP");
	assert_int_equal(verdict.count, VERDICT_MOST + 1);
	assert_int_equal(verdict.more[FINDING_FILE], 7);
	verdict_add_text(&verdict, &text);
	assert_non_null(strstr(text.data, "file: and 7 more\n"));
	assert_non_null(strstr(text.data, "stash: stash@{0}: WIP\n"));
	strbuf_free(&text);
	verdict_free(&verdict);
}

static void a_terminal_is_not_moved_by_names(void **state UNUSED)
{
	char name[3 * VERDICT_TEXT_MOST] = { 0 };
	struct verdict verdict = { 0 };
	verdict_add(&verdict, FINDING_FILE, "su\033b", "?? \033[2J\n", "\xff");
	assert_string_equal(verdict.findings[0].where, "su\\033b");
	assert_string_equal(verdict.findings[0].name, "?? \\033[2J\\n");
	assert_string_equal(verdict.findings[0].detail, "\\377");
	for (size_t i = 0; i < sizeof(name) - 2; i += 2)
		memcpy(name + i, "\u00e4", 2);
	verdict_add(&verdict, FINDING_FILE, "", name, "");
	const char *cut = verdict.findings[1].name;
	assert_true(strlen(cut) <= VERDICT_TEXT_MOST);
	assert_true(is_utf8(cut, strlen(cut)) && ends_with(cut, "\u00e4..."));
	verdict_free(&verdict);
}

static void json_and_back_is_the_same(void **state UNUSED)
{
	struct verdict verdict = { .confinement = { .landlock = true } }, again = { 0 };
	for (int i = 0; i < VERDICT_MOST + 3; i++)
		verdict_add(&verdict, FINDING_BRANCH, "lib", "fix \n", "2 commits");
	verdict_unknown(&verdict, "", "no %s", "idea");
	struct json_object *json = verdict_to_json(&verdict);
	const char *text = json_print(json);
	assert_int_equal(verdict_parse(text, strlen(text), &again, NULL), 0);
	struct json_object *second = verdict_to_json(&again);
	assert_string_equal(json_print(second), text);
	assert_false(verdict_is_safe(&again));
	json_object_put(json);
	json_object_put(second);
	verdict_free(&verdict);
	verdict_free(&again);
}

static void what_is_no_verdict_is_refused(void **state UNUSED)
{
	static const char *const texts[] = {
		"",
		"{}",
		"[]",
		"{\"schema\":2,\"verdict\":\"safe\",\"findings\":[]}",
		"{\"schema\":1,\"verdict\":\"SAFE\",\"findings\":[]}",
		"{\"schema\":1,\"verdict\":\"safe\"}",
		"{\"schema\":1,\"verdict\":\"unsafe\",\"findings\":[]}",
		"{\"schema\":1,\"verdict\":\"safe\",\"findings\":[7]}",
		"{\"schema\":1,\"verdict\":\"safe\",\"findings\":[{\"kind\":\"file\",\"where\":\"\","
		"\"name\":\"a\",\"detail\":\"\"}]}",
		"{\"schema\":1,\"verdict\":\"safe\",\"findings\":[{\"kind\":\"fine\",\"where\":\"\","
		"\"name\":\"a\",\"detail\":\"\"}]}",
		"{\"schema\":1,\"verdict\":\"safe\",\"findings\":[],\"more\":{\"file\":1}}",
		"{\"schema\":1,\"verdict\":\"safe\",\"findings\":[]} x",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct verdict verdict = { .count = 99 };
		struct error err = { 0 };
		assert_int_equal(verdict_parse(texts[i], strlen(texts[i]), &verdict, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
		assert_int_equal(verdict.count, 99);
		error_clear(&err);
	}
}

static void a_line_has_no_newline(void **state UNUSED)
{
	struct verdict verdict = { 0 };
	cleanup_free char *empty = verdict_line(&verdict);
	assert_string_equal(empty, "");
	verdict_add(&verdict, FINDING_FILE, "", "?? a", NULL);
	verdict_add(&verdict, FINDING_FILE, "", "?? b", NULL);
	cleanup_free char *line = verdict_line(&verdict);
	assert_string_equal(line, "file: ?? a;file: ?? b;");
	verdict_free(&verdict);
}

static void losses_are_counted_and_named(void **state UNUSED)
{
	cleanup_verdict struct verdict verdict = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *none = verdict_count_text(&verdict);
	assert_string_equal(none, "");
	verdict_add(&verdict, FINDING_IGNORED, "", "build", NULL);
	verdict_add(&verdict, FINDING_BRANCH, "", "fix", "1 commit not on origin/fix");
	for (int i = 0; i < VERDICT_MOST + 2; i++)
		verdict_add(&verdict, FINDING_FILE, "", "?? a", NULL);
	cleanup_free char *count = verdict_count_text(&verdict);
	assert_string_equal(count, "52 files, 1 branch");
	verdict_add_losses(&verdict, &text);
	assert_non_null(strstr(strbuf_text(&text), "branch: fix: 1 commit not on origin/fix\n"));
	assert_null(strstr(strbuf_text(&text), "build"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_no_newline),
		cmocka_unit_test(nothing_found_is_safe),
		cmocka_unit_test(every_loss_is_unsafe),
		cmocka_unit_test(names_of_kinds_lead_back),
		cmocka_unit_test(a_long_list_is_counted),
		cmocka_unit_test(a_terminal_is_not_moved_by_names),
		cmocka_unit_test(json_and_back_is_the_same),
		cmocka_unit_test(what_is_no_verdict_is_refused),
		cmocka_unit_test(losses_are_counted_and_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
