/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/place.h"

/* The list of places; the last is for tests. */
static const struct place *places[] = { &place_host, &place_container, &place_guest, NULL };

void place_add(const struct place *place)
{
	places[ARRAY_SIZE(places) - 1] = place;
}

static const struct place *by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i] && streq(places[i]->name, or_empty(name)))
			return places[i];
	return NULL;
}

const struct place *place_of(const struct place_run *run)
{
	return by_name(run->backend);
}

int place_find(const struct instance *instance, const struct place **ret, struct error *err)
{
	const struct place *place = by_name(instance->backend);
	if (!place)
		return error_set(err, ERROR_NEWER,
				 "%s lives in backend '%s', which this agentdeck does not know: "
				 "upgrade agentdeck",
				 instance->id, instance->backend);
	*ret = place;
	return 0;
}

const char *place_home(const struct instance *instance)
{
	const struct place *place = by_name(instance->backend);
	return place && place->home ? place->home(instance) : NULL;
}

bool place_has_begun(const struct instance *instance)
{
	const struct place *place = by_name(instance->backend);
	return place && place->has_begun && place->has_begun(instance);
}

void place_take_seen(struct run *run, const struct observation *seen)
{
	run->server = seen->server;
	if (seen->pane.pid)
		run->pane = seen->pane;
	if (run_relation(run) == MACHINE_EARLIER_BOOT)
		replace_string(&run->boot_id, process_boot_id());
}

void place_exec_clear(struct place_exec *exec)
{
	if (exec->ticket)
		(void)unlink(exec->ticket);
	fs_unlock(&exec->held);
	strvec_clear(&exec->argv);
	replace_string(&exec->ticket, NULL);
}

int place_end_unknown(struct deck *deck, const char *id, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i] && places[i]->end_unknown(deck, id, err) < 0)
			return -1;
	return 0;
}
