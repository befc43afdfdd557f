/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which process has a lock on a file, as the kernel says (proc(5), /proc/locks).  Asking takes no
 * lock, so it delays no other process.
 */
#pragma once

#include "base/process.h"

#include <sys/stat.h>

/* The process of ours that has a lock for writing (flock(2) or fcntl(2)) on this file, and has the
 * file open.  FILELOCK_NONE: nothing proves one. */
enum { FILELOCK_NONE = 1 };
int filelock_holder(const struct stat *file, struct process_id *ret);
