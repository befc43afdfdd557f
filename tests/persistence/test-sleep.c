/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sleep: an idle agent is stopped, and comes back with its conversation when its user wants it.
 */
#include "persistence/attach.h"
#include "persistence/census.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <string.h>

#define MARKER "the kettle is on the left"

/* It may sleep from now on, and has said something. */
static void begin(struct session *session)
{
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      "[resume]\nprobation = 1\n[session]\nsleep_after = \"1s\"\n");
	session_make_running(session);
	session_say(session, MARKER);
	session_look(session);
}

static const char *const *sleep_words(const struct session *session)
{
	return deck_words(WORDS("revive", "--sleep", session->id));
}

/* Why it does not sleep. */
static const char *why_awake(const struct session *session)
{
	struct reply reply = deck_look(WORDS("revive", "--sleep", "--dry-run", session->id));
	ASSERT(reply.json, "revive --sleep: %s%s", reply.errors, reply.output);
	return json_get_string(reply.json, "reason", "?");
}

static void await_sleepiness(const struct session *session)
{
	WAIT_FOR(streq(why_awake(session), "it is idle"), "it may not sleep: %s\n%s",
		 why_awake(session), or_empty(deck_log()));
}

static bool is_asleep(const struct session *session)
{
	struct reply reply = deck_look(WORDS("list", "--json"));
	return strstr(reply.output, kept("\"id\": \"%s\"", session->id)) &&
	       strstr(reply.output, "\"is_asleep\": true");
}

static void assert_asleep(struct session *session, const char *where)
{
	session_look(session);
	ASSERT(streq(session->status, "stopped") && is_asleep(session), "%s: it is %s\n%s", where,
	       session->status, or_empty(deck_log()));
	ASSERT(strstr(deck_look(WORDS("list")).output, "asleep"), "%s: the list does not say so",
	       where);
	assert_census(0, where);
}

static void put_to_sleep(struct session *session)
{
	await_sleepiness(session);
	struct reply reply = deck_look(sleep_words(session) + 1);
	ASSERT(json_get_bool(reply.json, "asleep", false), "it does not sleep: %s", reply.output);
	assert_asleep(session, "put to sleep");
}

TEST(IdleSessionSleepsAndASendWakesIt)
{
	struct session session;
	begin(&session);
	const char *id = session.session_id;
	put_to_sleep(&session);
	/* Neither recover nor the supervisor starts it. */
	(void)deck_look(WORDS("recover"));
	(void)deck_look(WORDS("revive", "--automatic", session.id));
	assert_asleep(&session, "after recover");
	struct reply sent = deck_look(WORDS("session", "send", session.id, "are you there"));
	ASSERT(sent.status == 0, "send: %s%s\n%s", sent.errors, sent.output, or_empty(deck_log()));
	session_look(&session);
	WAIT_FOR(session_shows(&session, "I remember 2 of"), "it has not heard it:\n%s",
		 or_empty(session_screen(&session)));
	session_look(&session);
	ASSERT(!is_asleep(&session) && streq(session.status, "running") &&
		       streq(session.session_id, id),
	       "it is %s in %s", session.status, session.session_id);
	assert_flag(&session, "--resume", id);
}

TEST(SleepingSessionStartsAndStops)
{
	struct session session;
	begin(&session);
	const char *id = session.session_id;
	put_to_sleep(&session);
	session_start(&session, NULL);
	ASSERT(!is_asleep(&session), "it was started");
	assert_came_back(&session, id, MARKER, 1);
	put_to_sleep(&session);
	/* It is one of all that a message reaches, and that a stop ends. */
	struct reply all = deck_look(WORDS("session", "send", "--all", "are you all there"));
	ASSERT(all.status == 0 && !is_asleep(&session), "send --all: %s%s", all.errors, all.output);
	put_to_sleep(&session);
	(void)deck_look_ok(WORDS("session", "stop", "--all", "--json"));
	ASSERT(!is_asleep(&session), "it was stopped");
	struct reply sent = deck_look(WORDS("session", "send", session.id, "are you there"));
	ASSERT(sent.status != 0, "a send has started a stopped session: %s", sent.output);
}

TEST(SessionInUseDoesNotSleep)
{
	struct session session;
	begin(&session);
	session_type(&session, "half a");
	WAIT_FOR(streq(why_awake(&session), "a text is in its input box"), "a draft: %s",
		 why_awake(&session));
	session_press(&session, "C-u");
	put_to_sleep(&session);
	(void)deck_look_ok(WORDS("session", "set", session.id, "sleep-after", "off", "--json"));
	session_start(&session, NULL);
	ASSERT(streq(why_awake(&session), "sleep_after is off"), "off: %s", why_awake(&session));
}

TEST(SupervisorPutsIdleSessionsToSleep)
{
	struct session session;
	begin(&session);
	struct process supervisor = machine_background(WORDS("agentdeck", "supervise"),
						       at_home("supervise.out"));
	WAIT_FOR(is_asleep(&session), "it does not sleep: %s\n%s", why_awake(&session),
		 or_empty(deck_log()));
	machine_destroy(&supervisor);
	assert_asleep(&session, "by the supervisor");
}

/* Either it sleeps or it is awake, and the next commands finish what was cut off. */
TEST(SleepCutAnywhereConverges)
{
	enum { SAMPLES = 2, LEAST = 8 };
	struct session session;
	size_t cuts = 0;
	strace_required();
	begin(&session);
	const char *id = session.session_id;
	const char *const *words = sleep_words(&session);
	await_sleepiness(&session);
	struct points all = strace_watch(words), some = strace_sample(&all, SAMPLES);
	assert_asleep(&session, "under strace");
	for (size_t i = 0; i < some.count; i++) {
		const char *where = kept("sleep cut at %s", some.points[i].line);
		session_start(&session, NULL);
		/* One that may not sleep yet would end before it comes to the step. */
		await_sleepiness(&session);
		cuts += strace_kill(words, &some.points[i], where);
		(void)assert_manifest(&session, id, NULL, where);
		/* As the supervisor does. */
		(void)deck_look(WORDS("recover"));
		(void)deck_look(WORDS("revive", "--automatic", session.id));
		session_look(&session);
		if (streq(session.status, "running"))
			assert_census(1, where);
		else
			assert_asleep(&session, where);
	}
	print_message("sleep: %zu cuts at %zu of the %zu steps\n", cuts, some.count, all.count);
	ASSERT(cuts >= LEAST, "only %zu cuts took place", cuts);
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
}
