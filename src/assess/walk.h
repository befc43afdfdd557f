/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Our own walk, before libgit2 opens anything: libgit2 waits forever at a FIFO in the place of a
 * file that it reads, and inflates and parses whatever a hostile tree contains.  Nothing is opened
 * here but directories and small regular files.
 */
#pragma once

#include "assess/look.h"

#include <sys/stat.h>

/* A file, link or other entry of a work tree, as the walk saw it; not a directory. */
struct tree_file {
	char *path; /* relative to the tree */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
	/* proof_find() */
	bool is_tracked;            /* the index has it */
	git_index_entry *unchanged; /* what the file is as; NULL: it is not known to be */
};

/* What is in a work tree.  Paths are relative to it. */
struct tree {
	struct tree_file *files; /* without what is in repositories */
	size_t count;
	struct strvec repositories; /* directories that have an entry ".git", or are a bare one */
};

/* Walk the work tree.  False: it cannot be given to libgit2; the finding says why. */
bool walk_tree(const struct repository *repository, struct tree *ret);
void tree_free(struct tree *tree);
#define cleanup_tree CLEANUP(tree_free)

/* Check the git directory and the common one in the same way. */
bool walk_git_directories(const struct repository *repository);

/* Read a regular file below a directory whole, without waiting at anything else.  False: absent,
 * something else, or larger than max. */
bool walk_read(const char *directory, const char *name, size_t max, struct strbuf *ret);
