/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/limit.h"

#include "base/log.h"
#include "engine/lifecycle.h"

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
static int apply(struct deck *deck, const struct instance *instance, const struct backend *backend,
		 enum limit_effect *ret, struct error *err)
{
	const struct limits limits = settings_limits(&deck->settings, instance);
	*ret = LIMIT_EFFECT_NEXT_START;
	if (backend->observe(deck, instance, OBSERVE_PROCESS).presence == PRESENCE_NONE)
		return 0;
	*ret = LIMIT_EFFECT_NEXT_SCOPE;
	if (!instance->run.unit)
		return 0;
	if (!deck_bus(deck)) {
		deck_warn(deck, "the limits hold from the next start on: the user manager cannot be asked (%s)",
			  or_empty(deck->bus_why));
		return 0;
	}
	int r = unit_set_limits(deck_bus(deck), instance->run.unit, &limits, err);
	if (r < 0)
		return error_prefix(err, "the limits are stored, and hold from the next start on, but not now");
	*ret = r == 0 ? LIMIT_EFFECT_NOW : LIMIT_EFFECT_NEXT_START;
	return 0;
}

int lifecycle_set_limits(struct deck *deck, const char *base, const struct limit_change *change,
			 enum limit_effect *ret_effect, struct instance **ret, struct error *err)
{
	static const char *const effects[] = { "now", "next start", "next scope" };
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	const struct backend *backend;
	enum limit_effect effect;
	if (lifecycle_open(deck, base, &lock, &instance, &backend, err) < 0)
		return -1;
	if (change->reset)
		instance->limits = (struct limits){ 0 };
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		if (change->given[limit])
			*limit_of(&instance->limits, limit) = limit_value(&change->limits, limit);
	if (store_save(lock, instance, err) < 0 || apply(deck, instance, backend, &effect, err) < 0)
		return -1;
	log_limits(&instance->limits, effects[effect]);
	*ret_effect = effect;
	*ret = TAKE_PTR(instance);
	return 0;
}
