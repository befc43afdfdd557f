/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * container-probe serve SOCKET
 * container-probe ask SOCKET
 *
 * What a host and a container see of each other's processes over a unix socket in a directory that
 * both have.  "serve" is the first process of a container, "ask" runs on the host and prints lines
 * "NAME VALUE".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* The names of the two messages that the container sends. */
#define FROM_CHILD "child"
#define FROM_FIRST "first"

static int fail(const char *what)
{
	fprintf(stderr, "container-probe: %s: %s\n", what, strerror(errno));
	return 1;
}

/* Below its directory: the whole path may be longer than an address can be. */
static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char *directory = strdup(path), *slash = directory ? strrchr(directory, '/') : NULL;
	if (slash) {
		*slash = '\0';
		if (chdir(directory) == 0)
			snprintf(address.sun_path, sizeof(address.sun_path), "%s", slash + 1);
	}
	free(directory);
	return address;
}

/* The kernel adds the credentials of the process that sends. */
static void answer(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		_exit(fail("send"));
}

static void serve_one(int fd)
{
	char byte;
	struct ucred peer;
	socklen_t length = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		_exit(fail("SO_PEERCRED"));
	printf("peer pid %d uid %u\n", (int)peer.pid, peer.uid);
	pid_t child = fork();
	if (child == 0) {
		answer(fd, FROM_CHILD);
		(void)!read(fd, &byte, 1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	answer(fd, FROM_FIRST);
	(void)!read(fd, &byte, 1);
	close(fd);
}

static void on_term(int signal_number)
{
	_exit(128 + signal_number);
}

static int serve(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setlinebuf(stdout);
	/* The kernel spares the first process of a namespace the signals that it does not handle. */
	signal(SIGTERM, on_term);
	unlink(address.sun_path);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 8) < 0)
		return fail(path);
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			serve_one(fd);
	}
}

static void print_process(const char *name, pid_t pid)
{
	char path[64], line[512];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	unsigned long long start = 0;
	if (file && fgets(line, sizeof(line), file)) {
		char *rest = strrchr(line, ')');
		if (rest)
			(void)!sscanf(rest + 1,
				      " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d"
				      " %*d %*d %*d %*d %llu",
				      &start);
	}
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;
	int readable = fd >= 0 && read(fd, &byte, 1) == 1;
	if (fd >= 0)
		close(fd);
	printf("%s_pid %d\n%s_start %llu\n%s_environ %s\n%s_signal %s\n", name, (int)pid, name,
	       start, name, readable ? "readable" : "refused", name,
	       kill(pid, 0) == 0 ? "allowed" : "refused");
}

/* Print who sent the next message, by its text. */
static int receive(int fd)
{
	char text[64] = { 0 };
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	struct iovec data = { .iov_base = text, .iov_len = sizeof(text) - 1 };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	struct ucred sender = { 0 };
	if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) <= 0)
		return fail("recvmsg");
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
	     header = CMSG_NXTHDR(&message, header))
		if (header->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(header), sizeof(sender));
	print_process(text, sender.pid);
	return write(fd, "", 1) == 1 ? 0 : fail("write");
}

static int ask(const char *path)
{
	struct sockaddr_un address = address_of(path);
	struct ucred peer;
	socklen_t length = sizeof(peer);
	int on = 1, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return fail(path);
	print_process("listener", peer.pid);
	printf("listener_uid %u\n", peer.uid);
	return receive(fd) || receive(fd);
}

int main(int argc, char *argv[])
{
	if (argc == 3 && strcmp(argv[1], "serve") == 0)
		return serve(argv[2]);
	if (argc == 3 && strcmp(argv[1], "ask") == 0)
		return ask(argv[2]);
	fputs("Usage: container-probe serve|ask SOCKET\n", stderr);
	return 2;
}
