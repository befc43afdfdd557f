/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/host.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"

struct options {
	bool force;
};

static const struct command_option options[] = {
	{ 'f', "force", NULL, "do not ask", TO_FLAG(force) },
	{ 0 },
};

/* A stop ends the agents on the host. */
static int confirm(struct app *app, const struct remote *remote, struct error *err)
{
	const struct options *given = app->options;
	cleanup_free char *place = remote_place(remote);
	cleanup_free char *question = xasprintf("Stop %s (%s)? Its agents end in order; their "
						"conversations and its volume are kept.",
						remote->name, place);
	cleanup_free char *without = xasprintf("%s (%s) would be stopped, and its agents end: add "
					       "--force to do it",
					       remote->name, place);
	const struct consent consent = { question, "Nothing was stopped.", "--force", without,
					 ERROR_INVALID };
	return given->force ? 0 : ask_consent(app, &consent, err);
}

static int scale(struct app *app, const struct remote *remote, int64_t replicas, char *text,
		 struct error *err)
{
	cleanup_free char *done = text;
	const int r = hosts_scale(&app->deck, remote, replicas, err);
	if (r < 0)
		return -1;
	if (r == HOSTS_AS_WANTED) {
		replace_string(&done, NULL);
		done = xasprintf("%s has replicas %lld already: nothing was changed", remote->name,
				 (long long)replicas);
	}
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "name", remote->name);
	json_set_int(object, "replicas", replicas);
	return print_done(app, object, TAKE_PTR(done));
}

static int cmd_host_stop(struct app *app, struct error *err)
{
	const struct remote *remote;
	if (host_find(app, app->operands.items[0], &remote, err) < 0 ||
	    way_check(remote, WAY_SCALE, err) < 0)
		return -1;
	const int r = confirm(app, remote, err);
	if (r != 0)
		return r < 0 ? -1 : 1;
	return scale(
		app, remote, 0,
		xasprintf("%s stops: its agents end in order. Its volume and all conversations "
			  "are kept; to continue them: agentdeck host start %s",
			  remote->name, remote->name),
		err);
}

const struct command command_host_stop = {
	.name = "host stop",
	.kind = COMMAND_CHANGES,
	.arguments = "HOST",
	.summary = "end the Pod of a host; what it has is kept",
	OWN_OPTIONS,
	.flags = NEEDS_DECK | HAS_JSON | IS_OF_PROGRAM,
	.run = cmd_host_stop,
};

static int cmd_host_start(struct app *app, struct error *err)
{
	const struct remote *remote;
	if (host_find(app, app->operands.items[0], &remote, err) < 0)
		return -1;
	return scale(app, remote, 1,
		     xasprintf("%s starts, and its sessions resume; how far it is: agentdeck host "
			       "check %s",
			       remote->name, remote->name),
		     err);
}

const struct command command_host_start = {
	.name = "host start",
	.kind = COMMAND_CHANGES,
	.arguments = "HOST",
	.summary = "start a host that was stopped",
	.flags = NEEDS_DECK | HAS_JSON | IS_OF_PROGRAM,
	.run = cmd_host_start,
};
