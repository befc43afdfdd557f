/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/host.h"

#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "base/clock.h"
#include "model/host/slurm.h"

#include <stddef.h>

static void add_remote(struct json_object *object, struct app *app, const struct remote *remote)
{
	json_set_string(object, "name", remote->name);
	json_set_string(object, "kind", remote_kind_words[remote_kind(remote)]);
	for (const struct remote_text *text = remote_texts; text->key; text++)
		if (text->at != offsetof(struct remote, machine_id))
			json_set_string(object, text->key, remote_value(remote, text));
	json_set_int(object, "timeout_s", remote->timeout_s);
	json_set_bool(object, "forward_agent", remote->forward_agent);
	json_set_string(object, "known_machine_id", remote->machine_id);
	json_set_time(object, "unreachable_since_at", hosts_unreachable_since(&app->deck, remote));
}

static int cmd_host_list(struct app *app, struct error *err UNUSED)
{
	const struct remotes *remotes = &app->deck.settings.hosts;
	cleanup_table struct table *table = table_new(
		app, (const char *const[]){ "HOST", "PLACE", "UNREACHABLE SINCE", "WHY", NULL });
	for (size_t i = 0; i < remotes->count; i++) {
		const struct remote *remote = &remotes->items[i];
		char date[CLOCK_TEXT_SIZE] = "";
		const int64_t since = hosts_unreachable_since(&app->deck, remote);
		if (since)
			clock_local(since, date);
		cleanup_free char *place = remote_place(remote);
		cleanup_free char *why = hosts_why(&app->deck, remote);
		table_add(table,
			  (const char *const[]){ remote->name, place, date, or_empty(why), NULL },
			  TONE_PLAIN);
		if (!app->json)
			continue;
		cleanup_json struct json_object *object = json_object_new_object();
		add_remote(object, app, remote);
		json_set_string(object, "problem", why);
		print_json_element(object, i);
	}
	if (app->json)
		print_json_end(remotes->count);
	else if (remotes->count)
		table_print(table);
	else
		say("No hosts. Name one with a line [hosts.NAME]: agentdeck config edit");
	return 0;
}

const struct command command_host_list = {
	.name = "host list",
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "list the hosts of config.toml",
	.flags = NEEDS_DECK | HAS_JSON | IS_OF_PROGRAM,
	.run = cmd_host_list,
};

/* Which promises a host can keep, and what it means if it cannot. */
static const struct {
	const char *name, *lacks;
	bool is_of_machine; /* there are no logins in a Pod or a job */
} promises[] = {
	{ "manager", "no user manager runs there: a logout can end its sessions", true },
	{ "lingers", "its user does not linger: the last logout can end its sessions", true },
	{ "supervised", "no supervisor runs there: what ends unexpectedly is not restarted",
	  false },
};

void host_say(const struct remote *remote, const struct link_hello *hello)
{
	struct json_object *kept = json_get_object(hello->facts, "promises");
	cleanup_free char *job = slurm_entered_by(remote->program);
	say("%s: agentdeck %s, %s on %s", remote->name, hello->version,
	    json_get_string(hello->facts, "user", "?"), json_get_string(hello->facts, "host", "?"));
	for (size_t i = 0; i < ARRAY_SIZE(promises); i++)
		if (!json_get_bool(kept, promises[i].name, false) &&
		    !(promises[i].is_of_machine && (remote->kubernetes || job)))
			say("  %s", promises[i].lacks);
}

struct json_object *host_json(struct app *app, const struct remote *remote,
			      const struct link_hello *hello, const char *problem)
{
	struct json_object *kept = hello ? json_get_object(hello->facts, "promises") : NULL;
	struct json_object *object = json_object_new_object();
	add_remote(object, app, remote);
	json_set_bool(object, "is_reachable", hello);
	json_set_string(object, "problem", problem);
	json_set_string(object, "version", hello ? hello->version : NULL);
	json_set_string(object, "machine_id", hello ? hello->machine_id : NULL);
	json_set_string(object, "user", hello ? json_get_string(hello->facts, "user", NULL) : NULL);
	for (size_t i = 0; i < ARRAY_SIZE(promises); i++)
		json_set_bool(object, promises[i].name,
			      json_get_bool(kept, promises[i].name, false));
	return object;
}

int host_find(struct app *app, const char *name, const struct remote **ret, struct error *err)
{
	cleanup_free char *shown = visible(name);
	*ret = remotes_find(&app->deck.settings.hosts, name);
	return *ret ? 0
		    : error_set(err, ERROR_NOT_FOUND,
				"there is no host '%s': agentdeck host list shows them", shown);
}

/* Returns whether it answers, and is the right machine. */
static bool check(struct app *app, const struct remote *remote, size_t index)
{
	cleanup_error struct error err = { 0 };
	cleanup_link struct link *link = NULL;
	const bool is_fine = hosts_open(&app->deck, remote, &link, &err) == 0 &&
			     hosts_check_machine(remote, link, &err) == 0;
	const struct link_hello *hello = link ? link_hello(link) : NULL;
	if (app->json) {
		cleanup_json struct json_object *object = host_json(app, remote, hello,
								    err.message);
		print_json_element(object, index);
		return is_fine;
	}
	if (hello)
		host_say(remote, hello);
	if (!is_fine)
		say("%s%s", hello ? "  " : "", err.message);
	return is_fine;
}

static int cmd_host_check(struct app *app, struct error *err)
{
	const struct remotes *remotes = &app->deck.settings.hosts;
	const struct strvec *named = &app->operands;
	const struct remote *remote;
	bool all = true;
	for (size_t i = 0; i < named->count; i++)
		if (host_find(app, named->items[i], &remote, err) < 0)
			return -1;
	for (size_t i = 0; i < named->count; i++)
		all &= check(app, remotes_find(remotes, named->items[i]), i);
	for (size_t i = 0; !named->count && i < remotes->count; i++)
		all &= check(app, &remotes->items[i], i);
	if (app->json)
		print_json_end(named->count ? named->count : remotes->count);
	return all ? 0 : error_exit_status(ERROR_UNREACHABLE);
}

const struct command command_host_check = {
	.name = "host check",
	.kind = COMMAND_READS,
	.arguments = "[HOST...]",
	.summary = "show which hosts answer, and what does not hold there",
	.flags = NEEDS_DECK | HAS_JSON | IS_OF_PROGRAM,
	.run = cmd_host_check,
};
