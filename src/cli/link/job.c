/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/link/job.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/loop.h"
#include "cli/core/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <unistd.h>

/* How often the output of a command that changes something is read from memory. */
enum { TAIL_MS = 50 };

struct stream {
	struct job *job;
	enum link_stream name;
	int *fd;
	off_t offset;
	bool is_over;
	struct loop_source *source;
};

struct job {
	struct loop *loop;
	struct job_handler handler;
	char *id;
	enum command_kind kind;
	struct child child;
	struct stream streams[2];
	struct loop_source *end, *tail, *input;
	struct strbuf waiting; /* input that its pipe has no room for */
	size_t written;        /* of waiting */
	size_t taken;          /* since it was asked for */
	bool is_paused, has_ended, input_is_complete;
};

/* copy: the parser moves the words, and overwrites those of a message. */
static int parse(const struct strvec *words, struct strvec *copy, struct app *ret,
		 struct error *err)
{
	strvec_push(copy, "agentdeck");
	strvec_push_all(copy, words);
	return parse_command_line(ret, (int)copy->count, copy->items, err);
}

bool job_needs_login(const struct strvec *words)
{
	cleanup_app struct app app = { 0 };
	cleanup_strvec struct strvec copy = { 0 };
	return parse(words, &copy, &app, NULL) == 0 && app.command &&
	       (app.kind == COMMAND_CHANGES || app.command->flags & FINDS_PROGRAMS);
}

/* Which kind of command is it?  ERROR_USAGE: it is none.  ERROR_REFUSED: a link cannot run it. */
static int job_kind(const struct strvec *words, enum command_kind *ret, struct error *err)
{
	cleanup_app struct app app = { 0 };
	cleanup_strvec struct strvec copy = { 0 };
	if (parse(words, &copy, &app, err) < 0)
		return -1;
	const enum command_kind kind = app.command ? app.kind : COMMAND_READS;
	if (kind == COMMAND_TERMINAL)
		return error_set(err, ERROR_REFUSED,
				 "%s needs a terminal: run it with ssh -t, not through a link",
				 app.command->name);
	if (kind == COMMAND_INTERNAL)
		return error_set(err, ERROR_REFUSED, "%s is called by agentdeck itself",
				 app.command->name);
	*ret = kind;
	return 0;
}

const char *job_id(const struct job *job)
{
	return job->id;
}

size_t job_waiting(const struct job *job)
{
	return job->waiting.length - job->written;
}

size_t job_taken(struct job *job)
{
	const size_t taken = job->taken;
	job->taken = 0;
	return taken;
}

/* ---- its output ------------------------------------------------------------------------------- */

/* Returns whether there may be more. */
static bool read_some(struct stream *stream)
{
	struct job *job = stream->job;
	char bytes[LINK_DATA_MAX];
	const ssize_t n = job->child.has_files
				  ? pread(*stream->fd, bytes, sizeof(bytes), stream->offset)
				  : read(*stream->fd, bytes, sizeof(bytes));
	if (n < 0 && errno == EINTR)
		return true;
	/* A file grows as long as its writer lives; a pipe without data is over when that has
	 * ended, whatever else holds it. */
	if (n <= 0) {
		stream->is_over = n == 0 ? !job->child.has_files || job->has_ended : job->has_ended;
		if (stream->is_over) {
			loop_remove(stream->source);
			stream->source = NULL;
		}
		return false;
	}
	stream->offset += n;
	job->handler.on_bytes(job, stream->name, bytes, (size_t)n, job->handler.context);
	return true;
}

/* The job may be gone afterwards. */
static void pump(struct job *job)
{
	for (size_t i = 0; i < ARRAY_SIZE(job->streams); i++)
		while (!job->is_paused && !job->streams[i].is_over && read_some(&job->streams[i]))
			;
	if (!job->has_ended || !job->streams[0].is_over || !job->streams[1].is_over)
		return;
	const int status = child_reap(&job->child);
	job->handler.on_exit(job, status, job->handler.context);
}

static void on_output(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	const struct stream *stream = context;
	pump(stream->job);
}

static void on_tail(void *context)
{
	struct job *job = context;
	(void)loop_set_timer(job->tail, clock_ms() + TAIL_MS, NULL);
	pump(job);
}

static void on_end(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct job *job = context;
	struct loop_source *const sources[] = { job->end, job->tail };
	job->has_ended = true;
	job->end = job->tail = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		loop_remove(sources[i]);
	pump(job);
}

static int listen_to(struct stream *stream, struct error *err)
{
	const struct loop_io io = { *stream->fd, EPOLLIN, on_output, stream };
	return loop_add_io(stream->job->loop, &io, &stream->source, err);
}

void job_pause(struct job *job, bool is_paused)
{
	if (job->is_paused == is_paused)
		return;
	job->is_paused = is_paused;
	for (size_t i = 0; i < ARRAY_SIZE(job->streams) && !job->child.has_files; i++) {
		struct stream *stream = &job->streams[i];
		if (stream->is_over)
			continue;
		/* epoll(7) reports an end also to one that waits for nothing. */
		loop_remove(stream->source);
		stream->source = NULL;
		if (!is_paused)
			(void)listen_to(stream, NULL);
	}
	if (!is_paused)
		pump(job);
}

/* ---- its input -------------------------------------------------------------------------------- */

static void close_input(struct job *job)
{
	loop_remove(job->input);
	job->input = NULL;
	if (job->child.gate >= 0)
		(void)close(job->child.gate);
	job->child.gate = -1;
}

static void push_input(struct job *job)
{
	while (job->child.gate >= 0 && job_waiting(job) > 0) {
		const ssize_t n = write(job->child.gate, job->waiting.data + job->written,
					job_waiting(job));
		if (n < 0 && errno == EAGAIN) {
			strbuf_drop(&job->waiting, job->written);
			job->written = 0;
			return;
		}
		/* The command has closed its input. */
		if (n < 0 && errno != EINTR)
			close_input(job);
		if (n > 0) {
			job->written += (size_t)n;
			job->taken += (size_t)n;
		}
	}
	strbuf_free(&job->waiting);
	job->written = 0;
	if (job->input_is_complete)
		close_input(job);
	else if (job->input)
		(void)loop_set_io(job->input, 0, NULL);
}

static void on_room(int fd UNUSED, uint32_t events, void *context)
{
	struct job *job = context;
	if (events & EPOLLERR)
		close_input(job);
	push_input(job);
	if (job->handler.on_room)
		job->handler.on_room(job, job->handler.context);
}

void job_feed(struct job *job, const char *bytes, size_t length)
{
	if (job->child.gate < 0 || job->input_is_complete)
		return;
	strbuf_add(&job->waiting, bytes, length);
	(void)loop_set_io(job->input, EPOLLOUT, NULL);
}

void job_end_input(struct job *job)
{
	if (job->child.gate < 0)
		return;
	job->input_is_complete = true;
	(void)loop_set_io(job->input, EPOLLOUT, NULL);
}

/* ---- its life --------------------------------------------------------------------------------- */

static int watch(struct job *job, struct error *err)
{
	const struct loop_io end = { job->child.pidfd, EPOLLIN, on_end, job };
	const struct loop_io input = { job->child.gate, 0, on_room, job };
	if (job->child.gate >= 0) {
		(void)fcntl(job->child.gate, F_SETFL, O_NONBLOCK);
		if (loop_add_io(job->loop, &input, &job->input, err) < 0)
			return -1;
	}
	if (job->child.has_files)
		return loop_add_timer(job->loop, clock_ms() + TAIL_MS, on_tail, job, &job->tail,
				      err) < 0
			       ? -1
			       : loop_add_io(job->loop, &end, &job->end, err);
	for (size_t i = 0; i < ARRAY_SIZE(job->streams); i++) {
		(void)fcntl(*job->streams[i].fd, F_SETFL, O_NONBLOCK);
		if (listen_to(&job->streams[i], err) < 0)
			return -1;
	}
	return loop_add_io(job->loop, &end, &job->end, err);
}

static struct job *job_new(struct loop *loop, const struct link_frame *request,
			   const struct job_handler *handler)
{
	struct job *job = xcalloc(1, sizeof(*job));
	*job = (struct job){
		.loop = loop, .handler = *handler, .id = xstrdup(request->id), .child.gate = -1
	};
	job->streams[0] = (struct stream){ .job = job,
					   .name = LINK_OUTPUT,
					   .fd = &job->child.output };
	job->streams[1] = (struct stream){ .job = job,
					   .name = LINK_ERRORS,
					   .fd = &job->child.errors };
	return job;
}

int job_start(struct loop *loop, struct deck *deck, const struct link_frame *request,
	      const struct job_handler *handler, struct job **ret, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	CLEANUP(job_freep) struct job *job = job_new(loop, request, handler);
	if (job_kind(&request->words, &job->kind, err) < 0)
		return -1;
	strvec_push(&words, deck->program);
	strvec_push_all(&words, &request->words);
	const struct child_request child = {
		.argv = (const char *const *)strvec_argv(&words),
		.gate = request->has_input,
		.new_session = true,
		.outlives_us = job->kind == COMMAND_CHANGES,
	};
	const int r = child_start(&child, &job->child, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not there any more", deck->program);
	if (r < 0 || watch(job, err) < 0)
		return -1;
	*ret = TAKE_PTR(job);
	return 0;
}

void job_cancel(struct job *job)
{
	if (!job->has_ended)
		(void)pidfd_send_signal(job->child.pidfd,
					job->kind == COMMAND_CHANGES ? SIGINT : SIGKILL, NULL, 0);
}

void job_free(struct job *job)
{
	if (!job)
		return;
	/* The input was cut off: the command must not take a part for the whole. */
	if (job->child.pid > 0 && job->child.gate >= 0)
		job_cancel(job);
	struct loop_source *const sources[] = { job->end, job->tail, job->input,
						job->streams[0].source, job->streams[1].source };
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		loop_remove(sources[i]);
	if (job->child.pid > 0 && job->kind != COMMAND_CHANGES)
		child_abandon(&job->child);
	strbuf_free(&job->waiting);
	free(job->id);
	free(job);
}
