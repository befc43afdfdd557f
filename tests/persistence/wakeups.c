/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/wakeups.h"

#include "base/clock.h"
#include "persistence/suite.h"

#include <string.h>

/* The supervisor looks once more at a screen after the last output. */
enum { LOOKS_OVER_MS = 4000 };

/* A line for each process. */
static const char *wakeups(const struct watched *watched)
{
	const char *all = "", *line = "\nvoluntary_ctxt_switches:";
	for (size_t i = 0; i < watched->count; i++) {
		const int pid = (int)watched->pids[i];
		const char *status = or_empty(machine_read(kept("/proc/%d/status", pid)));
		const char *found = strstr(status, line);
		ASSERT(found, "process %d is gone", pid);
		found++;
		all = kept("%s%s %.*s\n", all, or_empty(machine_argv(pid)->items[0]),
			   (int)strcspn(found, "\n"), found);
	}
	return all;
}

void assert_they_sleep(const struct watched *watched)
{
	const char *before = NULL, *after = NULL;
	int64_t since = 0;
	WAIT_FOR(({
			 const char *now = wakeups(watched);
			 since = before && streq(before, now) ? since : clock_ms();
			 before = now;
			 clock_ms() - since > LOOKS_OVER_MS;
		 }),
		 "they never sleep:\n%s", before);
	/* A process that polls at any sensible interval would wake in each round of so many
	 * unrelated commands.  A single late effect, or tmux by itself, wakes one in one round. */
	for (unsigned round = 0; round < 3 && !streq(or_empty(after), before); round++) {
		before = after ? after : before;
		for (unsigned i = 0; i < 20; i++)
			(void)machine_user_ok(WORDS("true"));
		after = wakeups(watched);
	}
	ASSERT(streq(after, before), "they woke:\n%sthen\n%s", before, after);
}
