/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a container mounts is what its user named: an agent that can write a directory cannot make a
 * place in it, or agentdeck, lead to the user's other files.
 */
#include "persistence/inside.h"

#include <string.h>

#define SECRET "only the user reads this"

/* A directory of the user's that no container has. */
static const char *keys(void)
{
	machine_write(at_home("keys/secret"), 0600, SECRET "\n");
	return at_home("keys");
}

static const char *mounts_of(const struct inside *inside)
{
	return container_field(inside->engine, inside->name,
			       "{{range .Mounts}}{{.Source}} {{.RW}}\n{{end}}");
}

/* What a command in the container says, which the session's agent could run as well. */
static const char *say_inside(const struct inside *inside, const char *script)
{
	return or_empty(
		engine_try(inside->engine, WORDS("exec", inside->name, "sh", "-c", script)).output);
}

static void start_by_hand(const struct inside *inside)
{
	(void)engine_say(inside->engine, WORDS("restart", "--time", "1", inside->name));
	WAIT_FOR(streq(or_empty(container_state(inside->engine, inside->name)), "running"),
		 "its container does not run");
}

static const char *below_base(const struct inside *inside, const char *name)
{
	return at_home(kept(".local/state/agentdeck/default/%s/%s", inside->name, name));
}

/* ---- of ours --------------------------------------------------------------------------------- */

static void shows_no_file_as_its_users(enum engine engine)
{
	struct inside inside;
	const char *secret = kept("%s/secret", keys());
	inside_begin(&inside, engine);
	ASSERT(!strstr(mounts_of(&inside), "/capsule/"), "its agent can write a source: %s",
	       mounts_of(&inside));
	(void)say_inside(&inside, kept("cd '%s' && rm -f passwd && ln -s '%s' passwd",
				       below_base(&inside, "capsule"), secret));
	start_by_hand(&inside);
	const char *users = say_inside(&inside, "cat /etc/passwd");
	ASSERT(strstr(users, "agent:x:") && !strstr(users, SECRET), "its passwd is %s", users);
	ASSERT(strstr(users, kept(":%s:", below_base(&inside, "home"))), "another home: %s", users);
}

TEST(ContainerShowsNoFileAsItsUsersDocker)
{
	shows_no_file_as_its_users(ENGINE_DOCKER);
}

TEST(ContainerShowsNoFileAsItsUsersPodman)
{
	shows_no_file_as_its_users(ENGINE_PODMAN);
}

/* ---- of its user ----------------------------------------------------------------------------- */

static void refuses_a_place_that_an_agent_writes(enum engine engine)
{
	struct inside inside;
	machine_make_directory(at_home("deck/out"));
	machine_make_directory(at_home("deck/sub"));
	inside_begin(&inside, engine);
	const char *const *const wishes[] = {
		WORDS("add", at_home("deck"), "--mount", kept("%s:/out", at_home("deck/out"))),
		WORDS("add", at_home("deck/sub")),
		WORDS("add", at_home("")),
		/* Its sockets can be connected to. */
		WORDS("add", at_home("deck"), "--mount", "/run:/seen:ro"),
	};
	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
		struct strvec *argv = kept_vector();
		strvec_push_array(argv, wishes[i]);
		strvec_push_array(argv,
				  WORDS("--title", "other", "--container", "--image", PLAIN_IMAGE,
					"--agent", "demo", "--engine", engine_address(engine)));
		struct reply reply = deck(NULL, (const char *const *)argv->items);
		ASSERT(reply.status != 0 && strstr(reply.errors, "an agent"),
		       "%s was not refused: %d %s%s", wishes[i][1], reply.status, reply.errors,
		       reply.output);
	}
}

TEST(ContainerRefusesAPlaceThatAnAgentWritesDocker)
{
	refuses_a_place_that_an_agent_writes(ENGINE_DOCKER);
}

/* As an earlier version made one: a mount in the session's own directory. */
static void forge_mount(struct inside *inside, const char *source)
{
	const char *path = below_base(inside, "instance.json"),
		   *text = or_empty(machine_read(path));
	struct json_object *manifest = NULL;
	ASSERT(json_parse(text, strlen(text), path, &manifest, NULL) == 0, "no JSON: %s", text);
	keep_json(manifest);
	struct json_object *array = json_object_new_array();
	struct json_object *mount = json_object_new_object();
	json_set_string(mount, "source", source);
	json_set_string(mount, "target", "/out");
	ASSERT(json_object_array_add(array, mount) == 0, "no array");
	json_set(json_get_object(manifest, "recipe"), "mounts", array);
	machine_write(path, 0600, json_print(manifest));
}

static void swap(const char *how)
{
	(void)machine_user_ok(WORDS("sh", "-c", how, "sh", at_home("deck"), at_home("keys")));
}

static void assert_refused(struct inside *inside, const char *command, const char *words)
{
	struct reply reply = deck(NULL, WORDS("session", command, inside->session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, words), "%s: %d %s%s", command,
	       reply.status, reply.errors, reply.output);
	assert_agents(0, words);
}

/* Its agent puts a link in the place of a mount's source. */
static void is_not_started_on_a_link(enum engine engine)
{
	static const char put[] = "cd \"$1\" && mv out o2 && ln -s \"$2\" out";
	static const char undo[] = "cd \"$1\" && rm out && mv o2 out";
	struct inside inside;
	(void)keys();
	machine_make_directory(at_home("deck/out"));
	inside_begin(&inside, engine);
	session_stop(&inside.session, NULL);
	forge_mount(&inside, at_home("deck/out"));
	session_start(&inside.session, NULL);
	inside_look(&inside);
	(void)say_inside(&inside, kept("cd '%s' && mv out o2 && ln -s '%s' out", at_home("deck"),
				       at_home("keys")));
	assert_refused(&inside, "restart", "is a link now");
	/* The engine follows it, when it is asked by hand: then the container is started again. */
	start_by_hand(&inside);
	ASSERT(strstr(say_inside(&inside, "ls /out"), "secret"), "the engine follows no link");
	swap(undo);
	session_start(&inside.session, NULL);
	inside_look(&inside);
	ASSERT(!strstr(say_inside(&inside, "ls /out"), "secret"), "/out is the user's directory");
	/* It was taken away, and its user says where it is now. */
	session_stop(&inside.session, NULL);
	swap(put);
	machine_make_directory(at_home("deck-out"));
	(void)deck_ok(NULL, WORDS("session", "set", inside.session.id, "recipe.mount",
				  kept("%s:/out", at_home("deck-out")), "--json"));
	session_start(&inside.session, NULL);
}

TEST(ContainerIsNotStartedOnALinkDocker)
{
	is_not_started_on_a_link(ENGINE_DOCKER);
}

TEST(ContainerIsNotStartedOnALinkPodman)
{
	is_not_started_on_a_link(ENGINE_PODMAN);
}

/* ---- a file that is another one -------------------------------------------------------------- */

/* An editor replaces a file by renaming a new one. */
static void has_a_file_that_was_replaced(enum engine engine)
{
	struct inside inside;
	machine_write(at_home("notes"), 0600, "before\n");
	inside_begin_with(&inside, engine, NULL,
			  WORDS("--mount", kept("%s:/notes", at_home("notes"))));
	session_stop(&inside.session, NULL);
	start_by_hand(&inside);
	machine_write(at_home("new"), 0600, "after\n");
	(void)machine_user_ok(WORDS("mv", at_home("new"), at_home("notes")));
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
	ASSERT(streq(say_inside(&inside, "cat /notes"), "after\n"), "it has the old file");
}

TEST(ContainerHasAFileThatWasReplacedDocker)
{
	has_a_file_that_was_replaced(ENGINE_DOCKER);
}
