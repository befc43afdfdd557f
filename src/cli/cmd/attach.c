/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Attaching the terminal: what may be attached, and what is said afterwards.
 */
#include "cli/cmd/attach.h"

#include "base/clock.h"
#include "cli/cmd/decide.h"
#include "cli/cmd/start.h"
#include "cli/show/output.h"
#include "engine/deck/hint.h"
#include "engine/deck/visit.h"
#include "engine/place/alive.h"
#include "engine/roster/statusline.h"
#include "engine/roster/view.h"
#include "engine/run/change.h"
#include "engine/run/start.h"
#include "engine/screen/screen.h"
#include "engine/supervise/deputy.h"
#include "engine/supervise/supervise.h"
#include "engine/terminal/seat.h"
#include "model/plan/restart.h"
#include "model/session/naming.h"

#include <termios.h>
#include <unistd.h>

/* The user has chosen another session, or none. */
static int attach_instead(struct app *app, const struct decision *outcome, enum attach_mode mode,
			  struct error *err)
{
	int r = 0;
	if (outcome->way == DECISION_COPY)
		r = run_start(app, &(struct start_order){ .base = outcome->base }, err);
	if (r == 0)
		r = attach_chosen(app, outcome, mode, err);
	return r == 0 ? ATTACH_NOT : r;
}

int attach_bring_back(struct app *app, const struct store_row *row, bool is_asked,
		      enum attach_mode mode, struct error *err)
{
	cleanup_view struct view view = view_of(row);
	if (view.host || state_is_running(view.state) || row->rung == RUNG_SHELL)
		return 0;
	cleanup_free char *title = visible(row->title);
	cleanup_free char *reason = visible(or_empty(view.reason));
	cleanup_decision struct decision decision = { 0 };
	if (!is_asked && decide_start(app, row, &(struct lifecycle_order){ 0 }, &decision, err) < 0)
		return -1;
	if (decision.base)
		return attach_instead(app, &decision, mode, err);
	if (decision.way != DECISION_GO_ON)
		return decision.way == DECISION_LEAVE ? 1 : ATTACH_NOT;
	fprintf(stderr, "agentdeck: %s is not running (%s): starting it\n", title,
		*reason && view.state != STATE_STOPPED ? reason : instance_state_name(view.state));
	return run_start(app, &(struct start_order){ .base = row->base }, err);
}

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
	settle_terminal();
	return 0;
}

/* Is it about to come back by itself? */
static bool is_restarted(struct app *app, const char *base)
{
	cleanup_instance struct instance *instance = NULL;
	if (!supervise_is_running(&app->deck) || deck_load(&app->deck, base, &instance, NULL) < 0)
		return false;
	return restart_decide(instance, &app->deck.settings, instance_relation(instance),
			      clock_wall_us())
		       .verdict == RESTART_AFTER;
}

/* Say what happened to the session while the user was attached.  Returns whether it still runs. */
static bool say_farewell(struct app *app, const struct instance *shown)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (store_list(app->deck.store, &rows, NULL) < 0 ||
	    store_resolve(&rows, shown->id, &row, NULL) < 0)
		return false;
	cleanup_view struct view view = view_of(row);
	cleanup_free char *title = visible(row->title);
	cleanup_free char *hint = hint_row(&app->deck, &rows, row);
	cleanup_free char *reason = visible(or_empty(view.reason));
	const bool is_same = !shown->run.server.pid ||
			     process_same(&row->run.server, &shown->run.server);
	if (state_is_running(view.state) && is_same)
		printf("%s keeps running. Back to it: agentdeck attach %s\n", title, hint);
	else if (state_is_running(view.state))
		printf("%s ended and was restarted. Back to it: agentdeck attach %s\n", title,
		       hint);
	else if (is_restarted(app, row->base))
		printf("%s is %s%s%s. The supervisor is restarting it. Back to it: agentdeck "
		       "attach %s\n",
		       title, instance_state_name(view.state), *reason ? ", " : "", reason, hint);
	else
		printf("%s %s%s%s%s. To start it again: agentdeck start %s\n", title,
		       view.state == STATE_ERROR ? "has ended" : "is ",
		       view.state == STATE_ERROR ? "" : instance_state_name(view.state),
		       *reason ? ": " : "", reason, hint);
	return is_same && state_is_running(view.state);
}

/* The agent may have ended while its user looked.  END_SEEN_TO: there is nothing to attach to. */
enum { END_SEEN_TO = -2 };
static int see_to_end(struct app *app, const char *base, enum attach_mode mode, struct error *err)
{
	struct store_row row = { 0 };
	enum decision_way decision = DECISION_GO_ON;
	if (store_load_row(app->deck.store, base, &row) != 0)
		return END_SEEN_TO;
	const enum ending_stage stage = row.ending;
	store_row_free(&row);
	if (mode != ATTACH_FULLY || (stage != ENDING_DUE && stage != ENDING_UNDECIDED))
		return END_SEEN_TO;
	if (decide_end(app, base, &decision, err) < 0)
		return -1;
	/* The end is settled, or the user returns to the session. */
	if (store_load_row(app->deck.store, base, &row) != 0)
		return 0;
	const bool returns = row.ending == ENDING_UNDECIDED && decision == DECISION_GO_ON;
	store_row_free(&row);
	if (!returns)
		return END_SEEN_TO;
	/* Whether to enable the supervisor was decided when it was started before. */
	const struct start_order order = { .base = base, .no_supervise = true };
	int r = run_start(app, &order, err);
	return r != 0 ? r : run_attach(app, base, mode, err);
}

/* Name the other terminals: all type to one agent, and the smallest sets its size. */
static void say_others(const struct instance *instance)
{
	cleanup_terminal_clients struct terminal_clients others = { 0 };
	const char *socket = instance->run.socket;
	if (!terminal_has_clients(socket))
		return;
	const int r = terminal_list_clients(socket, &others, NULL);
	cleanup_free char *text = terminal_clients_text(&others);
	if (r != 0)
		say("%s is attached to other terminals; tmux does not say in time to which",
		    instance->title);
	else if (others.count)
		say("%s is attached to %zu other terminal%s: %s", instance->title, others.count,
		    others.count == 1 ? "" : "s", text);
	fflush(stdout);
}

static void look_again(struct app *app, const char *base)
{
	struct store_row row = { 0 };
	if (store_load_row(app->deck.store, base, &row) == 0)
		statusline_look(&app->deck, app->deck.store, &row);
	store_row_free(&row);
}

static int attach_one(struct app *app, const struct instance *instance, enum attach_mode mode,
		      struct terminal_parting *ret, struct error *err)
{
	if (mode == ATTACH_FULLY)
		lifecycle_note_use(&app->deck, instance->base);
	say_others(instance);
	seat_note(&app->deck, app->seat, instance);
	struct deputy *deputy = deputy_begin(&app->deck, instance);
	const struct terminal_order order = { mode, statusline_of(app->deck.store, instance->base),
					      deputy_watch(deputy) };
	/* Keys that were typed without a link must reach no session. */
	if (app->seat)
		(void)tcflush(STDIN_FILENO, TCIFLUSH);
	int r = screen_attach(&app->deck, instance, &order, ret, err);
	deputy_end(deputy);
	/* The user may have answered the agent's question. */
	look_again(app, instance->base);
	return r;
}

/* id is what a server has told: it need not be a session.  *ret_base: the caller's. */
static int prepare_next(struct app *app, const char *id, enum attach_mode mode, char **ret_base,
			struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (!naming_is_id(id) || app_resolve(app, id, &rows, &row, NULL) < 0)
		return error_set(err, ERROR_NOT_FOUND, "the session that you chose is gone");
	int r = attach_bring_back(app, row, false, mode, err);
	if (r == 0)
		*ret_base = xstrdup(row->base);
	return r;
}

/* *ret_next: the id of the session to attach next, or NULL; the caller's. */
static int attach_session(struct app *app, const char *base, enum attach_mode mode, char **ret_next,
			  struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	struct terminal_parting parting = { 0 };
	if (lifecycle_show(&app->deck, base, err) < 0 ||
	    deck_load(&app->deck, base, &instance, err) < 0)
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
	if (check_terminal(app, instance, err) < 0 ||
	    attach_one(app, instance, mode, &parting, err) < 0)
		return -1;
	*ret_next = parting.next;
	if (parting.next)
		return 0;
	int r = see_to_end(app, base, mode, err);
	if (r != END_SEEN_TO)
		return r;
	if (say_farewell(app, instance) && parting.status == 0)
		seat_leave(&app->deck, app->seat);
	return parting.status == 0 ? 0 : 1;
}

int run_attach(struct app *app, const char *base, enum attach_mode mode, struct error *err)
{
	cleanup_free char *next = NULL;
	int r = attach_session(app, base, mode, &next, err);
	while (r == 0 && next) {
		cleanup_free char *id = TAKE_PTR(next), *its_base = NULL;
		r = prepare_next(app, id, mode, &its_base, err);
		if (r == 0)
			r = attach_session(app, its_base, mode, &next, err);
	}
	return r == ATTACH_NOT ? 0 : r;
}

int attach_chosen(struct app *app, const struct decision *outcome, enum attach_mode mode,
		  struct error *err)
{
	cleanup_visit struct visit visit = { 0 };
	if (outcome->profile && visit_begin(&app->deck, outcome->profile, &visit, err) < 0)
		return -1;
	return run_attach(app, outcome->base, mode, err);
}
