/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which engine a session in a container has, and that it keeps it: over TLS, through a context of
 * Docker, and beside another engine.
 */
#include "persistence/containers.h"
#include "persistence/deck.h"

#include <string.h>

#define MARKER  "the anchor is below the boat"
#define DROP_IN "/run/systemd/system/docker.service.d/tls.conf"
#define TLS_URL "tcp://127.0.0.1:23760"

static const char *recipe_of(struct session *session, const char *key)
{
	struct json_object *shown = session_look(session);
	return kept("%s", json_get_string(json_get_object(shown, "recipe"), key, ""));
}

static const char *address_of(struct session *session)
{
	return recipe_of(session, "address");
}

static const char *container_of(const struct session *session, enum engine engine)
{
	return engine_say(engine, WORDS("ps", "--all", "--quiet", "--filter",
					kept("label=io.agentdeck.instance=%s", session->id)));
}

static struct process container_agent(struct session *session)
{
	(void)session_look(session);
	ASSERT(streq(session->status, "running"), "%s is %s", session->title, session->status);
	return machine_process(session->agent_pid);
}

static void begin(struct session *session, const char *title, const char *engine)
{
	session_add(session, NULL, title,
		    WORDS("--container", "--image", PLAIN_IMAGE, "--engine", engine));
	session_start(session, NULL);
	session_say(session, MARKER);
}

/* ---- TLS --------------------------------------------------------------------------------- */

/* The certificates are made outside, where openssl is, and belong to the user. */
static const char *make_certificates(void)
{
	const char *directory = at_home("certificates");
	machine_make_directory(directory);
	struct answer made = outside(WORDS(machine_source("helper/make-certificates"),
					   machine_path(directory)),
				     PATIENCE_MS);
	if (made.status == 127)
		skip_test("no openssl: %s", made.errors);
	ASSERT(made.status == 0, "no certificates: %s", made.errors);
	(void)machine_root_ok(WORDS("chown", "-R", machine_user_name(), directory));
	return directory;
}

static void restart_docker(void)
{
	(void)machine_root_ok(WORDS("systemctl", "daemon-reload"));
	(void)machine_root_ok(WORDS("systemctl", "restart", "docker.service"));
	WAIT_FOR(engine_answers(ENGINE_DOCKER), "docker does not answer");
}

/* It listens on a port of this machine as well, for who has a certificate. */
static void listen_with_tls(const char *certificates)
{
	const char *script =
		"mkdir -p \"${1%/*}\" /etc/docker-tls && cp \"$2\"/*.pem /etc/docker-tls &&"
		" printf '[Service]\\nExecStart=\\nExecStart=/usr/sbin/dockerd -H fd:// -H %s"
		" --tlsverify --tlscacert /etc/docker-tls/ca.pem"
		" --tlscert /etc/docker-tls/server.pem --tlskey /etc/docker-tls/server-key.pem %s\\n'"
		" \"$3\" \"$(systemctl show -p ExecStart docker.service |"
		" grep -o -- '--containerd=[^ ]*')\" >\"$1\"";
	(void)machine_root_ok(WORDS("sh", "-c", script, "sh", DROP_IN, certificates, TLS_URL));
	restart_docker();
}

static void listen_as_before(void)
{
	(void)machine_root_ok(WORDS("rm", "-rf", DROP_IN, "/etc/docker-tls"));
	restart_docker();
}

/* A context of Docker, which is in use. */
static void make_context(const char *certificates)
{
	const char *client = kept("%s/client", certificates);
	(void)machine_user_ok(WORDS(
		"env", kept("HOME=%s", home()), "docker", "context", "create", "far", "--docker",
		kept("host=" TLS_URL ",ca=%s/ca.pem,cert=%s/cert.pem,key=%s/key.pem", client,
		     client, client)));
	(void)machine_user_ok(
		WORDS("env", kept("HOME=%s", home()), "docker", "context", "use", "far"));
}

TEST(ContainerIsReachedOverTlsOfAContext)
{
	struct session session;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	const char *certificates = make_certificates();
	listen_with_tls(certificates);
	make_context(certificates);
	begin(&session, "far", "docker");
	ASSERT(streq(address_of(&session), TLS_URL), "engine %s", address_of(&session));
	ASSERT(streq(recipe_of(&session, "context"), "far"), "no context");
	(void)engine_say(ENGINE_DOCKER, WORDS("kill", container_of(&session, ENGINE_DOCKER)));
	/* The session stays with its engine, whatever the context is now. */
	(void)machine_user_ok(
		WORDS("env", kept("HOME=%s", home()), "docker", "context", "use", "default"));
	WAIT_FOR((session_look(&session), !streq(session.status, "running")), "it seems to run");
	const char *id = session.session_id;
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
	/* An engine that is not trusted was not asked, and nothing is gone. */
	session_stop(&session, NULL);
	const char *tls = recipe_of(&session, "tls"),
		   *container = container_of(&session, ENGINE_DOCKER);
	machine_write(kept("%s/ca.pem", tls), 0600, "no certificate\n");
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "certificates"), "%d: %s%s", reply.status,
	       reply.output, reply.errors);
	ASSERT(streq(container_of(&session, ENGINE_DOCKER), container), "its container is gone");
	(void)machine_root_ok(WORDS("cp", kept("%s/ca.pem", certificates), kept("%s/ca.pem", tls)));
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 2);
	deck_ok(NULL, WORDS("remove", "--force", "--json", session.id));
	listen_as_before();
}

/* ---- two engines ------------------------------------------------------------------------- */

/* One engine is stopped: the sessions of the other act as usual, and its own stay with it. */
static void are_apart(enum engine stopped, enum engine other)
{
	struct session here, there;
	engine_prepare(stopped, PLAIN_IMAGE);
	engine_prepare(other, PLAIN_IMAGE);
	begin(&here, "here", engine_address(stopped));
	begin(&there, "there", engine_address(other));
	const char *address = address_of(&here), *id = there.session_id, *lost = here.session_id;
	session_stop(&here, NULL);
	struct process agent = container_agent(&there);
	engine_stop(stopped);
	ASSERT(machine_alive(&agent), "the other engine's agent ended");
	session_say(&there, "second");
	session_stop(&there, NULL);
	session_start(&there, NULL);
	assert_came_back(&there, id, MARKER, 1);
	struct reply reply = deck(NULL, WORDS("session", "start", here.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, address), "%d: %s%s", reply.status,
	       reply.output, reply.errors);
	ASSERT(container_count(other, "io.agentdeck.instance") == 1,
	       "the other engine has its container");
	engine_start(stopped);
	session_start(&here, NULL);
	assert_came_back(&here, lost, MARKER, 1);
	ASSERT(streq(address_of(&here), address), "another engine: %s", address_of(&here));
}

TEST(ContainersOfPodmanActWithoutDocker)
{
	are_apart(ENGINE_DOCKER, ENGINE_PODMAN);
}

TEST(ContainersOfDockerActWithoutPodman)
{
	are_apart(ENGINE_PODMAN, ENGINE_DOCKER);
}

/* ---- paths ------------------------------------------------------------------------------- */

/* The capsule's socket has a longer path than the kernel takes in an address. */
TEST(ContainerWorksBelowALongPath)
{
	struct session session;
	char name[101];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	machine_set("XDG_STATE_HOME", at_home(name));
	begin(&session, "long", engine_address(ENGINE_DOCKER));
	struct process agent = container_agent(&session);
	session_kill_server(&session);
	session_start(&session, NULL);
	ASSERT(machine_alive(&agent), "another agent");
	session_say(&session, "second");
}
