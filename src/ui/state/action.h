/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the user can do in the list.  One table feeds the keys, the line of keys at the bottom, and
 * the help.
 */
#pragma once

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
	ACTION_SEARCH,
	ACTION_SCOPE,
	ACTION_ORDER,
	ACTION_CHOOSE,
	ACTION_START,
	ACTION_STOP,
	ACTION_RESTART,
	ACTION_RECOVER,
	ACTION_FORK,
	ACTION_RENAME,
	ACTION_MOVE,
	ACTION_REMOVE,
	ACTION_PREVIEW,
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

/* What the key does in the list. */
enum action action_of_key(key_code key);
