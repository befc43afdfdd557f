/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/once.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ID_MIN = 16, ID_MAX = 64, LOCK_TIMEOUT_MS = 2000, LINES_MAX = 64, KEPT_DAYS = 7 };

#define DIRECTORY "once"
/* The lines of a file. */
#define BEGUN   "begun\n"
#define REFUSED "refused\n"
#define ENDED   "ended "

const char *const once_state_words[ONCE_STATES] = { "refused", "running", "ended", "cut" };

static int check_id(const char *id, struct error *err)
{
	const size_t length = strlen(id);
	if (length >= ID_MIN && length <= ID_MAX &&
	    strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
		    length)
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"an id of --once has %d to %d letters, digits, '-' and '_', and is used for "
		"one command only (a random UUID)",
		ID_MIN, ID_MAX);
}

static int open_directory(const struct deck *deck, int *ret, struct error *err)
{
	cleanup_free char *path = path_join(deck->paths.state, DIRECTORY);
	return fs_open_private_directory(path, ret, err);
}

/* Where no room is left on the volume of the state directory.  It may end with this boot. */
static int open_other(const struct deck *deck, int *ret, struct error *err)
{
	const char *root = deck_has_runtime(deck) ? deck->paths.runtime : deck->paths.direct;
	cleanup_free char *path = path_join(root, DIRECTORY);
	return fs_open_private_directory(path, ret, err);
}

/* The directory that has the id; that of the state, if none has it. */
static int find_directory(const struct deck *deck, const char *id, int *ret, struct error *err)
{
	cleanup_close int other = -1;
	if (open_other(deck, &other, NULL) == 0 && faccessat(other, id, F_OK, 0) == 0) {
		*ret = TAKE_FD(other);
		return 0;
	}
	return open_directory(deck, ret, err);
}

static void read_lines(const struct fs_lock *lock, char ret[LINES_MAX])
{
	const ssize_t n = pread(lock->fd, ret, LINES_MAX - 1, 0);
	ret[n > 0 ? n : 0] = '\0';
}

/* Durably, before anything is done: a machine that goes down must not forget it. */
static int write_first(int directory, const struct fs_lock *lock, const char *id, const char *line,
		       struct error *err)
{
	if (fs_write_all(lock->fd, line, strlen(line), id, err) < 0)
		return -1;
	return fs_flush(lock->fd) < 0 || fs_flush(directory) < 0
		       ? error_set_file(err, errno, "write %s", id)
		       : 0;
}

/* A command that still runs has its lock. */
static void forget_old(int directory)
{
	cleanup_strvec struct strvec names = { 0 };
	const int64_t oldest = clock_wall_us() / 1000000 - KEPT_DAYS * 24 * 3600;
	(void)fs_list(directory, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
		struct stat st;
		if (fstatat(directory, names.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_mtim.tv_sec < oldest &&
		    fs_lock(directory, names.items[i], 0, &lock, NULL) == 0)
			(void)unlinkat(directory, names.items[i], 0);
	}
}

static int take(int directory, const char *id, struct once *ret, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	char lines[LINES_MAX] = "";
	/* A caller that asks has the lock for a moment. */
	const int r = fs_lock(directory, id, clock_ms() + LOCK_TIMEOUT_MS, &lock, err);
	if (r < 0)
		return -1;
	if (r == 0)
		read_lines(&lock, lines);
	if (r == FS_LOCK_BUSY || *lines)
		return error_set(err, ERROR_EXISTS,
				 "not run: the id %s was used before; agentdeck once %s says what "
				 "became of it",
				 id, id);
	forget_old(directory);
	if (write_first(directory, &lock, id, BEGUN, err) < 0)
		return -1;
	log_info("once: %s", id);
	ret->lock = lock;
	lock = FS_UNLOCKED;
	return 0;
}

int once_begin(const struct deck *deck, const char *id, enum once_need need, struct once *ret,
	       struct error *err)
{
	cleanup_close int directory = -1, other = -1;
	cleanup_error struct error why = { 0 };
	if (check_id(id, err) < 0)
		return -1;
	if (open_directory(deck, &directory, &why) == 0 && take(directory, id, ret, &why) == 0)
		return 0;
	if (need == ONCE_MUST_BE_KEPT || why.code == ERROR_EXISTS)
		return error_move(err, &why);
	log_warning("once: %s", why.message);
	if (open_other(deck, &other, NULL) < 0 || take(other, id, ret, NULL) < 0)
		log_warning("once: %s is not noted", id);
	return 0;
}

void once_end(struct once *once, int status)
{
	if (once->lock.fd < 0)
		return;
	cleanup_free char *line = xasprintf(ENDED "%d\n", status);
	/* Without this line it counts as cut, which asks for more care. */
	(void)fs_write_all(once->lock.fd, line, strlen(line), "the end of a command", NULL);
	fs_unlock(&once->lock);
}

int once_refuse(const struct deck *deck, const char *id, struct error *err)
{
	enum once_state state;
	int status;
	return once_ask(deck, id, clock_ms() + LOCK_TIMEOUT_MS, &state, &status, err);
}

bool once_is_refused(const struct deck *deck, const char *id)
{
	cleanup_close int directory = -1;
	cleanup_strbuf struct strbuf text = { 0 };
	return check_id(id, NULL) == 0 && open_directory(deck, &directory, NULL) == 0 &&
	       fs_read(directory, id, LINES_MAX, &text, NULL) == 0 &&
	       streq(strbuf_text(&text), REFUSED);
}

int once_ask(const struct deck *deck, const char *id, int64_t deadline_ms, enum once_state *ret,
	     int *ret_status, struct error *err)
{
	cleanup_close int directory = -1;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	char lines[LINES_MAX];
	if (check_id(id, err) < 0 || find_directory(deck, id, &directory, err) < 0)
		return -1;
	const int r = fs_lock(directory, id, deadline_ms, &lock, err);
	if (r < 0)
		return -1;
	*ret = ONCE_RUNNING;
	if (r == FS_LOCK_BUSY)
		return 0;
	read_lines(&lock, lines);
	/* A request may still be on its way. */
	if (!*lines && write_first(directory, &lock, id, REFUSED, err) < 0)
		return -1;
	int64_t status = 0;
	const char *ended = strstr(lines, ENDED);
	char *end = ended ? strchr(ended, '\n') : NULL;
	if (end)
		*end = '\0';
	if (!*lines || streq(lines, REFUSED))
		*ret = ONCE_REFUSED;
	else if (end && parse_int64(ended + strlen(ENDED), 0, UINT8_MAX, &status))
		*ret = ONCE_ENDED;
	else
		*ret = ONCE_CUT;
	*ret_status = (int)status;
	return 0;
}
