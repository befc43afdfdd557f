/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/host.h"
#include "cli/show/output.h"
#include "engine/hosts/entry.h"

#include "base/argsplit.h"
#include "base/version.h"
#include "model/host/reattach.h"

#include <stdint.h>
#include <string.h>

struct options {
	const char *program, *context, *space;
	int64_t timeout;
	bool again, login, kubernetes;
};

static const struct command_option options[] = {
	{ 0, "kubernetes", NULL,
	  "it is a Pod: DESTINATION is its StatefulSet, or pod/ and its name",
	  TO_FLAG(kubernetes) },
	{ 0, "context", "CONTEXT", "of kubectl, for --kubernetes; without it, the current one",
	  TO_TEXT(context) },
	{ 0, "namespace", "NAMESPACE", "of Kubernetes, for --kubernetes; without it, the context's",
	  TO_TEXT(space) },
	{ 0, "program", "PROGRAM", "agentdeck there: a name, or a path with / or ~/ first",
	  TO_VALUE(program, VALUE_PROGRAM) },
	{ 0, "timeout", "SECONDS", "until a host that does not answer is unreachable",
	  TO_SECONDS(timeout, 1, REMOTE_TIMEOUT_MAX_S) },
	{ 0, "again", NULL, "change the host of this name, also if it is another machine now",
	  TO_FLAG(again) },
	{ 0, "login", NULL, "log in to it first, as host login does", TO_FLAG(login),
	  .kind = COMMAND_TERMINAL },
	{ 0 },
};

/* ---- what doctor says there ------------------------------------------------------------------- */

/* Is this a check of doctor that the hello does not cover? */
static bool is_for_host(const char *check)
{
	static const char *const names[] = { "config", "state directory", "helpers", "agents",
					     "tmux" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(names[i], check))
			return true;
	return false;
}

/* What a session there would lack.  A doctor that says nothing is no reason against the host. */
static void ask_doctor(struct link *link, struct strvec *ret)
{
	cleanup_strvec struct strvec words = { 0 };
	cleanup_json struct json_object *found = NULL;
	strvec_push_array(&words,
			  (const char *const[]){ "-H", REMOTE_HERE, "doctor", "--json", NULL });
	if (hosts_ask(link, &words, &found, NULL) < 0 ||
	    !json_object_is_type(found, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(found); i++) {
		struct json_object *row = json_object_array_get_idx(found, i);
		const char *check = json_get_string(row, "check", "");
		const char *verdict = json_get_string(row, "verdict", "");
		if (is_for_host(check) && !streq(verdict, "ok"))
			strvec_pushf(ret, "%s: %s", check, json_get_string(row, "reason", ""));
	}
}

/* ---- the host --------------------------------------------------------------------------------- */

static int check_values(const struct remote *remote, struct error *err)
{
	cleanup_free char *name = visible(remote->name);
	if (!remote_is_name(remote->name))
		return error_set(err, ERROR_USAGE,
				 "'%s' is not a name for a host: use letters, digits, \"_\", "
				 "\".\" and \"-\"; \"local\" is this machine",
				 name);
	for (const struct remote_text *text = remote_texts; text->key; text++) {
		const char *value = remote_value(remote, text);
		cleanup_free char *shown = visible(or_empty(value));
		if (value && !text->is_valid(value))
			return error_set(err, ERROR_USAGE, "'%s' is not valid for %s: %s", shown,
					 text->key, text->must);
	}
	return remote_conflict(remote) ? error_set(err, ERROR_USAGE, "%s", remote_conflict(remote))
				       : 0;
}

/* What is not said stays as it was. */
static int describe(struct app *app, struct remote *ret, struct error *err)
{
	const struct options *given = app->options;
	const char *name = app->operands.items[0];
	const char *where = app->operands.count > 1 ? app->operands.items[1] : NULL;
	const struct remote *old = remotes_find(&app->deck.settings.hosts, name);
	const bool is_pod = given->kubernetes || (old && old->kubernetes);
	if (old && !given->again) {
		cleanup_free char *place = remote_place(old);
		return error_set(err, ERROR_EXISTS, "there is a host '%s' (%s): --again changes it",
				 name, place);
	}
	if (old && is_pod != (old->kubernetes != NULL))
		return error_set(err, ERROR_USAGE,
				 "%s is a host by ssh: agentdeck host remove %s first", name, name);
	if (!is_pod && (given->context || given->space))
		return error_set(err, ERROR_USAGE, "--context and --namespace need --kubernetes");
	for (const struct remote_text *text = remote_texts; old && text->key; text++)
		replace_string(remote_text(ret, text), remote_value(old, text));
	ret->name = xstrdup(name);
	char **place = is_pod ? &ret->kubernetes : &ret->ssh;
	if (where || !old)
		replace_string(place, where ? where : name);
	const char *const values[] = { given->context, given->space, given->program };
	char **const to[] = { &ret->kube_context, &ret->kube_namespace, &ret->program };
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (values[i])
			replace_string(to[i], values[i]);
	if (!ret->program)
		ret->program = xstrdup(REMOTE_PROGRAM);
	replace_string(&ret->machine_id, NULL);
	replace_string(&ret->kube_uid, NULL);
	ret->forward_agent = old && old->forward_agent;
	ret->timeout_s = given->timeout ? given->timeout : old ? old->timeout_s : REMOTE_TIMEOUT_S;
	return check_values(ret, err);
}

/* The machine of its archive; "x86_64" for one that is not known. */
static char *machine_of(const char *system)
{
	const char *word = strchr(system, ' ') ? strchr(system, ' ') + 1 : "";
	const size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_");
	return length ? xstrndup(word, length) : xstrdup("x86_64");
}

/* The command line that repeats this command, for a shell.  program NULL: the one that the user
 * gave.  The caller frees. */
static char *once_more(const struct app *app, const char *program, bool has_login)
{
	const struct options *given = app->options;
	cleanup_strbuf struct strbuf words = { 0 };
	program = program ? program : given->program;
	strbuf_adds(&words, "agentdeck host add");
	for (size_t i = 0; i < app->operands.count; i++)
		strbuf_addf(&words, " %s", app->operands.items[i]);
	/* "~/" is of the other machine. */
	if (program)
		strbuf_addf(&words, " --program '%s'", program);
	if (given->kubernetes)
		strbuf_adds(&words, " --kubernetes");
	if (given->context) {
		cleanup_free char *context = argjoin(
			(char *const[]){ (char *)(uintptr_t)given->context, NULL });
		strbuf_addf(&words, " --context %s", context);
	}
	if (given->space)
		strbuf_addf(&words, " --namespace %s", given->space);
	if (given->timeout)
		strbuf_addf(&words, " --timeout %lld", (long long)given->timeout);
	strbuf_addf(&words, "%s%s", given->again ? " --again" : "", has_login ? " --login" : "");
	return strbuf_take(&words);
}

/* The machine answers, but has no agentdeck that does. */
static int lacks_agentdeck(struct app *app, const struct remote *remote, const char *system,
			   const struct error *why, struct error *err)
{
	const struct options *given = app->options;
	cleanup_free char *machine = machine_of(system);
	cleanup_free char *again = once_more(app, "~/.local/bin/agentdeck", given->login);
	if (!app->json) {
		say("%s is a host (%s), but agentdeck does not start there. Install it there, "
		    "as:",
		    remote->name, system);
		say("  a package: scripts/build-deb, build-rpm and build-arch make them");
		say("  or an archive that scripts/build-tarball --systemd made on a machine like that "
		    "one:");
		say("    ssh %s 'mkdir -p ~/.local && tar -C ~/.local --strip-components=1 -xz' "
		    "<agentdeck-%s-%s-systemd.tar.gz",
		    remote->ssh, agentdeck_version, machine);
		say("    %s", again);
		say("  Where there is no systemd, or an older C library, make the archive without "
		    "--systemd.");
		say("  Then a logout can end its sessions, and it has no containers and no deck.");
		if (!strstr(system, "tmux"))
			say("It has no tmux, either, which agentdeck needs.");
	}
	return error_set(err, ERROR_UNAVAILABLE, "%s was not added: %s", remote->name,
			 why->message);
}

static int probe(struct app *app, const struct remote *remote, struct link **ret, struct error *err)
{
	cleanup_error struct error why = { 0 };
	cleanup_free char *system = NULL;
	if (hosts_open(&app->deck, remote, ret, &why) == 0)
		return 0;
	if (why.code == ERROR_UNREACHABLE &&
	    hosts_ask_system(&app->deck, remote, &system, NULL) == 0)
		return lacks_agentdeck(app, remote, system, &why, err);
	cleanup_free char *login = once_more(app, NULL, true);
	const bool needs_user = reattach_needs_user(why.message);
	return error_set(err, why.code, "%s was not added: %s%s%s", remote->name, why.message,
			 needs_user ? ": log in with " : "", needs_user ? login : "");
}

static int add(struct app *app, struct remote *remote, struct error *err)
{
	cleanup_link struct link *link = NULL;
	cleanup_strvec struct strvec found = { 0 };
	const struct remote_text *place = &remote_texts[remote_kind(remote)];
	if (probe(app, remote, &link, err) < 0)
		return -1;
	const struct link_hello *hello = link_hello(link);
	const struct remote *old = remotes_find(&app->deck.settings.hosts, remote->name);
	const bool is_another = old && old->machine_id &&
				!streq(old->machine_id, or_empty(hello->machine_id));
	remote->machine_id = hello->machine_id ? xstrdup(hello->machine_id) : NULL;
	ask_doctor(link, &found);
	if (way_of(remote)->settle && way_of(remote)->settle(remote, err) < 0)
		return error_prefix(err, "%s was not added", remote->name);
	if (hosts_entry_save(&app->deck, remote, err) < 0)
		return -1;
	/* The name of the connection's socket contains the place. */
	if (old && !streq(remote_value(old, place), remote_value(remote, place)))
		(void)hosts_end(&app->deck, old);
	if (!app->json) {
		host_say(remote, hello);
		for (size_t i = 0; i < found.count; i++)
			say("  %s", found.items[i]);
		if (is_another)
			say("  it is another machine than before");
	}
	struct json_object *object = host_json(app, remote, hello, NULL);
	json_set_bool(object, "success", true);
	json_set_bool(object, "is_another_machine", is_another);
	json_set_strings(object, "found", &found);
	return print_done(app, object, xasprintf("Added. Try: agentdeck -H %s list", remote->name));
}

static int cmd_host_add(struct app *app, struct error *err)
{
	CLEANUP(remote_free) struct remote remote = { 0 };
	const struct options *given = app->options;
	int login = HOSTS_CONNECTED;
	if (describe(app, &remote, err) < 0 ||
	    (given->login && (login = hosts_login(&app->deck, &remote, err)) < 0))
		return -1;
	const int r = add(app, &remote, err);
	/* host logout knows only the hosts of config.toml. */
	if (r < 0 && login != HOSTS_CONNECTED)
		(void)hosts_end(&app->deck, &remote);
	return r;
}

const struct command command_host_add = {
	.name = "host add",
	.kind = COMMAND_CHANGES,
	.arguments = "NAME [DESTINATION]",
	.summary = "look at a machine, and name it in config.toml",
	OWN_OPTIONS,
	.flags = NEEDS_DECK | HAS_JSON | IS_STRICT | IS_OF_PROGRAM,
	.run = cmd_host_add,
};
