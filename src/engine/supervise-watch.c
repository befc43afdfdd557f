/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/environment.h"
#include "engine/lifecycle-internal.h"
#include "engine/oom.h"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

/* From one nudge to the next; doubled so many times. */
enum { NUDGE_MS = 100, MOST_DOUBLINGS = 9 };

static void on_timer(void *context)
{
	session_on_timer(context);
}

void watch_set_timer(struct session *session, int64_t delay_ms)
{
	const int64_t at = clock_ms() + delay_ms;
	cleanup_error struct error err = { 0 };
	int r = session->timer
			? loop_set_timer(session->timer, at, &err)
			: loop_add_timer(session->supervisor->loop, at, on_timer, session, &session->timer, &err);
	if (r < 0)
		log_error("%s: %s", session->key, err.message);
}

void watch_clear_timer(struct session *session)
{
	loop_remove(TAKE_PTR(session->timer));
}

static void on_server_end(void *context)
{
	struct session *session = context;
	loop_remove(TAKE_PTR(session->server_end));
	(void)session_look(session);
}

bool watch_is_between(const struct session *session)
{
	return session->is_live && lifecycle_is_between(&session->server, &session->pane);
}

void watch_nudge_later(struct session *session)
{
	watch_set_timer(session, (int64_t)NUDGE_MS << session->nudges);
}

void watch_nudge(struct session *session)
{
	(void)process_signal(&session->server, SIGCHLD, NULL);
	if (session->nudges < MOST_DOUBLINGS)
		session->nudges++;
	watch_nudge_later(session);
}

static void on_pane_end(void *context)
{
	struct session *session = context;
	loop_remove(TAKE_PTR(session->pane_end));
	session->nudges = 0;
	/* tmux is told at the same moment as we are. */
	watch_nudge_later(session);
}

static void on_oom(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct session *session = context;
	int64_t kills = unit_oom_read(session->oom_fd);
	/* The group is gone: its descriptor would wake us for ever. */
	if (kills < 0)
		loop_remove(TAKE_PTR(session->oom_io));
	/* The file also tells of limits that were only reached. */
	if (kills <= session->oom_kills)
		return;
	session->oom_kills = kills;
	/* Logged, and written down for the pane, which has to tell this kill from a later one. */
	(void)oom_look(session->run_directory, session->control_group);
	cleanup_free char *victim = unit_oom_victim(session->control_group);
	cleanup_free char *message = xasprintf("the kernel killed %s of it for lack of memory",
					       victim ? victim : "a process");
	calls_notify(session, "oom", message);
}

static void watch_memory(struct session *session)
{
	if (process_cgroup(session->server.pid, &session->control_group, NULL) != 0)
		return;
	session->oom_fd = unit_oom_open(session->control_group, NULL);
	session->oom_kills = session->oom_fd >= 0 ? unit_oom_read(session->oom_fd) : 0;
	if (session->oom_fd >= 0 &&
	    loop_add_io(session->supervisor->loop, session->oom_fd, EPOLLPRI, on_oom, session,
			&session->oom_io, NULL) < 0)
		session->oom_io = NULL;
}

void watch_end(struct session *session)
{
	loop_remove(TAKE_PTR(session->server_end));
	loop_remove(TAKE_PTR(session->pane_end));
	loop_remove(TAKE_PTR(session->oom_io));
	if (session->oom_fd >= 0)
		(void)close(session->oom_fd);
	session->oom_fd = -1;
	free(TAKE_PTR(session->control_group));
	free(TAKE_PTR(session->run_directory));
	session->server = session->pane = (struct process_id){ 0 };
	session->is_live = false;
	session->nudges = 0;
	(void)follow_run(session->supervisor->follow, session->profile, session->base, NULL, NULL);
}

static void note_watched(struct session *session, int result, const struct error *err)
{
	if (result < 0 && !session->is_unwatched)
		log_error("%s cannot be watched: %s", session->key, err->message);
	session->is_unwatched = result < 0;
}

/* False: the server has ended meanwhile. */
static bool watch_server(struct session *session, const struct run *run)
{
	struct supervisor *supervisor = session->supervisor;
	cleanup_error struct error err = { 0 };
	if (session->is_live && !session->is_unwatched && process_same(&session->server, &run->server))
		return true;
	watch_end(session);
	int r = loop_add_end(supervisor->loop, &run->server, on_server_end, session, &session->server_end,
			     &err);
	if (r == LOOP_GONE)
		return false;
	note_watched(session, r, &err);
	session->is_live = true;
	session->server = run->server;
	replace_string(&session->run_directory, run->directory);
	/* Once it has ended nobody can tell any more what it was started with. */
	(void)environment_of_process(run->server.pid, &session->environment);
	(void)follow_run(supervisor->follow, session->profile, session->base, run->directory, NULL);
	watch_memory(session);
	return true;
}

static void watch_pane(struct session *session, const struct run *run)
{
	if (process_same(&session->pane, &run->pane))
		return;
	loop_remove(TAKE_PTR(session->pane_end));
	session->pane = run->pane;
	if (!run->pane.pid)
		return;
	cleanup_error struct error err = { 0 };
	int r = loop_add_end(session->supervisor->loop, &run->pane, on_pane_end, session,
			     &session->pane_end, &err);
	if (!session->is_unwatched)
		note_watched(session, r, &err);
	if (r == LOOP_GONE)
		on_pane_end(session);
}

bool watch_is_live(const struct run *run)
{
	return run->server.pid && process_same_boot(run->boot_id) && process_alive(&run->server);
}

void watch_run(struct session *session, const struct instance *instance)
{
	const struct run *run = &instance->run;
	if (watch_is_live(run) && watch_server(session, run)) {
		watch_pane(session, run);
		return;
	}
	watch_end(session);
	session->is_unwatched = false;
}
