/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The demo agent, driven as its users and its supervisor do: the real program in a real terminal.
 * The program is $AGENTDECK_DEMO_AGENT, else ./agentdeck-demo-agent.
 */
#include "unit/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "demo/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <utmp.h>

#define ID_1 "11111111-1111-4111-8111-111111111111"
#define ID_2 "22222222-2222-4222-8222-222222222222"
#define ID_3 "33333333-3333-4333-8333-333333333333"

enum { PATIENCE_MS = 30000 };

static char scratch[] = "/tmp/test-demo-XXXXXX";
static char *program;
static const char *const variables[] = {
	"AGENTDECK_DEMO_DELAY_MS",       "AGENTDECK_DEMO_IDLE_MS",
	"AGENTDECK_DEMO_RUN_MS",         "AGENTDECK_DEMO_EXIT_AT_START",
	"AGENTDECK_DEMO_START_DELAY_MS", "AGENTDECK_DEMO_NO_REPORT",
	"AGENTDECK_DEMO_IGNORE_SIGNALS", "AGENTDECK_DEMO_LEAVE_CHILD",
	"AGENTDECK_DEMO_LATE_TURNS",     "AGENTDECK_DEMO_FORK_AS_PARENT",
	"AGENTDECK_DEMO_IDLE_KIND",      "AGENTDECK_DEMO_OWN_DIRECTORY",
	"CLAUDE_CODE_CHILD_SESSION",     "CLAUDE_CODE_FORCE_SESSION_PERSISTENCE",
};

static char *in_scratch(const char *name)
{
	return path_join(scratch, name);
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	cleanup_free char *path = in_scratch(name);
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
}

/* A hook that writes each event it gets on a line of "events". */
static void write_settings(void)
{
	cleanup_free char *hook = xasprintf("#!/bin/sh\n{ cat; echo; } >> '%s/events'\n", scratch);
	cleanup_strbuf struct strbuf settings = { 0 };
	static const char *const events[] = { "SessionStart", "UserPromptSubmit", "Stop",
					      "SessionEnd", "Notification" };
	write_file("hook", hook, 0700);
	strbuf_adds(&settings, "{\"hooks\":{");
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		strbuf_addf(&settings,
			    "%s\"%s\":[{\"hooks\":[{\"type\":\"command\","
			    "\"command\":\"'%s/hook'\"}]}]",
			    i ? "," : "", events[i], scratch);
	strbuf_adds(&settings, "}}");
	write_file("settings.json", settings.data, 0600);
}

static int set_up(void **state UNUSED)
{
	memcpy(scratch + sizeof(scratch) - 7, "XXXXXX", 6);
	if (!mkdtemp(scratch))
		return -1;
	cleanup_free char *home = in_scratch("home"), *work = in_scratch("work");
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	setenv("AGENTDECK_DEMO_CONFIG_DIR", home, 1);
	setenv("AGENTDECK_DEMO_DELAY_MS", "1", 1);
	write_settings();
	return mkdir(work, 0700) < 0 || chdir(work) < 0 ? -1 : 0;
}

static int tear_down(void **state UNUSED)
{
	return chdir("/") < 0 || fs_remove_tree(AT_FDCWD, scratch, NULL) < 0 ? -1 : 0;
}

/* Run it once without a terminal. */
static int run(const char *const *arguments, struct child_result *ret)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_error struct error err = { 0 };
	strvec_push(&argv, program);
	strvec_push_array(&argv, arguments);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv) };
	*ret = (struct child_result){ 0 };
	if (child_run(&request, PATIENCE_MS, ret, &err) != 0)
		fail_msg("run %s: %s", program, or_empty(err.message));
	return ret->exit_status;
}

static void expect_run(int exit_status, const char *text, const char *const *arguments)
{
	cleanup_child_result struct child_result result;
	int got = run(arguments, &result);
	const char *said = strbuf_text(exit_status ? &result.errors : &result.output);
	if (got != exit_status || !strstr(said, text))
		fail_msg("exit status %d, output \"%s\", errors \"%s\"; expected %d and \"%s\"",
			 got, strbuf_text(&result.output), strbuf_text(&result.errors), exit_status,
			 text);
}
#define expect(exit_status, text, ...) \
	expect_run(exit_status, text, (const char *const[]){ __VA_ARGS__, NULL })

/* The program in its own terminal. */
struct terminal {
	pid_t pid;
	int fd;
	struct strbuf seen; /* its output */
	size_t read_to;     /* the part of it that see() has passed */
};

static struct terminal open_program(const char *const *arguments)
{
	struct winsize size = { .ws_row = 50, .ws_col = 250 };
	cleanup_strvec struct strvec argv = { 0 };
	struct terminal terminal = { 0 };
	strvec_push(&argv, program);
	strvec_push_array(&argv, arguments);
	terminal.pid = forkpty(&terminal.fd, NULL, NULL, &size);
	assert_true(terminal.pid >= 0);
	if (terminal.pid == 0) {
		/* A test that fails in the middle must leave no process. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		execv(program, strvec_argv(&argv));
		_exit(127);
	}
	return terminal;
}
#define open_terminal(...) open_program((const char *const[]){ __VA_ARGS__, NULL })

/* Read the program's output.  False when it has ended. */
static bool take_output(struct terminal *terminal, int64_t deadline, const char *wanted)
{
	char chunk[4096];
	struct pollfd event = { .fd = terminal->fd, .events = POLLIN };
	if (poll(&event, 1, clock_left_ms(deadline)) == 0)
		fail_msg("waited in vain for \"%s\" in: %s", wanted, strbuf_text(&terminal->seen));
	ssize_t n = read(terminal->fd, chunk, sizeof(chunk));
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	strbuf_add(&terminal->seen, chunk, (size_t)n);
	return true;
}

/* Wait until text has been written, after all that was seen before. */
static void see(struct terminal *terminal, const char *text)
{
	int64_t deadline = clock_ms() + PATIENCE_MS;
	for (;;) {
		const char *found = strstr(strbuf_text(&terminal->seen) + terminal->read_to, text);
		if (found) {
			terminal->read_to = (size_t)(found - terminal->seen.data) + strlen(text);
			return;
		}
		if (!take_output(terminal, deadline, text))
			fail_msg("ended without \"%s\": %s", text, strbuf_text(&terminal->seen));
	}
}

static void type(struct terminal *terminal, const char *keys)
{
	assert_int_equal(fs_write_all(terminal->fd, keys, strlen(keys), "terminal", NULL), 0);
}

static int wait_for(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Read to the end; returns the exit status, or 1000 plus the signal. */
static int finish(struct terminal *terminal)
{
	int64_t deadline = clock_ms() + PATIENCE_MS;
	while (take_output(terminal, deadline, "the end"))
		;
	(void)close(terminal->fd);
	strbuf_free(&terminal->seen);
	return wait_for(terminal->pid);
}

static int kill_and_finish(struct terminal *terminal, int signal_number)
{
	assert_int_equal(kill(terminal->pid, signal_number), 0);
	return finish(terminal);
}

/* Path of the transcript of id in the working directory's folder. */
static char *transcript_of(const char *id)
{
	cleanup_free char *folder = xasprintf("%s/work", scratch);
	for (char *c = folder; *c; c++)
		if (*c == '/')
			*c = '-';
	return xasprintf("%s/home/projects/%s/%s.jsonl", scratch, folder, id);
}

static bool exists(const char *id)
{
	cleanup_free char *path = transcript_of(id);
	return access(path, F_OK) == 0;
}

static void read_whole(const char *path, struct strbuf *ret)
{
	if (fs_read(AT_FDCWD, path, 1 << 20, ret, NULL) == FS_ABSENT)
		strbuf_adds(ret, "");
}

/* "event=value session" for each report that the hook got, one on a line. */
static char *told(const char *value_keys)
{
	struct strbuf lines = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_strvec struct strvec keys = { 0 };
	cleanup_free char *path = in_scratch("events"), *copy = xstrdup(value_keys);
	read_whole(path, &text);
	char *rest = copy, *next = text.data;
	for (const char *key; (key = strsep(&rest, " "));)
		strvec_push(&keys, key);
	for (char *line; (line = strsep(&next, "\n"));) {
		cleanup_json struct json_object *payload = NULL;
		if (!*line)
			continue;
		assert_int_equal(json_parse(line, strlen(line), "event", &payload, NULL), 0);
		strbuf_adds(&lines, json_get_string(payload, "hook_event_name", "?"));
		for (size_t i = 0; i < keys.count; i++)
			if (json_get_string(payload, keys.items[i], NULL))
				strbuf_addf(&lines, "=%s",
					    json_get_string(payload, keys.items[i], NULL));
		strbuf_adds(&lines, "\n");
	}
	return strbuf_take(&lines);
}

static char *settings_path(void)
{
	return in_scratch("settings.json");
}

/* ---- conversations ---- */

static void remembers_across_a_resume(void **state UNUSED)
{
	expect(0,
	       "demo: reply 1. You said: \"one\". I remember 1 of your messages; the first was "
	       "\"one\".\n",
	       "-p", "--session-id", ID_1, "one");
	expect(0,
	       "demo: reply 2. You said: \"two\". I remember 2 of your messages; the first was "
	       "\"one\".\n",
	       "--print", "two", "--resume", ID_1);
	expect(0, "reply 3. You said: \"three\"", "-p", "--continue", "three");
	assert_true(exists(ID_1));
}

static void transcript_has_the_contracts_shape(void **state UNUSED)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *user = NULL, *reply = NULL;
	cleanup_free char *path = transcript_of(ID_1), *cwd = in_scratch("work");
	struct stat st;
	expect(0, "", "-p", "--session-id", ID_1, "--model", "m", "ü \"q\"");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	read_whole(path, &text);
	char *second = strchr(text.data, '\n') + 1;
	assert_int_equal(json_parse(text.data, strcspn(text.data, "\n"), "user", &user, NULL), 0);
	assert_int_equal(json_parse(second, strcspn(second, "\n"), "reply", &reply, NULL), 0);

	assert_string_equal(json_get_string(user, "type", ""), "user");
	assert_string_equal(json_get_string(user, "sessionId", ""), ID_1);
	assert_string_equal(json_get_string(user, "cwd", ""), cwd);
	assert_string_equal(json_get_string(user, "model", ""), "m");
	assert_true(clock_parse(json_get_string(user, "timestamp", "")) > 0);
	const struct json_object *said = json_get_object(user, "message");
	assert_string_equal(json_get_string(said, "role", ""), "user");
	assert_string_equal(json_get_string(said, "content", ""), "ü \"q\"");

	assert_string_equal(json_get_string(reply, "type", ""), "assistant");
	assert_string_equal(json_get_string(reply, "parentUuid", ""),
			    json_get_string(user, "uuid", "?"));
	const struct json_object *content = json_get_array(json_get_object(reply, "message"),
							   "content");
	assert_int_equal(json_object_array_length(content), 1);
	const struct json_object *block = json_object_array_get_idx(content, 0);
	assert_string_equal(json_get_string(block, "type", ""), "text");
	assert_non_null(strstr(json_get_string(block, "text", ""), "demo: reply 1."));
}

static void wrong_ids_end_with_1(void **state UNUSED)
{
	expect(1, "No conversation found with session ID: " ID_1 "\n", "--resume", ID_1);
	expect(1, "No conversation found with session ID: " ID_1 "\n", "-p", "--resume", ID_1, "x");
	expect(1, "Error: Invalid session ID. Must be a valid UUID.\n", "--session-id", "x");
	expect(1, "Error: Invalid session ID. Must be a valid UUID.\n", "--resume", "x");
	expect(0, "", "-p", "--session-id", ID_1, "x");
	expect(1, "Error: Session ID " ID_1 " is already in use.\n", "--session-id", ID_1);
	expect(1, "Error: --session-id with --continue or --resume also needs --fork-session.\n",
	       "--resume", ID_1, "--session-id", ID_2);
}

static void continue_with_nothing(void **state UNUSED)
{
	expect(1, "No conversation found to continue\n", "--continue");
	expect(0, "reply 1.", "-p", "--continue", "x");
}

static void transcript_without_a_turn_is_a_dead_end(void **state UNUSED)
{
	static const char *const contents[] = { "", "{\"type\":\"mode\",\"cwd\":\"/\"}\n" };
	for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
		expect(0, "", "-p", "--session-id", i ? ID_1 : ID_2, "x");
		cleanup_free char *path = transcript_of(i ? ID_1 : ID_2);
		cleanup_close int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		assert_int_equal(fs_write_all(fd, contents[i], strlen(contents[i]), path, NULL), 0);
		expect(1, "No conversation found", "--resume", i ? ID_1 : ID_2);
		expect(1, "already in use", "--session-id", i ? ID_1 : ID_2);
	}
}

static void torn_last_line_is_left_out_and_does_not_spoil_the_next(void **state UNUSED)
{
	cleanup_free char *path = transcript_of(ID_1);
	struct stat st;
	expect(0, "", "-p", "--session-id", ID_1, "one");
	expect(0, "", "-p", "--resume", ID_1, "two");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 20), 0);
	expect(0, "reply 2. You said: \"three\". I remember 3", "-p", "--resume", ID_1, "three");
	expect(0, "reply 3. You said: \"four\". I remember 4", "-p", "--resume", ID_1, "four");
}

static void resumes_from_another_directory_in_the_same_file(void **state UNUSED)
{
	cleanup_free char *path = transcript_of(ID_1);
	cleanup_strbuf struct strbuf text = { 0 };
	expect(0, "", "-p", "--session-id", ID_1, "one");
	assert_int_equal(chdir("/"), 0);
	expect(0, "reply 2.", "-p", "--resume", ID_1, "elsewhere");
	expect(0, "reply 3.", "-p", "--resume", ID_1, "again");
	expect(1, "No conversation found to continue", "--continue");
	read_whole(path, &text);
	assert_non_null(strstr(text.data, "\"elsewhere\""));
}

static void fork_begins_with_the_history_and_leaves_the_original(void **state UNUSED)
{
	cleanup_free char *path = transcript_of(ID_1), *fork = transcript_of(ID_2);
	cleanup_strbuf struct strbuf before = { 0 }, after = { 0 }, text = { 0 };
	expect(0, "", "-p", "--session-id", ID_1, "one");
	read_whole(path, &before);
	expect(0, "reply 2. You said: \"two\". I remember 2", "-p", "--resume", ID_1,
	       "--fork-session", "--session-id", ID_2, "two");
	read_whole(path, &after);
	assert_string_equal(before.data, after.data);
	read_whole(fork, &text);
	assert_null(strstr(text.data, ID_1));
	expect(0, "reply 3.", "-p", "--resume", ID_2, "three");
	expect(1, "already in use", "--resume", ID_1, "--fork-session", "--session-id", ID_2);
	expect(0, "reply 2.", "-p", "--continue", "--resume", ID_1, "--fork-session", "x");
}

static void poisoned_environment_writes_no_transcript(void **state UNUSED)
{
	setenv("CLAUDE_CODE_CHILD_SESSION", "1", 1);
	expect(0, "reply 1.", "-p", "--session-id", ID_1, "x");
	assert_false(exists(ID_1));
	setenv("CLAUDE_CODE_FORCE_SESSION_PERSISTENCE", "1", 1);
	expect(0, "reply 1.", "-p", "--session-id", ID_1, "x");
	assert_true(exists(ID_1));
}

/* ---- the terminal ---- */

static void needs_a_terminal_to_talk(void **state UNUSED)
{
	expect(1, "terminal", "hello");
}

static void file_appears_with_the_first_turn(void **state UNUSED)
{
	cleanup_free char *settings = settings_path();
	struct terminal terminal = open_terminal("--session-id", ID_1, "--settings", settings);
	see(&terminal, "❯ ");
	assert_false(exists(ID_1));
	type(&terminal, "hello\r");
	see(&terminal, "demo: reply 1.");
	assert_true(exists(ID_1));
	see(&terminal, "❯ ");
	type(&terminal, "\004");
	see(&terminal, "Resume this session with:\r\nagentdeck-demo-agent --resume " ID_1);
	assert_int_equal(finish(&terminal), 0);
}

static void killed_while_thinking_the_question_is_kept(void **state UNUSED)
{
	setenv("AGENTDECK_DEMO_DELAY_MS", "3600000", 1);
	struct terminal terminal = open_terminal("--session-id", ID_1, "first question");
	see(&terminal, "✻ Thinking… (esc to interrupt)");
	assert_int_equal(kill_and_finish(&terminal, SIGKILL), 1000 + SIGKILL);
	setenv("AGENTDECK_DEMO_DELAY_MS", "1", 1);
	expect(0,
	       "reply 1. You said: \"x\". I remember 2 of your messages; the first was \"first "
	       "question\".",
	       "-p", "--resume", ID_1, "x");
}

static void late_turns_are_lost_by_a_kill_and_written_with_the_next_one(void **state UNUSED)
{
	setenv("AGENTDECK_DEMO_LATE_TURNS", "1", 1);
	struct terminal terminal = open_terminal("--session-id", ID_1, "first");
	see(&terminal, "demo: reply 1.");
	assert_false(exists(ID_1));
	assert_int_equal(kill_and_finish(&terminal, SIGKILL), 1000 + SIGKILL);
	assert_false(exists(ID_1));
	terminal = open_terminal("--session-id", ID_1, "first again");
	see(&terminal, "demo: reply 1.");
	see(&terminal, "❯ ");
	type(&terminal, "second\r");
	see(&terminal, "demo: reply 2.");
	assert_int_equal(kill_and_finish(&terminal, SIGKILL), 1000 + SIGKILL);
	expect(0, "I remember 3 of your messages; the first was \"first again\".", "-p", "--resume",
	       ID_1, "third");
}

static void late_turns_are_written_at_an_orderly_end(void **state UNUSED)
{
	setenv("AGENTDECK_DEMO_LATE_TURNS", "9", 1);
	struct terminal terminal = open_terminal("--session-id", ID_1, "first");
	see(&terminal, "demo: reply 1.");
	assert_false(exists(ID_1));
	assert_int_equal(kill_and_finish(&terminal, SIGTERM), 128 + SIGTERM);
	expect(0, "I remember 2 of your messages", "-p", "--resume", ID_1, "second");
}

static void resume_shows_the_history(void **state UNUSED)
{
	expect(0, "", "-p", "--session-id", ID_1, "old words");
	struct terminal terminal = open_terminal("--resume", ID_1);
	see(&terminal, "> old words\r\n");
	see(&terminal, "demo: reply 1.");
	see(&terminal, "❯ ");
	type(&terminal, "new words\r");
	see(&terminal, "demo: reply 2. You said: \"new words\". I remember 2");
	see(&terminal, "❯ ");
	type(&terminal, "/exit\r");
	assert_int_equal(finish(&terminal), 0);
}

static void paste_of_several_lines_is_one_prompt(void **state UNUSED)
{
	struct terminal terminal = open_terminal("--session-id", ID_1);
	see(&terminal, "\033[?2004h");
	see(&terminal, "❯ ");
	type(&terminal, "\033[200~one\rtwo ü\r\nthree\033[201~");
	see(&terminal, "three");
	assert_false(exists(ID_1));
	type(&terminal, "\r");
	see(&terminal, "reply 1. You said: \"one\\ntwo ü\\nthree\". I remember 1");
	type(&terminal, "\004");
	assert_int_equal(finish(&terminal), 0);
}

static void line_can_be_edited(void **state UNUSED)
{
	struct terminal terminal = open_terminal("--session-id", ID_1);
	see(&terminal, "❯ ");
	type(&terminal, "gone\025wörlx\177d word\027\033[H>\033[C\033[C\177O\033[F!\r");
	see(&terminal, "You said: \">wOrld !\"");
	type(&terminal, "\004");
	assert_int_equal(finish(&terminal), 0);
}

static void escape_and_ctrl_c_interrupt_a_reply(void **state UNUSED)
{
	setenv("AGENTDECK_DEMO_DELAY_MS", "3600000", 1);
	struct terminal terminal = open_terminal("--session-id", ID_1, "one");
	see(&terminal, "Thinking");
	type(&terminal, "\033");
	see(&terminal, "(interrupted)");
	see(&terminal, "❯ ");
	type(&terminal, "two\r");
	see(&terminal, "Thinking");
	type(&terminal, "\003");
	see(&terminal, "(interrupted)");
	see(&terminal, "❯ ");
	type(&terminal, "\004");
	assert_int_equal(finish(&terminal), 0);
}

static void typed_ahead_is_not_lost(void **state UNUSED)
{
	setenv("AGENTDECK_DEMO_DELAY_MS", "300", 1);
	struct terminal terminal = open_terminal("--session-id", ID_1, "one");
	see(&terminal, "Thinking");
	type(&terminal, "two\rthree");
	see(&terminal, "reply 2. You said: \"two\"");
	see(&terminal, "❯ three");
	type(&terminal, "\r");
	see(&terminal, "reply 3. You said: \"three\"");
	type(&terminal, "\004");
	assert_int_equal(finish(&terminal), 0);
}

static void ctrl_c_clears_the_line_and_twice_ends(void **state UNUSED)
{
	struct terminal terminal = open_terminal("--session-id", ID_1);
	see(&terminal, "❯ ");
	type(&terminal, "wrong\003right\r");
	see(&terminal, "You said: \"right\"");
	see(&terminal, "❯ ");
	type(&terminal, "\003\003");
	see(&terminal, "\033[?2004l");
	assert_int_equal(finish(&terminal), 0);
}

static void control_characters_are_not_obeyed(void **state UNUSED)
{
	struct terminal terminal = open_terminal("--session-id", ID_1, "a\033[31mb");
	see(&terminal, "> a\\033[31mb");
	see(&terminal, "You said: \"a\\033[31mb\"");
	type(&terminal, "\004");
	assert_int_equal(finish(&terminal), 0);
}

static void signals_end_it_with_their_status(void **state UNUSED)
{
	static const struct {
		int number, exit_status;
	} signals[] = { { SIGTERM, 143 }, { SIGHUP, 129 }, { SIGINT, 0 } };
	cleanup_free char *settings = settings_path();
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct terminal terminal = open_terminal("--settings", settings);
		see(&terminal, "❯ ");
		assert_int_equal(kill(terminal.pid, signals[i].number), 0);
		see(&terminal, "\033[?2004l");
		assert_int_equal(finish(&terminal), signals[i].exit_status);
	}
	cleanup_free char *events = told("source reason");
	assert_string_equal(events, "SessionStart=startup\nSessionEnd=other\n"
				    "SessionStart=startup\nSessionEnd=other\n"
				    "SessionStart=startup\nSessionEnd=other\n");
}

static void terminal_that_goes_away_ends_it_with_129(void **state UNUSED)
{
	cleanup_free char *settings = settings_path();
	struct terminal terminal = open_terminal("--settings", settings);
	see(&terminal, "❯ ");
	(void)close(terminal.fd);
	strbuf_free(&terminal.seen);
	assert_int_equal(wait_for(terminal.pid), 129);
	cleanup_free char *events = told("source reason");
	assert_string_equal(events, "SessionStart=startup\nSessionEnd=other\n");
}

static void terminal_gets_its_settings_back(void **state UNUSED)
{
	struct termios before, during, after;
	int slave;
	struct terminal terminal = { 0 };
	assert_int_equal(openpty(&terminal.fd, &slave, NULL, NULL, NULL), 0);
	assert_int_equal(tcgetattr(slave, &before), 0);
	terminal.pid = fork();
	if (terminal.pid == 0) {
		(void)login_tty(slave);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	see(&terminal, "❯ ");
	assert_int_equal(tcgetattr(slave, &during), 0);
	assert_false(during.c_lflag & ICANON);
	type(&terminal, "\004");
	assert_int_equal(wait_for(terminal.pid), 0);
	assert_int_equal(tcgetattr(slave, &after), 0);
	assert_int_equal(before.c_lflag, after.c_lflag);
	assert_int_equal(before.c_iflag, after.c_iflag);
	(void)close(slave);
	(void)close(terminal.fd);
	strbuf_free(&terminal.seen);
}

/* ---- reports ---- */

static void hooks_are_told_in_order(void **state UNUSED)
{
	cleanup_free char *settings = settings_path(), *path = transcript_of(ID_1);
	struct terminal terminal = open_terminal("--session-id", ID_1, "--settings", settings,
						 "one");
	see(&terminal, "demo: reply 1.");
	see(&terminal, "❯ ");
	type(&terminal, "/exit\r");
	assert_int_equal(finish(&terminal), 0);
	cleanup_free char *events = told("source prompt last_assistant_message reason");
	cleanup_free char *places = told("session_id transcript_path");
	cleanup_free char *each = xasprintf("=" ID_1 "=%s\n", path);
	assert_string_equal(events, "SessionStart=startup\nUserPromptSubmit=one\n"
				    "Stop=demo: reply 1. You said: \"one\". I remember 1 of your "
				    "messages; the first was \"one\".\n"
				    "SessionEnd=prompt_input_exit\n");
	cleanup_free char *expected = xasprintf(
		"SessionStart%sUserPromptSubmit%sStop%sSessionEnd%s", each, each, each, each);
	assert_string_equal(places, expected);
}

static void resume_is_reported_as_such(void **state UNUSED)
{
	cleanup_free char *settings = settings_path();
	expect(0, "", "-p", "--session-id", ID_1, "x");
	expect(0, "", "-p", "--resume", ID_1, "--settings", settings, "y");
	cleanup_free char *events = told("source session_id reason");
	assert_string_equal(events, "SessionStart=resume=" ID_1 "\nUserPromptSubmit=" ID_1
				    "\nStop=" ID_1 "\nSessionEnd=" ID_1 "=other\n");
}

static void fork_is_reported_as_either_version_of_claude_does(void **state UNUSED)
{
	cleanup_free char *settings = settings_path(), *path = transcript_of(ID_1);
	expect(0, "", "-p", "--session-id", ID_1, "x");
	expect(0, "", "-p", "--resume", ID_1, "--fork-session", "--session-id", ID_2, "--settings",
	       settings, "y");
	setenv("AGENTDECK_DEMO_FORK_AS_PARENT", "1", 1);
	expect(0, "", "-p", "--resume", ID_1, "--fork-session", "--session-id", ID_3, "--settings",
	       settings, "y");
	unsetenv("AGENTDECK_DEMO_FORK_AS_PARENT");
	cleanup_free char *events = told("source session_id reason"),
			  *places = told("transcript_path");
	assert_string_equal(events, "SessionStart=fork=" ID_2 "\nUserPromptSubmit=" ID_2
				    "\nStop=" ID_2 "\nSessionEnd=" ID_2 "=other\n"
				    "SessionStart=resume=" ID_1 "\nUserPromptSubmit=" ID_3
				    "\nStop=" ID_3 "\nSessionEnd=" ID_3 "=other\n");
	assert_non_null(strstr(places, path));
}

static void clear_rotates_the_id_and_says_so(void **state UNUSED)
{
	cleanup_free char *settings = settings_path();
	struct terminal terminal = open_terminal("--session-id", ID_1, "--settings", settings,
						 "before");
	see(&terminal, "❯ ");
	type(&terminal, "/clear\r");
	see(&terminal, "session ");
	see(&terminal, "❯ ");
	type(&terminal, "after\r");
	see(&terminal, "reply 1. You said: \"after\". I remember 1");
	type(&terminal, "\004");
	assert_int_equal(finish(&terminal), 0);
	cleanup_free char *events = told("source reason"), *ids = told("session_id");
	assert_string_equal(events, "SessionStart=startup\nUserPromptSubmit\nStop\n"
				    "SessionEnd=clear\n"
				    "SessionStart=clear\nUserPromptSubmit\nStop\n"
				    "SessionEnd=prompt_input_exit\n");
	assert_non_null(strstr(ids, "SessionEnd=" ID_1 "\nSessionStart="));
	assert_null(strstr(strstr(ids, "SessionEnd=" ID_1 "\n") + 1, "SessionStart=" ID_1));
	expect(0,
	       "reply 2. You said: \"x\". I remember 2 of your messages; the first was "
	       "\"before\"",
	       "-p", "--resume", ID_1, "x");
}

static void check_notification(const char *key, const char *expected)
{
	cleanup_free char *settings = settings_path();
	setenv("AGENTDECK_DEMO_IDLE_MS", "1", 1);
	struct terminal terminal = open_terminal("--settings", settings, "one");
	see(&terminal, "demo: reply 1.");
	for (int64_t deadline = clock_ms() + PATIENCE_MS;;) {
		cleanup_free char *so_far = told("");
		if (strstr(so_far, "Notification"))
			break;
		assert_true(clock_left_ms(deadline) > 0);
		(void)poll(NULL, 0, 5);
	}
	type(&terminal, "\004");
	assert_int_equal(finish(&terminal), 0);
	cleanup_free char *events = told(key),
			  *end = xasprintf("\nStop\nNotification=%s\nSessionEnd\n", expected);
	assert_true(ends_with(events, end));
}

static void waiting_is_reported_once(void **state UNUSED)
{
	check_notification("message", "agentdeck-demo-agent is waiting for your input");
}

static void idleness_is_reported_as_claude_does_it(void **state UNUSED)
{
	setenv("AGENTDECK_DEMO_IDLE_KIND", "idle_prompt", 1);
	check_notification("notification_type", "idle_prompt");
}

static void a_restart_in_place_keeps_the_process_and_a_conversation_with_turns(void **state UNUSED)
{
	cleanup_free char *settings = settings_path();
	struct terminal terminal = open_terminal("--session-id", ID_1, "--settings", settings,
						 "--model", "m");
	see(&terminal, "session " ID_1);
	see(&terminal, "❯ ");
	type(&terminal, "/tui\r");
	see(&terminal, "model m");
	see(&terminal, "❯ ");
	type(&terminal, "after\r");
	see(&terminal, "reply 1. You said: \"after\". I remember 1");
	see(&terminal, "❯ ");
	type(&terminal, "/tui\r");
	see(&terminal, "model m");
	see(&terminal, "> after");
	type(&terminal, "\004");
	assert_int_equal(finish(&terminal), 0);
	cleanup_free char *events = told("source reason"), *ids = told("session_id");
	assert_string_equal(events,
			    "SessionStart=startup\nSessionStart=startup\nUserPromptSubmit\nStop\n"
			    "SessionStart=resume\nSessionEnd=prompt_input_exit\n");
	assert_true(starts_with(ids, "SessionStart=" ID_1 "\n"));
	assert_null(strstr(ids + 1, ID_1 "\nUserPromptSubmit"));
}

static void agents_inside_of_it_are_told_of_as_well(void **state UNUSED)
{
	cleanup_free char *settings = settings_path();
	struct terminal terminal = open_terminal("--session-id", ID_1, "--settings", settings);
	see(&terminal, "❯ ");
	type(&terminal, "/nested\r");
	see(&terminal, "I remember 2 of your messages; the first was \"from inside\"");
	see(&terminal, "❯ ");
	type(&terminal, "/new\r");
	see(&terminal, "session ");
	see(&terminal, "❯ ");
	type(&terminal, "\004");
	assert_int_equal(finish(&terminal), 0);
	cleanup_free char *events = told("source reason");
	assert_string_equal(
		events, "SessionStart=startup\n"
			"SessionStart=startup\nUserPromptSubmit\nStop\nSessionEnd=other\n"
			"SessionStart=resume\nUserPromptSubmit\nStop\nSessionEnd=other\n"
			"SessionEnd=clear\nSessionStart=startup\nSessionEnd=prompt_input_exit\n");
}

static void matcher_chooses_the_sources(void **state UNUSED)
{
	cleanup_free char *path = in_scratch("chosen.json");
	cleanup_free char *text = xasprintf(
		"{\"hooks\":{\"SessionStart\":["
		"{\"matcher\":\"resume|clear\",\"hooks\":[{\"type\":\"command\",\"command\":"
		"\"'%s/hook'\"}]},{\"matcher\":\"\",\"hooks\":[{\"type\":\"other\",\"command\":"
		"\"'%s/hook'\"}]}]}}",
		scratch, scratch);
	write_file("chosen.json", text, 0600);
	expect(0, "", "-p", "--session-id", ID_1, "--settings", path, "x");
	expect(0, "", "-p", "--resume", ID_1, "--settings", path, "x");
	cleanup_free char *events = told("source");
	assert_string_equal(events, "SessionStart=resume\n");
}

static void failing_hooks_do_not_matter(void **state UNUSED)
{
	cleanup_free char *path = in_scratch("bad.json");
	write_file("bad.json",
		   "{\"hooks\":{\"SessionStart\":[{\"hooks\":["
		   "{\"type\":\"command\",\"command\":\"/nowhere/program\"},"
		   "{\"type\":\"command\",\"command\":\"not | split\"},"
		   "{\"type\":\"command\",\"command\":\"\"},{\"type\":\"command\"},7,"
		   "{\"type\":\"command\",\"command\":\"false\"}]},3],\"Stop\":{}}}",
		   0600);
	expect(0, "reply 1.", "-p", "--settings", path, "x");
}

static void bad_settings_end_with_1(void **state UNUSED)
{
	cleanup_free char *path = in_scratch("bad.json");
	expect(1, "Error: Settings file not found: /nowhere.json", "-p", "--settings",
	       "/nowhere.json", "x");
	write_file("bad.json", "{\"hooks\":", 0600);
	expect(1, "bad.json:1:", "-p", "--settings", path, "x");
}

/* ---- switches ---- */

static void switches_misbehave_as_asked(void **state UNUSED)
{
	cleanup_free char *settings = settings_path();
	setenv("AGENTDECK_DEMO_EXIT_AT_START", "42", 1);
	expect(42, "", "-p", "x");
	unsetenv("AGENTDECK_DEMO_EXIT_AT_START");
	setenv("AGENTDECK_DEMO_NO_REPORT", "1", 1);
	expect(0, "", "-p", "--settings", settings, "x");
	cleanup_free char *events = told("");
	assert_string_equal(events, "");
}

/* Wait until SIGTERM is in this signal set of the process ("SigBlk:", "SigIgn:" of proc(5)), and
 * not because all are: the C library may block all of them in a new process. */
static void await_signal_set(pid_t pid, const char *set)
{
	cleanup_free char *path = xasprintf("/proc/%d/status", pid);
	for (int64_t deadline = clock_ms() + PATIENCE_MS;;) {
		cleanup_strbuf struct strbuf text = { 0 };
		assert_int_equal(fs_read(AT_FDCWD, path, 1 << 16, &text, NULL), 0);
		const char *line = strstr(text.data, set);
		assert_non_null(line);
		const unsigned long long signals = strtoull(line + strlen(set), NULL, 16);
		if (signals & 1ULL << (SIGTERM - 1) && !(signals & 1ULL << (SIGUSR2 - 1)))
			return;
		assert_true(clock_left_ms(deadline) > 0);
		(void)poll(NULL, 0, 5);
	}
}

static void slow_start_can_be_ended(void **state UNUSED)
{
	setenv("AGENTDECK_DEMO_START_DELAY_MS", "3600000", 1);
	struct terminal terminal = open_terminal("--session-id", ID_1, "x");
	await_signal_set(terminal.pid, "SigBlk:");
	assert_int_equal(kill_and_finish(&terminal, SIGTERM), 143);
	assert_false(exists(ID_1));
}

static void signals_can_be_ignored(void **state UNUSED)
{
	setenv("AGENTDECK_DEMO_IGNORE_SIGNALS", "1", 1);
	struct terminal terminal = open_terminal("--session-id", ID_1);
	see(&terminal, "❯ ");
	assert_int_equal(kill(terminal.pid, SIGTERM), 0);
	assert_int_equal(kill(terminal.pid, SIGHUP), 0);
	assert_int_equal(kill(terminal.pid, SIGINT), 0);
	type(&terminal, "alive\r");
	see(&terminal, "reply 1.");
	assert_int_equal(kill_and_finish(&terminal, SIGKILL), 1000 + SIGKILL);
}

static void child_can_be_left_behind(void **state UNUSED)
{
	/* Orphans become our children. */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	setenv("AGENTDECK_DEMO_LEAVE_CHILD", "1", 1);
	expect(0, "reply 1.", "-p", "x");
	cleanup_free char *path = xasprintf("/proc/self/task/%d/children", getpid());
	cleanup_strbuf struct strbuf children = { 0 };
	int64_t orphan;
	assert_int_equal(fs_read(AT_FDCWD, path, 4096, &children, NULL), 0);
	children.data[strcspn(children.data, " \n")] = '\0';
	assert_true(parse_int64(children.data, 2, INT32_MAX, &orphan));
	await_signal_set((pid_t)orphan, "SigIgn:");
	assert_int_equal(getsid((pid_t)orphan), orphan);
	assert_int_equal(kill((pid_t)orphan, SIGTERM), 0);
	assert_int_equal(waitpid((pid_t)orphan, NULL, WNOHANG), 0);
	assert_int_equal(kill((pid_t)orphan, SIGKILL), 0);
	assert_int_equal(wait_for((pid_t)orphan), 1000 + SIGKILL);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

static void help_and_version(void **state UNUSED)
{
	expect(0, "AGENTDECK_DEMO_LEAVE_CHILD", "--help");
	expect(0, "agentdeck-demo-agent " PACKAGE_VERSION, "--version");
	expect(1, "nonsense", "--nonsense");
	expect(1, "one prompt", "-p", "two", "prompts");
}

/* ---- keys ---- */

/* The keys of bytes that arrive step bytes at a time: text unchanged, other keys as <number>. */
static char *keys_of(const char *bytes, size_t step)
{
	struct keys keys = { 0 };
	struct strbuf all = { 0 };
	for (size_t i = 0, length = strlen(bytes); i < length; i += step) {
		enum key key;
		keys_add(&keys, bytes + i, i + step > length ? length - i : step);
		while ((key = keys_take(&keys, false, &all)) != KEY_NONE) {
			/* No character arrives in parts. */
			assert_true(is_utf8(strbuf_text(&all), all.length));
			if (key != KEY_TEXT && key != KEY_OTHER)
				strbuf_addf(&all, "<%d>", key);
		}
	}
	keys_free(&keys);
	return strbuf_take(&all);
}

static void assert_keys(const char *bytes, const char *expected)
{
	for (size_t step = 1; step <= 7; step++) {
		cleanup_free char *got = keys_of(bytes, step);
		assert_string_equal(got, expected);
	}
}

static void keys_are_the_same_in_any_pieces(void **state UNUSED)
{
	cleanup_free char *edits = xasprintf("a<%d><%d><%d><%d>b<%d>", KEY_LEFT, KEY_RIGHT,
					     KEY_HOME, KEY_DELETE, KEY_ENTER);
	assert_keys("grüße ❯ 😀", "grüße ❯ 😀");
	assert_keys("a\033[D\033OC\033[1~\033[3~b\r", edits);
	assert_keys("\033[200~x\ry\r\nz\nü\t\001\033[31m\033[201~!", "x\ny\nz\nü\t[31m!");
	assert_keys("\033[200~\033[201~\033[20~x", "x");
	assert_keys("\033x\033[1;5Dy", "y");
}

static void lone_escape_is_a_key_once_nothing_follows(void **state UNUSED)
{
	struct keys keys = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	keys_add(&keys, "\033", 1);
	assert_int_equal(keys_take(&keys, false, &text), KEY_NONE);
	assert_true(keys_are_waiting(&keys));
	assert_int_equal(keys_take(&keys, true, &text), KEY_ESCAPE);
	assert_false(keys_are_waiting(&keys));
	keys_free(&keys);
}

static void broken_utf8_does_not_block_the_keys_behind_it(void **state UNUSED)
{
	struct keys keys = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	keys_add(&keys, "\xe2\r", 2);
	assert_int_equal(keys_take(&keys, false, &text), KEY_TEXT);
	assert_int_equal(keys_take(&keys, false, &text), KEY_ENTER);
	keys_free(&keys);
}

#define scratch_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_the_same_in_any_pieces),
		cmocka_unit_test(lone_escape_is_a_key_once_nothing_follows),
		cmocka_unit_test(broken_utf8_does_not_block_the_keys_behind_it),
		scratch_test(remembers_across_a_resume),
		scratch_test(transcript_has_the_contracts_shape),
		scratch_test(wrong_ids_end_with_1),
		scratch_test(continue_with_nothing),
		scratch_test(transcript_without_a_turn_is_a_dead_end),
		scratch_test(torn_last_line_is_left_out_and_does_not_spoil_the_next),
		scratch_test(resumes_from_another_directory_in_the_same_file),
		scratch_test(fork_begins_with_the_history_and_leaves_the_original),
		scratch_test(poisoned_environment_writes_no_transcript),
		scratch_test(needs_a_terminal_to_talk),
		scratch_test(file_appears_with_the_first_turn),
		scratch_test(killed_while_thinking_the_question_is_kept),
		scratch_test(late_turns_are_lost_by_a_kill_and_written_with_the_next_one),
		scratch_test(late_turns_are_written_at_an_orderly_end),
		scratch_test(resume_shows_the_history),
		scratch_test(paste_of_several_lines_is_one_prompt),
		scratch_test(line_can_be_edited),
		scratch_test(escape_and_ctrl_c_interrupt_a_reply),
		scratch_test(typed_ahead_is_not_lost),
		scratch_test(ctrl_c_clears_the_line_and_twice_ends),
		scratch_test(control_characters_are_not_obeyed),
		scratch_test(signals_end_it_with_their_status),
		scratch_test(terminal_that_goes_away_ends_it_with_129),
		scratch_test(terminal_gets_its_settings_back),
		scratch_test(hooks_are_told_in_order),
		scratch_test(resume_is_reported_as_such),
		scratch_test(fork_is_reported_as_either_version_of_claude_does),
		scratch_test(clear_rotates_the_id_and_says_so),
		scratch_test(waiting_is_reported_once),
		scratch_test(idleness_is_reported_as_claude_does_it),
		scratch_test(a_restart_in_place_keeps_the_process_and_a_conversation_with_turns),
		scratch_test(agents_inside_of_it_are_told_of_as_well),
		scratch_test(matcher_chooses_the_sources),
		scratch_test(failing_hooks_do_not_matter),
		scratch_test(bad_settings_end_with_1),
		scratch_test(switches_misbehave_as_asked),
		scratch_test(slow_start_can_be_ended),
		scratch_test(signals_can_be_ignored),
		scratch_test(child_can_be_left_behind),
		scratch_test(help_and_version),
	};
	const char *named = getenv("AGENTDECK_DEMO_AGENT");
	program = realpath(named ? named : "agentdeck-demo-agent", NULL);
	if (!program) {
		fprintf(stderr, "no demo agent: build it, or name it in AGENTDECK_DEMO_AGENT\n");
		return 77;
	}
	int r = cmocka_run_group_tests(tests, NULL, NULL);
	free(program);
	return r;
}
