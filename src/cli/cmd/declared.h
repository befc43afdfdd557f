/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is there of the sessions that a file names, and what differs.
 */
#pragma once

#include "cli/cmd/deckfile.h"

enum declared_state {
	DECLARED_MISSING,
	DECLARED_STOPPED,
	DECLARED_RUNNING,
	DECLARED_FOREIGN, /* a session of another directory has the title */
};

struct declared_fact {
	enum declared_state state;
	const struct store_row *row; /* borrowed; NULL: missing */
	struct strvec differences;   /* "group: it has work, the file says play" */
};

/* What is there of it.  rows: store_list().  *ret: declared_fact_free(). */
int declared_look(struct deck *deck, const struct declared *declared, const struct store_rows *rows,
		  struct declared_fact *ret, struct error *err);
/* Could launch make it?  ERROR_CORRUPT "<path>:<line>:<column>: <why>": its directory does not
 * exist, or nobody knows its agent. */
int declared_check(struct deck *deck, const struct declared *declared, struct error *err);
void declared_fact_free(struct declared_fact *fact);
