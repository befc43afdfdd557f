/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view/view.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/loop.h"
#include "capsule/channel.h"
#include "capsule/endpoint.h"
#include "capsule/record.h"
#include "view/window-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum {
	TYPED_MAX = 64 << 10, /* input and answers that the capsule has not taken */
	RETRY_MS = 20,
	CONNECT_MS = 5000, /* while too many wait to be served */
	COLLECT_MS = 10000,
};

/* Why the loop has ended. */
enum outcome {
	AGENT_ENDED, /* view.status says how */
	BROKEN,      /* the connection has ended */
	REFUSED,     /* the capsule does not show this attempt */
	CLOSED,      /* the window was closed: view.signal, or the input has ended */
};

struct view {
	struct frame_attempt attempt;
	const char *const *collect; /* NULL: nothing to run */
	int directory;
	struct channel channel;
	struct loop *loop;
	struct loop_source *input_source, *channel_source, *child_source;
	uint32_t input_events, channel_events;
	struct child child; /* the collector, while child_source is set */
	bool collect_again;
	bool has_shown; /* anything of this connection */
	int signal;
	struct frame_status status;
};

/* --- the collector ---------------------------------------------------------------------------- */

static void on_collected(int fd, uint32_t events, void *context);

static void collect(struct view *view)
{
	/* In a session of its own: the end of the window does not reach it. */
	const struct child_request request = { .argv = view->collect,
					       .new_session = true,
					       .outlives_us = true };
	if (!view->collect)
		return;
	view->collect_again = view->child_source;
	if (view->child_source || child_start(&request, &view->child, NULL) != 0)
		return;
	const struct loop_io io = { view->child.pidfd, EPOLLIN, on_collected, view };
	if (loop_add_io(view->loop, &io, &view->child_source, NULL) < 0)
		child_abandon(&view->child);
}

static void on_collected(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct view *view = context;
	cleanup_child_result struct child_result result = { 0 };
	loop_remove(TAKE_PTR(view->child_source));
	(void)child_finish(&view->child, clock_ms(), &result, NULL);
	if (view->collect_again)
		collect(view);
}

/* No other process collects while it runs. */
static void end_collector(struct view *view)
{
	cleanup_child_result struct child_result result = { 0 };
	loop_remove(TAKE_PTR(view->child_source));
	(void)child_finish(&view->child, clock_ms() + COLLECT_MS, &result, NULL);
}

/* --- frames ----------------------------------------------------------------------------------- */

static void end(struct view *view, enum outcome outcome)
{
	loop_exit(view->loop, outcome);
}

static void flush(struct view *view)
{
	int r = channel_flush(&view->channel, NULL);
	if (r < 0 || r == CHANNEL_ENDED)
		end(view, BROKEN);
}

/* Returns whether there may be more. */
static bool obey(struct view *view, const struct frame *frame)
{
	uint32_t number;
	switch (frame->type) {
	case FRAME_REPLAY:
	case FRAME_OUTPUT:
		view->has_shown = true;
		window_write(frame->payload, frame->length);
		return true;
	case FRAME_EXIT:
		if (frame_get_status(frame, &view->status, NULL) < 0)
			break;
		end(view, AGENT_ENDED);
		return false;
	case FRAME_REFUSED:
		end(view, REFUSED);
		return false;
	case FRAME_REPORT:
		collect(view);
		return true;
	case FRAME_HEARTBEAT:
		/* A peer that asks and does not read would fill our memory. */
		if (frame_get_number(frame, &number, NULL) < 0 ||
		    channel_unsent(&view->channel) > TYPED_MAX)
			break;
		frame_put_number(channel_out(&view->channel), FRAME_HEARTBEAT, number);
		flush(view);
		return true;
	case FRAME_HELLO:
	case FRAME_STATUS:
		return true;
	default:
		break;
	}
	end(view, BROKEN);
	return false;
}

static void on_channel(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct view *view = context;
	struct frame frame;
	flush(view);
	int r = channel_receive(&view->channel, NULL);
	if (r == CHANNEL_AGAIN)
		return;
	if (r != 0) {
		end(view, BROKEN);
		return;
	}
	do
		r = channel_take(&view->channel, &frame, NULL);
	while (r == 0 && obey(view, &frame));
	if (r < 0)
		end(view, BROKEN);
}

/* --- the terminal ----------------------------------------------------------------------------- */

static void on_input(int fd, uint32_t events UNUSED, void *context)
{
	struct view *view = context;
	char buffer[4096];
	ssize_t n = read(fd, buffer, sizeof(buffer));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		view->signal = SIGHUP;
		end(view, CLOSED);
		return;
	}
	frame_put_bytes(channel_out(&view->channel), FRAME_INPUT, buffer, (size_t)n);
	flush(view);
}

static void on_resize(int signal_number UNUSED, void *context)
{
	struct view *view = context;
	const struct frame_size size = window_size();
	frame_put_resize(channel_out(&view->channel), &size);
	flush(view);
}

static void on_end(int signal_number, void *context)
{
	struct view *view = context;
	view->signal = signal_number;
	end(view, CLOSED);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void wait_for(struct loop_source *source, uint32_t *slot, uint32_t events)
{
	if (*slot != events && loop_set_io(source, events, NULL) == 0)
		*slot = events;
}

static void refresh(void *context)
{
	struct view *view = context;
	const size_t unsent = channel_unsent(&view->channel);
	wait_for(view->input_source, &view->input_events, unsent < TYPED_MAX ? EPOLLIN : 0);
	wait_for(view->channel_source, &view->channel_events,
		 EPOLLIN | (unsent > 0 ? EPOLLOUT : 0));
}

static int add_sources(struct view *view, struct error *err)
{
	static const int ends[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };
	const struct loop_io input = { STDIN_FILENO, EPOLLIN, on_input, view };
	const struct loop_io channel = { view->channel.fd, EPOLLIN, on_channel, view };
	view->input_events = view->channel_events = EPOLLIN;
	loop_add_prepare(view->loop, refresh, view, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (loop_add_signal(view->loop, ends[i], on_end, view, NULL, err) < 0)
			return -1;
	if (loop_add_signal(view->loop, SIGWINCH, on_resize, view, NULL, err) < 0 ||
	    loop_add_io(view->loop, &input, &view->input_source, err) < 0)
		return -1;
	return loop_add_io(view->loop, &channel, &view->channel_source, err);
}

/* Show the agent until something ends that. */
static int show(struct view *view, struct error *err)
{
	cleanup_loop struct loop *loop = NULL;
	if (loop_new(&loop, err) < 0)
		return -1;
	view->loop = loop;
	view->child_source = NULL;
	if (add_sources(view, err) < 0)
		return -1;
	/* What was reported before we listened. */
	collect(view);
	int r = loop_run(loop, err);
	if (view->child_source)
		end_collector(view);
	return r;
}

/* --- connections ------------------------------------------------------------------------------ */

static int connect_patiently(const struct view *view, int *ret, struct error *err)
{
	const int64_t deadline_ms = clock_ms() + CONNECT_MS;
	int r;
	while ((r = endpoint_connect(view->directory, ret, err)) == ENDPOINT_FULL &&
	       clock_ms() < deadline_ms)
		/* No event says that a queue of clients is shorter. */
		clock_pause_until(clock_ms() + RETRY_MS);
	return r;
}

/* All that a window says at its beginning, in one go. */
static void introduce(struct view *view, const struct frame_hello *hello)
{
	const struct frame_view shown = { view->attempt, window_size() };
	frame_put_hello(channel_out(&view->channel), hello);
	frame_put_view(channel_out(&view->channel), &shown);
	(void)channel_flush(&view->channel, NULL);
}

/* One connection, from its beginning to its end. */
static int connect_and_show(struct view *view, struct error *err)
{
	struct frame_hello hello = { .version = FRAME_VERSION };
	struct ucred peer;
	int fd;
	view->has_shown = false;
	int r = connect_patiently(view, &fd, err);
	if (r != 0)
		return r < 0 ? r : BROKEN;
	channel_init(&view->channel, fd);
	r = endpoint_token(view->directory, hello.token, sizeof(hello.token), err);
	if (r == 0)
		r = endpoint_peer(fd, &peer, err);
	if (r == 0) {
		introduce(view, &hello);
		r = show(view, err);
	}
	channel_close(&view->channel);
	return r;
}

/* Does the record tell how this attempt has ended? */
static bool find_record(struct view *view)
{
	struct frame_status status;
	if (record_read(view->directory, &status, NULL) != 0 ||
	    !frame_same_attempt(&status.attempt, &view->attempt))
		return false;
	view->status = status;
	return true;
}

/* Connect, and again for as long as the capsule lives. */
static int watch_agent(struct view *view, struct error *err)
{
	for (;;) {
		int r = connect_and_show(view, err);
		if (r < 0 || r == AGENT_ENDED || r == CLOSED)
			return r;
		if (find_record(view))
			return AGENT_ENDED;
		/* A connection that showed nothing would only break again. */
		if (r == REFUSED || !view->has_shown)
			return r;
	}
}

/* --- the end ---------------------------------------------------------------------------------- */

/* End by this signal, as the agent did, and leave no core for it. */
static int die(int signal_number)
{
	const struct rlimit none = { 0, 0 };
	sigset_t set;
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)signal(signal_number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	(void)kill(getpid(), signal_number);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + signal_number;
}

static int finish(const struct view *view, int outcome)
{
	switch (outcome) {
	case AGENT_ENDED:
		return view->status.signal ? die(view->status.signal) : view->status.code;
	case CLOSED:
		return die(view->signal);
	default:
		return ENDPOINT_EXIT_GONE;
	}
}

static bool parse(int argc, char *argv[], struct view *view, struct error *err)
{
	int64_t number;
	if (argc < 3 || !record_is_run(argv[1]) || !parse_int64(argv[2], 0, UINT32_MAX, &number) ||
	    (argc > 3 && (!streq(argv[3], "--") || argc == 4))) {
		(void)error_set(err, ERROR_USAGE, "part of agentdeck, not for people");
		return false;
	}
	(void)snprintf(view->attempt.run, sizeof(view->attempt.run), "%s", argv[1]);
	view->attempt.number = (uint32_t)number;
	view->collect = argc > 4 ? (const char *const *)argv + 4 : NULL;
	view->directory = open(argv[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (view->directory >= 0)
		return true;
	(void)error_set_errno(err, errno, "open %s", argv[0]);
	return false;
}

static int complain(struct error *err)
{
	const int status = err->code == ERROR_USAGE ? ENDPOINT_EXIT_USAGE : ENDPOINT_EXIT_FAILED;
	(void)fprintf(stderr, "agentdeck-view: %s\n", err->message);
	error_clear(err);
	return status;
}

int view_main(int argc, char *argv[])
{
	struct error err = { 0 };
	struct view view = { .directory = -1 };
	struct window window;
	if (!parse(argc, argv, &view, &err))
		return complain(&err);
	channel_init(&view.channel, -1);
	window_begin(&window);
	int outcome = watch_agent(&view, &err);
	window_end(&window);
	(void)close(view.directory);
	return outcome < 0 ? complain(&err) : finish(&view, outcome);
}
