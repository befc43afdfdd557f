/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/link/link.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/loop.h"
#include "driver/link/ssh.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	NOISE_MAX = 1 << 16, /* what may come before the hello, and on descriptor 2 */
	PING_MS = 5000,
	SILENCE_MS = 10000, /* then it is lost: known with the next ping, so within 15 s */
	LAST_WORDS_MS = 1000,
	SSH_FAILED = 255 /* ssh(1) */
};

/* One request at a time is enough. */
#define REQUEST "1"

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP };

struct link {
	struct loop *loop;
	struct child child;
	struct loop_source *output, *errors, *to, *ping, *input, *reader,
		*signals[ARRAY_SIZE(ending_signals)]; /* NULL: our caller ignores it */
	struct strbuf in, out, noise, words;          /* words: of its descriptor 2 */
	struct link_hello hello;
	int64_t heard_ms, pinged_ms;
	char *lost;    /* why there is nothing more to come; NULL: there is */
	sigset_t mask; /* that our caller had */
	int signals_seen;
	bool has_ended; /* the program */

	const struct link_request *request; /* NULL: none runs */
	struct error refusal;
	int status; /* -1: it has not ended */
	size_t untaken;
	int input_errno; /* why the input could not be read; 0: it could */
	bool is_cancelled;
};

static void lose(struct link *link, const char *why)
{
	if (!link->lost)
		link->lost = xstrdup(why);
}

const struct link_hello *link_hello(const struct link *link)
{
	return &link->hello;
}

/* ---- to the other side ------------------------------------------------------------------------ */

/* The end of the program is an error here, and no reason to end. */
static ssize_t write_some(int fd, const struct strbuf *from)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction usual;
	(void)sigaction(SIGPIPE, &ignore, &usual);
	const ssize_t n = from->length ? write(fd, from->data, from->length) : 0;
	const int saved = errno;
	(void)sigaction(SIGPIPE, &usual, NULL);
	errno = saved;
	return n;
}

static void on_room(int fd, uint32_t events UNUSED, void *context)
{
	struct link *link = context;
	const ssize_t n = write_some(fd, &link->out);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		lose(link, "it reads nothing more");
	if (n > 0)
		strbuf_drop(&link->out, (size_t)n);
	(void)loop_set_io(link->to, link->out.length && !link->lost ? EPOLLOUT : 0, NULL);
}

static void send_frame(struct link *link, const struct link_frame *frame)
{
	link_frame_write(&link->out, frame);
	on_room(link->child.gate, EPOLLOUT, link);
}

static void cancel(struct link *link)
{
	if (!link->is_cancelled)
		send_frame(link,
			   &(struct link_frame){ .kind = LINK_CANCEL, .id = (char[]){ REQUEST } });
	link->is_cancelled = true;
}

bool link_keep(struct link *link)
{
	const int64_t now = clock_ms();
	sigset_t waiting;
	if (!link->lost && now - link->pinged_ms >= PING_MS) {
		link->pinged_ms = now;
		send_frame(link, &(struct link_frame){ .kind = LINK_PING });
	}
	if (sigpending(&waiting) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
		if (link->signals[i] && sigismember(&waiting, ending_signals[i]) > 0)
			return false;
	return true;
}

static void on_ping(void *context)
{
	struct link *link = context;
	const int64_t now = clock_ms();
	if (link->hello.facts && now - link->heard_ms >= SILENCE_MS)
		lose(link, "it has been silent for 10 s");
	if (link->hello.facts)
		(void)link_keep(link);
	(void)loop_set_timer(link->ping, now + PING_MS, NULL);
}

/* ---- input ------------------------------------------------------------------------------------ */

static void take_input(struct link *link)
{
	char bytes[LINK_DATA_MAX];
	const ssize_t n = read(link->request->input, bytes, sizeof(bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	/* Half of the input must not pass for all of it. */
	if (n < 0)
		link->input_errno = errno;
	struct link_frame frame = { .kind = n > 0 ? LINK_DATA : LINK_END,
				    .id = (char[]){ REQUEST } };
	if (n > 0) {
		frame.bytes = (struct strbuf){ .data = bytes, .length = (size_t)n };
		link->untaken += (size_t)n;
	}
	if (n < 0)
		cancel(link);
	else
		send_frame(link, &frame);
	if (n > 0)
		return;
	loop_remove(link->input);
	link->input = NULL;
	link->untaken = SIZE_MAX;
}

static bool has_room(const struct link *link)
{
	return link->untaken <= LINK_WINDOW - LINK_DATA_MAX;
}

static void on_input(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct link *link = context;
	take_input(link);
	if (link->input && !has_room(link))
		(void)loop_set_io(link->input, 0, NULL);
}

/* A file is always ready, and epoll(7) refuses it. */
static void listen_to_input(struct link *link)
{
	const struct loop_io io = { link->request->input, EPOLLIN, on_input, link };
	link->untaken = 0;
	if (link->request->input >= 0 && loop_add_io(link->loop, &io, &link->input, NULL) < 0)
		link->input = NULL;
}

/* The link may print nothing for long, so no write fails.  epoll(7) reports a reader that has gone
 * anyway. */
static void on_reader_gone(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct link *link = context;
	loop_remove(link->reader);
	link->reader = NULL;
	cancel(link);
}

static void listen_to_reader(struct link *link)
{
	const struct loop_io io = { STDOUT_FILENO, 0, on_reader_gone, link };
	if (link->request->needs_reader && loop_add_io(link->loop, &io, &link->reader, NULL) < 0)
		link->reader = NULL;
}

static void resume_input(struct link *link, int64_t count)
{
	if (link->untaken == SIZE_MAX)
		return;
	link->untaken -= count > 0 && (size_t)count <= link->untaken ? (size_t)count : 0;
	if (link->input && has_room(link))
		(void)loop_set_io(link->input, EPOLLIN, NULL);
}

/* ---- from the other side ---------------------------------------------------------------------- */

static void take_refusal(struct link *link, const struct link_frame *frame)
{
	const bool is_usage = streq(or_empty(frame->code), error_code_name(ERROR_USAGE));
	cleanup_free char *shown = visible(or_empty(frame->message));
	if (link->refusal.code == ERROR_NONE)
		(void)error_set(&link->refusal, is_usage ? ERROR_USAGE : ERROR_INVALID, "%s",
				shown);
}

static void take(struct link *link, const struct link_frame *frame)
{
	const struct link_request *request = link->request;
	const bool is_ours = request && frame->id && streq(frame->id, REQUEST);
	cleanup_free char *why = visible(or_empty(frame->message));
	if (frame->kind == LINK_PING)
		send_frame(link, &(struct link_frame){ .kind = LINK_PONG });
	else if (frame->kind == LINK_BYE)
		lose(link, why);
	else if (frame->kind == LINK_DATA && is_ours && frame->stream != LINK_INPUT &&
		 request->on_bytes(frame->stream, frame->bytes.data, frame->bytes.length,
				   request->context) < 0)
		cancel(link);
	else if (frame->kind == LINK_MORE && is_ours)
		resume_input(link, frame->count);
	else if (frame->kind == LINK_ERROR && is_ours)
		take_refusal(link, frame);
	else if (frame->kind == LINK_EXIT && is_ours)
		link->status = (int)frame->status;
}

static void greet(struct link *link, const struct link_frame *frame)
{
	const int64_t newest = json_get_int(frame->facts, "newest", 0);
	const char *machine = json_get_string(frame->facts, "machine_id", "");
	struct json_object *answer = json_object_new_object();
	link->hello = (struct link_hello){
		.version = json_get_string(frame->facts, "version", ""),
		.machine_id = naming_is_uuid(machine) ? machine : NULL,
		.state = json_get_string(frame->facts, "state", NULL),
		.now_us = clock_parse(json_get_string(frame->facts, "now", "")),
		.facts = json_object_get(frame->facts),
	};
	json_set_int(answer, "protocol", newest < LINK_NEWEST ? newest : LINK_NEWEST);
	send_frame(link, &(struct link_frame){ .kind = LINK_HELLO, .facts = answer });
	json_object_put(answer);
}

static void take_line(struct link *link, const char *line, size_t length)
{
	cleanup_link_frame struct link_frame frame = { 0 };
	const int r = link_frame_read(line, length, &frame, NULL);
	if (link->hello.facts && r < 0) {
		lose(link, "it sent a line that is no frame");
	} else if (link->hello.facts) {
		take(link, &frame);
	} else if (r == 0 && frame.kind == LINK_HELLO) {
		greet(link, &frame);
	} else {
		strbuf_add(&link->noise, line, length);
		strbuf_adds(&link->noise, "\n");
		if (link->noise.length > NOISE_MAX)
			lose(link, "it printed much, and no hello");
	}
}

static void take_lines(struct link *link)
{
	size_t begin = 0;
	for (const char *end;
	     !link->lost && begin < link->in.length &&
	     (end = memchr(link->in.data + begin, '\n', link->in.length - begin));) {
		const size_t length = (size_t)(end - link->in.data) - begin;
		if (length > 0)
			take_line(link, link->in.data + begin, length);
		begin += length + 1;
	}
	strbuf_drop(&link->in, begin);
	if (link->in.length >= LINK_LINE_MAX)
		lose(link, "it sent a line that is too long");
}

static void on_output(int fd, uint32_t events UNUSED, void *context)
{
	struct link *link = context;
	char bytes[LINK_DATA_MAX];
	const ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		lose(link, "it ended");
		link->has_ended = true;
		return;
	}
	link->heard_ms = clock_ms();
	strbuf_add(&link->in, bytes, (size_t)n);
	take_lines(link);
}

static void on_words(int fd, uint32_t events UNUSED, void *context)
{
	struct link *link = context;
	char bytes[4096];
	const ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
		loop_remove(link->errors);
		link->errors = NULL;
	}
	/* The last words count. */
	if (n > 0 && link->words.length > NOISE_MAX)
		strbuf_drop(&link->words, NOISE_MAX / 2);
	if (n > 0)
		strbuf_add(&link->words, bytes, (size_t)n);
}

static void on_signal(int number UNUSED, void *context)
{
	struct link *link = context;
	if (link->signals_seen++ || !link->request)
		lose(link, "it was given up");
	else
		cancel(link);
}

bool link_is_given_up(const struct link *link)
{
	return link->signals_seen > 0;
}

/* ---- its life --------------------------------------------------------------------------------- */

static int watch(struct link *link, struct error *err)
{
	const struct child *child = &link->child;
	const struct loop_io output = { child->output, EPOLLIN, on_output, link };
	const struct loop_io errors = { child->errors, EPOLLIN, on_words, link };
	const struct loop_io to = { child->gate, 0, on_room, link };
	const int fds[] = { child->output, child->errors, child->gate };
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		(void)fcntl(fds[i], F_SETFL, O_NONBLOCK);
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++) {
		struct sigaction now;
		const bool is_ignored = sigaction(ending_signals[i], NULL, &now) == 0 &&
					now.sa_handler == SIG_IGN;
		if (!is_ignored && loop_add_signal(link->loop, ending_signals[i], on_signal, link,
						   &link->signals[i], err) < 0)
			return -1;
	}
	return loop_add_io(link->loop, &output, &link->output, err) < 0 ||
			       loop_add_io(link->loop, &errors, &link->errors, err) < 0 ||
			       loop_add_io(link->loop, &to, &link->to, err) < 0
		       ? -1
		       : loop_add_timer(link->loop, clock_ms() + PING_MS, on_ping, link,
					&link->ping, err);
}

/* The last words of ssh may follow the end of its output.  Returns its exit status, or -1. */
static int reap(struct link *link)
{
	cleanup_child_result struct child_result result = { 0 };
	loop_free(link->loop);
	link->loop = NULL;
	if (child_finish(&link->child, clock_ms() + LAST_WORDS_MS, &result, NULL) < 0)
		return -1;
	strbuf_add(&link->words, result.errors.data, result.errors.length);
	return result.exit_status;
}

/* Why there is no hello. */
static int explain(struct link *link, struct error *err)
{
	cleanup_free char *noise = ssh_words(strbuf_text(&link->noise));
	if (!link->lost)
		return error_set(err, ERROR_TIMEOUT, "no answer in time%s%s",
				 link->noise.length ? "; it printed: " : "",
				 link->noise.length ? noise : "");
	if (!link->has_ended)
		return error_set(err, link->signals_seen ? ERROR_INVALID : ERROR_CORRUPT, "%s",
				 link->lost);
	const int status = reap(link);
	cleanup_free char *words = ssh_words(strbuf_text(&link->words));
	if (status == SSH_FAILED || status == LINK_NOT_RUNNING)
		return error_set(err, status == SSH_FAILED ? ERROR_CHILD : ERROR_UNAVAILABLE, "%s",
				 words);
	return error_set(err, ERROR_CORRUPT,
			 "agentdeck did not start there (exit status %d): %s%s%s", status, words,
			 link->noise.length ? "; it printed: " : "",
			 link->noise.length ? noise : "");
}

static int check_protocol(const struct link *link, struct error *err)
{
	const int64_t oldest = json_get_int(link->hello.facts, "oldest", 0),
		      newest = json_get_int(link->hello.facts, "newest", 0);
	if (oldest <= LINK_NEWEST && newest >= LINK_OLDEST)
		return 0;
	cleanup_free char *version = visible(link->hello.version);
	return error_set(err, ERROR_NEWER,
			 "agentdeck %s there and this one have no protocol in common: update the "
			 "older one",
			 version);
}

int link_open(const struct strvec *argv, int64_t deadline_ms, struct link **ret, struct error *err)
{
	cleanup_link struct link *link = xcalloc(1, sizeof(*link));
	/* Ctrl-C is for us: we cancel what runs there. */
	const struct child_request request = { .argv = (const char *const *)strvec_argv(argv),
					       .gate = true,
					       .new_session = true,
					       .bound = true };
	link->child = (struct child){ .gate = -1 };
	link->status = -1;
	link->heard_ms = clock_ms();
	(void)sigprocmask(SIG_SETMASK, NULL, &link->mask);
	if (loop_new(&link->loop, err) < 0)
		return -1;
	const int r = child_start(&request, &link->child, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not installed here",
				 argv->items[0]);
	if (r < 0 || watch(link, err) < 0)
		return -1;
	int turned = 1;
	while (turned > 0 && !link->lost && !link->hello.facts)
		turned = loop_turn(link->loop, deadline_ms, err);
	if (turned < 0)
		return -1;
	if (!link->hello.facts)
		return explain(link, err);
	if (check_protocol(link, err) < 0)
		return -1;
	*ret = TAKE_PTR(link);
	return 0;
}

int link_run(struct link *link, const struct link_request *request, int *ret_status,
	     struct error *err)
{
	const bool has_input = request->input >= 0;
	struct link_frame frame = { .kind = LINK_REQUEST,
				    .id = (char[]){ REQUEST },
				    .words = *request->words,
				    .has_input = has_input };
	link->request = request;
	link->status = -1;
	link->input_errno = 0;
	link->is_cancelled = false;
	send_frame(link, &frame);
	listen_to_input(link);
	listen_to_reader(link);
	const int64_t deadline_ms = request->deadline_ms ? request->deadline_ms : INT64_MAX;
	int turned = 0;
	while (turned >= 0 && !link->lost && link->status < 0 && link->refusal.code == ERROR_NONE) {
		const bool is_file = has_input && !link->input && has_room(link);
		if (is_file)
			take_input(link);
		turned = loop_turn(link->loop, is_file ? 0 : deadline_ms, err);
		if (turned >= 0 && link->status < 0 && clock_ms() >= deadline_ms) {
			cancel(link);
			replace_string(&link->lost, "it does not answer in time");
		}
	}
	loop_remove(link->input);
	loop_remove(link->reader);
	link->input = link->reader = NULL;
	link->request = NULL;
	if (turned < 0)
		return -1;
	if (link->refusal.code != ERROR_NONE)
		return error_move(err, &link->refusal);
	if (link->status < 0)
		return error_set(err, ERROR_UNREACHABLE, "%s", link->lost);
	if (link->input_errno)
		return error_set_errno(err, link->input_errno, "read standard input");
	*ret_status = link->status;
	return 0;
}

void link_close(struct link *link)
{
	if (!link)
		return;
	if (link->child.pid > 0 && !link->lost)
		send_frame(link, &(struct link_frame){ .kind = LINK_BYE });
	loop_free(link->loop);
	(void)sigprocmask(SIG_SETMASK, &link->mask, NULL);
	child_abandon(&link->child);
	strbuf_free(&link->in);
	strbuf_free(&link->out);
	strbuf_free(&link->noise);
	strbuf_free(&link->words);
	json_object_put(link->hello.facts);
	error_clear(&link->refusal);
	free(link->lost);
	free(link);
}
