/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/next.h"

#include "engine/roster/facts.h"

static bool waits(const struct roster_entry *entry)
{
	return doing_waits(doing_of(&entry->view));
}

static bool is_before(const struct roster_entry *a, const struct roster_entry *b)
{
	const struct attention left = facts_attention(a), right = facts_attention(b);
	return attention_compare(&left, &right) < 0;
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
