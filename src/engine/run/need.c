/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/need.h"

#include "model/session/state.h"

enum need need_of(const struct need_facts *facts)
{
	if (facts->desired != DESIRED_RUNNING)
		return NEED_REST;
	/* The start finishes that first, whatever is there. */
	if (state_is_stopping(facts->state))
		return NEED_FINISH;
	if (facts->presence == PRESENCE_UNKNOWN)
		return NEED_ANSWER;
	if (facts->presence == PRESENCE_NONE || facts->is_shell)
		return NEED_START;
	if (facts->lacks_window)
		return NEED_WINDOW;
	return facts->is_between ? NEED_VERDICT : NEED_NOTHING;
}
