/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/transcript/holder.h"

#include "base/filelock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "model/session/naming.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>

enum { MAX_NOTE = 64 << 10 };

static struct json_object *read_note(int directory, const char *name)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct json_object *note = NULL;
	if (!strstr(name, ".json") || fs_read(directory, name, MAX_NOTE, &text, NULL) != 0 ||
	    json_parse(strbuf_text(&text), text.length, name, &note, NULL) < 0)
		return NULL;
	return note;
}

/* The process that the note names. */
static bool names_process(const struct json_object *note, struct process_id *ret)
{
	int64_t start;
	const int64_t pid = json_get_int(note, "pid", 0);
	if (pid <= 1 || pid > INT32_MAX ||
	    !parse_int64(json_get_string(note, "procStart", ""), 1, INT64_MAX, &start))
		return false;
	*ret = (struct process_id){ .pid = (pid_t)pid, .start = (uint64_t)start };
	return true;
}

static bool is_background(const struct json_object *note)
{
	return streq(json_get_string(note, "kind", ""), "bg");
}

void holder_skip_clear(struct holder_skip *skip)
{
	strvec_clear(&skip->marks);
	*skip = (struct holder_skip){ 0 };
}

static bool is_skipped(pid_t pid, const struct holder_skip *skip)
{
	cleanup_strvec struct strvec environment = { 0 };
	if (skip->is_own && skip->is_own(skip->context, pid))
		return true;
	if (process_environment(pid, &environment, NULL) != 0)
		return false;
	for (size_t i = 0; i < skip->marks.count; i++)
		if (strvec_contains(&environment, skip->marks.items[i]))
			return true;
	return false;
}

static int find_note(const char *home, const char *session_id, const struct holder_skip *skip,
		     struct process_id *ret)
{
	cleanup_free char *path = path_join(home, "sessions");
	cleanup_close int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	if (directory < 0 || fs_list(directory, &names, NULL) < 0)
		return HOLDER_NONE;
	for (size_t i = 0; i < names.count; i++) {
		cleanup_json struct json_object *note = read_note(directory, names.items[i]);
		struct process_id process;
		if (!note || !streq(json_get_string(note, "sessionId", ""), session_id) ||
		    is_background(note) || !names_process(note, &process) ||
		    !process_alive(&process) || is_skipped(process.pid, skip))
			continue;
		*ret = process;
		return 0;
	}
	return HOLDER_NONE;
}

void holder_note_clear(struct holder_note *note)
{
	free(note->session_id);
	free(note->directory);
	*note = (struct holder_note){ 0 };
}

int holder_read_note(const struct agent *agent, const char *home, const struct process_id *process,
		     struct holder_note *ret)
{
	struct process_id named;
	cleanup_free char *path = path_join(home, "sessions");
	cleanup_free char *name = xasprintf("%d.json", (int)process->pid);
	if (!agent->processes || !process->pid)
		return HOLDER_NONE;
	cleanup_close int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_json struct json_object *note = directory < 0 ? NULL : read_note(directory, name);
	const char *id = json_get_string(note, "sessionId", NULL);
	if (!id || is_background(note) || !names_process(note, &named) ||
	    !process_same(&named, process))
		return HOLDER_NONE;
	*ret = (struct holder_note){
		.session_id = xstrdup(id),
		.directory = xstrdup_or_null(json_get_string(note, "cwd", NULL)),
	};
	return 0;
}

/* The lock's path below the home, with the id in it. */
static char *lock_path(const char *home, const char *lock, const char *session_id)
{
	const char *slot = strchr(lock, '{');
	return xasprintf("%s/%.*s%s%s", home, (int)(slot - lock), lock, session_id,
			 strchr(slot, '}') + 1);
}

static int find_lock(const struct agent *agent, const char *home, const char *session_id,
		     const struct holder_skip *skip, struct process_id *ret)
{
	cleanup_free char *path = lock_path(home, agent->files.lock, session_id);
	char *name = strrchr(path, '/');
	*name++ = '\0';
	cleanup_close int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	if (directory < 0 || fs_list(directory, &names, NULL) < 0)
		return HOLDER_NONE;
	for (size_t i = 0; i < names.count; i++) {
		struct process_id process;
		struct stat st;
		if (fnmatch(name, names.items[i], 0) != 0 ||
		    fstatat(directory, names.items[i], &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    filelock_holder(&st, &process) != 0 || is_skipped(process.pid, skip))
			continue;
		*ret = process;
		return 0;
	}
	return HOLDER_NONE;
}

int holder_find(const struct agent *agent, const char *home, const char *session_id,
		const struct holder_skip *skip, struct process_id *ret)
{
	if (agent->processes && find_note(home, session_id, skip, ret) == 0)
		return 0;
	if (agent->files.lock && naming_is_session_id(session_id))
		return find_lock(agent, home, session_id, skip, ret);
	return HOLDER_NONE;
}
