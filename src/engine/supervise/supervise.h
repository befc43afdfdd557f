/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `agentdeck supervise`: restart what ends, automatically.
 *
 * One process, one thread, asleep until something happens (base/loop.h).  It holds nothing that
 * others need.  Each start and stop is a command of its own, which takes the same locks as one by
 * hand, so killing or replacing the supervisor disturbs no session.  A new one reads the manifests.
 *
 * The supervisor wakes up for these, most of them through the roster (engine/roster/roster.h):
 *
 *   a tmux server or an agent ended     pidfd_open(2), in a scope and without one
 *   a manifest was written              inotify(7) (driver/follow/follow.h); tmux's hook writes
 *                                       it when a pane dies
 *   an agent reported                   inotify(7) on its activity.json
 *   the kernel killed for memory        memory.events of the slice, EPOLLPRI
 *   a call arrived                      the user bus (driver/systemd/service.h)
 */
#pragma once

#include "engine/deck/deck.h"

/* Supervise every profile until SIGTERM or SIGINT (SUPERVISE_ENDED), or SIGHUP (SUPERVISE_AGAIN:
 * the caller executes the program again, which reads the configuration and may be another version).
 * ERROR_BUSY: another one is at work for this state directory on this machine. */
enum { SUPERVISE_ENDED = 0, SUPERVISE_AGAIN = 1 };
int supervise_run(struct deck *deck, struct error *err);

/* Is one at work for this state directory?  Looks at its lock. */
bool supervise_is_running(const struct deck *deck);
