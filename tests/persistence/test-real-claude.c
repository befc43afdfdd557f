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
