/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/census.h"

#include <string.h>

/* agentdeck-watch ends by itself, with the probation. */
struct census take_census(void)
{
	struct census census = {
		.text = machine_root(WORDS("ps", "-u", machine_user_name(), "-o", "comm=,pid=,stat=,args="))
				.output,
	};
	for (const char *line = census.text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (starts_with(line, "tmux: server"))
			census.servers++;
		else if (starts_with(line, "agentdeck-demo-"))
			census.agents++;
		else if ((starts_with(line, "agentdeck") && !starts_with(line, "agentdeck-watch")) ||
			 starts_with(line, "tmux") || starts_with(line, "strace"))
			census.strays++;
	}
	return census;
}

/* Servers and agents at once; what a dead command was about to do may take a moment to end. */
void assert_census(unsigned expected, const char *where)
{
	struct census census = take_census();
	ASSERT(census.servers == expected && census.agents == expected,
	       "%s: %u servers and %u agents instead of %u:\n%s", where, census.servers, census.agents,
	       expected, census.text);
	WAIT_FOR((census = take_census()).strays == 0, "%s: %u processes are left over:\n%s", where,
		 census.strays, census.text);
	ASSERT(census.servers == expected && census.agents == expected,
	       "%s: later, %u servers and %u agents instead of %u:\n%s", where, census.servers,
	       census.agents, expected, census.text);
}
