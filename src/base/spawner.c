/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/spawner.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	FORMAT = 1,
	ANSWER_TIMEOUT_MS = 15000,
	WORDS_MAX = 16 << 20, /* the kernel takes less (execve(2)) */
	DESCRIPTORS = 5,      /* the words, 0, 1, 2, the directory */
	BACKLOG = 64,
	LOST = 128 + 9,
};

struct header {
	uint32_t version, words, arguments, has_directory, new_session;
};

union control {
	struct cmsghdr first;
	char data[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
};

void spawner_request_clear(struct spawner_request *request)
{
	strvec_clear(&request->argv);
	strvec_clear(&request->environment);
	for (size_t i = 0; i < ARRAY_SIZE(request->stdio); i++)
		if (request->stdio[i] >= 0)
			(void)close(request->stdio[i]);
	if (request->directory >= 0)
		(void)close(request->directory);
	*request = SPAWNER_REQUEST_EMPTY;
}

static int open_socket(const char *path, struct sockaddr_un *ret, struct error *err)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path))
		return error_set(err, ERROR_INVALID, "the path of a socket is too long: %s", path);
	memcpy(ret->sun_path, path, strlen(path));
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return fd < 0 ? error_set_errno(err, errno, "make a socket") : fd;
}

/* ---- messages --------------------------------------------------------------------------------- */

static int send_with(int fd, const void *data, size_t length, const int *fds, size_t count)
{
	union control control = { 0 };
	struct iovec part = { (void *)data, length };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	if (count > 0) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(*fds));
		struct cmsghdr *item = &control.first;
		item->cmsg_level = SOL_SOCKET;
		item->cmsg_type = SCM_RIGHTS;
		item->cmsg_len = CMSG_LEN(count * sizeof(*fds));
		memcpy(CMSG_DATA(item), fds, count * sizeof(*fds));
	}
	ssize_t n;
	do
		n = sendmsg(fd, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)length ? 0 : -1;
}

/* What did not come is -1 in fds.  -1: nothing came, or something of another size. */
static int receive_with(int fd, void *data, size_t length, int *fds, size_t count)
{
	union control control = { 0 };
	struct iovec part = { data, length };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	ssize_t n;
	do
		n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	for (size_t i = 0; i < count; i++)
		fds[i] = -1;
	const struct cmsghdr *item = n < 0 ? NULL : CMSG_FIRSTHDR(&message);
	const bool has_fds = item && item->cmsg_level == SOL_SOCKET &&
			     item->cmsg_type == SCM_RIGHTS;
	const size_t came = has_fds ? (item->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	for (size_t i = 0; i < came; i++) {
		int one;
		memcpy(&one, CMSG_DATA(item) + i * sizeof(one), sizeof(one));
		if (i < count)
			fds[i] = one;
		else
			(void)close(one);
	}
	return n == (ssize_t)length ? 0 : -1;
}

static bool wait_readable(int fd)
{
	const int64_t deadline_ms = clock_ms() + ANSWER_TIMEOUT_MS;
	struct pollfd event = { .fd = fd, .events = POLLIN };
	int n;
	do
		n = poll(&event, 1, clock_left_ms(deadline_ms));
	while (n < 0 && errno == EINTR);
	return n > 0;
}

/* ---- who asks --------------------------------------------------------------------------------- */

int spawner_connect(const char *path, int *ret, struct error *err)
{
	struct sockaddr_un address;
	cleanup_close int fd = open_socket(path, &address, err);
	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return error_set(err, ERROR_UNAVAILABLE, "no process listens at %s (%s)", path,
				 strerror(errno));
	if (!process_peer_is_ours(fd))
		return error_set(err, ERROR_UNAVAILABLE, "another user's process listens at %s",
				 path);
	*ret = TAKE_FD(fd);
	return 0;
}

static uint32_t add_words(struct strbuf *text, const char *const *words)
{
	uint32_t count = 0;
	for (; words[count]; count++)
		strbuf_add(text, words[count], strlen(words[count]) + 1);
	return count;
}

int spawner_ask(int fd, const struct spawner_order *order, pid_t *ret_pid, int *ret_pidfd,
		struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int32_t pid = -EPIPE;
	struct header header = { .version = FORMAT,
				 .has_directory = order->directory >= 0,
				 .new_session = order->new_session };
	header.arguments = add_words(&text, order->argv);
	header.words = header.arguments + add_words(&text, (const char *const *)order->environment);
	cleanup_close int words = memfd_create("agentdeck-spawn", MFD_CLOEXEC);
	if (words < 0 || fs_write_all(words, text.data, text.length, "a request", err) < 0)
		return words < 0 ? error_set_errno(err, errno, "make a file in memory") : -1;
	const int fds[DESCRIPTORS] = { words, order->stdio[0], order->stdio[1], order->stdio[2],
				       order->directory };
	if (send_with(fd, &header, sizeof(header), fds, DESCRIPTORS - !header.has_directory) < 0)
		return error_set_errno(err, errno, "ask the main program to run %s",
				       order->argv[0]);
	if (!wait_readable(fd) || receive_with(fd, &pid, sizeof(pid), ret_pidfd, 1) < 0)
		return error_set(err, ERROR_UNAVAILABLE,
				 "the main program has not run %s: no answer", order->argv[0]);
	if (pid < 0 || *ret_pidfd < 0)
		return error_set_errno(err, pid < 0 ? -pid : EPROTO, "run %s", order->argv[0]);
	*ret_pid = pid;
	return 0;
}

int spawner_await(int fd)
{
	int32_t status = LOST;
	if (wait_readable(fd) && receive_with(fd, &status, sizeof(status), NULL, 0) < 0)
		return LOST;
	return status;
}

/* ---- who starts it ---------------------------------------------------------------------------- */

int spawner_listen(const char *path, int *ret, struct error *err)
{
	struct sockaddr_un address;
	cleanup_close int fd = open_socket(path, &address, err);
	if (fd < 0)
		return -1;
	(void)unlink(path);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, BACKLOG) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return error_set_errno(err, errno, "listen at %s", path);
	*ret = TAKE_FD(fd);
	return 0;
}

int spawner_accept(int listener)
{
	cleanup_close int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	return fd >= 0 && process_peer_is_ours(fd) ? TAKE_FD(fd) : -1;
}

/* A file in memory is read at once: what may block is refused. */
static int read_words(int fd, const struct header *header, struct spawner_request *ret,
		      struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct stat st;
	uint32_t count = 0;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || lseek(fd, 0, SEEK_SET) < 0)
		return error_set(err, ERROR_INVALID, "the words of a request are in no file");
	if (fs_read_fd(fd, "a request", WORDS_MAX, &text, err) < 0)
		return -1;
	const char *const end = text.data + text.length;
	for (const char *word = text.data; word && word < end; word += strlen(word) + 1)
		strvec_push(count++ < header->arguments ? &ret->argv : &ret->environment, word);
	if (count != header->words || ret->argv.count == 0)
		return error_set(err, ERROR_INVALID, "a request has another number of words");
	return 0;
}

int spawner_take(int fd, struct spawner_request *ret, struct error *err)
{
	cleanup_spawner_request struct spawner_request request = SPAWNER_REQUEST_EMPTY;
	struct header header;
	int fds[DESCRIPTORS];
	const int r = receive_with(fd, &header, sizeof(header), fds, DESCRIPTORS);
	cleanup_close int words = fds[0];
	memcpy(request.stdio, fds + 1, sizeof(request.stdio));
	request.directory = fds[DESCRIPTORS - 1];
	if (r < 0 || header.version != FORMAT)
		return error_set(err, ERROR_INVALID, "a request is of another version");
	const size_t needed = header.has_directory ? DESCRIPTORS : DESCRIPTORS - 1;
	for (size_t i = 0; i < needed; i++)
		if (fds[i] < 0)
			return error_set(err, ERROR_INVALID, "a request lacks a descriptor");
	request.new_session = header.new_session;
	if (read_words(words, &header, &request, err) < 0)
		return -1;
	*ret = request;
	request = SPAWNER_REQUEST_EMPTY;
	return 0;
}

void spawner_answer(int fd, pid_t pid, int pidfd)
{
	const int32_t number = pid;
	(void)send_with(fd, &number, sizeof(number), &pidfd, pidfd >= 0);
}

void spawner_tell_end(int fd, int status)
{
	const int32_t number = status;
	(void)send_with(fd, &number, sizeof(number), NULL, 0);
}
