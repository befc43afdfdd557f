/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lifecycle_wait(): does the agent stay?
 */

#include "base/clock.h"
#include "driver/store/store-watch.h"
#include "engine/conversation/unreported.h"
#include "engine/deck/transition.h"
#include "engine/place/alive.h"
#include "engine/run/start.h"
#include "engine/screen/screen.h"
#include "model/agent/display.h"

#include <fcntl.h>

enum { EARLY_DEATH_MS = 1000, QUIET_MS = 1000 };

/* What the manifest says now about the run; true: there is nothing to wait for any more. */
static bool judge_wait(const struct instance *now, const struct instance *before, bool reports,
		       int64_t now_ms, enum lifecycle_outcome *ret)
{
	const struct attempt *attempt = run_attempt(&now->run);
	if (!attempt || !streq(or_empty(now->run.id), or_empty(before->run.id))) {
		*ret = OUTCOME_ENDED;
		return true;
	}
	if (attempt->rung == RUNG_SHELL) {
		*ret = OUTCOME_SHELL;
		return true;
	}
	if (now->run.offer) {
		*ret = OUTCOME_OFFERED;
		return true;
	}
	if (now->run.reported) {
		*ret = OUTCOME_REPORTED;
		return true;
	}
	*ret = OUTCOME_ALIVE;
	return !reports && now_ms - now->run.attempt_since_boot_ms >= EARLY_DEATH_MS;
}

/* Does its screen show something that its entry knows? */
static bool is_on_screen(struct deck *deck, const struct instance *instance,
			 const struct agent *agent)
{
	cleanup_free char *text = NULL;
	return screen_text(deck, instance, 0, &text, NULL) == 0 &&
	       (display_judge(agent, text, NULL) != DISPLAY_OTHER ||
		display_activity(agent, text) != ACTIVITY_UNKNOWN);
}

/* May more be expected of it than that it does not end at once?  One that has to say something
 * first may be silent for hours. */
static bool is_to_report(const struct instance *now, const struct agent *agent)
{
	cleanup_free char *off = unreported_setting(now, agent);
	return !off && agent_reports(agent) && agent->report_binds == BINDS_START &&
	       now->run.directory && access(now->run.directory, F_OK) == 0;
}

/* When to look again; tell the listener before the wait becomes long. */
static int64_t next_look(const struct instance *now, bool reports, int64_t deadline, int64_t loud)
{
	int64_t next = reports ? deadline : now->run.attempt_since_boot_ms + EARLY_DEATH_MS;
	if (loud && loud < next)
		next = loud;
	return next < deadline ? next : deadline;
}

static int wait_for_outcome(struct deck *deck, struct lifecycle_started *started,
			    const struct agent *agent, const struct lifecycle_listener *listener,
			    struct error *err)
{
	struct instance **instance = &started->instance;
	cleanup_store_watch struct store_watch *watch = NULL;
	if (store_watch_open(deck->store, (*instance)->base, NULL, &watch, err) < 0)
		return -1;
	const int64_t deadline = clock_ms() + deck->settings.probation_s * 1000;
	int64_t loud = listener ? clock_ms() + QUIET_MS : 0;
	for (;;) {
		cleanup_instance struct instance *now = NULL;
		enum lifecycle_outcome outcome = OUTCOME_ALIVE;
		int r = store_load(deck->store, (*instance)->base, &now, err);
		if (r != 0)
			return r < 0 ? -1
				     : error_set(err, ERROR_NOT_FOUND,
						 "session %s was removed in the meantime",
						 (*instance)->id);
		const bool reports = is_to_report(now, agent);
		int64_t now_ms = clock_ms();
		bool done = judge_wait(now, *instance, reports, now_ms, &outcome);
		const struct place_run run = place_run_of(now);
		/* A killed server cannot record its end.  A later command does it, under the
		 * lock. */
		if (outcome == OUTCOME_ALIVE && place_presence(&run) == PRESENCE_NONE) {
			(void)transition(NULL, now, EVENT_LOST, place_end_reason(&run), NULL);
			outcome = OUTCOME_ENDED;
			done = true;
		}
		if (done || now_ms >= deadline) {
			instance_free(*instance);
			*instance = TAKE_PTR(now);
			started->outcome = outcome;
			return 0;
		}
		if (loud && now_ms >= loud) {
			if (reports)
				listener->waits(listener->context, now,
						(deadline - now_ms + 999) / 1000);
			loud = 0;
		}
		if (store_watch_wait(watch, next_look(now, reports, deadline, loud), err) < 0)
			return -1;
	}
}

int lifecycle_wait(struct deck *deck, struct lifecycle_started *started,
		   const struct lifecycle_listener *listener, struct error *err)
{
	const struct agent *agent;
	if (deck_agent(deck, started->instance->agent, &agent, err) < 0 ||
	    (!started->already && wait_for_outcome(deck, started, agent, listener, err) < 0))
		return -1;
	free(started->unreported);
	started->unreported = unreported_why(deck, started->instance, agent);
	started->verified = started->outcome == OUTCOME_REPORTED ||
			    (started->already && started->instance->run.reported) ||
			    (started->outcome == OUTCOME_ALIVE &&
			     is_on_screen(deck, started->instance, agent));
	return 0;
}
