/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The capsule's one pseudo-terminal.  It outlives the agents: the capsule holds both ends, so that
 * the end of an agent is never mistaken for the end of the terminal.
 */
#pragma once

#include "capsule/frame.h"

#include <termios.h>

struct pty {
	int master; /* does not block */
	int slave;
	struct termios plain; /* how it was made */
	struct frame_size size;
};

int pty_open(struct pty *ret, struct error *err);
void pty_close(struct pty *pty);

/* Reset it for the next agent. */
void pty_reset(struct pty *pty);

/* Tell the agent the size.  0 columns or rows: nothing happens. */
void pty_resize(struct pty *pty, const struct frame_size *size);
/* Make the size differ from pty->size for a moment, since the kernel reports no change to the
 * same size, and programs ignore SIGWINCH without one; pty_resize() ends it. */
void pty_nudge(const struct pty *pty);
