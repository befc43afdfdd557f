/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/link/serve.h"

#include "base/clock.h"
#include "base/log.h"
#include "cli/link/job.h"
#include "cli/link/login.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	JOBS_MAX = 16,
	/* Nothing more is read of the commands above the first, until less than the second waits. */
	UNSENT_MAX = 1 << 20,
	UNSENT_LOW = 1 << 18,
	/* A pipe that is ready takes so much without blocking (pipe(7), PIPE_BUF). */
	PIECE = 4096,
	PINGS = 3 /* within the time of silence */
};

struct serve {
	struct deck *deck;
	const struct serve_order *order;
	struct loop *loop;
	struct strbuf in, out;
	size_t sent; /* of out */
	struct job *jobs[JOBS_MAX];
	struct loop_source *input, *output, *ping;
	int64_t heard_ms;
	struct login *login; /* NULL: it is not being asked */
	bool has_greeted, is_leaving, is_paused, has_asked;
	bool waits; /* for the login, with a request that is still in */
};

static void on_login(const char *why, void *context);

/* ---- to the client ---------------------------------------------------------------------------- */

static size_t unsent(const struct serve *serve)
{
	return serve->out.length - serve->sent;
}

static void pause_jobs(struct serve *serve, bool is_paused)
{
	if (serve->is_paused == is_paused)
		return;
	serve->is_paused = is_paused;
	/* What one of them sends can pause all again. */
	for (size_t i = 0; i < JOBS_MAX && serve->is_paused == is_paused; i++)
		if (serve->jobs[i])
			job_pause(serve->jobs[i], is_paused);
}

static void send_frame(struct serve *serve, const struct link_frame *frame)
{
	link_frame_write(&serve->out, frame);
	if (serve->output)
		(void)loop_set_io(serve->output, EPOLLOUT, NULL);
	if (unsent(serve) <= UNSENT_MAX)
		return;
	/* The client is slow.  Its own words wait, too: each of them can have an answer. */
	pause_jobs(serve, true);
	if (serve->input)
		(void)loop_set_io(serve->input, 0, NULL);
}

/* What is on its way is sent first. */
static void leave(struct serve *serve, const char *why)
{
	if (serve->is_leaving)
		return;
	serve->is_leaving = true;
	pause_jobs(serve, true);
	send_frame(serve, &(struct link_frame){ .kind = LINK_BYE, .message = (char *)why });
	log_debug("serve: ends: %s", why);
}

/* Continue where a slow client, or the login, had us wait. */
static void listen_again(struct serve *serve)
{
	if (serve->input && !serve->waits && unsent(serve) < UNSENT_LOW)
		(void)loop_set_io(serve->input, EPOLLIN, NULL);
}

static void on_writable(int fd, uint32_t events, void *context)
{
	struct serve *serve = context;
	const size_t left = unsent(serve);
	const ssize_t n = left ? write(fd, serve->out.data + serve->sent,
				       left < PIECE ? left : PIECE)
			       : 0;
	if (n > 0)
		serve->sent += (size_t)n;
	if ((n < 0 && errno != EINTR && errno != EAGAIN) || events & (EPOLLERR | EPOLLHUP)) {
		loop_exit(serve->loop, 0);
		return;
	}
	if (unsent(serve) == 0) {
		strbuf_free(&serve->out);
		serve->sent = 0;
		(void)loop_set_io(serve->output, 0, NULL);
		if (serve->is_leaving)
			loop_exit(serve->loop, 0);
	}
	if (serve->sent >= UNSENT_LOW) {
		strbuf_drop(&serve->out, serve->sent);
		serve->sent = 0;
	}
	if (serve->is_leaving || unsent(serve) >= UNSENT_LOW)
		return;
	listen_again(serve);
	pause_jobs(serve, false);
}

/* ---- jobs ------------------------------------------------------------------------------------- */

static void on_bytes(struct job *job, enum link_stream stream, const char *bytes, size_t length,
		     void *context)
{
	const struct link_frame frame = { .kind = LINK_DATA,
					  .id = (char *)job_id(job),
					  .stream = stream,
					  .bytes = { .data = (char *)bytes, .length = length } };
	send_frame(context, &frame);
}

static void on_room(struct job *job, void *context)
{
	const size_t taken = job_taken(job);
	if (taken)
		send_frame(context, &(struct link_frame){ .kind = LINK_MORE,
							  .id = (char *)job_id(job),
							  .count = (int64_t)taken });
}

static void on_job_exit(struct job *job, int status, void *context)
{
	struct serve *serve = context;
	send_frame(serve, &(struct link_frame){
				  .kind = LINK_EXIT, .id = (char *)job_id(job), .status = status });
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (serve->jobs[i] == job)
			serve->jobs[i] = NULL;
	job_free(job);
}

static struct job **job_place(struct serve *serve, const char *id)
{
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (id ? serve->jobs[i] && streq(job_id(serve->jobs[i]), id) : !serve->jobs[i])
			return &serve->jobs[i];
	return NULL;
}

static void refuse(struct serve *serve, const char *id, const struct error *err)
{
	send_frame(serve, &(struct link_frame){ .kind = LINK_ERROR,
						.id = (char *)id,
						.code = (char *)error_code_name(err->code),
						.message = err->message });
}

static int begin(struct serve *serve, const struct link_frame *request, struct error *err)
{
	const struct job_handler handler = { on_bytes, on_job_exit, on_room, serve };
	if (job_place(serve, request->id))
		return error_set(err, ERROR_EXISTS, "request %s is not finished", request->id);
	struct job **place = job_place(serve, NULL);
	if (!place)
		return error_set(err, ERROR_BUSY, "%d requests are running: wait for one to end",
				 JOBS_MAX);
	if (job_start(serve->loop, serve->deck, request, &handler, place, err) < 0)
		return -1;
	job_pause(*place, serve->is_paused);
	return 0;
}

static void feed(struct serve *serve, struct job *job, const struct link_frame *frame)
{
	cleanup_error struct error err = { 0 };
	if (job_waiting(job) + frame->bytes.length <= LINK_WINDOW) {
		job_feed(job, frame->bytes.data, frame->bytes.length);
		return;
	}
	error_set(&err, ERROR_BUSY, "too much of its input waits: send when there is a \"more\"");
	refuse(serve, frame->id, &err);
	job_cancel(job);
}

/* ---- from the client -------------------------------------------------------------------------- */

static void greet(struct serve *serve, const struct link_frame *hello)
{
	const int64_t protocol = json_get_int(hello->facts, "protocol", 0);
	if (protocol < LINK_OLDEST || protocol > LINK_NEWEST) {
		leave(serve, "no protocol in common: update the older agentdeck of the two");
		return;
	}
	serve->has_greeted = true;
}

static void take(struct serve *serve, const struct link_frame *frame)
{
	cleanup_error struct error err = { 0 };
	struct job **place = frame->id ? job_place(serve, frame->id) : NULL;
	struct job *job = place ? *place : NULL;
	if (frame->kind == LINK_HELLO)
		greet(serve, frame);
	else if (!serve->has_greeted)
		leave(serve, "the first frame must be a hello");
	else if (frame->kind == LINK_PING)
		send_frame(serve, &(struct link_frame){ .kind = LINK_PONG });
	else if (frame->kind == LINK_BYE)
		leave(serve, "bye");
	else if (frame->kind == LINK_REQUEST && begin(serve, frame, &err) < 0)
		refuse(serve, frame->id, &err);
	else if (frame->kind == LINK_DATA && job)
		feed(serve, job, frame);
	else if (frame->kind == LINK_END && job)
		job_end_input(job);
	else if (frame->kind == LINK_CANCEL && job)
		job_cancel(job);
}

/* What only reads needs no login, whose files may do more than set variables. */
static bool asks_login(struct serve *serve)
{
	cleanup_error struct error why = { 0 };
	if (!serve->has_asked && login_ask(serve->loop, on_login, serve, &serve->login, &why) < 0)
		log_warning("serve: %s", why.message);
	serve->has_asked = true;
	return serve->login;
}

static void take_line(struct serve *serve, const char *line, size_t length)
{
	cleanup_link_frame struct link_frame frame = { 0 };
	cleanup_error struct error err = { 0 };
	if (link_frame_read(line, length, &frame, &err) < 0)
		leave(serve, err.message);
	else if (frame.kind == LINK_REQUEST && job_needs_login(&frame.words) && asks_login(serve))
		serve->waits = true;
	else
		take(serve, &frame);
}

static void take_lines(struct serve *serve)
{
	size_t begin = 0;
	for (const char *end;
	     !serve->is_leaving && begin < serve->in.length &&
	     (end = memchr(serve->in.data + begin, '\n', serve->in.length - begin));) {
		const size_t length = (size_t)(end - serve->in.data) - begin;
		if (length > 0)
			take_line(serve, serve->in.data + begin, length);
		if (serve->waits)
			break;
		begin += length + 1;
	}
	cleanup_strbuf struct strbuf rest = { 0 };
	strbuf_add(&rest, serve->in.data + begin, serve->in.length - begin);
	strbuf_free(&serve->in);
	serve->in = rest;
	rest = (struct strbuf){ 0 };
	if (serve->in.length >= LINK_LINE_MAX)
		leave(serve, "a line is too long");
}

static void on_login(const char *why, void *context)
{
	struct serve *serve = context;
	if (why)
		log_warning("serve: %s: agents are looked for without a login's environment", why);
	login_free(serve->login);
	serve->login = NULL;
	serve->heard_ms = clock_ms();
	if (!serve->waits)
		return;
	serve->waits = false;
	take_lines(serve);
	listen_again(serve);
}

static void on_readable(int fd, uint32_t events UNUSED, void *context)
{
	struct serve *serve = context;
	char bytes[LINK_DATA_MAX];
	const ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		loop_exit(serve->loop, 0);
		return;
	}
	if (serve->is_leaving)
		return;
	serve->heard_ms = clock_ms();
	strbuf_add(&serve->in, bytes, (size_t)n);
	take_lines(serve);
	if (serve->waits)
		(void)loop_set_io(serve->input, 0, NULL);
}

/* A line can be dead without an end: a client that hears us answers. */
static void on_ping(void *context)
{
	struct serve *serve = context;
	const int64_t now = clock_ms(), silence = now - serve->heard_ms;
	if (silence >= serve->order->silence_ms && !serve->waits) {
		log_warning("serve: no word from its client for %lld s: ends",
			    (long long)silence / 1000);
		loop_exit(serve->loop, 0);
		return;
	}
	if (silence >= serve->order->silence_ms / PINGS)
		send_frame(serve, &(struct link_frame){ .kind = LINK_PING });
	(void)loop_set_timer(serve->ping, now + serve->order->silence_ms / PINGS, NULL);
}

static int open_sources(struct serve *serve, struct error *err)
{
	const struct loop_io input = { serve->order->input, EPOLLIN, on_readable, serve };
	const struct loop_io output = { serve->order->output, EPOLLOUT, on_writable, serve };
	const int64_t next = clock_ms() + serve->order->silence_ms / PINGS;
	if (loop_add_io(serve->loop, &input, &serve->input, err) < 0 ||
	    loop_add_io(serve->loop, &output, &serve->output, err) < 0)
		return error_prefix(err, "serve needs pipes or sockets");
	return serve->order->silence_ms
		       ? loop_add_timer(serve->loop, next, on_ping, serve, &serve->ping, err)
		       : 0;
}

int serve_run(struct deck *deck, const struct serve_order *order, struct error *err)
{
	cleanup_loop struct loop *loop = NULL;
	struct serve serve = { .deck = deck, .order = order, .heard_ms = clock_ms() };
	if (loop_new(&loop, err) < 0)
		return -1;
	serve.loop = loop;
	/* A client that has gone is an error of write(2). */
	(void)signal(SIGPIPE, SIG_IGN);
	/* A login file may have printed a line without an end. */
	strbuf_adds(&serve.out, "\n");
	send_frame(&serve, &(struct link_frame){ .kind = LINK_HELLO, .facts = order->facts });
	int r = open_sources(&serve, err);
	if (r == 0)
		r = loop_run(loop, err) < 0 ? -1 : 0;
	for (size_t i = 0; i < JOBS_MAX; i++)
		job_free(serve.jobs[i]);
	login_free(serve.login);
	strbuf_free(&serve.in);
	strbuf_free(&serve.out);
	return r;
}
