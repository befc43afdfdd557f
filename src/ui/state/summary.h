/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the deck's preview says of a group: how many sessions do what, who needs the user, and where
 * they work.
 */
#pragma once

#include "ui/state/list.h"

/* Lines about the group under the cursor, about what is shown in it and below: visible() text.  The
 * first line counts.  Those that need the user follow, the longest first.  NULL: the cursor is not
 * on a group.  Borrowed until the list changes (list_keep_text()). */
const char *summary_of_group(struct list *list);
