/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/host/host-internal.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/spawner.h"
#include "driver/tmux/tmux.h"
#include "engine/place/alive.h"
#include "engine/place/environment.h"
#include "engine/place/isolation.h"
#include "engine/place/runfiles.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { LAUNCH_TIMEOUT_MS = 20000 /* a machine that has just booted is slow */ };

static void choose_places(const struct deck *deck, struct instance *instance,
			  enum isolation isolation)
{
	struct run *run = &instance->run;
	free(run->directory);
	run->directory = isolation_run_directory(deck, isolation, instance->id);
	free(run->socket);
	run->socket = path_join(run->directory, RUN_SOCKET);
	free(run->unit);
	run->unit = isolation == ISOLATION_SCOPE ? naming_scope(instance->id) : NULL;
	replace_string(&run->boot_id, process_boot_id());
	place_take_over(run);
}

/* Below user@<uid>.service, as the supervisor is: what is started there without a scope ends with
 * the user manager. */
static bool is_below_manager(void)
{
	cleanup_free char *group = isolation_own_group();
	cleanup_free char *manager = xasprintf("/user@%u.service/", (unsigned)getuid());
	return group && strstr(group, manager);
}

int host_prepare(struct deck *deck, struct instance *instance, const struct place_order *order,
		 struct error *err)
{
	enum isolation isolation = isolation_decide(deck);
	/* Without a scope the session ends with the login, on a machine that could prevent it. */
	if (isolation != ISOLATION_SCOPE && deck->settings.tmux.launch_in_user_scope != OFF &&
	    deck_check_bus(deck, err) < 0)
		return -1;
	if (isolation != ISOLATION_SCOPE && order->needs_scope &&
	    deck->settings.tmux.launch_in_user_scope != OFF && is_below_manager())
		return error_set(err, ERROR_UNAVAILABLE, "it cannot get a scope now: %s",
				 or_empty(deck->bus_why));
	if (isolation == ISOLATION_SCOPE)
		isolation_ensure_linger(deck);
	choose_places(deck, instance, isolation);
	if (runfiles_write(deck, instance, order->agent, err) < 0)
		return -1;
	deck_refresh_ssh_agent(deck);
	return 0;
}

/* The scope was refused: the same run, outside of one.  Its files move, and so does what the ladder
 * says about them. */
static int move_to_direct(struct deck *deck, struct instance *instance,
			  const struct place_order *order, struct error *err)
{
	cleanup_free char *old_settings = runfiles_settings(instance);
	(void)host_remove_files(instance, NULL);
	choose_places(deck, instance, ISOLATION_DIRECT);
	if (runfiles_write(deck, instance, order->agent, err) < 0)
		return -1;
	cleanup_free char *settings = runfiles_settings(instance);
	for (size_t i = 0; old_settings && settings && i < instance->run.attempt_count; i++) {
		struct strvec *argv = &instance->run.attempts[i].argv;
		for (size_t j = 0; j < argv->count; j++)
			if (streq(argv->items[j], old_settings))
				replace_string(&argv->items[j], settings);
	}
	return store_save(order->lock, instance, err);
}

/* The gate waits on its descriptor 0 and becomes tmux when it reads a byte: so that no process of
 * the run exists outside its scope, and none is left when we die before that. */
static int start_gate(struct deck *deck, const struct instance *instance, const struct agent *agent,
		      struct child *ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 }, pane = { 0 }, environment = { 0 };
	cleanup_free char *conf = path_join(instance->run.directory, RUN_CONF);
	const char *directory = instance_launch_directory(instance);
	cleanup_close int cwd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cwd < 0)
		return error_set_errno(err, errno, "open %s", directory);
	strvec_push_array(&pane,
			  (const char *const[]){ deck->program, "--profile", instance->profile,
						 "pane", instance->base, instance->run.id, NULL });
	strvec_push(&argv, deck->gate);
	const struct termsize size = place_screen_size(deck, instance);
	const struct tmux_options options = {
		.conf_file = conf,
		.title = instance->title,
		.group = instance->group,
		.pane = &pane,
		.columns = size.columns,
		.rows = size.rows,
	};
	tmux_start_argv(instance->run.socket, &options, &argv);
	environment_build(deck, instance, agent, &environment);
	tmux_hide_bus(&environment);
	cleanup_close int spawner = -1;
	if (deck->spawner && spawner_connect(deck->spawner, &spawner, err) < 0)
		return error_prefix(
			err,
			"the main program of this host does not answer; start it with agentdeck supervise --main");
	const struct child_request request = {
		.argv = (const char *const *)argv.items,
		.environment = environment.items,
		.directory = cwd,
		.gate = true,
		.new_session = true,
		/* The tree of a command can be killed: a step of a job is, with its end. */
		.spawner = spawner < 0 ? 0 : spawner,
	};
	int r = child_start(&request, ret, err);
	if (r == 0)
		(void)TAKE_FD(spawner);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is missing: install agentdeck again",
				 deck->gate);
	/* argv is ours and ends with this function. */
	ret->name = "tmux";
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

/* Ask systemd while tmux starts: the two waits overlap. */
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

static int launch_once(struct deck *deck, struct instance *instance, const struct agent *agent,
		       bool *ret_scope_refused, struct error *err)
{
	struct child gate;
	if (start_gate(deck, instance, agent, &gate, err) < 0)
		return -1;
	if (instance->run.unit && host_make_scope(deck, instance, gate.pid, err) < 0) {
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

int host_launch(struct deck *deck, struct instance *instance, const struct place_order *order,
		struct error *err)
{
	bool scope_refused = false;
	struct error first = { 0 };
	int r = launch_once(deck, instance, order->agent, &scope_refused, &first);
	if (r < 0 && scope_refused && order->needs_scope)
		/* The manager is about to end, or is busy: later. */
		(void)error_prefix(&first, "no scope for it now");
	else if (r < 0 && scope_refused) {
		deck_warn(
			deck,
			"no scope for this session (%s): it runs without one and may end with your "
			"login",
			first.message);
		log_info("tmux cgroup isolation: disabled (user manager not reachable: %s)",
			 first.message);
		error_clear(&first);
		if (move_to_direct(deck, instance, order, err) < 0)
			return -1;
		r = launch_once(deck, instance, order->agent, &scope_refused, &first);
	}
	if (r < 0) {
		(void)host_remove_files(instance, NULL);
		if (err)
			*err = first;
		else
			error_clear(&first);
		return -1;
	}
	if (deck->settings.tmux.options.count) {
		cleanup_error struct error local = { 0 };
		if (tmux_set_options(instance->run.socket, &deck->settings.tmux.options, &local) <
		    0)
			deck_warn(deck, "config.toml, [tmux.options]: %s", local.message);
	}
	return 0;
}
