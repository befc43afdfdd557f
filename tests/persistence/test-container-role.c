/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session whose container is made as a repository's devcontainer.json says.
 */
#include "persistence/faults.h"
#include "persistence/inside.h"
#include "persistence/roles.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <string.h>

#define AT "deck/.devcontainer/"

static void put_dockerfile(const char *more)
{
	machine_write(at_home(AT "Dockerfile"), 0644,
		      kept("FROM %s\nARG MARK=none\nENV BUILT=$MARK\n%s", PLAIN_IMAGE, more));
}

/* Its command on the host would leave a file. */
static void put_role(void)
{
	machine_write(
		at_home(AT "devcontainer.json"), 0644,
		kept("// a role\n{\n\t\"build\": {\"dockerfile\": \"Dockerfile\", "
		     "\"context\": \"..\", \"args\": {\"MARK\": \"built\"}},\n"
		     "\t\"containerEnv\": {\"ROLE\": \"${containerWorkspaceFolderBasename}\"},\n"
		     "\t\"initializeCommand\": [\"touch\", \"%s\"],\n"
		     "\t\"customizations\": {\"agentdeck\": {\"network\": \"none\"}},\n}\n",
		     at_home("initialized")));
	put_dockerfile("");
}

static struct reply add(enum engine engine)
{
	return deck(NULL, WORDS("add", at_home("deck"), "-t", "deck", "--agent", "demo", "--role",
				at_home("deck"), "--engine", engine_address(engine)));
}

static void assert_refused(enum engine engine, const char *why)
{
	struct reply reply = add(engine);
	ASSERT(reply.status != 0 && strstr(reply.errors, why), "it ended with %d: %s%s",
	       reply.status, reply.output, reply.errors);
	ASSERT(!*engine_belongings(engine), "the engine has\n%s", engine_belongings(engine));
}

static const char *environment_of(pid_t pid)
{
	return machine_root_ok(
		WORDS("sh", "-c", "tr '\\0' '\\n' </proc/$1/environ", "sh", kept("%d", (int)pid)));
}

static const char *identity_of(const char *path)
{
	return machine_root_ok(WORDS("stat", "-c", "%d:%i", path));
}

static void assert_as_the_role_says(const struct inside *inside)
{
	const char *second = kept("/proc/%d/root/workspaces/deck", (int)inside->agent.pid);
	ASSERT(streq(identity_of(second), identity_of(at_home("deck"))),
	       "/workspaces/deck is another directory");
	const char *environment = environment_of(inside->agent.pid);
	ASSERT(strstr(environment, "\nROLE=deck\n"), "the agent has\n%s", environment);
	const char *built = container_field(inside->engine, inside->name, "{{.Config.Env}}");
	ASSERT(strstr(built, "BUILT=built"), "the image has %s", built);
	ASSERT(streq(container_field(inside->engine, inside->name, "{{.HostConfig.NetworkMode}}"),
		     "none"),
	       "it has another network");
	ASSERT(!machine_exists(at_home("initialized")), "initializeCommand was run");
}

static void begin(struct inside *inside, enum engine engine)
{
	*inside = (struct inside){ .engine = engine };
	engine_prepare(engine, PLAIN_IMAGE);
	put_role();
	assert_refused(engine, "that you do not trust yet");
	(void)deck_ok(NULL, WORDS("role", "trust", "--json", at_home("deck")));
	put_dockerfile("RUN true\n");
	assert_refused(engine, "has changed since you trusted it");
	put_dockerfile("");
	session_add(&inside->session, NULL, "deck",
		    WORDS("--devcontainer", "--engine", engine_address(engine)));
	session_start(&inside->session, NULL);
	session_say(&inside->session, INSIDE_MARKER);
	assert_running(inside, "at first");
	inside->session_id = inside->session.session_id;
	assert_as_the_role_says(inside);
}

static void lose_container(struct inside *inside)
{
	(void)engine_say(inside->engine, WORDS("rm", "--force", inside->name));
	await_end(inside);
}

/* Its image is there: what the repository says today does not count. */
static void comes_back(enum engine engine)
{
	struct inside inside;
	begin(&inside, engine);
	machine_write(at_home(AT "devcontainer.json"), 0644, "{\"image\": \"other\"}\n");
	lose_container(&inside);
	struct reply reply = deck(NULL, WORDS("session", "start", "--json", inside.session.id));
	ASSERT(reply.status == 0 && strstr(reply.errors, "\"stage\":\"capsule\",\"ms\":null") &&
		       strstr(reply.errors, "\"stage\":null,\"ms\":"),
	       "it ended with %d, and told no stages: %s", reply.status, reply.errors);
	assert_back(&inside, NULL);
	assert_as_the_role_says(&inside);
}

TEST(ContainerOfARoleComesBackDocker)
{
	comes_back(ENGINE_DOCKER);
}

TEST(ContainerOfARoleComesBackPodman)
{
	comes_back(ENGINE_PODMAN);
}

/* ---- commands ---------------------------------------------------------------------------- */

/* Each one adds a line to a file in the session's directory. */
static const char *ran(void)
{
	return or_empty(machine_read(at_home("deck/ran")));
}

static void put_commands(const char *create, const char *start)
{
	machine_write(at_home(AT "devcontainer.json"), 0644,
		      kept("{\"image\": \"%s\",\n\"onCreateCommand\": {\"a\": \"echo a >>ran\", "
			   "\"b\": [\"/bin/sh\", \"-c\", \"echo $ROLE >>ran\"]},\n"
			   "\"postCreateCommand\": \"%s\",\n\"postStartCommand\": \"%s\",\n"
			   "\"containerEnv\": {\"ROLE\": \"b\"}}\n",
			   PLAIN_IMAGE, create, start));
	(void)deck_ok(NULL, WORDS("role", "trust", "--json", at_home("deck")));
}

static void commit_role(void)
{
	(void)machine_user_ok(WORDS("sh", "-c",
				    "cd \"$1\" && git init -q && git add .devcontainer && "
				    "git -c user.name=a -c user.email=a@b commit -qm one",
				    "sh", at_home("deck")));
}

/* A copy in a tree to itself has a container of the role, whose commands run in that tree. */
static void assert_copied(const struct session *session)
{
	struct session copy = { .title = "copy" };
	commit_role();
	struct json_object *object = deck_ok(NULL, WORDS("session", "fork", session->id, "-t",
							 "copy", "--worktree", "--json"));
	copy.id = json_get_string(object, "id", "");
	object = deck_look_ok(WORDS("session", "path", copy.id, "--json"));
	const char *tree = json_get_string(object, "path", "");
	const char *there = or_empty(machine_read(kept("%s/ran", tree)));
	ASSERT(strstr(tree, "/trees/") && streq(there, "a\nb\ncreated\nstarted\n"), "%s/ran:\n%s",
	       tree, there);
	/* Nothing holds its removal up. */
	machine_remove(kept("%s/ran", tree));
}

static void runs_its_commands(enum engine engine)
{
	struct inside inside = { .engine = engine };
	engine_prepare(engine, PLAIN_IMAGE);
	put_commands("echo created >>ran", "echo started >>ran");
	session_add(&inside.session, NULL, "deck",
		    WORDS("--role", at_home("deck"), "--engine", engine_address(engine)));
	session_start(&inside.session, NULL);
	session_say(&inside.session, INSIDE_MARKER);
	assert_running(&inside, "at first");
	inside.session_id = inside.session.session_id;
	ASSERT(streq(ran(), "a\nb\ncreated\nstarted\n"), "at first:\n%s", ran());
	session_restart(&inside.session, NULL);
	assert_back(&inside, inside.id);
	ASSERT(streq(ran(), "a\nb\ncreated\nstarted\nstarted\n"), "after a restart:\n%s", ran());
	machine_remove(at_home("deck/ran"));
	lose_container(&inside);
	session_start(&inside.session, NULL);
	assert_back(&inside, NULL);
	ASSERT(streq(ran(), "a\nb\ncreated\nstarted\n"), "in another container:\n%s", ran());
	assert_copied(&inside.session);
}

TEST(ContainerRunsTheCommandsOfItsRoleDocker)
{
	runs_its_commands(ENGINE_DOCKER);
}

TEST(ContainerRunsTheCommandsOfItsRolePodman)
{
	runs_its_commands(ENGINE_PODMAN);
}

/* The session stays with its tree, and the next start goes on. */
TEST(ContainerSaysWhichCommandOfItsRoleFailed)
{
	struct session session = { .title = "deck" };
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	put_commands("echo created >>ran; echo the anchor is lost; exit 3", "echo started >>ran");
	commit_role();
	struct reply reply = deck(NULL, WORDS("launch", at_home("deck"), "-t", "deck", "--agent",
					      "demo", "--worktree", "--role", at_home("deck"),
					      "--engine", engine_address(ENGINE_DOCKER)));
	ASSERT(reply.status != 0 &&
		       strstr(reply.errors, "postCreateCommand of the role ended with status 3"),
	       "it ended with %d: %s%s", reply.status, reply.output, reply.errors);
	const char *path = strchr(strstr(reply.errors, "its output is in"), '/');
	const char *output = machine_read(kept("%.*s", (int)strcspn(path, ":"), path));
	ASSERT(strstr(or_empty(output), "the anchor is lost"), "%s: %s", path, or_empty(output));
	struct json_object *shown = deck_look_ok(WORDS("session", "show", "deck", "--json"));
	session.id = json_get_string(shown, "id", "");
	shown = deck_look_ok(WORDS("session", "path", session.id, "--json"));
	const char *there = kept("%s/ran", json_get_string(shown, "path", ""));
	ASSERT(strstr(there, "/trees/") && streq(or_empty(machine_read(there)), "a\nb\ncreated\n"),
	       "%s: %s", there, or_empty(machine_read(there)));
	session_start(&session, NULL);
	ASSERT(streq(or_empty(machine_read(there)), "a\nb\ncreated\nstarted\n"), "they ran\n%s",
	       or_empty(machine_read(there)));
	machine_remove(there);
}

/* ---- a kill while they run --------------------------------------------------------------- */

static const char *const events[] = { "onCreate", "updateContent", "postCreate", "postStart" };

/* Each command waits as long as there is a file that holds it. */
static void put_held(struct session *session)
{
	const char *keys = "";
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		keys = kept(
			"%s,\n\"%sCommand\": \"echo %s >>ran; while [ -e hold-%s ]; do sleep 1; "
			"done; echo ended >>ran\"",
			keys, events[i], events[i], events[i]);
	machine_write(at_home(AT "devcontainer.json"), 0644,
		      kept("{\"image\": \"%s\"%s}\n", PLAIN_IMAGE, keys));
	(void)deck_ok(NULL, WORDS("role", "trust", "--json", at_home("deck")));
	session_add(session, NULL, "deck",
		    WORDS("--role", at_home("deck"), "--engine", engine_address(ENGINE_DOCKER)));
}

/* Without another start, too. */
static void assert_stops(struct session *session, const char *owner)
{
	const char *label = kept("label=io.agentdeck.instance=%s", owner), *left;
	session_stop(session, NULL);
	WAIT_FOR((left = engine_say(ENGINE_DOCKER, WORDS("ps", "--quiet", "--filter", label)),
		  !*left),
		 "its container runs: %s", left);
}

/* The next start runs none of those that were begun, but for that of each start, and no agent runs
 * before all have ended. */
static void kill_in_each(struct session *session, bool is_owner)
{
	const char *const *start = deck_words(WORDS("session", "start", session->id));
	const char *expected = "";
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		machine_write(at_home(kept("deck/hold-%s", events[i])), 0644, "");
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		expected = kept("%s%s\n", expected, events[i]);
		struct process starter = machine_background(start, at_home("starter"));
		WAIT_FOR(streq(ran(), expected), "in %s: they ran\n%s%s", events[i], ran(),
			 or_empty(machine_read(at_home("starter"))));
		assert_agents(0, events[i]);
		machine_destroy(&starter);
		if (i == 0 && is_owner)
			assert_stops(session, session->id);
		machine_remove(at_home(kept("deck/hold-%s", events[i])));
	}
	struct reply reply = deck(NULL, WORDS("session", "start", session->id));
	ASSERT(reply.status == 0, "it ended with %d: %s", reply.status, reply.errors);
	ASSERT(streq(ran(), kept("%spostStart\nended\n", expected)), "they ran\n%s", ran());
	assert_agents(1, "in the end");
}

/* Those of the container are once in what ran, and that of the start is the last. */
static void assert_ran_once(const char *where)
{
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		const char *found = strstr(ran(), events[i]);
		ASSERT(found && (streq(events[i], "postStart") || !strstr(found + 1, events[i])),
		       "%s: they ran\n%s", where, ran());
	}
	ASSERT(ends_with(ran(), "\npostStart\nended\n"), "%s: they ran\n%s", where, ran());
}

static void be_new(struct session *session)
{
	session_stop(session, NULL);
	(void)deck_ok(NULL, WORDS("session", "eject", "--json", session->id));
	machine_remove(at_home("deck/ran"));
}

/* Before a command is noted as begun, and before it is noted as ended. */
static void kill_at_notes(struct session *session)
{
	enum { STEP = 3 };
	const char *const *start = deck_words(WORDS("session", "start", session->id));
	unsigned notes = 0, warned = 0;
	be_new(session);
	const struct points all = strace_watch(start);
	for (size_t i = 0; i < all.count; i++) {
		const char *where = all.points[i].line;
		if (!strstr(where, "commands.json") || notes++ % STEP != 0)
			continue;
		be_new(session);
		ASSERT(strace_kill(start, &all.points[i], where), "%s: it was not killed", where);
		struct reply reply = deck(NULL, WORDS("session", "start", session->id));
		ASSERT(reply.status == 0, "%s: it ended with %d: %s", where, reply.status,
		       reply.errors);
		warned += strstr(reply.errors, "was interrupted, and does not run again") != NULL;
		assert_ran_once(where);
	}
	ASSERT(warned == 1, "it warned %u times of a command that was interrupted", warned);
	ASSERT(notes >= 2 * ARRAY_SIZE(events), "only %u notes", notes);
}

TEST(ContainerRunsNoCommandOfItsRoleTwiceAfterAKill)
{
	struct session session;
	strace_required();
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	put_held(&session);
	kill_in_each(&session, true);
	kill_at_notes(&session);
}

/* A second session begins the container of the first, which does not run. */
TEST(ContainerOfTwoRunsNoCommandOfARoleTwiceAfterAKill)
{
	struct session session;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	put_held(&session);
	struct json_object *made = deck_ok(NULL, WORDS("launch", "--in", session.id, "--agent",
						       "demo", "-t", "second", "--json"));
	struct session guest = { .title = "second", .id = json_get_string(made, "id", NULL) };
	session_stop(&guest, NULL);
	be_new(&session);
	kill_in_each(&guest, false);
	assert_stops(&guest, session.id);
	(void)deck_ok(NULL, WORDS("remove", "--force", guest.id, "--json"));
}

/* What the role asks for is a variable of both.  A secret is that of the session that it was given
 * to. */
TEST(ContainerOfTwoHasTheVariablesOfItsRole)
{
	struct session session;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	machine_set("KEY", "canary");
	machine_write(at_home(AT "devcontainer.json"), 0644,
		      kept("{\"image\": \"%s\", \"containerEnv\": {\"ROLE\": \"b\"},\n"
			   "\"onCreateCommand\": \"echo once >>ran\",\n"
			   "\"customizations\": {\"agentdeck\": {\"env\": {\n"
			   "\"CITY\": {\"prompt\": \"Which?\", \"default\": \"Oslo\"},\n"
			   "\"KEY\": {\"prompt\": \"Which?\", \"secret\": true}}}}}\n",
			   PLAIN_IMAGE));
	(void)deck_ok(NULL, WORDS("role", "trust", "--json", at_home("deck")));
	session_add(&session, NULL, "deck",
		    WORDS("--role", at_home("deck"), "--engine", engine_address(ENGINE_DOCKER),
			  "--secret", "KEY"));
	struct json_object *made = deck_ok(NULL, WORDS("launch", "--in", session.id, "--agent",
						       "demo", "-t", "second", "--json"));
	struct session guest = { .title = "second", .id = json_get_string(made, "id", NULL) };
	session_start(&session, NULL);
	(void)session_look(&guest);
	const char *both[] = { environment_of(session.agent_pid), environment_of(guest.agent_pid) };
	for (size_t i = 0; i < ARRAY_SIZE(both); i++)
		ASSERT(strstr(both[i], "\nCITY=Oslo\n") && strstr(both[i], "\nROLE=b\n") &&
			       (strstr(both[i], "canary") != NULL) == (i == 0),
		       "agent %zu has\n%s", i, both[i]);
	ASSERT(streq(ran(), "once\n"), "its commands ran:\n%s", ran());
	(void)deck_ok(NULL, WORDS("remove", "--force", guest.id, "--json"));
}

/* ---- the image --------------------------------------------------------------------------- */

/* What nobody has seen is not built. */
static void is_built_again_as_it_was(enum engine engine)
{
	struct inside inside;
	begin(&inside, engine);
	const char *image = container_field(engine, inside.name, "{{.Image}}");
	lose_container(&inside);
	(void)engine_say(engine, WORDS("rmi", "--force", image));
	put_dockerfile("RUN true\n");
	struct reply reply = deck(NULL, WORDS("session", "start", "--rebuild", inside.session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "since you trusted its role"),
	       "it ended with %d: %s%s", reply.status, reply.output, reply.errors);
	put_dockerfile("");
	reply = deck(NULL, WORDS("session", "start", "--rebuild", inside.session.id));
	ASSERT(reply.status == 0, "it ended with %d: %s%s", reply.status, reply.output,
	       reply.errors);
	assert_back(&inside, NULL);
	assert_as_the_role_says(&inside);
}

TEST(ContainerOfARoleIsBuiltAgainAsItWasDocker)
{
	is_built_again_as_it_was(ENGINE_DOCKER);
}

TEST(ContainerOfARoleIsBuiltAgainAsItWasPodman)
{
	is_built_again_as_it_was(ENGINE_PODMAN);
}

static struct reply add_of_role(const char *title)
{
	return deck(NULL, WORDS("add", at_home("deck"), "-t", title, "--agent", "demo", "--role",
				at_home("deck"), "--engine", engine_address(ENGINE_DOCKER)));
}

static const char *image_of(const char *title)
{
	struct json_object *recipe = json_get_object(
		deck_look_ok(WORDS("session", "show", "--json", title)), "recipe");
	return json_get_string(recipe, "image_id", "none");
}

/* Each of examples/roles comes up.  Its base is the test's own, in which apt-get installs nothing. */
TEST(ContainerOfEachExampleComesUp)
{
	static const struct {
		const char *role, *base;
	} examples[] = {
		{ "plain", "debian:12-slim" },
		{ "checked", "debian:12-slim" },
		{ "python", "python:3.12-slim" },
	};
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	machine_write(at_home("base/none"), 0755, "#!/bin/sh\n");
	machine_write(at_home("base/Dockerfile"), 0644,
		      "FROM " PLAIN_IMAGE "\nCOPY none /bin/apt-get\n");
	machine_make_directory(at_home(".cache/packages"));
	machine_user_ok(
		WORDS("cp", "-r", machine_source("../examples/roles"), at_home("examples")));
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		struct inside inside = { .engine = ENGINE_DOCKER };
		const char *role = at_home(kept("examples/%s", examples[i].role));
		(void)engine_say(ENGINE_DOCKER,
				 WORDS("build", "--tag", examples[i].base, at_home("base")));
		(void)deck_ok(NULL, WORDS("role", "trust", "--json", role));
		session_add(&inside.session, NULL, examples[i].role,
			    WORDS("--role", role, "--engine", engine_address(ENGINE_DOCKER)));
		session_start(&inside.session, NULL);
		assert_running(&inside, examples[i].role);
		session_stop(&inside.session, NULL);
	}
}

/* Another session of the role has the same image, until the role changes; the sessions that it has
 * keep theirs. */
TEST(ContainerImageOfARoleIsBuiltOnce)
{
	struct inside inside;
	begin(&inside, ENGINE_DOCKER);
	struct reply reply = add_of_role("second");
	ASSERT(reply.status == 0 && !strstr(reply.errors, "built again"), "it ended with %d: %s",
	       reply.status, reply.errors);
	const char *first = image_of("deck");
	ASSERT(streq(first, image_of("second")), "%s, and then %s", first, image_of("second"));
	put_dockerfile("LABEL more=1\n");
	(void)deck_ok(NULL, WORDS("role", "trust", "--json", at_home("deck")));
	reply = add_of_role("third");
	ASSERT(reply.status == 0 && strstr(reply.errors, "this has changed: its Dockerfile\n"),
	       "it ended with %d: %s", reply.status, reply.errors);
	ASSERT(!streq(first, image_of("third")), "the changed role has the image of the old one");
	assert_same_agent(&inside, "while the role was built again");
	session_restart(&inside.session, NULL);
	assert_back(&inside, inside.id);
	ASSERT(streq(first, image_of("deck")), "the first session has %s now", image_of("deck"));
}

/* The name of the base means another image since. */
static void is_built_from_its_first_base(enum engine engine)
{
	struct inside inside;
	begin(&inside, engine);
	const char *image = container_field(engine, inside.name, "{{.Image}}");
	const char *base = engine_say(engine, WORDS("image", "inspect", "--format", "{{.Id}}",
						    PLAIN_IMAGE));
	lose_container(&inside);
	(void)engine_say(engine, WORDS("rmi", "--force", image));
	(void)engine_say(engine, WORDS("tag", PLAIN_IMAGE, "localhost/first-base:1"));
	engine_prepare(engine, EMPTY_IMAGE);
	(void)engine_say(engine, WORDS("tag", EMPTY_IMAGE, PLAIN_IMAGE));
	struct reply reply = deck(NULL, WORDS("session", "start", "--rebuild", inside.session.id));
	const char *now = engine_say(engine,
				     WORDS("image", "inspect", "--format", "{{.Id}}", PLAIN_IMAGE));
	const char *names = engine_say(engine, WORDS("images", "--format", "{{.Repository}}"));
	(void)engine_say(engine, WORDS("tag", "localhost/first-base:1", PLAIN_IMAGE));
	(void)engine_say(engine, WORDS("rmi", "localhost/first-base:1"));
	ASSERT(reply.status == 0, "it ended with %d: %s%s", reply.status, reply.output,
	       reply.errors);
	assert_back(&inside, NULL);
	assert_as_the_role_says(&inside);
	ASSERT(!streq(now, base), "the user's name was changed");
	ASSERT(!strstr(names, "agentdeck/base"), "a name of the build is left:\n%s", names);
}

TEST(ContainerOfARoleIsBuiltFromItsFirstBaseDocker)
{
	is_built_from_its_first_base(ENGINE_DOCKER);
}

TEST(ContainerOfARoleIsBuiltFromItsFirstBasePodman)
{
	is_built_from_its_first_base(ENGINE_PODMAN);
}

/* ---- Git --------------------------------------------------------------------------------- */

/* What the engine was told of the image: the commit, and the digests of the role and of what it was
 * built from. */
static const char *labels_of(const struct inside *inside)
{
	const char *image = container_field(inside->engine, inside->name, "{{.Image}}");
	const char *labels = engine_say(inside->engine, WORDS("image", "inspect", "--format",
							      "{{.Config.Labels}}", image));
	ASSERT(strstr(labels, "io.agentdeck.role.commit:") && strstr(labels, "io.agentdeck.build:"),
	       "the image has the labels %s", labels);
	return labels;
}

/* The image is gone, and so is all that was fetched, or the files of its commit. */
static struct reply rebuild(struct inside *inside, const char *image)
{
	lose_container(inside);
	(void)engine_say(inside->engine, WORDS("rmi", "--force", image));
	return deck(NULL, WORDS("session", "start", "--rebuild", inside->session.id));
}

/* Tiers 0, 1 and 2. */
static void comes_back_as_it_was(struct inside *inside, const char *labels)
{
	const struct process window = window_of(inside);
	machine_destroy(&window);
	session_start(&inside->session, NULL);
	assert_same_agent(inside, "in another window");
	(void)engine_say(inside->engine, WORDS("kill", inside->name));
	await_end(inside);
	session_start(&inside->session, NULL);
	assert_back(inside, inside->id);
	assert_as_the_role_says(inside);
	lose_container(inside);
	session_start(&inside->session, NULL);
	assert_back(inside, NULL);
	assert_as_the_role_says(inside);
	ASSERT(streq(labels_of(inside), labels), "another image: %s", labels_of(inside));
}

/* The repository moves on and is gone: what its user trusted comes back all the same, and is built
 * again from what was fetched then. */
static void comes_from_git(enum engine engine)
{
	struct inside inside = { .engine = engine, .turns = 1 };
	const char *const where = kept("file://%s@main#web", at_home("roles"));
	const char *const cache = state_path("roles.cache");
	engine_prepare(engine, PLAIN_IMAGE);
	roles_begin(kept("FROM %s\nARG MARK=none\nENV BUILT=$MARK\n", PLAIN_IMAGE));
	roles_commit(
		"{\"build\": {\"dockerfile\": \"Dockerfile\", \"args\": {\"MARK\": \"built\"}},\n"
		"\"containerEnv\": {\"ROLE\": \"${containerWorkspaceFolderBasename}\"},\n"
		"\"customizations\": {\"agentdeck\": {\"network\": \"none\"}}}\n");
	(void)deck_ok(NULL, WORDS("role", "trust", "--json", where));
	session_add(&inside.session, NULL, "deck",
		    WORDS("--role", where, "--engine", engine_address(engine)));
	session_start(&inside.session, NULL);
	session_say(&inside.session, INSIDE_MARKER);
	assert_running(&inside, "at first");
	inside.session_id = inside.session.session_id;
	assert_as_the_role_says(&inside);
	const char *labels = labels_of(&inside);
	roles_commit("{\"image\": \"other\"}\n");
	struct reply reply = deck(NULL, WORDS("add", at_home("deck"), "--role", where, "--engine",
					      engine_address(engine)));
	ASSERT(reply.status != 0 && strstr(reply.errors, "has changed since you trusted it"),
	       "it ended with %d: %s", reply.status, reply.errors);
	roles_lose();
	comes_back_as_it_was(&inside, labels);
	(void)machine_user_ok(WORDS("sh", "-c", "rm -rf \"$1\"/*/[0-9a-f]*", "sh", cache));
	const char *image = container_field(engine, inside.name, "{{.Image}}");
	reply = rebuild(&inside, image);
	ASSERT(reply.status == 0, "it ended with %d: %s%s", reply.status, reply.output,
	       reply.errors);
	assert_back(&inside, NULL);
	assert_as_the_role_says(&inside);
	ASSERT(streq(labels_of(&inside), labels), "another image: %s", labels_of(&inside));
	image = container_field(engine, inside.name, "{{.Image}}");
	(void)machine_user_ok(WORDS("rm", "-rf", cache));
	reply = rebuild(&inside, image);
	ASSERT(reply.status != 0 && strstr(reply.errors, "agentdeck role check") &&
		       strstr(reply.errors, "#web"),
	       "it ended with %d: %s%s", reply.status, reply.output, reply.errors);
}

TEST(ContainerOfAGitRoleIsBuiltAgainOfflineDocker)
{
	comes_from_git(ENGINE_DOCKER);
}

TEST(ContainerOfAGitRoleIsBuiltAgainOfflinePodman)
{
	comes_from_git(ENGINE_PODMAN);
}
