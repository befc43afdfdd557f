/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What differs between two texts, line by line.
 */
#pragma once

#include "base/text.h"

/* Append "-LINE" and "+LINE" for each line that is only in the first or only in the second text, in
 * their order.  Texts with more than LINEDIFF_MOST lines are replaced as a whole. */
enum { LINEDIFF_MOST = 1000 };
void linediff(const char *before, const char *after, struct strvec *ret);
