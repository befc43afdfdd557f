/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Messages to an agent: each arrives once, whole and in its turn, or not at all.
 */
#include "persistence/deck.h"

#include <string.h>

/* The demo agent keeps an entered line in its prompt for keep_ms, as claude 2.1.197 does on a slow
 * machine. */
static void begin(struct session *session, const char *title, const char *keep_ms)
{
	machine_set("AGENTDECK_DEMO_KEEP_MS", keep_ms);
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	WAIT_FOR(session_shows(session, "❯"), "the agent shows no prompt:\n%s",
		 or_empty(session_screen(session)));
}

static void send_it(const struct session *session, const char *text)
{
	struct reply sent = deck(NULL, WORDS("session", "send", session->id, text));
	ASSERT(sent.status == 0, "session send '%s': %s%s\n%s", text, sent.errors, sent.output,
	       or_empty(session_screen(session)));
}

/* The agent repeats what it was told, and how many messages it got. */
static void assert_told(const struct session *session, unsigned number, const char *text)
{
	const char *reply = kept("demo: reply %u. You said: \"%s\". I remember %u of", number, text,
				 number);
	WAIT_FOR(session_shows(session, reply), "it does not say '%s':\n%s", reply,
		 or_empty(session_screen(session)));
}

static void eight_in_a_row(const char *title, const char *keep_ms)
{
	struct session session;
	begin(&session, title, keep_ms);
	for (unsigned i = 1; i <= 8; i++)
		send_it(&session, kept("message %u of eight", i));
	for (unsigned i = 1; i <= 8; i++)
		assert_told(&session, i, kept("message %u of eight", i));
	ASSERT(!session_shows(&session, "demo: reply 9."), "there was a ninth:\n%s",
	       session_screen(&session));
}

TEST(SendsInARowArriveOnceAndInOrder)
{
	eight_in_a_row("late", "400");
	eight_in_a_row("never", "3600000");
}

/* Twenty at a time, each with two messages. */
TEST(ConcurrentSendsArriveOnceEach)
{
	enum { SENDERS = 20 };
	struct session session;
	begin(&session, "deck", "0");
	struct answer sent = machine_user(WORDS(
		"sh", "-c",
		"for i in $(seq 20); do { agentdeck session send --timeout 300 \"$1\" \"[$i a]\" && "
		"agentdeck session send --timeout 300 \"$1\" \"[$i b]\" || touch \"$HOME/failed\"; } & done; wait",
		"sh", session.id));
	ASSERT(sent.status == 0 && !machine_exists(at_home("failed")), "one failed: %s%s",
	       sent.errors, sent.output);
	WAIT_FOR(session_shows(&session, kept("I remember %d of", 2 * SENDERS)),
		 "not all came:\n%s", or_empty(session_screen(&session)));
	const char *screen = session_screen(&session);
	ASSERT(!strstr(screen, kept("I remember %d of", 2 * SENDERS + 1)), "more came:\n%s",
	       screen);
	for (int i = 1; i <= SENDERS; i++) {
		const char *first = strstr(screen, kept("You said: \"[%d a]\"", i));
		const char *second = strstr(screen, kept("You said: \"[%d b]\"", i));
		ASSERT(first && second, "those of %d did not come whole:\n%s", i, screen);
		ASSERT(first < second, "those of %d came in another order:\n%s", i, screen);
	}
}

static void assert_refused_before(const struct session *session, const char *text, const char *why)
{
	struct reply sent = deck(NULL, WORDS("session", "send", session->id, text));
	ASSERT(sent.status == 1 && strstr(sent.errors, why), "status %d: %s%s", sent.status,
	       sent.errors, sent.output);
	ASSERT(!session_shows(session, "not for now"), "it was typed:\n%s",
	       session_screen(session));
}

static void assert_refused(const struct session *session, const char *why)
{
	assert_refused_before(session, "not for now", why);
}

TEST(SendLeavesADraftAlone)
{
	struct session session;
	begin(&session, "deck", "0");
	session_type(&session, "half a thou");
	assert_refused(&session, "not sent, the input box contains unsent text");
	session_press(&session, "ght");
	WAIT_FOR(session_shows(&session, "❯ half a thought"), "the draft is gone:\n%s",
		 or_empty(session_screen(&session)));
	struct reply sent = deck(NULL,
				 WORDS("session", "send", "--json", session.id, "not for now"));
	ASSERT(sent.status == 1 && streq(json_get_string(sent.json, "delivery", ""), "draft"),
	       "status %d: %s", sent.status, sent.output);
	deck_ok(NULL, WORDS("session", "send", "--replace-draft", "--json", session.id, "whole"));
	assert_told(&session, 1, "whole");
	session_say(&session, "mine");
	assert_told(&session, 2, "mine");
}

/* The user's text comes at the same moment, in front of the message. */
TEST(SendJoinsNothingToATextTypedAtTheSameTime)
{
	struct session session;
	machine_set("AGENTDECK_DEMO_DRAFT", "my draft");
	begin(&session, "deck", "0");
	struct reply sent = deck(NULL, WORDS("session", "send", session.id, "RACE"));
	ASSERT(sent.status == 1 && strstr(sent.errors, "not sent, another text was typed"),
	       "status %d: %s%s", sent.status, sent.errors, sent.output);
	ASSERT(session_shows(&session, "❯ my draft") && !session_shows(&session, "RACE"),
	       "the box has something else:\n%s", session_screen(&session));
	session_press(&session, "Enter");
	assert_told(&session, 1, "my draft");
	send_it(&session, "RACE");
	assert_told(&session, 2, "RACE");
}

TEST(SendRefusesATextForAnotherModeUnlessItIsMeant)
{
	struct session session;
	begin(&session, "deck", "0");
	assert_refused_before(&session, "!not for now", "--raw");
	send_it(&session, "a message");
	assert_told(&session, 1, "a message");
	deck_ok(NULL, WORDS("session", "send", "--raw", "--json", session.id, "!make"));
	WAIT_FOR(session_shows(&session, "(the demo agent runs nothing)"), "it did not come:\n%s",
		 or_empty(session_screen(&session)));
	session_press(&session, "!half");
	WAIT_FOR(session_shows(&session, "! half"), "the mode is not shown:\n%s",
		 or_empty(session_screen(&session)));
	struct reply sent = deck(NULL, WORDS("session", "send", session.id, "into the mode"));
	ASSERT(sent.status == 1 && strstr(sent.errors, "in another mode"), "status %d: %s%s",
	       sent.status, sent.errors, sent.output);
}

/* The agent works on the first message, takes the second one from its queue when it has reported
 * that it is idle, and says nothing while it works on that. */
TEST(SendWaitPrintsTheReplyToItsOwnMessage)
{
	struct session session;
	machine_set("AGENTDECK_DEMO_DELAY_MS", "2500");
	machine_set("AGENTDECK_DEMO_REPORT_QUEUE", "1");
	begin(&session, "deck", "0");
	send_it(&session, "first");
	struct reply sent = deck(NULL, WORDS("session", "send", "--wait", session.id, "second"));
	ASSERT(sent.status == 0 && strstr(sent.output, "You said: \"second\""), "status %d: %s%s",
	       sent.status, sent.errors, sent.output);
}

TEST(SendRefusesAViewThatSwallowsInput)
{
	struct session session;
	begin(&session, "deck", "0");
	session_type(&session, "/config");
	session_press(&session, "Enter");
	WAIT_FOR(session_shows(&session, "Settings ("), "there is no view:\n%s",
		 or_empty(session_screen(&session)));
	assert_refused(&session, "not ready: the agent shows a view");
	session_press(&session, "Escape");
	WAIT_FOR(!session_shows(&session, "Settings ("), "the view stays:\n%s",
		 or_empty(session_screen(&session)));
	send_it(&session, "now");
	assert_told(&session, 1, "now");
}

/* To the agent a backslash before Enter is a line break. */
TEST(SendOfABackslashArrivesWhole)
{
	struct session session;
	begin(&session, "deck", "0");
	send_it(&session, "C:\\");
	send_it(&session, "the next");
	ASSERT(session_shows(&session, "> C:\\"), "it did not come so:\n%s",
	       session_screen(&session));
	assert_told(&session, 2, "the next");
}

/* The demo agent asks for the permission to run a command. */
static void ask(const struct session *session, const char *command)
{
	session_type(session, kept("/run %s", command));
	session_press(session, "Enter");
	WAIT_FOR(session_shows(session, kept("   %s\n", command)) &&
			 session_shows(session, "Esc to cancel"),
		 "it does not ask:\n%s", or_empty(session_screen(session)));
}

static const char *digest_of_question(const struct session *session)
{
	struct json_object *seen = deck_ok(NULL,
					   WORDS("session", "approve", "--json", session->id));
	ASSERT(!json_get_bool(seen, "answered", true), "it was answered");
	return json_get_string(seen, "digest", "");
}

TEST(ApproveAnswersOnlyTheQuestionThatWasSeen)
{
	struct session session;
	begin(&session, "deck", "0");
	ask(&session, "make");
	const char *first = digest_of_question(&session);
	session_press(&session, "Escape");
	WAIT_FOR(session_shows(&session, "(interrupted)"), "it still asks:\n%s",
		 or_empty(session_screen(&session)));
	ask(&session, "rm x");
	struct reply wrong = deck(NULL,
				  WORDS("session", "approve", "--question", first, session.id));
	ASSERT(wrong.status == 1 && strstr(wrong.errors, "asks another question"),
	       "status %d: %s%s", wrong.status, wrong.errors, wrong.output);
	ASSERT(!session_shows(&session, "(permitted"), "it was given:\n%s",
	       session_screen(&session));
	const char *second = digest_of_question(&session);
	deck_ok(NULL, WORDS("session", "approve", "--json", "--question", second, session.id));
	WAIT_FOR(session_shows(&session, "(permitted"), "it was not given:\n%s",
		 or_empty(session_screen(&session)));
}
