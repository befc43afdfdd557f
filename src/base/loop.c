/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/loop.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>

enum kind { IO, TIMER, END, SIGNAL, PREPARE };

LIST_HEAD(source_list, loop_source);

struct loop {
	int epoll;
	int clock;         /* timerfd, set to the earliest timer */
	bool clock_is_old; /* the earliest timer may have changed */
	bool exiting, has_run;
	int code;
	struct source_list timers, prepares, others;
	int64_t watchdog_ms; /* between two signs of life; 0: no watchdog */
	struct loop_source *watchdog;
};

struct loop_source {
	LIST_ENTRY(loop_source) link;
	struct loop *loop;
	enum kind kind;
	int fd; /* IO: the caller's; END, SIGNAL: ours; else -1 */
	int signal_number;
	int64_t at_ms; /* INT64_MAX: never */
	void *context;
	union {
		loop_io_handler io;
		loop_timer_handler timer;
		loop_end_handler end;
		loop_signal_handler signal;
		loop_prepare_handler prepare;
	} handler;
};

int loop_new(struct loop **ret, struct error *err)
{
	cleanup_close int epoll = epoll_create1(EPOLL_CLOEXEC);
	cleanup_close int clock = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	/* The clock has no source: NULL means the clock. */
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };
	if (epoll < 0 || clock < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, clock, &event) < 0)
		return error_set_errno(err, errno, "make an event loop");
	struct loop *loop = xcalloc(1, sizeof(*loop));
	loop->epoll = TAKE_FD(epoll);
	loop->clock = TAKE_FD(clock);
	LIST_INIT(&loop->timers);
	LIST_INIT(&loop->prepares);
	LIST_INIT(&loop->others);
	*ret = loop;
	return 0;
}

static void remove_all(struct source_list *list)
{
	while (!LIST_EMPTY(list))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it leaves the list */
		loop_remove(LIST_FIRST(list));
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	remove_all(&loop->timers);
	remove_all(&loop->prepares);
	remove_all(&loop->others);
	(void)close(loop->clock);
	(void)close(loop->epoll);
	free(loop);
}

/* --- sources ---------------------------------------------------------------------------------- */

static struct loop_source *new_source(struct loop *loop, enum kind kind, int fd, void *context)
{
	struct loop_source *source = xcalloc(1, sizeof(*source));
	source->loop = loop;
	source->kind = kind;
	source->fd = fd;
	source->context = context;
	return source;
}

static int control(struct loop_source *source, int operation, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };
	return epoll_ctl(source->loop->epoll, operation, source->fd, &event);
}

static void add(struct loop_source *source, struct loop_source **ret)
{
	struct loop *loop = source->loop;
	struct source_list *list = source->kind == TIMER     ? &loop->timers
				   : source->kind == PREPARE ? &loop->prepares
							     : &loop->others;
	LIST_INSERT_HEAD(list, source, link);
	if (ret)
		*ret = source;
}

int loop_add_io(struct loop *loop, const struct loop_io *io, struct loop_source **ret,
		struct error *err)
{
	cleanup_free struct loop_source *source = new_source(loop, IO, io->fd, io->context);
	source->handler.io = io->handler;
	if (control(source, EPOLL_CTL_ADD, io->events) < 0)
		return error_set_errno(err, errno, "wait for descriptor %d", io->fd);
	add(TAKE_PTR(source), ret);
	return 0;
}

int loop_set_io(struct loop_source *source, uint32_t events, struct error *err)
{
	if (control(source, EPOLL_CTL_MOD, events) < 0)
		return error_set_errno(err, errno, "wait for other events of a descriptor");
	return 0;
}

int loop_add_timer(struct loop *loop, int64_t at_ms, loop_timer_handler handler, void *context,
		   struct loop_source **ret, struct error *err UNUSED)
{
	struct loop_source *source = new_source(loop, TIMER, -1, context);
	source->handler.timer = handler;
	source->at_ms = at_ms;
	loop->clock_is_old = true;
	add(source, ret);
	return 0;
}

int loop_set_timer(struct loop_source *source, int64_t at_ms, struct error *err UNUSED)
{
	source->at_ms = at_ms;
	source->loop->clock_is_old = true;
	return 0;
}

int loop_add_end(struct loop *loop, const struct process_id *process, loop_end_handler handler,
		 void *context, struct loop_source **ret, struct error *err)
{
	cleanup_close int fd = -1;
	int r = process_open(process, &fd, err);
	if (r != 0)
		return r < 0 ? r : LOOP_GONE;
	cleanup_free struct loop_source *source = new_source(loop, END, fd, context);
	source->handler.end = handler;
	if (control(source, EPOLL_CTL_ADD, EPOLLIN) < 0)
		return error_set_errno(err, errno, "wait for the end of process %d",
				       (int)process->pid);
	(void)TAKE_FD(fd);
	add(TAKE_PTR(source), ret);
	return 0;
}

static bool has_signal(const struct loop *loop, int signal_number)
{
	const struct loop_source *source;
	LIST_FOREACH(source, &loop->others, link)
		if (source->kind == SIGNAL && source->signal_number == signal_number)
			return true;
	return false;
}

int loop_add_signal(struct loop *loop, int signal_number, loop_signal_handler handler,
		    void *context, struct loop_source **ret, struct error *err)
{
	sigset_t mask;
	(void)sigemptyset(&mask);
	if (sigaddset(&mask, signal_number) < 0 || sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return error_set_errno(err, errno, "block signal %d", signal_number);
	if (has_signal(loop, signal_number))
		return error_set_errno(err, EBUSY, "wait for signal %d", signal_number);
	cleanup_close int fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	cleanup_free struct loop_source *source = new_source(loop, SIGNAL, fd, context);
	source->signal_number = signal_number;
	source->handler.signal = handler;
	if (fd < 0 || control(source, EPOLL_CTL_ADD, EPOLLIN) < 0)
		return error_set_errno(err, errno, "wait for signal %d", signal_number);
	(void)TAKE_FD(fd);
	add(TAKE_PTR(source), ret);
	return 0;
}

void loop_add_prepare(struct loop *loop, loop_prepare_handler handler, void *context,
		      struct loop_source **ret)
{
	struct loop_source *source = new_source(loop, PREPARE, -1, context);
	source->handler.prepare = handler;
	add(source, ret);
}

void loop_remove(struct loop_source *source)
{
	if (!source)
		return;
	LIST_REMOVE(source, link);
	if (source->kind == TIMER)
		source->loop->clock_is_old = true;
	else if (source->fd >= 0)
		(void)control(source, EPOLL_CTL_DEL, 0);
	if (source->kind == END || source->kind == SIGNAL)
		(void)close(source->fd);
	free(source);
}

/* --- running ---------------------------------------------------------------------------------- */

static struct loop_source *earliest(const struct loop *loop)
{
	struct loop_source *source, *result = NULL;
	LIST_FOREACH(source, &loop->timers, link)
		/* If two timers have the same time, the older one runs first. It is further back. */
		if (source->at_ms != INT64_MAX && (!result || source->at_ms <= result->at_ms))
			result = source;
	return result;
}

static int set_clock(struct loop *loop)
{
	struct itimerspec when = { 0 };
	const struct loop_source *next = earliest(loop);
	/* Zero would disarm the clock. */
	int64_t at_ms = next && next->at_ms <= 0 ? 1 : next ? next->at_ms : 0;
	when.it_value.tv_sec = at_ms / 1000;
	when.it_value.tv_nsec = at_ms % 1000 * 1000000;
	loop->clock_is_old = false;
	return timerfd_settime(loop->clock, TFD_TIMER_ABSTIME, &when, NULL);
}

static void run_timer(struct loop *loop)
{
	struct loop_source *source = earliest(loop);
	/* Setting the clock again also makes it unreadable. */
	loop->clock_is_old = true;
	if (!source || source->at_ms > clock_ms())
		return;
	source->at_ms = INT64_MAX;
	source->handler.timer(source->context);
}

/* Nothing may look at the source after its handler: it may be gone. */
static void run_source(struct loop_source *source, uint32_t events)
{
	struct signalfd_siginfo what;
	switch (source->kind) {
	case IO:
		source->handler.io(source->fd, events, source->context);
		break;
	case END:
		/* The descriptor stays readable forever. */
		(void)control(source, EPOLL_CTL_DEL, 0);
		source->handler.end(source->context);
		break;
	case SIGNAL:
		if (read(source->fd, &what, sizeof(what)) == sizeof(what))
			source->handler.signal((int)what.ssi_signo, source->context);
		break;
	case TIMER:
	case PREPARE:
		break;
	}
}

int loop_turn(struct loop *loop, int64_t deadline_ms, struct error *err)
{
	const struct loop_source *source;
	LIST_FOREACH(source, &loop->prepares, link)
		source->handler.prepare(source->context);
	if (loop->clock_is_old && set_clock(loop) < 0)
		return error_set_errno(err, errno, "run the event loop");
	for (;;) {
		/* One at a time: its handler may remove the source of the next one. */
		struct epoll_event event;
		int left_ms = deadline_ms == INT64_MAX ? -1 : clock_left_ms(deadline_ms);
		int n = epoll_wait(loop->epoll, &event, 1, left_ms);
		if (n < 0 && errno != EINTR)
			return error_set_errno(err, errno, "run the event loop");
		if (n == 1 && event.data.ptr)
			run_source(event.data.ptr, event.events);
		else if (n == 1)
			run_timer(loop);
		if (n == 1)
			return 1;
		if (n == 0 && clock_left_ms(deadline_ms) == 0)
			return 0;
	}
}

int loop_descriptor(const struct loop *loop)
{
	return loop->epoll;
}

int loop_run(struct loop *loop, struct error *err)
{
	if (loop->has_run)
		return error_set_errno(err, ESTALE, "run the event loop");
	while (!loop->exiting)
		if (loop_turn(loop, INT64_MAX, err) < 0)
			return -1;
	loop->has_run = true;
	return loop->code;
}

void loop_exit(struct loop *loop, int code)
{
	loop->exiting = true;
	loop->code = code;
}

/* --- the service manager's protocol ----------------------------------------------------------- */

/* Like sd_notify(3): a datagram to the socket. Its name may be an abstract one ("@..."). */
static void notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = path ? strlen(path) : 0;
	if (length < 2 || length >= sizeof(address.sun_path) || !strchr("/@", *path))
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@')
		address.sun_path[0] = '\0';
	cleanup_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		(void)sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const void *)&address,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}

/* Like sd_watchdog_enabled(3), but half of the period. */
static int64_t asked_watchdog_ms(void)
{
	const char *period = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	int64_t us, who;
	if (!period || !parse_int64(period, 2000, INT64_MAX, &us))
		return 0;
	if (pid && (!parse_int64(pid, 1, INT32_MAX, &who) || who != getpid()))
		return 0;
	return us / 2000;
}

static void feed_watchdog(void *context)
{
	const struct loop *loop = context;
	notify("WATCHDOG=1");
	(void)loop_set_timer(loop->watchdog, clock_ms() + loop->watchdog_ms, NULL);
}

void loop_ready(struct loop *loop, const char *status)
{
	cleanup_free char *text = visible(or_empty(status));
	cleanup_free char *message = xasprintf("READY=1%s%s", status ? "\nSTATUS=" : "", text);
	notify(message);
	loop->watchdog_ms = asked_watchdog_ms();
	if (loop->watchdog_ms > 0 && !loop->watchdog)
		(void)loop_add_timer(loop, 0, feed_watchdog, loop, &loop->watchdog, NULL);
}

void loop_status(struct loop *loop UNUSED, const char *status)
{
	cleanup_free char *text = visible(or_empty(status));
	cleanup_free char *message = xasprintf("STATUS=%s", text);
	notify(message);
}

void loop_stopping(struct loop *loop UNUSED)
{
	notify("STOPPING=1");
}
