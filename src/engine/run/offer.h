/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The offer: under the policy "confirm" a session's pane opens with a question instead of the
 * agent. One key answers it, so that it can be done from a phone.
 */
#pragma once

#include "model/session/instance.h"

enum offer_choice {
	OFFER_NONE,   /* what was typed is not an answer */
	OFFER_RESUME, /* Enter: the conversation comes back */
	OFFER_FRESH,  /* n: a new conversation; the old one stays where it is */
	OFFER_SHELL,  /* q, Ctrl-C, Ctrl-D: a shell in the session's directory */
};

/* What the pane shows, with line ends for a terminal in raw mode.  Everything that came from a user
 * or an agent is made visible text.  Appended to *ret. */
void offer_text(const struct instance *instance, struct strbuf *ret);

/* What one read(2) from the terminal says.  One character, alone or with line ends behind it, is an
 * answer; a longer text (a paste, an arrow key's sequence) is not: it was not meant for this
 * question. */
enum offer_choice offer_parse(const char *typed, size_t length);

/* Ask on the terminal until there is an answer: people take their time, so there is no deadline.
 * The terminal is as it was when this returns, and what was typed ahead is thrown away: it must not
 * reach the agent. ERROR_UNAVAILABLE: it is not a terminal, or it is gone. */
int offer_ask(int terminal, const struct instance *instance, enum offer_choice *ret,
	      struct error *err);

/* The attempt of the planned ladder that the choice starts with: its index, or attempt_count when
 * there is none. */
size_t offer_attempt(const struct run *run, enum offer_choice choice);
