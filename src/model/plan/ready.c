/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan/ready.h"

enum {
	QUIET_MS = 300,
	BLANK_QUIET_MS = 1500, /* nothing on the screen yet, or nothing ever */
	UNREPORTED_MS = 10000, /* an agent that should have reported by now will not */
	HIDDEN_BOX_MS = 2000,  /* a reported agent whose box we do not recognise */
	DIALOG_MS = 700,       /* a dialog this old does not go away by itself */
	DRAFT_MS = 1500,       /* a text this old in the box is a draft, and not one on its way */
};

/* An agent without a box on its screen, which it does not always show. */
static bool is_ready_without_box(const struct ready_facts *facts)
{
	if (facts->can_report && facts->has_reported) {
		/* The agent waits for the user, and we cannot see for what. */
		if (facts->activity == ACTIVITY_WAITING)
			return false;
		return !facts->has_box_pattern || facts->activity == ACTIVITY_BUSY ||
		       facts->waited_ms >= HIDDEN_BOX_MS;
	}
	if (facts->can_report && facts->lived_ms < UNREPORTED_MS)
		return false;
	return !facts->has_box_pattern &&
	       facts->quiet_ms >= (facts->is_blank ? BLANK_QUIET_MS : QUIET_MS);
}

static bool is_ready(const struct ready_facts *facts)
{
	if (facts->display == DISPLAY_READY)
		/* Keys before the report of the start have been seen to get lost. */
		return !facts->can_report || facts->has_reported ||
		       facts->lived_ms >= UNREPORTED_MS;
	return !facts->has_box && is_ready_without_box(facts);
}

/* NULL: it may be typed to. */
static const char *why_not(const struct ready_facts *facts)
{
	if (facts->display == DISPLAY_DIALOG)
		return "the agent asks something that only you should answer";
	if (facts->display == DISPLAY_ELSEWHERE)
		return "the agent shows a view that takes all keys";
	if (facts->display == DISPLAY_MODE)
		return "the agent's input box is in another mode, such as that of a shell";
	if (is_ready(facts))
		return NULL;
	if (facts->can_report && !facts->has_reported)
		return "the agent has not reported that it is up";
	if (facts->activity == ACTIVITY_WAITING)
		return "the agent waits for your answer";
	return facts->has_box_pattern ? "the agent shows no input box"
				      : "the agent's screen keeps changing";
}

/* Can only its user change that? */
static bool needs_user(const struct ready_facts *facts)
{
	if (facts->display == DISPLAY_DIALOG || facts->display == DISPLAY_ELSEWHERE ||
	    facts->display == DISPLAY_MODE)
		return true;
	return facts->has_box && facts->display == DISPLAY_OTHER && facts->has_reported &&
	       facts->activity != ACTIVITY_BUSY && facts->waited_ms >= HIDDEN_BOX_MS &&
	       facts->lived_ms >= UNREPORTED_MS;
}

static void note_since(int64_t *since, bool is_so, int64_t now)
{
	if (!is_so)
		*since = 0;
	else if (!*since)
		*since = now;
}

enum ready ready_judge(struct ready_wait *wait, const struct ready_facts *facts, int64_t now_ms,
		       const char **ret_why)
{
	const bool is_late = now_ms >= wait->deadline_ms;
	note_since(&wait->user_ms, needs_user(facts), now_ms);
	note_since(&wait->text_ms, facts->has_text, now_ms);
	*ret_why = "the agent is in the middle of a turn";
	if (facts->activity == ACTIVITY_BUSY && !wait->is_patient)
		return READY_NOT;
	*ret_why = why_not(facts);
	if (*ret_why) {
		const bool is_stuck = wait->user_ms && now_ms - wait->user_ms >= DIALOG_MS;
		return is_late || is_stuck ? READY_NOT : READY_WAIT;
	}
	if (!facts->has_text)
		return READY_NOW;
	*ret_why = "the input box contains unsent text";
	if (is_late)
		return READY_DRAFT;
	if (wait->replaces_draft)
		return READY_EMPTY_BOX;
	return now_ms - wait->text_ms < (wait->is_patient ? DRAFT_MS : READY_IMPATIENT_MS)
		       ? READY_WAIT
		       : READY_DRAFT;
}
