/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Find a value in a JSON text, so that it can be taken out and every other byte stays: order,
 * blanks and line ends.  json-c reads, but prints in its own way.
 *
 * The functions only scan.  The caller cuts, parses the result, and compares it with what it should
 * be.
 */
#pragma once

#include "base/text.h"

struct json_place {
	size_t start, end;       /* the value, of an object's member with its key */
	size_t cut_from, cut_to; /* what to take out: with its comma, and the blanks around it */
};

/* Find the value at path: the keys of objects, and the indices of arrays ("0").  Of several members
 * with one key it finds the last, which json-c takes, too.  text must be JSON: json_parse() says.
 * False: there is no such value. */
bool json_find(const char *text, size_t length, const struct strvec *path, struct json_place *ret);
