/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the index of a repository has.  A second thread reads it while the first one walks the tree:
 * together they take most of the time of a verdict.
 */
#pragma once

#include "assess/look.h"

#include <time.h>

struct staged {
	git_index *index;        /* NULL: it cannot be read */
	struct timespec written; /* the time of its file, from before it was read */
	bool is_committed;       /* its content is HEAD's tree; false: perhaps not */
};

/* Start the thread.  After sandbox_close_files(), whose rules it inherits, and before
 * sandbox_close_calls(), which includes it.  Without a thread, staged_take() reads. */
void staged_start(void);

/* Read the index of this open repository.  The caller makes no call to libgit2 before it takes the
 * result, of the same repository: one thread at a time does. */
void staged_ask(const struct repository *repository);
void staged_take(const struct repository *repository, struct staged *ret);

void staged_free(struct staged *staged);
#define cleanup_staged CLEANUP(staged_free)
