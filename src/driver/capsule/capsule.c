/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/capsule/capsule.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/watch.h"
#include "capsule/channel.h"
#include "capsule/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>

enum {
	RETRY_MS = 10, /* when the capsule's queue of clients is full */
	LOOK_MS = 200, /* where a container's changes raise no event here (a virtual machine) */
	OUTPUT_MAX = 1 << 20,
	OUTPUT_COLUMNS = 200,
	OUTPUT_ROWS = 50,
	/* The capsule ends the other processes of the container after the agent. */
	STOP_SLACK_MS = 10000,
};

struct capsule {
	char *directory;
	struct channel channel;
	struct process_id process, agent;
	uint32_t version; /* that both use */
};

void capsule_close(struct capsule *capsule)
{
	if (!capsule)
		return;
	channel_close(&capsule->channel);
	free(capsule->directory);
	free(capsule);
}

struct process_id capsule_process(const struct capsule *capsule)
{
	return capsule->process;
}

struct process_id capsule_agent(const struct capsule *capsule)
{
	return capsule->agent;
}

/* --- waiting for a frame ---------------------------------------------------------------------- */

static int ended(const struct capsule *capsule, struct error *err)
{
	return error_set(err, ERROR_SYSTEM, "the capsule in %s has ended the connection",
			 capsule->directory);
}

static int late(const struct capsule *capsule, struct error *err)
{
	return error_set(err, ERROR_TIMEOUT, "the capsule in %s does not answer",
			 capsule->directory);
}

/* Before we wait for more: a peer that sends and sends must not keep us beyond the deadline. */
static int check_time(const struct capsule *capsule, int64_t deadline_ms, struct error *err)
{
	return clock_ms() < deadline_ms ? 0 : late(capsule, err);
}

/* A refusal as our error. */
static int refused(const struct frame *frame, struct error *err)
{
	static const enum error_code codes[] = {
		[FRAME_NOT_POSSIBLE] = ERROR_INVALID,
		[FRAME_NOT_EXECUTED] = ERROR_CHILD,
		[FRAME_OTHER_ATTEMPT] = ERROR_INVALID,
		[FRAME_NOT_UNDERSTOOD] = ERROR_SYSTEM,
	};
	struct frame_refused refusal;
	if (frame_get_refused(frame, &refusal, err) < 0)
		return -1;
	cleanup_free char *text = refusal.text;
	cleanup_free char *shown = visible(text);
	return error_set(err, codes[refusal.why], "%s", shown);
}

/* The next frame.  FRAME_ENDED_HERE: there is none, and the connection has ended. */
enum { CONNECTION_ENDED = 1 };
static int next_frame(struct capsule *capsule, int64_t deadline_ms, struct frame *ret,
		      struct error *err)
{
	for (;;) {
		int r = channel_flush(&capsule->channel, err);
		if (r < 0)
			return r;
		const short events = POLLIN | (r == CHANNEL_AGAIN ? POLLOUT : 0);
		r = channel_take(&capsule->channel, ret, err);
		if (r <= 0)
			return r;
		r = channel_receive(&capsule->channel, err);
		if (r < 0)
			return r;
		if (r == CHANNEL_ENDED)
			return CONNECTION_ENDED;
		if (r == CHANNEL_AGAIN && !channel_wait(&capsule->channel, events, deadline_ms))
			return late(capsule, err);
	}
}

/* --- the agent's process ---------------------------------------------------------------------- */

static struct process_id identify(pid_t pid)
{
	struct process_id id = { 0 };
	if (pid > 0 && process_identify(pid, &id, NULL) != 0)
		id = (struct process_id){ 0 };
	return id;
}

/* The process that a pidfd means, as this host counts (proc(5), fdinfo: "Pid:"; 0 when it is not
 * visible here, -1 when it has ended). */
static struct process_id identify_descriptor(int pidfd)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = xasprintf("/proc/self/fdinfo/%d", pidfd);
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fs_read_fd(fd, path, 4096, &text, NULL) < 0)
		return (struct process_id){ 0 };
	const char *line = strstr(strbuf_text(&text), "Pid:");
	return identify(line ? (pid_t)strtol(line + strlen("Pid:"), NULL, 10) : 0);
}

/* Note what a STATUS tells of the agent's process. */
static void note_agent(struct capsule *capsule, const struct frame_status *status)
{
	struct channel *channel = &capsule->channel;
	if (status->phase != FRAME_RUNNING)
		capsule->agent = (struct process_id){ 0 };
	else if (channel->passed >= 0)
		capsule->agent = identify_descriptor(channel->passed);
	if (channel->passed >= 0)
		(void)close(TAKE_FD(channel->passed));
}

/* --- connecting ------------------------------------------------------------------------------- */

static int connect_by(int dirfd, int64_t deadline_ms, int *ret, struct error *err)
{
	for (;;) {
		int r = endpoint_connect(dirfd, ret, err);
		if (r != ENDPOINT_FULL)
			return r == ENDPOINT_ABSENT ? CAPSULE_ABSENT : r;
		if (clock_ms() >= deadline_ms)
			return CAPSULE_SILENT;
		/* No event says that a queue of clients is shorter. */
		clock_pause_until(clock_ms() + RETRY_MS);
	}
}

/* CAPSULE_ABSENT: it ended before it said anything. */
static int say_hello(struct capsule *capsule, const char *token, int64_t deadline_ms,
		     struct error *err)
{
	struct frame_hello hello = { .version = FRAME_VERSION };
	struct frame frame;
	(void)snprintf(hello.token, sizeof(hello.token), "%s", token);
	frame_put_hello(channel_out(&capsule->channel), &hello);
	int r = next_frame(capsule, deadline_ms, &frame, err);
	if (r < 0)
		return r;
	if (r == CONNECTION_ENDED)
		return CAPSULE_ABSENT;
	if (frame.type == FRAME_REFUSED)
		return refused(&frame, err);
	if (frame.type != FRAME_HELLO)
		return error_set(err, ERROR_CORRUPT, "what listens in %s is not a capsule",
				 capsule->directory);
	if (frame_get_hello(&frame, &hello, err) < 0)
		return -1;
	if (hello.version > FRAME_VERSION)
		return error_set(err, ERROR_NEWER, "the capsule in %s is newer than this agentdeck",
				 capsule->directory);
	capsule->version = hello.version;
	return 0;
}

static int prepare(struct capsule *capsule, struct error *err)
{
	const int yes = 1;
	struct ucred peer;
	if (endpoint_peer(capsule->channel.fd, &peer, err) < 0)
		return -1;
	if (setsockopt(capsule->channel.fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0)
		return error_set_errno(err, errno, "ask for the senders of messages");
	capsule->channel.takes_descriptors = true;
	capsule->process = identify(peer.pid);
	return 0;
}

static int try_connect(const char *directory, int dirfd, int64_t deadline_ms, struct capsule **ret,
		       struct error *err)
{
	char token[FRAME_TOKEN_MAX + 1];
	int fd;
	int r = connect_by(dirfd, deadline_ms, &fd, err);
	if (r != 0)
		return r;
	cleanup_capsule struct capsule *capsule = xcalloc(1, sizeof(*capsule));
	channel_init(&capsule->channel, fd);
	capsule->directory = xstrdup(directory);
	if (endpoint_token(dirfd, token, sizeof(token), err) < 0 || prepare(capsule, err) < 0)
		return error_prefix(err, "%s", directory);
	r = say_hello(capsule, token, deadline_ms, err);
	if (r == 0)
		*ret = TAKE_PTR(capsule);
	return r;
}

int capsule_connect(const char *directory, int64_t deadline_ms, struct capsule **ret,
		    struct error *err)
{
	struct error why = { 0 };
	cleanup_close int dirfd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dirfd < 0 && errno == ENOENT)
		return CAPSULE_ABSENT;
	if (dirfd < 0)
		return error_set_errno(err, errno, "open %s", directory);
	int r = try_connect(directory, dirfd, deadline_ms, ret, &why);
	if (r < 0 && why.code == ERROR_TIMEOUT) {
		error_clear(&why);
		return CAPSULE_SILENT;
	}
	return r < 0 ? error_move(err, &why) : r;
}

int capsule_await(const char *directory, int64_t deadline_ms, struct capsule **ret,
		  struct error *err)
{
	cleanup_close int watch = -1;
	for (bool is_first = true;; is_first = false) {
		int r = capsule_connect(directory, deadline_ms, ret, err);
		if (r <= 0)
			return r;
		const int64_t now = clock_ms();
		if (r == CAPSULE_SILENT || now >= deadline_ms)
			return error_set(err, ERROR_TIMEOUT, "no capsule answers in %s", directory);
		/* Most capsules answer at once, and closing a watch takes long (base/watch.h). */
		if (is_first)
			watch = watch_open(directory, IN_MOVED_TO);
		else
			(void)watch_wait(watch,
					 now + LOOK_MS < deadline_ms ? now + LOOK_MS : deadline_ms);
	}
}

/* --- requests --------------------------------------------------------------------------------- */

/* Wait for a STATUS; note who sends STARTED on the way.  A refusal is our error. */
static int await_status(struct capsule *capsule, int64_t deadline_ms, struct frame_status *ret,
			struct error *err)
{
	for (;;) {
		struct frame frame;
		int r = next_frame(capsule, deadline_ms, &frame, err);
		if (r != 0)
			return r == CONNECTION_ENDED ? ended(capsule, err) : r;
		switch (frame.type) {
		case FRAME_STARTED:
			capsule->agent = identify(capsule->channel.sender);
			break;
		case FRAME_REFUSED:
			return refused(&frame, err);
		case FRAME_STATUS:
			if (frame_get_status(&frame, ret, err) < 0)
				return -1;
			note_agent(capsule, ret);
			return 0;
		default:
			break;
		}
		if (check_time(capsule, deadline_ms, err) < 0)
			return -1;
	}
}

static struct capsule_status status_of(const struct frame_status *status)
{
	static const enum capsule_phase phases[] = { [FRAME_EMPTY] = CAPSULE_EMPTY,
						     [FRAME_RUNNING] = CAPSULE_RUNNING,
						     [FRAME_ENDED] = CAPSULE_ENDED };
	struct capsule_status ret = { .phase = phases[status->phase],
				      .attempt = status->attempt.number,
				      .code = status->code,
				      .signal = status->signal,
				      .by_stop = status->by_stop };
	_Static_assert(sizeof(ret.run) == sizeof(status->attempt.run), "the same length");
	memcpy(ret.run, status->attempt.run, sizeof(ret.run));
	return ret;
}

int capsule_status(struct capsule *capsule, int64_t deadline_ms, struct capsule_status *ret,
		   struct error *err)
{
	struct frame_status status;
	frame_put(channel_out(&capsule->channel), FRAME_STATUS, NULL, 0);
	if (await_status(capsule, deadline_ms, &status, err) < 0)
		return -1;
	*ret = status_of(&status);
	return 0;
}

bool capsule_keeps_secrets(const struct capsule *capsule)
{
	return capsule->version >= FRAME_VERSION_SECRETS;
}

/* A START or SECRETS was put into the channel, which was so full before. */
static int check_size(const struct capsule *capsule, size_t before, struct error *err)
{
	return channel_unsent(&capsule->channel) - before <= FRAME_HEADER + FRAME_START_MAX
		       ? 0
		       : error_set(err, ERROR_INVALID,
				   "the command line and the environment are too long");
}

int capsule_keep_secrets(struct capsule *capsule, const struct capsule_secrets *secrets,
			 int64_t deadline_ms, struct error *err)
{
	struct capsule_status status;
	struct frame_secrets frame = { .keep_ms = secrets->keep_ms,
				       .variables = *secrets->variables };
	if (!capsule_keeps_secrets(capsule))
		return CAPSULE_OLD;
	(void)snprintf(frame.run, sizeof(frame.run), "%s", secrets->run);
	const size_t before = channel_unsent(&capsule->channel);
	frame_put_secrets(channel_out(&capsule->channel), &frame);
	if (check_size(capsule, before, err) < 0)
		return -1;
	int r = capsule_status(capsule, deadline_ms, &status, err);
	channel_forget(&capsule->channel);
	return r;
}

static struct frame_attempt attempt_of(const struct capsule_start *start)
{
	struct frame_attempt attempt = { .number = start->attempt };
	(void)snprintf(attempt.run, sizeof(attempt.run), "%s", start->run);
	return attempt;
}

static int check_start(const struct capsule_start *start, struct error *err)
{
	if (!record_is_run(start->run))
		return error_set(err, ERROR_INVALID, "invalid run id '%s'", start->run);
	if (start->argv->count == 0)
		return error_set(err, ERROR_INVALID, "the agent has no command line");
	return 0;
}

int capsule_start(struct capsule *capsule, const struct capsule_start *start, int64_t deadline_ms,
		  struct process_id *ret, struct error *err)
{
	struct frame_status status;
	const struct strvec none = { 0 };
	/* The vectors are borrowed; only this frame is made of them. */
	const struct frame_start frame = {
		.attempt = attempt_of(start),
		.argv = *start->argv,
		.environment = start->environment ? *start->environment : none,
		.directory = (char *)or_empty(start->directory),
		.size = { (uint16_t)start->columns, (uint16_t)start->rows },
	};
	if (check_start(start, err) < 0)
		return -1;
	const size_t before = channel_unsent(&capsule->channel);
	frame_put_start(channel_out(&capsule->channel), &frame);
	if (check_size(capsule, before, err) < 0)
		return -1;
	int r = await_status(capsule, deadline_ms, &status, err);
	channel_forget(&capsule->channel);
	if (r < 0)
		return -1;
	*ret = capsule->agent;
	return 0;
}

/* --- what it writes --------------------------------------------------------------------------- */

static void add_output(const struct frame *frame, struct strbuf *ret)
{
	for (size_t i = 0; i < frame->length; i++)
		if (frame->payload[i] != '\r')
			strbuf_add(ret, &frame->payload[i], 1);
	/* The last words count. */
	if (ret->length > 2 * OUTPUT_MAX) {
		memmove(ret->data, ret->data + ret->length - OUTPUT_MAX, OUTPUT_MAX + 1);
		ret->length = OUTPUT_MAX;
	}
}

/* OUTPUT_GOES_ON: there is more to come. */
enum { OUTPUT_GOES_ON = 1 };
static int take_output(const struct frame *frame, struct strbuf *ret,
		       struct frame_status *ret_status, struct error *err)
{
	switch (frame->type) {
	case FRAME_REPLAY:
	case FRAME_OUTPUT:
		add_output(frame, ret);
		return OUTPUT_GOES_ON;
	case FRAME_REFUSED:
		return refused(frame, err);
	case FRAME_EXIT:
		return frame_get_status(frame, ret_status, err);
	default:
		return OUTPUT_GOES_ON;
	}
}

int capsule_read_output(struct capsule *capsule, const char *run, int64_t deadline_ms,
			struct strbuf *ret, struct capsule_status *ret_status, struct error *err)
{
	struct frame_view view = { .size = { OUTPUT_COLUMNS, OUTPUT_ROWS } };
	struct frame_status status;
	(void)snprintf(view.attempt.run, sizeof(view.attempt.run), "%s", run);
	frame_put_view(channel_out(&capsule->channel), &view);
	for (;;) {
		struct frame frame;
		int r = next_frame(capsule, deadline_ms, &frame, err);
		if (r == CONNECTION_ENDED)
			return ended(capsule, err);
		if (r == 0)
			r = take_output(&frame, ret, &status, err);
		if (r == 0)
			*ret_status = status_of(&status);
		if (r <= 0)
			return r;
		if (check_time(capsule, deadline_ms, err) < 0)
			return -1;
	}
}

/* --- guests ----------------------------------------------------------------------------------- */

int capsule_add_guest(struct capsule *capsule, const struct capsule_guest *guest,
		      int64_t deadline_ms, struct process_id *ret, struct error *err)
{
	const struct frame_guest wish = {
		.directory = (char *)(uintptr_t)guest->directory,
		.variable = (char *)(uintptr_t)guest->variable,
		.ends_with_it = guest->ends_with_it,
	};
	struct frame frame = { 0 };
	if (capsule->version < FRAME_VERSION_GUESTS)
		return CAPSULE_OLD;
	frame_put_guest(channel_out(&capsule->channel), &wish);
	do {
		int r = next_frame(capsule, deadline_ms, &frame, err);
		if (r != 0)
			return r == CONNECTION_ENDED ? ended(capsule, err) : r;
		if (frame.type == FRAME_REFUSED)
			return refused(&frame, err);
		if (check_time(capsule, deadline_ms, err) < 0)
			return -1;
	} while (frame.type != FRAME_GUEST);
	if (capsule->channel.passed < 0)
		return error_set(err, ERROR_SYSTEM,
				 "the capsule in %s does not say which process "
				 "its guest is",
				 capsule->directory);
	*ret = identify_descriptor(capsule->channel.passed);
	(void)close(TAKE_FD(capsule->channel.passed));
	return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

int capsule_stop(struct capsule *capsule, int grace_ms, struct error *err)
{
	const int64_t deadline_ms = clock_ms() + grace_ms + STOP_SLACK_MS;
	bool stays = false;
	int r;
	frame_put_number(channel_out(&capsule->channel), FRAME_STOP, (uint32_t)grace_ms);
	do {
		struct frame frame = { 0 };
		r = next_frame(capsule, deadline_ms, &frame, err);
		stays |= r == 0 && frame.type == FRAME_GUEST;
	} while (r == 0 && (r = check_time(capsule, deadline_ms, err)) == 0);
	return r != CONNECTION_ENDED ? r : stays ? CAPSULE_STAYS : 0;
}

int capsule_read_exit(const char *directory, const char *run, struct capsule_exit *ret,
		      struct error *err)
{
	struct frame_status status;
	cleanup_close int dirfd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dirfd < 0 && errno == ENOENT)
		return FS_ABSENT;
	if (dirfd < 0)
		return error_set_errno(err, errno, "open %s", directory);
	int r = record_read(dirfd, &status, err);
	if (r != 0)
		return r < 0 ? error_prefix(err, "%s", directory) : r;
	if (!streq(status.attempt.run, run))
		return FS_ABSENT;
	*ret = (struct capsule_exit){ .attempt = status.attempt.number,
				      .code = status.code,
				      .signal = status.signal,
				      .by_stop = status.by_stop };
	return 0;
}
