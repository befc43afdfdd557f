/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lines of a link between two machines (docs/link.md): each is one JSON object, a frame.  The
 * other side is hostile input.
 */
#pragma once

#include "base/jsonio.h"

enum {
	LINK_OLDEST = 1, /* the protocols that this version speaks */
	LINK_NEWEST = 1,
	LINK_LINE_MAX = 1 << 20, /* of a line, with its newline */
	LINK_DATA_MAX = 1 << 15, /* bytes in one frame */
	LINK_WINDOW = 1 << 18,   /* bytes of a request's input that may be sent and not taken */
	LINK_ID_MAX = 64
};

enum link_kind {
	LINK_UNKNOWN, /* of a later version: left out */
	LINK_HELLO,   /* the first one of each side: facts */
	LINK_REQUEST, /* id, words, has_input */
	LINK_DATA,    /* id, stream, bytes */
	LINK_END,     /* id: its input is complete */
	LINK_EXIT,    /* id, status */
	LINK_ERROR,   /* id ("": of no request), code, message: it was not run */
	LINK_MORE,    /* id, count: so many bytes of its input were taken since the last one */
	LINK_CANCEL,  /* id */
	LINK_PING,
	LINK_PONG,
	LINK_BYE, /* message: why this side ends */
	LINK_KINDS
};

enum link_stream { LINK_INPUT, LINK_OUTPUT, LINK_ERRORS, LINK_STREAMS };

/* Zero-initialised is empty. */
struct link_frame {
	enum link_kind kind;
	char *id; /* of the request, as its client chose it; NULL: none */
	struct strvec words;
	bool has_input; /* frames with its input follow */
	enum link_stream stream;
	struct strbuf bytes;
	int64_t status, count; /* status: 0..255 */
	char *code, *message;
	struct json_object *facts; /* hello: the whole object, but for "frame" */
};
void link_frame_free(struct link_frame *frame);
#define cleanup_link_frame CLEANUP(link_frame_free)

/* Read a line without its newline.  ERROR_CORRUPT: it is no frame, or lacks what its kind needs. */
int link_frame_read(const char *line, size_t length, struct link_frame *ret, struct error *err);

/* Add the frame and a newline. */
void link_frame_write(struct strbuf *ret, const struct link_frame *frame);
