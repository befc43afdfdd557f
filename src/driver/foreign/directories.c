/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A plain list of directories, one a line: not a program's file, but what a user wrote or a script
 * made.  Each directory becomes a session of the default agent.
 */
#include "driver/foreign/foreign-internal.h"

#include "base/fsutil.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SOURCE "directories"
#define ORIGIN SOURCE "::"

/* The line without blanks and slashes at its end; "" when it names nothing. */
static char *trim(char *line)
{
	line += strspn(line, " \t");
	size_t length = strlen(line);
	while (length > 0 && strchr(" \t\r", line[length - 1]))
		length--;
	while (length > 1 && line[length - 1] == '/')
		length--;
	line[length] = '\0';
	if (*line == '#')
		*line = '\0';
	return line;
}

/* A relative one is in the directory of the list. */
static char *whole_path(const struct foreign_place *place, const char *line)
{
	cleanup_free char *expanded = foreign_expand(place, line);
	const char *slash = strrchr(place->from, '/');
	if (*expanded == '/' || !slash)
		return TAKE_PTR(expanded);
	return xasprintf("%.*s/%s", (int)(slash - place->from), place->from, expanded);
}

/* The directory counts, in whichever list it is. */
static char *origin_of(const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	return xasprintf(ORIGIN "%s", real ? real : path);
}

/* The first version wrote "directories:<list>:<directory>".  Either name may have a ":/". */
char *foreign_current_origin(const char *origin)
{
	const char *path = NULL;
	struct stat st;
	if (!starts_with(origin, SOURCE ":/"))
		return xstrdup(origin);
	for (const char *at = origin; (at = strstr(at, ":/")); at++) {
		path = at + 1;
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			break;
	}
	return origin_of(path);
}

static void take_line(const struct foreign_place *place, const char *line, struct json_object *seen,
		      struct import_rows *ret)
{
	cleanup_free char *path = whole_path(place, line);
	if (!is_utf8(path, strlen(path))) {
		cleanup_free char *shown = visible(path);
		strvec_pushf(&ret->told, "%s is left out: its name is not UTF-8", shown);
		return;
	}
	cleanup_free char *origin = origin_of(path);
	if (json_object_object_get_ex(seen, origin, NULL))
		return;
	json_set_bool(seen, origin, true);
	struct import_row *row = import_rows_add(ret);
	row->source = xstrdup(SOURCE);
	row->origin = TAKE_PTR(origin);
	row->title = xstrdup(path_basename(path));
	row->directory = TAKE_PTR(path);
}

static int read_directories(const struct foreign_place *place, struct import_rows *ret,
			    struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *seen = json_object_new_object();
	if (!place->from)
		return error_set(err, ERROR_USAGE,
				 "name the list: agentdeck import " SOURCE " --from FILE");
	const int r = foreign_read(place->from, &text, err);
	if (r != 0)
		return r;
	if (strlen(strbuf_text(&text)) != text.length)
		return error_set(err, ERROR_CORRUPT, "%s is not a list of directories",
				 place->from);
	char *rest = text.data;
	for (char *line; (line = strsep(&rest, "\n"));) {
		line = trim(line);
		if (*line)
			take_line(place, line, seen, ret);
	}
	return 0;
}

const struct foreign_source foreign_directories = {
	.name = SOURCE,
	.about = "a file that --from names: one directory a line, # begins a comment",
	.read = read_directories,
};
