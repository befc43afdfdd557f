/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/foreign/foreign-internal.h"

#include "base/argsplit.h"
#include "base/clock.h"
#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

char *foreign_xdg(const struct foreign_place *place, const char *variable, const char *fallback,
		  const char *name)
{
	const char *value = place->lookup(variable);
	if (is_empty(value) || *value != '/')
		return xasprintf("%s/%s/%s", place->home, fallback, name);
	return path_join(value, name);
}

bool foreign_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int foreign_json(const char *path, struct json_object **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int r = fs_read(AT_FDCWD, path, FOREIGN_MAX_FILE, &text, err);
	if (r != 0)
		return r < 0 ? error_prefix(err, "%s", path) : FOREIGN_ABSENT;
	return json_parse(strbuf_text(&text), text.length, path, ret, err);
}

char *foreign_origin(const char *source, const char *path, const char *id)
{
	cleanup_free char *real = realpath(path, NULL);
	return xasprintf("%s:%s:%s", source, real ? real : path, id);
}

int64_t foreign_time(const struct json_object *object, const char *key)
{
	const char *text = json_get_string(object, key, NULL);
	const int64_t seconds = json_get_int(object, key, 0);
	if (text) {
		/* Fractions of a second have many forms, and do not matter. */
		cleanup_free char *whole = xasprintf("%.19sZ", text);
		const int64_t time = clock_parse(whole);
		return time > 0 ? time : 0;
	}
	return seconds > 0 && seconds < INT64_MAX / 1000000 ? seconds * 1000000 : 0;
}

void foreign_split(const char *line, struct strvec *ret)
{
	static const char shell[] = "/bin/sh";
	if (argsplit(line, ret, NULL) == 0)
		return;
	strvec_push(ret, shell);
	strvec_push(ret, "-c");
	strvec_push(ret, line);
}

char *foreign_expand(const struct foreign_place *place, const char *path)
{
	if (streq(path, "~") || starts_with(path, "~/"))
		return xasprintf("%s%s", place->home, path + 1);
	return xstrdup(path);
}
