/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/screen/screen.h"

#include "engine/place/alive.h"
#include "engine/place/place.h"
#include "model/session/state.h"

/* The socket was removed while the session runs: a look of its place brings it back. */
static void bring_socket_back(struct deck *deck, const struct instance *instance)
{
	const struct place *place;
	if (state_is_running(instance->observed.state) && place_find(instance, &place, NULL) == 0)
		(void)place->observe(deck, instance, OBSERVE_ANSWER);
}

int screen_attach(struct deck *deck, const struct instance *instance,
		  const struct terminal_order *order, struct terminal_parting *ret,
		  struct error *err)
{
	if (terminal_check(instance->run.socket, err) < 0)
		return -1;
	if (access(instance->run.socket, F_OK) < 0)
		bring_socket_back(deck, instance);
	deck_refresh_ssh_agent(deck);
	const struct place_run run = place_run_of(instance);
	place_continue(&run);
	return terminal_attach(instance, order, ret, err);
}

int screen_text(struct deck *deck, const struct instance *instance, unsigned lines, char **ret,
		struct error *err)
{
	const struct place_run run = place_run_of(instance);
	int r = TERMINAL_NONE;
	if (place_is_live(&run))
		r = terminal_text(run.socket, lines, ret, err);
	if (r == TERMINAL_NONE && place_is_live(&run)) {
		bring_socket_back(deck, instance);
		r = terminal_text(run.socket, lines, ret, err);
	}
	if (r != TERMINAL_SILENT)
		return r;
	cleanup_free char *title = visible(instance->title);
	return error_set(err, ERROR_TIMEOUT, "the tmux server of %s does not answer", title);
}

void screen_show_title(struct deck *deck, const struct instance *instance)
{
	cleanup_error struct error local = { 0 };
	const struct place_run run = place_run_of(instance);
	if (!run.socket || !place_is_live(&run))
		return;
	int r = terminal_set_title(run.socket, instance->title, or_empty(instance->group), &local);
	if (r == 0 || r == TERMINAL_NONE)
		return;
	cleanup_free char *why = visible(r < 0 ? or_empty(local.message)
					       : "its tmux server does not answer");
	deck_warn(deck, "the status line of %s still shows what it was: %s", instance->id, why);
}
