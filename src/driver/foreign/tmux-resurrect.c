/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tmux-resurrect: the panes of tmux at the last save, one a line, with the command that ran in each
 * and without its conversation.
 */
#include "driver/foreign/foreign-internal.h"

#include "base/fsutil.h"
#include "model/agent/registry.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define SOURCE "tmux-resurrect"

/* The fields of a line; an empty title would have moved those behind it. */
enum {
	KIND,
	SESSION,
	WINDOW,
	WINDOW_IS_ACTIVE,
	FLAGS,
	PANE,
	TITLE,
	DIRECTORY,
	IS_ACTIVE,
	PROGRAM,
	COMMAND,
	FIELDS
};

/* The last save, to which a symbolic link leads, or NULL.  *ret_time: when it was made, in µs. */
static char *find_last(const char *directory, int64_t *ret_time)
{
	cleanup_free char *link = path_join(directory, "last");
	cleanup_free char *path = realpath(link, NULL);
	struct stat found;
	if (!path || stat(path, &found) < 0)
		return NULL;
	*ret_time = (int64_t)found.st_mtim.tv_sec * 1000000 + found.st_mtim.tv_nsec / 1000;
	return TAKE_PTR(path);
}

/* The program moves to the first place once that exists, so there may be saves in both. */
static char *find_save(const struct foreign_place *place, int64_t *ret_time)
{
	int64_t old_time = 0, time = 0;
	if (place->from)
		return find_last(place->from, ret_time);
	cleanup_free char *old = path_join(place->home, ".tmux/resurrect");
	cleanup_free char *data = foreign_xdg(place, "XDG_DATA_HOME", ".local/share",
					      "tmux/resurrect");
	cleanup_free char *in_old = find_last(old, &old_time);
	cleanup_free char *in_data = find_last(data, &time);
	const bool is_old = in_old && (!in_data || old_time >= time);
	*ret_time = is_old ? old_time : time;
	return is_old ? TAKE_PTR(in_old) : TAKE_PTR(in_data);
}

/* A backslash before a blank is not part of the name. */
static char *plain_directory(const char *text)
{
	struct strbuf plain = { 0 };
	for (; *text; text++)
		if (!starts_with(text, "\\ "))
			strbuf_add(&plain, text, 1);
	return strbuf_take(&plain);
}

/* The program with what runs it is the command, and the rest are arguments.  The line is from ps,
 * and has no quotes. */
static void take_command(const char *line, const char *program, struct import_row *row)
{
	cleanup_strvec struct strvec words = { 0 };
	foreign_split_blanks(*line ? line : program, &words);
	const size_t last = registry_program(&words);
	cleanup_strbuf struct strbuf rest = { 0 };
	for (size_t i = 0; i < words.count; i++)
		if (i <= last)
			strvec_push(&row->argv, words.items[i]);
		else
			strbuf_addf(&rest, "%s ", words.items[i]);
	foreign_take_unquoted(strbuf_text(&rest), row);
}

static void take_pane(char *const *fields, const char *path, int64_t saved_at,
		      struct import_row *row)
{
	cleanup_free char *pane = xasprintf("%s:%s.%s", fields[SESSION], fields[WINDOW],
					    fields[PANE]);
	row->directory = plain_directory(fields[DIRECTORY] + 1);
	/* Not the save, which is another file each time. */
	cleanup_free char *folder = xstrndup(path, (size_t)(path_basename(path) - path));
	cleanup_free char *key = xasprintf("%s:%s:%s", pane, fields[PROGRAM], row->directory);
	row->source = xstrdup(SOURCE);
	row->origin = foreign_origin(SOURCE, folder, key);
	row->last_used_at = saved_at;
	row->hint = IMPORT_HINT_ONLY;
	row->needs_agent = true;
	foreign_take_pane(pane, row);
	take_command(fields[COMMAND] + 1, fields[PROGRAM], row);
}

static bool is_pane(char *const *fields, size_t count)
{
	return count == FIELDS && *fields[DIRECTORY] == ':' && *fields[COMMAND] == ':' &&
	       *fields[PROGRAM];
}

static int read_lines(char *text, const char *path, int64_t saved_at, struct import_rows *ret,
		      struct error *err)
{
	size_t number = 0, states = 0;
	for (char *line; (line = strsep(&text, "\n"));) {
		char *fields[FIELDS + 1];
		size_t count = 0;
		number++;
		while (count < ARRAY_SIZE(fields) && line)
			fields[count++] = strsep(&line, "\t");
		states += streq(fields[KIND], "state") || streq(fields[KIND], "pane");
		if (!streq(fields[KIND], "pane"))
			continue;
		if (is_pane(fields, count))
			take_pane(fields, path, saved_at, import_rows_add(ret));
		else
			strvec_pushf(&ret->told, "line %zu of %s is left out: it has other fields",
				     number, path);
	}
	if (!states)
		return error_set(err, ERROR_CORRUPT, "%s is not a save of " SOURCE, path);
	return 0;
}

static int read_save(const struct foreign_place *place, struct import_rows *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int64_t saved_at = 0;
	cleanup_free char *path = find_save(place, &saved_at);
	if (!path)
		return FOREIGN_ABSENT;
	const int r = foreign_read(path, &text, err);
	if (r != 0)
		return r;
	if (!is_utf8(strbuf_text(&text), text.length) || strlen(strbuf_text(&text)) != text.length)
		return error_set(err, ERROR_CORRUPT, "%s is not a save of " SOURCE, path);
	return read_lines(text.data, path, saved_at, ret, err);
}

const struct foreign_source foreign_tmux_resurrect = {
	.name = SOURCE,
	.about = "~/.tmux/resurrect and ~/.local/share/tmux/resurrect",
	.is_offered = true,
	.read = read_save,
};
