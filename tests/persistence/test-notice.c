/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Notifications in terminals: ours, and those of the agents themselves.
 */
#include "persistence/attach.h"

#include <signal.h>
#include <stdlib.h>
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

static struct process begin_supervising(void)
{
	const struct process supervisor = machine_background(WORDS("agentdeck", "supervise"),
							     at_home("supervise.out"));
	WAIT_FOR(strstr(or_empty(deck_log()), "supervising "), "no supervisor");
	return supervisor;
}

/* A session whose agent waits for its user soon after each turn. */
static void begin_waiting(struct session *session, const char *title)
{
	machine_set("AGENTDECK_DEMO_IDLE_MS", "100");
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
}

/* What was written to the terminal before the agent has repeated the word is in the output then. */
static void await_terminal(const char *keys, const char *word)
{
	attach_press(keys, word);
	WAIT_FOR(strstr(attach_output(keys), word), "%s does not come:\n%s", word,
		 attach_output(keys));
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
	begin_waiting(&second, "second");
	session_say(&second, "remember 42");
	WAIT_FOR(strstr(attach_output(keys), notice), "no notice comes: %s",
		 (const char *)keep(visible(attach_output(keys))));
	/* The next ones are soon after it, and a supervisor hears of them, too.  Its command comes
	 * last, and the agent takes a turn when its report is done. */
	(void)begin_supervising();
	for (size_t turn = 1; turn <= 2; turn++) {
		session_say(&second, "remember 42");
		WAIT_FOR(count(attach_output(keys), notice) > turn &&
				 count(or_empty(machine_read(told)), "\"waiting\",\"id\"") >= turn,
			 "notice %zu does not come: %s", turn + 1, or_empty(machine_read(told)));
	}
	await_terminal(keys, "fence");
	ASSERT(count(attach_output(keys), notice) == 3, "it comes more than once: %s",
	       (const char *)keep(visible(attach_output(keys))));
}

static size_t errors_told(const char *told, const struct session *session)
{
	return count(or_empty(machine_read(told)),
		     kept("\"occasion\":\"error\",\"id\":\"%s\"", session->id));
}

static void kill_agent(struct session *session)
{
	const struct process agent = session_agent(session);
	machine_kill(&agent, SIGKILL);
}

TEST(AttachedTerminalsTellOnceOfAnEndWithoutASupervisor)
{
	const char *told = at_home("told");
	struct session sessions[2] = { 0 };
	configure(kept("[notify]\ncommand = [\"/bin/sh\", \"-c\", \"cat >>%s\"]\n"
		       "on = [\"error\"]\n",
		       told));
	for (size_t i = 0; i < 2; i++) {
		session_add(&sessions[i], NULL, i ? "second" : "first", WORDS("--agent", "demo"));
		session_start(&sessions[i], NULL);
		(void)attach_to(&sessions[i], i ? "second.keys" : "first.keys");
	}
	WAIT_FOR(count(or_empty(deck_log()), "notifies while no supervisor runs") == 2,
		 "the terminals do not watch: %s", or_empty(deck_log()));
	/* Both terminals see the first end, and one of them ends with it.  The second end takes the
	 * last terminal with it. */
	for (size_t i = 0; i < 2; i++) {
		kill_agent(&sessions[i]);
		WAIT_FOR(errors_told(told, &sessions[i]), "nobody tells of the end of %s: %s",
			 sessions[i].title, or_empty(deck_log()));
	}
	WAIT_FOR(!*machine_user(WORDS("pgrep", "-x", "agentdeck")).output,
		 "agentdeck is still at work: %s", or_empty(deck_log()));
	for (size_t i = 0; i < 2; i++)
		ASSERT(errors_told(told, &sessions[i]) == 1, "the end of %s is told twice: %s",
		       sessions[i].title, machine_read(told));
}

TEST(NotifyCommandEndsInTimeAcrossAReload)
{
	const char *told = at_home("told");
	struct session session = { 0 };
	const struct process supervisor = begin_supervising();
	/* The supervisor takes up the change. */
	configure(kept("[notify]\ncommand = [\"/bin/sh\", \"-c\", "
		       "\"echo $$ >>%s; exec sleep 1000\"]\n",
		       told));
	WAIT_FOR(count(or_empty(deck_log()), " supervising ") == 2,
		 "it keeps the old configuration: %s", or_empty(deck_log()));
	begin_waiting(&session, "deck");
	session_say(&session, "remember 42");
	WAIT_FOR(ends_with(or_empty(machine_read(told)), "\n"), "the command is not run: %s",
		 or_empty(deck_log()));
	const struct process command = machine_process((pid_t)strtol(machine_read(told), NULL, 10));
	ASSERT(command.pid, "the command has ended");
	machine_kill(&supervisor, SIGHUP);
	WAIT_FOR(count(or_empty(deck_log()), " supervising ") == 3, "it does not reload: %s",
		 or_empty(deck_log()));
	ASSERT(machine_alive(&command), "the command did not outlive the reload");
	WAIT_FOR(!machine_alive(&command), "the command is still there: %s", or_empty(deck_log()));
	WAIT_FOR(strstr(or_empty(deck_log()), "took longer than 10 s"), "nobody says why");
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
	machine_write(
		script, 0755,
		"read line\n"
		"printf '\\033Ptmux;\\033\\033]9;from the agent\\033\\033\\\\\\033\\\\'\n"
		"printf '\\033]52;c;Y2xpcGJvYXJk\\007\\033]2;renamed\\007\\033krenamed\\033\\\\'\n"
		"echo sent\nexec cat\n");
	configure("[tmux.options]\nset-titles = false\n");
	const char *output = output_of_agent("open", script);
	ASSERT(strstr(output, "\033]9;from the agent\033\\"), "it does not pass: %s",
	       (const char *)keep(visible(output)));
	ASSERT(strstr(output, "Y2xpcGJvYXJk"), "it sets no clipboard: %s",
	       (const char *)keep(visible(output)));
	/* Nor does it say what the terminal or its window is called. */
	configure("[tmux]\npassthrough = false\n[tmux.options]\nset-clipboard = \"off\"\n");
	output = output_of_agent("closed", script);
	ASSERT(!strstr(output, "from the agent") && !strstr(output, "Y2xpcGJvYXJk") &&
		       !strstr(output, "renamed"),
	       "it passes: %s", (const char *)keep(visible(output)));
}
