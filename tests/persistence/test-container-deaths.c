/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Death in all its forms: what an engine, a user or a machine can take from a session in a
 * container.  After each there is one agent or none, with the conversation of before.  The table in
 * docs/containers.md says what follows what.
 */
#include "persistence/inside.h"

#include <signal.h>
#include <string.h>

/* ---- one session, many deaths ------------------------------------------------------------ */

enum after {
	SAME_AGENT,     /* nothing ended */
	SAME_CONTAINER, /* tier 1 */
	NEW_CONTAINER,  /* tier 2 */
};

struct death {
	const char *name;
	void (*strike)(struct inside *inside);
	const char *refused; /* what a start says before it is mended; NULL: it is not refused */
	void (*mend)(struct inside *inside);
	enum after after;
};

/* It was killed, so it is to run: nobody may take it for finished. */
static void assert_lost(struct inside *inside, const struct death *death)
{
	await_end(inside);
	WAIT_FOR((session_look(&inside->session), streq(inside->session.status, "error")),
		 "%s: its end counts as %s", death->name, inside->session.status);
	assert_agents(0, death->name);
}

static void assert_refused(struct inside *inside, const struct death *death)
{
	struct reply reply = deck(NULL, WORDS("session", "start", inside->session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, death->refused),
	       "%s: the start ended with %d: %s%s", death->name, reply.status, reply.errors,
	       reply.output);
	assert_agents(0, death->name);
	ASSERT(streq(or_empty((session_look(&inside->session), inside->session.session_id)),
		     inside->session_id),
	       "%s: the conversation became %s", death->name, or_empty(inside->session.session_id));
}

static void meet(struct inside *inside, const struct death *death)
{
	print_message("%s\n", death->name);
	const char *id = inside->id;
	death->strike(inside);
	if (death->after == SAME_AGENT) {
		assert_same_agent(inside, death->name);
	} else {
		assert_lost(inside, death);
		if (death->refused)
			assert_refused(inside, death);
		if (death->mend)
			death->mend(inside);
		session_start(&inside->session, NULL);
		assert_back(inside, death->after == SAME_CONTAINER ? id : NULL);
	}
	assert_agents(1, death->name);
}

static void meet_all(struct inside *inside, const struct death *deaths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		meet(inside, &deaths[i]);
}

static void kill_container(struct inside *inside)
{
	(void)engine_say(inside->engine, WORDS("kill", inside->name));
	WAIT_FOR(streq(or_empty(container_state(inside->engine, inside->name)), "exited"),
		 "the container is %s", or_empty(container_state(inside->engine, inside->name)));
}

/* ---- its processes ----------------------------------------------------------------------- */

static void kill_agent(struct inside *inside)
{
	machine_destroy(&inside->agent);
}

/* The capsule and the agent at once. */
static void kill_everything(struct inside *inside)
{
	struct process capsule = container_process(inside->engine, inside->name);
	struct process window = window_of(inside);
	machine_kill(&window, SIGKILL);
	machine_kill(&inside->agent, SIGKILL);
	machine_destroy(&capsule);
}

static void loses_its_processes(enum engine engine)
{
	static const struct death deaths[] = {
		{ .name = "kill -9 of the agent", .strike = kill_agent, .after = SAME_CONTAINER },
		{ .name = "kill -9 of everything",
		  .strike = kill_everything,
		  .after = SAME_CONTAINER },
	};
	struct inside inside;
	inside_begin(&inside, engine);
	meet_all(&inside, deaths, ARRAY_SIZE(deaths));
}

TEST(ContainerComesBackWithoutItsAgentDocker)
{
	loses_its_processes(ENGINE_DOCKER);
}

TEST(ContainerComesBackWithoutItsAgentPodman)
{
	loses_its_processes(ENGINE_PODMAN);
}

/* The turn takes longer than the window lives. */
static void works_on_a_turn(enum engine engine)
{
	static const char turn[] = "a turn in flight";
	struct inside inside;
	inside_begin_with(&inside, engine, NULL, WORDS("--env", "AGENTDECK_DEMO_DELAY_MS=4000"));
	struct process server = window_of(&inside);
	session_type(&inside.session, turn);
	session_press(&inside.session, "Enter");
	WAIT_FOR(session_shows(&inside.session, kept("> %s", turn)), "it is not said:\n%s",
		 or_empty(session_screen(&inside.session)));
	machine_destroy(&server);
	assert_same_agent(&inside, "without its window");
	session_start(&inside.session, NULL);
	assert_same_agent(&inside, "with a new window");
	WAIT_FOR(session_shows(&inside.session, kept("You said: \"%s\"", turn)),
		 "the turn was lost:\n%s", or_empty(session_screen(&inside.session)));
	assert_agents(1, "after the turn");
}

TEST(ContainerFinishesATurnWithoutItsWindowDocker)
{
	works_on_a_turn(ENGINE_DOCKER);
}

TEST(ContainerFinishesATurnWithoutItsWindowPodman)
{
	works_on_a_turn(ENGINE_PODMAN);
}

static const char *below_base(const struct inside *inside, const char *name)
{
	return at_home(kept(".local/state/agentdeck/default/%s/%s", inside->name, name));
}

static bool is_traced(pid_t pid)
{
	const char *status = or_empty(machine_read(kept("/proc/%d/status", (int)pid)));
	return strstr(status, "\nTracerPid:\t") && !strstr(status, "\nTracerPid:\t0\n");
}

static const char *half_reports(const struct inside *inside)
{
	return machine_user_ok(
		WORDS("find", below_base(inside, "capsule/reports"), "-name", ".tmp-*"));
}

/* Each hook is killed with its report half made; the agent goes on. */
static void outlives_its_hook(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	const char *script = "setsid -f strace -f -qq -o /dev/null -p \"$1\" -e "
			     "trace=renameat,renameat2 -e "
			     "inject=renameat,renameat2:signal=KILL >/dev/null 2>&1";
	(void)machine_root_ok(WORDS("sh", "-c", script, "sh", kept("%d", (int)inside.agent.pid)));
	WAIT_FOR(is_traced(inside.agent.pid), "strace does not begin");
	session_say(&inside.session, "second");
	WAIT_FOR(*half_reports(&inside), "no hook was killed");
	assert_same_agent(&inside, "without its hook");
	kill_container(&inside);
	await_end(&inside);
	session_start(&inside.session, NULL);
	inside.turns++;
	assert_back(&inside, inside.id);
	ASSERT(!*half_reports(&inside), "left: %s", half_reports(&inside));
}

TEST(ContainerOutlivesItsHookDocker)
{
	outlives_its_hook(ENGINE_DOCKER);
}

TEST(ContainerOutlivesItsHookPodman)
{
	outlives_its_hook(ENGINE_PODMAN);
}

/* ---- what the engine keeps of it --------------------------------------------------------- */

static const char *archive(const struct inside *inside)
{
	return at_home(kept("image-%d.tar", (int)inside->engine));
}

/* All of its names go, and so does agentdeck's. */
static void remove_image(struct inside *inside)
{
	const char *image = container_field(inside->engine, inside->name, "{{.Image}}");
	kill_container(inside);
	(void)engine_say(inside->engine, WORDS("rmi", "--force", image));
}

static void remove_both(struct inside *inside)
{
	const char *image = container_field(inside->engine, inside->name, "{{.Image}}");
	(void)engine_say(inside->engine, WORDS("rm", "--force", inside->name));
	(void)engine_say(inside->engine, WORDS("rmi", "--force", image));
}

static void load_image(struct inside *inside)
{
	(void)engine_say(inside->engine, WORDS("load", "--input", archive(inside)));
}

static void prune_containers(struct inside *inside)
{
	kill_container(inside);
	(void)engine_say(inside->engine, WORDS("container", "prune", "--force"));
}

static void prune_system_below(struct inside *inside)
{
	(void)engine_say(inside->engine, WORDS("system", "prune", "--all", "--force"));
}

static void prune_system(struct inside *inside)
{
	kill_container(inside);
	prune_system_below(inside);
}

static const char *network_of(const struct inside *inside)
{
	return kept("%s-net", inside->name);
}

static void remove_network(struct inside *inside)
{
	kill_container(inside);
	(void)engine_say(inside->engine, WORDS("network", "rm", network_of(inside)));
}

/* podman removes the containers of a network with it. */
static void remove_network_by_force(struct inside *inside)
{
	kill_container(inside);
	(void)engine_say(inside->engine, WORDS("network", "rm", "--force", network_of(inside)));
}

/* The image is stored, since it comes from no registry. */
static void begin_with_archive(struct inside *inside, enum engine engine)
{
	inside_begin_with(inside, engine, NULL, WORDS("--network", "internal"));
	(void)engine_say(engine, WORDS("save", "--output", archive(inside), PLAIN_IMAGE));
}

TEST(ContainerComesBackFromWhatDockerLoses)
{
	static const struct death deaths[] = {
		{ .name = "docker rmi -f of a stopped container's image",
		  .strike = remove_image,
		  .mend = load_image,
		  .after = SAME_CONTAINER },
		{ .name = "docker rm -f, docker rmi -f",
		  .strike = remove_both,
		  .refused = "is gone",
		  .mend = load_image,
		  .after = NEW_CONTAINER },
		{ .name = "docker network rm", .strike = remove_network, .after = SAME_CONTAINER },
		{ .name = "docker container prune",
		  .strike = prune_containers,
		  .after = NEW_CONTAINER },
		{ .name = "docker system prune -a below a running container",
		  .strike = prune_system_below,
		  .after = SAME_AGENT },
		{ .name = "docker system prune -a",
		  .strike = prune_system,
		  .refused = "is gone",
		  .mend = load_image,
		  .after = NEW_CONTAINER },
	};
	struct inside inside;
	begin_with_archive(&inside, ENGINE_DOCKER);
	meet_all(&inside, deaths, ARRAY_SIZE(deaths));
}

TEST(ContainerComesBackFromWhatPodmanLoses)
{
	static const struct death deaths[] = {
		{ .name = "podman rmi -f of a stopped container's image",
		  .strike = remove_image,
		  .refused = "is gone",
		  .mend = load_image,
		  .after = NEW_CONTAINER },
		{ .name = "podman rm -f, podman rmi -f",
		  .strike = remove_both,
		  .refused = "is gone",
		  .mend = load_image,
		  .after = NEW_CONTAINER },
		{ .name = "podman network rm -f",
		  .strike = remove_network_by_force,
		  .after = NEW_CONTAINER },
		{ .name = "podman container prune",
		  .strike = prune_containers,
		  .after = NEW_CONTAINER },
		{ .name = "podman system prune -a below a running container",
		  .strike = prune_system_below,
		  .after = SAME_AGENT },
		{ .name = "podman system prune -a",
		  .strike = prune_system,
		  .refused = "is gone",
		  .mend = load_image,
		  .after = NEW_CONTAINER },
	};
	struct inside inside;
	begin_with_archive(&inside, ENGINE_PODMAN);
	meet_all(&inside, deaths, ARRAY_SIZE(deaths));
}

/* ---- what it has mounted ----------------------------------------------------------------- */

static void take(const char *path)
{
	(void)machine_user_ok(WORDS("mv", path, kept("%s.taken", path)));
}

static void give_back(const char *path)
{
	(void)machine_user_ok(WORDS("mv", kept("%s.taken", path), path));
}

static void take_home(struct inside *inside)
{
	kill_container(inside);
	take(below_base(inside, "home"));
}

static void give_back_home(struct inside *inside)
{
	give_back(below_base(inside, "home"));
}

static void take_directory(struct inside *inside)
{
	kill_container(inside);
	take(inside->session.directory);
}

static void give_back_directory(struct inside *inside)
{
	give_back(inside->session.directory);
}

static void take_mount(struct inside *inside)
{
	kill_container(inside);
	take(at_home("mount"));
}

static void give_back_mount(struct inside *inside UNUSED)
{
	give_back(at_home("mount"));
}

static void take_secret(struct inside *inside)
{
	kill_container(inside);
	take(at_home("secret"));
}

static void give_back_secret(struct inside *inside UNUSED)
{
	give_back(at_home("secret"));
}

static void remove_capsule_directory(struct inside *inside)
{
	kill_container(inside);
	(void)machine_user_ok(WORDS("rm", "-r", below_base(inside, "capsule")));
}

static void misses_what_it_mounts(enum engine engine)
{
	static const struct death deaths[] = {
		{ .name = "its home is gone",
		  .strike = take_home,
		  .refused = "/home does not exist",
		  .mend = give_back_home,
		  .after = SAME_CONTAINER },
		{ .name = "its work directory is gone",
		  .strike = take_directory,
		  .refused = "/deck",
		  .mend = give_back_directory,
		  .after = SAME_CONTAINER },
		{ .name = "a mount's source is gone",
		  .strike = take_mount,
		  .refused = "/mount does not exist",
		  .mend = give_back_mount,
		  .after = SAME_CONTAINER },
		{ .name = "a secret's source is gone",
		  .strike = take_secret,
		  .refused = "/secret is missing",
		  .mend = give_back_secret,
		  .after = SAME_CONTAINER },
		{ .name = "the capsule's directory is gone",
		  .strike = remove_capsule_directory,
		  .after = SAME_CONTAINER },
	};
	struct inside inside;
	machine_make_directory(at_home("mount"));
	machine_write(at_home("secret"), 0600, "a value\n");
	inside_begin_with(&inside, engine, NULL,
			  WORDS("--mount", at_home("mount"), "--secret",
				kept("VALUE=file:%s", at_home("secret"))));
	meet_all(&inside, deaths, ARRAY_SIZE(deaths));
}

TEST(ContainerSaysWhichDirectoryIsGoneDocker)
{
	misses_what_it_mounts(ENGINE_DOCKER);
}

TEST(ContainerSaysWhichDirectoryIsGonePodman)
{
	misses_what_it_mounts(ENGINE_PODMAN);
}

/* Nobody can reach the agent any more: that is unknown, not gone, until its user decides. */
static void loses_its_socket(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	struct process server = window_of(&inside);
	(void)machine_user_ok(WORDS("rm", "-r", below_base(&inside, "capsule")));
	machine_destroy(&server);
	struct reply reply = deck(NULL, WORDS("session", "start", inside.session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "does not answer"),
	       "the start ended with %d: %s%s", reply.status, reply.errors, reply.output);
	ASSERT(machine_alive(&inside.agent), "its agent was ended");
	session_restart(&inside.session, NULL);
	assert_back(&inside, inside.id);
	assert_agents(1, "after the restart");
}

TEST(ContainerWithoutItsSocketIsNotGoneDocker)
{
	loses_its_socket(ENGINE_DOCKER);
}

TEST(ContainerWithoutItsSocketIsNotGonePodman)
{
	loses_its_socket(ENGINE_PODMAN);
}

/* What the window is reached by is gone: it is made again, and the agent does not notice. */
static void loses_its_runtime_directory(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	struct process server = window_of(&inside);
	const char *place = kept("/run/user/%u/agentdeck", machine_uid());
	machine_user_ok(WORDS("rm", "-rf", place));
	struct json_object *object = deck_ok(NULL, WORDS("session", "output", inside.session.id,
							 "--pane", "--json"));
	ASSERT(strstr(json_get_string(object, "content", ""), INSIDE_MARKER), "the screen has '%s'",
	       json_get_string(object, "content", ""));
	session_say(&inside.session, "after that");
	assert_same_agent(&inside, "without its runtime directory");
	ASSERT(machine_alive(&server), "another window");
	machine_destroy(&server);
	session_start(&inside.session, NULL);
	assert_same_agent(&inside, "in another window");
	machine_user_ok(WORDS("rm", "-rf", place));
	session_stop(&inside.session, NULL);
	assert_agents(0, "after the stop");
}

TEST(ContainerKeepsItsWindowWithoutItsDirectoryDocker)
{
	loses_its_runtime_directory(ENGINE_DOCKER);
}

TEST(ContainerKeepsItsWindowWithoutItsDirectoryPodman)
{
	loses_its_runtime_directory(ENGINE_PODMAN);
}

/* ---- what is not ours -------------------------------------------------------------------- */

static const char *instance_label, *home_label;

static void run_stranger(struct inside *inside, const char *instance, const char *deck)
{
	(void)engine_say(inside->engine, WORDS("rm", "--force", inside->name));
	(void)engine_say(inside->engine,
			 WORDS("run", "--detach", "--network", "none", "--name", inside->name,
			       "--label", kept("io.agentdeck.instance=%s", instance), "--label",
			       kept("io.agentdeck.home=%s", deck), PLAIN_IMAGE, "/bin/sleep",
			       "1000"));
}

static void take_name_by_instance(struct inside *inside)
{
	run_stranger(inside, "another-instance", home_label);
}

static void take_name_by_deck(struct inside *inside)
{
	run_stranger(inside, instance_label, "another-deck");
}

static void remove_stranger(struct inside *inside)
{
	ASSERT(streq(or_empty(container_state(inside->engine, inside->name)), "running"),
	       "the stranger is gone");
	(void)engine_say(inside->engine, WORDS("rm", "--force", inside->name));
}

static void meets_another_deck(enum engine engine)
{
	static const struct death deaths[] = {
		{ .name = "the name and the deck are ours, the instance is not",
		  .strike = take_name_by_instance,
		  .refused = "not agentdeck's",
		  .mend = remove_stranger,
		  .after = NEW_CONTAINER },
		{ .name = "the name and the instance are ours, the deck is not",
		  .strike = take_name_by_deck,
		  .refused = "not agentdeck's",
		  .mend = remove_stranger,
		  .after = NEW_CONTAINER },
	};
	struct inside inside;
	inside_begin_with(&inside, engine, NULL, WORDS("--network", "internal"));
	instance_label = inside.session.id;
	home_label = container_field(engine, inside.name,
				     "{{index .Config.Labels \"io.agentdeck.home\"}}");
	meet_all(&inside, deaths, ARRAY_SIZE(deaths));
	/* A removal takes what is ours, and leaves the rest. */
	take_name_by_deck(&inside);
	await_end(&inside);
	struct reply reply = deck(NULL, WORDS("remove", "--force", inside.session.id));
	ASSERT(reply.status == 0 && strstr(reply.errors, "left alone"), "remove: %d: %s%s",
	       reply.status, reply.errors, reply.output);
	remove_stranger(&inside);
	ASSERT(engine_try(engine, WORDS("network", "inspect", network_of(&inside))).status != 0,
	       "its network is left");
}

TEST(ContainerOfAnotherDeckIsLeftAloneDocker)
{
	meets_another_deck(ENGINE_DOCKER);
}

TEST(ContainerOfAnotherDeckIsLeftAlonePodman)
{
	meets_another_deck(ENGINE_PODMAN);
}

/* ---- the engine -------------------------------------------------------------------------- */

static void restart_docker(struct inside *inside UNUSED)
{
	engine_stop(ENGINE_DOCKER);
	engine_start(ENGINE_DOCKER);
}

static void kill_docker(struct inside *inside UNUSED)
{
	engine_kill(ENGINE_DOCKER);
	engine_start(ENGINE_DOCKER);
}

static void stop_docker(struct inside *inside UNUSED)
{
	engine_stop(ENGINE_DOCKER);
}

static void start_docker(struct inside *inside UNUSED)
{
	engine_start(ENGINE_DOCKER);
}

TEST(ContainerComesBackAfterTheEndOfDocker)
{
	static const struct death deaths[] = {
		{ .name = "dockerd is restarted",
		  .strike = restart_docker,
		  .after = SAME_CONTAINER },
		{ .name = "dockerd is stopped",
		  .strike = stop_docker,
		  .refused = "docker",
		  .mend = start_docker,
		  .after = SAME_CONTAINER },
		{ .name = "kill -9 of dockerd", .strike = kill_docker, .after = SAME_CONTAINER },
	};
	struct inside inside;
	inside_begin(&inside, ENGINE_DOCKER);
	meet_all(&inside, deaths, ARRAY_SIZE(deaths));
}

static void set_live_restore(bool on)
{
	const char *script = "sed -i \"s/^{.*\\\"storage/{\\\"live-restore\\\": $1, \\\"storage/\" "
			     "/etc/docker/daemon.json && systemctl kill --kill-who=main "
			     "--signal=SIGHUP docker.service";
	(void)machine_root(WORDS("sh", "-c", script, "sh", on ? "true" : "false"));
}

static void unset_live_restore(void)
{
	set_live_restore(false);
}

TEST(ContainerOutlivesDockerWithLiveRestore)
{
	static const struct death deaths[] = {
		{ .name = "dockerd is restarted", .strike = restart_docker, .after = SAME_AGENT },
		{ .name = "kill -9 of dockerd", .strike = kill_docker, .after = SAME_AGENT },
	};
	struct inside inside;
	inside_begin(&inside, ENGINE_DOCKER);
	at_end(unset_live_restore);
	set_live_restore(true);
	WAIT_FOR(streq(engine_say(ENGINE_DOCKER,
				  WORDS("info", "--format", "{{.LiveRestoreEnabled}}")),
		       "true"),
		 "dockerd does not take live-restore");
	meet_all(&inside, deaths, ARRAY_SIZE(deaths));
	/* Even a new window needs no engine. */
	struct process window = window_of(&inside);
	engine_stop(ENGINE_DOCKER);
	machine_destroy(&window);
	session_start(&inside.session, NULL);
	session_say(&inside.session, "while it is down");
	engine_start(ENGINE_DOCKER);
	assert_same_agent(&inside, "after the last start");
}

TEST(ContainerIsNotGoneWhilePodmanIsStopped)
{
	struct inside inside;
	inside_begin(&inside, ENGINE_PODMAN);
	kill_container(&inside);
	await_end(&inside);
	engine_stop(ENGINE_PODMAN);
	struct reply reply = deck(NULL, WORDS("session", "start", inside.session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "podman"), "the start ended with %d: %s%s",
	       reply.status, reply.errors, reply.output);
	engine_start(ENGINE_PODMAN);
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
}

/* ---- logins ------------------------------------------------------------------------------ */

static void spare_processes(void)
{
	login_configure("KillUserProcesses=no");
}

/* The login takes with it whatever it still has. */
static void outlives_a_logout(enum engine engine)
{
	struct inside inside;
	engine_prepare(engine, PLAIN_IMAGE);
	struct login *login = login_open();
	at_end(spare_processes);
	login_configure("KillUserProcesses=yes");
	inside_begin_in(&inside, engine, login);
	login_close(login);
	WAIT_FOR(!machine_alive(login_witness(login)), "the witness outlives the logout");
	WAIT_FOR(!login_is_known(login), "session %s does not end", login_number(login));
	assert_same_agent(&inside, "after the logout");
	session_say(&inside.session, "second");
}

TEST(ContainerOutlivesALogoutDocker)
{
	outlives_a_logout(ENGINE_DOCKER);
}

TEST(ContainerOutlivesALogoutPodman)
{
	outlives_a_logout(ENGINE_PODMAN);
}

static void let_linger(void)
{
	machine_root_ok(WORDS("loginctl", "enable-linger", machine_user_name()));
}

/* Its user has logged out, and does not linger: the user manager ends. */
static void lose_manager(struct inside *inside, enum engine engine)
{
	engine_prepare(engine, PLAIN_IMAGE);
	machine_write(at_home(".config/agentdeck/config.toml"), 0600, "[tmux]\nlinger = false\n");
	struct login *login = login_open();
	inside_begin_in(inside, engine, login);
	at_end(let_linger);
	struct process window = window_of(inside);
	machine_root_ok(WORDS("loginctl", "disable-linger", machine_user_name()));
	/* A session of which a process is left would keep the user manager. */
	login_terminate(login);
	WAIT_FOR(!machine_alive(&window), "the user manager does not end");
}

TEST(ContainerOfDockerNeedsNoLingering)
{
	struct inside inside;
	lose_manager(&inside, ENGINE_DOCKER);
	assert_same_agent(&inside, "without the user manager");
	struct login *login = login_open();
	session_start(&inside.session, login);
	assert_same_agent(&inside, "at the next login");
	session_say(&inside.session, "second");
}

TEST(ContainerOfPodmanComesBackWithTheNextLogin)
{
	struct inside inside;
	lose_manager(&inside, ENGINE_PODMAN);
	const struct death death = { .name = "the end of the user manager" };
	assert_lost(&inside, &death);
	struct login *login = login_open();
	struct reply reply = deck(login, WORDS("recover"));
	ASSERT(reply.status == 0, "recover ended with %d: %s%s", reply.status, reply.output,
	       reply.errors);
	assert_back(&inside, inside.id);
	assert_agents(1, "at the next login");
}

TEST(ContainerComesBackAfterRebootPodman)
{
	struct inside inside;
	inside_begin(&inside, ENGINE_PODMAN);
	machine_reboot();
	engine_prepare(ENGINE_PODMAN, PLAIN_IMAGE);
	struct reply reply = deck(NULL, WORDS("recover"));
	ASSERT(reply.status == 0, "recover ended with %d: %s%s", reply.status, reply.output,
	       reply.errors);
	assert_back(&inside, inside.id);
}
