/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A role to begin with.
 */
#pragma once

#include "base/error.h"

/* Write .devcontainer/devcontainer.json and its Dockerfile into a directory, which is made if only
 * it is missing.  Never writes over a file: ERROR_EXISTS, also if the directory has a role in
 * another place.  *ret, the caller's, is the path of the devcontainer.json. */
int role_create(const char *directory, char **ret, struct error *err);
