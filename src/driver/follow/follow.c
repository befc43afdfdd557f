/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/follow/follow.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/text.h"
#include "driver/follow/follow-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define ACTIVITY "activity.json"

enum { RETRY_MS = 10000 };

static void forget_pending(struct pending *pending, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(pending[i].profile);
		free(pending[i].base);
	}
	free(pending);
}

/* --- events of the kernel --------------------------------------------------------------------- */

static int handle_profile(struct follow *follow, const struct inotify_event *event,
			  struct error *err)
{
	struct profile *profile = follow_find_profile(follow, event->name);
	if (event->mask & (IN_DELETE | IN_MOVED_FROM) && profile)
		follow_lose_profile(follow, profile);
	/* Also after a removal: when two change names, each removal comes after the other's
	 * arrival. */
	return follow_look_at_profile(follow, event->name, true, err);
}

static int handle_member(struct follow *follow, struct profile *profile,
			 const struct inotify_event *event, struct error *err)
{
	struct member *member = follow_find_member(profile, event->name);
	if (event->mask & (IN_DELETE | IN_MOVED_FROM) && member)
		follow_lose_member(follow, member);
	return follow_look_at_member(follow, profile, event->name, true, err);
}

/* The kernel removed the watch: the directory is gone, or its file system was unmounted. */
static void handle_end(struct follow *follow, struct watch *watch)
{
	follow_forget_watch(follow, watch);
	if (watch->place == PROFILE)
		follow_lose_profile(follow, watch->profile);
	else if (watch->place == INSTANCE)
		follow_lose_member(follow, watch->member);
}

static int handle(struct follow *follow, const struct inotify_event *event, struct error *err)
{
	struct watch *watch = follow_find_watch(follow, event->wd);
	const char *name = event->len > 0 ? event->name : "";
	bool is_directory = event->mask & IN_ISDIR && *name;
	if (event->mask & IN_Q_OVERFLOW)
		follow->overflow = true;
	if (!watch)
		return 0;
	if (event->mask & IN_IGNORED) {
		handle_end(follow, watch);
	} else if (watch->place == STATE && is_directory) {
		return handle_profile(follow, event, err);
	} else if (watch->place == PROFILE && is_directory) {
		return handle_member(follow, watch->profile, event, err);
	} else if (watch->place == INSTANCE && streq(name, FOLLOW_MANIFEST_NAME)) {
		watch->member->is_known = true;
		follow_tell_of(follow, FOLLOW_MANIFEST, watch->member);
	} else if (watch->place == RUN && streq(name, ACTIVITY)) {
		follow_tell_of(follow, FOLLOW_ACTIVITY, watch->member);
	} else if (watch->place == TERMINAL) {
		follow_tell_of(follow, FOLLOW_OUTPUT, watch->member);
	}
	return 0;
}

/* A failure is reported once, until everything is watched again. */
static int note(struct follow *follow, int r, bool is_first)
{
	if (r >= 0 || !is_first)
		return 0;
	follow->retry_at_ms = clock_ms() + RETRY_MS;
	return -1;
}

static int drain(struct follow *follow, struct error *err)
{
	_Alignas(struct inotify_event) char buffer[65536];
	int result = 0;
	for (;;) {
		ssize_t n = read(follow->fd, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return result;
		if (n <= 0)
			return result < 0 ? result
					  : error_set_errno(err, errno, "read what changed");
		for (char *next = buffer; next < buffer + n;) {
			const struct inotify_event *event = (const void *)next;
			bool is_first = follow->retry_at_ms == 0;
			int r = handle(follow, event, is_first ? err : NULL);
			if (note(follow, r, is_first) < 0)
				result = -1;
			next += sizeof(*event) + event->len;
		}
	}
}

/* --- the interface ---------------------------------------------------------------------------- */

static int open_state(struct follow *follow, struct error *err)
{
	cleanup_close int fd = -1;
	if (fs_open_private_directory(follow->state, &fd, err) < 0)
		return -1;
	if (fstat(fd, &follow->identity) < 0)
		return error_set_errno(err, errno, "stat %s", follow->state);
	int r = follow_set_watch(follow, &follow->watch, fd, STATE_EVENTS, err);
	if (r == FOLLOW_ABSENT)
		return error_set(err, ERROR_SYSTEM, "%s cannot be watched: make it readable",
				 follow->state);
	return r;
}

int follow_open(const char *state, const char *profile, struct follow **ret, struct error *err)
{
	cleanup_follow struct follow *follow = xcalloc(1, sizeof(*follow));
	follow->state = xstrdup(state);
	follow->only = xstrdup_or_null(profile);
	follow->watch = (struct watch){ -1, STATE, NULL, NULL };
	LIST_INIT(&follow->profiles);
	follow->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (follow->fd < 0 && errno == EMFILE)
		return error_set(err, ERROR_UNAVAILABLE,
				 "cannot watch %s: raise the sysctl fs.inotify.max_user_instances, "
				 "or the limit of open files",
				 state);
	if (follow->fd < 0)
		return error_set_errno(err, errno, "watch %s", state);
	if (open_state(follow, err) < 0 || follow_look_at_all(follow, err) < 0)
		return -1;
	*ret = TAKE_PTR(follow);
	return 0;
}

void follow_close(struct follow *follow)
{
	if (!follow)
		return;
	while (!LIST_EMPTY(&follow->profiles))
		follow_drop_profile(follow, LIST_FIRST(&follow->profiles));
	follow_remove_watch(follow, &follow->watch);
	if (follow->fd >= 0)
		(void)close(follow->fd);
	forget_pending(follow->pending, follow->count);
	free(follow->state);
	free(follow->only);
	free(follow);
}

int follow_descriptor(const struct follow *follow)
{
	return follow->fd;
}

static bool state_is_there(const struct follow *follow)
{
	struct stat st;
	return lstat(follow->state, &st) == 0 && st.st_dev == follow->identity.st_dev &&
	       st.st_ino == follow->identity.st_ino;
}

static int look_again(struct follow *follow, struct error *err)
{
	follow->overflow = false;
	follow->retry_at_ms = 0;
	int r = note(follow, follow_look_at_all(follow, err), true);
	/* FOLLOW_ALL includes the queued events. */
	forget_pending(follow->pending, follow->count);
	follow->pending = NULL;
	follow->count = follow->size = 0;
	follow_tell(follow, FOLLOW_ALL, NULL, NULL);
	return r;
}

static int lose_state(struct follow *follow, struct error *err)
{
	while (!LIST_EMPTY(&follow->profiles))
		follow_lose_profile(follow, LIST_FIRST(&follow->profiles));
	return error_set(err, ERROR_NOT_FOUND,
			 "the state directory %s no longer exists: start again", follow->state);
}

/* The handler may call us, so the queue leaves the struct first. */
static void deliver(struct follow *follow, follow_handler handler, void *context)
{
	size_t count = follow->count;
	struct pending *pending = TAKE_PTR(follow->pending);
	follow->count = follow->size = 0;
	for (size_t i = 0; i < count; i++) {
		const struct follow_event event = {
			.what = pending[i].what,
			.profile = pending[i].profile,
			.base = pending[i].base,
		};
		handler(&event, context);
	}
	forget_pending(pending, count);
}

int follow_read(struct follow *follow, follow_handler handler, void *context, struct error *err)
{
	int r = drain(follow, err);
	struct error *rest = r < 0 ? NULL : err;
	if (!state_is_there(follow))
		r = lose_state(follow, rest);
	else if (follow->overflow || (follow->retry_at_ms > 0 && clock_ms() >= follow->retry_at_ms))
		r |= look_again(follow, rest);
	deliver(follow, handler, context);
	return r;
}

/* Find a member even if we have not read its event yet. */
static int member_of(struct follow *follow, const char *profile_name, const char *base,
		     struct member **ret, struct error *err)
{
	struct profile *profile = follow_find_profile(follow, profile_name);
	if (!profile) {
		int r = follow_watch_profile(follow, profile_name, &profile, err);
		if (r != 0)
			return r;
	}
	*ret = follow_find_member(profile, base);
	return *ret ? 0 : follow_watch_member(follow, profile, base, ret, err);
}

int follow_run(struct follow *follow, const char *profile, const char *base, const char *directory,
	       struct error *err)
{
	struct member *member;
	cleanup_close int fd = -1;
	int r = member_of(follow, profile, base, &member, err);
	if (r != 0)
		return r < 0 || directory ? r : 0;
	r = directory ? follow_open_directory(AT_FDCWD, directory, O_PATH, &fd, err)
		      : FOLLOW_ABSENT;
	if (r == 0)
		r = follow_set_watch(follow, &member->run, fd, RUN_EVENTS, err);
	if (r != 0)
		follow_remove_watch(follow, &member->run);
	return r > 0 && !directory ? 0 : r;
}

int follow_terminal(struct follow *follow, const char *profile_name, const char *base,
		    const char *path, struct error *err)
{
	struct profile *profile = follow_find_profile(follow, profile_name);
	struct member *member = profile ? follow_find_member(profile, base) : NULL;
	if (!member)
		return path ? FOLLOW_ABSENT : 0;
	int r = path ? follow_set_terminal(follow, &member->terminal, path, err) : FOLLOW_ABSENT;
	if (r != 0)
		follow_remove_watch(follow, &member->terminal);
	return r > 0 && !path ? 0 : r;
}
