/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands for this machine and every host of config.toml at the same time: -A.
 */
#pragma once

#include "cli/core/command.h"

/* Run the command of app on each of them, and print what each says as it comes.  words: the command
 * line behind the program's name, as its user wrote it.  Returns the exit status: that of a change
 * that may have been made, else that of an unreachable host, else the highest.  `status --wait`: 0
 * when one host succeeded. */
int fleet_run(struct app *app, struct deck *deck, const struct strvec *words, struct error *err);
