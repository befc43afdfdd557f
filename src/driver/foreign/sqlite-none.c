/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replaces sqlite.c in a build --without-sqlite.
 */
#include "driver/foreign/sqlite.h"

#include <unistd.h>

int sqlite_open_copy(const char *path, struct sqlite **ret UNUSED, struct error *err)
{
	if (access(path, F_OK) < 0)
		return SQLITE_ABSENT;
	return error_set(err, ERROR_UNAVAILABLE,
			 "cannot read %s: this agentdeck was built without SQLite", path);
}

void sqlite_close(struct sqlite *sqlite UNUSED)
{
}

int sqlite_table(struct sqlite *sqlite UNUSED, const char *table UNUSED,
		 struct json_object **ret UNUSED, struct error *err)
{
	return error_set(err, ERROR_UNAVAILABLE, "built without SQLite");
}
