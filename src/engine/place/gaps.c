/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/gaps.h"

void gaps_clear(struct limit_gaps *gaps)
{
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		replace_string(&gaps->why[limit], NULL);
}

static bool is_set(const struct limits *limits, enum limit limit)
{
	const int64_t value = limit_value(limits, limit);
	return value && value != LIMIT_INFINITY;
}

static bool is_any_set(const struct limits *limits)
{
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		if (is_set(limits, limit))
			return true;
	return false;
}

void gaps_find(struct deck *deck, const struct instance *instance, struct limit_gaps *ret)
{
	const struct limits limits = settings_limits(&deck->settings, instance);
	const struct place *place;
	struct limit_gaps gaps = { 0 };
	if (is_any_set(&limits) && place_find(instance, &place, NULL) == 0 && place->find_gaps)
		place->find_gaps(deck, instance, &gaps);
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		if (!is_set(&limits, limit))
			replace_string(&gaps.why[limit], NULL);
	*ret = gaps;
}

void gaps_warn(struct deck *deck, const struct instance *instance)
{
	cleanup_limit_gaps struct limit_gaps gaps = { 0 };
	gaps_find(deck, instance, &gaps);
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		if (gaps.why[limit])
			deck_warn(deck, "%s", gaps.why[limit]);
}

bool gaps_leave_any(const struct deck *deck, const struct instance *instance,
		    const struct limit_gaps *gaps)
{
	const struct limits limits = settings_limits(&deck->settings, instance);
	bool has_gap = false;
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		if (is_set(&limits, limit) && !gaps->why[limit])
			return true;
		has_gap |= gaps->why[limit] != NULL;
	}
	return !has_gap;
}

static bool is_set_anywhere(const struct settings *settings, enum limit limit)
{
	if (is_set(&settings->limits, limit))
		return true;
	for (size_t i = 0; i < settings->group_count; i++)
		if (is_set(&settings->groups[i].limits, limit))
			return true;
	return false;
}

void gaps_of_settings(struct deck *deck, struct strvec *ret)
{
	cleanup_limit_gaps struct limit_gaps gaps = { 0 };
	bool is_any = false;
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		is_any |= is_set_anywhere(&deck->settings, limit);
	if (is_any)
		place_host.find_gaps(deck, NULL, &gaps);
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		if (gaps.why[limit] && is_set_anywhere(&deck->settings, limit))
			strvec_push(ret, gaps.why[limit]);
}
