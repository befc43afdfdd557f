/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For `scripts/test cppcheck` only, which reads no header of the system: macros of those that are no expressions.
 */
#pragma once

#define LIST_ENTRY(type) struct { struct type *le_next, **le_prev; }
#define LIST_HEAD(name, type) struct name { struct type *lh_first; }
#define SD_BUS_PARAM(name) #name "\0"
