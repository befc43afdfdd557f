/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/host/host-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/watch.h"
#include "engine/deck/proof.h"
#include "engine/place/alive.h"
#include "engine/place/oom.h"
#include "engine/place/runfiles.h"
#include "engine/terminal/terminal.h"
#include "model/session/naming.h"

#include <signal.h>
#include <sys/inotify.h>

enum { CALL_BACK_MS = 1000, POLL_MS = 10 };

#define FOREIGN_SERVER "another tmux server is in the place of this session's server"

static const char no_answer[] = "its tmux server does not answer";
static const char no_tmux[] = "tmux is not installed or not in PATH, so its server cannot be asked";

enum presence host_presence(const struct place_run *run)
{
	if (!run->server.pid)
		return PRESENCE_UNKNOWN;
	return process_alive(&run->server) ? PRESENCE_ALIVE : PRESENCE_NONE;
}

bool host_agent_is_live(const struct place_run *run)
{
	return process_alive(&run->pane);
}

bool host_is_empty(const struct place_run *run)
{
	cleanup_free struct process_id *left = NULL;
	cleanup_free char *marker = xasprintf(ENV_RUN "=%s", or_empty(run->run_id));
	size_t count = 0;
	return process_find_by_environment(marker, &left, &count, NULL) == 0 && count == 0;
}

/* A server that was silent once is asked again; the others are not, since listings are long. */
static bool is_silent(const struct place_run *run)
{
	cleanup_terminal_state struct terminal_state state = { 0 };
	if (process_is_stopped(&run->server))
		return true;
	if (!run->directory || !runfiles_is_silent(run->directory))
		return false;
	cleanup_free char *socket = path_join(run->directory, RUN_SOCKET);
	if (terminal_look(socket, &state, NULL) != 0)
		return true;
	runfiles_note_answer(run->directory, true);
	return false;
}

const char *host_silence(const struct place_run *run)
{
	if (run->socket && terminal_check(run->socket, NULL) < 0)
		return TERMINAL_FOREIGN;
	return is_silent(run) ? no_answer : NULL;
}

struct place_watch host_watch(const struct place_run *run)
{
	return (struct place_watch){ .server = run->server, .agent = run->pane };
}

char *host_control_group(const struct place_run *run)
{
	cleanup_free char *group = NULL;
	if (process_cgroup(run->server.pid, &group, NULL) != 0)
		return NULL;
	char *own = naming_session_group(run->id, group);
	return own ? own : TAKE_PTR(group);
}

void host_nudge(const struct place_run *run)
{
	terminal_nudge(run->id, &run->server);
}

/* The server has forked it, and it has executed nothing yet. */
static bool is_fork_of(pid_t pane, pid_t server)
{
	cleanup_strvec struct strvec own = { 0 }, parent = { 0 };
	return process_argv(pane, &own, NULL) == 0 && process_argv(server, &parent, NULL) == 0 &&
	       strvec_equal(&own, &parent);
}

/* The pane that will say what follows an agent's end is not an agent.  It drops the variable when
 * it becomes one again. */
static bool is_judging(pid_t pane)
{
	cleanup_free char *died = NULL;
	return process_variable(pane, ENV_PANE_DIED, &died, NULL) == 0 && died;
}

static struct observation ask_server(const struct instance *instance)
{
	const struct run *run = &instance->run;
	cleanup_terminal_state struct terminal_state state = { 0 };
	cleanup_error struct error err = { 0 };
	struct observation seen = { .presence = PRESENCE_UNKNOWN, .why = no_answer };
	if (terminal_check(run->socket, NULL) < 0) {
		seen.why = TERMINAL_FOREIGN;
		return seen;
	}
	int r = terminal_look(run->socket, &state, &err);
	if (r < 0 && err.code == ERROR_UNAVAILABLE) {
		seen.why = no_tmux;
	} else if (r == TERMINAL_NONE) {
		seen.presence = PRESENCE_NONE;
		seen.why = "its tmux server is gone";
	} else if (r == 0) {
		if (proof_of(instance->id, &state.server) == PROOF_FOREIGN)
			return (struct observation){ .presence = PRESENCE_UNKNOWN,
						     .why = FOREIGN_SERVER };
		seen.presence = PRESENCE_ALIVE;
		seen.why = NULL;
		seen.server = state.server;
		seen.clients = state.clients;
		if (!state.is_dead && !is_judging(state.pane) &&
		    !is_fork_of(state.pane, state.server.pid))
			(void)process_identify(state.pane, &seen.pane, NULL);
	}
	return seen;
}

/* What the manifest says is over, or was never of this session.  It may be wrong (edited by hand,
 * restored from a backup), so the server that listens on the socket has the last word. */
static struct observation look_behind_socket(const struct instance *instance, const char *why)
{
	if (terminal_is_ours(instance->id, instance->run.socket)) {
		struct observation seen = ask_server(instance);
		if (seen.presence == PRESENCE_ALIVE)
			log_warning("the manifest names a different server from the one that is "
				    "running (%d)",
				    (int)seen.server.pid);
		return seen;
	}
	return (struct observation){ .why = why };
}

void host_restore_files(struct deck *deck, const struct instance *instance,
			const struct process_id *server)
{
	cleanup_error struct error err = { 0 };
	if (runfiles_restore(deck, instance, server, &err) < 0)
		log_warning("%s", err.message);
}

/* The socket was removed: tmux makes it again on SIGUSR1 (tmux(1)), if its directory is there. */
static struct observation call_back(const struct instance *instance)
{
	const struct run *run = &instance->run;
	struct observation seen;
	const int64_t deadline = clock_ms() + CALL_BACK_MS;
	const char *name = path_basename(run->socket);
	cleanup_free char *directory = xstrndup(run->socket, (size_t)(name - run->socket));
	cleanup_close int watch = watch_open(directory, IN_CREATE);
	(void)proof_signal(instance->id, &run->server, SIGUSR1, NULL);
	bool appeared = watch_wait(watch, deadline);
	while ((seen = ask_server(instance)).presence == PRESENCE_NONE && appeared &&
	       clock_ms() < deadline)
		/* The socket appears a moment before the server listens; no event says when. */
		clock_pause_until(clock_ms() + POLL_MS);
	if (seen.presence == PRESENCE_NONE)
		seen = (struct observation){ .presence = PRESENCE_UNKNOWN,
					     .why = "its tmux server has lost its socket" };
	return seen;
}

struct observation host_observe(struct deck *deck, const struct instance *instance,
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
		return look_behind_socket(instance, place_end_reason(&place_run));
	if (run->server.pid && proof_of(instance->id, &run->server) == PROOF_FOREIGN)
		return look_behind_socket(instance, place_end_reason(&place_run));
	if (run->server.pid && depth == OBSERVE_PROCESS)
		return (struct observation){ .presence = PRESENCE_ALIVE,
					     .server = run->server,
					     .pane = run->pane };
	if (run->server.pid)
		host_restore_files(deck, instance, &run->server);
	struct observation seen = ask_server(instance);
	if (seen.presence == PRESENCE_NONE && run->server.pid && process_alive(&run->server))
		seen = call_back(instance);
	if (run->directory && seen.why != no_tmux)
		runfiles_note_answer(run->directory, seen.presence != PRESENCE_UNKNOWN);
	return seen;
}

int host_how_ended(const struct instance *instance, struct exit_record *ret, struct error *err)
{
	int r = terminal_how_ended(instance->run.socket, ret, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_TIMEOUT, "the tmux server does not answer");
	ret->oom = oom_ended_agent(instance, ret->code, ret->signal, &ret->oom_victim);
	return 0;
}
