/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lifecycle_start(): the steps of a start and of a restart, in their order.
 */
#include "engine/run/start.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/store/reserve.h"
#include "engine/conversation/conversation.h"
#include "engine/conversation/location.h"
#include "engine/conversation/report.h"
#include "engine/deck/hint.h"
#include "engine/hosts/kept.h"
#include "engine/place/environment.h"
#include "engine/place/gaps.h"
#include "engine/run/ending.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/run/need.h"
#include "engine/run/outside.h"
#include "engine/screen/screen.h"
#include "engine/workspace/setup.h"
#include "engine/workspace/tree.h"
#include "model/plan/restart.h"
#include "model/session/naming.h"

#include <string.h>

enum { DRAW_MS = 2000, DRAW_STEP_MS = 20 };

/* May the run be ended and started again?  Asked before anything is ended. */
static int check_restart(struct operation *operation, enum start_wish wish, struct error *err)
{
	struct instance *instance = operation->instance;
	const char *own = getenv(ENV_RUN);
	if (own && instance->run.id && streq(own, instance->run.id))
		return error_set(
			err, ERROR_INVALID,
			"%s cannot be restarted from inside: ending it would end this command, too",
			instance->id);
	/* The conversation may have moved, and the report may be late. */
	if (operation_find_agent(operation, err) < 0 ||
	    location_refresh(instance, operation->agent, err) < 0 ||
	    (wish != START_FRESH &&
	     location_check_home(operation->deck, instance, operation->agent, err) < 0))
		return -1;
	return instance->run.socket ? lifecycle_check_before_end(operation, err)
				    : lifecycle_check(operation, err);
}

/* Something is there, and it is not known what. */
int lifecycle_unknown(const struct operation *operation, const char *why, struct error *err)
{
	const struct instance *instance = operation->instance;
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *hint = hint_session(operation->deck, instance->title, instance->id);
	return error_set(
		err, ERROR_TIMEOUT,
		"%s exists, but %s: it was not started a second time. Wait, or end it with "
		"agentdeck session stop %s",
		title, why, hint);
}

static struct place_order place_order_of(const struct operation *operation,
					 const struct lifecycle_order *order)
{
	struct place_order begin = order->place;
	begin.lock = operation->lock;
	begin.agent = operation->agent;
	return begin;
}

int lifecycle_open_window(struct operation *operation, const struct lifecycle_order *order,
			  const struct observation *seen, struct error *err)
{
	struct instance *instance = operation->instance;
	if (operation_find_agent(operation, err) < 0)
		return -1;
	const struct place_order begin = place_order_of(operation, order);
	if (operation->place->open_window(operation->deck, instance, &begin, err) < 0)
		return -1;
	log_info("its window was gone: opened again");
	if (operation_save(operation, err) < 0)
		return -1;
	return run_is_shell(&instance->run) ? 0 : operation_note_alive(operation, seen, err);
}

/* An agent that the user started in the shell would end with the shell. */
static int check_shell(const struct operation *operation, struct error *err)
{
	const struct instance *instance = operation->instance;
	struct process_id holder;
	if (!run_is_shell(&instance->run) ||
	    !outside_find_beside(operation->deck, instance, &holder))
		return 0;
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *hint = hint_session(operation->deck, instance->title, instance->id);
	return error_set(
		err, ERROR_EXISTS,
		"%s was not started: its conversation is open in process %d, in the shell in "
		"its place. Go there with agentdeck attach %s, or end it with agentdeck "
		"session stop %s",
		title, (int)holder.pid, hint, hint);
}

/* What the run is now; a run that is gone, or is only a shell in the agent's place, is cleared
 * away. LIFECYCLE_ALIVE: it runs. */
enum { LIFECYCLE_ALIVE = 1 };
static int clear_remains(struct operation *operation, const struct lifecycle_order *order,
			 struct error *err)
{
	struct instance *instance = operation->instance;
	const struct place *place = operation->place;
	if (!instance->run.socket)
		return 0;
	const struct observation seen = *operation_look(operation);
	const struct need_facts facts = {
		.state = instance->observed.state,
		.desired = DESIRED_RUNNING,
		.presence = seen.presence,
		.is_shell = run_is_shell(&instance->run),
		.lacks_window = seen.lacks_window,
	};
	const enum need need = need_of(&facts);
	const bool stopping = need == NEED_FINISH;
	if (need == NEED_ANSWER)
		return lifecycle_unknown(operation, seen.why, err);
	if (need == NEED_WINDOW)
		return lifecycle_open_window(operation, order, &seen, err) < 0 ? -1
									       : LIFECYCLE_ALIVE;
	if (need == NEED_NOTHING)
		return operation_note_alive(operation, &seen, err) < 0 ? -1 : LIFECYCLE_ALIVE;
	if (seen.presence != PRESENCE_NONE && ((!stopping && check_shell(operation, err) < 0) ||
					       lifecycle_check_before_end(operation, err) < 0))
		return -1;
	log_info("the last run is over: %s", seen.why   ? seen.why
					     : stopping ? "it was being stopped"
							: "a shell in the agent's place");
	/* The server is gone, but what it left behind may still hold the conversation. */
	if ((stopping ? lifecycle_end_run(operation, err)
		      : place->end(operation->deck, instance, 0, NULL, err)) < 0)
		return -1;
	/* The run's attempts are still to be read; its processes belong to no boot any more. */
	replace_string(&instance->run.boot_id, NULL);
	replace_string(&instance->run.machine_id, NULL);
	replace_string(&instance->run.pid_namespace, NULL);
	return 0;
}

void lifecycle_log_attempt(const struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	if (attempt->rung == RUNG_RESUME)
		log_info("resume: id=%s reason=%s", attempt->session_id, attempt_reason(attempt));
	else
		log_info("resume: none reason=%s id=%s", attempt_reason(attempt),
			 attempt->session_id ? attempt->session_id : "none");
}

/* Two agents must not write into one conversation.  What the agents of agentdeck have is claimed
 * already, so this finds one that its user runs elsewhere. */
static int check_outside(const struct operation *operation, struct error *err)
{
	const struct instance *instance = operation->instance;
	cleanup_free char *title = visible(instance->title);
	const struct outside_own none = { 0 };
	struct process_id holder;
	switch (outside_find(operation, &none, &holder)) {
	case OUTSIDE_MACHINE:
		return error_set(
			err, ERROR_EXISTS,
			"%s was not started: process %d on another machine had its "
			"conversation, and it is not known here whether it has ended. When it "
			"has, start the session with --take-over",
			title, (int)holder.pid);
	case OUTSIDE_PROCESS:
		return error_set(
			err, ERROR_EXISTS,
			"%s was not started: its conversation is open in process %d, which "
			"agentdeck did not start. Take it over with agentdeck adopt %d, or end "
			"that agent, and start the session again",
			title, (int)holder.pid, (int)holder.pid);
	case OUTSIDE_NOTHING:
		break;
	}
	return 0;
}

/* From here on the instance has the run's places and its ladder. */
static int plan_run(const struct operation *operation, enum transcript_fact fact,
		    const struct lifecycle_order *order, struct error *err)
{
	const struct place_order begin = place_order_of(operation, order);
	struct deck *deck = operation->deck;
	struct instance *instance = operation->instance;
	run_clear(&instance->run);
	instance->run.id = naming_new_uuid();
	log_set_run(instance->run.id);
	if (operation->place->prepare(deck, instance, &begin, err) < 0) {
		run_clear(&instance->run);
		return -1;
	}
	const struct planning planning = {
		.deck = deck,
		.order = &begin,
		.instance = instance,
		.agent = operation->agent,
		.fact = fact,
		.purpose = order->wish == START_FRESH ? PLAN_FRESH : PLAN_RESUME,
	};
	if (conversation_plan(&planning, err) < 0 || check_outside(operation, err) < 0) {
		(void)operation->place->end(deck, instance, 0, NULL, NULL);
		run_clear(&instance->run);
		return -1;
	}
	/* While it lives, a later start must not resume what it has. */
	if (outside_taken(operation, NULL) == TAKEN_ENDED)
		taken_clear(&instance->taken);
	instance->run.attempt_since = clock_wall_us();
	instance->run.attempt_since_boot_ms = clock_ms();
	lifecycle_log_attempt(instance);
	return 0;
}

/* Not with the agent's run, which holds its conversation: others would wait as long as it takes.
 * What a kill leaves in the container is ended by the next start. */
static int set_up_inside(struct operation *operation, const struct lifecycle_order *order,
			 struct error *err)
{
	const struct place_order begin = place_order_of(operation, order);
	struct deck *deck = operation->deck;
	struct instance *instance = operation->instance;
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	struct error failure = { 0 };
	const struct place_command command = {
		.order = &begin,
		.argv = &argv,
		.is_users = true,
		.timeout_ms = (int)(deck->settings.setup_timeout_s * 1000),
	};
	if (!setup_begin_inside(deck, instance, &argv))
		return 0;
	/* The old run's attempts are still to be read. */
	struct run before = instance->run;
	instance->run = (struct run){ .id = naming_new_uuid() };
	int r = operation->place->prepare(deck, instance, &begin, &failure);
	if (r == 0) {
		r = operation->place->run_command(deck, instance, &command, &result, &failure);
		(void)operation->place->end(deck, instance, 0, NULL, NULL);
	}
	run_clear(&instance->run);
	instance->run = before;
	/* The agent has not run: it still has to. */
	if (r < 0 && failure.code != ERROR_TIMEOUT)
		return error_move(err, &failure);
	return setup_end_inside(deck, operation->lock, instance, &result, r < 0 ? &failure : NULL,
				err);
}

static void log_missing(const struct deck *deck, const struct instance *instance)
{
	cleanup_strvec struct strvec missing = { 0 };
	environment_missing(instance, &missing);
	cleanup_free char *names = strvec_join(&missing, ", ");
	cleanup_free char *hint = hint_named(deck->profile, instance->id);
	if (missing.count)
		log_warning("the environment of its last start by hand had more: %s; run agentdeck "
			    "session restart %s where they are set, or write NAME=VALUE into "
			    "~/.config/environment.d/agents.conf",
			    names, hint);
}

static void take_terminal(struct instance *instance, const struct lifecycle_order *order)
{
	if (termsize_is_usual(&order->terminal))
		instance->terminal = order->terminal;
}

/* Other hosts can have the conversation.  A restart that its user did not ask for continues what
 * was open here.  Asked without a lock, since a host may be slow. */
static int check_hosts(struct deck *deck, const char *base, const struct lifecycle_order *order,
		       struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	const bool wakes = order->kind == START_TO_WAKE;
	if ((order->wish != START_RESUME && !wakes) || order->takes_over ||
	    order->has_asked_hosts || !deck->settings.hosts.count)
		return 0;
	if (deck_load(deck, base, &instance, err) < 0)
		return -1;
	const struct kept_question question = {
		.agent = instance->agent,
		.session_id = instance->conversation.session_id,
		.id = instance->id,
		.otherwise = wakes ? NULL : "add --take-over",
	};
	const bool is_there = order->kind != START_AFTER_STOP &&
			      state_is_running(instance->observed.state);
	return is_there ? 0 : kept_check(deck, &question, err);
}

/* Up to the intent on disk.  claim is held until then. */
static int want(struct operation *operation, const struct lifecycle_order *order,
		struct fs_lock *claim, struct error *err)
{
	struct deck *deck = operation->deck;
	struct instance *instance = operation->instance;
	const bool is_by_hand = order->wish != START_AGAIN;
	enum transcript_fact fact;
	if (report_take_note(deck, instance, operation->agent, claim, err) < 0 ||
	    conversation_reclaim_and_log(deck, instance, claim, err) < 0 ||
	    conversation_choose_and_log(deck, instance, operation->agent, &fact, err) < 0)
		return -1;
	if (order->wish == START_FRESH)
		location_forget_missing(instance);
	else if (location_check_home(deck, instance, operation->agent, err) < 0)
		return -1;
	/* Where it is started is known only now. */
	if (lifecycle_check(operation, err) < 0 ||
	    conversation_claim(deck, instance, operation->agent, claim, err) < 0 ||
	    plan_run(operation, fact, order, err) < 0)
		return -1;
	if (is_by_hand)
		environment_keep(deck, instance);
	if (is_by_hand || !instance->last_used_at)
		instance->last_used_at = clock_wall_us();
	return operation_note(operation, EVENT_START_WANTED, NULL, err) < 0 ? -1 : 0;
}

/* What a start without its intent on disk would take of conversations is not saved later: by then
 * another session can have it.  The old run stays, too: it shows where the conversation went. */
static int claim_and_want(struct operation *operation, const struct lifecycle_order *order,
			  struct error *err)
{
	cleanup_fs_lock struct fs_lock claim = FS_UNLOCKED;
	struct instance *instance = operation->instance;
	struct conversation conversation;
	struct run run;
	conversation_copy(&instance->conversation, &conversation);
	run_copy(&instance->run, &run);
	if (want(operation, order, &claim, err) == 0) {
		conversation_clear(&conversation);
		run_clear(&run);
		return 0;
	}
	conversation_clear(&instance->conversation);
	run_clear(&instance->run);
	instance->conversation = conversation;
	instance->run = run;
	return -1;
}

int lifecycle_start_locked(struct operation *operation, const struct lifecycle_order *order,
			   bool *ret_already, struct error *err)
{
	struct deck *deck = operation->deck;
	struct instance *instance = operation->instance;
	const int64_t last_used_at = instance->last_used_at;

	if (lifecycle_check_move(operation, err) < 0)
		return -1;
	if (order->kind == START_TO_WAKE && instance->desired == DESIRED_STOPPED)
		return error_set(err, ERROR_INVALID, "%s was stopped meanwhile", instance->id);
	int r = clear_remains(operation, order, err);
	if (r != 0) {
		*ret_already = r == LIFECYCLE_ALIVE;
		return r < 0 ? -1 : 0;
	}
	ending_forget(instance);
	take_terminal(instance, order);
	if (operation_find_agent(operation, err) < 0 ||
	    tree_ensure(deck, operation->lock, instance, err) < 0 ||
	    (order->leaves_setup && setup_leave(operation->lock, instance, err) < 0) ||
	    setup_run(deck, operation->lock, instance, err) < 0 ||
	    set_up_inside(operation, order, err) < 0 || claim_and_want(operation, order, err) < 0)
		return -1;
	gaps_warn(deck, instance);

	struct error failure = { 0 };
	const struct place_order begin = place_order_of(operation, order);
	if (operation->place->launch(deck, instance, &begin, &failure) < 0) {
		/* No agent has run: the first launch, with its prompt, is still to come. */
		instance->last_used_at = last_used_at;
		log_error("not started: %s", failure.message);
		(void)operation_note(operation, EVENT_START_FAILED, failure.message, NULL);
		return error_move(err, &failure);
	}
	/* The time that it took to get here is not the agent's. */
	instance->run.attempt_since_boot_ms = clock_ms();
	if (operation_note(operation, EVENT_STARTED, NULL, err) < 0)
		return error_prefix(err, "%s is running, but that could not be saved",
				    instance->id);
	reserve_keep(deck->store);
	log_missing(deck, instance);
	log_info("started: server=%d agent=%d unit=%s", (int)instance->run.server.pid,
		 (int)instance->run.pane.pid, instance->run.unit ? instance->run.unit : "none");
	*ret_already = false;
	return 0;
}

/* The first half of a restart. */
static int end_first(const struct operation *operation, const struct lifecycle_order *order,
		     struct error *err)
{
	bool was_running;
	/* Before the first save: a process that finishes the restart must find the same programs,
	 * and the same terminal. */
	environment_keep(operation->deck, operation->instance);
	take_terminal(operation->instance, order);
	if (lifecycle_end_locked(operation, EVENT_RESTART_WANTED, &was_running, err) < 0)
		return -1;
	log_info("stopped%s: starting it again", was_running ? "" : " (was not running)");
	return 0;
}

/* The user gets the error, so no other process has to finish the restart. */
static int give_up_restart(const struct operation *operation, struct error *err)
{
	(void)operation_note(operation, EVENT_RESTART_GIVEN_UP, NULL, NULL);
	return error_prefix(err, "%s was stopped and could not be started again",
			    operation->instance->id);
}

/* A restart ends whatever runs, and so does a stop: their user asks for that. */
static int check_hold(const struct operation *operation, struct error *err)
{
	cleanup_free char *why = NULL;
	if (lifecycle_check_hold(operation, &why, err) < 0)
		return -1;
	cleanup_free char *title = visible(operation->instance->title);
	return why ? error_set(err, ERROR_INVALID, "%s was not started: it is %s", title, why) : 0;
}

void lifecycle_started_free(struct lifecycle_started *started)
{
	instance_free(started->instance);
	free(started->unreported);
	*started = (struct lifecycle_started){ 0 };
}

int lifecycle_start(struct deck *deck, const char *base, const struct lifecycle_order *order,
		    struct lifecycle_started *ret, struct error *err)
{
	const bool restart = order->kind == START_AFTER_STOP;
	cleanup_operation struct operation operation = { 0 };
	bool already = false;

	if (check_hosts(deck, base, order, err) < 0 ||
	    operation_open_settled(deck, base, &operation, err) < 0 ||
	    operation_admit(&operation, order->takes_over, err) < 0 ||
	    lifecycle_check_move(&operation, err) < 0 ||
	    (restart && check_restart(&operation, order->wish, err) < 0))
		return -1;
	struct instance *instance = operation.instance;
	const bool was_archived = instance_archived_at(instance) != 0;
	if (!restart && check_hold(&operation, err) < 0)
		return -1;
	restart_forget(instance);
	if (order->once)
		replace_string(&instance->once, order->once);
	if (restart && end_first(&operation, order, err) < 0)
		return -1;
	if (lifecycle_start_locked(&operation, order, &already, err) < 0)
		return restart && !state_is_running(instance->observed.state)
			       ? give_up_restart(&operation, err)
			       : -1;
	*ret = (struct lifecycle_started){ .already = already,
					   .was_archived = was_archived,
					   .outcome = OUTCOME_ALIVE };
	ret->instance = TAKE_PTR(operation.instance);
	return 0;
}

/* The view draws the screen as soon as it is connected. */
static void await_drawing(struct deck *deck, const struct instance *instance)
{
	const int64_t deadline_ms = clock_ms() + DRAW_MS;
	bool is_blank = true;
	while (is_blank && clock_ms() < deadline_ms) {
		cleanup_free char *text = NULL;
		is_blank = screen_text(deck, instance, 0, &text, NULL) == 0 &&
			   !text[strspn(text, " \n")];
		if (is_blank)
			clock_pause_until(clock_ms() + DRAW_STEP_MS);
	}
}

/* Most sessions have theirs, so the lock is for those that do not. */
int lifecycle_show(struct deck *deck, const char *base, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_operation struct operation operation = { 0 };
	if (deck_load(deck, base, &instance, err) < 0)
		return -1;
	const struct place_run run = place_run_of(instance);
	if (!place_is_live(&run) || !place_lacks_window(&run))
		return 0;
	if (operation_open_settled(deck, base, &operation, err) < 0 ||
	    operation_admit(&operation, false, err) < 0)
		return -1;
	const struct observation *seen = operation_look(&operation);
	if (seen->presence != PRESENCE_ALIVE || !seen->lacks_window)
		return 0;
	if (lifecycle_open_window(&operation, &(struct lifecycle_order){ 0 }, seen, err) < 0)
		return -1;
	cleanup_instance struct instance *shown = TAKE_PTR(operation.instance);
	/* The view's pane may need the lock. */
	operation_close(&operation);
	await_drawing(deck, shown);
	return 0;
}
