/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A running agent that gets keys from us: what must be true of it, and one sender at a time.
 *
 * Sequence: recipient_open(), recipient_lock(), then keys, with recipient_refresh() before each
 * decision.  recipient_free() in any case.
 */
#pragma once

#include "driver/store/store-watch.h"
#include "engine/deck/deck.h"

struct recipient {
	/* Set by the caller; borrowed. */
	struct deck *deck;
	const char *base;
	/* While another sender has it, and while it cannot be known whether it runs.  0: do not
	 * wait. */
	int64_t patient_until_ms;

	const struct agent *agent; /* borrowed */
	struct instance
		*instance;  /* as it was when we began; its run is the one that gets the keys */
	const char *socket; /* of that run */
	struct store_watch *watch;

	/* as recipient_refresh() found it last */
	bool has_reported;
	bool has_ended;   /* its process; a run may have another rung */
	char *session_id; /* of its conversation, or NULL */
};
void recipient_free(struct recipient *recipient);
#define cleanup_recipient CLEANUP(recipient_free)

/* Load the instance.  ERROR_NOT_FOUND: it was removed; ERROR_INVALID: it is not running, a shell is
 * in the agent's place, or the session itself asks whether to resume; ERROR_TIMEOUT: its server
 * does not answer. */
int recipient_open(struct recipient *recipient, struct error *err);

/* Senders are served in the order of their calls.  FS_LOCK_BUSY: another one has it. */
int recipient_lock(const struct recipient *recipient, struct fs_lock *ret, struct error *err);

/* Likewise, of the run in this directory, until that time. */
int recipient_lock_run(const char *directory, int64_t until_ms, struct fs_lock *ret,
		       struct error *err);

/* Read the manifest again.  False: the run that gets our keys is over. */
bool recipient_refresh(struct recipient *recipient);

/* Press one key.  Some agents take keys that come together for a text, so look between two. */
bool recipient_press(const struct recipient *recipient, const char *key);
