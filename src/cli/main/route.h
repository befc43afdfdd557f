/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands for another host: -H HOST, AGENTDECK_HOST, and HOST:SESSION where a session is named.
 */
#pragma once

#include "cli/core/command.h"

/* ROUTE_HERE: the command is for this machine, and its operands are as it expects them. */
enum { ROUTE_HERE = 256 };

/* Run the command of app on the host that the command line names.  words: the command line behind
 * the program's name, as its user wrote it.  Returns its exit status there.  ERROR_NOT_FOUND:
 * config.toml has no such host.  ERROR_UNREACHABLE: it was not run.  ERROR_UNKNOWN: whether it did
 * its work is not known. */
int route_command(struct app *app, const struct strvec *words, struct error *err);
