/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether, and when, an instance whose run is over is brought back without anybody asking.
 *
 * The words are systemd.service(5)'s (Restart=, StartLimitBurst=): "no", "on-failure", "always".  What counts as a
 * failure is told by the wish: an agent that ends by itself, or is stopped, leaves desired "stopped", unless its
 * policy is "always"; whatever else ends it leaves "running".
 *
 * Pure: what is known goes in, the decision comes out.
 */
#pragma once

#include "model/instance.h"
#include "model/settings.h"

enum restart_verdict {
	RESTART_LEAVE, /* not unasked: why tells */
	RESTART_AFTER, /* in delay_ms */
	RESTART_LIMIT, /* not any more: it ended too often.  restart_hold() it */
};

struct restart_plan {
	enum restart_verdict verdict;
	int64_t delay_ms;  /* for RESTART_AFTER */
	const char *why;   /* for RESTART_LEAVE; static, or instance->observed.held */
};

/* The decision for an instance of which nothing runs (the caller has looked).  boot_id is this boot's: an end that came with
 * the machine's is no failure of the agent, and whatever is to run comes back at once, whatever its policy.
 * The first restart within the window is made at once, the second after delay_s, and each further one after
 * twice as long, up to delay_max_s; random, any number, takes up to half off a wait, so that many do not start in one
 * moment.  Restarts that claim to be of the future (the clock was set back) count as just made. */
struct restart_plan restart_decide(const struct instance *instance, const struct settings *settings,
				   const char *boot_id, int64_t now_us, uint32_t random);

/* It is being brought back unasked, now. */
void restart_note(struct instance *instance, int64_t now_us);

/* Nobody brings it back unasked until somebody starts it: why. */
void restart_hold(struct instance *instance, const char *why);

/* Why it is held for the limit of these settings: "it ended 6 times within 600 s".  The caller frees. */
char *restart_limit_text(const struct settings *settings) MUST_USE;

/* Somebody asked: what was before does not count any more. */
void restart_forget(struct instance *instance);
