/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/foreign/hooks.h"

#include "base/fsutil.h"
#include "base/jsonedit.h"
#include "base/toml.h"
#include "base/tomledit.h"
#include "driver/foreign/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- where they are --------------------------------------------------------------------------- */

struct target {
	const struct hooked *hooked;
	char *path;
};

/* All files to look at, each once. */
struct targets {
	struct target *items;
	size_t count;
	struct strvec seen; /* the real paths */
};

static void targets_clear(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		free(targets->items[i].path);
	free(targets->items);
	strvec_clear(&targets->seen);
}
#define cleanup_targets CLEANUP(targets_clear)

static void homes_clear(struct hooked_homes *homes)
{
	for (size_t i = 0; i < homes->count; i++)
		free(homes->items[i].path);
	free(homes->items);
	free(homes->settings);
}

void hooked_homes_add(struct hooked_homes *homes, const char *variable, char *path)
{
	homes->items = xreallocarray(homes->items, homes->count + 1, sizeof(*homes->items));
	homes->items[homes->count++] = (struct hooked_home){ variable, path };
}

static char *usual_path(const struct foreign_place *place, const struct hooked *hooked)
{
	const char *home = hooked->variable ? place->lookup(hooked->variable) : NULL;
	cleanup_free char *usual = path_join(place->home, hooked->home);
	return path_join(home && *home == '/' ? home : usual, hooked->name);
}

/* Homes may share their settings by a link.  A link of the program's counts itself.  Takes
 * ownership of path. */
static void add_target(struct targets *targets, const struct hooked *hooked, char *path)
{
	cleanup_free char *real = hooked->kind == HOOKED_LINK ? NULL : realpath(path, NULL);
	const char *name = real ? real : path;
	if (strvec_contains(&targets->seen, name)) {
		free(path);
		return;
	}
	strvec_push(&targets->seen, name);
	targets->items = xreallocarray(targets->items, targets->count + 1, sizeof(*targets->items));
	targets->items[targets->count++] = (struct target){ hooked, path };
}

/* Settings may name what another user can change. */
static bool is_own_home(const char *path)
{
	struct stat st;
	return *path == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid();
}

/* After an error *ret has the files in the usual homes, and *ret_settings, the caller's, is the
 * path of the program's settings, which cannot be read. */
static int list_targets(const struct foreign_hooks *hooks, const struct foreign_place *place,
			struct targets *ret, char **ret_settings, struct error *err)
{
	CLEANUP(homes_clear) struct hooked_homes homes = { 0 };
	const int r = hooks->list_homes ? hooks->list_homes(place, &homes, err) : 0;
	for (size_t i = 0; i < hooks->count; i++) {
		const struct hooked *hooked = &hooks->files[i];
		add_target(ret, hooked, usual_path(place, hooked));
		for (size_t j = 0; j < homes.count; j++)
			if (hooked->variable && streq(hooked->variable, homes.items[j].variable) &&
			    is_own_home(homes.items[j].path))
				add_target(ret, hooked,
					   path_join(homes.items[j].path, hooked->name));
	}
	if (r < 0)
		*ret_settings = TAKE_PTR(homes.settings);
	return r;
}

/* ---- what is in them -------------------------------------------------------------------------- */

static bool is_handler(const struct foreign_hooks *hooks, const struct json_object *entry)
{
	return hooks->is_its && hooks->is_its(json_get_string(entry, "command", ""));
}

static size_t count_handlers(const struct foreign_hooks *hooks, const struct json_object *group)
{
	const struct json_object *entries = json_get_array(group, "hooks");
	size_t count = 0;
	for (size_t i = 0; entries && i < json_object_array_length(entries); i++)
		count += is_handler(hooks, json_object_array_get_idx(entries, i));
	return count;
}

/* In how many events of these settings is a hook of the program? */
static size_t count_events(const struct foreign_hooks *hooks, const struct json_object *settings)
{
	struct json_object *events = json_get_object(settings, "hooks");
	size_t count = 0;
	if (!events)
		return 0;
	json_object_object_foreach(events, event, value) {
		const struct json_object *groups = json_get_array(events, event);
		bool found = false;
		(void)value;
		for (size_t i = 0; groups && i < json_object_array_length(groups) && !found; i++)
			found = count_handlers(hooks, json_object_array_get_idx(groups, i));
		count += found;
	}
	return count;
}

static bool has_notify(const struct foreign_hooks *hooks, const struct json_object *settings)
{
	const struct json_object *words = json_get_array(settings, "notify");
	if (!words || json_object_array_length(words) != ARRAY_SIZE(hooks->notify))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(hooks->notify); i++) {
		const char *word = or_empty(
			json_object_get_string(json_object_array_get_idx(words, i)));
		/* The first may be the path of the program. */
		const char *name = i == 0 && *word == '/' ? strrchr(word, '/') : NULL;
		if (!streq(name ? name + 1 : word, hooks->notify[i]))
			return false;
	}
	return true;
}

/* ---- taking them out of JSON ------------------------------------------------------------------ */

/* Paths in the settings, in their order. */
struct paths {
	struct strvec *items;
	size_t count;
};

static void paths_clear(struct paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		strvec_clear(&paths->items[i]);
	free(paths->items);
}

/* The event, the index of the group, and that of the entry, as far as they are given. */
static void add_path(struct paths *paths, const char *event, const size_t *indices, size_t count)
{
	paths->items = xreallocarray(paths->items, paths->count + 1, sizeof(*paths->items));
	struct strvec *path = &paths->items[paths->count++];
	*path = (struct strvec){ 0 };
	strvec_push(path, "hooks");
	if (event)
		strvec_push(path, event);
	for (size_t i = 0; i < count; i++) {
		if (i == 1)
			strvec_push(path, "hooks");
		strvec_pushf(path, "%zu", indices[i]);
	}
}

static void drop_from(struct paths *paths, size_t from)
{
	while (paths->count > from)
		strvec_clear(&paths->items[--paths->count]);
}

/* Returns true if nothing else is in the group, which then goes as a whole. */
static bool list_group(const struct foreign_hooks *hooks, const struct json_object *group,
		       const char *event, size_t index, struct paths *ret)
{
	const struct json_object *entries = json_get_array(group, "hooks");
	const size_t before = ret->count, count = count_handlers(hooks, group);
	for (size_t i = 0; count && i < json_object_array_length(entries); i++)
		if (is_handler(hooks, json_object_array_get_idx(entries, i)))
			add_path(ret, event, (const size_t[]){ index, i }, 2);
	if (!count || count < json_object_array_length(entries))
		return false;
	drop_from(ret, before);
	add_path(ret, event, &index, 1);
	return true;
}

static bool list_event(const struct foreign_hooks *hooks, const struct json_object *groups,
		       const char *event, struct paths *ret)
{
	const size_t before = ret->count;
	const size_t length = groups ? json_object_array_length(groups) : 0;
	size_t whole = 0;
	for (size_t i = 0; i < length; i++)
		whole += list_group(hooks, json_object_array_get_idx(groups, i), event, i, ret);
	if (!length || whole < length)
		return false;
	drop_from(ret, before);
	add_path(ret, event, NULL, 0);
	return true;
}

/* Where its hooks are, with what would be left empty without them. */
static void list_places(const struct foreign_hooks *hooks, const struct json_object *settings,
			struct paths *ret)
{
	struct json_object *events = json_get_object(settings, "hooks");
	size_t whole = 0;
	json_object_object_foreach(events, event, value) {
		(void)value;
		whole += list_event(hooks, json_get_array(events, event), event, ret);
	}
	if (!whole || whole < (size_t)json_object_object_length(events))
		return;
	drop_from(ret, 0);
	add_path(ret, NULL, NULL, 0);
}

/* Take the value at the path out of what json-c has read: what the text must become. */
static void drop_value(struct json_object *settings, const struct strvec *path)
{
	struct json_object *parent = settings;
	const char *last = path->items[path->count - 1];
	for (size_t i = 0; i + 1 < path->count; i++)
		parent = json_object_is_type(parent, json_type_array)
				 ? json_object_array_get_idx(parent,
							     strtoul(path->items[i], NULL, 10))
				 : json_object_object_get(parent, path->items[i]);
	if (json_object_is_type(parent, json_type_array))
		(void)json_object_array_del_idx(parent, strtoul(last, NULL, 10), 1);
	else
		json_object_object_del(parent, last);
}

/* "@@ 12 @@", the number of the first line, and these bytes of the text, "-" before each line. */
static void show_place(const char *text, const struct json_place *place, struct strbuf *ret)
{
	size_t line = 1, start = place->start, end = place->end;
	for (size_t i = 0; i < start; i++)
		line += text[i] == '\n';
	while (start > 0 && strchr(" \t", text[start - 1]))
		start--;
	if (start > 0 && text[start - 1] != '\n')
		start = place->start;
	if (text[end] == ',')
		end++;
	strbuf_addf(ret, "@@ %zu @@\n-", line);
	for (size_t i = start; i < end; i++)
		if (text[i] != '\r')
			strbuf_addf(ret, "%c%s", text[i], text[i] == '\n' ? "-" : "");
	strbuf_adds(ret, "\n");
}

/* From the last to the first, so that the others stay where they are. */
static int cut_places(const struct foreign_settings *file, const struct paths *paths,
		      struct json_object *settings, struct strbuf *ret, char **ret_changes)
{
	cleanup_free char *changes = xstrdup("");
	strbuf_add(ret, file->text.data, file->text.length);
	for (size_t i = paths->count; i-- > 0;) {
		cleanup_strbuf struct strbuf shown = { 0 };
		struct json_place place;
		if (!json_find(strbuf_text(ret), ret->length, &paths->items[i], &place))
			return -1;
		show_place(strbuf_text(ret), &place, &shown);
		strbuf_adds(&shown, changes);
		free(changes);
		changes = strbuf_take(&shown);
		memmove(ret->data + place.cut_from, ret->data + place.cut_to,
			ret->length - place.cut_to + 1);
		ret->length -= place.cut_to - place.cut_from;
		drop_value(settings, &paths->items[i]);
	}
	*ret_changes = TAKE_PTR(changes);
	return 0;
}

/* What is found in one file, and what it becomes. */
struct change {
	struct strbuf text;
	char *shown;
	size_t count;
};

static void change_clear(struct change *change)
{
	strbuf_free(&change->text);
	free(change->shown);
}

static int change_json(const struct foreign_hooks *hooks, const struct foreign_settings *file,
		       struct change *ret, struct error *err)
{
	cleanup_json struct json_object *settings = NULL, *after = NULL;
	CLEANUP(paths_clear) struct paths paths = { 0 };
	if (json_parse(strbuf_text(&file->text), file->text.length, file->path, &settings, err) < 0)
		return -1;
	ret->count = count_events(hooks, settings);
	if (!ret->count)
		return 0;
	list_places(hooks, settings, &paths);
	if (cut_places(file, &paths, settings, &ret->text, &ret->shown) < 0 ||
	    json_parse(strbuf_text(&ret->text), ret->text.length, file->path, &after, NULL) < 0 ||
	    !json_object_equal(settings, after))
		return error_set(err, ERROR_INVALID,
				 "%s is written in a way in which the hooks of %s cannot be "
				 "removed safely: remove them yourself",
				 file->path, hooks->name);
	return 0;
}

/* ---- the other kinds -------------------------------------------------------------------------- */

/* The lines that differ: as many before as after. */
static char *compare_lines(const char *before, const char *after)
{
	struct strbuf shown = { 0 };
	for (size_t line = 1; *before && *after; line++) {
		const size_t old = strcspn(before, "\n"), new = strcspn(after, "\n");
		if (old != new || memcmp(before, after, old) != 0)
			strbuf_addf(&shown, "@@ %zu @@\n-%.*s\n+%.*s\n", line, (int)old, before,
				    (int)new, after);
		before += old + (before[old] == '\n');
		after += new + (after[new] == '\n');
	}
	return strbuf_take(&shown);
}

static int change_notify(const struct foreign_hooks *hooks, const struct foreign_settings *file,
			 struct change *ret, struct error *err)
{
	cleanup_json struct json_object *settings = NULL;
	cleanup_strvec struct strvec parts = { 0 };
	if (toml_parse(strbuf_text(&file->text), file->text.length, file->path, &settings, err) < 0)
		return -1;
	if (!has_notify(hooks, settings))
		return 0;
	strvec_push(&parts, "notify");
	const struct toml_change change = { strbuf_text(&file->text), file->text.length, file->path,
					    &parts, "in an editor" };
	if (toml_unset(&change, &ret->text, err) < 0)
		return -1;
	ret->shown = compare_lines(strbuf_text(&file->text), strbuf_text(&ret->text));
	ret->count = 1;
	return 0;
}

static int change_toml(const struct foreign_hooks *hooks, const struct foreign_settings *file,
		       struct change *ret, struct error *err)
{
	cleanup_json struct json_object *settings = NULL;
	if (toml_parse(strbuf_text(&file->text), file->text.length, file->path, &settings, err) < 0)
		return -1;
	ret->count = count_events(hooks, settings);
	return 0;
}

static int change_file(const struct foreign_hooks *hooks, enum hooked_kind kind,
		       const struct foreign_settings *file, struct change *ret, struct error *err)
{
	return kind == HOOKED_JSON     ? change_json(hooks, file, ret, err)
	       : kind == HOOKED_NOTIFY ? change_notify(hooks, file, ret, err)
				       : change_toml(hooks, file, ret, err);
}

/* Where the link leads, if that is a file of the program's; the caller frees. */
static char *link_of(const struct foreign_hooks *hooks, const char *path)
{
	char target[PATH_MAX];
	const ssize_t length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return NULL;
	target[length] = '\0';
	return ends_with(target, hooks->link) ? xstrdup(target) : NULL;
}

/* A link is put aside under a name that the agent does not load. */
static int put_aside(const struct foreign_hooks *hooks, const char *path, char **ret_copy,
		     struct error *err)
{
	cleanup_free char *aside = xasprintf("%s.before-agentdeck", path);
	cleanup_free char *target = NULL;
	if (renameat2(AT_FDCWD, path, AT_FDCWD, aside, RENAME_NOREPLACE) < 0)
		return error_set_errno(err, errno, "rename %s to %s", path, aside);
	target = link_of(hooks, aside);
	if (!target) {
		(void)renameat2(AT_FDCWD, aside, AT_FDCWD, path, RENAME_NOREPLACE);
		return error_set(err, ERROR_BUSY, "%s has just been changed: try again", path);
	}
	*ret_copy = xstrdup(path_basename(aside));
	return 0;
}

/* ---- all of them ------------------------------------------------------------------------------ */

void foreign_hooked_files_free(struct foreign_hooked_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->items[i].path);
		free(files->items[i].changes);
		free(files->items[i].copy);
		error_clear(&files->items[i].why);
	}
	free(files->items);
	*files = (struct foreign_hooked_files){ 0 };
}

static struct foreign_hooked *add_file(struct foreign_hooked_files *files, const char *path,
				       size_t count, const char *changes)
{
	files->items = xreallocarray(files->items, files->count + 1, sizeof(*files->items));
	files->items[files->count] = (struct foreign_hooked){ .path = xstrdup(path),
							      .count = count,
							      .changes = xstrdup(changes) };
	return &files->items[files->count++];
}

static int visit_link(const struct foreign_hooks *hooks, const char *path,
		      enum foreign_removal removal, struct foreign_hooked_files *ret,
		      struct error *err)
{
	cleanup_free char *target = link_of(hooks, path), *copy = NULL;
	if (!target)
		return 0;
	if (removal == FOREIGN_REMOVE && put_aside(hooks, path, &copy, err) < 0)
		return -1;
	cleanup_free char *changes = xasprintf("-%s -> %s\n", path_basename(path), target);
	add_file(ret, path, 1, changes)->copy = TAKE_PTR(copy);
	return 0;
}

static int visit_file(const struct foreign_hooks *hooks, const struct hooked *hooked,
		      const char *path, enum foreign_removal removal,
		      struct foreign_hooked_files *ret, struct error *err)
{
	cleanup_foreign_settings struct foreign_settings file;
	CLEANUP(change_clear) struct change change = { 0 };
	cleanup_free char *copy = NULL;
	int r = foreign_settings_open(path, &file, err);
	if (r == 0)
		r = change_file(hooks, hooked->kind, &file, &change, err);
	if (r != 0 || !change.shown)
		return r < 0 ? -1 : 0;
	if (removal == FOREIGN_REMOVE &&
	    foreign_settings_replace(&file, &change.text, &copy, err) < 0)
		return -1;
	add_file(ret, file.path, change.count, change.shown)->copy = TAKE_PTR(copy);
	return 0;
}

void foreign_visit_hooks(const struct foreign_source *source, const struct foreign_place *place,
			 enum foreign_removal removal, struct foreign_hooked_files *ret)
{
	const struct foreign_hooks *hooks = source->hooks;
	cleanup_targets struct targets targets = { 0 };
	cleanup_error struct error unread = { 0 };
	cleanup_free char *settings = NULL;
	if (list_targets(hooks, place, &targets, &settings, &unread) < 0) {
		(void)error_prefix(&unread, "the homes that %s has for accounts are not known",
				   hooks->name);
		(void)error_move(&add_file(ret, settings, 0, "")->why, &unread);
	}
	for (size_t i = 0; i < targets.count; i++) {
		const struct target *target = &targets.items[i];
		cleanup_error struct error why = { 0 };
		const int r = target->hooked->kind == HOOKED_LINK
				      ? visit_link(hooks, target->path, removal, ret, &why)
				      : visit_file(hooks, target->hooked, target->path, removal,
						   ret, &why);
		if (r < 0)
			(void)error_move(&add_file(ret, target->path, 0, "")->why, &why);
	}
}

/* Positive: there is nothing to tell. */
static int count_in(const struct foreign_hooks *hooks, const struct hooked *hooked,
		    const char *path, size_t *ret, struct error *err)
{
	cleanup_foreign_settings struct foreign_settings file;
	CLEANUP(change_clear) struct change change = { 0 };
	int r = foreign_settings_open(path, &file, err);
	if (r == 0)
		r = change_file(hooks, hooked->kind, &file, &change, err);
	*ret = change.count;
	return r;
}

static void tell(const struct foreign_hooks *hooks, const struct hooked *hooked, const char *path,
		 struct import_rows *ret)
{
	static const char remedy[] = "--remove-hooks shows them, and with --apply removes them";
	cleanup_error struct error why = { 0 };
	cleanup_free char *target = hooked->kind == HOOKED_LINK ? link_of(hooks, path) : NULL;
	size_t count = 0;
	if (hooked->kind == HOOKED_LINK) {
		if (target)
			strvec_pushf(&ret->told, "%s is a plugin of %s: %s", path, hooks->name,
				     remedy);
		return;
	}
	if (count_in(hooks, hooked, path, &count, &why) < 0)
		strvec_pushf(&ret->told, "%s may have hooks of %s, but cannot be read: %s", path,
			     hooks->name, why.message);
	else if (count && hooked->kind == HOOKED_NOTIFY)
		strvec_pushf(&ret->told, "%s calls %s after each turn. These calls %s: %s", path,
			     hooks->name, hooks->effect, remedy);
	else if (count)
		strvec_pushf(
			&ret->told, "%s has hooks of %s for %zu event%s, which %s: %s", path,
			hooks->name, count, count == 1 ? "" : "s", hooks->effect,
			hooked->kind == HOOKED_TOML
				? "agentdeck does not remove these, but the program itself does"
				: remedy);
}

void foreign_tell_hooks(const struct foreign_hooks *hooks, const struct foreign_place *place,
			struct import_rows *ret)
{
	cleanup_targets struct targets targets = { 0 };
	cleanup_error struct error unread = { 0 };
	cleanup_free char *settings = NULL;
	(void)list_targets(hooks, place, &targets, &settings, &unread);
	for (size_t i = 0; i < targets.count; i++)
		tell(hooks, targets.items[i].hooked, targets.items[i].path, ret);
}
