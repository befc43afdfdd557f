/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The terminal that the view runs in: descriptors 0 and 1.
 */
#pragma once

#include "capsule/frame.h"

#include <termios.h>

struct window {
	bool is_raw;
	struct termios before;
};

/* Every byte goes to the agent, and its output comes as it is.  Nothing happens where there is no
 * terminal. */
void window_begin(struct window *ret);
void window_end(const struct window *window);

/* 0 columns and rows: there is no terminal. */
struct frame_size window_size(void);

/* Write all of it, for as long as the terminal takes to read.  A terminal that has gone takes
 * nothing, and tells us by a signal. */
void window_write(const void *data, size_t length);
