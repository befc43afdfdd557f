/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent has made in its tree: its commits, and what is in none.  docs/workspaces.md has the
 * JSON.
 *
 * All texts come from the tree.  They are in the form that visible() gives them, so a terminal may
 * show them.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/jsonio.h"
#include "base/text.h"
#include "model/session/workspace.h"

#include <stdint.h>

struct changed_file {
	char *path;   /* in the tree, also of a file in a submodule */
	char *status; /* "M", "A", "D", "T"; of a file that is not committed as git status has it */
	int64_t added, removed; /* lines */
	bool is_binary;         /* its lines are not counted */
};

struct changed_files {
	struct changed_file *items;
	size_t count;
	int64_t more; /* how many were left out */
};

struct changed_commit {
	char *id, *subject;
};

enum {
	CHANGES_FILES_MOST = 2000, /* of one list */
	CHANGES_COMMITS_MOST = 500,
	CHANGES_DIFF_MOST = 8 << 20,
	CHANGES_JSON_MOST = 32 << 20,
};

/* Zero-initialised is empty.  The struct owns everything. */
struct changes {
	char *branch; /* that is checked out; NULL: none (a detached HEAD) */
	char *head;   /* its commit; NULL: none */
	char *base;   /* commit that the lists are compared with */
	char *into; /* branch of the source repository that it is compared with; NULL: not known */
	unsigned merged;                /* enum changes_merged */
	struct changed_commit *commits; /* newest first */
	size_t commit_count;
	int64_t more_commits;
	struct changed_files committed, uncommitted, untracked;
	struct {
		char *name; /* "origin/fix"; NULL: the branch has none */
		bool is_gone;
		int64_t ahead, behind;
	} upstream;
	char *diff; /* NULL: it was not asked for */
	bool diff_is_cut;
	struct strvec unknown; /* what could not be found out, and why */
};

/* Add a file, or count it in `more`. */
void changes_add_file(struct changed_files *files, const char *path, const char *status);
/* Append a text of any bytes in the form of a diff: visible, but for tabs and ends of lines. */
void changes_add_clean(struct strbuf *buf, const char *text);

/* The sums of a list. */
struct changes_sum {
	int64_t files, added, removed;
};
struct changes_sum changes_sum_of(const struct changed_files *files);

/* "not merged into main"; static words but for the branch.  The caller frees. */
char *changes_merged_text(const struct changes *changes) MUST_USE;

/* The caller puts it. */
struct json_object *changes_to_json(const struct changes *changes) MUST_USE;
/* ERROR_CORRUPT: it is no such object.  *ret: changes_free(). */
int changes_parse(const char *text, size_t length, struct changes *ret, struct error *err);

void changes_free(struct changes *changes);
#define cleanup_changes CLEANUP(changes_free)
