/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Attaching the terminal: what may be attached, and what is said afterwards.
 */
#include "cli/cmd/attach.h"

#include "cli/cmd/decide.h"
#include "cli/cmd/start.h"
#include "engine/deck/hint.h"
#include "engine/place/alive.h"
#include "engine/roster/statusline.h"
#include "engine/roster/view.h"
#include "engine/run/lifecycle.h"
#include "engine/supervise/deputy.h"

static int check_terminal(const struct app *app, const struct instance *instance, struct error *err)
{
	cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, ERROR_REFUSED,
				 "attaching needs a terminal: run agentdeck attach %s "
				 "from one",
				 hint);
	if (terminal_is_own(instance->run.socket))
		return error_set(err, ERROR_REFUSED, "this terminal shows session %s already",
				 instance->title);
	return 0;
}

/* Say what happened to the session while the user was attached. */
static void say_farewell(struct app *app, const char *id)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (store_list(app->deck.store, &rows, NULL) < 0 ||
	    store_resolve(&rows, id, &row, NULL) < 0)
		return;
	cleanup_view struct view view = view_of(row);
	cleanup_free char *title = visible(row->title);
	cleanup_free char *hint = hint_row(&app->deck, &rows, row);
	cleanup_free char *reason = visible(or_empty(view.reason));
	if (state_is_running(view.state))
		printf("%s keeps running. Back to it: agentdeck attach %s\n", title, hint);
	else
		printf("%s is %s%s%s. To start it again: agentdeck start %s\n", title,
		       instance_state_name(view.state), *reason ? ", " : "", reason, hint);
}

/* Its agent may have ended while its user looked.  END_SEEN_TO: there is nothing to go on with. */
enum { END_SEEN_TO = -2 };
static int see_to_end(struct app *app, const char *base, enum attach_mode mode, struct error *err)
{
	struct store_row row = { 0 };
	enum decision decision = DECISION_GO_ON;
	if (store_load_row(app->deck.store, base, &row) != 0)
		return END_SEEN_TO;
	const enum ending_stage stage = row.ending;
	store_row_free(&row);
	if (mode != ATTACH_FULLY || (stage != ENDING_DUE && stage != ENDING_UNDECIDED))
		return END_SEEN_TO;
	if (decide_end(app, base, &decision, err) < 0)
		return -1;
	/* It is either settled, or its user returns to it. */
	if (store_load_row(app->deck.store, base, &row) != 0)
		return 0;
	const bool returns = row.ending == ENDING_UNDECIDED && decision == DECISION_GO_ON;
	store_row_free(&row);
	if (!returns)
		return END_SEEN_TO;
	int r = run_start(app, &(struct start_order){ .base = base }, err);
	return r != 0 ? r : run_attach(app, base, mode, err);
}

int run_attach(struct app *app, const char *base, enum attach_mode mode, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	int status;
	if (deck_load(&app->deck, base, &instance, err) < 0)
		return -1;
	cleanup_free char *title = visible(instance->title);
	if (place_check_here(&app->deck, instance, err) < 0)
		return -1;
	if (!instance->run.socket) {
		cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
		return error_set(err, ERROR_INVALID,
				 "%s is not running: start it with agentdeck start %s", title,
				 hint);
	}
	if (check_terminal(app, instance, err) < 0)
		return -1;
	if (mode == ATTACH_FULLY)
		lifecycle_note_use(&app->deck, base);
	struct deputy *deputy = deputy_begin(&app->deck, instance);
	const struct terminal_wish wish = { mode, statusline_of(app->deck.store, base),
					    deputy_watch(deputy) };
	int r = screen_attach(&app->deck, instance, &wish, &status, err);
	deputy_end(deputy);
	if (r < 0)
		return -1;
	r = see_to_end(app, base, mode, err);
	if (r != END_SEEN_TO)
		return r;
	say_farewell(app, instance->id);
	return status == 0 ? 0 : 1;
}
