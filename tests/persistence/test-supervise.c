/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `agentdeck supervise` restarts what dies, without a user.
 */
#include "persistence/attach.h"
#include "persistence/deck.h"
#include "persistence/strace.h"
#include "persistence/wakeups.h"

#include <signal.h>
#include <string.h>

#define MARKER "the spare key is with the neighbour"

static struct process supervise(void)
{
	struct process supervisor = machine_background(WORDS("agentdeck", "supervise"),
						       at_home("supervise.out"));
	WAIT_FOR(strstr(or_empty(deck_log()), "supervising "), "no supervisor:\n%s",
		 or_empty(machine_read(at_home("supervise.out"))));
	return supervisor;
}

/* A session of the demo agent with one turn. */
static void begin(struct session *session, const char *title, const char *const *words)
{
	session_add(session, NULL, title, words);
	session_start(session, NULL);
	session_say(session, MARKER);
	session_look(session);
}

/* A listing would find that a server has died, and record it; the supervisor must find out
 * itself. */
static bool has_another_server(const struct session *session, const struct process *old)
{
	const char *manifest = kept("%s/%s/instance.json",
				    at_home(".local/state/agentdeck/default"), session->id);
	const char *text = or_empty(machine_read(manifest));
	const char *pid = strstr(text, "\"server_pid\": ");
	return pid && strtol(pid + strlen("\"server_pid\": "), NULL, 10) != old->pid;
}

static void wait_for_another_server(struct session *session, const struct process *old)
{
	WAIT_FOR(has_another_server(session, old), "%s does not come back:\n%s", session->title,
		 or_empty(deck_log()));
	WAIT_FOR(session_look(session) && session->server_pid && session->server_pid != old->pid &&
			 streq(session->status, "running") && session->agent_pid,
		 "%s does not come back: %s\n%s", session->title, session->status,
		 or_empty(deck_log()));
}

/* Only the end of the server tells: the agent outlives it, and does not report. */
TEST(SupervisorBringsBackAKilledServer)
{
	struct session session;
	machine_set("AGENTDECK_DEMO_IGNORE_SIGNALS", "1");
	begin(&session, "deck", NULL);
	(void)supervise();
	const char *id = session.session_id;
	struct process server = session_server(&session), agent = session_agent(&session);
	const char *keys = attach_open(session.id, "keys");
	WAIT_FOR(attach_count(&session) == 1, "it is not attached: %s", attach_output(keys));
	machine_destroy(&server);
	wait_for_another_server(&session, &server);
	ASSERT(!machine_alive(&agent), "two agents have the conversation");
	WAIT_FOR(strstr(attach_output(keys), "Back to it: agentdeck attach") &&
			 strstr(attach_output(keys), "restart") &&
			 !strstr(attach_output(keys), "To start it again"),
		 "attach does not tell what happens: %s", attach_output(keys));
	assert_came_back(&session, id, MARKER, 1);
	assert_isolated(&session);
	assert_logged("resume: id=%s", id);
}

static void assert_size(const struct session *session, const char *expected)
{
	const char *size = machine_user(WORDS("tmux", "-S", session->socket, "display-message",
					      "-p", "#{pane_width}x#{pane_height}"))
				   .output;
	ASSERT(streq(size, kept("%s\n", expected)), "%s has %s", session->title, size);
}

/* A row is for the status line of tmux. */
TEST(RevivedAgentHasTheSizeOfItsUsersTerminal)
{
	struct session session;
	session_add(&session, NULL, "deck", NULL);
	const char *keys = terminal_open(
		kept("sh -c \"stty cols 87 rows 31; agentdeck start %s; echo over\"", session.id),
		"keys");
	WAIT_FOR(strstr(attach_output(keys), "over"), "no start: %s", attach_output(keys));
	(void)session_look(&session);
	assert_size(&session, "87x30");
	(void)supervise();
	struct process server = session_server(&session);
	machine_destroy(&server);
	wait_for_another_server(&session, &server);
	assert_size(&session, "87x30");
}

/* The clock was a day ahead while the session ended again and again, and was then set back. */
TEST(RestartsOfTheFutureHoldNoSession)
{
	struct session session;
	char date[CLOCK_TEXT_SIZE];
	begin(&session, "deck", NULL);
	const char *id = session.session_id;
	struct process server = session_server(&session);
	session_kill_server(&session);
	(void)session_look(&session);
	struct json_object *manifest = session_manifest(&session),
			   *restarts = json_object_new_array();
	clock_format(clock_wall_us() + INT64_C(86400000000), date);
	for (int i = 0; i < 5; i++)
		json_object_array_add(restarts, json_object_new_string(date));
	json_object_object_add(json_get_object(manifest, "observed"), "restarts", restarts);
	json_set_string(json_get_object(manifest, "observed"), "since", date);
	session_forge(&session, manifest);
	(void)supervise();
	wait_for_another_server(&session, &server);
	assert_came_back(&session, id, MARKER, 1);
}

TEST(SupervisorBringsBackAKilledAgent)
{
	struct session session;
	(void)supervise();
	begin(&session, "deck", NULL);
	const char *id = session.session_id;
	struct process server = session_server(&session), agent = session_agent(&session);
	machine_destroy(&agent);
	wait_for_another_server(&session, &server);
	assert_came_back(&session, id, MARKER, 1);
}

TEST(SupervisorLeavesWhatWasStopped)
{
	struct session stopped, ended, witness;
	(void)supervise();
	begin(&stopped, "stopped", NULL);
	begin(&ended, "ended", NULL);
	begin(&witness, "witness", NULL);
	session_stop(&stopped, NULL);
	session_type(&ended, "/exit");
	session_press(&ended, "Enter");
	WAIT_FOR(session_look(&ended) && streq(ended.status, "stopped"), "it is %s", ended.status);
	/* What happens to this one happens after anything that would have happened to the
	 * others. */
	struct process server = session_server(&witness);
	machine_destroy(&server);
	wait_for_another_server(&witness, &server);
	session_look(&stopped);
	session_look(&ended);
	ASSERT(streq(stopped.status, "stopped"), "what was stopped is %s", stopped.status);
	ASSERT(streq(ended.status, "stopped"), "what ended by itself is %s", ended.status);
}

TEST(SupervisorLeavesRestartNo)
{
	struct session session, witness;
	(void)supervise();
	begin(&session, "deck", WORDS("--restart", "no"));
	begin(&witness, "witness", NULL);
	struct process server = session_server(&session), other = session_server(&witness);
	machine_destroy(&server);
	machine_destroy(&other);
	wait_for_another_server(&witness, &other);
	session_look(&session);
	ASSERT(streq(session.status, "error"), "it is %s", session.status);
	/* A start by hand works. */
	const char *id = session.session_id;
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
}

TEST(KilledSupervisorDisturbsNoSession)
{
	struct session session;
	struct process supervisor = supervise();
	begin(&session, "deck", NULL);
	struct process server = session_server(&session), agent = session_agent(&session);
	machine_destroy(&supervisor);
	ASSERT(machine_alive(&server) && machine_alive(&agent),
	       "the session ended with its supervisor");
	session_say(&session, "still there");
	const char *id = session.session_id;
	machine_destroy(&server);
	/* The next supervisor finds out the state of each session. */
	(void)machine_background(WORDS("agentdeck", "supervise"), at_home("supervise.out"));
	wait_for_another_server(&session, &server);
	assert_came_back(&session, id, MARKER, 2);
}

TEST(SecondSupervisorIsRefused)
{
	(void)supervise();
	struct answer answer = machine_user(WORDS("agentdeck", "supervise"));
	ASSERT(answer.status != 0 && strstr(answer.errors, "is already running"), "status %d: %s",
	       answer.status, answer.errors);
}

TEST(SupervisorEndsWithinItsSignals)
{
	struct session session;
	struct process supervisor = supervise();
	begin(&session, "deck", NULL);
	struct process server = session_server(&session);
	machine_kill(&supervisor, SIGTERM);
	WAIT_FOR(!machine_alive(&supervisor), "it does not end by SIGTERM");
	ASSERT(machine_alive(&server), "the session ended with its supervisor");
}

/* Sessions without events wake no process. */
TEST(IdleSupervisorSleeps)
{
	struct session one, two;
	struct process supervisor = supervise();
	begin(&one, "one", NULL);
	begin(&two, "two", NULL);
	const struct watched watched = { { supervisor.pid }, 1 };
	assert_they_sleep(&watched);
}

TEST(SupervisorHoldsWhatDiesAllTheTime)
{
	struct session session;
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      "[restart]\ndelay = 0\nburst = 2\n");
	(void)supervise();
	begin(&session, "deck", NULL);
	for (unsigned i = 0; i < 2; i++) {
		struct process server = session_server(&session);
		machine_destroy(&server);
		wait_for_another_server(&session, &server);
	}
	/* This end counts, too: it looks like a kill of the server. */
	struct answer stopped = machine_login(
		WORDS("systemctl", "--user", "stop", kept("agentdeck-tmux-%s.scope", session.id)));
	ASSERT(stopped.status == 0, "%s", stopped.errors);
	WAIT_FOR(strstr(or_empty(json_get_string(session_look(&session), "held", NULL)), "ended"),
		 "it is not held: %s", session.status);
	ASSERT(streq(session.status, "error"), "it is %s", session.status);
	/* A start by hand resets the count. */
	const char *id = session.session_id;
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
	ASSERT(!json_get_string(session_look(&session), "held", NULL), "it is still held");
}

/* Kill the command before its first signal. */
static void interrupt(const struct session *session, const char *verb)
{
	struct process agent = session_agent(session);
	(void)machine_user(WORDS("strace", "-f", "-qq", "-o", "/dev/null", "-e",
				 "trace=pidfd_send_signal", "-e",
				 "inject=pidfd_send_signal:signal=SIGKILL:when=1", "agentdeck",
				 "session", verb, session->id));
	const char *manifest = kept("%s/%s/instance.json",
				    at_home(".local/state/agentdeck/default"), session->id);
	ASSERT(strstr(or_empty(machine_read(manifest)), "\"stopping\"") && machine_alive(&agent),
	       "the %s was not interrupted: %s", verb, or_empty(machine_read(manifest)));
}

/* The stop was requested last. */
TEST(SupervisorFinishesAnInterruptedStop)
{
	struct session session;
	begin(&session, "deck", NULL);
	struct process agent = session_agent(&session);
	interrupt(&session, "stop");
	(void)supervise();
	WAIT_FOR(session_look(&session) && streq(session.status, "stopped") &&
			 !machine_alive(&agent),
		 "the stop is not finished: %s", session.status);
}

/* Both halves of the restart take place, and neither agent may see the other. */
TEST(SupervisorFinishesAnInterruptedRestart)
{
	struct session session;
	begin(&session, "deck", NULL);
	const char *id = session.session_id;
	struct process server = session_server(&session);
	interrupt(&session, "restart");
	(void)supervise();
	wait_for_another_server(&session, &server);
	assert_came_back(&session, id, MARKER, 1);
}

/* The same without a supervisor. */
TEST(RecoverFinishesAnInterruptedRestart)
{
	struct session session;
	begin(&session, "deck", NULL);
	const char *id = session.session_id;
	struct process server = session_server(&session);
	interrupt(&session, "restart");
	struct reply reply = deck_look(WORDS("recover"));
	ASSERT(reply.status == 0, "recover: %s%s", reply.output, reply.errors);
	ASSERT(!machine_alive(&server), "the old run is still there");
	assert_came_back(&session, id, MARKER, 1);
}

/* Kill the command that restarts it when it has written the first file of the new run: the old run
 * has ended, and the manifest has no other yet. */
static void cut_in_two(const struct session *session)
{
	(void)machine_user(WORDS("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat",
				 "-e", "inject=renameat:signal=SIGKILL:when=2", "agentdeck",
				 "session", "restart", session->id));
	const char *manifest = kept("%s/%s/instance.json",
				    at_home(".local/state/agentdeck/default"), session->id);
	struct process server = machine_process(session->server_pid);
	ASSERT(strstr(or_empty(machine_read(manifest)), "\"stopping\"") && !server.pid,
	       "the restart was not interrupted: %s", or_empty(machine_read(manifest)));
}

/* False: tmux may have missed the end of its agent, and without a supervisor nothing else tells
 * it. */
static bool is_told(const struct process *server)
{
	(void)machine_user(WORDS("kill", "-CHLD", kept("%d", (int)server->pid)));
	return false;
}

/* The user asked for it; the policy about sessions that die does not matter.  A command that only
 * looks at it meanwhile changes nothing. */
TEST(InterruptedRestartIsFinishedWhateverThePolicy)
{
	enum { BEFORE_THE_END, AT_THE_END, BEHIND_THE_END, CUTS };
	struct session sessions[CUTS];
	const char *ids[CUTS];
	struct process servers[CUTS];
	for (int i = 0; i < CUTS; i++) {
		begin(&sessions[i], kept("deck-%d", i), WORDS("--restart", "no"));
		ids[i] = sessions[i].session_id;
		servers[i] = session_server(&sessions[i]);
	}
	/* In turn: nobody is left to record the end of the run; its pane records it; the command
	 * itself has recorded it. */
	interrupt(&sessions[BEFORE_THE_END], "restart");
	machine_destroy(&servers[BEFORE_THE_END]);
	struct process agent = session_agent(&sessions[AT_THE_END]);
	interrupt(&sessions[AT_THE_END], "restart");
	machine_destroy(&agent);
	WAIT_FOR(!machine_alive(&servers[AT_THE_END]) || is_told(&servers[AT_THE_END]),
		 "its server does not end");
	cut_in_two(&sessions[BEHIND_THE_END]);
	struct reply reply = deck_look(WORDS("list"));
	ASSERT(reply.status == 0, "list: %s", reply.errors);
	(void)supervise();
	for (int i = 0; i < CUTS; i++) {
		WAIT_FOR(session_look(&sessions[i]) && sessions[i].agent_pid, "%s is %s:\n%s",
			 sessions[i].title, sessions[i].status, or_empty(deck_log()));
		assert_came_back(&sessions[i], ids[i], MARKER, 1);
	}
}

/* Whether it answers does not matter any more: its user wanted it to end. */
TEST(InterruptedRestartOfASilentServerIsFinished)
{
	struct session session;
	begin(&session, "deck", NULL);
	const char *id = session.session_id;
	struct process server = session_server(&session);
	machine_kill(&server, SIGSTOP);
	interrupt(&session, "restart");
	struct reply reply = deck_look(WORDS("recover"));
	ASSERT(reply.status == 0, "recover: %s%s", reply.output, reply.errors);
	ASSERT(!machine_alive(&server), "the old run is still there");
	assert_came_back(&session, id, MARKER, 1);
}

/* Only the dead command knew where its agent is now. */
TEST(InterruptedRestartKeepsItsPath)
{
	struct session session;
	const char *program = kept("%s/bin/agentdeck", getenv("AGENTDECK_TEST_PREFIX"));
	machine_write(at_home("before/keeper"), 0755, "#!/bin/sh\nexec sleep 1000\n");
	machine_set("PATH", kept("%s:%s", at_home("before"), machine_search_path()));
	session_add(&session, NULL, "deck", WORDS("-c", "keeper"));
	session_start(&session, NULL);
	machine_user_ok(WORDS("mv", at_home("before"), at_home("now")));
	machine_set("PATH", kept("%s:%s", at_home("now"), machine_search_path()));
	cut_in_two(&session);
	(void)machine_background(WORDS("env", "PATH=/usr/bin:/bin", program, "supervise"),
				 at_home("supervise.out"));
	WAIT_FOR(session_look(&session) && streq(session.status, "running"),
		 "it does not come up:\n%s", or_empty(deck_log()));
}

/* The supervisor that would end it may be gone. */
TEST(ReviveEndsByItselfInTime)
{
	struct session session;
	begin(&session, "deck", NULL);
	const char *id = session.session_id;
	struct process server = session_server(&session);
	machine_destroy(&server);
	struct process holder = session_occupy(&session);
	struct answer answer = machine_user(WORDS("sh", "-c", "\"$@\"; exit $?", "sh", "agentdeck",
						  "revive", "--automatic", "--within", "1",
						  session.id));
	ASSERT(answer.status == 128 + SIGALRM, "status %d: %s%s", answer.status, answer.output,
	       answer.errors);
	(void)supervise();
	const char *command = kept("[r]evive --automatic --within [1-9][0-9]* %s$", session.id);
	WAIT_FOR(machine_user(WORDS("pgrep", "-f", command)).status == 0, "there is no %s:\n%s",
		 command, or_empty(deck_log()));
	machine_destroy(&holder);
	wait_for_another_server(&session, &server);
	assert_came_back(&session, id, MARKER, 1);
}

/* The next run starts with the last one's environment, which is in no file. */
TEST(SupervisorKeepsTheEnvironment)
{
	struct session session;
	(void)supervise();
	machine_set("DECK_SECRET", "tincture-of-iodine");
	begin(&session, "deck", NULL);
	machine_set("DECK_SECRET", "other");
	struct process server = session_server(&session);
	machine_destroy(&server);
	wait_for_another_server(&session, &server);
	const char *environment = machine_root_ok(
		WORDS("grep", "-a", "-c", "DECK_SECRET=tincture-of-iodine",
		      kept("/proc/%d/environ", (int)session.agent_pid)));
	ASSERT(strtol(environment, NULL, 10) == 1, "the agent lost its environment");
	struct answer found = machine_root(WORDS("grep", "-r", "-l", "tincture-of-iodine", home()));
	ASSERT(found.status == 1, "it stands in %s", found.output);
}

/* Milliseconds of the day at which the log has text for the count-th time; -1: it does not. */
static int64_t time_in_log(const char *text, unsigned count)
{
	unsigned hours, minutes, seconds, milliseconds;
	const char *log = or_empty(deck_log()), *line = log;
	for (unsigned i = 0; (line = strstr(line, text)) && i + 1 < count; i++)
		line++;
	while (line && line > log && line[-1] != '\n')
		line--;
	if (!line || sscanf(line, "%*u-%*u-%*uT%u:%u:%u.%uZ", &hours, &minutes, &seconds,
			    &milliseconds) != 4)
		return -1;
	return ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
}

/* Each pause is twice as long as the last, whatever changes in the manifest meanwhile. */
static void assert_slower_and_slower(void)
{
	enum { TRIES = 5, PAUSE_MS = 200, DAY_MS = 24 * 3600 * 1000 };
	WAIT_FOR(time_in_log(" was not restarted: ", TRIES) >= 0, "it is not tried again:\n%s",
		 or_empty(deck_log()));
	for (unsigned i = 1; i < TRIES; i++) {
		int64_t pause = time_in_log(" was not restarted: ", i + 1) -
				time_in_log(" was not restarted: ", i);
		ASSERT((pause + DAY_MS) % DAY_MS >= (int64_t)PAUSE_MS << (i - 1),
		       "try %u came after %lld ms", i + 1, (long long)pause);
	}
}

/* Its directory is missing: no agent ends, so none ends too often, and it is retried until the
 * directory exists. */
TEST(WhatCannotStartIsTriedMoreAndMoreSeldom)
{
	struct session session;
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      "[restart]\ndelay = 0\nburst = 1\n");
	begin(&session, "deck", NULL);
	machine_user_ok(WORDS("mv", session.directory, at_home("away")));
	(void)supervise();
	struct process server = session_server(&session);
	machine_destroy(&server);
	assert_slower_and_slower();
	struct json_object *shown = session_look(&session);
	ASSERT(streq(session.status, "error") && !json_get_string(shown, "held", NULL) &&
		       strstr(json_get_string(shown, "reason", ""), "is missing"),
	       "%s", json_print(shown));
	machine_user_ok(WORDS("mv", at_home("away"), session.directory));
	WAIT_FOR(has_another_server(&session, &server), "it does not come back:\n%s",
		 or_empty(deck_log()));
}

/* Nothing changes in the manifest, because nothing can be written. */
TEST(WhatCannotBeWrittenIsTriedMoreAndMoreSeldom)
{
	struct session session;
	begin(&session, "deck", NULL);
	const char *place = at_home(kept(".local/state/agentdeck/default/%s", session.id));
	(void)supervise();
	machine_user_ok(WORDS("chmod", "0500", place));
	struct process server = session_server(&session);
	machine_destroy(&server);
	assert_slower_and_slower();
	machine_user_ok(WORDS("chmod", "0700", place));
	WAIT_FOR(has_another_server(&session, &server), "it does not come back:\n%s",
		 or_empty(deck_log()));
}

/* Nothing signals that it is readable again. */
TEST(UnreadableManifestIsReadAgain)
{
	struct session session;
	begin(&session, "deck", NULL);
	const char *manifest = at_home(
		kept(".local/state/agentdeck/default/%s/instance.json", session.id));
	(void)supervise();
	struct process server = session_server(&session);
	machine_user_ok(WORDS("chmod", "0", manifest));
	machine_destroy(&server);
	/* The ends of its server and of its agent cause two looks at it, and then nothing more
	 * happens. */
	WAIT_FOR(time_in_log(" cannot be read: ", 3) >= 0, "it is not looked at again:\n%s",
		 or_empty(deck_log()));
	machine_user_ok(WORDS("chmod", "0600", manifest));
	/* No command may look at it: that would write, and wake the supervisor. */
	WAIT_FOR(time_in_log(" started: server=", 2) >= 0, "it is not started again:\n%s",
		 or_empty(deck_log()));
	WAIT_FOR(has_another_server(&session, &server), "it does not come back:\n%s",
		 or_empty(deck_log()));
}

/* ---- an end that tmux has missed ------------------------------------------------------------- */

static void make_lose_signal(void)
{
	machine_bring("persistence/lose-signal.c", at_home("lose-signal.c"));
	if (machine_user(WORDS("cc", "--version")).status != 0)
		skip_test("there is no C compiler in the machine");
	(void)machine_user_ok(WORDS("cc", "-o", at_home("lose-signal"), at_home("lose-signal.c")));
}

struct pane {
	int server, process;
};

static struct pane look_at_pane(const struct session *session)
{
	struct pane pane = { 0 };
	struct answer answer = machine_user(WORDS("tmux", "-S", session->socket, "display-message",
						  "-p", "-t", "%0", "#{pid} #{pane_pid}"));
	(void)sscanf(answer.output, "%d %d", &pane.server, &pane.process);
	return pane;
}

static void end_unheard(const struct pane *pane)
{
	/* The test is about the case without it. */
	(void)machine_user(WORDS("pkill", "-KILL", "-x", "agentdeck-watch"));
	(void)machine_root_ok(
		WORDS(at_home("lose-signal"), kept("%d", pane->server), kept("%d", pane->process)));
}

/* tmux notices the agent's end, and the process that judges it is killed; the manifest does not
 * know that process. */
TEST(SupervisorFindsAnEndThatTmuxMissed)
{
	struct session session;
	strace_required();
	make_lose_signal();
	(void)supervise();
	begin(&session, "deck", NULL);
	const char *id = session.session_id;
	struct process server = session_server(&session), agent = session_agent(&session);
	const struct pane first = look_at_pane(&session);
	/* Another process holds the lock that the judge waits for. */
	struct process writer = session_occupy(&session);
	machine_kill(&agent, SIGKILL);
	struct pane judge = first;
	WAIT_FOR((judge = look_at_pane(&session)).process > 0 && judge.process != first.process,
		 "the agent's end is not noticed");
	end_unheard(&judge);
	machine_destroy(&writer);
	wait_for_another_server(&session, &server);
	assert_came_back(&session, id, MARKER, 1);
}

/* Leaves a session whose manifest names neither its server nor its agent: its start is killed
 * before it writes them down. */
static struct pane begin_with_cut_start(struct session *session)
{
	const struct point *last = NULL;
	begin(session, "deck", NULL);
	session_stop(session, NULL);
	const char *const *const start = WORDS("agentdeck", "session", "start", session->id);
	struct points points = strace_watch(start);
	for (size_t i = 0; i < points.count; i++)
		if (strstr(points.points[i].line, "instance.json"))
			last = &points.points[i];
	session_stop(session, NULL);
	ASSERT(last && strace_kill(start, last, "start"), "the start was not cut");
	session_look(session);
	WAIT_FOR(session_shows(session, "> " MARKER), "the agent is not up");
	return look_at_pane(session);
}

static void assert_recovers(struct session *session, const char *id)
{
	struct reply reply = deck_look(WORDS("recover", "--json"));
	ASSERT(reply.status == 0, "recover: %s%s", reply.errors, reply.output);
	assert_came_back(session, id, MARKER, 1);
}

/* The manifest names neither the server nor the agent that has ended. */
TEST(MissedEndOfAnInterruptedStartIsFound)
{
	struct session session;
	strace_required();
	make_lose_signal();
	struct pane pane = begin_with_cut_start(&session);
	const char *id = session.session_id;
	end_unheard(&pane);
	assert_recovers(&session, id);
}

/* Each process that the server starts makes its first such system call on this file 4 s later. Only
 * the first: whoever waits for the process holds its lock for a moment again and again, and a
 * process that looked only every 4 s might find it held each time. */
static void slow_down(const struct pane *pane, const char *call, const char *file)
{
	const char *status = kept("/proc/%d/status", pane->server);
	(void)machine_background(WORDS("strace", "-f", "-qq", "-o", "/dev/null", "-p",
				       kept("%d", pane->server), "-P", file, "-e",
				       kept("trace=%s", call), "-e",
				       kept("inject=%s:delay_enter=4s:when=1", call)),
				 at_home("strace.out"));
	WAIT_FOR(!strstr(or_empty(machine_read(status)), "\nTracerPid:\t0\n"),
		 "strace does not attach: %s", or_empty(machine_read(at_home("strace.out"))));
}

/* file NULL: the session's lock. */
static void assert_verdict_is_awaited(const char *call, const char *file)
{
	struct session session;
	strace_required();
	struct pane pane = begin_with_cut_start(&session);
	const char *id = session.session_id;
	slow_down(&pane, call,
		  file ? file
		       : kept("%s/%s.lock", at_home(".local/state/agentdeck/default"), session.id));
	(void)machine_user_ok(WORDS("kill", "-KILL", kept("%d", pane.process)));
	WAIT_FOR(look_at_pane(&session).process != pane.process, "the end is not noticed");
	assert_recovers(&session, id);
}

/* The process that judges the end waits longer for its lock than a start usually waits for it. */
TEST(LateVerdictOnAnInterruptedStartIsAwaited)
{
	assert_verdict_is_awaited("fcntl", NULL);
}

/* tmux has forked that process, and it has executed nothing yet. */
TEST(VerdictThatHasNotBegunIsAwaited)
{
	assert_verdict_is_awaited("execve",
				  kept("%s/bin/agentdeck", getenv("AGENTDECK_TEST_PREFIX")));
}

/* A start that could not read the agent's entry in /proc recorded no agent: the session still has
 * one. */
TEST(UnseenAgentIsFound)
{
	struct session session;
	begin(&session, "deck", NULL);
	struct process agent = session_agent(&session);
	const char *manifest = kept("%s/%s/instance.json",
				    at_home(".local/state/agentdeck/default"), session.id);
	const char *named = kept("\"pane_pid\": %d,", (int)agent.pid);
	machine_user_ok(WORDS("sed", "-i", "/pane_pid/d; /pane_start/d", manifest));
	ASSERT(!strstr(or_empty(machine_read(manifest)), named), "the manifest names it");
	(void)supervise();
	WAIT_FOR(strstr(or_empty(machine_read(manifest)), named), "it is not found: %s",
		 or_empty(machine_read(manifest)));
	ASSERT(machine_alive(&agent), "it was ended");
}
