/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the user of the deck can do, and where.  One table feeds the keys, the line of keys at the
 * bottom, the help, and the check of the configuration.
 */
#pragma once

#include "model/keys/key.h"

/* Where a key is pressed.  Bits: an action may work in several places. */
enum key_context {
	CONTEXT_LIST = 1 << 0,
	CONTEXT_WALL = 1 << 1,
	CONTEXT_HELP = 1 << 2,
	CONTEXT_QUESTION = 1 << 3,
	CONTEXT_LINE = 1 << 4,   /* a line that is typed for an action */
	CONTEXT_SEARCH = 1 << 5, /* the same, while the list follows */
	CONTEXT_TEXT = 1 << 6,   /* a field of the form that is typed */
	CONTEXT_CHOICE = 1 << 7, /* a field of the form that is chosen */
	CONTEXT_AGENT = 1 << 8,  /* the keys are the agent's */

	CONTEXT_LINES = CONTEXT_LINE | CONTEXT_SEARCH,
	CONTEXT_FORM = CONTEXT_TEXT | CONTEXT_CHOICE,
	CONTEXT_TYPED = CONTEXT_LINES | CONTEXT_TEXT, /* a character is text here */
};

/* In the order of the help, which has a heading for each part. */
enum action {
	ACTION_NONE,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_HALF_UP,
	ACTION_HALF_DOWN,
	ACTION_FIRST,
	ACTION_LAST,
	ACTION_COLLAPSE,
	ACTION_OPEN,
	ACTION_NEXT_WAITING,
	ACTION_PREVIOUS_WAITING,
	ACTION_ATTACH,
	ACTION_SEND,
	ACTION_WRITE,
	ACTION_TYPE,
	ACTION_APPROVE,
	ACTION_DENY,
	ACTION_SEARCH,
	ACTION_SCOPE,
	ACTION_ONLY_AGENT,
	ACTION_ONLY_GROUP,
	ACTION_ORDER,
	ACTION_PREVIEW,
	ACTION_PREVIEW_BACK,
	ACTION_PREVIEW_UP,
	ACTION_PREVIEW_DOWN,
	ACTION_COPY,
	ACTION_WALL,
	ACTION_NEW,
	ACTION_START,
	ACTION_STOP,
	ACTION_RESTART,
	ACTION_FORK,
	ACTION_RENAME,
	ACTION_MOVE,
	ACTION_LIMIT,
	ACTION_REMOVE,
	ACTION_UNDO,
	ACTION_PRUNE,
	ACTION_COMMAND,
	ACTION_CHOOSE,
	ACTION_RECOVER,
	ACTION_PROFILE,
	ACTION_HELP,
	ACTION_REDRAW,
	ACTION_SUSPEND,
	ACTION_BACK,
	ACTION_QUIT,
	ACTION_AGENT_LEAVE,
	ACTION_AGENT_ESCAPE,
	ACTION_QUESTION_NEXT,
	ACTION_QUESTION_PREVIOUS,
	ACTION_QUESTION_SCROLL,
	ACTION_QUESTION_YES,
	ACTION_QUESTION_NO,
	ACTION_LINE_ACCEPT,
	ACTION_LINE_CANCEL,
	ACTION_LINE_LEFT,
	ACTION_LINE_RIGHT,
	ACTION_LINE_START,
	ACTION_LINE_END,
	ACTION_LINE_BACKSPACE,
	ACTION_LINE_DELETE,
	ACTION_LINE_CLEAR,
	ACTION_LINE_WORD,
	ACTION_LINE_COMPLETE,
	ACTION_SEARCH_UP,
	ACTION_SEARCH_DOWN,
	ACTION_SEARCH_PAGE_UP,
	ACTION_SEARCH_PAGE_DOWN,
	ACTION_FORM_ACCEPT,
	ACTION_FORM_CANCEL,
	ACTION_FORM_NEXT,
	ACTION_FORM_PREVIOUS,
	ACTION_FORM_COMPLETE,
	ACTION_FORM_RECENT,
	ACTION_FORM_CHOOSE_NEXT,
	ACTION_FORM_CHOOSE_PREVIOUS,
	ACTION_FORM_CLEAR,
	ACTION_WALL_NEXT,
	ACTION_WALL_PREVIOUS,
	ACTION_COUNT
};

enum { ACTION_KEYS = 3 };

struct action_info {
	const char *name;           /* for the configuration: "stop", "form.next" */
	key_code keys[ACTION_KEYS]; /* KEY_CODE_NONE: no more */
	unsigned contexts;          /* where it works, as bits */
	const char *help;
	bool needs_session; /* nothing to do without one */
};
/* Static. */
const struct action_info *action_info(enum action action);
/* ACTION_NONE: none has this name. */
enum action action_named(const char *name, size_t length);
