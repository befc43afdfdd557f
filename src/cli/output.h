/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What several commands print alike.
 */
#pragma once

#include "cli/command.h"
#include "engine/changes.h"
#include "engine/lifecycle.h"
#include "engine/view.h"

/* The members that list has for each session; the caller's. */
struct json_object *json_of_row(const struct store_row *row, const char *profile) MUST_USE;

/* The same of what a change says: id, title, profile, status, activity, reason, since; the caller's. */
struct json_object *json_of_change(const struct change *change) MUST_USE;

/* On one line of its own, for streams. */
void print_json_line(struct json_object *object);

/* An array as print_json() would print it, element by element: of thousands, what is made for one serves the next.
 * index counts from 0; count is that of all. */
void print_json_element(struct json_object *object, size_t index);
void print_json_end(size_t count);

/* {"success": true} with the id and title of an instance; the caller's. */
struct json_object *json_success(const struct instance *instance) MUST_USE;

/* Start or restart, wait as asked, print what became of it (text or JSON).  A positive value is the exit
 * status.  *ret (may be NULL) is what became of it; only set on success. */
int run_start(struct app *app, const char *base, bool restart, bool resume_wish, bool wait,
	      struct error *err);

/* The same without printing anything. *ret_instance is the caller's. */
int start_and_wait(struct app *app, const char *base, bool restart, bool resume_wish, bool wait,
		   struct instance **ret_instance, bool *ret_already,
		   enum lifecycle_outcome *ret_outcome, struct error *err);

/* The JSON of a start: success, id, title, tmux, session_id, resumed, rung, reason, argv. */
struct json_object *json_of_start(const struct instance *instance, bool already,
				  enum lifecycle_outcome outcome) MUST_USE;
/* One line for people. */
void print_start(const struct instance *instance, bool already, enum lifecycle_outcome outcome);

/* Attach the terminal to a running instance and wait until the user comes back.  A positive value is the
 * exit status. */
int run_attach(struct app *app, const char *base, struct error *err);
