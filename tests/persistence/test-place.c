/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conversations in another directory than their first: moved by their agent or by their user, or
 * begun elsewhere.
 */
#include "persistence/deck.h"

#include <string.h>

#define MARKER "the map is in the drawer"

static void begin(struct session *session, const char *title, const char *const *words)
{
	session_add(session, NULL, title, words);
	session_start(session, NULL);
	session_say(session, MARKER);
	session_look(session);
}

static void enter(const struct session *session, const char *line)
{
	session_type(session, line);
	session_press(session, "Enter");
}

static void change_directory(const struct session *session, const char *directory)
{
	enter(session, kept("/cd %s", directory));
	WAIT_FOR(session_shows(session, kept("Moved to %s", directory)), "not moved:\n%s",
		 or_empty(session_screen(session)));
}

static void assert_stands_in(const struct session *session, const char *directory)
{
	const char *stands = machine_root_ok(
		WORDS("readlink", "-n", kept("/proc/%d/cwd", (int)session_agent(session).pid)));
	ASSERT(streq(stands, directory), "the agent stands in %s, not in %s", stands, directory);
}

/* The agent finds a conversation only in its present directory, as claude 2.1.197 does. */
static const char *bound(void)
{
	const char *other = at_home("other");
	machine_set("AGENTDECK_DEMO_OWN_DIRECTORY", "1");
	machine_make_directory(other);
	return other;
}

TEST(MovedConversationComesBackWhereItIs)
{
	struct session session;
	const char *other = bound();
	begin(&session, "deck", WORDS("--agent", "demo"));
	const char *session_id = session.session_id;
	change_directory(&session, other);
	/* Killed before the agent has reported anything from there. */
	session_kill_server(&session);
	session_start(&session, NULL);
	assert_stands_in(&session, other);
	assert_came_back(&session, session_id, MARKER, 1);
	/* It reports from there; then it moves to the next directory, and begins another
	 * conversation. */
	const char *third = at_home("third");
	machine_make_directory(third);
	change_directory(&session, third);
	enter(&session, "/clear");
	WAIT_FOR(session_look(&session) && !streq(session.session_id, session_id),
		 "the conversation after the move is not followed:\n%s",
		 or_empty(session_screen(&session)));
	const char *next = session.session_id;
	session_say(&session, "after the clear");
	session_restart(&session, NULL);
	assert_stands_in(&session, third);
	assert_came_back(&session, next, "after the clear", 1);
}

TEST(CopyOfAMovedConversationBeginsWhereItIs)
{
	struct session session, fork = { .title = "deck-fork" };
	const char *other = bound();
	begin(&session, "deck", WORDS("--agent", "demo"));
	change_directory(&session, other);
	fork.id = json_get_string(deck_ok(NULL, WORDS("session", "fork", session.id, "--json")),
				  "id", "");
	fork.directory = session.directory;
	session_look(&fork);
	assert_stands_in(&fork, other);
	WAIT_FOR(session_shows(&fork, MARKER), "the copy is empty:\n%s",
		 or_empty(session_screen(&fork)));
	session_say(&fork, "only in the copy");
	session_look(&fork);
	const char *copied = fork.session_id;
	session_kill_server(&fork);
	session_start(&fork, NULL);
	assert_stands_in(&fork, other);
	assert_came_back(&fork, copied, MARKER, 2);
}

TEST(ToolThatChangesItsDirectoryMovesNothing)
{
	struct session session;
	const char *other = bound();
	begin(&session, "deck", WORDS("--agent", "demo"));
	struct json_object *shown = session_look(&session);
	const char *token = machine_root_ok(WORDS(
		"sh", "-c",
		"tr '\\0' '\\n' </proc/$1/environ | sed -n 's/^AGENTDECK_REPORT_TOKEN=//p' | tr -d '\\n'",
		"sh", kept("%d", (int)session.agent_pid)));
	machine_set("AGENTDECK_REPORT_TOKEN", token);
	struct json_object *report = json_object_new_object();
	json_set_string(report, "hook_event_name", "UserPromptSubmit");
	json_set_string(report, "session_id", session.session_id);
	json_set_string(report, "cwd", other);
	json_set_string(report, "transcript_path", json_get_string(shown, "transcript_path", ""));
	machine_write(at_home("report.json"), 0600, json_print(report));
	json_object_put(report);
	machine_user_ok(WORDS("sh", "-c", "agentdeck hook --instance \"$1\" <\"$2\"", "sh",
			      session.id, at_home("report.json")));
	session_kill_server(&session);
	session_start(&session, NULL);
	assert_stands_in(&session, session.directory);
	assert_came_back(&session, session.session_id, MARKER, 1);
}

TEST(MissingPlaceOfAConversationIsNamed)
{
	struct session session;
	const char *other = bound();
	begin(&session, "deck", WORDS("--agent", "demo"));
	const char *session_id = session.session_id;
	change_directory(&session, other);
	session_say(&session, "second");
	session_kill_server(&session);
	const char *away = at_home("away");
	machine_user_ok(WORDS("mv", other, away));
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status != 0 &&
		       strstr(reply.errors, kept("was last in %s, which is missing", other)) &&
		       strstr(reply.errors, session_id),
	       "status %d: %s", reply.status, reply.errors);
	reply = deck(NULL, WORDS("recover", "--json"));
	ASSERT(strstr(reply.output, "is missing"), "recover says nothing of it: %s%s", reply.output,
	       reply.errors);
	session_look(&session);
	ASSERT(streq(session.session_id, session_id), "the conversation became %s",
	       session.session_id);
	machine_user_ok(WORDS("mv", away, other));
	session_start(&session, NULL);
	assert_stands_in(&session, other);
	assert_came_back(&session, session_id, MARKER, 2);
}

static const char *made_directories(const struct session *session)
{
	return machine_user_ok(WORDS("ls", kept("%s/.demo/worktrees", session->directory)));
}

/* The agent makes its own directory: only once, and the session is resumed there. */
static void live_in_a_directory_of_its_own(struct session *session, const char *const *words)
{
	session_add(session, NULL, "deck", words);
	session_start(session, NULL);
	const char *made = made_directories(session);
	const char *own = kept("%s/.demo/worktrees/%.*s", session->directory,
			       (int)strcspn(made, "\n"), made);
	assert_stands_in(session, own);
	/* Killed before its first turn. */
	session_kill_server(session);
	session_start(session, NULL);
	assert_no_flag(session, "-w");
	assert_stands_in(session, own);
	session_say(session, MARKER);
	session_look(session);
	const char *session_id = session->session_id;
	session_kill_server(session);
	session_start(session, NULL);
	assert_stands_in(session, own);
	assert_came_back(session, session_id, MARKER, 1);
	session_restart(session, NULL);
	assert_came_back(session, session_id, MARKER, 2);
	ASSERT(streq(made_directories(session), made), "made: %s before: %s",
	       made_directories(session), made);
}

TEST(WorktreeIsMadeOnce)
{
	struct session session;
	(void)bound();
	live_in_a_directory_of_its_own(&session, WORDS("--agent", "demo", "--", "-w"));
}

TEST(NamedWorktreeIsMadeOnce)
{
	struct session session;
	(void)bound();
	live_in_a_directory_of_its_own(&session, WORDS("--agent", "demo", "--", "-w", "feature"));
	ASSERT(streq(made_directories(&session), "feature\n"), "it made %s",
	       made_directories(&session));
}

/* Kill it and rename its directory. */
static const char *rename_directory(struct session *session)
{
	const char *renamed = at_home("renamed");
	session_kill_server(session);
	machine_user_ok(WORDS("mv", session->directory, renamed));
	struct reply reply = deck(NULL, WORDS("session", "start", session->id));
	ASSERT(reply.status != 0 &&
		       strstr(reply.errors, kept("agentdeck session set %s path", session->title)),
	       "status %d: %s", reply.status, reply.errors);
	return renamed;
}

TEST(RenamedDirectoryIsSetAndComesBack)
{
	struct session session;
	begin(&session, "deck", WORDS("--agent", "demo"));
	const char *session_id = session.session_id;
	struct reply reply = deck(NULL, WORDS("session", "set", session.id, "path", home()));
	ASSERT(reply.status != 0 && strstr(reply.errors, "stop it first"), "status %d: %s",
	       reply.status, reply.errors);
	const char *renamed = rename_directory(&session);
	reply = deck(NULL, WORDS("session", "set", session.id, "path", at_home("not-there")));
	ASSERT(reply.status != 0 && strstr(reply.errors, "is not an existing directory"),
	       "status %d: %s", reply.status, reply.errors);
	(void)deck_ok(NULL, WORDS("session", "set", session.id, "path", renamed, "--json"));
	session.directory = renamed;
	session_start(&session, NULL);
	assert_stands_in(&session, renamed);
	assert_came_back(&session, session_id, MARKER, 1);
	session_restart(&session, NULL);
	assert_stands_in(&session, renamed);
	assert_came_back(&session, session_id, MARKER, 2);
}

TEST(RenamedDirectoryOfABoundAgentIsCopiedTo)
{
	struct session session;
	(void)bound();
	begin(&session, "deck", WORDS("--agent", "demo"));
	const char *session_id = session.session_id;
	const char *before = json_get_string(session_look(&session), "transcript_path", "");
	const char *words = machine_read(before);
	const char *renamed = rename_directory(&session);
	struct reply reply = deck(NULL, WORDS("session", "set", session.id, "path", renamed));
	ASSERT(reply.status == 0 && strstr(reply.output, "--copy-transcript"), "status %d: %s%s",
	       reply.status, reply.output, reply.errors);
	/* It is not found from there, and no other conversation takes its place. */
	reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "does not find its conversation"),
	       "status %d: %s%s", reply.status, reply.output, reply.errors);
	session_look(&session);
	ASSERT(streq(session.session_id, session_id), "the conversation became %s",
	       session.session_id);
	session_stop(&session, NULL);
	reply = deck(NULL,
		     WORDS("session", "set", session.id, "path", renamed, "--copy-transcript"));
	ASSERT(reply.status == 0 && strstr(reply.output, "was copied to"), "status %d: %s%s",
	       reply.status, reply.output, reply.errors);
	session.directory = renamed;
	session_start(&session, NULL);
	assert_stands_in(&session, renamed);
	assert_came_back(&session, session_id, MARKER, 1);
	ASSERT(streq(or_empty(machine_read(before)), words), "the earlier transcript was changed");
}

/* The demo agent in a pane outside of agentdeck: a conversation without a session. */
static void talk_by_hand(const char *directory, const char *session_id, const char *text)
{
	machine_make_directory(directory);
	machine_user_ok(
		WORDS("sh", "-c",
		      "cd \"$1\" && exec agentdeck-demo-agent --print --session-id \"$2\" \"$3\"",
		      "sh", directory, session_id, text));
}

TEST(ContinueTakesTheLatestThatNobodyHas)
{
	struct session session = { .title = "deck", .directory = at_home("deck") };
	const char *const words[] = { "add",  session.directory, "-t", "deck",       "--agent",
				      "demo", "--json",          "--", "--continue", NULL };
	const char *older = new_uuid(), *latest = new_uuid();
	machine_make_directory(session.directory);
	struct reply reply = deck(NULL,
				  WORDS("add", session.directory, "--agent", "demo", "--", "-c"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "has no conversation in"), "status %d: %s",
	       reply.status, reply.errors);
	talk_by_hand(session.directory, older, "not this one");
	talk_by_hand(session.directory, latest, MARKER);
	session.id = json_get_string(deck_ok(NULL, words), "id", "");
	session_start(&session, NULL);
	assert_came_back(&session, latest, MARKER, 1);
	assert_no_flag(&session, "--continue");
	/* A later conversation without a session changes nothing. */
	talk_by_hand(session.directory, new_uuid(), "nor this one");
	session_kill_server(&session);
	session_start(&session, NULL);
	assert_came_back(&session, latest, MARKER, 2);
}

TEST(ContinueIsRefusedWhereAnotherSessionHasIt)
{
	struct session session;
	begin(&session, "deck", WORDS("--agent", "demo"));
	session_stop(&session, NULL);
	struct reply reply = deck(NULL, WORDS("launch", session.directory, "-t", "two", "-c",
					      "agentdeck-demo-agent -c"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "agentdeck session fork") &&
		       strstr(reply.errors, session.session_id),
	       "status %d: %s%s", reply.status, reply.output, reply.errors);
	/* A copy has its own conversation. */
	struct session copy = { .title = "copy", .directory = session.directory };
	copy.id = json_get_string(
		deck_ok(NULL, WORDS("add", session.directory, "-t", "copy", "--json", "-c",
				    "agentdeck-demo-agent --continue --fork-session")),
		"id", "");
	session_start(&copy, NULL);
	ASSERT(!streq(copy.session_id, session.session_id), "both have the conversation %s",
	       copy.session_id);
	session_say(&copy, "only in the copy");
	const char *copied = copy.session_id;
	session_kill_server(&copy);
	session_start(&copy, NULL);
	assert_came_back(&copy, copied, MARKER, 2);
	session_start(&session, NULL);
	assert_came_back(&session, session.session_id, MARKER, 1);
}

TEST(OneShotIsNotMadeASession)
{
	const char *directory = at_home("deck");
	machine_make_directory(directory);
	struct reply reply = deck(NULL, WORDS("launch", directory, "-c",
					      "agentdeck-demo-agent -p 'say it'"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "answers once and ends with '-p'"),
	       "status %d: %s%s", reply.status, reply.output, reply.errors);
	reply = deck_look(WORDS("list", "--json"));
	ASSERT(reply.json && json_object_array_length(reply.json) == 0, "a session is left: %s",
	       reply.output);
	/* As a plain command it runs once, and is not resumed. */
	reply = deck(NULL, WORDS("launch", directory, "-t", "plain", "--agent", "shell",
				 "--no-wait", "-c", "agentdeck-demo-agent -p 'say it'"));
	ASSERT(reply.status == 0, "status %d: %s%s", reply.status, reply.output, reply.errors);
	const char *shown = "";
	WAIT_FOR(strstr(shown = deck_look(WORDS("session", "show", "plain", "--json")).output,
			"\"stopped\""),
		 "it did not end: %s", shown);
}
