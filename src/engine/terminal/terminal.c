/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/terminal/terminal.h"

#include "base/clock.h"
#include "base/crash.h"
#include "base/fsutil.h"
#include "driver/tmux/tmux.h"
#include "engine/deck/proof.h"
#include "model/session/naming.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>

enum { NUDGE_MS = 100, WORDS_TIMEOUT_MS = 500, WORDS_LOOK_MS = 10 };

_Static_assert(TERMINAL_NONE == (int)TMUX_NO_SERVER && TERMINAL_SILENT == (int)TMUX_UNKNOWN,
	       "the driver's outcomes are the terminal's");

int terminal_program(struct terminal_program *ret, struct error *err)
{
	struct terminal_program found = { 0 };
	unsigned major, minor;
	int r = tmux_version(&found.version, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_UNAVAILABLE, "not installed");
	found.is_enough = tmux_version_is_enough(found.version);
	found.loses_ends = sscanf(found.version, "%u.%u", &major, &minor) == 2 &&
			   (major < 3 || (major == 3 && minor < 5));
	*ret = found;
	return 0;
}

int terminal_check(const char *socket, struct error *err)
{
	return tmux_check_socket(socket, err);
}

bool terminal_is_ours(const char *id, const char *socket)
{
	struct process_id server;
	return tmux_check_socket(socket, NULL) == 0 &&
	       process_listening(socket, &server, NULL) == 0 && proof_of(id, &server) == PROOF_OURS;
}

void terminal_nudge(const char *id, const struct process_id *server)
{
	(void)proof_signal(id, server, SIGCHLD, NULL);
}

/* The agent has ended, and its user would sit before a dead pane: nudge until tmux has noticed. */
static bool on_agent_end(void *data)
{
	const struct instance *instance = data;
	/* No event tells when tmux has reaped it. */
	clock_pause_until(clock_ms() + NUDGE_MS);
	if (!process_is_zombie(&instance->run.pane))
		return false;
	terminal_nudge(instance->id, &instance->run.server);
	return true;
}

/* The outer tmux takes the first of two prefixes that are the same. */
#define DOUBLED(outer, text) "#{?#{==:#{prefix}," outer "}," text ",}"
#define KEYS(outer)          DOUBLED(outer, "#{prefix} ") "#{prefix}"

/* What the user of a nested tmux must know, as a format.  In a pane of ours the outer tmux takes
 * our key.  The caller frees. */
static char *nested_note(const char *tmux)
{
	cleanup_free char *socket = xstrndup(tmux, strcspn(tmux, ",")), *prefix = NULL;
	/* Usually they are the same: ours is that of the user's tmux.conf. */
	const bool is_known = tmux_prefix(socket, &prefix, NULL) == 0 &&
			      !strpbrk(or_empty(prefix), "#{},");
	const char *outer = is_known ? prefix : "#{prefix}";
	cleanup_free char *keys = xasprintf(KEYS("%s"), outer);
	cleanup_free char *leave = deck_env_instance()
					   ? xasprintf("%s d", keys)
					   : xasprintf("#{?#{m:* d,#{@agentdeck_detach}},%s d,"
						       "#{q/h:@agentdeck_detach}}",
						       keys);
	return xasprintf("%s leaves this session, which keeps running" DOUBLED(
				 "%s", ". #{prefix} #{prefix} s: other sessions"),
			 leave, outer);
}

/* The tmux client has this name in its environment.  After its end, the process that waits for it
 * finds under this name which session comes next. */
#define ENV_ATTACH "AGENTDECK_ATTACH"

/* The client refuses to nest while it has TMUX. */
static void client_environment(const char *name, struct strvec *ret)
{
	for (char **entry = environ; *entry; entry++)
		if (!starts_with(*entry, "TMUX=") && !starts_with(*entry, "TMUX_PANE=") &&
		    !starts_with(*entry, ENV_ATTACH "="))
			strvec_push(ret, *entry);
	strvec_pushf(ret, ENV_ATTACH "=%s", name);
}

/* "2 others wait"; "" for none.  The caller frees. */
static char *others_text(unsigned others)
{
	if (!others)
		return xstrdup("");
	return others == 1 ? xstrdup("1 other waits") : xasprintf("%u others wait", others);
}

bool terminal_has_clients(const char *socket)
{
	return tmux_has_clients(socket);
}

int terminal_list_clients(const char *socket, struct terminal_clients *ret, struct error *err)
{
	cleanup_tmux_clients struct tmux_clients found = { 0 };
	const int r = tmux_list_clients(socket, &found, err);
	if (r != 0)
		return r;
	for (size_t i = 0; i < found.count; i++) {
		struct tmux_client *client = &found.clients[i];
		char *name = TAKE_PTR(client->terminal);
		ret->items = xreallocarray(ret->items, ret->count + 1, sizeof(*ret->items));
		ret->items[ret->count++] = (struct terminal_client){
			.name = name,
			.columns = client->columns,
			.rows = client->rows,
			.is_read_only = client->is_read_only,
			.since_us = client->since_us,
		};
	}
	return 0;
}

void terminal_clients_free(struct terminal_clients *clients)
{
	for (size_t i = 0; i < clients->count; i++)
		free(clients->items[i].name);
	free(clients->items);
	*clients = (struct terminal_clients){ 0 };
}

char *terminal_clients_text(const struct terminal_clients *clients)
{
	struct strbuf text = { 0 };
	const int64_t now = clock_wall_us();
	for (size_t i = 0; i < clients->count; i++) {
		char span[CLOCK_TEXT_SIZE];
		const struct terminal_client *client = &clients->items[i];
		strbuf_addf(&text, "%s%ux%u%s for %s", i ? ", " : "", client->columns, client->rows,
			    client->is_read_only ? " (read-only)" : "",
			    clock_span(now - client->since_us, span));
	}
	return strbuf_take(&text);
}

int terminal_show(const char *socket, const struct terminal_status *status, struct error *err)
{
	cleanup_free char *others = others_text(status->others);
	const struct tmux_status shown = { .activity = status->activity, .others = others };
	return tmux_show_status(socket, &shown, err);
}

/* Programs ask for true colour in this way; tmux asks the terminal itself for other features. */
static bool has_true_color(void)
{
	const char *value = or_empty(getenv("COLORTERM"));
	return streq(value, "truecolor") || streq(value, "24bit");
}

int terminal_attach(const struct instance *instance, const struct terminal_order *order,
		    struct terminal_parting *ret, struct error *err)
{
	cleanup_free char *name = naming_new_uuid();
	cleanup_free char *others = others_text(order->status.others);
	struct tmux_attach how = {
		.read_only = order->mode == ATTACH_READ_ONLY,
		.has_true_color = has_true_color(),
		.status = { .activity = order->status.activity, .others = others },
	};
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	cleanup_close int agent = -1;
	struct termios before;
	int status;
	if (terminal_check(instance->run.socket, err) < 0)
		return -1;
	const bool is_terminal = tcgetattr(STDIN_FILENO, &before) == 0;
	if (process_open(&instance->run.pane, &agent, NULL) != 0)
		agent = -1;
	client_environment(name, &environment);
	const char *tmux = or_empty(getenv("TMUX"));
	cleanup_free char *note = *tmux ? nested_note(tmux) : NULL;
	how.nested_note = note;
	tmux_attach_argv(instance->run.socket, &how, &argv);
	const struct child_watch watch = { .fd = agent,
					   .on_readable = on_agent_end,
					   .data = (void *)instance,
					   .next = order->watch };
	int r = child_foreground((const char *const *)argv.items, environment.items, &watch,
				 &status, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE,
				 "tmux is not installed: install tmux " TMUX_OLDEST " or newer");
	if (r < 0)
		return -1;
	/* The server sets the terminal.  One that was killed has taken nothing back. */
	if (status != 0 && is_terminal)
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	if (status != 0)
		(void)fs_write_all(STDOUT_FILENO, CRASH_RESET, strlen(CRASH_RESET), "the terminal",
				   NULL);
	*ret = (struct terminal_parting){ status, tmux_take_note(instance->run.socket, name) };
	return 0;
}

static const struct tmux_client *find_client(const struct tmux_clients *clients, const char *wanted,
					     struct error *err)
{
	const struct tmux_client *found = NULL;
	for (size_t i = 0; i < clients->count; i++) {
		const struct tmux_client *client = &clients->clients[i];
		if (wanted && !streq(client->terminal, wanted))
			continue;
		if (found) {
			error_set(
				err, ERROR_REFUSED,
				"several terminals show this session: press the key in the one that "
				"you mean");
			return NULL;
		}
		found = client;
	}
	if (!found)
		error_set(err, ERROR_REFUSED, "no terminal shows this session");
	return found;
}

int terminal_send_on(const char *socket, const char *client, const char *next, struct error *err)
{
	cleanup_tmux_clients struct tmux_clients clients = { 0 };
	cleanup_free char *name = NULL;
	int r = tmux_list_clients(socket, &clients, err);
	if (r == 0) {
		const struct tmux_client *found = find_client(&clients, client, err);
		if (!found)
			return -1;
		r = process_variable(found->pid, ENV_ATTACH, &name, err);
		if (r == 0 && (!name || !naming_is_uuid(name)))
			return error_set(
				err, ERROR_REFUSED,
				"this terminal was not attached by this version of agentdeck: "
				"leave the session, and attach again");
		if (r == 0)
			r = tmux_send_away(socket, found,
					   &(struct tmux_note){ name, next, client != NULL }, err);
	}
	return r > 0 ? error_set(err, ERROR_TIMEOUT,
				 "the tmux server of this session does not answer")
		     : r;
}

int terminal_look(const char *socket, struct terminal_state *ret, struct error *err)
{
	cleanup_tmux_pane struct tmux_pane pane = { 0 };
	struct process_id server;
	int r = tmux_query(socket, &pane, err);
	if (r != 0)
		return r;
	if (process_identify(pane.server, &server, NULL) != 0)
		return TERMINAL_SILENT;
	*ret = (struct terminal_state){
		.server = server,
		.pane = pane.pane,
		.is_dead = pane.dead,
		.clients = pane.clients,
	};
	ret->program = TAKE_PTR(pane.command);
	return 0;
}

void terminal_state_free(struct terminal_state *state)
{
	free(state->program);
	*state = (struct terminal_state){ 0 };
}

int terminal_text(const char *socket, unsigned history_lines, char **ret, struct error *err)
{
	return tmux_capture(socket, history_lines, ret, err);
}

int terminal_styled_screen(const char *socket, char **ret, struct error *err)
{
	return tmux_capture_styled(socket, ret, err);
}

int terminal_screen(const char *socket, char **ret, struct error *err)
{
	return tmux_glance(socket, ret, err);
}

void terminal_look_argv(const char *socket, struct strvec *ret)
{
	tmux_look_argv(socket, NULL, ret);
}

void terminal_type_argv(const char *socket, bool is_paste, struct strvec *ret)
{
	tmux_type_argv(socket, is_paste, ret);
}

void terminal_press_argv(const char *socket, const char *key, struct strvec *ret)
{
	tmux_press_argv(socket, key, ret);
}

int terminal_paste(const char *socket, const char *text, size_t length, struct error *err)
{
	return tmux_paste(socket, text, length, err);
}

int terminal_press(const char *socket, const struct strvec *keys, struct error *err)
{
	return tmux_send_keys(socket, keys, err);
}

int terminal_set_title(const char *socket, const char *title, const char *group, struct error *err)
{
	return tmux_show_status(socket, &(struct tmux_status){ .title = title, .group = group },
				err);
}

int terminal_how_ended(const char *socket, struct exit_record *ret, struct error *err)
{
	return tmux_pane_exit(socket, ret, err);
}

/* tmux hears of the end a moment later. */
char *terminal_hear_words(const struct instance *instance)
{
	struct exit_record end = { 0 };
	const int64_t deadline = clock_ms() + WORDS_TIMEOUT_MS;
	while (tmux_pane_exit(instance->run.socket, &end, NULL) != 0 && clock_ms() < deadline) {
		terminal_nudge(instance->id, &instance->run.server);
		/* No event says that tmux has noted the end. */
		clock_pause_until(clock_ms() + WORDS_LOOK_MS);
	}
	return end.last_words;
}

int terminal_end(const char *id, const char *socket, struct error *err)
{
	return terminal_is_ours(id, socket) ? tmux_kill_server(socket, err) : 0;
}

/* TMUX: the socket, a comma, and more (tmux(1)). */
bool terminal_is_own(const char *socket)
{
	const char *tmux = or_empty(getenv("TMUX"));
	return starts_with(tmux, socket) && tmux[strlen(socket)] == ',';
}

/* The id that the server's directory is named after.  Only our own environment can tell it, and
 * only that of the instance that this pane is of. */
static const char *id_of(const char *base)
{
	const char *own_base = getenv(ENV_BASE), *own_id = deck_env_instance();
	return own_base && own_id && streq(own_base, base) ? own_id : base;
}

/* The server's socket is gone by now, or belongs to the next run.  Only the name of the socket
 * distinguishes a server of ours from that of a person who calls this by hand. */
void terminal_end_own(const char *base)
{
	struct process_id server;
	const char *tmux = or_empty(getenv("TMUX"));
	cleanup_free char *end = xasprintf("/%s/" PATHS_SOCKET_NAME, id_of(base));
	cleanup_free char *socket = xstrndup(tmux, strcspn(tmux, ","));
	if (ends_with(socket, end) && process_identify(getppid(), &server, NULL) == 0)
		(void)process_signal(&server, SIGTERM, NULL);
}
