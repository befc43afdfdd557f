/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One line of text that the user types: a search, a title, a message.
 */
#pragma once

#include "base/text.h"
#include "model/keys/keymap.h"

/* The largest paste that is kept when an agent did not take it, in bytes. */
enum { INPUT_MAX = 60000 };

/* Zero-initialised is empty. */
struct input {
	struct strbuf text; /* UTF-8 */
	size_t cursor;      /* in bytes, at the start of a character */
};
void input_set(struct input *input, const char *text);
void input_free(struct input *input);
/* True: the key is for the line, by the keys of this place, and has changed it or moved the cursor.
 */
bool input_key(struct input *input, const struct keymap *keymap, enum key_context context,
	       key_code key);
/* True: it is a character, which has been inserted. */
bool input_type(struct input *input, key_code key);
/* Borrowed. */
const char *input_text(const struct input *input);
/* How many bytes, in whole characters, all of these words begin with.  There is at least one. */
size_t input_common(const struct strvec *words);
