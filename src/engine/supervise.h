/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `agentdeck supervise`: bring back what ends, without anybody asking.
 *
 * One process, one thread, asleep until something happens (driver/loop.h).  It holds nothing that others need: each start and
 * stop is a command of its own, which takes the same locks as one by hand, so that killing or replacing the supervisor
 * disturbs no session, and it finds out where things stand when it comes back.
 *
 * What it learns from:
 *   a tmux server or an agent has ended     pidfd_open(2): the kernel's own word, in a scope and without one
 *   a manifest was written                  inotify(7) (driver/follow.h); tmux's hook writes it when a pane dies
 *   an agent reports                        inotify(7), its activity.json
 *   the kernel killed for lack of memory    memory.events of the scope, EPOLLPRI
 *   somebody calls                          the user bus (driver/service.h)
 */
#pragma once

#include "engine/deck.h"

/* Supervise every profile until SIGTERM or SIGINT (SUPERVISE_ENDED), or SIGHUP (SUPERVISE_AGAIN: the caller executes the
 * program anew, which reads the configuration and may be another version).
 * ERROR_BUSY: another one is at work for this state directory. */
enum { SUPERVISE_ENDED = 0, SUPERVISE_AGAIN = 1 };
int supervise_run(struct deck *deck, struct error *err);

/* Is one at work for this state directory?  Looks at its lock. */
bool supervise_is_running(const struct deck *deck);
