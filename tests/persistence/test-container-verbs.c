/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What commands say of a session in a container is what they say of one on this machine.
 */
#include "persistence/attach.h"
#include "persistence/containers.h"
#include "persistence/deck.h"

#include <string.h>

#define MARKER "the ladder is behind the house"

/* Members that say where it lives. */
static const char *const differ[] = { "recipe", "container", "scope", "unit", NULL };

static bool may_differ(const char *name)
{
	for (const char *const *other = differ; *other; other++)
		if (streq(name, *other))
			return true;
	return false;
}

/* The same members, of the same types. */
static void assert_alike(const char *what, struct json_object *host, struct json_object *inside)
{
	json_object_object_foreach(host, name, value) {
		struct json_object *other = NULL;
		const char *path = kept("%s.%s", what, name);
		ASSERT(json_object_object_get_ex(inside, name, &other), "no %s in a container",
		       path);
		if (may_differ(name))
			continue;
		ASSERT(json_object_get_type(value) == json_object_get_type(other),
		       "%s is %s here and %s in a container", path, json_print(value),
		       json_print(other));
		if (json_object_is_type(value, json_type_object))
			assert_alike(path, value, other);
	}
	ASSERT(json_object_object_length(host) == json_object_object_length(inside),
	       "%s has other members in a container: %s", what, json_print(inside));
}

static struct json_object *line_of(const struct session *session, const char *const *words)
{
	struct reply reply = deck(NULL, words);
	ASSERT(reply.status == 0, "%s ended with %d: %s", words[0], reply.status, reply.errors);
	for (const char *at = reply.output; *at; at += strcspn(at, "\n") + 1) {
		const char *line = kept("%.*s", (int)strcspn(at, "\n"), at);
		struct json_object *object = json_tokener_parse(line);
		ASSERT(object, "no JSON: %s", line);
		keep_json(object);
		if (streq(json_get_string(object, "id", ""), session->id))
			return object;
		if (!at[strcspn(at, "\n")])
			break;
	}
	ASSERT(false, "%s does not know %s: %s", words[0], session->title, reply.output);
	return NULL;
}

static struct json_object *element_of(const struct session *session, const char *const *words)
{
	struct json_object *array = deck_ok(NULL, words);
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		struct json_object *object = json_object_array_get_idx(array, i);
		if (streq(json_get_string(object, "id", ""), session->id))
			return object;
	}
	ASSERT(false, "%s does not know %s: %s", words[0], session->title, json_print(array));
	return NULL;
}

static void begin(struct session *session, const char *title, const char *const *words)
{
	session_add(session, NULL, title, words);
	session_start(session, NULL);
	session_say(session, MARKER);
	session_look(session);
}

static void answers(enum engine engine)
{
	struct session host, inside;
	engine_prepare(engine, PLAIN_IMAGE);
	begin(&host, "host", NULL);
	begin(&inside, "inside",
	      WORDS("--container", "--image", PLAIN_IMAGE, "--engine", engine_address(engine)));
	assert_alike("list", element_of(&host, WORDS("list", "--json")),
		     element_of(&inside, WORDS("list", "--json")));
	assert_alike("show", session_look(&host), session_look(&inside));
	struct json_object *top = line_of(&inside, WORDS("top", "--json"));
	assert_alike("top", line_of(&host, WORDS("top", "--json")), top);
	ASSERT(json_get_bool(top, "in_scope", false) && json_get_int(top, "memory_bytes", 0) > 0 &&
		       json_get_int(top, "tasks", 0) >= 2,
	       "top does not count the container: %s", json_print(top));
	assert_alike("wait",
		     element_of(&host, WORDS("status", "--wait", "idle", host.id, "--json")),
		     element_of(&inside, WORDS("status", "--wait", "idle", inside.id, "--json")));
	assert_alike("send",
		     deck_ok(NULL, WORDS("session", "send", host.id, "second", "--wait", "--json")),
		     deck_ok(NULL,
			     WORDS("session", "send", inside.id, "second", "--wait", "--json")));
	struct json_object *said = deck_ok(NULL, WORDS("session", "output", inside.id, "--json"));
	assert_alike("output", deck_ok(NULL, WORDS("session", "output", host.id, "--json")), said);
	ASSERT(strstr(json_get_string(said, "content", ""), "second"), "the last reply: %s",
	       json_print(said));
	assert_alike("stop", deck_ok(NULL, WORDS("session", "stop", host.id, "--json")),
		     deck_ok(NULL, WORDS("session", "stop", inside.id, "--json")));
}

TEST(ContainerAnswersAsASessionOfTheHostDocker)
{
	answers(ENGINE_DOCKER);
}

TEST(ContainerAnswersAsASessionOfTheHostPodman)
{
	answers(ENGINE_PODMAN);
}

/* ---- what follows a session ---------------------------------------------------------------- */

static const char *const *container_words(enum engine engine)
{
	struct strvec *words = kept_vector();
	strvec_push_array(words, WORDS("--container", "--image", PLAIN_IMAGE, "--engine",
				       engine_address(engine)));
	return (const char *const *)words->items;
}

/* "STATUS ACTIVITY" of each line about the session, without repetitions. */
static const char *history_of(const struct session *session, const char *path)
{
	const char *told = "", *last = "";
	const char *all = machine_read(path);
	for (const char *at = all ? all : ""; strchr(at, '\n'); at = strchr(at, '\n') + 1) {
		struct json_object *object = json_tokener_parse(
			kept("%.*s", (int)strcspn(at, "\n"), at));
		ASSERT(object, "no JSON: %s", at);
		keep_json(object);
		if (!streq(json_get_string(object, "id", ""), session->id))
			continue;
		const char *now = kept("%s %s", json_get_string(object, "status", "-"),
				       json_get_string(object, "activity", "-"));
		if (!streq(now, last))
			told = kept("%s%s\n", told, now);
		last = now;
	}
	return told;
}

/* The steps that both tell, whatever lies between them. */
static void live_once(struct session *session, const char *title, const char *path,
		      const char *const *words)
{
	session_add(session, NULL, title, words);
	session_start(session, NULL);
	WAIT_FOR(strstr(history_of(session, path), "running idle\n"), "%s does not begin: %s",
		 title, history_of(session, path));
	session_say(session, MARKER);
	WAIT_FOR(strstr(history_of(session, path), "running busy\nrunning idle\n"),
		 "%s does not work: %s", title, history_of(session, path));
	session_stop(session, NULL);
	WAIT_FOR(strstr(history_of(session, path), "running busy\nrunning idle\nstopp"),
		 "%s does not end: %s", title, history_of(session, path));
}

static void events_tell(enum engine engine)
{
	struct session host, inside;
	const char *path = at_home("events");
	engine_prepare(engine, PLAIN_IMAGE);
	machine_set("AGENTDECK_DEMO_DELAY_MS", "500");
	(void)machine_background(WORDS("agentdeck", "events", "--json"), path);
	live_once(&host, "host", path, NULL);
	live_once(&inside, "inside", path, container_words(engine));
}

TEST(ContainerTellsItsEventsDocker)
{
	events_tell(ENGINE_DOCKER);
}

TEST(ContainerTellsItsEventsPodman)
{
	events_tell(ENGINE_PODMAN);
}

static void wait_until_waiting(const struct session *session)
{
	struct reply reply = deck(NULL, WORDS("status", "--wait", "waiting", session->id,
					      "--timeout", "60"));
	ASSERT(reply.status == 0, "%s does not wait: %s", session->title, reply.errors);
}

TEST(AttachNextGoesIntoTheContainerThatWaits)
{
	struct session inside, later;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	/* A container gets no other variables of the caller's. */
	machine_set("AGENTDECK_DEMO_IDLE_MS", "100");
	begin(&inside, "inside",
	      WORDS("--container", "--image", PLAIN_IMAGE, "--engine",
		    engine_address(ENGINE_DOCKER), "--secret", "AGENTDECK_DEMO_IDLE_MS"));
	wait_until_waiting(&inside);
	begin(&later, "later", NULL);
	wait_until_waiting(&later);
	const char *keys = attach_open("--next", "keys");
	WAIT_FOR(session_look(&inside) && inside.socket && attach_count(&inside) == 1,
		 "it is not attached:\n%s", attach_output(keys));
	ASSERT(attach_count(&later) == 0, "it took the other one");
	WAIT_FOR(strstr(attach_output(keys), MARKER), "it shows:\n%s", attach_output(keys));
}

/* What the terminal shows of an agent that sets the clipboard, and sends something past tmux. */
static const char *escapes_of(const char *title)
{
	struct session session = { 0 };
	session_add(&session, NULL, title,
		    WORDS("-c", kept("sh %s", at_home("escapes.sh")), "--container", "--image",
			  PLAIN_IMAGE, "--engine", engine_address(ENGINE_DOCKER), "--mount",
			  at_home("escapes.sh")));
	session_start(&session, NULL);
	const char *keys = attach_open(title, kept("%s.keys", title));
	WAIT_FOR(session_look(&session) && session.socket && attach_count(&session) == 1,
		 "it is not attached:\n%s", attach_output(keys));
	attach_press(keys, "\\r");
	WAIT_FOR(strstr(attach_output(keys), "sent"), "the agent sends nothing:\n%s",
		 attach_output(keys));
	return attach_output(keys);
}

TEST(AgentInAContainerWritesNeitherToTheClipboardNorPastTmux)
{
	const char *config = at_home(".config/agentdeck/config.toml");
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	machine_write(at_home("escapes.sh"), 0755,
		      "read line\n"
		      "printf '\\033]52;c;Y2xpcGJvYXJk\\007'\n"
		      "printf '\\033Ptmux;\\033\\033]9;from the agent\\033\\033\\\\\\033\\\\'\n"
		      "echo sent\nexec cat\n");
	machine_write(config, 0644, "[container]\nescapes = true\n");
	const char *output = escapes_of("open");
	ASSERT(strstr(output, "Y2xpcGJvYXJk") && strstr(output, "from the agent"),
	       "they do not pass: %s", (const char *)keep(visible(output)));
	machine_write(config, 0644, "[tmux]\npassthrough = true\n");
	output = escapes_of("closed");
	ASSERT(!strstr(output, "Y2xpcGJvYXJk") && !strstr(output, "from the agent"),
	       "they pass: %s", (const char *)keep(visible(output)));
}

static struct answer call(const char *method, const char *session)
{
	return machine_login(WORDS("busctl", "--user", "--timeout=60", "--json=short", "call",
				   "io.agentdeck.Supervisor1", "/io/agentdeck/Supervisor1",
				   "io.agentdeck.Supervisor1", method, "s", session));
}

static void obeys_the_bus(enum engine engine)
{
	static const struct {
		const char *method, *status;
	} calls[] = { { "Start", "running" }, { "Restart", "running" }, { "Stop", "stopped" } };
	struct session session;
	engine_prepare(engine, PLAIN_IMAGE);
	session_add(&session, NULL, "deck", container_words(engine));
	(void)machine_background(WORDS("agentdeck", "supervise"), at_home("supervise.out"));
	WAIT_FOR(strstr(machine_user(WORDS("agentdeck", "supervise", "--status", "--json")).output,
			"\"on_bus\": true"),
		 "the supervisor is not on the bus: %s",
		 or_empty(machine_read(at_home("supervise.out"))));
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		struct answer answer = call(calls[i].method, session.id);
		ASSERT(answer.status == 0, "%s: %s", calls[i].method, answer.errors);
		session_look(&session);
		ASSERT(streq(session.status, calls[i].status), "%s leaves it %s", calls[i].method,
		       session.status);
		struct answer got = call("Get", session.id);
		ASSERT(strstr(got.output, kept("\"%s\"", calls[i].status)), "Get after %s: %s%s",
		       calls[i].method, got.output, got.errors);
	}
	const char *running = engine_say(engine, WORDS("ps", "--quiet"));
	ASSERT(!*running, "after Stop this container runs: %s", running);
}

TEST(ContainerObeysTheBusDocker)
{
	obeys_the_bus(ENGINE_DOCKER);
}

TEST(ContainerObeysTheBusPodman)
{
	obeys_the_bus(ENGINE_PODMAN);
}

/* ---- a conversation that the agent makes first ---------------------------------------------- */

/* The container has its own home, in which the id counts the conversations. */
static void install_maker(void)
{
	machine_write(at_home(".config/agentdeck/agents/maker.toml"), 0644,
		      kept("command = [\"%s\"]\nmatch = [\"maker\"]\n"
			   "[session]\nid = \"any\"\nresume = [\"--resume\", \"{session_id}\"]\n"
			   "create = [\"maker\", \"create-chat\"]\n"
			   "create_pattern = '^(chat-[0-9]+)$'\n",
			   at_home("bin/maker")));
	machine_write(at_home("bin/maker"), 0755,
		      "#!/bin/sh\n"
		      "if [ \"$1\" = create-chat ]; then\n"
		      "	[ -e /agentdeck/bin ] || exit 9\n"
		      "	echo made >>\"$HOME/chats\"\n"
		      "	echo \"chat-$(wc -l <\"$HOME/chats\")\"\n"
		      "	exit\n"
		      "fi\n"
		      "echo \"$*\" >>\"$HOME/argv\"\n"
		      "exec cat\n");
}

static const char *inside_home(const struct session *session, const char *file)
{
	struct session now = *session;
	struct json_object *recipe = json_get_object(session_look(&now), "recipe");
	return or_empty(machine_read(kept("%s/%s", json_get_string(recipe, "home", "-"), file)));
}

static void makes_its_conversation(enum engine engine)
{
	struct session session;
	engine_prepare(engine, PLAIN_IMAGE);
	install_maker();
	session_add(&session, NULL, "deck",
		    WORDS("--agent", "maker", "--container", "--image", PLAIN_IMAGE, "--engine",
			  engine_address(engine), "--mount", at_home("bin")));
	session_start(&session, NULL);
	ASSERT(streq(or_empty(session.session_id), "chat-1"), "the id is %s",
	       or_empty(session.session_id));
	ASSERT(streq(inside_home(&session, "argv"), "--resume chat-1\n"), "it was started with: %s",
	       inside_home(&session, "argv"));
	ASSERT(!machine_exists(at_home("chats")), "the conversation was made on the host");
	struct process first = session_agent(&session);
	machine_destroy(&first);
	WAIT_FOR((session_look(&session), !streq(session.status, "running")), "it seems to run");
	session_start(&session, NULL);
	ASSERT(streq(inside_home(&session, "argv"), "--resume chat-1\n--resume chat-1\n"),
	       "it was started with: %s", inside_home(&session, "argv"));
	ASSERT(streq(inside_home(&session, "chats"), "made\n"), "another one was made");
}

TEST(ContainerAgentMakesItsConversationDocker)
{
	makes_its_conversation(ENGINE_DOCKER);
}

TEST(ContainerAgentMakesItsConversationPodman)
{
	makes_its_conversation(ENGINE_PODMAN);
}

TEST(ContainerAgentThatMakesNoConversationIsNotStarted)
{
	struct session session;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	install_maker();
	machine_write(at_home("bin/maker"), 0755,
		      "#!/bin/sh\n[ \"$1\" = create-chat ] || echo \"$*\" >>\"$HOME/argv\"\n"
		      "echo 'please log in'\nexit 3\n");
	session_add(&session, NULL, "deck",
		    WORDS("--agent", "maker", "--container", "--image", PLAIN_IMAGE, "--engine",
			  engine_address(ENGINE_DOCKER), "--mount", at_home("bin")));
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status == 1, "status %d", reply.status);
	ASSERT(strstr(reply.errors, "create-chat") && strstr(reply.errors, "please log in"),
	       "it says: %s", reply.errors);
	(void)session_look(&session);
	ASSERT(streq(session.status, "stopped") && !session.server_pid, "status %s",
	       session.status);
	ASSERT(!*inside_home(&session, "argv"), "the agent was started without a conversation");
	/* The engine learns of the end a moment later. */
	WAIT_FOR(!*engine_say(ENGINE_DOCKER, WORDS("ps", "--quiet")), "a container runs");
}

/* ---- the default image ------------------------------------------------------------------- */

TEST(MissingDefaultImageIsOffered)
{
	static const char question[] = "Make it now?";
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	machine_make_directory(at_home("deck"));
	const char *command = kept("agentdeck add %s --agent demo --container --engine %s",
				   at_home("deck"), engine_address(ENGINE_DOCKER));
	/* This machine has nothing to make it with. */
	struct reply refused = deck_look(WORDS("add", at_home("deck"), "--agent", "demo",
					       "--container", "--engine",
					       engine_address(ENGINE_DOCKER)));
	ASSERT(strstr(refused.errors, "install mmdebstrap, and make it with"),
	       "it does not say what is missing: %s", refused.errors);
	machine_write(at_home("bin/mmdebstrap"), 0755,
		      "#!/bin/sh\necho 'E: no such mirror' >&2\nexit 1\n");
	const char *keys = terminal_open(command, "no");
	WAIT_FOR(strstr(attach_output(keys), question), "it does not ask:\n%s",
		 attach_output(keys));
	attach_press(keys, "n\\n");
	WAIT_FOR(strstr(strstr(attach_output(keys), question), "agentdeck image build-default"),
		 "it does not say how to make it:\n%s", attach_output(keys));
	keys = terminal_open(command, "yes");
	WAIT_FOR(strstr(attach_output(keys), question), "it does not ask:\n%s",
		 attach_output(keys));
	attach_press(keys, "y\\n");
	WAIT_FOR(strstr(attach_output(keys), "no such mirror"), "it does not try:\n%s",
		 attach_output(keys));
	struct reply reply = deck_look(WORDS("list", "--json"));
	ASSERT(!strstr(reply.output, "\"id\""), "there are sessions: %s", reply.output);
}
