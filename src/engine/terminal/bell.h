/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tells when the screen of a terminal may have changed, without polling it: agentdeck-bell, which
 * tmux starts, reads along what the pane prints (pipe-pane), and rings.  It reads always, whatever
 * its listeners do, so that the agent never waits for one that is stopped.  It ends when the last
 * listener has gone, however that ended.  A pipe of the user's stays: then nothing rings.
 */
#pragma once

#include "base/loop.h"
#include "base/text.h"

struct bell_order {
	const char *id;        /* of the instance */
	const char *socket;    /* of its terminal */
	const char *directory; /* of its run */
	const char *program;   /* agentdeck-bell */
};

struct bell;
/* The bell has rung, and will not ring again before bell_look_argv(). */
typedef void (*bell_handler)(void *context);
/* Listen.  Copies the order; *ret ends before the loop.  ERROR_INVALID: that is no directory of a
 * run. */
int bell_open(struct loop *loop, const struct bell_order *order, bell_handler handler,
	      void *context, struct bell **ret, struct error *err);
void bell_close(struct bell *bell);
/* The id of its session.  Borrowed. */
const char *bell_id(const struct bell *bell);

/* Arguments of a tmux client that prints the screen with the escape sequences of its colours, and
 * has it rung about from then on; appended to *ret. */
void bell_look_argv(struct bell *bell, struct strvec *ret);
/* Before bell_close(): arguments of one that takes the bell off.  False: it need not be, or is
 * another's. */
bool bell_end_argv(const struct bell *bell, struct strvec *ret);
