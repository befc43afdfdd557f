/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/host.h"
#include "cli/show/output.h"
#include "engine/hosts/entry.h"

static struct json_object *success(const char *name)
{
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "name", name);
	return object;
}

static int cmd_host_remove(struct app *app, struct error *err)
{
	const struct remote *remote;
	if (host_find(app, app->operands.items[0], &remote, err) < 0 ||
	    hosts_entry_remove(&app->deck, remote, err) < 0)
		return -1;
	(void)hosts_end(&app->deck, remote);
	return print_done(app, success(remote->name),
			  xasprintf("%s is not in config.toml any more; its sessions are as they "
				    "were, on that machine",
				    remote->name));
}

const struct command command_host_remove = {
	.name = "host remove",
	.kind = COMMAND_CHANGES,
	.arguments = "HOST",
	.summary = "take a host out of config.toml; its sessions stay",
	.flags = NEEDS_DECK | HAS_JSON | IS_STRICT | IS_OF_PROGRAM,
	.run = cmd_host_remove,
};

static int cmd_host_rename(struct app *app, struct error *err)
{
	const char *name = app->operands.items[1];
	cleanup_free char *shown = visible(name);
	const struct remote *remote;
	if (host_find(app, app->operands.items[0], &remote, err) < 0)
		return -1;
	if (!remote_is_name(name))
		return error_set(err, ERROR_USAGE,
				 "'%s' is not a name for a host: use letters, digits, \"_\", "
				 "\".\" and \"-\"; \"local\" is this machine",
				 shown);
	if (remotes_find(&app->deck.settings.hosts, name))
		return error_set(err, ERROR_EXISTS, "there is a host '%s'", name);
	if (hosts_entry_rename(&app->deck, remote, name, err) < 0)
		return -1;
	/* The name is part of the name of its socket. */
	(void)hosts_end(&app->deck, remote);
	struct json_object *object = success(name);
	json_set_string(object, "old_name", remote->name);
	return print_done(app, object, xasprintf("%s is %s now", remote->name, name));
}

const struct command command_host_rename = {
	.name = "host rename",
	.kind = COMMAND_CHANGES,
	.arguments = "HOST NAME",
	.summary = "give a host of config.toml another name",
	.flags = NEEDS_DECK | HAS_JSON | IS_STRICT | IS_OF_PROGRAM,
	.run = cmd_host_rename,
};

static int cmd_host_login(struct app *app, struct error *err)
{
	const struct remote *remote;
	if (host_find(app, app->operands.items[0], &remote, err) < 0)
		return -1;
	const int r = hosts_login(&app->deck, remote, err);
	if (r < 0)
		return -1;
	struct json_object *object = success(remote->name);
	json_set_bool(object, "was_connected", r == HOSTS_CONNECTED);
	return print_done(app, object,
			  r == HOSTS_CONNECTED
				  ? xasprintf("%s is connected already", remote->name)
				  : xasprintf("%s is connected, until agentdeck host logout %s",
					      remote->name, remote->name));
}

const struct command command_host_login = {
	.name = "host login",
	.kind = COMMAND_TERMINAL,
	.arguments = "HOST",
	.summary = "connect to a host that asks for a password or a code",
	.flags = NEEDS_DECK | HAS_JSON | IS_OF_PROGRAM,
	.run = cmd_host_login,
};

static int cmd_host_logout(struct app *app, struct error *err)
{
	const struct remote *remote;
	if (host_find(app, app->operands.items[0], &remote, err) < 0)
		return -1;
	const bool was_connected = hosts_end(&app->deck, remote);
	struct json_object *object = success(remote->name);
	json_set_bool(object, "was_connected", was_connected);
	return print_done(app, object,
			  was_connected ? xasprintf("%s: its connection takes no more commands",
						    remote->name)
					: xasprintf("%s was not connected", remote->name));
}

const struct command command_host_logout = {
	.name = "host logout",
	.kind = COMMAND_CHANGES,
	.arguments = "HOST",
	.summary = "end the connection to a host",
	.flags = NEEDS_DECK | HAS_JSON | IS_OF_PROGRAM,
	.run = cmd_host_logout,
};
