/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An engine takes the sources of mounts as paths, and resolves them at each start, as root.
 */
#include "engine/place/container/container-internal.h"

#include "base/fsutil.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void mounts_clear(struct mounts *mounts)
{
	free(mounts->items);
	free(mounts->link);
	*mounts = (struct mounts){ 0 };
}

void mounts_gather(const struct recipe *recipe, struct mounts *ret)
{
	mounts_clear(ret);
	ret->count = recipe_places(recipe, &ret->items);
}

/* The tree is in a directory of ours, which no agent writes and which may be behind a link. */
const struct recipe_place *mounts_find_link(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		char *link = mounts->items[i].kind == RECIPE_TREE
				     ? NULL
				     : path_find_link(mounts->items[i].source);
		if (!link)
			continue;
		free(mounts->link);
		mounts->link = link;
		return &mounts->items[i];
	}
	return NULL;
}

static int open_path(int root, const char *path, uint64_t resolve)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

enum sight { SIGHT_SAME, SIGHT_ANOTHER, SIGHT_REFUSED };

/* A link in the image or in a directory of the agent's leads nowhere but into the container.
 * Outside no link is followed, not even one that appeared just now. */
static enum sight look_at(int root, const struct recipe_place *place)
{
	struct stat outside, inside;
	const uint64_t how = place->kind == RECIPE_TREE ? 0 : RESOLVE_NO_SYMLINKS;
	cleanup_close int in = open_path(root, place->target,
					 RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	/* An older kernel, or a filter of system calls: no path of an agent's can cause these. */
	if (in < 0 && (errno == ENOSYS || errno == EPERM))
		return SIGHT_REFUSED;
	cleanup_close int out = open_path(AT_FDCWD, place->source, how);
	return in >= 0 && out >= 0 && fstat(in, &inside) == 0 && fstat(out, &outside) == 0 &&
			       inside.st_dev == outside.st_dev && inside.st_ino == outside.st_ino
		       ? SIGHT_SAME
		       : SIGHT_ANOTHER;
}

static int look_failed(int why)
{
	log_info("what its container has mounted cannot be seen: %s", strerror(why));
	return 0;
}

int mounts_check_inside(const struct recipe *recipe, const struct process_id *capsule,
			struct error *err)
{
	cleanup_mounts struct mounts mounts = { 0 };
	cleanup_free char *path = xasprintf("/proc/%d/root", (int)capsule->pid);
	cleanup_close int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return look_failed(errno);
	mounts_gather(recipe, &mounts);
	const struct recipe_place *wrong = mounts_find_link(&mounts);
	for (size_t i = 0; !wrong && i < mounts.count; i++) {
		const enum sight sight = look_at(root, &mounts.items[i]);
		if (sight == SIGHT_REFUSED)
			return look_failed(errno);
		if (sight == SIGHT_ANOTHER)
			wrong = &mounts.items[i];
	}
	if (!wrong || !process_alive(capsule))
		return 0;
	cleanup_free char *source = visible(wrong->source), *target = visible(wrong->target);
	return error_set(
		err, ERROR_INVALID,
		"its container has another place at %s than %s, so no agent was started in "
		"it: a link was there, or something else than agentdeck started the "
		"container. The container was stopped; start the session again",
		target, source);
}
