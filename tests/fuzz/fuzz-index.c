/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * instances.json is a cache: whatever it contains, a listing is complete, and every row that does
 * not carry the very stamp of its manifest is as the manifest says.  The index that a reader then
 * writes is as good.
 *
 * The bytes \001, \002 and \003 of the input stand for the stamps of three existing instances, so
 * that rows with other content can look current.
 */
#include "fuzz/fuzz.h"

#include "base/clock.h"
#include "driver/store/store.h"

#include <sys/stat.h>

#define INDEX "instances.json"

enum { COUNT = 3 };

struct deck {
	struct store *store;
	struct store_rows truth;
	char *stamps[COUNT];
};

static const char *const ids[COUNT] = { "0aaaaaaa", "1bbbbbbb", "2ccccccc" };

static void add_instance(struct store *store, int i)
{
	cleanup_instance struct instance *instance = instance_new();
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	cleanup_free char *path = xasprintf("%s/instance.json", ids[i]);
	const struct timespec old[] = { { .tv_sec = 1776157681 }, { .tv_sec = 1776157681 } };
	replace_string(&instance->id, ids[i]);
	replace_string(&instance->base, ids[i]);
	instance->title = xasprintf("title %d", i);
	replace_string(&instance->cwd, "/srv");
	replace_string(&instance->agent, "demo");
	replace_string(&instance->backend, "host");
	strvec_push(&instance->argv, "demo");
	instance->created_at = INT64_C(1776157681000000) + i;
	if (store_lock_profile(store, clock_ms() + 60000, &lock, NULL) != 0 ||
	    store_create(lock, instance, NULL, NULL) != 0 ||
	    /* A manifest that was just written gets no row. */
	    utimensat(store_profile_directory(store), path, old, 0) < 0)
		abort();
}

static void write_index(const struct deck *deck, const char *text, size_t length)
{
	cleanup_close int fd = openat(store_profile_directory(deck->store), INDEX,
				      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || fs_write_all(fd, text, length, INDEX, NULL) < 0)
		abort();
}

/* Read the stamps from an index that the store has written itself. */
static void learn_stamps(struct deck *deck)
{
	static const char stale[] = "{\"format\":15,\"rows\":[\n\"zz\\tgone\"\n]}\n";
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *object = NULL;
	write_index(deck, stale, strlen(stale));
	if (store_list(deck->store, &deck->truth, NULL) < 0 ||
	    fs_read(store_profile_directory(deck->store), INDEX, 1 << 20, &text, NULL) != 0 ||
	    json_parse(text.data, text.length, INDEX, &object, NULL) < 0)
		abort();
	struct json_object *rows = json_get_array(object, "rows");
	HOLDS(rows && json_object_array_length(rows) == COUNT && deck->truth.count == COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		const char *row = json_object_get_string(json_object_array_get_idx(rows, i));
		deck->stamps[i] = xstrdup(strrchr(row, '\t') + 1);
	}
}

static const struct deck *open_deck(void)
{
	static struct deck deck;
	if (deck.store)
		return &deck;
	if (store_open(fuzz_directory(), "default", &deck.store, NULL) < 0)
		abort();
	for (int i = 0; i < COUNT; i++)
		add_instance(deck.store, i);
	learn_stamps(&deck);
	return &deck;
}

static void check_text(const char *a, const char *b)
{
	HOLDS(streq(or_empty(a), or_empty(b)));
}

static void check_same(const struct store_row *a, const struct store_row *b)
{
	check_text(a->base, b->base);
	check_text(a->id, b->id);
	check_text(a->title, b->title);
	check_text(a->group, b->group);
	check_text(a->lookup_directory, b->lookup_directory);
	check_text(a->owner_directory, b->owner_directory);
	check_text(a->agent, b->agent);
	check_text(a->backend, b->backend);
	check_text(a->session_id, b->session_id);
	check_text(a->reason, b->reason);
	check_text(a->workspace, b->workspace);
	check_text(a->run.socket, b->run.socket);
	check_text(a->damage, b->damage);
	HOLDS(a->state == b->state && a->desired == b->desired && a->rung == b->rung &&
	      a->ending == b->ending);
	HOLDS(a->created_at == b->created_at && a->last_used_at == b->last_used_at);
	HOLDS(a->run.server.pid == b->run.server.pid && a->run.pane.pid == b->run.pane.pid);
}

static void check_rows(const struct store_rows *rows)
{
	unsigned seen = 0;
	HOLDS(rows->count == COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		const struct store_row *row = &rows->rows[i];
		HOLDS(!row->damage && *row->id && *row->title && *row->lookup_directory &&
		      *row->agent && *row->backend);
		HOLDS(row->state < STATE_COUNT && row->rung < RUNG_COUNT &&
		      row->run.server.pid >= 0 && row->run.pane.pid >= 0);
		HOLDS(i == 0 || rows->rows[i - 1].created_at <= row->created_at);
		for (unsigned j = 0; j < COUNT; j++)
			seen |= streq(row->base, ids[j]) ? 1u << j : 0;
	}
	HOLDS(seen == (1u << COUNT) - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct deck *deck = open_deck();
	cleanup_store_rows struct store_rows rows = { 0 }, again = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	bool is_stamped = false;

	for (size_t i = 0; i < size; i++) {
		if (data[i] >= 1 && data[i] <= COUNT) {
			is_stamped = true;
			strbuf_adds(&text, deck->stamps[data[i] - 1]);
		} else {
			strbuf_add(&text, data + i, 1);
		}
	}
	write_index(deck, strbuf_text(&text), text.length);
	HOLDS(store_list(deck->store, &rows, NULL) == 0);
	check_rows(&rows);
	HOLDS(store_list(deck->store, &again, NULL) == 0);
	check_rows(&again);
	for (size_t i = 0; i < COUNT; i++) {
		check_same(&rows.rows[i], &again.rows[i]);
		if (!is_stamped)
			check_same(&rows.rows[i], &deck->truth.rows[i]);
	}
	return 0;
}
