/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/registry.h"

#include "base/fsutil.h"
#include "model/naming.h"
#include "model/registry-data.h"
#include "model/registry-parse.h"

#include <string.h>

/* Index of the agent of that name, else where it would stand. */
static size_t find_place(const struct registry *registry, const char *name, bool *ret_found)
{
	size_t i = 0;
	int order = 1;
	while (i < registry->count && (order = strcmp(registry->agents[i]->name, name)) < 0)
		i++;
	*ret_found = i < registry->count && order == 0;
	return i;
}

/* The registry takes agent. */
static void put(struct registry *registry, struct agent *agent)
{
	bool found;
	size_t place = find_place(registry, agent->name, &found);
	if (found) {
		agent_free(registry->agents[place]);
		registry->agents[place] = agent;
		return;
	}
	struct agent **agents = xcalloc(registry->count + 1, sizeof(*agents));
	for (size_t i = 0; i < registry->count; i++)
		agents[i < place ? i : i + 1] = registry->agents[i];
	agents[place] = agent;
	free(registry->agents);
	registry->agents = agents;
	registry->count++;
}

int registry_builtin(struct registry *ret, struct error *err)
{
	cleanup_registry struct registry registry = { 0 };
	for (const struct registry_file *file = registry_files; file->name; file++) {
		struct agent *agent;
		cleanup_free char *what = xasprintf("built-in %s.toml", file->name);
		int r = agent_parse(NULL, file->name, file->text, file->length, what, AGENT_TRUSTED,
				    &agent, err);
		if (r < 0)
			return r;
		agent->builtin = true;
		put(&registry, agent);
	}
	*ret = registry;
	registry = (struct registry){ 0 };
	return 0;
}

int registry_override(struct registry *registry, const char *name, const char *text, size_t length,
		      const char *what, struct error *err)
{
	struct agent *agent;
	const struct agent *base = registry_find(registry, name);
	if (!naming_is_agent(name))
		return error_set(
			err, ERROR_CORRUPT,
			"%s:1:1: the file's name cannot be an agent's: use letters, digits, "
			"\"_\", \".\" and \"-\", a letter or digit first",
			what);
	int r = agent_parse(base, name, text, length, what, AGENT_CHECKED, &agent, err);
	if (r < 0)
		return r;
	agent->overridden = base != NULL;
	put(registry, agent);
	return 0;
}

const struct agent *registry_find(const struct registry *registry, const char *name)
{
	bool found;
	size_t place = find_place(registry, name, &found);
	return found ? registry->agents[place] : NULL;
}

/* How many words env(1) takes for this option, 0 when it does not run what follows. */
static size_t env_option_words(const char *word)
{
	static const char *const with_value[] = {
		"-a", "-C", "-u", "--argv0", "--chdir", "--unset"
	};
	if (starts_with(word, "-S") || starts_with(word, "--split-string"))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(with_value); i++)
		if (streq(word, with_value[i]))
			return 2;
	return 1;
}

static size_t skip_env(const struct strvec *argv, size_t i)
{
	while (i < argv->count && streq(path_basename(argv->items[i]), "env")) {
		for (i++; i < argv->count && argv->items[i][0] == '-';) {
			size_t words = env_option_words(argv->items[i]);
			if (words == 0)
				return argv->count;
			bool last = streq(argv->items[i], "--");
			i += words;
			if (last)
				break;
		}
		while (i < argv->count && strchr(argv->items[i], '='))
			i++;
	}
	return i < argv->count ? i : argv->count;
}

/* Programs that run a script under another name, as package managers' shims do. */
static bool is_interpreter(const char *program)
{
	static const char *const names[] = { "bun", "node", "nodejs", "python", "python3" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(path_basename(program), names[i]))
			return true;
	return false;
}

size_t registry_program(const struct strvec *argv)
{
	size_t program = skip_env(argv, 0);
	if (program == argv->count || !is_interpreter(argv->items[program]))
		return program;
	/* Only right behind it: which of its own options take a value is not known here. */
	size_t script = program + 1;
	return script < argv->count && argv->items[script][0] != '-' ? script : program;
}

static const struct agent *match_program(const struct registry *registry, const char *program)
{
	for (size_t i = 0; i < registry->count; i++)
		if (strvec_contains(&registry->agents[i]->match, path_basename(program)))
			return registry->agents[i];
	return NULL;
}

const struct agent *registry_match(const struct registry *registry, const struct strvec *argv)
{
	size_t program = registry_program(argv);
	const struct agent *agent = NULL;
	if (program < argv->count)
		agent = match_program(registry, argv->items[program]);
	if (!agent && argv->count)
		agent = match_program(registry, argv->items[0]);
	return agent;
}

bool registry_user_has_flag(const struct strvec *argv, const char *flag)
{
	size_t length = strlen(flag);
	for (size_t i = registry_program(argv) + 1; i < argv->count; i++) {
		const char *word = argv->items[i];
		if (streq(word, "--"))
			return false;
		if (starts_with(word, flag) && (word[length] == '\0' || word[length] == '='))
			return true;
	}
	return false;
}

void registry_free(struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++)
		agent_free(registry->agents[i]);
	free(registry->agents);
	*registry = (struct registry){ 0 };
}
