/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One registry entry, from its TOML text to struct agent.  Only for registry*.c.
 */
#pragma once

#include "model/agent/agent.h"

/* AGENT_TRUSTED skips checks that only cost time for a text that our tests have checked. */
enum agent_trust { AGENT_TRUSTED, AGENT_CHECKED };

/* One entry, as text. */
struct agent_text {
	const char *name, *text;
	size_t length;
	const char *what; /* its source, for messages */
	enum agent_trust trust;
};

/* Make a new agent: a copy of base (NULL: there is none of that name) with the values of the text.
 * ERROR_CORRUPT as registry_override().  *ret: agent_free(). */
int agent_parse(const struct agent *base, const struct agent_text *text, struct agent **ret,
		struct error *err);
