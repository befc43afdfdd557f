/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan/discover.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "model/plan/import.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- owners ----------------------------------------------------------------------------------- */

void discover_owners_add(struct discover_owners *owners, const struct discover_owner *owner)
{
	if (!owner->session_id)
		return;
	owners->items = xreallocarray(owners->items, owners->count + 1, sizeof(*owners->items));
	owners->items[owners->count++] = (struct discover_owner){
		.session_id = xstrdup(owner->session_id),
		.bond = owner->bond,
		.id = xstrdup_or_null(owner->id),
		.title = xstrdup_or_null(owner->title),
		.profile = xstrdup_or_null(owner->profile),
	};
}

static int by_session_id(const void *left, const void *right)
{
	const struct discover_owner *a = left, *b = right;
	const int order = strcasecmp(a->session_id, b->session_id);
	return order ? order : (int)a->bond - (int)b->bond;
}

void discover_owners_sort(struct discover_owners *owners)
{
	if (owners->count > 1)
		qsort(owners->items, owners->count, sizeof(*owners->items), by_session_id);
}

const struct discover_owner *discover_owner_of(const struct discover_owners *owners,
					       const char *session_id)
{
	size_t low = 0, high = owners->count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (strcasecmp(owners->items[middle].session_id, session_id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	const bool is_it = low < owners->count &&
			   strcasecmp(owners->items[low].session_id, session_id) == 0;
	return is_it ? &owners->items[low] : NULL;
}

void discover_owners_free(struct discover_owners *owners)
{
	for (size_t i = 0; i < owners->count; i++) {
		free(owners->items[i].session_id);
		free(owners->items[i].id);
		free(owners->items[i].title);
		free(owners->items[i].profile);
	}
	free(owners->items);
	*owners = (struct discover_owners){ 0 };
}

/* ---- conversations ---------------------------------------------------------------------------- */

static int newest_first(const void *left, const void *right)
{
	const struct discover_item *a = left, *b = right;
	if (a->modified_us != b->modified_us)
		return a->modified_us < b->modified_us ? 1 : -1;
	const int order = strcmp(a->path, b->path);
	if (order)
		return order;
	return a->agent < b->agent ? -1 : a->agent > b->agent;
}

size_t discover_plan(struct discover_item *items, size_t count,
		     const struct discover_owners *owners, const struct discover_filter *filter)
{
	size_t kept = 0;
	const char *last = NULL;
	if (count > 1)
		qsort(items, count, sizeof(*items), newest_first);
	for (size_t i = 0; i < count; i++) {
		struct discover_item item = items[i];
		const bool is_again = last && streq(item.path, last);
		last = item.path;
		item.owner = discover_owner_of(owners, item.session_id);
		if (is_again || item.modified_us < filter->since_us ||
		    (filter->nobodys && item.owner))
			continue;
		items[kept++] = item;
	}
	return kept;
}

/* ---- texts ------------------------------------------------------------------------------------ */

int discover_parse_age(const char *text, int64_t *ret_us, struct error *err)
{
	if (clock_parse_span(text, ret_us))
		return 0;
	cleanup_free char *shown = visible(text);
	return error_set(err, ERROR_USAGE,
			 "invalid age '%s': give a number with a unit, such as 90m, 12h, 7d or 2w",
			 shown);
}

char *discover_shorten(const char *text, size_t most)
{
	static const char white[] = " \t\r\n\v\f";
	struct strbuf line = { 0 };
	if (!text)
		return NULL;
	for (text += strspn(text, white); *text; text += strspn(text, white)) {
		const size_t length = strcspn(text, white), room = most - line.length;
		if (line.length)
			strbuf_adds(&line, " ");
		if (length >= room) {
			size_t end = room;
			while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
				end--;
			strbuf_add(&line, text, end);
			strbuf_adds(&line, text[end] ? "..." : "");
			break;
		}
		strbuf_add(&line, text, length);
		text += length;
	}
	return strbuf_take(&line);
}

char *discover_title(const char *directory, struct json_object *taken)
{
	/* Room for the number. */
	cleanup_free char *name = discover_shorten(path_basename(directory), 200);
	cleanup_free char *base = import_title(name, "session");
	char *title = xstrdup(base);
	int64_t number = json_get_int(taken, base, 1);
	while (json_object_object_get_ex(taken, title, NULL)) {
		free(title);
		number++;
		title = xasprintf("%s-%lld", base, (long long)number);
	}
	json_set_int(taken, base, number);
	json_set_int(taken, title, 1);
	return title;
}
