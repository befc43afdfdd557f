/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a manifest says of processes is only a hint: it may have been edited, copied, or restored
 * from a backup.  Nothing is signalled on its word.  Every signal to a process that a manifest or
 * an index names goes through here, and docs/security.md has the table of them.
 */
#pragma once

#include "base/error.h"
#include "base/process.h"

enum proof {
	PROOF_FOREIGN, /* it is not of this session */
	PROOF_OURS,
	/* it cannot be looked at now (ENFILE, ENOMEM): neither dead nor to be signalled */
	PROOF_UNKNOWN,
};

/* What the environment of a process of this session has one of, appended to *ret: the second is
 * from an earlier version. */
void proof_markers(const char *id, struct strvec *ret);

/* Is this process of the session of this id?  It is when the kernel says so: it is in the control
 * group of the session's slice or scope, or its initial environment names the session; or its
 * parent does, as the tmux server's pane that changed its own environment.  A process that is gone
 * is PROOF_FOREIGN. */
enum proof proof_of(const char *id, const struct process_id *process);

/* process_signal(), if it is.  PROCESS_GONE: it is not there, or not of this session. */
int proof_signal(const char *id, const struct process_id *process, int signal_number,
		 struct error *err);

/* Is this process in the control group of the session's slice or scope? */
bool proof_is_in_scope(const char *id, pid_t pid);

/* Is this process one of these, which still live, or below one? */
bool proof_is_below(pid_t pid, const struct process_id *tops, size_t count);
