/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's own agents: agents/NAME.toml in the configuration directory.
 */
#pragma once

#include "model/registry.h"

/* Paths of the files, sorted by name; none when the directory cannot be read. */
void agentfiles_list(const char *config, struct strvec *ret);

/* Put the file over the registry as registry_override() does.  Links are followed: the files are
 * the user's, and often in a collection of such.  *ret_text (may be NULL) is what the file holds,
 * also when that is the error. */
int agentfiles_apply(struct registry *registry, const char *path, struct strbuf *ret_text,
		     struct error *err);

/* The agent's name that the file gives; the caller's. */
char *agentfiles_name(const char *path) MUST_USE;
