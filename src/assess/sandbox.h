/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What this process may do from now on: read some directories, and print.  A hostile repository can
 * make it crash, stall or lie to itself, and nothing more.
 */
#pragma once

#include "base/text.h"
#include "model/workspace/verdict.h"

/* Limits on time, memory and files, and no new privileges.  ERROR_SYSTEM. */
int sandbox_limit(struct error *err);

/* Allow reading below these directories, and no other use of files (Landlock).  Where the kernel
 * lacks it, *ret says so.  After sandbox_limit().  ERROR_SYSTEM. */
int sandbox_close_files(const struct strvec *readable, struct confinement *ret, struct error *err);
/* No further process or thread; and refuse all other system calls, in every thread (seccomp); *ret
 * says whether that worked. */
int sandbox_close_calls(struct confinement *ret, struct error *err);
