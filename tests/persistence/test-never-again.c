/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Failures that users of other supervisors have met.  docs/never-again.md lists them all, each with
 * its test; here are the tests of those that had none.
 */
#include "persistence/attach.h"

#include <signal.h>
#include <string.h>

#define MARKER "once is enough"

static void begin(struct session *session, const char *title)
{
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
}

static long count_processes(const char *how, const char *pattern)
{
	struct answer answer = machine_root(
		WORDS("pgrep", "-c", "-u", machine_user_name(), how, pattern));
	ASSERT(answer.status <= 1, "pgrep: %s", answer.errors);
	return strtol(answer.output, NULL, 10);
}

static void assert_runs(long wanted)
{
	long servers = count_processes("-x", "tmux: server");
	long agents = count_processes("-f", "^agentdeck-demo-agent");
	ASSERT(servers == wanted && agents == wanted, "%ld servers and %ld agents, not %ld of each",
	       servers, agents, wanted);
}

static const char *state_file(const char *name)
{
	return at_home(kept(".local/state/agentdeck/%s", name));
}

/* ---- terminals --------------------------------------------------------------------------- */

TEST(KilledTerminalsHarmNoServerAndLeaveNoClient)
{
	struct session session;
	begin(&session, "deck");
	struct process server = session_server(&session), agent = session_agent(&session);
	for (unsigned i = 0; i < 4; i++) {
		(void)attach_open(session.id, kept("keys-%u", i));
		WAIT_FOR(attach_count(&session) == 1, "terminal %u is not attached: %s", i,
			 or_empty(machine_read(at_home(kept("keys-%u.out", i)))));
		struct process victim = machine_process(
			(pid_t)strtol(attach_clients(&session), NULL, 10));
		/* Kill the tmux client or, in turn, the agentdeck that waits for it. */
		if (i % 2) {
			const char *pattern = kept("^agentdeck attach %s", session.id);
			const char *found = machine_root_ok(WORDS("pgrep", "-f", pattern));
			victim = machine_process((pid_t)strtol(found, NULL, 10));
		}
		machine_destroy(&victim);
		WAIT_FOR(attach_count(&session) == 0, "terminal %u is still attached", i);
		WAIT_FOR(count_processes("-f", "attach-session") == 0, "client %u is left", i);
	}
	ASSERT(machine_alive(&server) && machine_alive(&agent),
	       "the session ended with a terminal");
	session_say(&session, "still there");
}

TEST(EachTerminalIsLeftByItself)
{
	struct session one, other;
	begin(&one, "one");
	begin(&other, "other");
	const char *first = attach_open(one.id, "first"), *second = attach_open(one.id, "second");
	const char *third = attach_open(other.id, "third");
	WAIT_FOR(attach_count(&one) == 2 && attach_count(&other) == 1, "they are not attached");
	attach_press(first, "\\021");
	WAIT_FOR(attach_count(&one) == 1, "Ctrl-Q does not leave");
	ASSERT(attach_count(&other) == 1, "the other session was left as well");
	attach_press(second, "by the second\\r");
	WAIT_FOR(session_shows(&one, "You said: \"by the second\""),
		 "the second terminal of the same session is dead:\n%s",
		 or_empty(session_screen(&one)));
	attach_press(third, "by the third\\r");
	WAIT_FOR(session_shows(&other, "You said: \"by the third\""), "the third is dead:\n%s",
		 or_empty(session_screen(&other)));
	attach_press(third, "\\021");
	WAIT_FOR(attach_count(&other) == 0, "Ctrl-Q does not leave the other session");
	ASSERT(attach_count(&one) == 1, "the first session was left as well");
	assert_runs(2);
}

TEST(LooksAtAWedgedServerLeaveNoClient)
{
	struct session session;
	begin(&session, "deck");
	struct process server = session_server(&session);
	machine_kill(&server, SIGSTOP);
	for (unsigned i = 0; i < 3; i++) {
		(void)deck_look(WORDS("list", "--json"));
		(void)deck_look(WORDS("session", "show", session.id, "--json"));
		(void)deck_look(WORDS("session", "start", session.id));
	}
	long left = count_processes("-x", "tmux: client");
	machine_kill(&server, SIGCONT);
	ASSERT(left == 0, "%ld clients wait for a server that does not answer", left);
	assert_runs(1);
	session_say(&session, "still there");
}

/* ---- servers ----------------------------------------------------------------------------- */

TEST(DeletedDirectoryHarmsNoOtherAndComesBack)
{
	struct session one, other;
	begin(&one, "one");
	const char *session_id = one.session_id;
	machine_root_ok(WORDS("rm", "-r", one.directory));
	session_add(&other, NULL, "other", WORDS("--agent", "demo"));
	/* The caller's directory is gone, too. */
	struct answer start = machine_login(WORDS("sh", "-c",
						  "mkdir \"$2\" && cd \"$2\" && rmdir \"$2\" && "
						  "exec agentdeck session start \"$1\"",
						  "sh", other.id, at_home("gone")));
	ASSERT(start.status == 0, "no start: %s%s", start.errors, start.output);
	(void)session_look(&other);
	const char *stands = machine_root_ok(
		WORDS("readlink", "-n", kept("/proc/%d/cwd", (int)session_agent(&other).pid)));
	ASSERT(streq(stands, other.directory), "the agent stands in %s", stands);
	session_say(&one, "still there");

	session_kill_server(&one);
	struct reply reply = deck(NULL, WORDS("session", "start", one.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "is missing"), "status %d: %s",
	       reply.status, reply.errors);
	machine_make_directory(one.directory);
	session_start(&one, NULL);
	assert_came_back(&one, session_id, MARKER, 2);
}

TEST(NoShellReadsTheCommand)
{
	static const char prompt[] = "a; touch obeyed $(touch obeyed) `touch obeyed` | \"x\" #{pid}";
	struct session session;
	const char *witness = at_home("shell-was-asked");
	machine_write(at_home("bin/odd-shell"), 0755,
		      kept("#!/bin/sh\n: >'%s'\nexit 1\n", witness));
	machine_set("SHELL", at_home("bin/odd-shell"));
	session_add(&session, NULL, "deck",
		    WORDS("-c", kept("agentdeck-demo-agent --append-system-prompt '%s'", prompt)));
	session_start(&session, NULL);
	assert_flag(&session, "--append-system-prompt", prompt);
	session_say(&session, MARKER);
	const char *session_id = session.session_id;
	session_kill_server(&session);
	session_start(&session, NULL);
	assert_flag(&session, "--append-system-prompt", prompt);
	assert_came_back(&session, session_id, MARKER, 1);
	ASSERT(!machine_exists(witness), "the user's shell was started");
	ASSERT(!machine_exists(kept("%s/obeyed", session.directory)), "a shell read the command");
}

TEST(PlainLocaleKeepsEveryCharacter)
{
	static const char title[] = "Ünï €😀", text[] = "grüße €😀";
	struct session session;
	machine_set("LC_ALL", "C");
	machine_set("LANG", "C");
	session_add(&session, NULL, title, WORDS("--agent", "demo"));
	session_start(&session, NULL);
	struct reply sent = deck(NULL, WORDS("session", "send", session.id, text));
	ASSERT(sent.status == 0, "session send: %s%s", sent.errors, sent.output);
	const char *reply = kept("You said: \"%s\"", text);
	WAIT_FOR(strstr(deck_look(WORDS("session", "output", session.id)).output, reply),
		 "the reply is not '%s'", reply);
	/* The agent's conversation is one thing, tmux's screen of it another. */
	WAIT_FOR(strstr(deck_look(WORDS("session", "output", "--pane", session.id)).output, reply),
		 "the screen does not have '%s':\n%s", reply, or_empty(session_screen(&session)));
	(void)attach_open(session.id, "keys");
	WAIT_FOR(strstr(or_empty(machine_read(at_home("keys.out"))), reply),
		 "the terminal does not show '%s': %s", reply,
		 or_empty(machine_read(at_home("keys.out"))));
	struct json_object *shown = session_look(&session);
	ASSERT(streq(json_get_string(shown, "title", ""), title), "the title became %s",
	       json_get_string(shown, "title", ""));
	const char *stands = machine_root_ok(
		WORDS("readlink", "-n", kept("/proc/%d/cwd", (int)session.agent_pid)));
	ASSERT(streq(stands, session.directory), "the agent stands in %s", stands);
}

/* From now on the user manager takes long to make a scope.  Since systemd 254 it has a capability,
 * so only root may trace it. */
static void slow_the_manager_down(void)
{
	const char *pid = machine_root_ok(
		WORDS("pgrep", "-o", "-u", machine_user_name(), "-f", "systemd --user"));
	pid = kept("%d", (int)strtol(pid, NULL, 10));
	(void)machine_root_background(WORDS("strace", "-qq", "-p", pid, "-e",
					    "trace=?mkdir,mkdirat", "-e",
					    "inject=?mkdir,mkdirat:delay_enter=500000"),
				      at_home("manager.out"));
	WAIT_FOR(!strstr(or_empty(machine_read(kept("/proc/%s/status", pid))), "\nTracerPid:\t0\n"),
		 "strace does not attach: %s", or_empty(machine_read(at_home("manager.out"))));
}

TEST(StopAndStartInQuickSuccession)
{
	struct session session;
	begin(&session, "deck");
	const char *session_id = session.session_id;
	struct answer answer = machine_login(
		WORDS("sh", "-c",
		      "i=0; while [ $((i += 1)) -le 10 ]; do agentdeck session stop \"$1\" && "
		      "agentdeck session start --no-wait \"$1\" || exit; done",
		      "sh", session.id));
	ASSERT(answer.status == 0, "status %d: %s%s", answer.status, answer.errors, answer.output);
	ASSERT(!strstr(answer.errors, "warning"), "%s", answer.errors);
	(void)session_look(&session);
	assert_runs(1);
	assert_isolated(&session);
	assert_came_back(&session, session_id, MARKER, 1);
	if (machine_user(WORDS("strace", "-V")).status != 0)
		skip_test("strace is not installed");
	session_stop(&session, NULL);
	slow_the_manager_down();
	session_start(&session, NULL);
	assert_isolated(&session);
	ASSERT(strstr(or_empty(machine_read(at_home("manager.out"))), "mkdir"),
	       "the manager was not slow: this proves nothing");
}

TEST(ConcurrentRestartsGiveOneRun)
{
	struct session session;
	begin(&session, "deck");
	const char *session_id = session.session_id;
	(void)machine_login(WORDS("sh", "-c",
				  "i=0; while [ $((i += 1)) -le 6 ]; do\n"
				  "	agentdeck session restart \"$1\" &\n"
				  "done; wait",
				  "sh", session.id));
	(void)session_look(&session);
	assert_runs(1);
	assert_isolated(&session);
	assert_came_back(&session, session_id, MARKER, 1);
}

/* ---- statuses ---------------------------------------------------------------------------- */

static size_t row_count(void)
{
	return json_object_array_length(deck_look_ok(WORDS("list", "--json")));
}

TEST(RestartWorksFromEveryStatus)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_restart(&session, NULL); /* never started */
	session_say(&session, MARKER);
	const char *session_id = session.session_id;
	session_restart(&session, NULL); /* running */
	assert_came_back(&session, session_id, MARKER, 1);
	session_stop(&session, NULL);
	session_restart(&session, NULL); /* stopped */
	assert_came_back(&session, session_id, MARKER, 2);
	session_kill_server(&session);
	session_restart(&session, NULL); /* lost */
	assert_came_back(&session, session_id, MARKER, 3);
	machine_set("AGENTDECK_DEMO_EXIT_AT_START", "3");
	struct reply reply = deck(NULL, WORDS("session", "restart", session.id));
	ASSERT(reply.status != 0, "a restart that failed says nothing: %s", reply.output);
	(void)session_look(&session);
	ASSERT(streq(session.status, "error"), "status %s", session.status);
	machine_set("AGENTDECK_DEMO_EXIT_AT_START", "");
	session_restart(&session, NULL); /* a shell in the agent's place */
	assert_came_back(&session, session_id, MARKER, 4);
	ASSERT(row_count() == 1, "there are %zu sessions now", row_count());
	assert_runs(1);
}

/* An agent that restarts its own session and another one, as a tool of it would, when it starts
 * with this file there. */
#define RESTARTS                                                          \
	"#!/bin/sh\n"                                                     \
	"[ ! -e ~/again ] || { rm ~/again; { "                            \
	"agentdeck session restart \"$AGENTDECK_INSTANCE\" --json; "      \
	"agentdeck session restart other --json; } >~/answers 2>&1 & }\n" \
	"exec agentdeck-demo-agent \"$@\"\n"

TEST(RestartFromInsideAddsNoSession)
{
	struct session session, other;
	const char *program = at_home("bin/orchestrator"), *answers = at_home("answers");
	begin(&other, "other");
	machine_write(program, 0755, RESTARTS);
	session_add(&session, NULL, "deck", WORDS("--agent", "demo", "-c", program));
	session_start(&session, NULL);
	session_say(&session, MARKER);
	const char *session_id = session.session_id, *other_id = other.session_id;
	for (unsigned turns = 1; turns <= 2; turns++) {
		machine_write(at_home("again"), 0644, "");
		machine_write(answers, 0644, "");
		session_restart(&session, NULL);
		WAIT_FOR(strstr(or_empty(machine_read(answers)), other.id),
			 "the other one is not restarted: %s", or_empty(machine_read(answers)));
		ASSERT(strstr(machine_read(answers), "cannot be restarted from inside"),
		       "it ends itself: %s", machine_read(answers));
		(void)session_look(&session);
		assert_came_back(&session, session_id, MARKER, turns);
		(void)session_look(&other);
		assert_came_back(&other, other_id, MARKER, turns);
		ASSERT(row_count() == 2, "there are %zu sessions now", row_count());
		assert_runs(2);
	}
}

/* The question is in the conversation, its answer is lost, and nothing asks it again. */
TEST(KillInTheMiddleOfATurnKeepsTheQuestion)
{
	struct session session;
	machine_set("AGENTDECK_DEMO_DELAY_MS", "3600000");
	session_add(&session, NULL, "deck", WORDS("-c", "agentdeck-demo-agent '" MARKER "'"));
	session_start(&session, NULL);
	WAIT_FOR(session_shows(&session, "Thinking"), "it has no turn:\n%s",
		 or_empty(session_screen(&session)));
	const char *session_id = session_look(&session) ? session.session_id : NULL;
	machine_set("AGENTDECK_DEMO_DELAY_MS", "1");
	session_kill_server(&session);
	session_start(&session, NULL);
	assert_flag(&session, "--resume", session_id);
	session_say(&session, "and now?");
	ASSERT(session_shows(&session, "You said: \"and now?\". I remember 2 of your messages; the "
				       "first was \"" MARKER "\"."),
	       "the question is lost, or was asked again:\n%s", session_screen(&session));
}

TEST(CustomCommandWithoutAnIdComesBack)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("-c", "sleep 3600"));
	session_start(&session, NULL);
	ASSERT(!session.session_id, "it has the conversation %s", session.session_id);
	struct process first = session_agent(&session);
	session_kill_server(&session);
	WAIT_FOR(!machine_alive(&first), "the command outlives its terminal");
	(void)session_look(&session);
	ASSERT(streq(session.status, "error"), "status %s", session.status);
	session_start(&session, NULL);
	struct process second = session_agent(&session);
	session_restart(&session, NULL);
	ASSERT(!machine_alive(&second), "session restart left the command running");
	assert_isolated(&session);
	session_stop(&session, NULL);
}

/* The file exists, so it is not "not installed", and yet it cannot be run. */
TEST(AgentThatCannotBeExecutedSaysWhy)
{
	struct session session;
	const char *program = at_home("bin/broken-agent");
	machine_write(program, 0755, "#!/no/such/interpreter\n");
	session_add(&session, NULL, "deck", WORDS("--agent", "demo", "-c", program));
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status == 1, "status %d: %s%s", reply.status, reply.errors, reply.output);
	struct json_object *shown = session_look(&session);
	ASSERT(streq(session.status, "error"), "status %s", session.status);
	ASSERT(strstr(json_print(shown), "does not start"), "no reason is kept: %s",
	       json_print(shown));
	/* The agent's last words, which the shell in its place has wiped off the screen. */
	ASSERT(strstr(json_print(shown), "No such file or directory"), "nor why: %s",
	       json_print(shown));
	ASSERT(session_shows(&session, "does not start (exit 127)"), "the screen says nothing:\n%s",
	       or_empty(session_screen(&session)));
}

/* ---- conversations ----------------------------------------------------------------------- */

/* Nothing was written under the id yet: resuming it fails, and it is free for use. */
TEST(KilledBeforeTheFirstTurnKeepsItsId)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	const char *session_id = session.session_id;
	session_kill_server(&session);
	session_start(&session, NULL);
	ASSERT(streq(or_empty(session.session_id), session_id), "the id became %s",
	       or_empty(session.session_id));
	assert_flag(&session, "--session-id", session_id);
	assert_no_flag(&session, "--resume");
	session_say(&session, MARKER);
	session_kill_server(&session);
	session_start(&session, NULL);
	assert_came_back(&session, session_id, MARKER, 1);
}

TEST(LostTranscriptIsToldAndItsBackupIsLeftAlone)
{
	struct session session;
	begin(&session, "deck");
	const char *path = json_get_string(session_look(&session), "transcript_path", NULL);
	const char *backup = kept("%s.bak", path), *text = machine_read(path);
	session_kill_server(&session);
	machine_write(backup, 0600, text);
	machine_remove(path);
	session_start(&session, NULL);
	WAIT_FOR(session_shows(&session, "history not restored"), "the screen does not say so:\n%s",
		 or_empty(session_screen(&session)));
	ASSERT(streq(or_empty(machine_read(backup)), text), "%s was changed", backup);
	session_say(&session, "a new beginning");
}

TEST(FakedSidecarChangesNothing)
{
	struct session session;
	begin(&session, "deck");
	write_decoy(&session);
	const char *session_id = session.session_id;
	session_kill_server(&session);
	machine_write(state_file(kept("hooks/%s.sid", session.id)), 0600, new_uuid());
	session_start(&session, NULL);
	assert_came_back(&session, session_id, MARKER, 1);
}

/* ---- the store --------------------------------------------------------------------------- */

static void assert_title(const char *titles, const char *title, bool wanted)
{
	bool there = strstr(titles, kept("\"%s\"", title));
	ASSERT(there == wanted, "%s is %s:\n%s", title, there ? "back" : "lost", titles);
}

TEST(ParallelCommandsLoseNothing)
{
	enum { MANY = 6 };
	struct session running;
	begin(&running, "running");
	const char *session_id = running.session_id;
	for (unsigned i = 1; i <= MANY; i++) {
		struct session session;
		session_add(&session, NULL, kept("old-%u", i), WORDS("--agent", "demo"));
		session_add(&session, NULL, kept("gone-%u", i), WORDS("--agent", "demo"));
	}
	struct answer answer = machine_login(WORDS(
		"sh", "-c",
		"try() { agentdeck \"$@\" >/dev/null 2>\"$HOME/failed.$1.$i\" ||"
		"	echo \"$*: $(cat \"$HOME/failed.$1.$i\")\"; }\n"
		"i=0; while [ $((i += 1)) -le 6 ]; do\n"
		"	try add \"$1\" -t new-$i --agent demo & try rename old-$i renamed-$i &\n"
		"	try remove gone-$i & try list --json &\n"
		"	[ $i = 3 ] && try stop running &\n"
		"done; wait",
		"sh", running.directory));
	ASSERT(*answer.output == '\0', "some failed:\n%s", answer.output);
	const char *titles = json_print(deck_look_ok(WORDS("list", "--json")));
	for (unsigned i = 1; i <= MANY; i++) {
		assert_title(titles, kept("new-%u", i), true);
		assert_title(titles, kept("renamed-%u", i), true);
		assert_title(titles, kept("old-%u", i), false);
		assert_title(titles, kept("gone-%u", i), false);
	}
	(void)session_look(&running);
	ASSERT(streq(running.status, "stopped"), "it was stopped and is %s", running.status);
	ASSERT(row_count() == 2 * MANY + 1, "%zu sessions", row_count());
	session_start(&running, NULL);
	assert_came_back(&running, session_id, MARKER, 1);
}

TEST(RemoveLeavesNoProcessAndNoSession)
{
	struct session session;
	machine_set("AGENTDECK_DEMO_IGNORE_SIGNALS", "1");
	machine_set("AGENTDECK_DEMO_LEAVE_CHILD", "1");
	begin(&session, "deck");
	const char *transcript = json_get_string(session_look(&session), "transcript_path", "");
	const char *socket = session.socket;
	struct reply reply = deck(NULL, WORDS("remove", "--force", session.id));
	ASSERT(reply.status == 0, "remove: %s%s", reply.errors, reply.output);
	assert_runs(0);
	ASSERT(!machine_exists(socket), "%s is left", socket);
	const char *directory = state_file(kept("default/%s", session.id));
	ASSERT(!machine_exists(directory), "%s is left", directory);
	const char *removed = state_file(kept("default/.removed-%s", session.id));
	ASSERT(!machine_exists(removed), "%s is left", removed);
	const char *sidecar = state_file(kept("hooks/%s.sid", session.id));
	ASSERT(!machine_exists(sidecar), "%s is left", sidecar);
	ASSERT(machine_exists(transcript), "the agent's own %s is gone", transcript);
}

TEST(SecretsOfTheEnvironmentAreNotStored)
{
	static const char secret[] = "sk-never-write-this-down";
	struct session session;
	machine_set("SOME_API_KEY", secret);
	begin(&session, "deck");
	struct answer seen = machine_root(
		WORDS("grep", "-c", secret, kept("/proc/%d/environ", (int)session.agent_pid)));
	ASSERT(seen.status == 0, "the agent did not get it: this proves nothing");
	session_restart(&session, NULL);
	/* 1: grep read all files and found nothing. */
	struct answer stored = machine_root(
		WORDS("grep", "-rlsD", "skip", secret, state_file(""),
		      kept("/run/user/%u/agentdeck", machine_uid()),
		      kept("/run/user/%u/systemd/transient", machine_uid())));
	ASSERT(*stored.output == '\0', "it stands in %s", stored.output);
	struct answer shown = machine_root(
		WORDS("grep", "-lse", secret, kept("/proc/%d/cmdline", (int)session.agent_pid),
		      kept("/proc/%d/cmdline", (int)session.server_pid)));
	ASSERT(*shown.output == '\0', "it stands in %s", shown.output);
}

/* ---- one conversation, one owner --------------------------------------------------------- */

TEST(KilledHolderHoldsNothing)
{
	struct session one, two;
	begin(&one, "deck");
	const char *session_id = one.session_id;
	struct json_object *added = deck_ok(NULL, WORDS("add", one.directory, "-t", "two", "--json",
							"--agent", "demo"));
	two = (struct session){ .title = "two",
				.directory = one.directory,
				.id = json_get_string(added, "id", "") };
	session_forge_id(&two, session_id);
	struct process agent = session_agent(&one);
	session_kill_server(&one);
	WAIT_FOR(!machine_alive(&agent), "the agent outlives its server");
	session_start(&two, NULL);
	assert_came_back(&two, session_id, MARKER, 1);
	struct reply reply = deck(NULL, WORDS("session", "start", one.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "two"), "status %d: %s", reply.status,
	       reply.errors);
	assert_runs(1);
}

/* It ignores the end of its terminal, and continues to write. */
TEST(AgentThatOutlivesItsServerHoldsItsConversation)
{
	struct session one, two;
	machine_set("AGENTDECK_DEMO_IGNORE_SIGNALS", "1");
	machine_write(at_home(".config/agentdeck/config.toml"), 0600, "[stop]\ntimeout = 1\n");
	begin(&one, "deck");
	struct process agent = session_agent(&one);
	session_add(&two, NULL, "two", WORDS("--agent", "demo"));
	session_forge_id(&two, one.session_id);
	session_kill_server(&one);
	ASSERT(machine_alive(&agent), "the agent ended: this proves nothing");
	struct reply reply = deck(NULL, WORDS("session", "start", two.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "deck"), "status %d: %s", reply.status,
	       reply.errors);
	/* Its own session ends it, and has the conversation again. */
	const char *session_id = one.session_id;
	session_start(&one, NULL);
	ASSERT(!machine_alive(&agent), "the old agent lives on beside the new one");
	assert_came_back(&one, session_id, MARKER, 1);
}
