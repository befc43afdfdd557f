/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables for people: columns as util-linux prints them (libsmartcols), cut to the terminal's width,
 * with one colour for each row if colours are wanted.  Texts pass through visible().
 */
#pragma once

#include "cli/core/command.h"
#include "engine/roster/view.h"
#include "engine/run/lifecycle.h"

struct table;

/* headings: up to NULL. */
struct table *table_new(const struct app *app, const char *const *headings) MUST_USE;
/* As many cells as there are headings.  color: a name of libsmartcols ("red"), or NULL. */
void table_add(struct table *table, const char *const *cells, const char *color);
void table_print(struct table *table);
/* As text, for a terminal that is width columns wide.  The caller frees. */
char *table_text(struct table *table, size_t width) MUST_USE;
void table_free(struct table *table);
static inline void table_freep(struct table **table)
{
	table_free(*table);
}
#define cleanup_table CLEANUP(table_freep)

/* "running, busy", "error: its tmux server was killed"; the caller's. */
char *view_text(const struct view *view) MUST_USE;
/* A colour for table_add(), or NULL. */
const char *view_color(const struct view *view);
