/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Change one key or table of a TOML document and leave every other byte as it is: comments, order,
 * blanks and line ends.  toml++ reads, but does not keep comments.
 *
 * An edit looks for a line that has the key alone, or for a place to add one.  The result is
 * parsed, and must be the old document with this one change, or the change is refused.
 */
#pragma once

#include "base/text.h"

struct toml_change {
	const char *text; /* the document */
	size_t length;
	const char *what;           /* for messages: the path of the file */
	const struct strvec *parts; /* of the key */
	const char *instead;        /* what its user can do after a refusal: "in an editor" */
};

/* Give the key this value: in its line, or after a comment "# key = ...", or at the end of its
 * table, which is made when missing.  ERROR_CORRUPT: the document has a mistake.  ERROR_INVALID: a
 * table is needed where the document has something else; or the key has no line to itself, since
 * its value has several or is inside of { }, or dots below a header have made its table.  *ret is
 * the new document, the caller's. */
int toml_set(const struct toml_change *change, const char *literal, struct strbuf *ret,
	     struct error *err);

/* Make the key's line a comment.  A table that only the dots of this key have made vanishes with
 * it. Errors as of toml_set().  TOML_KEY_ABSENT: the document does not have the key. */
enum { TOML_KEY_ABSENT = 1 };
int toml_unset(const struct toml_change *change, struct strbuf *ret, struct error *err);

/* Remove the table of this key: its header, its keys, what is below it, and the comments between
 * them.  Comments above its header and behind its last key stay.  Errors as of toml_set().
 * TOML_KEY_ABSENT: there is no such table. */
int toml_remove_table(const struct toml_change *change, struct strbuf *ret, struct error *err);
/* Change the last part of the key in the table's header.  Errors as of toml_set(), also for a table
 * without a header.  TOML_KEY_ABSENT: there is no such table. */
int toml_rename_table(const struct toml_change *change, const char *name, struct strbuf *ret,
		      struct error *err);
