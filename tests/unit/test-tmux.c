/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The driver against the installed tmux, with a server for each test in a scratch directory;
 * skipped as a whole without tmux.
 *
 * The pane's first command is this program, where it is otherwise agentdeck: called as "pane SCRIPT
 * DIED-SCRIPT" it becomes a shell with one of the two.
 */
#include "unit/files.h"
#include "unit/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "driver/tmux/tmux.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

enum { PLENTY_MS = 20000, LOOK_MS = 20, HUNG_S = 100 };

struct fixture {
	char *directory, *socket;
	struct tmux_started started;
	struct process_id server;
};

static char *self;

static char *below(const struct fixture *f, const char *name)
{
	return path_join(f->directory, name);
}

static void write_conf(const struct fixture *f, const struct tmux_conf *conf)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = below(f, "conf");
	assert_int_equal(tmux_conf_text(conf, &text, NULL), 0);
	write_path(path, text.data, text.length);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	/* Every path has characters that a shell or tmux's formats would interpret. */
	char root[] = "/tmp/agentdeck-tmux-XXXXXX";
	if (!mkdtemp(root))
		return -1;
	f->directory = path_join(root, "a b#{pid}'\"$x;");
	if (mkdir(f->directory, 0700) < 0)
		return -1;
	f->socket = below(f, "sock");
	write_conf(f, &(const struct tmux_conf){ .default_terminal = "screen-256color",
						 .history_limit = 2000,
						 .detach_key = "C-q" });
	/* The scripts find the directory here. */
	setenv("D", f->directory, 1);
	alarm(HUNG_S);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	alarm(0);
	(void)process_signal(&f->server, SIGKILL, NULL);
	f->directory[strrchr(f->directory, '/') - f->directory] = '\0';
	int r = fs_remove_tree(AT_FDCWD, f->directory, NULL);
	free(f->directory);
	free(f->socket);
	free(f);
	return r;
}

/* Start a server as agentdeck does, with the configuration that was written before.  environment:
 * NULL: ours. */
static void start_with(struct fixture *f, const char *title, const char *const *pane,
		       char *const *environment)
{
	cleanup_free char *conf = below(f, "conf");
	cleanup_strvec struct strvec argv = { 0 }, words = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error err = { 0 };
	/* A client that finds the socket of a server that is just ending talks to that one: remove
	 * the socket first, as runfiles.c does. */
	(void)unlink(f->socket);
	strvec_push_array(&words, pane);
	const struct tmux_options options = {
		.conf_file = conf, .title = title, .pane = &words, .columns = 100, .rows = 30
	};
	tmux_start_argv(f->socket, &options, &argv);
	const struct child_request request = { .argv = (const char *const *)argv.items,
					       .environment = environment,
					       .new_session = true };
	if (child_run(&request, PLENTY_MS, &result, &err) != 0 ||
	    tmux_parse_started(&result, &f->started, &err) != 0 ||
	    process_identify(f->started.server, &f->server, &err) != 0)
		fail_msg("no server: %s", or_empty(err.message));
}

static void start(struct fixture *f, const char *title, const char *const *pane)
{
	start_with(f, title, pane, NULL);
}

/* script runs first, died whenever a process in the pane has ended. */
static void start_scripts(struct fixture *f, const char *script, const char *died)
{
	start(f, "title", (const char *const[]){ self, "pane", script, died, NULL });
}

static bool exists(const struct fixture *f, const char *name)
{
	cleanup_free char *path = below(f, name);
	return access(path, F_OK) == 0;
}

static void wait_for(const struct fixture *f, const char *name)
{
	for (int64_t deadline = clock_ms() + PLENTY_MS; !exists(f, name);) {
		if (clock_ms() > deadline)
			fail_msg("%s does not come", name);
		(void)poll(NULL, 0, LOOK_MS);
	}
}

/* A file exists a moment before its only write: wait for that. */
static char *content(const struct fixture *f, const char *name)
{
	cleanup_free char *path = below(f, name);
	for (int64_t deadline = clock_ms() + PLENTY_MS;;) {
		struct strbuf text = { 0 };
		assert_int_equal(fs_read(AT_FDCWD, path, 64 << 20, &text, NULL), 0);
		if (text.length)
			return strbuf_take(&text);
		strbuf_free(&text);
		if (clock_ms() > deadline)
			fail_msg("%s stays empty", name);
		(void)poll(NULL, 0, LOOK_MS);
	}
}

/* tmux 3.4, and no other, prints "$NAME" and "${NAME}" with a backslash before them. */
static void remove_escapes(char *text)
{
	cleanup_free char *version = NULL;
	assert_int_equal(tmux_version(&version, NULL), 0);
	if (!starts_with(version, "3.4"))
		return;
	for (char *at = text; (at = strstr(at, "\\$")); at++)
		if (isalpha((unsigned char)at[2]) || at[2] == '_' || at[2] == '{')
			memmove(at, at + 1, strlen(at));
}

/* The server's answer to a command in its own language. */
static char *ask(const struct fixture *f, const char *format)
{
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = {
		.argv = (const char *const[]){ "tmux", "-u", "-N", "-S", f->socket,
					       "display-message", "-p", "-t", "%0", format, NULL },
	};
	assert_int_equal(child_run(&request, PLENTY_MS, &result, NULL), 0);
	char *text = strbuf_take(&result.output);
	text[strcspn(text, "\n")] = '\0';
	remove_escapes(text);
	return text;
}

/* --- what is never interpreted ---------------------------------------------------------------- */

static const char *const nasty[] = {
	"plain",
	"#(touch $D/pwned)",
	"#{pid}",
	"#{E:@agentdeck_exit}",
	"trailing;",
	"trailing\\;",
	";",
	"\\;",
	";;",
	"$(touch $D/pwned)",
	"`touch $D/pwned`",
	"it's \"quoted\"",
	"back\\slash",
	"~",
	"{ }",
	"%if 1",
	"Ünï €😀",
	"-x",
	"--",
	" spaces ",
	"",
	"%H:%M",
	"line\nbreak",
	"#[fg=red]",
	"a|b&c<d>e",
};

static void words_of_the_pane_arrive_as_they_are(void **state)
{
	struct fixture *f = *state;
	cleanup_strvec struct strvec pane = { 0 };
	cleanup_strbuf struct strbuf expected = { 0 };
	strvec_push_array(&pane, (const char *const[]){ self, "words", NULL });
	for (size_t i = 0; i < ARRAY_SIZE(nasty); i++) {
		strvec_push(&pane, nasty[i]);
		strbuf_addf(&expected, "%s\x1e", nasty[i]);
	}
	start(f, "t", (const char *const *)pane.items);
	wait_for(f, "words");
	cleanup_free char *words = content(f, "words");
	assert_string_equal(words, expected.data);
	assert_false(exists(f, "pwned"));
}

static void a_title_is_shown_and_not_obeyed(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_SIZE(nasty); i++) {
		if (!*nasty[i] || strchr(nasty[i], '\n'))
			continue;
		start(f, nasty[i], (const char *const[]){ self, "pane", "read x", "", NULL });
		cleanup_free char *title = ask(f, "#{@agentdeck_title}");
		assert_string_equal(title, nasty[i]);
		/* As the status line does it: expanded a second time as a format. */
		cleanup_free char *line = ask(f, "#{E:status-left}");
		assert_null(strstr(line, "/tmp"));
		cleanup_free char *escaped = ask(f, "#{T:status-left}");
		assert_non_null(strstr(escaped, "running"));
		assert_int_equal(tmux_kill_server(f->socket, NULL), 0);
		assert_int_equal(process_wait_end(&f->server, clock_ms() + PLENTY_MS, NULL), 0);
	}
	assert_false(exists(f, "pwned"));
}

/* ---- the bus --------------------------------------------------------------------------------- */

#define BUS_IS "DBUS_SESSION_BUS_ADDRESS="

/* A server whose user has this address, and a pane that writes down what it finds. */
static void start_with_bus(struct fixture *f, const char *address)
{
	cleanup_strvec struct strvec environment = { 0 };
	for (char **item = environ; *item; item++)
		if (!starts_with(*item, BUS_IS))
			strvec_push(&environment, *item);
	if (address)
		strvec_pushf(&environment, BUS_IS "%s", address);
	tmux_hide_bus(&environment);
	start_with(f, "title",
		   (const char *const[]){ self, "pane",
					  "printf %s \"${DBUS_SESSION_BUS_ADDRESS-unset}"
					  "${AGENTDECK_SESSION_BUS+ and hidden}\" >\"$D/bus\";"
					  "read x",
					  "", NULL },
		   environment.items);
	wait_for(f, "bus");
}

static void assert_pane_found(const struct fixture *f, const char *address)
{
	cleanup_free char *found = content(f, "bus");
	assert_string_equal(found, address);
}

/* tmux asks the user manager, at this address, to move its panes out of the server's scope. */
static void only_the_server_does_not_know_the_bus(void **state)
{
	static const char address[] = "unix:path=/run/#(touch $D/pwned)/#{pid}/it's,guid=1;";
	struct fixture *f = *state;
	cleanup_free char *of_server = NULL;
	cleanup_strvec struct strvec environment = { 0 };
	start_with_bus(f, address);
	assert_pane_found(f, address);
	assert_int_equal(process_variable(f->started.server, "DBUS_SESSION_BUS_ADDRESS", &of_server,
					  NULL),
			 0);
	assert_non_null(of_server);
	assert_string_equal(of_server, "disabled:");
	/* Another run may have the environment of this one. */
	assert_int_equal(process_environment(f->started.server, &environment, NULL), 0);
	tmux_show_bus(&environment);
	cleanup_free char *expected = xasprintf(BUS_IS "%s", address);
	assert_true(strvec_contains(&environment, expected));
	assert_false(strvec_contains(&environment, BUS_IS "disabled:"));
	assert_false(exists(f, "pwned"));
}

/* The client that starts the server has the hidden address, too. */
static void the_user_s_settings_do_not_bring_the_hidden_bus_back(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *user = below(f, "user.conf");
	static const char text[] = "set -g update-environment DBUS_SESSION_BUS_ADDRESS\n"
				   "set -g @user yes\n";
	write_path(user, text, strlen(text));
	write_conf(f, &(const struct tmux_conf){ .default_terminal = "screen-256color",
						 .detach_key = "",
						 .user_conf = user });
	start_with_bus(f, "unix:path=/run/bus");
	assert_pane_found(f, "unix:path=/run/bus");
	cleanup_free char *obeyed = ask(f, "#{@user}");
	assert_string_equal(obeyed, "yes");
}

static void a_pane_without_a_bus_gets_none(void **state)
{
	struct fixture *f = *state;
	cleanup_strvec struct strvec environment = { 0 };
	start_with_bus(f, NULL);
	assert_pane_found(f, "unset");
	assert_int_equal(process_environment(f->started.server, &environment, NULL), 0);
	assert_true(strvec_contains(&environment, BUS_IS "disabled:"));
	tmux_show_bus(&environment);
	for (size_t i = 0; i < environment.count; i++)
		assert_false(starts_with(environment.items[i], BUS_IS));
}

#define WHOLE "#[bold]2 others wait#[nobold]  Ctrl-Q: leave"

static void the_status_line_shows_texts_and_obeys_none(void **state)
{
	struct fixture *f = *state;
	start_scripts(f, "read x", "");
	for (size_t i = 0; i < ARRAY_SIZE(nasty); i++) {
		if (strchr(nasty[i], '\n'))
			continue;
		const struct tmux_status status = { nasty[i], nasty[i], nasty[i], nasty[i] };
		assert_int_equal(tmux_show_status(f->socket, &status, NULL), 0);
		cleanup_free char *title = ask(f, "#{@agentdeck_title}");
		cleanup_free char *others = ask(f, "#{@agentdeck_others}");
		assert_string_equal(title, nasty[i]);
		assert_string_equal(others, nasty[i]);
		static const char *const lines[] = { "#{E:status-left}", "#{T:status-right}",
						     "#{T:set-titles-string}" };
		for (size_t j = 0; j < ARRAY_SIZE(lines); j++) {
			cleanup_free char *line = ask(f, lines[j]);
			assert_null(strstr(line, f->directory));
		}
	}
	assert_int_equal(tmux_show_status(f->socket, &(struct tmux_status){ .others = "" }, NULL),
			 0);
	cleanup_free char *left = ask(f, "#{@agentdeck_activity}");
	assert_string_equal(left, nasty[ARRAY_SIZE(nasty) - 1]);
	assert_int_equal(
		tmux_show_status(f->socket,
				 &(struct tmux_status){ "api", "work", "waiting", "2 others wait" },
				 NULL),
		0);
	cleanup_free char *line = ask(f, "#{T:status-left}|#{T:status-right}|"
					 "#{T:set-titles-string}");
	assert_string_equal(line, "? api  waiting  |" WHOLE "|api (waiting)");
	const struct tmux_status asking = { .activity = "asks" };
	assert_int_equal(tmux_show_status(f->socket, &asking, NULL), 0);
	cleanup_free char *asks = ask(f, "#{T:status-left}|#{T:set-titles-string}");
	assert_string_equal(asks, "? api  asks  |api (asks)");
	assert_false(exists(f, "pwned"));
}

static void the_users_keys_are_taken_over(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *prefix, *prefix2, *detach, *shown;
	} cases[] = {
		{ "C-a", NULL, "C-q", "Ctrl-Q" },   { NULL, NULL, "", "Ctrl-B d" },
		{ "C-q", NULL, "C-q", "Ctrl-Q d" }, { "`", "C-q", "C-q", "` d" },
		{ "C-a", NULL, "M-F5", "Alt-F5" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct tmux_conf settings = {
			.choices = { .prefix = (char *)cases[i].prefix,
				     .prefix2 = (char *)cases[i].prefix2,
				     .mode_keys = (char *)"vi" },
			.default_terminal = "screen-256color",
			.detach_key = cases[i].detach,
		};
		write_conf(f, &settings);
		start(f, "t", (const char *const[]){ self, "pane", "read x", "", NULL });
		cleanup_free char *facts = ask(f, "#{prefix} #{mode-keys} #{pane_in_mode} "
						  "#{@agentdeck_detach}");
		cleanup_free char *expected = xasprintf(
			"%s vi 0 %s", cases[i].prefix ? cases[i].prefix : "C-b", cases[i].shown);
		assert_string_equal(facts, expected);
		assert_int_equal(tmux_kill_server(f->socket, NULL), 0);
		assert_int_equal(process_wait_end(&f->server, clock_ms() + PLENTY_MS, NULL), 0);
	}
}

static void the_switcher_gets_its_words_as_they_are(void **state)
{
	struct fixture *f = *state;
	const char *const words_of[] = { "/bin/a b", "it's }", "$HOME #{pid} #(touch $D/pwned)",
					 ";", NULL };
	cleanup_strvec struct strvec switcher = { 0 };
	strvec_push_array(&switcher, words_of);
	write_conf(f, &(const struct tmux_conf){ .default_terminal = "screen-256color",
						 .detach_key = "",
						 .switcher = &switcher,
						 .switch_key = "M-s",
						 .next_key = "M-n" });
	start(f, "t", (const char *const[]){ self, "pane", "read x", "", NULL });
	/* As the keys read them. */
	cleanup_free char *words = ask(f, "#{@agentdeck_switcher}");
	assert_string_equal(words,
			    "'/bin/a b' 'it'\"'\"'s }' '$HOME #{pid} #(touch $D/pwned)' ';'");
	assert_false(exists(f, "pwned"));
}

/* A terminal with a client, which leave() ends. */
static int attach(const struct fixture *f, unsigned short columns, unsigned short rows)
{
	int terminal;
	cleanup_strvec struct strvec argv = { 0 };
	const struct winsize size = { .ws_col = columns, .ws_row = rows };
	tmux_attach_argv(f->socket, &(struct tmux_attach){ 0 }, &argv);
	pid_t pid = forkpty(&terminal, NULL, NULL, &size);
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)execvp(argv.items[0], argv.items);
		_exit(127);
	}
	return terminal;
}

static void leave(int terminal)
{
	assert_int_equal(close(terminal), 0);
	assert_true(waitpid(-1, NULL, 0) > 0);
}

static void resize(int terminal, unsigned short columns, unsigned short rows)
{
	const struct winsize size = { .ws_col = columns, .ws_row = rows };
	assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
}

static void wait_for_size(const struct fixture *f, const char *clients, const char *size)
{
	cleanup_free char *expected = xasprintf("%s %s", clients, size);
	for (int64_t deadline = clock_ms() + PLENTY_MS;;) {
		cleanup_free char *found = ask(f, "#{window_active_clients} "
						  "#{window_width}x#{window_height}");
		if (streq(found, expected))
			return;
		if (clock_ms() > deadline)
			fail_msg("%s, not %s", found, expected);
		(void)poll(NULL, 0, LOOK_MS);
	}
}

static void a_terminal_of_a_few_cells_resizes_no_window(void **state)
{
	struct fixture *f = *state;
	setenv("TERM", "xterm-256color", 1);
	start_scripts(f, "read x", "");
	const int small = attach(f, 1, 1);
	wait_for_size(f, "1", "80x24");
	resize(small, 120, 40);
	wait_for_size(f, "1", "120x39");
	resize(small, 2, 2);
	wait_for_size(f, "1", "80x24");
	const int large = attach(f, 100, 30);
	wait_for_size(f, "2", "100x29");
	assert_int_equal(write(small, "x", 1), 1);
	resize(large, 90, 30);
	wait_for_size(f, "2", "90x29");
	leave(large);
	wait_for_size(f, "1", "80x24");
	leave(small);
}

static void the_status_line_fits_the_terminal(void **state)
{
	struct fixture *f = *state;
	static const struct {
		unsigned short columns;
		const char *group, *left, *right;
	} cases[] = {
		{ 120, "work/shop", "api: login  work/shop", WHOLE },
		{ 119, "work/shop", "api: login", WHOLE },
		{ 120, "work/a-group-with-a-long-name", "api: login  work/a-group-with-a-…",
		  WHOLE },
		{ 60, "", "api: login", WHOLE },
		/* How many wait is seen to the last. */
		{ 59, "", "api: login", "#[bold]2 wait#[nobold]  Ctrl-Q: leave" },
		{ 49, "", "api: login", "#[bold]2 wait#[nobold]  " },
		{ 39, "", "api: l…", "#[bold]2 wait#[nobold]  " },
	};
	setenv("TERM", "xterm-256color", 1);
	start_scripts(f, "read x", "");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct tmux_status status = { "api: login", cases[i].group, NULL,
						    "2 others wait" };
		cleanup_free char *size = xasprintf("%ux29", cases[i].columns);
		const int terminal = attach(f, cases[i].columns, 30);
		wait_for_size(f, "1", size);
		assert_int_equal(tmux_show_status(f->socket, &status, NULL), 0);
		cleanup_free char *left = ask(f, "#{T:status-left}");
		/* The sign is that of a terminal with Unicode, or of one without. */
		cleanup_free char *expected = xasprintf(" %s  running  ", cases[i].left);
		assert_string_equal(strchr(left, ' '), expected);
		cleanup_free char *right = ask(f, "#{T:status-right}");
		assert_string_equal(right, cases[i].right);
		leave(terminal);
	}
}

static void true_color_is_not_forced_on_a_terminal(void **state)
{
	struct fixture *f = *state;
	start_scripts(f, "read x", "");
	cleanup_free char *features = ask(f, "#{terminal-features}");
	assert_null(strstr(features, "RGB"));
	assert_false(tmux_has_clients(f->socket));
	for (int has = 0; has < 2; has++) {
		cleanup_strvec struct strvec argv = { 0 };
		tmux_attach_argv(f->socket, &(struct tmux_attach){ .has_true_color = has }, &argv);
		assert_int_equal(strvec_contains(&argv, "RGB"), has);
	}
}

/* tmux makes the same of -r. */
static void a_client_that_only_looks_does_not_size_the_window(void **state)
{
	struct fixture *f = *state;
	cleanup_strvec struct strvec plain = { 0 }, nested = { 0 };
	tmux_attach_argv(f->socket, &(struct tmux_attach){ .read_only = true }, &plain);
	assert_true(strvec_contains(&plain, "-r"));
	tmux_attach_argv(f->socket,
			 &(struct tmux_attach){ .read_only = true, .nested_note = "leave" },
			 &nested);
	assert_true(strvec_contains(&nested, "read-only,ignore-size"));
}

static void options_take_their_values_as_they_are(void **state)
{
	struct fixture *f = *state;
	start_scripts(f, "read x", "");
	for (size_t i = 0; i < ARRAY_SIZE(nasty); i++) {
		cleanup_strvec struct strvec options = { 0 };
		strvec_push(&options, "@one");
		strvec_push(&options, nasty[i]);
		strvec_push(&options, "@two");
		strvec_push(&options, "after");
		assert_int_equal(tmux_set_options(f->socket, &options, NULL), 0);
		if (strchr(nasty[i], '\n'))
			continue;
		cleanup_free char *one = ask(f, "#{@one}"), *two = ask(f, "#{@two}");
		assert_string_equal(one, nasty[i]);
		assert_string_equal(two, "after");
	}
	cleanup_strvec struct strvec bad = { 0 };
	cleanup_error struct error err = { 0 };
	strvec_push(&bad, "no-such-option");
	strvec_push(&bad, "1");
	assert_int_equal(tmux_set_options(f->socket, &bad, &err), -1);
	assert_non_null(strstr(err.message, "no-such-option"));
}

static void a_configuration_holds_its_values_literally(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *user = below(f, "user's #(pwd) $HOME.conf");
	const struct tmux_conf settings = { .default_terminal = "it's #(x) $HOME ~ \"q\"",
					    .history_limit = 1234,
					    .mouse = true,
					    .detach_key = "C-]",
					    .user_conf = user };
	/* These would end the session at once. */
	static const char line[] = "set -g @user yes\nset -g destroy-unattached on\n"
				   "set -s exit-unattached on\n";
	write_path(user, line, strlen(line));
	write_conf(f, &settings);
	start(f, "t", (const char *const[]){ self, "pane", "read x", "", NULL });
	static const char *const facts[][2] = {
		{ "#{default-terminal}", "it's #(x) $HOME ~ \"q\"" },
		{ "#{history-limit}", "1234" },
		{ "#{mouse}", "1" },
		{ "#{@user}", "yes" },
		{ "#{update-environment}", "" },
		/* tmux 3.5 says "off" */
		{ "#{m/r:^(0|off)$,#{destroy-unattached}}", "1" },
		{ "#{exit-unattached}", "0" },
		{ "#{pane_in_mode}", "0" }, /* else the configuration had errors to show */
	};
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		cleanup_free char *value = ask(f, facts[i][0]);
		assert_string_equal(value, facts[i][1]);
	}
	assert_false(exists(f, "pwned"));
}

/* Wait until tmux has read what the pane printed. */
static void wait_for_screen(const struct fixture *f, const char *words)
{
	for (int64_t deadline = clock_ms() + PLENTY_MS;; (void)poll(NULL, 0, LOOK_MS)) {
		cleanup_free char *screen = NULL;
		assert_int_equal(tmux_capture(f->socket, 0, &screen, NULL), 0);
		if (strstr(screen, words))
			return;
		if (clock_ms() > deadline)
			fail_msg("the screen does not show \"%s\"", words);
	}
}

static void press_enter(const struct fixture *f)
{
	cleanup_strvec struct strvec keys = { 0 };
	strvec_push(&keys, "Enter");
	assert_int_equal(tmux_send_keys(f->socket, &keys, NULL), 0);
}

/* --- the pane --------------------------------------------------------------------------------- */

static void the_end_of_a_process_is_noted_with_its_last_words(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *script;
		int code, signal_number;
		bool one_line;
	} table[] = {
		/* Longer than the terminal is wide: an id in it must not be torn. */
		{ "printf '%0300d last words\\n' 7; read x", 0, 0, true },
		{ "printf 'first\\nlast words\\n'; read x; exit 7", 7, 0, false },
		{ "printf 'last words\\n'; read x; kill -9 $$", 0, SIGKILL, false },
		{ "printf '\\033[31mlast words\\033[0m\\n'; read x", 0, 0, false },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_free char *died = below(f, "died");
		struct exit_record end = { 0 };
		(void)unlink(died);
		/* tmux may miss the end of a short-lived process; a nudge tells it. */
		start_scripts(f, table[i].script, ": > \"$D/died\"; read x");
		wait_for_screen(f, "last words");
		press_enter(f);
		for (int64_t deadline = clock_ms() + PLENTY_MS; !exists(f, "died");) {
			assert_true(clock_ms() < deadline);
			(void)poll(NULL, 0, 100);
			(void)process_signal(&f->server, SIGCHLD, NULL);
		}
		assert_int_equal(tmux_pane_exit(f->socket, &end, NULL), 0);
		assert_int_equal(end.code, table[i].code);
		assert_int_equal(end.signal, table[i].signal_number);
		if (!ends_with(end.last_words, "last words\n"))
			fail_msg("row %zu: the last words are \"%s\"", i, end.last_words);
		if (table[i].one_line)
			assert_true(strlen(end.last_words) == 300 + strlen(" last words\n"));
		assert_null(strstr(end.last_words, "dead"));
		free(end.last_words);
		assert_int_equal(tmux_kill_server(f->socket, NULL), 0);
		assert_int_equal(process_wait_end(&f->server, clock_ms() + PLENTY_MS, NULL), 0);
	}
}

static void the_end_is_noticed_although_the_signal_was_lost(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *agent_pid = NULL;
	struct process_id agent;
	int64_t pid;
	start_scripts(f, "echo $$ > \"$D/pid.new\"; mv \"$D/pid.new\" \"$D/pid\"; read x; exit 3",
		      ": > \"$D/died\"; read x");
	wait_for(f, "pid");
	agent_pid = content(f, "pid");
	agent_pid[strcspn(agent_pid, "\n")] = '\0';
	assert_true(parse_int64(agent_pid, 2, INT32_MAX, &pid));
	assert_int_equal(process_identify((pid_t)pid, &agent, NULL), 0);
	/* Two ends at once leave one signal.  While the server is stopped, the agent ends, and the
	 * signal that was already pending looks like a nudge. */
	assert_int_equal(process_signal(&f->server, SIGSTOP, NULL), 0);
	assert_int_equal(process_signal(&agent, SIGKILL, NULL), 0);
	assert_int_equal(process_wait_end(&agent, clock_ms() + PLENTY_MS, NULL), 0);
	assert_true(process_is_zombie(&agent));
	assert_int_equal(process_signal(&f->server, SIGCONT, NULL), 0);
	for (int64_t deadline = clock_ms() + PLENTY_MS; !exists(f, "died");) {
		assert_true(clock_ms() < deadline);
		assert_int_equal(process_signal(&f->server, SIGCHLD, NULL), 0);
		(void)poll(NULL, 0, 100);
	}
	struct exit_record end = { 0 };
	assert_int_equal(tmux_pane_exit(f->socket, &end, NULL), 0);
	assert_int_equal(end.signal, SIGKILL);
	free(end.last_words);
}

static void a_query_tells_what_is_there(void **state)
{
	struct fixture *f = *state;
	cleanup_tmux_pane struct tmux_pane pane = { 0 };
	start_scripts(f, "exec sleep 1000", "");
	assert_int_equal(tmux_query(f->socket, &pane, NULL), 0);
	assert_int_equal(pane.server, f->started.server);
	assert_int_equal(pane.pane, f->started.pane);
	assert_int_equal(pane.clients, 0);
	assert_false(pane.dead);
	assert_true(tmux_version_is_enough(f->started.version));
}

static void captures_have_the_screen_and_the_history_without_escapes(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *screen = NULL, *all = NULL;
	start_scripts(f,
		      "i=0; while [ $i -lt 100 ]; do echo \"line $i \"; i=$((i+1)); done; "
		      "printf '\\033[1mbold\\033[0m Ünï'; : > \"$D/up\"; read x",
		      "");
	wait_for(f, "up");
	for (int64_t deadline = clock_ms() + PLENTY_MS; !screen || !strstr(screen, "bold Ünï");) {
		assert_true(clock_ms() < deadline);
		free(screen);
		screen = NULL;
		assert_int_equal(tmux_capture(f->socket, 0, &screen, NULL), 0);
	}
	assert_null(strstr(screen, "line 0"));
	assert_null(strchr(screen, 033));
	assert_int_equal(tmux_capture(f->socket, 1000, &all, NULL), 0);
	assert_true(starts_with(all, "line 0"));
}

/* --- paste and keys --------------------------------------------------------------------------- */

/* Paste text into a program that reads it raw, and compare. */
static void check_paste(struct fixture *f, const char *text, size_t length)
{
	cleanup_error struct error err = { 0 };
	cleanup_free char *script = xasprintf(
		"stty raw -echo; : > \"$D/up\"; head -c %zu > \"$D/got\"; "
		": > \"$D/done\"; read x",
		length);
	start_scripts(f, script, "");
	wait_for(f, "up");
	if (tmux_paste(f->socket, text, length, &err) != 0)
		fail_msg("%s", or_empty(err.message));
	wait_for(f, "done");
	cleanup_free char *got = content(f, "got");
	assert_int_equal(strlen(got), length);
	assert_memory_equal(got, text, length);
	cleanup_free char *buffers = ask(f, "#{buffer_name}");
	assert_string_equal(buffers, "");
}

static void one_byte_is_pasted(void **state)
{
	check_paste(*state, ";", 1);
}

static void several_lines_are_pasted_as_they_are(void **state)
{
	static const char text[] = "first; second\\;\n\n#(touch $D/pwned) #{pid}\n"
				   "\tÜnï €😀 'q' \"q\" $HOME\n";
	check_paste(*state, text, strlen(text));
	assert_false(exists(*state, "pwned"));
}

static void a_large_text_is_pasted_whole(void **state)
{
	enum { SIZE = 100 << 10 };
	cleanup_free char *text = xcalloc(SIZE + 1, 1);
	for (size_t i = 0; i < SIZE; i++)
		text[i] = (char)(i % 80 == 79 ? '\n' : 'a' + i % 26);
	check_paste(*state, text, SIZE);
}

static void a_paste_is_bracketed_where_the_program_asked_for_it(void **state)
{
	struct fixture *f = *state;
	start_scripts(
		f,
		"stty raw -echo; printf '\\033[?2004h'; : > \"$D/up\"; head -c 15 > \"$D/got\"; "
		": > \"$D/done\"; read x",
		"");
	wait_for(f, "up");
	/* Wait until the server has read the sequence. */
	for (int64_t deadline = clock_ms() + PLENTY_MS; !exists(f, "done");) {
		assert_true(clock_ms() < deadline);
		assert_int_equal(tmux_paste(f->socket, "a\nb", 3, NULL), 0);
		(void)poll(NULL, 0, LOOK_MS);
	}
	cleanup_free char *got = content(f, "got");
	assert_non_null(strstr(got, "\033[200~"));
}

static void keys_are_pressed_by_name_and_reach_the_program_in_copy_mode_too(void **state)
{
	struct fixture *f = *state;
	cleanup_strvec struct strvec keys = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request copy_mode = {
		.argv = (const char *const[]){ "tmux", "-S", f->socket, "copy-mode", "-t", "%0",
					       NULL },
	};
	start_scripts(
		f, "stty raw -echo; : > \"$D/up\"; head -c 3 > \"$D/got\"; : > \"$D/done\"; read x",
		"");
	wait_for(f, "up");
	strvec_push(&keys, "Enter");
	strvec_push(&keys, ";");
	assert_int_equal(tmux_send_keys(f->socket, &keys, NULL), 0);
	/* As after somebody has scrolled back and left. */
	assert_int_equal(child_run(&copy_mode, PLENTY_MS, &result, NULL), 0);
	assert_int_equal(tmux_send_keys(f->socket,
					&(struct strvec){ .items = keys.items, .count = 1 }, NULL),
			 0);
	wait_for(f, "done");
	cleanup_free char *got = content(f, "got");
	assert_string_equal(got, "\r;\r");
}

/* --- servers that are not there, or do not answer --------------------------------------------- */

static void check_each(const struct fixture *f, int expected)
{
	cleanup_tmux_pane struct tmux_pane pane = { 0 };
	cleanup_strvec struct strvec words = { 0 };
	struct exit_record end = { 0 };
	char *text = NULL;
	strvec_push(&words, "@x");
	strvec_push(&words, "y");
	assert_int_equal(tmux_query(f->socket, &pane, NULL), expected);
	assert_int_equal(tmux_pane_exit(f->socket, &end, NULL), expected);
	assert_int_equal(tmux_capture(f->socket, 0, &text, NULL), expected);
	assert_int_equal(tmux_paste(f->socket, "x", 1, NULL), expected);
	assert_int_equal(tmux_send_keys(f->socket, &words, NULL), expected);
	assert_int_equal(tmux_set_options(f->socket, &words, NULL), expected);
	assert_null(text);
	assert_null(end.last_words);
}

static void no_server_is_an_outcome_and_none_is_started(void **state)
{
	struct fixture *f = *state;
	check_each(f, TMUX_NO_SERVER);
	assert_int_equal(tmux_kill_server(f->socket, NULL), 0);
	assert_false(exists(f, "sock"));
	/* The socket of a killed server. */
	start_scripts(f, "read x", "");
	assert_int_equal(process_signal(&f->server, SIGKILL, NULL), 0);
	assert_int_equal(process_wait_end(&f->server, clock_ms() + PLENTY_MS, NULL), 0);
	assert_true(exists(f, "sock"));
	check_each(f, TMUX_NO_SERVER);
	assert_int_equal(tmux_kill_server(f->socket, NULL), 0);
}

static void a_server_that_stands_still_is_unknown_within_the_deadline(void **state)
{
	struct fixture *f = *state;
	cleanup_tmux_pane struct tmux_pane pane = { 0 };
	char *text = NULL;
	start_scripts(f, "read x", "");
	assert_int_equal(process_signal(&f->server, SIGSTOP, NULL), 0);
	assert_int_equal(tmux_query(f->socket, &pane, NULL), TMUX_UNKNOWN);
	assert_int_equal(tmux_capture(f->socket, 0, &text, NULL), TMUX_UNKNOWN);
	assert_null(text);
	assert_int_equal(process_signal(&f->server, SIGCONT, NULL), 0);
	assert_int_equal(tmux_query(f->socket, &pane, NULL), 0);
	/* No client of ours is left behind. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void use_fake_tmux(const struct fixture *f, const char *script)
{
	cleanup_free char *program = below(f, "tmux");
	write_path(program, script, strlen(script));
	assert_int_equal(chmod(program, 0700), 0);
	setenv("PATH", f->directory, 1);
}

static void another_protocol_version_is_unknown_and_never_dead(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *path = xstrdup(getenv("PATH"));
	use_fake_tmux(
		f,
		"#!/bin/sh\necho 'protocol version mismatch (client 8, server 7)' >&2\nexit 1\n");
	check_each(f, TMUX_UNKNOWN);
	use_fake_tmux(f,
		      "#!/bin/sh\necho 'error connecting to x (Permission denied)' >&2\nexit 1\n");
	cleanup_tmux_pane struct tmux_pane pane = { 0 };
	assert_int_not_equal(tmux_query(f->socket, &pane, NULL), TMUX_NO_SERVER);
	setenv("PATH", path, 1);
}

static void versions_are_compared_by_their_numbers(void **state)
{
	struct fixture *f = *state;
	static const char *const enough[] = { "3.2", "3.2a",     "3.3a",   "3.10",
					      "4.0", "next-3.6", "master", "openbsd-7.4" };
	static const char *const old[] = { "3.1c", "3.0", "2.9a", "1.8", "", "x" };
	for (size_t i = 0; i < ARRAY_SIZE(enough); i++)
		assert_true(tmux_version_is_enough(enough[i]));
	for (size_t i = 0; i < ARRAY_SIZE(old); i++)
		assert_false(tmux_version_is_enough(old[i]));
	cleanup_free char *path = xstrdup(getenv("PATH")), *version = NULL;
	cleanup_error struct error err = { 0 };
	use_fake_tmux(f, "#!/bin/sh\n[ \"$1\" = -V ] && echo 'tmux 3.1c' && exit 0\n"
			 "echo usage >&2\nexit 1\n");
	const struct child_result failed = { .exit_status = 1 };
	struct tmux_started started = { 0 };
	int r = tmux_version(&version, NULL);
	int parsed = tmux_parse_started(&failed, &started, &err);
	setenv("PATH", path, 1);
	assert_int_equal(r, 0);
	assert_string_equal(version, "3.1c");
	assert_int_equal(parsed, -1);
	assert_int_equal(err.code, ERROR_UNAVAILABLE);
	assert_string_equal(err.message, "tmux 3.1c is too old: install tmux 3.2 or newer");
}

static void no_tmux_is_an_error_with_its_remedy(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *path = xstrdup(getenv("PATH")), *version = NULL;
	cleanup_error struct error err = { 0 };
	cleanup_tmux_pane struct tmux_pane pane = { 0 };
	setenv("PATH", f->directory, 1);
	int r = tmux_query(f->socket, &pane, &err), v = tmux_version(&version, NULL);
	setenv("PATH", path, 1);
	assert_int_equal(r, -1);
	assert_int_equal(err.code, ERROR_UNAVAILABLE);
	assert_non_null(strstr(err.message, "install tmux"));
	assert_int_equal(v, CHILD_NOT_INSTALLED);
}

/* "words WORD...": write them down.  "pane SCRIPT DIED": become a shell. */
static int play_pane(int argc, char *argv[])
{
	if (streq(argv[1], "words")) {
		cleanup_free char *path = path_join(getenv("D"), "words");
		cleanup_strbuf struct strbuf text = { 0 };
		for (int i = 2; i < argc; i++)
			strbuf_addf(&text, "%s\x1e", argv[i]);
		write_path(path, text.data, text.length);
		for (;;)
			(void)pause();
	}
	bool died = getenv("AGENTDECK_PANE_DIED") != NULL;
	execl("/bin/sh", "sh", "-c", argv[died ? 3 : 2], NULL);
	return 126;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		TEST(words_of_the_pane_arrive_as_they_are),
		TEST(a_title_is_shown_and_not_obeyed),
		TEST(only_the_server_does_not_know_the_bus),
		TEST(the_user_s_settings_do_not_bring_the_hidden_bus_back),
		TEST(a_pane_without_a_bus_gets_none),
		TEST(the_status_line_shows_texts_and_obeys_none),
		TEST(the_users_keys_are_taken_over),
		TEST(the_switcher_gets_its_words_as_they_are),
		TEST(a_terminal_of_a_few_cells_resizes_no_window),
		TEST(the_status_line_fits_the_terminal),
		TEST(true_color_is_not_forced_on_a_terminal),
		TEST(a_client_that_only_looks_does_not_size_the_window),
		TEST(options_take_their_values_as_they_are),
		TEST(a_configuration_holds_its_values_literally),
		TEST(the_end_of_a_process_is_noted_with_its_last_words),
		TEST(the_end_is_noticed_although_the_signal_was_lost),
		TEST(a_query_tells_what_is_there),
		TEST(captures_have_the_screen_and_the_history_without_escapes),
		TEST(one_byte_is_pasted),
		TEST(several_lines_are_pasted_as_they_are),
		TEST(a_large_text_is_pasted_whole),
		TEST(a_paste_is_bracketed_where_the_program_asked_for_it),
		TEST(keys_are_pressed_by_name_and_reach_the_program_in_copy_mode_too),
		TEST(no_server_is_an_outcome_and_none_is_started),
		TEST(a_server_that_stands_still_is_unknown_within_the_deadline),
		TEST(another_protocol_version_is_unknown_and_never_dead),
		TEST(versions_are_compared_by_their_numbers),
		TEST(no_tmux_is_an_error_with_its_remedy),
	};
	cleanup_free char *version = NULL;
	if (argc >= 3 && (streq(argv[1], "words") || streq(argv[1], "pane")))
		return play_pane(argc, argv);
	unsetenv("TMUX");
	if (tmux_version(&version, NULL) != 0 || !tmux_version_is_enough(version)) {
		fprintf(stderr, "skipped: no tmux " TMUX_OLDEST " or newer\n");
		return 77;
	}
	self = realpath("/proc/self/exe", NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(self);
	return failed;
}
