/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/watch.h"

#include "base/clock.h"
#include "base/macro.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>

int watch_open(const char *path, uint32_t events)
{
	cleanup_close int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch < 0 || inotify_add_watch(watch, path, events) < 0)
		return -1;
	return TAKE_FD(watch);
}

bool watch_add(int watch, const char *path, uint32_t events)
{
	return inotify_add_watch(watch, path, events) >= 0;
}

void watch_drain(int watch)
{
	char chunk[4096];
	while (watch >= 0 && read(watch, chunk, sizeof(chunk)) > 0)
		;
}

bool watch_wait(int watch, int64_t deadline_ms)
{
	struct pollfd event = { .fd = watch, .events = POLLIN };
	int n;
	do
		n = poll(&event, 1, clock_left_ms(deadline_ms));
	while (n < 0 && errno == EINTR);
	watch_drain(watch);
	return n > 0;
}
