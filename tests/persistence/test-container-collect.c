/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a session has in an engine goes with it: at once by purge, later by prune when the engine
 * was silent, and by doctor --fix when its manifest is gone.  What is another's stays.
 */
#include "persistence/inside.h"
#include "persistence/steps.h"

#include <string.h>

static struct reply must(const char *const *words, const char *where)
{
	struct reply reply = deck_look(words);
	ASSERT(reply.status == 0, "%s: %s: %d %s%s", where, words[0], reply.status, reply.errors,
	       reply.output);
	return reply;
}

/* It has a container, a network and the name of an image, and is stopped. */
static void begin_stopped(struct inside *inside, enum engine engine)
{
	inside_begin_with(inside, engine, NULL, WORDS("--network", "internal"));
	must(WORDS("session", "stop", inside->session.id), "at first");
	const char *all = engine_belongings(engine);
	ASSERT(strstr(all, "container ") && strstr(all, "network ") && strstr(all, "image "),
	       "at first the engine has only:\n%s", all);
}

/* Whoever asked it just now may have started podman's service again. */
static void silence(enum engine engine)
{
	engine_stop(engine);
	WAIT_FOR(!engine_answers(engine) || (engine_stop(engine), false), "it still answers");
}

static void assert_freed(const struct inside *inside, const char *where)
{
	const char *left = engine_belongings(inside->engine);
	ASSERT(!*left, "%s: left:\n%s", where, left);
	assert_forgotten(inside->session.id, where);
	left = machine_user_ok(WORDS("find", at_home(".local/state/agentdeck"), "-name",
				     kept("*%s*", inside->session.id)));
	ASSERT(!*left, "%s: left: %s", where, left);
}

/* ---- purge and prune --------------------------------------------------------------------- */

static void purge_it(enum engine engine)
{
	struct inside inside;
	begin_stopped(&inside, engine);
	const char *directory = kept("%s/%s", at_home(".local/state/agentdeck/default"),
				     inside.name);
	ASSERT(machine_exists(kept("%s/home", directory)), "it has no home in %s", directory);
	silence(engine);
	struct reply reply = deck_look(WORDS("purge", "--force", inside.session.id));
	ASSERT(reply.status != 0, "purge with a silent engine: %s%s", reply.errors, reply.output);
	must(WORDS("session", "show", inside.session.id), "after a refusal");
	ASSERT(machine_exists(kept("%s/home", directory)), "a refused purge took its home");
	engine_start(engine);
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
	must(WORDS("purge", "--force", inside.session.id), "in the end");
	assert_freed(&inside, "after purge");
	ASSERT(!machine_exists(directory), "%s is left", directory);
}

TEST(ContainerPurgeLeavesNothingDocker)
{
	purge_it(ENGINE_DOCKER);
}

TEST(ContainerPurgeLeavesNothingPodman)
{
	purge_it(ENGINE_PODMAN);
}

/* Its agent goes on as if nobody had asked. */
TEST(ContainerPurgeThatIsRefusedEndsNothing)
{
	struct inside inside;
	inside_begin(&inside, ENGINE_DOCKER);
	engine_hang(ENGINE_DOCKER);
	struct reply reply = deck_look(WORDS("purge", "--force", inside.session.id));
	ASSERT(reply.status != 0, "purge with a silent engine: %s%s", reply.errors, reply.output);
	ASSERT(machine_alive(&inside.agent), "a refused purge has ended the agent");
	engine_resume(ENGINE_DOCKER);
	assert_same_agent(&inside, "after a refusal");
	must(WORDS("purge", "--force", inside.session.id), "in the end");
	assert_freed(&inside, "after purge");
}

static void prune_what_was_left(enum engine engine)
{
	struct inside inside;
	begin_stopped(&inside, engine);
	silence(engine);
	struct reply reply = must(WORDS("remove", "--force", inside.session.id), "silent");
	ASSERT(strstr(reply.errors, "is left"), "remove: %s%s", reply.errors, reply.output);
	reply = deck_look(WORDS("prune", "--force"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "--leave-containers"), "prune: %d %s%s",
	       reply.status, reply.errors, reply.output);
	engine_start(engine);
	ASSERT(container_count(engine, inside_label(&inside)) == 1, "who removed it?");
	must(WORDS("prune", "--force"), "when the engine is back");
	assert_freed(&inside, "after prune");
}

TEST(ContainerOfASilentEngineGoesWithPruneDocker)
{
	prune_what_was_left(ENGINE_DOCKER);
}

TEST(ContainerOfASilentEngineGoesWithPrunePodman)
{
	prune_what_was_left(ENGINE_PODMAN);
}

/* The engine may never come back: then its user gives up what it has.  If it does come back,
 * nothing says any more whose container that was. */
static void prune_without_its_engine(enum engine engine)
{
	struct inside inside;
	begin_stopped(&inside, engine);
	silence(engine);
	must(WORDS("remove", "--force", inside.session.id), "silent");
	must(WORDS("prune", "--force", "--leave-containers"), "silent");
	assert_forgotten(inside.session.id, "after prune");
	const char *left = machine_user_ok(WORDS("find", at_home(".local/state/agentdeck"), "-name",
						 kept("*%s*", inside.session.id)));
	ASSERT(!*left, "left: %s", left);
	engine_start(engine);
	ASSERT(container_count(engine, inside_label(&inside)) == 1, "who removed it?");
	must(WORDS("doctor", "--fix", "--force"), "when the engine is back");
	ASSERT(container_count(engine, inside_label(&inside)) == 0, "nobody can remove it");
	(void)engine_say(engine, WORDS("rmi", kept("agentdeck/keep:%s", inside.name)));
}

TEST(ContainerIsLeftToItsUserWithPruneDocker)
{
	prune_without_its_engine(ENGINE_DOCKER);
}

TEST(ContainerIsLeftToItsUserWithPrunePodman)
{
	prune_without_its_engine(ENGINE_PODMAN);
}

/* ---- doctor --fix ------------------------------------------------------------------------ */

#define RUNNING  "ad-0bbbbbbb-running-demo"
#define FOREIGN  "ad-0ccccccc-foreign-demo"
#define STRANGER "stranger"

/* The action for what has this name, which may begin with "localhost/"; "": it is not listed. */
static const char *action_of(const struct reply *reply, const char *name)
{
	struct json_object *found = json_get_array(reply->json, "found");
	ASSERT(found, "doctor: %d %s%s", reply->status, reply->errors, reply->output);
	for (size_t i = 0; i < json_object_array_length(found); i++) {
		struct json_object *stray = json_object_array_get_idx(found, i);
		if (streq(json_get_string(stray, "name", ""), name))
			return json_get_string(stray, "action", "");
	}
	return "";
}

static void make_others(enum engine engine, const char *deck)
{
	(void)engine_say(engine, WORDS("run", "--detach", "--name", RUNNING, "--label",
				       "io.agentdeck.instance=0bbbbbbb", "--label",
				       kept("io.agentdeck.home=%s", deck), "--entrypoint",
				       "/bin/sh", PLAIN_IMAGE, "-c", "sleep 1000"));
	(void)engine_say(engine, WORDS("create", "--name", FOREIGN, "--label",
				       "io.agentdeck.instance=0ccccccc", "--label",
				       "io.agentdeck.home=another", "--entrypoint", "/bin/sh",
				       PLAIN_IMAGE));
	(void)engine_say(engine, WORDS("create", "--name", STRANGER, "--entrypoint", "/bin/sh",
				       PLAIN_IMAGE));
}

static void add_lost(struct session *lost, enum engine engine)
{
	session_add(lost, NULL, "lost",
		    WORDS("--container", "--image", PLAIN_IMAGE, "--engine", engine_address(engine),
			  "--network", "internal"));
	session_start(lost, NULL);
	must(WORDS("session", "stop", lost->id), "at first");
}

static void assert_actions(const struct reply *reply, const char *lost)
{
	ASSERT(streq(action_of(reply, lost), "free") &&
		       streq(action_of(reply, kept("%s-net", lost)), "free") &&
		       streq(action_of(reply, RUNNING), "keep") &&
		       streq(action_of(reply, FOREIGN), "") &&
		       streq(action_of(reply, STRANGER), ""),
	       "doctor: %s", reply->output);
}

static void assert_others(enum engine engine)
{
	ASSERT(streq(or_empty(container_state(engine, RUNNING)), "running") &&
		       container_state(engine, FOREIGN) && container_state(engine, STRANGER),
	       "doctor --fix has removed what is not ours to remove");
}

static void remove_others(enum engine engine, const char *lost)
{
	(void)engine_say(engine, WORDS("rm", "--force", RUNNING, FOREIGN, STRANGER));
	(void)engine_say(engine, WORDS("rmi", kept("agentdeck/keep:%s", lost)));
}

static void doctor_frees(enum engine engine)
{
	struct inside inside;
	struct session lost;
	begin_stopped(&inside, engine);
	const char *deck = container_field(engine, inside.name,
					   "{{index .Config.Labels \"io.agentdeck.home\"}}");
	make_others(engine, deck);
	add_lost(&lost, engine);
	const char *name = engine_say(engine,
				      WORDS("ps", "--all", "--format", "{{.Names}}", "--filter",
					    kept("label=io.agentdeck.instance=%s", lost.id)));
	machine_user_ok(
		WORDS("rm", "-r", kept("%s/%s", at_home(".local/state/agentdeck/default"), name)));
	/* Nothing of an engine that does not answer counts as gone. */
	silence(engine);
	struct reply reply = must(WORDS("doctor", "--fix", "--force", "--json"), "silent");
	ASSERT(streq(action_of(&reply, engine_address(engine)), "unknown"), "doctor: %s",
	       reply.output);
	engine_start(engine);
	(void)engine_try(engine, WORDS("start", RUNNING));
	reply = must(WORDS("doctor", "--fix", "--dry-run", "--json"), "dry");
	assert_actions(&reply, name);
	ASSERT(container_state(engine, name), "--dry-run has removed it");
	reply = must(WORDS("doctor", "--fix", "--force", "--json"), "doctor");
	assert_actions(&reply, name);
	ASSERT(!container_state(engine, name), "it is still there");
	ASSERT(!strstr(engine_belongings(engine), kept("%s-net", name)), "its network is left");
	assert_others(engine);
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
	remove_others(engine, name);
}

TEST(ContainerWithoutASessionIsFreedDocker)
{
	doctor_frees(ENGINE_DOCKER);
}

TEST(ContainerWithoutASessionIsFreedPodman)
{
	doctor_frees(ENGINE_PODMAN);
}
