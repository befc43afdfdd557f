/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a session needs so that it runs: the one decision that recover makes of a row, and every
 * start under the lock.  Pure.
 */
#pragma once

#include "engine/place/alive.h"
#include "model/session/instance.h"

struct need_facts {
	enum instance_state state;
	enum instance_desired desired;
	enum presence presence;
	bool is_shell;     /* a shell runs in the agent's place, and its user asks for the agent */
	bool is_between;   /* it is alive, but its agent is not (place_is_between()) */
	bool lacks_window; /* it is alive, and nothing shows it (place_lacks_window()) */
};

enum need {
	NEED_REST,    /* it is to be stopped */
	NEED_NOTHING, /* it runs */
	NEED_FINISH,  /* a restart was interrupted, or is at work: its second half */
	NEED_VERDICT, /* its pane is about to say what follows */
	NEED_WINDOW,  /* it runs, and nothing shows it */
	NEED_ANSWER,  /* it may run, and does not answer */
	NEED_START,
};

enum need need_of(const struct need_facts *facts);
