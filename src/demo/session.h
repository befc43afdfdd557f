/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One life of the demo agent: prompts become turns, and hooks get each event.
 */
#pragma once

#include "base/jsonio.h"
#include "demo/dialogue.h"
#include "demo/screen.h"

struct demo_session {
	struct dialogue dialogue;
	struct screen screen;      /* with its signals watched */
	struct json_object *hooks; /* NULL: none */
	const char *source;        /* "startup", "resume" or "fork" */
	/* The conversation that the start reports, and its file, where it is not the dialogue's
	 * own: claude 2.1.197 reports a fork's own id only from its first turn on.  Owned; free()
	 * both. */
	char *parent_id, *parent_path;
	/* The command line without conversation and prompt.  Owned; strvec_clear(). */
	struct strvec argv;
	int think_ms, idle_ms, run_ms;
	const char *idle_kind; /* NULL: the notification has none, and says that it waits */
	/* A prompt that waits for the end of a turn is reported before that end, and not again: as
	 * by claude 2.1.330, which so reports that it is idle while it works on it. */
	bool reports_queue;
	size_t reported; /* so many of the queue */
};

/* The exit status for an end by this signal. */
int session_signal_status(int signal_number);

/* Talk in the terminal until the user or a signal ends it; prompt (or NULL) is the first turn.
 * *ret_exit_status is set. */
int session_talk(struct demo_session *session, const char *prompt, int *ret_exit_status,
		 struct error *err);

/* Take one turn, with the reply on standard output. */
int session_answer(struct demo_session *session, const char *prompt, int *ret_exit_status,
		   struct error *err);
