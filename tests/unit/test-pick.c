/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The picker: the meaning of an answer, and the question on a terminal with two agents installed.
 */
#include "unit/test.h"

#include "base/fsutil.h"
#include "cli/cmd/pick.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HUNG_S = 60 };

static const struct agent *agents[3];
static struct registry registry;

static int set_up(void **state UNUSED)
{
	if (registry_builtin(&registry, NULL) < 0)
		return -1;
	agents[0] = registry_find(&registry, "claude");
	agents[1] = registry_find(&registry, "kimi-code");
	agents[2] = registry_find(&registry, "shell");
	return agents[0] && agents[1] && agents[2] ? 0 : -1;
}

static int tear_down(void **state UNUSED)
{
	registry_free(&registry);
	return 0;
}

static enum pick_answer parse(const char *line, const struct agent **agent, struct strvec *command)
{
	*agent = NULL;
	return pick_parse(line, &(struct pick_offer){ &registry, agents, ARRAY_SIZE(agents) },
			  agent, command, NULL);
}

static void a_number_a_name_and_a_program_mean_an_agent(void **state UNUSED)
{
	static const struct {
		const char *line, *name;
	} table[] = {
		{ "1", "claude" },
		{ " 2 ", "kimi-code" },
		{ "3", "shell" },
		{ "claude", "claude" },
		/* By its program; and one that is not installed, for which there is a message. */
		{ "kimi", "kimi-code" },
		{ "bash", "shell" },
		{ "codex", "codex" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_strvec struct strvec command = { 0 };
		const struct agent *agent;
		if (parse(table[i].line, &agent, &command) != PICK_AGENT ||
		    !streq(agent->name, table[i].name))
			fail_msg("'%s' is no %s", table[i].line, table[i].name);
		assert_int_equal(command.count, 0);
	}
}

static void nothing_means_the_default(void **state UNUSED)
{
	const char *const lines[] = { "", "  ", "\t" };
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		cleanup_strvec struct strvec command = { 0 };
		const struct agent *agent;
		assert_int_equal(parse(lines[i], &agent, &command), PICK_DEFAULT);
	}
}

static void anything_else_is_a_command_in_words(void **state UNUSED)
{
	cleanup_strvec struct strvec command = { 0 };
	const struct agent *agent;
	assert_int_equal(parse("claude --model 'a b'", &agent, &command), PICK_COMMAND);
	assert_null(agent);
	assert_int_equal(command.count, 3);
	assert_string_equal(command.items[2], "a b");
	strvec_clear(&command);
	assert_int_equal(parse("/opt/own/agent", &agent, &command), PICK_COMMAND);
	assert_string_equal(command.items[0], "/opt/own/agent");
}

static void an_answer_without_a_meaning_is_told(void **state UNUSED)
{
	static const struct {
		const char *line, *why;
	} table[] = { { "4", "no number 4" },
		      { "0", "no number 0" },
		      { "99999999999999999999", "no number" },
		      { "a 'b", "not closed" },
		      { "a | b", "shell" } };
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_strvec struct strvec command = { 0 };
		cleanup_error struct error err = { 0 };
		const struct agent *agent = NULL;
		assert_int_equal(
			pick_parse(table[i].line,
				   &(struct pick_offer){ &registry, agents, ARRAY_SIZE(agents) },
				   &agent, &command, &err),
			PICK_NONE);
		if (!err.message || !strstr(err.message, table[i].why))
			fail_msg("'%s': \"%s\" does not say \"%s\"", table[i].line,
				 or_empty(err.message), table[i].why);
		assert_int_equal(command.count, 0);
	}
}

/* --- the question ---------------------------------------------------------------------------- */

struct scene {
	char root[64];
	const char *directory; /* of the order */
	struct app app;
};

static void install(const struct scene *scene, const char *name)
{
	cleanup_free char *path = path_join(scene->root, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	(void)close(fd);
}

static int set_scene(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	(void)snprintf(scene->root, sizeof(scene->root), "/tmp/agentdeck-pick-XXXXXX");
	if (!mkdtemp(scene->root) || registry_builtin(&scene->app.deck.registry, NULL) < 0)
		return -1;
	scene->app.deck.registry_complete = true;
	scene->directory = scene->root;
	install(scene, "codex");
	install(scene, "own");
	install(scene, "agentdeck-demo-agent");
	setenv("PATH", scene->root, 1);
	*state = scene;
	return 0;
}

static int clear_scene(void **state)
{
	struct scene *scene = *state;
	int r = fs_remove_tree(AT_FDCWD, scene->root, NULL);
	registry_free(&scene->app.deck.registry);
	free(scene->app.deck.settings.default_agent);
	free(scene);
	return r;
}

enum { SAID_DEFAULT = 10, SAID_AGENT, SAID_COMMAND, SAID_ERROR, SAID_NOTHING };

static _Noreturn void be_asked(struct scene *scene, int input, int output)
{
	struct new_order order = { .session.directory = scene->directory };
	alarm(HUNG_S);
	if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
		_exit(100);
	int r = pick_ask(&scene->app, &order, NULL);
	(void)fflush(stdout);
	if (r != 0)
		_exit(r < 0 ? SAID_ERROR : r == PICK_CANCELLED ? SAID_NOTHING : 103);
	if (order.session.agent)
		_exit(streq(order.session.agent, "codex") ? SAID_AGENT : 101);
	if (order.command.count)
		_exit(streq(order.command.items[0], "own") && order.command.count == 2
			      ? SAID_COMMAND
			      : 102);
	_exit(SAID_DEFAULT);
}

/* Read until the end of the question, when the keys have their meaning. */
static void read_question(int fd, struct strbuf *ret)
{
	char c;
	while (!ends_with(strbuf_text(ret), "\n> ") && read(fd, &c, 1) == 1)
		strbuf_add(ret, &c, 1);
}

/* Read all output until the other end is closed. */
static void read_all(int fd, struct strbuf *ret)
{
	char buffer[4096];
	for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;)
		strbuf_add(ret, buffer, (size_t)n);
}

/* Type the line when the question is shown; returns the exit status of be_asked(). */
static int ask(struct scene *scene, const char *typed, struct strbuf *ret_shown)
{
	int status, master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal >= 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_asked(scene, terminal, terminal);
	(void)close(terminal);
	read_question(master, ret_shown);
	assert_int_equal(write(master, typed, strlen(typed)), strlen(typed));
	read_all(master, ret_shown);
	(void)close(master);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void it_asks_for_what_is_installed_and_takes_the_answer(void **state)
{
	struct scene *scene = *state;
	cleanup_strbuf struct strbuf shown = { 0 };
	assert_int_equal(ask(scene, "1\n", &shown), SAID_AGENT);
	assert_non_null(strstr(shown.data, "1  codex"));
	assert_non_null(strstr(shown.data, "2  demo"));
	assert_non_null(strstr(shown.data, "3  shell"));
	assert_non_null(strstr(shown.data, "Enter alone chooses codex; q cancels"));
	assert_null(strstr(shown.data, "claude"));
	assert_int_equal(ask(scene, "own thing\n", &shown), SAID_COMMAND);
	assert_int_equal(ask(scene, "\n", &shown), SAID_DEFAULT);
}

static void it_asks_again_after_an_answer_without_a_meaning(void **state)
{
	struct scene *scene = *state;
	cleanup_strbuf struct strbuf shown = { 0 };
	assert_int_equal(ask(scene, "17\ncodex\n", &shown), SAID_AGENT);
	assert_non_null(strstr(shown.data, "the list has no number 17"));
}

static void it_asks_again_for_a_program_that_is_not_here(void **state)
{
	struct scene *scene = *state;
	cleanup_strbuf struct strbuf shown = { 0 };
	assert_int_equal(ask(scene,
			     "codx -m x\nclaude\n"
			     "own thing\n",
			     &shown),
			 SAID_COMMAND);
	assert_non_null(
		strstr(shown.data, "there is no program 'codx' in PATH; did you mean 'codex'?"));
	assert_non_null(strstr(shown.data, "there is no program 'claude' in PATH\r\n"));
}

/* The terminal may show what is typed, but not the end of the input. */
static void it_asks_nothing_for_a_directory_that_is_not_there(void **state)
{
	struct scene *scene = *state;
	cleanup_strbuf struct strbuf shown = { 0 };
	cleanup_free char *gone = path_join(scene->root, "gone");
	scene->directory = gone;
	assert_int_equal(ask(scene, "\004", &shown), SAID_ERROR);
	assert_string_equal(strbuf_text(&shown), "");
}

/* q, Escape, an arrow key, Ctrl-C, Ctrl-D. */
static void a_key_that_cancels_makes_nothing(void **state)
{
	static const char *const keys[] = { "q\n",     " q \n", "\033",    "\033[A",
					    "cod\033", "\003",  "cod\003", "\004" };
	struct scene *scene = *state;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		cleanup_strbuf struct strbuf shown = { 0 };
		assert_int_equal(ask(scene, keys[i], &shown), SAID_NOTHING);
	}
}

static void a_stand_in_is_never_the_default(void **state)
{
	struct scene *scene = *state;
	cleanup_strbuf struct strbuf shown = { 0 };
	cleanup_free char *path = path_join(scene->root, "codex");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ask(scene, "\nq\n", &shown), SAID_NOTHING);
	assert_non_null(strstr(shown.data, "1  demo"));
	assert_null(strstr(shown.data, "Enter"));
	assert_non_null(strstr(shown.data, "type a number or a name"));
}

static void nobody_is_asked_who_has_said_it(void **state)
{
	struct scene *scene = *state;
	cleanup_strbuf struct strbuf shown = { 0 };
	scene->app.json = true;
	assert_int_equal(ask(scene, "1\n", &shown), SAID_DEFAULT);
	scene->app.json = false;
	scene->app.deck.settings.default_agent = xstrdup("demo");
	assert_int_equal(ask(scene, "1\n", &shown), SAID_DEFAULT);
	assert_null(strstr(strbuf_text(&shown), "Which"));
}

static void a_script_is_not_asked(void **state)
{
	struct scene *scene = *state;
	cleanup_strbuf struct strbuf shown = { 0 };
	int out[2], status, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0 && null >= 0);
	if (pid == 0)
		be_asked(scene, null, out[1]);
	(void)close(out[1]);
	read_all(out[0], &shown);
	(void)close(out[0]);
	(void)close(null);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), SAID_DEFAULT);
	assert_int_equal(shown.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_a_name_and_a_program_mean_an_agent),
		cmocka_unit_test(nothing_means_the_default),
		cmocka_unit_test(anything_else_is_a_command_in_words),
		cmocka_unit_test(an_answer_without_a_meaning_is_told),
		cmocka_unit_test_setup_teardown(it_asks_for_what_is_installed_and_takes_the_answer,
						set_scene, clear_scene),
		cmocka_unit_test_setup_teardown(it_asks_again_after_an_answer_without_a_meaning,
						set_scene, clear_scene),
		cmocka_unit_test_setup_teardown(it_asks_again_for_a_program_that_is_not_here,
						set_scene, clear_scene),
		cmocka_unit_test_setup_teardown(it_asks_nothing_for_a_directory_that_is_not_there,
						set_scene, clear_scene),
		cmocka_unit_test_setup_teardown(a_key_that_cancels_makes_nothing, set_scene,
						clear_scene),
		cmocka_unit_test_setup_teardown(a_stand_in_is_never_the_default, set_scene,
						clear_scene),
		cmocka_unit_test_setup_teardown(nobody_is_asked_who_has_said_it, set_scene,
						clear_scene),
		cmocka_unit_test_setup_teardown(a_script_is_not_asked, set_scene, clear_scene),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
