/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a command says after it has made several sessions, which are stopped.
 */
#pragma once

#include "cli/core/command.h"

/* Print a line for each profile, with the command that starts its sessions.  verb: "Imported".
 * profiles: the profile of each session. */
void say_made(const struct app *app, const char *verb, const struct strvec *profiles);
