/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether the values of a user's entry make sense.  Only for registry*.c.
 */
#pragma once

#include "model/agent/agent.h"

/* ERROR_CORRUPT for a value that makes no sense, with its place in the document that the agent was
 * made from. */
int agent_check(const struct toml_document *document, const struct agent *agent, struct error *err);
