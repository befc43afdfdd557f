/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/tmux/tmux.h"

#include "base/fsutil.h"
#include "driver/tmux/tmux-internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { QUERY_TIMEOUT_MS = 2000, CHANGE_TIMEOUT_MS = 5000 };

/* The session by exact name ("=" forbids tmux to match a prefix).  The first pane of a server is
 * always %0, whatever base-index the user's configuration sets. */
#define SESSION "agent"
#define PANE    "%0"
/* How long to show how a nested session is left. */
#define NESTED_NOTE_MS "8000"
/* Constants of ours, the only texts that tmux's own language reads.  respawn-pane without a command
 * runs the pane's first command again. */
#define ON_PANE_DIED                                                                      \
	"set-option -p -F @agentdeck_exit \"#{pane_dead_status}/#{pane_dead_signal}\" ; " \
	"capture-pane -J -b agentdeck-last -S -100 ; "                                    \
	"respawn-pane -e AGENTDECK_PANE_DIED=1"

/* The server has the first one, which no library connects to, and the caller's address in the
 * second one. */
#define BUS        "DBUS_SESSION_BUS_ADDRESS"
#define BUS_HIDDEN "AGENTDECK_SESSION_BUS"
#define NO_BUS     BUS "=disabled:"
#define SHOW_BUS   "set-environment -gF " BUS " '#{" BUS_HIDDEN "}'"
#define REMOVE_BUS "set-environment -gu " BUS

void tmux_hide_bus(struct strvec *environment)
{
	cleanup_strvec struct strvec ret = { 0 };
	for (size_t i = 0; i < environment->count; i++) {
		const char *item = environment->items[i];
		if (starts_with(item, BUS "="))
			strvec_pushf(&ret, BUS_HIDDEN "%s", item + strlen(BUS));
		else if (!starts_with(item, BUS_HIDDEN "="))
			strvec_push(&ret, item);
	}
	strvec_push(&ret, NO_BUS);
	strvec_clear(environment);
	strvec_push_all(environment, &ret);
}

void tmux_show_bus(struct strvec *environment)
{
	cleanup_strvec struct strvec ret = { 0 };
	for (size_t i = 0; i < environment->count; i++) {
		const char *item = environment->items[i];
		if (starts_with(item, BUS_HIDDEN "="))
			strvec_pushf(&ret, BUS "%s", item + strlen(BUS_HIDDEN));
		else if (!streq(item, NO_BUS))
			strvec_push(&ret, item);
	}
	strvec_clear(environment);
	strvec_push_all(environment, &ret);
}

/* An argument that ends in ";" would end the command (cmd_parse_from_arguments). */
static void push_text(struct strvec *argv, const char *text)
{
	if (ends_with(text, ";"))
		strvec_pushf(argv, "%.*s\\;", (int)(strlen(text) - 1), text);
	else
		strvec_push(argv, text);
}

static void push_client(struct strvec *argv, const char *socket)
{
	strvec_push_array(argv, (const char *const[]){ "tmux", "-u", "-S", socket, NULL });
}

void tmux_start_argv(const char *socket, const struct tmux_options *options, struct strvec *ret)
{
	push_client(ret, socket);
	strvec_push_array(ret, (const char *const[]){ "-f", options->conf_file, NULL });
	strvec_push_array(ret, (const char *const[]){ "if-shell", "-F", "#{" BUS_HIDDEN "}",
						      SHOW_BUS, REMOVE_BUS, ";", "set-environment",
						      "-gu", BUS_HIDDEN, ";", NULL });
	/* -E: the server has our whole environment.  The user's update-environment could copy the
	 * hidden address from this client. */
	strvec_push_array(ret, (const char *const[]){ "new-session", "-d", "-E", "-s", SESSION,
						      "-n", SESSION, NULL });
	strvec_pushf(ret, "-x%u", options->columns);
	strvec_pushf(ret, "-y%u", options->rows);
	strvec_push_array(ret, (const char *const[]){ "-P", "-F", "#{pid} #{pane_pid} #{version}",
						      "--", NULL });
	for (size_t i = 0; i < options->pane->count; i++)
		push_text(ret, options->pane->items[i]);
	strvec_push_array(ret,
			  (const char *const[]){ ";", "set-option", "-p", "remain-on-exit", "on",
						 ";", "set-hook", "-p", "pane-died", ON_PANE_DIED,
						 ";", "set-option", "-g", TITLE, NULL });
	cleanup_free char *title = visible(options->title);
	cleanup_free char *group = visible(or_empty(options->group));
	push_text(ret, title);
	strvec_push_array(ret, (const char *const[]){ ";", "set-option", "-g", GROUP, NULL });
	push_text(ret, group);
}

bool tmux_version_is_enough(const char *version)
{
	unsigned major, minor;
	/* "next-3.5" and "openbsd-7.0" are built from the code after a release. */
	if (starts_with(version, "next-") || starts_with(version, "openbsd-") ||
	    streq(version, "master"))
		return true;
	return sscanf(version, "%u.%u", &major, &minor) == 2 &&
	       (major > 3 || (major == 3 && minor >= 2));
}

int tmux_version(char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = {
		.argv = (const char *const[]){ "tmux", "-V", NULL },
	};
	int r = child_run(&request, QUERY_TIMEOUT_MS, &result, err);
	if (r != 0)
		return r;
	const char *text = strbuf_text(&result.output);
	if (result.exit_status != 0 || !starts_with(text, "tmux "))
		return error_set(err, ERROR_CHILD, "tmux -V does not print its version");
	text += strlen("tmux ");
	cleanup_free char *version = xstrndup(text, strcspn(text, "\n"));
	*ret = visible(version);
	return 0;
}

int tmux_check_version(const char *version, struct error *err)
{
	if (tmux_version_is_enough(version))
		return 0;
	cleanup_free char *shown = visible(version);
	return error_set(err, ERROR_UNAVAILABLE,
			 "tmux %s is too old: install tmux " TMUX_OLDEST " or newer", shown);
}

/* The characters of versions. */
#define VERSION_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-+_~"

/* kill(2) takes 0 and negative numbers for many processes. */
static bool are_processes(pid_t server, pid_t pane)
{
	return server > 0 && pane > 0;
}

int tmux_parse_started(const struct child_result *result, struct tmux_started *ret,
		       struct error *err)
{
	struct tmux_started started;
	if (result->exit_status != 0) {
		cleanup_free char *version = NULL;
		cleanup_free char *words = child_last_words(result);
		if (tmux_version(&version, NULL) == 0 && tmux_check_version(version, err) < 0)
			return -1;
		return error_set(err, ERROR_CHILD, "tmux could not start a server: %s", words);
	}
	if (sscanf(strbuf_text(&result->output), "%d %d %15s", &started.server, &started.pane,
		   started.version) != 3 ||
	    !are_processes(started.server, started.pane) ||
	    started.version[strspn(started.version, VERSION_CHARACTERS)])
		return error_set(err, ERROR_CHILD, "tmux did not say which server it started");
	if (tmux_check_version(started.version, err) < 0)
		return -1;
	*ret = started;
	return 0;
}

/* Judge a failed client by its message, with the texts of tmux's client.c.  Any other text is an
 * error that quotes it. */
static int judge_failure(const struct child_result *result, struct error *err)
{
	const char *text = strbuf_text(&result->errors);
	if (strstr(text, "protocol version mismatch") || strstr(text, "(Permission denied)"))
		return TMUX_UNKNOWN;
	if (strstr(text, "no server running") || strstr(text, "error connecting to") ||
	    strstr(text, "lost server") || strstr(text, "server exited"))
		return TMUX_NO_SERVER;
	cleanup_free char *words = child_last_words(result);
	return error_set(err, ERROR_CHILD, "tmux: %s", words);
}

int tmux_check_socket(const char *socket, struct error *err)
{
	return fs_check_owner(socket, err) < 0 ? error_prefix(err, "the tmux socket") : 0;
}

bool tmux_has_clients(const char *socket)
{
	struct stat st;
	return stat(socket, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_mode & S_IXUSR;
}

static int run_client(const char *socket, const struct child_request *wish, int timeout_ms,
		      struct child_result *ret, struct error *err)
{
	struct error local = { 0 };
	struct child_result result = { 0 };
	struct child_request request = *wish;
	request.max_output = 64 << 20;
	if (tmux_check_socket(socket, err) < 0)
		return -1;
	int r = child_run(&request, timeout_ms, &result, &local);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE,
				 "tmux is not installed: install tmux " TMUX_OLDEST " or newer");
	if (r < 0 && local.code == ERROR_TIMEOUT) {
		error_clear(&local);
		return TMUX_UNKNOWN;
	}
	if (r < 0)
		return error_move(err, &local);
	if (result.exit_status != 0) {
		r = judge_failure(&result, err);
		child_result_free(&result);
		return r;
	}
	if (ret)
		*ret = result;
	else
		child_result_free(&result);
	return 0;
}

static int run_argv(const char *socket, const struct strvec *argv, int timeout_ms,
		    struct child_result *ret, struct error *err)
{
	const struct child_request request = { .argv = (const char *const *)argv->items };
	return run_client(socket, &request, timeout_ms, ret, err);
}

static int run_words(const char *socket, const char *const *words, int timeout_ms,
		     struct child_result *ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	push_client(&argv, socket);
	/* A question must never start a server. */
	strvec_push(&argv, "-N");
	strvec_push_array(&argv, words);
	return run_argv(socket, &argv, timeout_ms, ret, err);
}

int tmux_set_options(const char *socket, const struct strvec *names_and_values, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	push_client(&argv, socket);
	strvec_push(&argv, "-N");
	for (size_t i = 0; i + 1 < names_and_values->count; i += 2) {
		if (i)
			strvec_push(&argv, ";");
		strvec_push_array(&argv, (const char *const[]){ "set-option", "-g", "--", NULL });
		push_text(&argv, names_and_values->items[i]);
		push_text(&argv, names_and_values->items[i + 1]);
	}
	return run_argv(socket, &argv, CHANGE_TIMEOUT_MS, NULL, err);
}

/* One command for each text, with " ; " behind it. */
static void push_status(struct strvec *argv, const struct tmux_status *status)
{
	const struct {
		const char *option, *text;
	} texts[] = {
		{ TITLE, status->title },
		{ GROUP, status->group },
		{ ACTIVITY, status->activity },
		{ OTHERS, status->others },
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!texts[i].text)
			continue;
		cleanup_free char *text = visible(texts[i].text);
		strvec_push_array(argv, (const char *const[]){ "set-option", "-g", "--",
							       texts[i].option, NULL });
		push_text(argv, text);
		strvec_push(argv, ";");
	}
}

int tmux_show_status(const char *socket, const struct tmux_status *status, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	push_client(&argv, socket);
	strvec_push(&argv, "-N");
	push_status(&argv, status);
	return run_argv(socket, &argv, QUERY_TIMEOUT_MS, NULL, err);
}

/* The terminal's own answer comes last: it may have blanks. */
#define CLIENT_FORMAT                                                       \
	"#{client_pid} #{client_width} #{client_height} #{client_readonly}" \
	" #{client_created} #{client_tty} #{client_termname} #{client_termtype}"
enum { CLIENT_NUMBERS = 5 };

/* False: it has no terminal (control mode), or the line is another one. */
static bool parse_client(char *line, struct tmux_client *ret)
{
	int64_t numbers[CLIENT_NUMBERS];
	for (size_t i = 0; i < CLIENT_NUMBERS; i++) {
		const char *number = strsep(&line, " ");
		if (!number || !parse_int64(number, i ? 0 : 1, INT64_MAX / 1000000, &numbers[i]))
			return false;
	}
	const char *terminal = strsep(&line, " "), *name = strsep(&line, " ");
	if (!name || *terminal != '/')
		return false;
	*ret = (struct tmux_client){
		.pid = (pid_t)numbers[0],
		.terminal = xstrdup(terminal),
		.name = xstrdup(name),
		.answer = xstrdup(or_empty(line)),
		.columns = (unsigned)numbers[1],
		.rows = (unsigned)numbers[2],
		.is_read_only = numbers[3],
		.since_us = numbers[4] * 1000000,
	};
	return true;
}

int tmux_list_clients(const char *socket, struct tmux_clients *ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	int r = run_words(socket,
			  (const char *const[]){ "list-clients", "-F", CLIENT_FORMAT, NULL },
			  QUERY_TIMEOUT_MS, &result, err);
	if (r != 0)
		return r;
	cleanup_free char *text = strbuf_take(&result.output);
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		struct tmux_client client;
		if (!parse_client(line, &client))
			continue;
		ret->clients = xreallocarray(ret->clients, ret->count + 1, sizeof(*ret->clients));
		ret->clients[ret->count++] = client;
	}
	return 0;
}

void tmux_clients_free(struct tmux_clients *clients)
{
	for (size_t i = 0; i < clients->count; i++) {
		free(clients->clients[i].terminal);
		free(clients->clients[i].name);
		free(clients->clients[i].answer);
	}
	free(clients->clients);
	*clients = (struct tmux_clients){ 0 };
}

#define NOTE "@agentdeck_note_%s"

int tmux_send_away(const char *socket, const struct tmux_client *client,
		   const struct tmux_note *note, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_free char *option = xasprintf(NOTE, note->name);
	push_client(&argv, socket);
	strvec_push_array(&argv,
			  (const char *const[]){ "-N", "set-option", "-g", "--", option, NULL });
	push_text(&argv, note->text);
	strvec_push(&argv, ";");
	if (note->is_by_key) {
		strvec_push_array(&argv, (const char *const[]){ "set-option", "-g", NULL });
		strvec_pushf(&argv, LEAVING "%d", (int)client->pid);
		strvec_push(&argv, "1");
	} else {
		strvec_push_array(&argv, (const char *const[]){ "detach-client", "-t",
								client->terminal, NULL });
	}
	return run_argv(socket, &argv, CHANGE_TIMEOUT_MS, NULL, err);
}

char *tmux_take_note(const char *socket, const char *name)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *option = xasprintf(NOTE, name);
	int r = run_words(socket,
			  (const char *const[]){ "show-options", "-gqv", option, ";", "set-option",
						 "-gqu", option, NULL },
			  QUERY_TIMEOUT_MS, &result, NULL);
	char *text = r == 0 ? strbuf_take(&result.output) : NULL;
	if (text)
		text[strcspn(text, "\n")] = '\0';
	if (text && *text)
		return text;
	free(text);
	return NULL;
}

void tmux_pane_free(struct tmux_pane *pane)
{
	free(pane->command);
	*pane = (struct tmux_pane){ 0 };
}

int tmux_query(const char *socket, struct tmux_pane *ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	struct tmux_pane pane = { 0 };
	int dead = 0, used = 0;
	int r = run_words(socket,
			  (const char *const[]){
				  "display-message", "-p", "-t", PANE,
				  "#{pid} #{pane_pid} #{?pane_dead,1,0} #{window_active_clients} "
				  "#{pane_current_command}",
				  NULL },
			  QUERY_TIMEOUT_MS, &result, err);
	if (r != 0)
		return r;
	const char *text = strbuf_text(&result.output);
	if (sscanf(text, "%d %d %d %u %n", &pane.server, &pane.pane, &dead, &pane.clients, &used) <
		    4 ||
	    !are_processes(pane.server, pane.pane))
		return error_set(err, ERROR_CHILD, "the tmux server has no agent pane");
	pane.dead = dead;
	pane.command = xstrndup(text + used, strcspn(text + used, "\n"));
	*ret = pane;
	return 0;
}

/* The last lines that are not blank, made visible, at most max of them. */
static char *last_lines(const char *text, size_t max)
{
	cleanup_strvec struct strvec lines = { 0 };
	cleanup_free char *copy = xstrdup(text);
	struct strbuf buf = { 0 };
	char *rest = copy;
	for (char *line; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "\r")] = '\0';
		/* -J keeps the spaces at the end of a line. */
		size_t length = strlen(line);
		while (length > 0 && line[length - 1] == ' ')
			line[--length] = '\0';
		if (length > 0)
			strvec_push(&lines, line);
	}
	for (size_t i = lines.count > max ? lines.count - max : 0; i < lines.count; i++) {
		strbuf_add_visible(&buf, lines.items[i]);
		strbuf_adds(&buf, "\n");
	}
	return strbuf_take(&buf);
}

/* Parse "0/" or "/9".  A program in the pane can set this option, too. */
static bool parse_exit(const char *text, struct exit_record *ret)
{
	size_t code_length = strcspn(text, "/\n");
	const char *slash = text + code_length;
	int64_t code = 0, signal_number = 0;
	if (*slash != '/')
		return false;
	cleanup_free char *code_text = xstrndup(text, code_length);
	cleanup_free char *signal_text = xstrndup(slash + 1, strcspn(slash + 1, "\n"));
	if ((*code_text && !parse_int64(code_text, 0, 255, &code)) ||
	    (*signal_text && !parse_int64(signal_text, 0, SIGRTMAX, &signal_number)))
		return false;
	*ret = (struct exit_record){ .present = true,
				     .code = (int)code,
				     .signal = (int)signal_number };
	return true;
}

int tmux_pane_exit(const char *socket, struct exit_record *ret, struct error *err)
{
	cleanup_child_result struct child_result status = { 0 }, screen = { 0 };
	struct exit_record found = { 0 };
	int r = run_words(socket,
			  (const char *const[]){ "show-options", "-pqv", "-t", PANE,
						 "@agentdeck_exit", NULL },
			  QUERY_TIMEOUT_MS, &status, err);
	if (r != 0)
		return r;
	if (!parse_exit(strbuf_text(&status.output), &found))
		return error_set(err, ERROR_CHILD, "tmux did not note how the agent ended");
	/* A client of its own: show-buffer needs a standard output on which nothing was printed. */
	r = run_words(socket, (const char *const[]){ "show-buffer", "-b", "agentdeck-last", NULL },
		      QUERY_TIMEOUT_MS, &screen, NULL);
	found.last_words = last_lines(r == 0 ? strbuf_text(&screen.output) : "", 40);
	*ret = found;
	return 0;
}

/* option: "-e" keeps colours and attributes, "-p" adds nothing. */
static int capture(const char *socket, const char *option, const char *start, int timeout_ms,
		   char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	int r = run_words(socket,
			  (const char *const[]){ "capture-pane", "-p", option, "-J", "-t", PANE,
						 "-S", start, NULL },
			  timeout_ms, &result, err);
	if (r == 0)
		*ret = strbuf_take(&result.output);
	return r;
}

int tmux_capture(const char *socket, unsigned history_lines, char **ret, struct error *err)
{
	cleanup_free char *start = xasprintf("-%u", history_lines);
	return capture(socket, "-p", history_lines ? start : "0", CHANGE_TIMEOUT_MS, ret, err);
}

int tmux_capture_styled(const char *socket, char **ret, struct error *err)
{
	return capture(socket, "-e", "0", CHANGE_TIMEOUT_MS, ret, err);
}

int tmux_glance(const char *socket, char **ret, struct error *err)
{
	return capture(socket, "-p", "0", QUERY_TIMEOUT_MS, ret, err);
}

/* tmux gives the command of a pipe to a shell, and expands formats in it, but not in an option.
 * "-O" only reads: "-I" can crash tmux 3.4 to 3.7a.  "-o" would close a pipe of the user's. */
#define BELL         "@agentdeck_bell"
#define BELL_IS_OURS "@agentdeck_bell_is_ours"
#define ARM_BELL \
	"set-option -p -t " PANE " " BELL_IS_OURS " 1 ; pipe-pane -O -t " PANE " \"#{" BELL "}\""
#define END_BELL "set-option -p -u -t " PANE " " BELL_IS_OURS " ; pipe-pane -t " PANE

static void add_shell_word(struct strbuf *text, const char *word)
{
	strbuf_adds(text, " '");
	for (; *word; word++)
		strbuf_add(text, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
	strbuf_adds(text, "'");
}

static void push_bell(struct strvec *argv, const struct tmux_bell *bell)
{
	cleanup_strbuf struct strbuf command = { 0 };
	strbuf_adds(&command, "exec");
	add_shell_word(&command, bell->program);
	add_shell_word(&command, bell->fifo);
	if (bell->forgets)
		strvec_push_array(argv, (const char *const[]){ "set-option", "-p", "-u", "-t", PANE,
							       BELL_IS_OURS, ";", NULL });
	strvec_push_array(
		argv, (const char *const[]){ "set-option", "-p", "-t", PANE, "--", BELL,
					     strbuf_text(&command), ";", "if-shell", "-F", "-t",
					     PANE, "#{&&:#{pane_pipe},#{==:#{" BELL_IS_OURS "},}}",
					     "", ARM_BELL, ";", NULL });
}

void tmux_look_argv(const char *socket, const struct tmux_bell *bell, struct strvec *ret)
{
	push_client(ret, socket);
	strvec_push(ret, "-N");
	if (bell)
		push_bell(ret, bell);
	strvec_push_array(ret, (const char *const[]){ "capture-pane", "-p", "-e", "-N", "-t", PANE,
						      NULL });
}

void tmux_unring_argv(const char *socket, struct strvec *ret)
{
	push_client(ret, socket);
	strvec_push_array(ret, (const char *const[]){ "-N", "if-shell", "-F", "-t", PANE,
						      "#{" BELL_IS_OURS "}", END_BELL, NULL });
}

/* bracket: "-p" for a paste, "-r" (again) for what is typed. */
static void push_paste(struct strvec *argv, const char *socket, const char *bracket)
{
	cleanup_free char *buffer = xasprintf("agentdeck-%d", (int)getpid());
	push_client(argv, socket);
	strvec_push_array(argv, (const char *const[]){ "-N", "load-buffer", "-b", buffer, "-", ";",
						       "paste-buffer", bracket, "-r", "-d", "-b",
						       buffer, "-t", PANE, NULL });
}

int tmux_paste(const char *socket, const char *text, size_t length, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	push_paste(&argv, socket, "-p");
	const struct child_request request = {
		.argv = (const char *const *)argv.items,
		.input = text,
		.input_length = length,
	};
	return run_client(socket, &request, CHANGE_TIMEOUT_MS, NULL, err);
}

static void push_is_dead(struct strvec *argv)
{
	strvec_push_array(argv, (const char *const[]){ ";", "display-message", "-p", "-t", PANE,
						       "#{pane_dead}", NULL });
}

void tmux_type_argv(const char *socket, bool is_paste, struct strvec *ret)
{
	push_paste(ret, socket, is_paste ? "-p" : "-r");
	push_is_dead(ret);
}

/* In copy mode (the user has scrolled back) tmux would take the keys for itself. */
static void push_keys(struct strvec *argv, const char *socket)
{
	push_client(argv, socket);
	strvec_push_array(argv, (const char *const[]){ "-N", "copy-mode", "-q", "-t", PANE, ";",
						       "send-keys", "-t", PANE, "--", NULL });
}

void tmux_press_argv(const char *socket, const char *key, struct strvec *ret)
{
	push_keys(ret, socket);
	strvec_push(ret, key);
	push_is_dead(ret);
}

int tmux_send_keys(const char *socket, const struct strvec *keys, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	push_keys(&argv, socket);
	for (size_t i = 0; i < keys->count; i++)
		push_text(&argv, keys->items[i]);
	return run_argv(socket, &argv, CHANGE_TIMEOUT_MS, NULL, err);
}

int tmux_kill_server(const char *socket, struct error *err)
{
	int r = run_words(socket, (const char *const[]){ "kill-server", NULL }, CHANGE_TIMEOUT_MS,
			  NULL, err);
	return r == TMUX_NO_SERVER ? 0 : r;
}

int tmux_prefix(const char *socket, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	int r = run_words(socket, (const char *const[]){ "show-options", "-gv", "prefix", NULL },
			  QUERY_TIMEOUT_MS, &result, err);
	if (r != 0)
		return r;
	const char *text = strbuf_text(&result.output);
	*ret = xstrndup(text, strcspn(text, "\n"));
	return 0;
}

static void push_nested(struct strvec *argv, const struct tmux_attach *how)
{
	cleanup_free char *name = xasprintf("nested-%d", (int)getpid());
	cleanup_free char *target = xasprintf("=%s:", name);
	strvec_push_array(argv, (const char *const[]){ "new-session", "-t", "=" SESSION, "-s", name,
						       NULL });
	if (how->read_only)
		strvec_push_array(argv,
				  (const char *const[]){ "-f", "read-only,ignore-size", NULL });
	strvec_push_array(argv,
			  (const char *const[]){ ";", "set-option", "-t", target, "status", "off",
						 ";", "set-option", "-t", target,
						 "destroy-unattached", "on", ";", "display-message",
						 "-d", NESTED_NOTE_MS, how->nested_note, NULL });
}

void tmux_attach_argv(const char *socket, const struct tmux_attach *how, struct strvec *ret)
{
	push_client(ret, socket);
	/* tmux asks only terminals that it knows for keys such as Shift+Enter.  Others ignore it. */
	strvec_push_array(ret, (const char *const[]){ "-T", "extkeys", NULL });
	if (how->has_true_color)
		strvec_push_array(ret, (const char *const[]){ "-T", "RGB", NULL });
	/* Neither this nor a new session may start a server. */
	strvec_push(ret, "-N");
	push_status(ret, &how->status);
	if (how->nested_note) {
		push_nested(ret, how);
		return;
	}
	strvec_push_array(ret, (const char *const[]){ "attach-session", "-t", "=" SESSION, NULL });
	if (how->read_only)
		strvec_push(ret, "-r");
}
