/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tree that a session works in, if it has one to itself: the object "workspace" of the manifest
 * (docs/workspaces.md).  Without one the session works in the directory that its user named.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/jsonio.h"
#include "base/text.h"

#include <stdint.h>

struct fields;

enum workspace_kind {
	WORKSPACE_WORKTREE, /* a linked work tree of the user's repository */
	WORKSPACE_CLONE,    /* a repository beside it */
};

/* The user's setup, which runs in a new tree before the first agent. */
enum workspace_setup {
	SETUP_NONE, /* there was none when the tree was made; or it is done, or was left out */
	SETUP_WANTED,
	SETUP_FAILED, /* the next start tries it again */
};

/* Is the work in the branch that it is to be merged into, or in a default branch? */
enum changes_merged {
	MERGED_UNKNOWN,
	MERGED_NO,
	MERGED_YES,
	MERGED_SQUASHED, /* its content is, under other commits */
};
extern const char *const changes_merged_words[];

struct pull_request {
	int64_t number; /* 0: there is none, or that is not known */
	char *state;    /* "OPEN", "MERGED", "CLOSED" */
	char *url;
	bool is_draft;
};

/* The work in the tree, as it was last looked at. */
struct seen_work {
	int64_t at;             /* since the Epoch; 0: never */
	char *branch;           /* that was checked out; NULL: none */
	int64_t commits, files; /* of its own, and what they change */
	int64_t uncommitted;    /* files with changes that are in no commit, and untracked ones */
	unsigned merged;        /* enum changes_merged */
	struct pull_request request;
};
extern const struct fields seen_work_fields;
/* "2 commits on agentdeck/api, 3 files, merged, 1 file not committed"; the caller frees. */
char *seen_work_text(const struct seen_work *work) MUST_USE;

struct workspace {
	enum workspace_kind kind;
	char *source; /* absolute path of the work tree or bare repository that it is made from */
	char *path;   /* absolute path of the tree */
	char *branch; /* that is checked out in it at first */
	char *base;   /* commit at which it begins */
	/* absolute path of a clone, or of git's record of a worktree, that may alone have that
	 * commit; or NULL */
	char *from;
	char *base_branch; /* that the source had checked out then; NULL: none, or not known */
	bool made_branch;  /* agentdeck has made the branch for it */
	bool has_branch;   /* the source had the branch before */
	bool is_made;      /* else only planned: a kill may have left a part of it */
	/* A linked work tree is made again, which a kill may have cut off: the branch or the commit
	 * that it had checked out.  NULL: it is not */
	char *again;
	char *root_id; /* of the directory of trees that it is in; NULL: in the profile, or unknown */
	enum workspace_setup setup;
	bool may_be_lost; /* its user has said that what is only in it can go */
	bool is_freed;    /* it is being deleted, and nothing is lost with it */
	/* For a move with its tree: the cargo (driver/git/cargo.h) that another host has, too, and
	 * the one that the tree is becoming; or NULL */
	char *carried, *arriving;
	struct seen_work seen;
	struct json_object *unknown; /* the object this was read from: its other keys are kept */
};

/* All zero but for the allocated struct itself; workspace_free() takes NULL. */
struct workspace *workspace_new(void) MUST_USE;
void workspace_free(struct workspace *workspace);
CLEANUP_OF(workspace_freep, struct workspace, workspace_free);
#define cleanup_workspace CLEANUP(workspace_freep)

/* The caller puts the object. */
struct json_object *workspace_to_json(const struct workspace *workspace) MUST_USE;
/* The table for fields_parse() and fields_read().  ERROR_CORRUPT names the key. */
extern const struct fields workspace_fields;

/* "worktree", "clone"; static. */
const char *workspace_kind_name(enum workspace_kind kind);

/* A name for its branch, from the title: lower-case letters, digits and single hyphens, at most 40
 * characters, "session" if nothing is left.  The caller frees. */
char *workspace_slug(const char *title) MUST_USE;
