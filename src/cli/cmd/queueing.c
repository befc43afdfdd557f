/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/queueing.h"

#include "cli/cmd/message.h"
#include "cli/show/output.h"

#include "engine/deck/hint.h"
#include "engine/run/queue.h"
#include "engine/run/sleep.h"
#include "engine/run/start.h"
#include "engine/supervise/supervise.h"

/* A session may fall asleep before the message is in its queue: wake it again. */
static int queue_awake(struct deck *deck, const struct queue_order *order, struct queue_place *ret,
		       struct error *err)
{
	enum { TRIES = 2 };
	for (int i = 0; i < TRIES; i++) {
		if (lifecycle_wake(deck, order->base, err) < 0 ||
		    lifecycle_show(deck, order->base, err) < 0)
			return -1;
		const int r = lifecycle_queue(deck, order, ret, err);
		if (r != QUEUE_ASLEEP)
			return r;
	}
	return error_set(err, ERROR_BUSY, "the session falls asleep again and again: try again");
}

static int print_queued(struct app *app, const struct store_row *row,
			const struct queue_place *place)
{
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "delivery", "queued");
	json_set_string(object, "session_id", row->session_id);
	json_set_string(object, "message_id", place->id);
	json_set_int(object, "queued", (int64_t)place->count);
	if (!supervise_is_running(&app->deck))
		deck_warn(&app->deck, "no supervisor runs, which sends what is queued: "
				      "agentdeck doctor says how to get one");
	return print_done(app, object,
			  xasprintf("%s: queued, number %zu", row->title, place->count));
}

static int print_sent(struct app *app, const struct store_row *row, const struct queue_place *place,
		      struct error *err)
{
	const struct delivery_result *result = &place->said.result;
	cleanup_free char *hint = hint_row(&app->deck, &app->rows, row);
	if (!app->json && message_judge(row->title, hint, result, err) < 0)
		return error_prefix(err, "the queue stops, see agentdeck session queue %s", hint);
	struct json_object *object = json_success(row->id, row->title);
	message_add_json(object, hint, result);
	if (result->delivery != DELIVERY_SUBMITTED)
		json_set_string(object, "message_id", place->id);
	(void)print_done(app, object, xasprintf("%s: submitted", row->title));
	return result->delivery == DELIVERY_SUBMITTED ? 0 : 1;
}

int queueing_send(struct app *app, const struct store_row *row, const char *text, bool is_raw,
		  struct error *err)
{
	const struct queue_order order = { .base = row->base, .text = text, .is_raw = is_raw };
	cleanup_queue_place struct queue_place place = { 0 };
	if (queue_awake(&app->deck, &order, &place, err) < 0)
		return -1;
	return place.said.was_typed ? print_sent(app, row, &place, err)
				    : print_queued(app, row, &place);
}
