/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A Git repository with a role: "web" in <home>/roles.
 */
#pragma once

#include "persistence/machine.h"

/* Make it, with this Dockerfile and without a commit. */
void roles_begin(const char *dockerfile);
/* Commit this devcontainer.json. */
void roles_commit(const char *role);
/* From now on nothing can be fetched. */
void roles_lose(void);
