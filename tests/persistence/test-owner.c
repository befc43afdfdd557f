/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conversations that another session owns: picked inside an agent, or given by the user.
 */
#include "persistence/deck.h"

#include <ctype.h>
#include <string.h>

#define OWNERS "the owner's words"
#define TAKERS "the taker's words"

static void begin(struct session *session, const char *title, const char *text)
{
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, text);
	(void)session_look(session);
}

/* Start a session in the directory of another one. */
static void begin_beside(struct session *session, const struct session *other, const char *title,
			 const char *text)
{
	struct json_object *added = deck_ok(NULL, WORDS("add", other->directory, "-t", title,
							"--agent", "demo", "--json"));
	*session = (struct session){ .title = title,
				     .directory = other->directory,
				     .id = json_get_string(added, "id", "") };
	session_start(session, NULL);
	session_say(session, text);
	(void)session_look(session);
}

static void pick(const struct session *session, const char *session_id)
{
	session_type(session, kept("/resume %s", session_id));
	session_press(session, "Enter");
}

static const char *shared_id(struct session *session)
{
	return json_get_string(json_get_object(session_look(session), "shares"), "session_id", "");
}

/* Pick the owner's conversation; it is then marked. */
static void take(struct session *taker, const struct session *owner)
{
	const char *own = taker->session_id;
	pick(taker, owner->session_id);
	WAIT_FOR(streq(shared_id(taker), owner->session_id), "%s is not marked: %s", taker->title,
		 json_print(session_look(taker)));
	ASSERT(streq(taker->session_id, own), "%s has the conversation %s now", taker->title,
	       or_empty(taker->session_id));
	const char *told = kept("shares conversation %s of '%s' (%s)", owner->session_id,
				owner->title, owner->id);
	ASSERT(streq(json_get_string(session_look(taker), "reason", ""), told), "the reason is: %s",
	       json_print(session_look(taker)));
	const char *shown = machine_user_ok(WORDS("agentdeck", "session", "show", taker->id));
	ASSERT(strstr(shown, told) && strstr(shown, kept("session fork %s", owner->id)),
	       "shown is:\n%s", shown);
}

static void assert_told(struct session *taker, const struct session *owner)
{
	struct json_object *resume = json_get_object(session_look(taker), "resume");
	const char *note = json_get_string(resume, "history_note", "");
	ASSERT(strstr(note, owner->session_id) && strstr(note, kept("session fork %s", owner->id)),
	       "the note is '%s'", note);
	ASSERT(session_shows(taker, "belongs to that session"), "it is not on the screen:\n%s",
	       or_empty(session_screen(taker)));
	ASSERT(!*shared_id(taker), "%s is marked still", taker->title);
}

TEST(PickedConversationComesBackToItsOwner)
{
	struct session owner, near, far;
	begin(&owner, "deck", OWNERS);
	begin_beside(&near, &owner, "near", "near words");
	begin(&far, "far", TAKERS);
	const char *path = at_home("events");
	(void)machine_background(WORDS("agentdeck", "events"), path);
	take(&near, &owner);
	take(&far, &owner);
	WAIT_FOR(strstr(or_empty(machine_read(path)),
			kept("far: shares conversation %s of 'deck'", owner.session_id)),
		 "events tell: %s", or_empty(machine_read(path)));
	const char *list = machine_user_ok(WORDS("agentdeck", "list"));
	ASSERT(strstr(list, kept("shares conversation %s of 'deck'", owner.session_id)), "list: %s",
	       list);
	const char *ids[] = { owner.session_id, near.session_id, far.session_id };
	machine_powercut();
	machine_boot();
	struct reply reply = deck(NULL, WORDS("recover", "--json"));
	ASSERT(reply.status == 0, "recover: %s%s", reply.output, reply.errors);
	assert_came_back(&owner, ids[0], OWNERS, 1);
	assert_came_back(&near, ids[1], "near words", 1);
	assert_came_back(&far, ids[2], TAKERS, 1);
	assert_told(&near, &owner);
	assert_told(&far, &owner);
}

/* What is said there is the owner's, and the owner has it at its next start, whether or not the
 * taker is still in it. */
TEST(PickedConversationOfAStoppedSessionStaysWithIt)
{
	struct session owner, taker;
	begin(&owner, "deck", OWNERS);
	begin(&taker, "far", TAKERS);
	const char *ids[] = { owner.session_id, taker.session_id };
	session_stop(&owner, NULL);
	take(&taker, &owner);
	session_say(&taker, "said by the taker");
	ASSERT(streq(shared_id(&taker), ids[0]), "a turn has changed it: %s",
	       json_print(session_look(&taker)));
	struct reply reply = deck(NULL, WORDS("session", "start", owner.id));
	ASSERT(reply.status == 0 && strstr(reply.errors, "where its user chose it"),
	       "status %d: %s%s", reply.status, reply.output, reply.errors);
	session_restart(&taker, NULL);
	assert_told(&taker, &owner);
	assert_came_back(&taker, ids[1], TAKERS, 1);
	assert_came_back(&owner, ids[0], OWNERS, 2);
	/* The owner is removed: a conversation without an owner becomes the taker's. */
	take(&taker, &owner);
	(void)deck_ok(NULL, WORDS("remove", "--force", owner.id, "--json"));
	session_kill_server(&taker);
	session_start(&taker, NULL);
	assert_came_back(&taker, ids[0], OWNERS, 3);
}

TEST(MarkGoesWithTheConversation)
{
	struct session owner, taker;
	begin(&owner, "deck", OWNERS);
	begin(&taker, "far", TAKERS);
	const char *own = taker.session_id;
	take(&taker, &owner);
	pick(&taker, own);
	WAIT_FOR(!*shared_id(&taker), "back in its own, and marked: %s",
		 json_print(session_look(&taker)));
	take(&taker, &owner);
	session_stop(&taker, NULL);
	ASSERT(!*shared_id(&taker), "stopped, and marked: %s", json_print(session_look(&taker)));
	session_start(&taker, NULL);
	assert_told(&taker, &owner);
	take(&taker, &owner);
	session_type(&taker, "/clear");
	session_press(&taker, "Enter");
	WAIT_FOR(!*shared_id(&taker), "cleared, and marked: %s", json_print(session_look(&taker)));
	ASSERT(!streq(taker.session_id, own) && !streq(taker.session_id, owner.session_id),
	       "it is in %s", taker.session_id);
	session_say(&taker, "after the clear");
	const char *cleared = taker.session_id;
	session_kill_server(&taker);
	session_start(&taker, NULL);
	assert_came_back(&taker, cleared, "after the clear", 1);
}

static bool has_conversation(struct session *session, const char *id)
{
	(void)session_look(session);
	return streq(or_empty(session->session_id), id);
}

/* A conversation without a session: the first one that picks it gets it, and the other is
 * marked. */
TEST(ConversationPickedByTwoAtOnceHasOneOwner)
{
	enum { ROUNDS = 5 };
	struct session one, two;
	begin(&one, "one", "I am one");
	begin(&two, "two", "I am two");
	for (int i = 0; i < ROUNDS; i++) {
		struct session loose;
		begin(&loose, kept("loose-%d", i), OWNERS);
		const char *id = loose.session_id;
		(void)deck_ok(NULL, WORDS("remove", "--force", loose.id, "--json"));
		session_type(&one, kept("/resume %s", id));
		session_type(&two, kept("/resume %s", id));
		session_press(&one, "Enter");
		session_press(&two, "Enter");
		WAIT_FOR(streq(shared_id(&one), id) || streq(shared_id(&two), id),
			 "neither is marked: %s, %s", json_print(session_look(&one)),
			 json_print(session_look(&two)));
		WAIT_FOR(has_conversation(&one, id) || has_conversation(&two, id),
			 "neither has it: %s, %s", json_print(session_look(&one)),
			 json_print(session_look(&two)));
		(void)session_look(&one);
		(void)session_look(&two);
		ASSERT(!streq(one.session_id, two.session_id), "both have %s", one.session_id);
	}
}

static const char *in_capitals(const char *text)
{
	char *copy = keep(xstrdup(text));
	for (char *c = copy; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return copy;
}

static void assert_refused(const struct session *owner, const char *const *words)
{
	struct reply reply = deck(NULL, words);
	ASSERT(reply.status == 1 && strstr(reply.errors, kept("of 'deck' (%s)", owner->id)) &&
		       strstr(reply.errors, "session fork"),
	       "status %d: %s%s", reply.status, reply.output, reply.errors);
}

TEST(ConversationOfAStoppedSessionIsNotGivenTwice)
{
	struct session owner, other;
	begin(&owner, "deck", OWNERS);
	session_stop(&owner, NULL);
	const char *id = owner.session_id, *capitals = in_capitals(id), *here = owner.directory;
	session_add(&other, NULL, "other", WORDS("--agent", "demo"));
	const char *given[] = { id, capitals };
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		const char *command = kept("agentdeck-demo-agent --resume %s", given[i]);
		assert_refused(&owner, WORDS("add", here, "-t", "x", "--agent", "demo",
					     "--session-id", given[i]));
		assert_refused(&owner, WORDS("add", here, "-t", "x", "-c", command));
		assert_refused(&owner, WORDS("launch", here, "-t", "x", "-c", command));
		assert_refused(&owner, WORDS("session", "set", other.id, "session-id", given[i]));
	}
	assert_refused(&owner,
		       WORDS("--profile", "default", "session", "set", other.id, "session-id", id));
	struct reply reply = deck(NULL, WORDS("--profile", "work", "add", here, "--agent", "demo",
					      "--session-id", id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "--profile default session fork"),
	       "status %d: %s", reply.status, reply.errors);
	ASSERT(json_object_array_length(deck_look_ok(WORDS("list", "--json"))) == 2,
	       "a session was made");
	/* Hand it over to the other one. */
	(void)deck_ok(NULL, WORDS("session", "set", owner.id, "session-id", new_uuid(), "--json"));
	(void)deck_ok(NULL, WORDS("session", "set", other.id, "session-id", id, "--json"));
	session_start(&other, NULL);
	(void)session_look(&other);
	ASSERT(streq(other.session_id, id), "it is in %s", other.session_id);
}

/* A user's cp -a, with the base corrected in the manifest, because it is refused otherwise. */
static struct session copy_of(const struct session *session, const char *base)
{
	const char *profile = at_home(".local/state/agentdeck/default");
	struct session copy = { .title = session->title,
				.directory = session->directory,
				.id = base };
	machine_user_ok(WORDS("cp", "-a", kept("%s/%s", profile, session->id),
			      kept("%s/%s", profile, base)));
	struct json_object *manifest = session_manifest(&copy);
	json_set_string(manifest, "base", base);
	session_forge(&copy, manifest);
	(void)session_look(&copy);
	return copy;
}

TEST(CopiedManifestTouchesNothingOfItsOriginal)
{
	struct session one;
	begin(&one, "deck", OWNERS);
	const char *id = one.session_id;
	struct process agent = session_agent(&one);
	struct session copy = copy_of(&one, "copy1");
	ASSERT(streq(copy.status, "stopped") && !copy.server_pid, "the copy is %s", copy.status);
	const char *list = machine_user_ok(WORDS("agentdeck", "list", "--quiet"));
	ASSERT(strstr(list, one.id) && strstr(list, "copy1"), "list: %s", list);
	struct reply reply = deck_look(WORDS("session", "show", "deck"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "deck (copy1)") &&
		       strstr(reply.errors, kept("deck (%s)", one.id)),
	       "show: %s", reply.errors);
	reply = deck(NULL, WORDS("session", "start", "copy1"));
	ASSERT(reply.status == 1 &&
		       strstr(reply.errors, kept("open in session 'deck' (%s)", one.id)),
	       "start: %s%s", reply.output, reply.errors);
	session_stop(&copy, NULL);
	(void)deck_ok(NULL, WORDS("remove", "--force", "copy1", "--json"));
	ASSERT(machine_alive(&agent), "the original's agent has ended");
	(void)session_look(&one);
	ASSERT(streq(one.status, "running") && machine_alive(&agent), "the original is %s",
	       one.status);
	/* When it is started without the original, it is a session with its own places. */
	copy = copy_of(&one, "copy1");
	session_stop(&one, NULL);
	session_start(&copy, NULL);
	assert_came_back(&copy, id, OWNERS, 1);
	agent = session_agent(&copy);
	(void)deck_ok(NULL, WORDS("remove", "--force", one.id, "--json"));
	ASSERT(machine_alive(&agent), "the copy's agent has ended with the original");
	reply = deck_look(WORDS("session", "show", one.id, "--json"));
	ASSERT(streq(json_get_string(reply.json, "id", ""), "copy1"), "show: %s%s", reply.output,
	       reply.errors);
}
