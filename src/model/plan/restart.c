/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan/restart.h"

#include <string.h>

enum { US_PER_S = 1000 * 1000, US_PER_MS = 1000, MS_PER_S = 1000 };

static size_t count_recent(const struct instance *instance, int64_t window_s, int64_t now_us)
{
	size_t count = 0;
	for (size_t i = 0; i < instance->observed.restart_count; i++) {
		int64_t age_us = now_us - instance->observed.restarts[i];
		count += age_us >= 0 && age_us < window_s * US_PER_S;
	}
	return count;
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/: spreads, and keeps no secret. */
static uint32_t scatter(const struct instance *instance)
{
	uint32_t hash = UINT32_C(2166136261);
	for (const char *c = or_empty(instance->id); *c; c++)
		hash = (hash ^ (uint8_t)*c) * UINT32_C(16777619);
	for (uint64_t left = (uint64_t)instance->observed.since; left; left >>= 8)
		hash = (hash ^ (uint8_t)left) * UINT32_C(16777619);
	return hash;
}

static int64_t wait_ms(const struct instance *instance, const struct settings *settings,
		       size_t earlier)
{
	if (earlier == 0)
		return 0;
	int64_t delay = settings->restart.delay_s * MS_PER_S;
	const int64_t most = settings->restart.delay_max_s * MS_PER_S;
	for (size_t i = 1; i < earlier && delay < most; i++)
		delay *= 2;
	if (delay > most)
		delay = most;
	return delay - (int64_t)(scatter(instance) % (uint64_t)(delay / 2 + 1));
}

/* What of the wait is still to come.  An end of the future tells nothing: a wait for it could last
 * for hours. */
static int64_t left_ms(const struct instance *instance, int64_t wait, int64_t now_us)
{
	int64_t over = (now_us - instance->observed.since) / US_PER_MS;
	return over >= 0 && over < wait ? wait - over : 0;
}

enum restart_policy restart_policy_of(const struct instance *instance,
				      const struct settings *settings)
{
	return instance->restart_policy == RESTART_DEFAULT ? settings->restart.policy
							   : instance->restart_policy;
}

struct restart_plan restart_decide(const struct instance *instance, const struct settings *settings,
				   enum machine_relation relation, int64_t now_us)
{
	if (instance->desired != DESIRED_RUNNING)
		return (struct restart_plan){ .why = "it was told to stop" };
	if (restart_is_held(instance, relation))
		return (struct restart_plan){ .why = instance->observed.held };
	if (relation == MACHINE_OTHER)
		return (struct restart_plan){ .why = "it ran on another machine" };
	if (relation == MACHINE_EARLIER_BOOT)
		return (struct restart_plan){ .verdict = RESTART_AFTER };
	if (restart_policy_of(instance, settings) == RESTART_NO)
		return (struct restart_plan){ .why = "its restart policy is \"no\"" };
	size_t earlier = count_recent(instance, settings->restart.window_s, now_us);
	if (settings->restart.burst > 0 && earlier >= (size_t)settings->restart.burst)
		return (struct restart_plan){ .verdict = RESTART_LIMIT };
	return (struct restart_plan){
		.verdict = RESTART_AFTER,
		.delay_ms = left_ms(instance, wait_ms(instance, settings, earlier), now_us)
	};
}

/* Restarts of the future would count when their time comes. */
static void forget_future(struct instance *instance, int64_t now_us)
{
	size_t kept = 0;
	for (size_t i = 0; i < instance->observed.restart_count; i++)
		if (instance->observed.restarts[i] <= now_us)
			instance->observed.restarts[kept++] = instance->observed.restarts[i];
	instance->observed.restart_count = kept;
}

void restart_note(struct instance *instance, int64_t now_us)
{
	int64_t *restarts = instance->observed.restarts;
	forget_future(instance, now_us);
	if (instance->observed.restart_count == INSTANCE_RESTARTS)
		memmove(restarts, restarts + 1,
			(--instance->observed.restart_count) * sizeof(*restarts));
	restarts[instance->observed.restart_count++] = now_us;
}

void restart_unnote(struct instance *instance)
{
	if (instance->observed.restart_count > 0)
		instance->observed.restart_count--;
}

void restart_hold(struct instance *instance, enum hold kind, const char *why)
{
	instance->observed.hold = kind;
	replace_string(&instance->observed.held, why);
}

bool restart_is_held(const struct instance *instance, enum machine_relation relation)
{
	const bool is_over = instance->observed.hold == HOLD_BACKGROUND &&
			     relation == MACHINE_EARLIER_BOOT;
	return instance->observed.held && !is_over;
}

void restart_release(struct instance *instance)
{
	instance->observed.hold = HOLD_NONE;
	replace_string(&instance->observed.held, NULL);
}

char *restart_limit_text(const struct settings *settings)
{
	return xasprintf("it ended %lld times within %lld s",
			 (long long)settings->restart.burst + 1,
			 (long long)settings->restart.window_s);
}

char *restart_end_text(const struct instance *instance, const struct settings *settings,
		       const char *why)
{
	const bool is_left = instance->desired == DESIRED_RUNNING &&
			     restart_policy_of(instance, settings) == RESTART_NO;
	return is_left && why ? xasprintf("%s; its restart policy is \"no\"", why)
			      : xstrdup_or_null(why);
}

void restart_forget(struct instance *instance)
{
	instance->observed.restart_count = 0;
	restart_release(instance);
}
