/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/listing.h"

#include "base/clock.h"
#include "engine/roster/facts.h"
#include "model/session/naming.h"
#include "model/session/tags.h"

#include <inttypes.h>
#include <string.h>

#define USUAL_COLUMNS "title,group,agent,status,since,age,work,container"

/* ---- columns ---------------------------------------------------------------------------------- */

const char *const listing_columns[LISTING_COLUMNS] = {
	"title", "id",   "group", "agent",        "status", "since",
	"age",   "used", "path",  "conversation", "work",   "container",
};

/* By the indexes of listing_columns. */
static const struct column {
	const char *heading;
	enum {
		COLUMN_TEXT,
		COLUMN_TIME,
		COLUMN_AGE,
		COLUMN_STATUS,
		COLUMN_WORK,
		COLUMN_CONTAINER
	} kind;
	size_t offset; /* in struct facts */
} columns[LISTING_COLUMNS] = {
	{ "TITLE", COLUMN_TEXT, offsetof(struct facts, title) },
	{ "ID", COLUMN_TEXT, offsetof(struct facts, key.id) },
	{ "GROUP", COLUMN_TEXT, offsetof(struct facts, group) },
	{ "AGENT", COLUMN_TEXT, offsetof(struct facts, agent) },
	{ "STATUS", COLUMN_STATUS, 0 },
	{ "SINCE", COLUMN_TIME, offsetof(struct facts, since_us) },
	{ "AGE", COLUMN_AGE, offsetof(struct facts, created_us) },
	{ "USED", COLUMN_TIME, offsetof(struct facts, used_us) },
	{ "PATH", COLUMN_TEXT, offsetof(struct facts, directory) },
	{ "CONVERSATION", COLUMN_TEXT, offsetof(struct facts, session_id) },
	{ "WORK", COLUMN_WORK, 0 },
	{ "CONTAINER", COLUMN_CONTAINER, offsetof(struct facts, container) },
};

/* "2 commits, merged, 1 open, #7 OPEN (3 h ago)"; "": it was not looked at.  The caller frees. */
static char *work_cell(const struct seen_work *work)
{
	static const char *const merged[] = {
		[MERGED_UNKNOWN] = "",
		[MERGED_NO] = "",
		[MERGED_YES] = ", merged",
		[MERGED_SQUASHED] = ", squashed",
	};
	cleanup_strbuf struct strbuf text = { 0 };
	char span[CLOCK_TEXT_SIZE];
	if (!work)
		return xstrdup("");
	strbuf_addf(&text, "%" PRId64 " commit%s%s", work->commits, work->commits == 1 ? "" : "s",
		    work->commits ? merged[work->merged] : "");
	if (work->uncommitted)
		strbuf_addf(&text, ", %" PRId64 " open", work->uncommitted);
	if (work->request.number)
		strbuf_addf(&text, ", #%" PRId64 " %s", work->request.number,
			    or_empty(work->request.state));
	strbuf_addf(&text, " (%s ago)", clock_span(clock_wall_us() - work->at, span));
	return strbuf_take(&text);
}

/* "busy, 2 queued".  The caller frees. */
static char *status_cell(const struct facts *facts, const struct view *view)
{
	cleanup_free char *text = view_text(view);
	return facts->queued ? xasprintf("%s, %" PRId64 " queued", text, facts->queued)
			     : TAKE_PTR(text);
}

/* "" if it is not known.  The caller frees. */
static char *cell_of(const struct listing *listing, const struct column *column,
		     const struct facts *facts, const struct view *view)
{
	const void *fact = (const char *)facts + column->offset;
	const bool is_pinned = facts->marks & MARK_PINNED;
	char text[CLOCK_TEXT_SIZE];
	if (column->kind == COLUMN_STATUS)
		return status_cell(facts, view);
	if (column->kind == COLUMN_WORK)
		return work_cell(facts->work);
	if (column == columns && listing->is_for_eyes)
		return xasprintf("%s %s%s%s", doing_sign(facts->doing, listing->has_ascii),
				 is_pinned ? pin_sign(listing->has_ascii) : "",
				 is_pinned ? " " : "", or_empty(facts->title));
	if (column->kind == COLUMN_TEXT || column->kind == COLUMN_CONTAINER)
		return xstrdup(or_empty(*(const char *const *)fact));
	const int64_t then_us = *(const int64_t *)fact, now_us = clock_wall_us();
	return xstrdup(column->kind == COLUMN_AGE ? clock_age(then_us, now_us, text)
						  : clock_moment(then_us, now_us, text));
}

static const struct column *column_named(const char *name)
{
	for (size_t i = 0; i < LISTING_COLUMNS; i++)
		if (streq(listing_columns[i], name))
			return &columns[i];
	return NULL;
}

/* ---- what the user wants ---------------------------------------------------------------------- */

#define ARCHIVED "archived"

const char *const listing_statuses[LISTING_STATUSES] = {
	"waiting", "idle",    "busy",  "running", "starting", "stopping",
	"asleep",  "stopped", "error", "unknown", "asks",     ARCHIVED,
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
	listing->is_usual = !text;
	return unknown ? error_set(err, ERROR_USAGE, "unknown column '%s': choose from %s", unknown,
				   strbuf_text(&known))
		       : 0;
}

void listing_clear(struct listing *listing)
{
	strvec_clear(&listing->statuses);
	strvec_clear(&listing->columns);
	free(listing->tags);
	free(listing->shown);
}

/* ---- which, and in which order ---------------------------------------------------------------- */

static bool is_shown(const struct listing *listing, const struct roster_entry *entry)
{
	if (listing->group && !naming_is_in_group(entry->row.group, listing->group))
		return false;
	const bool is_archived = entry->row.archived_at != 0;
	const bool has_archive = strvec_contains(&listing->statuses, ARCHIVED);
	if ((listing->is_archive ? !is_archived : is_archived && !has_archive) ||
	    (listing->tags && !tags_have(entry->row.tags, listing->tags)))
		return false;
	if (!listing->statuses.count || (is_archived && has_archive))
		return true;
	const struct facts facts = facts_of(entry);
	return strvec_contains(&listing->statuses,
			       facts.is_asleep ? doing_name(facts.doing) : facts.status) ||
	       strvec_contains(&listing->statuses, or_empty(facts.activity)) ||
	       (facts.asks && strvec_contains(&listing->statuses, doing_name(DOING_ASKS)));
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
		r = (int)doing_of(&a->view) - (int)doing_of(&b->view);
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

static int by_need(const void *left, const void *right)
{
	const struct attention a = facts_attention(*(struct roster_entry *const *)left);
	const struct attention b = facts_attention(*(struct roster_entry *const *)right);
	return attention_compare(&a, &b);
}

static void put_needy_first(struct listing *listing)
{
	struct roster_entry **all = xcalloc(listing->count + 1, sizeof(struct roster_entry *));
	size_t count = 0;
	for (int part = 0; part < 3; part++) {
		for (size_t i = 0; i < listing->count; i++) {
			const struct attention attention = facts_attention(listing->shown[i]);
			const int own = attention_is_needed(&attention) ? 0
					: attention.marks & MARK_PINNED ? 1
									: 2;
			if (own == part)
				all[count++] = listing->shown[i];
		}
		if (part == 0 && count)
			qsort(all, count, sizeof(*all), by_need);
	}
	free(listing->shown);
	listing->shown = all;
}

void listing_select(struct listing *listing, const struct roster *roster)
{
	const size_t count = roster_count(roster);
	listing->shown = xreallocarray(listing->shown, count + 1, sizeof(struct roster_entry *));
	listing->count = 0;
	for (size_t i = 0; i < count; i++)
		if (is_shown(listing, roster_at(roster, i)))
			listing->shown[listing->count++] = roster_at(roster, i);
	if (listing->order == LISTING_BY_CREATION && listing->is_for_eyes)
		put_needy_first(listing);
	else if (listing->order != LISTING_BY_CREATION)
		qsort_r(listing->shown, listing->count, sizeof(*listing->shown), by_order,
			&listing->order);
}

struct listing_folded listing_fold(struct listing *listing, size_t most)
{
	const size_t all = listing->count;
	struct listing_folded folded = { 0 };
	if (all <= most)
		return folded;
	listing->count = 0;
	for (size_t i = 0; i < all; i++) {
		const struct attention attention = facts_attention(listing->shown[i]);
		if (attention.doing != DOING_STOPPED || attention_is_needed(&attention) ||
		    attention.marks & MARK_PINNED)
			listing->shown[listing->count++] = listing->shown[i];
	}
	folded.stopped = all - listing->count;
	if (listing->count > most) {
		folded.others = listing->count - most;
		listing->count = most;
	}
	return folded;
}

/* ---- the table -------------------------------------------------------------------------------- */

/* Without work, and without a container of two sessions, these columns say nothing new. */
static bool is_worth_it(const struct listing *listing, const struct column *column)
{
	if (!listing->is_usual || (column->kind != COLUMN_WORK && column->kind != COLUMN_CONTAINER))
		return true;
	for (size_t i = 0; i < listing->count; i++) {
		const struct store_row *row = &listing->shown[i]->row;
		if (column->kind == COLUMN_WORK ? row->seen.at != 0 : row->within != NULL)
			return true;
	}
	return false;
}

struct table *listing_table(const struct listing *listing, const struct app *app)
{
	size_t count = 0;
	cleanup_free const struct column **chosen = xcalloc(listing->columns.count + 1,
							    sizeof(*chosen));
	cleanup_free const char **headings = xcalloc(listing->columns.count + 1, sizeof(*headings));
	for (size_t i = 0; i < listing->columns.count; i++) {
		const struct column *column = column_named(listing->columns.items[i]);
		if (!column || !is_worth_it(listing, column))
			continue;
		headings[count] = column->heading;
		chosen[count++] = column;
	}
	struct table *table = table_new(app, headings);
	for (size_t i = 0; i < listing->count; i++) {
		const struct roster_entry *entry = listing->shown[i];
		const struct facts facts = facts_of(entry);
		cleanup_strvec struct strvec cells = { 0 };
		for (size_t k = 0; k < count; k++)
			strvec_push_take(&cells, cell_of(listing, chosen[k], &facts, &entry->view));
		table_add(table, (const char *const *)strvec_argv(&cells), view_tone(&entry->view));
	}
	return table;
}
