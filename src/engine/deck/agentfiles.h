/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's own agents: agents/NAME.toml in the configuration directory.
 */
#pragma once

#include "model/agent/registry.h"

/* Paths of the files, sorted by name; empty when the directory cannot be read. */
void agentfiles_list(const char *config, struct strvec *ret);

/* Apply the file to the registry as registry_override() does.  Links are followed: the files are
 * the user's, and often links into a collection.  *ret_text (may be NULL) is the file's text, also
 * when the text is the error. */
int agentfiles_apply(struct registry *registry, const char *path, struct strbuf *ret_text,
		     struct error *err);

/* The name of the agent in this file, from its path; the caller's. */
char *agentfiles_name(const char *path) MUST_USE;
