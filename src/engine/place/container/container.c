/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The place "container": an agent in a container of Docker or podman, behind a capsule, and a tmux
 * server on this host as its window.
 */
#include "engine/place/container/container-internal.h"

#include "base/program.h"
#include "engine/place/alive.h"
#include "engine/place/container/guest.h"
#include "engine/place/container/nesting.h"
#include "engine/place/container/resolve.h"

#include <string.h>

static const char *container_home(const struct instance *instance)
{
	return instance->recipe->home;
}

/* The engine is asked with the start; here only what the window needs. */
static int container_check_path(const struct instance *instance UNUSED, const char *path,
				struct error *err)
{
	cleanup_free char *tmux = program_path("tmux", path, NULL);
	if (!tmux)
		return error_set(err, ERROR_UNAVAILABLE,
				 "tmux is not installed: install tmux 3.2 or newer");
	return 0;
}

static int container_take_directory(const struct deck *deck, struct instance *instance,
				    const char *real, const char *named, struct error *err)
{
	replace_string(&instance->recipe->directory, real);
	return nesting_check_path(deck, named, err) < 0
		       ? -1
		       : nesting_check_session(deck, instance, err);
}

/* A container with other mounts than the recipe has to start again, and with it all that is in it. */
static int check_restart(struct deck *deck, const struct instance *instance, struct error *err)
{
	const struct process_id *capsule = &instance->run.server;
	cleanup_error struct error why = { 0 };
	if (guest_is(instance) || !capsule->pid || !process_alive(capsule) ||
	    mounts_check_inside(instance->recipe, capsule, &why) == 0)
		return 0;
	return guest_check_alone(deck, instance, instance, err);
}

static int container_check_alone(struct deck *deck, const struct instance *instance,
				 struct error *err)
{
	return guest_check_alone(deck, instance, instance, err);
}

/* What can be known before the run is ended: does the engine answer, is the container ours, and may
 * it be started again? */
static int container_probe(struct deck *deck, const struct instance *instance, struct error *err)
{
	cleanup_instance struct instance *copy = NULL;
	if (deck_load(deck, guest_owner_base(instance), &copy, err) < 0)
		return -1;
	cleanup_ladder struct ladder ladder = { .deck = deck, .instance = copy };
	if (ladder_open(&ladder, err) < 0 || check_restart(deck, instance, err) < 0)
		return error_prefix(err,
				    "nothing was ended, because it could not be started again");
	return 0;
}

/* Memory and processes, in place. */
static int limit_now(struct ladder *ladder, struct error *err)
{
	if (ladder_open(ladder, err) < 0)
		return -1;
	if (!ladder->exists || !ladder_is_ours(ladder))
		return error_set(err, ERROR_NOT_FOUND, "its container is gone");
	return ladder_limit(ladder, err);
}

static int container_set_limits(struct deck *deck, struct instance *instance,
				const struct limits *limits UNUSED, enum limit_effect *ret,
				struct error *err UNUSED)
{
	cleanup_error struct error failure = { 0 };
	cleanup_ladder struct ladder ladder = { .deck = deck, .instance = instance };
	*ret = LIMIT_EFFECT_NEXT_START;
	if (limit_now(&ladder, &failure) < 0) {
		deck_warn(deck, "the limits do not hold yet: %s", failure.message);
		return 0;
	}
	*ret = LIMIT_EFFECT_NOW;
	return PLACE_CHANGED;
}

static int container_check_limit(const struct instance *instance, enum limit limit,
				 struct error *err)
{
	const char *instead = container_limit_instead(limit);
	return instead ? error_set(err, ERROR_USAGE, "%s cannot set %s for a container: %s",
				   or_empty(container_needs(instance).engine), limit_name(limit),
				   instead)
		       : 0;
}

static void container_keep_limits(const struct deck *deck, struct instance *instance)
{
	container_limit(deck, instance, instance->recipe);
}

static int64_t container_kept_limit(const struct instance *instance, enum limit limit)
{
	const struct recipe *recipe = instance->recipe;
	return limit == LIMIT_MEMORY_MAX  ? recipe->memory
	       : limit == LIMIT_TASKS_MAX ? recipe->pids
					  : 0;
}

static void container_find_gaps(struct deck *deck UNUSED, const struct instance *instance,
				struct limit_gaps *ret)
{
	const struct recipe *recipe = instance->recipe;
	cleanup_engine struct engine *engine = NULL;
	struct engine_facts facts = { 0 };
	const bool is_known = container_open_engine(recipe, &engine, NULL) == 0 &&
			      engine_facts(engine, &facts, NULL) == 0;
	const struct {
		bool is_counted;
		const char *what, *controller;
	} limits[LIMIT_COUNT] = {
		[LIMIT_MEMORY_MAX] = { facts.counts_memory, "memory", "memory" },
		[LIMIT_TASKS_MAX] = { facts.counts_pids, "processes", "pids" },
	};
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		const char *instead = container_limit_instead(limit);
		if (instead)
			ret->why[limit] = xasprintf(
				"%s does nothing in a container, since %s cannot set it: %s",
				limit_name(limit), recipe->engine, instead);
		/* Docker drops it and says nothing, and podman refuses to start. */
		else if (is_known && limits[limit].what && !limits[limit].is_counted)
			ret->why[limit] = xasprintf(
				"%s does nothing: %s cannot limit %s on this machine, which lacks "
				"the kernel's controller %s",
				limit_name(limit), recipe->engine, limits[limit].what,
				limits[limit].controller);
	}
}

/* The agent's daemons end with the container. */
static void container_end_daemons(struct deck *deck UNUSED, const struct instance *instance UNUSED,
				  const struct agent *agent UNUSED)
{
}

/* A command of its role may have failed, and those before it do not run again. */
static bool container_has_begun(const struct instance *instance)
{
	return instance->recipe && instance->recipe->command_count &&
	       instance_has_container(instance);
}

static enum presence container_presence(const struct place_run *run)
{
	return place_host.presence(run);
}

static bool container_agent_is_live(const struct place_run *run)
{
	return place_host.agent_is_live(run);
}

static struct place_watch container_watch(const struct place_run *run)
{
	struct place_watch watch = place_host.watch(run);
	watch.window = run->window;
	return watch;
}

static char *container_control_group(const struct place_run *run)
{
	return place_host.control_group(run);
}

/* Every engine names the group of a container by its id.  Another group may have processes of
 * others, too. */
static bool is_containers_own(const char *group)
{
	enum { ID_DIGITS = 64 };
	for (const char *at = group; *at; at++) {
		const size_t digits = strspn(at, "0123456789abcdef");
		if (digits == ID_DIGITS)
			return true;
		at += digits ? digits - 1 : 0;
	}
	return false;
}

/* The run's scope is the container's control group: that of the capsule, not that of the window. */
static void container_usage(const struct place_run *run, struct place_usage *ret)
{
	cleanup_free char *group = container_control_group(run);
	struct place_run inside = *run;
	inside.unit = group && is_containers_own(group) ? group : NULL;
	place_host.usage(&inside, ret);
}

/* ---- a guest --------------------------------------------------------------------------------- */

/* The next start checks that the owner's container has the directory. */
static int guest_take_directory(const struct deck *deck UNUSED, struct instance *instance,
				const char *real, const char *named UNUSED,
				struct error *err UNUSED)
{
	replace_string(&instance->recipe->directory, real);
	return 0;
}

static int guest_check_limit(const struct instance *instance, enum limit limit, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "%s is of the container, which is that of session %s: agentdeck session "
			 "limit that one",
			 limit_name(limit), instance->recipe->within);
}

static int guest_set_limits(struct deck *deck UNUSED, struct instance *instance UNUSED,
			    const struct limits *limits UNUSED, enum limit_effect *ret,
			    struct error *err UNUSED)
{
	*ret = LIMIT_EFFECT_NEXT_START;
	return 0;
}

static int guest_discard(struct deck *deck UNUSED, struct instance *instance UNUSED,
			 enum place_discard how UNUSED, struct error *err UNUSED)
{
	return PLACE_HAD_NOTHING;
}

/* Count the guest's own processes, since the control group is that of all in the container. */
static void guest_usage(const struct place_run *run, struct place_usage *ret)
{
	struct place_run inside = *run;
	inside.unit = NULL;
	place_host.usage(&inside, ret);
}

/* What both do alike. */
/* clang-format off */
#define IN_A_CONTAINER \
	.lost = "its container was stopped", \
	.hook_program = CAPSULE_PROGRAMS "/agentdeck", \
	.home = container_home, \
	.presence = container_presence, \
	.agent_is_live = container_agent_is_live, \
	.is_empty = container_is_empty, \
	.silence = container_silence, \
	.watch = container_watch, \
	.control_group = container_control_group, \
	.nudge = container_nudge, \
	.observe = container_observe, \
	.lacks_window = container_lacks_window, \
	.check_path = container_check_path, \
	.probe = container_probe, \
	.prepare = container_prepare, \
	.run_command = container_run_command, \
	.launch = container_launch, \
	.open_window = container_open_window, \
	.end = container_end, \
	.end_unknown = container_end_unknown, \
	.begin_attempt = container_begin_attempt, \
	.pane_argv = container_pane_argv, \
	.how_ended = container_how_ended, \
	.end_daemons = container_end_daemons, \
	.leave = container_leave, \
	.exec = container_exec, \
	.address = container_address
/* clang-format on */

const struct place place_container = {
	.name = PLACE_CONTAINER,
	IN_A_CONTAINER,
	.take_directory = container_take_directory,
	.has_begun = container_has_begun,
	.discard = container_discard,
	.check_discard = container_check_discard,
	.check_alone = container_check_alone,
	.check_removal = guest_check_none,
	.check_deletion = guest_check_trash,
	.usage = container_usage,
	.find_gaps = container_find_gaps,
	.check_limit = container_check_limit,
	.keep_limits = container_keep_limits,
	.kept_limit = container_kept_limit,
	.set_limits = container_set_limits,
};

const struct place place_guest = {
	.name = PLACE_GUEST,
	IN_A_CONTAINER,
	.shares_control_group = true,
	.take_directory = guest_take_directory,
	.discard = guest_discard,
	.usage = guest_usage,
	.check_limit = guest_check_limit,
	.set_limits = guest_set_limits,
};
