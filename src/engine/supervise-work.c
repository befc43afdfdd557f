/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise-internal.h"

#include "base/clock.h"
#include "base/log.h"

#include <sys/epoll.h>
#include <unistd.h>

/* What a command that has ended still has to say is in its pipes already. */
enum { COLLECT_TIMEOUT_MS = 1000 };

struct work {
	struct child child;
	struct strvec argv, environment;
	struct loop_source *end, *limit;
	work_handler handler;
	void *context;
};

static void work_free(struct work *work)
{
	loop_remove(work->end);
	loop_remove(work->limit);
	strvec_clear(&work->argv);
	strvec_clear(&work->environment);
	free(work);
}

static void on_end(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct work *work = context;
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error err = { 0 };
	loop_remove(TAKE_PTR(work->end));
	if (child_finish(&work->child, clock_ms() + COLLECT_TIMEOUT_MS, &result, &err) < 0)
		work->handler(NULL, err.message, work->context);
	else
		work->handler(&result, NULL, work->context);
	work_free(work);
}

static void on_limit(void *context)
{
	struct work *work = context;
	loop_remove(TAKE_PTR(work->end));
	child_abandon(&work->child);
	work->handler(NULL, "it took too long, and was ended", work->context);
	work_free(work);
}

/* Told in the next turn of the loop, like every other result. */
struct failed {
	struct loop_source *timer;
	char *why;
	work_handler handler;
	void *context;
};

static void on_failed(void *context)
{
	struct failed *failed = context;
	failed->handler(NULL, failed->why, failed->context);
	loop_remove(failed->timer);
	free(failed->why);
	free(failed);
}

static void fail_later(struct supervisor *supervisor, const char *why, work_handler handler,
		       void *context)
{
	struct failed *failed = xcalloc(1, sizeof(*failed));
	*failed = (struct failed){ .why = xstrdup(why), .handler = handler, .context = context };
	if (loop_add_timer(supervisor->loop, 0, on_failed, failed, &failed->timer, NULL) == 0)
		return;
	/* A loop without room for a timer is about to fail as a whole. */
	free(failed->why);
	free(failed);
}

void work_start(struct supervisor *supervisor, const struct strvec *arguments,
		const struct strvec *environment, int timeout_ms, work_handler handler, void *context)
{
	cleanup_error struct error err = { 0 };
	struct work *work = xcalloc(1, sizeof(*work));
	*work = (struct work){ .handler = handler, .context = context };
	strvec_push(&work->argv, supervisor->deck->program);
	strvec_push_all(&work->argv, arguments);
	if (environment)
		strvec_push_all(&work->environment, environment);
	const struct child_request request = {
		.argv = (const char *const *)work->argv.items,
		.environment = work->environment.items,
		/* It goes on when we end, and a signal to our group is not for it. */
		.new_session = true,
		.outlives_us = true,
	};
	int r = child_start(&request, &work->child, &err);
	if (r > 0)
		(void)error_set(&err, ERROR_UNAVAILABLE, "%s is missing", work->argv.items[0]);
	/* It has hardly been born, and starts something only after it has read a manifest. */
	if (r == 0 && supervisor->usual_files.rlim_max)
		(void)prlimit(work->child.pid, RLIMIT_NOFILE, &supervisor->usual_files, NULL);
	if (r == 0 && loop_add_io(supervisor->loop, work->child.pidfd, EPOLLIN, on_end, work, &work->end,
				  &err) == 0 &&
	    (timeout_ms == 0 || loop_add_timer(supervisor->loop, clock_ms() + timeout_ms, on_limit, work,
					       &work->limit, &err) == 0))
		return;
	if (r == 0) {
		loop_remove(TAKE_PTR(work->end));
		child_abandon(&work->child);
	}
	fail_later(supervisor, err.message, handler, context);
	work_free(work);
}

struct inherited {
	struct child child;
	struct loop_source *end;
};

static void on_inherited_end(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct inherited *inherited = context;
	loop_remove(inherited->end);
	child_abandon(&inherited->child);
	free(inherited);
}

void work_inherit(struct supervisor *supervisor)
{
	cleanup_error struct error err = { 0 };
	cleanup_free struct child *children = NULL;
	size_t count = 0;
	if (child_inherit(&children, &count, &err) < 0)
		log_warning("what was at work goes on unseen: %s", err.message);
	for (size_t i = 0; i < count; i++) {
		struct inherited *inherited = xcalloc(1, sizeof(*inherited));
		inherited->child = children[i];
		if (loop_add_io(supervisor->loop, children[i].pidfd, EPOLLIN, on_inherited_end, inherited,
				&inherited->end, NULL) == 0)
			continue;
		(void)close(children[i].pidfd);
		free(inherited);
	}
}
