/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Why a run's agent makes no reports, in words for its user: its hooks are switched off in its own
 * settings, or it has not said why.
 */
#pragma once

#include "engine/deck/deck.h"

/* The setting that switches off the hooks of this agent, as "NAME=VALUE in FILE": the entry's
 * report.off in one of report.off_files.  NULL: none is known, or the agent is in a container,
 * whose files are not these.  The caller frees. */
char *unreported_setting(const struct instance *instance, const struct agent *agent) MUST_USE;

/* Why the live run has not reported its start, although its probation is over.  NULL: it has, or
 * its agent makes no reports, or it is too early to say.  The caller frees. */
char *unreported_why(const struct deck *deck, const struct instance *instance,
		     const struct agent *agent) MUST_USE;
