/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/loop.h"

#include "base/text.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>

enum { ACCURACY_US = 1000 };

struct loop {
	sd_event *event;
	LIST_HEAD(, loop_source) sources;
};

struct loop_source {
	LIST_ENTRY(loop_source) link;
	sd_event_source *source;
	void *context;
	union {
		loop_io_handler io;
		loop_timer_handler timer;
		loop_end_handler end;
		loop_signal_handler signal;
	} handler;
};

int loop_new(struct loop **ret, struct error *err)
{
	sd_event *event;
	int r = sd_event_new(&event);
	if (r < 0)
		return error_set_errno(err, -r, "make an event loop");
	struct loop *loop = xcalloc(1, sizeof(*loop));
	loop->event = event;
	LIST_INIT(&loop->sources);
	*ret = loop;
	return 0;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	while (!LIST_EMPTY(&loop->sources))
		loop_remove(LIST_FIRST(&loop->sources)); /* NOLINT(clang-analyzer-unix.Malloc): it leaves the list */
	(void)sd_event_unref(loop->event);
	free(loop);
}

/* Nothing may look at the source after its handler: it may be gone. */

static int on_io(sd_event_source *s UNUSED, int fd, uint32_t events, void *data)
{
	const struct loop_source *source = data;
	source->handler.io(fd, events, source->context);
	return 0;
}

static int on_timer(sd_event_source *s UNUSED, uint64_t at_us UNUSED, void *data)
{
	const struct loop_source *source = data;
	source->handler.timer(source->context);
	return 0;
}

static int on_end(sd_event_source *s UNUSED, int fd UNUSED, uint32_t events UNUSED, void *data)
{
	const struct loop_source *source = data;
	source->handler.end(source->context);
	return 0;
}

static int on_signal(sd_event_source *s UNUSED, const struct signalfd_siginfo *what, void *data)
{
	const struct loop_source *source = data;
	source->handler.signal((int)what->ssi_signo, source->context);
	return 0;
}

static struct loop_source *add(struct loop *loop, struct loop_source *source,
			       struct loop_source **ret)
{
	LIST_INSERT_HEAD(&loop->sources, source, link);
	if (ret)
		*ret = source;
	return source;
}

int loop_add_io(struct loop *loop, int fd, uint32_t events, loop_io_handler handler, void *context,
		struct loop_source **ret, struct error *err)
{
	cleanup_free struct loop_source *source = xcalloc(1, sizeof(*source));
	source->handler.io = handler;
	source->context = context;
	int r = sd_event_add_io(loop->event, &source->source, fd, events, on_io, source);
	if (r < 0)
		return error_set_errno(err, -r, "wait for descriptor %d", fd);
	add(loop, TAKE_PTR(source), ret);
	return 0;
}

int loop_set_io(struct loop_source *source, uint32_t events, struct error *err)
{
	int r = sd_event_source_set_io_events(source->source, events);
	if (r < 0)
		return error_set_errno(err, -r, "wait for other events of a descriptor");
	return 0;
}

static uint64_t microseconds(int64_t at_ms)
{
	if (at_ms > INT64_MAX / 1000)
		return UINT64_MAX;
	return at_ms > 0 ? (uint64_t)at_ms * 1000 : 0;
}

int loop_add_timer(struct loop *loop, int64_t at_ms, loop_timer_handler handler, void *context,
		   struct loop_source **ret, struct error *err)
{
	cleanup_free struct loop_source *source = xcalloc(1, sizeof(*source));
	source->handler.timer = handler;
	source->context = context;
	int r = sd_event_add_time(loop->event, &source->source, CLOCK_BOOTTIME,
				  microseconds(at_ms), ACCURACY_US, on_timer, source);
	if (r < 0)
		return error_set_errno(err, -r, "set a timer");
	add(loop, TAKE_PTR(source), ret);
	return 0;
}

int loop_set_timer(struct loop_source *source, int64_t at_ms, struct error *err)
{
	int r = sd_event_source_set_time(source->source, microseconds(at_ms));
	if (r >= 0)
		r = sd_event_source_set_enabled(source->source, SD_EVENT_ONESHOT);
	if (r < 0)
		return error_set_errno(err, -r, "set a timer");
	return 0;
}

int loop_add_end(struct loop *loop, const struct process_id *process, loop_end_handler handler,
		 void *context, struct loop_source **ret, struct error *err)
{
	cleanup_free struct loop_source *source = xcalloc(1, sizeof(*source));
	cleanup_close int fd = -1;
	int r = process_open(process, &fd, err);
	if (r != 0)
		return r < 0 ? r : LOOP_GONE;
	source->handler.end = handler;
	source->context = context;
	r = sd_event_add_io(loop->event, &source->source, fd, EPOLLIN, on_end, source);
	if (r < 0)
		return error_set_errno(err, -r, "wait for the end of process %d",
				       (int)process->pid);
	(void)sd_event_source_set_io_fd_own(source->source, 1);
	(void)TAKE_FD(fd);
	/* The descriptor stays readable for ever. */
	(void)sd_event_source_set_enabled(source->source, SD_EVENT_ONESHOT);
	add(loop, TAKE_PTR(source), ret);
	return 0;
}

int loop_add_signal(struct loop *loop, int signal_number, loop_signal_handler handler, void *context,
		    struct loop_source **ret, struct error *err)
{
	cleanup_free struct loop_source *source = xcalloc(1, sizeof(*source));
	sigset_t mask;
	(void)sigemptyset(&mask);
	if (sigaddset(&mask, signal_number) < 0 || sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return error_set_errno(err, errno, "block signal %d", signal_number);
	source->handler.signal = handler;
	source->context = context;
	int r = sd_event_add_signal(loop->event, &source->source, signal_number, on_signal, source);
	if (r < 0)
		return error_set_errno(err, -r, "wait for signal %d", signal_number);
	add(loop, TAKE_PTR(source), ret);
	return 0;
}

void loop_remove(struct loop_source *source)
{
	if (!source)
		return;
	LIST_REMOVE(source, link);
	(void)sd_event_source_disable_unref(source->source);
	free(source);
}

int loop_run(struct loop *loop, struct error *err)
{
	int r = sd_event_loop(loop->event);
	if (r < 0)
		return error_set_errno(err, -r, "run the event loop");
	return r;
}

void loop_exit(struct loop *loop, int code)
{
	(void)sd_event_exit(loop->event, code);
}

void loop_ready(struct loop *loop, const char *status)
{
	cleanup_free char *text = visible(or_empty(status));
	(void)sd_notifyf(0, "READY=1%s%s", status ? "\nSTATUS=" : "", text);
	(void)sd_event_set_watchdog(loop->event, 1);
}

void loop_status(struct loop *loop UNUSED, const char *status)
{
	cleanup_free char *text = visible(or_empty(status));
	(void)sd_notifyf(0, "STATUS=%s", text);
}

void loop_stopping(struct loop *loop UNUSED)
{
	(void)sd_notify(0, "STOPPING=1");
}

struct sd_event *loop_event(struct loop *loop)
{
	return loop->event;
}
