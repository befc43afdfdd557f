/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Between the files of model/role.
 */
#pragma once

#include "base/jsonio.h"
#include "model/role/role.h"

/* A file while it is read. */
struct reading {
	const struct role_order *order;
	const char *text; /* plain JSON: jsonc_plain() */
	size_t length;
	struct json_object *file;
	struct strvec path; /* of the value that is read now */
	struct role *role;
};

/* ---- role-reading.c ---- */

/* Add a finding about the value that is read now. */
void role_find(struct reading *reading, enum role_verdict verdict, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* Step into a member or element, and out of it. */
void role_enter(struct reading *reading, const char *key);
void role_enter_index(struct reading *reading, size_t index);
void role_leave(struct reading *reading);
/* The text of a value, with its variables.  The caller frees.  NULL: it is none, or names a
 * variable that is not known, and a finding with this verdict says so. */
char *role_text(struct reading *reading, struct json_object *value, enum role_verdict verdict);
/* Append the texts of an array.  False: an element is none, which is refused. */
bool role_texts(struct reading *reading, struct json_object *value, struct strvec *ret);
/* "NAME=VALUE" for the container; an earlier one of the name goes. */
void role_set_variable(struct reading *reading, const char *name, const char *value);

/* ---- role-place.c ---- */

/* Something that the user's rights allow to ask for from this level on. */
void role_ask(struct reading *reading, enum recipe_rights least, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* An entry of mounts: "type=bind,source=...,target=..." */
void role_add_mount_text(struct reading *reading, const char *text);
/* SOURCE:TARGET[:ro] of docker run -v */
void role_add_volume(struct reading *reading, const char *text);
void role_read_mounts(struct reading *reading, struct json_object *value);
void role_add_capability(struct reading *reading, const char *name);
void role_add_network(struct reading *reading, const char *name);
/* A word of recipe_docker_parse(). */
void role_add_docker(struct reading *reading, const char *how);

/* ---- role-args.c ---- */

/* "8gb", "4g" */
void role_set_memory(struct reading *reading, const char *text);
void role_read_arguments(struct reading *reading, struct json_object *value);

/* ---- role-command.c ---- */

/* A text for the container's shell, an argv, or an object with several of either. */
void role_read_command(struct reading *reading, struct json_object *value);
/* initializeCommand and postAttachCommand. */
void role_leave_command(struct reading *reading, struct json_object *value);

/* ---- role-question.c ---- */

/* All questions were read: check them, and put them into the order in which they are asked. */
void role_settle_questions(struct reading *reading);

/* ---- role-expand.c ---- */

/* The text with its variables.  The caller frees.  NULL: *ret_unknown, the caller's, is the
 * variable that is not known, or makes the text too long. */
char *role_expand(const struct reading *reading, const char *text, char **ret_unknown) MUST_USE;
