/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The event loop of `agentdeck supervise`: descriptors, timers, ends of processes and signals, in one thread, woken by
 * nothing else.  sd-event(3) where we are built with libsystemd, epoll(7) else; they behave alike.  A loop runs once.
 *
 * A handler may add and remove sources, also its own.  Handlers return nothing: a loop is ended by loop_exit() only.
 */
#pragma once

#include "base/error.h"
#include "base/process.h"

#include <stdint.h>

struct loop;
struct loop_source;

int loop_new(struct loop **ret, struct error *err);
/* Not in a handler.  It removes the sources that are left; the others are removed before it. */
void loop_free(struct loop *loop);
static inline void loop_freep(struct loop **loop)
{
	loop_free(*loop);
}
#define cleanup_loop CLEANUP(loop_freep)

/* events: EPOLLIN, EPOLLPRI, EPOLLOUT (epoll(7)); the handler gets what is there.  The descriptor stays the caller's, and must
 * outlive the source. */
typedef void (*loop_io_handler)(int fd, uint32_t events, void *context);
int loop_add_io(struct loop *loop, int fd, uint32_t events, loop_io_handler handler, void *context,
		struct loop_source **ret, struct error *err);
/* Ask for other events from now on. */
int loop_set_io(struct loop_source *source, uint32_t events, struct error *err);

/* Once, at at_ms of clock_ms(): at once when that is over.  INT64_MAX: never (until loop_set_timer()). */
typedef void (*loop_timer_handler)(void *context);
int loop_add_timer(struct loop *loop, int64_t at_ms, loop_timer_handler handler, void *context,
		   struct loop_source **ret, struct error *err);
int loop_set_timer(struct loop_source *source, int64_t at_ms, struct error *err);

/* Once, when this process (not necessarily a child; start time included, so that another one of its pid does not count) has
 * ended, reaped or not: pidfd_open(2).  LOOP_GONE, and no source: it has ended already. */
enum { LOOP_GONE = 1 };
typedef void (*loop_end_handler)(void *context);
int loop_add_end(struct loop *loop, const struct process_id *process, loop_end_handler handler,
		 void *context, struct loop_source **ret, struct error *err);

/* The signal is blocked for this process, and handled by the loop. */
typedef void (*loop_signal_handler)(int signal_number, void *context);
int loop_add_signal(struct loop *loop, int signal_number, loop_signal_handler handler, void *context,
		    struct loop_source **ret, struct error *err);

/* NULL is fine.  The handler is not called any more, not even for what is pending. */
void loop_remove(struct loop_source *source);

/* Until loop_exit(), whose code it returns (not negative); -1: the loop itself failed. */
int loop_run(struct loop *loop, struct error *err);
void loop_exit(struct loop *loop, int code);

/* The service manager's protocol (sd_notify(3)); each does nothing where nobody asked for it.
 * loop_ready() also keeps WatchdogSec= fed from then on. */
void loop_ready(struct loop *loop, const char *status);
void loop_status(struct loop *loop, const char *status);
void loop_stopping(struct loop *loop);
/* The sd_event, for sd_bus_attach_event(3); NULL without libsystemd.  Borrowed. */
struct sd_event;
struct sd_event *loop_event(struct loop *loop);
