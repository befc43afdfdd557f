/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A removed session comes back, with its conversation, until "prune" deletes it.
 */
#include "persistence/deck.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <string.h>

#define MARKER "this is the marker"

enum { SAMPLES = 12 };

static void begin(struct session *session, const char *title)
{
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
	(void)session_look(session);
}

static void discard(const struct session *session)
{
	struct reply reply = deck_look(WORDS("remove", "--force", session->id));
	ASSERT(reply.status == 0, "remove: %s%s", reply.errors, reply.output);
	reply = deck_look(WORDS("session", "show", session->id));
	ASSERT(reply.status == 2, "it is still there: %s", reply.output);
}

TEST(RemovedSessionComesBackWithItsConversation)
{
	struct session session, other;
	begin(&session, "deck");
	const char *id = session.session_id;
	begin(&other, "other");
	discard(&session);
	machine_reboot();
	(void)deck_ok(NULL, WORDS("undo", "--json"));
	(void)session_look(&session);
	ASSERT(streq(session.status, "stopped"), "it came back %s", session.status);
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
	/* What was deleted for good does not come back, and leaves the other one alone. */
	discard(&session);
	struct reply reply = deck_look(WORDS("prune", "--force"));
	ASSERT(reply.status == 0, "prune: %s%s", reply.errors, reply.output);
	reply = deck_look(WORDS("undo", "deck"));
	ASSERT(reply.status == 2, "undo after prune: %d %s", reply.status, reply.output);
	session_start(&other, NULL);
	assert_came_back(&other, other.session_id, MARKER, 1);
}

/* Whoever took it in the meantime keeps it. */
TEST(UndoGivesNoConversationTwice)
{
	struct session session, taker;
	begin(&session, "deck");
	const char *id = session.session_id;
	discard(&session);
	session_add(&taker, NULL, "taker", WORDS("--agent", "demo", "--session-id", id));
	struct reply reply = deck_look(WORDS("undo", "deck"));
	ASSERT(reply.status == 1 && strstr(reply.errors, "stays in the trash") &&
		       strstr(reply.errors, "'taker'"),
	       "undo: %d %s%s", reply.status, reply.output, reply.errors);
	discard(&taker);
	(void)deck_ok(NULL, WORDS("undo", "deck", "--json"));
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
}

TEST(UndoCutAnywhereConverges)
{
	struct session session;
	size_t cuts = 0;
	strace_required();
	begin(&session, "deck");
	const char *id = session.session_id;
	discard(&session);
	struct points all = strace_watch(deck_words(WORDS("undo", session.id)));
	struct points some = strace_sample(&all, SAMPLES);
	for (size_t i = 0; i < some.count; i++) {
		const char *where = kept("undo cut at %s", some.points[i].line);
		discard(&session);
		cuts += strace_kill(deck_words(WORDS("undo", session.id)), &some.points[i], where);
		struct reply show = deck_look(WORDS("session", "show", session.id));
		struct reply reply = deck_look(WORDS("undo", session.id));
		ASSERT(reply.status == (show.status == 0 ? 2 : 0),
		       "%s: neither there nor in the trash: %s%s", where, reply.errors,
		       reply.output);
		(void)session_look(&session);
		ASSERT(streq(session.session_id, id), "%s: it has conversation %s", where,
		       session.session_id);
		session_start(&session, NULL);
		session_stop(&session, NULL);
		assert_no_remnants(where);
	}
	ASSERT(cuts * 2 >= some.count, "only %zu of %zu cuts took place", cuts, some.count);
}
