/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fields that session set changes, for other commands, too.
 */
#pragma once

#include "cli/core/command.h"

struct field_change {
	const char *field; /* "group" */
	const char *value;
	bool copies_transcript;  /* with "path" */
	bool drops_conversation; /* with "agent" */
};

/* Change it.  *ret_note: what else its user should know, without a full stop, or NULL; the caller
 * frees.  ERROR_USAGE: there is no such field, or it has no such value. */
int session_set_field(struct app *app, const char *base, const struct field_change *change,
		      char **ret_note, struct error *err);
