/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Decisions can be read afterwards: in the log, and in the journal for those who want it there.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define ISOLATION "tmux cgroup isolation: enabled ("

/* Offset of the present end of the log. */
static size_t log_end(void)
{
	return strlen(or_empty(deck_log()));
}

/* Since that offset the session's log has a line of this component with the text. */
static void assert_line(const struct session *session, size_t since, const char *component,
			const char *text)
{
	const char *log = or_empty(deck_log());
	const char *who = kept(" %s pid=", component), *whose = kept(" instance=%s ", session->id);
	ASSERT(strlen(log) >= since, "the log became shorter");
	for (const char *line = log + since; *line;
	     line += strcspn(line, "\n"), line += *line == '\n') {
		const char *one = kept("%.*s", (int)strcspn(line, "\n"), line);
		if (strstr(one, who) && strstr(one, whose) && strstr(one, text))
			return;
	}
	fail_test("no line of '%s' for %s with '%s':\n%s", component, session->id, text,
		  log + since);
}

TEST(EveryStartLogsIsolationAndResume)
{
	struct session session;
	install_claude_stand_in();
	size_t since = log_end();
	struct json_object *launched = deck_ok(NULL, WORDS("launch", home(), "-t", "deck",
							   "--agent", "claude", "--json"));
	session = (struct session){ .title = "deck",
				    .directory = home(),
				    .id = json_get_string(launched, "id", "") };
	(void)session_look(&session);
	const char *session_id = session.session_id;
	assert_line(&session, since, "launch", ISOLATION);
	assert_line(&session, since, "launch",
		    kept("resume: none reason=fresh_session id=%s", session_id));
	session_say(&session, "words");

	const char *const resumed = kept("resume: id=%s reason=conversation_data_present",
					 session_id);
	since = log_end();
	session_restart(&session, NULL);
	assert_line(&session, since, "restart", ISOLATION);
	assert_line(&session, since, "restart", resumed);

	since = log_end();
	session_kill_server(&session);
	session_start(&session, NULL);
	assert_line(&session, since, "start", ISOLATION);
	assert_line(&session, since, "start", resumed);
}

TEST(FurtherRungsLogIsolationAndResume)
{
	struct session session;
	install_claude_stand_in();
	session_add(&session, NULL, "deck", WORDS("--agent", "claude"));
	session_start(&session, NULL);
	session_say(&session, "words");
	session_stop(&session, NULL);
	/* An agent that does not find a conversation, although it exists, and ends. */
	machine_write(at_home("bin/claude"), 0755,
		      "#!/bin/sh\n"
		      "export AGENTDECK_DEMO_CONFIG_DIR=\"${CLAUDE_CONFIG_DIR:-$HOME/.claude}\"\n"
		      "case \" $* \" in *' --resume '*) exit 1 ;; esac\n"
		      "exec agentdeck-demo-agent \"$@\"\n");
	size_t since = log_end();
	const char *before = session.session_id;
	session_start(&session, NULL);
	assert_line(&session, since, "pane", ISOLATION);
	assert_line(&session, since, "pane", "resume: none reason=resume_failed id=");
	/* The new conversation becomes the session's with its first turn, and that is logged,
	 * too. */
	ASSERT(streq(session.session_id, before), "it gave %s up at once", before);
	session_say(&session, "words");
	WAIT_FOR(session_look(&session) && !streq(session.session_id, before),
		 "the new conversation does not count");
	WAIT_FOR(strstr(deck_log() + since, "conversation: "), "the log does not tell of it");
	assert_line(&session, since, "hook",
		    kept("conversation: %s -> %s event=UserPromptSubmit", before,
			 session.session_id));
}

TEST(ChangeOfConversationIsLogged)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	const char *before = session.session_id;
	size_t since = log_end();
	session_type(&session, "/clear");
	session_press(&session, "Enter");
	WAIT_FOR(strstr(deck_log() + since, "conversation: "), "the log does not tell of it:\n%s",
		 deck_log());
	(void)session_look(&session);
	assert_line(&session, since, "hook",
		    kept("conversation: %s -> %s event=SessionStart source=clear", before,
			 session.session_id));
}

/* ---- the journal ------------------------------------------------------------------------- */

static void use_journal(void)
{
	if (machine_root(WORDS("journalctl", "--version")).status != 0)
		skip_test("journalctl is not installed");
	machine_write(at_home(".config/agentdeck/config.toml"), 0644, "[log]\njournal = true\n");
}

/* The entry of this session with the text in its message; NULL: there is none. */
static struct json_object *entry(const struct session *session, const char *text)
{
	machine_root_ok(WORDS("journalctl", "--sync"));
	const char *lines = machine_root_ok(WORDS("journalctl", "SYSLOG_IDENTIFIER=agentdeck",
						  kept("AGENTDECK_INSTANCE=%s", session->id), "-o",
						  "json", "--no-pager"));
	for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		struct json_object *object = NULL;
		if (json_parse(line, strcspn(line, "\n"), "entry", &object, NULL) != 0)
			continue;
		keep_json(object);
		if (strstr(json_get_string(object, "MESSAGE", ""), text))
			return object;
	}
	return NULL;
}

static void assert_field(struct json_object *object, const char *field, const char *value)
{
	const char *found = json_get_string(object, field, "nothing");
	ASSERT(streq(found, value), "%s is %s, not %s: %s", field, found, value,
	       json_print(object));
}

TEST(JournalHasTheLog)
{
	struct session session;
	use_journal();
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	struct json_object *resume = entry(&session, "resume: none reason=fresh_session");
	ASSERT(resume, "the journal has no 'resume:'");
	assert_field(resume, "PRIORITY", "6");
	assert_field(resume, "AGENTDECK_COMPONENT", "start");
	assert_field(resume, "_UID", kept("%u", machine_uid()));
	const char *run = json_get_string(resume, "AGENTDECK_RUN", NULL);
	const char *environment = machine_root_ok(WORDS("sh", "-c",
							"tr '\\0' '\\n' <\"/proc/$1/environ\"",
							"sh", kept("%d", (int)session.agent_pid)));
	ASSERT(run && strstr(environment, kept("AGENTDECK_RUN=%s\n", run)),
	       "AGENTDECK_RUN is %s, and not that of the agent:\n%s", or_empty(run), environment);
	struct json_object *isolation = entry(&session, ISOLATION);
	ASSERT(isolation, "the journal has no 'tmux cgroup isolation:'");
	assert_field(isolation, "AGENTDECK_RUN", run);
	struct json_object *pane = entry(&session, "attempt assign");
	ASSERT(pane, "the journal has nothing of the pane");
	assert_field(pane, "AGENTDECK_RUN", run);
	WAIT_FOR(entry(&session, "report SessionStart"), "the journal has nothing of the hook");
	assert_field(entry(&session, "report SessionStart"), "AGENTDECK_RUN", run);
	assert_logged("resume: none reason=fresh_session");

	machine_write(at_home(".config/agentdeck/config.toml"), 0644, "");
	session_stop(&session, NULL);
	assert_logged("-> stopped");
	ASSERT(!entry(&session, "-> stopped"), "the journal gets it by default");
}

/* Whoever changes the state of a session, the log says so. */
TEST(EachChangeOfStateIsLogged)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo", "--restart", "no"));
	size_t since = log_end();
	session_start(&session, NULL);
	assert_line(&session, since, "start", "state stopped -> starting");
	assert_line(&session, since, "start", "state starting -> running");
	since = log_end();
	session_stop(&session, NULL);
	assert_line(&session, since, "stop", "state running -> stopping");
	assert_line(&session, since, "stop", "state stopping -> stopped");
	session_start(&session, NULL);
	since = log_end();
	session_type(&session, "/exit");
	session_press(&session, "Enter");
	WAIT_FOR(strstr(deck_log() + since, "-> stopped"), "its end is not logged");
	assert_line(&session, since, "pane", "state running -> stopped: exit 0");
	session_start(&session, NULL);
	since = log_end();
	session_kill_server(&session);
	deck_look_ok(WORDS("list", "--json"));
	assert_line(&session, since, "list", "state running -> error: its tmux server was killed");
}

/* Every command writes to the journal; a full queue without a reader must stop none of them. */
TEST(HangingJournalStopsNobody)
{
	struct session session;
	use_journal();
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	const char *pid = machine_root_ok(
		WORDS("systemctl", "show", "-P", "MainPID", "systemd-journald"));
	struct process journal = machine_process((pid_t)strtol(pid, NULL, 10));
	ASSERT(journal.pid, "there is no journald");
	machine_kill(&journal, SIGSTOP);
	/* Fill its queue, until the next write would block. */
	struct answer full = machine_user(
		WORDS("sh", "-c",
		      "i=0; while [ $((i += 1)) -lt 10000 ]; do\n"
		      "	printf 'MESSAGE=full\\n\\n' | timeout 5 logger --journald || exit 0\n"
		      "done; exit 1"));
	struct answer start = machine_user(
		WORDS("timeout", "60", "agentdeck", "session", "start", session.id));
	struct answer stop = machine_user(
		WORDS("timeout", "60", "agentdeck", "session", "stop", session.id));
	machine_kill(&journal, SIGCONT);
	ASSERT(full.status == 0, "the queue does not fill: %s", full.errors);
	ASSERT(start.status == 0, "start ended with %d: %s", start.status, start.errors);
	ASSERT(stop.status == 0, "stop ended with %d: %s", stop.status, stop.errors);
	assert_logged("started: ");
}

#define CANARY "message-canary-0815"

/* Processes of the machine with the pattern in their command line.  The pattern is in a file, so
 * that this process is not among them. */
static const char *tellers(void)
{
	return machine_root(WORDS("sh", "-c", "grep -alsf \"$1\" /proc/[0-9]*/cmdline; :", "sh",
				  at_home("pattern")))
		.output;
}

/* Send a message as a word of the command line, from a script, so that no other process has it in
 * its command line. */
static struct process say_by_word(const char *command)
{
	machine_write(at_home("say"), 0755,
		      kept("text=$(cat %s); exec agentdeck %s\n", at_home("pattern"), command));
	return machine_background(WORDS("sh", at_home("say")), at_home("said"));
}

static bool is_at_work(const struct process *process, const char *word)
{
	const struct strvec *argv = machine_argv(process->pid);
	return argv && strvec_contains(argv, word);
}

static void assert_not_told(const char *when)
{
	machine_root_ok(WORDS("journalctl", "--sync"));
	struct answer journal = machine_root(
		WORDS("sh", "-c", "journalctl -o json --no-pager | grep -f \"$1\"; :", "sh",
		      at_home("pattern")));
	ASSERT(!*journal.output, "%s the journal has the message:\n%s", when, journal.output);
	assert_not_logged(CANARY);
}

TEST(MessageIsInNoCommandLineOfTheJournal)
{
	struct session session;
	use_journal();
	machine_write(at_home("pattern"), 0600, CANARY "\n");
	machine_make_directory(at_home("other"));
	struct process launch = say_by_word(
		kept("launch %s -t other --agent demo --message=\"$text\"", at_home("other")));
	WAIT_FOR(!machine_alive(&launch), "launch does not end: %s",
		 or_empty(machine_read(at_home("said"))));
	ASSERT(strstr(or_empty(machine_read(at_home("said"))), "message submitted"),
	       "launch says:\n%s", or_empty(machine_read(at_home("said"))));
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	/* It waits for a tmux server that was stopped by SIGSTOP. */
	struct process server = session_server(&session);
	machine_kill(&server, SIGSTOP);
	struct process send = say_by_word("session send deck \"$text\" --timeout 120");
	WAIT_FOR(is_at_work(&send, "send"), "send does not start");
	WAIT_FOR(!*tellers(), "while it waits it is in the command line of %s", tellers());
	ASSERT(machine_alive(&send), "it does not wait: %s",
	       or_empty(machine_read(at_home("said"))));
	machine_kill(&server, SIGCONT);
	WAIT_FOR(!machine_alive(&send), "send does not end: %s",
		 or_empty(machine_read(at_home("said"))));
	ASSERT(strstr(or_empty(machine_read(at_home("said"))), "deck: submitted"), "send says:\n%s",
	       or_empty(machine_read(at_home("said"))));
	WAIT_FOR(session_shows(&session, CANARY), "the agent has another message:\n%s",
		 or_empty(session_screen(&session)));
	ASSERT(entry(&session, "resume: none"),
	       "the journal has nothing of the start: this proves nothing");
	assert_not_told("after a launch and a send");
	/* An agent's report arrives in the same way. */
	machine_write(at_home("say"), 0755,
		      kept("text=$(cat %s); exec agentdeck hook --instance %s \"$text\"\n",
			   at_home("pattern"), session.id));
	(void)machine_user(WORDS("sh", at_home("say")));
	assert_not_told("after a report");
}
