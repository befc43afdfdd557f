/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/supply.h"

#include "base/program.h"
#include "model/agent/registry.h"
#include "model/session/naming.h"

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
	strvec_push_all(&ret->agents, &others);
	/* Without a setting, the first one is what `agentdeck launch` takes. */
	for (size_t i = 0; deck->settings.default_agent && i < ret->agents.count; i++)
		if (streq(ret->agents.items[i], deck->settings.default_agent))
			ret->usual = i;
}

static int by_use(const void *a, const void *b)
{
	const struct store_row *first = *(const struct store_row *const *)a;
	const struct store_row *second = *(const struct store_row *const *)b;
	const int64_t one = first->last_used_at ? first->last_used_at : first->created_at;
	const int64_t other = second->last_used_at ? second->last_used_at : second->created_at;
	return one < other ? 1 : one > other ? -1 : 0;
}

/* For a worktree or clone, its source: the path of such a tree has the session's id.  "" if it
 * cannot be read. */
static char *directory_of(struct deck *deck, const struct store_row *row)
{
	cleanup_instance struct instance *instance = NULL;
	const char *directory = row->damage ? "" : or_empty(row->lookup_directory);
	if (strstr(directory, row->id) && deck_load(deck, row->base, &instance, NULL) == 0 &&
	    instance->workspace)
		return xstrdup(instance->workspace->source);
	return xstrdup(directory);
}

/* The session of the line, or a session in its group or below.  A line of NULL: any session. */
static bool is_under(const struct roster_entry *entry, const struct line *line)
{
	const struct item *item = entry->owner;
	if (!line || line->kind == LINE_SESSION)
		return !line || item == line->item;
	cleanup_free char *path = xstrndup(line->item->path, line->path_length);
	return item && naming_is_in_group(item->path, path);
}

/* The last used first. */
static const struct store_row **rows_under(const struct roster *roster, const struct line *line,
					   size_t *ret_count)
{
	const size_t all = roster_count(roster);
	const struct store_row **rows = xcalloc(all + 1, sizeof(*rows));
	size_t count = 0;
	for (size_t i = 0; i < all; i++)
		if (is_under(roster_at(roster, i), line))
			rows[count++] = &roster_at(roster, i)->row;
	qsort(rows, count, sizeof(*rows), by_use);
	*ret_count = count;
	return rows;
}

static void gather_recents(struct deck *deck, const struct roster *roster, struct form_supply *ret)
{
	size_t count;
	cleanup_free const struct store_row **rows = rows_under(roster, NULL, &count);
	for (size_t i = 0; i < count && ret->recents.count < RECENTS_MAX; i++) {
		cleanup_free char *directory = directory_of(deck, rows[i]);
		if (*directory && !strvec_contains(&ret->recents, directory))
			strvec_push(&ret->recents, directory);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void gather_groups(struct deck *deck, const struct roster *roster, struct form_supply *ret)
{
	const struct settings *settings = &deck->settings;
	const size_t sessions = roster_count(roster), count = sessions + settings->group_count;
	for (size_t i = 0; i < count; i++) {
		const char *group = i < sessions ? or_empty(roster_at(roster, i)->row.group)
						 : settings->groups[i - sessions].group;
		if (*group && !strvec_contains(&ret->groups, group))
			strvec_push(&ret->groups, group);
	}
	if (ret->groups.count)
		qsort(ret->groups.items, ret->groups.count, sizeof(*ret->groups.items), by_name);
	for (size_t i = 0; i <= ret->groups.count; i++) {
		const char *group = i ? ret->groups.items[i - 1] : "";
		if (settings_container(settings, group).enabled == ON)
			strvec_push(&ret->boxed, group);
	}
}

void supply_gather(struct deck *deck, const struct roster *roster, struct form_supply *ret)
{
	ret->home = xstrdup_or_null(getenv("HOME"));
	gather_agents(deck, ret);
	gather_recents(deck, roster, ret);
	gather_groups(deck, roster, ret);
}

char *supply_start(struct deck *deck, const struct roster *roster, const struct line *line)
{
	size_t count, uses[RECENTS_MAX] = { 0 }, best = 0;
	cleanup_strvec struct strvec found = { 0 };
	cleanup_free const struct store_row **rows = rows_under(roster, line, &count);
	for (size_t i = 0; i < count && i < RECENTS_MAX; i++) {
		cleanup_free char *directory = directory_of(deck, rows[i]);
		size_t at = 0;
		while (at < found.count && !streq(found.items[at], directory))
			at++;
		if (*directory && at == found.count)
			strvec_push(&found, directory);
		uses[at] += *directory != '\0';
	}
	for (size_t i = 1; i < found.count; i++)
		if (uses[i] > uses[best])
			best = i;
	return found.count ? xstrdup(found.items[best]) : NULL;
}

static bool is_directory(DIR *parent, const struct dirent *entry)
{
	struct stat st;
	if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd(parent), entry->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode);
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
