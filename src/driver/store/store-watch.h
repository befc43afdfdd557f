/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Waiting for a change of one instance (inotify(7)).
 */
#pragma once

#include "driver/store/store.h"

/* Wait until the manifest of base is replaced or removed, or something changes in directory watch
 * (absolute path or NULL), up to deadline_ms, by inotify(7).  Open the watcher before you read the
 * state, so that no change is missed.  ERROR_NOT_FOUND: there is no such instance.
 * store_watch_wait() of NULL waits until the deadline. */
struct store_watch;
int store_watch_open(struct store *store, const char *base, const char *watch,
		     struct store_watch **ret, struct error *err);
enum { STORE_WATCH_TIMEOUT = 1 };
int store_watch_wait(struct store_watch *watch, int64_t deadline_ms, struct error *err);
void store_watch_close(struct store_watch *watch);
CLEANUP_OF(store_watch_closep, struct store_watch, store_watch_close);
#define cleanup_store_watch CLEANUP(store_watch_closep)
