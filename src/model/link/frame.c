/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/link/frame.h"

#include "base/base64.h"
#include "base/jsonwrite.h"

#include <string.h>

enum { WORDS_MAX = 1000 };

static const char *const kinds[LINK_KINDS] = { NULL,    "hello", "request", "data", "end",  "exit",
					       "error", "more",  "cancel",  "ping", "pong", "bye" };
static const char *const streams[LINK_STREAMS] = { "input", "output", "errors" };

void link_frame_free(struct link_frame *frame)
{
	free(frame->id);
	strvec_clear(&frame->words);
	strbuf_free(&frame->bytes);
	free(frame->code);
	free(frame->message);
	json_object_put(frame->facts);
	*frame = (struct link_frame){ 0 };
}

static int refuse(struct error *err, const char *what)
{
	return error_set(err, ERROR_CORRUPT, "a frame %s (docs/link.md)", what);
}

/* -1: none of them. */
static int index_of(const char *const names[], size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (names[i] && streq(names[i], name))
			return (int)i;
	return -1;
}

static bool is_id(const char *id)
{
	const size_t length = strlen(id);
	return length > 0 && length <= LINK_ID_MAX &&
	       strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
		       length;
}

static int read_id(const struct json_object *object, struct link_frame *frame, struct error *err)
{
	const char *id = json_get_string(object, "id", "");
	if (!is_id(id))
		return refuse(err, "needs an id of letters, digits, '.', '-' and '_'");
	frame->id = xstrdup(id);
	return 0;
}

static int read_words(const struct json_object *object, struct link_frame *frame, struct error *err)
{
	struct json_object *argv = json_get_array(object, "argv");
	const size_t count = argv ? json_object_array_length(argv) : 0;
	if (count == 0 || count > WORDS_MAX)
		return refuse(err, "needs an argv, of at most 1,000 words");
	for (size_t i = 0; i < count; i++) {
		char *word = json_raw_text_of(json_object_array_get_idx(argv, i));
		if (!word)
			return refuse(err, "has a word in its argv that no program can be given");
		strvec_push_take(&frame->words, word);
	}
	frame->has_input = json_get_bool(object, "input", false);
	return 0;
}

static int read_bytes(const struct json_object *object, struct link_frame *frame, struct error *err)
{
	const char *base64 = json_get_string(object, "base64", NULL);
	struct json_object *text = NULL;
	const int stream = index_of(streams, LINK_STREAMS,
				    json_get_string(object, "stream", "input"));
	if (stream < 0)
		return refuse(err, "has an unknown stream");
	frame->stream = (enum link_stream)stream;
	if (base64) {
		const size_t read = base64_decode(&frame->bytes, base64);
		if (base64[read + strspn(base64 + read, "=")])
			return refuse(err, "has data that is no base64");
	} else if (json_object_object_get_ex(object, "text", &text) &&
		   json_object_is_type(text, json_type_string)) {
		strbuf_add(&frame->bytes, json_object_get_string(text),
			   (size_t)json_object_get_string_len(text));
	} else {
		return refuse(err, "has neither text nor base64");
	}
	return frame->bytes.length <= LINK_DATA_MAX ? 0 : refuse(err, "has too much data");
}

static int read_status(const struct json_object *object, struct link_frame *frame,
		       struct error *err)
{
	frame->status = json_get_int(object, "status", -1);
	return frame->status >= 0 && frame->status <= UINT8_MAX
		       ? 0
		       : refuse(err, "has no exit status from 0 to 255");
}

static int read_members(struct json_object *object, struct link_frame *frame, struct error *err)
{
	switch (frame->kind) {
	case LINK_HELLO:
		frame->facts = json_object_get(object);
		return 0;
	case LINK_REQUEST:
		return read_id(object, frame, err) < 0 ? -1 : read_words(object, frame, err);
	case LINK_DATA:
		return read_id(object, frame, err) < 0 ? -1 : read_bytes(object, frame, err);
	case LINK_EXIT:
		return read_id(object, frame, err) < 0 ? -1 : read_status(object, frame, err);
	case LINK_MORE:
		frame->count = json_get_int(object, "count", 0);
		return read_id(object, frame, err);
	case LINK_END:
	case LINK_CANCEL:
		return read_id(object, frame, err);
	case LINK_ERROR:
		frame->id = xstrdup(json_get_string(object, "id", ""));
		frame->code = xstrdup(json_get_string(object, "code", ""));
		frame->message = xstrdup(json_get_string(object, "error", ""));
		return !*frame->id || is_id(frame->id) ? 0 : refuse(err, "has an id that is none");
	case LINK_BYE:
		frame->message = xstrdup(json_get_string(object, "error", ""));
		return 0;
	case LINK_UNKNOWN:
	case LINK_PING:
	case LINK_PONG:
	case LINK_KINDS:
		return 0;
	}
	return 0;
}

int link_frame_read(const char *line, size_t length, struct link_frame *ret, struct error *err)
{
	cleanup_json struct json_object *object = NULL;
	cleanup_link_frame struct link_frame frame = { 0 };
	cleanup_error struct error local = { 0 };
	if (json_parse(line, length, "a frame", &object, &local) < 0 ||
	    !json_object_is_type(object, json_type_object))
		return refuse(err, "is no JSON object");
	const char *name = json_get_string(object, "frame", NULL);
	if (!name)
		return refuse(err, "does not say its kind");
	const int kind = index_of(kinds, LINK_KINDS, name);
	frame.kind = kind < 0 ? LINK_UNKNOWN : (enum link_kind)kind;
	if (read_members(object, &frame, err) < 0)
		return -1;
	*ret = frame;
	frame = (struct link_frame){ 0 };
	return 0;
}

static void write_words(struct json_writer *writer, const struct link_frame *frame)
{
	json_write_begin(writer, "argv", '[');
	for (size_t i = 0; i < frame->words.count; i++) {
		cleanup_json struct json_object *word = json_raw_text(frame->words.items[i]);
		json_write_value(writer, NULL, word);
	}
	json_write_end(writer, ']');
	json_write_bool(writer, "input", frame->has_input);
}

static void write_bytes(struct json_writer *writer, const struct link_frame *frame)
{
	const struct strbuf *bytes = &frame->bytes;
	json_write_string(writer, "stream", streams[frame->stream]);
	if (is_utf8(bytes->data, bytes->length)) {
		cleanup_json struct json_object *text = json_object_new_string_len(
			bytes->data, (int)bytes->length);
		json_write_value(writer, "text", text);
		return;
	}
	cleanup_strbuf struct strbuf base64 = { 0 };
	base64_encode(&base64, bytes->data, bytes->length);
	json_write_string(writer, "base64", strbuf_text(&base64));
}

static void write_facts(struct json_writer *writer, const struct link_frame *frame)
{
	json_object_object_foreach(frame->facts, key, value)
		if (!streq(key, "frame"))
			json_write_value(writer, key, value);
}

void link_frame_write(struct strbuf *ret, const struct link_frame *frame)
{
	cleanup_json_writer struct json_writer writer = { .is_line = true };
	json_write_begin(&writer, NULL, '{');
	json_write_string(&writer, "frame", kinds[frame->kind]);
	if (frame->id)
		json_write_string(&writer, "id", frame->id);
	if (frame->facts)
		write_facts(&writer, frame);
	if (frame->kind == LINK_REQUEST)
		write_words(&writer, frame);
	if (frame->kind == LINK_DATA)
		write_bytes(&writer, frame);
	if (frame->kind == LINK_EXIT)
		json_write_int(&writer, "status", frame->status);
	if (frame->kind == LINK_MORE)
		json_write_int(&writer, "count", frame->count);
	if (frame->code)
		json_write_string(&writer, "code", frame->code);
	if (frame->message)
		json_write_string(&writer, "error", frame->message);
	json_write_end(&writer, '}');
	strbuf_add(ret, writer.text.data, writer.text.length);
	strbuf_adds(ret, "\n");
}
