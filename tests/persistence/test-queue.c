/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Messages that wait until their agent is idle: each is typed once, one for each turn, and none is
 * lost without a word.
 */
#include "persistence/attach.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <string.h>

/* An agent that thinks so long about a reply. */
static void begin(struct session *session, const char *delay_ms)
{
	machine_set("AGENTDECK_DEMO_DELAY_MS", delay_ms);
	session_make_running(session);
	WAIT_FOR(session_shows(session, "❯"), "the agent shows no prompt:\n%s",
		 or_empty(session_screen(session)));
}

static bool does(const struct session *session, const char *activity)
{
	struct json_object *shown = deck_look_ok(WORDS("session", "show", "--json", session->id));
	return streq(json_get_string(shown, "activity", "?"), activity);
}

#define WAIT_UNTIL(session, activity)                                              \
	WAIT_FOR(does((session), (activity)), "it is not %s:\n%s\n%s", (activity), \
		 or_empty(session_screen(session)), or_empty(deck_log()))

static void begin_turn(const struct session *session)
{
	session_type(session, "the first words");
	session_press(session, "Enter");
	WAIT_UNTIL(session, "busy");
}

static const char *const *send_words(const struct session *session, const char *text)
{
	return deck_words(WORDS("session", "send", "--when-idle", "--json", session->id, text));
}

/* The id of the message. */
static const char *queue_it(const struct session *session, const char *text)
{
	struct reply sent = deck_look(send_words(session, text) + 1);
	ASSERT(sent.status == 0 && streq(json_get_string(sent.json, "delivery", ""), "queued"),
	       "send --when-idle '%s': %s%s", text, sent.errors, sent.output);
	return json_get_string(sent.json, "message_id", "?");
}

static struct json_object *queue_of(const struct session *session)
{
	return deck_look_ok(WORDS("session", "queue", "--json", session->id));
}

static size_t queued(const struct session *session)
{
	return json_object_array_length(json_get_array(queue_of(session), "queue"));
}

/* Of the first message. */
static const char *state_of(const struct session *session)
{
	const struct json_object *list = json_get_array(queue_of(session), "queue");
	return json_object_array_length(list)
		       ? json_get_string(json_object_array_get_idx(list, 0), "state", "?")
		       : "none";
}

static size_t times(const struct session *session, const char *text)
{
	size_t count = 0;
	const char *said = kept("You said: \"%s\"", text);
	const char *screen = or_empty(session_screen(session));
	for (const char *at = screen; (at = strstr(at, said)); at++)
		count++;
	return count;
}

static const char *why_awake(const struct session *session)
{
	struct reply reply = deck_look(WORDS("revive", "--sleep", "--dry-run", session->id));
	return json_get_string(reply.json, "reason", "?");
}

#define WAIT_TOLD(session, number, text)                                                       \
	WAIT_FOR(session_shows(session, kept("reply %d. You said: \"%s\"", (number), (text))), \
		 "it was not told '%s':\n%s\n%s", (text), or_empty(session_screen(session)),   \
		 or_empty(deck_log()))

static struct process supervise(void)
{
	return machine_background(WORDS("agentdeck", "supervise"), at_home("supervise.out"));
}

TEST(QueuedMessagesComeOneForEachTurn)
{
	struct session session;
	begin(&session, "1000");
	begin_turn(&session);
	(void)queue_it(&session, "second");
	const char *id = queue_it(&session, "never");
	(void)queue_it(&session, "third");
	ASSERT(queued(&session) == 3, "%zu are queued", queued(&session));
	ASSERT(strstr(deck_look(WORDS("list")).output, "busy, 3 queued"), "the list: %s",
	       deck_look(WORDS("list")).output);
	(void)deck_look_ok(WORDS("session", "queue", "--json", "--cancel", id, session.id));
	ASSERT(queued(&session) == 2, "%zu are queued", queued(&session));
	ASSERT(times(&session, "second") == 0, "it was typed into a turn:\n%s",
	       session_screen(&session));
	struct process supervisor = supervise();
	const char *screen = "";
	WAIT_FOR(strstr(screen = or_empty(session_screen(&session)), "> second"),
		 "it was not typed:\n%s\n%s", screen, or_empty(deck_log()));
	ASSERT(strstr(screen, "reply 2") || !strstr(screen, "third"), "both came in one turn:\n%s",
	       screen);
	/* Another supervisor takes over in the middle of the turn. */
	machine_destroy(&supervisor);
	supervisor = supervise();
	WAIT_TOLD(&session, 2, "second");
	WAIT_TOLD(&session, 3, "third");
	WAIT_FOR(queued(&session) == 0, "%zu are queued", queued(&session));
	ASSERT(times(&session, "second") == 1 && times(&session, "third") == 1 &&
		       !session_shows(&session, "never"),
	       "not each once:\n%s", session_screen(&session));
	/* An agent that is idle gets it at once. */
	WAIT_UNTIL(&session, "idle");
	struct reply sent = deck_look(send_words(&session, "fourth") + 1);
	ASSERT(sent.status == 0 && streq(json_get_string(sent.json, "delivery", ""), "submitted"),
	       "send --when-idle: %s%s", sent.errors, sent.output);
	machine_destroy(&supervisor);
}

TEST(QueueWaitsForAnAnswerAndADraft)
{
	struct session session;
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      "[session]\nsleep_after = \"1s\"\n");
	begin(&session, "150");
	session_type(&session, "/run make");
	session_press(&session, "Enter");
	WAIT_UNTIL(&session, "waiting");
	(void)queue_it(&session, "for later");
	assert_due(&session, "nothing", "it asks");
	session_press(&session, "Escape");
	WAIT_UNTIL(&session, "idle");
	session_type(&session, "half a");
	/* It is typed only into an agent that has been idle for two seconds. */
	assert_due(&session, "nothing", "it has just become idle");
	WAIT_FOR(streq(session_say_due(&session), "later"), "a draft is in its box");
	ASSERT(streq(state_of(&session), "queued"), "it is %s", state_of(&session));
	WAIT_FOR(streq(why_awake(&session),
		       "its agent waits for tasks or has prompts in its queue"),
		 "with a queue: %s", why_awake(&session));
	session_press(&session, "C-u");
	WAIT_FOR(streq(session_say_due(&session), "said"), "it is not said:\n%s\n%s",
		 or_empty(session_screen(&session)), or_empty(deck_log()));
	ASSERT(queued(&session) == 0, "it is queued still");
	WAIT_FOR(times(&session, "for later") == 1, "it did not come:\n%s",
		 or_empty(session_screen(&session)));
}

TEST(QueueOutlivesARestartOfTheMachine)
{
	struct session session;
	begin(&session, "60000");
	begin_turn(&session);
	(void)queue_it(&session, "after the night");
	machine_powercut();
	machine_boot();
	machine_set("AGENTDECK_DEMO_DELAY_MS", "150");
	session_start(&session, NULL);
	ASSERT(queued(&session) == 1, "%zu are queued", queued(&session));
	WAIT_FOR(streq(session_say_due(&session), "said"), "it is not said:\n%s\n%s",
		 or_empty(session_screen(&session)), or_empty(deck_log()));
	WAIT_FOR(times(&session, "after the night") == 1, "it did not come:\n%s",
		 or_empty(session_screen(&session)));
}

/* Its process was killed between the first key and the note that the agent has it. */
TEST(QueuedMessageThatWasCutOffIsNotTypedAgain)
{
	struct session session;
	begin(&session, "1000");
	begin_turn(&session);
	const char *id = queue_it(&session, "half done");
	(void)queue_it(&session, "behind it");
	struct json_object *manifest = session_manifest(&session);
	json_set_string(json_object_array_get_idx(json_get_array(manifest, "queue"), 0), "state",
			"typing");
	session_forge(&session, manifest);
	WAIT_UNTIL(&session, "idle");
	assert_due(&session, "unknown", "cut off");
	assert_due(&session, "unknown", "cut off, once more");
	ASSERT(queued(&session) == 2 && streq(state_of(&session), "unknown"), "%zu, the first %s",
	       queued(&session), state_of(&session));
	(void)deck_look_ok(WORDS("session", "queue", "--json", "--cancel", id, session.id));
	WAIT_FOR(streq(session_say_due(&session), "said"), "the next is not said:\n%s",
		 or_empty(deck_log()));
	WAIT_TOLD(&session, 2, "behind it");
	ASSERT(times(&session, "half done") == 0, "it was typed:\n%s", session_screen(&session));
}

/* Killed anywhere, the message is in the queue, was typed once, or is of unknown state; and a look
 * at what is due types nothing twice. */
TEST(QueueCutAnywhereTypesNothingTwice)
{
	enum { SAMPLES = 2, LEAST = 8 };
	struct session session;
	size_t cuts = 0, unknown = 0;
	strace_required();
	begin(&session, "150");
	struct points all = strace_watch(send_words(&session, "the zeroth"));
	struct points some = strace_sample(&all, SAMPLES);
	for (size_t i = 0; i < some.count; i++) {
		const char *text = kept("cut %zu of it", i);
		const char *where = kept("send cut at %s", some.points[i].line);
		WAIT_UNTIL(&session, "idle");
		cuts += strace_kill(send_words(&session, text), &some.points[i], where);
		(void)assert_manifest(&session, session.session_id, NULL, where);
		const char *due = session_say_due(&session);
		const bool is_left = queued(&session) == 1;
		if (is_left && streq(state_of(&session), "unknown")) {
			unknown++;
			assert_due(&session, "unknown", where);
			ASSERT(times(&session, text) <= 1, "%s: twice", where);
		} else {
			ASSERT(!is_left, "%s: %s, and it is %s\n%s", where, due, state_of(&session),
			       or_empty(deck_log()));
		}
		/* The box may have the text. */
		session_press(&session, "C-u");
		(void)deck_look_ok(
			WORDS("session", "queue", "--json", "--cancel", "all", session.id));
		ASSERT(times(&session, text) <= 1, "%s: typed twice:\n%s", where,
		       session_screen(&session));
	}
	print_message("queue: %zu cuts at %zu of the %zu steps, %zu of them unknown\n", cuts,
		      some.count, all.count, unknown);
	ASSERT(cuts >= LEAST, "only %zu cuts took place", cuts);
}
