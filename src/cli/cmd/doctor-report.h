/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `agentdeck doctor --report`: what a bug report needs, without secrets.
 */
#pragma once

#include "cli/core/command.h"
#include "engine/doctor/doctor.h"

/* Print it as Markdown.  Of config.toml it has the names of the keys that are set, and only such
 * values as cannot be secret: true or false, numbers and words of a fixed choice.  It has no title,
 * text or environment of a session, and "~" for the home directory.  app->deck is open as far as
 * doctor_gather() could open it. */
void doctor_report(const struct app *app, const struct doctor_facts *facts,
		   const struct doctor_findings *findings);
