/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/role/trust.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "base/linediff.h"

#include <fcntl.h>
#include <string.h>

#define NAME "roles.json"
enum { MAX_FILE = 64 << 20, MAX_KEPT = 256 << 10, LOCK_TIMEOUT_MS = 10000 };

void trusted_list_clear(struct trusted_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].file);
		free(list->items[i].digest);
	}
	free(list->items);
	*list = (struct trusted_list){ 0 };
}

/* An object: the path of a role's file, and what was trusted, or only when its user was told. */
static int load(const struct deck *deck, struct json_object **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *root = NULL;
	cleanup_close int own = deck->store
					? -1
					: open(deck->paths.state, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const int directory = deck->store ? store_state_directory(deck->store) : own;
	const int r = directory < 0 ? 1 : fs_read(directory, NAME, MAX_FILE, &text, err);
	if (r > 0) {
		*ret = json_object_new_object();
		return 0;
	}
	if (r < 0 || json_parse(strbuf_text(&text), text.length, NAME, &root, err) < 0)
		return error_prefix(err, "%s", deck->paths.state);
	if (!json_object_is_type(root, json_type_object))
		return error_set(err, ERROR_CORRUPT,
				 "%s/" NAME " is no object: delete it, and trust "
				 "your roles again",
				 deck->paths.state);
	*ret = TAKE_PTR(root);
	return 0;
}

static int save(const struct deck *deck, struct json_object *root, struct error *err)
{
	const char *text = json_print(root);
	return fs_replace(store_state_directory(deck->store), NAME, text, strlen(text), FS_DURABLE,
			  err);
}

static int lock_file(const struct deck *deck, struct fs_lock *ret, struct error *err)
{
	const int r = fs_lock(store_state_directory(deck->store), NAME ".lock",
			      clock_ms() + LOCK_TIMEOUT_MS, ret, err);
	return r > 0 ? error_set(err, ERROR_BUSY,
				 "another agentdeck holds " NAME ".lock: try again")
		     : r;
}

/* A role that its user was only told of has no digest. */
static bool is_trusted(const struct json_object *entry)
{
	return *json_get_string(entry, "digest", "");
}

static void diff(const struct json_object *before, const char *key, const char *after,
		 struct strvec *ret)
{
	linediff(json_get_string(before, key, ""), or_empty(after), ret);
}

int trust_look(const struct deck *deck, const struct role_source *source, enum trust *ret,
	       struct strvec *ret_changes, struct error *err)
{
	cleanup_json struct json_object *root = NULL;
	if (load(deck, &root, err) < 0)
		return -1;
	const struct json_object *before = json_get_object(root, source->name);
	if (!is_trusted(before)) {
		*ret = TRUST_NONE;
		return 0;
	}
	if (streq(json_get_string(before, "digest", ""), source->digest)) {
		*ret = TRUST_SAME;
		return 0;
	}
	*ret = TRUST_CHANGED;
	diff(before, "text", source->text, ret_changes);
	diff(before, "dockerfile", source->dockerfile_text, ret_changes);
	return 0;
}

int trust_hint(const struct deck *deck, const char *file, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_json struct json_object *root = NULL;
	if (!is_utf8(file, strlen(file)))
		return 0;
	if (lock_file(deck, &lock, err) < 0 || load(deck, &root, err) < 0)
		return -1;
	if (json_object_object_get_ex(root, file, NULL))
		return 0;
	struct json_object *object = json_object_new_object();
	json_set_int(object, "at", clock_wall_us());
	json_set(root, file, object);
	return save(deck, root, err) < 0 ? -1 : TRUST_HINT;
}

/* A long text is not kept, and then it is new as a whole. */
static void keep_text(struct json_object *object, const char *key, const char *text)
{
	if (text && strlen(text) <= MAX_KEPT && is_utf8(text, strlen(text)))
		json_set_string(object, key, text);
}

int trust_give(const struct deck *deck, const struct role_source *source, struct error *err)
{
	if (!is_utf8(source->name, strlen(source->name)))
		return error_set(err, ERROR_INVALID,
				 "a role can be trusted only where its path is UTF-8: move it");
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_json struct json_object *root = NULL;
	if (lock_file(deck, &lock, err) < 0 || load(deck, &root, err) < 0)
		return -1;
	/* What is not ours in it stays. */
	struct json_object *object = json_make_object(root, source->name);
	json_object_object_del(object, "text");
	json_object_object_del(object, "dockerfile");
	json_set_string(object, "digest", source->digest);
	json_set_int(object, "at", clock_wall_us());
	keep_text(object, "text", source->text);
	keep_text(object, "dockerfile", source->dockerfile_text);
	return save(deck, root, err);
}

int trust_take(const struct deck *deck, const char *file, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_json struct json_object *root = NULL;
	if (lock_file(deck, &lock, err) < 0 || load(deck, &root, err) < 0)
		return -1;
	if (!is_trusted(json_get_object(root, file)))
		return TRUST_ABSENT;
	json_object_object_del(root, file);
	return save(deck, root, err);
}

int trust_get_built(const struct deck *deck, const char *name, struct json_object **ret,
		    struct error *err)
{
	cleanup_json struct json_object *root = NULL;
	if (load(deck, &root, err) < 0)
		return -1;
	const struct json_object *entry = json_get_object(root, name);
	struct json_object *built = json_get_object(entry, "built");
	if (!is_trusted(entry) || !built)
		return TRUST_ABSENT;
	*ret = json_object_get(built);
	return 0;
}

int trust_put_built(const struct deck *deck, const char *name, struct json_object *built,
		    struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_json struct json_object *root = NULL, *mine = built;
	if (lock_file(deck, &lock, err) < 0 || load(deck, &root, err) < 0)
		return -1;
	if (!is_trusted(json_get_object(root, name)))
		return 0;
	json_set(json_make_object(root, name), "built", TAKE_PTR(mine));
	return save(deck, root, err);
}

int trust_list(const struct deck *deck, struct trusted_list *ret, struct error *err)
{
	cleanup_json struct json_object *root = NULL;
	if (load(deck, &root, err) < 0)
		return -1;
	json_object_object_foreach(root, file, value) {
		if (!is_trusted(value))
			continue;
		ret->items = xreallocarray(ret->items, ret->count + 1, sizeof(*ret->items));
		ret->items[ret->count++] = (struct trusted){
			.file = xstrdup(file),
			.digest = xstrdup(json_get_string(value, "digest", "")),
			.at = json_get_int(value, "at", 0),
		};
	}
	return 0;
}
