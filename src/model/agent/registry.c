/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/registry.h"

#include "model/agent/registry-data.h"
#include "model/agent/registry-parse.h"
#include "model/session/naming.h"

#include <string.h>

/* Index of the agent of that name, else the index to insert it at. */
static size_t find_place(const struct registry *registry, const char *name, bool *ret_found)
{
	size_t i = 0;
	int order = 1;
	while (i < registry->count && (order = strcmp(registry->agents[i]->name, name)) < 0)
		i++;
	*ret_found = i < registry->count && order == 0;
	return i;
}

/* Insert agent, which the registry then owns. */
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

static int add_file(struct registry *registry, const struct registry_file *file, struct error *err)
{
	struct agent *agent;
	cleanup_free char *what = xasprintf("built-in %s.toml", file->name);
	if (registry_find(registry, file->name))
		return 0;
	const struct agent_text text = { .name = file->name,
					 .text = file->text,
					 .length = file->length,
					 .what = what,
					 .trust = AGENT_TRUSTED };
	int r = agent_parse(NULL, &text, &agent, err);
	if (r < 0)
		return r;
	agent->builtin = true;
	put(registry, agent);
	return 0;
}

int registry_add_builtin(struct registry *registry, const char *name, struct error *err)
{
	for (const struct registry_file *file = registry_files; file->name; file++)
		if (streq(file->name, name))
			return add_file(registry, file, err);
	return REGISTRY_ABSENT;
}

int registry_builtin(struct registry *registry, struct error *err)
{
	for (const struct registry_file *file = registry_files; file->name; file++) {
		int r = add_file(registry, file, err);
		if (r < 0)
			return r;
	}
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
			"%s:1:1: the file's name is not a valid agent name: use letters, digits, "
			"\"_\", \".\" and \"-\", a letter or digit first",
			what);
	const struct agent_text entry = {
		.name = name, .text = text, .length = length, .what = what, .trust = AGENT_CHECKED
	};
	int r = agent_parse(base, &entry, &agent, err);
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

enum strategy registry_strategy(const struct agent *agent)
{
	bool has_ids = agent->id_kind != ID_NONE && agent->resume.count;
	if (has_ids && agent->assign.count)
		return strvec_equal(&agent->assign, &agent->resume) ? STRATEGY_IDEMPOTENT
								    : STRATEGY_ASSIGN;
	if (has_ids && agent->create.count)
		return STRATEGY_CREATE;
	if (has_ids && agent_reports(agent))
		return STRATEGY_REPORT;
	bool isolated = agent->isolation_arguments.count || agent->isolation_environment.count;
	/* The latest conversation of the whole machine may belong to anybody. */
	if (agent->continue_latest.count && (isolated || agent->continue_scope == ID_SCOPE_CWD))
		return STRATEGY_CONTINUE;
	return STRATEGY_NONE;
}

const char *strategy_name(enum strategy strategy)
{
	static const char *const names[] = {
		[STRATEGY_NONE] = "none", [STRATEGY_ASSIGN] = "A", [STRATEGY_IDEMPOTENT] = "A*",
		[STRATEGY_CREATE] = "A'", [STRATEGY_REPORT] = "R", [STRATEGY_CONTINUE] = "B",
	};
	return names[strategy];
}

void registry_free(struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++)
		agent_free(registry->agents[i]);
	free(registry->agents);
	*registry = (struct registry){ 0 };
}
