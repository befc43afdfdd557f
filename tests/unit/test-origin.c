/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/workspace/origin.h"

#include <string.h>

#define OID    "0123456789abcdef0123456789abcdef01234567"
#define DIGEST "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void json_and_back_is_the_same(void **state UNUSED)
{
	struct origin origin = { .kind = ORIGIN_CLONE, .made_branch = true }, again = { 0 };
	origin.source = xstrdup("/home/me/api");
	origin.path = xstrdup("/trees/\xff\n");
	origin.branch = xstrdup("agent/x");
	origin.base = xstrdup(OID);
	origin.exclude = xstrdup(DIGEST);
	origin_add_ref(&origin, "refs/heads/main", OID);
	origin_add_ref(&origin, "refs/heads/\xfe", OID);
	origin_add_remote(&origin, "origin", "https://example.invalid/api.git");
	strvec_push(&origin.stashes, OID);
	struct json_object *json = origin_to_json(&origin);
	const char *text = json_print(json);
	assert_int_equal(origin_parse(text, strlen(text), &again, NULL), 0);
	struct json_object *second = origin_to_json(&again);
	assert_string_equal(json_print(second), text);
	json_object_put(json);
	json_object_put(second);
	assert_string_equal(again.path, "/trees/\xff\n");
	assert_string_equal(origin_ref(&again, "refs/heads/main"), OID);
	assert_null(origin_ref(&again, "refs/heads/mai"));
	assert_string_equal(origin_remote(&again, "origin"), "https://example.invalid/api.git");
	assert_null(origin_remote(&again, "fork"));
	origin_free(&origin);
	origin_free(&again);
}

static void many_refs_are_found(void **state UNUSED)
{
	struct origin origin = { 0 }, again = { 0 };
	origin.source = xstrdup("/a");
	origin.path = xstrdup("/b");
	for (int i = 1000; i > 0; i--) {
		cleanup_free char *name = xasprintf("refs/heads/b%d", i);
		origin_add_ref(&origin, name, OID);
	}
	struct json_object *json = origin_to_json(&origin);
	const char *text = json_print(json);
	assert_int_equal(origin_parse(text, strlen(text), &again, NULL), 0);
	json_object_put(json);
	for (int i = 1000; i > 0; i--) {
		cleanup_free char *name = xasprintf("refs/heads/b%d", i);
		assert_string_equal(origin_ref(&again, name), OID);
	}
	origin_free(&origin);
	origin_free(&again);
}

static void what_is_no_record_is_refused(void **state UNUSED)
{
#define FRONT "{\"schema\":1,\"kind\":\"clone\",\"source\":\"/a\",\"path\":\"/b\","
#define LISTS "\"refs\":[],\"remotes\":[]"
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"{\"schema\":2}",
		"{\"schema\":1,\"kind\":\"copy\",\"source\":\"/a\",\"path\":\"/b\"," LISTS "}",
		"{\"schema\":1,\"kind\":\"clone\",\"source\":\"a\",\"path\":\"/b\"," LISTS "}",
		"{\"schema\":1,\"kind\":\"clone\",\"source\":\"/a\"," LISTS "}",
		FRONT "\"refs\":[]}",
		FRONT LISTS ",\"base\":\"HEAD\"}",
		FRONT LISTS ",\"exclude\":\"x\"}",
		FRONT LISTS ",\"branch\":\"\"}",
		FRONT LISTS ",\"stashes\":[\"x\"]}",
		FRONT "\"remotes\":[],\"refs\":[[\"refs/heads/x\"]]}",
		FRONT "\"remotes\":[],\"refs\":[[\"refs/heads/x\",\"HEAD\"]]}",
		FRONT "\"remotes\":[],\"refs\":[[\"HEAD\",\"" OID "\"]]}",
		FRONT "\"remotes\":[[\"\",\"x\"]],\"refs\":[]}",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct origin origin = { .ref_count = 99 };
		struct error err = { 0 };
		assert_int_equal(origin_parse(texts[i], strlen(texts[i]), &origin, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
		assert_int_equal(origin.ref_count, 99);
		error_clear(&err);
	}
	struct origin good = { 0 };
	static const char least[] = FRONT LISTS "}";
	assert_int_equal(origin_parse(least, strlen(least), &good, NULL), 0);
	assert_null(good.branch);
	origin_free(&good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_and_back_is_the_same),
		cmocka_unit_test(many_refs_are_found),
		cmocka_unit_test(what_is_no_record_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
