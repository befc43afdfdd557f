/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The size of a terminal, in characters.
 */
#pragma once

#include <stdbool.h>

/* All 0: not known. */
struct termsize {
	unsigned columns, rows;
};

/* Can an agent's screen have it?  Screens of a few characters, and of thousands, are neither drawn
 * nor read well. */
bool termsize_is_usual(const struct termsize *size);

/* The size of the terminal that one of our own standard streams is. */
struct termsize termsize_here(void);

/* termsize_here() as termsize_parse() reads it.  NULL: no usual size is known.  The caller frees. */
char *termsize_here_text(void);

/* "87x31".  False: it is no usual size, and *ret is untouched. */
bool termsize_parse(const char *text, struct termsize *ret);
