/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/journal.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"

#include <fcntl.h>
#include <string.h>

static const struct {
	const char *name, *key;
} files[] = {
	[JOURNAL_IMPORTS] = { "imports.json", "origins" },
	[JOURNAL_BRANCHES] = { "branches.json", "branches" },
};
enum { MAX_FILE = 64 << 20, LOCK_TIMEOUT_MS = 10000 };

static int load(const struct deck *deck, enum journal journal, struct json_object **ret,
		struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = path_join(deck->paths.state, files[journal].name);
	int r = fs_read(AT_FDCWD, path, MAX_FILE, &text, err);
	if (r > 0) {
		*ret = json_object_new_object();
		return 0;
	}
	return r < 0 ? -1 : json_parse(strbuf_text(&text), text.length, path, ret, err);
}

int journal_read(const struct deck *deck, enum journal journal, struct strvec *ret,
		 struct error *err)
{
	cleanup_json struct json_object *root = NULL;
	if (load(deck, journal, &root, err) < 0)
		return -1;
	json_get_strings(root, files[journal].key, ret);
	return 0;
}

int journal_add(const struct deck *deck, enum journal journal, const struct strvec *words,
		struct error *err)
{
	const char *name = files[journal].name, *key = files[journal].key;
	cleanup_free char *lock_name = xasprintf("%s.lock", name);
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_json struct json_object *root = NULL, *known = json_object_new_object();
	cleanup_strvec struct strvec all = { 0 };
	const int state = store_state_directory(deck->store);
	int r = fs_lock(state, lock_name, clock_ms() + LOCK_TIMEOUT_MS, &lock, err);
	if (r > 0)
		return error_set(err, ERROR_BUSY, "another agentdeck holds %s: try again",
				 lock_name);
	if (r < 0 || load(deck, journal, &root, err) < 0)
		return -1;
	json_get_strings(root, key, &all);
	const size_t before = all.count;
	for (size_t i = 0; i < before; i++)
		json_set_bool(known, all.items[i], true);
	for (size_t i = 0; i < words->count; i++) {
		if (json_object_object_get_ex(known, words->items[i], NULL))
			continue;
		json_set_bool(known, words->items[i], true);
		strvec_push(&all, words->items[i]);
	}
	if (all.count == before)
		return 0;
	json_set_strings(root, key, &all);
	const char *text = json_print(root);
	return fs_replace(state, name, text, strlen(text), FS_DURABLE, err);
}
