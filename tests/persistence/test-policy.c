/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who may decide that a conversation is resumed: policies, and the question that "confirm" asks.
 */
#include "persistence/deck.h"

#include <string.h>

#define MARKER   "the ladder is in the shed"
#define QUESTION "Enter  resume it"

/* A session with a turn whose server was killed, and that was started again under "confirm". */
static const char *begin(struct session *session)
{
	session_add(session, NULL, "deck", WORDS("--agent", "demo", "--resume", "confirm"));
	session_start(session, NULL);
	session_say(session, MARKER);
	session_look(session);
	const char *id = session->session_id;
	session_kill_server(session);
	session_start(session, NULL);
	WAIT_FOR(session_shows(session, QUESTION), "no question:\n%s",
		 or_empty(session_screen(session)));
	return id;
}

TEST(ConfirmAsksAndEnterResumes)
{
	struct session session;
	const char *id = begin(&session);
	struct json_object *shown = session_look(&session);
	ASSERT(streq(json_get_string(shown, "activity", ""), "waiting"), "it is shown as %s",
	       json_get_string(shown, "activity", ""));
	session_press(&session, "Enter");
	WAIT_FOR(session_shows(&session, MARKER), "it does not come back:\n%s",
		 or_empty(session_screen(&session)));
	assert_came_back(&session, id, MARKER, 1);
	assert_logged("offer: answered, attempt resume");
}

/* A mistyped key must not cost the old conversation: it stays the session's until the new one has a
 * turn. */
TEST(ConfirmStartsANewOneAndKeepsTheOld)
{
	struct session session;
	const char *id = begin(&session);
	session_press(&session, "n");
	WAIT_FOR(session_look(&session) && session.agent_pid && session_shows(&session, "❯"),
		 "no agent:\n%s", or_empty(session_screen(&session)));
	assert_no_flag(&session, "--resume");
	ASSERT(session_shows(&session, id), "the old id is not told:\n%s",
	       session_screen(&session));
	session_look(&session);
	ASSERT(streq(or_empty(session.session_id), id), "it gave %s up before a turn", id);
	session_say(&session, "something new");
	WAIT_FOR(session_look(&session) && !streq(session.session_id, id),
		 "the new one does not count");
}

TEST(ConfirmLeavesAShell)
{
	struct session session;
	const char *id = begin(&session);
	session_press(&session, "q");
	WAIT_FOR(session_shows(&session, "$"), "no shell:\n%s", or_empty(session_screen(&session)));
	session_look(&session);
	ASSERT(streq(or_empty(session.session_id), id), "the conversation is %s",
	       or_empty(session.session_id));
	session_stop(&session, NULL);
	session_start(&session, NULL);
	WAIT_FOR(session_shows(&session, QUESTION), "no question the second time:\n%s",
		 or_empty(session_screen(&session)));
	session_press(&session, "Enter");
	WAIT_FOR(session_shows(&session, MARKER), "it does not come back");
	assert_came_back(&session, id, MARKER, 1);
}

TEST(SendIsRefusedWhileASessionAsks)
{
	struct session session;
	(void)begin(&session);
	struct reply reply = deck(NULL, WORDS("session", "send", session.id, "n"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "asks"), "status %d: %s", reply.status,
	       reply.errors);
	ASSERT(session_shows(&session, QUESTION), "it was answered:\n%s", session_screen(&session));
}

TEST(PolicyOfTheAgentAndTheMasterSwitchHold)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	session_say(&session, MARKER);
	session_look(&session);
	const char *id = session.session_id;
	session_kill_server(&session);
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      "[resume]\npolicy = \"never\"\n[resume.agents]\ndemo = \"confirm\"\n");
	session_start(&session, NULL);
	WAIT_FOR(session_shows(&session, QUESTION), "no question:\n%s",
		 or_empty(session_screen(&session)));
	ASSERT(session_shows(&session, id), "it asks about another:\n%s", session_screen(&session));
	session_press(&session, "Enter");
	WAIT_FOR(session_shows(&session, MARKER), "it does not come back");
	session_kill_server(&session);
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      "resume_agents = false\n[resume]\npolicy = \"confirm\"\n");
	session_start(&session, NULL);
	/* Only the agent itself replies. */
	session_say(&session, "all anew");
	session_look(&session);
	assert_no_flag(&session, "--resume");
	ASSERT(!session_shows(&session, QUESTION), "it asks:\n%s", session_screen(&session));
}
