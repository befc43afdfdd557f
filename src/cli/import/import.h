/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What agentdeck-import does.
 */
#pragma once

#include "cli/core/command.h"

/* Like `run` of a command.  The options are a struct import_options. */
int import_run(struct app *app, struct error *err);
