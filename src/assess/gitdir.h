/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of a git directory that is to be deleted, which git did not make and cannot make again:
 * hooks, and files that a person or program put there.
 */
#pragma once

#include "assess/look.h"

void gitdir_add(const struct repository *repository);

/* Does the repository have git-lfs' own pre-push hook, which sends large files before commits? */
bool gitdir_pushes_lfs(const struct repository *repository);
