/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tests/fixtures/roles has a devcontainer.json for each key, and for what they can be together. Its
 * first line says what the file comes to, and the next ones each finding: "// VERDICT KEY", with -
 * for the whole file.
 */
#include "unit/files.h"
#include "unit/test.h"

#include "model/role/role.h"

#include <string.h>

static int read_role(const char *text, enum recipe_rights rights, struct role *ret,
		     struct error *err)
{
	cleanup_strvec struct strvec variables = { 0 };
	strvec_push(&variables, "HOME=/home/u");
	strvec_push(&variables, "ALLOWED=yes");
	const struct role_order order = {
		.path = "file", .workspace = "/src/api", .environment = &variables, .rights = rights
	};
	return role_read(text, strlen(text), &order, ret, err);
}

static struct role must_read(const char *text, enum recipe_rights rights)
{
	struct role role = { 0 };
	struct error err = { 0 };
	if (read_role(text, rights, &role, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	return role;
}

/* ---- the files ------------------------------------------------------------------------------- */

/* The comments that it begins with, as they should be. */
static char *judgement(const struct role *role)
{
	struct strbuf text = { 0 };
	strbuf_addf(&text, "// %s\n", role_verdict_name(role->verdict));
	for (size_t i = 0; i < role->count; i++)
		strbuf_addf(&text, "// %s %s\n", role_verdict_name(role->findings[i].verdict),
			    *role->findings[i].key ? role->findings[i].key : "-");
	return strbuf_take(&text);
}

static void check_file(int directory, const char *name)
{
	cleanup_strbuf struct strbuf text = { 0 };
	assert_int_equal(fs_read(directory, name, ROLE_MAX_BYTES, &text, NULL), 0);
	cleanup_role struct role role = must_read(strbuf_text(&text), RIGHTS_STANDARD);
	cleanup_free char *is = judgement(&role);
	size_t length = 0;
	while (starts_with(text.data + length, "// "))
		length += strcspn(text.data + length, "\n") + 1;
	cleanup_free char *should = xstrndup(text.data, length);
	if (!streq(is, should))
		fail_msg("%s is judged\n%snot\n%s", name, is, should);
	/* The text of each finding is for people, and its line is in the file. */
	size_t lines = 1;
	for (size_t i = 0; i < text.length; i++)
		lines += text.data[i] == '\n';
	for (size_t i = 0; i < role.count; i++) {
		assert_true(*role.findings[i].text && role.findings[i].line < lines);
		assert_true(!*role.findings[i].key == !role.findings[i].line);
	}
}

static void each_key_runs_asks_or_is_refused_as_its_file_says(void **state UNUSED)
{
	cleanup_free char *path = xasprintf("%s/tests/fixtures/roles", getenv("top_srcdir") ?: ".");
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(directory >= 0);
	assert_int_equal(fs_list(directory, &names, NULL), 0);
	assert_true(names.count >= 60);
	for (size_t i = 0; i < names.count; i++)
		check_file(directory, names.items[i]);
}

/* ---- what is read ---------------------------------------------------------------------------- */

static void what_runs_is_read_as_it_is_written(void **state UNUSED)
{
	cleanup_role struct role role = must_read(
		"{\"name\": \"Api\", \"build\": {\"dockerfile\": \"D\", \"context\": \"..\", "
		"\"target\": \"dev\", \"args\": {\"V\": \"1\"}}, "
		"\"containerEnv\": {\"A\": \"1\", \"B\": \"${localEnv:HOME}/b\", "
		"\"D\": \"${containerWorkspaceFolder}/${localWorkspaceFolder}\"}, "
		"\"workspaceFolder\": \"/w/${localWorkspaceFolderBasename}\", "
		"\"remoteEnv\": {\"A\": \"2\", \"C\": \"${containerEnv:A}${containerEnv:NO:x}\"}, "
		"\"mounts\": [\"type=bind,src=${localEnv:HOME}/d,dst=/d,ro\"], "
		"\"hostRequirements\": {\"cpus\": 1.5, \"memory\": \"8gb\"}, "
		"\"postStartCommand\": {\"one\": \"true\"}, "
		"\"postCreateCommand\": [\"make\", \"a b\"], "
		"\"onCreateCommand\": \"echo ${HOME}\", "
		"\"customizations\": {\"agentdeck\": {\"agent\": \"codex\", \"network\": \"none\"}}}",
		RIGHTS_STANDARD);
	assert_string_equal(role.name, "Api");
	assert_null(role.image);
	assert_string_equal(role.dockerfile, "D");
	assert_string_equal(role.context, "..");
	assert_string_equal(role.target, "dev");
	assert_string_equal(role.build_args.items[0], "V=1");
	assert_int_equal(role.environment.count, 4);
	assert_string_equal(role.environment.items[0], "A=2");
	assert_string_equal(role.environment.items[1], "B=/home/u/b");
	assert_string_equal(role.environment.items[2], "D=/w/api//src/api");
	assert_string_equal(role.environment.items[3], "C=2x");
	assert_string_equal(role.workspace, "/w/api");
	assert_string_equal(role.mounts.items[0], "/home/u/d:/d:ro");
	assert_string_equal(role.cpus, "1.5");
	assert_true(role.memory == INT64_C(8) << 30);
	assert_string_equal(role.agent, "codex");
	assert_string_equal(role.network, "none");
	assert_string_equal(role.texts[ROLE_POST_CREATE], "[\"make\",\"a b\"]");
	assert_null(role.texts[ROLE_INITIALIZE]);
	assert_int_equal(role.command_count, 3);
	assert_int_equal(role.commands[0].event, ROLE_ON_CREATE);
	cleanup_free char *shell = strvec_join(&role.commands[0].argv, "|");
	assert_string_equal(shell, "/bin/sh|-c|echo ${HOME}");
	assert_int_equal(role.commands[1].event, ROLE_POST_CREATE);
	assert_string_equal(role.commands[1].argv.items[1], "a b");
	assert_int_equal(role.commands[2].event, ROLE_POST_START);
	assert_string_equal(role.commands[2].argv.items[2], "true");
}

static void a_workspace_has_a_usual_place(void **state UNUSED)
{
	static const char *const files[] = {
		"{\"image\": \"i\"}",
		"{\"image\": \"i\", \"workspaceFolder\": \"w\"}",
		"{\"image\": \"i\", \"workspaceFolder\": \"/w/../etc\"}",
		"{\"image\": \"i\", \"workspaceFolder\": \"/\"}",
		"{\"image\": \"i\", \"workspaceFolder\": \"/w//x\"}",
	};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_role struct role role = must_read(files[i], RIGHTS_STANDARD);
		assert_string_equal(role.workspace, "/workspaces/api");
		assert_int_equal(role.count, i > 0);
	}
}

static void the_rights_of_the_user_decide_what_may_be_asked(void **state UNUSED)
{
	static const char mounts[] = "{\"image\": \"x\", \"mounts\": "
				     "[\"type=bind,source=/a,target=/b\"]}";
	static const char capability[] = "{\"image\": \"x\", \"capAdd\": [\"cap_sys_ptrace\"]}";
	static const char network[] = "{\"image\": \"x\", \"runArgs\": [\"--network=backend\"]}";
	static const char docker[] = "{\"image\": \"x\", \"customizations\": "
				     "{\"agentdeck\": {\"docker\": \"rootless\"}}}";
	static const struct {
		const char *text;
		enum role_verdict verdicts[3]; /* locked, standard, open */
	} cases[] = {
		{ mounts, { ROLE_REFUSED, ROLE_ASKS, ROLE_ASKS } },
		{ capability, { ROLE_REFUSED, ROLE_REFUSED, ROLE_ASKS } },
		{ network, { ROLE_REFUSED, ROLE_REFUSED, ROLE_ASKS } },
		{ docker, { ROLE_REFUSED, ROLE_REFUSED, ROLE_ASKS } },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (unsigned rights = RIGHTS_LOCKED; rights <= RIGHTS_OPEN; rights++) {
			cleanup_role struct role role = must_read(cases[i].text,
								  (enum recipe_rights)rights);
			assert_int_equal(role.verdict, cases[i].verdicts[rights]);
		}
	cleanup_role struct role role = must_read(capability, RIGHTS_OPEN);
	assert_string_equal(role.cap_add.items[0], "SYS_PTRACE");
}

static void a_finding_has_its_line_and_the_name_that_was_meant(void **state UNUSED)
{
	cleanup_role struct role role = must_read("{\n\t\"image\": \"x\", // \"features\": 1\n\n"
						  "\t\"customizations\": {\n"
						  "\t\t\"agentdeck\": { \"networx\": \"none\" }\n"
						  "\t},\n\t\"runArgs\": [\"--init\",\n"
						  "\t\t\"--privileged\"],\n}\n",
						  RIGHTS_STANDARD);
	assert_int_equal(role.count, 2);
	assert_int_equal(role.findings[0].line, 8);
	assert_non_null(strstr(role.findings[0].text, "--privileged"));
	assert_int_equal(role.findings[1].line, 5);
	assert_string_equal(role.findings[1].text, "there is no such key: did you mean 'network'?");
}

static void questions_are_asked_after_those_that_they_depend_on(void **state UNUSED)
{
	static const char text[] =
		"{\"image\": \"x\", \"customizations\": {\"agentdeck\": {\"env\": {"
		"\"C\": {\"depends_on\": [\"B\", \"A\"]}, \"B\": {\"depends_on\": [\"A\"]}, "
		"\"A\": {}, \"D\": {}}}}}";
	cleanup_role struct role role = must_read(text, RIGHTS_STANDARD);
	cleanup_strbuf struct strbuf order = { 0 };
	for (size_t i = 0; i < role.question_count; i++)
		strbuf_adds(&order, role.questions[i].name);
	assert_string_equal(strbuf_text(&order), "ABCD");
}

static void what_is_no_json_is_refused_with_its_place(void **state UNUSED)
{
	static const struct {
		const char *text, *start;
	} cases[] = {
		{ "", "file:1:1: " },
		{ "[]", "file:1:1: it is no JSON object" },
		{ "{\n\t'image': 1}", "file:2:" },
		{ "{\n// never ends\n/* ", "file:3:" },
		{ "{\"a\": [,]}", "file:1:8: " },
		{ "{,}", "file:1:2: " },
		{ "{\"a\": 1,,}", "file:1:9: " },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct role role = { .memory = 5 };
		cleanup_error struct error err = { 0 };
		assert_int_equal(read_role(cases[i].text, RIGHTS_OPEN, &role, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
		if (!starts_with(err.message, cases[i].start))
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_true(role.memory == 5);
	}
}

/* A file that nobody can judge is not one that runs. */
static void a_flood_of_findings_is_refused(void **state UNUSED)
{
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_adds(&text, "{\"image\": \"x\"");
	for (int i = 0; i < 2 * ROLE_MAX_FINDINGS; i++)
		strbuf_addf(&text, ", \"key%d\": 1", i);
	strbuf_adds(&text, "}");
	cleanup_role struct role role = must_read(strbuf_text(&text), RIGHTS_OPEN);
	assert_int_equal(role.count, ROLE_MAX_FINDINGS);
	assert_int_equal(role.verdict, ROLE_REFUSED);
}

/* Each variable has the one before twice. */
static void variables_that_double_stay_small(void **state UNUSED)
{
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_adds(&text, "{\"image\": \"x\", \"containerEnv\": {\"A0\": \"0123456789\"");
	for (int i = 0; i < 40; i++)
		strbuf_addf(&text, ", \"A%d\": \"${containerEnv:A%d}${containerEnv:A%d}\"", i + 1,
			    i, i);
	strbuf_adds(&text, "}}");
	cleanup_role struct role role = must_read(strbuf_text(&text), RIGHTS_OPEN);
	for (size_t i = 0; i < role.environment.count; i++)
		assert_true(strlen(role.environment.items[i]) < 10000);
	assert_true(role.environment.count < 20);
}

static void places_that_command_this_machine_are_forbidden(void **state UNUSED)
{
	static const char *const forbidden[] = { "/",
						 "/run",
						 "/run/docker.sock",
						 "/dev",
						 "/proc/1/root",
						 "/sys",
						 "/var",
						 "/var/run/podman",
						 "/home/u/agent.sock" };
	static const char *const fine[] = { "/home/u", "/var/lib/x", "/running", "/devel" };
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++)
		assert_true(role_is_forbidden(forbidden[i]));
	for (size_t i = 0; i < ARRAY_SIZE(fine); i++)
		assert_false(role_is_forbidden(fine[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_runs_asks_or_is_refused_as_its_file_says),
		cmocka_unit_test(what_runs_is_read_as_it_is_written),
		cmocka_unit_test(a_workspace_has_a_usual_place),
		cmocka_unit_test(the_rights_of_the_user_decide_what_may_be_asked),
		cmocka_unit_test(a_finding_has_its_line_and_the_name_that_was_meant),
		cmocka_unit_test(questions_are_asked_after_those_that_they_depend_on),
		cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
		cmocka_unit_test(a_flood_of_findings_is_refused),
		cmocka_unit_test(variables_that_double_stay_small),
		cmocka_unit_test(places_that_command_this_machine_are_forbidden),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
