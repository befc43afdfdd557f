/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent writes to its terminal, as a capsule keeps it: it does not matter in which parts it
 * came, the first window gets it as it was, no later window is asked anything, and it never grows
 * beyond its bound.
 */
#include "fuzz/fuzz.h"

#include "capsule/history.h"

/* How many queries are in it for a terminal that begins with these bytes? */
static size_t count_queries(const char *data, size_t length)
{
	struct history_scan scan;
	size_t count = 0;
	history_scan_init(&scan);
	for (size_t i = 0; i < length; i++)
		count += history_scan_byte(&scan, (unsigned char)data[i]) == HISTORY_QUERY;
	return count;
}

static void check_small(const struct history *history, const uint8_t *data, size_t size)
{
	cleanup_strbuf struct strbuf first = { 0 }, later = { 0 };
	history_replay(history, false, &first);
	HOLDS(first.length == size && (size == 0 || memcmp(first.data, data, size) == 0));
	history_replay(history, true, &later);
	HOLDS(later.length <= size + 2 && starts_with(later.data, "\033c"));
	HOLDS(count_queries(later.data, later.length) == 0);
	if (count_queries((const char *)data, size) == 0)
		HOLDS(later.length == size + 2);
}

/* The same bytes again and again, until the history has to forget some. */
static void check_full(struct history *history, const uint8_t *data, size_t size)
{
	cleanup_strbuf struct strbuf replay = { 0 };
	enum { MODES_MAX = 1024 };
	for (size_t total = 0; total <= 2 * HISTORY_KEEP; total += size) {
		history_add(history, data, size);
		HOLDS(history->data.length < 2 * HISTORY_KEEP);
	}
	HOLDS(history->was_cut && history->start.state == 0);
	history_replay(history, true, &replay);
	HOLDS(replay.length < 2 * HISTORY_KEEP + MODES_MAX);
	HOLDS(count_queries(replay.data, replay.length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct history whole, parts;
	history_init(&whole);
	history_init(&parts);
	history_add(&whole, data, size);
	for (size_t i = 0; i < size; i++)
		history_add(&parts, data + i, 1);
	HOLDS(whole.data.length == parts.data.length);
	check_small(&whole, data, size);
	/* It takes long, so only for some. */
	if (size >= 512 && data[0] % 4 == 0)
		check_full(&whole, data, size);
	history_free(&whole);
	history_free(&parts);
	return 0;
}
