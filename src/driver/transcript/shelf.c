/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/transcript/shelf.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "driver/transcript/transcript.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>

enum { ID_LENGTH = 36, MAX_RECORDS = 400, HEAD = 1 << 20 };

static const struct layout {
	const char *name;
	const char *parts[6]; /* patterns of the names below the home, up to NULL */
} layouts[] = {
	{ "projects", { "projects", "*", "*.jsonl", NULL } },
	{ "chats", { "projects", "*", "chats", "*.jsonl", NULL } },
	{ "rollouts", { "sessions", "[0-9]*", "[0-9]*", "[0-9]*", "rollout-*.jsonl", NULL } },
};

static const struct layout *layout_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (streq(layouts[i].name, name))
			return &layouts[i];
	return NULL;
}

bool shelf_is_layout(const char *name)
{
	return layout_named(name) != NULL;
}

/* The id is the end of the name: <id>.jsonl, rollout-<time>-<id>.jsonl. */
static char *id_of(const char *name)
{
	const char *dot = strrchr(name, '.');
	if (!dot || dot - name < ID_LENGTH)
		return NULL;
	char *id = xstrndup(dot - ID_LENGTH, ID_LENGTH);
	const bool is_whole = dot - name == ID_LENGTH || dot[-ID_LENGTH - 1] == '-';
	if (is_whole && naming_is_uuid(id))
		return id;
	free(id);
	return NULL;
}

static void add_item(int directory, const char *path, const char *name, struct shelf *ret)
{
	struct stat st;
	cleanup_free char *id = id_of(name);
	if (!id || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid())
		return;
	ret->items = xreallocarray(ret->items, ret->count + 1, sizeof(*ret->items));
	ret->items[ret->count++] = (struct shelf_item){
		.path = path_join(path, name),
		.session_id = TAKE_PTR(id),
		.modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
	};
}

/* One level below path; what cannot be opened has nothing for us. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the layout */
static int walk(const char *path, const char *const *parts, struct shelf *ret, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	/* Links are followed: some people keep their agent's home on another disk. */
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fs_list(fd, &names, err) < 0)
		return error_prefix(err, "%s", path);
	for (size_t i = 0; i < names.count; i++) {
		if (fnmatch(parts[0], names.items[i], FNM_PERIOD) != 0)
			continue;
		if (!parts[1]) {
			add_item(fd, path, names.items[i], ret);
			continue;
		}
		cleanup_free char *below = path_join(path, names.items[i]);
		if (walk(below, parts + 1, ret, err) < 0)
			return -1;
	}
	return 0;
}

static int newest_first(const void *left, const void *right)
{
	const struct shelf_item *a = left, *b = right;
	if (a->modified_ns != b->modified_ns)
		return a->modified_ns < b->modified_ns ? 1 : -1;
	return strcmp(a->path, b->path);
}

int shelf_list(const char *layout, const char *home, struct shelf *ret, struct error *err)
{
	cleanup_shelf struct shelf shelf = { 0 };
	const struct layout *known = layout_named(layout);
	if (known && walk(home, known->parts, &shelf, err) < 0)
		return -1;
	if (shelf.count > 1)
		qsort(shelf.items, shelf.count, sizeof(*shelf.items), newest_first);
	*ret = shelf;
	shelf = (struct shelf){ 0 };
	return 0;
}

void shelf_free(struct shelf *shelf)
{
	for (size_t i = 0; i < shelf->count; i++) {
		free(shelf->items[i].path);
		free(shelf->items[i].session_id);
	}
	free(shelf->items);
	*shelf = (struct shelf){ 0 };
}

const struct shelf_item *shelf_find(const struct shelf *shelf, const char *session_id)
{
	for (size_t i = 0; i < shelf->count; i++)
		if (naming_same_session_id(shelf->items[i].session_id, session_id))
			return &shelf->items[i];
	return NULL;
}

/* ---- what one is about ------------------------------------------------------------------------ */

struct looking {
	struct shelf_about about;
	size_t records;
};

/* {"parts": [{"text": ...}]} or {"content": [{"text": ...}]} */
static char *joined_text(const struct json_object *message, const char *key)
{
	struct strbuf joined = { 0 };
	const struct json_object *parts = json_get_array(message, key);
	for (size_t i = 0; parts && i < json_object_array_length(parts); i++) {
		const char *text = json_get_string(json_object_array_get_idx(parts, i), "text",
						   NULL);
		if (text && joined.length)
			strbuf_adds(&joined, "\n");
		strbuf_adds(&joined, or_empty(text));
	}
	if (joined.length)
		return strbuf_take(&joined);
	strbuf_free(&joined);
	return NULL;
}

/* What an agent adds to a conversation by itself looks like a tag. */
static bool is_typed(const char *text)
{
	text += strspn(text, " \n\t");
	return *text && *text != '<';
}

static char *text_of(const struct json_object *record, const struct json_object *payload)
{
	const struct json_object *message = json_get_object(record, "message");
	if (payload)
		return joined_text(payload, "content");
	if (!message || json_get_bool(record, "isMeta", false) ||
	    json_get_bool(record, "isSidechain", false))
		return NULL;
	char *text = transcript_record_text(record);
	return text ? text : joined_text(message, "parts");
}

bool shelf_turn(const struct json_object *record, struct transcript_turn *ret)
{
	const struct json_object *payload = json_get_object(record, "payload");
	const char *who = payload ? json_get_string(payload, "role", "")
				  : json_get_string(record, "type", "");
	const bool is_reply = streq(who, "assistant");
	if (!is_reply && !streq(who, "user"))
		return false;
	cleanup_free char *text = text_of(record, payload);
	if (!text || (!is_reply && !is_typed(text)))
		return false;
	*ret = (struct transcript_turn){ .is_reply = is_reply, .text = TAKE_PTR(text) };
	return true;
}

static bool visit(struct json_object *record, void *data)
{
	struct looking *looking = data;
	struct shelf_about *about = &looking->about;
	struct transcript_turn turn;
	const struct json_object *payload = json_get_object(record, "payload");
	const struct json_object *has_cwd = payload ? payload : record;
	const char *thread = payload ? json_get_string(payload, "thread_source", NULL) : NULL;
	if (!about->directory)
		about->directory = xstrdup_or_null(json_get_string(has_cwd, "cwd", NULL));
	if (thread && !streq(thread, "user"))
		about->is_side = true;
	if (!about->words && shelf_turn(record, &turn)) {
		about->words = turn.is_reply ? NULL : xstrdup(turn.text);
		free(turn.text);
	}
	return !(about->words && about->directory) && ++looking->records < MAX_RECORDS;
}

int shelf_look(const struct shelf_item *item, struct shelf_about *ret, struct error *err)
{
	struct looking looking = { 0 };
	int r = transcript_visit(item->path, HEAD, visit, &looking, err);
	if (r != 0) {
		shelf_about_free(&looking.about);
		return r < 0 ? -1 : SHELF_GONE;
	}
	*ret = looking.about;
	return 0;
}

void shelf_about_free(struct shelf_about *about)
{
	free(about->directory);
	free(about->words);
	*about = (struct shelf_about){ 0 };
}
