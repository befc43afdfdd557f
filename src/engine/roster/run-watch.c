/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/run-watch.h"

#include "driver/cgroup/cgroup.h"

#include <sys/epoll.h>
#include <unistd.h>

/* What is known of its session may be older than that. */
static void on_end(void *context)
{
	struct watched_process *process = context;
	loop_remove(TAKE_PTR(process->source));
	process->watch->tell(RUN_ENDED, process->watch->context);
}

static int watch_process(struct run_watch *watch, struct watched_process *process,
			 const struct process_id *now, struct error *err)
{
	if (process_same(&process->id, now))
		return 0;
	loop_remove(TAKE_PTR(process->source));
	*process = (struct watched_process){ .watch = watch };
	if (now->pid && loop_add_end(watch->loop, now, on_end, process, &process->source, err) < 0)
		return -1;
	process->id = *now;
	return 0;
}

int run_watch_processes(struct run_watch *watch, const struct place_watch *now, struct error *err)
{
	return watch_process(watch, &watch->server, &now->server, err) < 0 ||
			       watch_process(watch, &watch->agent, &now->agent, err) < 0 ||
			       watch_process(watch, &watch->window, &now->window, err) < 0
		       ? -1
		       : 0;
}

static void stop_counting(struct run_watch *watch)
{
	if (!watch->memory)
		return;
	loop_remove(TAKE_PTR(watch->memory));
	(void)close(watch->memory_fd);
}

static void on_memory(int fd, uint32_t events UNUSED, void *context)
{
	struct run_watch *watch = context;
	const int64_t kills = cgroup_oom_read(fd);
	/* The group is gone: its descriptor would wake us forever. */
	if (kills < 0)
		stop_counting(watch);
	/* The file also tells of limits that were only reached. */
	if (kills <= watch->kills)
		return;
	watch->kills = kills;
	watch->tell(RUN_KILLED, watch->context);
}

void run_watch_memory(struct run_watch *watch, const char *control_group)
{
	stop_counting(watch);
	const int fd = control_group ? cgroup_oom_open(control_group, NULL) : -1;
	if (fd < 0)
		return;
	watch->kills = cgroup_oom_read(fd);
	watch->memory_fd = fd;
	if (loop_add_io(watch->loop, &(struct loop_io){ fd, EPOLLPRI, on_memory, watch },
			&watch->memory, NULL) < 0)
		(void)close(fd);
}

void run_watch_end(struct run_watch *watch)
{
	loop_remove(watch->server.source);
	loop_remove(watch->agent.source);
	loop_remove(watch->window.source);
	stop_counting(watch);
}
