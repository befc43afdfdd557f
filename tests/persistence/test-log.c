/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What was decided can be read afterwards: in the log, and in the journal for those who want it there.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define ISOLATION "tmux cgroup isolation: enabled ("

/* The log from where it ends now. */
static size_t log_end(void)
{
	return strlen(or_empty(deck_log()));
}

/* Since then the session's log has a line of this component with the text. */
static void assert_line(const struct session *session, size_t since, const char *component,
			const char *text)
{
	const char *log = or_empty(deck_log());
	const char *who = kept(" %s pid=", component), *whose = kept(" instance=%s ", session->id);
	ASSERT(strlen(log) >= since, "the log became shorter");
	for (const char *line = log + since; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *one = kept("%.*s", (int)strcspn(line, "\n"), line);
		if (strstr(one, who) && strstr(one, whose) && strstr(one, text))
			return;
	}
	fail_test("no line of '%s' for %s with '%s':\n%s", component, session->id, text, log + since);
}

static void EveryStartLogsIsolationAndResume(void)
{
	struct session session;
	install_claude_stand_in();
	size_t since = log_end();
	struct json_object *launched = deck_ok(NULL, WORDS("launch", home(), "-t", "deck", "--agent",
							   "claude", "--json"));
	session = (struct session){ .title = "deck", .directory = home(),
				    .id = json_get_string(launched, "id", "") };
	(void)session_look(&session);
	const char *session_id = session.session_id;
	assert_line(&session, since, "launch", ISOLATION);
	assert_line(&session, since, "launch",
		    kept("resume: none reason=fresh_session id=%s", session_id));
	session_say(&session, "words");

	const char *const resumed = kept("resume: id=%s reason=conversation_data_present", session_id);
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

static void FurtherRungsLogIsolationAndResume(void)
{
	struct session session;
	install_claude_stand_in();
	session_add(&session, NULL, "deck", WORDS("--agent", "claude"));
	session_start(&session, NULL);
	session_say(&session, "words");
	session_stop(&session, NULL);
	/* An agent that cannot find a conversation that is there, and ends. */
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
	/* The new conversation is the session's from its first turn on, and that is told, too. */
	ASSERT(streq(session.session_id, before), "it gave %s up at once", before);
	session_say(&session, "words");
	WAIT_FOR(session_look(&session) && !streq(session.session_id, before),
		 "the new conversation does not count");
	WAIT_FOR(strstr(deck_log() + since, "conversation: "), "the log does not tell of it");
	assert_line(&session, since, "hook",
		    kept("conversation: %s -> %s event=UserPromptSubmit", before, session.session_id));
}

static void ChangeOfConversationIsLogged(void)
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
	const char *lines = machine_root_ok(
		WORDS("journalctl", "SYSLOG_IDENTIFIER=agentdeck",
		      kept("AGENTDECK_INSTANCE=%s", session->id), "-o", "json", "--no-pager"));
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
	ASSERT(streq(found, value), "%s is %s, not %s: %s", field, found, value, json_print(object));
}

static void JournalHasTheLog(void)
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
	const char *environment = machine_root_ok(WORDS("sh", "-c", "tr '\\0' '\\n' <\"/proc/$1/environ\"",
							"sh", kept("%d", (int)session.agent_pid)));
	ASSERT(run && strstr(environment, kept("AGENTDECK_RUN=%s\n", run)),
	       "AGENTDECK_RUN is %s, and not that of the agent:\n%s", or_empty(run), environment);
	struct json_object *isolation = entry(&session, ISOLATION);
	ASSERT(isolation, "the journal has no 'tmux cgroup isolation:'");
	assert_field(isolation, "AGENTDECK_RUN", run);
	struct json_object *pane = entry(&session, "rung assign");
	ASSERT(pane, "the journal has nothing of the pane");
	assert_field(pane, "AGENTDECK_RUN", run);
	WAIT_FOR(entry(&session, "report SessionStart"), "the journal has nothing of the hook");
	assert_field(entry(&session, "report SessionStart"), "AGENTDECK_RUN", run);
	assert_logged("resume: none reason=fresh_session");

	machine_write(at_home(".config/agentdeck/config.toml"), 0644, "");
	session_stop(&session, NULL);
	assert_logged("stopped");
	ASSERT(!entry(&session, "stopped"), "the journal gets it unasked");
}

/* Every command writes to it; a full queue that nobody reads must stop none of them. */
static void HangingJournalStopsNobody(void)
{
	struct session session;
	use_journal();
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	const char *pid = machine_root_ok(
		WORDS("systemctl", "show", "-P", "MainPID", "systemd-journald"));
	struct process journal = machine_process((pid_t)strtol(pid, NULL, 10));
	ASSERT(journal.pid, "there is no journald");
	machine_kill(&journal, SIGSTOP);
	/* Fill its queue, until the next one would wait. */
	struct answer full = machine_user(WORDS(
		"sh", "-c",
		"i=0; while [ $((i += 1)) -lt 10000 ]; do\n"
		"	printf 'MESSAGE=full\\n\\n' | timeout 5 logger --journald || exit 0\n"
		"done; exit 1"));
	struct answer start = machine_user(WORDS("timeout", "60", "agentdeck", "session", "start",
						 session.id));
	struct answer stop = machine_user(WORDS("timeout", "60", "agentdeck", "session", "stop",
						session.id));
	machine_kill(&journal, SIGCONT);
	ASSERT(full.status == 0, "the queue does not fill: %s", full.errors);
	ASSERT(start.status == 0, "start ended with %d: %s", start.status, start.errors);
	ASSERT(stop.status == 0, "stop ended with %d: %s", stop.status, stop.errors);
	assert_logged("started: ");
}

const struct test log_tests[] = {
	TEST(EveryStartLogsIsolationAndResume),
	TEST(FurtherRungsLogIsolationAndResume),
	TEST(ChangeOfConversationIsLogged),
	TEST(JournalHasTheLog),
	TEST(HangingJournalStopsNobody),
	{ 0 },
};
