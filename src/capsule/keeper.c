/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/keeper.h"

#include "base/clock.h"
#include "capsule/keeper-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

static void on_term(int signal_number UNUSED, void *context)
{
	stop_begin(context, KEEPER_GRACE_MS);
}

static void on_stall(void *context)
{
	struct keeper *keeper = context;
	keeper->watches_stall = false;
	clients_drop_stalled(keeper);
}

/* While a window does not read, the agent's output stays in its terminal, which is a full one. */
static bool takes_output(struct keeper *keeper)
{
	if (!clients_are_clogged(keeper))
		return true;
	if (!keeper->watches_stall)
		(void)loop_set_timer(keeper->stall, clock_ms() + KEEPER_STALL_MS, NULL);
	keeper->watches_stall = true;
	return false;
}

static void refresh(void *context)
{
	struct keeper *keeper = context;
	clients_refresh(keeper);
	if (guests_have_gone(keeper))
		stop_begin(keeper, 0);
	uint32_t events = takes_output(keeper) ? EPOLLIN : 0;
	if (keeper->typed.length > 0)
		events |= EPOLLOUT;
	if (events != keeper->master_events &&
	    loop_set_io(keeper->master_source, events, NULL) == 0)
		keeper->master_events = events;
}

static int add_sources(struct keeper *keeper, struct error *err)
{
	struct loop *loop = keeper->loop;
	loop_add_prepare(loop, refresh, keeper, NULL);
	if (loop_add_signal(loop, SIGTERM, on_term, keeper, NULL, err) < 0 ||
	    loop_add_signal(loop, SIGINT, on_term, keeper, NULL, err) < 0 ||
	    loop_add_timer(loop, INT64_MAX, on_stall, keeper, &keeper->stall, err) < 0 ||
	    loop_add_timer(loop, INT64_MAX, stop_late, keeper, &keeper->stop, err) < 0)
		return -1;
	return keeper_watch(keeper, err);
}

/* Nothing that a terminal or a reader does ends us, and orphans become our children. */
static int prepare_process(const char *path, struct error *err)
{
	static const int ignored[] = { SIGHUP, SIGPIPE, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU };
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	if (chdir(path) < 0)
		return error_set_errno(err, errno, "go to %s", path);
	if (getpid() != 1 && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return error_set_errno(err, errno, "become the parent of orphans");
	return 0;
}

static int serve(struct keeper *keeper, struct error *err)
{
	if (pty_open(&keeper->pty, err) < 0)
		return -1;
	int r = add_sources(keeper, err);
	if (r == 0)
		r = clients_listen(keeper, err);
	if (r == 0)
		r = loop_run(keeper->loop, err);
	clients_free(keeper);
	pty_close(&keeper->pty);
	return r;
}

int keeper_run(const char *path, struct error *err)
{
	struct keeper keeper = { .path = path, .listener = -1, .agent_fd = -1 };
	cleanup_loop struct loop *loop = NULL;
	cleanup_close int directory = -1;
	if (prepare_process(path, err) < 0 || loop_new(&loop, err) < 0)
		return -1;
	directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return error_set_errno(err, errno, "open %s", path);
	keeper.directory = directory;
	keeper.loop = loop;
	LIST_INIT(&keeper.clients);
	history_init(&keeper.history);
	int r = serve(&keeper, err);
	history_free(&keeper.history);
	strbuf_free(&keeper.typed);
	frame_secrets_clear(&keeper.secrets);
	return r;
}
