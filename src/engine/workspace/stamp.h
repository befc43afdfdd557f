/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Did anything in a tree change between two looks?  A verdict takes a while, and says nothing of
 * what an editor elsewhere saves meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A sum over the time of change of every file and directory; clocks are not compared. */
struct tree_stamp {
	uint64_t sum, count;
};

/* The stamp of the directory name below dirfd; empty without one.  Parts that no verdict calls safe
 * are left out: on another file system, too deep, too many. */
struct tree_stamp tree_stamp_of(int dirfd, const char *name);
bool tree_stamp_equal(const struct tree_stamp *a, const struct tree_stamp *b);
