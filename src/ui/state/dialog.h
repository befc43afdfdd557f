/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A question on the whole terminal: its text, which scrolls, and below it the choices with a
 * cursor.  The cursor begins on the first choice, which loses nothing; one that loses is marked,
 * and has to be moved to.
 *
 * Pure: keys go in, an answer and lines come out.
 */
#pragma once

#include "model/keys/key.h"
#include "model/question/question.h"

/* Zero-initialised shows nothing. */
struct dialog {
	struct question question;
	size_t cursor; /* among the choices */
	size_t top;    /* the first line of the text that is seen */
	size_t room;   /* how many are seen, as it was laid out */
	bool scrolls;  /* the text is longer than that */
};

/* Takes the question, which is empty afterwards. */
void dialog_open(struct dialog *dialog, struct question *question);
void dialog_close(struct dialog *dialog);

/* Enter, Escape, the arrows, PgUp, PgDn, and the number of a choice; other keys do nothing.  True:
 * the key is an answer, *ret, and CHOICE_NONE for Escape. */
bool dialog_key(struct dialog *dialog, key_code key, enum choice_kind *ret);

enum dialog_part {
	PART_TITLE,
	PART_TEXT,
	PART_HEADING,
	PART_PROMPT,
	PART_CHOICE,
	PART_LOSS, /* a choice that loses */
};
struct dialog_line {
	enum dialog_part part;
	bool is_chosen; /* the cursor is on this choice */
	char *text;
};
/* How many bytes of the text fit into so many columns: up to a space, or a part of a long word, and
 * at least one character if it has any.  A character has at least as many bytes as columns. */
size_t dialog_fitting(const char *text, size_t width);
struct dialog_page {
	struct dialog_line *lines;
	size_t count;
};
/* What is seen on so many rows, at least one.  All choices are, if there is a row for each, and
 * else those around the cursor; where there are few, only the one under it says what it does. */
void dialog_lay_out(struct dialog *dialog, size_t columns, size_t rows, struct dialog_page *ret);
void dialog_page_free(struct dialog_page *page);
#define cleanup_dialog_page CLEANUP(dialog_page_free)
