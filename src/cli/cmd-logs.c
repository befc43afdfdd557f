/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"

#include "base/fsutil.h"
#include "driver/store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>

enum { LOG_MAX = 16 << 20 };

/* Whether the line is wanted: every line, or those that carry instance=<id>. */
static bool is_wanted(const char *line, size_t length, const char *id)
{
	if (!id)
		return true;
	cleanup_free char *mark = xasprintf("instance=%s ", id);
	return memmem(line, length, mark, strlen(mark)) != NULL;
}

/* We write visible text only, but an agent can write to the file as well as we can. */
static void print_line(const char *line, size_t length)
{
	cleanup_free char *text = xstrndup(line, length);
	cleanup_free char *shown = visible(text);
	puts(shown);
}

/* Print the wanted whole lines of text; what follows the last line end stays in *text. */
static void print_lines(struct strbuf *text, const char *id)
{
	const char *next = strbuf_text(text);
	for (const char *end; (end = strchr(next, '\n')); next = end + 1)
		if (is_wanted(next, (size_t)(end - next), id))
			print_line(next, (size_t)(end - next));
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

/* Print what is added until the reader goes away; a file that was moved aside is followed by the new. */
static int follow(int directory, const char *path, const char *id, int fd, struct error *err)
{
	cleanup_strbuf struct strbuf pending = { 0 };
	cleanup_close int current = fd;
	cleanup_close int watch = inotify_init1(IN_CLOEXEC);
	char chunk[16384];
	if (watch < 0 || inotify_add_watch(watch, path, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		return error_set_errno(err, errno, "watch %s", path);
	for (;;) {
		ssize_t n;
		while ((n = read(current, chunk, sizeof(chunk))) > 0)
			strbuf_add(&pending, chunk, (size_t)n);
		print_lines(&pending, id);
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
		if (read(watch, chunk, sizeof(chunk)) < 0 && errno != EINTR)
			return error_set_errno(err, errno, "watch %s", path);
	}
}

/* The id that --instance names: of a session that is there, else the text itself, since the log also
 * knows sessions that were removed. */
static int find_id(struct app *app, char **ret, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	struct error local = { 0 };
	const char *target = option_value(app, "instance");
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

static int run(struct app *app, struct error *err)
{
	cleanup_strbuf struct strbuf old = { 0 }, now = { 0 };
	cleanup_free char *id = NULL;
	cleanup_free char *path = path_join(app->deck.paths.state, "logs");
	cleanup_close int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int fd = -1;
	if (directory < 0)
		return error_set_errno(err, errno, "open %s", path);
	if (find_id(app, &id, err) < 0 ||
	    fs_read(directory, "agentdeck.log.1", LOG_MAX, &old, err) < 0 ||
	    open_log(directory, &fd, err) < 0 ||
	    fs_read_fd(fd, "agentdeck.log", LOG_MAX, &now, err) < 0)
		return -1;
	print_lines(&old, id);
	print_lines(&now, id);
	return option_given(app, "follow") ? follow(directory, path, id, TAKE_FD(fd), err) : 0;
}

static const struct command_option options[] = {
	{ 'f', "follow", NULL, "and go on with what is added, until Ctrl-C" },
	{ 'i', "instance", "SESSION", "only lines about this session (an id also of a removed one)" },
	{ 0 },
};

const struct command command_logs = {
	.name = "logs",
	.arguments = "",
	.summary = "print the log: one line for every decision",
	.description =
		"The log is logs/agentdeck.log in the state directory; over 4 MiB it is moved to\n"
		"agentdeck.log.1, and one such is kept.",
	.options = options,
	.flags = NEEDS_STORE,
	.run = run,
};
