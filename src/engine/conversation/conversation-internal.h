/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared by conversation.c, conversation-claim.c and conversation-plan.c.
 */
#pragma once

#include "driver/store/trash.h"
#include "engine/conversation/owner.h"
#include "engine/deck/deck.h"

/* All sessions of all profiles, and what was removed and can come back. */
struct ownership {
	const struct instance *instance;
	struct owner_profiles profiles;
	struct trash *trash; /* one for each profile */
};
void ownership_free(struct ownership *ownership);
#define cleanup_ownership CLEANUP(ownership_free)
/* *ret has the instance, and is the caller's. */
int ownership_list(struct deck *deck, struct ownership *ret, struct error *err);

/* Does the agent come back to whatever is the latest of its directory, with nothing to tell one
 * instance's from another's? */
bool conversation_shares_directory(const struct agent *agent);

/* Another instance of the same agent in the same directory, running or not. */
bool conversation_is_neighbour(const struct store_row *row, const struct instance *instance);

/* conversation_claim() without its lock.  warnings gets what a claim would warn of. */
int conversation_check_claim(struct deck *deck, const struct instance *instance,
			     const struct agent *agent, struct strvec *warnings, struct error *err);
