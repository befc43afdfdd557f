/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One-time answers: a notification may carry two tokens, one that gives a permission and one that
 * refuses it.  A token answers exactly the question that it was made for, once, until it expires.
 *
 *   <state>/answers/<SHA-256 of the token>   what it is for; the token itself is nowhere on disk
 *
 * A token is used up before a key is pressed, with its other half: what is killed in between has
 * answered nothing, or once.  The next question of a session uses up those before it.
 */
#pragma once

#include "engine/deck/deck.h"

struct answer_offer {
	const char *profile, *id, *title;
	const char *question; /* its digest (engine/screen/permit.h) */
	int64_t minutes;      /* until it expires */
};

/* Make both tokens, durably.  The caller frees them. */
int answer_offer(const struct deck *deck, const struct answer_offer *offer, char **ret_yes,
		 char **ret_no, struct error *err);

/* ANSWER_NO_TOKEN: the text is no token that was made here.  Else *ret_receipt is one sentence for
 * its user (the caller frees): what was done, or why nothing was. */
enum { ANSWER_NO_TOKEN = 1 };
int answer_take(const struct deck *deck, const char *text, char **ret_receipt, struct error *err);
