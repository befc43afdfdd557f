/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The candidates of completion: the values that an offer names, from the tables of the program, the
 * sessions, the agents and the configuration.  Titles come from the index.  Only for branches a
 * program is started: git.
 */
#pragma once

#include "cli/core/command.h"

#include <stdio.h>

/* The word that is completed, and where its candidates go: one on each line, followed by a tab and
 * an explanation if there is one. */
struct candidates {
	FILE *out;
	const char *prefix; /* what precedes the value in its word ("--agent="), or "" */
	const char *typed;  /* the value as far as it is typed; only a list depends on it */
};

/* text: the explanation, or NULL. */
void candidates_put(const struct candidates *to, const char *word, const char *text);

/* Like candidates_offer(), but for a session that may be one of another host: HOST:SESSION, or
 * behind -H HOST.  Those there are offered while there is a connection. */
int candidates_offer_sessions(const struct candidates *to, struct app *app, const struct app *line,
			      const struct offer *offer, struct error *err);

/* Print what the offer names.  line: the words before the one that is completed.  app has the deck.
 * On an error the output may be incomplete. */
int candidates_offer(const struct candidates *to, struct app *app, const struct app *line,
		     const struct offer *offer, struct error *err);
