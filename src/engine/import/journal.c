/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/import/journal.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"

#include <string.h>

#define NAME "imports.json"
enum { MAX_FILE = 64 << 20, LOCK_TIMEOUT_MS = 10000 };

static int load(const struct deck *deck, struct json_object **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int r = fs_read(store_state_directory(deck->store), NAME, MAX_FILE, &text, err);
	if (r > 0) {
		*ret = json_object_new_object();
		return 0;
	}
	if (r < 0 || json_parse(strbuf_text(&text), text.length, NAME, ret, err) < 0)
		return error_prefix(err, "%s", deck->paths.state);
	return 0;
}

int journal_read(const struct deck *deck, struct strvec *ret, struct error *err)
{
	cleanup_json struct json_object *root = NULL;
	if (load(deck, &root, err) < 0)
		return -1;
	json_get_strings(root, "origins", ret);
	return 0;
}

int journal_add(const struct deck *deck, const struct strvec *origins, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_json struct json_object *root = NULL, *known = json_object_new_object();
	cleanup_strvec struct strvec all = { 0 };
	const int state = store_state_directory(deck->store);
	int r = fs_lock(state, NAME ".lock", clock_ms() + LOCK_TIMEOUT_MS, &lock, err);
	if (r > 0)
		return error_set(err, ERROR_BUSY, "another agentdeck holds %s.lock: try again",
				 NAME);
	if (r < 0 || load(deck, &root, err) < 0)
		return -1;
	json_get_strings(root, "origins", &all);
	const size_t before = all.count;
	for (size_t i = 0; i < before; i++)
		json_set_bool(known, all.items[i], true);
	for (size_t i = 0; i < origins->count; i++) {
		if (json_object_object_get_ex(known, origins->items[i], NULL))
			continue;
		json_set_bool(known, origins->items[i], true);
		strvec_push(&all, origins->items[i]);
	}
	if (all.count == before)
		return 0;
	json_set_strings(root, "origins", &all);
	const char *text = json_print(root);
	return fs_replace(state, NAME, text, strlen(text), FS_DURABLE, err);
}
