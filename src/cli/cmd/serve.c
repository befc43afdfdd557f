/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/link/serve.h"
#include "cli/cmd/commands.h"

#include "base/clock.h"
#include "base/machine.h"
#include "base/process.h"
#include "base/version.h"
#include "cli/show/shapes.h"
#include "driver/systemd/unit.h"
#include "engine/hosts/hosts.h"
#include "engine/supervise/supervise.h"
#include "model/link/frame.h"

#include <pwd.h>
#include <unistd.h>

enum { SILENCE_S = 30, SILENCE_MAX_S = 3600 };

struct options {
	bool stdio, socket;
	int64_t silence; /* 0: not given */
};

static const struct command_option options[] = {
	{ 0, "stdio", NULL, "the link is standard input and output", TO_FLAG(stdio) },
	{ 0, "socket", NULL, "standard input is a connection from a program of this user",
	  TO_FLAG(socket) },
	{ 0, "silence", "SECONDS", "end when the client has said nothing for this time",
	  TO_SECONDS(silence, 1, SILENCE_MAX_S) },
	{ 0 },
};

/* Which of the promises of docs/security.md this host can keep. */
static void add_promises(struct deck *deck, struct json_object *hello)
{
	struct json_object *promises = json_make_object(hello, "promises");
	json_set_bool(promises, "manager", deck_bus(deck) != NULL);
	json_set_bool(promises, "lingers", login_lingers(geteuid()));
	json_set_bool(promises, "supervised", supervise_is_running(deck));
}

static struct json_object *make_hello(struct deck *deck)
{
	struct json_object *hello = json_object_new_object();
	cleanup_free char *state = hosts_state(deck);
	const struct machine_stamp here = machine_stamp();
	const struct passwd *owner = getpwuid(geteuid());
	json_set_int(hello, "oldest", LINK_OLDEST);
	json_set_int(hello, "newest", LINK_NEWEST);
	json_set_string(hello, "version", agentdeck_version);
	json_set_string(hello, "host", here.host);
	json_set_string(hello, "machine_id", here.id);
	json_set_string(hello, "boot_id", here.boot_id);
	json_set_string(hello, "pid_namespace", here.pid_namespace);
	json_set_string(hello, "state", state);
	json_set_string(hello, "user", owner ? owner->pw_name : NULL);
	json_set_int(hello, "uid", geteuid());
	json_set_time(hello, "now", clock_wall_us());
	add_promises(deck, hello);
	return hello;
}

static int cmd_serve(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	if (given->stdio == given->socket)
		return error_set(err, ERROR_USAGE,
				 "usage: agentdeck serve --stdio (ssh runs it: docs/link.md), or "
				 "--socket (agentdeck.socket does: docs/interface.md)");
	if (given->socket && !process_peer_is_ours(STDIN_FILENO))
		return error_set(err, ERROR_INVALID,
				 "standard input is no connection of a program of this user");
	cleanup_json struct json_object *hello = make_hello(&app->deck);
	const struct serve_order order = {
		.input = STDIN_FILENO,
		.output = STDOUT_FILENO,
		/* A client on this machine needs no limit: the kernel reports its end. */
		.silence_ms = 1000 * (given->silence || given->socket ? given->silence : SILENCE_S),
		.facts = hello,
	};
	return serve_run(&app->deck, &order, err);
}

const struct command command_serve = {
	.name = "serve",
	.kind = COMMAND_INTERNAL,
	.arguments = "",
	.summary = "be the far end of a link: run commands that arrive on standard input",
	OWN_OPTIONS,
	.flags = NEEDS_DECK,
	.run = cmd_serve,
};
