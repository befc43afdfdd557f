/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The question that an agent asks before it does something, read from its screen by the questions
 * of its registry entry (model/agent/question.h).
 *
 * A question is recognised only as a whole, and only where it ends the screen: the line above it,
 * its title, what it is about, the line that asks, the choices, and its last line.  The words of an
 * agent may look like a question, but the box or another dialog is below them.
 *
 * codex draws the difference that it asks about above the question, where its model's words are
 * too.  It counts only as a whole: with the colour that these words cannot have, with as many lines
 * as it says, of the file that the question names, and with nothing else between the two.
 *
 * Pure: the caller captures.
 */
#pragma once

#include "base/sha256.h"
#include "model/agent/agent.h"

enum permission_form {
	PERMISSION_NONE,  /* no question that the entry describes ends the screen */
	PERMISSION_CUT,   /* one does, but not all that it is about is on the screen */
	PERMISSION_WHOLE, /* all of it is on the screen */
};

struct permission {
	/* From its title to its last line, each line without its frame and the blanks at its end; a
	 * blank is in place of the mark, so that it does not matter which choice has it. */
	char *text;
	char digest[SHA256_TEXT_SIZE]; /* of the text */
	char *yes_key, *no_key;        /* tmux names of the keys that answer it */
	/* Without a yes_key, it is for its user to choose: the keys, which are on the screen. */
	struct strvec choices;
	struct strvec labels; /* what stands on the screen for each, with its key */
};
void permission_free(struct permission *permission);
#define cleanup_permission CLEANUP(permission_free)

/* styled: the screen with its attributes.  *ret is set for PERMISSION_WHOLE; permission_free(). */
enum permission_form permission_read(const struct agent *agent, const char *styled,
				     struct permission *ret);
