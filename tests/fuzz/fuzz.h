/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared by all fuzz targets.  A target is one file that defines LLVMFuzzerTestOneInput() and
 * exports nothing else.  Linked with libFuzzer it searches for inputs itself; linked with replay.c
 * it is an ordinary test of the inputs in its corpus.  docs/testing.md, "Fuzzing", says how to run
 * either.
 *
 * HOLDS() states what must be true for every input.  The sanitizers and the limits that
 * scripts/test sets find crashes, leaks, hangs and excessive memory.
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

#define HOLDS(condition)                                             \
	do {                                                         \
		if (!(condition))                                    \
			fuzz_broken(#condition, __FILE__, __LINE__); \
	} while (0)

/* The input as a string of exactly its length, so that each byte after it is out of bounds.  A
 * function that takes a string does not see what follows a NUL. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = xcalloc(size + 1, 1);
	if (size)
		memcpy(text, data, size);
	return text;
}

/* Neither a terminal nor a log interprets anything in this text, except perhaps a line break. */
static inline bool fuzz_is_clean(const char *text, bool may_break)
{
	for (const unsigned char *s = (const unsigned char *)text; *s; s++)
		if ((*s < 0x20 && !(may_break && *s == '\n')) || *s == 0x7f ||
		    (*s == 0xc2 && s[1] < 0xa0))
			return false;
	return is_utf8(text, strlen(text));
}

/* A failure as base/error.h demands; clears it. */
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

/* A scratch directory that is removed with the process.  Static. */
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
