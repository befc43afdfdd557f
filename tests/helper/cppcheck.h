/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For `scripts/test cppcheck` only, which reads no system headers: their macros that are no
 * expressions.
 */
#pragma once

#define LIST_ENTRY(type)                         \
	struct {                                 \
		struct type *le_next, **le_prev; \
	}
#define LIST_HEAD(name, type)          \
	struct name {                  \
		struct type *lh_first; \
	}
#define LIST_FOREACH(item, list, link) \
	for ((item) = (list)->lh_first; (item); (item) = (item)->link.le_next)
#define SD_BUS_PARAM(name) #name "\0"
