/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A window on the agent of a capsule: DIRECTORY RUN ATTEMPT [-- COLLECT...].
 *
 * The view runs in the terminal where a session of the host place has its agent.  It passes input,
 * output and size, and ends as the agent ended: with the same exit status, or by the same signal.
 * When a report of the agent's hooks has come, it runs COLLECT: one at a time, and again if more
 * came meanwhile.
 *
 * If the connection breaks, exit.json tells how the agent ended.  Without it, the view connects
 * again, since the capsule ends the connection of a window that does not read.  If the capsule is
 * gone, it ends with ENDPOINT_EXIT_GONE.
 */
#pragma once

/* argv: what follows the program's name.  Returns what the program ends with, or not at all. */
int view_main(int argc, char *argv[]);
