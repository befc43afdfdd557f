/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which sessions a listing shows, in which order, and with which columns.
 */
#pragma once

#include "cli/show/table.h"
#include "engine/roster/roster.h"

enum listing_order {
	LISTING_BY_CREATION, /* the order of the roster */
	LISTING_BY_TITLE,
	LISTING_BY_AGE,    /* the newest first */
	LISTING_BY_STATUS, /* those that need their user first: they wait, or ended */
	LISTING_BY_GROUP,  /* then by title */
	LISTING_BY_USE,    /* last used first */
};

struct listing {
	const char *group;      /* only those in it or below it; NULL: all */
	struct strvec statuses; /* only those that are one of these; empty: all */
	char *tags;             /* only those that have all of these; NULL: all.  Owned */
	bool is_archive;        /* only archived ones; else none, unless a status is "archived" */
	struct strvec columns;  /* names, in order */
	enum listing_order order;
	bool is_usual; /* a column that is empty for all is left out where it may be */
	/* For a person at a terminal: those that need the user come first, then pinned ones, unless
	 * there is an order, and each title has the sign of the state. */
	bool is_for_eyes, has_ascii;
	/* what listing_select() found; the entries belong to the roster */
	struct roster_entry **shown;
	size_t count;
};
void listing_clear(struct listing *listing);
#define cleanup_listing CLEANUP(listing_clear)

/* The words that a session's state or activity can be; as many as LISTING_STATUSES. */
enum { LISTING_STATUSES = 12 };
extern const char *const listing_statuses[LISTING_STATUSES];

/* The names of all columns. */
enum { LISTING_COLUMNS = 12 };
extern const char *const listing_columns[LISTING_COLUMNS];
#define LISTING_ALL_COLUMNS \
	"title,id,group,agent,status,since,age,used,path,conversation,work,container"

/* Read words with commas between them: states and activities; names of columns (NULL: the usual
 * ones).  ERROR_USAGE names those that exist. */
int listing_set_statuses(struct listing *listing, const char *text, struct error *err);
int listing_set_columns(struct listing *listing, const char *text, struct error *err);

/* Find those that are shown, and sort them. */
void listing_select(struct listing *listing, const struct roster *roster);

/* If there are more than so many, leave out those that are stopped and need nothing of their user,
 * and then the last of the others: what is printed above the screen is not seen. */
struct listing_folded {
	size_t stopped, others;
};
struct listing_folded listing_fold(struct listing *listing, size_t most);

/* A table of them; the caller's. */
struct table *listing_table(const struct listing *listing, const struct app *app) MUST_USE;
