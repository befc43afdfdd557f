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

/* tmux(1): "off", "on", or the number of its lines. */
static unsigned status_lines(const struct strvec *options)
{
	enum { LINES_MOST = 5 };
	int64_t lines = 1;
	for (size_t i = 0; i + 1 < options->count; i += 2)
		if (streq(options->items[i], "status") &&
		    !parse_int64(options->items[i + 1], 2, LINES_MOST, &lines))
			lines = !streq(options->items[i + 1], "off");
	return (unsigned)lines;
}

struct termsize place_screen_size(const struct deck *deck, const struct instance *instance)
{
	/* On a smaller screen agents leave out what tells their state.  tmux shows a part of it. */
	enum { USUAL_COLUMNS = 200, USUAL_ROWS = 50, LEAST_COLUMNS = 80, LEAST_ROWS = 24 };
	const struct termsize *terminal = &instance->terminal;
	if (!termsize_is_usual(terminal))
		return (struct termsize){ USUAL_COLUMNS, USUAL_ROWS };
	const unsigned columns = terminal->columns > LEAST_COLUMNS ? terminal->columns
								   : LEAST_COLUMNS;
	const unsigned rows = terminal->rows > LEAST_ROWS ? terminal->rows : LEAST_ROWS;
	return (struct termsize){ columns, rows - status_lines(&deck->settings.tmux.options) };
}

int place_end_unknown(struct deck *deck, const char *id, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i] && places[i]->end_unknown(deck, id, err) < 0)
			return -1;
	return 0;
}
