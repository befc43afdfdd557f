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

/* What the file does not say never differs. */
struct difference {
	char *text;        /* "group: it has work, the file says play" */
	const char *field; /* that session set changes, or the name of a limit.  Static */
	enum limit limit;  /* LIMIT_COUNT: not a limit */
	char *value;       /* that the file says */
	char *obstacle;    /* why it is not to be changed, and what to do; NULL: it can be */
};

struct declared_fact {
	enum declared_state state;
	const struct store_row *row; /* borrowed; NULL: missing */
	bool needs_no_start;         /* it runs for certain, and is to run */
	struct difference *differences;
	size_t difference_count;
};

/* The rows of a profile, to be found by their titles. */
struct declared_rows {
	const struct store_rows *all; /* borrowed */
	const struct store_row **by_title;
	size_t count;
};
void declared_rows_sort(const struct store_rows *all, struct declared_rows *ret);
void declared_rows_free(struct declared_rows *rows);
#define cleanup_declared_rows CLEANUP(declared_rows_free)

/* What is there of it.  *ret: declared_fact_free(). */
int declared_look(struct deck *deck, const struct declared *declared,
		  const struct declared_rows *rows, struct declared_fact *ret, struct error *err);
void declared_fact_free(struct declared_fact *fact);

/* Could launch make it?  ERROR_CORRUPT "<path>:<line>:<column>: <why>": its directory does not
 * exist, or its agent is not known. */
int declared_check(struct deck *deck, const struct declared *declared, struct error *err);
/* Like declared_check(), but checks only the agent. */
int declared_check_agent(struct deck *deck, const struct declared *declared, struct error *err);
