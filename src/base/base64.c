/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct strbuf *ret, const void *data, size_t length)
{
	const unsigned char *bytes = data;
	for (size_t i = 0; i < length; i += 3) {
		const size_t left = length - i < 3 ? length - i : 3;
		unsigned bits = 0;
		char four[4] = "====";
		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (k < left ? bytes[i + k] : 0);
		for (size_t k = 0; k <= left; k++)
			four[k] = digits[bits >> (18 - 6 * k) & 63];
		strbuf_add(ret, four, sizeof(four));
	}
}

static int digit_of(char c)
{
	const char *found = c ? strchr(digits, c) : NULL;
	return found ? (int)(found - digits) : -1;
}

size_t base64_decode(struct strbuf *ret, const char *text)
{
	const char *next = text;
	uint32_t bits = 0;
	unsigned count = 0;
	for (int digit; (digit = digit_of(*next)) >= 0; next++) {
		bits = bits << 6 | (uint32_t)digit;
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		const char byte = (char)(bits >> count & 0xff);
		strbuf_add(ret, &byte, 1);
	}
	return (size_t)(next - text);
}
