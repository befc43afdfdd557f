/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What every fuzz target shares.  A target is one file that defines LLVMFuzzerTestOneInput() and nothing else that
 * others see.  Linked with libFuzzer it looks for inputs itself; linked with replay.c it is a plain test that takes
 * those of its corpus.  docs/testing.md, "Fuzzing", says how to run either.
 *
 * HOLDS() says what must be true for every input; that nothing crashes, leaks, hangs or eats memory is seen to by
 * the sanitizers and by the limits that scripts/test sets.
 */
#pragma once

#include "base/error.h"
#include "base/fsutil.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_broken(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

#define HOLDS(condition)                                          \
	do {                                                      \
		if (!(condition))                                 \
			fuzz_broken(#condition, __FILE__, __LINE__); \
	} while (0)

/* The input as a string of exactly its length, so that each byte behind it is known to be out of bounds.  What follows a NUL
 * is not seen by who takes a string. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = xcalloc(size + 1, 1);
	if (size)
		memcpy(text, data, size);
	return text;
}

/* Neither a terminal nor a log obeys anything in this text, a line break perhaps aside. */
static inline bool fuzz_is_clean(const char *text, bool may_break)
{
	for (const unsigned char *s = (const unsigned char *)text; *s; s++)
		if ((*s < 0x20 && !(may_break && *s == '\n')) || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0))
			return false;
	return is_utf8(text, strlen(text));
}

/* A failure that keeps the contract of base/error.h; forgets it. */
static inline void fuzz_failed(struct error *err)
{
	HOLDS(err->code != ERROR_NONE && err->code < ERROR_CODE_COUNT);
	HOLDS(!is_empty(err->message) && fuzz_is_clean(err->message, false));
	error_clear(err);
}

static inline char **fuzz_directory_slot(void)
{
	static char *directory;
	return &directory;
}

static inline void fuzz_remove_directory(void)
{
	(void)fs_remove_tree(AT_FDCWD, *fuzz_directory_slot(), NULL);
	free(*fuzz_directory_slot());
}

/* A scratch directory that goes with the process.  Static. */
static inline const char *fuzz_directory(void)
{
	char **slot = fuzz_directory_slot();
	const char *temporary = getenv("TMPDIR");
	if (*slot)
		return *slot;
	*slot = xasprintf("%s/agentdeck-fuzz-XXXXXX", is_empty(temporary) ? "/tmp" : temporary);
	if (!mkdtemp(*slot) || atexit(fuzz_remove_directory) != 0)
		abort();
	return *slot;
}
