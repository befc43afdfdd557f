/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a stranger sends to a capsule's socket: what is accepted is written again as the same bytes,
 * what is refused changes nothing, and it does not matter in which parts it comes.
 */
#include "fuzz/fuzz.h"

#include "capsule/frame.h"

/* Write the contents again; false: they were refused. */
static bool rewrite_start(const struct frame *frame, struct strbuf *again, struct error *err)
{
	cleanup_frame_start struct frame_start start = { 0 };
	if (frame_get_start(frame, &start, err) < 0) {
		HOLDS(!start.directory && !start.argv.count);
		return false;
	}
	HOLDS(start.argv.count > 0 && *start.attempt.run);
	frame_put_start(again, &start);
	return true;
}

static bool rewrite_secrets(const struct frame *frame, struct strbuf *again, struct error *err)
{
	cleanup_frame_secrets struct frame_secrets secrets = { 0 };
	if (frame_get_secrets(frame, &secrets, err) < 0) {
		HOLDS(!*secrets.run && !secrets.variables.count);
		return false;
	}
	HOLDS(*secrets.run);
	frame_put_secrets(again, &secrets);
	return true;
}

static bool rewrite_guest(const struct frame *frame, struct strbuf *again, struct error *err)
{
	cleanup_frame_guest struct frame_guest guest = { 0 };
	if (frame_get_guest(frame, &guest, err) < 0) {
		HOLDS(!guest.directory && !guest.variable);
		return false;
	}
	HOLDS(*guest.directory == '/' && strchr(guest.variable, '='));
	frame_put_guest(again, &guest);
	return true;
}

static bool rewrite_refused(const struct frame *frame, struct strbuf *again, struct error *err)
{
	struct frame_refused refused = { 0 };
	if (frame_get_refused(frame, &refused, err) < 0) {
		HOLDS(!refused.text);
		return false;
	}
	frame_put_refused(again, refused.why, refused.text);
	/* Only a long text is cut. */
	if (strlen(refused.text) > 2000) {
		again->length = 0;
		frame_put(again, frame->type, frame->payload, frame->length);
	}
	free(refused.text);
	return true;
}

static bool rewrite_small(const struct frame *frame, struct strbuf *again, struct error *err)
{
	union {
		struct frame_hello hello;
		struct frame_status status;
		struct frame_view view;
		struct frame_size size;
		uint32_t number;
	} got;
	int r = -1;
	switch (frame->type) {
	case FRAME_HELLO:
		if ((r = frame_get_hello(frame, &got.hello, err)) == 0)
			frame_put_hello(again, &got.hello);
		break;
	case FRAME_EXIT:
		if ((r = frame_get_status(frame, &got.status, err)) == 0)
			frame_put_status(again, FRAME_EXIT, &got.status);
		break;
	case FRAME_VIEW:
		if ((r = frame_get_view(frame, &got.view, err)) == 0)
			frame_put_view(again, &got.view);
		break;
	case FRAME_RESIZE:
		if ((r = frame_get_resize(frame, &got.size, err)) == 0)
			frame_put_resize(again, &got.size);
		break;
	default:
		if ((r = frame_get_number(frame, &got.number, err)) == 0)
			frame_put_number(again, frame->type, got.number);
		break;
	}
	return r == 0;
}

static bool rewrite(const struct frame *frame, struct strbuf *again, struct error *err)
{
	switch (frame->type) {
	case FRAME_START:
		return rewrite_start(frame, again, err);
	case FRAME_SECRETS:
		return rewrite_secrets(frame, again, err);
	case FRAME_GUEST:
		return rewrite_guest(frame, again, err);
	case FRAME_REFUSED:
		return rewrite_refused(frame, again, err);
	case FRAME_HELLO:
	case FRAME_EXIT:
	case FRAME_VIEW:
	case FRAME_RESIZE:
	case FRAME_STOP:
	case FRAME_HEARTBEAT:
		return rewrite_small(frame, again, err);
	default: /* bytes as they are, or nothing */
		frame_put(again, frame->type, frame->payload, frame->length);
		return true;
	}
}

static void check_frame(const struct frame *frame, const uint8_t *data, size_t size)
{
	cleanup_strbuf struct strbuf again = { 0 };
	struct error err = { 0 };
	HOLDS(frame->type > 0 && frame->type < FRAME_TYPE_COUNT);
	HOLDS(frame->length + FRAME_HEADER == size);
	if (rewrite(frame, &again, &err))
		HOLDS(again.length == size && memcmp(again.data, data, size) == 0);
	else
		fuzz_failed(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { 0 };
	struct frame frame, part;
	size_t taken, ignored;
	for (size_t at = 0; at < size; at += taken) {
		int r = frame_next(data + at, size - at, &frame, &taken, &err);
		if (r < 0)
			fuzz_failed(&err);
		if (r != 0)
			return 0;
		HOLDS(taken >= FRAME_HEADER && taken <= size - at);
		check_frame(&frame, data + at, taken);
		/* One byte less is a part, never a mistake. */
		HOLDS(frame_next(data + at, taken - 1, &part, &ignored, NULL) == FRAME_PARTIAL);
	}
	return 0;
}
