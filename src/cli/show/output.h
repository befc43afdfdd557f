/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What several commands print in the same form.
 */
#pragma once

#include "cli/core/command.h"
#include "cli/show/shapes.h"

#include <stdio.h>

/* Wait for fd (-1: for nothing) to be readable, up to deadline_ms; returns 0.  When the reader of
 * standard output has gone, this ends the process, as a write would: by SIGPIPE; -1 where that is
 * ignored. */
int output_wait(int fd, int64_t deadline_ms, struct error *err);
/* Like output_wait(), but for the next event of a loop; handles all that there are.  Returns 0. */
int output_turn(struct loop *loop, int64_t deadline_ms, struct error *err);

/* Print a line, with what a terminal would obey made visible; and the same on standard error. */
#define say(...)      say_to(stdout, xasprintf(__VA_ARGS__))
#define complain(...) say_to(stderr, xasprintf("agentdeck: " __VA_ARGS__))
/* Takes ownership of line. */
void say_to(FILE *out, char *line);

/* Are signs to be drawn in ASCII: [ui] ascii, or a locale without UTF-8? */
bool output_is_ascii(const struct app *app);

/* Before a program takes the whole terminal: let it find a kind of terminal that it knows, and say
 * so (engine/terminal/kind.h). */
void settle_terminal(void);

/* Let the program of this name that comes with agentdeck have the terminal, and end as it does.
 * With an id (--once) this process stays, and can note that end. */
int give_terminal(const struct app *app, const char *name, const struct strvec *words,
		  struct error *err);

/* Print what a command has done: the object with --json, else the line, unless --quiet.  Takes
 * ownership of both. Returns 0. */
int print_done(const struct app *app, struct json_object *object, char *line);

/* Print the deck's warnings on standard error, and forget them. */
void print_warnings(struct app *app);

/* Print a JSON object or array on standard output, with its stamp. */
void print_json(struct json_object *object);
/* Like print_json(), but on one line, for streams; and the same elsewhere. */
void print_json_line(struct json_object *object);
void print_json_line_to(FILE *out, struct json_object *object);

/* Print an array as print_json() would, but one element at a time: so thousands need the memory of
 * one.  index counts from 0; count is the number of elements. */
void print_json_element(struct json_object *object, size_t index);
void print_json_end(size_t count);

/* Print what was written since the last time, once that is much: each write(2) has a price.  The
 * writer continues from there. */
void print_written(struct json_writer *writer);
