/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The runner: named tests, skips with their reasons, and what lives exactly as long as one test.
 */
#pragma once

#include "unit/test.h"

#include "base/clock.h"
#include "base/text.h"

struct test {
	const char *name;
	void (*run)(void);
};

#define TEST(function)                             \
	{                                          \
		.name = #function, .run = function \
	}

/* One table per file of tests, each ended by an entry without a name. */
extern const struct test activity_tests[];
extern const struct test adopt_tests[];
extern const struct test agent_tests[];
extern const struct test conversation_tests[];
extern const struct test crash_tests[];
extern const struct test cut_tests[];
extern const struct test fault_tests[];
extern const struct test fault_file_tests[];
extern const struct test fault_input_tests[];
extern const struct test inject_tests[];
extern const struct test isolation_tests[];
extern const struct test limit_tests[];
extern const struct test log_tests[];
extern const struct test logout_tests[];
extern const struct test named_tests[];
extern const struct test never_again_tests[];
extern const struct test fork_tests[];
extern const struct test policy_tests[];
extern const struct test recover_tests[];
extern const struct test security_tests[];
extern const struct test hostile_tests[];
extern const struct test supervise_tests[];
extern const struct test supervise_unit_tests[];
extern const struct test real_claude_tests[];
extern const struct test strategy_tests[];

/* An argv of literals: WORDS("list", "--json"). */
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* The memory is freed when the test is over, however it ends.  Returns its argument. */
void *keep(void *pointer);
/* The same, freed by a function of its own. */
void keep_with(void *object, void (*release)(void *object));
const char *kept(const char *format, ...) PRINTF_LIKE(1, 2);
/* An empty vector that lives as long as the test. */
struct strvec *kept_vector(void);

/* Call it when the test is over, however it ends, while its sessions and its home are still there.  One for each test. */
void at_end(void (*function)(void));

/* Leave the test: a prerequisite is missing.  With AGENTDECK_TEST_STRICT=1 that is a failure. */
void skip_test(const char *format, ...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
/* Leave the test: it failed. */
void fail_test(const char *format, ...) PRINTF_LIKE(1, 2) __attribute__((noreturn));

/* Tests wait for conditions, never for time: this bounds how long a broken one can hang. */
enum { PATIENCE_MS = 60000, LOOK_AGAIN_MS = 20 };

/* One pause between two looks; false once the deadline has passed. */
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
