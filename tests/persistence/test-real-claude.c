/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The real claude resumes its conversation.
 */
#include "persistence/claude.h"

#include <string.h>

static void begin(struct claude *claude)
{
	claude_prepare(claude, "127.0.0.1");
	session_add(&claude->session, NULL, "real", WORDS("--agent", "claude"));
	session_start(&claude->session, NULL);
	assert_flag(&claude->session, "--session-id", claude->session.session_id);
	assert_isolated(&claude->session);
}

static void kill_and_start(struct claude *claude, const char *session_id)
{
	session_kill_server(&claude->session);
	session_start(&claude->session, NULL);
	ASSERT(streq(or_empty(claude->session.session_id), session_id), "conversation %s became %s",
	       session_id, or_empty(claude->session.session_id));
	assert_flag(&claude->session, "--resume", session_id);
	assert_no_flag(&claude->session, "--session-id");
	assert_isolated(&claude->session);
}

TEST(RealClaudeResumesConversation)
{
	struct claude claude = { 0 };
	begin(&claude);
	const char *session_id = claude.session.session_id;
	assert_carried(claude_say(&claude, "first words", 1), session_id, WORDS("first words"));
	kill_and_start(&claude, session_id);
	WAIT_FOR(session_shows(&claude.session, "first words"),
		 "the history is not on the screen:\n%s",
		 or_empty(session_screen(&claude.session)));
	assert_carried(claude_say(&claude, "second words", 2), session_id,
		       WORDS("first words", "second words"));
	/* Once more: the first resume must not have cost the second. */
	kill_and_start(&claude, session_id);
	assert_carried(claude_say(&claude, "third words", 3), session_id,
		       WORDS("first words", "second words", "third words"));
}

TEST(RealClaudeComesBackToWhatFollowedClear)
{
	struct claude claude = { 0 };
	begin(&claude);
	const char *before = claude.session.session_id;
	assert_carried(claude_say(&claude, "before the clear", 1), before,
		       WORDS("before the clear"));
	session_type(&claude.session, "/clear");
	session_press(&claude.session, "Enter");
	WAIT_FOR(session_look(&claude.session) && !streq(claude.session.session_id, before),
		 "/clear does not change the conversation's id:\n%s",
		 or_empty(session_screen(&claude.session)));
	const char *after = claude.session.session_id;
	assert_carried(claude_say(&claude, "after the clear", 2), after, WORDS("after the clear"));
	kill_and_start(&claude, after);
	assert_carried(claude_say(&claude, "and again", 3), after,
		       WORDS("after the clear", "and again"));
}

/* Its user runs it in a tmux of the user's, and agentdeck did not start it. */
static struct process resume_by_hand(const struct session *session)
{
	int64_t pid = 0;
	const char *shown = machine_user_ok(
		WORDS("tmux", "new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", "hand", "-c",
		      session->directory, "claude", "--resume", session->session_id));
	ASSERT(parse_int64(kept("%.*s", (int)strcspn(shown, "\n"), shown), 1, INT32_MAX, &pid),
	       "tmux: %s", shown);
	WAIT_FOR(machine_user(
			 WORDS("grep", "-rlF", session->session_id, at_home(".claude/sessions")))
				 .status == 0,
		 "claude notes no process for its conversation");
	return machine_process((pid_t)pid);
}

TEST(RealClaudeIsNotStartedBesideOneByHand)
{
	struct claude claude = { 0 };
	begin(&claude);
	const char *session_id = claude.session.session_id;
	assert_carried(claude_say(&claude, "first words", 1), session_id, WORDS("first words"));
	session_stop(&claude.session, NULL);
	struct process hand = resume_by_hand(&claude.session);
	struct reply reply = deck(NULL, WORDS("session", "start", claude.session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, kept("process %d", (int)hand.pid)),
	       "a second claude was started: %s%s", reply.output, reply.errors);
	ASSERT(streq((session_look(&claude.session), claude.session.status), "stopped"),
	       "status %s", claude.session.status);
	machine_destroy(&hand);
	session_start(&claude.session, NULL);
	assert_flag(&claude.session, "--resume", session_id);
	assert_carried(claude_say(&claude, "second words", 2), session_id,
		       WORDS("first words", "second words"));
}

/* ---- from agent-deck -------------------------------------------------------------------------- */

/* What the fixtures have: sessions of agent-deck 1.14, with the real claude's conversations. */
static const struct theirs {
	const char *profile, *id, *first;
} theirs[] = {
	{ "default", "f5caa527-2cac-4351-8c39-fd917e6d89cd", "first words of plain" },
	{ "default", "59d51f29-f04d-4213-9f3d-71725755a4f7", "first words of plain" },
	{ "default", "00387c64-8630-4c3d-82d0-319afd81cc82",
	  "first words of Zoë: fix “the docs” 日本" },
	{ "default", "b3fd376c-b80c-461e-bab7-47a1f4dddd29", "first words of feature" },
	{ "default", "5dea2126-ec58-4d81-8d09-81576c44a424", "first words of to-archive" },
	{ "work", "5080191e-57d3-438e-b422-945b5eda4be6", "first words of work office" },
	{ "work", "3d3ad892-e486-4b9e-8a98-16da3bdefe9c", "first words of work api-claude" },
	/* In the old layout. */
	{ "default", "4b0e0069-0545-485d-9f8f-299003cde17a", "hello from legacy-one" },
	{ "default", "f41b829a-9a23-4bea-a601-7719951bda1d", "hello from legacy-two" },
	{ "side", "971701bb-fe06-4593-b8cc-02bbd543c145", "hello from side" },
};

static void place_fixture(const char *name)
{
	const char *fixture = kept("fixtures/%s/home/dev", name);
	struct answer answer = outside(WORDS(machine_source("helper/place-fixture"),
					     machine_source(fixture), home(), machine_path(home()),
					     kept("%u", machine_uid())),
				       PATIENCE_MS);
	ASSERT(answer.status == 0, "place-fixture: %s", answer.errors);
}

static void place_their_files(void)
{
	static const char *const directories[] = {
		"proj", "api", "web", "exp", "my docs", "api/.worktrees/feature-login"
	};
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		machine_make_directory(at_home(directories[i]));
	place_fixture("agent-deck-1.14.0/xdg");
	place_fixture("agent-deck-1.14.0/legacy");
	/* The other home has seen its directories, too. */
	machine_write(at_home(".claude-work/.claude.json"), 0600,
		      machine_read(at_home(".claude.json")));
}

/* Adds the sessions that this made; returns their number. */
static size_t import_from(const char *source, const char *from, struct json_object *ret)
{
	struct json_object *plan = deck_ok(
		NULL, from ? WORDS("import", source, "--from", from, "--apply", "--json")
			   : WORDS("import", source, "--apply", "--json"));
	struct json_object *steps = json_get_array(plan, "sessions");
	size_t made = 0;
	for (size_t i = 0; i < json_object_array_length(steps); i++) {
		struct json_object *step = json_object_array_get_idx(steps, i);
		if (!json_get_string(step, "id", NULL))
			continue;
		json_object_array_add(ret, json_object_get(step));
		made++;
	}
	return made;
}

static const char *made_of(struct json_object *made, const char *session_id)
{
	for (size_t i = 0; i < json_object_array_length(made); i++) {
		struct json_object *step = json_object_array_get_idx(made, i);
		if (streq(json_get_string(step, "session_id", ""), session_id))
			return json_get_string(step, "id", NULL);
	}
	fail_test("nothing was made of %s: %s", session_id, json_print(made));
}

/* The last request carried both, in this conversation. */
static void assert_goes_on(struct json_object *request, const struct theirs *it, const char *words)
{
	cleanup_strvec struct strvec sent = { 0 };
	json_get_strings(request, "texts", &sent);
	ASSERT(streq(json_get_string(request, "session", ""), it->id), "not conversation %s: %s",
	       it->id, json_print(request));
	ASSERT(sent.count >= 2 && streq(sent.items[0], it->first) &&
		       streq(sent.items[sent.count - 1], words),
	       "the model was sent another conversation: %s", json_print(request));
}

static void assert_continues(struct claude *claude, struct json_object *made,
			     const struct theirs *it, unsigned turn)
{
	const char *words = kept("words %u here", turn);
	claude->session = (struct session){ .id = made_of(made, it->id) };
	machine_set("AGENTDECK_PROFILE", it->profile);
	session_start(&claude->session, NULL);
	assert_flag(&claude->session, "--resume", it->id);
	assert_goes_on(claude_say(claude, words, turn), it, words);
	session_stop(&claude->session, NULL);
}

TEST(RealClaudeContinuesTenSessionsOfAgentDeck)
{
	struct claude claude = { 0 };
	struct json_object *made = json_object_new_array();
	keep_json(made);
	claude_prepare(&claude, "127.0.0.1");
	place_their_files();
	import_from("agent-deck", NULL, made);
	import_from("agent-deck", at_home(".agent-deck"), made);
	ASSERT(import_from("agent-deck", NULL, made) +
			       import_from("agent-deck", at_home(".agent-deck"), made) ==
		       0,
	       "a second import makes sessions: %s", json_print(made));
	for (unsigned i = 0; i < ARRAY_SIZE(theirs); i++)
		assert_continues(&claude, made, &theirs[i], i + 1);
}

/* ---- from the saves of tmux ------------------------------------------------------------------- */

TEST(RealClaudeContinuesWhatASaveNames)
{
	static const struct theirs saved[] = {
		{ "default", "ac313423-98ff-48e3-a74c-d1c7388e27d8", "resurrect words one" },
		{ "default", "8cb27eab-b98d-499d-8994-3aa0a1346725", "resurrect words two" },
	};
	static const char *const directories[] = { "proj", "my docs", "web", "exp" };
	struct claude claude = { 0 };
	struct json_object *made = json_object_new_array();
	keep_json(made);
	claude_prepare(&claude, "127.0.0.1");
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		machine_make_directory(at_home(directories[i]));
	place_fixture("tmux-assistant-resurrect-a7691f3");
	ASSERT(import_from("tmux-assistant-resurrect", NULL, made) > 0, "it makes no session");
	ASSERT(import_from("tmux-assistant-resurrect", NULL, made) == 0,
	       "a second import makes sessions: %s", json_print(made));
	for (unsigned i = 0; i < ARRAY_SIZE(saved); i++)
		assert_continues(&claude, made, &saved[i], i + 1);
}
