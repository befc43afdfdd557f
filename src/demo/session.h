/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One life of the demo agent: prompts become turns, and hooks are told.
 */
#pragma once

#include "base/jsonio.h"
#include "demo/dialogue.h"
#include "demo/screen.h"

struct session {
	struct dialogue dialogue;
	struct screen screen;      /* its signals are watched */
	struct json_object *hooks; /* NULL: none */
	const char *source;        /* "startup" or "resume" */
	int think_ms, idle_ms;
};

/* The exit status that goes with a signal. */
int session_signal_status(int signal_number);

/* Talk in the terminal until the user or a signal ends it; prompt (or NULL) is the first turn.
 * *ret_exit_status is set. */
int session_talk(struct session *session, const char *prompt, int *ret_exit_status,
		 struct error *err);

/* One turn, the reply on standard output. */
int session_answer(struct session *session, const char *prompt, int *ret_exit_status,
		   struct error *err);
