/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shift+Enter on its way to the agent: the installed tmux, with a terminal that answers and types
 * as others do.  All tests are skipped without tmux.
 */
#include "unit/scratch.h"

#include "base/child.h"
#include "base/clock.h"
#include "driver/tmux/tmux.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { PLENTY_MS = 20000, LOOK_MS = 20 };

#define ASKS_FOR_KEYS "\x1b[>4;"
#define XTERM_FORM    "\x1b[27;2;13~"
#define CSI_U_FORM    "\x1b[13;2u"
#define IN_PANE       "^[[13;2u"

/* Its answers, and what it types for Shift+Enter when tmux has asked for such keys. */
struct model {
	const char *name, *version, *attributes, *types, *arrives;
};

static char *server_socket;
static struct process_id server;

static int begin(void **state)
{
	if (set_up(state) < 0)
		return -1;
	server_socket = path_join(scratch, "sock");
	return 0;
}

static int end(void **state)
{
	(void)process_signal(&server, SIGKILL, NULL);
	free(server_socket);
	return tear_down(state);
}

/* A pane that asks for keys in these words, as an agent does, and shows what it gets. */
static void start(const char *asks)
{
	cleanup_strvec struct strvec argv = { 0 }, pane = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *conf = path_join(scratch, "conf");
	cleanup_free char *script = xasprintf("stty raw -echo; printf '%sready '; exec cat -v",
					      asks);
	struct tmux_started started;
	assert_int_equal(
		tmux_conf_text(&(const struct tmux_conf){ .default_terminal = "screen-256color",
							  .detach_key = "C-q" },
			       &text, NULL),
		0);
	put("conf", strbuf_text(&text));
	strvec_push_array(&pane, (const char *const[]){ "/bin/sh", "-c", script, NULL });
	tmux_start_argv(
		server_socket,
		&(const struct tmux_options){
			.conf_file = conf, .title = "t", .pane = &pane, .columns = 80, .rows = 24 },
		&argv);
	const struct child_request request = { .argv = (const char *const *)argv.items,
					       .new_session = true };
	assert_int_equal(child_run(&request, PLENTY_MS, &result, NULL), 0);
	assert_int_equal(tmux_parse_started(&result, &started, NULL), 0);
	assert_int_equal(process_identify(started.server, &server, NULL), 0);
}

static void wait_for_screen(const char *name, const char *expected)
{
	for (int64_t deadline = clock_ms() + PLENTY_MS;;) {
		cleanup_free char *screen = NULL;
		assert_int_equal(tmux_capture(server_socket, 0, &screen, NULL), 0);
		if (strstr(screen, expected))
			return;
		if (clock_ms() > deadline)
			fail_msg("%s: no %s: %s", name, expected, screen);
		(void)poll(NULL, 0, LOOK_MS);
	}
}

static int attach(void)
{
	int terminal;
	cleanup_strvec struct strvec argv = { 0 };
	const struct winsize size = { .ws_col = 80, .ws_row = 24 };
	tmux_attach_argv(server_socket, &(struct tmux_attach){ 0 }, &argv);
	pid_t pid = forkpty(&terminal, NULL, NULL, &size);
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)execvp(argv.items[0], argv.items);
		_exit(127);
	}
	return terminal;
}

static void say(int terminal, const char *words)
{
	assert_int_equal(write(terminal, words, strlen(words)), strlen(words));
}

/* Answer tmux's questions as the model does, until tmux has asked for keys. */
static void answer(const struct model *model, int terminal)
{
	const struct {
		const char *question, *answer;
	} answers[] = {
		{ "\x1b[c", "\x1b[?62;22c" },
		{ "\x1b[>c", model->attributes },
		{ "\x1b[>q", model->version },
	};
	bool answered[ARRAY_SIZE(answers)] = { false };
	cleanup_strbuf struct strbuf seen = { 0 };
	const int64_t deadline = clock_ms() + PLENTY_MS;
	for (bool asked = false; !asked || !answered[1];) {
		char text[4096];
		struct pollfd fd = { .fd = terminal, .events = POLLIN };
		if (poll(&fd, 1, (int)(deadline - clock_ms())) != 1)
			fail_msg("%s: it is not asked for keys", model->name);
		ssize_t n = read(terminal, text, sizeof(text));
		assert_true(n > 0);
		for (ssize_t i = 0; i < n; i++)
			if (text[i])
				strbuf_add(&seen, text + i, 1);
		asked = strstr(strbuf_text(&seen), ASKS_FOR_KEYS) != NULL;
		for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
			if (answered[i] || !strstr(strbuf_text(&seen), answers[i].question))
				continue;
			answered[i] = true;
			say(terminal, answers[i].answer);
		}
	}
}

static const struct model models[] = {
	{ "ghostty", "\x1bP>|ghostty 1.2.0\x1b\\", "\x1b[>1;10;0c", XTERM_FORM, IN_PANE },
	{ "iTerm2", "\x1bP>|iTerm2 3.5.10\x1b\\", "\x1b[>64;2500;0c", XTERM_FORM, IN_PANE },
	{ "WezTerm", "\x1bP>|WezTerm 20240203\x1b\\", "\x1b[>1;277;0c", XTERM_FORM, IN_PANE },
	{ "foot", "\x1bP>|foot(1.16.2)\x1b\\", "\x1b[>1;11602;0c", XTERM_FORM, IN_PANE },
	/* They know another way to ask, which tmux does not.  The line of their settings that
	 * configuration.md has helps. */
	{ "kitty", "\x1bP>|kitty(0.42.1)\x1b\\", "\x1b[>1;4000;42c", "\r", "^M" },
	{ "kitty, with the line", "\x1bP>|kitty(0.42.1)\x1b\\", "\x1b[>1;4000;42c", CSI_U_FORM,
	  IN_PANE },
	{ "Windows Terminal", "", "\x1b[>0;10;1c", "\r", "^M" },
	{ "Windows Terminal, with the line", "", "\x1b[>0;10;1c", CSI_U_FORM, IN_PANE },
};

static void try_model(const struct model *model, const char *asks)
{
	start(asks);
	wait_for_screen(model->name, "ready");
	const int terminal = attach();
	answer(model, terminal);
	say(terminal, model->types);
	wait_for_screen(model->name, model->arrives);
	(void)close(terminal);
	assert_true(waitpid(-1, NULL, 0) > 0);
	assert_int_equal(tmux_kill_server(server_socket, NULL), 0);
	assert_int_equal(process_wait_end(&server, clock_ms() + PLENTY_MS, NULL), 0);
}

/* In the words of claude, copilot and pi, and in those of opencode. */
static void shift_enter_reaches_the_agent(void **state UNUSED)
{
	setenv("TERM", "xterm-256color", 1);
	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		try_model(&models[i], "\\033[>4;2m");
		try_model(&models[i], "\\033[>4;1m");
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	cleanup_free char *version = NULL;
	const struct CMUnitTest tests[] = {
		TEST(shift_enter_reaches_the_agent),
	};
	unsetenv("TMUX");
	if (tmux_version(&version, NULL) != 0 || !tmux_version_is_enough(version)) {
		fprintf(stderr, "skipped: no tmux " TMUX_OLDEST " or newer\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
