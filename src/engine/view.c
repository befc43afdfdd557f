/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/view.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/tmux.h"
#include "engine/backend.h"
#include "engine/lifecycle-internal.h"
#include "engine/runfiles.h"

#include <signal.h>

enum { CORRECT_MS = 50 };

bool lifecycle_row_is_live(const struct store_row *row)
{
	return row->server.pid && process_same_boot(row->boot_id) && process_alive(&row->server);
}

/* tmux before 3.5 may have lost the news of its agent's end, or of the end of whoever was to judge of that (see
 * agentdeck-watch): then its server must be made to look. */
static void nudge(const struct store_row *row)
{
	if (lifecycle_is_between(&row->server, &row->pane))
		(void)process_signal(&row->server, SIGCHLD, NULL);
}

/* A server that was silent once is asked again; the others are not, since listings are long. */
static bool is_silent(const struct store_row *row)
{
	cleanup_tmux_pane struct tmux_pane pane = { 0 };
	if (process_is_stopped(&row->server))
		return true;
	if (!row->run_directory || !runfiles_is_silent(row->run_directory))
		return false;
	cleanup_free char *socket = path_join(row->run_directory, RUN_SOCKET);
	if (tmux_query(socket, &pane, NULL) != 0)
		return true;
	runfiles_note_answer(row->run_directory, true);
	return false;
}

const char *lifecycle_view_status(const struct lifecycle_view *view)
{
	return view->is_silent ? "unknown" : instance_state_name(view->state);
}

void lifecycle_ask(struct deck *deck, const struct instance *instance)
{
	const struct backend *backend;
	if (instance->observed.state == STATE_RUNNING && backend_find(instance, &backend, NULL) == 0)
		(void)backend->observe(deck, instance, OBSERVE_ANSWER);
}

void lifecycle_view_free(struct lifecycle_view *view)
{
	free(view->reason);
	*view = (struct lifecycle_view){ 0 };
}

/* What is stored is not true any more: what is instead, and why.  A server that does not answer is there. */
static bool is_over(const struct store_row *row, enum instance_state *ret_state, const char **ret_why)
{
	bool had_server = row->state == STATE_RUNNING || row->state == STATE_STOPPING ||
			  (row->state == STATE_STARTING && row->server.pid);
	bool of_another_boot = row->boot_id && !process_same_boot(row->boot_id);
	if (row->damage || lifecycle_row_is_live(row) ||
	    !(had_server || (row->state == STATE_STARTING && of_another_boot)))
		return false;
	*ret_state = row->state == STATE_STOPPING ? STATE_STOPPED : STATE_ERROR;
	*ret_why = row->state == STATE_STOPPING ? NULL
		   : process_same_boot(row->boot_id)	? "its tmux server was killed"
						: "the machine was restarted";
	return true;
}

void lifecycle_view_row(const struct store_row *row, struct lifecycle_view *ret)
{
	struct lifecycle_view view = { .state = row->state,
				       .reason = xstrdup_or_null(row->reason) };
	const char *why;
	if (row->damage) {
		view.state = STATE_ERROR;
		replace_string(&view.reason, row->damage);
	} else if (is_over(row, &view.state, &why)) {
		replace_string(&view.reason, why);
	} else if (row->state == STATE_RUNNING && row->socket && tmux_check_socket(row->socket, NULL) < 0) {
		view.is_silent = true;
		replace_string(&view.reason, TMUX_FOREIGN);
	} else if (row->state == STATE_RUNNING && is_silent(row)) {
		view.is_silent = true;
		replace_string(&view.reason, "its tmux server does not answer");
	} else if (row->state == STATE_RUNNING) {
		nudge(row);
		cleanup_activity struct activity activity = { 0 };
		activity_read(row->run_directory, &activity);
		view.activity = activity.activity;
		view.activity_since = activity.since;
	}
	*ret = view;
}

/* Another user's manifests (root's look at them) would become the looker's own. */
static bool is_own(const struct deck *deck)
{
	struct stat st;
	return fstat(store_profile_directory(deck->store), &st) == 0 && st.st_uid == geteuid();
}

/* A stop is over when nothing of the run is left, and not before. */
static bool is_empty_run(const struct run *run)
{
	cleanup_free struct process_id *left = NULL;
	cleanup_free char *marker = xasprintf(ENV_RUN "=%s", or_empty(run->id));
	size_t count = 0;
	return !process_same_boot(run->boot_id) ||
	       (process_find_by_environment(marker, &left, &count, NULL) == 0 && count == 0);
}

/* Of a restart the half that starts is still to come: from its command, or from the supervisor or recover if that was
 * killed. */
static bool is_half_restarted(const struct store_row *row)
{
	return row->state == STATE_STOPPING && row->desired == DESIRED_RUNNING;
}

static bool is_to_be_corrected(const struct store_row *row, enum instance_state *ret_state, const char **ret_why)
{
	return !is_half_restarted(row) && is_over(row, ret_state, ret_why);
}

/* The run stays as it is written down: the next start ends what it has left behind, and reads its attempts. */
static void correct(struct deck *deck, const struct store_row *row)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	enum instance_state state;
	const char *why;
	if (!is_to_be_corrected(row, &state, &why) || store_lock(deck->store, row->base, 0, &lock, NULL) != 0 ||
	    store_load_locked(lock, &instance, NULL) != 0)
		return;
	const struct store_row now = {
		.state = instance->observed.state,
		.desired = instance->desired,
		.server = instance->run.server,
		.boot_id = instance->run.boot_id,
	};
	if (!is_to_be_corrected(&now, &state, &why) ||
	    (state == STATE_STOPPED && !is_empty_run(&instance->run)))
		return;
	lifecycle_set_state(instance, state, why);
	log_set_instance(instance->id);
	if (store_save(lock, instance, NULL) == 0)
		log_info("seen: %s, %s", instance_state_name(state), why ? why : "a stop was interrupted");
	log_set_instance(NULL);
}

void lifecycle_correct(struct deck *deck, const struct store_row *row)
{
	if (is_own(deck))
		correct(deck, row);
}

int lifecycle_list(struct deck *deck, struct store_rows *ret, struct error *err)
{
	const int64_t deadline = clock_ms() + CORRECT_MS;
	if (store_list(deck->store, ret, err) < 0)
		return -1;
	const size_t count = is_own(deck) ? ret->count : 0;
	for (size_t i = 0; i < count && clock_ms() < deadline; i++)
		correct(deck, &ret->rows[i]);
	return 0;
}
