/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * config.toml: an error names its place and leaves the settings unchanged.  Accepted settings are
 * in the ranges of docs/configuration.md, mean the same when they are read again, and can be
 * written in tmux's own language.
 */
#include "fuzz/fuzz.h"

#include "driver/tmux/tmux.h"
#include "model/session/naming.h"
#include "model/settings/settings.h"

static void check_limits(const struct limits *limits)
{
	HOLDS(limits->memory_high == 0 || limits->memory_high >= LIMIT_LEAST_MEMORY);
	HOLDS(limits->memory_max == 0 || limits->memory_max >= LIMIT_LEAST_MEMORY);
	HOLDS(limits->tasks_max >= 0 && limits->cpu_weight >= 0);
}

static void check_groups(const struct settings *settings)
{
	struct instance instance = { 0 };
	for (size_t i = 0; i < settings->group_count; i++) {
		check_limits(&settings->groups[i].limits);
		HOLDS(naming_check_group(settings->groups[i].group, NULL) == 0);
		instance.group = settings->groups[i].group;
		const struct limits limits = settings_limits(settings, &instance);
		check_limits(&limits);
	}
}

static void check_tmux(const struct settings *settings)
{
	const struct tmux_conf conf = { .default_terminal = settings->tmux.default_terminal,
					.history_limit = (long)settings->tmux.history_limit,
					.detach_key = settings->tmux.detach_key,
					.switch_key = settings->tmux.switch_key,
					.next_key = settings->tmux.next_key,
					.user_conf = settings->tmux.conf };
	cleanup_strbuf struct strbuf text = { 0 };
	struct error err = { 0 };
	HOLDS(settings->tmux.options.count % 2 == 0);
	HOLDS(settings->tmux.history_limit >= 0 &&
	      settings->tmux.history_limit <= 10 * 1000 * 1000);
	if (tmux_conf_text(&conf, &text, &err) == 0)
		return;
	/* Only a path may have characters that cannot be in a line. */
	HOLDS(settings->tmux.conf && !fuzz_is_clean(settings->tmux.conf, false) && !text.length);
	fuzz_failed(&err);
}

static void check_settings(const struct settings *settings)
{
	HOLDS(!settings->default_agent || naming_is_agent(settings->default_agent));
	HOLDS(settings->resume < POLICY_DEFAULT &&
	      settings_resume_policy(settings, "other") == settings->resume);
	HOLDS(settings->resume_by_agent.count % 2 == 0);
	HOLDS(settings->restart.policy != RESTART_DEFAULT &&
	      settings->restart.burst <= INSTANCE_RESTARTS);
	HOLDS(settings->restart.delay_s >= 0 && settings->restart.window_s >= 1);
	HOLDS(settings->probation_s >= 1 && settings->stop_timeout_s >= 1 &&
	      settings->stop_timeout_s <= 3600);
	check_limits(&settings->limits);
	check_groups(settings);
	check_tmux(settings);
}

static void check_same(const struct settings *a, const struct settings *b)
{
	HOLDS(streq(or_empty(a->default_agent), or_empty(b->default_agent)));
	HOLDS(strvec_equal(&a->resume_by_agent, &b->resume_by_agent));
	HOLDS(strvec_equal(&a->tmux.options, &b->tmux.options));
	HOLDS(strvec_equal(&a->notify.command, &b->notify.command) &&
	      strvec_equal(&a->notify.on, &b->notify.on));
	HOLDS(strvec_equal(&a->environment_keep, &b->environment_keep));
	HOLDS(a->group_count == b->group_count && a->limits.memory_max == b->limits.memory_max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_settings struct settings settings = { 0 }, again = { 0 };
	struct error err = { 0 };
	struct settings before;

	settings_init(&again);
	before = again;
	if (settings_parse((const char *)data, size, "input", &again, &err) < 0) {
		HOLDS(memcmp(&before, &again, sizeof(before)) == 0);
		HOLDS(err.code == ERROR_CORRUPT && starts_with(err.message, "input:"));
		fuzz_failed(&err);
		return 0;
	}
	settings_free(&before);
	check_settings(&again);
	HOLDS(settings_parse((const char *)data, size, "input", &settings, NULL) == 0);
	check_same(&settings, &again);
	return 0;
}
