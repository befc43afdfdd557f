/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What this process may do from now on: read some directories, and print.  A hostile repository can
 * make it crash, stall or lie to itself, and nothing more.
 */
#pragma once

#include "base/text.h"
#include "model/workspace/verdict.h"

/* Limits on time, memory, files and processes, and no new privileges.  After libgit2 has read its
 * own files.  ERROR_SYSTEM. */
int sandbox_limit(struct error *err);

/* Allow reading below these directories, and close everything else: Landlock, then seccomp.  Where
 * the kernel lacks one of them, *ret says so, and the other stays.  ERROR_SYSTEM. */
int sandbox_close(const struct strvec *readable, struct confinement *ret, struct error *err);
