/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Passes on what the user types for an agent, in that order: a tmux client at a time, beside the
 * loop.  Nothing reads a text again: neither a shell nor tmux.
 */
#pragma once

#include "engine/roster/roster.h"
#include "ui/main/errand.h"
#include "ui/main/peek.h"

struct typist {
	struct errands *errands;
	const struct roster *roster;
	struct peek *peek;
	struct process_id server; /* of the run that is typed for: another one is another agent */
};

/* ui->typing has something to pass on, or a session that has to be checked. */
void typist_pass_on(struct typist *typist);
