/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SHA-256 (FIPS 180-4), for names that must not collide and for "is this still the same?".
 *
 * Our own code, because no library that we link has it: glibc and libsystemd export none, libuuid
 * has SHA-1 only, and the smallest package that has it (libgcrypt, nettle, OpenSSL) costs every
 * command more at its start than this file has code.  tests/unit/test-sha256.c has the vectors of
 * NIST.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_TEXT_SIZE = 2 * SHA256_BYTES + 1 };

struct sha256 {
	uint32_t state[8];
	uint64_t length; /* bytes so far */
	unsigned char block[64];
};

void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t length);
/* The digest as lower-case hexadecimal text, ended by a NUL.  The hash may begin again. */
void sha256_end(struct sha256 *hash, char ret[static SHA256_TEXT_SIZE]);

/* Like sha256_end(), but for one text, without its NUL.  Returns ret. */
char *sha256_text(const char *text, char ret[static SHA256_TEXT_SIZE]);
