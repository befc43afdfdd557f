/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON with comments, as people write it: devcontainer.json.
 */
#pragma once

#include "base/text.h"

/* A copy of the text with blanks in place of comments, of a comma before a closing bracket and of a
 * byte order mark.  It has the same length and the same lines, so that the positions of
 * json_parse() are those of the text.  The caller frees. */
char *jsonc_plain(const char *text, size_t length) MUST_USE;
