/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/host/host-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/place/isolation.h"
#include "model/session/naming.h"

enum {
	SCOPE_TIMEOUT_MS = 10000,
	/* within which the manager forgets a scope whose last process has ended */
	COLLECT_MS = 200,
};

/* No agent lives in the scope of this name (the caller has looked), but what an agent left behind
 * when it ended by itself may hold it, and without a scope the new run would die with its login. */
static void clear_scope(struct deck *deck, const struct instance *instance)
{
	cleanup_free struct process_id *left = NULL;
	size_t count = 0;
	if (host_processes(deck, instance->id, NULL, &left, &count, NULL) < 0 || count == 0)
		return;
	log_warning("%zu processes of an earlier run are still in %s: ending them", count,
		    instance->run.unit);
	(void)host_kill_all(deck, instance->id, NULL, NULL);
}

int host_survivors(struct deck *deck, const char *id, char **ret, struct error *err)
{
	cleanup_free struct process_id *left = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	size_t count = 0;
	if (deck_check_bus(deck, err) < 0)
		return -1;
	/* Without a manager the new run is in no scope, and ends nothing in this one. */
	if (deck_bus(deck) && host_processes(deck, id, NULL, &left, &count, err) < 0)
		return -1;
	*ret = NULL;
	if (count == 0)
		return 0;
	cleanup_free char *words = process_argv(left[0].pid, &argv, NULL) == 0
					   ? visible_argv(argv.items)
					   : xstrdup("unknown");
	*ret = xasprintf("%zu process%s still in its scope (%d: %.60s)", count,
			 count == 1 ? " is" : "es are", (int)left[0].pid, words);
	return 0;
}

/* A start that was killed just when the manager moved its gate into the scope leaves an empty
 * scope. The kernel never tells the manager about it (systemd 252), so it would stay forever. */
static void end_empty_scope(struct deck *deck, const struct unit_scope *scope, const char *id)
{
	cleanup_free struct process_id *left = NULL;
	cleanup_error struct error err = { 0 };
	const int64_t deadline_ms = clock_ms() + SCOPE_TIMEOUT_MS;
	size_t count = 0;
	if (host_processes(deck, id, NULL, &left, &count, NULL) < 0 || count > 0)
		return;
	log_warning("%s has no process left: ending it", scope->name);
	if (unit_stop(deck_bus(deck), scope->name, deadline_ms, &err) < 0 ||
	    unit_stop(deck_bus(deck), scope->slice, deadline_ms, &err) < 0)
		log_warning("%s", err.message);
}

/* Right after a stop the manager may still be busy with the units of these names. */
static int wait_gone(struct deck *deck, const struct unit_scope *scope, struct error *err)
{
	const char *const units[] = { scope->name, scope->slice };
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (unit_wait_gone(deck_bus(deck), units[i], clock_ms() + COLLECT_MS, err) < 0)
			return -1;
	return 0;
}

static int start_scope(struct deck *deck, const struct instance *instance,
		       const struct unit_scope *scope, struct error *err)
{
	const int64_t begin = clock_ms(), deadline = begin + SCOPE_TIMEOUT_MS;
	int r;
	bool cleared = false, ended = false;
	while ((r = unit_start_scope(deck_bus(deck), scope, deadline, err)) == UNIT_TAKEN &&
	       clock_ms() < deadline) {
		if (!cleared)
			clear_scope(deck, instance);
		cleared = true;
		if (!ended && clock_ms() - begin > COLLECT_MS) {
			end_empty_scope(deck, scope, instance->id);
			ended = true;
		}
		if (wait_gone(deck, scope, err) < 0)
			return -1;
	}
	return r;
}

int host_make_scope(struct deck *deck, const struct instance *instance, pid_t pid,
		    struct error *err)
{
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *slice = naming_slice(instance->id);
	cleanup_free char *description = xasprintf("agentdeck session %s (%s)", title,
						   instance->id);
	const struct unit_scope scope = {
		.name = instance->run.unit,
		.slice = slice,
		.description = description,
		.pid = pid,
		.limits = settings_limits(&deck->settings, instance),
		.stop_timeout_s = 15,
	};
	int r = start_scope(deck, instance, &scope, err);
	if (r == UNIT_TAKEN)
		return error_set(err, ERROR_EXISTS, "%s or %s exists already", scope.name, slice);
	if (r > 0)
		return error_set(err, ERROR_UNAVAILABLE, "%s could not be made", scope.name);
	return r;
}

/* The kernel's part that enforces a limit. */
static const char *controller_of(enum limit limit)
{
	static const char *const controllers[LIMIT_COUNT] = {
		[LIMIT_MEMORY_HIGH] = "memory",
		[LIMIT_MEMORY_MAX] = "memory",
		[LIMIT_TASKS_MAX] = "pids",
		[LIMIT_CPU_WEIGHT] = "cpu",
	};
	return controllers[limit];
}

void host_find_gaps(struct deck *deck, const struct instance *instance UNUSED,
		    struct limit_gaps *ret)
{
	cleanup_free char *group = NULL;
	cleanup_strvec struct strvec controllers = { 0 };
	const char *why;
	const bool has_scope = isolation_examine(deck, &why) == ISOLATION_SCOPE;
	/* The manager takes a limit that it cannot enforce, and says nothing. */
	const bool is_known = has_scope && unit_manager_group(deck_bus(deck), &group, NULL) == 0 &&
			      cgroup_controllers(group, &controllers) == 0;
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		const char *controller = controller_of(limit);
		if (!has_scope)
			ret->why[limit] = xasprintf("%s does nothing: sessions here run without a "
						    "scope (%s)",
						    limit_name(limit), why);
		else if (is_known && !strvec_contains(&controllers, controller))
			ret->why[limit] = xasprintf(
				"%s does nothing on this machine: the user manager lacks the "
				"kernel's controller %s (an administrator: systemctl edit "
				"user@.service, Delegate=%s, if /sys/fs/cgroup/cgroup.controllers "
				"has it)",
				limit_name(limit), controller, controller);
	}
}
