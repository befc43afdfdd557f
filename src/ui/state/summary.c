/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 20 };

/* How often which text occurs. */
struct tally {
	const char *text; /* borrowed from an item */
	size_t count;
};
struct tallies {
	struct tally *items;
	size_t count;
};

static void tallies_free(struct tallies *tallies)
{
	free(tallies->items);
}

static int by_text(const void *left, const void *right)
{
	const struct tally *a = left, *b = right;
	return strcmp(a->text, b->text);
}

static int most_first(const void *left, const void *right)
{
	const struct tally *a = left, *b = right;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->text, b->text);
}

/* Neighbours of one text become one. */
static void join(struct tallies *tallies)
{
	size_t kept = 0;
	for (size_t i = 1; i < tallies->count; i++) {
		if (streq(tallies->items[i].text, tallies->items[kept].text))
			tallies->items[kept].count += tallies->items[i].count;
		else
			tallies->items[++kept] = tallies->items[i];
	}
	tallies->count = tallies->count ? kept + 1 : 0;
}

/* One for each session becomes one for each text.  Sessions that are neighbours often share it, and
 * a large group is not sorted then. */
static void sum_up(struct tallies *tallies)
{
	join(tallies);
	qsort(tallies->items, tallies->count, sizeof(*tallies->items), by_text);
	join(tallies);
	qsort(tallies->items, tallies->count, sizeof(*tallies->items), most_first);
}

static void add_tallies(struct strbuf *text, const char *heading, struct tallies *tallies)
{
	sum_up(tallies);
	strbuf_addf(text, "\n%s\n", heading);
	for (size_t i = 0; i < tallies->count && i < LINES_MAX; i++)
		strbuf_addf(text, "  %zu  %s\n", tallies->items[i].count, tallies->items[i].text);
	if (tallies->count > LINES_MAX)
		strbuf_addf(text, "  and %zu more\n", tallies->count - LINES_MAX);
}

/* items: those in the group, which this overwrites. */
static void add_needy(struct strbuf *text, struct item **items, size_t count)
{
	size_t needy = 0;
	for (size_t i = 0; i < count; i++)
		if (item_needs_user(items[i]))
			items[needy++] = items[i];
	items_sort_by_need(items, needy);
	if (needy)
		strbuf_adds(text, "\nNeed you\n");
	for (size_t i = 0; i < needy && i < LINES_MAX; i++)
		strbuf_addf(text, "  %s: %s%s%s\n", items[i]->title, doing_name(items[i]->doing),
			    *items[i]->reason ? ", " : "", items[i]->reason);
	if (needy > LINES_MAX)
		strbuf_addf(text, "  and %zu more\n", needy - LINES_MAX);
}

static void add_counts(struct strbuf *text, struct item *const *items, size_t count)
{
	size_t counts[DOING_COUNT] = { 0 };
	const char *before = ": ";
	for (size_t i = 0; i < count; i++)
		counts[items[i]->doing] += !items[i]->is_away;
	strbuf_addf(text, "%zu session%s", count, count == 1 ? "" : "s");
	for (size_t i = 0; i < DOING_COUNT; i++) {
		if (!counts[i])
			continue;
		strbuf_addf(text, "%s%zu %s", before, counts[i], doing_name((enum doing)i));
		before = ", ";
	}
	strbuf_adds(text, "\n");
}

static void add_usage(struct strbuf *text, struct item *const *items, size_t count)
{
	int64_t memory = 0;
	for (size_t i = 0; i < count; i++)
		memory += items[i]->memory > 0 ? items[i]->memory : 0;
	if (memory)
		strbuf_addf(text, "Memory: %" PRId64 " MiB\n", memory >> 20);
}

static char *sum_up_group(struct list *list)
{
	CLEANUP(tallies_free) struct tallies agents = { 0 };
	CLEANUP(tallies_free) struct tallies folders = { 0 };
	struct strbuf text = { 0 };
	size_t count;
	cleanup_free struct item **items = list_group(list, &count);
	if (!items)
		return NULL;
	agents.items = xcalloc(count, sizeof(*agents.items));
	folders.items = xcalloc(count, sizeof(*folders.items));
	agents.count = folders.count = count;
	for (size_t i = 0; i < count; i++) {
		agents.items[i] = (struct tally){ items[i]->agent, 1 };
		folders.items[i] = (struct tally){ items[i]->directory, 1 };
	}
	add_counts(&text, items, count);
	if (!count)
		return strbuf_take(&text);
	add_usage(&text, items, count);
	add_needy(&text, items, count);
	add_tallies(&text, "Agents", &agents);
	add_tallies(&text, "Folders", &folders);
	return strbuf_take(&text);
}

const char *summary_of_group(struct list *list)
{
	/* A large group takes milliseconds, and each key draws a frame. */
	const char *kept = list_kept_text(list);
	char *text = kept ? NULL : sum_up_group(list);
	return text ? list_keep_text(list, text) : kept;
}
