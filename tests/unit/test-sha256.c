/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/sha256.h"
#include "base/text.h"

#include <string.h>

/* The examples of FIPS 180 and of NIST's SHA256ShortMsg. */
static void the_vectors_of_nist_give_their_digests(void **state UNUSED)
{
	static const struct {
		const char *text, *digest;
	} vectors[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnop"
		  "qklmnopqrlmnopqrsmnopqrstnopqrstu",
		  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
		{ "\xd3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1" },
		{ "\x11\xaf", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98" },
	};
	char digest[SHA256_TEXT_SIZE];
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++)
		assert_string_equal(sha256_text(vectors[i].text, digest), vectors[i].digest);
}

static void a_million_letters_give_their_digest(void **state UNUSED)
{
	char digest[SHA256_TEXT_SIZE], letters[1000];
	struct sha256 hash;
	memset(letters, 'a', sizeof(letters));
	sha256_begin(&hash);
	for (int i = 0; i < 1000; i++)
		sha256_add(&hash, letters, sizeof(letters));
	sha256_end(&hash, digest);
	assert_string_equal(digest,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void pieces_give_the_digest_of_the_whole(void **state UNUSED)
{
	char text[200], whole[SHA256_TEXT_SIZE], digest[SHA256_TEXT_SIZE];
	struct sha256 hash;
	for (size_t length = 0; length < sizeof(text); length++) {
		memset(text, 'x', length);
		text[length] = '\0';
		(void)sha256_text(text, whole);
		for (size_t piece = 1; piece <= length; piece += 7) {
			sha256_begin(&hash);
			for (size_t at = 0; at < length; at += piece)
				sha256_add(&hash, text + at,
					   length - at < piece ? length - at : piece);
			sha256_end(&hash, digest);
			assert_string_equal(digest, whole);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_nist_give_their_digests),
		cmocka_unit_test(a_million_letters_give_their_digest),
		cmocka_unit_test(pieces_give_the_digest_of_the_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
