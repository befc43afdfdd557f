/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the readers share.
 */
#pragma once

#include "driver/foreign/foreign.h"

#include "base/jsonio.h"

enum { FOREIGN_MAX_FILE = 16 << 20 };

/* "$VARIABLE/<name>", or "<home>/<fallback>/<name>" where the variable is not an absolute path. The
 * caller frees. */
char *foreign_xdg(const struct foreign_place *place, const char *variable, const char *fallback,
		  const char *name) MUST_USE;
/* True also if the path cannot be looked up: opening it then says why. */
bool foreign_exists(const char *path);
/* FOREIGN_ABSENT: there is no such directory.  *ret is the caller's to close. */
int foreign_open_directory(const char *path, int *ret, struct error *err);

/* Read a whole file; a link is followed, as dotfiles are often links.  FOREIGN_ABSENT: there is no
 * such file. */
int foreign_read(const char *path, struct strbuf *ret, struct error *err);
/* Read a JSON file.  FOREIGN_ABSENT: there is no such file.  *ret is the caller's. */
int foreign_json(const char *path, struct json_object **ret, struct error *err);

/* What tells a row from every other one: the source, the real path of its file, the row's id.  The
 * caller frees. */
char *foreign_origin(const char *source, const char *path, const char *id) MUST_USE;

/* A time in a JSON member: seconds since the Epoch, or a text.  0: none. */
int64_t foreign_time(const struct json_object *object, const char *key);

/* The words of a shell line; where it needs a shell, that shell and the line. */
void foreign_split(const char *line, struct strvec *ret);
/* Like foreign_split(), but for a row: its program, and foreign_take_arguments() of what follows. A
 * line that needs a shell stays whole, as a plain command. */
void foreign_take_line(const char *line, struct import_row *row);

/* "~/x" with the home in its place.  The caller frees. */
char *foreign_expand(const struct foreign_place *place, const char *path) MUST_USE;

/* The words between blanks: of a line without quotes. */
void foreign_split_blanks(const char *line, struct strvec *ret);

/* "main:1.0": the tmux session is the group, and with the window the title. */
void foreign_take_pane(const char *pane, struct import_row *row);

/* Take the arguments of a command line: ids of conversations become the row's ids, and what makes
 * an agent ask for no permission its dangers. */
void foreign_take_arguments(const struct strvec *words, struct import_row *row);
/* Like foreign_take_arguments(), but for a line that has lost its quotes.  If a word may belong to
 * the one before it, nothing is taken, and the row tells so. */
void foreign_take_unquoted(const char *line, struct import_row *row);
