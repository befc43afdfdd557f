/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conversations survive the end of logins, servers and machines.
 */
#include "persistence/attach.h"
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER "remember the milk"

/* A session that was started in this login, is in its scope of the user manager, and has had a
 * turn. */
static void begin(struct session *session, struct login *login, const char *title)
{
	session_add(session, login, title, WORDS("--agent", "demo"));
	session_start(session, login);
	assert_isolated(session);
	ASSERT(session->session_id, "its conversation has no id");
	session_say(session, MARKER);
	write_decoy(session);
}

/* It is the very same run: neither its server nor its agent was started again. */
static void assert_untouched(struct session *session, const struct process *server,
			     const struct process *agent)
{
	ASSERT(machine_alive(server), "the tmux server (%d) is gone", (int)server->pid);
	ASSERT(machine_alive(agent), "the agent (%d) is gone", (int)agent->pid);
	struct answer list = machine_login(WORDS("tmux", "-S", session->socket, "list-sessions"));
	ASSERT(list.status == 0, "a new login does not reach the server: %s", list.errors);
	(void)session_look(session);
	ASSERT(streq(session->status, "running"), "status %s", session->status);
	ASSERT(session->server_pid == server->pid, "another server, %d", (int)session->server_pid);
	assert_isolated(session);
	ASSERT(session_shows(session, MARKER), "the screen is lost:\n%s",
	       or_empty(session_screen(session)));
	session_say(session, "still there");
	ASSERT(session_shows(session,
			     "I remember 2 of your messages; the first was \"" MARKER "\"."),
	       "the conversation is lost:\n%s", session_screen(session));
}

TEST(SurvivesOrdinaryLogout)
{
	struct session session;
	struct login *login = login_open();
	begin(&session, login, "api");
	struct process server = session_server(&session), agent = session_agent(&session);
	login_close(login);
	WAIT_FOR(!login_is_open(login), "session %s does not end", login_number(login));
	assert_untouched(&session, &server, &agent);
}

TEST(SurvivesDroppedConnection)
{
	struct session session;
	struct login *login = login_open();
	begin(&session, login, "api");
	struct process server = session_server(&session), agent = session_agent(&session);
	login_drop(login);
	WAIT_FOR(!login_is_open(login), "session %s does not end", login_number(login));
	assert_untouched(&session, &server, &agent);
}

TEST(SurvivesTerminateSession)
{
	struct session session;
	struct login *login = login_open();
	begin(&session, login, "api");
	struct process server = session_server(&session), agent = session_agent(&session);
	login_terminate(login);
	assert_untouched(&session, &server, &agent);
}

TEST(SurvivesLogoutWithKillUserProcesses)
{
	struct session session;
	struct login *login = login_open();
	login_configure("KillUserProcesses=yes");
	begin(&session, login, "api");
	struct process server = session_server(&session), agent = session_agent(&session);
	login_close(login);
	WAIT_FOR(!machine_alive(login_witness(login)),
		 "the witness outlives the logout: KillUserProcesses=yes is not in force");
	WAIT_FOR(!login_is_known(login), "session %s does not end", login_number(login));
	login_configure("KillUserProcesses=no");
	assert_untouched(&session, &server, &agent);
}

/* ---- many ------------------------------------------------------------------------------- */

enum { ENDINGS = 4, ROUNDS = 15 };

static struct process user_manager(void)
{
	const char *pid = machine_root_ok(WORDS("systemctl", "show", "-P", "MainPID",
						kept("user@%u.service", machine_uid())));
	return machine_process((pid_t)strtol(pid, NULL, 10));
}

/* The units of the user's slice that hold processes, with the processes of each. */
static const char *what_runs(void)
{
	const char *slice = kept("/sys/fs/cgroup/user.slice/user-%u.slice", machine_uid());
	return machine_root_ok(
		WORDS("sh", "-c",
		      "find \"$1\" -name cgroup.procs | sort | while read -r file; do "
		      "sed \"s|^|$file |\" \"$file\"; done",
		      "sh", slice));
}

/* The first process that was not among those before; NULL if there is none. */
static const char *left_over(const char *before)
{
	const char *line = what_runs();
	for (size_t length; *line; line += length) {
		length = strcspn(line, "\n") + 1;
		const char *process = kept("%.*s", (int)length, line);
		if (!strstr(before, process))
			return process;
	}
	return NULL;
}

/* Logins with the session in their terminals, all at the same time; then each ends in another way. */
static void come_and_go(const struct session *session)
{
	struct login *logins[ENDINGS];
	for (int i = 0; i < ENDINGS; i++) {
		logins[i] = login_open();
		login_attach(logins[i], session->title);
	}
	WAIT_FOR(attach_count(session) == ENDINGS, "%zu of them are attached",
		 attach_count(session));
	login_detach(logins[0]);
	login_close(logins[0]);
	login_drop(logins[1]);
	login_kill_daemon(logins[2]);
	login_terminate(logins[3]);
	for (int i = 0; i < ENDINGS; i++) {
		if (machine_alive(login_witness(logins[i])))
			machine_kill(login_witness(logins[i]), SIGKILL);
		WAIT_FOR(!login_is_known(logins[i]), "session %s stays, which ended in way %d",
			 login_number(logins[i]), i);
	}
	WAIT_FOR(attach_count(session) == 0, "%zu clients stay", attach_count(session));
}

/* A user manager was seen to die of a logout (systemd #43361), and with it every session. */
TEST(SixtyLoginsComeAndGo)
{
	struct session session;
	begin(&session, NULL, "api");
	struct process server = session_server(&session), agent = session_agent(&session);
	struct process manager = user_manager();
	come_and_go(&session);
	const char *before = what_runs();
	for (int round = 1; round < ROUNDS; round++)
		come_and_go(&session);
	ASSERT(machine_alive(&manager), "the user manager is gone");
	WAIT_FOR(!left_over(before), "left: %s", or_empty(left_over(before)));
	assert_untouched(&session, &server, &agent);
}

static bool manager_is_up(const char *uid)
{
	const char *unit = kept("user@%s.service", uid);
	const char *state =
		machine_root(WORDS("systemctl", "show", "-P", "ActiveState", unit)).output;
	return !streq(state, "inactive\n") && !streq(state, "failed\n");
}

/* Without lingering the user manager ends some time after the last logout.  Another user logs in
 * and out after ours: when that user's manager has gone, the time has passed. */
static void wait_for_end_of_managers(void)
{
	const char *uid = "4712";
	struct answer answer = machine_other_login(WORDS("id", "-u"));
	ASSERT(answer.status == 0 && streq(answer.output, kept("%s\n", uid)), "the other user: %s",
	       answer.errors);
	WAIT_FOR(!manager_is_up(uid), "the other user's manager does not end");
}

TEST(EnablesLingerWhereItWasOff)
{
	struct session session;
	const char *user = machine_user_name(), *uid = kept("%u", machine_uid());
	machine_root_ok(WORDS("loginctl", "disable-linger", user));
	WAIT_FOR(!manager_is_up(uid), "user@%s.service does not end although nobody lingers", uid);
	struct login *login = login_open();
	session_add(&session, login, "api", WORDS("--agent", "demo"));
	struct reply started = deck(login, WORDS("session", "start", session.id, "--json"));
	ASSERT(strstr(started.errors, "turned on lingering"), "it was not said: %s",
	       started.errors);
	(void)session_look(&session);
	session_say(&session, MARKER);
	struct process server = session_server(&session), agent = session_agent(&session);
	const char *linger = machine_root_ok(WORDS("loginctl", "show-user", "-P", "Linger", user));
	ASSERT(streq(linger, "yes\n"), "Linger=%s", linger);
	login_terminate(login);
	wait_for_end_of_managers();
	assert_untouched(&session, &server, &agent);
}

TEST(KilledServerComesBackWithItsConversation)
{
	struct session session;
	begin(&session, NULL, "api");
	const char *session_id = session.session_id;
	struct process agent = session_agent(&session);
	session_kill_server(&session);
	WAIT_FOR(!machine_alive(&agent), "the agent outlives its terminal");
	(void)session_look(&session);
	ASSERT(streq(session.status, "error"), "status %s after SIGKILL", session.status);
	session_start(&session, NULL);
	assert_came_back(&session, session_id, MARKER, 1);
	assert_isolated(&session);
	assert_logged("resume: id=%s reason=conversation_data_present", session_id);
}

static void after_boot(struct session *session, const char *session_id, const char *boot_id)
{
	ASSERT(!streq(boot_id, machine_boot_id()), "the machine was not started again");
	(void)session_look(session);
	ASSERT(!streq(session->status, "running"), "status %s after the boot", session->status);
	ASSERT(streq(or_empty(session->session_id), session_id), "the id became %s",
	       or_empty(session->session_id));
	session_start(session, NULL);
	assert_came_back(session, session_id, MARKER, 1);
	assert_isolated(session);
}

TEST(RebootComesBackWithItsConversation)
{
	struct session session;
	begin(&session, NULL, "api");
	const char *session_id = session.session_id, *boot_id = machine_boot_id();
	machine_reboot();
	after_boot(&session, session_id, boot_id);
}

TEST(PowerCutComesBackWithItsConversation)
{
	struct session session;
	begin(&session, NULL, "api");
	const char *session_id = session.session_id, *boot_id = machine_boot_id();
	machine_powercut();
	machine_boot();
	after_boot(&session, session_id, boot_id);
}
