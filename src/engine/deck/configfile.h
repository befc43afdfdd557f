/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Changing config.toml for its user: never to something invalid, and never over another program's
 * change.
 */
#pragma once

#include "engine/deck/deck.h"

struct configfile {
	char *path; /* as the user knows it */
	char *real; /* behind links; path itself, if there is no file yet */
	bool exists;
	unsigned mode; /* its permissions */
	struct strbuf text;
};

/* Read the file, valid or not.  It does not exist: the text is empty.  ERROR_SYSTEM: another user
 * owns it, it is not a regular file, or it is a link to nothing.  *ret: configfile_free(). */
int configfile_read(const struct deck *deck, struct configfile *ret, struct error *err);
void configfile_free(struct configfile *file);
#define cleanup_configfile CLEANUP(configfile_free)

/* Replace it by this text atomically and durably, and keep its permissions.  A missing directory is
 * made, and what a killed command left in it is removed.  ERROR_CORRUPT: the text is not valid,
 * with line and column.  An error after the replacement (its sync failed) says so; configfile_has()
 * tells.  CONFIGFILE_CHANGED: the file is not as it was read any more; nothing was done. */
enum { CONFIGFILE_CHANGED = 1 };
int configfile_replace(const struct deck *deck, const struct configfile *before,
		       const struct strbuf *text, struct error *err);
/* Whether the file has this text.  False when it cannot be read. */
bool configfile_has(const struct deck *deck, const struct strbuf *text);

/* A descriptor of the directory that the file is in; made when missing.  The caller closes. */
int configfile_open_directory(const struct configfile *file, int *ret, struct error *err);
