/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ports of sessions of other hosts, on this machine (docs/link.md).  Each has a process of ours
 * that listens here, the keeper, and a file in the runtime directory.  The keeper holds the lock of
 * that file as long as it lives.
 */
#pragma once

#include "base/fsutil.h"
#include "engine/deck/deck.h"

struct forward {
	int64_t port;   /* here, on 127.0.0.1 */
	int64_t target; /* there */
	/* NULL: none given */
	char *remote, *profile, *id, *title;
	int64_t since_us;
	bool is_connected;
	struct process_id keeper;
};
void forward_clear(struct forward *forward);
#define cleanup_forward CLEANUP(forward_clear)

struct forwards {
	struct forward *items;
	size_t count;
};
void forwards_free(struct forwards *forwards);
#define cleanup_forwards CLEANUP(forwards_free)

/* "3000" or "3000:8080".  ERROR_USAGE. */
int forward_parse(const char *text, struct forward *ret, struct error *err);

/* The forwards that live, sorted by port.  Removes what a killed keeper has left. */
int forwards_list(const struct deck *deck, struct forwards *ret, struct error *err);
/* End the forward and its connections. */
int forward_end(const struct deck *deck, const struct forward *forward, struct error *err);

/* Be the keeper: connect to the host, and listen.  tell() is called once, when the port can be
 * used; note: what its user should know, or NULL.  Returns when the session has ended, or by a
 * signal.  ERROR_EXISTS: another program has the port. */
struct forward_keep {
	struct deck *deck;
	const struct remote *remote;
	struct forward *forward; /* the session as its user named it: filled in */
	void (*tell)(const struct forward *forward, const char *note);
};
int forward_keep(const struct forward_keep *keep, struct error *err);

/* ---- of the keeper ---- */

/* Make this process the keeper.  ERROR_EXISTS: another forward has the port. */
int forward_take(const struct deck *deck, struct forward *forward, int *ret_directory,
		 struct fs_lock *ret, struct error *err);
int forward_write(int directory, const struct forward *forward, struct error *err);
void forward_remove(int directory, const struct forward *forward);
