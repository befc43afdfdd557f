/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/container-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/deck/hint.h"
#include "engine/deck/stages.h"
#include "engine/place/alive.h"
#include "engine/place/container/guest.h"
#include "engine/place/container/nested.h"
#include "engine/place/environment.h"

#include <string.h>

enum { CAPSULE_START_MS = 20000 /* an engine under load */ };

int container_prepare(struct deck *deck, struct instance *instance, const struct place_order *order,
		      struct error *err)
{
	if (guest_is(instance) && guest_follow(deck, order->lock, instance, err) < 0)
		return -1;
	free(instance->run.capsule);
	instance->run.capsule = container_capsule_directory(deck, instance);
	if (container_make_directories(deck, instance, err) < 0 ||
	    place_host.prepare(deck, instance, order, err) < 0)
		return -1;
	container_fill_home(deck, instance, order->agent, NULL);
	return container_write_files(deck, instance, err);
}

/* ---- the agent ----------------------------------------------------------------------------- */

static int start_agent(struct deck *deck, struct instance *instance, const struct agent *agent,
		       struct capsule *capsule, struct error *err)
{
	struct run *run = &instance->run;
	struct container_process process = {
		.instance = instance,
		.run = run->id,
		.attempt = (unsigned)run->attempt,
		.argv = &run_attempt(run)->argv,
		.size = place_screen_size(deck, instance),
	};
	environment_inside(deck, instance, agent, &process.environment);
	stages_enter(deck, STAGE_AGENT);
	return container_begin_process(&process, capsule, &run->pane, err);
}

int container_begin_attempt(struct deck *deck, struct store_lock *lock, struct instance *instance,
			    const struct agent *agent, struct error *err)
{
	const struct place_run run = place_run_of(instance);
	cleanup_capsule struct capsule *capsule = NULL;
	if (store_save(lock, instance, err) < 0)
		return -1;
	int r = container_connect(&run, &capsule, err);
	if (r > 0)
		return error_set(err, ERROR_TIMEOUT, "its container does not answer");
	if (r < 0)
		return -1;
	struct error failure = { 0 };
	r = start_agent(deck, instance, agent, capsule, &failure);
	if (r == 0 || failure.code != ERROR_CHILD)
		return r < 0 ? error_move(err, &failure) : r;
	/* The agent could not begin: the pane shows that, and takes the next attempt. */
	log_error("%s", failure.message);
	error_clear(&failure);
	return 0;
}

/* ---- the window ---------------------------------------------------------------------------- */

void container_pane_argv(const struct deck *deck, const struct instance *instance,
			 struct strvec *ret)
{
	const struct run *run = &instance->run;
	strvec_push(ret, deck->view);
	strvec_push(ret, run->capsule);
	strvec_push(ret, run->id);
	strvec_pushf(ret, "%zu", run->attempt);
	strvec_push_array(ret, (const char *const[]){ "--", deck->program, "--profile",
						      instance->profile, "hook", "--collect",
						      "--instance", instance->base, NULL });
}

/* The host starts the tmux server, and takes it and its pane for the run. */
static int launch_window(struct deck *deck, struct instance *instance,
			 const struct place_order *order, struct error *err)
{
	struct run *run = &instance->run;
	const struct process_id capsule = run->server, inside = run->pane;
	run->server = run->pane = run->window = (struct process_id){ 0 };
	stages_enter(deck, STAGE_WINDOW);
	int r = place_host.launch(deck, instance, order, err);
	run->window = run->server;
	run->server = capsule;
	run->pane = inside;
	return r;
}

/* ---- the container --------------------------------------------------------------------------- */

/* The capsule of a run whose container is up. */
static int await_capsule(const struct instance *instance, struct capsule **ret, struct error *err)
{
	const struct place_run run = place_run_of(instance);
	cleanup_capsule struct capsule *capsule = NULL;
	if (capsule_await(run.capsule, clock_ms() + CAPSULE_START_MS, &capsule, err) < 0)
		return -1;
	const int r = container_check_capsule(&run, capsule);
	if (r == CAPSULE_ABSENT)
		return error_set(err, ERROR_BUSY,
				 "another session's agent has its place in the container: stop "
				 "that one, and try again");
	if (r != 0)
		return error_set(err, ERROR_INVALID,
				 "process %d listens in the place of its capsule",
				 (int)capsule_process(capsule).pid);
	*ret = TAKE_PTR(capsule);
	return 0;
}

static int come_up(struct ladder *ladder, struct capsule **ret, struct error *err)
{
	struct process_id *server = &ladder->instance->run.server;
	cleanup_capsule struct capsule *capsule = NULL;
	if (ladder_open(ladder, err) < 0 || ladder_climb(ladder, err) < 0 ||
	    reach_await_capsule(ladder, clock_ms() + CAPSULE_START_MS, &capsule, err) < 0)
		return -1;
	*server = capsule_process(capsule);
	if (mounts_check_inside(ladder->instance->recipe, server, err) < 0 ||
	    nested_come_up(ladder, err) < 0)
		return -1;
	*ret = TAKE_PTR(capsule);
	return 0;
}

/* A container that ran before has what was mounted then: a file may have been replaced since, or it
 * was started by hand.  So it is started again, once. */
static int bring_up_own(struct ladder *ladder, struct capsule **ret, struct error *err)
{
	struct instance *instance = ladder->instance;
	const struct ladder again = { .deck = ladder->deck,
				      .instance = instance,
				      .order = ladder->order,
				      .guest = ladder->guest };
	struct error why = { 0 };
	if (come_up(ladder, ret, &why) == 0)
		return 0;
	if (why.code != ERROR_INVALID || !instance->run.server.pid || instance->came_back.tier)
		return error_move(err, &why);
	log_info("%s", why.message);
	error_clear(&why);
	if (guest_check_alone(ladder->deck, instance, ladder->guest ? ladder->guest : instance,
			      err) < 0)
		return error_prefix(err, "its container has to start again, because it does not "
					 "have mounted what the recipe says now");
	ladder_clear(ladder);
	*ladder = again;
	return container_end_capsule(ladder->deck, instance, 0, err) < 0
		       ? -1
		       : come_up(ladder, ret, err);
}

/* ---- in the container of another session ------------------------------------------------------ */

static int bring_up_container(const struct ladder *wish, struct capsule **ret, struct error *err)
{
	cleanup_ladder struct ladder ladder = *wish;
	struct instance *owner = ladder.instance;
	const struct place_run run = place_run_of(owner);
	if (container_connect(&run, ret, NULL) == 0) {
		owner->run.server = capsule_process(*ret);
		return 0;
	}
	/* What its own run has is not touched. */
	if (!owner->run.socket && (container_make_directories(ladder.deck, owner, err) < 0 ||
				   container_write_files(ladder.deck, owner, err) < 0))
		return -1;
	return bring_up_own(&ladder, ret, err);
}

/* A start that was killed may have left a command of the role behind. */
static int end_command(struct capsule **capsule, struct error *err)
{
	const struct process_id first = capsule_process(*capsule);
	const int r = capsule_stop(*capsule, 0, err);
	capsule_close(*capsule);
	*capsule = NULL;
	if (r == 0)
		(void)process_wait_end(&first, clock_ms() + CAPSULE_START_MS, NULL);
	return r < 0 ? -1 : 0;
}

/* The owner's container, its capsule in it, and all commands of its role have ended.  No agent of
 * the owner's is started. */
static int bring_up_owner(const struct ladder *wish, struct capsule **ret, struct error *err)
{
	enum { TRIES = 2 };
	struct instance *owner = wish->instance;
	if (!owner->run.capsule)
		owner->run.capsule = container_capsule_directory(wish->deck, owner);
	for (unsigned i = 0; i < TRIES; i++) {
		struct capsule_status status;
		if (bring_up_container(wish, ret, err) < 0 ||
		    capsule_status(*ret, clock_ms() + CAPSULE_ANSWER_MS, &status, err) < 0)
			return -1;
		/* The agent of the owner begins after the commands. */
		if (owner->run.socket && streq(status.run, or_empty(owner->run.id)))
			return 0;
		if (status.phase != CAPSULE_RUNNING)
			break;
		if (end_command(ret, err) < 0)
			return -1;
	}
	if (!*ret)
		return error_set(err, ERROR_BUSY,
				 "a command of the role runs in the container of session %s: try "
				 "again",
				 owner->id);
	if (events_run(wish->deck, owner, &wish->order, *ret, err) < 0)
		return -1;
	return 0;
}

static int refuse_old(struct deck *deck, const struct instance *owner, struct error *err)
{
	cleanup_free char *title = visible(owner->title);
	cleanup_free char *hint = hint_session(deck, owner->title, owner->id);
	return error_set(err, ERROR_INVALID,
			 "the container of '%s' was made or started by an earlier version of "
			 "agentdeck, and has no room for a second agent: agentdeck stop %s, "
			 "agentdeck eject %s, agentdeck start %s, and try again",
			 title, hint, hint, hint);
}

/* Start the guest's capsule.  ERROR_INVALID: the container is just ending. */
static int enter(struct deck *deck, struct instance *instance, const struct instance *owner,
		 bool is_idle, struct capsule *owners, struct error *err)
{
	cleanup_free char *variable = xasprintf(ENV_INSTANCE "=%s", instance->id);
	struct error why = { 0 };
	const struct capsule_guest guest = {
		.directory = instance->run.capsule,
		.variable = variable,
		.ends_with_it = is_idle,
	};
	int r = capsule_add_guest(owners, &guest, clock_ms() + CAPSULE_START_MS,
				  &instance->run.server, &why);
	const bool is_old = r == CAPSULE_OLD || why.code == ERROR_CHILD;
	if (!is_old)
		return r < 0 ? error_move(err, &why) : 0;
	error_clear(&why);
	return refuse_old(deck, owner, err);
}

/* What became of the container is told of the guest, too. */
static void note_owners_comeback(struct instance *instance, const struct instance *owner,
				 int64_t before)
{
	struct comeback *comeback = &instance->came_back;
	const struct attempt *attempt = run_attempt(&instance->run);
	const bool was_brought = owner->came_back.at != before;
	replace_string(&comeback->lost, was_brought ? owner->came_back.lost : NULL);
	comeback->tier = was_brought ? owner->came_back.tier : 0;
	comeback->rung = attempt ? attempt->rung : RUNG_NONE;
	comeback->at = instance->container_id ? clock_wall_us() : 0;
	/* The guest has been in this container, so its next start is a comeback. */
	replace_string(&instance->container_id, "");
}

/* The guest's capsule in the container of the owner, which is locked. */
static int bring_up_in(const struct ladder *owner, struct instance *instance, struct error *err)
{
	enum { TRIES = 2 };
	const struct place_run run = place_run_of(owner->instance);
	const bool is_idle = !run.socket || place_presence(&run) == PRESENCE_NONE;
	for (unsigned i = 0; i < TRIES; i++) {
		struct error why = { 0 };
		cleanup_capsule struct capsule *capsule = NULL;
		if (bring_up_owner(owner, &capsule, err) < 0)
			return -1;
		if (enter(owner->deck, instance, owner->instance, is_idle, capsule, &why) == 0)
			return 0;
		const struct process_id first = capsule_process(capsule);
		if (why.code != ERROR_INVALID || i + 1 == TRIES ||
		    process_wait_end(&first, clock_ms() + CAPSULE_START_MS, NULL) ==
			    PROCESS_STILL_ALIVE)
			return error_move(err, &why);
		error_clear(&why);
	}
	return 0;
}

static int bring_up_guest(struct ladder *guest, struct capsule **ret, struct error *err)
{
	struct deck *deck = guest->deck;
	struct instance *instance = guest->instance;
	cleanup_guest_owner struct guest_owner owner = { 0 };
	if (guest_open_owner(deck, instance->recipe->within, &guest->order, &owner, err) < 0)
		return -1;
	const int64_t before = owner.instance->came_back.at;
	struct ladder ladder = {
		.deck = deck, .instance = owner.instance, .order = guest->order, .guest = instance
	};
	ladder.order.lock = owner.lock;
	if (deck_agent(deck, owner.instance->agent, &ladder.order.agent, err) < 0)
		return -1;
	if (bring_up_in(&ladder, instance, err) < 0) {
		/* The owner does not run: end its capsule, and spare those of other guests. */
		if (!owner.instance->run.socket)
			(void)container_end_capsule(deck, owner.instance, 0, NULL);
		return -1;
	}
	note_owners_comeback(instance, owner.instance, before);
	return await_capsule(instance, ret, err);
}

static int bring_up(struct ladder *ladder, struct capsule **ret, struct error *err)
{
	return guest_is(ladder->instance) ? bring_up_guest(ladder, ret, err)
					  : bring_up_own(ladder, ret, err);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int begin(struct deck *deck, struct instance *instance, const struct place_order *order,
		 struct error *err)
{
	cleanup_ladder struct ladder ladder = {
		.deck = deck,
		.instance = instance,
		.order = *order,
	};
	cleanup_capsule struct capsule *capsule = NULL;
	/* container_run_command() may have brought it up for this run. */
	if ((instance->run.server.pid ? await_capsule(instance, &capsule, err)
				      : bring_up(&ladder, &capsule, err)) < 0)
		return -1;
	container_warn_of_secrets(deck, instance->recipe);
	if (events_run(deck, instance, order, capsule, err) < 0)
		return -1;
	if (container_hand_secrets(deck, instance, instance->run.id, capsule, err) < 0)
		return -1;
	if (instance->run.offer)
		return 0;
	return start_agent(deck, instance, order->agent, capsule, err);
}

/* ---- a command before the agent ------------------------------------------------------------ */

/* A start that was killed may have left its command behind, which is not to run now. */
static int bring_up_idle(struct deck *deck, struct instance *instance,
			 const struct place_command *command, struct capsule **ret,
			 struct error *err)
{
	enum { TRIES = 2 };
	for (unsigned i = 0; i < TRIES; i++) {
		cleanup_ladder struct ladder ladder = {
			.deck = deck,
			.instance = instance,
			.order = *command->order,
		};
		struct capsule_status status;
		if (bring_up(&ladder, ret, err) < 0 ||
		    capsule_status(*ret, clock_ms() + CAPSULE_ANSWER_MS, &status, err) < 0)
			return -1;
		if (status.phase != CAPSULE_RUNNING)
			return 0;
		if (capsule_stop(*ret, 0, err) < 0)
			return -1;
		capsule_close(*ret);
		*ret = NULL;
	}
	return error_set(err, ERROR_CHILD,
			 "another process runs in its container: free the container with "
			 "agentdeck session eject, and start again");
}

int container_run_command(struct deck *deck, struct instance *instance,
			  const struct place_command *command, struct child_result *ret,
			  struct error *err)
{
	cleanup_capsule struct capsule *capsule = NULL;
	return bring_up_idle(deck, instance, command, &capsule, err) < 0
		       ? -1
		       : container_run_in(capsule, deck, instance, command, ret, err);
}

/* The container may be paused as well. */
static int wake_up(struct deck *deck, struct instance *instance, const struct place_order *order,
		   struct capsule **ret, struct error *err)
{
	const struct place_run run = place_run_of(instance);
	if (container_connect(&run, ret, NULL) == 0)
		return 0;
	cleanup_guest_owner struct guest_owner owner = { 0 };
	if (guest_is(instance) &&
	    guest_open_owner(deck, instance->recipe->within, order, &owner, err) < 0)
		return -1;
	cleanup_ladder struct ladder ladder = {
		.deck = deck,
		.instance = owner.instance ? owner.instance : instance,
		.order = *order,
		.guest = owner.instance ? instance : NULL,
	};
	if (owner.lock)
		ladder.order.lock = owner.lock;
	return ladder_open(&ladder, err) < 0 || ladder_climb(&ladder, err) < 0 ||
			       await_capsule(instance, ret, err) < 0
		       ? -1
		       : 0;
}

/* The process that began the run may have been killed before it handed over the secrets. */
static int hand_missing_secrets(struct deck *deck, const struct instance *instance,
				struct capsule *capsule, struct error *err)
{
	struct capsule_status status;
	cleanup_error struct error why = { 0 };
	if (!instance->recipe->secret_count)
		return 0;
	if (capsule_status(capsule, clock_ms() + CAPSULE_ANSWER_MS, &status, err) < 0)
		return -1;
	if (status.phase == CAPSULE_EMPTY)
		return container_hand_secrets(deck, instance, instance->run.id, capsule, err);
	/* Another attempt may follow, or none. */
	if (status.phase == CAPSULE_ENDED &&
	    container_hand_secrets(deck, instance, instance->run.id, capsule, &why) < 0)
		log_warning("%s", why.message);
	return 0;
}

int container_open_window(struct deck *deck, struct instance *instance,
			  const struct place_order *order, struct error *err)
{
	const struct place_run run = place_run_of(instance);
	cleanup_capsule struct capsule *capsule = NULL;
	if (wake_up(deck, instance, order, &capsule, err) < 0 ||
	    hand_missing_secrets(deck, instance, capsule, err) < 0)
		return -1;
	if (!container_lacks_window(&run))
		return 0;
	if (container_end_window(deck, instance, 0, err) < 0)
		return -1;
	/* The files of the window are new; the run and its ladder are the old ones. */
	if (place_host.prepare(deck, instance, order, err) < 0 ||
	    container_write_files(deck, instance, err) < 0 ||
	    store_save(order->lock, instance, err) < 0)
		return -1;
	if (launch_window(deck, instance, order, err) < 0)
		return -1;
	replace_string(&instance->came_back.lost, NULL);
	instance->came_back = (struct comeback){ .at = clock_wall_us() };
	return 0;
}

int container_launch(struct deck *deck, struct instance *instance, const struct place_order *order,
		     struct error *err)
{
	const bool is_ours = stages_begin(deck) == 0;
	int r = begin(deck, instance, order, err);
	if (r == 0)
		r = launch_window(deck, instance, order, err);
	if (r < 0)
		(void)container_end(deck, instance, 0, NULL, NULL);
	/* A caller that has begun the stages waits for the agent, and ends them. */
	if (is_ours)
		stages_end(deck, r < 0 ? err : NULL);
	else if (r == 0)
		stages_enter(deck, STAGE_AGENT);
	return r;
}
