/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/engine/trace.h"

#include "base/base64.h"

#include <stdint.h>
#include <string.h>

/* The numbers of its fields. */
enum { STATUS_VERTEX = 1, STATUS_LOG = 3 };
enum { VERTEX_NAME = 3, VERTEX_CACHED = 4, VERTEX_STARTED = 5, VERTEX_COMPLETED = 6 };
enum { LOG_MESSAGE = 4 };

/* The wire types of Protocol Buffers. */
enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct bytes {
	const unsigned char *at;
	size_t length;
};

struct field {
	uint64_t number;
	enum wire wire;
	struct bytes bytes; /* of WIRE_BYTES */
};

/* ---- messages -------------------------------------------------------------------------------- */

static bool take(struct bytes *rest, size_t length, struct bytes *ret)
{
	if (length > rest->length)
		return false;
	*ret = (struct bytes){ rest->at, length };
	rest->at += length;
	rest->length -= length;
	return true;
}

static bool take_varint(struct bytes *rest, uint64_t *ret)
{
	struct bytes byte;
	*ret = 0;
	for (unsigned shift = 0; shift < 64 && take(rest, 1, &byte); shift += 7) {
		*ret |= (uint64_t)(byte.at[0] & 0x7f) << shift;
		if (!(byte.at[0] & 0x80))
			return true;
	}
	return false;
}

/* False at the end, and where it makes no sense. */
static bool take_field(struct bytes *rest, struct field *ret)
{
	uint64_t key, length;
	struct bytes skipped;
	*ret = (struct field){ 0 };
	if (!take_varint(rest, &key))
		return false;
	ret->number = key >> 3;
	ret->wire = (enum wire)(key & 7);
	switch (ret->wire) {
	case WIRE_VARINT:
		return take_varint(rest, &length);
	case WIRE_64:
		return take(rest, 8, &skipped);
	case WIRE_32:
		return take(rest, 4, &skipped);
	case WIRE_BYTES:
		return take_varint(rest, &length) && take(rest, length, &ret->bytes);
	}
	return false;
}

/* A step is shown when it begins, or when it is skipped.  Those of the Dockerfile are "[2/3] RUN
 * ...", and those of BuildKit itself "[internal] ..." or without brackets. */
static void read_vertex(struct bytes rest, struct strbuf *text)
{
	struct bytes name = { NULL, 0 };
	bool is_cached = false, has_started = false, has_completed = false;
	for (struct field field; take_field(&rest, &field);) {
		if (field.number == VERTEX_NAME && field.wire == WIRE_BYTES)
			name = field.bytes;
		is_cached |= field.number == VERTEX_CACHED;
		has_started |= field.number == VERTEX_STARTED;
		has_completed |= field.number == VERTEX_COMPLETED;
	}
	cleanup_free char *shown = xstrndup(name.length ? (const char *)name.at : "", name.length);
	if (*shown == '[' && !starts_with(shown, "[internal]") &&
	    (is_cached || (has_started && !has_completed)))
		strbuf_addf(text, "%s%s\n", shown, is_cached ? " (cached)" : "");
}

static void read_log(struct bytes rest, struct strbuf *text)
{
	for (struct field field; take_field(&rest, &field);)
		if (field.number == LOG_MESSAGE && field.wire == WIRE_BYTES && field.bytes.length)
			strbuf_add(text, (const char *)field.bytes.at, field.bytes.length);
}

char *trace_text(const char *base64)
{
	cleanup_strbuf struct strbuf data = { 0 };
	struct strbuf text = { 0 };
	(void)base64_decode(&data, base64);
	struct bytes rest = { (const unsigned char *)strbuf_text(&data), data.length };
	for (struct field field; take_field(&rest, &field);) {
		if (field.wire != WIRE_BYTES)
			continue;
		if (field.number == STATUS_VERTEX)
			read_vertex(field.bytes, &text);
		else if (field.number == STATUS_LOG)
			read_log(field.bytes, &text);
	}
	return strbuf_take(&text);
}
