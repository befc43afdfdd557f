/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables for people, as wide as the terminal at most (cli/show/layout.h), with one look for each
 * row if colours are wanted.  Texts pass through visible().  What happens to a column that is too
 * wide depends on its heading.
 */
#pragma once

#include "cli/core/command.h"
#include "engine/roster/view.h"
#include "model/session/look.h"

struct table;

/* headings: up to NULL, static. */
struct table *table_new(const struct app *app, const char *const *headings) MUST_USE;
/* cells: one for each heading, NULL for an empty one. */
void table_add(struct table *table, const char *const *cells, enum tone tone);
/* On standard output.  Nothing is cut or left out where that is not a terminal. */
void table_print(const struct table *table);
/* Like table_print(), but without cutting anything, also on a terminal. */
void table_print_whole(const struct table *table);
/* A text for a terminal that is width columns wide: each row is one line.  The caller frees. */
char *table_text(const struct table *table, size_t width) MUST_USE;
void table_free(struct table *table);
CLEANUP_OF(table_freep, struct table, table_free);
#define cleanup_table CLEANUP(table_freep)

/* "busy", "error: its tmux server was killed"; the caller's. */
char *view_text(const struct view *view) MUST_USE;
/* How table_add() shows it. */
enum tone view_tone(const struct view *view);
