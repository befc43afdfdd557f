/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One registry entry: from its TOML text into struct agent.  Only for registry*.c.
 */
#pragma once

#include "base/tomlmap.h"
#include "model/registry.h"

/* AGENT_TRUSTED leaves out what only costs time for a text that our tests have seen. */
enum agent_trust { AGENT_TRUSTED, AGENT_CHECKED };

/* A new agent: base (NULL: none of that name) with every value that the text has put in its place.
 * ERROR_CORRUPT as registry_override().  *ret: agent_free(). */
int agent_parse(const struct agent *base, const char *name, const char *text, size_t length,
		const char *what, enum agent_trust trust, struct agent **ret, struct error *err);

/* NULL is fine. */
void agent_free(struct agent *agent);

/* The field of a key: a strvec, or a string. */
const void *agent_field(const struct agent *agent, const char *path, bool *ret_is_vector);

/* ERROR_CORRUPT for a value that makes no sense, with its place in the document that the agent was
 * made from. */
int agent_check(const struct toml_document *document, const struct agent *agent, struct error *err);
