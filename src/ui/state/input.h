/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One line of text that the user types: a search, a title, a message.
 */
#pragma once

#include "base/text.h"
#include "ui/state/key.h"

/* Zero-initialised is empty. */
struct input {
	struct strbuf text; /* UTF-8 */
	size_t cursor;      /* in bytes, at the start of a character */
};
void input_set(struct input *input, const char *text);
void input_free(struct input *input);
/* True: the key is for the line, and has changed it or moved the cursor. */
bool input_key(struct input *input, key_code key);
/* Borrowed. */
const char *input_text(const struct input *input);
