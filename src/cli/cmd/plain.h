/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deck in lines, for screen readers and for terminals that only print (`agentdeck ui --plain`).
 *
 * The program prints the sessions with a number each, reads a command from a line, and tells
 * between two lines which session begins to wait, fails or ends.  A session keeps its number.  What
 * a command does is done by `agentdeck` itself, run on the same terminal.
 */
#pragma once

#include "cli/core/command.h"

/* Returns 0 after "q" or at the end of the input. */
int plain_run(struct app *app, struct error *err);
