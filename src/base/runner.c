/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/runner.h"

#include "base/clock.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* The last output of a program that has ended is in its pipes already. */
enum { COLLECT_TIMEOUT_MS = 1000, LISTEN_MS = 1000 };

struct runner {
	struct child child; /* pid 0: it could not be started */
	char *name;
	int timeout_ms;
	bool kills_group;
	struct error failure;
	struct loop_source *end, *limit, *next_listen;
	runner_listener listener;
	off_t heard; /* of its standard error */
	runner_handler handler;
	void *context;
	struct runner *next, **previous;
};

/* Runners whose program has not ended: a loop that ends must not lose them. */
static struct runner *running;

static void keep(struct runner *runner)
{
	runner->next = running;
	runner->previous = &running;
	if (running)
		running->previous = &runner->next;
	running = runner;
}

static void drop(struct runner *runner)
{
	*runner->previous = runner->next;
	if (runner->next)
		runner->next->previous = runner->previous;
	free(runner->name);
	free(runner);
}

static void finish(struct runner *runner, const struct child_result *result)
{
	loop_remove(runner->end);
	loop_remove(runner->limit);
	loop_remove(runner->next_listen);
	if (runner->handler)
		runner->handler(result, result ? NULL : &runner->failure, runner->context);
	error_clear(&runner->failure);
	drop(runner);
}

static void on_end(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct runner *runner = context;
	cleanup_child_result struct child_result result = { 0 };
	loop_remove(TAKE_PTR(runner->end));
	int r = child_finish(&runner->child, clock_ms() + COLLECT_TIMEOUT_MS, &result,
			     &runner->failure);
	finish(runner, r < 0 ? NULL : &result);
}

static void on_listen(void *context)
{
	struct runner *runner = context;
	cleanup_strbuf struct strbuf lines = { 0 };
	child_read_errors(&runner->child, runner->heard, &lines);
	const char *end = lines.length ? memrchr(lines.data, '\n', lines.length) : NULL;
	const size_t whole = end ? (size_t)(end + 1 - lines.data) : 0;
	cleanup_free char *text = xstrndup(strbuf_text(&lines), whole);
	runner->heard += (off_t)whole;
	runner->listener(text, runner->context);
	(void)loop_set_timer(runner->next_listen, clock_ms() + LISTEN_MS, NULL);
}

/* Also the turn in which a failed start is reported. */
static void on_limit(void *context)
{
	struct runner *runner = context;
	loop_remove(TAKE_PTR(runner->end));
	if (runner->child.pid > 0) {
		/* The child is not reaped yet, so the group is still its own. */
		if (runner->kills_group)
			(void)kill(-runner->child.pid, SIGKILL);
		child_abandon(&runner->child);
		(void)error_set(&runner->failure, ERROR_TIMEOUT,
				"%s took longer than %d s, and was killed", runner->name,
				runner->timeout_ms / 1000);
	}
	finish(runner, NULL);
}

void runner_start(struct loop *loop, const struct runner_request *request, runner_handler handler,
		  void *context)
{
	struct runner *runner = xcalloc(1, sizeof(*runner));
	*runner = (struct runner){
		.name = xstrdup(request->child.argv[0]),
		.timeout_ms = request->timeout_ms,
		.kills_group = request->kills_group,
		.listener = request->listener,
		.handler = handler,
		.context = context,
	};
	keep(runner);
	int r = child_start(&request->child, &runner->child, &runner->failure);
	if (r > 0)
		r = error_set(&runner->failure, ERROR_UNAVAILABLE, "program '%s' does not exist",
			      runner->name);
	runner->child.name = runner->name;
	if (r == 0 && runner->child.input_left)
		r = error_set(&runner->failure, ERROR_SYSTEM,
			      "the input of %s does not fit into a pipe", runner->name);
	/* The child has just begun, and has opened no files that count. */
	if (r == 0 && request->files)
		(void)prlimit(runner->child.pid, RLIMIT_NOFILE, request->files, NULL);
	if (r == 0)
		r = loop_add_io(loop,
				&(struct loop_io){ runner->child.pidfd, EPOLLIN, on_end, runner },
				&runner->end, &runner->failure);
	const int64_t at_ms = r < 0                 ? 0
			      : request->timeout_ms ? clock_ms() + request->timeout_ms
						    : INT64_MAX;
	if (r < 0)
		child_abandon(&runner->child);
	else if (runner->listener)
		(void)loop_add_timer(loop, clock_ms() + LISTEN_MS, on_listen, runner,
				     &runner->next_listen, NULL);
	/* A loop without room for a timer is about to fail as a whole. */
	if (at_ms != INT64_MAX)
		(void)loop_add_timer(loop, at_ms, on_limit, runner, &runner->limit, NULL);
}

void runner_signal(const void *context, int number)
{
	for (const struct runner *runner = running; runner; runner = runner->next)
		/* A child that is not reaped keeps its pid. */
		if (runner->context == context && runner->child.pid > 0)
			(void)kill(runner->child.pid, number);
}

bool runner_owns(pid_t pid)
{
	for (const struct runner *runner = running; runner; runner = runner->next)
		if (runner->child.pid == pid)
			return true;
	return false;
}

int runner_inherit(struct loop *loop, struct error *err)
{
	cleanup_free struct child *children = NULL;
	size_t count = 0;
	if (child_inherit(&children, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct runner *runner = xcalloc(1, sizeof(*runner));
		*runner = (struct runner){ .child = children[i], .name = xstrdup("a program") };
		runner->child.name = runner->name;
		keep(runner);
		if (loop_add_io(loop,
				&(struct loop_io){ children[i].pidfd, EPOLLIN, on_end, runner },
				&runner->end, NULL) == 0)
			continue;
		(void)close(children[i].pidfd);
		drop(runner);
	}
	return 0;
}
