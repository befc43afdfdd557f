/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the user can do in the list.  One table feeds the keys, the line of keys at the bottom, and
 * the help.
 */
#pragma once

#include "base/error.h"
#include "ui/state/key.h"

enum action {
	ACTION_NONE,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_FIRST,
	ACTION_LAST,
	ACTION_COLLAPSE,
	ACTION_OPEN,
	ACTION_ATTACH,
	ACTION_NEXT_WAITING,
	ACTION_SEND,
	ACTION_WRITE,
	ACTION_APPROVE,
	ACTION_DENY,
	ACTION_SEARCH,
	ACTION_SCOPE,
	ACTION_ONLY_AGENT,
	ACTION_ONLY_GROUP,
	ACTION_ORDER,
	ACTION_PROFILE,
	ACTION_CHOOSE,
	ACTION_NEW,
	ACTION_START,
	ACTION_STOP,
	ACTION_RESTART,
	ACTION_RECOVER,
	ACTION_FORK,
	ACTION_RENAME,
	ACTION_MOVE,
	ACTION_LIMIT,
	ACTION_REMOVE,
	ACTION_UNDO,
	ACTION_PRUNE,
	ACTION_COMMAND,
	ACTION_PREVIEW,
	ACTION_PREVIEW_UP,
	ACTION_PREVIEW_DOWN,
	ACTION_COPY,
	ACTION_WALL,
	ACTION_HELP,
	ACTION_REDRAW,
	ACTION_SUSPEND,
	ACTION_QUIT,
	ACTION_COUNT
};

enum { ACTION_KEYS = 3 };

struct action_info {
	const char *name;           /* one word, for the configuration */
	key_code keys[ACTION_KEYS]; /* KEY_CODE_NONE: no more */
	const char *label;          /* in the line of keys; NULL: it is not there */
	const char *help;
	bool needs_session; /* nothing to do without one */
};
/* Static. */
const struct action_info *action_info(enum action action);

/* The keys in use. */
struct keymap {
	key_code keys[ACTION_COUNT][ACTION_KEYS]; /* KEY_CODE_NONE: no more */
	bool is_own[ACTION_COUNT];                /* the user's, not those of the table */
};
void keymap_init(struct keymap *ret);
/* Bind as "ACTION=KEY" says: the first one for an action replaces its keys, others are added.  The
 * key is taken from another action that has it.  ERROR_INVALID: there is no such action or key, an
 * action gets too many, or quit loses its last one. */
int keymap_bind(struct keymap *keymap, const char *text, struct error *err);
/* What the key does in the list. */
enum action keymap_action(const struct keymap *keymap, key_code key);
