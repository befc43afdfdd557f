/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/due.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/place/activityfile.h"
#include "engine/run/queue.h"
#include "engine/screen/deliver.h"
#include "engine/screen/recipient.h"
#include "engine/terminal/terminal.h"
#include "model/agent/display.h"
#include "model/session/state.h"

#include <string.h>

enum { DELIVER_MS = 30000, LEAVE_MS = 5000, LOOK_AGAIN_MS = 100 };

static const char *const names[] = {
	[DUE_NOTHING] = "nothing",
	[DUE_LATER] = "later",
	[DUE_SAID] = "said",
	[DUE_UNKNOWN] = "unknown",
};
_Static_assert(ARRAY_SIZE(names) == DUE_COUNT, "an outcome without a name");

const char *due_name(enum due due)
{
	return names[due];
}

static bool is_over(const struct activity *activity)
{
	return activity_may_continue(activity) &&
	       clock_wall_us() >= activity->limited_until + DUE_MARGIN_S * INT64_C(1000000);
}

/* Write after which limit it was told to continue last.  *ret_before: what was written before.
 * False: the limit is another matter by now. */
static bool mark(const char *directory, int64_t limited_until, int64_t continued_after,
		 int64_t *ret_before)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_activity struct activity now = { 0 };
	cleanup_announced struct announced announced = { 0 };
	if (activityfile_lock(directory, &lock, NULL) != 0)
		return false;
	activity_read(directory, &now);
	announced_read(directory, &announced);
	if (now.limited_until != limited_until || now.continued_after == continued_after)
		return false;
	*ret_before = now.continued_after;
	now.continued_after = continued_after;
	return activityfile_write(directory, &now, &announced, NULL) == 0;
}

static bool shows(const struct recipient *recipient, const struct strvec *patterns)
{
	cleanup_free char *screen = NULL;
	return patterns->count && terminal_screen(recipient->socket, &screen, NULL) == 0 &&
	       display_shows(patterns, screen);
}

static bool shows_menu(const struct recipient *recipient)
{
	return shows(recipient, &recipient->agent->limit_menu);
}

/* Some agents ask what to do about the limit.  The keys of their entry leave that.  1: the agent
 * continues by itself. */
static int leave_menu(struct deck *deck, const char *base, struct error *err)
{
	const int64_t deadline_ms = clock_ms() + LEAVE_MS;
	cleanup_recipient struct recipient recipient = { .deck = deck, .base = base };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	if (recipient_open(&recipient, err) < 0)
		return -1;
	if (shows(&recipient, &recipient.agent->limit_resumes))
		return 1;
	const struct strvec *keys = &recipient.agent->limit_keys;
	if (!keys->count || !shows_menu(&recipient))
		return 0;
	const int r = recipient_lock(&recipient, &lock, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	for (size_t i = 0; i < keys->count && shows_menu(&recipient); i++)
		if (!recipient_press(&recipient, keys->items[i]))
			return 0;
	/* No event tells of a screen that was drawn. */
	while (shows_menu(&recipient) && clock_ms() < deadline_ms)
		clock_pause_until(clock_ms() + LOOK_AGAIN_MS);
	return 0;
}

static enum due due_of(const struct delivery_result *result)
{
	if (result->reason)
		log_info("what is due: %s: %s", delivery_name(result->delivery), result->reason);
	return result->delivery == DELIVERY_SUBMITTED ? DUE_SAID
	       : result->delivery == DELIVERY_NOT_READY || result->delivery == DELIVERY_DRAFT
		       ? DUE_LATER
		       : DUE_UNKNOWN;
}

static int say(struct deck *deck, const char *base, const char *text, enum due *ret,
	       struct error *err)
{
	cleanup_delivery_result struct delivery_result result = { 0 };
	const struct delivery_request request = {
		.base = base,
		.text = text,
		.length = strlen(text),
		.timeout_ms = DELIVER_MS,
	};
	if (deliver(deck, &request, &result, err) < 0)
		return -1;
	*ret = due_of(&result);
	return 0;
}

static int say_continue(struct deck *deck, const struct instance *instance, int64_t limited_until,
			enum due *ret, struct error *err)
{
	const char *directory = instance->run.directory;
	int64_t before;
	const int left = leave_menu(deck, instance->base, err);
	if (left != 0)
		return left < 0 ? -1 : 0;
	if (!mark(directory, limited_until, limited_until, &before))
		return 0;
	log_info("its usage limit is over: it continues");
	const int r = say(deck, instance->base, "continue", ret, err);
	/* An error comes before the first key, too. */
	if (r < 0 || *ret == DUE_LATER)
		(void)mark(directory, limited_until, before, &before);
	return r;
}

static int say_queued(struct deck *deck, const char *base, enum due *ret, struct error *err)
{
	cleanup_queue_said struct queue_said said = { 0 };
	if (lifecycle_say_queued(deck, base, &said, err) < 0)
		return -1;
	if (said.verdict == QUEUE_SAY)
		*ret = due_of(&said.result);
	else if (said.verdict == QUEUE_STUCK)
		*ret = DUE_UNKNOWN;
	return 0;
}

int lifecycle_say_due(struct deck *deck, const char *base, enum due *ret, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_activity struct activity activity = { 0 };
	if (deck_load(deck, base, &instance, err) < 0)
		return -1;
	*ret = DUE_NOTHING;
	if (!state_is_running(instance->observed.state) || !instance->run.directory)
		return 0;
	activity_read(instance->run.directory, &activity);
	if (deck->settings.on_limit == LIMIT_CONTINUE && is_over(&activity))
		return say_continue(deck, instance, activity.limited_until, ret, err);
	if (!instance->queue_count)
		return 0;
	/* A limit that is over may have left a menu, in which no message can be typed. */
	const int left = is_over(&activity) ? leave_menu(deck, base, err) : 0;
	return left == 0 ? say_queued(deck, base, ret, err) : left < 0 ? -1 : 0;
}
