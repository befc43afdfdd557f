/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sha256.h"

#include "base/macro.h"

#include <endian.h>
#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotated(uint32_t word, unsigned count)
{
	return word >> count | word << (32 - count);
}

static void add_block(struct sha256 *hash)
{
	uint32_t words[64];
	memcpy(words, hash->block, sizeof(hash->block));
	for (size_t i = 0; i < 16; i++)
		words[i] = be32toh(words[i]);
	for (size_t i = 16; i < 64; i++) {
		uint32_t early = words[i - 15], late = words[i - 2];
		words[i] = words[i - 16] + words[i - 7] +
			   (rotated(early, 7) ^ rotated(early, 18) ^ early >> 3) +
			   (rotated(late, 17) ^ rotated(late, 19) ^ late >> 10);
	}
	/* Eight variables stay in registers: to move an array on by one in memory takes twice as
	 * long. */
	uint32_t a = hash->state[0], b = hash->state[1], c = hash->state[2], d = hash->state[3],
		 e = hash->state[4], f = hash->state[5], g = hash->state[6], h = hash->state[7];
	for (size_t i = 0; i < 64; i++) {
		uint32_t choice = (e & f) ^ (~e & g);
		uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
		uint32_t first = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice +
				 constants[i] + words[i];
		uint32_t second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority;
		h = g;
		g = f;
		f = e;
		e = d + first;
		d = c;
		c = b;
		b = a;
		a = first + second;
	}
	const uint32_t more[] = { a, b, c, d, e, f, g, h };
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		hash->state[i] += more[i];
}

void sha256_begin(struct sha256 *hash)
{
	*hash = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *hash, const void *data, size_t length)
{
	const unsigned char *next = data;
	while (length > 0) {
		size_t used = hash->length % sizeof(hash->block);
		size_t count = sizeof(hash->block) - used;
		if (count > length)
			count = length;
		memcpy(hash->block + used, next, count);
		hash->length += count;
		next += count;
		length -= count;
		if (used + count == sizeof(hash->block))
			add_block(hash);
	}
}

void sha256_end(struct sha256 *hash, char ret[static SHA256_TEXT_SIZE])
{
	static const unsigned char padding[64] = { 0x80 };
	static const char digits[] = "0123456789abcdef";
	const uint64_t bits = htobe64(hash->length * 8);
	size_t used = hash->length % sizeof(hash->block);

	sha256_add(hash, padding, used < 56 ? 56 - used : 120 - used);
	sha256_add(hash, &bits, sizeof(bits));
	for (size_t i = 0; i < SHA256_BYTES; i++) {
		uint32_t byte = hash->state[i / 4] >> (24 - 8 * (i % 4)) & 0xff;
		ret[2 * i] = digits[byte >> 4];
		ret[2 * i + 1] = digits[byte & 15];
	}
	ret[SHA256_TEXT_SIZE - 1] = '\0';
	sha256_begin(hash);
}

char *sha256_text(const char *text, char ret[static SHA256_TEXT_SIZE])
{
	struct sha256 hash;
	sha256_begin(&hash);
	sha256_add(&hash, text, strlen(text));
	sha256_end(&hash, ret);
	return ret;
}
