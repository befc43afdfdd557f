/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a deck without sessions shows: rows that make the first ones.
 *
 * Pure: ui/main/greet.h says what there is on this machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum welcome_row {
	OFFER_NEW,
	OFFER_DISCOVER, /* conversations that belong to no session */
	OFFER_IMPORT,   /* the sessions of another program */
	OFFER_DEMO,
	OFFER_COUNT
};

/* Zero-initialised knows nothing yet. */
struct welcome {
	size_t at;       /* the row of the cursor */
	bool is_asked;   /* it is being found out what there is */
	unsigned making; /* the ticket of the demo session that is being made; 0: none is */
	char *details[OFFER_COUNT]; /* visible() lines; NULL: not known */
	char *source;               /* the only program that has sessions; NULL: none or several */
};
void welcome_free(struct welcome *welcome);

/* Static. */
const char *welcome_label(enum welcome_row row);
/* Is it known that the selected row can make no session? */
bool welcome_has_nothing(const struct welcome *welcome);

/* What `agentdeck discover --json` and `agentdeck import --json` have printed: any text, and NULL
 * if they failed. */
void welcome_set_conversations(struct welcome *welcome, const char *text);
void welcome_set_sources(struct welcome *welcome, const char *text);
