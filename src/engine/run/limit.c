/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/limit.h"

#include "base/log.h"
#include "engine/place/gaps.h"
#include "engine/run/operation.h"

static void log_limits(const struct limits *limits, const char *effect)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		int64_t value = limit_value(limits, limit);
		cleanup_free char *shown = limit_text(limit, value);
		strbuf_addf(&text, " %s=%s", limit_name(limit), value ? shown : "none");
	}
	log_info("limits (%s):%s", effect, strbuf_text(&text));
}

/* What holds now may have other reasons than this instance's own words. */
static int apply(const struct operation *operation, enum limit_effect *ret, struct error *err)
{
	struct deck *deck = operation->deck;
	struct instance *instance = operation->instance;
	const struct limits limits = settings_limits(&deck->settings, instance);
	*ret = LIMIT_EFFECT_NEXT_START;
	if (run_relation(&instance->run) == MACHINE_OTHER ||
	    operation->place->observe(deck, instance, OBSERVE_PROCESS).presence == PRESENCE_NONE)
		return 0;
	const int r = operation->place->set_limits(deck, instance, &limits, ret, err);
	return r == PLACE_CHANGED ? operation_save(operation, err) : r;
}

/* A limit can always be taken away. */
int lifecycle_check_limits(const struct instance *instance, const struct limit_change *change,
			   struct error *err)
{
	const struct place *place;
	if (place_find(instance, &place, err) < 0)
		return -1;
	for (enum limit limit = 0; place->check_limit && limit < LIMIT_COUNT; limit++) {
		const int64_t value = limit_value(&change->limits, limit);
		if (change->given[limit] && value && value != LIMIT_INFINITY &&
		    place->check_limit(instance, limit, err) < 0)
			return -1;
	}
	return 0;
}

int lifecycle_set_limits(struct deck *deck, const char *base, const struct limit_change *change,
			 enum limit_effect *ret_effect, struct instance **ret, struct error *err)
{
	static const char *const effects[] = { "now", "next start", "next scope" };
	cleanup_operation struct operation operation = { 0 };
	enum limit_effect effect;
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	if (lifecycle_check_limits(operation.instance, change, err) < 0)
		return error_prefix(err, "nothing was changed");
	struct instance *instance = operation.instance;
	if (change->reset)
		instance->limits = (struct limits){ 0 };
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		if (change->given[limit])
			*limit_of(&instance->limits, limit) = limit_value(&change->limits, limit);
	if (operation.place->keep_limits)
		operation.place->keep_limits(deck, instance);
	if (operation_save(&operation, err) < 0 || apply(&operation, &effect, err) < 0)
		return -1;
	log_limits(&instance->limits, effects[effect]);
	gaps_warn(deck, instance);
	*ret_effect = effect;
	*ret = TAKE_PTR(operation.instance);
	return 0;
}
