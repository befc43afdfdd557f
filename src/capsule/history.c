/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/history.h"

#include <string.h>

void history_init(struct history *history)
{
	*history = (struct history){ 0 };
	history_scan_init(&history->start);
}

void history_free(struct history *history)
{
	strbuf_free(&history->data);
}

/* --- cutting ---------------------------------------------------------------------------------- */

/* Where to cut, and the state there. */
struct cut {
	size_t at;
	struct history_scan scan;
};

/* The first place at or after least between two sequences, better after a line.  False: there is
 * none. */
static bool find_cut(const struct history *history, size_t least, struct cut *ret)
{
	struct history_scan scan = history->start;
	bool found = false;
	for (size_t i = 0; i < history->data.length; i++) {
		const unsigned char byte = (unsigned char)history->data.data[i];
		const enum history_event event = history_scan_byte(&scan, byte);
		if (i + 1 < least || event == HISTORY_INSIDE || byte >= 0x80)
			continue;
		if (event == HISTORY_PLAIN && byte == '\n') {
			*ret = (struct cut){ i + 1, scan };
			return true;
		}
		if (!found)
			*ret = (struct cut){ i + 1, scan };
		found = true;
	}
	return found;
}

static void cut(struct history *history)
{
	struct cut cut;
	struct strbuf *data = &history->data;
	if (!find_cut(history, data->length - HISTORY_KEEP, &cut)) {
		/* One sequence that does not end is of no use. */
		cut.at = data->length;
		history_scan_init(&cut.scan);
	}
	data->length -= cut.at;
	memmove(data->data, data->data + cut.at, data->length);
	history->start = cut.scan;
	history->was_cut = true;
}

void history_add(struct history *history, const void *data, size_t length)
{
	strbuf_add(&history->data, data, length);
	if (history->data.length >= 2 * HISTORY_KEEP)
		cut(history);
}

/* --- replaying -------------------------------------------------------------------------------- */

/* Where a cut history is best begun: before the first clear screen; else before the first
 * synchronized update; else where it was cut. */
static struct cut find_start(const struct history *history)
{
	struct cut best = { 0, history->start }, sequence = best;
	struct history_scan scan = history->start;
	bool has_frame = false;
	for (size_t i = 0; i < history->data.length; i++) {
		if (scan.state == 0)
			sequence = (struct cut){ i, scan };
		const enum history_event event = history_scan_byte(
			&scan, (unsigned char)history->data.data[i]);
		if (event == HISTORY_CLEAR)
			return sequence;
		if (event == HISTORY_FRAME && !has_frame) {
			best = sequence;
			has_frame = true;
		}
	}
	return best;
}

/* Append the data from this place on, without the queries. */
static void put_without_queries(const struct history *history, const struct cut *from,
				struct strbuf *out)
{
	struct history_scan scan = from->scan;
	const char *data = history->data.data;
	size_t kept = from->at, sequence = from->at;
	for (size_t i = from->at; i < history->data.length; i++) {
		if (scan.state == 0)
			sequence = i;
		if (history_scan_byte(&scan, (unsigned char)data[i]) != HISTORY_QUERY)
			continue;
		strbuf_add(out, data + kept, sequence - kept);
		kept = i + 1;
	}
	strbuf_add(out, data + kept, history->data.length - kept);
}

void history_replay(const struct history *history, bool again, struct strbuf *out)
{
	const struct cut from = history->was_cut ? find_start(history)
						 : (struct cut){ 0, history->start };
	if (again || history->was_cut) {
		strbuf_adds(out, "\033c");
		history_put_modes(&from.scan, out);
	}
	if (history->data.length == 0)
		return;
	if (again)
		put_without_queries(history, &from, out);
	else
		strbuf_add(out, history->data.data + from.at, history->data.length - from.at);
}
