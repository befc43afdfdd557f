/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Notifications in terminals: ours, and those of the agents themselves.
 */
#include "persistence/attach.h"

#include <string.h>

static void configure(const char *text)
{
	machine_write(at_home(".config/agentdeck/config.toml"), 0644, text);
}

static const char *attach_to(struct session *session, const char *name)
{
	const char *keys = attach_open(session->id, name);
	WAIT_FOR(session_look(session) && session->socket && attach_count(session) == 1,
		 "%s is not attached:\n%s", session->title, attach_output(keys));
	return keys;
}

static size_t count(const char *text, const char *part)
{
	size_t count = 0;
	while ((text = strstr(text, part))) {
		text += strlen(part);
		count++;
	}
	return count;
}

TEST(AttachedTerminalsHearOnceOfASessionThatWaits)
{
	static const char notice[] = "\a\033]9;agentdeck: second: waits for you\033\\";
	const char *told = at_home("told");
	struct session mine = { 0 }, second = { 0 };
	configure(kept("[notify]\nbell = true\nosc = \"9\"\non = [\"waiting\"]\n"
		       "command = [\"/bin/sh\", \"-c\", \"cat >>%s\"]\n",
		       told));
	session_add(&mine, NULL, "mine", WORDS("--agent", "demo"));
	session_start(&mine, NULL);
	const char *keys = attach_to(&mine, "keys");
	(void)machine_background(WORDS("agentdeck", "supervise"), at_home("supervise.out"));
	WAIT_FOR(strstr(or_empty(deck_log()), "supervising "), "no supervisor");
	machine_set("AGENTDECK_DEMO_IDLE_MS", "100");
	session_add(&second, NULL, "second", WORDS("--agent", "demo"));
	session_start(&second, NULL);
	session_say(&second, "remember 42");
	WAIT_FOR(strstr(attach_output(keys), notice), "no notice comes: %s",
		 (const char *)keep(visible(attach_output(keys))));
	/* The supervisor has heard of it, too, and has called the command. */
	WAIT_FOR(strstr(or_empty(machine_read(told)), "\"occasion\":\"waiting\""),
		 "the command is not run: %s", or_empty(deck_log()));
	ASSERT(count(attach_output(keys), notice) == 1, "it comes more than once: %s",
	       (const char *)keep(visible(attach_output(keys))));
}

/* What the terminal shows of an agent that sends a notification and then a word. */
static const char *output_of_agent(const char *title, const char *script)
{
	struct session session = { 0 };
	session_add(&session, NULL, title, WORDS("-c", kept("sh %s", script)));
	session_start(&session, NULL);
	const char *keys = attach_to(&session, kept("%s.keys", title));
	attach_press(keys, "\\r");
	WAIT_FOR(strstr(attach_output(keys), "sent"), "the agent sends nothing:\n%s",
		 attach_output(keys));
	return attach_output(keys);
}

TEST(AgentsOwnNotificationsPassUnlessSwitchedOff)
{
	const char *script = at_home("agent.sh");
	machine_write(script, 0755,
		      "read line\n"
		      "printf '\\033Ptmux;\\033\\033]9;from the agent\\033\\033\\\\\\033\\\\'\n"
		      "echo sent\nexec cat\n");
	configure("[tmux.options]\nset-titles = false\n");
	const char *output = output_of_agent("open", script);
	ASSERT(strstr(output, "\033]9;from the agent\033\\"), "it does not pass: %s",
	       (const char *)keep(visible(output)));
	configure("[tmux]\npassthrough = false\n");
	output = output_of_agent("closed", script);
	ASSERT(!strstr(output, "from the agent"), "it passes: %s",
	       (const char *)keep(visible(output)));
}
