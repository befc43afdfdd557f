/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Remotes: the hosts of config.toml, and how a command line names them.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>

/* A host of the user's, [hosts.NAME].  Zero-initialised is empty. */
struct remote {
	char *name;
	char *ssh;         /* the destination for ssh */
	char *program;     /* of agentdeck there; a login's shell expands "~/" */
	int64_t timeout_s; /* until its hello */
	char *machine_id;  /* of the machine that its user means; NULL: any */
};

void remote_free(struct remote *remote);

/* Are they equal in every field?  NULL equals only NULL. */
bool remote_equal(const struct remote *a, const struct remote *b);

struct remotes {
	struct remote *items;
	size_t count;
};
void remotes_free(struct remotes *remotes);

#define REMOTE_HERE    "local" /* this machine, where a command line names a host */
#define REMOTE_PROGRAM "agentdeck"
enum { REMOTE_TIMEOUT_S = 15, REMOTE_TIMEOUT_MAX_S = 600 };

/* [A-Za-z0-9][A-Za-z0-9_.-]{0,63}, and not "local". */
bool remote_is_name(const char *text);
/* A text that ssh takes for its destination and no shell for more than a word: not empty, without
 * blanks, control characters and what a shell reads, and no option. */
bool remote_is_destination(const char *text);
/* Likewise for a program: a name, or a path that starts with "/" or "~/". */
bool remote_is_program(const char *text);

/* Copies all of them; program NULL: REMOTE_PROGRAM, ssh NULL: the name. */
void remotes_add(struct remotes *remotes, const struct remote *remote);
/* NULL: there is none of this name.  Borrowed. */
const struct remote *remotes_find(const struct remotes *remotes, const char *name);

/* Whose session is "HOST:SESSION"?  *ret: the host, NULL for this machine; both are borrowed.
 * *ret_session: what follows the colon.  False: the text names no host. */
bool remotes_split(const struct remotes *remotes, const char *text, const struct remote **ret,
		   const char **ret_session);

/* Add a word and a blank to a command line that a shell of the host splits: sh, fish and csh read
 * the same word, unless csh finds the end of a line in it. */
void remote_quote(struct strbuf *ret, const char *word);
