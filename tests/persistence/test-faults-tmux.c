/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A tmux that does not work: agentdeck ends nothing that it could not start again.
 */
#include "persistence/faults.h"

#include <signal.h>
#include <string.h>

#define FAKE "fake"

/* From now on "tmux" is this script. */
static void fake_tmux(const char *script)
{
	machine_write(at_home(FAKE "/tmux"), 0755, kept("#!/bin/sh\n%s\n", script));
	machine_set("PATH", kept("%s:%s", at_home(FAKE), machine_search_path()));
}

static void give_tmux_back(void)
{
	machine_set("PATH", machine_search_path());
	machine_root_ok(WORDS("rm", "-r", at_home(FAKE)));
}

static void break_tmux(const struct fault *fault)
{
	fake_tmux(fault->argument);
}

static void mend_tmux(const struct fault *fault UNUSED)
{
	give_tmux_back();
}

/* As after an upgrade: clients for the old server fail, and new servers work. */
static void upgrade_tmux(const struct fault *fault UNUSED)
{
	fake_tmux(kept(
		"case $* in *'%s'*) if kill -0 %d 2>/dev/null; then\n"
		"	echo 'protocol version mismatch (client 9, server 8)' >&2; exit 1\nfi;; esac\n"
		"exec /usr/bin/tmux \"$@\"",
		world.deck.socket, (int)world.deck.server_pid));
}

#define TELLS_VERSION "[ \"$1\" = -V ] && exec /usr/bin/tmux -V\n"
#define NOTHING_ENDED "nothing was ended"
static const struct fault of_tmux[] = {
	{ .name = "tmux-fails",
	  .strike = break_tmux,
	  .argument = "exit 1",
	  .steps = { FAILS(RESTART, 1, "tmux -V does not print its version"),
		     FAILS(RESTART, 1, NOTHING_ENDED), SHOWS(LIST_JSON, RUNNING) },
	  .mend = mend_tmux },
	{ .name = "tmux-hangs",
	  .strike = break_tmux,
	  .argument = "exec sleep 600",
	  .steps = { FAILS(RESTART, 1, "tmux does not answer"), SHOWS(LIST_JSON, RUNNING) },
	  .mend = mend_tmux },
	{ .name = "tmux-prints-garbage",
	  .strike = break_tmux,
	  .argument = "echo garbage",
	  .steps = { FAILS(RESTART, 1, NOTHING_ENDED), SHOWS(LIST_JSON, RUNNING) },
	  .mend = mend_tmux },
	{ .name = "tmux-kills-itself",
	  .strike = break_tmux,
	  .argument = "kill -9 $$",
	  .steps = { FAILS(RESTART, 1, NOTHING_ENDED), SHOWS(LIST_JSON, RUNNING) },
	  .mend = mend_tmux },
	{ .name = "tmux-too-old",
	  .strike = break_tmux,
	  .argument = "echo tmux 2.9",
	  .steps = { FAILS(RESTART, 1, "tmux 2.9 is too old"), SHOWS(LIST_JSON, RUNNING) },
	  .mend = mend_tmux },
	{ .name = "tmux-starts-no-server",
	  .strike = break_tmux,
	  .argument = TELLS_VERSION "echo 'server exited unexpectedly' >&2; exit 1",
	  .steps = { FAILS(RESTART, 1, "server exited unexpectedly"),
		     FAILS(RESTART, 1, NOTHING_ENDED), SHOWS(LIST_JSON, RUNNING) },
	  .mend = mend_tmux },
	{ .name = "tmux-hangs-at-the-server",
	  .strike = break_tmux,
	  .argument = TELLS_VERSION "exec sleep 600",
	  .steps = { FAILS(RESTART, 1, "does not answer"), SHOWS(LIST_JSON, RUNNING) },
	  .mend = mend_tmux },
	{ .name = "tmux-names-no-server",
	  .strike = break_tmux,
	  .argument = TELLS_VERSION "echo 999999 999998 3.3a",
	  .steps = { FAILS(RESTART, 1, NOTHING_ENDED), SHOWS(LIST_JSON, RUNNING) },
	  .mend = mend_tmux },
	{ .name = "tmux-does-not-reach-its-server",
	  .strike = break_tmux,
	  .argument = "case $* in *new-session*|-V) exec /usr/bin/tmux \"$@\";; *) exit 1;; esac",
	  .steps = { FAILS(RESTART, 1, NOTHING_ENDED), SHOWS(LIST_JSON, RUNNING) },
	  .mend = mend_tmux },
	{ .name = "tmux-of-another-version",
	  .strike = upgrade_tmux,
	  .steps = { SHOWS(RESTART, "resumed") },
	  .mend = mend_tmux,
	  .run = NEW_RUN },
};

TEST(FaultsOfTmux)
{
	run_faults(of_tmux, ARRAY_SIZE(of_tmux));
}

/* The shell that replaces an agent is its user's, with all that runs in it. */
TEST(ShellIsNotEndedForABrokenTmux)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	machine_set("AGENTDECK_DEMO_EXIT_AT_START", "3");
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status != 0, "a start that failed says nothing: %s", reply.output);
	machine_set("AGENTDECK_DEMO_EXIT_AT_START", "");
	WAIT_FOR(session_look(&session) && session_shows(&session, "this is a shell"),
		 "there is no shell");
	struct process server = session_server(&session);
	fake_tmux("case $* in *new-session*) exit 1;; esac; exec /usr/bin/tmux \"$@\"");
	const char *const *const commands[] = { WORDS("session", "start", session.id),
						WORDS("session", "restart", session.id),
						WORDS("recover"), NULL };
	for (const char *const *const *command = commands; *command; command++) {
		reply = deck_look(*command);
		ASSERT(reply.status == 1, "%s: status %d: %s%s", (*command)[0], reply.status,
		       reply.output, reply.errors);
		ASSERT(machine_alive(&server), "%s ends the shell", (*command)[0]);
	}
	give_tmux_back();
	session_start(&session, NULL);
	assert_flag(&session, "--session-id", session.session_id);
}

/* The second half of a restart, finished by another command. */
TEST(InterruptedRestartWaitsForAWorkingTmux)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	session_say(&session, "remember me");
	const char *id = session.session_id;
	struct process agent = session_agent(&session);
	(void)machine_user(WORDS("strace", "-f", "-qq", "-o", "/dev/null", "-e",
				 "trace=pidfd_send_signal", "-e",
				 "inject=pidfd_send_signal:signal=SIGKILL:when=1", "agentdeck",
				 "session", "restart", session.id));
	ASSERT(strstr(or_empty(machine_read(manifest_path(&session))), "\"stopping\"") &&
		       machine_alive(&agent),
	       "the restart was not interrupted");
	fake_tmux("case $* in *new-session*) exit 1;; esac; exec /usr/bin/tmux \"$@\"");
	struct reply reply = deck_look(WORDS("recover"));
	ASSERT(reply.status == 1, "recover: status %d: %s%s", reply.status, reply.output,
	       reply.errors);
	ASSERT(machine_alive(&agent), "the agent was ended");
	give_tmux_back();
	reply = deck_look(WORDS("recover"));
	ASSERT(reply.status == 0, "recover: %s%s", reply.output, reply.errors);
	(void)session_look(&session);
	assert_came_back(&session, id, "remember me", 1);
}
