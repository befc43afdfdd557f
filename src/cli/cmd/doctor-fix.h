/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `agentdeck doctor --fix`: show what has no session any more, and free it by consent.
 */
#pragma once

#include "cli/core/command.h"

enum doctor_consent { DOCTOR_ASK, DOCTOR_AGREED, DOCTOR_ONLY_SHOW };

/* Opens app->deck.  Returns as struct command's run does. */
int doctor_fix(struct app *app, enum doctor_consent consent, struct error *err);
