/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Agents whose conversations are found in other ways than by an id of ours, and what agents leave
 * behind. They are shell scripts with the user's own entries.
 */
#include "persistence/deck.h"
#include "persistence/strace.h"

#include <string.h>

static void install(const char *name, const char *entry, const char *script)
{
	machine_write(at_home(kept("bin/%s", name)), 0755, kept("#!/bin/sh\n%s", script));
	if (entry)
		machine_write(at_home(kept(".config/agentdeck/agents/%s.toml", name)), 0644,
			      kept("command = [\"%s\"]\n%s", name, entry));
}

/* Appends its arguments to <home>/argv, one line each time. */
#define NOTE_ARGUMENTS "echo \"$*\" >>\"$HOME/argv\"\n"

/* The arguments of the agent's latest start. */
static const char *latest_arguments(void)
{
	const char *all = machine_read(at_home("argv"));
	ASSERT(all && *all, "the agent was never started");
	const char *line = all;
	for (const char *at = all; (at = strchr(at, '\n')) && at[1]; at++)
		line = at + 1;
	return kept("%.*s", (int)strcspn(line, "\n"), line);
}

static void assert_arguments(const char *expected)
{
	const char *found = latest_arguments();
	ASSERT(streq(found, expected), "the agent was started with '%s', not '%s'", found,
	       expected);
}

static void wait_until_stopped(struct session *session)
{
	WAIT_FOR((session_look(session), streq(session->status, "stopped")), "status %s",
		 session->status);
}

/* --- conversations ----------------------------------------------------------------------------- */

TEST(ConversationMadeByTheAgentComesBack)
{
	struct session session;
	install("maker",
		"[session]\nid = \"any\"\nresume = [\"--resume\", \"{session_id}\"]\n"
		"create = [\"maker\", \"create-chat\"]\ncreate_pattern = '^(chat-[0-9]+)$'\n",
		"if [ \"$1\" = create-chat ]; then echo \"chat-$$\"; exit; fi\n" NOTE_ARGUMENTS
		"exec cat\n");
	session_add(&session, NULL, "deck", WORDS("--agent", "maker"));
	session_start(&session, NULL);
	const char *id = session.session_id;
	ASSERT(id && starts_with(id, "chat-"), "the id is %s", or_empty(id));
	assert_arguments(kept("--resume %s", id));
	session_kill_server(&session);
	session_start(&session, NULL);
	ASSERT(streq(session.session_id, id), "the id is now %s", session.session_id);
	assert_arguments(kept("--resume %s", id));
}

TEST(AgentThatMakesNoConversationIsNotStarted)
{
	struct session session;
	install("maker",
		"[session]\nid = \"any\"\nresume = [\"--resume\", \"{session_id}\"]\n"
		"create = [\"maker\", \"create-chat\"]\ncreate_pattern = '^(chat-[0-9]+)$'\n",
		"if [ \"$1\" = create-chat ]; then echo 'please log in' >&2; exit 3; fi\n" NOTE_ARGUMENTS
		"exec cat\n");
	session_add(&session, NULL, "deck", WORDS("--agent", "maker"));
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status == 1, "status %d", reply.status);
	ASSERT(strstr(reply.errors, "create-chat") && strstr(reply.errors, "please log in"),
	       "it says: %s", reply.errors);
	(void)session_look(&session);
	ASSERT(streq(session.status, "stopped") && !session.server_pid, "status %s",
	       session.status);
	ASSERT(!machine_exists(at_home("argv")), "the agent was started without a conversation");
}

TEST(LatestConversationStaysInItsOwnPlace)
{
	struct session session;
	install("apart",
		"[session]\nid = \"none\"\ncontinue = [\"--continue\"]\n"
		"[isolation]\narguments = [\"--dir\", \"{state}\"]\n",
		NOTE_ARGUMENTS "echo said >>\"$2/talk\"\nexec cat\n");
	session_add(&session, NULL, "deck", WORDS("--agent", "apart"));
	const char *place = at_home(
		kept(".local/state/agentdeck/default/conversations/%s", session.id));
	session_start(&session, NULL);
	assert_arguments(kept("--dir %s", place));
	session_kill_server(&session);
	session_start(&session, NULL);
	assert_arguments(kept("--dir %s --continue", place));
	struct reply removed = deck(NULL, WORDS("remove", "--force", session.id));
	ASSERT(removed.status == 0, "remove: %s", removed.errors);
	ASSERT(strstr(removed.errors, place), "it does not say where the conversations are: %s",
	       removed.errors);
	ASSERT(machine_exists(kept("%s/talk", place)), "the conversation went with the session");
}

TEST(LatestOfADirectoryIsNotShared)
{
	struct session first, second;
	install("latest", "[session]\nid = \"none\"\ncontinue = [\"--continue\"]\n",
		NOTE_ARGUMENTS "exec cat\n");
	session_add(&first, NULL, "deck", WORDS("--agent", "latest"));
	session_start(&first, NULL);
	session_restart(&first, NULL);
	assert_arguments("--continue");
	session_add(&second, NULL, "deck", WORDS("--agent", "latest", "-t", "other"));
	struct reply refused = deck(NULL, WORDS("session", "start", second.id));
	ASSERT(refused.status == 1 && strstr(refused.errors, first.id), "not refused: %s",
	       refused.errors);
	/* It is alone again, but another session was in this directory, too. */
	session_restart(&first, NULL);
	assert_arguments("");
}

static void install_teller(void)
{
	install("teller",
		"[session]\nid = \"any\"\nresume = [\"resume\", \"{session_id}\"]\n"
		"[report]\nenvironment = [\"TELLER_HOOK={hook}\"]\n"
		"[screen]\nexit_banner = '^to come back: teller resume (talk-[0-9]+)'\n",
		NOTE_ARGUMENTS "bye() {\n"
			       "	echo \"to come back: teller resume talk-$$\"\n"
			       /* tmux reads the very last output late, or not at all. */
			       "	sleep 0.5\n"
			       "	exit 0\n"
			       "}\n"
			       "trap bye TERM\n"
			       "[ -e \"$HOME/leave\" ] && bye\n"
			       "while :; do sleep 0.1; done\n");
}

static void assert_told(struct session *session)
{
	ASSERT(session->session_id && starts_with(session->session_id, "talk-"),
	       "its last words were not heard: %s", or_empty(session->session_id));
	const char *id = session->session_id;
	session_start(session, NULL);
	assert_arguments(kept("resume %s", id));
}

TEST(LastWordsAfterAnEndNameTheConversation)
{
	struct session session;
	install_teller();
	session_add(&session, NULL, "deck", WORDS("--agent", "teller"));
	machine_write(at_home("leave"), 0644, "");
	(void)deck(NULL, WORDS("session", "start", session.id, "--no-wait"));
	wait_until_stopped(&session);
	assert_arguments("");
	machine_remove(at_home("leave"));
	assert_told(&session);
}

TEST(LastWordsAfterAStopNameTheConversation)
{
	struct session session;
	install_teller();
	session_add(&session, NULL, "deck", WORDS("--agent", "teller"));
	session_start(&session, NULL);
	WAIT_FOR(machine_exists(at_home("argv")), "the agent does not start");
	session_stop(&session, NULL);
	(void)session_look(&session);
	assert_told(&session);
}

/* Kill the command that restarts it at this call. */
static void cut_restart(const struct session *session, const char *call, unsigned ordinal,
			const char *proof)
{
	const char *inject = kept("inject=%s:signal=SIGKILL:when=%u", call, ordinal);
	(void)machine_user(WORDS("strace", "-f", "-qq", "-o", "/dev/null", "-e",
				 kept("trace=%s", call), "-e", inject, "agentdeck", "session",
				 "restart", session->id));
	const char *manifest = or_empty(machine_read(
		at_home(kept(".local/state/agentdeck/default/%s/instance.json", session->id))));
	ASSERT(strstr(manifest, "\"stopping\"") && strstr(manifest, proof),
	       "the restart was not cut: %s", manifest);
}

/* It says its id only once: to the half that ends it. */
TEST(LastWordsSurviveAnInterruptedRestart)
{
	struct session session;
	strace_required();
	install_teller();
	session_add(&session, NULL, "deck", WORDS("--agent", "teller"));
	session_start(&session, NULL);
	WAIT_FOR(machine_exists(at_home("argv")), "the agent does not start");
	for (int heard = 0; heard < 2; heard++) {
		const char *before = or_empty(session.session_id);
		machine_remove(at_home("argv"));
		if (heard)
			cut_restart(&session, "renameat", 3, "talk-");
		else
			cut_restart(&session, "pidfd_send_signal", 1, "");
		struct reply reply = deck_look(WORDS("recover"));
		ASSERT(reply.status == 0, "recover: %s%s", reply.output, reply.errors);
		session_look(&session);
		ASSERT(starts_with(or_empty(session.session_id), "talk-") &&
			       !streq(session.session_id, before),
		       "its last words were lost: %s", or_empty(session.session_id));
		WAIT_FOR(machine_exists(at_home("argv")), "the agent does not start");
		assert_arguments(kept("resume %s", session.session_id));
	}
}

/* --- what is left behind ----------------------------------------------------------------------- */

/* Starts a process in a new session that is nobody's child, as daemons are, and then stays, or ends
 * if <home>/leave exists. */
static void install_leaver(const char *entry)
{
	install("leaver", entry,
		"rm -f \"$HOME/sitter\"\n"
		"(setsid sh -c 'echo $$ >\"$0.new\"; mv \"$0.new\" \"$0\"; exec sleep 86399' "
		"\"$HOME/sitter\" </dev/null >/dev/null 2>&1 &)\n"
		"while [ ! -e \"$HOME/sitter\" ]; do sleep 0.05; done\n"
		"[ -e \"$HOME/leave\" ] && exit 0\n"
		"exec cat\n");
}

static struct process sitter(void)
{
	WAIT_FOR(machine_exists(at_home("sitter")), "nothing was left behind: this proves nothing");
	struct process process = machine_process(
		(pid_t)strtol(machine_read(at_home("sitter")), NULL, 10));
	return process;
}

static void no_scope(void)
{
	machine_write(at_home(".config/agentdeck/config.toml"), 0644,
		      "[tmux]\nlaunch_in_user_scope = false\n");
}

static void check_stop_of_a_running_one(void)
{
	struct session session;
	install_leaver(NULL);
	session_add(&session, NULL, "deck", WORDS("-c", "leaver"));
	session_start(&session, NULL);
	struct process left = sitter();
	ASSERT(left.pid, "nothing was left behind: this proves nothing");
	session_stop(&session, NULL);
	ASSERT(!machine_alive(&left), "what the agent left behind outlives session stop");
}

static void check_stop_of_an_ended_one(void)
{
	struct session session;
	install_leaver(NULL);
	machine_write(at_home("leave"), 0644, "");
	session_add(&session, NULL, "deck", WORDS("-c", "leaver"));
	(void)deck(NULL, WORDS("session", "start", session.id, "--no-wait"));
	struct process left = sitter();
	wait_until_stopped(&session);
	ASSERT(left.pid && machine_alive(&left), "it went with its agent: nobody asked for that");
	struct reply stop = deck(NULL, WORDS("session", "stop", session.id));
	ASSERT(stop.status == 0, "stop: %s", stop.errors);
	ASSERT(!machine_alive(&left), "what the agent left behind outlives session stop");
}

TEST(DaemonEndsWithStop)
{
	check_stop_of_a_running_one();
}

TEST(DaemonEndsWithStopWithoutScope)
{
	no_scope();
	check_stop_of_a_running_one();
}

TEST(DaemonOfAnEndedAgentEndsWithStop)
{
	check_stop_of_an_ended_one();
}

TEST(DaemonOfAnEndedAgentEndsWithStopWithoutScope)
{
	no_scope();
	check_stop_of_an_ended_one();
}

TEST(KnownDaemonEndsWithItsAgent)
{
	struct session session;
	install_leaver("[daemons]\nend = [\"sleep 86399\"]\n");
	machine_write(at_home("leave"), 0644, "");
	session_add(&session, NULL, "deck", WORDS("--agent", "leaver"));
	(void)deck(NULL, WORDS("session", "start", session.id, "--no-wait"));
	struct process left = sitter();
	wait_until_stopped(&session);
	WAIT_FOR(!machine_alive(&left), "the daemon outlives its agent");
}

TEST(RemainsOfAnEndedAgentDoNotCostTheScope)
{
	struct session session;
	install_leaver(NULL);
	machine_write(at_home("leave"), 0644, "");
	session_add(&session, NULL, "deck", WORDS("-c", "leaver"));
	(void)deck(NULL, WORDS("session", "start", session.id, "--no-wait"));
	struct process left = sitter();
	wait_until_stopped(&session);
	machine_remove(at_home("leave"));
	session_start(&session, NULL);
	assert_isolated(&session);
	ASSERT(!machine_alive(&left), "it still sits in the scope");
}
