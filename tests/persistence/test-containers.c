/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What agentdeck relies on in every engine: a process in a container with no rights is, for its
 * user, a process like any other, known over a socket in a directory that both sides have.
 */
#include "persistence/containers.h"

#include <string.h>

struct probe {
	enum engine engine;
	const char *directory, *socket, *programs;
};

static void run_probe(struct probe *probe, enum engine engine)
{
	*probe = (struct probe){ .engine = engine, .programs = at_home("programs") };
	const char *program = at_home("programs/container-probe");
	probe->directory = at_home("state/a-directory-with-a-name-that-is-longer-than-an-address/"
				   "of-a-socket-may-be/capsule");
	probe->socket = kept("%s/capsule.sock", probe->directory);
	engine_prepare(engine, EMPTY_IMAGE);
	machine_make_directory(probe->programs);
	machine_make_directory(probe->directory);
	machine_bring("persistence/container-probe.c", at_home("container-probe.c"));
	(void)machine_user_ok(WORDS("cc", "-static", "-o", program, at_home("container-probe.c")));
	struct strvec *words = kept_vector();
	strvec_push_array(
		words,
		WORDS("run", "--detach", "--name", "probe", "--network", "none", "--user",
		      kept("%u:%u", machine_uid(), machine_uid()), "--cap-drop", "ALL",
		      "--security-opt", "no-new-privileges", "--read-only", "--mount",
		      kept("type=bind,source=%s,target=%s", probe->directory, probe->directory),
		      "--mount",
		      kept("type=bind,source=%s,target=/agentdeck/bin,readonly", probe->programs),
		      "--entrypoint", "/agentdeck/bin/container-probe"));
	if (engine == ENGINE_PODMAN)
		strvec_push(words, "--userns=keep-id");
	strvec_push_array(words, WORDS(EMPTY_IMAGE, "serve", probe->socket));
	(void)engine_say(engine, (const char *const *)words->items);
	WAIT_FOR(machine_exists(probe->socket), "no socket: %s",
		 engine_say(engine, WORDS("logs", "probe")));
}

static const char *ask(const struct probe *probe)
{
	return machine_user_ok(WORDS(at_home("programs/container-probe"), "ask", probe->socket));
}

/* "NAME VALUE" of an answer. */
static const char *value(const char *answer, const char *name)
{
	const char *prefix = kept("\n%s ", name);
	const char *line = strstr(kept("\n%s", answer), prefix);
	ASSERT(line, "no %s in:\n%s", name, answer);
	line += strlen(prefix);
	return kept("%.*s", (int)strcspn(line, "\n"), line);
}

/* As the probe found it while the process was alive. */
static void assert_visible(const char *answer, const char *name)
{
	ASSERT(!streq(value(answer, kept("%s_start", name)), "0"),
	       "the pid of %s is not one of the host:\n%s", name, answer);
	ASSERT(streq(value(answer, kept("%s_environ", name)), "readable") &&
		       streq(value(answer, kept("%s_signal", name)), "allowed"),
	       "%s is not the user's own process:\n%s", name, answer);
}

static void processes_are_known(enum engine engine)
{
	struct probe probe;
	run_probe(&probe, engine);
	struct process first = container_process(engine, "probe");
	const char *answer = ask(&probe);
	const char *pid = kept("%d", (int)first.pid);
	ASSERT(streq(value(answer, "listener_pid"), pid) && streq(value(answer, "first_pid"), pid),
	       "the first process is %s:\n%s", pid, answer);
	ASSERT(streq(value(answer, "listener_start"), first.start), "not process %s:\n%s", pid,
	       answer);
	ASSERT(streq(value(answer, "listener_uid"), kept("%u", machine_uid())), "its user:\n%s",
	       answer);
	ASSERT(!streq(value(answer, "child_pid"), pid), "its child is itself:\n%s", answer);
	assert_visible(answer, "listener");
	assert_visible(answer, "child");
	/* The other way round there is no pid: this host is outside of the container's namespace. */
	const char *said = engine_say(engine, WORDS("logs", "probe"));
	ASSERT(strstr(said, kept("peer pid 0 uid %u", machine_uid())), "the peer inside: %s", said);
}

TEST(EngineShowsProcessesOfADockerContainer)
{
	processes_are_known(ENGINE_DOCKER);
}

TEST(EngineShowsProcessesOfAPodmanContainer)
{
	processes_are_known(ENGINE_PODMAN);
}

TEST(EngineShowsProcessesOfARootPodmanContainer)
{
	processes_are_known(ENGINE_ROOT_PODMAN);
}

/* A container outlives a power cut as an object, and starts again. */
static void comes_back_after_power_cut(enum engine engine, const char *state)
{
	struct probe probe;
	run_probe(&probe, engine);
	const char *id = container_field(engine, "probe", "{{.Id}}");
	machine_powercut();
	machine_boot();
	engine_prepare(engine, EMPTY_IMAGE);
	ASSERT(streq(or_empty(container_state(engine, "probe")), state), "after the power cut: %s",
	       or_empty(container_state(engine, "probe")));
	(void)engine_say(engine, WORDS("start", "probe"));
	ASSERT(streq(container_field(engine, "probe", "{{.Id}}"), id), "another container");
	WAIT_FOR(machine_user(WORDS(at_home("programs/container-probe"), "ask", probe.socket))
				 .status == 0,
		 "it does not answer: %s", engine_say(engine, WORDS("logs", "probe")));
}

TEST(EngineKeepsADockerContainerOverAPowerCut)
{
	comes_back_after_power_cut(ENGINE_DOCKER, "exited");
}

TEST(EngineKeepsAPodmanContainerOverAPowerCut)
{
	comes_back_after_power_cut(ENGINE_PODMAN, "created");
}
