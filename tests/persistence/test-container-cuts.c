/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Kills a command at each call that it makes to the engine: before the engine hears of it, and when
 * the engine has done it, before the command reads the answer.  Whatever is left, the next command
 * makes one agent with the same conversation in one container of it, or none.
 */
#include "persistence/containers.h"
#include "persistence/deck.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <string.h>

#define MARKER "the rope is in the boat"

enum { KILLED = 128 + 9 };

struct story {
	enum engine engine;
	const char *socket, *directory; /* of the proxy in front of the engine */
	struct session session;
	const char *session_id;
	const char *const *launch; /* its words */
	unsigned cuts;
};

/* ---- the proxy --------------------------------------------------------------------------- */

static void put_proxy(struct story *story)
{
	const char *program = at_home("engine-proxy"), *output = at_home("proxy.out");
	const char *engine = engine_address(story->engine) + strlen("unix://");
	story->socket = at_home("engine.sock");
	story->directory = at_home("proxy");
	machine_make_directory(story->directory);
	machine_bring("helper/engine-proxy", program);
	(void)machine_background(WORDS("python3", program, story->socket, engine, story->directory),
				 output);
	WAIT_FOR(strstr(or_empty(machine_read(output)), "ready"), "no proxy: %s",
		 or_empty(machine_read(output)));
}

static const char *through_proxy(const struct story *story)
{
	return kept("unix://%s", story->socket);
}

/* A line for each. */
static const char *calls_made(const struct story *story)
{
	return or_empty(machine_read(kept("%s/calls", story->directory)));
}

/* call: from 1; 0: none is cut. */
static void set_cut(const struct story *story, unsigned call, const char *when)
{
	machine_write(kept("%s/calls", story->directory), 0600, "");
	machine_write(kept("%s/cut", story->directory), 0600, kept("%u %s\n", call, when));
}

/* ---- what is there ----------------------------------------------------------------------- */

static const char *label(const struct story *story)
{
	return kept("io.agentdeck.instance=%s", story->session.id);
}

/* In the words of a command: the session's id. */
static const char SESSION[] = "SESSION";

static struct reply command(const struct story *story, const char *const *words)
{
	struct strvec *argv = kept_vector();
	for (; *words; words++)
		strvec_push(argv, *words == SESSION ? story->session.id : *words);
	return deck_look((const char *const *)argv->items);
}

static void must(const struct story *story, const char *const *words, const char *where)
{
	struct reply reply = command(story, words);
	ASSERT(reply.status == 0, "%s: %s %s: %d: %s%s", where, words[0], or_empty(words[1]),
	       reply.status, reply.errors, reply.output);
}

/* They were told to end, or their container was killed. */
static void assert_agents(unsigned expected, const char *where)
{
	const char *seen = NULL;
	WAIT_FOR((seen = machine_root(WORDS("pgrep", "-c", "-f", "agentdeck-demo-agent")).output,
		  streq(seen, kept("%u\n", expected))),
		 "%s: %s agents instead of %u", where, seen, expected);
}

static void assert_one(struct story *story, const char *where)
{
	WAIT_FOR((session_look(&story->session), story->session.agent_pid != 0),
		 "%s: no agent, status %s", where, story->session.status);
	ASSERT(streq(story->session.status, "running"), "%s: status %s", where,
	       story->session.status);
	ASSERT(streq(or_empty(story->session.session_id), story->session_id),
	       "%s: the conversation became %s", where, or_empty(story->session.session_id));
	assert_flag(&story->session, "--resume", story->session_id);
	assert_agents(1, where);
	ASSERT(container_count(story->engine, label(story)) == 1, "%s: %u containers", where,
	       container_count(story->engine, label(story)));
}

/* The engine has nothing of any session any more. */
static void assert_freed(const struct story *story, const char *where)
{
	assert_agents(0, where);
	const char *left = engine_belongings(story->engine);
	ASSERT(!*left, "%s: left:\n%s", where, left);
}

/* ---- cuts -------------------------------------------------------------------------------- */

static void add(struct story *story)
{
	session_add(&story->session, NULL, "deck",
		    WORDS("--container", "--image", PLAIN_IMAGE, "--network", "internal",
			  "--engine", through_proxy(story)));
}

static void prepare(struct story *story, enum engine engine)
{
	*story = (struct story){ .engine = engine };
	engine_prepare(engine, PLAIN_IMAGE);
	put_proxy(story);
}

/* From now on every start resumes. */
static void have_a_turn(struct story *story)
{
	session_start(&story->session, NULL);
	session_say(&story->session, MARKER);
	story->session_id = story->session.session_id;
	must(story, WORDS("session", "stop", SESSION), "at first");
}

static void begin(struct story *story, enum engine engine)
{
	prepare(story, engine);
	add(story);
	have_a_turn(story);
}

static void come_back(struct story *story)
{
	set_cut(story, 0, "before");
	session_start(&story->session, NULL);
	assert_came_back(&story->session, story->session_id, MARKER, 1);
	must(story, WORDS("remove", "--force", SESSION), "in the end");
	assert_freed(story, "in the end");
}

struct operation {
	const char *name;
	const char *const *words;
	/* Before each cut; where: for messages. */
	void (*set_up)(struct story *story, const char *where);
	/* After it.  turn: of the cuts, to take another way each time. */
	void (*converge)(struct story *story, unsigned turn, const char *where);
	unsigned least; /* cuts, or the test means nothing */
};

static const char *calls_of(struct story *story, const struct operation *operation)
{
	operation->set_up(story, operation->name);
	set_cut(story, 0, "before");
	must(story, operation->words, operation->name);
	const char *calls = calls_made(story);
	operation->converge(story, 0, operation->name);
	return calls;
}

static void cut(struct story *story, const struct operation *operation, unsigned call,
		const char *when)
{
	const char *where = kept("%s killed %s call %u", operation->name, when, call);
	operation->set_up(story, where);
	set_cut(story, call, when);
	struct reply reply = command(story, operation->words);
	where = kept("%s of:\n%s", where, calls_made(story));
	set_cut(story, 0, "before");
	ASSERT(reply.status == KILLED, "%s: it ended with %d: %s%s", where, reply.status,
	       reply.errors, reply.output);
	story->cuts++;
	operation->converge(story, story->cuts, where);
}

/* After a call that only looks, all is as before it.  Docker: before each call as well. */
static void cut_everywhere(struct story *story, const struct operation *operation)
{
	const unsigned before = story->cuts;
	unsigned call = 0;
	const char *calls = calls_of(story, operation);
	for (const char *line = calls; *line; line = strchr(line, '\n') + 1) {
		call++;
		if (story->engine == ENGINE_DOCKER)
			cut(story, operation, call, "before");
		if (!starts_with(line, "GET ") && !starts_with(line, "HEAD "))
			cut(story, operation, call, "after");
	}
	print_message("%s: %u cuts at its %u calls\n", operation->name, story->cuts - before, call);
	ASSERT(story->cuts - before >= operation->least, "%s asks the engine only:\n%s",
	       operation->name, calls);
}

/* ---- start ------------------------------------------------------------------------------- */

static void keep_container(struct story *story, const char *where)
{
	must(story, WORDS("session", "stop", SESSION), where);
	ASSERT(container_count(story->engine, label(story)) == 1, "%s: no container", where);
}

static void keep_nothing(struct story *story, const char *where)
{
	must(story, WORDS("session", "stop", SESSION), where);
	must(story, WORDS("session", "eject", SESSION), where);
	assert_freed(story, where);
}

/* The same again, or what brings all back, or a stop first. */
static void start_again(struct story *story, unsigned turn, const char *where)
{
	enum { WAYS = 3 };
	if (turn % WAYS == 1) {
		struct reply reply = deck_look(WORDS("recover"));
		ASSERT(reply.status == 0, "%s: recover: %s%s", where, reply.errors, reply.output);
	}
	if (turn % WAYS == 2) {
		must(story, WORDS("session", "stop", SESSION), where);
		assert_agents(0, where);
	}
	must(story, WORDS("session", "start", SESSION), where);
	assert_one(story, where);
}

static void start_is_cut(enum engine engine)
{
	const struct operation operations[] = {
		{ "a start of tier 1", WORDS("session", "start", SESSION), keep_container,
		  start_again, 1 },
		{ "a start of tier 2", WORDS("session", "start", SESSION), keep_nothing,
		  start_again, 4 },
	};
	struct story story;
	begin(&story, engine);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		cut_everywhere(&story, &operations[i]);
	must(&story, WORDS("session", "stop", SESSION), "in the end");
	come_back(&story);
}

TEST(ContainerStartKilledAtEachCallConvergesDocker)
{
	start_is_cut(ENGINE_DOCKER);
}

TEST(ContainerStartKilledAtEachCallConvergesPodman)
{
	start_is_cut(ENGINE_PODMAN);
}

/* ---- stop and eject ---------------------------------------------------------------------- */

/* A stop needs the engine only for what is paused. */
static void be_paused(struct story *story, const char *where)
{
	must(story, WORDS("session", "start", SESSION), where);
	const char *id = engine_say(story->engine, WORDS("ps", "--quiet", "--filter",
							 kept("label=%s", label(story))));
	(void)engine_say(story->engine, WORDS("pause", id));
}

static void stop_again(struct story *story, unsigned turn UNUSED, const char *where)
{
	must(story, WORDS("session", "stop", SESSION), where);
	assert_agents(0, where);
	ASSERT(container_count(story->engine, label(story)) == 1, "%s: not one container", where);
}

/* The first start that needs no container, or the second removal. */
static void eject_again(struct story *story, unsigned turn, const char *where)
{
	if (turn % 2) {
		must(story, WORDS("session", "start", SESSION), where);
		assert_one(story, where);
		must(story, WORDS("session", "stop", SESSION), where);
	}
	must(story, WORDS("session", "eject", SESSION), where);
	assert_freed(story, where);
}

static void have_container(struct story *story, const char *where)
{
	must(story, WORDS("session", "start", SESSION), where);
	keep_container(story, where);
}

static void stop_is_cut(enum engine engine)
{
	const struct operation stop = { "a stop of what is paused",
					WORDS("session", "stop", SESSION), be_paused, stop_again,
					1 };
	const struct operation eject = { "an eject", WORDS("session", "eject", SESSION),
					 have_container, eject_again, 3 };
	struct story story;
	begin(&story, engine);
	if (engine == ENGINE_DOCKER)
		cut_everywhere(&story, &stop);
	cut_everywhere(&story, &eject);
	come_back(&story);
}

TEST(ContainerStopAndEjectKilledAtEachCallConvergeDocker)
{
	stop_is_cut(ENGINE_DOCKER);
}

TEST(ContainerStopAndEjectKilledAtEachCallConvergePodman)
{
	stop_is_cut(ENGINE_PODMAN);
}

/* ---- the first start, and remove --------------------------------------------------------- */

/* What was cut leaves a session that can be removed, or none. */
static void remove_again(struct story *story, unsigned turn UNUSED, const char *where)
{
	struct reply show = command(story, WORDS("session", "show", SESSION));
	ASSERT(show.status == 0 || show.status == 2, "%s: neither there nor gone: %s", where,
	       show.errors);
	struct reply reply = command(story, WORDS("remove", "--force", SESSION));
	ASSERT(reply.status == show.status, "%s: remove: %d: %s%s", where, reply.status,
	       reply.errors, reply.output);
	ASSERT(!strstr(reply.errors, "is left"), "%s: remove: %s", where, reply.errors);
	assert_freed(story, where);
}

static void have_new(struct story *story, const char *where UNUSED)
{
	set_cut(story, 0, "before");
	add(story);
}

static void have_running(struct story *story, const char *where)
{
	have_new(story, where);
	must(story, WORDS("session", "start", SESSION), where);
}

static void remove_is_cut(enum engine engine)
{
	const struct operation operations[] = {
		{ "a first start", WORDS("session", "start", SESSION), have_new, remove_again, 4 },
		{ "a remove", WORDS("remove", "--force", SESSION), have_running, remove_again, 3 },
	};
	struct story story;
	prepare(&story, engine);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		cut_everywhere(&story, &operations[i]);
}

TEST(ContainerFirstStartAndRemoveKilledAtEachCallLeaveNothingDocker)
{
	remove_is_cut(ENGINE_DOCKER);
}

TEST(ContainerFirstStartAndRemoveKilledAtEachCallLeaveNothingPodman)
{
	remove_is_cut(ENGINE_PODMAN);
}

/* ---- prune ------------------------------------------------------------------------------- */

/* Its engine was silent when it was removed. */
static void have_removed(struct story *story, const char *where)
{
	const char *away = kept("%s.away", story->socket);
	have_running(story, where);
	machine_user_ok(WORDS("mv", story->socket, away));
	struct reply reply = command(story, WORDS("remove", "--force", SESSION));
	machine_user_ok(WORDS("mv", away, story->socket));
	ASSERT(reply.status == 0 && strstr(reply.errors, "is left"), "%s: remove: %d: %s", where,
	       reply.status, reply.errors);
}

static void prune_to_the_end(struct story *story, const char *where)
{
	must(story, WORDS("prune", "--force"), where);
	assert_freed(story, where);
	const char *left = machine_user_ok(WORDS("find", at_home(".local/state/agentdeck"), "-name",
						 kept("*%s*", story->session.id)));
	ASSERT(!*left, "%s: left: %s", where, left);
}

/* The same again; or its user wants it back, and it has all that it needs. */
static void prune_again(struct story *story, unsigned turn, const char *where)
{
	if (turn % 2 && command(story, WORDS("undo", SESSION)).status == 0) {
		must(story, WORDS("session", "start", SESSION), where);
		assert_agents(1, where);
		must(story, WORDS("remove", "--force", SESSION), where);
	}
	prune_to_the_end(story, where);
}

/* What removes something of ours on this machine. */
static void cut_on_disk(struct story *story, const struct operation *operation)
{
	enum { EACH = 5, LEAST = 3 };
	const char *const *words = deck_words(operation->words);
	unsigned cuts = 0;
	operation->set_up(story, operation->name);
	const struct points all = strace_watch(words), some = strace_sample(&all, EACH);
	prune_to_the_end(story, operation->name);
	for (size_t i = 0; i < some.count; i++) {
		const struct point *point = some.points + i;
		const char *where = kept("%s killed at %s", operation->name, point->line);
		if (!starts_with(point->call, "rename") && !starts_with(point->call, "unlink") &&
		    !starts_with(point->call, "rmdir"))
			continue;
		operation->set_up(story, where);
		cuts += strace_kill(words, point, where);
		prune_to_the_end(story, where);
	}
	print_message("%s: %u cuts on disk\n", operation->name, cuts);
	ASSERT(cuts >= LEAST, "only %u cuts took place", cuts);
}

static void prune_is_cut(enum engine engine)
{
	const struct operation prune = { "a prune", WORDS("prune", "--force"), have_removed,
					 prune_again, 3 };
	struct story story;
	strace_required();
	prepare(&story, engine);
	cut_everywhere(&story, &prune);
	if (engine == ENGINE_DOCKER)
		cut_on_disk(&story, &prune);
}

TEST(ContainerPruneKilledAtEachCallLeavesNothingDocker)
{
	prune_is_cut(ENGINE_DOCKER);
}

TEST(ContainerPruneKilledAtEachCallLeavesNothingPodman)
{
	prune_is_cut(ENGINE_PODMAN);
}

/* ---- launch ------------------------------------------------------------------------------ */

static const char *put_dockerfile(void)
{
	machine_write(at_home("image/Dockerfile"), 0644,
		      kept("FROM %s\nCOPY mark /mark\n", PLAIN_IMAGE));
	machine_write(at_home("image/mark"), 0644, "built\n");
	return at_home("image");
}

/* The session that was launched; false: there is none. */
static bool find_launched(struct story *story)
{
	struct json_object *list = deck_look_ok(WORDS("list", "--json"));
	ASSERT(json_object_array_length(list) <= 1, "several sessions: %s",
	       json_object_to_json_string(list));
	story->session = (struct session){ .title = "deck", .directory = at_home("deck") };
	if (json_object_array_length(list))
		story->session.id = kept("%s", json_get_string(json_object_array_get_idx(list, 0),
							       "id", ""));
	return story->session.id;
}

/* Its agent has the conversation of its manifest, whether or not it is a new one. */
static void assert_launched(struct story *story, const char *where)
{
	WAIT_FOR((session_look(&story->session), streq(story->session.status, "running")),
		 "%s: status %s", where, story->session.status);
	ASSERT(strvec_contains(machine_argv(story->session.agent_pid),
			       or_empty(story->session.session_id)),
	       "%s: its agent has another conversation than %s", where,
	       or_empty(story->session.session_id));
	assert_agents(1, where);
	ASSERT(container_count(story->engine, label(story)) == 1, "%s: not one container", where);
}

static void have_none(struct story *story, const char *where)
{
	ASSERT(!find_launched(story), "%s: a session is left", where);
	assert_freed(story, where);
}

/* What was only added is not to run yet, so nothing brings it back. */
static void launch_again(struct story *story, unsigned turn, const char *where)
{
	const bool is_added = find_launched(story);
	if (is_added && turn % 2)
		must(story, WORDS("recover"), where);
	if (is_added)
		(void)session_look(&story->session);
	if (!is_added)
		must(story, story->launch, where);
	else if (turn % 2 == 0 || streq(story->session.status, "stopped"))
		must(story, WORDS("session", "start", SESSION), where);
	(void)find_launched(story);
	assert_launched(story, where);
	must(story, WORDS("remove", "--force", SESSION), where);
	assert_freed(story, where);
}

static void launch_is_cut(enum engine engine)
{
	struct story story;
	prepare(&story, engine);
	const char *const *const launches[] = {
		WORDS("launch", at_home("deck"), "--agent", "demo", "-t", "deck", "--container",
		      "--engine", through_proxy(&story), "--image", PLAIN_IMAGE, "--network",
		      "internal"),
		WORDS("launch", at_home("deck"), "--agent", "demo", "-t", "deck", "--container",
		      "--engine", through_proxy(&story), "--build", put_dockerfile()),
	};
	machine_make_directory(at_home("deck"));
	for (size_t i = 0; i < ARRAY_SIZE(launches); i++) {
		const struct operation launch = { i ? "a launch with a build" : "a launch",
						  launches[i], have_none, launch_again, 4 };
		story.launch = launches[i];
		cut_everywhere(&story, &launch);
	}
}

TEST(ContainerLaunchKilledAtEachCallConvergesDocker)
{
	launch_is_cut(ENGINE_DOCKER);
}

TEST(ContainerLaunchKilledAtEachCallConvergesPodman)
{
	launch_is_cut(ENGINE_PODMAN);
}

/* ---- restart ----------------------------------------------------------------------------- */

static void have_agent(struct story *story, const char *where)
{
	must(story, WORDS("session", "start", SESSION), where);
	assert_one(story, where);
}

static void restart_is_cut(enum engine engine)
{
	const struct operation restart = { "a restart", WORDS("session", "restart", SESSION),
					   have_agent, start_again, 1 };
	struct story story;
	begin(&story, engine);
	cut_everywhere(&story, &restart);
	must(&story, WORDS("session", "stop", SESSION), "in the end");
	come_back(&story);
}

TEST(ContainerRestartKilledAtEachCallConvergesDocker)
{
	restart_is_cut(ENGINE_DOCKER);
}

TEST(ContainerRestartKilledAtEachCallConvergesPodman)
{
	restart_is_cut(ENGINE_PODMAN);
}

/* ---- another image ----------------------------------------------------------------------- */

static void have_plain(struct story *story, const char *where)
{
	must(story, WORDS("session", "stop", SESSION), where);
	must(story, WORDS("session", "set", SESSION, "recipe.image", PLAIN_IMAGE), where);
	have_container(story, where);
}

static void have_wish_for_another(struct story *story, const char *where)
{
	have_plain(story, where);
	must(story, WORDS("session", "set", SESSION, "recipe.image", LIBRARIES_IMAGE("true")),
	     where);
}

static void image_is_cut(enum engine engine)
{
	const struct operation operations[] = {
		{ "a change of its image",
		  WORDS("session", "set", SESSION, "recipe.image", LIBRARIES_IMAGE("true")),
		  have_plain, start_again, 0 },
		{ "a start with another image", WORDS("session", "start", SESSION),
		  have_wish_for_another, start_again, 4 },
	};
	struct story story;
	engine_prepare_libraries(engine, LIBRARIES_IMAGE("true"), "/bin/true");
	begin(&story, engine);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		cut_everywhere(&story, &operations[i]);
	must(&story, WORDS("session", "stop", SESSION), "in the end");
	come_back(&story);
}

TEST(ContainerChangeOfItsImageKilledAtEachCallConvergesDocker)
{
	image_is_cut(ENGINE_DOCKER);
}

TEST(ContainerChangeOfItsImageKilledAtEachCallConvergesPodman)
{
	image_is_cut(ENGINE_PODMAN);
}

/* ---- tier 3 ------------------------------------------------------------------------------ */

/* podman names the image with "localhost/". */
static void lose_image(struct story *story, const char *where)
{
	must(story, WORDS("session", "stop", SESSION), where);
	must(story, WORDS("session", "eject", SESSION), where);
	const char *image = strstr(engine_belongings(story->engine), "agentdeck/keep:");
	ASSERT(image, "%s: no image is kept", where);
	(void)engine_say(story->engine,
			 WORDS("rmi", "--force", kept("%.*s", (int)strcspn(image, "\n"), image)));
	assert_freed(story, where);
}

/* A start without the consent is refused, or all is built already. */
static void rebuild_again(struct story *story, unsigned turn, const char *where)
{
	if (turn % 2) {
		struct reply reply = command(story, WORDS("session", "start", SESSION));
		ASSERT(reply.status == 0 || strstr(reply.errors, "--rebuild"), "%s: start: %d: %s",
		       where, reply.status, reply.errors);
	}
	must(story, WORDS("session", "start", "--rebuild", SESSION), where);
	assert_one(story, where);
}

static void rebuild_is_cut(enum engine engine)
{
	const struct operation rebuild = { "a start of tier 3",
					   WORDS("session", "start", "--rebuild", SESSION),
					   lose_image, rebuild_again, 4 };
	struct story story;
	prepare(&story, engine);
	session_add(&story.session, NULL, "deck",
		    WORDS("--container", "--build", put_dockerfile(), "--engine",
			  through_proxy(&story)));
	have_a_turn(&story);
	cut_everywhere(&story, &rebuild);
	must(&story, WORDS("session", "stop", SESSION), "in the end");
	come_back(&story);
}

TEST(ContainerRebuildKilledAtEachCallConvergesDocker)
{
	rebuild_is_cut(ENGINE_DOCKER);
}

TEST(ContainerRebuildKilledAtEachCallConvergesPodman)
{
	rebuild_is_cut(ENGINE_PODMAN);
}
