/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pull requests, by the user's own gh, in the user's repository.
 *
 * gh speaks to a server, so everything has a deadline, and what it says reaches a terminal only in
 * the form that visible() gives it.
 */
#pragma once

#include "base/error.h"
#include "base/jsonio.h"
#include "base/text.h"
#include "model/session/workspace.h"

void forge_request_free(struct pull_request *request);
#define cleanup_forge_request CLEANUP(forge_request_free)

/* The caller puts it. */
struct json_object *forge_to_json(const struct pull_request *request) MUST_USE;

/* The pull request of a branch.  FORGE_NONE: it has none, or gh is not installed or not set up for
 * this repository.  ERROR_TIMEOUT; ERROR_CORRUPT: its answer is none. */
enum { FORGE_NONE = 1 };
int forge_find(const char *repository, const char *branch, int timeout_ms, struct pull_request *ret,
	       struct error *err);

/* Make one, with title and text from its commits.  base: NULL for the default branch.
 * ERROR_UNAVAILABLE: gh is not installed.  ERROR_CHILD: what gh says. */
int forge_make(const char *repository, const char *branch, const char *base, struct error *err);
