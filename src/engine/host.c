/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The host backend: a tmux server of its own in a scope of its own.
 */
#include "engine/backend.h"

#include "base/argsplit.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/tmux.h"
#include "engine/environment.h"
#include "engine/isolation.h"
#include "engine/runfiles.h"
#include "model/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#define SLICE "agentdeck.slice"
enum {
	LAUNCH_TIMEOUT_MS = 20000, /* a machine that has just booted is slow */
	SCOPE_TIMEOUT_MS = 10000,
	COLLECT_MS = 200,          /* within which the manager forgets a scope whose last process has ended */
	KILL_TIMEOUT_MS = 10000,
	DAEMON_TIMEOUT_MS = 2000,
	WORDS_TIMEOUT_MS = 500,
	POLL_MS = 10,
};

static const char no_tmux[] = "tmux is not installed or not in PATH, and its server cannot be asked";

static struct observation ask_server(const struct run *run)
{
	cleanup_tmux_pane struct tmux_pane pane = { 0 };
	cleanup_error struct error err = { 0 };
	struct observation seen = { .presence = PRESENCE_UNKNOWN,
				    .why = "its tmux server does not answer" };
	if (tmux_check_socket(run->socket, NULL) < 0) {
		seen.why = TMUX_FOREIGN;
		return seen;
	}
	int r = tmux_query(run->socket, &pane, &err);
	if (r < 0 && err.code == ERROR_UNAVAILABLE) {
		seen.why = no_tmux;
	} else if (r == TMUX_NO_SERVER) {
		seen.presence = PRESENCE_NONE;
		seen.why = "its tmux server is gone";
	} else if (r == 0 && process_identify(pane.server, &seen.server, NULL) == 0) {
		seen.presence = PRESENCE_ALIVE;
		seen.why = NULL;
		seen.clients = pane.clients;
		if (!pane.dead)
			(void)process_identify(pane.pane, &seen.pane, NULL);
	}
	return seen;
}

static struct observation host_observe(struct deck *deck UNUSED, const struct instance *instance,
				       enum observe_depth depth)
{
	const struct run *run = &instance->run;
	if (!run->socket)
		return (struct observation){ .why = "not started" };
	if (!process_same_boot(run->boot_id))
		return (struct observation){ .why = "the machine was restarted" };
	if (run->server.pid && !process_alive(&run->server))
		return (struct observation){ .why = "its tmux server was killed" };
	if (run->server.pid && depth == OBSERVE_PROCESS)
		return (struct observation){ .presence = PRESENCE_ALIVE, .server = run->server,
					     .pane = run->pane };
	struct observation seen = ask_server(run);
	if (run->directory && seen.why != no_tmux)
		runfiles_note_answer(run->directory, seen.presence != PRESENCE_UNKNOWN);
	if (seen.presence == PRESENCE_NONE && run->server.pid && process_alive(&run->server)) {
		/* Somebody removed the socket: tmux makes it again on SIGUSR1 (tmux(1)). */
		int64_t deadline = clock_ms() + 1000;
		(void)process_signal(&run->server, SIGUSR1, NULL);
		do {
			(void)poll(NULL, 0, POLL_MS);
			seen = ask_server(run);
		} while (seen.presence == PRESENCE_NONE && clock_ms() < deadline);
		if (seen.presence == PRESENCE_NONE)
			seen = (struct observation){ .presence = PRESENCE_UNKNOWN,
						     .why = "its tmux server has lost its socket" };
	}
	return seen;
}

static void choose_places(const struct deck *deck, struct instance *instance,
			  enum isolation isolation)
{
	struct run *run = &instance->run;
	const char *root = isolation == ISOLATION_SCOPE ? deck->paths.runtime : deck->paths.direct;
	free(run->directory);
	run->directory = paths_run_directory(root, deck->paths.direct, instance->id);
	free(run->socket);
	run->socket = path_join(run->directory, RUN_SOCKET);
	free(run->unit);
	run->unit = isolation == ISOLATION_SCOPE ? naming_scope(instance->id) : NULL;
	replace_string(&run->boot_id, process_boot_id());
}

/* Below user@<uid>.service, as the supervisor is: what is started there without a scope ends with the user manager. */
static bool is_below_manager(void)
{
	cleanup_free char *group = NULL;
	cleanup_free char *manager = xasprintf("/user@%u.service/", (unsigned)getuid());
	return process_cgroup(getpid(), &group, NULL) == 0 && strstr(group, manager);
}

static int host_prepare(struct deck *deck, struct instance *instance, const struct agent *agent,
			struct error *err)
{
	enum isolation isolation = isolation_decide(deck);
	if (isolation != ISOLATION_SCOPE && deck->needs_scope &&
	    deck->settings.tmux.launch_in_user_scope != OFF && is_below_manager())
		return error_set(err, ERROR_UNAVAILABLE, "no scope for it now: %s",
				 or_empty(deck->bus_why));
	if (isolation == ISOLATION_SCOPE)
		isolation_ensure_linger(deck);
	choose_places(deck, instance, isolation);
	if (runfiles_write(deck, instance, agent, err) < 0)
		return -1;
	deck_refresh_ssh_agent(deck);
	return 0;
}

/* The scope was refused: the same run, outside of one.  Its files move, and so does what the ladder says
 * about them. */
static int move_to_direct(struct deck *deck, struct store_lock *lock, struct instance *instance,
			  const struct agent *agent, struct error *err)
{
	cleanup_free char *old_settings = runfiles_settings(instance);
	(void)runfiles_remove(instance->run.directory, NULL);
	choose_places(deck, instance, ISOLATION_DIRECT);
	if (runfiles_write(deck, instance, agent, err) < 0)
		return -1;
	cleanup_free char *settings = runfiles_settings(instance);
	for (size_t i = 0; old_settings && settings && i < instance->run.attempt_count; i++) {
		struct strvec *argv = &instance->run.attempts[i].argv;
		for (size_t j = 0; j < argv->count; j++)
			if (streq(argv->items[j], old_settings))
				replace_string(&argv->items[j], settings);
	}
	return store_save(lock, instance, err);
}

/* The gate waits on its descriptor 0 and becomes tmux when it reads a byte: so that no process of the
 * run exists outside its scope, and none is left when we die before that. */
static int start_gate(struct deck *deck, const struct instance *instance,
		      const struct agent *agent, struct child *ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 }, pane = { 0 }, environment = { 0 };
	cleanup_free char *conf = path_join(instance->run.directory, RUN_CONF);
	cleanup_close int cwd = open(instance->cwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cwd < 0)
		return error_set_errno(err, errno, "open %s", instance->cwd);
	strvec_push_array(&pane, (const char *const[]){ deck->program, "--profile", instance->profile,
							"pane", instance->id, instance->run.id,
							NULL });
	strvec_push(&argv, deck->gate);
	const struct tmux_options options = {
		.conf_file = conf, .title = instance->title, .pane = &pane, .columns = 200, .rows = 50,
	};
	tmux_start_argv(instance->run.socket, &options, &argv);
	environment_build(deck, instance, agent, &environment);
	const struct child_request request = {
		.argv = (const char *const *)argv.items,
		.environment = environment.items,
		.directory = cwd,
		.gate = true,
		.new_session = true,
	};
	int r = child_start(&request, ret, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is missing: install agentdeck again",
				 deck->gate);
	/* argv is ours and ends with this function. */
	ret->name = "tmux";
	return r;
}

static int run_processes(struct deck *deck, const char *unit, const char *marker,
			 struct process_id **ret, size_t *ret_count, struct error *err);
static int kill_all(struct deck *deck, const char *unit, const char *marker, struct error *err);

/* Nobody lives in the scope of this name (the caller has looked), but what an agent left behind when it ended by itself
 * may hold it, and without a scope the new run would die with its login. */
static void clear_scope(struct deck *deck, const char *unit)
{
	cleanup_free struct process_id *left = NULL;
	size_t count = 0;
	if (run_processes(deck, unit, NULL, &left, &count, NULL) < 0 || count == 0)
		return;
	log_warning("%zu processes of an earlier run are still in %s: they are ended", count, unit);
	(void)kill_all(deck, unit, NULL, NULL);
}

/* A start that was killed just when the manager moved its gate into the scope leaves one without a process, of which the
 * kernel never tells the manager (systemd 252): it stays for ever. */
static void end_empty_scope(struct deck *deck, const char *unit)
{
	cleanup_free struct process_id *left = NULL;
	cleanup_error struct error err = { 0 };
	size_t count = 0;
	if (run_processes(deck, unit, NULL, &left, &count, NULL) < 0 || count > 0)
		return;
	log_warning("%s is left without a process: it is ended", unit);
	if (unit_stop(deck_bus(deck), unit, clock_ms() + SCOPE_TIMEOUT_MS, &err) < 0)
		log_warning("%s: %s", unit, err.message);
}

static int make_scope(struct deck *deck, const struct instance *instance, pid_t pid,
		      struct error *err)
{
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *description = xasprintf("agentdeck session %s (%s)", title, instance->id);
	const struct limits limits = settings_limits(&deck->settings, instance);
	const struct unit_scope scope = {
		.name = instance->run.unit, .slice = SLICE, .description = description,
		.pid = pid, .limits = &limits, .stop_timeout_s = 15,
	};
	/* Right after a stop the manager may still be busy with the old scope of this name. */
	const int64_t begin = clock_ms(), deadline = begin + SCOPE_TIMEOUT_MS;
	int r;
	bool cleared = false, ended = false;
	while ((r = unit_start_scope(deck_bus(deck), &scope, deadline, err)) == UNIT_TAKEN &&
	       clock_ms() < deadline) {
		if (!cleared)
			clear_scope(deck, instance->run.unit);
		cleared = true;
		if (!ended && clock_ms() - begin > COLLECT_MS) {
			end_empty_scope(deck, instance->run.unit);
			ended = true;
		}
		(void)poll(NULL, 0, POLL_MS);
	}
	if (r == UNIT_TAKEN)
		return error_set(err, ERROR_EXISTS, "%s exists already", instance->run.unit);
	if (r > 0)
		return error_set(err, ERROR_UNAVAILABLE, "%s could not be made", instance->run.unit);
	return r;
}

static int open_gate(struct child *gate, struct error *err)
{
	if (fs_write_all(gate->gate, "g", 1, "the gate", err) < 0) {
		child_abandon(gate);
		return -1;
	}
	(void)close(gate->gate);
	gate->gate = -1;
	return 0;
}

/* Asked while tmux starts: each of the two waits for somebody else. */
static void note_invocation(struct deck *deck, struct instance *instance)
{
	cleanup_free char *invocation = NULL;
	if (instance->run.unit &&
	    unit_get_invocation(deck_bus(deck), instance->run.unit, &invocation, NULL) == 0)
		replace_string(&instance->run.invocation_id, invocation);
}

static int await_server(struct child *gate, struct instance *instance, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	struct tmux_started started;
	if (child_finish(gate, clock_ms() + LAUNCH_TIMEOUT_MS, &result, err) < 0)
		return -1;
	if (result.exit_status == 127)
		return error_set(err, ERROR_UNAVAILABLE,
				 "tmux is not installed: install tmux " TMUX_OLDEST " or newer");
	if (tmux_parse_started(&result, &started, err) < 0)
		return -1;
	if (process_identify(started.server, &instance->run.server, err) != 0)
		return error_set(err, ERROR_CHILD, "the tmux server ended at once");
	/* The agent may have ended already: then tmux is about to take the next rung. */
	if (process_identify(started.pane, &instance->run.pane, NULL) != 0)
		instance->run.pane = (struct process_id){ 0 };
	return 0;
}

static int host_end(struct deck *deck, const struct instance *instance, int grace_ms,
		    char **ret_words, struct error *err);

static int launch_once(struct deck *deck, struct instance *instance, const struct agent *agent,
		       bool *ret_scope_refused, struct error *err)
{
	struct child gate;
	if (start_gate(deck, instance, agent, &gate, err) < 0)
		return -1;
	if (instance->run.unit && make_scope(deck, instance, gate.pid, err) < 0) {
		child_abandon(&gate);
		*ret_scope_refused = true;
		return -1;
	}
	int r = open_gate(&gate, err);
	if (r == 0) {
		note_invocation(deck, instance);
		r = await_server(&gate, instance, err);
	}
	if (r < 0)
		(void)host_end(deck, instance, 0, NULL, NULL);
	return r;
}

static int host_launch(struct deck *deck, struct store_lock *lock, struct instance *instance,
		       const struct agent *agent, struct error *err)
{
	bool scope_refused = false;
	struct error first = { 0 };
	int r = launch_once(deck, instance, agent, &scope_refused, &first);
	if (r < 0 && scope_refused && deck->needs_scope)
		/* The manager is about to end, or is busy: later. */
		(void)error_prefix(&first, "no scope for it now");
	else if (r < 0 && scope_refused) {
		deck_warn(deck, "no scope for this session (%s): it runs without one and may end with your "
				"login", first.message);
		log_info("tmux cgroup isolation: disabled (user manager not reachable: %s)",
			 first.message);
		error_clear(&first);
		if (move_to_direct(deck, lock, instance, agent, err) < 0)
			return -1;
		r = launch_once(deck, instance, agent, &scope_refused, &first);
	}
	if (r < 0) {
		(void)runfiles_remove(instance->run.directory, NULL);
		if (err)
			*err = first;
		else
			error_clear(&first);
		return -1;
	}
	if (deck->settings.tmux.options.count) {
		cleanup_error struct error local = { 0 };
		if (tmux_set_options(instance->run.socket, &deck->settings.tmux.options, &local) < 0)
			deck_warn(deck, "config.toml, [tmux.options]: %s", local.message);
	}
	return 0;
}

/* Every process that is there now of the unit (NULL: there is none), or with marker in its environment. */
static int run_processes(struct deck *deck, const char *unit, const char *marker,
			 struct process_id **ret, size_t *ret_count, struct error *err)
{
	/* Without a manager there is no scope either; what is left is known by its environment. */
	if (unit && deck_bus(deck)) {
		cleanup_unit_state struct unit_state state = { 0 };
		*ret = NULL;
		*ret_count = 0;
		int r = unit_get_state(deck_bus(deck), unit, &state, err);
		if (r < 0)
			return -1;
		if (r > 0 || is_empty(state.control_group))
			return 0;
		r = unit_processes(state.control_group, ret, ret_count, err);
		return r < 0 ? -1 : 0;
	}
	return process_find_by_environment(marker, ret, ret_count, err);
}

/* The keys by which its user would end it, for an agent that says more then; SIGTERM lets an agent write its transcript
 * and end; a shell ignores that and obeys SIGHUP. */
static void end_pane(const struct run *run, const struct strvec *keys, int64_t start, int grace_ms)
{
	const struct process_id *pane = &run->pane;
	if (keys && keys->count && tmux_send_keys(run->socket, keys, NULL) == 0 &&
	    process_wait_end(pane, start + grace_ms / 4, NULL) != PROCESS_STILL_ALIVE)
		return;
	(void)process_signal(pane, SIGTERM, NULL);
	if (process_wait_end(pane, clock_ms() + grace_ms / 4, NULL) != PROCESS_STILL_ALIVE)
		return;
	(void)process_signal(pane, SIGHUP, NULL);
	(void)process_wait_end(pane, start + grace_ms, NULL);
}

/* tmux hears of the end a moment later, and may have to be made to look (agentdeck-watch).  Of a later attempt it could
 * still have noted the end of the one before. */
static char *hear_words(const struct run *run)
{
	struct tmux_exit end = { 0 };
	int64_t deadline = clock_ms() + WORDS_TIMEOUT_MS;
	if (run->attempt != 0 || process_alive(&run->pane))
		return NULL;
	while (tmux_pane_exit(run->socket, &end, NULL) != 0 && clock_ms() < deadline) {
		(void)process_signal(&run->server, SIGCHLD, NULL);
		(void)poll(NULL, 0, POLL_MS);
	}
	return end.last_words;
}

/* The pane first; then those below it, since the agent may be the child of a wrapper that ended at once. */
static void end_politely(const struct run *run, const struct strvec *keys, int grace_ms, char **ret_words)
{
	cleanup_free struct process_id *tree = NULL;
	size_t count = 0;
	int64_t start = clock_ms();
	if (!process_alive(&run->pane))
		return;
	(void)process_tree(&run->pane, &tree, &count, NULL);
	end_pane(run, keys, start, grace_ms);
	if (ret_words)
		*ret_words = hear_words(run);
	for (size_t i = 0; i < count; i++)
		if (tree[i].pid != getpid())
			(void)process_signal(&tree[i], SIGTERM, NULL);
	int64_t deadline = clock_ms() + grace_ms / 4;
	for (size_t i = 0; i < count; i++)
		if (tree[i].pid != getpid())
			(void)process_wait_end(&tree[i], deadline, NULL);
}

static int kill_all(struct deck *deck, const char *unit, const char *marker, struct error *err)
{
	int64_t deadline = clock_ms() + KILL_TIMEOUT_MS;
	for (;;) {
		cleanup_free struct process_id *ids = NULL;
		size_t count = 0, left = 0;
		pid_t first = 0;
		if (run_processes(deck, unit, marker, &ids, &count, err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++) {
			/* Called from inside the run, we are the one that has to stay until the end.  What must
			 * not be killed (another user's, by sudo) is left all the same. */
			if (ids[i].pid == getpid() || process_signal(&ids[i], SIGKILL, NULL) > 0)
				continue;
			first = first ? first : ids[i].pid;
			left++;
		}
		if (left == 0)
			return 0;
		if (clock_ms() > deadline)
			return error_set(err, ERROR_TIMEOUT, "%zu processes do not end, the first is %d: "
					 "look at it with ps -p %d -o stat,user,wchan,args", left,
					 (int)first, (int)first);
		(void)poll(NULL, 0, POLL_MS);
	}
}

int backend_host_end_unknown(struct deck *deck, const char *id, struct error *err)
{
	cleanup_free char *unit = naming_scope(id);
	cleanup_free char *marker = xasprintf(ENV_INSTANCE "=%s", id);
	/* In a scope or without one: nobody knows. */
	if (deck_bus(deck) && kill_all(deck, unit, marker, err) < 0)
		return -1;
	return kill_all(deck, NULL, marker, err);
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

void backend_host_end_daemons(struct deck *deck, const struct instance *instance,
			      const struct agent *agent)
{
	const struct run *run = &instance->run;
	cleanup_free char *marker = xasprintf(ENV_RUN "=%s", or_empty(run->id));
	cleanup_free struct process_id *ids = NULL;
	size_t all = 0, count = 0;
	if (!agent->daemons.count || !process_same_boot(run->boot_id) ||
	    run_processes(deck, run->unit, marker, &ids, &all, NULL) < 0)
		return;
	for (size_t i = 0; i < all; i++)
		if (is_daemon(&ids[i], agent))
			ids[count++] = ids[i];
	for (size_t i = 0; i < count; i++)
		(void)process_signal(&ids[i], SIGTERM, NULL);
	int64_t deadline = clock_ms() + DAEMON_TIMEOUT_MS;
	for (size_t i = 0; i < count; i++) {
		log_info("ended what the agent left behind: process %d", (int)ids[i].pid);
		if (process_wait_end(&ids[i], deadline, NULL) == PROCESS_STILL_ALIVE)
			(void)process_signal(&ids[i], SIGKILL, NULL);
	}
}

static int host_end(struct deck *deck, const struct instance *instance, int grace_ms,
		    char **ret_words, struct error *err)
{
	const struct run *run = &instance->run;
	const struct agent *agent = NULL;
	(void)deck_agent(deck, instance->agent, &agent, NULL);
	if (!run->socket)
		return 0;
	/* Pids of another boot mean nothing now, and nothing of that run can be left. */
	if (process_same_boot(run->boot_id)) {
		cleanup_free char *marker = xasprintf(ENV_RUN "=%s", or_empty(run->id));
		/* Called from inside the run: its terminal goes, and we have to go on. */
		if (streq(or_empty(getenv(ENV_RUN)), or_empty(run->id)))
			(void)signal(SIGHUP, SIG_IGN);
		if (grace_ms > 0) {
			end_politely(run, agent ? &agent->quit_keys : NULL, grace_ms, ret_words);
			/* Attached terminals are told that the session ended, not that it was lost. */
			if (process_alive(&run->server))
				(void)tmux_kill_server(run->socket, NULL);
		}
		if (process_alive(&run->server))
			(void)process_signal(&run->server, SIGKILL, NULL);
		if (kill_all(deck, run->unit, marker, err) < 0)
			return error_prefix(err, "end session %s", instance->id);
	}
	return runfiles_remove(run->directory, err);
}

const struct backend backend_host = {
	.name = "host",
	.observe = host_observe,
	.prepare = host_prepare,
	.launch = host_launch,
	.end = host_end,
};
