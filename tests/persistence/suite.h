/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The runner: named tests, skips with their reasons, and objects that live exactly as long as one
 * test.
 */
#pragma once

#include "unit/test.h"

#include "base/clock.h"
#include "base/text.h"

struct test {
	const char *name;
	void (*run)(void);
	const char *file;
	int line;
	struct test *next;
};

/* Defines a test and registers it: TEST(StopLeavesNoProcess) { ... }  Tests run in the order of
 * their files' names, and in each file from top to bottom. */
#define TEST(function)                                                                       \
	static void function(void);                                                          \
	__attribute__((constructor)) static void register_##function(void)                   \
	{                                                                                    \
		static struct test test = { #function, function, __FILE__, __LINE__, NULL }; \
		register_test(&test);                                                        \
	}                                                                                    \
	static void function(void)

/* For TEST(). The test is borrowed for ever. */
void register_test(struct test *test);

/* An argv of literals: WORDS("list", "--json"). */
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Frees the memory when the test is over, however it ends.  Returns its argument. */
void *keep(void *pointer);
/* The same, with another function that frees. */
void keep_with(void *object, void (*release)(void *object));
const char *kept(const char *format, ...) PRINTF_LIKE(1, 2);
/* An empty vector that lives as long as the test. */
struct strvec *kept_vector(void);

/* Have function called when the test is over, however it ends, while its sessions and its home
 * still exist. One for each test. */
void at_end(void (*function)(void));

/* Leave the test: a prerequisite is missing.  With AGENTDECK_TEST_STRICT=1 that is a failure. */
void skip_test(const char *format, ...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
/* Leave the test: it failed. */
void fail_test(const char *format, ...) PRINTF_LIKE(1, 2) __attribute__((noreturn));

/* Tests wait for conditions, never for time: this bounds how long a broken one can hang. */
enum { PATIENCE_MS = 60000, LOOK_AGAIN_MS = 20 };

/* Pause once between two looks.  False once the deadline has passed. */
bool look_again(int64_t deadline_ms);

/* Wait until the condition holds; the rest is the message if it never does. */
#define WAIT_FOR(condition, ...)                              \
	do {                                                  \
		int64_t deadline_ = clock_ms() + PATIENCE_MS; \
		while (!(condition))                          \
			if (!look_again(deadline_))           \
				fail_test(__VA_ARGS__);       \
	} while (0)

#define ASSERT(condition, ...)                  \
	do {                                    \
		if (!(condition))               \
			fail_test(__VA_ARGS__); \
	} while (0)
