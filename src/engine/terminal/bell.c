/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/terminal/bell.h"

#include "base/fsutil.h"
#include "base/watch.h"
#include "driver/tmux/tmux.h"
#include "model/settings/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#define FIFO "bell"

enum bell_state {
	BELL_NEW,
	BELL_SHARED, /* another listener has had it started */
	BELL_ARMED,
	BELL_LOST,   /* it has ended: the user has taken the pipe, or the other listener has gone */
	BELL_AGAIN,  /* armed once more */
	BELL_SILENT, /* and lost again: it is given up */
};

struct bell {
	char *id, *socket, *program, *path;
	struct loop *loop;
	bell_handler handler;
	void *context;
	int fifo, watch;
	struct loop_source *rings, *ends;
	enum bell_state state;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static void on_ring(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct bell *bell = context;
	(void)loop_set_io(bell->rings, 0, NULL);
	bell->handler(bell->context);
}

/* The one that rings has ended. */
static void on_end(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct bell *bell = context;
	loop_remove(TAKE_PTR(bell->ends));
	bell->state = bell->state == BELL_AGAIN ? BELL_SILENT : BELL_LOST;
	if (bell->state == BELL_LOST)
		bell->handler(bell->context);
}

/* A FIFO that had a writer reports a hang-up forever, so each bell gets a new descriptor. */
static int open_fifo(struct bell *bell, struct error *err)
{
	struct stat st;
	loop_remove(TAKE_PTR(bell->ends));
	close_fd(&bell->fifo);
	bell->fifo = open(bell->path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (bell->fifo < 0 || fstat(bell->fifo, &st) < 0)
		return error_set_errno(err, errno, "open %s", bell->path);
	if (!S_ISFIFO(st.st_mode) || st.st_uid != geteuid())
		return error_set(err, ERROR_INVALID, "%s is not a FIFO of ours", bell->path);
	const struct loop_io io = { bell->fifo, 0, on_end, bell };
	return loop_add_io(bell->loop, &io, &bell->ends, err);
}

static int listen_on(struct bell *bell, struct error *err)
{
	const struct loop_io io = { bell->watch, 0, on_ring, bell };
	if (bell->watch < 0)
		return error_set(err, ERROR_UNAVAILABLE, "%s cannot be watched", bell->path);
	return open_fifo(bell, err) < 0 ? -1 : loop_add_io(bell->loop, &io, &bell->rings, err);
}

int bell_open(struct loop *loop, const struct bell_order *order, bell_handler handler,
	      void *context, struct bell **ret, struct error *err)
{
	if (!paths_is_run_directory(order->directory, order->id))
		return error_set(err, ERROR_INVALID, "%s is not a directory of a run",
				 order->directory);
	if (fs_check_owner(order->directory, err) < 0)
		return -1;
	struct bell *bell = xcalloc(1, sizeof(*bell));
	*bell = (struct bell){ .id = xstrdup(order->id),
			       .socket = xstrdup(order->socket),
			       .program = xstrdup(order->program),
			       .path = path_join(order->directory, FIFO),
			       .loop = loop,
			       .handler = handler,
			       .context = context,
			       .fifo = -1 };
	(void)mkfifo(bell->path, 0600);
	bell->watch = watch_open(bell->path, IN_ATTRIB | IN_DONT_FOLLOW);
	if (listen_on(bell, err) < 0) {
		bell_close(bell);
		return -1;
	}
	*ret = bell;
	return 0;
}

void bell_close(struct bell *bell)
{
	if (!bell)
		return;
	loop_remove(bell->rings);
	loop_remove(bell->ends);
	close_fd(&bell->watch);
	close_fd(&bell->fifo);
	free(bell->id);
	free(bell->socket);
	free(bell->program);
	free(bell->path);
	free(bell);
}

const char *bell_id(const struct bell *bell)
{
	return bell->id;
}

/* Is there one that rings?  fifo(7): without a writer the end is read, else nothing yet. */
static bool has_bell(const struct bell *bell)
{
	char byte;
	return read(bell->fifo, &byte, 1) < 0 && errno == EAGAIN;
}

/* Has one to be started?  Notes what becomes of it. */
static bool arms(struct bell *bell)
{
	if (bell->state == BELL_LOST && open_fifo(bell, NULL) < 0)
		bell->state = BELL_SILENT;
	if (bell->state != BELL_NEW && bell->state != BELL_LOST)
		return false;
	const bool is_new = bell->state == BELL_NEW, is_there = has_bell(bell);
	bell->state = is_there ? BELL_SHARED : is_new ? BELL_ARMED : BELL_AGAIN;
	return !is_there;
}

void bell_look_argv(struct bell *bell, struct strvec *ret)
{
	const struct tmux_bell wanted = {
		.program = bell->program,
		.fifo = bell->path,
		/* What was lost once may be the user's pipe now. */
		.forgets = bell->state == BELL_LOST,
	};
	watch_drain(bell->watch);
	(void)loop_set_io(bell->rings, EPOLLIN, NULL);
	tmux_look_argv(bell->socket, arms(bell) ? &wanted : NULL, ret);
}

bool bell_end_argv(const struct bell *bell, struct strvec *ret)
{
	if (bell->state != BELL_ARMED && bell->state != BELL_AGAIN)
		return false;
	tmux_unring_argv(bell->socket, ret);
	return true;
}
