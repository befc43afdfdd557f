/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "base/fsutil.h"
#include "driver/store/store.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>

struct options {
	bool follow;
	const char *instance;
	int64_t lines; /* ALL_LINES: not given */
};

enum { ALL_LINES = -1, LINES_MAX = 1000000 };

static const struct command_option options[] = {
	{ 'f', "follow", NULL, "continue with new lines, until Ctrl-C", TO_FLAG(follow),
	  .kind = COMMAND_FOLLOWS },
	{ 'n', "lines", "N", "print only the last N lines", TO_NUMBER(lines, 0, LINES_MAX) },
	{ 'i', "instance", "SESSION", "the same as the operand SESSION", TO_TEXT(instance) },
	{ 0 },
};

enum { LOG_MAX = 16 << 20 };

/* Is the line wanted?  id selects those with instance=<id>; NULL selects all. */
static bool is_wanted(const char *line, size_t length, const char *id)
{
	if (!id)
		return true;
	cleanup_free char *mark = xasprintf("instance=%s ", id);
	return memmem(line, length, mark, strlen(mark)) != NULL;
}

static size_t count_lines(const struct strbuf *text, const char *id)
{
	const char *next = strbuf_text(text);
	size_t count = 0;
	for (const char *end; (end = strchr(next, '\n')); next = end + 1)
		count += is_wanted(next, (size_t)(end - next), id);
	return count;
}

/* Print the complete lines that are wanted, but for the first *skip, which count down.  The rest
 * stays in *text.  We write only visible text, but an agent can write to the file, too. */
static void print_lines(struct strbuf *text, const char *id, size_t *skip)
{
	const char *next = strbuf_text(text);
	for (const char *end; (end = strchr(next, '\n')); next = end + 1) {
		if (!is_wanted(next, (size_t)(end - next), id))
			continue;
		if (*skip > 0)
			--*skip;
		else
			say_to(stdout, xstrndup(next, (size_t)(end - next)));
	}
	struct strbuf rest = { 0 };
	strbuf_adds(&rest, next);
	strbuf_free(text);
	*text = rest;
}

static int open_log(int directory, int *ret, struct error *err)
{
	int fd = openat(directory, "agentdeck.log", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "open agentdeck.log");
	*ret = fd;
	return 0;
}

/* Print what is added to fd and to pending, until the reader has gone.  After a rotation, continue
 * with the new file. */
static int follow(int directory, const char *path, const char *id, int fd, struct strbuf *pending,
		  struct error *err)
{
	size_t skip = 0;
	cleanup_close int current = fd;
	cleanup_close int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char chunk[16384];
	if (watch < 0 || inotify_add_watch(watch, path, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		return error_set_errno(err, errno, "watch %s", path);
	for (;;) {
		ssize_t n;
		while ((n = read(current, chunk, sizeof(chunk))) > 0)
			strbuf_add(pending, chunk, (size_t)n);
		print_lines(pending, id, &skip);
		if (fflush(stdout) != 0)
			return 0;
		struct stat opened, named;
		if (fstat(current, &opened) == 0 &&
		    fstatat(directory, "agentdeck.log", &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		    opened.st_ino != named.st_ino) {
			int next = -1;
			if (open_log(directory, &next, err) < 0)
				return -1;
			(void)close(current);
			current = next;
			continue;
		}
		if (output_wait(watch, INT64_MAX, err) < 0)
			return -1;
		if (read(watch, chunk, sizeof(chunk)) < 0 && errno != EINTR && errno != EAGAIN)
			return error_set_errno(err, errno, "watch %s", path);
	}
}

/* Find the id that the user names.  Without such a session it may be the id of a removed one,
 * which is still in the log. */
static int find_id(struct app *app, const char *target, char **ret, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	struct error local = { 0 };
	if (!target)
		return 0;
	if (app_resolve(app, target, &rows, &row, &local) == 0) {
		*ret = xstrdup(row->id);
		return 0;
	}
	if (local.code == ERROR_NOT_FOUND && strlen(target) == INSTANCE_ID_LENGTH) {
		error_clear(&local);
		*ret = xstrdup(target);
		return 0;
	}
	*err = local;
	return -1;
}

static int cmd_logs(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_strbuf struct strbuf old = { 0 }, now = { 0 };
	cleanup_free char *id = NULL;
	cleanup_free char *path = path_join(app->deck.paths.state, "logs");
	cleanup_close int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int fd = -1;
	const char *target = app->operands.count ? app->operands.items[0] : given->instance;
	size_t skip = 0;
	if (app->operands.count && given->instance)
		return error_set(err, ERROR_USAGE,
				 "name the session once: as SESSION or with --instance");
	if (directory < 0)
		return error_set_errno(err, errno, "open %s", path);
	if (find_id(app, target, &id, err) < 0 ||
	    fs_read(directory, "agentdeck.log.1", LOG_MAX, &old, err) < 0 ||
	    open_log(directory, &fd, err) < 0 ||
	    fs_read_fd(fd, "agentdeck.log", LOG_MAX, &now, err) < 0)
		return -1;
	const size_t count = given->lines == ALL_LINES
				     ? 0
				     : count_lines(&old, id) + count_lines(&now, id);
	if (count > (size_t)given->lines)
		skip = count - (size_t)given->lines;
	print_lines(&old, id, &skip);
	print_lines(&now, id, &skip);
	return given->follow ? follow(directory, path, id, TAKE_FD(fd), &now, err) : 0;
}

const struct command command_logs = {
	.name = "logs",
	.kind = COMMAND_READS,
	.arguments = "[SESSION]",
	.summary = "print the log: one line for every decision",
	OWN_OPTIONS,
	.defaults = &(const struct options){ .lines = ALL_LINES },
	.flags = NEEDS_STORE,
	.run = cmd_logs,
};
