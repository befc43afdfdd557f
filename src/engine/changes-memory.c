/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/changes.h"

static void item_clear(struct change *item)
{
	const char *const texts[] = {
		item->profile, item->id, item->title, item->state, item->activity, item->reason,
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free((char *)(uintptr_t)texts[i]);
}

static struct change copy_of(const struct change *change)
{
	return (struct change){
		.profile = xstrdup_or_null(change->profile),
		.id = xstrdup_or_null(change->id),
		.title = xstrdup_or_null(change->title),
		.state = xstrdup_or_null(change->state),
		.activity = xstrdup_or_null(change->activity),
		.reason = xstrdup_or_null(change->reason),
		.since_us = change->since_us,
	};
}

void changes_memory_free(struct changes_memory *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		item_clear(&memory->items[i]);
	free(memory->items);
	*memory = (struct changes_memory){ 0 };
}

static struct change *find(const struct changes_memory *memory, const struct change *change)
{
	for (size_t i = 0; i < memory->count; i++) {
		struct change *item = &memory->items[i];
		if (streq(item->id, change->id) &&
		    (!change->profile || streq(or_empty(item->profile), change->profile)))
			return item;
	}
	return NULL;
}

static bool is_same(const char *a, const char *b)
{
	return streq(or_empty(a), or_empty(b));
}

static void add(struct changes_memory *memory, const struct change *change)
{
	if (memory->count == memory->size) {
		memory->size = memory->size ? memory->size * 2 : 32;
		memory->items = xreallocarray(memory->items, memory->size, sizeof(*memory->items));
	}
	memory->items[memory->count++] = copy_of(change);
}

bool changes_remember(struct changes_memory *memory, const struct change *change)
{
	struct change *item = find(memory, change);
	if (streq(change->state, "removed")) {
		if (!item)
			return false;
		item_clear(item);
		*item = memory->items[--memory->count];
		return true;
	}
	if (!item) {
		add(memory, change);
		return true;
	}
	bool differs = !is_same(item->title, change->title) || !is_same(item->state, change->state) ||
		       !is_same(item->activity, change->activity) ||
		       !is_same(item->reason, change->reason);
	const struct change copy = copy_of(change);
	item_clear(item);
	*item = copy;
	return differs;
}
