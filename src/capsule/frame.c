/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/frame.h"

#include <string.h>

/* The greatest payload of each type. */
static size_t limit_of(enum frame_type type)
{
	enum { SMALL = 256, TEXT = 4096 };
	switch (type) {
	case FRAME_START:
	case FRAME_SECRETS:
		return FRAME_START_MAX;
	case FRAME_REPLAY:
	case FRAME_OUTPUT:
	case FRAME_INPUT:
		return FRAME_OUTPUT_MAX;
	case FRAME_REFUSED:
		return TEXT;
	case FRAME_GUEST:
		return 2 * TEXT + SMALL;
	case FRAME_BYE:
	case FRAME_REPORT:
		return 0;
	default:
		return SMALL;
	}
}

/* --- reading ---------------------------------------------------------------------------------- */

static uint32_t number_at(const unsigned char *data, size_t bytes)
{
	uint32_t number = 0;
	for (size_t i = 0; i < bytes; i++)
		number |= (uint32_t)data[i] << (8 * i);
	return number;
}

int frame_next(const void *data, size_t length, struct frame *ret, size_t *ret_size,
	       struct error *err)
{
	const unsigned char *bytes = data;
	if (length < FRAME_HEADER)
		return FRAME_PARTIAL;
	const size_t payload = number_at(bytes, 4);
	const unsigned type = bytes[4];
	if (type == 0 || type >= FRAME_TYPE_COUNT || number_at(bytes + 5, 3) != 0)
		return error_set(err, ERROR_CORRUPT, "a frame of an unknown type (%u)", type);
	if (payload > limit_of(type))
		return error_set(err, ERROR_CORRUPT, "a frame of type %u is too long: %zu bytes",
				 type, payload);
	if (length - FRAME_HEADER < payload)
		return FRAME_PARTIAL;
	*ret = (struct frame){ type, bytes + FRAME_HEADER, payload };
	*ret_size = FRAME_HEADER + payload;
	return 0;
}

/* Takes values off the front of a payload.  Once it has failed, all values are empty. */
struct reader {
	const unsigned char *next;
	size_t left;
	bool failed;
};

static struct reader reader_of(const struct frame *frame)
{
	return (struct reader){ .next = frame->payload, .left = frame->length };
}

static const unsigned char *take(struct reader *reader, size_t length)
{
	const unsigned char *at = reader->next;
	if (reader->failed || reader->left < length) {
		reader->failed = true;
		return NULL;
	}
	reader->next += length;
	reader->left -= length;
	return at;
}

static uint32_t take_number(struct reader *reader, size_t bytes)
{
	const unsigned char *at = take(reader, bytes);
	return at ? number_at(at, bytes) : 0;
}

/* A text: a NUL in it makes the payload invalid.  *ret_length 0 and "" when there is none. */
static const char *take_text(struct reader *reader, size_t *ret_length)
{
	const size_t length = take_number(reader, 4);
	const unsigned char *at = take(reader, length);
	if (at && memchr(at, '\0', length))
		reader->failed = true;
	*ret_length = at && !reader->failed ? length : 0;
	return at ? (const char *)at : "";
}

/* A text that fits into size bytes with its NUL. */
static void take_name(struct reader *reader, char *ret, size_t size)
{
	size_t length;
	const char *text = take_text(reader, &length);
	if (length >= size) {
		reader->failed = true;
		length = 0;
	}
	memcpy(ret, text, length);
	ret[length] = '\0';
}

static char *take_string(struct reader *reader)
{
	size_t length;
	const char *text = take_text(reader, &length);
	return xstrndup(text, length);
}

static void take_strings(struct reader *reader, struct strvec *ret)
{
	for (uint32_t count = take_number(reader, 4); count > 0 && !reader->failed; count--)
		strvec_push_take(ret, take_string(reader));
}

static void take_attempt(struct reader *reader, struct frame_attempt *ret)
{
	take_name(reader, ret->run, sizeof(ret->run));
	ret->number = take_number(reader, 4);
}

static void take_size(struct reader *reader, struct frame_size *ret)
{
	ret->columns = (uint16_t)take_number(reader, 2);
	ret->rows = (uint16_t)take_number(reader, 2);
}

static int finish(const struct reader *reader, const struct frame *frame, struct error *err)
{
	if (reader->failed || reader->left > 0)
		return error_set(err, ERROR_CORRUPT, "the contents of a frame of type %d are wrong",
				 frame->type);
	return 0;
}

int frame_get_hello(const struct frame *frame, struct frame_hello *ret, struct error *err)
{
	struct reader reader = reader_of(frame);
	struct frame_hello hello = { .version = take_number(&reader, 4) };
	take_name(&reader, hello.token, sizeof(hello.token));
	if (hello.version == 0)
		reader.failed = true;
	if (finish(&reader, frame, err) < 0)
		return -1;
	*ret = hello;
	return 0;
}

static void wipe(struct strvec *variables)
{
	for (size_t i = 0; i < variables->count; i++)
		explicit_bzero(variables->items[i], strlen(variables->items[i]));
	strvec_clear(variables);
}

void frame_start_clear(struct frame_start *start)
{
	wipe(&start->environment);
	strvec_clear(&start->argv);
	replace_string(&start->directory, NULL);
}

int frame_get_start(const struct frame *frame, struct frame_start *ret, struct error *err)
{
	struct reader reader = reader_of(frame);
	cleanup_frame_start struct frame_start start = { 0 };
	take_attempt(&reader, &start.attempt);
	take_size(&reader, &start.size);
	start.directory = take_string(&reader);
	take_strings(&reader, &start.argv);
	take_strings(&reader, &start.environment);
	if (is_empty(start.attempt.run) || start.argv.count == 0)
		reader.failed = true;
	if (finish(&reader, frame, err) < 0)
		return -1;
	*ret = start;
	start = (struct frame_start){ 0 };
	return 0;
}

void frame_secrets_clear(struct frame_secrets *secrets)
{
	wipe(&secrets->variables);
	*secrets = (struct frame_secrets){ 0 };
}

int frame_get_secrets(const struct frame *frame, struct frame_secrets *ret, struct error *err)
{
	struct reader reader = reader_of(frame);
	cleanup_frame_secrets struct frame_secrets secrets = { 0 };
	take_name(&reader, secrets.run, sizeof(secrets.run));
	secrets.keep_ms = take_number(&reader, 4);
	take_strings(&reader, &secrets.variables);
	if (is_empty(secrets.run))
		reader.failed = true;
	if (finish(&reader, frame, err) < 0)
		return -1;
	*ret = secrets;
	secrets = (struct frame_secrets){ 0 };
	return 0;
}

void frame_guest_clear(struct frame_guest *guest)
{
	free(guest->directory);
	free(guest->variable);
	*guest = (struct frame_guest){ 0 };
}

int frame_get_guest(const struct frame *frame, struct frame_guest *ret, struct error *err)
{
	struct reader reader = reader_of(frame);
	cleanup_frame_guest struct frame_guest guest = { 0 };
	guest.directory = take_string(&reader);
	guest.variable = take_string(&reader);
	const uint32_t ends_with_it = take_number(&reader, 1);
	if (*guest.directory != '/' || !strchr(guest.variable, '=') || ends_with_it > 1)
		reader.failed = true;
	if (finish(&reader, frame, err) < 0)
		return -1;
	guest.ends_with_it = ends_with_it;
	*ret = guest;
	guest = (struct frame_guest){ 0 };
	return 0;
}

int frame_get_status(const struct frame *frame, struct frame_status *ret, struct error *err)
{
	struct reader reader = reader_of(frame);
	struct frame_status status = { 0 };
	const uint32_t phase = take_number(&reader, 1);
	take_attempt(&reader, &status.attempt);
	status.code = (uint8_t)take_number(&reader, 1);
	status.signal = (uint8_t)take_number(&reader, 1);
	const uint32_t by_stop = take_number(&reader, 1);
	if (phase > FRAME_ENDED || by_stop > 1)
		reader.failed = true;
	if (finish(&reader, frame, err) < 0)
		return -1;
	status.phase = (enum frame_phase)phase;
	status.by_stop = by_stop;
	*ret = status;
	return 0;
}

int frame_get_view(const struct frame *frame, struct frame_view *ret, struct error *err)
{
	struct reader reader = reader_of(frame);
	struct frame_view view;
	take_attempt(&reader, &view.attempt);
	take_size(&reader, &view.size);
	if (finish(&reader, frame, err) < 0)
		return -1;
	*ret = view;
	return 0;
}

int frame_get_resize(const struct frame *frame, struct frame_size *ret, struct error *err)
{
	struct reader reader = reader_of(frame);
	struct frame_size size;
	take_size(&reader, &size);
	if (finish(&reader, frame, err) < 0)
		return -1;
	*ret = size;
	return 0;
}

int frame_get_number(const struct frame *frame, uint32_t *ret, struct error *err)
{
	struct reader reader = reader_of(frame);
	const uint32_t number = take_number(&reader, 4);
	if (finish(&reader, frame, err) < 0)
		return -1;
	*ret = number;
	return 0;
}

int frame_get_refused(const struct frame *frame, struct frame_refused *ret, struct error *err)
{
	struct reader reader = reader_of(frame);
	const uint32_t why = take_number(&reader, 1);
	cleanup_free char *text = take_string(&reader);
	if (why < FRAME_NOT_POSSIBLE || why > FRAME_NOT_UNDERSTOOD)
		reader.failed = true;
	if (finish(&reader, frame, err) < 0)
		return -1;
	*ret = (struct frame_refused){ (enum frame_refusal)why, TAKE_PTR(text) };
	return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void add_number(struct strbuf *out, uint32_t number, size_t bytes)
{
	unsigned char data[4];
	for (size_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(number >> (8 * i));
	strbuf_add(out, data, bytes);
}

static void add_text(struct strbuf *out, const char *text)
{
	const size_t length = strlen(text);
	add_number(out, (uint32_t)length, 4);
	strbuf_add(out, text, length);
}

static void add_strings(struct strbuf *out, const struct strvec *strings)
{
	add_number(out, (uint32_t)strings->count, 4);
	for (size_t i = 0; i < strings->count; i++)
		add_text(out, strings->items[i]);
}

static void add_attempt(struct strbuf *out, const struct frame_attempt *attempt)
{
	add_text(out, attempt->run);
	add_number(out, attempt->number, 4);
}

static void add_size(struct strbuf *out, const struct frame_size *size)
{
	add_number(out, size->columns, 2);
	add_number(out, size->rows, 2);
}

void frame_put(struct strbuf *out, enum frame_type type, const void *payload, size_t length)
{
	add_number(out, (uint32_t)length, 4);
	add_number(out, type, 4); /* three of the four bytes are zero */
	strbuf_add(out, payload, length);
}

/* All at once: a buffer that grows leaves copies of secrets in freed memory. */
static void reserve(struct strbuf *buf, size_t length)
{
	if (buf->length == 0 && buf->size <= length) {
		free(buf->data);
		buf->data = xcalloc(length + 1, 1);
		buf->size = length + 1;
	}
}

static size_t length_of(const struct strvec *strings)
{
	size_t length = 4;
	for (size_t i = 0; i < strings->count; i++)
		length += 4 + strlen(strings->items[i]);
	return length;
}

static void put_payload(struct strbuf *out, enum frame_type type, struct strbuf *payload)
{
	frame_put(out, type, strbuf_text(payload), payload->length);
	strbuf_free(payload);
}

void frame_put_bytes(struct strbuf *out, enum frame_type type, const void *data, size_t length)
{
	const char *next = data;
	while (length > 0) {
		const size_t part = length < FRAME_OUTPUT_MAX ? length : FRAME_OUTPUT_MAX;
		frame_put(out, type, next, part);
		next += part;
		length -= part;
	}
}

void frame_put_hello(struct strbuf *out, const struct frame_hello *hello)
{
	struct strbuf payload = { 0 };
	add_number(&payload, hello->version, 4);
	add_text(&payload, hello->token);
	put_payload(out, FRAME_HELLO, &payload);
}

/* Room for the other fields of the payload. */
enum { OTHERS = 256 };

static void put_secret_payload(struct strbuf *out, enum frame_type type, struct strbuf *payload)
{
	frame_put(out, type, strbuf_text(payload), payload->length);
	explicit_bzero(payload->data, payload->size);
	strbuf_free(payload);
}

void frame_put_start(struct strbuf *out, const struct frame_start *start)
{
	struct strbuf payload = { 0 };
	const size_t length = OTHERS + strlen(start->directory) + length_of(&start->argv) +
			      length_of(&start->environment);
	reserve(&payload, length);
	reserve(out, length);
	add_attempt(&payload, &start->attempt);
	add_size(&payload, &start->size);
	add_text(&payload, start->directory);
	add_strings(&payload, &start->argv);
	add_strings(&payload, &start->environment);
	put_secret_payload(out, FRAME_START, &payload);
}

void frame_put_secrets(struct strbuf *out, const struct frame_secrets *secrets)
{
	struct strbuf payload = { 0 };
	const size_t length = OTHERS + length_of(&secrets->variables);
	reserve(&payload, length);
	reserve(out, length);
	add_text(&payload, secrets->run);
	add_number(&payload, secrets->keep_ms, 4);
	add_strings(&payload, &secrets->variables);
	put_secret_payload(out, FRAME_SECRETS, &payload);
}

void frame_put_guest(struct strbuf *out, const struct frame_guest *guest)
{
	struct strbuf payload = { 0 };
	add_text(&payload, guest->directory);
	add_text(&payload, guest->variable);
	add_number(&payload, guest->ends_with_it, 1);
	put_payload(out, FRAME_GUEST, &payload);
}

void frame_put_started(struct strbuf *out, const struct frame_attempt *attempt)
{
	struct strbuf payload = { 0 };
	add_attempt(&payload, attempt);
	put_payload(out, FRAME_STARTED, &payload);
}

void frame_put_status(struct strbuf *out, enum frame_type type, const struct frame_status *status)
{
	struct strbuf payload = { 0 };
	add_number(&payload, status->phase, 1);
	add_attempt(&payload, &status->attempt);
	add_number(&payload, status->code, 1);
	add_number(&payload, status->signal, 1);
	add_number(&payload, status->by_stop, 1);
	put_payload(out, type, &payload);
}

void frame_put_view(struct strbuf *out, const struct frame_view *view)
{
	struct strbuf payload = { 0 };
	add_attempt(&payload, &view->attempt);
	add_size(&payload, &view->size);
	put_payload(out, FRAME_VIEW, &payload);
}

void frame_put_resize(struct strbuf *out, const struct frame_size *size)
{
	struct strbuf payload = { 0 };
	add_size(&payload, size);
	put_payload(out, FRAME_RESIZE, &payload);
}

void frame_put_number(struct strbuf *out, enum frame_type type, uint32_t number)
{
	struct strbuf payload = { 0 };
	add_number(&payload, number, 4);
	put_payload(out, type, &payload);
}

void frame_put_refused(struct strbuf *out, enum frame_refusal why, const char *text)
{
	enum { TEXT_MAX = 2000 };
	struct strbuf payload = { 0 };
	cleanup_free char *bounded = xstrndup(text, TEXT_MAX);
	add_number(&payload, why, 1);
	add_text(&payload, bounded);
	put_payload(out, FRAME_REFUSED, &payload);
}
