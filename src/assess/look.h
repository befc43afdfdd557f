/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What one run of this program works on: the record, the verdict so far, and the deadline; and one
 * repository of the tree.
 *
 * The functions of this program do not fail.  What they cannot find out becomes a finding
 * "unknown", and they continue with what does not depend on it: the user wants the whole list.
 */
#pragma once

#include "model/workspace/changes.h"
#include "model/workspace/origin.h"
#include "model/workspace/verdict.h"

#include <git2.h>
#include <stdint.h>

enum {
	LOOK_BUDGET_MS = 12000,       /* of the whole run; its caller waits a little longer */
	LOOK_REPOSITORIES_MOST = 200, /* in one tree */
	LOOK_DEPTH_MOST = 8,          /* of repositories in repositories */
	LOOK_ENTRIES_MOST = 1000000,  /* files and directories of one tree */
	LOOK_DIRECTORIES_DEEP = 100,
};

/* What becomes of a repository's refs and objects when the tree is deleted. */
enum fate {
	FATE_GOES,  /* they are in the tree */
	FATE_STAYS, /* they are in the source repository */
};

struct look {
	struct origin origin;
	struct verdict verdict;
	struct changes *changes; /* NULL: a verdict is asked for */
	struct strbuf *diff;     /* of the changes; NULL: it is not asked for */
	int64_t deadline_ms;
	bool out_of_time;
	char *source_common; /* git directory of the source repository, absolute */
	/* Git directories of the recorded remotes that are on this machine.  They are asked. */
	struct strvec remotes_here;
	int settings; /* descriptor of our own git configuration, for every repository */
	/* The repositories that were looked at: device and inode of each git directory. */
	struct {
		dev_t device;
		ino_t inode;
	} visited[LOOK_REPOSITORIES_MOST];
	size_t visited_count;
};

struct repository {
	struct look *look;
	const char *where; /* path below the tree, "" for the tree itself; as in a finding */
	char *path;        /* work tree; NULL: there is none, only a git directory */
	char *git_directory;
	char *common; /* the same, or, for a linked worktree, the one that it belongs to */
	bool is_linked;
	enum fate fate;
	bool is_recorded; /* the record is about this one */
	git_repository *git;
};

/* Whether the time is over.  The first call that returns true adds the finding. */
bool look_is_over(struct look *look);

/* Add "<what>: <libgit2's reason>" as unknown. */
void look_failed(const struct repository *repository, const char *format, ...) PRINTF_LIKE(2, 3);
