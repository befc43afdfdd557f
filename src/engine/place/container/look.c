/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a run lives is asked of its capsule's process, which this host sees, and never of the
 * engine: the engine may be stopped, and its containers run on.
 */
#include "engine/place/container/container-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/place/alive.h"
#include "engine/place/container/guest.h"
#include "engine/place/runfiles.h"
#include "engine/terminal/terminal.h"

#include <signal.h>

static const char no_answer[] = "the capsule of its container does not answer";

/* The capsule is the container's first process, and the one that we have started. */
static bool is_capsule(const struct process_id *listener, const struct place_run *run)
{
	pid_t inner = 0;
	pid_t first = listener->pid;
	/* Without a pid, the container's processes are not visible here, and prove nothing. */
	if (!first)
		return true;
	if (run->server.pid && process_alive(&run->server))
		return process_same(listener, &run->server);
	/* The capsule of a guest is a child of the container's first process. */
	if (streq(or_empty(run->backend), PLACE_GUEST) && process_parent(first, &first, NULL) != 0)
		return false;
	return process_inner_pid(first, &inner, NULL) == 0 && inner == 1;
}

int container_check_capsule(const struct place_run *run, const struct capsule *capsule)
{
	const struct process_id listener = capsule_process(capsule);
	if (guest_is_foreign(run, &listener))
		return CAPSULE_ABSENT;
	if (is_capsule(&listener, run))
		return 0;
	log_warning("process %d listens in the place of the capsule in %s", (int)listener.pid,
		    run->capsule);
	return CAPSULE_SILENT;
}

int container_connect(const struct place_run *run, struct capsule **ret, struct error *err)
{
	cleanup_capsule struct capsule *capsule = NULL;
	int r = capsule_connect(run->capsule, clock_ms() + CAPSULE_ANSWER_MS, &capsule, err);
	if (r == 0)
		r = container_check_capsule(run, capsule);
	if (r == 0)
		*ret = TAKE_PTR(capsule);
	return r;
}

bool container_lacks_window(const struct place_run *run)
{
	return !run->window.pid || !process_alive(&run->window);
}

/* Asks only a capsule that did not answer last time: asking each would slow down long lists. */
const char *container_silence(const struct place_run *run)
{
	cleanup_capsule struct capsule *capsule = NULL;
	if (process_is_stopped(&run->server))
		return no_answer;
	if (!run->directory || !runfiles_is_silent(run->directory) || !run->capsule)
		return NULL;
	if (container_connect(run, &capsule, NULL) != 0)
		return no_answer;
	runfiles_note_answer(run->directory, true);
	return NULL;
}

bool container_is_empty(const struct place_run *run)
{
	return (!run->server.pid || !process_alive(&run->server)) && container_lacks_window(run);
}

void container_nudge(const struct place_run *run)
{
	if (run->window.pid)
		terminal_nudge(run->id, &run->window);
}

/* Count as for a session on the host, with the window as its server.  This restores missing files
 * of the window. */
static unsigned count_clients(struct deck *deck, const struct instance *instance)
{
	struct instance window = *instance;
	const struct place_run run = place_run_of(instance);
	if (container_lacks_window(&run))
		return 0;
	window.run.server = instance->run.window;
	return place_host.observe(deck, &window, OBSERVE_ANSWER).clients;
}

/* A capsule that does not answer may only be paused, which only the engine knows. */
static bool is_paused(struct deck *deck, const struct instance *instance)
{
	cleanup_instance struct instance *copy = NULL;
	if (deck_load(deck, guest_owner_base(instance), &copy, NULL) < 0)
		return false;
	cleanup_ladder struct ladder ladder = { .deck = deck, .instance = copy };
	return ladder_open(&ladder, NULL) == 0 && ladder.exists && ladder_is_ours(&ladder) &&
	       ladder.found.state == CONTAINER_PAUSED;
}

/* A start that was killed before it opened a window has had no agent.  Commands of the role may
 * be missing, and only another start runs them. */
static bool is_interrupted(const struct instance *instance, const struct capsule_status *status)
{
	const struct run *run = &instance->run;
	return instance->recipe->command_count && !run->server.pid && !streq(status->run, run->id);
}

static struct observation ask_capsule(struct deck *deck, const struct instance *instance)
{
	const struct run *run = &instance->run;
	const struct place_run place_run = place_run_of(instance);
	cleanup_capsule struct capsule *capsule = NULL;
	struct capsule_status status;
	struct observation seen = { .presence = PRESENCE_UNKNOWN, .why = no_answer };
	int r = container_connect(&place_run, &capsule, NULL);
	if (r == CAPSULE_ABSENT && (!run->server.pid || !process_alive(&run->server)))
		return (struct observation){ .why = "its container is not running" };
	if (r == 0)
		r = capsule_status(capsule, clock_ms() + CAPSULE_ANSWER_MS, &status, NULL);
	if (r != 0 && run->server.pid && is_paused(deck, instance))
		return (struct observation){
			.presence = PRESENCE_ALIVE,
			.server = run->server,
			.pane = run->pane,
			.lacks_window = true,
		};
	if (r != 0)
		return seen;
	if (is_interrupted(instance, &status))
		return (struct observation){ .why = "its start was interrupted" };
	seen.presence = PRESENCE_ALIVE;
	seen.why = NULL;
	seen.server = capsule_process(capsule);
	seen.pane = capsule_agent(capsule);
	seen.clients = count_clients(deck, instance);
	seen.lacks_window = container_lacks_window(&place_run);
	return seen;
}

struct observation container_observe(struct deck *deck, const struct instance *instance,
				     enum observe_depth depth)
{
	const struct run *run = &instance->run;
	const struct place_run place_run = place_run_of(instance);
	if (!run->socket)
		return (struct observation){ .why = "not started" };
	const enum machine_relation relation = run_relation(run);
	if (relation == MACHINE_OTHER)
		return (struct observation){ .presence = PRESENCE_UNKNOWN,
					     .why = "its run is on another machine" };
	if (relation == MACHINE_EARLIER_BOOT)
		return (struct observation){ .why = place_end_reason(&place_run) };
	if (!run->capsule || (run->server.pid && !process_alive(&run->server)))
		return (struct observation){ .why = "its container was stopped" };
	if (run->server.pid && depth == OBSERVE_PROCESS)
		return (struct observation){
			.presence = PRESENCE_ALIVE,
			.server = run->server,
			.pane = run->pane,
			.lacks_window = container_lacks_window(&place_run),
		};
	const struct observation seen = ask_capsule(deck, instance);
	if (run->directory)
		runfiles_note_answer(run->directory, seen.presence != PRESENCE_UNKNOWN);
	return seen;
}

/* An engine or a shutdown that stops the container ends the agent in order, but its user did not
 * want that: it counts as SIGTERM.  A stop of ours is in the manifest. */
static void note_end(struct exit_record *record, int code, int signal_number, bool by_stop)
{
	record->code = by_stop ? 0 : code;
	record->signal = by_stop ? SIGTERM : signal_number;
}

/* The capsule died with the agent; its exit record is the only source. */
static void read_record(const struct instance *instance, struct exit_record *ret)
{
	struct capsule_exit record;
	if (capsule_read_exit(instance->run.capsule, instance->run.id, &record, NULL) == 0 &&
	    record.attempt == instance->run.attempt)
		note_end(ret, record.code, record.signal, record.by_stop);
	else
		note_end(ret, 0, SIGKILL, false);
}

int container_how_ended(const struct instance *instance, struct exit_record *ret, struct error *err)
{
	const struct run *run = &instance->run;
	const struct place_run place_run = place_run_of(instance);
	cleanup_capsule struct capsule *capsule = NULL;
	struct capsule_status status = { .phase = CAPSULE_EMPTY };
	struct exit_record seen = { .present = true };
	int r = container_connect(&place_run, &capsule, err);
	if (r == 0)
		r = capsule_status(capsule, clock_ms() + CAPSULE_ANSWER_MS, &status, err);
	if (r < 0 && err->code != ERROR_TIMEOUT)
		return -1;
	if (r < 0 || r == CAPSULE_SILENT)
		return error_set(err, ERROR_TIMEOUT, "%s", no_answer);
	const bool is_ours = r == 0 && streq(status.run, run->id) && status.attempt == run->attempt;
	if (r == 0 && !is_ours)
		return PLACE_NOT_BEGUN;
	if (is_ours && status.phase == CAPSULE_RUNNING)
		return PLACE_NOT_ENDED;
	/* The last words are those of the window.  It has the agent's exit status, too. */
	exit_record_clear(&seen);
	if (terminal_how_ended(run->socket, &seen, NULL) != 0)
		seen = (struct exit_record){ .present = true };
	if (is_ours)
		note_end(&seen, status.code, status.signal, status.by_stop);
	else
		read_record(instance, &seen);
	*ret = seen;
	return 0;
}
