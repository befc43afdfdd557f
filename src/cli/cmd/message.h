/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A message to an agent: how send and launch read it, and how they report its delivery.
 */
#pragma once

#include "engine/screen/deliver.h"

/* Read the message from the file if it is not NULL, else from text; "-" is standard input.  This
 * removes control characters, and line breaks at the end, and says on standard error how much it
 * removed.  ERROR_USAGE: nothing is left, or it is too large. */
int message_read(const char *text, const char *file, struct strbuf *ret, struct error *err);

/* hint: how a command names the session (hint_session()). */

/* Add the members delivery and session_id and, if it was not submitted, success, error and code. */
void message_add_json(struct json_object *object, const char *hint,
		      const struct delivery_result *result);

/* Returns 0, or ERROR_DELIVERY, which says what happened to it and what to do. */
int message_judge(const char *title, const char *hint, const struct delivery_result *result,
		  struct error *err);
