/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A tree of watches: the state directory, each profile in it, each instance in those, and also the
 * run directories. Each directory is opened below the descriptor of its parent, without following a
 * link, and is watched through its own descriptor. So we watch exactly what we opened. We add a
 * watch before we look at the content: a change in between is reported twice, and none is missed.
 *
 * The kernel reports what was, not what is. So an event is only a reason to look. An event of
 * something that was replaced since is reported, and the event of the replacement follows.
 */
#include "driver/follow/follow-tree.h"

#include "base/fsutil.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <string.h>

static int compare_watches(const void *a, const void *b)
{
	const struct watch *x = a, *y = b;
	return (x->wd > y->wd) - (x->wd < y->wd);
}

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	return strcmp(x->base, y->base);
}

/* tfind(3) and tsearch(3) return a node. It begins with the pointer to the item. */
static void *item(void *node)
{
	return node ? *(void **)node : NULL;
}

static void insert(void **root, void *what, int (*compare)(const void *, const void *))
{
	if (!tsearch(what, root, compare))
		abort();
}

/* --- the queue of events ---------------------------------------------------------------------- */

static bool is_same(const struct pending *a, enum follow_what what, const char *profile,
		    const char *base)
{
	return a->what == what && (!base || (streq(a->base, base) && streq(a->profile, profile)));
}

void follow_tell(struct follow *follow, enum follow_what what, const char *profile,
		 const char *base)
{
	if (follow->count > 0 && is_same(&follow->pending[follow->count - 1], what, profile, base))
		return;
	if (follow->count == follow->size) {
		follow->size = follow->size ? follow->size * 2 : 64;
		follow->pending = xreallocarray(follow->pending, follow->size,
						sizeof(*follow->pending));
	}
	follow->pending[follow->count++] = (struct pending){
		.what = what,
		.profile = xstrdup_or_null(profile),
		.base = xstrdup_or_null(base),
	};
}

void follow_tell_of(struct follow *follow, enum follow_what what, const struct member *member)
{
	follow_tell(follow, what, member->profile->name, member->base);
}

/* --- watches ---------------------------------------------------------------------------------- */

struct watch *follow_find_watch(struct follow *follow, int wd)
{
	struct watch key = { .wd = wd };
	return item(tfind(&key, &follow->watches, compare_watches));
}

/* The kernel has removed it, or another directory has its number. */
void follow_forget_watch(struct follow *follow, struct watch *watch)
{
	if (watch->wd < 0)
		return;
	(void)tdelete(watch, &follow->watches, compare_watches);
	watch->wd = -1;
}

void follow_remove_watch(struct follow *follow, struct watch *watch)
{
	int wd = watch->wd;
	if (wd < 0)
		return;
	follow_forget_watch(follow, watch);
	/* Fails when the directory is gone; the event of that comes later. */
	(void)inotify_rm_watch(follow->fd, wd);
}

static bool is_absent(int os_errno)
{
	/* Not ours, not a directory, or gone: we treat them alike. */
	return os_errno == ENOENT || os_errno == ENOTDIR || os_errno == ELOOP ||
	       os_errno == EACCES || os_errno == EPERM || os_errno == ESTALE;
}

/* *ret is the number of the watch. */
static int add_watch(struct follow *follow, const char *path, uint32_t events, int *ret,
		     struct error *err)
{
	int wd = inotify_add_watch(follow->fd, path, events);
	if (wd < 0 && errno == ENOSPC)
		return error_set(err, ERROR_UNAVAILABLE,
				 "cannot watch more directories below %s: raise the sysctl "
				 "fs.inotify.max_user_watches",
				 follow->state);
	if (wd < 0 && is_absent(errno))
		return FOLLOW_ABSENT;
	if (wd < 0)
		return error_set_errno(err, errno, "watch a directory below %s", follow->state);
	*ret = wd;
	return 0;
}

int follow_set_terminal(struct follow *follow, struct watch *watch, const char *path,
			struct error *err)
{
	int wd;
	int r = add_watch(follow, path, TERMINAL_EVENTS, &wd, err);
	if (r != 0 || wd == watch->wd)
		return r;
	struct watch *other = follow_find_watch(follow, wd);
	follow_remove_watch(follow, watch);
	/* The terminal of a run that is over: its number has another run now. */
	if (other)
		follow_forget_watch(follow, other);
	watch->wd = wd;
	insert(&follow->watches, watch, compare_watches);
	return 0;
}

int follow_set_watch(struct follow *follow, struct watch *watch, int fd, uint32_t events,
		     struct error *err)
{
	char path[64];
	int wd;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* IN_MASK_ADD: another part of the tree may watch the same directory. */
	int r = add_watch(follow, path, events | IN_MASK_ADD, &wd, err);
	if (r != 0 || wd == watch->wd)
		return r;
	struct watch *other = follow_find_watch(follow, wd);
	/* A run may not take over the watch of a profile or an instance. */
	if (other && other->place != RUN && watch->place == RUN)
		return FOLLOW_ABSENT;
	follow_remove_watch(follow, watch);
	/* The directory was renamed: the old name has no watch any more. */
	if (other)
		follow_forget_watch(follow, other);
	watch->wd = wd;
	insert(&follow->watches, watch, compare_watches);
	return 0;
}

int follow_open_directory(int dirfd, const char *name, int flags, int *ret, struct error *err)
{
	int fd = openat(dirfd, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && is_absent(errno))
		return FOLLOW_ABSENT;
	if (fd < 0)
		return error_set_errno(err, errno, "open directory %s", name);
	*ret = fd;
	return 0;
}

/* --- instances -------------------------------------------------------------------------------- */

/* Unfinished directories of the store begin with a dot. Those of instances never do. */
static bool can_be_instance(const char *name)
{
	return *name != '.';
}

struct member *follow_find_member(struct profile *profile, const char *base)
{
	struct member key = { .base = (char *)base };
	return item(tfind(&key, &profile->members_by_base, compare_members));
}

static void drop_member(struct follow *follow, struct member *member)
{
	follow_remove_watch(follow, &member->watch);
	follow_remove_watch(follow, &member->run);
	follow_remove_watch(follow, &member->terminal);
	(void)tdelete(member, &member->profile->members_by_base, compare_members);
	LIST_REMOVE(member, link);
	free(member->base);
	free(member);
}

void follow_lose_member(struct follow *follow, struct member *member)
{
	if (member->is_known)
		follow_tell_of(follow, FOLLOW_REMOVED, member);
	drop_member(follow, member);
}

static struct member *new_member(struct profile *profile, const char *base)
{
	struct member *member = xcalloc(1, sizeof(*member));
	member->profile = profile;
	member->base = xstrdup(base);
	member->watch = (struct watch){ -1, INSTANCE, profile, member };
	member->run = (struct watch){ -1, RUN, profile, member };
	member->terminal = (struct watch){ -1, TERMINAL, profile, member };
	insert(&profile->members_by_base, member, compare_members);
	LIST_INSERT_HEAD(&profile->members, member, link);
	return member;
}

/* Watch the member, and look whether it has a manifest. */
int follow_watch_member(struct follow *follow, struct profile *profile, const char *base,
			struct member **ret, struct error *err)
{
	cleanup_close int fd = -1;
	struct stat st;
	if (!can_be_instance(base))
		return FOLLOW_ABSENT;
	int r = follow_open_directory(profile->fd, base, O_PATH, &fd, err);
	if (r != 0)
		return r;
	struct member *member = follow_find_member(profile, base);
	bool is_new = !member;
	if (is_new)
		member = new_member(profile, base);
	r = follow_set_watch(follow, &member->watch, fd, INSTANCE_EVENTS, err);
	if (r != 0 && is_new)
		drop_member(follow, member);
	if (r != 0)
		return r;
	member->seen = follow->scan;
	if (fstatat(fd, FOLLOW_MANIFEST_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0)
		member->is_known = true;
	*ret = member;
	return 0;
}

/* --- profiles --------------------------------------------------------------------------------- */

struct profile *follow_find_profile(struct follow *follow, const char *name)
{
	struct profile *profile;
	LIST_FOREACH(profile, &follow->profiles, link)
		if (streq(profile->name, name))
			return profile;
	return NULL;
}

static bool can_be_profile(const struct follow *follow, const char *name)
{
	return naming_check_profile(name, NULL) == 0 &&
	       (!follow->only || streq(name, follow->only));
}

void follow_drop_profile(struct follow *follow, struct profile *profile)
{
	while (!LIST_EMPTY(&profile->members))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it leaves the list */
		drop_member(follow, LIST_FIRST(&profile->members));
	follow_remove_watch(follow, &profile->watch);
	LIST_REMOVE(profile, link);
	if (profile->fd >= 0)
		(void)close(profile->fd);
	free(profile->name);
	free(profile);
}

void follow_lose_profile(struct follow *follow, struct profile *profile)
{
	while (!LIST_EMPTY(&profile->members))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it leaves the list */
		follow_lose_member(follow, LIST_FIRST(&profile->members));
	follow_drop_profile(follow, profile);
}

static struct profile *new_profile(struct follow *follow, const char *name)
{
	struct profile *profile = xcalloc(1, sizeof(*profile));
	profile->name = xstrdup(name);
	profile->fd = -1;
	profile->watch = (struct watch){ -1, PROFILE, profile, NULL };
	LIST_INIT(&profile->members);
	LIST_INSERT_HEAD(&follow->profiles, profile, link);
	return profile;
}

int follow_watch_profile(struct follow *follow, const char *name, struct profile **ret,
			 struct error *err)
{
	cleanup_close int state = -1, fd = -1;
	if (!can_be_profile(follow, name))
		return FOLLOW_ABSENT;
	/* We do not keep it open: the kernel reports its removal only after the last close. */
	int r = follow_open_directory(AT_FDCWD, follow->state, O_PATH, &state, err);
	if (r == 0)
		r = follow_open_directory(state, name, O_RDONLY, &fd, err);
	if (r != 0)
		return r;
	struct profile *profile = follow_find_profile(follow, name);
	bool is_new = !profile;
	if (is_new)
		profile = new_profile(follow, name);
	r = follow_set_watch(follow, &profile->watch, fd, PARENT_EVENTS, err);
	if (r != 0 && is_new)
		follow_drop_profile(follow, profile);
	if (r != 0)
		return r;
	if (profile->fd >= 0)
		(void)close(profile->fd);
	profile->fd = TAKE_FD(fd);
	profile->seen = follow->scan;
	*ret = profile;
	return 0;
}

/* --- looking at what exists ------------------------------------------------------------------- */

/* FOLLOW_ABSENT: it is gone already. */
static int list(int fd, const char *what, struct strvec *ret, struct error *err)
{
	cleanup_error struct error local = { 0 };
	if (fs_list(fd, ret, &local) == 0)
		return 0;
	if (is_absent(local.os_errno))
		return FOLLOW_ABSENT;
	return error_set_errno(err, local.os_errno, "list %s", what);
}

/* The instance may be new, or known with another directory. */
int follow_look_at_member(struct follow *follow, struct profile *profile, const char *base,
			  bool aloud, struct error *err)
{
	struct member *member;
	int r = follow_watch_member(follow, profile, base, &member, err);
	if (r == 0 && aloud && member->is_known)
		follow_tell_of(follow, FOLLOW_MANIFEST, member);
	return r < 0 ? r : 0;
}

int follow_look_at_profile(struct follow *follow, const char *name, bool aloud, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	struct profile *profile;
	int r = follow_watch_profile(follow, name, &profile, err);
	if (r == 0)
		r = list(profile->fd, name, &names, err);
	if (r != 0)
		return r < 0 ? r : 0;
	for (size_t i = 0; i < names.count; i++)
		if (follow_look_at_member(follow, profile, names.items[i], aloud, err) < 0)
			return -1;
	return 0;
}

static void drop_unseen(struct follow *follow)
{
	struct profile *profile, *next_profile;
	struct member *member, *next;
	for (profile = LIST_FIRST(&follow->profiles); profile; profile = next_profile) {
		next_profile = LIST_NEXT(profile, link);
		for (member = LIST_FIRST(&profile->members); member; member = next) {
			next = LIST_NEXT(member, link);
			if (member->seen != follow->scan)
				drop_member(follow, member);
		}
		if (profile->seen != follow->scan)
			follow_drop_profile(follow, profile);
	}
}

int follow_look_at_all(struct follow *follow, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int state = -1;
	follow->scan++;
	int r = follow_open_directory(AT_FDCWD, follow->state, O_RDONLY, &state, err);
	if (r == 0)
		r = list(state, follow->state, &names, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < names.count; i++)
		if (follow_look_at_profile(follow, names.items[i], false, err) < 0)
			return -1;
	drop_unseen(follow);
	return 0;
}
