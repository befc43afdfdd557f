/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `agentdeck mcp`: a server of the Model Context Protocol on standard input and output, for the
 * agent that started it (docs/interface.md).  Each call of a tool is a command of this program.
 */
#pragma once

#include "cli/core/command.h"

/* Serve until the input ends, and what was called by then has answered, or until the reader has
 * gone.  Commands that change something run on.  Returns 0; -1: the loop failed. */
int mcp_run(struct app *app, struct error *err);
