/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Base64 (RFC 4648, section 4).
 */
#pragma once

#include "base/text.h"

void base64_encode(struct strbuf *ret, const void *data, size_t length);
/* Adds the bytes of the text, up to the first character that is no digit of base64: at "=" and at
 * the end of the text, all is read.  Returns how many characters were read. */
size_t base64_decode(struct strbuf *ret, const char *text);
