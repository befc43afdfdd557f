/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/store/store-watch.h"

#include "base/clock.h"
#include "driver/store/store-internal.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>

struct store_watch {
	int fd;
	int instance, directory; /* watch descriptors; directory -1: none */
};

/* The manifest is never written in place: a change, a removal and setting it aside are all
 * renames. */
#define INSTANCE_EVENTS                                                                         \
	(IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | \
	 IN_DONT_FOLLOW)
#define DIRECTORY_EVENTS                                                                    \
	(IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | \
	 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

int store_watch_open(struct store *store, const char *base, const char *watch,
		     struct store_watch **ret, struct error *err)
{
	cleanup_free char *path = path_join(store->path, base);
	cleanup_close int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0)
		return error_set_errno(err, errno, "watch %s", path);
	int instance = store_is_base(base) ? inotify_add_watch(fd, path, INSTANCE_EVENTS) : -1;
	int directory = -1;
	if (instance < 0 && (!store_is_base(base) || errno == ENOENT || errno == ENOTDIR))
		return error_set(err, ERROR_NOT_FOUND, "no session exists in %s", path);
	if (instance < 0)
		return error_set_errno(err, errno, "watch %s", path);
	/* IN_MASK_ADD: both may be the same directory, which then has one watch. */
	if (watch)
		directory = inotify_add_watch(fd, watch, DIRECTORY_EVENTS | IN_MASK_ADD);
	if (watch && directory < 0)
		return error_set_errno(err, errno, "watch %s", watch);
	struct store_watch *result = xcalloc(1, sizeof(*result));
	result->fd = TAKE_FD(fd);
	result->instance = instance;
	result->directory = directory;
	*ret = result;
	return 0;
}

/* Temporary files come and go below an instance without a change. */
static bool is_change(const struct store_watch *watch, const struct inotify_event *event)
{
	if (event->mask & IN_Q_OVERFLOW)
		return true;
	if (event->mask & IN_IGNORED)
		return false;
	if (event->wd == watch->directory)
		return true;
	return event->wd == watch->instance &&
	       (event->len == 0 || streq(event->name, STORE_MANIFEST));
}

/* Returns 1 if something changed, 0 if nothing that matters. */
static int drain(const struct store_watch *watch, struct error *err)
{
	_Alignas(struct inotify_event) char buffer[16384];
	int changed = 0;
	for (;;) {
		ssize_t n = read(watch->fd, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return changed;
		if (n <= 0)
			return error_set_errno(err, errno, "read what changed");
		for (char *next = buffer; next < buffer + n;) {
			const struct inotify_event *event = (const void *)next;
			changed |= is_change(watch, event);
			next += sizeof(*event) + event->len;
		}
	}
}

int store_watch_wait(struct store_watch *watch, int64_t deadline_ms, struct error *err)
{
	for (;;) {
		struct pollfd event = { .fd = watch ? watch->fd : -1, .events = POLLIN };
		int n = poll(&event, 1, clock_left_ms(deadline_ms));
		if (n == 0)
			return STORE_WATCH_TIMEOUT;
		if (n < 0 && errno != EINTR)
			return error_set_errno(err, errno, "wait for a change");
		if (n < 0 || !watch)
			continue;
		int r = drain(watch, err);
		if (r != 0)
			return r < 0 ? r : 0;
	}
}

void store_watch_close(struct store_watch *watch)
{
	if (!watch)
		return;
	(void)close(watch->fd);
	free(watch);
}
