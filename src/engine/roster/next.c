/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/next.h"

#include <string.h>

static bool waits(const struct roster_entry *entry)
{
	return doing_waits(doing_of(&entry->view));
}

static bool is_before(const struct roster_entry *a, const struct roster_entry *b)
{
	if (a->view.activity_since != b->view.activity_since)
		return a->view.activity_since < b->view.activity_since;
	return strcmp(a->row.id, b->row.id) < 0;
}

const struct roster_entry *roster_next_waiting(const struct roster *roster, const char *id)
{
	const struct roster_entry *self = roster_find(roster, NULL, id), *first = NULL,
				  *next = NULL;
	for (size_t i = 0; i < roster_count(roster); i++) {
		const struct roster_entry *entry = roster_at(roster, i);
		if (entry == self || !waits(entry))
			continue;
		if (!first || is_before(entry, first))
			first = entry;
		if (self && waits(self) && is_before(self, entry) &&
		    (!next || is_before(entry, next)))
			next = entry;
	}
	return next ? next : first;
}
