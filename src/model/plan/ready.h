/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * May an agent be typed to now?  If not, is it worth while to wait?
 *
 * Pure: the caller looks at the screen and reads the reports.
 */
#pragma once

#include "model/agent/display.h"

/* What is known of the agent at one moment. */
struct ready_facts {
	bool can_report, has_reported;
	enum instance_activity activity;
	bool has_box_pattern;
	bool has_box;  /* it is there whenever the agent takes a message */
	bool has_text; /* in that box: one on its way, or a draft of the user's */
	enum display_state display;
	int64_t waited_ms; /* since the caller began to wait */
	int64_t lived_ms;  /* since the attempt began */
	int64_t quiet_ms;  /* how long the screen has been the same */
	bool is_blank;     /* there is nothing on it */
};

/* "At once", for what can only be told by looking twice: as long as an impatient caller waits. */
enum { READY_IMPATIENT_MS = 600 };

/* One wait.  Times as of clock_ms(). */
struct ready_wait {
	bool is_patient;     /* until the agent has finished its turn */
	bool replaces_draft; /* what is in the box is deleted */
	int64_t deadline_ms;
	int64_t user_ms, text_ms; /* ready_judge()'s own */
};

enum ready {
	READY_NOW,
	READY_WAIT,
	READY_EMPTY_BOX, /* press a key that deletes what is in the box, and wait */
	READY_DRAFT,     /* no: the user's text is in the box */
	READY_NOT,
};

/* *ret_why, for the last two: one clause for people; static. */
enum ready ready_judge(struct ready_wait *wait, const struct ready_facts *facts, int64_t now_ms,
		       const char **ret_why);
