/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent in a container comes back with its conversation, whatever was taken from it: its window,
 * its processes, its container.  Each story runs with the real engines.
 */
#include "persistence/inside.h"

#include <signal.h>
#include <string.h>

static void is_confined(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	ASSERT(streq(container_field(engine, inside.name, "{{.HostConfig.Privileged}}"), "false"),
	       "privileged");
	const char *status = machine_read(kept("/proc/%d/status", (int)inside.agent.pid));
	ASSERT(strstr(or_empty(status), "\nCapEff:\t0000000000000000\n") &&
		       strstr(status, "\nCapBnd:\t0000000000000000\n") &&
		       strstr(status, "\nNoNewPrivs:\t1\n"),
	       "rights: %s", or_empty(status));
	ASSERT(strstr(status, kept("\nUid:\t%u\t", machine_uid())), "user: %s", status);
	const char *policy = container_field(engine, inside.name,
					     "{{.HostConfig.RestartPolicy.Name}}");
	ASSERT(!*policy || streq(policy, "no"), "restart policy %s", policy);
	const char *ports = engine_say(engine, WORDS("port", inside.name));
	ASSERT(!*ports, "ports of this machine: %s", ports);
}

TEST(ContainerConfinesItsAgentDocker)
{
	is_confined(ENGINE_DOCKER);
}

TEST(ContainerConfinesItsAgentPodman)
{
	is_confined(ENGINE_PODMAN);
}

static void assert_tier(struct json_object *answer, int tier, const char *of)
{
	struct json_object *back = json_get_object(answer, "came_back");
	const char *rung = json_get_string(back, "rung", NULL);
	ASSERT(back && json_get_int(back, "tier", -1) == tier &&
		       streq(or_empty(rung), tier ? "resume" : "") &&
		       !json_get_string(back, "lost", NULL) == (tier < 2),
	       "%s says: %s", of, json_object_to_json_string(back));
}

/* It comes back by this tier, and both commands say so. */
static void start_by_tier(struct inside *inside, int tier)
{
	struct session *session = &inside->session;
	assert_tier(deck_ok(NULL, WORDS("session", "start", "--json", session->id)), tier, "start");
	assert_tier(session_look(session), tier, "show");
}

/* Tier 0: the window is lost, and the agent does not notice. */
static void loses_its_server(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	struct process server = window_of(&inside);
	machine_destroy(&server);
	assert_same_agent(&inside, "without its window");
	start_by_tier(&inside, 0);
	assert_same_agent(&inside, "with a new window");
	WAIT_FOR(session_shows(&inside.session, INSIDE_MARKER),
		 "the new window does not show it:\n%s", or_empty(session_screen(&inside.session)));
	session_say(&inside.session, "second");
	ASSERT(container_count(engine, inside_label(&inside)) == 1, "not one container");
}

TEST(ContainerOutlivesItsTmuxServerDocker)
{
	loses_its_server(ENGINE_DOCKER);
}

TEST(ContainerOutlivesItsTmuxServerPodman)
{
	loses_its_server(ENGINE_PODMAN);
}

TEST(ContainerOutlivesItsTmuxServerRootPodman)
{
	loses_its_server(ENGINE_ROOT_PODMAN);
}

/* Nobody supervises it here. */
TEST(ContainerWithoutItsWindowIsShownToWhoSpeaksToIt)
{
	struct inside inside;
	inside_begin(&inside, ENGINE_DOCKER);
	const char *id = inside.session.id;
	struct process server = window_of(&inside);
	machine_destroy(&server);
	(void)deck_ok(NULL, WORDS("send", "--wait", "--json", id, "second"));
	assert_same_agent(&inside, "after a message");
	server = window_of(&inside);
	machine_destroy(&server);
	struct json_object *output = deck_ok(NULL, WORDS("output", "--pane", "--json", id));
	ASSERT(strstr(json_get_string(output, "content", ""), "second"), "its screen: %s",
	       json_print(output));
	assert_same_agent(&inside, "after a look at its screen");
}

static void loses_its_view(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	struct process view = view_of(&inside), server = window_of(&inside);
	machine_destroy(&view);
	WAIT_FOR(machine_alive(&server) && view_of(&inside).pid && view_of(&inside).pid != view.pid,
		 "no new view");
	assert_same_agent(&inside, "with a new view");
	WAIT_FOR(session_shows(&inside.session, INSIDE_MARKER),
		 "the new view does not show it:\n%s", or_empty(session_screen(&inside.session)));
	session_say(&inside.session, "second");
}

TEST(ContainerOutlivesItsViewDocker)
{
	loses_its_view(ENGINE_DOCKER);
}

TEST(ContainerOutlivesItsViewPodman)
{
	loses_its_view(ENGINE_PODMAN);
}

/* Tier 1: the container is there, and its processes are not. */
static void is_stopped_by(enum engine engine, const char *verb)
{
	struct inside inside;
	inside_begin(&inside, engine);
	(void)engine_say(engine, WORDS(verb, inside.name));
	await_end(&inside);
	start_by_tier(&inside, 1);
	assert_back(&inside, inside.id);
}

TEST(ContainerComesBackAfterDockerStop)
{
	is_stopped_by(ENGINE_DOCKER, "stop");
}

TEST(ContainerComesBackAfterDockerKill)
{
	is_stopped_by(ENGINE_DOCKER, "kill");
}

TEST(ContainerComesBackAfterPodmanStop)
{
	is_stopped_by(ENGINE_PODMAN, "stop");
}

TEST(ContainerComesBackAfterPodmanKill)
{
	is_stopped_by(ENGINE_PODMAN, "kill");
}

static void loses_its_capsule(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	struct process capsule = container_process(engine, inside.name);
	machine_destroy(&capsule);
	await_end(&inside);
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
}

TEST(ContainerComesBackWithoutItsCapsuleDocker)
{
	loses_its_capsule(ENGINE_DOCKER);
}

TEST(ContainerComesBackWithoutItsCapsulePodman)
{
	loses_its_capsule(ENGINE_PODMAN);
}

static void recover(void)
{
	struct reply reply = deck(NULL, WORDS("recover"));
	ASSERT(reply.status == 0, "recover ended with %d: %s%s", reply.status, reply.output,
	       reply.errors);
}

static void loses_power(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	machine_powercut();
	machine_boot();
	engine_prepare(engine, PLAIN_IMAGE);
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
}

TEST(ContainerComesBackAfterPowerCutDocker)
{
	loses_power(ENGINE_DOCKER);
}

TEST(ContainerComesBackAfterPowerCutPodman)
{
	loses_power(ENGINE_PODMAN);
}

TEST(ContainerComesBackAfterReboot)
{
	struct inside inside;
	inside_begin(&inside, ENGINE_DOCKER);
	machine_reboot();
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	recover();
	assert_back(&inside, inside.id);
}

/* The agent ends in order then, and that is not what its user wanted. */
static void is_recovered(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	(void)engine_say(engine, WORDS("stop", inside.name));
	await_end(&inside);
	recover();
	assert_back(&inside, inside.id);
}

TEST(ContainerThatWasStoppedIsRecoveredDocker)
{
	is_recovered(ENGINE_DOCKER);
}

TEST(ContainerThatWasStoppedIsRecoveredPodman)
{
	is_recovered(ENGINE_PODMAN);
}

/* Tier 2: only the image is left. */
static void is_removed(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	(void)engine_say(engine, WORDS("rm", "--force", inside.name));
	await_end(&inside);
	start_by_tier(&inside, 2);
	assert_back(&inside, NULL);
	ASSERT(container_count(engine, inside_label(&inside)) == 1, "not one container");
}

TEST(ContainerComesBackAfterDockerRemove)
{
	is_removed(ENGINE_DOCKER);
}

TEST(ContainerComesBackAfterPodmanRemove)
{
	is_removed(ENGINE_PODMAN);
}

/* Tier 3: only the directory is left that its image is built from. */
#define MOUNTS                                                                    \
	"RUN --mount=type=cache,target=/cache --mount=type=tmpfs,target=/scratch" \
	" --mount=type=bind,source=mark,target=/seen cat /seen >/cache/x && touch /scratch/y\n"
static const char *put_dockerfile(const char *more)
{
	machine_write(at_home("image/Dockerfile"), 0644,
		      kept("FROM %s\nCOPY mark /mark\n%s", PLAIN_IMAGE, more));
	machine_write(at_home("image/mark"), 0644, "built\n");
	return at_home("image");
}

static void begin_built(struct inside *inside, enum engine engine)
{
	*inside = (struct inside){ .engine = engine };
	engine_prepare(engine, PLAIN_IMAGE);
	session_add(&inside->session, NULL, "deck",
		    WORDS("--container", "--build", put_dockerfile(MOUNTS), "--engine",
			  engine_address(engine)));
	session_start(&inside->session, NULL);
	session_say(&inside->session, INSIDE_MARKER);
	assert_running(inside, "at first");
	inside->session_id = inside->session.session_id;
	const char *mark = machine_root_ok(
		WORDS("cat", kept("/proc/%d/root/mark", (int)inside->agent.pid)));
	ASSERT(streq(mark, "built\n"), "it is not the image that was built: %s", mark);
}

static void lose_image(struct inside *inside)
{
	const char *image = container_field(inside->engine, inside->name, "{{.Image}}");
	(void)engine_say(inside->engine, WORDS("rm", "--force", inside->name));
	await_end(inside);
	(void)engine_say(inside->engine, WORDS("rmi", "--force", image));
}

static void start_rebuilt(struct inside *inside, const char *says)
{
	struct reply reply = deck(NULL, WORDS("session", "start", "--rebuild", inside->session.id));
	ASSERT(reply.status == 0, "start --rebuild ended with %d: %s%s", reply.status, reply.output,
	       reply.errors);
	ASSERT(strstr(reply.output, says) || strstr(reply.errors, says), "no '%s': %s%s", says,
	       reply.output, reply.errors);
	assert_back(inside, NULL);
	assert_tier(session_look(&inside->session), 3, "show");
	ASSERT(container_count(inside->engine, inside_label(inside)) == 1, "not one container");
}

static void loses_its_image(enum engine engine)
{
	struct inside inside;
	begin_built(&inside, engine);
	lose_image(&inside);
	struct reply reply = deck(NULL, WORDS("session", "start", inside.session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "--rebuild"), "it ended with %d: %s%s",
	       reply.status, reply.output, reply.errors);
	ASSERT(container_count(engine, inside_label(&inside)) == 0, "a container was made");
	start_rebuilt(&inside, "its image was built again (tier 3), lost: files");
}

TEST(ContainerImageIsBuiltAgainOnlyWithConsentDocker)
{
	loses_its_image(ENGINE_DOCKER);
}

TEST(ContainerImageIsBuiltAgainOnlyWithConsentPodman)
{
	loses_its_image(ENGINE_PODMAN);
}

TEST(ContainerImageIsNotBuiltByRecover)
{
	struct inside inside;
	begin_built(&inside, ENGINE_DOCKER);
	lose_image(&inside);
	struct reply reply = deck(NULL, WORDS("recover"));
	ASSERT(strstr(kept("%s%s", reply.output, reply.errors), "--rebuild"),
	       "recover ended with %d: %s%s", reply.status, reply.output, reply.errors);
	ASSERT(container_count(ENGINE_DOCKER, inside_label(&inside)) == 0, "a container was made");
	start_rebuilt(&inside, "its image was built again (tier 3), lost: files");
}

/* A failed build costs nothing, and what was changed is named. */
TEST(ContainerImageOfAChangedDirectoryIsBuiltAgain)
{
	struct inside inside;
	begin_built(&inside, ENGINE_DOCKER);
	lose_image(&inside);
	(void)put_dockerfile("COPY missing /\n");
	struct reply reply = deck(NULL, WORDS("session", "start", "--rebuild", inside.session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "missing"), "it ended with %d: %s%s",
	       reply.status, reply.output, reply.errors);
	(void)put_dockerfile("ENV CHANGED=1\n");
	start_rebuilt(&inside, "has changed since");
}

/* Its user types answer into the terminal in which the start asks. */
static struct answer start_and_answer(const struct inside *inside, const char *answer)
{
	const char *command = kept("agentdeck session start %s", inside->session.id);
	struct answer said = machine_login(
		WORDS("sh", "-c", "echo \"$1\" | TERM=xterm script -qec \"$2\" /dev/null", "sh",
		      answer, command));
	ASSERT(strstr(said.output, "needs a rebuild") &&
		       strstr(said.output, "Build the image again now? (y/n)"),
	       "not the question, with its reason: %s%s", said.output, said.errors);
	return said;
}

TEST(ContainerImageIsBuiltAgainByAnAnswer)
{
	struct inside inside;
	begin_built(&inside, ENGINE_DOCKER);
	lose_image(&inside);
	struct answer no = start_and_answer(&inside, "n");
	ASSERT(no.status != 0, "it ended with %d: %s", no.status, no.output);
	ASSERT(container_count(ENGINE_DOCKER, inside_label(&inside)) == 0, "a container was made");
	struct answer yes = start_and_answer(&inside, "y");
	ASSERT(yes.status == 0, "it ended with %d: %s%s", yes.status, yes.output, yes.errors);
	assert_back(&inside, NULL);
	assert_tier(session_look(&inside.session), 3, "show");
}

static void built_is_ejected(enum engine engine)
{
	struct inside inside;
	begin_built(&inside, engine);
	session_stop(&inside.session, NULL);
	(void)deck_ok(NULL, WORDS("session", "eject", "--json", inside.session.id));
	(void)engine_say(engine, WORDS("image", "prune", "--force"));
	session_start(&inside.session, NULL);
	assert_back(&inside, NULL);
	const char *image = container_field(engine, inside.name, "{{.Image}}");
	(void)deck_ok(NULL, WORDS("remove", "--force", "--json", inside.session.id));
	ASSERT(engine_try(engine, WORDS("image", "inspect", image)).status != 0,
	       "its image is left");
}

TEST(ContainerImageThatWasBuiltGoesWithItsSessionDocker)
{
	built_is_ejected(ENGINE_DOCKER);
}

TEST(ContainerImageThatWasBuiltGoesWithItsSessionPodman)
{
	built_is_ejected(ENGINE_PODMAN);
}

/* The words of the step that failed are told. */
static void is_told_why_its_build_failed(enum engine engine)
{
	engine_prepare(engine, PLAIN_IMAGE);
	struct reply reply = deck(
		NULL, WORDS("add", home(), "--agent", "demo", "--container", "--build",
			    put_dockerfile("RUN echo the boat is $((1 + 1)) short; exit 3\n"),
			    "--engine", engine_address(engine)));
	ASSERT(reply.status != 0 && strstr(reply.errors, "the boat is 2 short\n"),
	       "it ended with %d: %s", reply.status, reply.errors);
	const char *file = strstr(reply.errors, "(the stage was image; ");
	ASSERT(file, "it does not say where all of it is: %s", reply.errors);
	file = strchr(file, '/');
	const char *text = or_empty(machine_read(kept("%.*s", (int)strcspn(file, " "), file)));
	ASSERT(strstr(text, " the boat is 2 short\n") && strstr(text, " image: failed after "),
	       "%s:\n%s", file, text);
}

TEST(ContainerImageSaysWhyItsBuildFailedDocker)
{
	is_told_why_its_build_failed(ENGINE_DOCKER);
}

TEST(ContainerImageSaysWhyItsBuildFailedPodman)
{
	is_told_why_its_build_failed(ENGINE_PODMAN);
}

/* Docker's builder asks for it over a connection that only its own command has. */
TEST(ContainerImageThatWantsASecretIsRefusedWithARemedy)
{
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	struct reply reply = deck(
		NULL, WORDS("add", home(), "--agent", "demo", "--container", "--build",
			    put_dockerfile("RUN --mount=type=secret,id=a,required=true true\n"),
			    "--engine", engine_address(ENGINE_DOCKER)));
	ASSERT(reply.status != 0 && strstr(reply.errors, "docker build -t NAME") &&
		       strstr(reply.errors, "--image NAME"),
	       "it ended with %d: %s", reply.status, reply.errors);
}

/* It is built before the title turns out to be taken. */
static void is_refused_after_its_build(enum engine engine)
{
	struct session other;
	engine_prepare(engine, PLAIN_IMAGE);
	session_add(&other, NULL, "deck", NULL);
	struct reply reply = deck(NULL, WORDS("add", other.directory, "-t", "deck", "--agent",
					      "demo", "--container", "--build", put_dockerfile(""),
					      "--engine", engine_address(engine)));
	ASSERT(reply.status != 0 && strstr(reply.errors, "exists already"), "it ended with %d: %s",
	       reply.status, reply.errors);
	const char *left = engine_say(engine, WORDS("images", "--filter",
						    "label=io.agentdeck.build", "--quiet"));
	ASSERT(!*left, "an image is left: %s", left);
}

TEST(ContainerImageOfARefusedSessionGoesDocker)
{
	is_refused_after_its_build(ENGINE_DOCKER);
}

TEST(ContainerImageOfARefusedSessionGoesPodman)
{
	is_refused_after_its_build(ENGINE_PODMAN);
}

/* ---- what is not ours -------------------------------------------------------------------- */

static void meets_a_stranger(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	(void)engine_say(engine, WORDS("rm", "--force", inside.name));
	await_end(&inside);
	(void)engine_say(engine, WORDS("run", "--detach", "--network", "none", "--name",
				       inside.name, PLAIN_IMAGE, "/bin/sleep", "1000"));
	struct reply reply = deck(NULL, WORDS("session", "start", inside.session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, inside.name), "it ended with %d: %s%s",
	       reply.status, reply.errors, reply.output);
	reply = deck(NULL, WORDS("eject", inside.session.id));
	ASSERT(reply.status == 0 && strstr(reply.errors, "was left alone") &&
		       !strstr(reply.output, "removed"),
	       "eject: %d: %s%s", reply.status, reply.errors, reply.output);
	struct json_object *ejected = deck_ok(NULL, WORDS("eject", "--json", inside.session.id));
	ASSERT(!json_get_bool(ejected, "had_container", true), "eject says: %s",
	       json_print(ejected));
	ASSERT(streq(or_empty(container_state(engine, inside.name)), "running"),
	       "the stranger is gone");
	(void)engine_say(engine, WORDS("rm", "--force", inside.name));
	session_start(&inside.session, NULL);
	assert_back(&inside, NULL);
}

TEST(ContainerNameOfAStrangerIsLeftAloneDocker)
{
	meets_a_stranger(ENGINE_DOCKER);
}

TEST(ContainerNameOfAStrangerIsLeftAlonePodman)
{
	meets_a_stranger(ENGINE_PODMAN);
}

/* ---- an engine that cannot be asked ------------------------------------------------------ */

/* The container ended, and nobody can say whether it exists: it is not gone. */
static void is_asked_in_vain(struct inside *inside)
{
	struct reply reply = deck(NULL, WORDS("session", "start", inside->session.id));
	ASSERT(reply.status != 0, "it started without its engine: %s", reply.output);
	(void)session_look(&inside->session);
	ASSERT(!streq(inside->session.status, "running"), "status %s", inside->session.status);
}

TEST(ContainerIsNotGoneWhileDockerIsStopped)
{
	struct inside inside;
	inside_begin(&inside, ENGINE_DOCKER);
	(void)engine_say(ENGINE_DOCKER, WORDS("stop", inside.name));
	await_end(&inside);
	engine_stop(ENGINE_DOCKER);
	is_asked_in_vain(&inside);
	engine_start(ENGINE_DOCKER);
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
}

static void is_not_gone_while_it_hangs(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	(void)engine_say(engine, WORDS("stop", inside.name));
	await_end(&inside);
	engine_hang(engine);
	is_asked_in_vain(&inside);
	engine_resume(engine);
	engine_start(engine);
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
}

TEST(ContainerIsNotGoneWhileDockerHangs)
{
	is_not_gone_while_it_hangs(ENGINE_DOCKER);
}

TEST(ContainerIsNotGoneWhilePodmanHangs)
{
	is_not_gone_while_it_hangs(ENGINE_PODMAN);
}

static struct reply exec_touch(const struct inside *inside, const char *path)
{
	return deck_look(WORDS("session", "exec", inside->session.id, "--", "/bin/sh", "-c",
			       kept("echo running; : >%s", path)));
}

/* The engine's program would wait for ever, and the engine would run the command much later. */
TEST(ExecWhileDockerHangsEnds)
{
	struct inside inside;
	inside_begin(&inside, ENGINE_DOCKER);
	const char *first = kept("%s/first", inside.session.directory);
	const char *late = kept("%s/late", inside.session.directory);
	struct reply reply = exec_touch(&inside, first);
	ASSERT(reply.status == 0 && streq(reply.output, "running\n") && machine_exists(first),
	       "exec ended with %d: %s%s", reply.status, reply.output, reply.errors);
	engine_hang(ENGINE_DOCKER);
	reply = exec_touch(&inside, late);
	ASSERT(reply.status == 1 && strstr(reply.errors, "will not run it later"),
	       "exec ended with %d: %s", reply.status, reply.errors);
	engine_resume(ENGINE_DOCKER);
	engine_start(ENGINE_DOCKER);
	/* The engine takes what it was asked in turn. */
	reply = exec_touch(&inside, first);
	ASSERT(reply.status == 0, "exec ended with %d: %s", reply.status, reply.errors);
	ASSERT(!machine_exists(late), "the command was run late");
}

/* The agent and its user go on. */
static void works_without_engine(enum engine engine, void (*strike)(enum engine engine))
{
	struct inside inside;
	inside_begin(&inside, engine);
	strike(engine);
	struct process before = inside.agent, server = window_of(&inside);
	session_say(&inside.session, "second");
	const char *shown = json_print(session_look(&inside.session));
	ASSERT(strstr(shown, kept("\"%d ", (int)before.pid)), "what runs inside is not shown: %s",
	       shown);
	machine_destroy(&server);
	session_start(&inside.session, NULL);
	ASSERT(machine_alive(&before) && inside.session.agent_pid == before.pid, "another agent");
	session_say(&inside.session, "third");
}

TEST(ContainerWorksWhileDockerHangs)
{
	works_without_engine(ENGINE_DOCKER, engine_hang);
}

TEST(ContainerWorksWhilePodmanHangs)
{
	works_without_engine(ENGINE_PODMAN, engine_hang);
}

/* Its service only answers: the containers are not its children. */
TEST(ContainerWorksWhenPodmanWasKilled)
{
	works_without_engine(ENGINE_PODMAN, engine_kill);
}

TEST(ContainerWorksWhilePodmanIsStopped)
{
	works_without_engine(ENGINE_PODMAN, engine_stop);
}

/* ---- logins ------------------------------------------------------------------------------ */

static void outlives_its_login(enum engine engine)
{
	struct inside inside;
	engine_prepare(engine, PLAIN_IMAGE);
	struct login *login = login_open();
	inside_begin_in(&inside, engine, login);
	login_terminate(login);
	assert_same_agent(&inside, "after the logout");
	session_say(&inside.session, "second");
}

TEST(ContainerOutlivesTerminateSessionDocker)
{
	outlives_its_login(ENGINE_DOCKER);
}

TEST(ContainerOutlivesTerminateSessionPodman)
{
	outlives_its_login(ENGINE_PODMAN);
}

/* ---- stop, eject, remove ----------------------------------------------------------------- */

static void is_stopped_and_removed(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	session_stop(&inside.session, NULL);
	WAIT_FOR(!machine_alive(&inside.agent), "its agent is left");
	ASSERT(streq(or_empty(container_state(engine, inside.name)), "exited"),
	       "after a stop it is %s", or_empty(container_state(engine, inside.name)));
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
	(void)deck_ok(NULL, WORDS("remove", "--force", "--json", inside.session.id));
	ASSERT(container_count(engine, inside_label(&inside)) == 0, "its container is left");
	(void)deck_ok(NULL, WORDS("undo", "--json", inside.session.id));
	start_by_tier(&inside, 2);
	assert_back(&inside, NULL);
}

TEST(ContainerIsKeptByStopAndFreedByRemoveDocker)
{
	is_stopped_and_removed(ENGINE_DOCKER);
}

TEST(ContainerIsKeptByStopAndFreedByRemovePodman)
{
	is_stopped_and_removed(ENGINE_PODMAN);
}

static void is_ejected(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	struct reply reply = deck(NULL, WORDS("session", "eject", inside.session.id));
	ASSERT(reply.status != 0, "the container of a running session was ejected");
	assert_same_agent(&inside, "after a refused eject");
	session_stop(&inside.session, NULL);
	struct json_object *first = deck_ok(NULL, WORDS("eject", "--json", inside.session.id));
	struct json_object *second = deck_ok(NULL, WORDS("eject", "--json", inside.session.id));
	ASSERT(json_get_bool(first, "had_container", false) &&
		       !json_get_bool(second, "had_container", true),
	       "eject says: %s%s", json_print(first), json_print(second));
	ASSERT(container_count(engine, inside_label(&inside)) == 0, "its container is left");
	start_by_tier(&inside, 2);
	assert_back(&inside, NULL);
}

TEST(ContainerIsEjectedAndMadeAgainDocker)
{
	is_ejected(ENGINE_DOCKER);
}

TEST(ContainerIsEjectedAndMadeAgainPodman)
{
	is_ejected(ENGINE_PODMAN);
}

/* What config.toml says of a new session is not what this container has.  memory: 0, no limit. */
static void expect_kept_limits(const struct inside *inside, int64_t memory)
{
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      "[limits]\nmemory_max = \"3G\"\ncpu_weight = 50\n");
	struct json_object *limits = json_get_object(
		deck_ok(NULL, WORDS("session", "limit", inside->session.id, "--json")), "limits");
	ASSERT(json_get_int(json_get_object(limits, "memory_max"), "value", 0) == memory &&
		       !json_get_int(json_get_object(limits, "cpu_weight"), "value", 0),
	       "it is said to have other limits: %s", json_print(limits));
}

/* Docker limits a container that exists, and counts nothing on a machine without controllers: a new
 * limit does not cost the container. */
static void is_limited(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	expect_kept_limits(&inside, 0);
	(void)deck_ok(NULL,
		      WORDS("session", "limit", inside.session.id, "--memory-max", "2G", "--json"));
	assert_same_agent(&inside, "after a new limit");
	expect_kept_limits(&inside, INT64_C(2) << 30);
	session_stop(&inside.session, NULL);
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
}

TEST(ContainerIsKeptWithANewLimitDocker)
{
	is_limited(ENGINE_DOCKER);
}

TEST(ContainerIsKeptWithANewLimitPodman)
{
	is_limited(ENGINE_PODMAN);
}

/* ---- a pause ----------------------------------------------------------------------------- */

static void is_paused(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	(void)engine_say(engine, WORDS("pause", inside.name));
	session_start(&inside.session, NULL);
	ASSERT(streq(or_empty(container_state(engine, inside.name)), "running"), "it is %s",
	       or_empty(container_state(engine, inside.name)));
	assert_same_agent(&inside, "after the pause");
	session_say(&inside.session, "second");
	(void)engine_say(engine, WORDS("pause", inside.name));
	session_stop(&inside.session, NULL);
	WAIT_FOR(!machine_alive(&inside.agent), "its agent is left");
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
}

TEST(ContainerThatIsPausedGoesOnWithAStartDocker)
{
	is_paused(ENGINE_DOCKER);
}

TEST(ContainerThatIsPausedGoesOnWithAStartPodman)
{
	is_paused(ENGINE_PODMAN);
}

/* ---- the supervisor ---------------------------------------------------------------------- */

static void await_supervisor(void)
{
	(void)machine_background(WORDS("agentdeck", "supervise"), at_home("supervise.out"));
	WAIT_FOR(strstr(or_empty(deck_log()), "supervising "), "no supervisor:\n%s",
		 or_empty(machine_read(at_home("supervise.out"))));
}

/* The container ends under the supervisor, which restarts the session. */
static void kill_supervised(struct inside *inside)
{
	struct process agent = inside->agent;
	(void)engine_say(inside->engine, WORDS("kill", inside->name));
	WAIT_FOR(!machine_alive(&agent), "its agent is left");
	WAIT_FOR((session_look(&inside->session), streq(inside->session.status, "running") &&
							  inside->session.agent_pid != agent.pid),
		 "it does not come back: %s\n%s", inside->session.status, or_empty(deck_log()));
	assert_back(inside, inside->id);
}

/* It opens a window that was killed, which is no restart, and restarts what ended. */
TEST(ContainerIsLookedAfterByTheSupervisor)
{
	struct inside inside;
	inside_begin(&inside, ENGINE_DOCKER);
	await_supervisor();
	struct process window = window_of(&inside);
	machine_destroy(&window);
	WAIT_FOR(strstr(or_empty(deck_log()), "its window was gone: opened again"),
		 "no new window:\n%s", or_empty(deck_log()));
	assert_same_agent(&inside, "with a new window");
	kill_supervised(&inside);
	/* A pause is its user's, who starts it. */
	window = window_of(&inside);
	(void)engine_say(ENGINE_DOCKER, WORDS("pause", inside.name));
	machine_destroy(&window);
	WAIT_FOR(strstr(or_empty(deck_log()), "its container is paused"), "no try:\n%s",
		 or_empty(deck_log()));
	ASSERT(streq(or_empty(container_state(ENGINE_DOCKER, inside.name)), "paused"), "it is %s",
	       or_empty(container_state(ENGINE_DOCKER, inside.name)));
	session_start(&inside.session, NULL);
	assert_same_agent(&inside, "after the pause");
}

/* ---- secrets ----------------------------------------------------------------------------- */

static const char secret[] = "canary-5d0a3e9c71b842f6";

static void assert_agent_has(const struct inside *inside, const char *variable)
{
	const char *has = machine_root_ok(WORDS("sh", "-c", "tr '\\0' '\\n' <\"$1\"", "sh",
						kept("/proc/%d/environ", (int)inside->agent.pid)));
	ASSERT(strstr(has, kept("%s=%s\n", variable, secret)), "the agent does not have it:\n%s",
	       has);
}

static void keeps_a_secret(enum engine engine)
{
	struct inside inside = { .engine = engine };
	engine_prepare(engine, PLAIN_IMAGE);
	machine_write(at_home("secret"), 0600, kept("%s\n", secret));
	session_add(&inside.session, NULL, "deck",
		    WORDS("--container", "--image", PLAIN_IMAGE, "--engine", engine_address(engine),
			  "--secret", kept("CANARY=file:%s", at_home("secret"))));
	session_start(&inside.session, NULL);
	session_say(&inside.session, INSIDE_MARKER);
	assert_running(&inside, "at first");
	assert_agent_has(&inside, "CANARY");
	assert_not_disclosed(engine, secret);
	session_stop(&inside.session, NULL);
	assert_not_disclosed(engine, secret);
}

TEST(ContainerSecretIsTheAgentsAloneDocker)
{
	keeps_a_secret(ENGINE_DOCKER);
}

TEST(ContainerSecretIsTheAgentsAlonePodman)
{
	keeps_a_secret(ENGINE_PODMAN);
}

/* As a user whose shell exports the variables of the agent's login and of GitHub's. */
static struct reply with_token(const char *const *words)
{
	struct strvec *argv = kept_vector();
	const char *script = "AGENTDECK_DEMO_TOKEN=$(cat \"$HOME/secret\")\n"
			     "export AGENTDECK_DEMO_TOKEN GH_TOKEN=\"$AGENTDECK_DEMO_TOKEN\"\n"
			     "exec agentdeck \"$@\"\n";
	strvec_push_array(argv, WORDS("sh", "-c", script, "sh"));
	strvec_push_array(argv, words);
	struct answer answer = machine_login((const char *const *)argv->items);
	return (struct reply){ .status = answer.status,
			       .output = answer.output,
			       .errors = answer.errors };
}

/* words: more for "launch", which ends with this status. */
static struct inside launch_with_token(enum engine engine, const char *const *words, int status)
{
	struct inside inside = { .engine = engine,
				 .session = { .id = "deck", .title = "deck" },
				 .turns = 1 };
	struct strvec *all = kept_vector();
	engine_prepare(engine, PLAIN_IMAGE);
	machine_write(at_home("secret"), 0600, kept("%s\n", secret));
	inside.session.directory = at_home("deck");
	machine_make_directory(inside.session.directory);
	strvec_push_array(all, WORDS("launch", inside.session.directory, "--agent", "demo",
				     "--container", "--image", PLAIN_IMAGE, "--engine",
				     engine_address(engine), "--auth", "token", "--auth",
				     "github=token"));
	strvec_push_array(all, words);
	struct reply reply = with_token((const char *const *)all->items);
	ASSERT(reply.status == status, "launch ended with %d: %s", reply.status, reply.errors);
	inside.session.id = json_get_string(session_look(&inside.session), "id", NULL);
	return inside;
}

/* What is the agent's is not the container's. */
static void assert_second_command_has_nothing(const struct inside *inside)
{
	struct reply reply = deck(NULL, WORDS("exec", inside->session.id, "--", "env"));
	ASSERT(reply.status == 0 && strstr(reply.output, "HOME="), "no environment: %s%s",
	       reply.output, reply.errors);
	ASSERT(!strstr(reply.output, secret) && !strstr(reply.output, "AGENTDECK_RUN="),
	       "a second command has what is the agent's:\n%s", reply.output);
}

static void keeps_a_token(enum engine engine)
{
	struct inside inside = launch_with_token(engine, WORDS(NULL), 0);
	struct reply reply;
	assert_running(&inside, "at first");
	session_say(&inside.session, INSIDE_MARKER);
	assert_agent_has(&inside, "AGENTDECK_DEMO_TOKEN");
	assert_agent_has(&inside, "GH_TOKEN");
	assert_second_command_has_nothing(&inside);
	assert_not_disclosed(engine, secret);
	session_stop(&inside.session, NULL);
	assert_not_disclosed(engine, secret);
	reply = deck(NULL, WORDS("session", "start", "deck"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "AGENTDECK_DEMO_TOKEN is not set") &&
		       strstr(reply.errors, "recipe.secret"),
	       "a start without the variable ended with %d: %s", reply.status, reply.errors);
	static const char *const variables[] = { "AGENTDECK_DEMO_TOKEN", "GH_TOKEN" };
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		(void)deck_ok(NULL,
			      WORDS("session", "set", "deck", "recipe.secret",
				    kept("%s=file:%s", variables[i], at_home("secret")), "--json"));
	machine_write(at_home("secret"), 0640, kept("%s\n", secret));
	reply = deck(NULL, WORDS("session", "start", "deck"));
	ASSERT(reply.status == 0 && strstr(reply.errors, "chmod 600 "), "it does not warn: %s",
	       reply.errors);
	(void)session_look(&inside.session);
	assert_running(&inside, "with the file");
	assert_agent_has(&inside, "AGENTDECK_DEMO_TOKEN");
	assert_not_disclosed(engine, secret);
}

/* The pane starts the further attempts, and has no token. */
TEST(ContainerTokenReachesEachAttempt)
{
	struct inside inside = launch_with_token(
		ENGINE_DOCKER, WORDS("--env", "AGENTDECK_DEMO_EXIT_AT_START=42"), 1);
	ASSERT(streq(inside.session.status, "error"), "it is %s", inside.session.status);
	inside.agent = session_agent(&inside.session);
	ASSERT(!strstr(machine_argv(inside.agent.pid)->items[0], "demo"), "no attempt follows: %s",
	       machine_argv(inside.agent.pid)->items[0]);
	assert_agent_has(&inside, "AGENTDECK_DEMO_TOKEN");
	assert_not_disclosed(ENGINE_DOCKER, secret);
}

/* Neither the supervisor nor the window was started with it. */
TEST(ContainerTokenSurvivesItsContainer)
{
	struct inside inside = launch_with_token(ENGINE_DOCKER, WORDS(NULL), 0);
	assert_running(&inside, "at first");
	inside.session_id = inside.session.session_id;
	session_say(&inside.session, INSIDE_MARKER);
	await_supervisor();
	kill_supervised(&inside);
	assert_agent_has(&inside, "AGENTDECK_DEMO_TOKEN");
	WAIT_FOR(!*disclosures(ENGINE_DOCKER, secret), "a secret is disclosed:\n%s",
		 disclosures(ENGINE_DOCKER, secret));
}

TEST(ContainerTokenIsTheAgentsAloneDocker)
{
	keeps_a_token(ENGINE_DOCKER);
}

TEST(ContainerTokenIsTheAgentsAlonePodman)
{
	keeps_a_token(ENGINE_PODMAN);
}

/* ---- two at once ------------------------------------------------------------------------- */

static void is_started_twice_at_once(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	(void)engine_say(engine, WORDS("rm", "--force", inside.name));
	await_end(&inside);
	const char *script = "agentdeck session start \"$1\" & agentdeck session start \"$1\"; wait";
	(void)machine_login(WORDS("sh", "-c", script, "sh", inside.session.id));
	assert_back(&inside, NULL);
	ASSERT(container_count(engine, inside_label(&inside)) == 1, "not one container");
	const char *agents = machine_root_ok(WORDS("pgrep", "-c", "-f", "agentdeck-demo-agent"));
	ASSERT(streq(agents, "1\n"), "%s agents", agents);
}

TEST(ContainerHasOneAgentAfterTwoStartsAtOnceDocker)
{
	is_started_twice_at_once(ENGINE_DOCKER);
}

TEST(ContainerHasOneAgentAfterTwoStartsAtOncePodman)
{
	is_started_twice_at_once(ENGINE_PODMAN);
}
