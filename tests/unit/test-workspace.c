/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/session/fields.h"
#include "model/session/workspace.h"

#include <string.h>

#define WHOLE                                                                                      \
	"{\"kind\":\"clone\",\"source\":\"/a\",\"path\":\"/t/a\",\"branch\":\"b\",\"base\":\"c\"," \
	"\"has_branch\":true,\"made\":true,\"later\":[1],"                                         \
	"\"seen\":{\"at\":\"2026-11-27T10:00:00.000Z\",\"branch\":\"b\",\"commits\":2,"            \
	"\"merged\":\"squashed\",\"request\":7,\"request_state\":\"OPEN\"}}"

static void json_and_back_is_the_same(void **state UNUSED)
{
	cleanup_json struct json_object *object = json_tokener_parse(WHOLE);
	cleanup_workspace struct workspace *workspace = fields_parse(object, "it", "workspace.",
								     &workspace_fields, NULL);
	assert_non_null(workspace);
	assert_int_equal(workspace->kind, WORKSPACE_CLONE);
	assert_string_equal(workspace->path, "/t/a");
	assert_true(workspace->has_branch && workspace->is_made && !workspace->may_be_lost);
	cleanup_free char *text = seen_work_text(&workspace->seen);
	assert_string_equal(text, "2 commits on b, squash-merged, pull request 7 OPEN");
	cleanup_json struct json_object *again = workspace_to_json(workspace);
	assert_true(json_object_equal(object, again));
}

static void what_is_wrong_is_refused(void **state UNUSED)
{
	static const char *const texts[] = {
		"{}",
		"{\"kind\":\"copy\",\"source\":\"/a\",\"path\":\"/b\",\"branch\":\"b\",\"base\":\"c\"}",
		"{\"kind\":\"clone\",\"source\":\"a\",\"path\":\"/b\",\"branch\":\"b\",\"base\":\"c\"}",
		"{\"kind\":\"clone\",\"source\":\"/a\",\"path\":\"b\",\"branch\":\"b\",\"base\":\"c\"}",
		"{\"kind\":\"clone\",\"source\":\"/a\",\"path\":\"/b\",\"base\":\"c\"}",
		"{\"kind\":\"clone\",\"source\":\"/a\",\"path\":\"/b\",\"branch\":\"b\"}",
		"{\"kind\":\"clone\",\"source\":\"/a\",\"path\":3,\"branch\":\"b\",\"base\":\"c\"}",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_json struct json_object *object = json_tokener_parse(texts[i]);
		cleanup_error struct error err = { 0 };
		assert_null(fields_parse(object, "it", "workspace.", &workspace_fields, &err));
		assert_int_equal(err.code, ERROR_CORRUPT);
	}
}

static void a_title_becomes_a_name(void **state UNUSED)
{
	static const struct {
		const char *title, *name;
	} cases[] = {
		{ "api", "api" },
		{ "Fix the  Login!", "fix-the-login" },
		{ "--x", "x" },
		{ "a/../b", "a-b" },
		{ "über", "ber" },
		{ "日本", "session" },
		{ "", "session" },
		{ "0123456789012345678901234567890123456789more",
		  "0123456789012345678901234567890123456789" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *name = workspace_slug(cases[i].title);
		assert_string_equal(name, cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_and_back_is_the_same),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(a_title_becomes_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
