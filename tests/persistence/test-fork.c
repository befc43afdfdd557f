/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conversations that a user copies or chooses.
 */
#include "persistence/deck.h"

#include <string.h>

#define MARKER "the map is in the drawer"

static void begin(struct session *session)
{
	session_add(session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
	session_look(session);
}

TEST(ForkGoesItsOwnWayAndComesBack)
{
	struct session one, fork = { .title = "deck-fork" };
	begin(&one);
	struct process agent = session_agent(&one);
	struct json_object *started = deck_ok(NULL, WORDS("session", "fork", one.id, "--json"));
	fork.id = json_get_string(started, "id", "");
	fork.directory = one.directory;
	session_look(&fork);
	ASSERT(!streq(fork.session_id, one.session_id), "both have the conversation %s",
	       one.session_id);
	assert_isolated(&fork);
	const char *original = one.session_id, *copy = fork.session_id;
	WAIT_FOR(session_shows(&fork, MARKER), "the copy is empty:\n%s",
		 or_empty(session_screen(&fork)));
	session_say(&fork, "only in the copy");
	session_kill_server(&fork);
	session_start(&fork, NULL);
	assert_came_back(&fork, copy, MARKER, 2);
	assert_no_flag(&fork, "--fork-session");
	ASSERT(machine_alive(&agent), "the original was ended");
	session_say(&one, "only in the original");
	ASSERT(!session_shows(&one, "only in the copy"), "the copy's words are in the original");
	session_look(&one);
	ASSERT(streq(one.session_id, original), "the original's id became %s", one.session_id);
}

static void kill_and_start(struct session *session)
{
	session_kill_server(session);
	session_start(session, NULL);
}

static struct session fork_of(const struct session *one, const char *title)
{
	struct json_object *started = deck_ok(NULL, WORDS("session", "fork", one->id, "-t", title,
							  "--json"));
	struct session fork = { .title = title,
				.directory = one->directory,
				.id = json_get_string(started, "id", "") };
	session_look(&fork);
	return fork;
}

/* claude 2.1.197 reports a fork's start under the id of its parent. */
TEST(ForkIsNotItsParent)
{
	struct session one;
	machine_set("AGENTDECK_DEMO_FORK_AS_PARENT", "1");
	begin(&one);
	const char *original = one.session_id;
	struct session fork = fork_of(&one, "fork");
	const char *copy = fork.session_id;
	ASSERT(!streq(copy, original), "the fork became its parent");
	ASSERT(!json_get_object(session_look(&fork), "shares"),
	       "the fork is said to share its parent's conversation");
	/* Killed before its first prompt: the copy is made again. */
	kill_and_start(&fork);
	ASSERT(streq(fork.session_id, copy), "the fork's id became %s", fork.session_id);
	WAIT_FOR(session_shows(&fork, MARKER), "the copy is empty:\n%s",
		 or_empty(session_screen(&fork)));
	session_say(&fork, "only in the copy");
	struct session second = fork_of(&fork, "fork-of-fork");
	const char *copy_of_copy = second.session_id;
	session_say(&second, "only in the copy of the copy");
	kill_and_start(&fork);
	assert_came_back(&fork, copy, MARKER, 2);
	kill_and_start(&second);
	assert_came_back(&second, copy_of_copy, MARKER, 3);
	/* Nothing keeps the parent from its own conversation. */
	kill_and_start(&one);
	assert_came_back(&one, original, MARKER, 1);
}

/* A copy that was killed before its first message is made again, of what there was to copy. */
TEST(ForkKeepsThePointAtWhichItWasMade)
{
	struct session one;
	begin(&one);
	struct session fork = fork_of(&one, "fork");
	const char *copy = fork.session_id;
	session_kill_server(&fork);
	session_say(&one, "said to the original later");
	session_start(&fork, NULL);
	assert_came_back(&fork, copy, MARKER, 1);
	ASSERT(!session_shows(&fork, "said to the original later"),
	       "the fork has what was said later:\n%s", or_empty(session_screen(&fork)));
	kill_and_start(&fork);
	assert_came_back(&fork, copy, MARKER, 2);
	kill_and_start(&one);
	assert_came_back(&one, one.session_id, MARKER, 2);
}

/* The parent's conversation has no owner any more. */
TEST(ForkOfARemovedSessionIsNotItsParent)
{
	struct session one, fork = { .title = "other" };
	machine_set("AGENTDECK_DEMO_FORK_AS_PARENT", "1");
	begin(&one);
	struct json_object *made = deck_ok(NULL, WORDS("session", "fork", one.id, "--no-start",
						       "-t", "other", "--json"));
	fork.id = json_get_string(made, "id", "");
	fork.directory = one.directory;
	ASSERT(session_look(&fork), "the fork is not listed");
	const char *copy = fork.session_id;
	ASSERT(deck(NULL, WORDS("remove", "--force", one.id)).status == 0, "remove fails");
	session_start(&fork, NULL);
	ASSERT(streq(fork.session_id, copy), "the fork's id became %s", fork.session_id);
	session_say(&fork, "only in the copy");
	kill_and_start(&fork);
	assert_came_back(&fork, copy, MARKER, 2);
}

/* Killed before the copy was made: the next start makes the copy, not an empty conversation. */
TEST(ForkThatWasNeverStartedIsMadeAtTheFirstStart)
{
	struct session one, fork = { .title = "other" };
	begin(&one);
	struct json_object *made = deck_ok(NULL, WORDS("session", "fork", one.id, "--no-start",
						       "-t", "other", "--json"));
	fork.id = json_get_string(made, "id", "");
	fork.directory = one.directory;
	session_stop(&one, NULL);
	session_start(&fork, NULL);
	assert_flag(&fork, "--resume", one.session_id);
	WAIT_FOR(session_shows(&fork, MARKER), "the copy is empty:\n%s",
		 or_empty(session_screen(&fork)));
}

TEST(ForkIsRefusedWhereTheAgentCannot)
{
	struct session shell;
	session_add(&shell, NULL, "deck", WORDS("--agent", "shell"));
	struct reply reply = deck(NULL, WORDS("session", "fork", shell.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "cannot copy"), "status %d: %s",
	       reply.status, reply.errors);
	ASSERT(json_object_array_length(deck_look_ok(WORDS("list", "--json"))) == 1,
	       "a session was made");
}

TEST(SetSessionIdIsWhatTheNextStartResumes)
{
	struct session session;
	begin(&session);
	const char *first = session.session_id, *wished = new_uuid();
	struct reply reply = deck(NULL, WORDS("session", "set", session.id, "session-id", wished));
	ASSERT(reply.status == 1 && strstr(reply.errors, "stop it first"), "status %d: %s",
	       reply.status, reply.errors);
	session_stop(&session, NULL);
	reply = deck(NULL, WORDS("session", "set", session.id, "session-id", "no uuid"));
	ASSERT(reply.status == 1 && strstr(reply.errors, "which uses a UUID"), "status %d: %s",
	       reply.status, reply.errors);
	(void)deck_ok(NULL, WORDS("session", "set", session.id, "session-id", wished, "--json"));
	session_start(&session, NULL);
	session_say(&session, "in the other one");
	session_look(&session);
	ASSERT(streq(session.session_id, wished), "it is in %s", session.session_id);
	session_stop(&session, NULL);
	(void)deck_ok(NULL, WORDS("session", "set", session.id, "session-id", first, "--json"));
	session_start(&session, NULL);
	assert_came_back(&session, first, MARKER, 1);
}
