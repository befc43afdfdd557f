/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The limit of open files (RLIMIT_NOFILE) of who watches many sessions.  Three descriptors for each
 * live one are more than the usual soft limit has room for.
 */
#pragma once

#include <sys/resource.h>

/* Raise ours as far as possible.  *ret_usual: what it was, untouched if that cannot be found out. */
void filelimit_raise(struct rlimit *ret_usual);

/* For what is started (a program that uses select(2) relies on the usual one); NULL: ours. */
const struct rlimit *filelimit_usual(const struct rlimit *usual);

/* Back to what it was.  Zeros: nothing to do. */
void filelimit_restore(const struct rlimit *usual);
