/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan/sleep.h"

#include <assert.h>

enum sleep_verdict sleep_decide(const struct sleep_facts *facts)
{
	const struct {
		bool hinders;
		enum sleep_verdict verdict;
	} hindrances[] = {
		{ facts->after_us <= 0, SLEEP_OFF },
		{ !facts->is_running, SLEEP_NOT_RUNNING },
		{ facts->activity != ACTIVITY_IDLE || facts->idle_us <= 0, SLEEP_NOT_IDLE },
		{ facts->idle_us < facts->after_us, SLEEP_LATER },
		{ facts->has_work, SLEEP_BUSY },
		{ !facts->is_unwatched, SLEEP_WATCHED },
		{ !facts->shows_idle, SLEEP_UNSEEN },
		{ !facts->has_empty_box, SLEEP_DRAFT },
		{ !facts->is_undisturbed, SLEEP_MESSAGE },
		{ !facts->is_alone, SLEEP_NOT_ALONE },
		{ !facts->is_resumable, SLEEP_UNPROVEN },
	};
	for (size_t i = 0; i < ARRAY_SIZE(hindrances); i++)
		if (hindrances[i].hinders)
			return hindrances[i].verdict;
	return SLEEP_NOW;
}

static const char *const reasons[] = {
	[SLEEP_NOW] = "it is idle",
	[SLEEP_OFF] = "sleep_after is off",
	[SLEEP_NOT_RUNNING] = "its agent does not run",
	[SLEEP_NOT_IDLE] = "it is not known to be idle",
	[SLEEP_LATER] = "it is not idle for long enough",
	[SLEEP_BUSY] = "its agent waits for tasks or has prompts in its queue",
	[SLEEP_WATCHED] = "a terminal is attached",
	[SLEEP_UNSEEN] = "its screen does not show that it is idle",
	[SLEEP_DRAFT] = "a text is in its input box",
	[SLEEP_MESSAGE] = "a message is on its way to it",
	[SLEEP_NOT_ALONE] = "other processes run beside its agent",
	[SLEEP_UNPROVEN] = "it is not certain that its conversation comes back",
};
_Static_assert(ARRAY_SIZE(reasons) == SLEEP_COUNT, "a verdict without a reason");

const char *sleep_why(enum sleep_verdict verdict)
{
	assert(verdict < SLEEP_COUNT);
	return reasons[verdict];
}
