/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/workspace/setup.h"

#include "base/argsplit.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "engine/deck/hint.h"
#include "engine/place/place.h"
#include "engine/workspace/tree-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_MS = 5000, LARGEST_FILE = 64 << 20, LAST_BYTES = 16 << 10, LAST_LINES = 10 };

char *setup_log(const struct deck *deck, const struct instance *instance)
{
	return xasprintf("%s/%s/" TREE_ALL "/%s/" SETUP_LOG, deck->paths.state, deck->profile,
			 instance->id);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The directory of the name in the tree, made where it is missing.  -1 with errno. */
static int open_parent(int tree, const char *name)
{
	cleanup_free char *copy = xstrdup(name);
	cleanup_close int directory = fcntl(tree, F_DUPFD_CLOEXEC, 3);
	char *rest = copy;
	while (directory >= 0 && strchr(rest, '/')) {
		const char *part = strsep(&rest, "/");
		const bool is_made = mkdirat(directory, part, 0777) == 0 || errno == EEXIST;
		const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
		const int below = is_made ? fs_open_beneath(directory, part, flags) : -1;
		const int why = errno;
		(void)close(directory);
		directory = below;
		errno = why;
	}
	return TAKE_FD(directory);
}

static int copy_bytes(int from, int to, const char *name, struct error *err)
{
	char chunk[16384];
	for (ssize_t n; (n = read(from, chunk, sizeof(chunk))) != 0;) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_file(err, errno, "read %s", name);
		if (fs_write_all(to, chunk, (size_t)n, name, err) < 0)
			return -1;
	}
	return 0;
}

/* A file of this name that Git has brought counts. */
static int open_copy(int tree, const char *name, mode_t mode)
{
	cleanup_close int parent = open_parent(tree, name);
	return parent < 0
		       ? -1
		       : openat(parent, path_basename(name),
				O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
}

static const char *why_not(int error)
{
	return error == ELOOP || error == EXDEV ? "a link is on its way" : strerror(error);
}

/* NULL: it can be copied. */
static const char *judge_file(int fd, struct stat *ret)
{
	if (fd < 0 || fstat(fd, ret) < 0)
		return why_not(errno);
	if (!S_ISREG(ret->st_mode))
		return "it is not a file";
	return ret->st_size > LARGEST_FILE ? "it is larger than 64 MiB" : NULL;
}

static int copy_file(struct deck *deck, int source, int tree, const char *name, struct error *err)
{
	struct stat st = { 0 };
	cleanup_free char *shown = visible(name);
	cleanup_close int to = -1;
	cleanup_close int from = fs_open_beneath(source, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (from < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	const char *why = judge_file(from, &st);
	if (!why && (to = open_copy(tree, name, st.st_mode)) >= 0)
		return copy_bytes(from, to, name, err);
	if (!why && errno == EEXIST)
		return 0;
	deck_warn(deck, "%s was not copied into the tree: %s", shown, why ? why : why_not(errno));
	return 0;
}

int setup_copy(struct deck *deck, const struct instance *instance, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	const struct workspace_defaults defaults = settings_workspace(&deck->settings,
								      instance->group);
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	if (!defaults.copy.count)
		return 0;
	cleanup_close int source = fs_openat(AT_FDCWD, workspace->source, flags, 0);
	if (source < 0)
		return error_set_file(err, errno, "open %s", workspace->source);
	cleanup_close int tree = fs_openat(AT_FDCWD, workspace->path, flags, 0);
	if (tree < 0)
		return error_set_file(err, errno, "open %s", workspace->path);
	for (size_t i = 0; i < defaults.copy.count; i++)
		if (copy_file(deck, source, tree, defaults.copy.items[i], err) < 0)
			return -1;
	return 0;
}

/* ---- the setup ------------------------------------------------------------------------------- */

void setup_want(const struct deck *deck, struct instance *instance)
{
	const struct workspace_defaults defaults = settings_workspace(&deck->settings,
								      instance->group);
	instance->workspace->setup = defaults.setup.count ? SETUP_WANTED : SETUP_NONE;
}

static int save(struct store_lock *lock, struct instance *instance, enum workspace_setup setup,
		struct error *err)
{
	instance->workspace->setup = setup;
	return store_save(lock, instance, err);
}

/* The last lines are shown; the last of them is for the error.  The caller frees. */
static char *show_end(const struct deck *deck, const struct child_result *result)
{
	cleanup_strvec struct strvec lines = { 0 };
	cleanup_free char *text = xstrdup(strbuf_text(&result->output));
	char *rest = text;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		cleanup_free char *shown = visible(line);
		if (*line)
			strvec_push(&lines, shown);
	}
	const size_t first = lines.count > LAST_LINES ? lines.count - LAST_LINES : 0;
	for (size_t i = first; deck->on_progress && i < lines.count; i++)
		deck->on_progress(lines.items[i], true);
	return lines.count ? xstrdup(lines.items[lines.count - 1]) : NULL;
}

/* A setup that an earlier, killed command has left may still run. */
static int lock_log(const struct deck *deck, const struct instance *instance, int64_t deadline_ms,
		    struct fs_lock *ret, struct error *err)
{
	cleanup_close int directory = -1;
	cleanup_free char *path = setup_log(deck, instance);
	if (tree_open(deck, instance->id, true, &directory, err) < 0)
		return -1;
	int r = fs_lock(directory, SETUP_LOG, deadline_ms, ret, err);
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_TIMEOUT,
				 "an earlier run of it still has %s open: end its processes (fuser "
				 "-v %s)",
				 path, path);
	if (r == 0 && ftruncate(ret->fd, 0) < 0)
		return error_set_file(err, errno, "write %s", path);
	return r;
}

static int judge(const struct deck *deck, const struct instance *instance,
		 const struct child_result *result, struct error *err)
{
	cleanup_free char *path = setup_log(deck, instance);
	if (result->exit_status == 0)
		return 0;
	cleanup_free char *last = show_end(deck, result);
	return error_set(err, ERROR_CHILD, "exit status %d: %s (all of its output: %s)",
			 result->exit_status, last ? last : "no message", path);
}

static int run_argv(struct deck *deck, const struct instance *instance, const struct strvec *argv,
		    struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error failure = { 0 };
	cleanup_fs_lock struct fs_lock log = FS_UNLOCKED;
	const int64_t deadline_ms = clock_ms() + deck->settings.setup_timeout_s * 1000;
	cleanup_close int tree = fs_openat(AT_FDCWD, instance->workspace->path,
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (tree < 0)
		return error_set_file(err, errno, "open %s", instance->workspace->path);
	if (lock_log(deck, instance, deadline_ms, &log, err) < 0)
		return -1;
	const struct child_request request = {
		.argv = (const char *const *)strvec_argv(argv),
		.directory = tree,
		.log = log.fd,
		.max_output = LAST_BYTES,
	};
	struct child child;
	int r = child_start(&request, &child, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not installed", argv->items[0]);
	if (r == 0)
		r = child_finish(&child, deadline_ms, &result, &failure);
	if (failure.code == ERROR_TIMEOUT) {
		cleanup_free char *path = setup_log(deck, instance);
		return error_set(err, ERROR_TIMEOUT,
				 "it took longer than [workspace] setup_timeout (%lld s) and was "
				 "ended (all of its output: %s)",
				 (long long)deck->settings.setup_timeout_s, path);
	}
	if (failure.message)
		return error_move(err, &failure);
	return r < 0 ? -1 : judge(deck, instance, &result, err);
}

static int fail(struct deck *deck, struct store_lock *lock, struct instance *instance,
		struct error *failure, struct error *err)
{
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	(void)save(lock, instance, SETUP_FAILED, NULL);
	(void)error_set(err, failure->code,
			"the setup of its tree failed, so it was not started: %s. Try again with "
			"agentdeck start %s, or start without it: agentdeck start --no-setup %s",
			failure->message, hint, hint);
	error_clear(failure);
	return -1;
}

static void say_begin(const struct deck *deck, const struct strvec *argv)
{
	cleanup_free char *command = argjoin(strvec_argv(argv));
	log_info("setup: %s", command);
	if (deck->on_progress)
		deck->on_progress(command, false);
}

int setup_leave(struct store_lock *lock, struct instance *instance, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	return workspace && workspace->setup != SETUP_NONE ? save(lock, instance, SETUP_NONE, err)
							   : 0;
}

int setup_run(struct deck *deck, struct store_lock *lock, struct instance *instance,
	      struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	const struct workspace_defaults defaults = settings_workspace(&deck->settings,
								      instance->group);
	struct error failure = { 0 };
	if (!workspace || workspace->setup == SETUP_NONE)
		return 0;
	if (!defaults.setup.count)
		return save(lock, instance, SETUP_NONE, err);
	if (place_home(instance))
		return 0;
	say_begin(deck, &defaults.setup);
	if (run_argv(deck, instance, &defaults.setup, &failure) < 0)
		return fail(deck, lock, instance, &failure, err);
	log_info("setup: done");
	return save(lock, instance, SETUP_NONE, err);
}

bool setup_begin_inside(struct deck *deck, const struct instance *instance, struct strvec *ret)
{
	const struct workspace *workspace = instance->workspace;
	const struct workspace_defaults defaults = settings_workspace(&deck->settings,
								      instance->group);
	if (!place_home(instance) || !workspace || workspace->setup == SETUP_NONE ||
	    !defaults.setup.count)
		return false;
	say_begin(deck, &defaults.setup);
	strvec_push_all(ret, &defaults.setup);
	return true;
}

static int keep_output(const struct deck *deck, const struct instance *instance,
		       const struct strbuf *output, struct error *err)
{
	cleanup_fs_lock struct fs_lock log = FS_UNLOCKED;
	if (lock_log(deck, instance, clock_ms() + LOG_MS, &log, err) < 0)
		return -1;
	return fs_write_all(log.fd, strbuf_text(output), output->length, SETUP_LOG, err);
}

int setup_end_inside(struct deck *deck, struct store_lock *lock, struct instance *instance,
		     const struct child_result *result, struct error *failure, struct error *err)
{
	struct error why = { 0 };
	if (keep_output(deck, instance, &result->output, err) < 0) {
		if (failure)
			error_clear(failure);
		return -1;
	}
	if (failure)
		return fail(deck, lock, instance, failure, err);
	if (judge(deck, instance, result, &why) < 0)
		return fail(deck, lock, instance, &why, err);
	log_info("setup: done");
	return save(lock, instance, SETUP_NONE, err);
}
