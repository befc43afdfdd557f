/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A message to an agent: read, delivered, and what became of it told; for send and launch.
 */
#pragma once

#include "cli/command.h"
#include "engine/deliver.h"

/* From the file ("-": standard input), else text ("-": standard input), without what a terminal would
 * obey and without line breaks at its end; how much was left out is said on standard error.
 * ERROR_USAGE: nothing is left, or it is too large. */
int message_read(const char *text, const char *file, struct strbuf *ret, struct error *err);

/* Members delivery and session_id, and, where it was not submitted, success, error and code. */
void message_add_json(struct json_object *object, const char *id,
		      const struct delivery_result *result);

/* 0, or ERROR_DELIVERY with what became of it and what to do. */
int message_judge(const char *title, const char *id, const struct delivery_result *result,
		  struct error *err);
