/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The JSON objects that several commands print.  docs/json.md describes them for users, and
 * data/schema/agentdeck.json for programs: tests/unit/test-json.bash compares.  Each returned
 * object is the caller's.
 */
#pragma once

#include "base/jsonwrite.h"
#include "engine/roster/facts.h"

/* Add "protocol" and "host" to an object, or to each object of an array, that does not have them.
 * print_json() and its sisters do it. */
void json_stamp(struct json_object *value);

/* End an object that is written, with the same two members. */
void json_write_stamped_end(struct json_writer *writer);

/* The members of a session, as every command prints it.  is_removed: it is gone. */
void json_write_facts(struct json_writer *writer, const struct facts *facts, bool is_removed);
/* A session as an object, for commands that change or add members.  profile is that of the row. */
struct json_object *json_of_row(const struct store_row *row, const struct view *view,
				const char *profile) MUST_USE;
struct json_object *json_of_entry(const struct roster_entry *entry) MUST_USE;
/* Like json_of_row(), but for what was loaded or made: its manifest is read again. */
struct json_object *json_of_instance(const struct deck *deck,
				     const struct instance *instance) MUST_USE;
/* Add what a run adds to a session: tmux, scope, resume, agent_pid and came_back. */
void json_add_run(struct json_object *object, const struct instance *instance);
/* By which way the agent was started when its container came back; NULL: it never ended.  Static. */
const char *comeback_rung(const struct instance *instance);

/* {"success": true} with the id and title of a session. */
struct json_object *json_success(const char *id, const char *title) MUST_USE;
/* Set "success", "error" and "code". */
void json_set_failure(struct json_object *object, const struct error *err);

/* Set a time of clock_wall_us(); 0 or less: null. */
void json_set_time(struct json_object *object, const char *key, int64_t wall_us);
void json_write_time(struct json_writer *writer, const char *key, int64_t wall_us);
