/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Waiting until something happens to one file or directory (inotify(7)).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Watch path for these events (IN_*). Returns a descriptor, which the caller closes. It is readable
 * when one has occurred, and does not block. -1: path does not exist, or the user has too many
 * watches.  Closing it takes some 16 ms, since the kernel waits until no event is pending.  So look
 * first, and watch only what is not there yet. */
int watch_open(const char *path, uint32_t events);

/* Let the descriptor watch path, too.  False: see watch_open(). */
bool watch_add(int watch, const char *path, uint32_t events);

/* Wait for an event until deadline_ms of clock_ms(), and forget all that have occurred. False: the
 * time is over. watch -1: nothing ever happens. */
bool watch_wait(int watch, int64_t deadline_ms);

/* Forget what has occurred. */
void watch_drain(int watch);
