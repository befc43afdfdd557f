/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan/ending.h"

bool ending_is_wish(const struct exit_record *record)
{
	return record->present && record->code == 0 && record->signal == 0 && !record->oom;
}

struct ending_plan ending_decide(const struct ending_facts *facts)
{
	const bool is_at_risk = (facts->has_tree && !facts->is_safe) || facts->has_processes;
	if (facts->wish == ENDING_CLEAN_IT)
		return (struct ending_plan){ .act = ENDING_REMOVE };
	if (facts->wish == ENDING_KEEP_IT)
		return (struct ending_plan){ .frees_container = facts->has_container };
	if (facts->policy == END_KEEP)
		return (struct ending_plan){ .act = ENDING_LEAVE };
	if (is_at_risk)
		return (struct ending_plan){ .act = ENDING_ASK };
	if (facts->policy == END_CLEAN)
		return (struct ending_plan){ .act = ENDING_REMOVE };
	return (struct ending_plan){
		.frees_container = facts->has_container,
		.frees_tree = facts->has_tree && facts->is_as_made,
	};
}
