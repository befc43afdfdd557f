/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the file of an export says about sessions: it reads as it was written, and nothing in it is
 * believed.
 */
#include "unit/test.h"

#include "base/jsonio.h"
#include "model/session/parcel.h"

#include <stdlib.h>
#include <string.h>

#define DIGEST "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define ID     "11111111-2222-4333-8444-555555555555"
#define SESSION                                                                               \
	"{\"profile\":\"default\",\"id\":\"a1b2c3d4\",\"title\":\"work\","                    \
	"\"group\":\"some/group\",\"notes\":\"mine\",\"agent\":\"claude\","                   \
	"\"tags\":[\"api\",\"x\"],\"is_pinned\":true,"                                        \
	"\"archived_at\":\"2026-04-14T09:08:02.000Z\","                                       \
	"\"directory\":\"/work\",\"launch_directory\":\"/work/tree\","                        \
	"\"config_home\":\"~/.claude-work\",\"imported_from\":\"deck:/a:1\","                 \
	"\"argv\":[\"claude\"],\"resume\":\"auto\",\"restart\":\"no\","                       \
	"\"on_end\":\"keep\",\"sleep_after\":\"2h\",\"memory_max\":1024,\"session_id\":\"" ID \
	"\","                                                                                 \
	"\"created_at\":\"2026-04-14T09:08:01.000Z\","                                        \
	"\"conversation\":{\"number\":1,\"size_bytes\":6,\"sha256\":\"" DIGEST "\","          \
	"\"path\":\"sessions/2026/a.jsonl\",\"directory\":\"/work/tree\"}}"

static struct error err;

/* The file with this in the place of that; to NULL: without the member.  NULL: as it is. */
static char *text_of(const char *key, const char *value)
{
	cleanup_json struct json_object *root = json_object_new_object(), *session = NULL;
	struct json_object *list = json_object_new_array();
	assert_int_equal(json_parse(SESSION, strlen(SESSION), "it", &session, &err), 0);
	static const char *const of_the_file[] = { "number", "sha256", "path", "began" };
	struct json_object *section = session;
	for (size_t i = 0; key && i < ARRAY_SIZE(of_the_file); i++)
		if (streq(key, of_the_file[i]))
			section = json_get_object(session, "conversation");
	if (key && streq(key, "began"))
		key = "directory";
	struct json_object *parsed = NULL;
	if (key && value)
		assert_int_equal(json_parse(value, strlen(value), "it", &parsed, &err), 0);
	if (key && parsed)
		json_object_object_add(section, key, parsed);
	else if (key)
		json_object_object_del(section, key);
	json_object_array_add(list, json_object_get(session));
	json_object_object_add(root, "format", json_object_new_int(1));
	json_object_object_add(root, "host", json_object_new_string("here"));
	json_object_object_add(root, "sessions", list);
	return xstrdup(json_print(root));
}

static void it_reads_as_it_was_written(void **state UNUSED)
{
	cleanup_parcels struct parcels first = { 0 }, second = { 0 };
	cleanup_free char *text = text_of(NULL, NULL);
	if (parcels_parse(text, "it", 1, &first, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(first.count, 1);
	assert_string_equal(first.items[0].notes, "mine");
	assert_string_equal(first.items[0].tags, "api,x");
	assert_true(first.items[0].is_pinned);
	assert_true(first.items[0].archived_at > 0);
	assert_string_equal(first.items[0].launch_directory, "/work/tree");
	assert_string_equal(first.items[0].home, "~/.claude-work");
	assert_string_equal(first.items[0].imported_from, "deck:/a:1");
	assert_int_equal(first.items[0].limits.memory_max, 1024);
	assert_string_equal(first.items[0].place, "sessions/2026/a.jsonl");
	assert_string_equal(first.items[0].began, "/work/tree");
	cleanup_free char *once = parcels_text(&first);
	assert_int_equal(parcels_parse(once, "it", 1, &second, &err), 0);
	cleanup_free char *twice = parcels_text(&second);
	assert_string_equal(once, twice);
}

static void without_a_policy_the_agents_own_holds(void **state UNUSED)
{
	cleanup_parcels struct parcels parcels = { 0 };
	cleanup_free char *text = text_of("resume", NULL);
	assert_int_equal(parcels_parse(text, "it", 1, &parcels, &err), 0);
	assert_int_equal(parcels.items[0].resume_policy, POLICY_DEFAULT);
}

/* Some agents have a path as an id.  A conversation in the file becomes a file of that name. */
static void an_id_may_be_a_path_without_a_conversation(void **state UNUSED)
{
	cleanup_parcels struct parcels first = { 0 }, second = { 0 };
	cleanup_free char *text = text_of(NULL, NULL);
	assert_int_equal(parcels_parse(text, "it", 1, &first, &err), 0);
	struct parcel *parcel = &first.items[0];
	assert_null(parcel_fault(parcel));
	replace_string(&parcel->session_id, "/work/it.jsonl");
	assert_string_equal(parcel_fault(parcel), "session_id");
	parcel->number = 0;
	assert_null(parcel_fault(parcel));
	cleanup_free char *written = parcels_text(&first);
	if (parcels_parse(written, "it", 0, &second, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(second.items[0].session_id, "/work/it.jsonl");
	replace_string(&parcel->session_id, "/work/../it");
	assert_string_equal(parcel_fault(parcel), "session_id");
}

/* It is a file in the place of its session, so it has a name and no more. */
static void a_conversation_without_an_id_has_a_name(void **state UNUSED)
{
	cleanup_parcels struct parcels first = { 0 }, second = { 0 };
	cleanup_free char *text = text_of(NULL, NULL);
	assert_int_equal(parcels_parse(text, "it", 1, &first, &err), 0);
	struct parcel *parcel = &first.items[0];
	replace_string(&parcel->session_id, NULL);
	assert_string_equal(parcel_fault(parcel), "conversation.path");
	replace_string(&parcel->place, "chat.md");
	assert_null(parcel_fault(parcel));
	cleanup_free char *written = parcels_text(&first);
	if (parcels_parse(written, "it", 1, &second, &err) < 0)
		fail_msg("%s", err.message);
	assert_null(second.items[0].session_id);
	assert_string_equal(second.items[0].place, "chat.md");
}

static void a_session_with_a_fault_is_dropped(void **state UNUSED)
{
	cleanup_parcels struct parcels parcels = { 0 };
	cleanup_free char *text = text_of(NULL, NULL);
	assert_int_equal(parcels_parse(text, "it", 1, &parcels, &err), 0);
	replace_string(&parcels.items[0].title, " x");
	assert_string_equal(parcel_fault(&parcels.items[0]), "title");
	parcels_drop(&parcels);
	assert_int_equal(parcels.count, 0);
}

static void refused(const char *text, size_t count, const char *what)
{
	struct parcels parcels = { .count = 7 };
	if (parcels_parse(text, "it", count, &parcels, &err) != -1)
		fail_msg("%s was taken", what);
	if (err.code != ERROR_CORRUPT && err.code != ERROR_NEWER)
		fail_msg("%s: %s", what, err.message);
	assert_int_equal(parcels.count, 7);
	error_clear(&err);
}

static void nothing_in_it_is_believed(void **state UNUSED)
{
	static const struct {
		const char *key, *value;
	} cases[] = {
		{ "profile", "\"../other\"" },
		{ "profile", "\"\"" },
		{ "id", "\"../../x\"" },
		{ "id", NULL },
		{ "title", "\"a\\u001b[2Jb\"" },
		{ "title", NULL },
		{ "group", "\"a//b\"" },
		{ "notes", "7" },
		{ "is_pinned", "7" },
		{ "archived_at", "-1" },
		{ "agent", "\"../claude\"" },
		{ "agent", NULL },
		{ "directory", "\"relative\"" },
		{ "directory", "\"/work/../etc\"" },
		{ "directory", "\"/work/..\"" },
		{ "directory", NULL },
		{ "launch_directory", "\"../x\"" },
		{ "config_home", "\"~\"" },
		{ "config_home", "\"x\"" },
		{ "config_home", "\"~/../x\"" },
		{ "argv", "[]" },
		{ "argv", "[1]" },
		{ "argv", NULL },
		{ "resume", "\"maybe\"" },
		{ "restart", "\"maybe\"" },
		{ "on_end", "\"maybe\"" },
		{ "memory_max", "-1" },
		{ "memory_max", "\"1\"" },
		{ "created_at", "\"yesterday\"" },
		{ "session_id", "\"../../.bashrc\"" },
		{ "session_id", "\"-p\"" },
		{ "session_id", "\"/work/it.jsonl\"" }, /* with a conversation */
		{ "session_id", NULL },                 /* a conversation that has no name */
		{ "conversation", "[]" },
		{ "conversation", NULL }, /* whose file is there */
		{ "number", "0" },
		{ "number", "2" },
		{ "number", "-1" },
		{ "sha256", "\"E3B0\"" },
		{ "sha256", NULL },
		{ "path", "\"/sessions/a\"" },
		{ "path", "\"sessions/../a\"" },
		{ "path", "\"../a\"" },
		{ "path", "\"sessions//a\"" },
		{ "path", "\"sessions/a/\"" },
		{ "path", "\"sessions/.a\"" },
		{ "path", "\"sessions/a b\"" },
		{ "path", "7" },
		{ "began", "\"work\"" },
		{ "began", "\"/work/../etc\"" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *text = text_of(cases[i].key, cases[i].value);
		cleanup_free char *what = xasprintf("%s %s", cases[i].key,
						    cases[i].value ? cases[i].value : "left out");
		refused(text, 1, what);
	}
}

static void each_conversation_has_one_session(void **state UNUSED)
{
	static const char twice[] = "{\"format\":1,\"sessions\":[" SESSION "," SESSION "]}";
	cleanup_free char *text = text_of(NULL, NULL);
	refused(twice, 1, "a conversation of two sessions");
	refused(text, 2, "a conversation of no session");
	refused(text, 0, "a session without its conversation");
}

static void only_a_known_format_is_read(void **state UNUSED)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"{\"format\":0,\"sessions\":[]}",
		"{\"format\":-1,\"sessions\":[]}",
		"{\"format\":\"1\",\"sessions\":[]}",
		"{\"format\":1}",
		"{\"format\":1,\"sessions\":{}}",
		"{\"format\":1,\"sessions\":[7]}",
		"{\"format\":1,\"sessions\":[",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		refused(texts[i], 0, texts[i]);
	struct parcels parcels;
	assert_int_equal(parcels_parse("{\"format\":2,\"sessions\":[]}", "it", 0, &parcels, &err),
			 -1);
	assert_int_equal(err.code, ERROR_NEWER);
	error_clear(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_reads_as_it_was_written),
		cmocka_unit_test(without_a_policy_the_agents_own_holds),
		cmocka_unit_test(an_id_may_be_a_path_without_a_conversation),
		cmocka_unit_test(a_conversation_without_an_id_has_a_name),
		cmocka_unit_test(a_session_with_a_fault_is_dropped),
		cmocka_unit_test(nothing_in_it_is_believed),
		cmocka_unit_test(each_conversation_has_one_session),
		cmocka_unit_test(only_a_known_format_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
