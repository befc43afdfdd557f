/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/endpoint.h"

#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/un.h>

/* Many windows and hooks may come in the moment in which the capsule starts an agent. */
enum { BACKLOG = 128 };

#define NEW_SOCKET ".new-" ENDPOINT_SOCKET

static int open_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int endpoint_connect(int dirfd, int *ret, struct error *err)
{
	/* The path itself may be longer than an address (107 bytes). */
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dirfd,
		       ENDPOINT_SOCKET);
	cleanup_close int fd = open_socket();
	if (fd < 0)
		return error_set_errno(err, errno, "make a socket");
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			return ENDPOINT_ABSENT;
		if (errno == EAGAIN)
			return ENDPOINT_FULL;
		return error_set_errno(err, errno, "connect to a capsule");
	}
	*ret = TAKE_FD(fd);
	return 0;
}

int endpoint_listen(int *ret, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = NEW_SOCKET };
	cleanup_close int fd = open_socket();
	(void)unlink(NEW_SOCKET);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(NEW_SOCKET, 0600) < 0 || listen(fd, BACKLOG) < 0 ||
	    rename(NEW_SOCKET, ENDPOINT_SOCKET) < 0)
		return error_set_errno(err, errno, "listen on %s", ENDPOINT_SOCKET);
	*ret = TAKE_FD(fd);
	return 0;
}

int endpoint_peer(int fd, struct ucred *ret, struct error *err)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return error_set_errno(err, errno, "ask who is connected");
	if (peer.uid != geteuid() && peer.uid != 0)
		return error_set(err, ERROR_SYSTEM, "the other end belongs to user %u, not to you",
				 peer.uid);
	*ret = peer;
	return 0;
}

int endpoint_token(int dirfd, char *ret, size_t size, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int r = fs_read(dirfd, ENDPOINT_TOKEN, size, &text, err);
	if (r < 0)
		return r;
	if (r == FS_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "there is no file %s", ENDPOINT_TOKEN);
	while (text.length > 0 && text.data[text.length - 1] == '\n')
		text.data[--text.length] = '\0';
	if (text.length == 0 || text.length >= size || memchr(text.data, '\0', text.length))
		return error_set(err, ERROR_CORRUPT, "the file %s is not a token", ENDPOINT_TOKEN);
	memcpy(ret, text.data, text.length + 1);
	return 0;
}
