/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The screen of one session: looks at it, and a bell (engine/terminal/bell.h) that rings when it
 * may have changed since the last one.
 */
#pragma once

#include "engine/terminal/bell.h"
#include "ui/main/glance.h"

/* Zero-initialised is one that rings for no session. */
struct lens {
	const struct glance *glance;
	bell_handler on_ring;
	runner_handler on_screen;
	void *context;            /* of both */
	struct bell *bell;        /* NULL: nothing rings */
	struct process_id server; /* whose screen it is */
};
/* Look: on_screen gets the screen as captured, with escape sequences.  False: the session has none,
 * and nothing rings for it. */
bool lens_look(struct lens *lens, const char *id);
/* True: it has rung for a session, and does not any more. */
bool lens_close(struct lens *lens);
