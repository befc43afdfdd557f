/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program agentdeck-capsule itself, in a scratch directory and on this machine, so as a child
 * subreaper.  It is ended, and all of its processes with it, when the test is over.
 */
#pragma once

#include "unit/scratch.h"

#include "base/clock.h"
#include "driver/capsule/capsule.h"

#include <signal.h>
#include <sys/wait.h>

enum { SOON_MS = 20000 };

#define TOKEN "a-token-of-the-test"
#define RUN   "run-1"

static pid_t capsule_pid;

static inline int64_t soon(void)
{
	return clock_ms() + SOON_MS;
}

static inline char *built(const char *program)
{
	const char *builddir = getenv("top_builddir");
	return path_join(builddir ? builddir : ".", program);
}

static inline void begin_capsule(void)
{
	cleanup_free char *program = built("agentdeck-capsule");
	capsule_pid = fork();
	if (capsule_pid == 0) {
		(void)execl(program, "agentdeck-capsule", "init", scratch, NULL);
		_exit(127);
	}
	assert_true(capsule_pid > 0);
}

/* What it ended with, or 128 and the signal. */
static inline int capsule_ended(void)
{
	int status;
	assert_int_equal(waitpid(capsule_pid, &status, 0), capsule_pid);
	capsule_pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline int set_up_capsule(void **state)
{
	if (set_up(state) < 0)
		return -1;
	put("token", TOKEN "\n");
	begin_capsule();
	return 0;
}

static inline int tear_down_capsule(void **state)
{
	if (capsule_pid) {
		(void)kill(capsule_pid, SIGTERM);
		(void)capsule_ended();
	}
	return tear_down(state);
}

static inline struct capsule *connected(void)
{
	struct capsule *capsule = NULL;
	struct error err = { 0 };
	if (capsule_await(scratch, soon(), &capsule, &err) < 0)
		fail_msg("%s", err.message);
	return capsule;
}

/* Start `sh -c script` as this attempt of RUN. */
static inline int start_script(struct capsule *capsule, unsigned attempt, const char *script,
			       struct process_id *ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	const struct capsule_start start = { RUN, attempt, &argv, &environment, scratch, 80, 24 };
	strvec_push(&argv, "sh");
	strvec_push(&argv, "-c");
	strvec_push(&argv, script);
	strvec_push(&environment, "TERM=dumb");
	strvec_push(&environment, "GIVEN=yes");
	return capsule_start(capsule, &start, soon(), ret, err);
}

static inline struct process_id started(struct capsule *capsule, unsigned attempt,
					const char *script)
{
	struct process_id agent = { 0 };
	struct error err = { 0 };
	if (start_script(capsule, attempt, script, &agent, &err) != 0)
		fail_msg("%s", err.message);
	return agent;
}

/* Wait until the condition holds, or fail. */
#define UNTIL(condition)                                   \
	do {                                               \
		const int64_t until_ = soon();             \
		while (!(condition)) {                     \
			assert_true(clock_ms() < until_);  \
			clock_pause_until(clock_ms() + 5); \
		}                                          \
	} while (0)

static inline bool exists(const char *name)
{
	struct stat st;
	return fstatat(here, name, &st, 0) == 0;
}

static inline struct capsule_status status_of(struct capsule *capsule)
{
	struct capsule_status status = { 0 };
	struct error err = { 0 };
	if (capsule_status(capsule, soon(), &status, &err) < 0)
		fail_msg("%s", err.message);
	return status;
}

static inline bool has_ended(struct capsule *capsule)
{
	return status_of(capsule).phase == CAPSULE_ENDED;
}
