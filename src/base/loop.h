/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An event loop on epoll(7): descriptors, timers, the ends of processes, and signals, in one
 * thread. Nothing else wakes it. A loop runs once.
 *
 * A handler may add and remove sources, its own included. Handlers return nothing: only loop_exit()
 * ends a loop.
 */
#pragma once

#include "base/error.h"
#include "base/process.h"

#include <stdint.h>

struct loop;
struct loop_source;

int loop_new(struct loop **ret, struct error *err);
/* Removes the sources that are left. Do not call it in a handler. */
void loop_free(struct loop *loop);
CLEANUP_OF(loop_freep, struct loop, loop_free);
#define cleanup_loop CLEANUP(loop_freep)

/* events: EPOLLIN, EPOLLPRI, EPOLLOUT (epoll(7)). The handler gets those that occurred. The
 * descriptor stays the caller's, and must outlive the source. */
typedef void (*loop_io_handler)(int fd, uint32_t events, void *context);
struct loop_io {
	int fd;
	uint32_t events;
	loop_io_handler handler;
	void *context;
};
int loop_add_io(struct loop *loop, const struct loop_io *io, struct loop_source **ret,
		struct error *err);
/* Wait for other events from now on. */
int loop_set_io(struct loop_source *source, uint32_t events, struct error *err);

/* The handler runs once, at at_ms of clock_ms(), or at once if that time is over. INT64_MAX: never
 * (until loop_set_timer()). */
typedef void (*loop_timer_handler)(void *context);
int loop_add_timer(struct loop *loop, int64_t at_ms, loop_timer_handler handler, void *context,
		   struct loop_source **ret, struct error *err);
int loop_set_timer(struct loop_source *source, int64_t at_ms, struct error *err);

/* The handler runs once, when the process has ended, reaped or not (pidfd_open(2)). It need not be
 * a child. The start time must match: a later process with the same pid does not count. LOOP_GONE,
 * and no source: it has ended already. */
enum { LOOP_GONE = 1 };
typedef void (*loop_end_handler)(void *context);
int loop_add_end(struct loop *loop, const struct process_id *process, loop_end_handler handler,
		 void *context, struct loop_source **ret, struct error *err);

/* Blocks the signal for this process; the loop handles it. EBUSY: it has a handler already. */
typedef void (*loop_signal_handler)(int signal_number, void *context);
int loop_add_signal(struct loop *loop, int signal_number, loop_signal_handler handler,
		    void *context, struct loop_source **ret, struct error *err);

/* The handler runs before each wait, to bring its sources up to date. It may not add or remove a
 * source of this kind. */
typedef void (*loop_prepare_handler)(void *context);
void loop_add_prepare(struct loop *loop, loop_prepare_handler handler, void *context,
		      struct loop_source **ret);

/* NULL is fine. The handler is not called again, not even for a pending event. */
void loop_remove(struct loop_source *source);

/* Runs until loop_exit(), and returns its code (not negative). -1: the loop itself failed. */
int loop_run(struct loop *loop, struct error *err);
/* Handles one event, and returns 1. 0: none came until deadline_ms of clock_ms() (INT64_MAX: wait
 * forever). */
int loop_turn(struct loop *loop, int64_t deadline_ms, struct error *err);
/* A descriptor for a caller that waits in another loop: readable when there is an event, once
 * loop_turn(loop, 0) has returned 0.  Borrowed. */
int loop_descriptor(const struct loop *loop);
void loop_exit(struct loop *loop, int code);

/* The service manager's protocol (sd_notify(3)). Without NOTIFY_SOCKET these do nothing.
 * loop_ready() also feeds the watchdog from then on, twice per WatchdogSec=. */
void loop_ready(struct loop *loop, const char *status);
void loop_status(struct loop *loop, const char *status);
void loop_stopping(struct loop *loop);
