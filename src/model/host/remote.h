/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Remotes: the hosts of config.toml, and how a command line names them.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* A host of the user's, [hosts.NAME].  Zero-initialised is empty. */
struct remote {
	char *name;
	char *ssh;        /* the destination for ssh; NULL: another program leads there */
	char *kubernetes; /* its StatefulSet, or "pod/NAME"; NULL: it is no Pod */
	char *kube_context, *kube_namespace; /* for kubectl; NULL: those that it uses */
	char *kube_uid;                      /* of the StatefulSet that its user means; NULL: any */
	char *program;      /* of agentdeck there; the shell of a login by ssh expands "~/" */
	int64_t timeout_s;  /* until its hello */
	char *machine_id;   /* of the machine that its user means; NULL: any */
	bool forward_agent; /* an attach leads the user's ssh-agent there */
};

/* Which program leads there. */
enum remote_kind { REMOTE_SSH, REMOTE_KUBERNETES, REMOTE_KINDS };
extern const char *const remote_kind_words[REMOTE_KINDS];
enum remote_kind remote_kind(const struct remote *remote);

/* The keys of a host whose values are texts. */
struct remote_text {
	const char *key; /* NULL: the end of the list */
	size_t at;       /* in struct remote */
	bool (*is_valid)(const char *text);
	const char *must; /* "write ..." */
};
extern const struct remote_text remote_texts[];
/* The variable of that text in the remote. */
char **remote_text(struct remote *remote, const struct remote_text *text);
/* Borrowed; NULL: it has none. */
const char *remote_value(const struct remote *remote, const struct remote_text *text);

/* Which of the values do not go together, and why?  NULL: they do.  Static. */
const char *remote_conflict(const struct remote *remote);

/* Where it is, on one line: "ssh ann@gpu1", "kubernetes CONTEXT/NAMESPACE/NAME".  The caller frees.
 */
char *remote_place(const struct remote *remote) MUST_USE;

void remote_free(struct remote *remote);

/* Are they equal in every field?  NULL equals only NULL. */
bool remote_equal(const struct remote *a, const struct remote *b);

struct remotes {
	struct remote *items;
	size_t count;
};
void remotes_free(struct remotes *remotes);

#define REMOTE_VARIABLE "AGENTDECK_HOST" /* the host of a command that names none */
#define REMOTE_HERE     "local"          /* this machine, where a command line names a host */
#define REMOTE_PROGRAM  "agentdeck"
#define REMOTE_POD      "pod/"
enum { REMOTE_TIMEOUT_S = 15, REMOTE_TIMEOUT_MAX_S = 600 };

/* [A-Za-z0-9][A-Za-z0-9_.-]{0,63}, and not "local". */
bool remote_is_name(const char *text);
/* A text that ssh takes for its destination and no shell for more than a word: not empty, without
 * blanks, control characters and what a shell reads, and no option. */
bool remote_is_destination(const char *text);
/* Whether text can be a context of kubectl: not empty, and without control characters. */
bool remote_is_context(const char *text);
/* Likewise for a program: a name, or a path that starts with "/" or "~/". */
bool remote_is_program(const char *text);
/* A name as Kubernetes has them (RFC 1123): lower-case letters, digits and "-" within. */
bool remote_is_label(const char *text);
/* Such names with dots between them, of a StatefulSet; or "pod/" and that of a Pod. */
bool remote_is_workload(const char *text);

/* Copies all of them; program NULL: REMOTE_PROGRAM, ssh NULL: the name, if it is REMOTE_SSH. */
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
