/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A second agent in one container is a session of its own: each of the two stops, dies and comes
 * back without the other one, and the container ends with the last.
 */
#include "persistence/inside.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <string.h>

#define GUEST_MARKER "the lantern is above the door"

struct pair {
	struct inside owner;
	struct session guest;
	const char *guest_conversation;
	struct process guest_agent;
	unsigned guest_turns;
};

static struct process guest_agent_of(struct pair *pair)
{
	(void)session_look(&pair->guest);
	return machine_process(pair->guest.agent_pid);
}

/* Both run in the one container, each with its own agent. */
static void assert_both(struct pair *pair, const char *when)
{
	assert_running(&pair->owner, when);
	pair->guest_agent = guest_agent_of(pair);
	ASSERT(streq(pair->guest.status, "running"), "the guest is %s %s", pair->guest.status,
	       when);
	ASSERT(strstr(machine_cgroup(pair->guest_agent.pid), pair->owner.id),
	       "the guest is not in the container %s", when);
	ASSERT(pair->guest_agent.pid != pair->owner.agent.pid, "one agent %s", when);
	assert_agents(2, when);
	ASSERT(container_count(pair->owner.engine, "io.agentdeck.instance") == 1,
	       "not one container %s", when);
}

static void begin_guest(struct pair *pair)
{
	struct json_object *made = deck_ok(NULL,
					   WORDS("launch", "--in", pair->owner.session.id,
						 "--agent", "demo", "-t", "second", "--json"));
	pair->guest = (struct session){ .title = "second",
					.directory = pair->owner.session.directory,
					.id = json_get_string(made, "id", NULL) };
	(void)session_look(&pair->guest);
	session_say(&pair->guest, GUEST_MARKER);
	(void)session_look(&pair->guest);
	pair->guest_conversation = pair->guest.session_id;
}

static void begin(struct pair *pair, enum engine engine)
{
	*pair = (struct pair){ .guest_turns = 1 };
	inside_begin(&pair->owner, engine);
	begin_guest(pair);
	ASSERT(pair->guest_conversation && !streq(pair->guest_conversation, pair->owner.session_id),
	       "both have the conversation %s", or_empty(pair->guest_conversation));
	assert_both(pair, "at first");
}

static void assert_guest_back(struct pair *pair, const char *when)
{
	assert_came_back(&pair->guest, pair->guest_conversation, GUEST_MARKER, pair->guest_turns);
	pair->guest_turns++;
	assert_both(pair, when);
}

static void assert_ended(const struct pair *pair)
{
	const char *name = pair->owner.name;
	WAIT_FOR(streq(or_empty(container_state(pair->owner.engine, name)), "exited"),
		 "the container is %s", or_empty(container_state(pair->owner.engine, name)));
	assert_agents(0, "after the last stop");
}

static void stops_ends_its_own(enum engine engine)
{
	struct pair pair;
	begin(&pair, engine);
	const char *id = pair.owner.id;
	const struct process guest = pair.guest_agent;
	session_stop(&pair.owner.session, NULL);
	ASSERT(!machine_alive(&pair.owner.agent), "the owner's agent runs on");
	ASSERT(machine_alive(&guest) && guest_agent_of(&pair).pid == guest.pid,
	       "the guest did not outlive the owner's stop");
	session_start(&pair.owner.session, NULL);
	assert_back(&pair.owner, id);
	assert_both(&pair, "after the owner's start");
	ASSERT(pair.guest_agent.pid == guest.pid, "another guest after the owner's start");
	const struct process owner = pair.owner.agent;
	session_stop(&pair.guest, NULL);
	ASSERT(!machine_alive(&guest) && machine_alive(&owner), "the guest's stop took the owner");
	session_start(&pair.guest, NULL);
	assert_guest_back(&pair, "after the guest's start");
	session_stop(&pair.owner.session, NULL);
	session_stop(&pair.guest, NULL);
	assert_ended(&pair);
	/* The guest alone: the owner's container, without the owner's agent. */
	session_start(&pair.guest, NULL);
	assert_agents(1, "after the guest's start alone");
	ASSERT(streq(or_empty(container_field(engine, pair.owner.name, "{{.Id}}")), id),
	       "another container");
	session_stop(&pair.guest, NULL);
	assert_ended(&pair);
	(void)deck_ok(NULL, WORDS("remove", pair.guest.id, "--json"));
}

TEST(ContainerOfTwoEndsWithTheLastDocker)
{
	stops_ends_its_own(ENGINE_DOCKER);
}

TEST(ContainerOfTwoEndsWithTheLastPodman)
{
	stops_ends_its_own(ENGINE_PODMAN);
}

/* The parent of its agent. */
static struct process guest_capsule(const struct pair *pair)
{
	const char *pid = machine_root_ok(
		WORDS("ps", "-o", "ppid=", "-p", kept("%d", (int)pair->guest_agent.pid)));
	return machine_process((pid_t)strtol(pid, NULL, 10));
}

static void recover(struct pair *pair, const char *when)
{
	(void)deck(NULL, WORDS("recover"));
	(void)session_look(&pair->owner.session);
	(void)session_look(&pair->guest);
	ASSERT(streq(pair->owner.session.status, "running") && streq(pair->guest.status, "running"),
	       "%s: %s and %s", when, pair->owner.session.status, pair->guest.status);
}

static void come_back(enum engine engine)
{
	struct pair pair;
	begin(&pair, engine);
	const char *id = pair.owner.id;
	/* The guest's capsule: its agent ends with it, and no other one. */
	struct process capsule = guest_capsule(&pair), before = pair.guest_agent;
	machine_destroy(&capsule);
	WAIT_FOR(!machine_alive(&before), "the agent outlived its capsule");
	assert_same_agent(&pair.owner, "after the end of the guest's capsule");
	recover(&pair, "after the end of the guest's capsule");
	assert_guest_back(&pair, "after the end of the guest's capsule");
	/* The first process: both end, and both come back in the same container. */
	capsule = container_process(engine, pair.owner.name);
	machine_destroy(&capsule);
	recover(&pair, "after the end of the container");
	assert_back(&pair.owner, id);
	assert_guest_back(&pair, "after the end of the container");
	(void)engine_say(engine, WORDS("rm", "--force", pair.owner.name));
	recover(&pair, "after its removal");
	assert_back(&pair.owner, NULL);
	assert_guest_back(&pair, "after its removal");
	(void)deck_ok(NULL, WORDS("remove", "--force", pair.guest.id, "--json"));
	assert_same_agent(&pair.owner, "after the removal of the guest");
}

TEST(ContainerOfTwoComesBackDocker)
{
	come_back(ENGINE_DOCKER);
}

TEST(ContainerOfTwoComesBackPodman)
{
	come_back(ENGINE_PODMAN);
}

static void assert_refused(const char *const *words, const char *text)
{
	const struct reply reply = deck(NULL, words);
	ASSERT(reply.status != 0 && strstr(reply.errors, text), "%s %s: %d, %s", words[0], words[1],
	       reply.status, reply.errors);
}

/* The container lacks what the recipe of its owner names now. */
static void keeps_both_without_a_mount(struct pair *pair)
{
	const char *owner = pair->owner.session.id, *guest = pair->guest.id;
	machine_make_directory(at_home("later"));
	(void)deck_ok(NULL, WORDS("set", owner, "recipe.mount",
				  kept("%s:/later:ro", at_home("later")), "--json"));
	assert_refused(WORDS("restart", owner), "lives in this container, too");
	assert_same_agent(&pair->owner, "after a restart that was refused");
	/* A container that does not answer. */
	(void)deck_ok(NULL, WORDS("stop", guest, "--json"));
	(void)engine_say(ENGINE_DOCKER, WORDS("pause", pair->owner.name));
	assert_refused(WORDS("start", guest), "lives in this container, too");
	assert_same_agent(&pair->owner, "after a start that was refused");
	(void)deck_ok(NULL, WORDS("start", guest, "--json"));
	assert_guest_back(pair, "beside an owner with another recipe");
	(void)deck_ok(NULL, WORDS("stop", owner, "--json"));
	assert_refused(WORDS("start", owner), "lives in this container, too");
	const pid_t before = pair->guest_agent.pid;
	ASSERT(guest_agent_of(pair).pid == before, "another guest");
	(void)deck_ok(NULL, WORDS("stop", guest, "--json"));
	session_start(&pair->owner.session, NULL);
	inside_look(&pair->owner);
}

TEST(ContainerOfTwoTakesNothingFromTheOther)
{
	struct pair pair;
	begin(&pair, ENGINE_DOCKER);
	const char *owner = pair.owner.session.id, *guest = pair.guest.id;
	assert_refused(WORDS("remove", "--force", owner), "lives in its container");
	assert_refused(WORDS("eject", "--force", owner), "lives in this container, too");
	assert_refused(WORDS("eject", "--force", guest), "has no container of its own");
	assert_refused(WORDS("launch", "--in", guest, "--agent", "demo"),
		       "no container of its own");
	assert_refused(WORDS("session", "limit", guest, "--tasks-max", "100"), "of the container");
	assert_same_agent(&pair.owner, "after what was refused");
	assert_both(&pair, "after what was refused");
	const struct reply inside = deck(NULL, WORDS("exec", guest, "--", "pwd"));
	ASSERT(inside.status == 0 && starts_with(inside.output, pair.guest.directory), "exec: %s%s",
	       inside.output, inside.errors);
	(void)deck_ok(NULL,
		      WORDS("export", guest, at_home("second.parcel"), "--running", "--json"));
	struct json_object *strays = deck_look_ok(WORDS("prune", "--dry-run", "--json"));
	ASSERT(!strstr(json_print(strays), owner) && !strstr(json_print(strays), guest),
	       "prune takes them for strays: %s", json_print(strays));
	/* A fork of it lives there, too. */
	struct json_object *made = deck_ok(NULL, WORDS("fork", guest, "-t", "third", "--json"));
	struct session third = { .title = "third", .id = json_get_string(made, "id", NULL) };
	session_start(&third, NULL);
	ASSERT(strstr(machine_cgroup(third.agent_pid), pair.owner.id), "the fork is elsewhere");
	assert_agents(3, "with a fork");
	(void)deck_ok(NULL, WORDS("remove", "--force", third.id, "--json"));
	(void)deck_ok(NULL, WORDS("remove", "--force", guest, "--json"));
	assert_same_agent(&pair.owner, "after the removal of both");
	/* What was removed comes back, into the same container. */
	(void)deck_ok(NULL, WORDS("undo", guest, "--json"));
	session_start(&pair.guest, NULL);
	assert_guest_back(&pair, "after undo");
	keeps_both_without_a_mount(&pair);
	(void)deck_ok(NULL, WORDS("remove", "--force", guest, "--json"));
}

/* Tier 3: the image is gone, and the guest alone asks for it. */
TEST(ContainerOfTwoIsBuiltAgain)
{
	struct pair pair = { .guest_turns = 1 };
	const char *directory = at_home("context"), *guest;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	machine_make_directory(directory);
	machine_write(kept("%s/Dockerfile", directory), 0644, "FROM " PLAIN_IMAGE "\n");
	session_add(&pair.owner.session, NULL, "deck",
		    WORDS("--container", "--build", directory, "--engine",
			  engine_address(ENGINE_DOCKER)));
	session_start(&pair.owner.session, NULL);
	begin_guest(&pair);
	guest = pair.guest.id;
	inside_look(&pair.owner);
	(void)deck_ok(NULL, WORDS("stop", guest, "--json"));
	session_stop(&pair.owner.session, NULL);
	const char *image = container_field(ENGINE_DOCKER, pair.owner.name, "{{.Image}}");
	(void)engine_say(ENGINE_DOCKER, WORDS("rm", "--force", pair.owner.name));
	(void)engine_say(ENGINE_DOCKER, WORDS("rmi", "--force", image));
	assert_refused(WORDS("start", guest), "needs a rebuild");
	(void)deck_ok(NULL, WORDS("start", "--rebuild", guest, "--json"));
	session_start(&pair.owner.session, NULL);
	inside_look(&pair.owner);
	assert_guest_back(&pair, "after the build");
	(void)deck_ok(NULL, WORDS("remove", "--force", guest, "--json"));
}

/* ---- kills ----------------------------------------------------------------------------------- */

enum { EACH = 2 };

/* The pane begins the agent where the command was killed before it could. */
static void await_agents(unsigned expected, const char *where)
{
	const char *seen = NULL;
	WAIT_FOR((seen = machine_root(WORDS("pgrep", "-c", "-x", "agentdeck-demo-")).output,
		  streq(seen, kept("%u\n", expected))),
		 "%s: %s agents instead of %u", where, seen, expected);
}

static void assert_guest_lives(struct pair *pair, unsigned agents, const char *where)
{
	await_agents(agents, where);
	WAIT_FOR((pair->guest_agent = guest_agent_of(pair)).pid, "%s: no agent", where);
	ASSERT(streq(pair->guest.status, "running") && pair->guest_agent.pid &&
		       streq(or_empty(pair->guest.session_id), pair->guest_conversation),
	       "%s: the guest is %s, with %s", where, pair->guest.status,
	       or_empty(pair->guest.session_id));
	ASSERT(container_count(pair->owner.engine, "io.agentdeck.instance") == 1,
	       "%s: not one container", where);
}

/* The same again, or what brings all back, or a stop first. */
static void converge(struct pair *pair, unsigned turn, unsigned agents, const char *where)
{
	const char *guest = pair->guest.id;
	if (turn % 3 == 1)
		(void)deck_look(WORDS("recover"));
	if (turn % 3 == 2)
		(void)deck_look_ok(WORDS("session", "stop", guest, "--json"));
	(void)deck_look_ok(WORDS("session", "start", guest, "--json"));
	assert_guest_lives(pair, agents, where);
	(void)deck_look_ok(WORDS("session", "stop", guest, "--json"));
	await_agents(agents - 1, where);
}

/* The guest is stopped, and so many agents are to run when it is started. */
static void cut_start(struct pair *pair, unsigned agents)
{
	const char *const *words = deck_words(
		WORDS("session", "start", pair->guest.id, "--no-wait"));
	const struct points all = strace_watch(words), some = strace_sample(&all, EACH);
	unsigned cuts = 0;
	converge(pair, 0, agents, "at first");
	for (size_t i = 0; i < some.count; i++) {
		const char *where = kept("start killed at %s", some.points[i].line);
		cuts += strace_kill(words, &some.points[i], where);
		converge(pair, cuts, agents, where);
	}
	print_message("%u cuts\n", cuts);
	ASSERT(cuts > EACH, "only %u cuts took place", cuts);
}

/* A stop of the owner, at each step: the guest lives. */
static void cut_stop(struct pair *pair)
{
	const char *owner = pair->owner.session.id;
	const char *const *words = deck_words(WORDS("session", "stop", owner));
	const struct points all = strace_watch(words), some = strace_sample(&all, EACH);
	for (size_t i = 0; i < some.count; i++) {
		const char *where = kept("stop killed at %s", some.points[i].line);
		(void)deck_look_ok(WORDS("session", "start", owner, "--json"));
		(void)strace_kill(words, &some.points[i], where);
		(void)deck_look_ok(WORDS("session", "stop", owner, "--json"));
		const pid_t before = pair->guest_agent.pid;
		assert_guest_lives(pair, 1, where);
		ASSERT(pair->guest_agent.pid == before, "%s: another guest", where);
	}
}

TEST(ContainerOfTwoKilledAtEachStepConverges)
{
	struct pair pair;
	strace_required();
	begin(&pair, ENGINE_DOCKER);
	(void)deck_look_ok(WORDS("session", "stop", pair.guest.id, "--json"));
	cut_start(&pair, 2);
	(void)deck_look_ok(WORDS("session", "stop", pair.owner.session.id, "--json"));
	cut_start(&pair, 1);
	(void)deck_look_ok(WORDS("session", "start", pair.owner.session.id, "--json"));
	(void)deck_look_ok(WORDS("session", "start", pair.guest.id, "--json"));
	assert_guest_lives(&pair, 2, "before the stops");
	cut_stop(&pair);
	(void)deck_look_ok(WORDS("remove", "--force", pair.guest.id, "--json"));
}
