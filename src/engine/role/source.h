/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a role comes from: its files are found and read, and nothing of them is run.
 */
#pragma once

#include "base/sha256.h"
#include "engine/deck/deck.h"
#include "model/role/role.h"

#define ROLE_FILE "devcontainer.json"

struct role_source {
	char *root;  /* real path of the directory that it may not leave */
	char *file;  /* real path of its devcontainer.json */
	char *name;  /* of that file, for people and for trust: its path, or "URL#PATH" */
	char *where; /* how a command line names the role */
	/* Set for a role from a Git repository (fetch.h); all NULL: it is a directory. */
	char *url;    /* or the path of a repository of this machine */
	char *ref;    /* that its user named, or NULL */
	char *commit; /* what the ref is now */
	char *before; /* another commit, which it was when it was fetched last; or NULL */
	char *text;   /* of that file */
	/* With a Dockerfile only: real paths, the Dockerfile below the context. */
	char *context, *dockerfile;
	char *dockerfile_text;
	struct role role;
	/* From role_source_digest(): what its user trusts, and the build context alone. */
	char digest[SHA256_TEXT_SIZE], context_digest[SHA256_TEXT_SIZE];
};
void role_source_clear(struct role_source *source);
#define cleanup_role_source CLEANUP(role_source_clear)

/* Find the role of a directory: its .devcontainer/devcontainer.json, .devcontainer.json,
 * .devcontainer/NAME/devcontainer.json if there is one of them, or devcontainer.json.  *ret is its
 * real path, the caller's.  ERROR_NOT_FOUND: there is none.  ERROR_USAGE: there are several, or it
 * is no directory. */
int role_source_find(const char *directory, char **ret, struct error *err);

/* Find and read the role of a directory, or that of a file.  workspace: the session's directory,
 * NULL: the role's own.  group: of the session, or NULL.  ERROR_CORRUPT: see role_read(). */
int role_source_read(const struct deck *deck, const char *path, const char *workspace,
		     const char *group, struct role_source *ret, struct error *err);

/* Where a role is looked for. */
struct role_place {
	const char *directory;
	const char *top;    /* NULL, or a directory that its files are in, without links */
	const char *called; /* with top: what people call that directory, "URL#" */
	const char *workspace, *group;
};
/* Like role_source_read(), but below another name.  ERROR_INVALID: it is not below the top. */
int role_source_read_at(const struct deck *deck, const struct role_place *place,
			struct role_source *ret, struct error *err);

/* Digest all that the role is made of: its file, the directory .devcontainer that the file is in,
 * the build context with the Dockerfile, and what the role asks for.  ERROR_INVALID: too much. */
int role_source_digest(struct role_source *source, struct error *err);

/* The Dockerfile below the context.  Borrowed; NULL: there is none. */
const char *role_source_dockerfile(const struct role_source *source);
