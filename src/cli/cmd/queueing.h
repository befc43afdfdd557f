/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A message that waits until its agent is idle (send --when-idle).
 */
#pragma once

#include "cli/core/command.h"

/* Queue it, send it at once if nothing is before it and its agent is idle, and say which of both
 * happened.  Returns as struct command's run does. */
int queueing_send(struct app *app, const struct store_row *row, const char *text, bool is_raw,
		  struct error *err);
