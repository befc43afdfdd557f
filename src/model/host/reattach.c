/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/host/reattach.h"

#include "base/macro.h"

#include <stddef.h>
#include <string.h>

enum {
	UNREACHABLE = 69, /* docs/link.md */
	SETTLED_MS = 10000,
	CHECK_MS = 5000, /* containers change the addresses of a machine all the time */
	SECOND_MS = 1000,
	MINUTE_MS = 60 * SECOND_MS,
	BRIEF_MAX = 3
};

/* When the next attempt is due, unless something happens. */
static int64_t next_ms(const struct reattach *reattach, int64_t now_ms)
{
	const int64_t lost_for_ms = now_ms - reattach->lost_ms;
	return reattach->tried_ms + (lost_for_ms < MINUTE_MS        ? SECOND_MS
				     : lost_for_ms < 45 * MINUTE_MS ? 5 * SECOND_MS
								    : MINUTE_MS);
}

static enum reattach_action try_now(struct reattach *reattach, int64_t now_ms)
{
	reattach->phase = REATTACH_TRYING;
	reattach->tried_ms = now_ms;
	reattach->due_ms = INT64_MAX;
	return REATTACH_TRY;
}

static enum reattach_action try_at(struct reattach *reattach, int64_t at_ms, int64_t now_ms)
{
	if (at_ms <= now_ms)
		return try_now(reattach, now_ms);
	reattach->phase = REATTACH_WAITING;
	reattach->due_ms = at_ms;
	return REATTACH_WAIT;
}

static enum reattach_action end(struct reattach *reattach, int status)
{
	reattach->status = status;
	return REATTACH_END;
}

static enum reattach_action when_ended(struct reattach *reattach, int status, int64_t now_ms)
{
	const bool is_new = now_ms - reattach->shown_ms >= SETTLED_MS || !reattach->lost_ms;
	/* A user who detaches may be faster than our kill. */
	if (status != REATTACH_SSH_FAILED && !(reattach->is_cut && status >= REATTACH_KILLED))
		return end(reattach, status);
	reattach->brief = is_new || reattach->is_cut ? 0 : reattach->brief + 1;
	reattach->ends_there = reattach->brief >= BRIEF_MAX;
	reattach->is_cut = false;
	reattach->is_lost = true;
	if (!reattach->is_ours || reattach->ends_there)
		return end(reattach, UNREACHABLE);
	if (is_new)
		reattach->lost_ms = now_ms;
	return try_at(reattach, is_new ? now_ms : next_ms(reattach, now_ms), now_ms);
}

static enum reattach_action when_shown(struct reattach *reattach, enum reattach_event event,
				       int status, int64_t now_ms)
{
	switch (event) {
	case REATTACH_NETWORK:
		if (!reattach->is_ours || now_ms - reattach->checked_ms < CHECK_MS)
			return REATTACH_WAIT;
		reattach->checked_ms = now_ms;
		return REATTACH_CHECK;
	case REATTACH_SILENT:
		reattach->is_cut = true;
		return REATTACH_CUT;
	case REATTACH_ENDED:
		return when_ended(reattach, status, now_ms);
	default:
		return REATTACH_WAIT;
	}
}

static enum reattach_action when_lost(struct reattach *reattach, enum reattach_event event,
				      int64_t now_ms)
{
	const bool tries = reattach->phase == REATTACH_TRYING;
	if (event == REATTACH_ANSWERS || event == REATTACH_SILENT)
		reattach->unnamed_ms = 0;
	else if (event == REATTACH_UNNAMED && !reattach->unnamed_ms)
		reattach->unnamed_ms = now_ms;
	switch (event) {
	case REATTACH_ANSWERS:
		reattach->phase = REATTACH_SHOWN;
		reattach->is_lost = false;
		reattach->shown_ms = reattach->checked_ms = now_ms;
		reattach->due_ms = INT64_MAX;
		return REATTACH_SHOW;
	case REATTACH_UNNAMED:
	case REATTACH_SILENT:
		/* A Pod reads its id from its volume within moments, or has none. */
		if (reattach->unnamed_ms && now_ms - reattach->unnamed_ms >= MINUTE_MS)
			return end(reattach, UNREACHABLE);
		reattach->brief = 0;
		return tries ? try_at(reattach, next_ms(reattach, now_ms), now_ms) : REATTACH_WAIT;
	case REATTACH_NETWORK:
	case REATTACH_KEY:
		return tries ? REATTACH_WAIT
			     : try_at(reattach, reattach->tried_ms + SECOND_MS, now_ms);
	case REATTACH_DUE:
		return tries ? REATTACH_WAIT : try_now(reattach, now_ms);
	case REATTACH_REFUSED:
	case REATTACH_LEAVE:
		return end(reattach, UNREACHABLE);
	case REATTACH_ENDED:
		break;
	}
	return REATTACH_WAIT;
}

enum reattach_action reattach_next(struct reattach *reattach, enum reattach_event event, int status,
				   int64_t now_ms)
{
	return reattach->phase == REATTACH_SHOWN ? when_shown(reattach, event, status, now_ms)
						 : when_lost(reattach, event, now_ms);
}

bool reattach_needs_user(const char *words)
{
	static const char *const refusals[] = { "Permission denied", "Host key verification failed",
						"Too many authentication failures",
						"is another machine than before" };
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		if (strstr(words, refusals[i]))
			return true;
	return false;
}
