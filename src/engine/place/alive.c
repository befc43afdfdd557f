/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/alive.h"

#include "engine/deck/hint.h"
#include "engine/deck/proof.h"
#include "engine/place/runfiles.h"

#include <signal.h>

/* The server of a window has one child: what shows the agent. */
enum { WINDOW_CHILDREN = 8 };

enum machine_relation place_relation(const struct place_run *run)
{
	const struct machine_stamp written = { run->boot_id, run->machine_id, run->pid_namespace,
					       run->host };
	return machine_relation(&written);
}

char *place_elsewhere(const struct place_run *run)
{
	const struct machine_stamp written = { run->boot_id, run->machine_id, run->pid_namespace,
					       run->host };
	return machine_relation(&written) == MACHINE_OTHER ? machine_name(&written) : NULL;
}

/* An earlier boot has left nothing, wherever it ran. */
enum presence place_presence(const struct place_run *run)
{
	const enum machine_relation relation = place_relation(run);
	if (relation == MACHINE_EARLIER_BOOT)
		return PRESENCE_NONE;
	const struct place *place = place_of(run);
	return relation == MACHINE_OTHER || !place ? PRESENCE_UNKNOWN : place->presence(run);
}

bool place_is_live(const struct place_run *run)
{
	return place_presence(run) == PRESENCE_ALIVE;
}

const char *place_end_reason(const struct place_run *run)
{
	const struct place *place = place_of(run);
	if (place_relation(run) != MACHINE_THIS_BOOT)
		return "the machine was restarted";
	return place ? place->lost : "it was killed";
}

/* The run's place, if the record of its processes is of this boot and machine. */
static const struct place *place_now(const struct place_run *run)
{
	return place_relation(run) == MACHINE_THIS_BOOT ? place_of(run) : NULL;
}

struct place_watch place_watch(const struct place_run *run)
{
	const struct place *place = place_now(run);
	return place ? place->watch(run) : (struct place_watch){ 0 };
}

bool place_lacks_window(const struct place_run *run)
{
	const struct place *place = place_now(run);
	return place && place_is_live(run) && place->lacks_window(run);
}

char *place_control_group(const struct place_run *run)
{
	const struct place *place = place_now(run);
	return place ? place->control_group(run) : NULL;
}

static int find_processes(const struct place_run *run, struct process_id **ret, size_t *ret_count)
{
	const struct place *place = place_now(run);
	if (place && place->shares_control_group)
		return process_tree(&run->server, ret, ret_count, NULL);
	cleanup_free char *group = place_control_group(run);
	return group ? cgroup_processes(group, ret, ret_count, NULL) : -1;
}

void place_list_processes(const struct place_run *run, struct strvec *ret)
{
	cleanup_free struct process_id *found = NULL;
	size_t count = 0;
	if (!place_is_live(run) || find_processes(run, &found, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		cleanup_strvec struct strvec argv = { 0 };
		if (found[i].pid == run->server.pid || process_argv(found[i].pid, &argv, NULL) != 0)
			continue;
		cleanup_strbuf struct strbuf command = { 0 };
		for (size_t word = 0; word < argv.count; word++)
			strbuf_addf(&command, " %s", argv.items[word]);
		strvec_pushf(ret, "%d%s", (int)found[i].pid, strbuf_text(&command));
	}
}

bool place_is_empty(const struct place_run *run)
{
	const enum machine_relation relation = place_relation(run);
	const struct place *place = place_of(run);
	return relation == MACHINE_EARLIER_BOOT ||
	       (relation == MACHINE_THIS_BOOT && place && place->is_empty(run));
}

static bool are_own(const struct place_run *run, const struct process_id *found, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!process_same(&found[i], &run->server) && !process_same(&found[i], &run->pane))
			return false;
	return true;
}

bool place_is_alone(const struct instance *instance)
{
	const struct place_run its = place_run_of(instance), *run = &its;
	const struct recipe *recipe = instance->recipe;
	cleanup_free struct process_id *found = NULL, *marked = NULL;
	cleanup_free char *entry = xasprintf(ENV_INSTANCE "=%s", run->id);
	size_t count = 0, marked_count = 0;
	if (!run->pane.pid || !place_is_live(run) || (recipe && recipe->docker != DOCKER_NONE))
		return false;
	/* In a scope or a container nothing leaves its control group; elsewhere what was started
	 * for the session is known by its environment. */
	if (run->unit || run->window.pid)
		return find_processes(run, &found, &count) == 0 && are_own(run, found, count);
	return process_tree(&run->server, &found, &count, NULL) == 0 &&
	       process_find_by_environment(entry, &marked, &marked_count, NULL) == 0 &&
	       are_own(run, found, count) && are_own(run, marked, marked_count);
}

bool place_agent_is_live(const struct place_run *run)
{
	const struct place *place = place_now(run);
	return place && run->pane.pid && place->agent_is_live(run);
}

const char *place_silence(const struct place_run *run)
{
	const struct place *place = place_of(run);
	return place ? place->silence(run) : NULL;
}

bool place_was_silent(const struct place_run *run)
{
	return process_is_stopped(&run->server) || runfiles_is_silent(run->directory);
}

void place_nudge(const struct place_run *run)
{
	const struct place *place = place_of(run);
	if (place)
		place->nudge(run);
}

void place_continue(const struct place_run *run)
{
	if (place_is_live(run) && run->pane.pid)
		(void)process_signal(&run->pane, SIGCONT, NULL);
}

/* A window of its own is a tmux server here. */
char *place_terminal(const struct place_run *run)
{
	pid_t shown[WINDOW_CHILDREN] = { run->pane.pid };
	size_t count = 1;
	char *path = NULL;
	if (run->window.pid)
		count = process_alive(&run->window)
				? process_children(run->window.pid, shown, WINDOW_CHILDREN)
				: 0;
	for (size_t i = 0; i < count && !path; i++)
		(void)process_terminal(shown[i], &path, NULL);
	return path;
}

bool place_is_between(const struct process_id *server, const struct process_id *pane)
{
	return server->pid && !process_alive(pane) && process_alive(server);
}

bool place_is_between_soon(const struct process_id *server, const struct process_id *pane)
{
	return server->pid && process_is_ending(pane) && process_alive(server);
}

void place_take_over(struct run *run)
{
	const struct machine_stamp here = machine_stamp_of_boot(run->boot_id);
	if (!streq(or_empty(run->pid_namespace), or_empty(here.pid_namespace)))
		run->server = run->pane = run->window = run->reporter = (struct process_id){ 0 };
	replace_string(&run->machine_id, here.id);
	replace_string(&run->pid_namespace, here.pid_namespace);
	replace_string(&run->host, here.host);
}

int place_check_here(const struct deck *deck, const struct instance *instance, struct error *err)
{
	if (run_relation(&instance->run) != MACHINE_OTHER)
		return 0;
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *name = instance_host(instance);
	cleanup_free char *host = visible(name);
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	return error_set(err, ERROR_INVALID,
			 "session '%s' (%s) runs on %s: use it there. If it no longer runs there, "
			 "take it over with agentdeck session start --take-over %s",
			 title, instance->id, host, hint);
}

int place_has_processes(const char *id, bool *ret, struct error *err)
{
	cleanup_strvec struct strvec markers = { 0 };
	bool found = false;
	proof_markers(id, &markers);
	for (size_t i = 0; i < markers.count && !found; i++) {
		cleanup_free struct process_id *processes = NULL;
		size_t count = 0;
		if (process_find_by_environment(markers.items[i], &processes, &count, err) < 0)
			return -1;
		found = count > 0;
	}
	*ret = found;
	return 0;
}
