/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line of a link: what is accepted is written again as a line with the same meaning, and that
 * line is written again as the same bytes.  What is refused changes nothing.
 */
#include "fuzz/fuzz.h"

#include "model/link/frame.h"

static void check(const struct link_frame *frame)
{
	HOLDS(frame->kind < LINK_KINDS && frame->stream < LINK_STREAMS);
	HOLDS(!frame->id || strlen(frame->id) <= LINK_ID_MAX);
	HOLDS(frame->bytes.length <= LINK_DATA_MAX);
	HOLDS(frame->kind != LINK_REQUEST || (frame->id && frame->words.count > 0));
	HOLDS(frame->kind != LINK_EXIT || (frame->status >= 0 && frame->status <= UINT8_MAX));
}

static bool same(const struct link_frame *a, const struct link_frame *b)
{
	return a->kind == b->kind && a->stream == b->stream && a->status == b->status &&
	       a->count == b->count && a->has_input == b->has_input &&
	       streq(or_empty(a->id), or_empty(b->id)) && strvec_equal(&a->words, &b->words) &&
	       a->bytes.length == b->bytes.length &&
	       (!a->bytes.length || memcmp(a->bytes.data, b->bytes.data, a->bytes.length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_link_frame struct link_frame frame = { 0 }, again = { 0 };
	cleanup_strbuf struct strbuf line = { 0 }, copy = { 0 };
	struct error err = { 0 };
	cleanup_free char *text = fuzz_text(data, size);
	if (link_frame_read(text, size, &frame, &err) < 0) {
		fuzz_failed(&err);
		HOLDS(!frame.id && !frame.words.count && !frame.bytes.data && !frame.facts);
		return 0;
	}
	check(&frame);
	if (frame.kind == LINK_UNKNOWN)
		return 0;
	link_frame_write(&line, &frame);
	HOLDS(line.length > 0 && line.data[line.length - 1] == '\n');
	HOLDS(memchr(line.data, '\n', line.length) == line.data + line.length - 1);
	HOLDS(link_frame_read(line.data, line.length - 1, &again, &err) == 0);
	HOLDS(same(&frame, &again));
	link_frame_write(&copy, &again);
	HOLDS(streq(strbuf_text(&line), strbuf_text(&copy)));
	return 0;
}
