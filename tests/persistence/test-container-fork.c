/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conversations that a user copies into a container: a fork, and one that begins on this machine.
 */
#include "persistence/containers.h"
#include "persistence/deck.h"

#include <string.h>

#define MARKER "the key is under the stone"

static const char *container_of(enum engine engine, const struct session *session)
{
	const char *id = engine_say(engine,
				    WORDS("ps", "--all", "--quiet", "--no-trunc", "--filter",
					  kept("label=io.agentdeck.instance=%s", session->id)));
	ASSERT(*id && !strchr(id, '\n'), "not one container of %s: '%s'", session->title, id);
	return id;
}

static void assert_inside(enum engine engine, const struct session *session)
{
	const char *id = container_of(engine, session);
	ASSERT(strstr(machine_cgroup(session->agent_pid), id), "%s is not in its container: %s",
	       session->title, machine_cgroup(session->agent_pid));
}

static const char *const *container_words(enum engine engine)
{
	struct strvec *words = kept_vector();
	strvec_push_array(words, WORDS("--container", "--image", PLAIN_IMAGE, "--engine",
				       engine_address(engine)));
	return (const char *const *)words->items;
}

static struct session fork_of(const struct session *one, const char *title,
			      const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("session", "fork", one->id, "-t", title, "--json"));
	strvec_push_array(argv, words);
	struct json_object *started = deck_ok(NULL, (const char *const *)argv->items);
	struct session fork = { .title = title,
				.directory = one->directory,
				.id = json_get_string(started, "id", "") };
	session_look(&fork);
	return fork;
}

static const char *transcript_of(const struct session *session)
{
	struct session now = *session;
	const char *path = json_get_string(session_look(&now), "transcript_path", "");
	const char *text = machine_read(path);
	ASSERT(text, "no transcript %s of %s", path, session->title);
	return text;
}

/* Both go their own way from here, and the copy's container is lost. */
static void go_apart(enum engine engine, struct session *one, struct session *fork)
{
	const char *original = one->session_id, *copy = fork->session_id;
	struct process agent = session_agent(one);
	ASSERT(!streq(copy, original), "both have the conversation %s", original);
	WAIT_FOR(session_shows(fork, MARKER), "the copy is empty:\n%s",
		 or_empty(session_screen(fork)));
	session_say(fork, "only in the copy");
	ASSERT(!strstr(transcript_of(one), "only in the copy"),
	       "the copy's words are in the original");
	(void)engine_say(engine, WORDS("rm", "--force", container_of(engine, fork)));
	WAIT_FOR((session_look(fork), !streq(fork->status, "running")), "the copy seems to run");
	session_start(fork, NULL);
	assert_came_back(fork, copy, MARKER, 2);
	assert_no_flag(fork, "--fork-session");
	assert_inside(engine, fork);
	ASSERT(machine_alive(&agent), "the original was ended");
	session_say(one, "only in the original");
	session_look(one);
	ASSERT(streq(one->session_id, original), "the original's id became %s", one->session_id);
	ASSERT(!strstr(transcript_of(fork), "only in the original"),
	       "the original's words are in the copy");
}

static void is_forked(enum engine engine)
{
	struct session one;
	engine_prepare(engine, PLAIN_IMAGE);
	session_add(&one, NULL, "deck", container_words(engine));
	session_start(&one, NULL);
	session_say(&one, MARKER);
	session_look(&one);
	struct session fork = fork_of(&one, "other", WORDS(NULL));
	assert_inside(engine, &fork);
	const char *first = container_of(engine, &one), *second = container_of(engine, &fork);
	ASSERT(!streq(first, second), "both are in one container");
	ASSERT(streq(container_field(engine, first, "{{.Image}}"),
		     container_field(engine, second, "{{.Image}}")),
	       "they have different images");
	go_apart(engine, &one, &fork);
}

TEST(ContainerForkGoesItsOwnWayDocker)
{
	is_forked(ENGINE_DOCKER);
}

TEST(ContainerForkGoesItsOwnWayPodman)
{
	is_forked(ENGINE_PODMAN);
}

static void is_forked_into_a_container(enum engine engine)
{
	struct session one;
	engine_prepare(engine, PLAIN_IMAGE);
	session_add(&one, NULL, "deck", NULL);
	session_start(&one, NULL);
	session_say(&one, MARKER);
	session_look(&one);
	struct session fork = fork_of(&one, "other", container_words(engine));
	assert_inside(engine, &fork);
	go_apart(engine, &one, &fork);
}

TEST(ForkOfAHostSessionIntoAContainerDocker)
{
	is_forked_into_a_container(ENGINE_DOCKER);
}

TEST(ForkOfAHostSessionIntoAContainerPodman)
{
	is_forked_into_a_container(ENGINE_PODMAN);
}

/* Its owner keeps a conversation; what nobody owns is copied, and the original stays. */
static void takes_over(enum engine engine)
{
	struct session one, inside = { .title = "inside" };
	engine_prepare(engine, PLAIN_IMAGE);
	session_add(&one, NULL, "deck", NULL);
	session_start(&one, NULL);
	session_say(&one, MARKER);
	session_look(&one);
	const char *id = one.session_id;
	const char *path = json_get_string(session_look(&one), "transcript_path", "");
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("add", one.directory, "-t", "inside", "--agent", "demo",
				      "--session-id", id, "--json"));
	strvec_push_array(argv, container_words(engine));
	struct reply reply = deck(NULL, (const char *const *)argv->items);
	ASSERT(reply.status != 0 && strstr(reply.output, "belongs to that session"),
	       "its owner lost it: %d: %s%s", reply.status, reply.output, reply.errors);
	ASSERT(json_object_array_length(deck_look_ok(WORDS("list", "--json"))) == 1,
	       "a session was made");
	ASSERT(deck(NULL, WORDS("remove", "--force", one.id)).status == 0, "remove fails");
	const char *before = machine_read(path);
	inside.directory = one.directory;
	inside.id = json_get_string(deck_ok(NULL, (const char *const *)argv->items), "id", "");
	session_start(&inside, NULL);
	assert_came_back(&inside, id, MARKER, 1);
	assert_inside(engine, &inside);
	ASSERT(before && streq(or_empty(machine_read(path)), before), "the original was changed");
	session_kill_server(&inside);
	session_start(&inside, NULL);
	ASSERT(streq(inside.session_id, id), "its conversation became %s", inside.session_id);
}

TEST(ContainerTakesOverAConversationDocker)
{
	takes_over(ENGINE_DOCKER);
}

TEST(ContainerTakesOverAConversationPodman)
{
	takes_over(ENGINE_PODMAN);
}

/* An agent inside finds only what its container's home has. */
TEST(ContainerGetsNoConversationThatItsHomeLacks)
{
	struct session one, inside;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	session_add(&one, NULL, "deck", NULL);
	session_start(&one, NULL);
	session_say(&one, "of this machine");
	session_look(&one);
	const char *outside = one.session_id;
	ASSERT(deck(NULL, WORDS("remove", "--force", one.id)).status == 0, "remove fails");
	session_add(&inside, NULL, "deck", container_words(ENGINE_DOCKER));
	session_start(&inside, NULL);
	session_say(&inside, MARKER);
	session_stop(&inside, NULL);
	session_look(&inside);
	const char *id = inside.session_id;
	const char *const others[] = { outside, new_uuid() };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct reply reply = deck_look(
			WORDS("session", "set", inside.id, "session-id", others[i]));
		ASSERT(reply.status == 2 && strstr(reply.errors, "in the home of this session's"),
		       "%s: %d: %s%s", others[i], reply.status, reply.errors, reply.output);
	}
	(void)deck_ok(NULL, WORDS("session", "set", inside.id, "session-id", id, "--json"));
	session_start(&inside, NULL);
	assert_came_back(&inside, id, MARKER, 1);
}

/* ---- who reports ------------------------------------------------------------------------- */

static void enter(const struct session *session, const char *text)
{
	session_type(session, text);
	session_press(session, "Enter");
}

static unsigned startups(void)
{
	unsigned count = 0;
	for (const char *at = or_empty(deck_log()); (at = strstr(at, "source=startup")); at++)
		count++;
	return count;
}

/* Its own agent may go to another conversation; one that it starts as a tool may not. */
static void is_told_from_its_tools(enum engine engine)
{
	struct session one;
	engine_prepare(engine, PLAIN_IMAGE);
	session_add(&one, NULL, "deck", container_words(engine));
	session_start(&one, NULL);
	session_say(&one, "at first");
	session_look(&one);
	const char *first = one.session_id;
	enter(&one, "/nested");
	WAIT_FOR(session_shows(&one,
			       "I remember 2 of your messages; the first was \"from inside\"."),
		 "no agent answers from inside:\n%s", or_empty(session_screen(&one)));
	session_look(&one);
	ASSERT(streq(one.session_id, first), "a tool moved it to conversation %s", one.session_id);
	const unsigned before = startups();
	enter(&one, "/new");
	WAIT_FOR(startups() > before, "no conversation begins:\n%s",
		 or_empty(session_screen(&one)));
	session_say(&one, MARKER);
	WAIT_FOR((session_look(&one), !streq(one.session_id, first)),
		 "what was said after /new is not in conversation %s", first);
	const char *second = one.session_id;
	session_stop(&one, NULL);
	session_start(&one, NULL);
	assert_came_back(&one, second, MARKER, 1);
}

TEST(ContainerFollowsItsAgentAndNotItsToolsDocker)
{
	is_told_from_its_tools(ENGINE_DOCKER);
}

TEST(ContainerFollowsItsAgentAndNotItsToolsPodman)
{
	is_told_from_its_tools(ENGINE_PODMAN);
}

/* Of the agent. */
static const char *variable_of(const struct session *session, const char *name)
{
	const char *script = "tr '\\0' '\\n' </proc/$1/environ | sed -n \"s/^$2=//p\"";
	const char *value = machine_root_ok(
		WORDS("sh", "-c", script, "sh", kept("%d", (int)session->agent_pid), name));
	return kept("%.*s", (int)strcspn(value, "\n"), value);
}

/* A window that was killed took no report any more: the next start takes it first. */
TEST(ContainerReportThatWaitedIsTakenByTheNextStart)
{
	struct session one;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	session_add(&one, NULL, "deck", container_words(ENGINE_DOCKER));
	session_start(&one, NULL);
	session_say(&one, "at first");
	session_look(&one);
	const char *first = one.session_id, *second = new_uuid();
	const char *run = variable_of(&one, "AGENTDECK_CAPSULE_RUN");
	const char *capsule = variable_of(&one, "AGENTDECK_CAPSULE");
	/* Without it, claude does not ask for Shift+Enter. */
	const char *terminal = variable_of(&one, "TERM_PROGRAM");
	ASSERT(streq(terminal, "tmux"), "it runs in \"%s\"", terminal);
	const char *pid = machine_user_ok(
		WORDS("tmux", "-S", one.socket, "display-message", "-p", "#{pid}"));
	struct process window = machine_process((pid_t)strtol(pid, NULL, 10));
	struct process inside = container_process(ENGINE_DOCKER, container_of(ENGINE_DOCKER, &one));
	machine_destroy(&window);
	machine_destroy(&inside);
	WAIT_FOR(streq(or_empty(container_state(ENGINE_DOCKER, container_of(ENGINE_DOCKER, &one))),
		       "exited"),
		 "its container does not end");
	const char *const runs[] = { run, new_uuid() }, *const ids[] = { second, new_uuid() };
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		machine_write(kept("%s/reports/0000000000000000000%zu-1.json", capsule, i), 0600,
			      kept("from %s 7/7\n{\"hook_event_name\":\"SessionStart\","
				   "\"source\":\"clear\",\"session_id\":\"%s\"}",
				   runs[i], ids[i]));
	session_start(&one, NULL);
	session_look(&one);
	ASSERT(!streq(one.session_id, first) && streq(one.session_id, second),
	       "the conversation is %s", one.session_id);
	const char *left = machine_user_ok(
		WORDS("find", kept("%s/reports", capsule), "-name", "0000*"));
	ASSERT(!*left, "left: %s", left);
}
