/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/sleep.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/conversation/conversation.h"
#include "engine/place/activityfile.h"
#include "engine/place/alive.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/run/start.h"
#include "engine/screen/recipient.h"
#include "engine/terminal/terminal.h"
#include "model/agent/display.h"

const char *lifecycle_sleep_after(const struct deck *deck, const struct instance *instance)
{
	const char *own = instance->sleep_after, *usual = deck->settings.sleep_after;
	int64_t us;
	if (own && settings_sleep_us(own, &us))
		return own;
	return !own && usual ? usual : "off";
}

int64_t lifecycle_sleep_after_us(const struct deck *deck, const struct instance *instance)
{
	int64_t us = 0;
	return settings_sleep_us(lifecycle_sleep_after(deck, instance), &us) ? us : 0;
}

static void look_at_activity(const struct operation *operation, struct sleep_facts *facts)
{
	const struct settings *settings = &operation->deck->settings;
	const struct instance *instance = operation->instance;
	cleanup_activity struct activity activity = { 0 };
	activity_read(instance->run.directory, &activity);
	const int64_t idle_us = clock_wall_us() - activity.since;
	facts->activity = activity.activity;
	facts->idle_us = activity.since > 0 && idle_us > 0 ? idle_us : 0;
	/* An agent that will be told to continue after its limit has work. */
	const bool continues = activity_may_continue(&activity) &&
			       settings->on_limit == LIMIT_CONTINUE;
	facts->has_work = activity.has_tasks || activity.queued > 0 || continues ||
			  instance->queue_count;
}

static void look_at_screen(const struct operation *operation, struct sleep_facts *facts)
{
	const struct agent *agent = operation->agent;
	cleanup_display_screen struct display_screen screen = { 0 };
	cleanup_free char *styled = NULL;
	facts->shows_idle = facts->has_empty_box = false;
	if (terminal_styled_screen(operation->instance->run.socket, &styled, NULL) != 0)
		return;
	display_read(styled, &screen);
	cleanup_free char *typed = display_input(agent, &screen);
	facts->shows_idle = display_activity(agent, screen.text) == ACTIVITY_IDLE &&
			    !display_shows(&agent->tasks_shown, screen.text);
	facts->has_empty_box = agent->has_box && typed && !*typed;
}

/* What its user and its agent can change at any moment. */
static void look_at_use(struct operation *operation, struct sleep_facts *facts)
{
	look_at_activity(operation, facts);
	look_at_screen(operation, facts);
	facts->is_unwatched = !terminal_has_clients(operation->instance->run.socket);
}

/* Would the next start resume it?  The plan is made of a copy, since it changes the run. */
static bool is_resumable(struct operation *operation)
{
	struct deck *deck = operation->deck;
	cleanup_error struct error why = { 0 };
	cleanup_instance struct instance *instance = NULL;
	enum transcript_fact fact = TRANSCRIPT_UNKNOWN;
	if (conversation_policy(deck, operation->instance) != POLICY_AUTO ||
	    operation->instance->conversation.shared.session_id ||
	    store_load(deck->store, operation->instance->base, &instance, NULL) != 0 ||
	    !instance->conversation.session_id)
		return false;
	if (lifecycle_check_move(operation, &why) < 0 ||
	    lifecycle_check_before_end(operation, &why) < 0 ||
	    conversation_choose(deck, instance, operation->agent, &fact, &why) < 0 ||
	    conversation_foretell(deck, instance, operation->agent, &why) < 0) {
		log_info("does not sleep: %s", why.message);
		return false;
	}
	const struct attempt *attempt = run_attempt(&instance->run);
	return fact == TRANSCRIPT_TURNS && attempt && attempt->rung == RUNG_RESUME;
}

/* The dearest looks come last.  send: held while no message may begin. */
static void look(struct operation *operation, struct fs_lock *send, struct sleep_facts *facts)
{
	const struct instance *instance = operation->instance;
	const struct place_run run = place_run_of(instance);
	const struct attempt *attempt = run_attempt(&instance->run);
	facts->after_us = lifecycle_sleep_after_us(operation->deck, instance);
	if (!facts->after_us || instance->desired != DESIRED_RUNNING ||
	    !state_is_running(instance->observed.state) || !attempt ||
	    attempt->rung == RUNG_SHELL || instance->run.offer || !instance->run.socket ||
	    operation_find_agent(operation, NULL) < 0)
		return;
	const struct observation *seen = operation_look(operation);
	facts->is_running = seen->presence == PRESENCE_ALIVE && place_agent_is_live(&run);
	if (!facts->is_running)
		return;
	facts->is_undisturbed = recipient_lock_run(instance->run.directory, 0, send, NULL) == 0;
	look_at_activity(operation, facts);
	if (sleep_decide(facts) < SLEEP_WATCHED && facts->idle_us < facts->after_us)
		return;
	look_at_use(operation, facts);
	facts->is_unwatched = facts->is_unwatched && !seen->clients;
	facts->is_alone = place_is_alone(instance);
	facts->is_resumable = facts->is_alone && is_resumable(operation);
}

int lifecycle_sleep(struct deck *deck, const char *base, bool is_trial, struct sleep_result *ret,
		    struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_fs_lock struct fs_lock send = FS_UNLOCKED;
	struct sleep_facts facts = { 0 };
	bool was_running;
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0 ||
	    operation_admit(&operation, false, err) < 0)
		return -1;
	look(&operation, &send, &facts);
	/* The other looks may have taken long. */
	if (sleep_decide(&facts) == SLEEP_NOW)
		look_at_use(&operation, &facts);
	*ret = (struct sleep_result){ .verdict = sleep_decide(&facts) };
	if (ret->verdict == SLEEP_LATER)
		ret->delay_ms = (facts.after_us - facts.idle_us) / 1000 + 1;
	if (ret->verdict != SLEEP_NOW || is_trial)
		return 0;
	return lifecycle_sleep_locked(&operation, &was_running, err);
}

int lifecycle_wake(struct deck *deck, const char *base, struct error *err)
{
	/* Not as a start by hand: the variables of that one stay kept. */
	static const struct lifecycle_order order = { .kind = START_TO_WAKE, .wish = START_AGAIN };
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	cleanup_instance struct instance *instance = NULL;
	if (deck_load(deck, base, &instance, err) < 0)
		return -1;
	if (instance->desired != DESIRED_ASLEEP)
		return LIFECYCLE_AWAKE;
	log_info("it sleeps: waking it");
	if (lifecycle_start(deck, base, &order, &started, err) < 0)
		return -1;
	return lifecycle_wait(deck, &started, NULL, err);
}
