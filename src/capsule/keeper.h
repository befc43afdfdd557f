/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The capsule itself, `agentdeck-capsule init DIRECTORY`: PID 1 of a container.  It holds the
 * agent's terminal, starts an agent when a client says so, shows it to any number of windows, and
 * outlives it.  docs/containers.md says what it does when.
 *
 * Where it is not PID 1 (a test), it is a child subreaper instead (prctl(2)).
 */
#pragma once

#include "base/error.h"

/* path: of the capsule's directory, absolute; it becomes the working directory.
 * Runs until STOP, SIGTERM or SIGINT.  Returns what the program ends with: the last agent's exit
 * status, or 128 and its signal; 0 when there was none.  -1: the capsule could not begin, or its
 * event loop failed. */
int keeper_run(const char *path, struct error *err);
