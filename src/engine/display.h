/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent shows: its captured screen read by the patterns of its registry entry, and text made
 * fit to go to a terminal or to come from one.
 *
 * Pure: the caller captures.
 */
#pragma once

#include "model/instance.h"
#include "model/registry.h"

enum display_state {
	DISPLAY_OTHER,  /* no pattern fits, or the entry has none */
	DISPLAY_READY,  /* its input box is there */
	DISPLAY_DIALOG, /* it asks something: a key pressed now would be an answer */
};

/* What stands lowest counts: what an agent said long ago may look like a dialog, and its box is below
 * that.  A line that may be a box or a choice in a dialog is the dialog.  own_text (may be NULL) is what we typed into the
 * box: its lines are no dialog. */
enum display_state display_judge(const struct agent *agent, const char *screen,
				 const char *own_text);

/* What the agent is doing, by its screen alone: a dialog that stands below its box, or without one, is waiting; else
 * a line that says that it works is busy; else its box is idle.  ACTIVITY_UNKNOWN: no pattern fits. */
enum instance_activity display_activity(const struct agent *agent, const char *screen);

/* The lowest line with the input box, with what is typed there.  NULL: there is none.  The caller
 * frees. */
char *display_box(const struct agent *agent, const char *screen) MUST_USE;

/* Append text without what a terminal would obey: escape sequences, other control characters but
 * newline and tab, what text_reorders(), bytes that are not UTF-8; CR LF and CR become LF.  Returns how many bytes were left
 * out, line ends not counted. */
size_t display_clean(const char *text, size_t length, struct strbuf *ret);
