/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A settings file of an agent's: read it, and replace it by a changed one, with the file as it was
 * beside it.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

#include <sys/stat.h>

/* Open in its directory, with what is in it. */
struct foreign_settings {
	char *path;       /* the real one */
	const char *name; /* in its directory; borrowed from path */
	int directory, fd;
	struct stat st;
	struct strbuf text;
};
void foreign_settings_clear(struct foreign_settings *file);
#define cleanup_foreign_settings CLEANUP(foreign_settings_clear)

/* Follows links.  FOREIGN_ABSENT: there is no such file.  It must be a regular file of this user.
 * *ret is the caller's in every case. */
int foreign_settings_open(const char *path, struct foreign_settings *ret, struct error *err);

/* The new one has the mode and the group of the old one.  *ret_copy, the caller's: the name of the
 * old one beside it.  ERROR_BUSY: the agent has changed it since. */
int foreign_settings_replace(const struct foreign_settings *file, const struct strbuf *text,
			     char **ret_copy, struct error *err);
