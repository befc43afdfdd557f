/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of the deck's list share: list-hosts.c has the hosts, list-lines.c makes the
 * lines, list.c has the sessions, the cursor and the filters, list-fold.c what is folded.  Each
 * calls only those before it.  Include list.h before.
 */
#pragma once

/* Where the cursor stays while the lines around it change. */
struct list_place {
	enum line_kind kind; /* of the line; LINE_HEADING: nowhere */
	char *name;          /* the id of a session, or the path of a group; NULL: nowhere */
	bool is_pinned;      /* in the section of those that need the user */
};

struct list {
	struct item **items; /* in the order of the list, once it is settled */
	size_t count, size;
	struct line *lines;
	size_t line_count, line_size;
	struct strvec collapsed; /* paths of groups, a set (list-paths.h), as the two below */
	struct strvec opened;    /* groups that the user has opened: list_fold() leaves them so */
	struct strvec unfolded;  /* paths of groups whose stopped sessions have a line each */
	struct strvec words;     /* of the search, in lower case */
	enum list_order order;
	enum list_scope scope;
	char *only[ONLY_COUNT]; /* NULL: all */
	bool has_pins;          /* those that need the user are above all, too */
	bool needs_sort, needs_lines;
	bool needs_twins; /* who is shown for whom may be another one */
	struct list_counts counts;
	struct list_widths widths;
	size_t chosen;
	struct list_host *hosts; /* NULL: this machine is alone, and not in the tree */
	size_t host_count;
	size_t fold_height; /* of list_fold() */
	size_t cursor, top;
	struct list_place place; /* of the cursor */
	char *kept_text;         /* list_keep_text() of the line kept_line */
	size_t kept_line;
};

enum { REPLY_WORDS = 32 };

/* ---- list-hosts.c ----------------------------------------------------------------------------- */

void list_free_hosts(struct list *list);
/* Where a session of this host and group is in the tree, and in *ret_group where its group is in
 * that. The caller frees. */
char *list_make_path(const struct list *list, size_t host, const char *group,
		     const char **ret_group) MUST_USE;
size_t list_host_named(const struct list *list, const char *name);
/* A session that several hosts tell of, because they share a home, is shown once: by the one that
 * knows how it is. */
void list_find_twins(struct list *list);
/* The one that is shown of those with this session; NULL: there is none. */
struct item *list_find_shown(const struct list *list, const char *id);
/* After a change of one of them. */
bool list_twins_may_differ(const struct item *before, const struct item *now);
/* Does the line of a host without shown sessions have a place now? */
bool list_shows_hosts(const struct list *list);
/* ---- list-lines.c ----------------------------------------------------------------------------- */

/* Bring the order, the lines and the cursor up to date.  Until then the lines may point to sessions
 * that are gone. */
void list_settle(struct list *list);
/* Bring the lines up to date after a change that does not set needs_lines. */
void list_make_lines(struct list *list);
/* To this line, or the last one; off a heading. */
void list_put_cursor(struct list *list, size_t line);
/* The cursor stays where it is now. */
void list_note_place(struct list *list);

/* The group that it is shown in: urgency is across all groups. */
const char *list_path_of(const struct list *list, const struct item *item);
bool list_is_in_group(const struct item *item, const char *group);
bool list_is_shown(const struct list *list, const struct item *item);
