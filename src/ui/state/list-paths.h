/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sets of paths of groups: sorted, each path once.  A list may have thousands of groups, and asks
 * for each of them at each change.
 */
#pragma once

#include "base/text.h"

/* Is the path, which has so many bytes, in the set? */
bool paths_have(const struct strvec *paths, const char *path, size_t length);
/* paths_have() for many paths, fast if they come in the order of the set.  *next is 0
 * before the first one, and the set does not change meanwhile. */
bool paths_have_next(const struct strvec *paths, const char *path, size_t length, size_t *next);
void paths_add(struct strvec *paths, const char *path);
void paths_take(struct strvec *paths, const char *path);
/* Take out the group and those around it. */
void paths_take_around(struct strvec *paths, const char *group);
/* Append the paths of the set that are the group, or around it, to *ret, a set. */
void paths_add_around(const struct strvec *paths, const char *group, struct strvec *ret);
/* Make a set of any strings. */
void paths_sort(struct strvec *paths);
