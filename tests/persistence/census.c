/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/census.h"

#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH = 16 };

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

static bool is_agent(const char *line)
{
	return starts_with(line, "agentdeck-demo-");
}

/* While an agent starts a hook, its child is still the agent until it has become the shell. */
static bool is_child_of_agent(const char *text, const char *line)
{
	int pid, parent, agent;
	if (sscanf(line + NAME_WIDTH, "%d %d", &pid, &parent) != 2)
		return false;
	for (const char *other = text; *other; other = next_line(other))
		if (is_agent(other) && sscanf(other + NAME_WIDTH, "%d", &agent) == 1 &&
		    agent == parent)
			return true;
	return false;
}

/* agentdeck-watch ends when the probation does. */
struct census take_census(void)
{
	struct census census = {
		.text = machine_root(WORDS("ps", "-u", machine_user_name(), "-o",
					   "comm:16=,pid=,ppid=,stat=,args="))
				.output,
	};
	for (const char *line = census.text; *line; line = next_line(line)) {
		if (starts_with(line, "tmux: server"))
			census.servers++;
		else if (is_agent(line))
			census.agents += !is_child_of_agent(census.text, line);
		else if ((starts_with(line, "agentdeck") &&
			  !starts_with(line, "agentdeck-watch")) ||
			 starts_with(line, "tmux") || starts_with(line, "strace"))
			census.strays++;
	}
	return census;
}

static bool is_complete(const struct census *census, unsigned expected)
{
	return census->servers == expected && census->agents == expected;
}

/* There are never too many. A new agent may need a moment to begin, and processes that a dead
 * command started one to end. */
void assert_census(unsigned expected, const char *where)
{
	struct census census = take_census();
	ASSERT(census.servers <= expected && census.agents <= expected,
	       "%s: %u servers and %u agents instead of %u:\n%s", where, census.servers,
	       census.agents, expected, census.text);
	WAIT_FOR((census = take_census(), is_complete(&census, expected)),
		 "%s: %u servers and %u agents instead of %u:\n%s", where, census.servers,
		 census.agents, expected, census.text);
	WAIT_FOR((census = take_census()).strays == 0, "%s: %u processes are left over:\n%s", where,
		 census.strays, census.text);
	ASSERT(is_complete(&census, expected),
	       "%s: later, %u servers and %u agents instead of %u:\n%s", where, census.servers,
	       census.agents, expected, census.text);
}
