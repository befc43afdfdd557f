/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * forward: a port of this machine that leads to one of a session of another host; and what keeps it
 * there (engine/hosts/forward.h).
 */
#include "engine/hosts/forward.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/host.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	ANSWER_MAX = 1 << 20,
	MORE_MS = 30000, /* than two connections: a lock, a scope, an attempt */
	END_MS = 5000
};

struct options {
	bool list, stop;
};

static const struct command_option options[] = {
	{ 0, "list", NULL, "list the forwarded ports", TO_FLAG(list), .kind = COMMAND_READS },
	{ 0, "stop", NULL, "end the forwarding of this port, or of all ports of the session",
	  TO_FLAG(stop) },
	{ 0 },
};

/* ---- which ------------------------------------------------------------------------------------ */

struct wish {
	const struct remote *remote; /* NULL: this machine, or not named */
	const char *session;         /* NULL: any */
	const char *profile;         /* NULL: not named */
	struct forward ports;        /* port 0: any */
};

static int find_wish(struct app *app, struct wish *ret, struct error *err)
{
	const struct remotes *remotes = &app->deck.settings.hosts;
	const size_t count = app->operands.count;
	*ret = (struct wish){ .session = count ? app->operands.items[0] : NULL,
			      .profile = app->profile };
	if (app->host && !streq(app->host, REMOTE_HERE) &&
	    host_find(app, app->host, &ret->remote, err) < 0)
		return -1;
	if (ret->session)
		(void)remotes_split(remotes, ret->session, &ret->remote, &ret->session);
	return count > 1 ? forward_parse(app->operands.items[1], &ret->ports, err) : 0;
}

/* A title is of one profile. */
static bool is_wanted(const struct wish *wish, const struct forward *forward)
{
	const bool names_profile = wish->profile || wish->session;
	return (!names_profile || streq(or_empty(wish->profile), or_empty(forward->profile))) &&
	       (!wish->remote || streq(wish->remote->name, or_empty(forward->remote))) &&
	       (!wish->session || streq(wish->session, or_empty(forward->id)) ||
		streq(wish->session, or_empty(forward->title))) &&
	       (!wish->ports.port || wish->ports.port == forward->port);
}

/* ---- list, stop ------------------------------------------------------------------------------- */

static struct json_object *json_of_forward(const struct forward *forward)
{
	struct json_object *object = json_object_new_object();
	json_set_int(object, "port", forward->port);
	json_set_int(object, "target_port", forward->target);
	json_set_string(object, "via", forward->remote);
	json_set_string(object, "profile", forward->profile);
	json_set_string(object, "id", forward->id);
	json_set_string(object, "title", forward->title);
	json_set_bool(object, "is_connected", forward->is_connected);
	json_set_time(object, "since_at", forward->since_us);
	return object;
}

static void add_row(struct table *table, const struct forward *forward)
{
	cleanup_free char *port = xasprintf("%d", (int)forward->port);
	cleanup_free char *target = xasprintf("%d", (int)forward->target);
	const char *cells[] = { port,
				forward->remote,
				forward->title ? forward->title : forward->id,
				target,
				forward->is_connected ? "connected" : "connecting",
				NULL };
	table_add(table, cells, TONE_PLAIN);
}

static int list(struct app *app, const struct wish *wish, struct error *err)
{
	cleanup_forwards struct forwards forwards = { 0 };
	cleanup_table struct table *table = table_new(
		app,
		(const char *const[]){ "PORT", "HOST", "SESSION", "PORT THERE", "STATUS", NULL });
	size_t count = 0;
	if (forwards_list(&app->deck, &forwards, err) < 0)
		return -1;
	for (size_t i = 0; i < forwards.count; i++) {
		if (!is_wanted(wish, &forwards.items[i]))
			continue;
		add_row(table, &forwards.items[i]);
		if (app->json) {
			cleanup_json struct json_object *object = json_of_forward(
				&forwards.items[i]);
			print_json_element(object, count);
		}
		count++;
	}
	if (app->json)
		print_json_end(count);
	else if (count)
		table_print(table);
	else
		say("No ports are forwarded. Forward one: agentdeck forward HOST:SESSION 8080");
	return 0;
}

static int stop(struct app *app, const struct wish *wish, struct error *err)
{
	cleanup_forwards struct forwards forwards = { 0 };
	size_t count = 0;
	if (!wish->session)
		return error_set(err, ERROR_USAGE,
				 "name the session: forward SESSION [PORT] --stop");
	if (forwards_list(&app->deck, &forwards, err) < 0)
		return -1;
	const struct forward *first = NULL;
	for (size_t i = 0; i < forwards.count; i++) {
		const struct forward *forward = &forwards.items[i];
		if (!is_wanted(wish, forward))
			continue;
		first = count++ ? first : forward;
		if (!streq(or_empty(first->remote), or_empty(forward->remote)))
			return error_set(err, ERROR_USAGE,
					 "ports of %s on several hosts are forwarded: name the "
					 "host, as in forward %s:%s --stop",
					 wish->session, first->remote, wish->session);
	}
	if (!count)
		return error_set(err, ERROR_NOT_FOUND,
				 "no such port is forwarded: agentdeck forward --list shows them");
	for (size_t i = 0, at = 0; i < forwards.count; i++) {
		const struct forward *forward = &forwards.items[i];
		if (!is_wanted(wish, forward))
			continue;
		if (forward_end(&app->deck, forward, err) < 0)
			return -1;
		if (app->json) {
			cleanup_json struct json_object *object = json_of_forward(forward);
			print_json_element(object, at++);
		} else {
			say("Port %d (%s:%s) is no longer forwarded.", (int)forward->port,
			    forward->remote, forward->title ? forward->title : forward->id);
		}
	}
	if (app->json)
		print_json_end(count);
	return 0;
}

/* ---- begin ------------------------------------------------------------------------------------ */

/* The keeper answers in JSON: what a port leads to, or why there is none. */
static int read_answer(const struct wish *wish, const struct child *keeper,
		       struct json_object **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const int64_t deadline_ms = clock_ms() + 2 * wish->remote->timeout_s * 1000 + MORE_MS;
	if (output_wait(keeper->output, deadline_ms, err) < 0 ||
	    (clock_ms() < deadline_ms &&
	     fs_read_fd(keeper->output, "the answer", ANSWER_MAX, &text, err) < 0))
		return -1;
	return json_parse(strbuf_text(&text), text.length, "the answer", ret, NULL) < 0
		       ? error_set(err, ERROR_TIMEOUT,
				   "the process that keeps the port did not answer: see agentdeck "
				   "logs")
		       : 0;
}

static int start(struct app *app, const struct wish *wish, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_json struct json_object *answer = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	/* The keeper stays when the directory of its user goes. */
	cleanup_close int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct child keeper;
	strvec_push_array(&argv,
			  (const char *const[]){ app->deck.program, "-H", REMOTE_HERE, NULL });
	if (app->profile)
		strvec_push_array(&argv, (const char *const[]){ "-p", app->profile, NULL });
	strvec_push_array(&argv,
			  (const char *const[]){ "keep-forward", "--json", wish->remote->name,
						 wish->session, app->operands.items[1], NULL });
	const struct child_request request = { .argv = (const char *const *)argv.items,
					       .directory = root,
					       .new_session = true };
	const int r = child_start(&request, &keeper, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_UNAVAILABLE, "%s is not there any more",
					 argv.items[0]);
	if (read_answer(wish, &keeper, &answer, err) < 0) {
		child_abandon(&keeper);
		return -1;
	}
	if (!json_get_bool(answer, "success", false)) {
		if (child_finish(&keeper, clock_ms() + END_MS, &result, err) < 0)
			return -1;
		if (app->json)
			print_json(answer);
		else
			complain("%s", json_get_string(answer, "error", ""));
		return result.exit_status;
	}
	const char *note = json_get_string(answer, "note", NULL);
	return print_done(app, json_object_get(answer),
			  xasprintf("http://127.0.0.1:%d leads to port %d of %s on %s%s%s",
				    (int)json_get_int(answer, "port", 0),
				    (int)json_get_int(answer, "target_port", 0),
				    json_get_string(answer, "title", ""),
				    json_get_string(answer, "via", ""), note ? "; " : "",
				    or_empty(note)));
}

static int cmd_forward(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	struct wish wish;
	if (find_wish(app, &wish, err) < 0)
		return -1;
	if (given->list)
		return list(app, &wish, err);
	if (given->stop)
		return stop(app, &wish, err);
	if (!wish.ports.port)
		return error_set(
			err, ERROR_USAGE,
			"name a session and a port: forward gpu1:api 3000, or 3000:8080 for "
			"port 3000 here and port 8080 there");
	if (!wish.remote)
		return error_set(err, ERROR_INVALID,
				 "%s is on this machine, and so are its ports: agentdeck session "
				 "address %s says where; name one of another host as HOST:SESSION",
				 wish.session, wish.session);
	return way_check(wish.remote, WAY_FORWARD, err) < 0 ? -1 : start(app, &wish, err);
}

const struct command command_forward = {
	.name = "forward",
	.kind = COMMAND_CHANGES,
	.arguments = "[SESSION] [PORT]",
	.summary = "reach a port of a session on another host",
	OWN_OPTIONS,
	.flags = NEEDS_DECK | HAS_JSON | ASKS_A_HOST,
	.run = cmd_forward,
};

/* ---- the keeper ------------------------------------------------------------------------------- */

/* From here on it has no reader. */
static void tell(const struct forward *forward, const char *note)
{
	cleanup_json struct json_object *object = json_of_forward(forward);
	cleanup_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	json_set_bool(object, "success", true);
	json_set_string(object, "note", note);
	print_json(object);
	(void)fflush(stdout);
	(void)dup2(null, STDOUT_FILENO);
	(void)dup2(null, STDERR_FILENO);
}

static int cmd_keep_forward(struct app *app, struct error *err)
{
	cleanup_forward struct forward forward = { 0 };
	const struct remote *remote;
	if (host_find(app, app->operands.items[0], &remote, err) < 0 ||
	    forward_parse(app->operands.items[2], &forward, err) < 0)
		return -1;
	forward.remote = xstrdup(remote->name);
	forward.id = xstrdup(app->operands.items[1]);
	forward.profile = app->profile ? xstrdup(app->profile) : NULL;
	const struct forward_keep keep = {
		.deck = &app->deck, .remote = remote, .forward = &forward, .tell = tell
	};
	return forward_keep(&keep, err);
}

const struct command command_keep_forward = {
	.name = "keep-forward",
	.kind = COMMAND_INTERNAL,
	.arguments = "HOST SESSION PORT",
	.summary = "keep a forwarded port (forward calls this)",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_keep_forward,
};
