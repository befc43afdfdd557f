/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The place "host": each session has its own tmux server, in its own scope.
 */
#include "engine/place/host/host-internal.h"

#include "base/program.h"
#include "engine/place/environment.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

static int host_check_path(const struct instance *instance, const char *path, struct error *err)
{
	cleanup_free char *tmux = program_path("tmux", path, NULL);
	if (!tmux)
		return error_set(err, ERROR_UNAVAILABLE,
				 "tmux is not installed: install tmux 3.2 or newer");
	return program_find(instance->argv.items[0], path, instance_lookup_directory(instance),
			    err);
}

/* The server is the window: without it nothing of the run is left. */
static bool host_lacks_window(const struct place_run *run UNUSED)
{
	return false;
}

static int host_open_window(struct deck *deck UNUSED, struct instance *instance UNUSED,
			    const struct place_order *order UNUSED, struct error *err UNUSED)
{
	return 0;
}

/* Nothing outlives a run on the host. */
static int host_discard(struct deck *deck UNUSED, struct instance *instance UNUSED,
			enum place_discard how UNUSED, struct error *err UNUSED)
{
	return 0;
}

static int host_begin_attempt(struct deck *deck UNUSED, struct store_lock *lock UNUSED,
			      struct instance *instance, const struct agent *agent UNUSED,
			      struct error *err)
{
	return process_identify(getpid(), &instance->run.pane, err) == 0 ? 0 : -1;
}

static void host_pane_argv(const struct deck *deck UNUSED, const struct instance *instance,
			   struct strvec *ret)
{
	strvec_push_all(ret, &run_attempt(&instance->run)->argv);
}

static int host_run_command(struct deck *deck, struct instance *instance,
			    const struct place_command *command, struct child_result *ret,
			    struct error *err)
{
	cleanup_strvec struct strvec environment = { 0 };
	const char *directory = instance_launch_directory(instance);
	cleanup_close int cwd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cwd < 0)
		return error_set_errno(err, errno, "open %s", directory);
	environment_build(deck, instance, command->order->agent, &environment);
	const struct child_request request = {
		.argv = (const char *const *)command->argv->items,
		.environment = environment.items,
		.directory = cwd,
		.new_session = true,
	};
	return child_run(&request, command->timeout_ms, ret, err);
}

/* A run from before there were slices is in a scope that has its limits. */
static bool is_in_slice(const struct instance *instance)
{
	const struct place_run run = place_run_of(instance);
	cleanup_free char *group = host_control_group(&run);
	cleanup_free char *slice = naming_slice(instance->id);
	return group && ends_with(group, slice);
}

static int set_unit_limits(struct deck *deck, const struct instance *instance,
			   const struct limits *limits, struct error *err)
{
	/* The manager gives a scope a limit of its own, which may be lower. */
	const struct limits of_scope = { .tasks_max = limits->tasks_max ? LIMIT_INFINITY : 0 };
	cleanup_free char *slice = naming_slice(instance->id);
	if (!is_in_slice(instance))
		return unit_set_limits(deck_bus(deck), instance->run.unit, limits, err);
	int r = unit_set_limits(deck_bus(deck), slice, limits, err);
	return r ? r : unit_set_limits(deck_bus(deck), instance->run.unit, &of_scope, err);
}

static int host_set_limits(struct deck *deck, struct instance *instance,
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
	int r = set_unit_limits(deck, instance, limits, err);
	if (r < 0)
		return error_prefix(
			err, "the limits are stored and apply from the next start, but not now");
	*ret = r == 0 ? LIMIT_EFFECT_NOW : LIMIT_EFFECT_NEXT_START;
	return 0;
}

static int host_exec(const struct instance *instance UNUSED, const struct strvec *command,
		     struct place_exec *ret, struct error *err UNUSED)
{
	const char *shell = getenv("SHELL");
	if (command->count)
		strvec_push_all(&ret->argv, command);
	else
		strvec_push(&ret->argv, is_empty(shell) ? "/bin/sh" : shell);
	return 0;
}

/* sshd and others find both forms of it: some programs listen on ::1 only. */
static int host_address(const struct instance *instance UNUSED, char **ret,
			struct error *err UNUSED)
{
	*ret = xstrdup("localhost");
	return 0;
}

const struct place place_host = {
	.name = PLACE_DEFAULT,
	.lost = "its tmux server was killed",
	.presence = host_presence,
	.agent_is_live = host_agent_is_live,
	.is_empty = host_is_empty,
	.silence = host_silence,
	.watch = host_watch,
	.control_group = host_control_group,
	.nudge = host_nudge,
	.observe = host_observe,
	.lacks_window = host_lacks_window,
	.check_path = host_check_path,
	.probe = host_probe,
	.prepare = host_prepare,
	.run_command = host_run_command,
	.launch = host_launch,
	.open_window = host_open_window,
	.end = host_end,
	.end_unknown = host_end_unknown,
	.discard = host_discard,
	.begin_attempt = host_begin_attempt,
	.pane_argv = host_pane_argv,
	.survivors = host_survivors,
	.how_ended = host_how_ended,
	.end_daemons = host_end_daemons,
	.leave = host_leave,
	.exec = host_exec,
	.address = host_address,
	.usage = host_usage,
	.find_gaps = host_find_gaps,
	.set_limits = host_set_limits,
};
