/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Submodules of a tree have Git directories of their own, below the tree's.  What is committed in
 * them comes to those of the user's repository, before a commit there names it.
 */
#include "engine/workspace/bring-internal.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/git/git.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MOST = 8 };

/* A link on the way would lead git to another repository of the user's. */
static char *directory_below(const char *above, const char *name)
{
	cleanup_close int at = fs_openat(AT_FDCWD, above,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	cleanup_close int fd = at < 0 ? -1 : fs_open_beneath(at, name, O_RDONLY | O_DIRECTORY);
	return fd < 0 ? NULL : path_join(above, name);
}

static int refuse_nameless(const struct gitcmd_link *link, struct error *err)
{
	cleanup_free char *shown = visible(link->path);
	return error_set(err, ERROR_INVALID,
			 "%s is a repository in its tree, and no submodule (.gitmodules names "
			 "none there): its commits would be left behind. Let its agent add it with "
			 "git submodule add, or take it out of its commits",
			 shown);
}

/* git push sends the pointers of Git LFS only, where its hook is not set up. */
static char *push_text(const char *store, const char *commit)
{
	cleanup_free char *where = visible(store), *objects = path_join(store, "lfs/objects");
	cleanup_free char *content = access(objects, F_OK) == 0
					     ? xasprintf("git -C %s lfs push ADDRESS %.12s && ",
							 where, commit)
					     : NULL;
	return xasprintf("%sgit -C %s push ADDRESS %.12s:refs/heads/NAME", or_empty(content), where,
			 commit);
}

static int check_remote(const char *store, const struct gitcmd_link *link, struct error *err)
{
	cleanup_strvec struct strvec holders = { 0 };
	cleanup_free char *shown = visible(link->path);
	cleanup_free char *command = push_text(store, link->commit);
	if (gitcmd_find_holders(store, link->commit, &holders, err) < 0)
		return -1;
	for (size_t i = 0; i < holders.count; i++)
		if (starts_with(holders.items[i], "refs/remotes/"))
			return 0;
	return error_set(err, ERROR_INVALID,
			 "commit %.12s of the submodule %s is on no remote that your repository "
			 "knows: push it first, with %s, or fetch it there",
			 link->commit, shown, command);
}

static bool is_repository(const char *directory)
{
	cleanup_free char *head = path_join(directory, "HEAD");
	return access(head, F_OK) == 0;
}

/* Git refuses a name inside another submodule's Git directory, and looks above one that is none. */
static int check_name(const char *store, const char *name, struct error *err)
{
	const size_t before = strlen(store) - strlen(name);
	bool is_inside = access(store, F_OK) == 0 && !is_repository(store);
	for (const char *at = name; !is_inside && (at = strchr(at, '/')); at++) {
		cleanup_free char *above = xstrndup(store, before + (size_t)(at - name));
		is_inside = is_repository(above);
	}
	if (!is_inside)
		return 0;
	cleanup_free char *shown = visible(name);
	return error_set(err, ERROR_INVALID,
			 "its name %s does not fit beside the others in your repository: give it "
			 "another name in .gitmodules",
			 shown);
}

static int bring(const struct bring_modules *modules, const struct gitcmd_link *link,
		 struct error *err)
{
	cleanup_free char *below = xasprintf("modules/%s", or_empty(link->name));
	cleanup_free char *embedded = path_join(link->path, ".git");
	cleanup_free char *store = path_join(modules->to, below);
	cleanup_free char *work = directory_below(modules->tree, link->path);
	int64_t copied = 0;
	if (!link->name)
		return refuse_nameless(link, err);
	cleanup_free char *from = directory_below(modules->from, below);
	if (!from)
		from = directory_below(modules->tree, embedded);
	if (check_name(store, link->name, err) < 0)
		return error_prefix(err, "the submodule %s", link->path);
	int r = gitcmd_fetch_link(store, from, link->commit, modules->deadline_ms, err);
	/* The tree lacks the commit too, so it was not made there. */
	if (r == GIT_ABSENT)
		return 0;
	if (r < 0 ||
	    (from && bring_copy_content(from, store, modules->deadline_ms, &copied, err) < 0))
		return error_prefix(err, "the submodule %s", link->path);
	log_info("the submodule %s: %s is in %s", link->path, link->commit, store);
	if (modules->is_push && check_remote(store, link, err) < 0)
		return -1;
	const struct bring_modules inner = { .tree = or_empty(work),
					     .from = or_empty(from),
					     .to = store,
					     .after = link->commit,
					     .is_push = modules->is_push,
					     .deadline_ms = modules->deadline_ms,
					     .depth = modules->depth + 1 };
	return bring_modules(&inner, err);
}

/* An agent can nest many in many. */
static int check_time(const struct bring_modules *modules, struct error *err)
{
	return clock_left_ms(modules->deadline_ms) > 0
		       ? 0
		       : error_set(err, ERROR_TIMEOUT,
				   "its submodules are not all fetched in time: try again, and the "
				   "rest is fetched");
}

int bring_modules(const struct bring_modules *modules, struct error *err)
{
	cleanup_gitcmd_links struct gitcmd_links links = { 0 };
	if (modules->depth > DEPTH_MOST)
		return error_set(err, ERROR_INVALID, "its submodules are nested too deeply");
	if (gitcmd_list_links(modules->to, modules->before, modules->after, &links, err) < 0)
		return -1;
	for (size_t i = 0; i < links.count; i++)
		if (check_time(modules, err) < 0 || bring(modules, &links.items[i], err) < 0)
			return -1;
	return 0;
}
