/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The keys in use: those of the table of actions, and what the user binds ([ui] keys).
 *
 * A key has one meaning in each place.  Enter and Esc have theirs always where something is typed
 * or asked, so that the user is never locked in.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "model/keys/action.h"

struct keymap {
	key_code keys[ACTION_COUNT][ACTION_KEYS]; /* KEY_CODE_NONE: no more */
	bool is_own[ACTION_COUNT];                /* the user's, not those of the table */
};
void keymap_init(struct keymap *ret);

/* Bind as "ACTION=KEY" says: the first one for an action replaces its keys, others are added.  The
 * key is taken from the actions of the table that have it in the same place.  ERROR_INVALID: there
 * is no such action or key, the user has given the key to another action in the same place, it
 * always means something else there, it is text there, an action gets too many, or quit loses its
 * last one. */
int keymap_bind(struct keymap *keymap, const char *text, struct error *err);
/* Append what is wrong with each of the bindings, and its index, to *ret_why and *ret_at, which has
 * room for as many.  Returns how many are wrong. */
size_t keymap_check(const struct strvec *bindings, struct strvec *ret_why, size_t *ret_at);

/* What the key does in this place. */
enum action keymap_action(const struct keymap *keymap, enum key_context context, key_code key);

/* The first key of the action; if it has none, its name.  Returns name. */
enum { KEYMAP_TEXT_SIZE = 32 };
const char *keymap_text(const struct keymap *keymap, enum action action,
			char name[KEYMAP_TEXT_SIZE]);
/* All of them, with commas; "" if it has none.  The caller frees. */
char *keymap_all(const struct keymap *keymap, enum action action) MUST_USE;
