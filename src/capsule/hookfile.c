/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/hookfile.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "capsule/channel.h"
#include "capsule/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PART_SIZE = 64 << 10, TELL_MS = 1000 };

/* ---- the sender ------------------------------------------------------------------------------ */

static bool is_shell(const char *program)
{
	static const char *const names[] = { "sh",   "ash", "bash", "dash",
					     "fish", "ksh", "mksh", "zsh" };
	const char *name = path_basename(program);
	if (*name == '-')
		name++;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(name, names[i]))
			return true;
	return false;
}

/* sh -c COMMAND, bash -l -c COMMAND, zsh -lc COMMAND: the command, or NULL. */
static const char *shell_command(const struct strvec *argv)
{
	if (!argv->count || !is_shell(argv->items[0]))
		return NULL;
	for (size_t i = 1; i + 1 < argv->count && argv->items[i][0] == '-'; i++)
		if (argv->items[i][1] != '-' && strchr(argv->items[i], 'c'))
			return argv->items[i + 1];
	return NULL;
}

/* Does this process only run the hook's command?  A script that is an agent, or starts one, does
 * not. */
static int is_hook_shell(pid_t pid, bool *ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	int r = process_argv(pid, &argv, err);
	const char *command = r == 0 ? shell_command(&argv) : NULL;
	*ret = command && strstr(command, " hook");
	return r;
}

size_t hookfile_senders(struct process_id *ret, size_t size)
{
	struct process_id all[HOOKFILE_SENDERS_MAX];
	size_t count = process_ancestors(getpid(), all, ARRAY_SIZE(all)), first = 0;
	for (bool is_passed = true; first < count && is_passed; first += is_passed)
		if (is_hook_shell(all[first].pid, &is_passed, NULL) != 0)
			return 0;
	count -= first;
	count = count < size ? count : size;
	memcpy(ret, all + first, count * sizeof(*all));
	return count;
}

static int write_line(const struct hookfile_report *report, int fd, struct error *err)
{
	struct process_id senders[HOOKFILE_SENDERS_MAX];
	const size_t count = hookfile_senders(senders, ARRAY_SIZE(senders));
	cleanup_strbuf struct strbuf line = { 0 };
	strbuf_addf(&line, "from %s", is_empty(report->run) ? "-" : report->run);
	for (size_t i = 0; i < count; i++)
		strbuf_addf(&line, " %d/%llu", (int)senders[i].pid,
			    (unsigned long long)senders[i].start);
	strbuf_adds(&line, "\n");
	return fs_write_all(fd, line.data, line.length, "a report", err);
}

static bool read_senders(const char *at, struct hookfile_line *ret)
{
	for (int length; *at == ' ' && ret->count < HOOKFILE_SENDERS_MAX; at += length) {
		unsigned long long start;
		struct process_id *sender = &ret->senders[ret->count++];
		if (sscanf(at, " %d/%llu%n", &sender->pid, &start, &length) != 2 ||
		    sender->pid <= 0)
			return false;
		sender->start = start;
	}
	return *at == '\n';
}

int hookfile_read_line(const char *text, size_t length, struct hookfile_line *ret,
		       size_t *ret_length, struct error *err)
{
	const size_t limit = length < HOOKFILE_LINE_MAX ? length : HOOKFILE_LINE_MAX;
	const char *end = memchr(text, '\n', limit);
	cleanup_free char *line = end ? xstrndup(text, (size_t)(end + 1 - text)) : NULL;
	struct hookfile_line found = { 0 };
	int at = 0;
	if (!line || sscanf(line, "from %39s%n", found.run, &at) != 1 ||
	    !read_senders(line + at, &found))
		return error_set(err, ERROR_CORRUPT, "it does not say who sends it");
	*ret = found;
	*ret_length = (size_t)(end + 1 - text);
	return 0;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Read once.  0: the input has ended. */
static int read_part(int input, int64_t deadline_ms, char *part, size_t *ret, struct error *err)
{
	struct pollfd event = { .fd = input, .events = POLLIN };
	ssize_t n;
	do {
		if (poll(&event, 1, clock_left_ms(deadline_ms)) == 0)
			return error_set(err, ERROR_TIMEOUT, "the report does not end");
		n = read(input, part, PART_SIZE);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)
		return error_set_errno(err, errno, "read the report");
	*ret = (size_t)n;
	return 0;
}

/* Copy the report to its end, so that the agent is not hit by SIGPIPE. */
static int copy_input(int input, int output, struct error *err)
{
	const int64_t deadline_ms = clock_ms() + HOOKFILE_TIMEOUT_MS;
	cleanup_free char *part = xcalloc(PART_SIZE, 1);
	size_t total = 0, n;
	do {
		if (read_part(input, deadline_ms, part, &n, err) < 0)
			return -1;
		total += n;
		if (total <= HOOKFILE_MAX && fs_write_all(output, part, n, "a report", err) < 0)
			return -1;
	} while (n > 0);
	if (total > HOOKFILE_MAX)
		return error_set(err, ERROR_CORRUPT, "the report is too long: %zu bytes", total);
	return 0;
}

static int write_report(const struct hookfile_report *report, int fd, struct error *err)
{
	if (!report->payload)
		return copy_input(report->input, fd, err);
	return fs_write_all(fd, report->payload, strlen(report->payload), "a report", err);
}

static int keep_report(const struct hookfile_report *report, int reports, struct error *err)
{
	/* The names are in the order of the reports. */
	cleanup_free char *name = xasprintf("%020lld-%d.json", (long long)clock_wall_us(),
					    getpid());
	cleanup_free char *temporary = xasprintf(FS_TEMPORARY_PREFIX "%s", name);
	cleanup_close int fd = fs_openat(
		reports, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set_file(err, errno, "make %s", temporary);
	int r = write_line(report, fd, err);
	if (r == 0)
		r = write_report(report, fd, err);
	if (r == 0 && (fs_flush(fd) < 0 || renameat(reports, temporary, reports, name) < 0 ||
		       fs_flush(reports) < 0))
		r = error_set_file(err, errno, "write %s", name);
	if (r < 0)
		(void)unlinkat(reports, temporary, 0);
	return r;
}

/* The capsule ends the connection when it has obeyed the frames. */
static void await_end(struct channel *channel, int64_t deadline_ms)
{
	while (channel_flush(channel, NULL) == CHANNEL_AGAIN &&
	       channel_wait(channel, POLLOUT, deadline_ms))
		;
	for (int r = 0; r == 0 || r == CHANNEL_AGAIN;) {
		r = channel_receive(channel, NULL);
		if (r == CHANNEL_AGAIN && !channel_wait(channel, POLLIN, deadline_ms))
			return;
	}
}

/* An open window applies the report at once; without one, it waits for the next look. */
static void tell_capsule(int directory)
{
	struct frame_hello hello = { .version = FRAME_VERSION };
	struct channel channel;
	int fd;
	if (endpoint_token(directory, hello.token, sizeof(hello.token), NULL) < 0 ||
	    endpoint_connect(directory, &fd, NULL) != 0)
		return;
	channel_init(&channel, fd);
	frame_put_hello(channel_out(&channel), &hello);
	frame_put(channel_out(&channel), FRAME_REPORT, NULL, 0);
	frame_put(channel_out(&channel), FRAME_BYE, NULL, 0);
	await_end(&channel, clock_ms() + TELL_MS);
	channel_close(&channel);
}

int hookfile_take(const struct hookfile_report *report, struct error *err)
{
	cleanup_close int reports = -1;
	cleanup_close int directory = open(report->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return error_set_file(err, errno, "open %s", report->directory);
	if (fs_open_private_directory_at(directory, ENDPOINT_REPORTS, true, &reports, err) < 0 ||
	    keep_report(report, reports, err) < 0)
		return -1;
	tell_capsule(directory);
	return 0;
}
