/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/supply.h"

#include "base/program.h"
#include "model/agent/registry.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

enum { RECENTS_MAX = 50, NAMES_MAX = 4096 };

static bool is_installed(const struct agent *agent)
{
	return !agent->command.count || program_is_installed(agent->command.items[0]);
}

/* First the agents, then the stand-ins, as the question of `agentdeck launch` lists them. */
static void gather_agents(struct deck *deck, struct form_supply *ret)
{
	const struct registry *registry;
	cleanup_strvec struct strvec others = { 0 };
	if (deck_registry(deck, &registry, NULL) < 0)
		return;
	for (int stand_ins = 0; stand_ins < 2; stand_ins++) {
		for (size_t i = 0; i < registry->count; i++) {
			const struct agent *agent = registry->agents[i];
			if (agent->stand_in != (stand_ins == 1))
				continue;
			strvec_push(is_installed(agent) ? &ret->agents : &others, agent->name);
		}
	}
	ret->installed = ret->agents.count;
	if (deck->settings.default_agent)
		ret->usual = xasprintf("default: %s", deck->settings.default_agent);
	strvec_push_all(&ret->agents, &others);
}

static int by_use(const void *a, const void *b)
{
	const struct store_row *first = *(const struct store_row *const *)a;
	const struct store_row *second = *(const struct store_row *const *)b;
	const int64_t one = first->last_used_at ? first->last_used_at : first->created_at;
	const int64_t other = second->last_used_at ? second->last_used_at : second->created_at;
	return one < other ? 1 : one > other ? -1 : 0;
}

/* Of a worktree or clone: what it was made of.  The path of such a tree has the session's id. */
static char *directory_of(struct deck *deck, const struct store_row *row)
{
	cleanup_instance struct instance *instance = NULL;
	const char *directory = or_empty(row->lookup_directory);
	if (strstr(directory, row->id) && deck_load(deck, row->base, &instance, NULL) == 0 &&
	    instance->workspace)
		return xstrdup(instance->workspace->source);
	return xstrdup(directory);
}

static void gather_recents(struct deck *deck, const struct roster *roster, struct form_supply *ret)
{
	const size_t count = roster_count(roster);
	cleanup_free const struct store_row **rows = xcalloc(count + 1, sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		rows[i] = &roster_at(roster, i)->row;
	qsort(rows, count, sizeof(*rows), by_use);
	for (size_t i = 0; i < count && ret->recents.count < RECENTS_MAX; i++) {
		cleanup_free char *directory = rows[i]->damage ? xstrdup("")
							       : directory_of(deck, rows[i]);
		if (*directory && !strvec_contains(&ret->recents, directory))
			strvec_push(&ret->recents, directory);
	}
}

void supply_gather(struct deck *deck, const struct roster *roster, struct form_supply *ret)
{
	ret->home = xstrdup_or_null(getenv("HOME"));
	gather_agents(deck, ret);
	gather_recents(deck, roster, ret);
}

static bool is_directory(DIR *parent, const struct dirent *entry)
{
	struct stat st;
	if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd(parent), entry->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void close_directory(DIR **directory)
{
	if (*directory)
		(void)closedir(*directory);
}

void supply_directories(const char *directory, struct strvec *ret)
{
	CLEANUP(close_directory) DIR *parent = opendir(directory);
	const size_t first = ret->count;
	for (const struct dirent *entry; parent && (entry = readdir(parent));)
		if (!streq(entry->d_name, ".") && !streq(entry->d_name, "..") &&
		    is_utf8(entry->d_name, strlen(entry->d_name)) &&
		    ret->count - first < NAMES_MAX && is_directory(parent, entry))
			strvec_push(ret, entry->d_name);
	if (ret->count > first)
		qsort(ret->items + first, ret->count - first, sizeof(*ret->items), by_name);
}
