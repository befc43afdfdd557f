/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/report-fixture.h"

#include "base/argsplit.h"
#include "base/child.h"
#include "base/toml.h"
#include "engine/place/environment.h"
#include "model/plan/resume.h"

#include <sys/resource.h>
#include <sys/stat.h>

enum { PATIENCE_MS = 30000 };

#define PLACED "HOOKED_SETTINGS"

static const char by_flag[] =
	"command = ['flagged']\n"
	"[report]\narguments = ['--settings', '{settings}']\nevents = ['Start', 'Stop']\n"
	"settings = '{\"keep\": {\"for_ever\": true}, \"hooks\": {\"Start\": [{\"hooks\": []}]}}'\n";
static const char by_variable[] = "command = ['placed']\n"
				  "[report]\nenvironment = ['" PLACED
				  "={settings}']\nevents = ['Start']\n"
				  "settings = '{\"keep\": {\"for_ever\": true}}'\n";
static const char by_hook[] = "command = ['notifier']\n"
			      "[report]\narguments = ['-c', 'notify={hook}']\nturn = ['done']\n";

/* The file that is written for an instance with these words after its command; NULL: none is
 * written. */
static struct json_object *write_for(struct desk *desk, const struct agent *agent,
				     const char *const *words)
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

/* The number of hooks for an event, and the command of the last one. */
static size_t hooks_for(struct json_object *settings, const char *event, const char **ret_command)
{
	struct json_object *list = json_get_array(json_get_object(settings, "hooks"), event);
	size_t count = list ? json_object_array_length(list) : 0;
	if (count) {
		struct json_object *last = json_object_array_get_idx(list, count - 1);
		struct json_object *hook = json_object_array_get_idx(json_get_array(last, "hooks"),
								     0);
		*ret_command = json_get_string(hook, "command", "");
	}
	return count;
}

static void the_file_holds_what_the_entry_wants_and_its_hooks(void **state)
{
	struct desk *desk = *state;
	const char *command = "";
	replace_string(&desk->deck.program, "/opt/it's \"ours\" $HOME/agentdeck");
	cleanup_json struct json_object *settings = WRITE_FOR(desk,
							      desk_agent(desk, "flagged", by_flag));
	assert_true(keeps(settings));
	assert_int_equal(hooks_for(settings, "Start", &command), 2);
	assert_int_equal(hooks_for(settings, "Stop", &command), 1);
	cleanup_strvec struct strvec words = { 0 };
	assert_int_equal(argsplit(command, &words, NULL), 0);
	const struct strvec expected = {
		.items = (char *[]){ desk->deck.program, (char *)"hook", (char *)"--instance",
				     (char *)ID, NULL },
		.count = 4,
	};
	assert_true(strvec_equal(&words, &expected));
}

static void the_user_s_own_settings_stay(void **state)
{
	struct desk *desk = *state;
	const struct agent *agent = desk_agent(desk, "flagged", by_flag);
	const char *command = "";
	static const char own[] =
		"{\"model\":\"x\",\"keep\":{\"other\":1},\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}";
	cleanup_free char *path = put(desk, "project/own.json", own);
	const char *const forms[][3] = {
		{ "--settings", path },
		{ "--settings", own },
		{ "--settings", "own.json" },
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
	cleanup_free char *other = put(desk, "settings.json",
				       "{\"own\":1,\"hooks\":{\"Start\":[{\"hooks\":[]}]}}");
	free(put(desk, RUN_TOKEN, OLD));
	setenv(PLACED, other, 1);
	cleanup_json struct json_object *settings = WRITE_FOR(desk, agent);
	assert_int_equal(json_get_int(settings, "own", 0), 0);
	assert_int_equal(hooks_for(settings, "Start", &command), 1);
	unsetenv(PLACED);
}

/* A program in a directory whose name has every character that is special to a shell, JSON or TOML.
 * It prints its arguments. */
static void put_program(struct desk *desk)
{
	cleanup_free char *directory = path_join(
		desk->root, "it's \"ours\" $HOME `x` \\n [a],{b};& \xc3\xbc\t~");
	assert_int_equal(mkdir(directory, 0700), 0);
	free(desk->deck.program);
	desk->deck.program = path_join(directory, "agentdeck");
	int fd = open(desk->deck.program, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	static const char text[] = "#!/bin/sh\necho \"$*\"\n";
	assert_int_equal(fs_write_all(fd, text, strlen(text), "program", NULL), 0);
	(void)close(fd);
}

/* Run it as agents run a hook. */
static void assert_shell_says(const char *command, const char *wanted)
{
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = { .argv = (const char *const[]){ "/bin/sh", "-c",
									      command, NULL } };
	assert_int_equal(child_run(&request, PATIENCE_MS, &result, NULL), 0);
	if (!streq(strbuf_text(&result.output), wanted))
		fail_msg("%s: \"%s\", %s", command, strbuf_text(&result.output),
			 strbuf_text(&result.errors));
}

static void a_shell_finds_our_program_whatever_its_path(void **state)
{
	struct desk *desk = *state;
	const char *command = "";
	put_program(desk);
	cleanup_json struct json_object *settings = WRITE_FOR(desk,
							      desk_agent(desk, "flagged", by_flag));
	assert_int_equal(hooks_for(settings, "Stop", &command), 1);
	assert_shell_says(command, "hook --instance " ID "\n");
}

/* Every built-in entry that has the command among its arguments, as TOML, of which JSON strings are
 * a part. */
static void a_shell_finds_our_program_by_an_agent_s_arguments(void **state)
{
	struct desk *desk = *state;
	cleanup_registry struct registry registry = { 0 };
	size_t seen = 0;
	put_program(desk);
	cleanup_instance struct instance *instance = instance_new();
	cleanup_free char *hook = environment_hook(&desk->deck, instance);
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	for (size_t i = 0; i < registry.count; i++) {
		const struct strvec *words = &registry.agents[i]->report;
		for (size_t j = 0; j < words->count; j++) {
			cleanup_strvec struct strvec template = { 0 }, word = { 0 };
			cleanup_json struct json_object *root = NULL;
			if (!strstr(words->items[j], "{hook_command}"))
				continue;
			strvec_push(&template, words->items[j]);
			resume_expand(&template, &(const struct resume_slots){ .hook = hook },
				      &word);
			assert_int_equal(toml_parse(word.items[0], strlen(word.items[0]), "-c",
						    &root, NULL),
					 0);
			const char *command = NULL;
			json_object_object_foreach(json_get_object(root, "hooks"), event, list) {
				struct json_object *group = json_object_array_get_idx(list, 0);
				assert_true(
					strvec_contains(&registry.agents[i]->report_events, event));
				command = json_get_string(
					json_object_array_get_idx(json_get_array(group, "hooks"),
								  0),
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

#define RUN_ID "11111111-2222-4333-8444-555555555555"

/* A run directory of the session 0123abcd with these files, "<root>/<parent>/0123abcd".  The caller
 * frees. */
static char *make_run(struct desk *desk, const char *parent, const char *const *files)
{
	cleanup_free char *above = path_join(desk->root, parent);
	char *run = path_join(above, "0123abcd");
	assert_true(mkdir(above, 0700) == 0 || errno == EEXIST);
	assert_int_equal(mkdir(run, 0700), 0);
	for (size_t i = 0; files[i]; i += 2) {
		cleanup_free char *name = xasprintf("%s/0123abcd/%s", parent, files[i]);
		free(put(desk, name, files[i + 1]));
	}
	return run;
}

static void what_a_link_leads_to_is_not_cleared(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *run = make_run(desk, "run",
					  (const char *const[]){ RUN_MARK, RUN_ID, NULL });
	cleanup_free char *place = path_join(desk->root, "run"),
			  *link = path_join(desk->root, "agentdeck");
	cleanup_free char *through = path_join(link, "0123abcd");
	assert_int_equal(symlink(place, link), 0);
	assert_int_equal(runfiles_remove("0123abcd", through, RUN_ID, NULL), 0);
	assert_int_equal(access(run, F_OK), 0);
	assert_int_equal(runfiles_remove("0123abcd", run, RUN_ID, NULL), 0);
	assert_int_equal(access(run, F_OK), -1);
	assert_int_equal(access(place, F_OK), 0);
}

static void only_a_marked_directory_of_the_run_is_removed(void **state)
{
	struct desk *desk = *state;
	static const char *const marked[] = { RUN_MARK, RUN_ID, "file", "kept\n", NULL };
	static const char *const other[] = { RUN_MARK, "another", RUN_TOKEN, RUN_ID, NULL };
	static const char *const bare[] = { "file", "kept\n", NULL };
	static const struct {
		const char *parent, *const *files;
		int expected;
	} cases[] = {
		{ "projects", marked, RUNFILES_KEPT },   /* not by its name */
		{ "agentdeck", bare, RUNFILES_KEPT },    /* without a mark */
		{ "agentdeck-0", other, RUNFILES_KEPT }, /* of another run */
		{ "run", marked, 0 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *run = make_run(desk, cases[i].parent, cases[i].files);
		cleanup_free char *file = path_join(run, cases[i].files[0]);
		assert_int_equal(runfiles_remove("0123abcd", run, RUN_ID, NULL), cases[i].expected);
		assert_int_equal(access(file, F_OK), cases[i].expected ? 0 : -1);
		assert_int_equal(runfiles_remove("xxxxxxxx", run, RUN_ID, NULL), RUNFILES_KEPT);
	}
	/* A run of an earlier version has a token and no mark. */
	cleanup_free char *old = make_run(desk, "agentdeck-1",
					  (const char *const[]){ RUN_TOKEN, RUN_ID, NULL });
	assert_int_equal(runfiles_remove("0123abcd", old, RUN_ID, NULL), 0);
	assert_int_equal(access(old, F_OK), -1);
}

static void what_a_killed_start_leaves_goes_unless_it_lives(void **state)
{
	static const char live[] = "11111111-2222-4333-8444-777777777777",
			  dead[] = "11111111-2222-4333-8444-666666666666";
	struct desk *desk = *state;
	struct child child;
	const struct child_request request = {
		.argv = (const char *const[]){ "sleep", "60", NULL },
		.environment = (char *[]){ (char *)"PATH=/usr/bin:/bin",
					   (char *)ENV_RUN "=11111111-2222-4333-8444-777777777777",
					   NULL },
	};
	assert_int_equal(child_start(&request, &child, NULL), 0);
	cleanup_free char *begun = make_run(
		desk, "run", (const char *const[]){ FS_TEMPORARY_PREFIX "0", "x", NULL });
	cleanup_free char *unsaved = make_run(desk, "agentdeck",
					      (const char *const[]){ RUN_MARK, dead, NULL });
	cleanup_free char *living = make_run(desk, "agentdeck-1",
					     (const char *const[]){ RUN_MARK, live, NULL });
	/* Until the child has become its program, it has our environment. */
	for (size_t count = 0; count == 0;) {
		cleanup_free struct process_id *found = NULL;
		assert_int_equal(
			process_find_by_environment(ENV_RUN "=11111111-2222-4333-8444-777777777777",
						    &found, &count, NULL),
			0);
	}
	assert_int_equal(runfiles_remove("0123abcd", begun, RUN_ID, NULL), 0);
	assert_int_equal(runfiles_remove("0123abcd", unsaved, RUN_ID, NULL), 0);
	assert_int_equal(runfiles_remove("0123abcd", living, RUN_ID, NULL), RUNFILES_KEPT);
	child_abandon(&child);
}

/* The limit leaves descriptors for the parent and the directory, but not for the mark. */
static void a_mark_that_cannot_be_read_is_an_error(void **state)
{
	struct desk *desk = *state;
	cleanup_error struct error error = { 0 };
	cleanup_free char *run = make_run(desk, "run",
					  (const char *const[]){ RUN_MARK, RUN_ID, NULL });
	cleanup_free char *mark = path_join(run, RUN_MARK);
	struct rlimit before, low;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	int next = dup(STDIN_FILENO);
	assert_true(next >= 0);
	close(next);
	low = (struct rlimit){ .rlim_cur = (rlim_t)next + 2, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	int r = runfiles_remove("0123abcd", run, RUN_ID, &error);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(r, -1);
	assert_int_equal(error.os_errno, EMFILE);
	assert_non_null(strstr(error.message, run));
	assert_int_equal(access(mark, F_OK), 0);
	assert_int_equal(runfiles_remove("0123abcd", run, RUN_ID, NULL), 0);
	assert_int_equal(access(run, F_OK), -1);
}

static void a_directory_in_a_run_s_directory_stays(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *run = make_run(desk, "run",
					  (const char *const[]){ RUN_MARK, RUN_ID, NULL });
	cleanup_free char *inside = path_join(run, "tree");
	assert_int_equal(mkdir(inside, 0700), 0);
	free(put(desk, "run/0123abcd/tree/file", "kept\n"));
	assert_int_equal(runfiles_remove("0123abcd", run, RUN_ID, NULL), RUNFILES_KEPT);
	cleanup_free char *file = path_join(inside, "file");
	assert_int_equal(access(file, F_OK), 0);
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
		DESK_TEST(what_a_link_leads_to_is_not_cleared),
		DESK_TEST(only_a_marked_directory_of_the_run_is_removed),
		DESK_TEST(what_a_killed_start_leaves_goes_unless_it_lives),
		DESK_TEST(a_directory_in_a_run_s_directory_stays),
		DESK_TEST(a_mark_that_cannot_be_read_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
