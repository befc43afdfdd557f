/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent shows.  Reads its captured screen by the patterns of its registry entry, and cleans
 * text on its way to or from a terminal.
 *
 * Pure: the caller captures.
 */
#pragma once

#include "model/agent/registry.h"
#include "model/session/instance.h"

enum display_state {
	DISPLAY_OTHER,     /* no pattern matches, or the entry has none */
	DISPLAY_READY,     /* it shows its input box */
	DISPLAY_DIALOG,    /* it asks something: a key pressed now would be an answer */
	DISPLAY_ELSEWHERE, /* it shows a view that takes the keys for itself */
	DISPLAY_MODE,      /* its input box is in a mode in which a text is no message */
};

/* A screen captured with its attributes. */
struct display_screen {
	char *text; /* without attributes */
	/* the text, byte for byte, with spaces in place of dim text: that is the agent's proposal,
	 * not input */
	char *typed;
	/* For each line of the text one character: '#' where its first character has a colour
	 * behind it, else ' '. */
	char *shades;
};
void display_read(const char *styled, struct display_screen *ret);
void display_screen_free(struct display_screen *screen);
#define cleanup_display_screen CLEANUP(display_screen_free)

/* The lowest match counts: an agent's earlier words may look like a dialog, but its box is below
 * them.  A line that may be a box or a choice in a dialog is the dialog.  own_text (may be NULL) is
 * the text that we typed into the box: its lines are no dialog. */
enum display_state display_judge(const struct agent *agent, const char *screen,
				 const char *own_text);

/* The agent's activity by its screen alone: a dialog below its box, or without a box, is waiting;
 * else a line that says that it works is busy; else its box is idle.  ACTIVITY_UNKNOWN: no pattern
 * matches. */
enum instance_activity display_activity(const struct agent *agent, const char *screen);

/* Does one of the patterns fit the text? */
bool display_fits(const struct strvec *patterns, const char *text);

/* Does one of the patterns fit a line of the screen? */
bool display_shows(const struct strvec *patterns, const char *screen);

/* The paragraph above its lowest box, or the last one without a box, as one line.  The caller
 * frees. */
char *display_last_words(const struct agent *agent, const char *screen) MUST_USE;

/* Does the screen say that the agent was suspended (Ctrl-Z)?  Only without a box. */
bool display_is_suspended(const struct agent *agent, const char *screen);

/* The lowest line with an input box, with the text typed there.  NULL: there is none.  The caller
 * frees. */
char *display_box(const struct agent *agent, const char *screen) MUST_USE;

/* For an agent with has_box: the text typed in its input box, without the blanks around it and
 * without its placeholder; "" when it is empty.  NULL: there is no box.  The caller frees. */
char *display_input(const struct agent *agent, const struct display_screen *screen) MUST_USE;

/* Likewise, of a box that ends at an empty line (codex), as a text with empty lines in it does not:
 * all down to the last empty line, which may be more than the box.  NULL: that is no more. */
char *display_paragraphs(const struct agent *agent, const struct display_screen *screen) MUST_USE;

/* Returns the length of the beginning of a message that puts the box into another mode (mode_text).
 * 0: there is no such beginning. */
size_t display_mode_length(const struct agent *agent, const char *text);

/* Append text without anything that a terminal would obey: escape sequences, control characters
 * other than newline and tab, what text_reorders(), bytes that are not UTF-8.  CR LF and CR become
 * LF. Returns how many bytes were left out, not counting line ends. */
size_t display_clean(const char *text, size_t length, struct strbuf *ret);
