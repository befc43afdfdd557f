/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/listing.h"

#include "base/clock.h"
#include "cli/show/shapes.h"
#include "model/session/naming.h"

#include <string.h>

#define USUAL_COLUMNS "title,group,agent,status,since,age"

/* ---- columns ---------------------------------------------------------------------------------- */

/* "3 min" since a time; "" if it is not known. */
static char *time_since(int64_t then_us)
{
	char text[CLOCK_TEXT_SIZE];
	return then_us > 0 ? xstrdup(clock_span(clock_wall_us() - then_us, text)) : NULL;
}

static char *title_of(const struct roster_entry *entry)
{
	return xstrdup_or_null(entry->row.title);
}

static char *id_of(const struct roster_entry *entry)
{
	return xstrdup_or_null(entry->row.id);
}

static char *group_of(const struct roster_entry *entry)
{
	return xstrdup_or_null(entry->row.group);
}

static char *agent_of(const struct roster_entry *entry)
{
	return xstrdup_or_null(entry->row.agent);
}

static char *status_of(const struct roster_entry *entry)
{
	return view_text(&entry->view);
}

static char *since_of(const struct roster_entry *entry)
{
	return time_since(entry->since_us);
}

static char *age_of(const struct roster_entry *entry)
{
	return time_since(entry->row.created_at);
}

static char *used_of(const struct roster_entry *entry)
{
	return time_since(entry->row.last_used_at);
}

static char *path_of(const struct roster_entry *entry)
{
	return xstrdup_or_null(entry->row.lookup_directory);
}

static char *conversation_of(const struct roster_entry *entry)
{
	return xstrdup_or_null(entry->row.session_id);
}

const char *const listing_columns[LISTING_COLUMNS] = {
	"title", "id", "group", "agent", "status", "since", "age", "used", "path", "conversation",
};

/* By the indexes of listing_columns. */
static const struct column {
	const char *heading;
	char *(*text)(const struct roster_entry *entry); /* the caller's; NULL: empty */
} columns[LISTING_COLUMNS] = {
	{ "TITLE", title_of },   { "ID", id_of },
	{ "GROUP", group_of },   { "AGENT", agent_of },
	{ "STATUS", status_of }, { "SINCE", since_of },
	{ "AGE", age_of },       { "USED", used_of },
	{ "PATH", path_of },     { "CONVERSATION", conversation_of },
};

static const struct column *column_named(const char *name)
{
	for (size_t i = 0; i < LISTING_COLUMNS; i++)
		if (streq(listing_columns[i], name))
			return &columns[i];
	return NULL;
}

/* ---- what the user wants ---------------------------------------------------------------------- */

const char *const listing_statuses[LISTING_STATUSES] = {
	"waiting", "idle", "busy", "running", "starting", "stopping", "stopped", "error", "unknown",
};

static bool is_status(const char *word)
{
	for (size_t i = 0; i < LISTING_STATUSES; i++)
		if (streq(listing_statuses[i], word))
			return true;
	return false;
}

static bool is_column(const char *word)
{
	return column_named(word) != NULL;
}

static void add_word(struct strbuf *words, const char *word)
{
	strbuf_addf(words, "%s%s", words->length ? ", " : "", word);
}

/* Split at commas.  Returns the first word that is not known, NULL if all are; the caller frees. */
static char *split(const char *text, bool (*is_known)(const char *word), struct strvec *ret)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	for (char *word; (word = strsep(&rest, ","));) {
		word += strspn(word, " ");
		word[strcspn(word, " ")] = '\0';
		if (!is_known(word))
			return visible(word);
		strvec_push(ret, word);
	}
	return NULL;
}

int listing_set_statuses(struct listing *listing, const char *text, struct error *err)
{
	cleanup_strbuf struct strbuf known = { 0 };
	cleanup_free char *unknown = split(text, is_status, &listing->statuses);
	for (size_t i = 0; i < LISTING_STATUSES; i++)
		add_word(&known, listing_statuses[i]);
	return unknown ? error_set(err, ERROR_USAGE, "unknown status '%s': choose from %s", unknown,
				   strbuf_text(&known))
		       : 0;
}

int listing_set_columns(struct listing *listing, const char *text, struct error *err)
{
	cleanup_strbuf struct strbuf known = { 0 };
	cleanup_free char *unknown = split(text ? text : USUAL_COLUMNS, is_column,
					   &listing->columns);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		add_word(&known, listing_columns[i]);
	return unknown ? error_set(err, ERROR_USAGE, "unknown column '%s': choose from %s", unknown,
				   strbuf_text(&known))
		       : 0;
}

void listing_clear(struct listing *listing)
{
	strvec_clear(&listing->statuses);
	strvec_clear(&listing->columns);
	free(listing->shown);
}

/* ---- which, and in which order ---------------------------------------------------------------- */

static bool is_shown(const struct listing *listing, const struct roster_entry *entry)
{
	if (listing->group && !naming_is_in_group(entry->row.group, listing->group))
		return false;
	return !listing->statuses.count ||
	       strvec_contains(&listing->statuses, view_status(&entry->view)) ||
	       strvec_contains(&listing->statuses, or_empty(view_activity(&entry->view)));
}

/* Sessions that need their user come first. */
static size_t rank(const struct roster_entry *entry)
{
	static const char *const ranks[] = { "waiting", "error",    "unknown",  "busy",   "idle",
					     "running", "starting", "stopping", "stopped" };
	const char *status = view_status(&entry->view), *activity = view_activity(&entry->view);
	/* A running session is as urgent as what its agent is doing, where that is known. */
	const char *word = activity && entry->view.activity != ACTIVITY_UNKNOWN ? activity : status;
	size_t i = 0;
	while (i < ARRAY_SIZE(ranks) && !streq(word, ranks[i]))
		i++;
	return i;
}

static int compare_times(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int compare(const struct roster_entry *a, const struct roster_entry *b,
		   enum listing_order order)
{
	int r = 0;
	switch (order) {
	case LISTING_BY_CREATION:
		return 0;
	case LISTING_BY_TITLE:
		break;
	case LISTING_BY_AGE:
		r = compare_times(a->row.created_at, b->row.created_at);
		break;
	case LISTING_BY_STATUS:
		r = (rank(a) > rank(b)) - (rank(a) < rank(b));
		break;
	case LISTING_BY_GROUP:
		r = strcasecmp(or_empty(a->row.group), or_empty(b->row.group));
		break;
	case LISTING_BY_USE:
		r = compare_times(a->row.last_used_at, b->row.last_used_at);
		break;
	}
	r = r ? r : strcasecmp(or_empty(a->row.title), or_empty(b->row.title));
	return r ? r : strcmp(a->row.id, b->row.id);
}

static int by_order(const void *a, const void *b, void *order)
{
	return compare(*(struct roster_entry *const *)a, *(struct roster_entry *const *)b,
		       *(const enum listing_order *)order);
}

void listing_select(struct listing *listing, const struct roster *roster)
{
	const size_t count = roster_count(roster);
	listing->shown = xreallocarray(listing->shown, count + 1, sizeof(struct roster_entry *));
	listing->count = 0;
	for (size_t i = 0; i < count; i++)
		if (is_shown(listing, roster_at(roster, i)))
			listing->shown[listing->count++] = roster_at(roster, i);
	if (listing->order != LISTING_BY_CREATION)
		qsort_r(listing->shown, listing->count, sizeof(*listing->shown), by_order,
			&listing->order);
}

/* ---- the table -------------------------------------------------------------------------------- */

struct table *listing_table(const struct listing *listing, const struct app *app)
{
	const size_t count = listing->columns.count;
	cleanup_free const struct column **chosen = xcalloc(count + 1, sizeof(*chosen));
	cleanup_free const char **headings = xcalloc(count + 1, sizeof(*headings));
	for (size_t i = 0; i < count; i++) {
		chosen[i] = column_named(listing->columns.items[i]);
		headings[i] = chosen[i]->heading;
	}
	struct table *table = table_new(app, headings);
	for (size_t i = 0; i < listing->count; i++) {
		const struct roster_entry *entry = listing->shown[i];
		cleanup_strvec struct strvec cells = { 0 };
		for (size_t k = 0; k < count; k++) {
			char *text = chosen[k]->text(entry);
			strvec_push_take(&cells, text ? text : xstrdup(""));
		}
		table_add(table, (const char *const *)strvec_argv(&cells),
			  view_color(&entry->view));
	}
	return table;
}
