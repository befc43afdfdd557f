/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Put a session to sleep, and wake it.
 *
 * Sleep is a stop with another wish (DESIRED_ASLEEP), which is saved before anything ends.  So
 * recover and the supervisor leave the session alone, a sleep that was cut off is finished as a
 * stop is, and any start ends it.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/plan/sleep.h"

/* How long the agent of the instance has to be idle, as its user wrote it, or "off". */
const char *lifecycle_sleep_after(const struct deck *deck, const struct instance *instance);
/* How long the agent of the instance has to be idle; 0: it never sleeps. */
int64_t lifecycle_sleep_after_us(const struct deck *deck, const struct instance *instance);

struct sleep_result {
	enum sleep_verdict verdict;
	int64_t delay_ms; /* of SLEEP_LATER */
};
/* Look, decide, and, unless it is a trial, end its run if it may sleep. */
int lifecycle_sleep(struct deck *deck, const char *base, bool is_trial, struct sleep_result *ret,
		    struct error *err);

/* Start it if it sleeps, or is about to, and wait for its agent.  LIFECYCLE_AWAKE: it does not
 * sleep, and nothing was done. */
enum { LIFECYCLE_AWAKE = 1 };
int lifecycle_wake(struct deck *deck, const char *base, struct error *err);
