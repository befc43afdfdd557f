/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a container may reach and use, as the kernel has it, and what it costs while nothing
 * happens.
 */
#include "persistence/containers.h"
#include "persistence/deck.h"
#include "persistence/wakeups.h"

#include <string.h>

static void begin(struct session *session, enum engine engine, const char *title,
		  const char *const *words)
{
	struct strvec *all = kept_vector();
	engine_prepare(engine, PLAIN_IMAGE);
	strvec_push_array(all, WORDS("--container", "--image", PLAIN_IMAGE, "--engine",
				     engine_address(engine)));
	if (words)
		strvec_push_array(all, words);
	session_add(session, NULL, title, (const char *const *)all->items);
	session_start(session, NULL);
	ASSERT(session->agent_pid, "no agent in %s", title);
}

static const char *container_of(const struct session *session, enum engine engine)
{
	return engine_say(engine, WORDS("ps", "--all", "--quiet", "--filter",
					kept("label=io.agentdeck.instance=%s", session->id)));
}

static const char *of_agent(const struct session *session, const char *file)
{
	const char *text = machine_read(kept("/proc/%d/%s", (int)session->agent_pid, file));
	ASSERT(text, "the agent of %s has no %s", session->title, file);
	return text;
}

/* ---- networks ---------------------------------------------------------------------------- */

/* Beside the loopback. */
static unsigned count_interfaces(const struct session *session)
{
	unsigned lines = 0;
	for (const char *text = of_agent(session, "net/dev"); *text; text++)
		lines += *text == '\n';
	enum { HEAD_AND_LOOPBACK = 3 };
	return lines - HEAD_AND_LOOPBACK;
}

/* "hello" for everybody who connects to this address of the machine. */
static void greet_at(const char *address)
{
	const char *output = at_home("greeter.out");
	(void)machine_background(WORDS("python3", "-c",
				       "import socket, sys\n"
				       "server = socket.create_server((sys.argv[1], 7001))\n"
				       "print('ready', flush=True)\n"
				       "while True:\n"
				       "    client = server.accept()[0]\n"
				       "    client.sendall(b'hello')\n"
				       "    client.close()\n",
				       address),
				 output);
	WAIT_FOR(strstr(or_empty(machine_read(output)), "ready"), "nobody listens at %s: %s",
		 address, or_empty(machine_read(output)));
}

static bool reaches(const struct session *session, const char *address, const char *port)
{
	struct reply reply = deck_look(WORDS("session", "exec", session->id, "--", "/bin/sh", "-c",
					     kept("nc -w 5 %s %s </dev/null", address, port)));
	return strstr(reply.output, "hello") != NULL;
}

/* This machine's address in Docker's usual network. */
static const char *address_of_docker(void)
{
	const char *text = machine_user_ok(WORDS("ip", "-4", "-o", "address", "show", "docker0"));
	const char *found = strstr(text, "inet ");
	ASSERT(found, "docker0 has no address: %s", text);
	found += strlen("inet ");
	return kept("%.*s", (int)strcspn(found, "/ "), found);
}

/* That address stands for all that is outside. */
TEST(ContainerHasTheNetworkOfItsWish)
{
	static const struct {
		const char *network;
		bool has_interface, has_way_out;
	} table[] = {
		{ "default", true, true }, { "none", false, false },  { "internal", true, false },
		{ "shared", true, true },  { "harbour", true, true },
	};
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	const char *outside_address = address_of_docker();
	greet_at(outside_address);
	(void)engine_try(ENGINE_DOCKER, WORDS("network", "create", "harbour"));
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const char *network = table[i].network;
		struct session session;
		begin(&session, ENGINE_DOCKER, network, WORDS("--network", network));
		ASSERT((count_interfaces(&session) > 0) == table[i].has_interface,
		       "network %s: %u interfaces", network, count_interfaces(&session));
		ASSERT(reaches(&session, outside_address, "7001") == table[i].has_way_out,
		       "network %s: there is %s way to %s", network,
		       table[i].has_way_out ? "no" : "a", outside_address);
		(void)deck_ok(NULL, WORDS("remove", "--force", "--json", session.id));
	}
	(void)engine_say(ENGINE_DOCKER, WORDS("network", "rm", "harbour"));
	struct session lost;
	session_add(&lost, NULL, "lost",
		    WORDS("--container", "--image", PLAIN_IMAGE, "--engine",
			  engine_address(ENGINE_DOCKER), "--network", "nowhere"));
	struct reply reply = deck_look(WORDS("session", "start", "lost"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "nowhere"), "%d: %s%s", reply.status,
	       reply.output, reply.errors);
}

TEST(ContainerOfAnInternalNetworkReachesItsNeighbours)
{
	struct session session;
	begin(&session, ENGINE_DOCKER, "deck", WORDS("--network", "internal"));
	const char *name = container_field(ENGINE_DOCKER, container_of(&session, ENGINE_DOCKER),
					   "{{.Name}}");
	(void)engine_say(ENGINE_DOCKER,
			 WORDS("run", "--detach", "--name", "neighbour", "--network",
			       kept("%s-net", name + (*name == '/')), PLAIN_IMAGE, "/bin/nc", "-ll",
			       "-p", "7001", "-e", "/bin/echo", "hello"));
	const char *address = container_field(
		ENGINE_DOCKER, "neighbour",
		"{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");
	WAIT_FOR(reaches(&session, address, "7001"), "it does not reach its neighbour at %s: %s",
		 address, engine_say(ENGINE_DOCKER, WORDS("logs", "neighbour")));
	(void)engine_say(ENGINE_DOCKER, WORDS("rm", "--force", "neighbour"));
}

static const char *address_of(const char *container, enum engine engine)
{
	return container_field(engine, container,
			       "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");
}

/* Where this machine reaches it, as sshd does for a port that is forwarded. */
TEST(ContainerIsReachedAtItsAddress)
{
	struct session session, inner;
	begin(&session, ENGINE_DOCKER, "ports", NULL);
	(void)engine_say(ENGINE_DOCKER,
			 WORDS("exec", "--detach", container_of(&session, ENGINE_DOCKER), "/bin/nc",
			       "-ll", "-p", "7002", "-e", "/bin/echo", "hello"));
	struct json_object *answer = deck_look_ok(
		WORDS("session", "address", "--json", session.id));
	const char *address = json_get_string(answer, "address", "");
	const char *const *call = WORDS(
		"python3", "-c",
		"import socket, sys\n"
		"print(socket.create_connection((sys.argv[1], 7002), 5).recv(5).decode())\n",
		address);
	WAIT_FOR(strstr(machine_user(call).output, "hello"), "nobody answers at '%s'", address);
	begin(&inner, ENGINE_DOCKER, "inner", WORDS("--network", "internal"));
	struct reply reply = deck_look(WORDS("session", "address", inner.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "no address that this machine reaches"),
	       "%d: %s%s", reply.status, reply.output, reply.errors);
}

static void does_not_reach(const struct session *session, const char *container, enum engine engine)
{
	const char *address = address_of(container, engine);
	(void)engine_say(engine, WORDS("exec", "--detach", container, "/bin/nc", "-ll", "-p",
				       "7001", "-e", "/bin/echo", "hello"));
	ASSERT(*address, "%s has no address", container);
	ASSERT(!reaches(session, address, "7001"), "it reaches %s at %s", container, address);
}

static void is_alone(enum engine engine)
{
	struct session alone, other;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE); /* its bridge is the address */
	const char *outside_address = address_of_docker();
	greet_at(outside_address);
	begin(&alone, engine, "alone", NULL);
	begin(&other, engine, "other", NULL);
	ASSERT(reaches(&alone, outside_address, "7001"), "it has no way out to %s",
	       outside_address);
	does_not_reach(&alone, container_of(&other, engine), engine);
	/* podman leads from an isolated network into its usual one, unless it can isolate strictly.
	 */
	if (engine != ENGINE_DOCKER)
		return;
	(void)engine_say(engine, WORDS("run", "--detach", "--name", "stranger", PLAIN_IMAGE,
				       "/bin/sleep", "1000"));
	does_not_reach(&alone, "stranger", engine);
	struct session beside;
	const char *address = address_of("stranger", engine);
	begin(&beside, engine, "beside", WORDS("--network", "shared"));
	WAIT_FOR(reaches(&beside, address, "7001"), "it does not reach %s", address);
	(void)engine_say(engine, WORDS("rm", "--force", "stranger"));
}

TEST(ContainerIsAloneInItsNetworkDocker)
{
	is_alone(ENGINE_DOCKER);
}

TEST(ContainerIsAloneInItsNetworkPodman)
{
	is_alone(ENGINE_PODMAN);
}

TEST(ContainerIsAloneInItsNetworkRootPodman)
{
	is_alone(ENGINE_ROOT_PODMAN);
}

/* Until Docker has no addresses left for another one.  Returns how many were made. */
static unsigned fill_with_networks(void)
{
	enum { MOST = 64 };
	for (unsigned i = 0; i < MOST; i++) {
		struct answer made = engine_try(ENGINE_DOCKER,
						WORDS("network", "create", kept("filler-%u", i)));
		if (made.status != 0) {
			ASSERT(strstr(made.errors, "pool"), "another refusal: %s", made.errors);
			return i;
		}
	}
	fail_test("Docker has addresses for more than %d networks", MOST);
}

static void remove_network(unsigned number)
{
	(void)engine_say(ENGINE_DOCKER, WORDS("network", "rm", kept("filler-%u", number)));
}

/* The network of a stopped session goes, and not that of one that runs. */
TEST(ContainerGetsANetworkOfAFullEngine)
{
	struct session stopped, running, next;
	begin(&stopped, ENGINE_DOCKER, "stopped", NULL);
	begin(&running, ENGINE_DOCKER, "running", NULL);
	const char *name = container_field(ENGINE_DOCKER, container_of(&stopped, ENGINE_DOCKER),
					   "{{.Name}}");
	const char *network = kept("%s-net", name + (*name == '/'));
	session_stop(&stopped, NULL);
	unsigned count = fill_with_networks();
	begin(&next, ENGINE_DOCKER, "next", NULL);
	ASSERT(engine_try(ENGINE_DOCKER, WORDS("network", "inspect", network)).status != 0,
	       "%s is still there", network);
	struct reply refused = deck(NULL, WORDS("session", "start", stopped.id));
	ASSERT(refused.status != 0 && strstr(refused.errors, "--network shared"), "%d: %s",
	       refused.status, refused.errors);
	remove_network(--count);
	session_start(&stopped, NULL);
	ASSERT(streq(stopped.status, "running"), "it is %s", stopped.status);
	(void)session_look(&running);
	ASSERT(streq(running.status, "running"), "the other one is %s", running.status);
	while (count)
		remove_network(--count);
}

/* ---- limits ------------------------------------------------------------------------------ */

/* The limit of the agent's control group, or NULL: this machine has no such controller. */
static const char *limit_of(const struct session *session, const char *file)
{
	return machine_read(kept("/sys/fs/cgroup%s/%s", machine_cgroup(session->agent_pid), file));
}

/* Limited, as the engine and the kernel say; or it was said that it is not.  podman may refuse. */
static void has_limits(enum engine engine)
{
	static const struct {
		const char *option, *wish;
		const char *file, *value;
		const char *field, *field_value;
		const char *without;
	} table[] = {
		{ "--memory-max", "64M", "memory.max", "67108864\n", "{{.HostConfig.Memory}}",
		  "67108864", "cannot limit memory" },
		{ "--tasks-max", "77", "pids.max", "77\n", "{{.HostConfig.PidsLimit}}", "77",
		  "cannot limit processes" },
		{ "--cpus", "0.5", "cpu.max", "50000 100000\n", "{{.HostConfig.NanoCpus}}",
		  "500000000", "cannot limit processors" },
	};
	engine_prepare(engine, PLAIN_IMAGE);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct session session;
		session_add(&session, NULL, table[i].file,
			    WORDS("--container", "--image", PLAIN_IMAGE, "--engine",
				  engine_address(engine), table[i].option, table[i].wish));
		struct reply started = deck_look(WORDS("session", "start", session.id));
		if (started.status != 0) {
			ASSERT(strstr(started.errors, "controller"), "%s: %s", table[i].option,
			       started.errors);
			print_message("%s: only as the engine has it, since this machine lacks the "
				      "controller\n",
				      table[i].option);
			const char *wished = container_field(engine, container_of(&session, engine),
							     table[i].field);
			ASSERT(streq(wished, table[i].field_value), "%s: the engine has %s",
			       table[i].option, wished);
			continue;
		}
		(void)session_look(&session);
		const char *limit = limit_of(&session, table[i].file);
		const char *said = container_field(engine, container_of(&session, engine),
						   table[i].field);
		const bool is_limited = streq(said, table[i].field_value) &&
					(!limit || streq(limit, table[i].value));
		const bool is_warned = strstr(started.errors, table[i].without) != NULL;
		ASSERT(is_limited != is_warned, "%s is '%s', the engine says %s, and the start: %s",
		       table[i].file, or_empty(limit), said, started.errors);
	}
}

/* No engine has a word for them. */
TEST(ContainerSaysWhichLimitsItCannotHave)
{
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	machine_make_directory(at_home("deck"));
	struct reply added = deck_look(WORDS("add", at_home("deck"), "-t", "deck", "--agent",
					     "demo", "--container", "--image", PLAIN_IMAGE,
					     "--engine", engine_address(ENGINE_DOCKER),
					     "--memory-high", "1G", "--cpu-weight", "50"));
	ASSERT(added.status == 0 &&
		       strstr(added.errors, "memory_high does nothing in a container") &&
		       strstr(added.errors, "cpu_weight does nothing in a container"),
	       "add: %d: %s", added.status, added.errors);
	static const char *const words[][2] = { { "--memory-high", "2G" },
						{ "--cpu-weight", "100" } };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct reply reply = deck_look(
			WORDS("session", "limit", "deck", words[i][0], words[i][1]));
		ASSERT(reply.status != 0 && strstr(reply.errors, "cannot set"), "%s: %d: %s%s",
		       words[i][0], reply.status, reply.errors, reply.output);
	}
	(void)deck_ok(NULL, WORDS("session", "limit", "deck", "--memory-high", "infinity",
				  "--memory-max", "1G", "--json"));
}

TEST(ContainerHasItsLimitsOrSaysThatItHasNoneDocker)
{
	has_limits(ENGINE_DOCKER);
}

TEST(ContainerHasItsLimitsOrSaysThatItHasNonePodman)
{
	has_limits(ENGINE_PODMAN);
}

/* ---- capabilities ------------------------------------------------------------------------ */

static void has_named_capabilities(enum engine engine)
{
	struct session session;
	begin(&session, engine, "deck", WORDS("--network", "none", "--cap-add", "NET_ADMIN"));
	ASSERT(strstr(of_agent(&session, "status"), "\nCapBnd:\t0000000000001000\n"),
	       "not NET_ADMIN alone: %s", of_agent(&session, "status"));
	ASSERT(streq(container_field(engine, container_of(&session, engine),
				     "{{.HostConfig.Privileged}}"),
		     "false"),
	       "privileged");
}

TEST(ContainerHasOnlyTheCapabilitiesThatAreNamedDocker)
{
	has_named_capabilities(ENGINE_DOCKER);
}

TEST(ContainerHasOnlyTheCapabilitiesThatAreNamedPodman)
{
	has_named_capabilities(ENGINE_PODMAN);
}

/* ---- while nothing happens --------------------------------------------------------------- */

enum { IDLE = 2 };

/* Its capsule, its window and the window's view. */
static void watch(struct watched *watched, const struct session *session)
{
	const char *tmux = or_empty(session->socket);
	watched->pids[watched->count++] =
		container_process(ENGINE_DOCKER, container_of(session, ENGINE_DOCKER)).pid;
	static const char *const formats[] = { "#{pid}", "#{pane_pid}" };
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		watched->pids[watched->count++] = (pid_t)strtol(
			machine_user_ok(
				WORDS("tmux", "-S", tmux, "display-message", "-p", formats[i])),
			NULL, 10);
}

/* Supervisor, capsules, windows and views. */
TEST(ContainerThatIsIdleSleeps)
{
	struct session sessions[IDLE];
	struct watched watched = { 0 };
	struct process supervisor = machine_background(WORDS("agentdeck", "supervise"),
						       at_home("supervise.out"));
	watched.pids[watched.count++] = supervisor.pid;
	for (size_t i = 0; i < IDLE; i++) {
		begin(&sessions[i], ENGINE_DOCKER, kept("deck-%zu", i), NULL);
		session_say(&sessions[i], "good night");
		watch(&watched, &sessions[i]);
	}
	assert_they_sleep(&watched);
}

/* The supervisor opens another one, and the agent has not ended. */
TEST(ContainerWindowThatIsLostIsNoRestart)
{
	struct session session;
	begin(&session, ENGINE_DOCKER, "deck", NULL);
	const pid_t agent = session.agent_pid;
	(void)machine_background(WORDS("agentdeck", "supervise"), at_home("supervise.out"));
	WAIT_FOR(strstr(or_empty(deck_log()), "supervising "), "no supervisor");
	for (unsigned i = 1; i <= 2; i++) {
		const char *pid = machine_user_ok(
			WORDS("tmux", "-S", session.socket, "display-message", "-p", "#{pid}"));
		struct process window = machine_process((pid_t)strtol(pid, NULL, 10));
		machine_destroy(&window);
		WAIT_FOR(session_shows(&session, "demo"), "no new window:\n%s",
			 or_empty(deck_log()));
	}
	struct json_object *shown = session_look(&session);
	ASSERT(session.agent_pid == agent, "another agent");
	ASSERT(json_get_int(json_get_object(shown, "restart"), "count", -1) == 0,
	       "it counts as a restart: %s", json_print(shown));
}
