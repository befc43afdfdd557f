/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Is it our text that is in an agent's input box?
 *
 * Pure: the caller reads the box (display_input()).  Agents break lines where they like and drop
 * some blanks, so blanks and characters without width do not count.  Some put a letter and its mark
 * together, so in a text with marks any character that is no ASCII is like another one.  For a long
 * text they show a placeholder ("pasted" in the registry), which counts as our text if its number
 * agrees.  A box with more lines than fit shows a part of them, which counts, too: what is above
 * them cannot be known.
 */
#pragma once

#include "model/agent/agent.h"

enum box_holds {
	BOX_OTHER, /* something else, or there is no box */
	BOX_EMPTY,
	BOX_PART,   /* a beginning of the text */
	BOX_TEXT,   /* exactly the text */
	BOX_BEHIND, /* the text behind another one */
};

/* input: NULL is fine.  *ret_before, for BOX_BEHIND: what is before the text, without blanks.  The
 * caller frees. */
enum box_holds box_compare(const struct agent *agent, const char *input, const char *text,
			   char **ret_before);

/* Are these the same words, apart from what does not count? */
bool box_same_text(const char *one, const char *other);

/* The input likewise, with a byte for each placeholder: one for the whole text, for some of it or
 * all, or for another text.  No box shows these bytes. */
enum {
	BOX_PLACEHOLDER = '\x01',
	BOX_PLACEHOLDER_OF_SOME = '\x02',
	BOX_PLACEHOLDER_OF_OTHER = '\x03'
};
char *box_condense(const struct agent *agent, const char *input, const char *text) MUST_USE;

/* How often a key that deletes the character before the cursor must be pressed to remove this text.
 * 0: unknown, because one press may delete several of its characters. */
size_t box_key_count(const char *text);
