/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/libc.h"
#include "capsule/spawn-internal.h"

#include "base/fsutil.h"
#include "base/program.h"
#include "capsule/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

/* --- the environment -------------------------------------------------------------------------- */

static bool has_variable(const struct strvec *environment, const char *entry)
{
	const size_t name = strcspn(entry, "=") + 1;
	for (size_t i = 0; i < environment->count; i++)
		if (strncmp(environment->items[i], entry, name) == 0)
			return true;
	return false;
}

/* Put entry before what is there under the same name. */
static void add_missing(struct strvec *environment, const char *entry)
{
	if (strchr(entry, '=') && !has_variable(environment, entry))
		strvec_push(environment, entry);
}

/* What START says, and the container's own, in this order. */
static void make_environment(const struct spawn *spawn, struct strvec *ret)
{
	const struct strvec *given = &spawn->start->environment;
	strvec_pushf(ret, ENDPOINT_VARIABLE "=%s", spawn->directory);
	strvec_pushf(ret, ENDPOINT_RUN "=%s", spawn->start->attempt.run);
	/* If two have the same name, the last one counts. */
	for (size_t i = given->count; i > 0; i--)
		add_missing(ret, given->items[i - 1]);
	for (char **entry = environ; *entry; entry++)
		add_missing(ret, *entry);
}

/* --- in the child ----------------------------------------------------------------------------- */

static void reset_signals(void)
{
	sigset_t none;
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The controlling terminal, so that the size's changes and Ctrl-C arrive. */
static int take_terminal(int terminal, struct error *err)
{
	if (setsid() < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0)
		return error_set_errno(err, errno, "take the terminal");
	for (int fd = 0; fd < 3; fd++)
		if (dup2(terminal, fd) < 0)
			return error_set_errno(err, errno, "open the terminal");
	/* Ours have it already; the engine may have left us others. */
	(void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	return 0;
}

/* The kernel translates our pid into the reader's namespace (unix(7), SCM_CREDENTIALS). */
static void tell_client(const struct spawn *spawn)
{
	union {
		struct cmsghdr align;
		char data[CMSG_SPACE(sizeof(struct ucred))];
	} ancillary = { 0 };
	const struct ucred self = { getpid(), getuid(), getgid() };
	struct strbuf frame = { 0 };
	frame_put_started(&frame, &spawn->start->attempt);
	struct iovec part = { frame.data, frame.length };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &ancillary,
				  .msg_controllen = sizeof(ancillary) };
	struct cmsghdr *item = CMSG_FIRSTHDR(&message);
	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_CREDENTIALS;
	item->cmsg_len = CMSG_LEN(sizeof(self));
	memcpy(CMSG_DATA(item), &self, sizeof(self));
	/* The capsule sent all that it had for this client, so there is room.  If the client has
	 * gone, the next one asks for the status. */
	(void)sendmsg(spawn->client, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	strbuf_free(&frame);
}

/* The variable's value, or NULL. */
static const char *variable(const struct strvec *environment, const char *name)
{
	const size_t length = strlen(name);
	for (size_t i = 0; i < environment->count; i++)
		if (strncmp(environment->items[i], name, length) == 0 &&
		    environment->items[i][length] == '=')
			return environment->items[i] + length + 1;
	return NULL;
}

static int execute(const struct frame_start *start, const struct strvec *environment,
		   struct error *err)
{
	const char *name = start->argv.items[0];
	if (*start->directory && chdir(start->directory) < 0)
		return error_set_errno(err, errno, "go to %s", start->directory);
	cleanup_free char *program = program_path(name, or_empty(variable(environment, "PATH")),
						  start->directory);
	if (!program)
		return error_set(err, ERROR_UNAVAILABLE,
				 "there is no program %s in the container: install it in the "
				 "image, or make the session with --program host",
				 name);
	(void)execve(program, strvec_argv(&start->argv), strvec_argv(environment));
	cleanup_free char *why = program_explain(program, errno);
	return error_set(err, ERROR_CHILD, "run %s: %s", name, why);
}

static int become(const struct spawn *spawn, struct error *err)
{
	cleanup_strvec struct strvec environment = { 0 };
	reset_signals();
	if (take_terminal(spawn->terminal, err) < 0)
		return -1;
	make_environment(spawn, &environment);
	tell_client(spawn);
	return execute(spawn->start, &environment, err);
}

/* --- in the capsule --------------------------------------------------------------------------- */

static pid_t fork_child(const struct spawn *spawn, int words)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct error err = { 0 };
		(void)become(spawn, &err);
		(void)fs_write_all(words, err.message, strlen(err.message), "", NULL);
		_exit(127);
	}
	return pid;
}

int spawn_agent(const struct spawn *spawn, pid_t *ret, struct error *err)
{
	enum { WORDS_MAX = 16 << 10 };
	cleanup_strbuf struct strbuf words = { 0 };
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, errno, "make a pipe");
	cleanup_close int read_end = ends[0];
	pid_t pid = fork_child(spawn, ends[1]);
	const int why = errno;
	(void)close(ends[1]);
	if (pid < 0)
		return error_set_errno(err, why, "make a process");
	/* The pipe ends without a word when the child becomes the agent. */
	if (fs_read_fd(read_end, "the child's words", WORDS_MAX, &words, NULL) < 0 ||
	    words.length == 0) {
		*ret = pid;
		return 0;
	}
	(void)waitpid(pid, NULL, 0);
	return error_set(err, ERROR_CHILD, "%s", strbuf_text(&words));
}
