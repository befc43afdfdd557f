/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The place "host": a tmux server of its own in a scope of its own.
 */
#include "engine/place/host/host-internal.h"

#include "base/program.h"

static int host_check_path(const char *path, struct error *err)
{
	cleanup_free char *tmux = program_path("tmux", path, NULL);
	if (!tmux)
		return error_set(err, ERROR_UNAVAILABLE,
				 "tmux is not installed: install tmux 3.2 or newer");
	return 0;
}

static int host_set_limits(struct deck *deck, const struct instance *instance,
			   const struct limits *limits, enum limit_effect *ret, struct error *err)
{
	*ret = LIMIT_EFFECT_NEXT_SCOPE;
	if (!instance->run.unit)
		return 0;
	if (!deck_bus(deck)) {
		deck_warn(
			deck,
			"the limits apply from the next start: the user manager cannot be reached "
			"(%s)",
			or_empty(deck->bus_why));
		return 0;
	}
	int r = unit_set_limits(deck_bus(deck), instance->run.unit, limits, err);
	if (r < 0)
		return error_prefix(
			err, "the limits are stored and apply from the next start, but not now");
	*ret = r == 0 ? LIMIT_EFFECT_NOW : LIMIT_EFFECT_NEXT_START;
	return 0;
}

const struct place place_host = {
	.name = PLACE_DEFAULT,
	.presence = host_presence,
	.agent_is_live = host_agent_is_live,
	.is_empty = host_is_empty,
	.silence = host_silence,
	.watch = host_watch,
	.control_group = host_control_group,
	.nudge = host_nudge,
	.observe = host_observe,
	.check_path = host_check_path,
	.probe = host_probe,
	.prepare = host_prepare,
	.launch = host_launch,
	.end = host_end,
	.end_unknown = host_end_unknown,
	.how_ended = host_how_ended,
	.end_daemons = host_end_daemons,
	.leave = host_leave,
	.usage = host_usage,
	.set_limits = host_set_limits,
};
