/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which session attach chooses, and what it does for one that does not run.
 */
#include "persistence/attach.h"

#include <signal.h>
#include <string.h>

#define MARKER "remember 42"

static void begin(struct session *session, const char *title)
{
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
}

static void wait_for(const char *keys, const char *text)
{
	WAIT_FOR(strstr(attach_output(keys), text), "the terminal does not show '%s':\n%s", text,
		 attach_output(keys));
}

static void wait_until_attached(struct session *session, const char *keys)
{
	WAIT_FOR(session_look(session) && session->socket && attach_count(session) == 1,
		 "%s is not attached:\n%s", session->title, attach_output(keys));
}

static void leave(const struct session *session, const char *keys)
{
	attach_press(keys, "\\021");
	WAIT_FOR(attach_count(session) == 0, "%s is still attached", session->title);
}

TEST(AttachStartsAStoppedSession)
{
	struct session session;
	begin(&session, "deck");
	const char *id = session.session_id;
	session_stop(&session, NULL);
	wait_for(attach_open(kept("--no-start %s", session.id), "refused"), "is not running");
	(void)session_look(&session);
	ASSERT(streq(session.status, "stopped"), "--no-start: it is %s", session.status);
	wait_until_attached(&session, attach_open(session.id, "keys"));
	assert_came_back(&session, id, MARKER, 1);
}

TEST(AttachWithoutANameOffersTheLastUsed)
{
	struct session one, two;
	begin(&one, "one");
	const char *keys = attach_open("", "only");
	wait_until_attached(&one, keys);
	leave(&one, keys);
	begin(&two, "two");
	keys = attach_open(one.id, "by-name");
	wait_until_attached(&one, keys);
	leave(&one, keys);
	keys = attach_open("", "cancelled");
	wait_for(keys, "> ");
	attach_press(keys, "\\033");
	wait_for(keys, "no session was attached");
	keys = attach_open("", "unnamed");
	wait_for(keys, "> ");
	attach_press(keys, "\\r");
	wait_until_attached(&one, keys);
	ASSERT(attach_count(&two) == 0, "it took the one that was started last");
}

static void wait_until_waiting(const struct session *session)
{
	struct reply reply = deck(NULL, WORDS("status", "--wait", "waiting", session->id,
					      "--timeout", "60"));
	ASSERT(reply.status == 0, "%s does not wait: %s", session->title, reply.errors);
}

TEST(AttachNextTakesTheLongestWait)
{
	struct session first, second, third;
	begin(&third, "working");
	machine_set("AGENTDECK_DEMO_IDLE_MS", "100");
	begin(&first, "first");
	wait_until_waiting(&first);
	begin(&second, "second");
	wait_until_waiting(&second);
	const char *keys = attach_open("--next", "keys");
	wait_until_attached(&first, keys);
	ASSERT(attach_count(&second) == 0 && attach_count(&third) == 0, "it took another one");
}

/* The screen of a pane in which this user's own tmux runs agentdeck attach. */
static const char *outer_screen(void)
{
	return machine_user(WORDS("tmux", "-L", "outer", "capture-pane", "-p")).output;
}

static void open_outer(const char *words)
{
	machine_user_ok(WORDS("tmux", "-L", "outer", "-f", "/dev/null", "new-session", "-d", "-x",
			      "100", "-y", "30",
			      kept("agentdeck attach %s; echo left; exec cat", words)));
}

/* In the same server: a new one may meet the end of the last. */
static void reopen_outer(const char *words)
{
	machine_user_ok(WORDS("tmux", "-L", "outer", "respawn-pane", "-k",
			      kept("agentdeck attach %s; echo left; exec cat", words)));
}

TEST(AttachInsideTmuxHidesOurStatusLine)
{
	struct session session;
	begin(&session, "deck");
	open_outer(kept("--refuse-nested %s", session.id));
	WAIT_FOR(strstr(outer_screen(), "left"), "--refuse-nested attaches:\n%s", outer_screen());
	ASSERT(strstr(outer_screen(), "is inside tmux"), "it says:\n%s", outer_screen());
	reopen_outer(session.id);
	WAIT_FOR(strstr(outer_screen(), "Ctrl-Q leaves this session"), "no word how to leave:\n%s",
		 outer_screen());
	ASSERT(strstr(outer_screen(), "C-b C-b s: other sessions"), "not its other keys:\n%s",
	       outer_screen());
	ASSERT(strstr(outer_screen(), MARKER), "it does not show the agent:\n%s", outer_screen());
	machine_user_ok(WORDS("tmux", "-L", "outer", "send-keys", "typed inside", "Enter"));
	WAIT_FOR(strstr(outer_screen(), "You said: \"typed inside\""), "no reply:\n%s",
		 outer_screen());
	/* A key has ended the note, below which a status line would be. */
	ASSERT(!strstr(outer_screen(), "Ctrl-Q: leave"), "our status line is there:\n%s",
	       outer_screen());
	machine_user_ok(WORDS("tmux", "-L", "outer", "send-keys", "C-q"));
	WAIT_FOR(strstr(outer_screen(), "left"), "Ctrl-Q does not leave:\n%s", outer_screen());
	const char *left = machine_user_ok(
		WORDS("tmux", "-S", session.socket, "list-sessions", "-F", "#{session_name}"));
	ASSERT(streq(left, "agent\n"), "these are left: %s", left);
	machine_user_ok(WORDS("tmux", "-L", "outer", "set-option", "-g", "prefix", "C-a"));
	reopen_outer(session.id);
	WAIT_FOR(strstr(outer_screen(), "Ctrl-Q leaves this session"), "no word how to leave:\n%s",
		 outer_screen());
	ASSERT(!strstr(outer_screen(), "C-b C-b"), "the prefixes differ:\n%s", outer_screen());
	machine_user_ok(WORDS("tmux", "-L", "outer", "kill-server"));
	const char *keys = attach_open(session.id, "keys");
	wait_until_attached(&session, keys);
	wait_for(keys, "Ctrl-Q: leave");
}

TEST(StatusLineShowsWhoWaits)
{
	struct session mine, second, third;
	begin(&mine, "mine");
	const char *keys = attach_open(mine.id, "keys");
	wait_until_attached(&mine, keys);
	wait_for(keys, " mine  ");
	wait_for(keys, " mine  idle  ");
	machine_set("AGENTDECK_DEMO_IDLE_MS", "100");
	begin(&second, "second");
	wait_until_waiting(&second);
	wait_for(keys, "1 other waits");
	begin(&third, "third");
	wait_until_waiting(&third);
	wait_for(keys, "2 others wait");
	const size_t seen = strlen(attach_output(keys));
	session_stop(&second, NULL);
	WAIT_FOR(strstr(attach_output(keys) + seen, "1 other waits"),
		 "it still counts the one that was stopped:\n%s", attach_output(keys));
	keys = attach_open(third.id, "later");
	wait_until_attached(&third, keys);
	wait_for(keys, " third  waiting  ");
}

TEST(StatusLineIsUpToDateOnceAttached)
{
	struct session mine, second;
	begin(&mine, "mine");
	begin(&second, "second");
	(void)session_look(&mine);
	const struct process server = session_server(&mine);
	machine_kill(&server, SIGSTOP);
	const char *keys = attach_open(mine.id, "keys");
	WAIT_FOR(*machine_user(WORDS("pgrep", "-f", kept("^tmux .*%s.* attach-session", mine.id)))
			  .output,
		 "no client comes:\n%s", attach_output(keys));
	/* The client has been told that nobody waits.  Nobody is attached yet. */
	machine_set("AGENTDECK_DEMO_IDLE_MS", "100");
	session_restart(&second, NULL);
	session_say(&second, MARKER);
	wait_until_waiting(&second);
	machine_kill(&server, SIGCONT);
	wait_for(keys, "1 other waits");
}

TEST(AttachTakesThePrefixOverAndRunsNothing)
{
	struct session session;
	machine_write(at_home(".tmux.conf"), 0600,
		      kept("set -g prefix C-a\nrun-shell 'touch %s'\n", at_home("obeyed")));
	begin(&session, "deck");
	const char *keys = attach_open(session.id, "keys");
	wait_until_attached(&session, keys);
	attach_press(keys, "\\001d");
	WAIT_FOR(attach_count(&session) == 0, "C-a d does not leave:\n%s", attach_output(keys));
	ASSERT(!machine_exists(at_home("obeyed")), "the user's configuration was run");
}

static const char *terminal_features(const struct session *session)
{
	return machine_user_ok(WORDS("tmux", "-S", session->socket, "list-clients", "-F",
				     "#{client_termfeatures}"));
}

TEST(TrueColorOnlyWhereTheTerminalHasIt)
{
	struct session session;
	begin(&session, "deck");
	const char *keys = attach_open(session.id, "plain");
	wait_until_attached(&session, keys);
	ASSERT(!strstr(terminal_features(&session), "RGB"), "it is forced on: %s",
	       terminal_features(&session));
	leave(&session, keys);
	machine_set("COLORTERM", "truecolor");
	keys = attach_open(session.id, "colorful");
	wait_until_attached(&session, keys);
	ASSERT(strstr(terminal_features(&session), "RGB"), "it has: %s",
	       terminal_features(&session));
}
