/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Long texts, in the user's pager.
 */
#pragma once

#include "base/error.h"

/* Show a text that may be shown as it is.  On a terminal in PAGER, split into words as a shell
 * does, else "less"; elsewhere, without one, or with PAGER=cat it is printed.  ERROR_USAGE: PAGER
 * is no list of words. */
int pager_show(const char *text, struct error *err);
