/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/operation.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/store/store-watch.h"
#include "engine/deck/transition.h"
#include "engine/place/alive.h"
#include "engine/run/collect.h"

enum { VERDICT_TIMEOUT_MS = 10000, VERDICT_NUDGE_MS = 100 };

void operation_close(struct operation *operation)
{
	store_unlock(operation->lock);
	instance_free(operation->instance);
	*operation = (struct operation){ 0 };
}

struct operation operation_take(struct operation *operation)
{
	const struct operation taken = *operation;
	*operation = (struct operation){ 0 };
	return taken;
}

int operation_save(const struct operation *operation, struct error *err)
{
	return store_save(operation->lock, operation->instance, err);
}

int operation_note(const struct operation *operation, enum state_event event, const char *reason,
		   struct error *err)
{
	return transition(operation->lock, operation->instance, event, reason, err);
}

const struct observation *operation_look(struct operation *operation)
{
	if (!operation->has_looked)
		operation->seen = operation->place->observe(operation->deck, operation->instance,
							    OBSERVE_ANSWER);
	operation->has_looked = true;
	return &operation->seen;
}

int operation_find_agent(struct operation *operation, struct error *err)
{
	return deck_agent(operation->deck, operation->instance->agent, &operation->agent, err);
}

int operation_open(struct deck *deck, const char *base, int timeout_ms, struct operation *ret,
		   struct error *err)
{
	cleanup_operation struct operation opened = { .deck = deck };
	int r = store_lock(deck->store, base, clock_ms() + timeout_ms, &opened.lock, err);
	if (r == STORE_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "session %s was removed", base);
	if (r == STORE_BUSY)
		return error_set(err, ERROR_BUSY,
				 "another agentdeck is working on session %s: try again, "
				 "or find it with: fuser %s/%s/%s.lock",
				 base, deck->paths.state, deck->profile, base);
	/* The host's main program may have ended since this command found it. */
	if (r < 0 || deck_check_main(deck, err) < 0)
		return -1;
	r = store_load_locked(opened.lock, &opened.instance, err);
	if (r == STORE_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "session %s was removed", base);
	if (r < 0 || place_find(opened.instance, &opened.place, err) < 0)
		return -1;
	log_set_instance(opened.instance->id);
	log_set_run(opened.instance->run.id);
	*ret = operation_take(&opened);
	return 0;
}

int operation_admit(struct operation *operation, bool takes_over, struct error *err)
{
	struct instance *instance = operation->instance;
	struct run *run = &instance->run;
	operation->takes_over = takes_over;
	if (!takes_over || run_relation(run) != MACHINE_OTHER)
		return place_check_here(operation->deck, instance, err);
	cleanup_free char *host = instance_host(instance);
	log_warning("taken over from %s (machine %s, boot %s, PID namespace %s)", host,
		    or_empty(run->machine_id), or_empty(run->boot_id),
		    or_empty(run->pid_namespace));
	place_take_over(run);
	return 0;
}

/* The agent has ended, and its pane is about to say what comes of that: a start that came now would
 * call it alive. */
static bool is_verdict_due(struct operation *operation, struct process_id *ret_server)
{
	const struct run *run = &operation->instance->run;
	struct process_id server = run->server, pane = run->pane;
	const struct place_run place_run = place_run_of(operation->instance);
	if (run_relation(run) != MACHINE_THIS_BOOT || place_lacks_window(&place_run))
		return false;
	/* A start that was killed before it could write down what it had started, or could not see
	 * it. */
	if (run->socket && (!server.pid || !pane.pid)) {
		const struct observation *seen = operation_look(operation);
		/* Without a window no report of the pane will come. */
		if (seen->presence != PRESENCE_ALIVE || seen->lacks_window)
			return false;
		server = seen->server;
		pane = seen->pane;
	}
	*ret_server = server;
	return place_is_between_soon(&server, &pane);
}

/* The news may be lost, and the pane needs the lock. */
static void await_verdict(struct operation *opened, const char *base,
			  const struct process_id *server, struct store_watch **watch)
{
	struct store *store = opened->deck->store;
	struct place_run run = place_run_of(opened->instance);
	run.server = *server;
	place_nudge(&run);
	operation_close(opened);
	/* A new watch has missed what came before: read that first. */
	if (*watch || store_watch_open(store, base, NULL, watch, NULL) < 0)
		(void)store_watch_wait(*watch, clock_ms() + VERDICT_NUDGE_MS, NULL);
}

int operation_open_settled(struct deck *deck, const char *base, struct operation *ret,
			   struct error *err)
{
	const int64_t deadline = clock_ms() + VERDICT_TIMEOUT_MS;
	cleanup_operation struct operation opened = { 0 };
	cleanup_store_watch struct store_watch *watch = NULL;
	struct process_id server;
	cleanup_error struct error untaken = { 0 };
	/* What an agent in a container has said last belongs to what is settled. */
	if (collect_reports(deck, base, &untaken) < 0)
		log_warning("reports not taken: %s", untaken.message);
	while (operation_open(deck, base, OPERATION_TIMEOUT_MS, &opened, err) == 0) {
		const bool is_due = is_verdict_due(&opened, &server);
		if (is_due && clock_ms() <= deadline) {
			await_verdict(&opened, base, &server, &watch);
			continue;
		}
		if (is_due) {
			opened.has_looked = true;
			opened.seen = (struct observation){
				.presence = PRESENCE_UNKNOWN,
				.why = "its agent ended, and its pane does not show how",
			};
		}
		*ret = operation_take(&opened);
		return 0;
	}
	return -1;
}

void operation_take_seen(const struct operation *operation, const struct observation *seen)
{
	place_take_seen(&operation->instance->run, seen);
}

int operation_note_alive(const struct operation *operation, const struct observation *seen,
			 struct error *err)
{
	const struct run *run = &operation->instance->run;
	const bool is_known = process_same(&run->server, &seen->server) &&
			      (!seen->pane.pid || process_same(&run->pane, &seen->pane));
	const bool is_new = !is_known || run_relation(run) != MACHINE_THIS_BOOT;
	if (is_new)
		operation_take_seen(operation, seen);
	int r = operation_note(operation, EVENT_SEEN_ALIVE, NULL, err);
	if (r == TRANSITION_NONE)
		return is_new ? operation_save(operation, err) : 0;
	return r;
}
