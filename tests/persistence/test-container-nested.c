/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session with a Docker of its own inside, which has no rights of root's.
 */
#include "persistence/faults.h"
#include "persistence/inside.h"
#include "persistence/roles.h"
#include "persistence/steps.h"

#include <string.h>

#define INNER "inner:1"

static const char *nested_name(const struct inside *inside)
{
	return kept("%s-dind", inside->name);
}

/* A command for it, from outside.  Its socket's path is longer than a socket's may be. */

static const char *nested_say(const struct inside *inside, const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("sh", "-c",
				      "cd \"$1\" && shift && exec docker -H "
				      "unix:///proc/self/cwd/docker.sock \"$@\"",
				      "sh",
				      at_home(kept(".local/state/agentdeck/default/%s/users/docker",
						   inside->name))));
	strvec_push_array(argv, words);
	return machine_user_ok((const char *const *)argv->items);
}

static void begin(struct inside *inside)
{
	engine_prepare_nested(ENGINE_DOCKER);
	inside_begin_with(inside, ENGINE_DOCKER, NULL, WORDS("--docker", "rootless"));
	ASSERT(streq(or_empty(container_state(ENGINE_DOCKER, nested_name(inside))), "running"),
	       "no Docker inside");
}

/* An image that it has, which goes with its volume. */
static void put_image(const struct inside *inside)
{
	const char *archive = "/var/tmp/inner.tar";
	(void)machine_user_ok(
		WORDS("sh", "-c", "docker export \"$1\" >\"$2\"", "sh", inside->name, archive));
	(void)nested_say(inside, WORDS("import", archive, INNER));
	machine_remove(archive);
}

/* A container inside says this, as its root, and with the session's directory. */
static void assert_works(const struct inside *inside, const char *when)
{
	const char *said = nested_say(
		inside, WORDS("run", "--rm", "--volume", kept("%s:/src", at_home("deck")), INNER,
			      "/bin/sh", "-c", "id -u && echo inside >/src/written"));
	ASSERT(strstr(said, "0\n"), "%s it says: %s", when, said);
	ASSERT(streq(machine_user_ok(WORDS("stat", "-c", "%u", at_home("deck/written"))),
		     kept("%u\n", machine_uid())),
	       "%s the file is not the user's", when);
	machine_remove(at_home("deck/written"));
}

static void assert_comes_back(struct inside *inside, const char *id)
{
	(void)deck_ok(NULL, WORDS("session", "start", "--json", inside->session.id));
	assert_back(inside, id);
}

/* It has the rights that docs/security.md says, and no more. */
TEST(ContainerHasADockerInsideWithoutRoot)
{
	struct inside inside;
	begin(&inside);
	const char *name = nested_name(&inside);
	ASSERT(streq(container_field(ENGINE_DOCKER, name,
				     "{{.HostConfig.Privileged}} {{.HostConfig.CapDrop}} "
				     "{{.HostConfig.CapAdd}} {{len .HostConfig.Devices}} "
				     "{{.HostConfig.RestartPolicy.Name}}"),
		     "false [ALL] [SETGID SETUID] 1 no"),
	       "it has other rights");
	const char *status = machine_read(
		kept("/proc/%d/status", (int)container_process(ENGINE_DOCKER, name).pid));
	ASSERT(strstr(or_empty(status), "\nCapEff:\t0000000000000000\n") &&
		       strstr(status, kept("\nUid:\t%u\t", machine_uid())),
	       "its rights: %s", or_empty(status));
	status = machine_read(kept("/proc/%d/status", (int)inside.agent.pid));
	ASSERT(strstr(or_empty(status), "\nCapBnd:\t0000000000000000\n") &&
		       strstr(status, "\nNoNewPrivs:\t1\n"),
	       "the agent's rights: %s", or_empty(status));
	ASSERT(strstr(machine_root_ok(WORDS("sh", "-c", "tr '\\0' '\\n' </proc/$1/environ", "sh",
					    kept("%d", (int)inside.agent.pid))),
		      "\nDOCKER_HOST=unix:///agentdeck/docker/docker.sock\n"),
	       "the agent does not know of it");
	ASSERT(strstr(machine_user_ok(WORDS("sh", "-c", "cat \"$1\"/2*.log", "sh",
					    at_home(".local/state/agentdeck/logs"))),
		      " sidecar: done "),
	       "its start is no stage");
	struct reply reply = deck(NULL, WORDS("session", "exec", inside.session.id, "--", "env"));
	ASSERT(strstr(reply.output, "DOCKER_HOST=unix:///agentdeck/docker/docker.sock"),
	       "a second command has:\n%s%s", reply.output, reply.errors);
	put_image(&inside);
	assert_works(&inside, "at first");
}

/* What it has outlives each end of the container, and goes with the container itself. */
TEST(ContainerComesBackWithItsDockerInside)
{
	struct inside inside;
	begin(&inside);
	put_image(&inside);
	struct process first = container_process(ENGINE_DOCKER, inside.name);
	machine_destroy(&first);
	await_end(&inside);
	WAIT_FOR(streq(or_empty(container_state(ENGINE_DOCKER, nested_name(&inside))), "exited"),
		 "the Docker inside did not end with its container");
	assert_comes_back(&inside, inside.id);
	assert_works(&inside, "by tier 1");
	(void)deck_ok(NULL, WORDS("stop", "--json", inside.session.id));
	WAIT_FOR(streq(or_empty(container_state(ENGINE_DOCKER, nested_name(&inside))), "exited"),
		 "the Docker inside did not end with a stop");
	assert_comes_back(&inside, inside.id);
	assert_works(&inside, "after a stop");
	(void)engine_say(ENGINE_DOCKER, WORDS("rm", "--force", inside.name));
	await_end(&inside);
	assert_comes_back(&inside, NULL);
	put_image(&inside);
	assert_works(&inside, "by tier 2");
	(void)engine_say(ENGINE_DOCKER, WORDS("rm", "--force", "--volumes", nested_name(&inside)));
	(void)deck_ok(NULL, WORDS("session", "restart", "--json", inside.session.id));
	assert_back(&inside, inside.id);
	put_image(&inside);
	assert_works(&inside, "when it was removed");
}

/* A session that exists begins without it, and says so. */
TEST(ContainerComesBackWithoutADockerInsideThatFails)
{
	struct inside inside;
	begin(&inside);
	(void)deck_ok(NULL, WORDS("stop", "--json", inside.session.id));
	(void)engine_say(ENGINE_DOCKER, WORDS("rm", "--force", "--volumes", nested_name(&inside)));
	(void)engine_say(ENGINE_DOCKER, WORDS("tag", PLAIN_IMAGE, "agentdeck/docker:latest"));
	struct reply reply = deck(NULL, WORDS("session", "start", "--json", inside.session.id));
	ASSERT(reply.status == 0 && strstr(reply.errors, "there is no Docker inside"),
	       "it ended with %d: %s", reply.status, reply.errors);
	assert_back(&inside, inside.id);
	(void)engine_say(ENGINE_DOCKER, WORDS("rmi", "agentdeck/docker:latest"));
	struct reply added = deck(NULL,
				  WORDS("add", at_home("deck"), "--container", "--image",
					PLAIN_IMAGE, "--engine", engine_address(ENGINE_DOCKER),
					"--agent", "demo", "--docker", "rootless"));
	ASSERT(added.status != 0 && strstr(added.errors, "image build-default --docker"),
	       "it ended with %d: %s", added.status, added.errors);
}

/* Nothing is left when the session is freed or removed, also of its volume. */
TEST(ContainerTakesItsDockerInsideAlong)
{
	struct inside inside;
	begin(&inside);
	(void)deck_ok(NULL, WORDS("session", "eject", "--force", "--json", inside.session.id));
	ASSERT(!*engine_belongings(ENGINE_DOCKER), "left:\n%s", engine_belongings(ENGINE_DOCKER));
	ASSERT(!*engine_say(ENGINE_DOCKER, WORDS("volume", "ls", "--quiet")), "a volume is left");
	assert_comes_back(&inside, NULL);
	put_image(&inside);
	assert_works(&inside, "after it was freed");
	(void)deck_ok(NULL, WORDS("remove", "--force", "--json", inside.session.id));
	ASSERT(!*engine_belongings(ENGINE_DOCKER), "left:\n%s", engine_belongings(ENGINE_DOCKER));
	ASSERT(!*engine_say(ENGINE_DOCKER, WORDS("volume", "ls", "--quiet")), "a volume is left");
}

/* What the agent's programs need is in its environment, and no one else gets in. */
static const char *const names_of_tcp[] = {
	"DOCKER_HOST=tcp://%s:2376",
	"DOCKER_TLS_VERIFY=1",
	"DOCKER_CERT_PATH=/agentdeck/certificates",
	"AGENTDECK_DIND_HOSTNAME=%s",
	"DOCKER_TLS_SAN=%s",
	"NO_PROXY=%s",
	"no_proxy=%s",
	"TESTCONTAINERS_HOST_OVERRIDE=%s",
};

/* Docker's program of this machine, in the network of the session. */
static struct answer say_over_tcp(const struct inside *inside, const char *const *words)
{
	struct strvec *argv = kept_vector();
	const struct process first = container_process(ENGINE_DOCKER, inside->name);
	strvec_push_array(argv, WORDS("nsenter", "--net", "--target", kept("%d", (int)first.pid),
				      "timeout", "60", "docker", "-H", "tcp://localhost:2376"));
	strvec_push_array(argv, words);
	return machine_root((const char *const *)argv->items);
}

TEST(ContainerHasADockerInsideOverTcp)
{
	struct inside inside;
	engine_prepare_nested(ENGINE_DOCKER);
	inside_begin_with(&inside, ENGINE_DOCKER, NULL, WORDS("--docker-tcp"));
	const char *said = machine_root_ok(WORDS("sh", "-c", "tr '\\0' '\\n' </proc/$1/environ",
						 "sh", kept("%d", (int)inside.agent.pid)));
	for (size_t i = 0; i < ARRAY_SIZE(names_of_tcp); i++) {
		const char *at = strstr(names_of_tcp[i], "%s");
		const char *line = at ? kept("\n%.*s%s%s\n", (int)(at - names_of_tcp[i]),
					     names_of_tcp[i], nested_name(&inside), at + 2)
				      : kept("\n%s\n", names_of_tcp[i]);
		ASSERT(strstr(said, line), "no %s in:\n%s", line, said);
	}
	struct reply hosts = deck(NULL, WORDS("session", "exec", inside.session.id, "--", "cat",
					      "/etc/hosts"));
	ASSERT(strstr(hosts.output, kept("127.0.0.1\t%s", nested_name(&inside))),
	       "its name is not known:\n%s%s", hosts.output, hosts.errors);
	const char *certificates = at_home(
		kept(".local/state/agentdeck/default/%s/users/certificates", inside.name));
	const char *const trusted[] = { "--tlsverify",
					"--tlscacert",
					kept("%s/ca.pem", certificates),
					"--tlscert",
					kept("%s/cert.pem", certificates),
					"--tlskey",
					kept("%s/key.pem", certificates),
					"info",
					"--format",
					"{{.SecurityOptions}}",
					NULL };
	struct answer answer = say_over_tcp(&inside, trusted);
	ASSERT(answer.status == 0 && strstr(answer.output, "rootless"), "it ended with %d: %s%s",
	       answer.status, answer.output, answer.errors);
	struct answer stranger = say_over_tcp(&inside, WORDS("--tls", "info"));
	ASSERT(stranger.status != 0 || strstr(stranger.output, "ERROR"),
	       "one without the certificate gets in: %s", stranger.output);
	put_image(&inside);
	assert_works(&inside, "over its socket");
	ASSERT(machine_user(WORDS("docker", "exec", inside.name, "/bin/sh", "-c",
				  "echo x >/agentdeck/certificates/ca.pem"))
			       .status != 0,
	       "the agent can write the certificates");
	(void)engine_say(ENGINE_DOCKER, WORDS("rm", "--force", inside.name));
	await_end(&inside);
	assert_comes_back(&inside, NULL);
	answer = say_over_tcp(&inside, trusted);
	ASSERT(answer.status == 0, "by tier 2: %s", answer.errors);
}

/* By the configuration, and by a change of a session whose container was freed. */
TEST(ContainerGetsAndLosesADockerInside)
{
	struct inside inside;
	begin(&inside);
	struct reply early = deck(NULL, WORDS("session", "set", inside.session.id, "recipe.docker",
					      "none"));
	ASSERT(early.status != 0 && strstr(early.errors, "session eject"), "it ended with %d: %s",
	       early.status, early.errors);
	(void)deck_ok(NULL, WORDS("session", "eject", "--force", "--json", inside.session.id));
	(void)deck_ok(NULL, WORDS("session", "set", "--json", inside.session.id, "recipe.docker",
				  "none"));
	assert_comes_back(&inside, NULL);
	ASSERT(!container_state(ENGINE_DOCKER, nested_name(&inside)), "it has a Docker still");
	ASSERT(!strstr(machine_root_ok(
			       WORDS("cat", kept("/proc/%d/environ", (int)inside.agent.pid))),
		       "DOCKER_HOST"),
	       "the agent looks for it still");
	(void)deck_ok(NULL, WORDS("session", "eject", "--force", "--json", inside.session.id));
	(void)deck_ok(NULL, WORDS("session", "set", "--json", inside.session.id, "recipe.docker",
				  "rootless"));
	assert_comes_back(&inside, NULL);
	put_image(&inside);
	assert_works(&inside, "after a change");
	(void)deck_ok(NULL, WORDS("remove", "--force", "--json", inside.session.id));
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      "[container]\ndocker = \"rootless\"\n");
	inside_begin(&inside, ENGINE_DOCKER);
	ASSERT(streq(or_empty(container_state(ENGINE_DOCKER, nested_name(&inside))), "running"),
	       "the configuration gives none");
}

TEST(ContainerHasNoDockerInsideWithPodman)
{
	engine_prepare(ENGINE_PODMAN, PLAIN_IMAGE);
	machine_write(at_home("deck/file"), 0644, "");
	struct reply reply = deck(NULL,
				  WORDS("add", at_home("deck"), "--container", "--image",
					PLAIN_IMAGE, "--engine", engine_address(ENGINE_PODMAN),
					"--agent", "demo", "--docker", "rootless"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "since podman is the engine"),
	       "it ended with %d: %s", reply.status, reply.errors);
	ASSERT(!*engine_belongings(ENGINE_PODMAN), "left:\n%s", engine_belongings(ENGINE_PODMAN));
}
