/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When the next message of a queue is typed, and what holds it.  That it is, once, is tested with
 * tmux.
 */
#include "unit/test.h"

#include "model/plan/queue.h"

#define SECOND INT64_C(1000000)
enum { NOW = 10000 };

/* Idle since ten seconds after the last message was typed, and nothing speaks against it. */
static const struct queue_facts free_to_say = {
	.count = 2,
	.is_running = true,
	.activity = ACTIVITY_IDLE,
	.since_us = (NOW - 20) * SECOND,
	.said_us = (NOW - 30) * SECOND,
	.now_us = NOW * SECOND,
};

static void assert_verdict(const struct queue_facts *facts, enum queue_verdict expected,
			   int64_t due_us)
{
	assert_string_equal(queue_why(queue_decide(facts)), queue_why(expected));
	assert_int_equal(queue_due_us(facts), due_us);
}

#define ASSERT_BUT(member, value, verdict, due_us)       \
	do {                                             \
		struct queue_facts facts = free_to_say;  \
		facts.member = (value);                  \
		assert_verdict(&facts, verdict, due_us); \
	} while (0)

static void one_hindrance_is_enough(void **state UNUSED)
{
	assert_verdict(&free_to_say, QUEUE_SAY, NOW * SECOND);
	ASSERT_BUT(count, 0, QUEUE_EMPTY, 0);
	ASSERT_BUT(head, QUEUED_UNKNOWN, QUEUE_STUCK, 0);
	ASSERT_BUT(head, QUEUED_OTHER, QUEUE_STUCK, 0);
	ASSERT_BUT(head, QUEUED_TYPING, QUEUE_STUCK, (NOW + 30) * SECOND);
	ASSERT_BUT(is_running, false, QUEUE_REST, 0);
	ASSERT_BUT(activity, ACTIVITY_BUSY, QUEUE_BUSY, 0);
	ASSERT_BUT(activity, ACTIVITY_WAITING, QUEUE_ASKS, 0);
	ASSERT_BUT(activity, ACTIVITY_UNKNOWN, QUEUE_UNKNOWN, 0);
	ASSERT_BUT(prompts, 1, QUEUE_PROMPTS, 0);
	ASSERT_BUT(is_limited, true, QUEUE_LIMITED, 0);
	ASSERT_BUT(continues, true, QUEUE_LIMITED, 0);
	ASSERT_BUT(has_failed, true, QUEUE_FAILED, 0);
}

static void an_agent_that_has_just_become_idle_may_go_on(void **state UNUSED)
{
	ASSERT_BUT(since_us, NOW * SECOND - 1, QUEUE_SETTLES, (NOW + 2) * SECOND - 1);
	ASSERT_BUT(since_us, (NOW - 2) * SECOND, QUEUE_SAY, NOW * SECOND);
	/* The clock was set back. */
	ASSERT_BUT(since_us, (NOW + 5) * SECOND, QUEUE_SAY, NOW * SECOND);
}

static void one_message_for_each_turn(void **state UNUSED)
{
	ASSERT_BUT(said_us, free_to_say.since_us, QUEUE_ANSWERS,
		   free_to_say.since_us + 60 * SECOND);
	ASSERT_BUT(said_us, free_to_say.since_us - 1, QUEUE_SAY, NOW * SECOND);
	ASSERT_BUT(said_us, 0, QUEUE_SAY, NOW * SECOND);
	/* No turn has followed a command of the agent's own. */
	ASSERT_BUT(since_us, 1, QUEUE_ANSWERS, (NOW + 30) * SECOND);
	ASSERT_BUT(now_us, (NOW + 30) * SECOND, QUEUE_SAY, (NOW + 30) * SECOND);
	/* The clock was set back. */
	struct queue_facts facts = free_to_say;
	facts.said_us = (NOW + 5) * SECOND;
	assert_verdict(&facts, QUEUE_SAY, NOW * SECOND);
}

static void a_limit_holds_it(void **state UNUSED)
{
	struct queue_facts facts = free_to_say;
	facts.is_limited = true;
	facts.limited_until_us = (NOW + 100) * SECOND;
	assert_verdict(&facts, QUEUE_LIMITED, (NOW + 160) * SECOND);
	facts.limited_until_us = (NOW - 59) * SECOND;
	assert_verdict(&facts, QUEUE_LIMITED, (NOW + 1) * SECOND);
	facts.limited_until_us = (NOW - 60) * SECOND;
	assert_verdict(&facts, QUEUE_SAY, NOW * SECOND);
	facts.continues = true;
	assert_verdict(&facts, QUEUE_LIMITED, NOW * SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_hindrance_is_enough),
		cmocka_unit_test(an_agent_that_has_just_become_idle_may_go_on),
		cmocka_unit_test(one_message_for_each_turn),
		cmocka_unit_test(a_limit_holds_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
