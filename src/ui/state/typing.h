/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the user types in the deck for the agent of a session: the keys that are to be passed on,
 * and the text of which nothing says yet that the agent has it.
 *
 * Pure: ui/main/typist.h passes the keys on.
 */
#pragma once

#include "ui/state/input.h"

enum stroke_kind {
	STROKE_TEXT,
	STROKE_KEY, /* its text is the name that tmux has for it */
	STROKE_PASTE,
};
struct stroke {
	enum stroke_kind kind;
	char *text; /* UTF-8 */
};
void stroke_clear(struct stroke *stroke);
#define cleanup_stroke CLEANUP(stroke_clear)

/* Zero-initialised is empty. */
struct typing {
	char *id; /* of the session; NULL: nothing is to be passed on */
	/* For the program: the run is known, and what was taken may not have arrived. */
	bool is_checked, is_sending;
	struct stroke *strokes;
	size_t count;         /* of those to pass on, in the order in which they were typed */
	struct input line;    /* since the last Enter, as far as it can be known */
	struct strbuf before; /* lines that were entered, and that may not have arrived yet */
	struct strbuf paste;  /* of a paste whose end has not come */
};
void typing_begin(struct typing *typing, const char *id);
void typing_end(struct typing *typing);

/* False: a terminal cannot pass this key on, as the deck gets it. */
bool typing_key(struct typing *typing, key_code key);
/* A key of what is pasted, and the end of that. */
void typing_paste(struct typing *typing, key_code key);
void typing_paste_end(struct typing *typing);

/* Take the first stroke away, with those of its kind behind it where both are text.  *ret is the
 * caller's.  False: there is none. */
bool typing_take(struct typing *typing, struct stroke *ret);
/* All that was taken has arrived. */
void typing_arrived(struct typing *typing);
/* The text that the agent may not have, in one line; NULL: there is none.  The caller frees. */
char *typing_text(const struct typing *typing) MUST_USE;
