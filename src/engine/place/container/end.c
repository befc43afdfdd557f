/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run ends through its capsule, and where that does not answer through its process, which is
 * ours.  So no engine is needed for a stop.
 */
#include "engine/place/container/container-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/deck/proof.h"
#include "engine/place/alive.h"
#include "engine/place/container/guest.h"
#include "engine/place/container/nested.h"

#include <signal.h>

enum { END_MARGIN_MS = 3000, KILL_MS = 10000 };

static int end_process(const char *id, const struct process_id *capsule, int64_t deadline,
		       struct error *err)
{
	if (!capsule->pid || !process_alive(capsule))
		return 0;
	if (clock_ms() < deadline && proof_signal(id, capsule, SIGTERM, NULL) == 0 &&
	    process_wait_end(capsule, deadline, NULL) != PROCESS_STILL_ALIVE)
		return 0;
	(void)proof_signal(id, capsule, SIGKILL, NULL);
	if (process_wait_end(capsule, clock_ms() + KILL_MS, NULL) == PROCESS_STILL_ALIVE)
		return error_set(err, ERROR_TIMEOUT,
				 "the container's first process (%d) does not end: see ps -p %d -o "
				 "stat,user,wchan,args",
				 (int)capsule->pid, (int)capsule->pid);
	return 0;
}

/* A capsule that does not answer may be paused: its engine wakes it up and ends it in order. */
static void end_by_engine(struct deck *deck, const struct instance *instance, int grace_ms)
{
	cleanup_instance struct instance *copy = NULL;
	cleanup_error struct error err = { 0 };
	if (deck_load(deck, instance->base, &copy, &err) < 0)
		return;
	cleanup_ladder struct ladder ladder = { .deck = deck, .instance = copy };
	if (ladder_open(&ladder, &err) < 0 || !ladder.exists || !ladder_is_ours(&ladder) ||
	    engine_stop(ladder.engine, ladder.found.id, grace_ms, &err) < 0)
		log_warning("the engine did not end it: %s", or_empty(err.message));
}

/* The capsule still serves guests, also where the kernel holds the agent. */
static int check_agent_ended(const struct run *run, struct error *err)
{
	const pid_t agent = run->pane.pid;
	return agent && process_alive(&run->pane)
		       ? error_set(
				 err, ERROR_TIMEOUT,
				 "its agent (%d) does not end: see ps -p %d -o stat,user,wchan,args",
				 (int)agent, (int)agent)
		       : 0;
}

/* Also a capsule that is not in the manifest.  An agent that listens in its place does not count:
 * then what we have started is ended. */
int container_end_capsule(struct deck *deck, const struct instance *instance, int grace_ms,
			  struct error *err)
{
	const struct run *run = &instance->run;
	const struct place_run place_run = place_run_of(instance);
	const int64_t deadline = clock_ms() + grace_ms;
	/* The rest is for what the agent leaves behind. */
	const int agents_ms = grace_ms / 4 * 3;
	cleanup_capsule struct capsule *capsule = NULL;
	struct process_id process = run->server;
	int r = run->capsule ? container_connect(&place_run, &capsule, NULL) : CAPSULE_ABSENT;
	/* A room is used again. */
	if (guest_is_foreign(&place_run, &process))
		return 0;
	if (r == 0) {
		process = capsule_process(capsule);
		if (capsule_stop(capsule, agents_ms, NULL) == CAPSULE_STAYS)
			return check_agent_ended(run, err);
		(void)process_wait_end(&process, clock_ms() + END_MARGIN_MS, NULL);
	}
	/* With the container's first process the agents of guests end, too. */
	if (!guest_is(instance) && process.pid && process_alive(&process)) {
		if (guest_check_alone(deck, instance, instance, err) < 0)
			return error_prefix(err, "its capsule does not end");
		if (r != 0)
			end_by_engine(deck, instance, agents_ms);
	}
	return end_process(instance->id, &process, deadline, err);
}

int container_end_window(struct deck *deck, const struct instance *instance, int grace_ms,
			 struct error *err)
{
	struct instance window = *instance;
	window.run.server = instance->run.window;
	window.run.pane = (struct process_id){ 0 };
	return place_host.end(deck, &window, grace_ms, NULL, err);
}

int container_end(struct deck *deck, const struct instance *instance, int grace_ms,
		  char **ret_words UNUSED, struct error *err)
{
	const struct run *run = &instance->run;
	const int64_t deadline = clock_ms() + grace_ms;
	if (place_check_here(deck, instance, err) < 0)
		return -1;
	if (!run->socket)
		return 0;
	if (run_relation(run) == MACHINE_THIS_BOOT &&
	    container_end_capsule(deck, instance, grace_ms, err) < 0)
		return error_prefix(err, "end session %s", instance->id);
	const int left_ms = deadline > clock_ms() ? (int)(deadline - clock_ms()) : 1;
	return container_end_window(deck, instance, grace_ms ? left_ms : 0, err);
}

/* The host ends whatever has the instance in its environment, and the capsule does. */
int container_end_unknown(struct deck *deck UNUSED, const char *id UNUSED, struct error *err UNUSED)
{
	return 0;
}

/* Does another session's agent live in this container?  The environment of its processes names it.
 * True as well when that cannot be found out. */
static bool has_others(const struct place_run *run)
{
	cleanup_free struct process_id *all = NULL;
	size_t count = 0;
	if (process_tree(&run->server, &all, &count, NULL) < 0)
		return true;
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *whose = NULL;
		if (process_variable(all[i].pid, ENV_INSTANCE, &whose, NULL) < 0 ||
		    (whose && !streq(whose, run->id)))
			return true;
	}
	return false;
}

int container_leave(const struct place_run *run, struct error *err)
{
	struct place_run window = *run;
	cleanup_capsule struct capsule *capsule = NULL;
	if (container_connect(run, &capsule, NULL) == 0)
		(void)capsule_stop(capsule, 0, NULL);
	else if (process_alive(&run->server) && has_others(run))
		log_warning("its container was left running: it does not answer, and another "
			    "session may live there");
	else if (end_process(run->id, &run->server, 0, err) < 0)
		log_error("%s", err->message);
	window.server = run->window;
	return place_host.leave(&window, err);
}

/* Without its name a prune takes an image that only we can build again. */
static int free_image(struct ladder *ladder, enum place_discard how, struct error *err)
{
	cleanup_free char *kept = xasprintf("agentdeck/keep:%s", ladder->instance->base);
	if (how == DISCARD_FOR_NOW && ladder->instance->recipe->build)
		return 0;
	return engine_untag(ladder->engine, kept, err) < 0 ? -1 : 0;
}

static int refuse_network(const struct instance *instance, struct error *err)
{
	return error_set(err, ERROR_BUSY,
			 "the network %s-net is used by another container: remove that first",
			 instance->base);
}

static int remove_container(struct ladder *ladder, enum place_discard how, struct error *err)
{
	struct instance *instance = ladder->instance;
	cleanup_free char *network = NULL;
	const bool is_ours = ladder->exists && ladder_is_ours(ladder);
	if (is_ours && guest_check_alone(ladder->deck, instance, instance, err) < 0)
		return -1;
	if (ladder->exists && !is_ours)
		deck_warn(ladder->deck, "the container %s is not this session's and was left alone",
			  instance->base);
	if (nested_remove(ladder, err) < 0)
		return -1;
	if (is_ours && engine_remove(ladder->engine, ladder->found.id, err) < 0)
		return -1;
	int r = ladder_find_network(ladder, &network, err);
	if (r == 0)
		r = engine_remove_network(ladder->engine, network, err);
	if (r == ENGINE_IN_USE)
		return refuse_network(instance, err);
	return r < 0 ? -1 : free_image(ladder, how, err);
}

/* May its engine have something of it? */
static bool has_something(const struct instance *instance)
{
	return instance_has_container(instance) || instance->recipe->build;
}

int container_check_discard(struct deck *deck, struct instance *instance, struct error *err)
{
	cleanup_ladder struct ladder ladder = { .deck = deck, .instance = instance };
	cleanup_free char *network = NULL;
	if (!has_something(instance))
		return 0;
	if (ladder_open(&ladder, err) < 0)
		return -1;
	const char *own = ladder.exists ? ladder.found.id : NULL;
	int r = ladder_find_network(&ladder, &network, err);
	if (r == 0)
		r = engine_check_network_users(ladder.engine, network, own, err);
	return r == ENGINE_IN_USE ? refuse_network(instance, err) : r < 0 ? -1 : 0;
}

int container_discard(struct deck *deck, struct instance *instance, enum place_discard how,
		      struct error *err)
{
	cleanup_ladder struct ladder ladder = { .deck = deck, .instance = instance };
	if (!has_something(instance))
		return PLACE_HAD_NOTHING;
	if (ladder_open(&ladder, err) < 0 || remove_container(&ladder, how, err) < 0) {
		if (how == DISCARD_FOR_GOOD && !instance_has_container(instance))
			replace_string(&instance->container_id, instance->base);
		return -1;
	}
	/* The next start says what went with it. */
	replace_string(&instance->container_id, ladder_is_new(instance) ? NULL : "");
	return ladder.exists && ladder_is_ours(&ladder) ? 0 : PLACE_HAD_NOTHING;
}
