/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether, and when, an instance whose run is over is restarted automatically.
 *
 * The words are systemd.service(5)'s (Restart=, StartLimitBurst=): "no", "on-failure", "always".
 * The wish decides what counts as a failure: an agent that ends by itself, or is stopped, leaves
 * desired "stopped", unless its policy is "always"; whatever else ends it leaves "running".
 *
 * Pure: what is known goes in, the decision comes out.
 */
#pragma once

#include "model/session/instance.h"
#include "model/settings/settings.h"

enum restart_verdict {
	RESTART_LEAVE, /* not automatically: why tells */
	RESTART_AFTER, /* in delay_ms, 0: now */
	RESTART_LIMIT, /* not any more: it ended too often.  restart_hold() it */
};

struct restart_plan {
	enum restart_verdict verdict;
	int64_t delay_ms; /* for RESTART_AFTER */
	const char *why;  /* for RESTART_LEAVE; static, or instance->observed.held */
};

/* The decision for an instance of which nothing runs (the caller has looked).  relation: whose it
 * is (instance_relation()). What another machine ran, that machine restarts.  An end that came
 * with the machine's is not a failure of the agent, and whatever is to run comes back at once,
 * whatever its policy.  The caller gives MACHINE_EARLIER_BOOT also for an end that came with that
 * of the user manager. The first restart within the window is made at once, the second delay_s
 * after its end (observed.since), and each further one after twice as long, up to delay_max_s
 * (exponential backoff with jitter).  Up to half of a wait is left out, so that many do not start
 * in one moment; how much follows from the instance and its end, so that each question about the
 * same end has the same answer. What claims to be of the future (the clock was set back) does not
 * count, and is not waited for. */
struct restart_plan restart_decide(const struct instance *instance, const struct settings *settings,
				   enum machine_relation relation, int64_t now_us);

/* What holds for the instance: its own policy, else the general one. */
enum restart_policy restart_policy_of(const struct instance *instance,
				      const struct settings *settings);

/* Note that the session is restarted automatically, now.  Restarts of the future are forgotten. */
void restart_note(struct instance *instance, int64_t now_us);

/* What was noted last did not take place: nothing was started. */
void restart_unnote(struct instance *instance);

/* Nothing restarts it automatically until a user starts it: why. */
void restart_hold(struct instance *instance, enum hold kind, const char *why);

/* Is it held, now?  A background process of its agent does not outlive the machine's boot, and
 * neither does the hold for it.  relation: as for restart_decide(). */
bool restart_is_held(const struct instance *instance, enum machine_relation relation);

/* Restart the session automatically again from now on. */
void restart_release(struct instance *instance);

/* Why the session is held for the limit of these settings: "it ended 6 times within 600 s".  The
 * caller frees. */
char *restart_limit_text(const struct settings *settings) MUST_USE;

/* Why it ended, for people: this, and that no restart follows if its policy is the reason.  why:
 * may be NULL.  The caller frees. */
char *restart_end_text(const struct instance *instance, const struct settings *settings,
		       const char *why) MUST_USE;

/* A user asked: earlier restarts do not count any more. */
void restart_forget(struct instance *instance);
