/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/workspace/users.h"

#include "base/fsutil.h"
#include "base/process.h"
#include "base/text.h"
#include "engine/deck/deck.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tree_user_clear(struct tree_user *user)
{
	free(user->text);
	*user = (struct tree_user){ 0 };
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* In another mount namespace (a container, a sandbox) the tree may have another path. */
static bool has_other_mounts(pid_t pid)
{
	char path[64];
	struct stat own, other;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &other) == 0 &&
	       !is_same(&own, &other);
}

/* Upwards from its working directory, as far as that namespace goes. */
static bool is_below(pid_t pid, const char *tree)
{
	char path[64];
	struct stat wanted, before, now;
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	cleanup_close int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || stat(tree, &wanted) < 0 || fstat(fd, &now) < 0)
		return false;
	do {
		if (is_same(&now, &wanted))
			return true;
		before = now;
		int above = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		(void)close(fd);
		fd = above;
	} while (fd >= 0 && fstat(fd, &now) == 0 && !is_same(&now, &before));
	return false;
}

/* A process that ends meanwhile, or that is hidden from us, does not count. */
static int is_in(pid_t pid, const char *tree, bool *ret, struct error *err)
{
	cleanup_free char *directory = NULL;
	cleanup_error struct error local = { 0 };
	const size_t length = strlen(tree);
	int r = process_directory(pid, &directory, &local);
	if (r < 0 && local.os_errno != EACCES && local.os_errno != EPERM)
		return error_move(err, &local);
	*ret = r == 0 && ((strncmp(directory, tree, length) == 0 &&
			   (!directory[length] || directory[length] == '/')) ||
			  (has_other_mounts(pid) && is_below(pid, tree)));
	return 0;
}

static bool is_of_run(pid_t pid, const char *id)
{
	cleanup_free char *entry = NULL;
	return process_variable(pid, ENV_INSTANCE, &entry, NULL) == 0 && entry && streq(entry, id);
}

static char *describe(pid_t pid)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_free char *words = process_argv(pid, &argv, NULL) == 0 ? visible_argv(argv.items)
								       : xstrdup("unknown");
	return xasprintf("%d (%.60s)", (int)pid, words);
}

int tree_find_user(const char *path, const char *id, struct tree_user *ret, struct error *err)
{
	cleanup_tree_user struct tree_user user = { 0 };
	cleanup_free struct process_id *own = NULL;
	cleanup_free char *tree = NULL;
	size_t count = 0;
	int r = fs_real_directory(path, &tree, err);
	if (r < 0 || (r == 0 && process_list_own(&own, &count, err) < 0))
		return -1;
	for (size_t i = 0; i < count; i++) {
		bool is_user = false;
		if (own[i].pid == getpid())
			continue;
		if (is_in(own[i].pid, tree, &is_user, err) < 0)
			return -1;
		const bool of_run = is_user && is_of_run(own[i].pid, id);
		if (!is_user || (user.text && of_run))
			continue;
		replace_string(&user.text, NULL);
		user.text = describe(own[i].pid);
		user.is_of_run = of_run;
		if (!of_run)
			break;
	}
	*ret = user;
	user = (struct tree_user){ 0 };
	return 0;
}
