/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON that comes in pieces and may be huge, made small: valid if the whole is.  Long strings are
 * cut where no escape and no character is torn, and what is nested too deeply becomes null.
 */
#pragma once

#include "base/text.h"

enum { JSON_CUT_OVERLAP = 8 << 10 };

struct json_cut {
	/* The caller's.  What is kept of a string, in bytes as they are written: more than
	 * JSON_CUT_OVERLAP. */
	size_t string_max;
	/* Chooses one more piece of a long string to keep: the first for which it returns true.
	 * The pieces overlap.  NULL: none is kept. */
	bool (*wants)(const char *piece, size_t length, void *data);
	void *data;
	/* What is kept so far */
	struct strbuf text;

	/* for json_cut_add() only */
	size_t depth;
	bool in_string, after_backslash;
	int digits_left; /* of \uXXXX */
	enum { PART_FIRST, PART_LATER, PART_LEFT } part;
	struct strbuf piece; /* of the present string */
	size_t mark;         /* where the next piece begins; 0: not known yet */
	size_t known;        /* so much of its beginning is kept already */
};

void json_cut_add(struct json_cut *cut, const char *text, size_t length);
/* Empty it for another value. */
void json_cut_clear(struct json_cut *cut);
#define cleanup_json_cut CLEANUP(json_cut_clear)
