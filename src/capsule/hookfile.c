/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/hookfile.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "capsule/channel.h"
#include "capsule/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { PART_SIZE = 64 << 10, TELL_MS = 1000 };

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
	int r = write_report(report, fd, err);
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

/* The windows apply it at once; without one, it waits for whoever looks next. */
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
