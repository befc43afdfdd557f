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
	hosts_end(&app->deck, remote);
	return print_done(app, success(remote->name),
			  xasprintf("%s is not in config.toml any more; its sessions are as they "
				    "were, on that machine",
				    remote->name));
}

const struct command command_host_remove = {
	.name = "host remove",
	.kind = COMMAND_CHANGES,
	.arguments = "HOST",
	.summary = "take a host out of config.toml; its sessions stay as they are",
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
	hosts_end(&app->deck, remote);
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
