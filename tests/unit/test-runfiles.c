/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/report-fixture.h"

#include "base/argsplit.h"
#include "base/child.h"
#include "base/toml.h"
#include "engine/environment.h"
#include "model/resume.h"

#include <sys/stat.h>

enum { PATIENCE_MS = 30000 };

#define PLACED "HOOKED_SETTINGS"

static const char by_flag[] = "command = ['flagged']\n"
			      "[report]\narguments = ['--settings', '{settings}']\nevents = ['Start', 'Stop']\n"
			      "settings = '{\"keep\": {\"for_ever\": true}, \"hooks\": {\"Start\": [{\"hooks\": []}]}}'\n";
static const char by_variable[] = "command = ['placed']\n"
				  "[report]\nenvironment = ['" PLACED "={settings}']\nevents = ['Start']\n"
				  "settings = '{\"keep\": {\"for_ever\": true}}'\n";
static const char by_hook[] = "command = ['notifier']\n"
			      "[report]\narguments = ['-c', 'notify={hook}']\nturn = ['done']\n";

/* The file that is written for an instance with these words behind its command; NULL: none is. */
static struct json_object *write_for(struct desk *desk, const struct agent *agent, const char *const *words)
{
	cleanup_instance struct instance *instance = desk_instance(desk, agent);
	struct error err = { 0 };
	struct json_object *object;
	cleanup_strbuf struct strbuf text = { 0 };
	strvec_push_array(&instance->argv, words);
	if (runfiles_write(&desk->deck, instance, agent, &err) < 0)
		fail_msg("%s", err.message);
	cleanup_free char *path = runfiles_settings(instance);
	if (!path)
		return NULL;
	assert_int_equal(fs_read(AT_FDCWD, path, 1 << 20, &text, NULL), 0);
	assert_int_equal(json_parse(text.data, text.length, path, &object, NULL), 0);
	return object;
}
#define WRITE_FOR(desk, agent, ...) \
	write_for(desk, agent, (const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static char *put(const struct desk *desk, const char *name, const char *text)
{
	char *path = path_join(desk->root, name);
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
	return path;
}

static bool keeps(struct json_object *settings)
{
	return json_get_bool(json_get_object(settings, "keep"), "for_ever", false);
}

/* How many hooks there are for an event, and the command of the last. */
static size_t hooks_for(struct json_object *settings, const char *event, const char **ret_command)
{
	struct json_object *list = json_get_array(json_get_object(settings, "hooks"), event);
	size_t count = list ? json_object_array_length(list) : 0;
	if (count) {
		struct json_object *last = json_object_array_get_idx(list, count - 1);
		struct json_object *hook =
			json_object_array_get_idx(json_get_array(last, "hooks"), 0);
		*ret_command = json_get_string(hook, "command", "");
	}
	return count;
}

static void the_file_holds_what_the_entry_wants_and_its_hooks(void **state)
{
	struct desk *desk = *state;
	const char *command = "";
	replace_string(&desk->deck.program, "/opt/it's \"ours\" $HOME/agentdeck");
	cleanup_json struct json_object *settings =
		WRITE_FOR(desk, desk_agent(desk, "flagged", by_flag));
	assert_true(keeps(settings));
	assert_int_equal(hooks_for(settings, "Start", &command), 2);
	assert_int_equal(hooks_for(settings, "Stop", &command), 1);
	cleanup_strvec struct strvec words = { 0 };
	assert_int_equal(argsplit(command, &words, NULL), 0);
	const struct strvec expected = {
		.items = (char *[]){ desk->deck.program, (char *)"hook", (char *)"--instance", (char *)ID, NULL },
		.count = 4,
	};
	assert_true(strvec_equal(&words, &expected));
}

static void the_user_s_own_settings_stay(void **state)
{
	struct desk *desk = *state;
	const struct agent *agent = desk_agent(desk, "flagged", by_flag);
	const char *command = "";
	static const char own[] = "{\"model\":\"x\",\"keep\":{\"other\":1},\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}";
	cleanup_free char *path = put(desk, "project/own.json", own);
	const char *const forms[][3] = {
		{ "--settings", path }, { "--settings", own }, { "--settings", "own.json" },
		{ "--settings=own.json" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		cleanup_json struct json_object *settings = write_for(desk, agent, forms[i]);
		assert_string_equal(json_get_string(settings, "model", ""), "x");
		assert_int_equal(json_get_int(json_get_object(settings, "keep"), "other", 0), 1);
		assert_true(keeps(settings));
		assert_int_equal(hooks_for(settings, "Stop", &command), 2);
	}
	cleanup_strbuf struct strbuf now = { 0 };
	assert_int_equal(fs_read(AT_FDCWD, path, 1000, &now, NULL), 0);
	assert_string_equal(now.data, own);
}

static void settings_that_cannot_be_read_are_left_alone(void **state)
{
	struct desk *desk = *state;
	const struct agent *agent = desk_agent(desk, "flagged", by_flag);
	static const char *const values[] = { "/no/such/file", "{", "[]", "{\"a\":1} x" };
	cleanup_free char *broken = put(desk, "broken.json", "{ // a remark\n}");
	for (size_t i = 0; i <= ARRAY_SIZE(values); i++) {
		const char *value = i < ARRAY_SIZE(values) ? values[i] : broken;
		strvec_clear(&desk->deck.warnings);
		assert_null(WRITE_FOR(desk, agent, "--settings", value));
		assert_int_equal(desk->deck.warnings.count, 1);
	}
}

static void the_place_may_be_told_in_a_variable(void **state)
{
	struct desk *desk = *state;
	const struct agent *agent = desk_agent(desk, "placed", by_variable);
	const char *command = "";
	unsetenv(PLACED);
	cleanup_json struct json_object *alone = WRITE_FOR(desk, agent);
	assert_true(keeps(alone));
	assert_int_equal(hooks_for(alone, "Start", &command), 1);
	cleanup_free char *own = put(desk, "settings.json", "{\"own\":1}");
	setenv(PLACED, own, 1);
	cleanup_json struct json_object *with = WRITE_FOR(desk, agent);
	assert_int_equal(json_get_int(with, "own", 0), 1);
	assert_true(keeps(with));
	setenv(PLACED, "/no/such/file", 1);
	cleanup_json struct json_object *without = WRITE_FOR(desk, agent);
	assert_true(keeps(without));
	assert_int_equal(desk->deck.warnings.count, 0);
	unsetenv(PLACED);
}

/* A session that is started from inside another one of the same agent. */
static void the_variable_of_another_run_is_not_the_user_s(void **state)
{
	struct desk *desk = *state;
	const struct agent *agent = desk_agent(desk, "placed", by_variable);
	const char *command = "";
	cleanup_free char *other = put(desk, "settings.json", "{\"own\":1,\"hooks\":{\"Start\":[{\"hooks\":[]}]}}");
	free(put(desk, RUN_TOKEN, OLD));
	setenv(PLACED, other, 1);
	cleanup_json struct json_object *settings = WRITE_FOR(desk, agent);
	assert_int_equal(json_get_int(settings, "own", 0), 0);
	assert_int_equal(hooks_for(settings, "Start", &command), 1);
	unsetenv(PLACED);
}

/* A program in a directory with everything in its name that a shell, JSON or TOML would read; it says what it
 * is called with. */
static void put_program(struct desk *desk)
{
	cleanup_free char *directory = path_join(desk->root, "it's \"ours\" $HOME `x` \\n [a],{b};& \xc3\xbc\t~");
	assert_int_equal(mkdir(directory, 0700), 0);
	free(desk->deck.program);
	desk->deck.program = path_join(directory, "agentdeck");
	int fd = open(desk->deck.program, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	static const char text[] = "#!/bin/sh\necho \"$*\"\n";
	assert_int_equal(fs_write_all(fd, text, strlen(text), "program", NULL), 0);
	(void)close(fd);
}

/* As agents run a hook. */
static void assert_shell_says(const char *command, const char *wanted)
{
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = { .argv = (const char *const[]){ "/bin/sh", "-c", command, NULL } };
	assert_int_equal(child_run(&request, PATIENCE_MS, &result, NULL), 0);
	if (!streq(strbuf_text(&result.output), wanted))
		fail_msg("%s: \"%s\", %s", command, strbuf_text(&result.output), strbuf_text(&result.errors));
}

static void a_shell_finds_our_program_whatever_its_path(void **state)
{
	struct desk *desk = *state;
	const char *command = "";
	put_program(desk);
	cleanup_json struct json_object *settings = WRITE_FOR(desk, desk_agent(desk, "flagged", by_flag));
	assert_int_equal(hooks_for(settings, "Stop", &command), 1);
	assert_shell_says(command, "hook --instance " ID "\n");
}

/* Every built-in entry that hands the command over among its arguments: as TOML, which JSON is, too. */
static void a_shell_finds_our_program_by_an_agent_s_arguments(void **state)
{
	struct desk *desk = *state;
	cleanup_registry struct registry registry = { 0 };
	size_t seen = 0;
	put_program(desk);
	cleanup_free char *hook = environment_hook(&desk->deck);
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	for (size_t i = 0; i < registry.count; i++) {
		const struct strvec *words = &registry.agents[i]->report;
		for (size_t j = 0; j < words->count; j++) {
			cleanup_strvec struct strvec template = { 0 }, word = { 0 };
			cleanup_json struct json_object *root = NULL;
			if (!strstr(words->items[j], "{hook_command}"))
				continue;
			strvec_push(&template, words->items[j]);
			resume_expand(&template, &(const struct resume_slots){ .hook = hook }, &word);
			assert_int_equal(toml_parse(word.items[0], strlen(word.items[0]), "-c", &root, NULL), 0);
			const char *command = NULL;
			json_object_object_foreach(json_get_object(root, "hooks"), event, list) {
				struct json_object *group = json_object_array_get_idx(list, 0);
				assert_true(strvec_contains(&registry.agents[i]->report_events, event));
				command = json_get_string(json_object_array_get_idx(json_get_array(group, "hooks"), 0),
							  "command", NULL);
			}
			assert_non_null(command);
			assert_shell_says(command, "hook\n");
			seen++;
		}
	}
	assert_true(seen > 0);
}

static void no_file_is_written_that_nobody_reads(void **state)
{
	struct desk *desk = *state;
	assert_null(WRITE_FOR(desk, desk_agent(desk, "notifier", by_hook), "--settings", "{"));
	assert_int_equal(desk->deck.warnings.count, 0);
}

static void every_run_has_a_token_of_its_own(void **state)
{
	struct desk *desk = *state;
	const struct agent *agent = desk_agent(desk, "notifier", by_hook);
	cleanup_instance struct instance *instance = desk_instance(desk, agent);
	assert_null(WRITE_FOR(desk, agent));
	cleanup_free char *first = runfiles_token(instance);
	assert_null(WRITE_FOR(desk, agent));
	cleanup_free char *second = runfiles_token(instance);
	assert_string_not_equal(first, second);
}

static void what_an_agent_does_is_read_as_it_was_written(void **state)
{
	struct desk *desk = *state;
	struct activity written = { .activity = ACTIVITY_WAITING, .since = INT64_C(1776157681000000), .prompts = 3,
				    .event = (char *)"Notification", .cwd = (char *)"/\xff" };
	cleanup_activity struct activity now = { 0 };
	activity_read(desk->root, &now);
	assert_int_equal(now.activity, ACTIVITY_UNKNOWN);
	assert_int_equal(activity_write(desk->root, &written, NULL), 0);
	activity_read(desk->root, &now);
	assert_int_equal(now.activity, ACTIVITY_WAITING);
	assert_true(now.since == written.since && now.prompts == 3);
	assert_string_equal(now.event, "Notification");
	assert_string_equal(now.cwd, "/\xff");
}

static void what_a_link_leads_to_is_not_cleared(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *place = path_join(desk->root, "place"), *run = path_join(place, "run");
	cleanup_free char *link = path_join(desk->root, "link"), *through = path_join(link, "run");
	assert_true(mkdir(place, 0700) == 0 && mkdir(run, 0700) == 0 && symlink(place, link) == 0);
	free(put(desk, "place/run/file", "kept\n"));
	assert_int_equal(runfiles_remove(through, NULL), 0);
	assert_int_equal(access(run, F_OK), 0);
	assert_int_equal(runfiles_remove(run, NULL), 0);
	assert_int_equal(access(run, F_OK), -1);
	assert_int_equal(access(place, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(the_file_holds_what_the_entry_wants_and_its_hooks),
		DESK_TEST(the_user_s_own_settings_stay),
		DESK_TEST(settings_that_cannot_be_read_are_left_alone),
		DESK_TEST(the_place_may_be_told_in_a_variable),
		DESK_TEST(the_variable_of_another_run_is_not_the_user_s),
		DESK_TEST(a_shell_finds_our_program_whatever_its_path),
		DESK_TEST(a_shell_finds_our_program_by_an_agent_s_arguments),
		DESK_TEST(no_file_is_written_that_nobody_reads),
		DESK_TEST(every_run_has_a_token_of_its_own),
		DESK_TEST(what_an_agent_does_is_read_as_it_was_written),
		DESK_TEST(what_a_link_leads_to_is_not_cleared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
