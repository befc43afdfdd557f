/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How often processes of the machine are woken.
 */
#pragma once

#include "persistence/machine.h"

enum { WATCHED_MAX = 16 };

struct watched {
	pid_t pids[WATCHED_MAX];
	size_t count;
};

/* Wait until the effects of what was done before are over, and assert that the processes sleep
 * then. */
void assert_they_sleep(const struct watched *watched);
