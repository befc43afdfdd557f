/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/restart.h"

#include <string.h>

enum { US_PER_S = 1000 * 1000, MS_PER_S = 1000 };

static size_t count_recent(const struct instance *instance, int64_t window_s, int64_t now_us)
{
	size_t count = 0;
	for (size_t i = 0; i < instance->observed.restart_count; i++)
		count += now_us - instance->observed.restarts[i] < window_s * US_PER_S;
	return count;
}

static int64_t delay_ms(const struct settings *settings, size_t earlier, uint32_t random)
{
	if (earlier == 0)
		return 0;
	int64_t delay = settings->restart.delay_s * MS_PER_S;
	const int64_t most = settings->restart.delay_max_s * MS_PER_S;
	for (size_t i = 1; i < earlier && delay < most; i++)
		delay *= 2;
	if (delay > most)
		delay = most;
	return delay - (int64_t)(random % (uint64_t)(delay / 2 + 1));
}

struct restart_plan restart_decide(const struct instance *instance, const struct settings *settings,
				   const char *boot_id, int64_t now_us, uint32_t random)
{
	const enum restart_policy policy = instance->restart_policy == RESTART_DEFAULT
						   ? settings->restart.policy : instance->restart_policy;
	const char *last = instance->run.boot_id ? instance->run.boot_id : instance->observed.boot_id;
	if (instance->desired != DESIRED_RUNNING)
		return (struct restart_plan){ .why = "it is to be stopped" };
	if (instance->observed.held)
		return (struct restart_plan){ .why = instance->observed.held };
	if (!last || !streq(last, boot_id))
		return (struct restart_plan){ .verdict = RESTART_AFTER };
	if (policy == RESTART_NO)
		return (struct restart_plan){ .why = "its restart policy is \"no\"" };
	size_t earlier = count_recent(instance, settings->restart.window_s, now_us);
	if (settings->restart.burst > 0 && earlier >= (size_t)settings->restart.burst)
		return (struct restart_plan){ .verdict = RESTART_LIMIT };
	return (struct restart_plan){ .verdict = RESTART_AFTER,
				      .delay_ms = delay_ms(settings, earlier, random) };
}

void restart_note(struct instance *instance, int64_t now_us)
{
	int64_t *restarts = instance->observed.restarts;
	if (instance->observed.restart_count == INSTANCE_RESTARTS)
		memmove(restarts, restarts + 1, (--instance->observed.restart_count) * sizeof(*restarts));
	restarts[instance->observed.restart_count++] = now_us;
}

void restart_hold(struct instance *instance, const char *why)
{
	replace_string(&instance->observed.held, why);
}

char *restart_limit_text(const struct settings *settings)
{
	return xasprintf("it ended %lld times within %lld s", (long long)settings->restart.burst + 1,
			 (long long)settings->restart.window_s);
}

void restart_forget(struct instance *instance)
{
	instance->observed.restart_count = 0;
	replace_string(&instance->observed.held, NULL);
}
