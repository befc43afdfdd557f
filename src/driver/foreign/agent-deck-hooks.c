/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The hooks that agent-deck has left in the agents' settings.  They act when AGENTDECK_INSTANCE_ID
 * is set: in sessions of ours they run, and do nothing.
 */
#include "driver/foreign/foreign-internal.h"

#include "base/fsutil.h"
#include "base/toml.h"
#include "base/tomledit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HANDLER "agent-deck hook-handler"

/* An agent's settings, below its home. */
struct hooked {
	const char *variable; /* of its home; NULL: it has none */
	const char *home, *name;
};

static char *path_of(const struct foreign_place *place, const struct hooked *hooked)
{
	const char *home = hooked->variable ? place->lookup(hooked->variable) : NULL;
	cleanup_free char *usual = path_join(place->home, hooked->home);
	return path_join(home && *home == '/' ? home : usual, hooked->name);
}

static bool has_handler(const struct json_object *group)
{
	const struct json_object *hooks = json_get_array(group, "hooks");
	for (size_t i = 0; hooks && i < json_object_array_length(hooks); i++)
		if (streq(json_get_string(json_object_array_get_idx(hooks, i), "command", ""),
			  HANDLER))
			return true;
	return false;
}

/* In how many events of a settings.json is the handler? */
static size_t count_events(const struct json_object *settings)
{
	struct json_object *hooks = json_get_object(settings, "hooks");
	size_t count = 0;
	if (!hooks)
		return 0;
	json_object_object_foreach(hooks, event, value) {
		const struct json_object *groups = json_get_array(hooks, event);
		bool found = false;
		(void)value;
		for (size_t i = 0; groups && i < json_object_array_length(groups) && !found; i++)
			found = has_handler(json_object_array_get_idx(groups, i));
		count += found;
	}
	return count;
}

static void tell_unread(const char *path, const struct error *why, struct import_rows *ret)
{
	strvec_pushf(&ret->told, "%s may have hooks of agent-deck, but cannot be read: %s", path,
		     why->message);
}

static void tell_handlers(const char *path, struct import_rows *ret)
{
	cleanup_json struct json_object *settings = NULL;
	cleanup_error struct error why = { 0 };
	int r = foreign_json(path, &settings, &why);
	const size_t count = r == 0 ? count_events(settings) : 0;
	if (r < 0)
		tell_unread(path, &why, ret);
	if (count)
		strvec_pushf(&ret->told,
			     "%s has hooks of agent-deck for %zu events, which do nothing in "
			     "sessions of agentdeck: --remove-hooks with --apply removes them",
			     path, count);
}

/* codex: notify = ["agent-deck", "codex-notify"] */
static bool has_notify(const struct json_object *settings)
{
	const struct json_object *words = json_get_array(settings, "notify");
	return words && json_object_array_length(words) == 2 &&
	       streq(or_empty(json_object_get_string(json_object_array_get_idx(words, 0))),
		     "agent-deck") &&
	       streq(or_empty(json_object_get_string(json_object_array_get_idx(words, 1))),
		     "codex-notify");
}

static void tell_notify(const char *path, struct import_rows *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *settings = NULL;
	cleanup_error struct error why = { 0 };
	int r = fs_read(AT_FDCWD, path, FOREIGN_MAX_FILE, &text, &why);
	if (r == 0)
		r = toml_parse(strbuf_text(&text), text.length, path, &settings, &why);
	if (r < 0)
		tell_unread(path, &why, ret);
	if (r == 0 && has_notify(settings))
		strvec_pushf(&ret->told,
			     "%s calls agent-deck, which does nothing in sessions of "
			     "agentdeck: --remove-hooks with --apply removes that",
			     path);
}

static const struct hooked handlers[] = {
	{ "CLAUDE_CONFIG_DIR", ".claude", "settings.json" },
	{ NULL, ".gemini", "settings.json" },
};
static const struct hooked codex = { "CODEX_HOME", ".codex", "config.toml" };

void foreign_tell_hooks(const struct foreign_place *place, struct import_rows *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		cleanup_free char *path = path_of(place, handlers + i);
		tell_handlers(path, ret);
	}
	cleanup_free char *path = path_of(place, &codex);
	tell_notify(path, ret);
}

/* ---- removing --------------------------------------------------------------------------------- */

/* A settings file, open in its directory. */
struct settings_file {
	char *path; /* real */
	const char *name;
	int directory, fd;
	struct stat st;
	struct strbuf text;
};

static void settings_file_clear(struct settings_file *file)
{
	free(file->path);
	strbuf_free(&file->text);
	if (file->directory >= 0)
		(void)close(file->directory);
	if (file->fd >= 0)
		(void)close(file->fd);
}
#define cleanup_settings_file CLEANUP(settings_file_clear)

static int settings_file_open(const char *path, struct settings_file *ret, struct error *err)
{
	*ret = (struct settings_file){ .directory = -1, .fd = -1 };
	ret->path = realpath(path, NULL);
	if (!ret->path)
		return errno == ENOENT ? FOREIGN_ABSENT : error_set_errno(err, errno, "%s", path);
	char *slash = strrchr(ret->path, '/');
	cleanup_free char *directory = xstrndup(ret->path, (size_t)(slash - ret->path));
	ret->name = slash + 1;
	ret->directory = open(*directory ? directory : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->directory >= 0)
		ret->fd = openat(ret->directory, ret->name,
				 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (ret->fd < 0 || fstat(ret->fd, &ret->st) < 0)
		return error_set_errno(err, errno, "open %s", ret->path);
	if (!S_ISREG(ret->st.st_mode) || ret->st.st_uid != geteuid())
		return error_set(err, ERROR_INVALID, "%s is not a regular file of yours",
				 ret->path);
	return fs_read_fd(ret->fd, ret->path, FOREIGN_MAX_FILE, &ret->text, err);
}

/* The file as it was, beside it: the first name of NAME.before-agentdeck[-2...] that is free. */
static int save_copy(const struct settings_file *file, char **ret_name, struct error *err)
{
	for (unsigned i = 1;; i++) {
		cleanup_free char *name = i == 1 ? xasprintf("%s.before-agentdeck", file->name)
						 : xasprintf("%s.before-agentdeck-%u", file->name,
							     i);
		cleanup_close int fd = openat(file->directory, name,
					      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
					      0600);
		if (fd < 0 && errno == EEXIST && i < 1000)
			continue;
		if (fd < 0)
			return error_set_errno(err, errno, "make %s beside %s", name, file->path);
		if (fs_write_all(fd, file->text.data, file->text.length, name, err) < 0)
			return -1;
		if (fsync(fd) < 0)
			return error_set_errno(err, errno, "write %s", name);
		*ret_name = TAKE_PTR(name);
		return 0;
	}
}

/* Agents write their settings, too. */
static bool has_changed(const struct settings_file *file)
{
	struct stat now;
	return fstatat(file->directory, file->name, &now, AT_SYMLINK_NOFOLLOW) < 0 ||
	       now.st_ino != file->st.st_ino || now.st_dev != file->st.st_dev ||
	       now.st_size != file->st.st_size || now.st_mtim.tv_sec != file->st.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != file->st.st_mtim.tv_nsec;
}

static int replace(const struct settings_file *file, const struct strbuf *text, struct strvec *ret,
		   struct error *err)
{
	cleanup_free char *copy = NULL;
	if (save_copy(file, &copy, err) < 0)
		return -1;
	if (has_changed(file))
		return error_set(err, ERROR_BUSY, "%s has just been changed: try again",
				 file->path);
	if (fs_replace(file->directory, file->name, text->data, text->length, FS_DURABLE, err) < 0)
		return -1;
	strvec_pushf(ret, "%s: removed the hooks of agent-deck; the file as it was is %s beside it",
		     file->path, copy);
	if (fchmodat(file->directory, file->name, file->st.st_mode & 07777, 0) < 0)
		return error_set_errno(err, errno, "set the mode of %s", file->path);
	return 0;
}

/* Without the handler; true if nothing else is in it. */
static bool empty_group(struct json_object *group)
{
	struct json_object *hooks = json_get_array(group, "hooks");
	if (!has_handler(group))
		return false;
	for (size_t i = json_object_array_length(hooks); i-- > 0;)
		if (streq(json_get_string(json_object_array_get_idx(hooks, i), "command", ""),
			  HANDLER))
			(void)json_object_array_del_idx(hooks, i, 1);
	return json_object_array_length(hooks) == 0;
}

/* What has become empty goes, too. */
static void drop_handlers(struct json_object *settings)
{
	struct json_object *hooks = json_get_object(settings, "hooks");
	cleanup_strvec struct strvec events = { 0 };
	json_object_object_foreach(hooks, event, value) {
		(void)value;
		strvec_push(&events, event);
	}
	for (size_t i = 0; i < events.count; i++) {
		struct json_object *groups = json_get_array(hooks, events.items[i]);
		const size_t before = groups ? json_object_array_length(groups) : 0;
		for (size_t j = before; j-- > 0;)
			if (empty_group(json_object_array_get_idx(groups, j)))
				(void)json_object_array_del_idx(groups, j, 1);
		if (before && json_object_array_length(groups) == 0)
			json_object_object_del(hooks, events.items[i]);
	}
	if (json_object_object_length(hooks) == 0)
		json_object_object_del(settings, "hooks");
}

static int remove_handlers(const char *path, struct strvec *ret, struct error *err)
{
	cleanup_settings_file struct settings_file file;
	cleanup_json struct json_object *settings = NULL;
	cleanup_strbuf struct strbuf text = { 0 };
	int r = settings_file_open(path, &file, err);
	if (r == 0)
		r = json_parse(strbuf_text(&file.text), file.text.length, file.path, &settings,
			       err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (count_events(settings) == 0)
		return 0;
	drop_handlers(settings);
	strbuf_adds(&text, json_print(settings));
	strbuf_adds(&text, ends_with(strbuf_text(&file.text), "\n") ? "\n" : "");
	return replace(&file, &text, ret, err);
}

static int remove_notify(const char *path, struct strvec *ret, struct error *err)
{
	cleanup_settings_file struct settings_file file;
	cleanup_json struct json_object *settings = NULL;
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_strvec struct strvec parts = { 0 };
	int r = settings_file_open(path, &file, err);
	if (r == 0)
		r = toml_parse(strbuf_text(&file.text), file.text.length, file.path, &settings,
			       err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (!has_notify(settings))
		return 0;
	strvec_push(&parts, "notify");
	const struct toml_change change = { strbuf_text(&file.text), file.text.length, file.path,
					    &parts };
	if (toml_unset(&change, &text, err) < 0)
		return -1;
	return replace(&file, &text, ret, err);
}

int foreign_remove_hooks(const struct foreign_place *place, struct strvec *ret, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		cleanup_free char *path = path_of(place, handlers + i);
		if (remove_handlers(path, ret, err) < 0)
			return -1;
	}
	cleanup_free char *path = path_of(place, &codex);
	return remove_notify(path, ret, err);
}
