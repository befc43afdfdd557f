/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/logins.h"

#include "base/program.h"

#include <stdlib.h>
#include <string.h>

#define GH_PROGRAM "gh"
/* gh also finds a token in the keyring of the desktop. */
#define GH_COMMAND "command:[\"gh\",\"auth\",\"token\"]"

static const struct agent *github(void)
{
	static char name[] = LOGIN_GITHUB, title[] = "GitHub", variable[] = "GH_CONFIG_DIR",
		    home[] = "~/.config/gh";
	static struct agent entry = {
		.name = name, .title = title, .config_home_env = variable, .config_home = home
	};
	if (!entry.login_files.count) {
		strvec_push(&entry.login_files, "{home}/hosts.yml");
		strvec_push(&entry.login_variables, "GH_TOKEN");
		strvec_push(&entry.login_variables, "GITHUB_TOKEN");
	}
	return &entry;
}

int logins_find(struct deck *deck, const char *name, const struct agent **ret, struct error *err)
{
	if (!streq(name, LOGIN_GITHUB))
		return deck_agent(deck, name, ret, err);
	*ret = github();
	return 0;
}

/* ---- how it gets in -------------------------------------------------------------------------- */

/* The word in "NAME=HOW", or in "HOW" if this login needs no name.  NULL: it is of another one. */
static const char *word_of(const char *text, const char *name, const char *agent)
{
	const char *equals = strchr(text, '=');
	const size_t length = equals ? (size_t)(equals - text) : 0;
	if (!equals)
		return streq(name, agent) ? text : NULL;
	return strlen(name) == length && memcmp(name, text, length) == 0 ? equals + 1 : NULL;
}

const char *logins_how(const struct logins_order *order, const char *name)
{
	const struct strvec *usual = &order->defaults->logins;
	const char *how = NULL;
	for (size_t i = 0; order->words && i < order->words->count; i++) {
		const char *word = word_of(order->words->items[i], name, order->agent);
		how = word ? word : how;
	}
	for (size_t i = 0; !how && i + 1 < usual->count; i += 2)
		if (streq(usual->items[i], name))
			how = usual->items[i + 1];
	return how || !streq(name, order->agent) ? how : order->defaults->auth;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool has_secret(const struct recipe *recipe, const struct strvec *names)
{
	for (size_t i = 0; i < recipe->secret_count; i++)
		if (strvec_contains(names, recipe->secrets[i].name))
			return true;
	return false;
}

/* Only where the value is: each start looks it up. */
static void add_variables(const struct strvec *variables, struct recipe *recipe)
{
	if (has_secret(recipe, variables))
		return;
	for (size_t i = 0; i < variables->count; i++) {
		const char *name = variables->items[i];
		cleanup_free char *source = xasprintf("env:%s", name);
		if (!is_empty(getenv(name)))
			recipe_add_secret(recipe, name, source);
	}
}

int logins_add_own(const struct strvec *variables, struct recipe *recipe, struct error *err)
{
	cleanup_free char *names = variables ? strvec_join(variables, ", ") : xstrdup("");
	if (variables)
		add_variables(variables, recipe);
	if (recipe->secret_count)
		return 0;
	if (!*names)
		return error_set(err, ERROR_USAGE,
				 "--auth token needs the variable that holds the agent's token: "
				 "add --secret NAME");
	return error_set(err, ERROR_USAGE,
			 "--auth token: no variable of the agent's login is set here (%s): export "
			 "one, or name a source with --secret NAME=file:PATH",
			 names);
}

static int add_token(const struct agent *entry, struct recipe *recipe, struct error *err)
{
	const struct strvec *variables = &entry->login_variables;
	add_variables(variables, recipe);
	if (has_secret(recipe, variables))
		return 0;
	if (entry == github() && program_is_installed(GH_PROGRAM)) {
		recipe_add_secret(recipe, variables->items[0], GH_COMMAND);
		return 0;
	}
	cleanup_free char *names = strvec_join(variables, ", ");
	return error_set(err, ERROR_USAGE,
			 "--auth %s=token: no variable of this login is set here (%s): export one, "
			 "or name a source with --secret NAME=file:PATH",
			 entry->name, names);
}

/* ---- the others ------------------------------------------------------------------------------ */

static int add_slot(const struct agent *entry, const char *how, struct recipe *recipe,
		    struct error *err)
{
	enum recipe_login login = LOGIN_IGNORE;
	if (how && !recipe_login_parse(how, &login)) {
		cleanup_free char *shown = visible(how);
		return error_set(err, ERROR_USAGE,
				 "--auth %s must be sync, token or ignore, not '%s'", entry->name,
				 shown);
	}
	if (login == LOGIN_SYNC && !entry->login_files.count)
		return error_set(err, ERROR_USAGE,
				 "--auth %s=sync: the entry of agent %s names no files of a login: "
				 "use token or ignore, or name them (home.login)",
				 entry->name, entry->name);
	recipe_add_slot(recipe, entry->name, login);
	return login == LOGIN_TOKEN ? add_token(entry, recipe, err) : 0;
}

static void add_name(struct strvec *names, const char *name, size_t length, const char *agent)
{
	cleanup_free char *copy = xstrndup(name, length);
	if (!streq(copy, agent) && !strvec_contains(names, copy))
		strvec_push(names, copy);
}

int logins_add(struct deck *deck, const struct logins_order *order, struct recipe *recipe,
	       struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	for (size_t i = 0; order->words && i < order->words->count; i++) {
		const char *text = order->words->items[i];
		if (strchr(text, '='))
			add_name(&names, text, strcspn(text, "="), order->agent);
	}
	for (size_t i = 0; order->of_role && i < order->of_role->count; i++) {
		const char *name = order->of_role->items[i];
		add_name(&names, name, strlen(name), order->agent);
	}
	for (size_t i = 0; i < names.count; i++) {
		const struct agent *entry;
		if (logins_find(deck, names.items[i], &entry, err) < 0)
			return error_prefix(err, "a login");
		if (add_slot(entry, logins_how(order, entry->name), recipe, err) < 0)
			return -1;
	}
	return 0;
}
