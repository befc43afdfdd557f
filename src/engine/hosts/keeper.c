/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The keeper of a forwarded port: it listens here, and has ssh lead each connection to the host
 * (-W), over the connection that links use.
 *
 * Tried with ssh 9.2: a port that that connection's own process listens on (-O forward) ends with
 * it, and while commands still use an old one, a new one cannot have the port.  An ssh of its own
 * (-N -L) would log in again, which a host with a password does not allow.  So the port belongs to
 * us, and waits with its callers until there is another connection.
 */
#include "engine/hosts/forward.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/runner.h"
#include "driver/link/network.h"
#include "driver/link/ssh.h"
#include "engine/hosts/hosts.h"
#include "model/session/naming.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	CALLERS_MAX = 256,
	LINE_MAX_BYTES = 1 << 20,
	PIECE = 16384,
	ASK_MS = 60000,
	END_MS = 5000,
	SCOPE_MS = 5000,
	RETRY_MS = 1000,
	MOST_DOUBLINGS = 6,
	NOT_FOUND = 2, /* exit status */
};

struct keeper;

/* A connection that ssh leads to the host. */
struct caller {
	struct keeper *keeper; /* NULL: none */
};

struct keeper {
	const struct forward_keep *keep;
	struct loop *loop;
	int directory, listener;
	struct loop_source *port, *lines, *retry;
	struct network network;
	struct child events; /* agentdeck -H HOST events; pid 0: none */
	struct strbuf text;  /* a line of it that is not whole */
	char *address;       /* of the run there; NULL: not known, or it does not run.  By this
			      * connection: another run can have it after an absence */
	char *status;        /* of the session, as events has it */
	bool is_asked, asks_again;
	bool is_stale; /* the answer that is due is from before the link was lost */
	unsigned failures;
	struct caller callers[CALLERS_MAX];
	size_t count;
};

static void keeper_end(struct keeper *keeper)
{
	for (size_t i = 0; i < CALLERS_MAX; i++)
		if (keeper->callers[i].keeper)
			runner_signal(&keeper->callers[i], SIGKILL);
	child_abandon(&keeper->events);
	if (keeper->directory >= 0)
		forward_remove(keeper->directory, keeper->keep->forward);
	loop_free(keeper->loop);
	network_close(&keeper->network);
	if (keeper->listener >= 0)
		(void)close(keeper->listener);
	if (keeper->directory >= 0)
		(void)close(keeper->directory);
	strbuf_free(&keeper->text);
	free(keeper->address);
	free(keeper->status);
}

static void push_words(const struct keeper *keeper, struct strvec *ret)
{
	const struct forward *forward = keeper->keep->forward;
	strvec_push_array(ret, (const char *const[]){ keeper->keep->deck->program, "-H",
						      forward->remote, NULL });
	if (forward->profile)
		strvec_push_array(ret, (const char *const[]){ "-p", forward->profile, NULL });
}

/* ---- callers ---------------------------------------------------------------------------------- */

static void settle_callers(struct keeper *keeper);

static void on_caller_end(const struct child_result *result, const struct error *failure,
			  void *context);

static void connect_caller(struct keeper *keeper, int caller)
{
	const struct forward *forward = keeper->keep->forward;
	cleanup_strvec struct strvec argv = { 0 };
	const bool is_ipv6 = strchr(keeper->address, ':');
	cleanup_free char *target = xasprintf(is_ipv6 ? "[%s]:%d" : "%s:%d", keeper->address,
					      (int)forward->target);
	size_t at = 0;
	while (keeper->callers[at].keeper)
		at++;
	hosts_forward_argv(keeper->keep->deck, keeper->keep->remote, target, &argv);
	const struct runner_request request = {
		.child = { .argv = (const char *const *)argv.items,
			   .socket = caller,
			   .new_session = true,
			   .outlives_us = true },
	};
	keeper->callers[at].keeper = keeper;
	keeper->count++;
	runner_start(keeper->loop, &request, on_caller_end, &keeper->callers[at]);
}

static void on_caller_end(const struct child_result *result, const struct error *failure,
			  void *context)
{
	struct caller *caller = context;
	struct keeper *keeper = caller->keeper;
	cleanup_free char *words = result && result->exit_status
					   ? ssh_words(strbuf_text(&result->errors))
					   : NULL;
	const char *why = failure ? failure->message : words;
	if (why)
		log_info("port %d: %s", (int)keeper->keep->forward->port, why);
	caller->keeper = NULL;
	keeper->count--;
	settle_callers(keeper);
}

static void on_caller(int fd, uint32_t events UNUSED, void *context)
{
	struct keeper *keeper = context;
	/* While there is no link it waits, and lets us try now. */
	if (!keeper->keep->forward->is_connected) {
		loop_remove(keeper->port);
		keeper->port = NULL;
		(void)loop_set_timer(keeper->retry, clock_ms(), NULL);
		return;
	}
	cleanup_close int caller = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	if (caller > 0)
		connect_caller(keeper, caller);
	settle_callers(keeper);
}

/* Callers that cannot be served now wait in the kernel's queue. */
static void settle_callers(struct keeper *keeper)
{
	const struct loop_io io = { keeper->listener, EPOLLIN, on_caller, keeper };
	const bool wants = keeper->count < CALLERS_MAX &&
			   (keeper->keep->forward->is_connected ? keeper->address != NULL
								: !keeper->lines);
	if (wants && !keeper->port)
		(void)loop_add_io(keeper->loop, &io, &keeper->port, NULL);
	if (!wants) {
		loop_remove(keeper->port);
		keeper->port = NULL;
	}
}

/* ---- the session ------------------------------------------------------------------------------ */

static void end(struct keeper *keeper, const char *why)
{
	log_info("port %d ends: %s", (int)keeper->keep->forward->port, why);
	loop_exit(keeper->loop, 0);
}

static void ask(struct keeper *keeper);

/* False: its user has stopped it. */
static bool take_address(struct keeper *keeper, const struct json_object *answer)
{
	const bool runs = json_get_bool(answer, "is_running", false);
	const char *address = runs ? json_get_string(answer, "address", NULL) : NULL;
	/* The address becomes a word for ssh, and it comes from the host. */
	const bool is_address = address && *address &&
				!address[strspn(address, "0123456789abcdefABCDEF:.")];
	const bool is_name = streq(or_empty(address), "localhost");
	replace_string(&keeper->address, is_address || is_name ? address : NULL);
	return runs || !streq(json_get_string(answer, "desired", ""), "stopped");
}

/* Several that lost one host do not return at the same moment. */
static void try_later(struct keeper *keeper)
{
	const int64_t pause_ms = (int64_t)RETRY_MS << keeper->failures;
	(void)loop_set_timer(keeper->retry, clock_ms() + pause_ms + getpid() % RETRY_MS, NULL);
	keeper->failures += keeper->failures < MOST_DOUBLINGS;
}

static void on_answer(const struct child_result *result, const struct error *failure UNUSED,
		      void *context)
{
	struct keeper *keeper = context;
	cleanup_json struct json_object *answer = NULL;
	const bool is_stale = keeper->is_stale;
	keeper->is_asked = keeper->is_stale = false;
	if (result && result->exit_status == NOT_FOUND) {
		end(keeper, "the session or its host is gone");
		return;
	}
	const bool is_answer = result && result->exit_status == 0 &&
			       json_parse(strbuf_text(&result->output), result->output.length,
					  "the answer", &answer, NULL) == 0;
	if (is_answer && !take_address(keeper, answer)) {
		end(keeper, "the session was stopped, or has ended");
		return;
	}
	if (!is_answer || is_stale)
		replace_string(&keeper->address, NULL);
	settle_callers(keeper);
	if (keeper->asks_again)
		ask(keeper);
	else if (!is_answer && keeper->lines)
		try_later(keeper);
}

static void ask(struct keeper *keeper)
{
	cleanup_strvec struct strvec argv = { 0 };
	keeper->asks_again = keeper->is_asked;
	if (keeper->is_asked)
		return;
	keeper->is_asked = true;
	push_words(keeper, &argv);
	strvec_push_array(&argv, (const char *const[]){ "session", "address", "--json",
							keeper->keep->forward->id, NULL });
	const struct runner_request request = { .child = { .argv = (const char *const *)argv.items,
							   .new_session = true },
						.timeout_ms = ASK_MS };
	runner_start(keeper->loop, &request, on_answer, keeper);
}

/* ---- the link --------------------------------------------------------------------------------- */

static void note_connected(struct keeper *keeper, bool is_connected)
{
	struct forward *forward = keeper->keep->forward;
	if (forward->is_connected == is_connected)
		return;
	forward->is_connected = is_connected;
	(void)forward_write(keeper->directory, forward, NULL);
	settle_callers(keeper);
}

static void take_line(struct keeper *keeper, const char *line)
{
	cleanup_json struct json_object *value = NULL;
	if (json_parse(line, strlen(line), "an event", &value, NULL) < 0)
		return;
	if (streq(json_get_string(value, "event", ""), "snapshot_complete")) {
		keeper->failures = 0;
		replace_string(&keeper->address, NULL);
		note_connected(keeper, true);
		settle_callers(keeper);
		ask(keeper);
		return;
	}
	const char *status = json_get_string(value, "status", "");
	if (!streq(json_get_string(value, "id", ""), keeper->keep->forward->id) ||
	    streq(or_empty(keeper->status), status))
		return;
	replace_string(&keeper->status, status);
	ask(keeper);
}

static void lose_link(struct keeper *keeper)
{
	loop_remove(keeper->lines);
	keeper->lines = NULL;
	keeper->text.length = 0;
	keeper->is_stale = keeper->is_asked;
	keeper->asks_again = false;
	replace_string(&keeper->address, NULL);
	note_connected(keeper, false);
	try_later(keeper);
}

static void on_lines(int fd, uint32_t events UNUSED, void *context)
{
	struct keeper *keeper = context;
	char piece[PIECE];
	cleanup_child_result struct child_result result = { 0 };
	const ssize_t n = read(fd, piece, sizeof(piece));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0 && keeper->text.length < LINE_MAX_BYTES) {
		strbuf_add(&keeper->text, piece, (size_t)n);
		size_t begin = 0;
		for (char *at;
		     (at = memchr(keeper->text.data + begin, '\n', keeper->text.length - begin));) {
			*at = '\0';
			take_line(keeper, keeper->text.data + begin);
			begin = (size_t)(at - keeper->text.data) + 1;
		}
		strbuf_drop(&keeper->text, begin);
		return;
	}
	(void)child_finish(&keeper->events, clock_ms() + END_MS, &result, NULL);
	lose_link(keeper);
	if (result.exit_status == NOT_FOUND)
		end(keeper, "the host or its profile is gone");
}

static void follow(struct keeper *keeper)
{
	cleanup_strvec struct strvec argv = { 0 };
	push_words(keeper, &argv);
	strvec_push_array(&argv, (const char *const[]){ "events", "--json", NULL });
	const struct child_request request = { .argv = (const char *const *)argv.items,
					       .new_session = true };
	if (child_start(&request, &keeper->events, NULL) != 0) {
		keeper->events = (struct child){ 0 };
		lose_link(keeper);
		return;
	}
	const struct loop_io io = { keeper->events.output, EPOLLIN, on_lines, keeper };
	(void)loop_add_io(keeper->loop, &io, &keeper->lines, NULL);
}

static void on_retry(void *context)
{
	struct keeper *keeper = context;
	if (!keeper->lines)
		follow(keeper);
	else if (!keeper->address && keeper->keep->forward->is_connected)
		ask(keeper);
	/* Where the attempt could not even begin, its pause comes first. */
	if (keeper->lines)
		settle_callers(keeper);
}

static void on_network(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct keeper *keeper = context;
	network_take(&keeper->network);
	if (keeper->keep->forward->is_connected &&
	    !hosts_check(keeper->keep->deck, keeper->keep->remote)) {
		child_abandon(&keeper->events);
		keeper->failures = 0;
		lose_link(keeper);
	}
	if (!keeper->lines)
		(void)loop_set_timer(keeper->retry, clock_ms(), NULL);
}

/* ---- the beginning ---------------------------------------------------------------------------- */

/* Which session is it, and where?  *ret_note is the caller's. */
static int find_session(struct keeper *keeper, char **ret_note, struct error *err)
{
	const struct forward_keep *keep = keeper->keep;
	struct forward *forward = keep->forward;
	cleanup_link struct link *link = NULL;
	cleanup_strvec struct strvec words = { 0 };
	cleanup_json struct json_object *answer = NULL;
	strvec_push_array(&words, (const char *const[]){ "-H", REMOTE_HERE, NULL });
	if (forward->profile)
		strvec_push_array(&words, (const char *const[]){ "-p", forward->profile, NULL });
	strvec_push_array(&words, (const char *const[]){ "session", "address", "--json",
							 forward->id, NULL });
	if (hosts_open(keep->deck, keep->remote, &link, err) < 0 ||
	    hosts_check_machine(keep->remote, link, err) < 0 ||
	    hosts_ask(link, &words, &answer, err) < 0)
		return -1;
	const char *id = json_get_string(answer, "id", NULL);
	cleanup_free char *words_there = visible(json_get_string(answer, "error", "no answer"));
	if (!json_get_bool(answer, "success", false) || !id || !naming_is_id(id))
		return error_set(err,
				 streq(json_get_string(answer, "code", ""),
				       error_code_name(ERROR_NOT_FOUND))
					 ? ERROR_NOT_FOUND
					 : ERROR_CHILD,
				 "%s: %s", keep->remote->name, words_there);
	replace_string(&forward->id, id);
	replace_string(&forward->title, json_get_string(answer, "title", ""));
	(void)take_address(keeper, answer);
	if (!keeper->address)
		return error_set(err, ERROR_INVALID,
				 "%s does not run on %s: start it first: agentdeck -H %s start %s",
				 forward->title, keep->remote->name, keep->remote->name, id);
	cleanup_free char *target = xasprintf("%s:%d", keeper->address, (int)forward->target);
	const int r = hosts_try_forward(keep->deck, keep->remote, target, err);
	if (r == HOSTS_SILENT)
		*ret_note = xasprintf("nothing answers at its port %d yet", (int)forward->target);
	return r < 0 ? -1 : 0;
}

static int listen_here(struct keeper *keeper, struct error *err)
{
	const struct forward *forward = keeper->keep->forward;
	const int port = (int)forward->port, on = 1;
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons((uint16_t)port),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	keeper->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (keeper->listener < 0)
		return error_set_errno(err, errno, "make a socket");
	(void)setsockopt(keeper->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(keeper->listener, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(keeper->listener, SOMAXCONN) == 0)
		return 0;
	return errno == EADDRINUSE
		       ? error_set(err, ERROR_EXISTS,
				   "another program uses port %d here: choose one that is free, as "
				   "in %d:%d",
				   port, port < 60000 ? port + 1 : port - 1, (int)forward->target)
	       : errno == EACCES
		       ? error_set(err, ERROR_SYSTEM,
				   "port %d is for root: choose one from 1024 on, as in %d:%d",
				   port, port + 8000, (int)forward->target)
		       : error_set_errno(err, errno, "listen on port %d", port);
}

/* Before it starts another process: so the end of this login reaches none of them. */
static void make_scope(const struct keeper *keeper)
{
	struct deck *deck = keeper->keep->deck;
	cleanup_error struct error err = { 0 };
	const int port = (int)keeper->keep->forward->port;
	cleanup_free char *name = xasprintf("agentdeck-forward-%d.scope", port);
	cleanup_free char *slice = xasprintf("agentdeck-forward-%d.slice", port);
	const struct unit_scope scope = { .name = name,
					  .slice = slice,
					  .description = "agentdeck forward",
					  .pid = getpid(),
					  .stop_timeout_s = 1 };
	const int64_t deadline_ms = clock_ms() + SCOPE_MS;
	if (!deck_bus(deck))
		return;
	int r = unit_start_scope(deck_bus(deck), &scope, deadline_ms, &err);
	/* An earlier one has just ended. */
	if (r == UNIT_TAKEN && unit_wait_gone(deck_bus(deck), name, deadline_ms, &err) == 0 &&
	    unit_wait_gone(deck_bus(deck), slice, deadline_ms, &err) == 0)
		r = unit_start_scope(deck_bus(deck), &scope, deadline_ms, &err);
	if (r != 0)
		log_warning("no scope for port %d: %s", port, err.message ? err.message : name);
}

static void on_signal(int number UNUSED, void *context)
{
	end(context, "a signal");
}

static int watch(struct keeper *keeper, struct error *err)
{
	static const int ending[] = { SIGTERM, SIGINT, SIGHUP };
	struct loop_source *ignored;
	if (loop_new(&keeper->loop, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (loop_add_signal(keeper->loop, ending[i], on_signal, keeper, &ignored, err) < 0)
			return -1;
	if (network_watch(&keeper->network, err) < 0)
		return -1;
	const struct loop_io io = { keeper->network.fd, EPOLLIN, on_network, keeper };
	return loop_add_io(keeper->loop, &io, &ignored, err) < 0
		       ? -1
		       : loop_add_timer(keeper->loop, clock_ms(), on_retry, keeper, &keeper->retry,
					err);
}

int forward_keep(const struct forward_keep *keep, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	CLEANUP(keeper_end)
	struct keeper keeper = {
		.keep = keep, .directory = -1, .listener = -1, .network = NETWORK_NONE
	};
	struct forward *forward = keep->forward;
	cleanup_free char *note = NULL;
	forward->since_us = clock_wall_us();
	if (forward_take(keep->deck, forward, &keeper.directory, &lock, err) < 0 ||
	    forward_write(keeper.directory, forward, err) < 0 || listen_here(&keeper, err) < 0)
		return -1;
	make_scope(&keeper);
	if (find_session(&keeper, &note, err) < 0)
		return -1;
	forward->is_connected = true;
	if (forward_write(keeper.directory, forward, err) < 0 || watch(&keeper, err) < 0)
		return -1;
	settle_callers(&keeper);
	keep->tell(forward, note);
	return loop_run(keeper.loop, err);
}
