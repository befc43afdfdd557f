/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The texts of data/agents/, which scripts/embed-agents builds into the program.
 */
#pragma once

#include <stddef.h>

struct registry_file {
	const char *name; /* of the file, without ".toml" */
	const char *text;
	size_t length;
};

/* Ends with an entry whose name is NULL. */
extern const struct registry_file registry_files[];
