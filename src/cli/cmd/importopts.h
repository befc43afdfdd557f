/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the command line of `agentdeck import` says, for agentdeck-import, which carries it out.
 */
#pragma once

#include <stdbool.h>

struct import_options {
	const char *from;
	bool apply, guess, dangerous, again, remove_hooks, adopt, yes, no_start;
};
