/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/list.h"

#include "ui/state/list-internal.h"

#include <stdlib.h>
#include <string.h>

void list_set_hosts(struct list *list, const struct strvec *names)
{
	list->host_count = names->count;
	list->hosts = xcalloc(names->count, sizeof(*list->hosts));
	for (size_t i = 0; i < names->count; i++) {
		struct list_host *host = &list->hosts[i];
		host->name = xstrdup(names->items[i]);
		host->condition = i ? HOST_ASKED : HOST_HERE;
		/* Lines ask an item for its texts. */
		host->anchor = (struct item){ .id = (char *)"",
					      .title = (char *)"",
					      .path = host->name,
					      .group = "",
					      .agent = (char *)"",
					      .directory = (char *)"",
					      .reason = (char *)"",
					      .doing = DOING_STOPPED,
					      .host = i };
	}
	list->needs_lines = true;
}

void list_free_hosts(struct list *list)
{
	for (size_t i = 0; i < list->host_count; i++) {
		free(list->hosts[i].name);
		free(list->hosts[i].why);
	}
	free(list->hosts);
}

size_t list_hosts(const struct list *list)
{
	return list->host_count;
}

const struct list_host *list_host(const struct list *list, size_t host)
{
	return &list->hosts[host];
}

size_t list_count_of(const struct list *list, size_t host)
{
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		count += list->items[i]->host == host;
	return count;
}

size_t list_host_named(const struct list *list, const char *name)
{
	for (size_t i = 0; name && i < list->host_count; i++)
		if (streq(list->hosts[i].name, name))
			return i;
	return 0;
}

char *list_make_path(const struct list *list, size_t host, const char *group,
		     const char **ret_group)
{
	const char *name = list->host_count ? list->hosts[host].name : "";
	char *path = xasprintf("%s%s%s", name, *name && *group ? "/" : "", group);
	*ret_group = path + strlen(path) - strlen(group);
	return path;
}

bool list_shows_hosts(const struct list *list)
{
	return list->order != ORDER_URGENCY && list->scope == SCOPE_ALL && !list->words.count &&
	       !list->only[ONLY_AGENT] && !list->only[ONLY_GROUP];
}

static bool is_doubtful(const struct item *item)
{
	return item->is_away || item->doing == DOING_UNKNOWN;
}

bool list_twins_may_differ(const struct item *before, const struct item *now)
{
	return is_doubtful(before) != is_doubtful(now);
}

static const char *own_id(const struct item *item)
{
	const char *colon = item->host ? strchr(item->id, ':') : NULL;
	return colon ? colon + 1 : item->id;
}

static int best_first(const void *left, const void *right)
{
	const struct item *a = *(struct item *const *)left, *b = *(struct item *const *)right;
	const int r = strcmp(own_id(a), own_id(b));
	const int doubt = is_doubtful(a) - is_doubtful(b);
	return r ? r : doubt ? doubt : a->host < b->host ? -1 : a->host > b->host;
}

/* To the one that is shown now. */
static void pass_choice(struct list *list, struct item *from, struct item *to)
{
	list->chosen -= to->is_chosen;
	from->is_chosen = false;
	to->is_chosen = true;
}

void list_find_twins(struct list *list)
{
	const bool is_due = list->needs_twins && list->host_count && list->count;
	list->needs_twins = false;
	if (!is_due)
		return;
	cleanup_free struct item **items = xcalloc(list->count, sizeof(struct item *));
	memcpy(items, list->items, list->count * sizeof(struct item *));
	qsort(items, list->count, sizeof(struct item *), best_first);
	struct item *shown = NULL;
	for (size_t i = 0; i < list->count; i++) {
		items[i]->is_twin = shown && streq(own_id(shown), own_id(items[i]));
		if (!items[i]->is_twin)
			shown = items[i];
		else if (items[i]->is_chosen)
			pass_choice(list, items[i], shown);
	}
}

struct item *list_find_shown(const struct list *list, const char *id)
{
	const char *colon = strchr(id, ':'), *own = colon ? colon + 1 : id;
	for (size_t i = 0; i < list->count; i++)
		if (!list->items[i]->is_twin && streq(own_id(list->items[i]), own))
			return list->items[i];
	return NULL;
}

const struct list_host *list_host_of(const struct list *list, const struct line *line)
{
	return list->host_count && line->kind == LINE_GROUP && line->name_start == 0
		       ? &list->hosts[line->item->host]
		       : NULL;
}

void list_tell_host(struct list *list, size_t host, enum host_condition condition, int64_t since_us,
		    const char *why)
{
	struct list_host *one = &list->hosts[host];
	one->condition = condition;
	one->since_us = since_us;
	replace_string(&one->why, why);
	for (size_t i = 0; condition != HOST_THERE && i < list->count; i++)
		list->items[i]->is_away |= list->items[i]->host == host;
	list->needs_lines = list->needs_twins = true;
}

bool item_waits(const struct item *item)
{
	return doing_waits(item->doing) && !item->is_away && !item->is_twin;
}
