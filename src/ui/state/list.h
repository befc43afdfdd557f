/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deck's list: sessions in a tree of groups, a cursor, a filter and a window on the lines.
 *
 * Pure: it reads and draws nothing.  Changes only mark what is out of date.  The next question
 * brings the lines up to date, once for any number of changes, and sorts only if a change can have
 * moved a session.  Moving the cursor and asking for the visible lines cost the same for ten
 * sessions and for ten thousand.
 *
 * What outlives an event keeps the id of a session, and asks list_find().
 */
#pragma once

#include "base/text.h"
#include "model/session/facts.h"

#include <stdbool.h>
#include <stddef.h>

enum { MARKS_TEXT_SIZE = 64 };
/* "held, box": one word for each.  Returns buffer. */
const char *marks_text(unsigned marks, char buffer[MARKS_TEXT_SIZE]);

/* A session.  The texts are visible(), so that a terminal obeys nothing in them. */
struct item {
	char *id; /* as commands name it: HOST:ID on another host */
	char *title, *agent, *directory, *reason;
	char *tags; /* "#api #urgent"; "": none */
	char *path; /* where it is in the tree: its group, behind its host if there are hosts */
	const char *group; /* in path */
	size_t host;       /* list_host(); 0: this machine */
	bool is_away;      /* its host does not answer: all of this is as it was told last */
	bool is_twin; /* another host, which shares its home, shows it: this one does not count */
	enum doing doing;
	unsigned marks;
	bool asks_first;
	int64_t since_us, created_us, used_us;
	/* list_measure(); -1: unknown */
	int64_t memory;   /* in bytes */
	int64_t cpu;      /* in hundredths of a percent of one processor */
	void *owner;      /* the program's own */
	unsigned replied; /* which words of the search are in its last reply, a bit for each */
	/* private */
	char *haystack;     /* what a search looks at, in lower case */
	size_t index;       /* among all */
	size_t place;       /* among those that are shown if all groups are open: 1, 2, ... */
	size_t line;        /* among the groups; SIZE_MAX: it is not shown there */
	size_t pinned_line; /* among those that need the user; SIZE_MAX: it is not there */
	size_t hidden_by;   /* the line of what is folded around it; SIZE_MAX: none */
	bool rests;         /* it was stopped when the list was folded, and still is */
	bool is_chosen;     /* one of several that the next action is for */
};

/* Does it need its user, as a section of its own says? */
bool item_needs_user(const struct item *item);
/* Sort by attention_compare(). */
void items_sort_by_need(struct item **items, size_t count);
bool item_is_before(const struct item *a, const struct item *b);

enum line_kind {
	LINE_GROUP,
	LINE_SESSION,
	LINE_STOPPED, /* of a group: its sessions that rest */
	LINE_HEADING, /* the cursor is never on it */
};
enum line_heading { HEADING_NEEDS_YOU, HEADING_ALL };

/* Another host, or this one. */
enum host_condition {
	HOST_HERE,
	HOST_ASKED, /* it has not answered yet */
	HOST_THERE, /* its sessions are as they are shown */
	HOST_AWAY,
	HOST_REFUSES, /* it answers, but its sessions cannot be listed */
};
struct list_host {
	char *name;
	enum host_condition condition;
	int64_t since_us; /* of HOST_AWAY; 0: not known */
	char *why;        /* in its words, visible; NULL: there is nothing to say */
	/* private */
	struct item anchor; /* stands for its sessions while none is shown */
	bool is_folded;     /* its first sessions were folded */
};

struct line {
	enum line_kind kind;
	enum line_heading heading;
	unsigned depth;
	/* The session; of other lines: any session below, or the anchor of a host without any. */
	struct item *item;
	bool is_pinned; /* a session that needs the user, which has another line, too */
	/* A group or host: its path is the first path_length bytes of item->path, and its name is
	 * the last part of that.  LINE_STOPPED: the path is that of its group, which may be "". */
	size_t path_length, name_start;
	bool is_collapsed;
	size_t sessions;           /* below it */
	size_t doing[DOING_COUNT]; /* of a group: how many of these do what */
};

enum list_order {
	ORDER_CREATION, /* it never changes by itself */
	ORDER_URGENCY,  /* without groups */
	ORDER_TITLE,
	ORDER_USE,    /* the last used first */
	ORDER_MEMORY, /* the greatest first */
	ORDER_COUNT
};
const char *list_order_name(enum list_order order);

/* Which sessions are shown, beside the search. */
/* What is archived has its own, and is in no other. */
enum list_scope { SCOPE_ALL, SCOPE_NEEDS_USER, SCOPE_RUNNING, SCOPE_ARCHIVE, SCOPE_COUNT };
const char *list_scope_name(enum list_scope scope);

struct list_counts {
	size_t all, shown; /* all: without what is archived */
	size_t archived;
	size_t needy; /* item_needs_user() */
	size_t doing[DOING_COUNT];
};

struct json_object;
struct list;
struct list *list_new(void) MUST_USE;
void list_free(struct list *list);
CLEANUP_OF(list_freep, struct list, list_free);
#define cleanup_list CLEANUP(list_freep)

/* Before the first session: these hosts are the top of the tree, in this order.  The first one is
 * this machine.  Their names are host names of config.toml. */
void list_set_hosts(struct list *list, const struct strvec *names);
size_t list_hosts(const struct list *list);
/* Borrowed. */
const struct list_host *list_host(const struct list *list, size_t host);
/* The host whose line this is; NULL: it is another line. */
const struct list_host *list_host_of(const struct list *list, const struct line *line);
/* How a host answers now.  Its sessions are away unless it is HOST_THERE. */
void list_tell_host(struct list *list, size_t host, enum host_condition condition, int64_t since_us,
		    const char *why);
/* The host has told of all its sessions: those that are away still are gone.  The first time they
 * are folded as list_fold() folds, if they do not fit. */
void list_complete_host(struct list *list, size_t host);
/* The host of the line under the cursor, or above it in the tree; 0: this machine. */
size_t list_selected_host(struct list *list);
/* Does it wait for its user, as far as is known now? */
bool item_waits(const struct item *item);

/* A pointer to a session is borrowed until list_remove(), which any event may bring.
 * facts->key.host: NULL, or one of list_set_hosts(). */
struct item *list_add(struct list *list, const struct facts *facts);
void list_change(struct list *list, struct item *item, const struct facts *facts);
void list_remove(struct list *list, struct item *item);
/* NULL: there is none. */
struct item *list_find(const struct list *list, const char *id);
size_t list_count(const struct list *list);
/* Count the items of one host. */
size_t list_count_of(const struct list *list, size_t host);
/* In any order. */
const struct item *list_at(const struct list *list, size_t index);
/* What it uses now, as in struct item. */
void list_measure(struct list *list, struct item *item, int64_t memory, int64_t cpu);

/* From now on those that need the user are above all, too.  Unless so many lines show all, what is
 * stopped now rests: a group in which everything rests is collapsed, and in others those that rest
 * have one line.  A session rests until it is seen alive. */
void list_fold(struct list *list, size_t height);

/* The widest agent's name and marks_text() of all sessions, in characters. */
struct list_widths {
	size_t agent, marks;
};
struct list_widths list_widths(struct list *list);

/* What is folded and how it is sorted, for the next deck: "order", "collapsed", "opened",
 * "unfolded".  Filters are not kept, since they hide who needs the user. */
void list_save(const struct list *list, struct json_object *ret);
/* Before list_fold().  Unknown keys and values count as absent. */
void list_restore(struct list *list, const struct json_object *saved);

size_t list_lines(struct list *list);
/* Borrowed until the next change. */
const struct line *list_line(struct list *list, size_t index);
struct list_counts list_counts(struct list *list);

/* The line of the cursor; 0 in an empty list.  The cursor follows its session or group.  If that is
 * gone, it stays on its line. */
size_t list_cursor(struct list *list);
/* The session under the cursor; NULL: it is on a group, or nothing is shown. */
struct item *list_selected(struct list *list);
/* The group that the cursor is on or in; NULL: none.  The caller frees. */
char *list_selected_group(struct list *list) MUST_USE;
/* The group as a path in the tree, or that of a host. */
char *list_selected_path(struct list *list) MUST_USE;
/* Relative, stopping at the ends. */
void list_move(struct list *list, long lines);
void list_go(struct list *list, size_t line);
/* Is it shown without opening anything? */
bool list_has_line(struct list *list, const struct item *item);
/* To this session, also into a collapsed group.  False: the filter hides it. */
bool list_select(struct list *list, struct item *item);

/* The sessions that are shown in the group under the cursor and below, or would be if it were open;
 * on LINE_STOPPED: those of that line.  The caller frees the array.  NULL: the cursor is on
 * neither. */
struct item **list_group(struct list *list, size_t *ret_count) MUST_USE;

/* A text about the line under the cursor, which is kept until a session or a line changes.  NULL:
 * none is kept.  Borrowed until then. */
const char *list_kept_text(struct list *list);
/* Takes the text, and returns it. */
const char *list_keep_text(struct list *list, char *text);

/* To the next session that waits, in the order of need, or (is_back) to the one before; it wraps.
 * If the search or a filter hides it, none is left of these; collapsed groups open.  NULL: none
 * waits. */
struct item *list_next_waiting(struct list *list, bool is_back);
/* The first of these; NULL: none waits. */
struct item *list_first_waiting(const struct list *list);

/* Collapse or open the group under the cursor, or the one that the session under it is in, or the
 * line of stopped ones.  Then the cursor is on that. */
void list_set_collapsed(struct list *list, bool is_collapsed);

/* Show what contains each word of the text, whatever the case.  "" shows all.  While there is one,
 * no group is collapsed. */
void list_search(struct list *list, const char *text);
bool list_is_searched(const struct list *list);
/* The words of that search, in lower case.  Borrowed. */
const struct strvec *list_words(const struct list *list);
/* In whose last reply are which words of that search, as `agentdeck search --json` prints on this
 * host. A word that is there counts as found. */
void list_search_replies(struct list *list, size_t host, const char *text);
void list_set_order(struct list *list, enum list_order order);
void list_set_scope(struct list *list, enum list_scope scope);
enum list_order list_order(const struct list *list);
enum list_scope list_scope(const struct list *list);

/* Show only the sessions of this agent, or in this group (a path in the tree) and below; NULL: all.
 */
enum list_only { ONLY_AGENT, ONLY_GROUP, ONLY_COUNT };
void list_set_only(struct list *list, enum list_only only, const char *text);
/* Borrowed; NULL: all. */
const char *list_only(const struct list *list, enum list_only only);

/* The first visible line of a window of this height.  It follows the cursor, with a margin, and
 * stays otherwise. */
size_t list_top(struct list *list, size_t height);

/* Sessions that the next action is for. */
void list_choose(struct list *list, struct item *item, bool is_chosen);
void list_choose_none(struct list *list);
size_t list_chosen(const struct list *list);
/* The chosen items; else the selected one.  The caller frees the array, which is NULL for none. */
struct item **list_targets(struct list *list, size_t *ret_count) MUST_USE;
