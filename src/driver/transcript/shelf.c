/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/transcript/shelf.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "driver/transcript/transcript.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { MAX_RECORDS = 400, HEAD = 1 << 20, TAIL = 1 << 20, MAX_BESIDE = 64 << 10 };

/* ---- which files ------------------------------------------------------------------------------ */

static bool take_first(struct json_object *record, void *data)
{
	*(struct json_object **)data = json_object_get(record);
	return false;
}

/* The id that a file's first record names.  What a long line would hold is no id. */
static char *read_id(const char *path, const char *member)
{
	cleanup_json struct json_object *first = NULL;
	if (transcript_visit(path, 1, take_first, &first, NULL) != 0 || !first)
		return NULL;
	struct json_object *value = json_at(first, member);
	const char *id = json_object_is_type(value, json_type_string)
				 ? json_object_get_string(value)
				 : NULL;
	return id && naming_is_session_id(id) ? xstrdup(id) : NULL;
}

struct walking {
	const struct agent_files *files;
	struct shelf *shelf;
};

/* id: what the names above say; NULL. */
static void add_item(const struct walking *walking, const char *path, const char *id)
{
	struct shelf *shelf = walking->shelf;
	struct stat st;
	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return;
	char *session_id = id ? xstrdup(id) : read_id(path, or_empty(walking->files->id));
	if (!session_id)
		return;
	shelf->items = xreallocarray(shelf->items, shelf->count + 1, sizeof(*shelf->items));
	shelf->items[shelf->count++] = (struct shelf_item){
		.path = xstrdup(path),
		.session_id = session_id,
		.modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
	};
}

static int walk(const struct walking *walking, const char *path, const char *pattern,
		const char *id, struct error *err);

/* One name below path, which fits the first name of the pattern. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern */
static int walk_into(const struct walking *walking, const char *path, const char *name,
		     const char *pattern, const char *id, struct error *err)
{
	cleanup_free char *below = path_join(path, name);
	const char *slash = strchr(pattern, '/');
	if (slash)
		return walk(walking, below, slash + 1, id, err);
	add_item(walking, below, id);
	return 0;
}

/* A missing path is no problem. */
static void note_problem(const char *path, struct shelf *shelf)
{
	if (errno != ENOENT && errno != ENOTDIR && !shelf->problem)
		shelf->problem = xasprintf("open %s: %s", path, strerror(errno));
}

/* Visit the paths below path that fit the pattern. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern */
static int walk(const struct walking *walking, const char *path, const char *pattern,
		const char *id, struct error *err)
{
	const size_t length = strcspn(pattern, "/");
	cleanup_strvec struct strvec names = { 0 };
	if (strcspn(pattern, "*?[{") >= length) {
		cleanup_free char *name = xstrndup(pattern, length);
		return walk_into(walking, path, name, pattern, id, err);
	}
	/* Links are followed: some people keep their agent's home on another disk. */
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		note_problem(path, walking->shelf);
		return 0;
	}
	if (fs_list(fd, &names, err) < 0)
		return error_prefix(err, "%s", path);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *own = NULL;
		if (!agent_files_match(pattern, length, names.items[i], &own))
			continue;
		if (walk_into(walking, path, names.items[i], pattern, own ? own : id, err) < 0)
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

int shelf_list(const struct agent_files *files, const char *home, struct shelf *ret,
	       struct error *err)
{
	cleanup_shelf struct shelf shelf = { 0 };
	const struct walking walking = { .files = files, .shelf = &shelf };
	if (walk(&walking, home, files->conversation, NULL, err) < 0)
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
	free(shelf->problem);
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
	const struct agent_files *files;
	struct shelf_about about;
	size_t records;
	bool has_turns;
};

static const char *string_of(struct json_object *value)
{
	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* What an agent adds to a conversation by itself looks like a tag. */
static bool is_typed(const char *text)
{
	text += strspn(text, " \n\t");
	return *text && *text != '<';
}

/* A text, or what an array of parts has.  NULL: there is none, or it was not typed. */
static char *text_of(struct json_object *value, bool is_reply)
{
	struct strbuf joined = { 0 };
	const char *plain = string_of(value);
	if (plain)
		return *plain && (is_reply || is_typed(plain)) ? xstrdup(plain) : NULL;
	const bool is_array = json_object_is_type(value, json_type_array);
	for (size_t i = 0; is_array && i < json_object_array_length(value); i++) {
		const struct json_object *part = json_object_array_get_idx(value, i);
		const char *text = json_get_string(part, "text", "");
		if (!*text || (!is_reply && !is_typed(text)) ||
		    json_get_bool(part, "thought", false))
			continue;
		strbuf_adds(&joined, joined.length ? "\n" : "");
		strbuf_adds(&joined, text);
	}
	return joined.length ? strbuf_take(&joined) : NULL;
}

static bool has_any(const struct json_object *record, const struct strvec *conditions)
{
	for (size_t i = 0; i < conditions->count; i++)
		if (json_matches(record, conditions->items[i]))
			return true;
	return false;
}

/* Is the value only text? */
static bool has_words(struct json_object *value)
{
	const bool is_array = json_object_is_type(value, json_type_array);
	const size_t count = is_array ? json_object_array_length(value) : 0;
	for (size_t i = 0; i < count; i++)
		if (!*json_get_string(json_object_array_get_idx(value, i), "text", ""))
			return false;
	return count || !is_empty(string_of(value));
}

static bool fits(const struct json_object *record, const char *condition)
{
	return condition && json_matches(record, condition);
}

enum shelf_record shelf_read(const struct agent_files *files, const struct json_object *record,
			     struct transcript_turn *ret)
{
	const bool is_reply = fits(record, files->reply), is_joined = fits(record, files->joined);
	const char *place = is_reply    ? files->reply_text
			    : is_joined ? files->joined_text
					: files->prompt_text;
	if ((!is_reply && !is_joined && !json_matches(record, files->prompt)) ||
	    has_any(record, &files->skip))
		return SHELF_NOTHING;
	struct json_object *value = json_at(record, place);
	char *text = text_of(value, is_reply);
	if (!text && !is_reply && has_words(value))
		return SHELF_TAG;
	/* The result of a tool is an array without text. */
	if (!text)
		return is_reply || json_object_is_type(value, json_type_array) ? SHELF_WORK
									       : SHELF_NOTHING;
	*ret = (struct transcript_turn){ .is_reply = is_reply, .text = text };
	return is_reply ? SHELF_REPLY : SHELF_PROMPT;
}

bool shelf_turn(const struct agent_files *files, const struct json_object *record,
		struct transcript_turn *ret)
{
	const enum shelf_record kind = shelf_read(files, record, ret);
	return kind == SHELF_PROMPT || kind == SHELF_REPLY;
}

char *shelf_queued(const struct agent_files *files, const struct json_object *record)
{
	return fits(record, files->queued) ? text_of(json_at(record, files->queued_text), true)
					   : NULL;
}

bool shelf_goes_on(const struct agent_files *files, const struct json_object *record)
{
	return fits(record, files->goes_on);
}

bool shelf_is_error(const struct agent_files *files, const struct json_object *record)
{
	return fits(record, files->error);
}

/* Does the value have more than text, such as an image? */
static bool has_more_than_text(struct json_object *value)
{
	const size_t count = json_object_is_type(value, json_type_array)
				     ? json_object_array_length(value)
				     : 0;
	for (size_t i = 0; i < count; i++)
		if (!json_get_string(json_object_array_get_idx(value, i), "text", NULL))
			return true;
	return false;
}

/* Is the record a prompt or a reply, even if its text cannot be shown? */
static bool is_turn(const struct agent_files *files, const struct json_object *record)
{
	if (has_any(record, &files->skip))
		return false;
	if (files->reply && json_matches(record, files->reply))
		return json_at(record, files->reply_text) != NULL;
	return json_matches(record, files->prompt) &&
	       has_more_than_text(json_at(record, files->prompt_text));
}

static bool visit(struct json_object *record, void *data)
{
	struct looking *looking = data;
	const struct agent_files *files = looking->files;
	struct shelf_about *about = &looking->about;
	struct transcript_turn turn;
	looking->has_turns = looking->has_turns || is_turn(files, record);
	if (!about->directory && files->directory && !files->directory_file)
		about->directory = xstrdup_or_null(string_of(json_at(record, files->directory)));
	about->is_side = about->is_side || has_any(record, &files->side);
	if (!about->words && shelf_turn(files, record, &turn)) {
		about->words = turn.is_reply ? NULL : xstrdup(turn.text);
		free(turn.text);
	}
	const bool is_known = about->directory || files->directory_file;
	return !(about->words && is_known) && ++looking->records < MAX_RECORDS;
}

static bool take_directory(struct json_object *record, void *data)
{
	struct looking *looking = data;
	looking->about.directory = xstrdup_or_null(
		string_of(json_at(record, looking->files->directory)));
	return !looking->about.directory;
}

/* The directory that a file beside the conversation's names; NULL. */
static char *read_beside(const struct agent_files *files, const char *path)
{
	cleanup_free char *place = xstrndup(path, (size_t)(path_basename(path) - path));
	cleanup_free char *beside = xasprintf("%s%s", place, files->directory_file);
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *object = NULL;
	if (fs_read(AT_FDCWD, beside, MAX_BESIDE, &text, NULL) != 0)
		return NULL;
	if (!files->directory)
		return xstrndup(strbuf_text(&text), strcspn(strbuf_text(&text), "\n"));
	if (json_parse(strbuf_text(&text), text.length, beside, &object, NULL) < 0)
		return NULL;
	return xstrdup_or_null(string_of(json_at(object, files->directory)));
}

int shelf_look(const struct agent_files *files, const struct shelf_item *item,
	       struct shelf_about *ret, struct error *err)
{
	struct looking looking = { .files = files };
	struct shelf_about *about = &looking.about;
	struct stat st;
	int r = transcript_visit(item->path, HEAD, visit, &looking, err);
	/* A conversation without its directory cannot be continued. */
	if (r == 0 && !about->directory && files->directory && !files->directory_file)
		r = transcript_visit(item->path, 0, take_directory, &looking, err);
	if (r != 0 || lstat(item->path, &st) < 0) {
		shelf_about_free(about);
		return r < 0 ? -1 : SHELF_GONE;
	}
	if (files->directory_file)
		about->directory = read_beside(files, item->path);
	about->is_empty = !about->words && !looking.has_turns && st.st_size <= HEAD &&
			  looking.records < MAX_RECORDS;
	*ret = *about;
	return 0;
}

static bool take_model(const struct json_object *record, void *data)
{
	struct looking *looking = data;
	const struct agent_files *files = looking->files;
	const char *model = json_matches(record, files->reply) && !has_any(record, &files->skip)
				    ? string_of(json_at(record, files->model))
				    : NULL;
	/* "<synthetic>": the agent wrote the record itself, as after an error. */
	if (is_empty(model) || *model == '<')
		return false;
	looking->about.model = xstrdup(model);
	return true;
}

int shelf_describe(const struct agent_files *files, const char *path, struct shelf_about *ret,
		   struct error *err)
{
	struct looking looking = { .files = files };
	const struct shelf_item item = { .path = (char *)path };
	const int r = shelf_look(files, &item, &looking.about, err);
	if (r == 0 && files->model &&
	    transcript_visit_back(path, -TAIL, take_model, &looking, err) < 0) {
		shelf_about_free(&looking.about);
		return -1;
	}
	if (r == 0)
		*ret = looking.about;
	return r;
}

void shelf_about_free(struct shelf_about *about)
{
	free(about->directory);
	free(about->words);
	free(about->model);
	*about = (struct shelf_about){ 0 };
}

/* ---- one of them ------------------------------------------------------------------------------ */

/* Has the path the names of the pattern, and this id? */
static bool is_place(const char *pattern, const char *path, const char *session_id)
{
	cleanup_free char *copy = xstrdup(path);
	cleanup_free char *id = NULL;
	char *rest = copy;
	for (const char *part; (part = strsep(&rest, "/"));) {
		const size_t length = strcspn(pattern, "/");
		if (!agent_files_match(pattern, length, part, &id))
			return false;
		pattern += length + (pattern[length] == '/');
		if (!*pattern)
			return !rest && id && streq(id, session_id);
	}
	return false;
}

static bool has_turns(const struct agent_files *files, const struct shelf_item *item)
{
	cleanup_shelf_about struct shelf_about about = { 0 };
	return shelf_look(files, item, &about, NULL) == 0 && !about.is_empty;
}

/* gemini begins an empty file beside that of a conversation that it resumes. */
static const struct shelf_item *pick(const struct agent_files *files, const struct shelf *shelf,
				     const char *session_id)
{
	const struct shelf_item *newest = shelf_find(shelf, session_id);
	for (const struct shelf_item *item = newest; item && item < shelf->items + shelf->count;
	     item++)
		if (naming_same_session_id(item->session_id, session_id) && has_turns(files, item))
			return item;
	return newest;
}

/* Is this the path of the conversation's file in the home? */
static bool is_its(const struct agent_files *files, const char *home, const char *session_id,
		   const char *path)
{
	const size_t length = strlen(home);
	struct stat st;
	return strncmp(path, home, length) == 0 && path[length] == '/' &&
	       is_place(files->conversation, path + length + 1, session_id) &&
	       lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

int shelf_pick(const struct agent_files *files, const char *home, const char *session_id,
	       const char *hint, struct transcript *ret, struct error *err)
{
	cleanup_shelf struct shelf shelf = { 0 };
	if (hint && is_its(files, home, session_id, hint)) {
		ret->path = xstrdup(hint);
		ret->session_id = xstrdup(session_id);
		return 0;
	}
	if (shelf_list(files, home, &shelf, err) < 0)
		return -1;
	const struct shelf_item *item = pick(files, &shelf, session_id);
	if (!item && shelf.problem)
		return error_set(err, ERROR_SYSTEM,
				 "conversation %s was not found, and may be where agentdeck cannot "
				 "read: %s: make that readable, or move it away",
				 session_id, shelf.problem);
	if (!item)
		return TRANSCRIPT_NONE;
	ret->path = xstrdup(item->path);
	ret->session_id = xstrdup(item->session_id);
	return 0;
}

int shelf_latest(const char *home, const char *cwd,
		 bool (*is_owned)(const char *session_id, void *data), void *data,
		 struct transcript *ret, struct error *err)
{
	const struct agent_files here = { .conversation = (char[]){ FILES_UUID_SLOT ".jsonl" } };
	cleanup_free char *slug = transcript_slug(cwd);
	cleanup_free char *folder = xasprintf("%s/projects/%s", home, slug);
	cleanup_shelf struct shelf shelf = { 0 };
	if (shelf_list(&here, folder, &shelf, err) < 0)
		return -1;
	if (shelf.problem)
		return error_set(err, ERROR_SYSTEM, "%s", shelf.problem);
	for (size_t i = 0; i < shelf.count; i++) {
		const struct shelf_item *item = &shelf.items[i];
		cleanup_transcript struct transcript found = { 0 };
		if ((is_owned && is_owned(item->session_id, data)) ||
		    transcript_look(item->path, &found, NULL) != 0 || !found.has_turns ||
		    !streq(or_empty(found.cwd), cwd))
			continue;
		*ret = found;
		found = (struct transcript){ 0 };
		return 0;
	}
	return TRANSCRIPT_NONE;
}

/* A text, as most agents write it, or milliseconds since the Epoch.  The caller frees. */
static char *time_of(const struct json_object *record)
{
	char buffer[CLOCK_TEXT_SIZE];
	const int64_t ms = json_get_int(record, "time", 0);
	return xstrdup(ms > 0 && ms < INT64_MAX / 1000 ? clock_format(ms * 1000, buffer)
						       : json_get_string(record, "timestamp", ""));
}

struct last_reply {
	const struct agent_files *files;
	char **text, **time;
};

static bool take_reply(const struct json_object *record, void *data)
{
	const struct last_reply *last = data;
	struct transcript_turn turn;
	if (!shelf_turn(last->files, record, &turn))
		return false;
	if (!turn.is_reply) {
		free(turn.text);
		return false;
	}
	*last->text = turn.text;
	if (last->time)
		*last->time = time_of(record);
	return true;
}

int shelf_last_reply(const struct agent_files *files, const char *path, char **ret, char **ret_time,
		     struct error *err)
{
	struct last_reply last = { files, ret, ret_time };
	return transcript_visit_back(path, 0, take_reply, &last, err);
}

/* The last ones of an array, filled from its end. */
struct last_turns {
	const struct agent_files *files;
	struct transcript_turn *items;
	size_t first;
};

static bool take_turn(const struct json_object *record, void *data)
{
	struct last_turns *last = data;
	if (shelf_turn(last->files, record, &last->items[last->first - 1]))
		last->first--;
	return last->first == 0;
}

int shelf_last_turns(const struct agent_files *files, const char *path, size_t max,
		     struct transcript_turns *ret, struct error *err)
{
	cleanup_transcript_turns struct transcript_turns turns = { 0 };
	struct last_turns last = { files, xcalloc(max, sizeof(*turns.items)), max };
	const int r = transcript_visit_back(path, -TAIL, take_turn, &last, err);
	turns.items = last.items;
	turns.count = max - last.first;
	memmove(turns.items, turns.items + last.first, turns.count * sizeof(*turns.items));
	if (r < 0)
		return -1;
	if (turns.count == 0)
		return TRANSCRIPT_NONE;
	*ret = turns;
	turns = (struct transcript_turns){ 0 };
	return 0;
}

/* ---- in another home -------------------------------------------------------------------------- */

char *shelf_place(const struct agent_files *files, const char *session_id, const char *launch,
		  const char *was)
{
	if (!files || files->reach == FILES_STAY)
		return NULL;
	if (files->reach == FILES_FOLLOW) {
		cleanup_free char *slug = transcript_slug(launch);
		return xasprintf("projects/%s/%s.jsonl", slug, session_id);
	}
	return was && is_place(files->conversation, was, session_id) ? xstrdup(was) : NULL;
}
