/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "demo/dialogue.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "driver/transcript/shelf.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void forget_turns(struct dialogue *dialogue)
{
	for (size_t i = 0; i < dialogue->count; i++)
		free(dialogue->turns[i].text);
	free(dialogue->turns);
	dialogue->turns = NULL;
	dialogue->count = dialogue->size = 0;
	replace_string(&dialogue->last_uuid, NULL);
	strbuf_free(&dialogue->carried);
	strbuf_free(&dialogue->late);
	dialogue->is_fork = false;
	dialogue->torn = false;
}

void dialogue_free(struct dialogue *dialogue)
{
	forget_turns(dialogue);
	free(dialogue->home);
	free(dialogue->cwd);
	free(dialogue->session_id);
	free(dialogue->folder);
	free(dialogue->path);
	*dialogue = (struct dialogue){ 0 };
}

int dialogue_find_home(char **ret, struct error *err)
{
	const char *own = getenv("AGENTDECK_DEMO_CONFIG_DIR");
	const char *user = getenv("HOME");
	if (!is_empty(own) && *own != '/')
		return error_set(err, ERROR_USAGE,
				 "AGENTDECK_DEMO_CONFIG_DIR is %s: give an absolute path", own);
	if (!is_empty(own))
		*ret = xstrdup(own);
	else if (user && *user == '/')
		*ret = path_join(user, ".local/share/agentdeck-demo-agent");
	else
		return error_set(err, ERROR_USAGE,
				 "no place for conversations: set HOME, or "
				 "AGENTDECK_DEMO_CONFIG_DIR, to an absolute path");
	return 0;
}

static void set_place(struct dialogue *dialogue, const char *folder, const char *session_id)
{
	replace_string(&dialogue->folder, folder);
	replace_string(&dialogue->session_id, session_id);
	free(dialogue->path);
	dialogue->path = xasprintf("%s/projects/%s/%s.jsonl", dialogue->home, folder,
				   dialogue->session_id);
}

void dialogue_begin(struct dialogue *dialogue, const char *session_id)
{
	cleanup_free char *slug = transcript_slug(dialogue->cwd);
	forget_turns(dialogue);
	set_place(dialogue, slug, session_id);
}

bool dialogue_is_taken(const struct dialogue *dialogue, const char *session_id)
{
	struct stat st;
	cleanup_free char *slug = transcript_slug(dialogue->cwd);
	cleanup_free char *path = xasprintf("%s/projects/%s/%s.jsonl", dialogue->home, slug,
					    session_id);
	return lstat(path, &st) == 0;
}

/* Takes ownership of text. */
static void add_turn(struct dialogue *dialogue, bool by_user, char *text)
{
	if (dialogue->count == dialogue->size) {
		size_t size = dialogue->size ? dialogue->size * 2 : 16;
		struct turn *grown = reallocarray(dialogue->turns, size, sizeof(*grown));
		if (!grown)
			abort();
		dialogue->turns = grown;
		dialogue->size = size;
	}
	dialogue->turns[dialogue->count++] = (struct turn){ .by_user = by_user, .text = text };
}

/* One line without line breaks, and with readable paths.  Borrowed from object. */
static const char *as_line(struct json_object *object)
{
	return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							      JSON_C_TO_STRING_NOSLASHESCAPE);
}

static bool remember(struct json_object *record, void *data)
{
	struct dialogue *dialogue = data;
	struct transcript_turn turn;
	if (!shelf_turn(agent_files_named("projects"), record, &turn))
		return true;
	add_turn(dialogue, !turn.is_reply, turn.text);
	replace_string(&dialogue->last_uuid, json_get_string(record, "uuid", NULL));
	strbuf_addf(&dialogue->carried, "%s\n", as_line(record));
	return true;
}

/* Whether the last write was cut short.  The next record must then start on a new line. */
static bool is_torn(const char *path)
{
	struct stat st;
	char last = '\n';
	cleanup_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 &&
	       pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

static int load(struct dialogue *dialogue, const struct transcript *transcript, struct error *err)
{
	cleanup_free char *directory = xstrndup(
		transcript->path, (size_t)(path_basename(transcript->path) - transcript->path - 1));
	forget_turns(dialogue);
	int r = transcript_visit(transcript->path, 0, remember, dialogue, err);
	if (r < 0)
		return -1;
	if (r == TRANSCRIPT_NONE || dialogue->count == 0)
		return DIALOGUE_ABSENT;
	dialogue->torn = is_torn(transcript->path);
	set_place(dialogue, path_basename(directory), transcript->session_id);
	return 0;
}

int dialogue_resume(struct dialogue *dialogue, const char *session_id, struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_strvec struct strvec folders = { 0 };
	if (dialogue->is_bound && !dialogue_is_taken(dialogue, session_id))
		return DIALOGUE_ABSENT;
	cleanup_free char *projects = path_join(dialogue->home, "projects");
	int r = transcript_find(dialogue->home, dialogue->cwd, session_id, NULL, &found, err);
	if (r < 0)
		return -1;
	if (r == 0)
		return load(dialogue, &found, err);

	cleanup_close int fd = open(projects, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return DIALOGUE_ABSENT;
	if (fs_list(fd, &folders, err) < 0)
		return -1;
	for (size_t i = 0; i < folders.count; i++) {
		cleanup_free char *hint = xasprintf("%s/%s/%s.jsonl", projects, folders.items[i],
						    session_id);
		r = transcript_find(dialogue->home, dialogue->cwd, session_id, hint, &found, err);
		if (r < 0)
			return -1;
		if (r == 0)
			return load(dialogue, &found, err);
	}
	return DIALOGUE_ABSENT;
}

int dialogue_resume_latest(struct dialogue *dialogue, struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	int r = shelf_latest(dialogue->home, dialogue->cwd, NULL, NULL, &found, err);
	if (r != 0)
		return r < 0 ? -1 : DIALOGUE_ABSENT;
	return load(dialogue, &found, err);
}

void dialogue_fork(struct dialogue *dialogue, const char *session_id)
{
	cleanup_strbuf struct strbuf records = dialogue->carried;
	cleanup_free char *slug = transcript_slug(dialogue->cwd);
	dialogue->carried = (struct strbuf){ 0 };
	char *rest = records.data;
	for (char *line; (line = strsep(&rest, "\n"));) {
		cleanup_json struct json_object *record = NULL;
		if (json_parse(line, strlen(line), "record", &record, NULL) != 0)
			continue;
		json_set_string(record, "sessionId", session_id);
		strbuf_addf(&dialogue->carried, "%s\n", as_line(record));
	}
	dialogue->is_fork = true;
	dialogue->torn = false;
	set_place(dialogue, slug, session_id);
}

/* Open the file to append a record; make it and its directories when missing. */
static int open_file(const struct dialogue *dialogue, int *ret, struct error *err)
{
	cleanup_close int home = -1, projects = -1, folder = -1;
	if (fs_open_private_directory(dialogue->home, &home, err) < 0 ||
	    fs_open_private_directory_at(home, "projects", true, &projects, err) < 0 ||
	    fs_open_private_directory_at(projects, dialogue->folder, true, &folder, err) < 0)
		return -1;
	const char *name = path_basename(dialogue->path);
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
	cleanup_close int fd = openat(folder, name, flags);
	if (fd < 0 && errno == ENOENT) {
		fd = openat(folder, name, flags | O_CREAT, 0600);
		if (fd >= 0 && fsync(folder) < 0)
			return error_set_errno(err, errno, "sync the directory of %s",
					       dialogue->path);
	}
	if (fd < 0)
		return error_set_errno(err, errno, "open %s", dialogue->path);
	*ret = TAKE_FD(fd);
	return 0;
}

/* Write the records that are held back; in a fork's new file, after those it was made from. */
static int write_late(struct dialogue *dialogue, struct error *err)
{
	cleanup_strbuf struct strbuf data = { 0 };
	cleanup_close int fd = -1;
	if (open_file(dialogue, &fd, err) < 0)
		return -1;
	if (dialogue->torn)
		strbuf_adds(&data, "\n");
	if (dialogue->is_fork)
		strbuf_adds(&data, strbuf_text(&dialogue->carried));
	strbuf_adds(&data, strbuf_text(&dialogue->late));
	/* From here on the file may end in the middle of a record. */
	dialogue->torn = true;
	if (fs_write_all(fd, data.data, data.length, dialogue->path, err) < 0)
		return -1;
	if (fsync(fd) < 0)
		return error_set_errno(err, errno, "sync %s", dialogue->path);
	dialogue->torn = false;
	strbuf_free(&dialogue->late);
	strbuf_free(&dialogue->carried);
	return 0;
}

int dialogue_flush(struct dialogue *dialogue, struct error *err)
{
	return dialogue->late.length ? write_late(dialogue, err) : 0;
}

static int append(struct dialogue *dialogue, bool by_user, const char *record, struct error *err)
{
	int said = by_user;
	if (!dialogue->is_saved)
		return 0;
	for (size_t i = 0; i < dialogue->count; i++)
		said += dialogue->turns[i].by_user;
	size_t before = dialogue->late.length;
	strbuf_addf(&dialogue->late, "%s\n", record);
	if (said <= dialogue->late_turns || write_late(dialogue, err) == 0)
		return 0;
	/* The caller treats it as not said. */
	dialogue->late.length = before;
	dialogue->late.data[before] = '\0';
	return -1;
}

/* Move the file to the directory's folder, and record the move in it, as claude does. */
static int move_file(struct dialogue *dialogue, const char *folder, struct error *err)
{
	cleanup_close int home = -1, projects = -1, target = -1;
	cleanup_free char *path = xasprintf("%s/projects/%s/%s.jsonl", dialogue->home, folder,
					    dialogue->session_id);
	cleanup_json struct json_object *record = json_object_new_object();
	if (access(dialogue->path, F_OK) < 0)
		return 0;
	if (fs_open_private_directory(dialogue->home, &home, err) < 0 ||
	    fs_open_private_directory_at(home, "projects", true, &projects, err) < 0 ||
	    fs_open_private_directory_at(projects, folder, true, &target, err) < 0)
		return -1;
	if (rename(dialogue->path, path) < 0)
		return error_set_errno(err, errno, "rename %s", dialogue->path);
	set_place(dialogue, folder, dialogue->session_id);
	json_set_string(record, "type", "relocated");
	json_set_string(record, "relocatedCwd", dialogue->cwd);
	json_set_string(record, "sessionId", dialogue->session_id);
	return append(dialogue, false, as_line(record), err);
}

int dialogue_move(struct dialogue *dialogue, const char *directory, struct error *err)
{
	cleanup_free char *real = NULL;
	int r = fs_real_directory(directory, &real, err);
	if (r == FS_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "there is no directory %s", directory);
	if (r < 0 || dialogue_flush(dialogue, err) < 0)
		return -1;
	if (chdir(real) < 0)
		return error_set_errno(err, errno, "enter %s", real);
	replace_string(&dialogue->cwd, real);
	cleanup_free char *slug = transcript_slug(real);
	if (move_file(dialogue, slug, err) < 0)
		return -1;
	set_place(dialogue, slug, dialogue->session_id);
	return 0;
}

static struct json_object *make_message(const struct dialogue *dialogue, bool by_user,
					const char *text)
{
	struct json_object *message = json_object_new_object();
	json_set_string(message, "role", by_user ? "user" : "assistant");
	if (by_user) {
		json_set_string(message, "content", text);
		return message;
	}
	struct json_object *block = json_object_new_object();
	struct json_object *content = json_object_new_array();
	json_set_string(block, "type", "text");
	json_set_string(block, "text", text);
	json_object_array_add(content, block);
	json_set_string(message, "type", "message");
	json_set_string(message, "model", dialogue->model ? dialogue->model : "demo");
	json_set(message, "content", content);
	return message;
}

static int write_turn(struct dialogue *dialogue, bool by_user, const char *text, struct error *err)
{
	char now[CLOCK_TEXT_SIZE];
	cleanup_free char *uuid = naming_new_uuid();
	cleanup_json struct json_object *record = json_object_new_object();
	json_set_string(record, "parentUuid", dialogue->last_uuid);
	json_set_bool(record, "isSidechain", false);
	json_set_string(record, "cwd", dialogue->cwd);
	json_set_string(record, "sessionId", dialogue->session_id);
	json_set_string(record, "version", PACKAGE_VERSION);
	json_set_string(record, "type", by_user ? "user" : "assistant");
	json_set(record, "message", make_message(dialogue, by_user, text));
	json_set_string(record, "uuid", uuid);
	json_set_string(record, "timestamp", clock_format(clock_wall_us(), now));
	if (by_user && dialogue->model)
		json_set_string(record, "model", dialogue->model);
	if (by_user && dialogue->system_prompt)
		json_set_string(record, "appendSystemPrompt", dialogue->system_prompt);
	if (append(dialogue, by_user, as_line(record), err) < 0)
		return -1;
	replace_string(&dialogue->last_uuid, uuid);
	add_turn(dialogue, by_user, xstrdup(text));
	return 0;
}

int dialogue_say(struct dialogue *dialogue, const char *text, struct error *err)
{
	return write_turn(dialogue, true, text, err);
}

int dialogue_reply(struct dialogue *dialogue, const char **ret, struct error *err)
{
	size_t said = 0, replies = 0;
	const char *first = NULL, *last = "";
	for (size_t i = 0; i < dialogue->count; i++) {
		if (!dialogue->turns[i].by_user) {
			replies++;
			continue;
		}
		said++;
		last = dialogue->turns[i].text;
		if (!first)
			first = last;
	}
	cleanup_free char *shown_first = visible(or_empty(first)), *shown_last = visible(last);
	cleanup_free char *reply = xasprintf(
		"demo: reply %zu. You said: \"%s\". I remember %zu of your messages; "
		"the first was \"%s\".",
		replies + 1, shown_last, said, shown_first);
	if (write_turn(dialogue, false, reply, err) < 0)
		return -1;
	*ret = dialogue->turns[dialogue->count - 1].text;
	return 0;
}
