/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lack of memory: what the kernel killed in a run's slice, and whether the agent was among it.
 *
 * The kernel counts the killed of a slice (memory.events) and tells neither when nor whom; its log
 * does, but is often not for users.  So each look at the count records when it had grown: a
 * count that has been known for a while is not what ended the agent just now.
 */
#pragma once

#include "engine/deck/deck.h"

/* How many processes of a run the kernel has killed so far; -1: not counted (no scope, no memory
 * controller).  directory: of the run; control_group: of its slice.  If there are more than at the
 * last look of any process, that is recorded in the directory, and logged with the last victim's
 * name where the kernel's log can be read. */
int64_t oom_look(const char *directory, const char *control_group);

/* The process that the kernel killed last, "a process" when that is not known.  Looks as well, so
 * that the pane can tell this kill from a later one.  The caller frees. */
char *oom_victim(const char *directory, const char *control_group) MUST_USE;

/* To be asked by the pane of a run whose agent has just ended in this way (exit status, or a
 * signal's number): was it for lack of memory?  Then *ret_victim names who was killed, as well as
 * it is known; the caller's, else NULL. */
bool oom_ended_agent(const struct instance *instance, int code, int signal_number,
		     char **ret_victim);

/* Part of it, for when the kernel's log says nothing: are kills, read at now_ms of clock_ms(), more
 * than the count that was read and written down before (known), or was that count new just
 * now (known_ms)? */
bool oom_is_new(int64_t kills, int64_t known, int64_t known_ms, int64_t now_ms);

/* "1 process killed for lack of memory"; NULL for none.  The caller frees. */
char *oom_text(int64_t kills) MUST_USE;
