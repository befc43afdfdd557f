/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/child.h"

#include "base/clock.h"
#include "base/helper.h"
#include "base/libc.h"
#include "base/process.h"
#include "base/program.h"
#include "base/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { DEFAULT_MAX_OUTPUT = 1 << 20, MAX_ERRORS = 64 << 10 };

extern char **environ;

/* posix_spawn and its helpers return a positive error number: folded into one here. */
static int prepare_attributes(posix_spawnattr_t *attributes, bool new_session)
{
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
	if (new_session)
		flags |= POSIX_SPAWN_SETSID;
	int r = posix_spawnattr_setsigmask(attributes, &none);
	if (!r)
		r = posix_spawnattr_setsigdefault(attributes, &all);
	if (!r)
		r = posix_spawnattr_setflags(attributes, flags);
	return r;
}

/* The command line of request->bound: posix_spawn(3) cannot set the signal. */
static int bind_argv(const struct child_request *request, const char *program, struct strvec *ret,
		     struct error *err)
{
	cleanup_free char *own = helper_own_program(), *gate = NULL;
	if (helper_find(own, "agentdeck-gate", &gate, err) < 0)
		return -1;
	strvec_push_array(ret, (const char *const[]){ gate, "--below", NULL });
	strvec_pushf(ret, "%d", getpid());
	strvec_push(ret, program);
	strvec_push_array(ret, request->argv + 1);
	return 0;
}

static int spawn(const struct child_request *request, const int stdio[3], bool new_session,
		 pid_t *ret, struct error *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid;

	/* Not posix_spawnp(): with an empty or relative folder in PATH it would take "tmux" from
	 * our or the child's working directory, which may be anybody's repository. */
	cleanup_free char *program = strchr(request->argv[0], '/')
					     ? xstrdup(request->argv[0])
					     : program_path(request->argv[0], NULL, NULL);
	if (!program)
		return CHILD_NOT_INSTALLED;
	cleanup_strvec struct strvec bound = { 0 };
	if (request->bound && bind_argv(request, program, &bound, err) < 0)
		return -1;
	const char *file = request->bound ? bound.items[0] : program;

	int r = posix_spawn_file_actions_init(&actions);
	if (r)
		return error_set_errno(err, r, "prepare to run %s", request->argv[0]);
	r = posix_spawnattr_init(&attributes);
	if (r) {
		posix_spawn_file_actions_destroy(&actions);
		return error_set_errno(err, r, "prepare to run %s", request->argv[0]);
	}
	r = prepare_attributes(&attributes, new_session);
	for (int fd = 0; fd < 3 && !r && stdio; fd++)
		r = posix_spawn_file_actions_adddup2(&actions, stdio[fd], fd);
	if (!r && request->directory > 0)
		r = posix_spawn_file_actions_addfchdir_np(&actions, request->directory);
	if (!r)
		r = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	if (!r)
		r = posix_spawn(&pid, file, &actions, &attributes,
				request->bound ? bound.items : (char *const *)request->argv,
				request->environment ? request->environment : environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (r == ENOENT && !request->bound)
		return CHILD_NOT_INSTALLED;
	if (r) {
		cleanup_free char *why = program_explain(file, r);
		(void)error_set(err, ERROR_SYSTEM, "run %s: %s", request->argv[0], why);
		if (err)
			err->os_errno = r;
		return -1;
	}
	*ret = pid;
	return 0;
}

/* A pipe whose ends are never descriptors 0 to 2, so that dup2 onto those cannot collide. */
static int make_pipe(int ends[2], struct error *err)
{
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, errno, "make a pipe");
	for (int i = 0; i < 2; i++) {
		if (ends[i] > 2)
			continue;
		int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
		if (moved < 0) {
			int saved = errno;
			(void)close(ends[0]);
			(void)close(ends[1]);
			return error_set_errno(err, saved, "make a pipe");
		}
		(void)close(ends[i]);
		ends[i] = moved;
	}
	return 0;
}

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* memfd_create(2), since Linux 6.3 */
#endif

/* Like make_pipe(), but with a file in memory.  ends[0] is read by pread(2): the offset is the
 * writer's. */
static int make_file(int ends[2], struct error *err)
{
	cleanup_close int fd = memfd_create("agentdeck-child", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("agentdeck-child", MFD_CLOEXEC);
	cleanup_close int first = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	int second = first < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (second < 0)
		return error_set_errno(err, errno, "make a file in memory");
	ends[0] = TAKE_FD(first);
	ends[1] = second;
	return 0;
}

/* Like make_file(), but with a file that exists.  All of it is output. */
static int share_log(int log, int ends[2], struct error *err)
{
	cleanup_close int first = fcntl(log, F_DUPFD_CLOEXEC, 3);
	int second = first < 0 ? -1 : fcntl(log, F_DUPFD_CLOEXEC, 3);
	if (second < 0)
		return error_set_errno(err, errno, "share a log");
	ends[0] = TAKE_FD(first);
	ends[1] = second;
	return 0;
}

static int make_output(const struct child_request *request, int ends[2], struct error *err)
{
	if (request->log)
		return share_log(request->log, ends, err);
	return request->outlives_us ? make_file(ends, err) : make_pipe(ends, err);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static void feed(struct child *child)
{
	/* A child that has closed its end must give EPIPE here, not kill us. */
	sigset_t pipe_signal, old;
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, &old);
	ssize_t n = write(child->input, child->input_next, child->input_left);
	if (n < 0 && errno == EPIPE) {
		struct timespec now = { 0 };
		(void)sigtimedwait(&pipe_signal, NULL, &now);
		child->input_left = 0;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (n > 0) {
		child->input_next += n;
		child->input_left -= (size_t)n;
	}
	if (child->input_left == 0)
		close_fd(&child->input);
}

static int ask_spawner(const struct child_request *request, const int stdio[3], pid_t *ret,
		       int *ret_pidfd, struct error *err)
{
	const struct spawner_order order = {
		.argv = request->argv,
		.environment = request->environment ? request->environment : environ,
		.stdio = stdio,
		.directory = request->directory > 0 ? request->directory : -1,
		.new_session = request->new_session,
	};
	return spawner_ask(request->spawner, &order, ret, ret_pidfd, err);
}

int child_start(const struct child_request *request, struct child *ret, struct error *err)
{
	cleanup_close int in_read = -1, in_write = -1, out_read = -1, out_write = -1;
	cleanup_close int err_read = -1, err_write = -1;
	int ends[2];

	if (request->socket) {
		in_read = fcntl(request->socket, F_DUPFD_CLOEXEC, 3);
		out_write = fcntl(request->socket, F_DUPFD_CLOEXEC, 3);
		if (in_read < 0 || out_write < 0)
			return error_set_errno(err, errno, "share a socket");
	} else if (request->gate || request->input) {
		if (make_pipe(ends, err) < 0)
			return -1;
		in_read = ends[0];
		in_write = ends[1];
	} else if (request->source) {
		in_read = fcntl(request->source, F_DUPFD_CLOEXEC, 3);
		if (in_read < 0)
			return error_set_errno(err, errno, "share the input of %s",
					       request->argv[0]);
	} else {
		int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		in_read = null < 0 ? -1 : fcntl(null, F_DUPFD_CLOEXEC, 3);
		close_fd(&null);
		if (in_read < 0)
			return error_set_errno(err, errno, "open /dev/null");
	}
	if (!request->socket) {
		if (make_output(request, ends, err) < 0)
			return -1;
		out_read = ends[0];
		out_write = ends[1];
	}
	if (make_output(request, ends, err) < 0)
		return -1;
	err_read = ends[0];
	err_write = ends[1];

	const int stdio[3] = { in_read, out_write, err_write };
	pid_t pid;
	int pidfd = -1;
	int r = request->spawner
			? ask_spawner(request, stdio, &pid, &pidfd, err)
			: spawn(request, stdio, request->new_session || request->log, &pid, err);
	if (r != 0)
		return r;
	if (pidfd < 0)
		pidfd = pidfd_open(pid, 0);
	if (pidfd < 0) {
		int saved = errno;
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		return error_set_errno(err, saved, "watch %s", request->argv[0]);
	}
	if (request->input)
		(void)fcntl(in_write, F_SETFL, O_NONBLOCK);
	*ret = (struct child){
		.name = request->argv[0],
		.pid = pid,
		.pidfd = pidfd,
		.gate = request->gate ? TAKE_FD(in_write) : -1,
		.input = request->input ? TAKE_FD(in_write) : -1,
		.input_next = request->input,
		.input_left = request->input ? request->input_length : 0,
		.output = TAKE_FD(out_read),
		.errors = TAKE_FD(err_read),
		.spawner = request->spawner,
		.has_files = request->outlives_us || request->log,
		.leads = request->log,
		.kill_at_max = request->kill_at_max,
		.max_output = request->max_output ? request->max_output : DEFAULT_MAX_OUTPUT,
	};
	if (ret->input >= 0)
		feed(ret);
	return 0;
}

static int status_of(const siginfo_t *info)
{
	return info->si_code == CLD_EXITED ? info->si_status : 128 + info->si_status;
}

static void reap(struct child *child, int *ret_status)
{
	siginfo_t info = { 0 };
	while (!child->spawner && waitid(P_PID, (id_t)child->pid, &info, WEXITED) < 0 &&
	       errno == EINTR)
		;
	*ret_status = child->spawner ? spawner_await(child->spawner) : status_of(&info);
	if (child->spawner)
		close_fd(&child->spawner);
	child->spawner = 0;
	close_fd(&child->pidfd);
	close_fd(&child->gate);
	close_fd(&child->input);
	close_fd(&child->output);
	close_fd(&child->errors);
	strbuf_free(&child->said);
	child->pid = 0;
}

int child_reap(struct child *child)
{
	int status;
	reap(child, &status);
	return status;
}

void child_abandon(struct child *child)
{
	int status;
	if (child->pid <= 0)
		return;
	(void)pidfd_send_signal(child->pidfd, SIGKILL, NULL, 0);
	/* The kernel gives its number to no other process before it is reaped. */
	if (child->leads)
		(void)kill(-child->pid, SIGKILL);
	reap(child, &status);
}

/* Read what is available.  False at the end of the stream. */
static bool drain(int fd, struct strbuf *buf, size_t max, bool *overflow)
{
	char chunk[16384];
	ssize_t n = read(fd, chunk, sizeof(chunk));
	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0)
		return false;
	size_t room = buf->length < max ? max - buf->length : 0;
	strbuf_add(buf, chunk, (size_t)n < room ? (size_t)n : room);
	if ((size_t)n > room)
		*overflow = true;
	return true;
}

static void drain_rest(int fd, struct strbuf *buf, size_t max, bool *overflow)
{
	if (fd < 0)
		return;
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	for (struct pollfd event = { .fd = fd, .events = POLLIN };
	     poll(&event, 1, 0) > 0 && (event.revents & POLLIN);)
		if (!drain(fd, buf, max, overflow))
			break;
}

/* At most max bytes from that offset; bytes that cannot be read are missing. */
static void read_file(int fd, off_t from, size_t max, struct strbuf *buf)
{
	char chunk[16384];
	while (buf->length < max) {
		size_t room = max - buf->length;
		ssize_t n = pread(fd, chunk, room < sizeof(chunk) ? room : sizeof(chunk),
				  from + (off_t)buf->length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		strbuf_add(buf, chunk, (size_t)n);
	}
}

void child_read_errors(const struct child *child, off_t from, struct strbuf *ret)
{
	read_file(child->errors, from, MAX_ERRORS, ret);
}

/* The output that we have not read yet. */
static void collect(const struct child *child, struct child_result *result, bool *overflow)
{
	struct stat st;
	bool cut = false;
	if (!child->has_files) {
		drain_rest(child->output, &result->output, child->max_output, overflow);
		drain_rest(child->errors, &result->errors, MAX_ERRORS, &cut);
		return;
	}
	const off_t max = (off_t)child->max_output;
	bool is_long = fstat(child->output, &st) == 0 && st.st_size > max;
	read_file(child->output, is_long ? st.st_size - max : 0, child->max_output,
		  &result->output);
	read_file(child->errors, 0, MAX_ERRORS, &result->errors);
}

static int fail_overflow(const struct child *child, struct error *err)
{
	return error_set(err, ERROR_CHILD, "%s printed more than %zu bytes", child->name,
			 child->max_output);
}

int child_finish(struct child *child, int64_t deadline_ms, struct child_result *ret,
		 struct error *err)
{
	cleanup_child_result struct child_result result = { .errors = child->said };
	bool overflow = false, cut = false, timed_out = false;
	struct child *before = child->before;

	child->said = (struct strbuf){ 0 };
	for (;;) {
		struct pollfd events[] = {
			{ .fd = child->pidfd, .events = POLLIN },
			{ .fd = child->has_files ? -1 : child->output, .events = POLLIN },
			{ .fd = child->has_files ? -1 : child->errors, .events = POLLIN },
			{ .fd = child->input, .events = POLLOUT },
			{ .fd = before ? before->errors : -1, .events = POLLIN },
		};
		int n = poll(events, ARRAY_SIZE(events), clock_left_ms(deadline_ms));
		if (n < 0 && errno != EINTR) {
			int saved = errno;
			child_abandon(child);
			return error_set_errno(err, saved, "wait for %s", child->name);
		}
		if (n < 0)
			continue;
		if (n == 0) {
			timed_out = true;
			break;
		}
		if (events[1].revents &&
		    !drain(child->output, &result.output, child->max_output, &overflow))
			close_fd(&child->output);
		if (events[2].revents && !drain(child->errors, &result.errors, MAX_ERRORS, &cut))
			close_fd(&child->errors);
		if (events[3].revents)
			feed(child);
		if (events[4].revents && !drain(before->errors, &before->said, MAX_ERRORS, &cut))
			close_fd(&before->errors);
		if (events[0].revents || (overflow && child->kill_at_max))
			break;
	}
	if (overflow && child->kill_at_max) {
		child_abandon(child);
		return fail_overflow(child, err);
	}
	if (timed_out) {
		child_abandon(child);
		ret->errors = result.errors;
		result.errors = (struct strbuf){ 0 };
		return error_set(err, ERROR_TIMEOUT, "%s does not answer", child->name);
	}
	collect(child, &result, &overflow);
	reap(child, &result.exit_status);
	if (overflow)
		return fail_overflow(child, err);
	*ret = result;
	result = (struct child_result){ 0 };
	return 0;
}

static int list_inherited(struct child **ret, size_t *ret_count, struct error *err)
{
	cleanup_free struct process_id *tree = NULL;
	struct process_id self;
	size_t count, found = 0;
	pid_t parent;
	int fd;
	int r = process_identify(getpid(), &self, err);
	if (r > 0)
		return error_set(err, ERROR_SYSTEM, "/proc does not know this process");
	if (r < 0 || process_tree(&self, &tree, &count, err) < 0)
		return -1;
	struct child *children = xcalloc(count, sizeof(*children));
	for (size_t i = 0; i < count; i++)
		if (process_parent(tree[i].pid, &parent, NULL) == 0 && parent == self.pid &&
		    process_open(&tree[i], &fd, NULL) == 0)
			children[found++] = (struct child){ .pid = tree[i].pid,
							    .pidfd = fd,
							    .gate = -1,
							    .output = -1,
							    .errors = -1,
							    .input = -1 };
	*ret = children;
	*ret_count = found;
	return 0;
}

int child_inherit(struct child **ret, size_t *ret_count, struct error *err)
{
	struct child *children = NULL;
	size_t count = 0;
	siginfo_t info = { 0 };
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    list_inherited(&children, &count, err) < 0)
		return -1;
	/* Also a child that has ended since: its descriptor is readable, and child_abandon() has
	 * nothing to do. */
	for (info.si_pid = 0; waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid;
	     info.si_pid = 0)
		;
	*ret = children;
	*ret_count = count;
	return 0;
}

int child_spawn(const struct child_request *request, const int stdio[3], pid_t *ret,
		struct error *err)
{
	return spawn(request, stdio, request->new_session, ret, err);
}

bool child_reap_any(bool (*is_kept)(pid_t pid), pid_t *ret, int *ret_status)
{
	siginfo_t info = { 0 };
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid ||
	    (is_kept && is_kept(info.si_pid)) ||
	    waitid(P_PID, (id_t)info.si_pid, &info, WEXITED) < 0)
		return false;
	*ret = info.si_pid;
	*ret_status = status_of(&info);
	return true;
}

int child_run(const struct child_request *request, int timeout_ms, struct child_result *ret,
	      struct error *err)
{
	struct child child;
	int r = child_start(request, &child, err);
	if (r != 0)
		return r;
	return child_finish(&child, clock_ms() + timeout_ms, ret, err);
}

/* Until the child ends, or cannot be waited for in this way. */
static void serve(const struct child *child, const struct child_watch *first)
{
	size_t count = 1;
	for (const struct child_watch *watch = first; watch; watch = watch->next)
		count++;
	cleanup_free struct pollfd *events = xcalloc(count, sizeof(*events));
	events[0] = (struct pollfd){ .fd = child->pidfd, .events = POLLIN };
	const struct child_watch *watch = first;
	for (size_t i = 1; i < count; i++, watch = watch->next)
		events[i] = (struct pollfd){ .fd = watch->fd, .events = POLLIN };
	for (bool is_timed = first->may_go_on;;) {
		const int n = poll(events, count,
				   is_timed ? clock_left_ms(first->deadline_ms) : -1);
		if (n < 0 && errno != EINTR)
			return;
		if (n > 0 && events[0].revents)
			return;
		if (is_timed && clock_ms() >= first->deadline_ms) {
			is_timed = false;
			if (!first->may_go_on(first->data))
				(void)pidfd_send_signal(child->pidfd, SIGKILL, NULL, 0);
		}
		if (n <= 0)
			continue;
		watch = first;
		for (size_t i = 1; i < count; i++, watch = watch->next)
			if (events[i].revents && !watch->on_readable(watch->data))
				events[i].fd = -1;
		if (first->ends && *first->ends)
			(void)pidfd_send_signal(child->pidfd, SIGKILL, NULL, 0);
	}
}

static int foreground(const struct child_request *request, const struct child_watch *watch,
		      int *ret_exit_status, struct error *err)
{
	struct child child = { .pidfd = -1, .gate = -1, .input = -1, .output = -1, .errors = -1 };
	int r = spawn(request, NULL, false, &child.pid, err);
	if (r != 0)
		return r;
	child.pidfd = pidfd_open(child.pid, 0);
	if (child.pidfd >= 0 && watch)
		serve(&child, watch);
	reap(&child, ret_exit_status);
	return 0;
}

int child_foreground(const char *const *argv, char *const *environment,
		     const struct child_watch *watch, int *ret_exit_status, struct error *err)
{
	const struct child_request request = { .argv = argv, .environment = environment };
	return foreground(&request, watch, ret_exit_status, err);
}

int child_foreground_bound(const char *const *argv, const struct child_watch *watch,
			   int *ret_exit_status, struct error *err)
{
	const struct child_request request = { .argv = argv, .bound = true };
	return foreground(&request, watch, ret_exit_status, err);
}

void child_result_free(struct child_result *result)
{
	strbuf_free(&result->output);
	strbuf_free(&result->errors);
}

/* The beginning of a longer text is enough.  The refusals of agentdeck fit. */
enum { WORDS_MOST = 500 };

char *child_last_words(const struct child_result *result)
{
	const char *text = strbuf_text(result->errors.length ? &result->errors : &result->output);
	cleanup_free char *line = xstrndup(text, strcspn(text, "\n"));
	if (strlen(line) > WORDS_MOST) {
		size_t length = WORDS_MOST;
		/* Not within a character. */
		while (length && is_inside_character(line[length]))
			length--;
		line[length] = '\0';
	}
	return *line ? visible(line) : xstrdup("no message");
}
