/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whose is a process?  By its environment; by its scope: tests/persistence.
 */
#include "unit/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "engine/deck/deck.h"
#include "engine/deck/proof.h"

#include <poll.h>
#include <signal.h>

#define ID "0a9400f1"

enum { PLENTY_MS = 20000 };

/* A process with this variable, which lives until it is ended. */
static void start(const char *variable, struct child *child, struct process_id *ret)
{
	const char *environment[] = { variable, NULL };
	const struct child_request request = {
		.argv = (const char *const[]){ "/bin/sleep", "100", NULL },
		.environment = (char *const *)environment,
	};
	assert_int_equal(child_start(&request, child, NULL), 0);
	assert_int_equal(process_identify(child->pid, ret, NULL), 0);
	/* A program that begins has no environment for a moment (execve(2)). */
	for (const int64_t deadline = clock_ms() + PLENTY_MS;;) {
		cleanup_strvec struct strvec seen = { 0 };
		if (process_environment(child->pid, &seen, NULL) == 0 &&
		    strvec_contains(&seen, variable))
			return;
		assert_true(clock_ms() < deadline);
		(void)poll(NULL, 0, 1);
	}
}

static void a_process_is_of_the_session_that_its_environment_names(void **state UNUSED)
{
	struct child ours, foreign;
	struct process_id id, other;
	start(ENV_INSTANCE "=" ID, &ours, &id);
	start(ENV_INSTANCE "=" ID "x", &foreign, &other);
	assert_int_equal(proof_of(ID, &id), PROOF_OURS);
	assert_int_equal(proof_of(ID, &other), PROOF_FOREIGN);
	assert_false(proof_is_in_scope(ID, id.pid));
	child_abandon(&ours);
	child_abandon(&foreign);
}

static void one_of_an_earlier_version_is_of_the_session_too(void **state UNUSED)
{
	struct child ours, foreign;
	struct process_id id, other;
	start(ENV_SHARED_INSTANCE "=" ID, &ours, &id);
	start(ENV_SHARED_INSTANCE "=" ID "-1795308038", &foreign, &other);
	assert_int_equal(proof_of(ID, &id), PROOF_OURS);
	assert_int_equal(proof_of(ID, &other), PROOF_FOREIGN);
	child_abandon(&ours);
	child_abandon(&foreign);
}

static void only_ours_is_signalled(void **state UNUSED)
{
	struct child ours, foreign;
	struct process_id id, other;
	start(ENV_INSTANCE "=" ID, &ours, &id);
	start(ENV_BASE "=" ID, &foreign, &other);
	assert_int_equal(proof_signal(ID, &other, SIGKILL, NULL), PROCESS_GONE);
	assert_true(process_alive(&other));
	assert_int_equal(proof_signal(ID, &id, SIGKILL, NULL), 0);
	assert_int_equal(process_wait_end(&id, clock_ms() + PLENTY_MS, NULL), 0);
	child_abandon(&ours);
	child_abandon(&foreign);
}

static void who_is_gone_or_has_another_start_time_is_foreign(void **state UNUSED)
{
	struct child ours;
	struct process_id id;
	start(ENV_INSTANCE "=" ID, &ours, &id);
	const struct process_id earlier = { .pid = id.pid, .start = id.start - 1 };
	assert_int_equal(proof_of(ID, &earlier), PROOF_FOREIGN);
	child_abandon(&ours);
	assert_int_equal(proof_of(ID, &id), PROOF_FOREIGN);
	assert_int_equal(proof_of(ID, &(struct process_id){ 0 }), PROOF_FOREIGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_of_the_session_that_its_environment_names),
		cmocka_unit_test(one_of_an_earlier_version_is_of_the_session_too),
		cmocka_unit_test(only_ours_is_signalled),
		cmocka_unit_test(who_is_gone_or_has_another_start_time_is_foreign),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
