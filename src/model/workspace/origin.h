/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is written down when a worktree or clone is made: where it came from, and what it contained.
 * A later look compares with it.  docs/workspaces.md has the JSON.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/jsonio.h"
#include "base/text.h"

enum origin_kind {
	ORIGIN_WORKTREE, /* linked: its objects and refs are in the source repository */
	ORIGIN_CLONE,    /* everything is in the tree */
};

/* A ref or a remote, and its object or address. */
struct origin_pair {
	char *name, *value;
};

enum { ORIGIN_JSON_MOST = 32 << 20, ORIGIN_OID_SIZE = 41 };

/* Zero-initialised is empty.  The struct owns everything. */
struct origin {
	enum origin_kind kind;
	char *source; /* absolute path of the work tree or bare repository that it was made from */
	char *path;   /* absolute path of the tree */
	char *branch; /* short name of the branch that was checked out, or NULL */
	char *base;   /* commit that was checked out, or NULL: the branch had none */
	/* Branch of the source that its work is to be merged into, or NULL: the one that is checked
	 * out there.  It is not in a record, but in the question about one. */
	char *into;
	bool made_branch;         /* the branch was made for this tree, and ends with it */
	struct origin_pair *refs; /* every ref of the tree's repository: full name, object */
	size_t ref_count;
	struct origin_pair *remotes; /* name, address */
	size_t remote_count;
	struct strvec stashes; /* their commits */
	char *exclude;         /* SHA-256 of info/exclude, or NULL: there was none */
};

/* The caller puts it. */
struct json_object *origin_to_json(const struct origin *origin) MUST_USE;
/* ERROR_CORRUPT says what is missing or wrong.  *ret: origin_free(). */
int origin_parse(const char *text, size_t length, struct origin *ret, struct error *err);

void origin_add_ref(struct origin *origin, const char *name, const char *oid);
void origin_add_remote(struct origin *origin, const char *name, const char *address);

/* The object of a ref, the address of a remote; NULL: none was recorded.  Borrowed.
 * origin_ref(): only of a record that origin_parse() returned, which has sorted them. */
const char *origin_ref(const struct origin *origin, const char *name);
const char *origin_remote(const struct origin *origin, const char *name);

void origin_free(struct origin *origin);
#define cleanup_origin CLEANUP(origin_free)
