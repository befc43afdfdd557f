/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file of the index: lines, without what they mean.  docs/state-format.md describes it.  For
 * the files of the store only.
 */
#pragma once

#include "base/text.h"

/* Zero-initialised is an index without rows. */
struct index_file {
	struct strbuf text;
	const char *next; /* the first line that was not looked at; NULL: there is none */
	bool is_stale;    /* some lines are no rows, or rows that were not asked for */
};
void index_file_free(struct index_file *index);
#define cleanup_index_file CLEANUP(index_file_free)

/* A file that is no index, for whatever reason, is one without rows. */
void index_file_read(int directory, struct index_file *ret);

/* A row as it is in the file. */
struct index_line {
	const char *text; /* borrowed */
	size_t length;
};
/* The row of base.  Call it with rising names, as the rows are sorted.  A file that is not sorted
 * loses rows. */
bool index_file_find(struct index_file *index, const char *base, struct index_line *ret);
/* Call it after the last name: are there rows that were not asked for? */
bool index_file_is_stale(struct index_file *index);

/* The texts of a row whose last text is this stamp, without that: each but the last ends with a
 * NUL. ret_length: with these, without the last NUL.  NULL: it has another stamp, or is no row. The
 * caller frees. */
char *index_line_texts(const struct index_line *line, const char *stamp,
		       size_t *ret_length) MUST_USE;

/* Make a file: begin, add rows in the order of their bases, write.  text: as index_line_texts()
 * returns it. */
void index_text_begin(struct strbuf *file);
void index_text_add(struct strbuf *file, const char *texts, size_t length, const char *stamp);
/* Best effort. */
void index_text_write(int directory, struct strbuf *file);
