/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/queue.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/place/activityfile.h"
#include "engine/place/runfiles.h"
#include "engine/run/operation.h"
#include "engine/screen/recipient.h"
#include "model/session/naming.h"
#include "model/session/state.h"

#include <stdio.h>
#include <string.h>

/* In the run's directory: held by the process that types. */
#define QUEUE_LOCK "queue.lock"

enum {
	DELIVER_MS = 30000,
	/* The screen was looked at before: it would be another one after a longer wait. */
	BEGIN_MS = 1000,
};

void queue_said_free(struct queue_said *said)
{
	delivery_result_free(&said->result);
}

void queue_place_free(struct queue_place *place)
{
	queue_said_free(&place->said);
}

/* ---- what is known ---------------------------------------------------------------------------- */

static void gather(const struct deck *deck, const struct instance *instance,
		   struct queue_facts *ret)
{
	cleanup_activity struct activity activity = { 0 };
	const bool is_running = state_is_running(instance->observed.state) &&
				instance->run.directory;
	if (is_running)
		activity_read(instance->run.directory, &activity);
	*ret = (struct queue_facts){
		.count = instance->queue_count,
		.head = instance->queue_count ? instance->queue[0].state : QUEUED_WAITS,
		.is_running = is_running,
		.activity = activity.activity,
		.since_us = activity.since,
		.prompts = activity.queued,
		.is_limited = activity.failure && streq(activity.failure, FAILURE_LIMIT),
		.limited_until_us = activity.limited_until,
		.has_failed = activity.failure && !streq(activity.failure, FAILURE_LIMIT),
		.continues = deck->settings.on_limit == LIMIT_CONTINUE &&
			     activity_may_continue(&activity),
		.said_us = instance->queue_said_at,
		.now_us = clock_wall_us(),
	};
}

enum queue_verdict lifecycle_queue_verdict(const struct deck *deck, const struct instance *instance)
{
	struct queue_facts facts;
	gather(deck, instance, &facts);
	return queue_decide(&facts);
}

int64_t lifecycle_queue_due_us(const struct deck *deck, const struct instance *instance)
{
	struct queue_facts facts;
	gather(deck, instance, &facts);
	return queue_due_us(&facts);
}

static bool is_typed_now(const struct instance *instance)
{
	cleanup_close int fd = instance->run.directory ? runfiles_open(instance->run.directory)
						       : -1;
	return fd >= 0 && fs_lock_is_held(fd, QUEUE_LOCK);
}

enum queued_state lifecycle_queued_state(const struct instance *instance,
					 const struct queued *queued)
{
	return queued->state == QUEUED_TYPING && !is_typed_now(instance) ? QUEUED_UNKNOWN
									 : queued->state;
}

/* ---- out -------------------------------------------------------------------------------------- */

int lifecycle_cancel_queued(struct deck *deck, const char *base, const char *id, size_t *ret_count,
			    struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	size_t count = 0;
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	for (size_t i = instance->queue_count; i-- > 0;) {
		const struct queued *queued = &instance->queue[i];
		if (id && !streq(queued->id, id))
			continue;
		if (lifecycle_queued_state(instance, queued) == QUEUED_TYPING)
			return error_set(err, ERROR_BUSY,
					 "message %s is typed at this moment: nothing was "
					 "cancelled, try again",
					 queued->id);
		instance_drop_queued(instance, i);
		count++;
	}
	cleanup_free char *shown = visible(or_empty(id));
	if (id && !count)
		return error_set(err, ERROR_NOT_FOUND,
				 "no queued message has the id '%s': agentdeck session queue %s "
				 "shows them",
				 shown, instance->id);
	if (count && operation_save(&operation, err) < 0)
		return -1;
	log_info("queue: %zu cancelled, %zu queued", count, instance->queue_count);
	*ret_count = count;
	return 0;
}

/* ---- typing ------------------------------------------------------------------------------------ */

struct typing {
	struct deck *deck;
	const char *base, *id, *run;
	bool has_begun;
	int64_t said_before; /* then */
};

/* struct delivery_request: the intent. */
static int begin(void *context, struct error *err)
{
	struct typing *typing = context;
	cleanup_operation struct operation operation = { 0 };
	if (operation_open(typing->deck, typing->base, BEGIN_MS, &operation, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	const enum queue_verdict verdict = lifecycle_queue_verdict(typing->deck, instance);
	if (verdict != QUEUE_SAY)
		return error_set(err, ERROR_INVALID, "%s", queue_why(verdict));
	if (!streq(or_empty(instance->run.id), typing->run))
		return error_set(err, ERROR_INVALID, "it was restarted");
	if (!streq(instance->queue[0].id, typing->id))
		return error_set(err, ERROR_INVALID, "the message was cancelled");
	typing->said_before = instance->queue_said_at;
	instance->queue[0].state = QUEUED_TYPING;
	instance->queue_said_at = clock_wall_us();
	typing->has_begun = true;
	return operation_save(&operation, err);
}

static bool was_typed(const struct delivery_result *result)
{
	return result->delivery != DELIVERY_NOT_READY && result->delivery != DELIVERY_DRAFT;
}

/* What came of it. */
static int finish(const struct typing *typing, const struct delivery_result *result,
		  struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (operation_open(typing->deck, typing->base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	struct queued *queued = instance_find_queued(instance, typing->id);
	if (!queued)
		return 0;
	if (result->delivery == DELIVERY_SUBMITTED) {
		instance_drop_queued(instance, (size_t)(queued - instance->queue));
	} else if (was_typed(result)) {
		queued->state = QUEUED_UNKNOWN;
		replace_string(&queued->why, result->reason);
	} else {
		queued->state = QUEUED_WAITS;
		instance->queue_said_at = typing->said_before;
	}
	log_info("queue: %s %s, %zu queued", typing->id, delivery_name(result->delivery),
		 instance->queue_count);
	return operation_save(&operation, err);
}

/* The process that typed has ended: the lock is ours. */
static int settle(struct deck *deck, const char *base, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	if (!instance->queue_count || instance->queue[0].state != QUEUED_TYPING)
		return 0;
	instance->queue[0].state = QUEUED_UNKNOWN;
	replace_string(&instance->queue[0].why, "agentdeck was ended while it typed");
	log_warning("queue: %s may have been typed: agentdeck was ended meanwhile",
		    instance->queue[0].id);
	return operation_save(&operation, err);
}

static int say(struct deck *deck, const struct instance *instance, struct queue_said *ret,
	       struct error *err)
{
	const struct queued *head = &instance->queue[0];
	struct typing typing = { .deck = deck,
				 .base = instance->base,
				 .id = head->id,
				 .run = or_empty(instance->run.id) };
	const struct delivery_request request = {
		.base = instance->base,
		.text = head->text,
		.length = strlen(head->text),
		.timeout_ms = DELIVER_MS,
		.is_raw = head->is_raw,
		.begin = begin,
		.context = &typing,
	};
	if (deliver(deck, &request, &ret->result, err) < 0)
		return -1;
	ret->was_typed = was_typed(&ret->result);
	return typing.has_begun ? finish(&typing, &ret->result, err) : 0;
}

/* FS_LOCK_BUSY: another process types.  The run may be over meanwhile: QUEUE_NO_RUN. */
enum { QUEUE_NO_RUN = 2 };
static int lock_typing(const struct instance *instance, struct fs_lock *ret, struct error *err)
{
	const char *directory = instance->run.directory;
	cleanup_close int fd = directory ? runfiles_open(directory) : -1;
	return fd < 0 ? QUEUE_NO_RUN : fs_lock(fd, QUEUE_LOCK, 0, ret, err);
}

static bool is_left(const struct instance *instance, enum queue_verdict verdict)
{
	return verdict == QUEUE_STUCK && instance->queue[0].state == QUEUED_TYPING;
}

/* Under the lock of the process that types. */
static int say_locked(struct deck *deck, const char *base, struct queue_said *ret,
		      struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	if (deck_load(deck, base, &instance, err) < 0)
		return -1;
	ret->verdict = lifecycle_queue_verdict(deck, instance);
	if (ret->verdict == QUEUE_SETTLES) {
		const int64_t left_us = lifecycle_queue_due_us(deck, instance) - clock_wall_us();
		clock_pause_until(clock_ms() + left_us / 1000 + 1);
		ret->verdict = lifecycle_queue_verdict(deck, instance);
	}
	if (is_left(instance, ret->verdict))
		return settle(deck, base, err);
	return ret->verdict == QUEUE_SAY ? say(deck, instance, ret, err) : 0;
}

int lifecycle_say_queued(struct deck *deck, const char *base, struct queue_said *ret,
			 struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	*ret = (struct queue_said){ 0 };
	if (deck_load(deck, base, &instance, err) < 0)
		return -1;
	ret->verdict = lifecycle_queue_verdict(deck, instance);
	if (ret->verdict != QUEUE_SAY && !is_left(instance, ret->verdict))
		return 0;
	const int r = lock_typing(instance, &lock, err);
	if (r == 0)
		return say_locked(deck, base, ret, err);
	ret->verdict = r == FS_LOCK_BUSY ? QUEUE_ANSWERS : QUEUE_REST;
	return r < 0 ? -1 : 0;
}

/* ---- in ---------------------------------------------------------------------------------------- */

static int check_length(const char *text, struct error *err)
{
	if (strlen(text) <= QUEUE_TEXT_MAX)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "the message has %zu bytes, and a queued one may have %d: put it into a "
			 "file and send the agent its name",
			 strlen(text), QUEUE_TEXT_MAX);
}

/* Would anything ever say that the agent is idle? */
static int check_knowable(const struct agent *agent, struct error *err)
{
	return agent_reports(agent) || agent->ready.count || agent->busy.count
		       ? 0
		       : error_set(err, ERROR_INVALID,
				   "agentdeck cannot tell when %s is idle, so it would never send "
				   "this: send it without --when-idle",
				   agent->title ? agent->title : agent->name);
}

static void append(struct instance *instance, const struct queue_order *order,
		   struct queue_place *ret)
{
	char *id = naming_new_id();
	instance->queue = xreallocarray(instance->queue, instance->queue_count + 1,
					sizeof(*instance->queue));
	instance->queue[instance->queue_count++] = (struct queued){
		.id = id,
		.text = xstrdup(order->text),
		.at = clock_wall_us(),
		.is_raw = order->is_raw,
	};
	(void)snprintf(ret->id, sizeof(ret->id), "%s", id);
	ret->count = instance->queue_count;
}

static int add(struct deck *deck, const struct queue_order *order, struct queue_place *ret,
	       struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (operation_open(deck, order->base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	if (instance->desired == DESIRED_ASLEEP)
		return QUEUE_ASLEEP;
	cleanup_free char *title = visible(instance->title);
	/* The agent may have been stopped, or have left, since the caller looked. */
	if (!state_is_running(instance->observed.state))
		return error_set(err, ERROR_INVALID, "%s does not run any more", title);
	if (instance->queue_count >= QUEUE_MAX)
		return error_set(err, ERROR_INVALID,
				 "%s has %d queued messages, and there may be no more: look at "
				 "them with agentdeck session queue %s",
				 title, QUEUE_MAX, instance->id);
	append(instance, order, ret);
	log_info("queue: %s bytes=%zu, %zu queued", ret->id, strlen(order->text), ret->count);
	return operation_save(&operation, err);
}

/* The lock keeps others from typing the message while the caller is to hear what came of it. */
int lifecycle_queue(struct deck *deck, const struct queue_order *order, struct queue_place *ret,
		    struct error *err)
{
	cleanup_recipient struct recipient recipient = { .deck = deck, .base = order->base };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_error struct error why = { 0 };
	cleanup_queue_place struct queue_place place = { 0 };
	struct queue_said other = { 0 };
	if (check_length(order->text, err) < 0 || recipient_open(&recipient, err) < 0 ||
	    deliver_check_text(recipient.agent, order->text, order->is_raw, err) < 0 ||
	    check_knowable(recipient.agent, err) < 0)
		return -1;
	const bool is_locked = lock_typing(recipient.instance, &lock, &why) == 0;
	const int r = add(deck, order, &place, err);
	if (r != 0)
		return r;
	/* The message is in the queue, whatever comes of the try.  Another one may be before it. */
	if (is_locked &&
	    say_locked(deck, order->base, place.count == 1 ? &place.said : &other, &why) < 0)
		log_warning("queue: %s", why.message);
	queue_said_free(&other);
	*ret = place;
	place = (struct queue_place){ 0 };
	return 0;
}
