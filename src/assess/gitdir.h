/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is in a git directory that goes, and that git neither made nor can make again: hooks, and
 * files that somebody has put there.
 */
#pragma once

#include "assess/look.h"

void gitdir_add(const struct repository *repository);

/* Does the repository have git-lfs' own pre-push hook, which sends large files before commits? */
bool gitdir_pushes_lfs(const struct repository *repository);
