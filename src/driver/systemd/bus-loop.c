/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/systemd/bus.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <time.h>

struct bus_attachment {
	sd_bus *bus;
	/* A copy: sd-bus closes its own when the peer goes, and its number may be used again before
	 * the loop forgets it. */
	int fd;
	int events;
	int64_t deadline_ms;
	struct loop_source *prepare, *io, *timer;
};

/* When sd_bus_process(3) has something to do although nothing arrives (clock_ms()): a message that
 * was read already, a call without an answer. INT64_MAX: never. */
static int64_t bus_deadline(sd_bus *bus)
{
	uint64_t at_us;
	struct timespec now;
	if (sd.bus_get_timeout(bus, &at_us) < 0 || at_us == UINT64_MAX)
		return INT64_MAX;
	/* sd-bus counts on CLOCK_MONOTONIC. 0: it has a message already. */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t left_us = (int64_t)at_us - ((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	return clock_ms() + (left_us > 0 ? (left_us + 999) / 1000 : 0);
}

/* A handler of the bus may detach it: only the bus exists afterwards. */
static void process(const struct bus_attachment *attachment)
{
	cleanup_bus_reference sd_bus *bus = sd.bus_ref(attachment->bus);
	/* A peer that goes is not an error here. After an error the connection is useless. */
	if (sd.bus_process(bus, NULL) < 0)
		sd.bus_close(bus);
}

static void on_io(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	process(context);
}

static void on_timer(void *context)
{
	struct bus_attachment *attachment = context;
	/* The timer is spent. The next deadline may be in the same millisecond. */
	attachment->deadline_ms = INT64_MAX;
	process(attachment);
}

static void close_copy(struct bus_attachment *attachment)
{
	loop_remove(TAKE_PTR(attachment->io));
	if (attachment->fd >= 0)
		(void)close(TAKE_FD(attachment->fd));
}

/* What sd-bus waits for changes with every message. */
static void on_prepare(void *context)
{
	struct bus_attachment *attachment = context;
	int events = sd.bus_get_events(attachment->bus);
	int64_t deadline_ms = bus_deadline(attachment->bus);
	if (deadline_ms != attachment->deadline_ms)
		(void)loop_set_timer(attachment->timer, deadline_ms, NULL);
	attachment->deadline_ms = deadline_ms;
	if (events < 0)
		close_copy(attachment);
	else if (events != attachment->events)
		(void)loop_set_io(attachment->io, (uint32_t)events, NULL);
	attachment->events = events;
}

void bus_detach(struct bus_attachment *attachment)
{
	if (!attachment)
		return;
	loop_remove(attachment->prepare);
	loop_remove(attachment->timer);
	close_copy(attachment);
	free(attachment);
}

static void detachp(struct bus_attachment **attachment)
{
	bus_detach(*attachment);
}

int bus_attach(sd_bus *bus, struct loop *loop, struct bus_attachment **ret, struct error *err)
{
	CLEANUP(detachp) struct bus_attachment *attachment = xcalloc(1, sizeof(*attachment));
	*attachment = (struct bus_attachment){ .bus = bus, .deadline_ms = INT64_MAX };
	attachment->fd = fcntl(sd.bus_get_fd(bus), F_DUPFD_CLOEXEC, 3);
	if (attachment->fd < 0)
		return error_set_errno(err, errno, "wait for the bus");
	if (loop_add_io(loop, &(struct loop_io){ attachment->fd, 0, on_io, attachment },
			&attachment->io, err) < 0 ||
	    loop_add_timer(loop, INT64_MAX, on_timer, attachment, &attachment->timer, err) < 0)
		return -1;
	loop_add_prepare(loop, on_prepare, attachment, &attachment->prepare);
	*ret = TAKE_PTR(attachment);
	return 0;
}
