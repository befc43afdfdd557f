/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/host/host-internal.h"

#include "base/argsplit.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/deck/proof.h"
#include "engine/place/alive.h"
#include "engine/place/runfiles.h"
#include "engine/terminal/terminal.h"
#include "model/session/naming.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
	KILL_TIMEOUT_MS = 10000,
	DAEMON_TIMEOUT_MS = 2000,
};

int host_remove_files(const struct instance *instance, struct error *err)
{
	const struct run *run = &instance->run;
	return runfiles_remove(instance->id, run->directory, run->id, err);
}

/* The session's control group; NULL: there is none.  The slice can outlive the scope: an
 * agent may have moved processes into other scopes of the slice. */
static int find_group(struct deck *deck, const char *id, char **ret, struct error *err)
{
	cleanup_free char *scope = naming_scope(id);
	cleanup_free char *slice = naming_slice(id);
	const char *const units[] = { scope, slice };
	*ret = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(units) && !*ret; i++) {
		cleanup_unit_state struct unit_state state = { 0 };
		int r = unit_get_state(deck_bus(deck), units[i], &state, err);
		if (r < 0)
			return -1;
		if (r == 0 && !is_empty(state.control_group))
			*ret = naming_session_group(id, state.control_group);
	}
	return 0;
}

int host_processes(struct deck *deck, const char *id, const char *marker, struct process_id **ret,
		   size_t *ret_count, struct error *err)
{
	if (id && deck_check_bus(deck, err) < 0)
		return -1;
	/* Without a manager there is no scope either; what is left is known by its environment. */
	if (id && deck_bus(deck)) {
		cleanup_free char *group = NULL;
		*ret = NULL;
		*ret_count = 0;
		if (find_group(deck, id, &group, err) < 0)
			return -1;
		return group && cgroup_processes(group, ret, ret_count, err) < 0 ? -1 : 0;
	}
	return process_find_by_environment(marker, ret, ret_count, err);
}

/* The time for a whole stop. */
struct patience {
	int64_t start_ms;
	int grace_ms;
};

static int64_t eighths(const struct patience *patience, int count)
{
	return patience->start_ms + (int64_t)patience->grace_ms * count / 8;
}

/* A quarter of the grace period from now, but at most this many eighths of it after its start. */
static int64_t quarter(const struct patience *patience, int most)
{
	const int64_t last = eighths(patience, most);
	const int64_t next = clock_ms() + patience->grace_ms / 4;
	return next < last ? next : last;
}

/* First the keys with which a user quits, since some agents say more then.  Then SIGTERM, at which
 * an agent saves its transcript.  Then SIGHUP, for shells, which ignore SIGTERM. */
static void end_pane(const struct instance *instance, const struct strvec *keys,
		     const struct patience *patience)
{
	const struct run *run = &instance->run;
	const struct process_id *pane = &run->pane;
	if (keys && keys->count && terminal_press(run->socket, keys, NULL) == 0 &&
	    process_wait_end(pane, eighths(patience, 2), NULL) != PROCESS_STILL_ALIVE)
		return;
	(void)proof_signal(instance->id, pane, SIGTERM, NULL);
	if (process_wait_end(pane, quarter(patience, 6), NULL) != PROCESS_STILL_ALIVE)
		return;
	(void)proof_signal(instance->id, pane, SIGHUP, NULL);
	(void)process_wait_end(pane, eighths(patience, 6), NULL);
}

static void ask_to_end(const struct process_id *ids, size_t count, int64_t deadline)
{
	/* A command that was called from inside the run finds itself among them. */
	for (size_t i = 0; i < count; i++)
		if (ids[i].pid != getpid())
			(void)process_signal(&ids[i], SIGTERM, NULL);
	for (size_t i = 0; i < count; i++)
		if (ids[i].pid != getpid())
			(void)process_wait_end(&ids[i], deadline, NULL);
}

/* The pane first; then those below it, since the agent may be the child of a wrapper that ended at
 * once. */
static void end_politely(const struct instance *instance, const struct strvec *keys,
			 const struct patience *patience, char **ret_words)
{
	const struct run *run = &instance->run;
	cleanup_free struct process_id *tree = NULL;
	size_t count = 0;
	if (proof_of(instance->id, &run->pane) != PROOF_OURS)
		return;
	(void)process_tree(&run->pane, &tree, &count, NULL);
	end_pane(instance, keys, patience);
	/* After the first attempt, tmux may still show the last words of an earlier one. */
	if (ret_words && run->attempt == 0 && !process_alive(&run->pane))
		*ret_words = terminal_hear_words(instance);
	ask_to_end(tree, count, quarter(patience, 7));
}

int host_kill_all(struct deck *deck, const char *id, const char *marker, struct error *err)
{
	int64_t deadline = clock_ms() + KILL_TIMEOUT_MS;
	for (;;) {
		cleanup_free struct process_id *ids = NULL;
		size_t count = 0, left = 0;
		const struct process_id *first = NULL;
		if (host_processes(deck, id, marker, &ids, &count, err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++) {
			/* A command that was called from inside the run has to stay until the
			 * end. Processes of another user (sudo) cannot be killed, and are left. */
			if (ids[i].pid == getpid() || process_signal(&ids[i], SIGKILL, NULL) > 0)
				continue;
			first = first ? first : &ids[i];
			left++;
		}
		if (left == 0)
			return 0;
		if (clock_ms() > deadline)
			return error_set(err, ERROR_TIMEOUT,
					 "%zu processes do not end (first: %d): see ps -p %d -o "
					 "stat,user,wchan,args",
					 left, (int)first->pid, (int)first->pid);
		(void)process_wait_end(first, deadline, NULL);
	}
}

int host_end_unknown(struct deck *deck, const char *id, struct error *err)
{
	cleanup_strvec struct strvec markers = { 0 };
	proof_markers(id, &markers);
	/* If the manager does not answer, there may be a scope. */
	if (deck_check_bus(deck, err) < 0)
		return -1;
	if (deck_bus(deck) && host_kill_all(deck, id, markers.items[0], err) < 0)
		return -1;
	for (size_t i = 0; i < markers.count; i++)
		if (host_kill_all(deck, NULL, markers.items[i], err) < 0)
			return -1;
	return 0;
}

/* Is this argv the command ("name word...") with whatever behind it? */
static bool is_command(const struct strvec *argv, const char *command, const struct agent *agent)
{
	cleanup_strvec struct strvec words = { 0 };
	size_t program = registry_program(argv);
	if (argsplit(command, &words, NULL) < 0 || !words.count || program >= argv->count ||
	    argv->count - program < words.count)
		return false;
	const char *name = path_basename(argv->items[program]);
	if (!streq(name, words.items[0]) && !(strvec_contains(&agent->match, name) &&
					      strvec_contains(&agent->match, words.items[0])))
		return false;
	for (size_t i = 1; i < words.count; i++)
		if (!streq(argv->items[program + i], words.items[i]))
			return false;
	return true;
}

static bool is_daemon(const struct process_id *process, const struct agent *agent)
{
	cleanup_strvec struct strvec argv = { 0 };
	if (process_argv(process->pid, &argv, NULL) != 0)
		return false;
	for (size_t i = 0; i < agent->daemons.count; i++)
		if (is_command(&argv, agent->daemons.items[i], agent))
			return true;
	return false;
}

void host_end_daemons(struct deck *deck, const struct instance *instance, const struct agent *agent)
{
	const struct run *run = &instance->run;
	cleanup_free char *marker = xasprintf(ENV_RUN "=%s", or_empty(run->id));
	cleanup_free struct process_id *ids = NULL;
	size_t all = 0, count = 0;
	if (!agent->daemons.count || run_relation(run) != MACHINE_THIS_BOOT ||
	    host_processes(deck, run->unit ? instance->id : NULL, marker, &ids, &all, NULL) < 0)
		return;
	for (size_t i = 0; i < all; i++)
		if (is_daemon(&ids[i], agent))
			ids[count++] = ids[i];
	ask_to_end(ids, count, clock_ms() + DAEMON_TIMEOUT_MS);
	for (size_t i = 0; i < count; i++) {
		log_info("ended what the agent left behind: process %d", (int)ids[i].pid);
		(void)process_signal(&ids[i], SIGKILL, NULL);
	}
}

/* Are the run's processes in its scope?  The kernel knows better than the manifest. */
static bool has_scope(const struct instance *instance)
{
	const struct run *run = &instance->run;
	if (proof_of(instance->id, &run->server) != PROOF_OURS)
		return run->unit != NULL;
	return proof_is_in_scope(instance->id, run->server.pid);
}

static bool is_in_group_of(const char *unit, pid_t pid)
{
	cleanup_free char *group = NULL;
	return process_cgroup(pid, &group, NULL) == 0 && strstr(group, unit);
}

/* Ask the processes of the run that were moved out of its scope, or all of them without a scope.  A
 * tmux that is built with systemd moves its panes out, also one that an agent starts.  A pane may
 * be a window of the user's, with work to save. */
static int ask_strays(struct deck *deck, const char *id, const char *marker,
		      const struct patience *patience, struct error *err)
{
	cleanup_free struct process_id *ids = NULL;
	cleanup_free char *scope = naming_scope(id);
	size_t all = 0, count = 0;
	if (host_processes(deck, NULL, marker, &ids, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all; i++)
		if (!is_in_group_of(scope, ids[i].pid))
			ids[count++] = ids[i];
	ask_to_end(ids, count, quarter(patience, 8));
	return 0;
}

static int end_processes(struct deck *deck, const struct instance *instance, int grace_ms,
			 char **ret_words, struct error *err)
{
	const struct run *run = &instance->run;
	const struct agent *agent = NULL;
	cleanup_free char *marker = xasprintf(ENV_RUN "=%s", or_empty(run->id));
	if (has_scope(instance) && deck_check_bus(deck, err) < 0)
		return -1;
	const bool scoped = has_scope(instance) && deck_bus(deck);
	const struct patience patience = { clock_ms(), grace_ms };
	(void)deck_agent(deck, instance->agent, &agent, NULL);
	/* Called from inside the run: its terminal closes, and we have to survive that. */
	if (streq(or_empty(getenv(ENV_RUN)), or_empty(run->id)))
		(void)signal(SIGHUP, SIG_IGN);
	if (grace_ms > 0) {
		/* The files of a run prove later that its directory may be removed. */
		host_restore_files(deck, instance, &run->server);
		end_politely(instance, agent ? &agent->quit_keys : NULL, &patience, ret_words);
		/* Attached terminals are told that the session ended, not that it was lost. */
		(void)terminal_end(instance->id, run->socket, NULL);
		if (ask_strays(deck, instance->id, marker, &patience, err) < 0)
			return -1;
	}
	(void)proof_signal(instance->id, &run->server, SIGKILL, NULL);
	if (scoped && host_kill_all(deck, instance->id, NULL, err) < 0)
		return -1;
	/* What was started in a scope of another slice is known by its environment. */
	return host_kill_all(deck, NULL, marker, err);
}

int host_end(struct deck *deck, const struct instance *instance, int grace_ms, char **ret_words,
	     struct error *err)
{
	const struct run *run = &instance->run;
	if (place_check_here(deck, instance, err) < 0)
		return -1;
	if (!run->socket)
		return 0;
	/* Pids of another boot mean nothing now, and nothing of that run can be left. */
	if (run_relation(run) == MACHINE_THIS_BOOT &&
	    end_processes(deck, instance, grace_ms, ret_words, err) < 0)
		return error_prefix(err, "end session %s", instance->id);
	int r = host_remove_files(instance, err);
	if (r == RUNFILES_KEPT && grace_ms > 0)
		deck_warn(deck,
			  "%s was left alone because nothing in it shows that it belongs to this "
			  "run: look at it and remove it yourself",
			  run->directory);
	return r < 0 ? -1 : 0;
}

int host_leave(const struct place_run *run, struct error *err)
{
	/* The server sends SIGHUP to its panes, and this process is in one.  Its socket must be
	 * there until it has the request; the files go afterwards. */
	(void)signal(SIGHUP, SIG_IGN);
	int r = terminal_end(run->id, run->socket, err);
	(void)runfiles_remove(run->id, run->directory, run->run_id, NULL);
	return r < 0 ? -1 : 0;
}
