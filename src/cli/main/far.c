/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/main/far.h"

#include "base/clock.h"
#include "base/jsonwrite.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum {
	PIECE = 4096, /* a pipe that is ready takes so much without blocking (pipe(7), PIPE_BUF) */
	KEEP_MS = 250,
	LINE_MAX_BYTES = 1 << 16, /* of text: more is printed in parts */
	JSON_MAX = 64 << 20
};

struct sink {
	const struct far_order *order;
	struct strbuf lines[LINK_STREAMS]; /* what is not printed yet */
	bool is_terminal[LINK_STREAMS];
	bool is_broken; /* it is no JSON */
	int failed;     /* errno of the first write that failed: the rest is not printed */
};

/* While its reader waits, the other side must hear of us. */
static void put(struct sink *sink, enum link_stream stream, const char *bytes, size_t length)
{
	struct pollfd to = { .fd = stream == LINK_ERRORS ? STDERR_FILENO : STDOUT_FILENO,
			     .events = POLLOUT };
	for (size_t done = 0; done < length && !sink->failed;) {
		const size_t left = length - done;
		const int ready = poll(&to, 1, KEEP_MS);
		if (!link_keep(sink->order->link))
			sink->failed = EINTR;
		if (ready == 0 || sink->failed)
			continue;
		const ssize_t n = write(to.fd, bytes + done, left < PIECE ? left : PIECE);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			sink->failed = errno;
		done += n > 0 ? (size_t)n : 0;
	}
}

/* ---- text ------------------------------------------------------------------------------------- */

static void put_visible(struct sink *sink, enum link_stream stream, const char *text, size_t length)
{
	cleanup_strbuf struct strbuf shown = { 0 };
	for (const char *end = text + length; text < end;) {
		cleanup_free char *part = xstrndup(text, strnlen(text, (size_t)(end - text)));
		part[strcspn(part, "\t\n")] = '\0';
		strbuf_add_visible(&shown, part);
		text += strlen(part);
		if (text < end && *text)
			strbuf_add(&shown, text, 1);
		else if (text < end)
			strbuf_adds(&shown, "\\000");
		text++;
	}
	put(sink, stream, shown.data, shown.length);
}

/* A character may come in two pieces, a line does not. */
static void take_text(struct sink *sink, enum link_stream stream, bool is_end)
{
	struct strbuf *text = &sink->lines[stream];
	const char *newline = text->length ? memrchr(text->data, '\n', text->length) : NULL;
	const size_t length = is_end || text->length > LINE_MAX_BYTES ? text->length
			      : newline ? (size_t)(newline - text->data) + 1
					: 0;
	if (length)
		put_visible(sink, stream, text->data, length);
	strbuf_drop(text, length);
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static void add_via(const struct sink *sink, struct json_object *value)
{
	const struct link_hello *hello = link_hello(sink->order->link);
	char now[CLOCK_TEXT_SIZE];
	if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(value); i++)
			add_via(sink, json_object_array_get_idx(value, i));
	} else if (json_object_is_type(value, json_type_object)) {
		json_set_string(value, "via", sink->order->via);
		json_set_string(value, "via_machine_id", hello->machine_id);
		json_set_string(value, "via_now_at",
				hello->now_us < 0 ? NULL : clock_format(hello->now_us, now));
	}
}

static void put_value(struct sink *sink, const char *text, size_t length, bool is_line)
{
	cleanup_json struct json_object *value = NULL;
	cleanup_json_writer struct json_writer writer = { .is_line = is_line };
	if (json_parse(text, length, "its output", &value, NULL) < 0) {
		sink->is_broken = true;
		return;
	}
	if (sink->order->hear)
		sink->order->hear(sink->order->context, value);
	/* Elements of an array are no arrays. */
	add_via(sink, value);
	json_write_value(&writer, NULL, value);
	strbuf_adds(&writer.text, "\n");
	put(sink, LINK_OUTPUT, writer.text.data, writer.text.length);
}

/* A value over several lines ends with its bracket alone on a line; else each line is a value. */
static void take_json(struct sink *sink)
{
	struct strbuf *text = &sink->lines[LINK_OUTPUT];
	size_t begin = 0, at = 0;
	for (const char *end; !sink->is_broken && at < text->length &&
			      (end = memchr(text->data + at, '\n', text->length - at));) {
		const size_t length = (size_t)(end - text->data) - at;
		const char *line = text->data + at;
		const bool is_first = at == begin;
		at += length + 1;
		if (is_first && length > 1)
			put_value(sink, line, length, true);
		else if (length == 1 && (*line == ']' || *line == '}'))
			put_value(sink, text->data + begin, at - begin, false);
		else
			continue;
		begin = at;
	}
	strbuf_drop(text, begin);
	sink->is_broken |= text->length > JSON_MAX;
	if (sink->is_broken)
		strbuf_free(text);
}

/* ---- both ------------------------------------------------------------------------------------- */

static int on_bytes(enum link_stream stream, const char *bytes, size_t length, void *context)
{
	struct sink *sink = context;
	const bool is_json = stream == LINK_OUTPUT && sink->order->json;
	if (!is_json && !sink->is_terminal[stream]) {
		put(sink, stream, bytes, length);
	} else {
		strbuf_add(&sink->lines[stream], bytes, length);
		if (is_json)
			take_json(sink);
		else
			take_text(sink, stream, false);
	}
	return sink->failed && !sink->order->is_change ? -1 : 0;
}

int far_run(const struct far_order *order, int *ret_status, struct error *err)
{
	struct sink sink = { .order = order };
	const struct link_request request = {
		.words = order->words,
		.input = order->input,
		.on_bytes = on_bytes,
		.context = &sink,
		.needs_reader = !order->is_change,
	};
	sink.is_terminal[LINK_OUTPUT] = isatty(STDOUT_FILENO);
	sink.is_terminal[LINK_ERRORS] = isatty(STDERR_FILENO);
	int r = link_run(order->link, &request, ret_status, err);
	sink.is_broken |= r == 0 && order->json && sink.lines[LINK_OUTPUT].length > 0;
	for (int i = LINK_OUTPUT; i < LINK_STREAMS; i++) {
		if (i != LINK_OUTPUT || !order->json)
			take_text(&sink, (enum link_stream)i, true);
		strbuf_free(&sink.lines[i]);
	}
	if (r == 0 && sink.failed && sink.failed != EINTR)
		return error_set_errno(err, sink.failed, "standard output");
	if (r == 0 && sink.is_broken && !sink.failed)
		return error_set(err, ERROR_CORRUPT, "what it printed is no JSON");
	return r;
}
