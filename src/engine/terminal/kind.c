/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/terminal/kind.h"

#include "base/fsutil.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INSTEAD "xterm-256color"

/* By the first letter, or by its number where file names have no case. */
static bool is_in(const char *directory, const char *name)
{
	cleanup_free char *usual = xasprintf("%s/%c/%s", directory, name[0], name);
	cleanup_free char *numbered = xasprintf("%s/%02x/%s", directory, (unsigned char)name[0],
						name);
	return access(usual, R_OK) == 0 || access(numbered, R_OK) == 0;
}

static bool is_in_own(const char *name)
{
	const char *home = getenv("HOME"), *own = getenv("TERMINFO");
	cleanup_free char *usual = path_join(or_empty(home), ".terminfo");
	/* ncurses also takes a description itself there. */
	if (starts_with(or_empty(own), "hex:") || starts_with(or_empty(own), "b64:"))
		return true;
	return (!is_empty(own) && is_in(own, name)) || (!is_empty(home) && is_in(usual, name));
}

/* Has this machine a description of this kind, where ncurses looks for one? */
static bool terminal_knows_kind(const char *name)
{
	static const char *const usual[] = { "/etc/terminfo", "/lib/terminfo",
					     "/usr/share/terminfo", "/usr/lib/terminfo",
					     "/usr/local/share/terminfo" };
	cleanup_free char *listed = xstrdup(or_empty(getenv("TERMINFO_DIRS")));
	char *rest = listed;
	if (is_empty(name) || strchr(name, '/'))
		return false;
	if (is_in_own(name))
		return true;
	for (const char *directory; (directory = strsep(&rest, ":"));)
		if (*directory && is_in(directory, name))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (is_in(usual[i], name))
			return true;
	return false;
}

/* Where the other one is not found either, the descriptions are in a place that we do not know. */
char *terminal_settle_kind(void)
{
	cleanup_free char *name = xstrdup(or_empty(getenv("TERM")));
	if ((!streq(name, "dumb") && terminal_knows_kind(name)) || !terminal_knows_kind(INSTEAD))
		return NULL;
	(void)setenv("TERM", INSTEAD, 1);
	return *name ? xasprintf("this machine does not know TERM=%s, so " INSTEAD " is used here",
				 name)
		     : xstrdup("TERM is not set, so " INSTEAD " is used here");
}
