/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan/queue.h"

#include <assert.h>

enum {
	/* A limit ends within the minute that the agent has named. */
	MARGIN_US = 60 * 1000000,
	/* A text that no turn has followed for so long gets none: a command of the agent's own. */
	NO_TURN_US = 60 * 1000000,
	/* A screen between two tools, or a hook that continues the turn, looks idle for a moment. */
	SETTLE_US = 2 * 1000000,
};

static int64_t limit_ends_us(const struct queue_facts *facts)
{
	return facts->limited_until_us ? facts->limited_until_us + MARGIN_US : INT64_MAX;
}

/* The intent is older than the turn that it leads to. */
static bool is_answered(const struct queue_facts *facts)
{
	return facts->since_us > facts->said_us || facts->now_us - facts->said_us >= NO_TURN_US ||
	       facts->now_us < facts->said_us;
}

enum queue_verdict queue_decide(const struct queue_facts *facts)
{
	const bool is_limited = facts->is_limited && facts->now_us < limit_ends_us(facts);
	const struct {
		bool hinders;
		enum queue_verdict verdict;
	} hindrances[] = {
		{ !facts->count, QUEUE_EMPTY },
		{ facts->head != QUEUED_WAITS, QUEUE_STUCK },
		{ !facts->is_running, QUEUE_REST },
		{ facts->activity == ACTIVITY_BUSY, QUEUE_BUSY },
		{ facts->activity == ACTIVITY_WAITING, QUEUE_ASKS },
		{ facts->activity != ACTIVITY_IDLE, QUEUE_UNKNOWN },
		{ facts->prompts > 0, QUEUE_PROMPTS },
		{ is_limited || facts->continues, QUEUE_LIMITED },
		{ facts->has_failed, QUEUE_FAILED },
		{ facts->now_us >= facts->since_us && facts->now_us - facts->since_us < SETTLE_US,
		  QUEUE_SETTLES },
		{ !is_answered(facts), QUEUE_ANSWERS },
	};
	for (size_t i = 0; i < ARRAY_SIZE(hindrances); i++)
		if (hindrances[i].hinders)
			return hindrances[i].verdict;
	return QUEUE_SAY;
}

static const char *const reasons[] = {
	[QUEUE_SAY] = "its agent is idle, so a supervisor types it when the input box is empty",
	[QUEUE_EMPTY] = "nothing is queued",
	[QUEUE_STUCK] = "the first message may have been typed already",
	[QUEUE_REST] = "its agent does not run",
	[QUEUE_UNKNOWN] = "it is not known whether its agent is idle",
	[QUEUE_BUSY] = "its agent works",
	[QUEUE_ASKS] = "its agent waits for your answer",
	[QUEUE_PROMPTS] = "its agent has prompts in its own queue",
	[QUEUE_LIMITED] = "its agent has reached a usage limit",
	[QUEUE_FAILED] = "the last turn of its agent failed: it follows a turn that does not",
	[QUEUE_SETTLES] = "its agent has just become idle",
	[QUEUE_ANSWERS] = "the message before it has no answer yet",
};
_Static_assert(ARRAY_SIZE(reasons) == QUEUE_COUNT, "a verdict without a reason");

const char *queue_why(enum queue_verdict verdict)
{
	assert(verdict < QUEUE_COUNT);
	return reasons[verdict];
}

int64_t queue_due_us(const struct queue_facts *facts)
{
	switch (queue_decide(facts)) {
	case QUEUE_SAY:
		return facts->now_us;
	case QUEUE_LIMITED:
		return facts->limited_until_us ? limit_ends_us(facts) : 0;
	case QUEUE_SETTLES:
		return facts->since_us + SETTLE_US;
	case QUEUE_ANSWERS:
		return facts->said_us + NO_TURN_US;
	case QUEUE_STUCK:
		/* By then the intent has gone, or is left and becomes "unknown". */
		return facts->head == QUEUED_TYPING ? facts->said_us + NO_TURN_US : 0;
	default:
		return 0;
	}
}
