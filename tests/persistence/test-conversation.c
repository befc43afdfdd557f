/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which conversation a session resumes, whatever happened to the records of it.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER "the cat is on the roof"

static void begin(struct session *session, const char *title)
{
	install_claude_stand_in();
	session_add(session, NULL, title, WORDS("--agent", "claude"));
	session_start(session, NULL);
	session_say(session, MARKER);
	write_decoy(session);
}

static void kill_and_start(struct session *session)
{
	session_kill_server(session);
	session_start(session, NULL);
}

/* The end of its terminal would let the agent write what it holds back; a power cut gives it no
 * time. */
static void lose_power_and_start(struct session *session)
{
	(void)session_look(session);
	struct process server = session_server(session), agent = session_agent(session);
	machine_kill(&server, SIGSTOP);
	machine_destroy(&agent);
	machine_destroy(&server);
	session_start(session, NULL);
}

static void lose_sidecar(const struct session *session)
{
	machine_remove(at_home(kept(".local/state/agentdeck/hooks/%s.sid", session->id)));
}

/* Put conversations without an owner into the same directory: a program that loses the session's id
 * would take one of them. */
static void lay_bait(const struct session *session)
{
	machine_set_time(write_transcript(session, new_uuid(), "a decoy"),
			 clock_wall_us() / 1000000 + 3600);
}

/* As if the manifest came from a backup from before the first start. */
static void lose_stored_id(const struct session *session)
{
	const char *path = at_home(
		kept(".local/state/agentdeck/default/%s/instance.json", session->id));
	const char *text = or_empty(machine_read(path));
	struct json_object *manifest = NULL;
	if (json_parse(text, strlen(text), path, &manifest, NULL) < 0)
		fail_test("%s is no JSON: %s", path, text);
	keep_json(manifest);
	struct json_object *conversation = json_get_object(manifest, "conversation");
	ASSERT(json_get_string(conversation, "session_id", NULL), "%s has no id: %s", path, text);
	json_object_object_del(conversation, "session_id");
	json_object_object_del(conversation, "origin");
	json_object_object_del(conversation, "transcript_path");
	json_object_object_del(manifest, "run");
	machine_write(path, 0600, json_print(manifest));
}

TEST(TwoInstancesInOneDirectoryKeepTheirConversations)
{
	struct session one, two = { 0 };
	install_claude_stand_in();
	session_add(&one, NULL, "deck", WORDS("--agent", "claude"));
	session_start(&one, NULL);
	session_say(&one, "I am one");
	struct json_object *added = deck_ok(NULL, WORDS("add", one.directory, "-t", "two", "--json",
							"--agent", "claude"));
	two = (struct session){ .title = "two",
				.directory = one.directory,
				.id = json_get_string(added, "id", "") };
	session_start(&two, NULL);
	session_say(&two, "I am two");
	const char *first = one.session_id, *second = two.session_id;
	ASSERT(!streq(first, second), "both have the conversation %s", first);
	session_kill_server(&one);
	session_kill_server(&two);
	lose_sidecar(&one);
	lose_sidecar(&two);
	lose_stored_id(&one);
	/* The other session's transcript is the newest. */
	machine_set_time(claude_transcript(&one, first), 1776157600);
	session_start(&one, NULL);
	session_start(&two, NULL);
	assert_came_back(&one, first, "I am one", 1);
	assert_came_back(&two, second, "I am two", 1);
}

TEST(ClearThenKillThenStart)
{
	struct session session;
	begin(&session, "deck");
	const char *before = session.session_id;
	session_type(&session, "/clear");
	session_press(&session, "Enter");
	WAIT_FOR(session_look(&session) && !streq(or_empty(session.session_id), before),
		 "/clear does not change the id:\n%s", or_empty(session_screen(&session)));
	const char *after = session.session_id;
	session_say(&session, "after the clear");
	kill_and_start(&session);
	assert_came_back(&session, after, "after the clear", 1);
	ASSERT(machine_exists(claude_transcript(&session, before)), "the old one was removed");
}

/* Neither flag accepts such a file: it needs a new conversation, and its user must know. */
TEST(HeaderOnlyTranscriptGivesANewIdThatSaysSo)
{
	struct session session;
	install_claude_stand_in();
	session_add(&session, NULL, "deck", WORDS("--agent", "claude"));
	session_start(&session, NULL);
	const char *before = session.session_id, *path = claude_transcript(&session, before);
	session_kill_server(&session);
	const char *header = kept("{\"type\":\"file-history-snapshot\",\"cwd\":\"%s\","
				  "\"sessionId\":\"%s\"}\n",
				  session.directory, before);
	machine_write(path, 0600, header);
	session_start(&session, NULL);
	ASSERT(!streq(or_empty(session.session_id), before), "it has the id %s still", before);
	assert_flag(&session, "--session-id", session.session_id);
	assert_no_flag(&session, "--resume");
	ASSERT(session_shows(&session, "history not restored"), "the screen does not say so:\n%s",
	       or_empty(session_screen(&session)));
	assert_logged("reason=transcript_without_turns");
	ASSERT(streq(or_empty(machine_read(path)), header), "%s was changed", path);
	const char *after = session.session_id;
	session_say(&session, MARKER);
	kill_and_start(&session);
	assert_came_back(&session, after, MARKER, 1);
}

TEST(TornLastLineDoesNotCostTheConversation)
{
	struct session session;
	begin(&session, "deck");
	const char *session_id = session.session_id,
		   *path = claude_transcript(&session, session_id);
	session_kill_server(&session);
	machine_write(path, 0600,
		      kept("%s{\"type\":\"user\",\"message\":{\"ro", or_empty(machine_read(path))));
	session_start(&session, NULL);
	assert_came_back(&session, session_id, MARKER, 1);
}

/* An agent that has reported its id and its first prompt, and has written nothing yet. */
static void begin_late(struct session *session)
{
	install_claude_stand_in();
	machine_set("AGENTDECK_DEMO_LATE_TURNS", "1");
	session_add(session, NULL, "deck", WORDS("--agent", "claude"));
	session_start(session, NULL);
	lay_bait(session);
}

static void assert_not_written(const struct session *session, const char *session_id)
{
	const char *path = claude_transcript(session, session_id);
	ASSERT(!machine_exists(path), "%s is there: its writing was not late", path);
}

/* The end of its terminal would give it the time to write, so kill it first. */
static void kill_agent_and_start(struct session *session)
{
	struct process agent = session_agent(session);
	machine_destroy(&agent);
	WAIT_FOR(session_look(session) && !streq(session->status, "running"),
		 "its agent was killed, and it is shown as running");
	session_start(session, NULL);
}

static void stop_and_start(struct session *session)
{
	session_stop(session, NULL);
	session_start(session, NULL);
}

/* claude notes at once which conversation it is in, and its report of that may be lost: another
 * conversation, with one turn. */
static const char *note_another(struct session *session, const char *text)
{
	(void)session_look(session);
	const struct process agent = session_agent(session);
	const char *id = new_uuid();
	write_transcript(session, id, text);
	machine_write(at_home(kept(".claude/sessions/%d.json", (int)agent.pid)), 0600,
		      kept("{\"pid\":%d,\"procStart\":\"%s\",\"sessionId\":\"%s\",\"cwd\":\"%s\","
			   "\"kind\":\"interactive\"}",
			   (int)agent.pid, agent.start, id, session->directory));
	return id;
}

TEST(NoteOfTheAgentIsFollowedWhereItsReportIsLost)
{
	static void (*const ends[])(struct session * session) = {
		kill_and_start,
		kill_agent_and_start,
		lose_power_and_start,
		stop_and_start,
	};
	struct session session;
	begin(&session, "deck");
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const char *text = kept("branch %zu", i);
		const char *id = note_another(&session, text);
		ends[i](&session);
		assert_came_back(&session, id, text, 1);
	}
}

static void assert_begun_anew(struct session *session, const char *session_id)
{
	(void)session_look(session);
	ASSERT(streq(or_empty(session->session_id), session_id), "the id became %s",
	       or_empty(session->session_id));
	assert_flag(session, "--session-id", session_id);
	assert_no_flag(session, "--resume");
	ASSERT(!session_shows(session, "a decoy"), "it took another conversation:\n%s",
	       or_empty(session_screen(session)));
}

TEST(KilledBeforeTheFirstFlushKeepsItsId)
{
	struct session session;
	begin_late(&session);
	const char *session_id = session.session_id;
	assert_not_written(&session, session_id);
	lose_power_and_start(&session);
	assert_begun_anew(&session, session_id);

	/* Now there was a prompt, but only its report is left of it. */
	session_say(&session, "lost words");
	WAIT_FOR(json_get_bool(session_look(&session), "first_turn_seen", false),
		 "the prompt was not reported");
	assert_not_written(&session, session_id);
	lose_power_and_start(&session);
	WAIT_FOR(session_look(&session) && session.agent_pid &&
			 strvec_contains(machine_argv(session.agent_pid), "--session-id"),
		 "the id that cannot be resumed is not given anew");
	assert_begun_anew(&session, session_id);
	ASSERT(!session_shows(&session, "lost words"), "what was never written came back");
	ASSERT(session_shows(&session, "history not restored"), "the screen does not say so:\n%s",
	       or_empty(session_screen(&session)));

	session_say(&session, MARKER);
	session_say(&session, "turn 2");
	ASSERT(machine_exists(claude_transcript(&session, session_id)), "nothing was written");
	kill_agent_and_start(&session);
	assert_came_back(&session, session_id, MARKER, 2);
}

TEST(KilledAfterALateFlushComesBack)
{
	struct session session;
	begin_late(&session);
	const char *session_id = session.session_id;
	session_say(&session, MARKER);
	assert_not_written(&session, session_id);
	session_say(&session, "turn 2");
	ASSERT(machine_exists(claude_transcript(&session, session_id)), "nothing was written");
	kill_agent_and_start(&session);
	assert_came_back(&session, session_id, MARKER, 2);
}

/* An orderly stop gives the agent the time to write. */
TEST(StopWaitsForALateFlush)
{
	struct session session;
	begin_late(&session);
	const char *session_id = session.session_id;
	session_say(&session, MARKER);
	assert_not_written(&session, session_id);
	session_stop(&session, NULL);
	session_start(&session, NULL);
	assert_came_back(&session, session_id, MARKER, 1);
}

/* "/x/deck.a" and "/x/deck-a" share a directory of transcripts: the name proves nothing. */
TEST(TranscriptOfAnotherProjectIsNotTaken)
{
	struct session session, neighbour = { .directory = at_home("deck-a") };
	install_claude_stand_in();
	machine_write(at_home("wrapper"), 0755, "#!/bin/sh\nexec claude \"$@\"\n");
	const char *foreign = new_uuid(), *own = new_uuid();
	machine_set_time(write_transcript(&neighbour, foreign, "not yours"), 1776157800);
	session_add(&session, NULL, "deck.a", WORDS("--agent", "claude", "-c", at_home("wrapper")));
	machine_set_time(write_transcript(&session, own, MARKER), 1776157700);
	ASSERT(machine_exists(claude_transcript(&session, foreign)), "not the same directory");
	session_start(&session, NULL);
	assert_came_back(&session, own, MARKER, 1);
}

static void start_without(struct session *session, const char *variable)
{
	struct answer answer = machine_login(WORDS("env", "-u", variable, "agentdeck", "session",
						   "start", session->id, "--json"));
	ASSERT(answer.status == 0, "session start ended with %d: %s%s", answer.status,
	       answer.errors, answer.output);
	(void)session_look(session);
}

/* A session keeps the agent's home that it was added with, whoever starts it again. */
TEST(TranscriptUnderAnotherConfigHome)
{
	struct session session;
	install_claude_stand_in();
	machine_set("CLAUDE_CONFIG_DIR", at_home("other-claude"));
	session_add(&session, NULL, "deck", WORDS("--agent", "claude"));
	machine_set("CLAUDE_CONFIG_DIR", at_home("third-claude"));
	session_start(&session, NULL);
	const char *session_id = session.session_id;
	session_say(&session, MARKER);
	const char *path = json_get_string(session_look(&session), "transcript_path", "");
	ASSERT(starts_with(path, at_home("other-claude/")) && machine_exists(path),
	       "the transcript is %s", path);
	session_kill_server(&session);
	start_without(&session, "CLAUDE_CONFIG_DIR");
	assert_came_back(&session, session_id, MARKER, 1);
	kill_and_start(&session);
	assert_came_back(&session, session_id, MARKER, 2);
}

/* Variables of the claude that called agentdeck: with the first of them another claude writes no
 * transcript. */
TEST(PoisonVariableIsScrubbed)
{
	static const char *const poison[] = { "CLAUDE_CODE_CHILD_SESSION",
					      "CLAUDECODE",
					      "CLAUDE_CODE_SESSION_ID",
					      "CLAUDE_CODE_ENTRYPOINT",
					      "CLAUDE_CODE_SSE_SOCKET_X",
					      "TMUX",
					      "XDG_SESSION_ID" };
	struct session session;
	for (size_t i = 0; i < ARRAY_SIZE(poison); i++)
		machine_set(poison[i], "1-poisoned");
	begin(&session, "deck");
	const char *session_id = session.session_id;
	const char *environment = machine_root_ok(WORDS("sh", "-c",
							"tr '\\0' '\\n' <\"/proc/$1/environ\"",
							"sh", kept("%d", (int)session.agent_pid)));
	ASSERT(strstr(environment, kept("HOME=%s", home())), "no environment: %s", environment);
	ASSERT(!strstr(environment, "1-poisoned"), "the agent got it:\n%s", environment);
	kill_and_start(&session);
	assert_came_back(&session, session_id, MARKER, 1);
}

/* Start an agent that the pane executes, or (is_wrapped) that a script in the pane starts. */
static void begin_as(struct session *session, const char *title, bool is_wrapped)
{
	const char *wrapper = at_home("bin/wrapper");
	install_claude_stand_in();
	machine_write(wrapper, 0755, "#!/bin/sh\nclaude \"$@\"\nexit $?\n");
	session_add(session, NULL, title,
		    WORDS("--agent", "claude", "-c", is_wrapped ? wrapper : "claude"));
	session_start(session, NULL);
}

static void enter(const struct session *session, const char *command)
{
	session_type(session, command);
	session_press(session, "Enter");
}

/* How many reports of such a start the log has, accepted or not. */
static unsigned startups(void)
{
	unsigned count = 0;
	for (const char *at = or_empty(deck_log()); (at = strstr(at, "source=startup")); at++)
		count++;
	return count;
}

static void begin_another(struct session *session, const char *command)
{
	unsigned before = startups();
	struct process agent = session_agent(session);
	enter(session, command);
	WAIT_FOR(startups() > before, "%s begins no conversation:\n%s", command,
		 or_empty(session_screen(session)));
	ASSERT(machine_alive(&agent), "%s: the agent is another process", command);
}

static void follow(const char *title, bool is_wrapped)
{
	struct session session;
	begin_as(&session, title, is_wrapped);
	const char *first = session.session_id;
	begin_another(&session, "/tui");
	session_say(&session, MARKER);
	session_look(&session);
	const char *second = session.session_id;
	ASSERT(!streq(second, first), "what was said after /tui is not in conversation %s", first);
	kill_and_start(&session);
	assert_came_back(&session, second, MARKER, 1);
	/* Nothing was said in the new one, so the one before is worth more. */
	begin_another(&session, "/new");
	kill_and_start(&session);
	assert_came_back(&session, second, MARKER, 2);
	begin_another(&session, "/new");
	session_say(&session, "in the new one");
	session_look(&session);
	const char *third = session.session_id;
	ASSERT(!streq(third, second), "what was said after /new is not in conversation %s", second);
	kill_and_start(&session);
	assert_came_back(&session, third, "in the new one", 1);
}

TEST(AgentThatRestartsInPlaceIsFollowed)
{
	follow("deck", false);
	follow("wrapped", true);
}

static void nest(const char *title, bool is_wrapped)
{
	struct session session;
	begin_as(&session, title, is_wrapped);
	const char *session_id = session.session_id;
	session_say(&session, MARKER);
	/* One that begins a conversation, and one that resumes it. */
	enter(&session, "/nested");
	WAIT_FOR(session_shows(&session,
			       "I remember 2 of your messages; the first was \"from inside\"."),
		 "no agent answers from inside:\n%s", or_empty(session_screen(&session)));
	kill_and_start(&session);
	assert_came_back(&session, session_id, MARKER, 1);
}

TEST(NestedAgentMovesNothing)
{
	nest("deck", false);
	nest("wrapped", true);
}

TEST(WrapperScriptKeepsItsConversation)
{
	struct session session;
	install_claude_stand_in();
	machine_write(at_home("bin/my wrapper"), 0755,
		      "#!/bin/sh\nexport WRAPPED=yes\nexec claude --model opus \"$@\"\n");
	session_add(
		&session, NULL, "deck",
		WORDS("--agent", "claude", "-c",
		      kept("'%s' --append-system-prompt 'be brief'", at_home("bin/my wrapper"))));
	session_start(&session, NULL);
	session_say(&session, MARKER);
	write_decoy(&session);
	const char *session_id = session.session_id;
	for (unsigned turns = 1; turns <= 2; turns++) {
		kill_and_start(&session);
		assert_came_back(&session, session_id, MARKER, turns);
		assert_flag(&session, "--model", "opus");
		assert_flag(&session, "--append-system-prompt", "be brief");
	}
}

/* The arguments of the agent's start, without the flag that names the conversation. */
static const char *flags(const struct session *session)
{
	const struct strvec *argv = machine_argv(session->agent_pid);
	struct strvec *same = kept_vector();
	for (size_t i = 0; i < argv->count; i++) {
		const char *word = argv->items[i];
		bool names = streq(word, "--resume") || streq(word, "--session-id");
		strvec_push(same, names ? "<conversation>" : word);
	}
	return keep(visible_argv(strvec_argv(same)));
}

TEST(FlagsIdenticalBetweenStartAndRestart)
{
	struct session session;
	install_claude_stand_in();
	session_add(&session, NULL, "deck",
		    WORDS("--agent", "claude", "-c",
			  "claude --model opus --append-system-prompt 'two words; $HOME \"q\"'"));
	session_start(&session, NULL);
	session_say(&session, MARKER);
	assert_flag(&session, "--append-system-prompt", "two words; $HOME \"q\"");
	const char *at_start = flags(&session);
	session_restart(&session, NULL);
	ASSERT(streq(flags(&session), at_start), "restart: %s\nstart: %s", flags(&session),
	       at_start);
	kill_and_start(&session);
	ASSERT(streq(flags(&session), at_start), "after SIGKILL: %s\nstart: %s", flags(&session),
	       at_start);
	assert_came_back(&session, session.session_id, MARKER, 1);
}

TEST(DuplicateConversationRefused)
{
	struct session one, two;
	begin(&one, "deck");
	const char *session_id = one.session_id;
	struct process agent = session_agent(&one);
	struct json_object *added = deck_ok(NULL, WORDS("add", one.directory, "-t", "two", "--json",
							"--agent", "claude"));
	two = (struct session){ .title = "two",
				.directory = one.directory,
				.id = json_get_string(added, "id", "") };
	session_forge_id(&two, session_id);
	struct reply reply = deck(NULL, WORDS("session", "start", two.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "deck") &&
		       strstr(reply.errors, session_id),
	       "status %d: %s%s", reply.status, reply.errors, reply.output);
	(void)session_look(&two);
	ASSERT(!two.server_pid && machine_alive(&agent), "two agents on one conversation");
	session_stop(&one, NULL);
	session_start(&two, NULL);
	assert_came_back(&two, session_id, MARKER, 1);
}
