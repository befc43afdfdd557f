/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The keys of config.toml for people: their names, what they are for, their values, and a commented
 * file to start from.  All of it comes from the table that settings_parse() reads by.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/tomlmap.h"
#include "model/settings/settings.h"

/* Every key that people set, in the order of the starter file; NULL: there are no more. */
const struct toml_key *settings_key(size_t index);
/* The key of this path, or the table that it is a member of ("groups" for
 * "groups.work.limits.cpu_weight").  *ret_nearest (may be NULL) is the most similar path when there
 * is none, or NULL.  Static. */
const struct toml_key *settings_find_key(const char *path, const char **ret_nearest);

/* The value of a key, as it could stand in the file; NULL (JSON null): not set.  Not for a table,
 * whose members only the document has.  The caller's. */
struct json_object *settings_value(const struct settings *settings,
				   const struct toml_key *key) MUST_USE;

/* A whole config.toml in which every key is a comment with its default.  The caller frees. */
char *settings_starter(void) MUST_USE;

/* The JSON Schema of config.toml.  The caller's. */
struct json_object *settings_schema(void) MUST_USE;

/* Every mistake of a file, each as settings_parse() would report it.  None: it is valid. */
void settings_check(const char *text, size_t length, const char *what, struct strvec *ret);
