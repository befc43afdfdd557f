/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The supervisor as a service of the user manager, and its answers on the user bus.
 */
#include "persistence/attach.h"
#include "persistence/deck.h"

#include <string.h>

#define MARKER "the kettle is on the left"
#define SUPERVISOR \
	"io.agentdeck.Supervisor1", "/io/agentdeck/Supervisor1", "io.agentdeck.Supervisor1"

/* Also after a failure: a service of the user manager would outlive the test and restart when it is
 * killed. */
static void uninstall(void)
{
	(void)machine_user(WORDS("agentdeck", "supervise", "--uninstall"));
}

static void install(void)
{
	if (machine_is_local())
		skip_test("would replace the supervisor of your own user manager");
	at_end(uninstall);
	(void)deck_ok(NULL, WORDS("supervise", "--install", "--json"));
}

/* As seen without any login. */
static struct json_object *status(void)
{
	struct reply reply = deck_look(WORDS("supervise", "--status", "--json"));
	ASSERT(reply.json, "supervise --status: %s%s", reply.output, reply.errors);
	return reply.json;
}

static bool has(const char *member, const char *value)
{
	return streq(json_get_string(status(), member, ""), value);
}

static void begin(struct session *session, const char *title)
{
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
	session_look(session);
}

/* Kill its server, and wait until the supervisor has restarted it. */
static void have_it_revived(struct session *session)
{
	struct process old = session_server(session);
	machine_destroy(&old);
	WAIT_FOR(session_look(session) && session->server_pid && session->server_pid != old.pid &&
			 streq(session->status, "running") && session->agent_pid,
		 "%s does not come back: %s\n%s", session->title, session->status,
		 or_empty(deck_log()));
	WAIT_FOR(session_shows(session, MARKER), "its screen is empty:\n%s",
		 or_empty(session_screen(session)));
}

TEST(SuperviseInstallEnablesAndLingers)
{
	struct session session;
	const char *user = machine_user_name();
	begin(&session, "deck");
	machine_root_ok(WORDS("loginctl", "disable-linger", user));
	struct login *login = login_open();
	install();
	login_close(login);
	const char *linger = machine_root_ok(WORDS("loginctl", "show-user", "-P", "Linger", user));
	ASSERT(streq(linger, "yes\n"), "Linger=%s", linger);
	struct json_object *now = status();
	ASSERT(has("enabled", "enabled") && has("active", "active") &&
		       json_get_bool(now, "lingers", false) &&
		       json_get_bool(now, "on_bus", false) &&
		       json_get_bool(now, "file_is_ours", false),
	       "it is %s", json_print(now));
	const char *file = json_get_string(now, "file", "");
	ASSERT(machine_exists(file), "there is no %s", file);
	struct answer changed = machine_login(WORDS("systemctl", "--user", "show", "-P",
						    "NeedDaemonReload", "agentdeck.service"));
	ASSERT(streq(changed.output, "no\n"), "systemctl warns of a changed unit: %s",
	       changed.output);

	/* Nobody logs in, but it runs and works. */
	const char *id = session.session_id;
	machine_powercut();
	machine_boot();
	WAIT_FOR(has("active", "active"), "after a boot it is %s", json_print(status()));
	WAIT_FOR(session_look(&session) && streq(session.status, "running") && session.agent_pid,
		 "the session does not come back: %s\n%s", session.status, or_empty(deck_log()));
	assert_came_back(&session, id, MARKER, 1);
}

/* What a program of the user's says to the socket, and prints of the answer. */
static const char CLIENT[] = "import os, socket\n"
			     "link = socket.socket(socket.AF_UNIX)\n"
			     "link.connect(f'/run/user/{os.getuid()}/agentdeck.socket')\n"
			     "link.sendall(b'{\"frame\":\"hello\",\"protocol\":1}\\n'\n"
			     "    b'{\"frame\":\"request\",\"id\":\"1\",\"argv\":[\"list\"]}\\n')\n"
			     "for line in link.makefile():\n"
			     "    print(line, end='')\n"
			     "    if '\"exit\"' in line: break\n";

TEST(SuperviseSocketServesItsUser)
{
	struct session session;
	begin(&session, "deck");
	install();
	const char *path = kept("/run/user/%u/agentdeck.socket", machine_uid());
	const char *mode = machine_root_ok(WORDS("stat", "-c", "%a %F", path));
	ASSERT(streq(mode, "600 socket\n"), "its mode is %s", mode);
	const char *said = machine_user(WORDS("python3", "-c", CLIENT)).output;
	ASSERT(strstr(said, "\"frame\":\"hello\"") && strstr(said, "deck") &&
		       strstr(said, "\"status\":0"),
	       "it says: %s", said);
	/* It is there again after a boot. */
	machine_powercut();
	machine_boot();
	WAIT_FOR(has("active", "active"), "after a boot it is %s", json_print(status()));
	said = machine_user(WORDS("python3", "-c", CLIENT)).output;
	ASSERT(strstr(said, "\"status\":0"), "after a boot it says: %s", said);
	uninstall();
	ASSERT(!machine_exists(path), "the socket is still there");
}

static bool manager_is_up(void)
{
	const char *unit = kept("user@%u.service", machine_uid());
	const char *state =
		machine_root(WORDS("systemctl", "show", "-P", "ActiveState", unit)).output;
	return !streq(state, "inactive\n") && !streq(state, "failed\n");
}

/* As cron or a bare su would call it. */
TEST(SuperviseInstallWakesTheUserManager)
{
	if (machine_is_local())
		skip_test("would end your own user manager");
	at_end(uninstall);
	machine_root_ok(WORDS("loginctl", "disable-linger", machine_user_name()));
	WAIT_FOR(!manager_is_up(), "the user manager does not end although its user has left");
	struct answer answer = machine_user(WORDS("agentdeck", "supervise", "--install"));
	ASSERT(answer.status == 0, "without a login it fails: %s", answer.errors);
	ASSERT(has("active", "active"), "it is %s", json_print(status()));
}

static const char *words_of_install(const char *linger)
{
	machine_root_ok(WORDS("loginctl", linger, machine_user_name()));
	struct answer answer = machine_login(WORDS("agentdeck", "supervise", "--install"));
	ASSERT(answer.status == 0, "after %s: %s", linger, answer.errors);
	return answer.output;
}

TEST(SuperviseInstallPromisesNoBootWithoutLingering)
{
	if (machine_is_local())
		skip_test("would replace the supervisor of your own user manager");
	at_end(uninstall);
	machine_write(at_home(".config/agentdeck/config.toml"), 0600, "[tmux]\nlinger = false\n");
	const char *text = words_of_install("disable-linger");
	ASSERT(strstr(text, "with your logins") && !strstr(text, "machine starts"), "%s", text);
	text = words_of_install("enable-linger");
	ASSERT(strstr(text, "whenever the machine starts"), "%s", text);
}

/* More often than the restart policy has patience with an agent that crashes. */
TEST(EndsOfTheUserManagerAreNoCrashes)
{
	enum { ROUNDS = 7 };
	struct session session;
	const char *unit = kept("user@%u.service", machine_uid());
	begin(&session, "deck");
	const char *id = session.session_id;
	install();
	for (int round = 1; round <= ROUNDS; round++) {
		const pid_t before = session.server_pid;
		if (round % 2 == 0)
			machine_root_ok(WORDS("systemctl", "kill", "--kill-who=main",
					      "--signal=KILL", unit));
		/* systemd has a limit of its own, for this unit and what it needs. */
		(void)machine_root(WORDS("systemctl", "reset-failed"));
		machine_root_ok(WORDS("systemctl", "restart", unit));
		WAIT_FOR(session_look(&session) && session.server_pid != before &&
				 streq(session.status, "running") && session.agent_pid,
			 "the session does not come back after end %d: %s\n%s", round,
			 session.status, or_empty(deck_log()));
	}
	assert_came_back(&session, id, MARKER, 1);
}

TEST(SuperviseUninstallLeavesSessionsAlive)
{
	struct session scoped, direct;
	begin(&scoped, "scoped");
	install();
	have_it_revived(&scoped);
	/* Without a scope it is a child of the service itself, in the service's control group. */
	machine_write(at_home(".config/agentdeck/config.toml"), 0644,
		      "[tmux]\nlaunch_in_user_scope = false\n");
	begin(&direct, "direct");
	have_it_revived(&direct);
	struct process servers[] = { session_server(&scoped), session_server(&direct) };
	struct process agents[] = { session_agent(&scoped), session_agent(&direct) };
	ASSERT(strstr(machine_cgroup(servers[1].pid), "/agentdeck.service"), "it is in %s",
	       machine_cgroup(servers[1].pid));
	const char *file = json_get_string(status(), "file", "");

	struct json_object *result = deck_ok(NULL, WORDS("supervise", "--uninstall", "--json"));
	ASSERT(!json_get_bool(result, "installed", true), "%s", json_print(result));
	ASSERT(!machine_exists(file), "%s is still there", file);
	struct reply reply = deck_look(WORDS("supervise", "--status", "--json"));
	ASSERT(reply.status == 3, "a supervisor is still there: %s", reply.output);
	for (size_t i = 0; i < ARRAY_SIZE(servers); i++)
		ASSERT(machine_alive(servers + i) && machine_alive(agents + i),
		       "session %zu ended with the supervisor", i);
	session_say(&scoped, "still there");
	session_say(&direct, "still there");
	/* The second time there is nothing to do. */
	(void)deck_ok(NULL, WORDS("supervise", "--uninstall", "--json"));
}

static unsigned lives_in_log(void)
{
	unsigned count = 0;
	for (const char *at = or_empty(deck_log()); (at = strstr(at, " supervising ")); at++)
		count++;
	return count;
}

static void reload(void)
{
	unsigned before = lives_in_log();
	struct answer answer = machine_login(WORDS("systemctl", "--user", "reload", "agentdeck"));
	ASSERT(answer.status == 0, "%s", answer.errors);
	WAIT_FOR(lives_in_log() > before, "it does not begin anew:\n%s", or_empty(deck_log()));
}

/* As after an upgrade: the same process continues as the new program, and to the user manager it is
 * the same service. */
TEST(SuperviseReloadIsNoRestart)
{
	install();
	int64_t pid = json_get_int(status(), "pid", 0);
	struct answer answer = machine_login(WORDS("systemctl", "--user", "reload", "agentdeck"));
	ASSERT(answer.status == 0, "%s", answer.errors);
	WAIT_FOR(strstr(or_empty(deck_log()), "SIGHUP: restarting") &&
			 json_get_bool(status(), "on_bus", false),
		 "it does not come back:\n%s", or_empty(deck_log()));
	struct json_object *now = status();
	ASSERT(has("active", "active") && json_get_int(now, "pid", 0) == pid,
	       "it was %d, and is %s", (int)pid, json_print(now));
}

/* Of descriptors (getrlimit(2), RLIMIT_NOFILE). */
static unsigned long soft_limit(int64_t pid)
{
	static const char name[] = "Max open files";
	const char *line = strstr(or_empty(machine_read(kept("/proc/%d/limits", (int)pid))), name);
	ASSERT(line, "process %d is gone", (int)pid);
	return strtoul(line + strlen(name), NULL, 10);
}

/* The supervisor has a higher limit itself, which would break agents that use select(2). */
TEST(ReloadKeepsTheUsualLimits)
{
	struct session session;
	begin(&session, "deck");
	install();
	have_it_revived(&session);
	unsigned long usual = soft_limit(session.server_pid);
	int64_t supervisor = json_get_int(status(), "pid", 0);
	ASSERT(soft_limit(supervisor) > usual, "the supervisor has no higher limit than %lu",
	       usual);
	reload();
	have_it_revived(&session);
	ASSERT(soft_limit(session.server_pid) == usual,
	       "the limit was %lu, and is %lu after a reload", usual,
	       soft_limit(session.server_pid));
	ASSERT(soft_limit(supervisor) > usual, "the supervisor's own is %lu",
	       soft_limit(supervisor));
}

static void control(const char *verb)
{
	struct answer answer = machine_login(WORDS("systemctl", "--user", verb, "agentdeck"));
	ASSERT(answer.status == 0, "systemctl %s agentdeck: %s", verb, answer.errors);
}

/* How often the user manager had to start it again. */
static const char *restarts(void)
{
	return machine_login(WORDS("systemctl", "--user", "show", "-P", "NRestarts", "agentdeck"))
		.output;
}

static int64_t server_of(const struct session *session)
{
	const char *text = machine_read(
		at_home(kept(".local/state/agentdeck/default/%s/instance.json", session->id)));
	struct json_object *object = NULL;
	if (json_parse(or_empty(text), strlen(or_empty(text)), "the manifest", &object, NULL) < 0)
		return 0;
	keep_json(object);
	const char *state = json_get_string(json_get_object(object, "observed"), "state", "");
	return streq(state, "running")
		       ? json_get_int(json_get_object(object, "run"), "server_pid", 0)
		       : 0;
}

/* Commands refuse to work with a broken configuration, so read the manifest. */
static void have_it_revived_unseen(struct session *session)
{
	struct process old = machine_process((pid_t)server_of(session));
	machine_destroy(&old);
	WAIT_FOR(server_of(session) && server_of(session) != old.pid, "%s does not come back:\n%s",
		 session->title, or_empty(deck_log()));
}

static void assert_history_limit(const struct session *session, const char *limit)
{
	const char *now = machine_user_ok(
		WORDS("tmux", "-S", session->socket, "show", "-gv", "history-limit"));
	ASSERT(starts_with(now, limit), "history-limit is %s, not %s", now, limit);
}

static void repair(void)
{
	machine_write(at_home(".config/agentdeck/config.toml"), 0644,
		      "[tmux]\nhistory_limit = 4712\n");
	uninstall();
}

TEST(ServiceOutlivesABrokenConfiguration)
{
	struct session session;
	const char *config = at_home(".config/agentdeck/config.toml");
	begin(&session, "deck");
	machine_write(config, 0644, "[tmux]\nhistory_limit = 4711\n");
	install();
	at_end(repair);
	machine_write(config, 0644, "[tmux\n");
	/* With the last good one, as after a reload or a reboot. */
	reload();
	have_it_revived_unseen(&session);
	control("restart");
	have_it_revived_unseen(&session);
	assert_history_limit(&session, "4711");
	ASSERT(!is_empty(json_get_string(status(), "config_problem", "")),
	       "--status does not tell of it");
	/* With the defaults, where there never was a good one. */
	machine_remove(at_home(".local/state/agentdeck/config.good.toml"));
	control("restart");
	have_it_revived_unseen(&session);
	ASSERT(streq(restarts(), "0\n"), "it was started again %s times:\n%s", restarts(),
	       or_empty(deck_log()));
	unsigned before = lives_in_log();
	machine_write(config, 0644, "[tmux]\nhistory_limit = 4712\n");
	WAIT_FOR(lives_in_log() > before, "it does not take the repaired one:\n%s",
		 or_empty(deck_log()));
	(void)session_look(&session);
	have_it_revived(&session);
	assert_history_limit(&session, "4712");
}

TEST(ServiceWaitsForAnotherSupervisor)
{
	struct session session;
	begin(&session, "deck");
	install();
	control("stop");
	struct process other = machine_background(WORDS("agentdeck", "supervise"),
						  at_home("supervise.out"));
	WAIT_FOR(json_get_bool(status(), "running", false), "the other one does not start");
	control("start");
	ASSERT(has("active", "active") && machine_alive(&other), "the service is %s",
	       json_print(status()));
	machine_destroy(&other);
	have_it_revived(&session);
	ASSERT(streq(restarts(), "0\n"), "it was started again %s times:\n%s", restarts(),
	       or_empty(deck_log()));
}

static struct answer call(const char *method, const char *session)
{
	const char *const with[] = { "busctl", "--user",   "--timeout=60", "--json=short",
				     "call",   SUPERVISOR, method,         "s",
				     session,  NULL };
	const char *const without[] = { "busctl", "--user",   "--timeout=60", "--json=short",
					"call",   SUPERVISOR, method,         NULL };
	return machine_login(session ? with : without);
}

static void call_ok(const char *method, const char *session)
{
	struct answer answer = call(method, session);
	ASSERT(answer.status == 0, "%s: %s", method, answer.errors);
}

TEST(BusListGetStartStopRestart)
{
	struct session session;
	begin(&session, "deck");
	install();
	const char *entry = kept("\"id\":{\"type\":\"s\",\"data\":\"%s\"}", session.id);
	struct answer list = call("List", NULL), get = call("Get", "deck");
	ASSERT(list.status == 0 && strstr(list.output, entry), "%s%s", list.output, list.errors);
	ASSERT(get.status == 0 && strstr(get.output, entry) && strstr(get.output, "\"running\"") &&
		       strstr(get.output, session.session_id),
	       "%s%s", get.output, get.errors);
	const char *id = session.session_id;
	struct process server = session_server(&session);

	call_ok("Stop", "deck");
	ASSERT(!machine_alive(&server), "Stop was answered before it was done");
	session_look(&session);
	ASSERT(streq(session.status, "stopped"), "after Stop it is %s", session.status);
	get = call("Get", session.id);
	ASSERT(strstr(get.output, "\"stopped\"") && strstr(get.output, "\"data\":false"), "%s",
	       get.output);

	call_ok("Start", "deck");
	assert_came_back(&session, id, MARKER, 1);
	server = session_server(&session);
	call_ok("Restart", session.id);
	ASSERT(!machine_alive(&server), "Restart has left the old server");
	assert_came_back(&session, id, MARKER, 1);

	struct answer recover = call("Recover", NULL), unknown = call("Start", "nobody");
	ASSERT(recover.status == 0 && strstr(recover.output, "[0,0]"), "%s%s", recover.output,
	       recover.errors);
	ASSERT(unknown.status != 0 && strstr(unknown.errors, "\"nobody\""), "%s", unknown.errors);
}

/* ---- a recovery over the bus ----------------------------------------------------------------- */

enum { FLEET = 4, OCCUPIED = 2, DAMAGED = 600 };

struct fleet {
	struct session sessions[FLEET];
	struct process holders[OCCUPIED];
};

static const char *damaged(void)
{
	return at_home(".local/state/agentdeck/default/damaged-");
}

static void uninstall_and_sweep(void)
{
	(void)machine_user(WORDS("sh", "-c", "rm -rf \"$1\"*", "sh", damaged()));
	uninstall();
}

/* Number of the user's processes with this in their command line. */
static long processes(const char *pattern)
{
	return strtol(
		machine_root(WORDS("pgrep", "-c", "-u", machine_user_name(), "-f", pattern)).output,
		NULL, 10);
}

/* All are down, and their supervisor leaves them to their user, who calls recover.  The first two,
 * as many as may start at a time, are locked by others. */
static void begin_recovery(struct fleet *fleet)
{
	for (size_t i = 0; i < FLEET; i++) {
		struct session *session = &fleet->sessions[i];
		session_add(session, NULL, kept("deck-%zu", i),
			    WORDS("--agent", "demo", "--restart", "no"));
		session_start(session, NULL);
		session_say(session, MARKER);
	}
	for (size_t i = 0; i < FLEET; i++)
		session_kill_server(&fleet->sessions[i]);
	install();
	at_end(uninstall_and_sweep);
	machine_user_ok(
		WORDS("sh", "-c",
		      "cpus=$(taskset -cp $1); cpus=${cpus##* }; taskset -cp ${cpus%%[-,]*} $1",
		      "sh", kept("%d", (int)json_get_int(status(), "pid", 0))));
	for (size_t i = 0; i < FLEET; i++)
		WAIT_FOR(session_look(&fleet->sessions[i]) &&
				 streq(fleet->sessions[i].status, "error"),
			 "%s is %s", fleet->sessions[i].title, fleet->sessions[i].status);
	/* The last used comes first. */
	for (size_t i = 0; i < OCCUPIED; i++)
		fleet->holders[i] = session_occupy(&fleet->sessions[FLEET - 1 - i]);
	(void)machine_background(WORDS("busctl",
				       kept("--address=unix:path=/run/user/%u/bus", machine_uid()),
				       "--timeout=120", "call", SUPERVISOR, "Recover"),
				 at_home("recover.out"));
	WAIT_FOR(processes(kept("[r]evive %s$", fleet->sessions[FLEET - 1].id)) == 1,
		 "the recovery does not begin: %s", or_empty(machine_read(at_home("recover.out"))));
}

static void assert_fleet_comes_back(struct fleet *fleet)
{
	for (size_t i = 0; i < OCCUPIED; i++)
		machine_destroy(&fleet->holders[i]);
	for (size_t i = 0; i < FLEET; i++) {
		struct session *session = &fleet->sessions[i];
		const char *id = session->session_id;
		WAIT_FOR(session_look(session) && streq(session->status, "running") &&
				 session->agent_pid,
			 "%s does not come back: %s\n%s", session->title, session->status,
			 or_empty(deck_log()));
		assert_came_back(session, id, MARKER, 1);
	}
	WAIT_FOR(strstr(or_empty(machine_read(at_home("recover.out"))), "continues without it"),
		 "its caller hears: %s", or_empty(machine_read(at_home("recover.out"))));
}

TEST(BusRecoverOutlivesTheSupervisor)
{
	struct fleet fleet;
	begin_recovery(&fleet);
	struct answer answer = machine_login(WORDS("systemctl", "--user", "stop", "agentdeck"));
	ASSERT(answer.status == 0 && !has("active", "active"), "it does not stop: %s",
	       answer.errors);
	assert_fleet_comes_back(&fleet);
}

/* The supervisor notices the end of a recovery that it began before a reload. */
TEST(BusRecoverOutlivesAReload)
{
	struct fleet fleet;
	begin_recovery(&fleet);
	reload();
	assert_fleet_comes_back(&fleet);
	WAIT_FOR(processes("[r]ecover --json") == 0, "the recovery does not end");
	WAIT_FOR(machine_root(WORDS("sh", "-c", "ps -o stat= --ppid $1 | grep Z", "sh",
				    kept("%d", (int)json_get_int(status(), "pid", 0))))
				 .status == 1,
		 "the supervisor leaves a zombie");
}

/* The lines of JSON about all of them are more than a pipe holds. */
TEST(BusRecoverOfManyIsAnswered)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo", "--restart", "no"));
	session_start(&session, NULL);
	session_kill_server(&session);
	install();
	at_end(uninstall_and_sweep);
	machine_user_ok(
		WORDS("sh", "-c",
		      "for i in $(seq $2); do mkdir \"$1$i\"; echo { >\"$1$i/instance.json\"; done",
		      "sh", damaged(), kept("%d", DAMAGED)));
	struct answer answer = call("Recover", NULL);
	ASSERT(answer.status == 0 && strstr(answer.output, kept("[1,%d]", DAMAGED)), "%s%s",
	       answer.output, answer.errors);
}

#define BUS_POLICY "/etc/dbus-1/session-local.conf"

static void reload_bus(void)
{
	machine_user_ok(WORDS("busctl", kept("--address=unix:path=/run/user/%u/bus", machine_uid()),
			      "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
			      "org.freedesktop.DBus", "ReloadConfig"));
}

static void close_bus(void)
{
	machine_root_ok(WORDS("rm", "-f", BUS_POLICY));
	reload_bus();
	uninstall();
}

/* An administrator has opened all users' buses to root. */
static void open_bus(void)
{
	at_end(close_bus);
	machine_root_ok(WORDS(
		"sh", "-c",
		"printf '<busconfig><policy context=\"default\"><allow user=\"root\"/></policy>"
		"</busconfig>' >" BUS_POLICY));
	reload_bus();
}

TEST(BusIsTheUsersOwn)
{
	struct session session;
	begin(&session, "deck");
	install();
	const char *address = kept("--address=unix:path=/run/user/%u/bus", machine_uid());
	const char *const list[] = { "busctl", address, "call", SUPERVISOR, "List", NULL };
	const char *const stop[] = { "busctl", address, "call",     SUPERVISOR,
				     "Stop",   "s",     session.id, NULL };
	struct answer answer = machine_user(list);
	ASSERT(answer.status == 0 && strstr(answer.output, session.id), "the user: %s",
	       answer.errors);
	answer = machine_other_login(list);
	ASSERT(answer.status != 0 && !strstr(answer.output, session.id), "another user: %s",
	       answer.output);
	/* We refuse it ourselves, too, where the bus lets somebody in. */
	open_bus();
	machine_root_ok(WORDS("busctl", address, "call", "org.freedesktop.DBus",
			      "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId"));
	answer = machine_root(list);
	ASSERT(answer.status != 0 && strstr(answer.errors, "Access denied"), "root: %s%s",
	       answer.output, answer.errors);
	answer = machine_root(stop);
	ASSERT(answer.status != 0 && strstr(answer.errors, "Access denied"), "root: %s%s",
	       answer.output, answer.errors);
	session_look(&session);
	ASSERT(streq(session.status, "running"), "it is %s", session.status);
}

/* ---- by default ---------------------------------------------------------------------------------
 */

#define SYSTEM_UNIT "/etc/systemd/user/agentdeck.service"

/* Below the user's own home: another one would have to be written into the unit. */
static const char *in_real_home(const char *path)
{
	return kept("/home/%s/%s", machine_user_name(), path);
}

static void remove_package(void)
{
	(void)deck(NULL, WORDS("session", "stop", "deck"));
	uninstall();
	(void)machine_root(WORDS("rm", "-rf", SYSTEM_UNIT, in_real_home(".local/state/agentdeck"),
				 in_real_home(".config/agentdeck")));
}

/* As a package does: the user manager finds a unit for this program, and nobody has enabled it. */
static void install_package(void)
{
	if (machine_is_local())
		skip_test("would enable a supervisor in your own user manager");
	at_end(remove_package);
	machine_set("HOME", kept("/home/%s", machine_user_name()));
	struct answer answer = machine_login(
		WORDS("sh", "-c", "readlink -f \"$(command -v agentdeck)\""));
	ASSERT(answer.status == 0, "%s", answer.errors);
	const char *program = kept("%.*s", (int)strcspn(answer.output, "\n"), answer.output);
	machine_write(SYSTEM_UNIT, 0644,
		      kept("[Unit]\nDescription=agentdeck\n[Service]\nType=notify\n"
			   "ExecStart=%s supervise\nRestart=always\nKillMode=process\n"
			   "[Install]\nWantedBy=default.target\n",
			   program));
	(void)machine_login(WORDS("systemctl", "--user", "daemon-reload"));
}

static void assert_not_enabled(void)
{
	struct reply reply = deck_look(WORDS("supervise", "--status", "--json"));
	ASSERT(reply.status == 3, "a supervisor runs: %s", reply.output);
	ASSERT(!has("enabled", "enabled"), "it is enabled: %s", json_print(status()));
}

TEST(LaunchEnablesTheSupervisor)
{
	struct session session;
	install_package();
	begin(&session, "deck");
	WAIT_FOR(has("enabled", "enabled") && has("active", "active"), "it is %s",
		 json_print(status()));
	ASSERT(!json_get_bool(status(), "file_is_ours", true), "a unit was written: %s",
	       json_print(status()));
	/* Nobody asked for anything else. */
	have_it_revived(&session);
}

TEST(FirstStartPromisesNoBootWithoutLingering)
{
	struct session session;
	install_package();
	machine_write(in_real_home(".config/agentdeck/config.toml"), 0600,
		      "[tmux]\nlinger = false\n");
	machine_root_ok(WORDS("loginctl", "disable-linger", machine_user_name()));
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	struct answer answer = machine_login(WORDS("agentdeck", "session", "start", session.id));
	ASSERT(answer.status == 0 && strstr(answer.errors, "after a reboot with your next login"),
	       "it says: %s", answer.errors);
	machine_root_ok(WORDS("loginctl", "enable-linger", machine_user_name()));
	machine_write(in_real_home(".config/agentdeck/config.toml"), 0600, "");
}

TEST(UninstalledSupervisorIsNotEnabledAgain)
{
	struct session session;
	install_package();
	(void)deck_ok(NULL, WORDS("supervise", "--uninstall", "--json"));
	begin(&session, "deck");
	assert_not_enabled();
}

TEST(AutoFalseEnablesNoSupervisor)
{
	struct session session;
	install_package();
	const char *config = in_real_home(".config/agentdeck/config.toml");
	machine_write(config, 0600, "[supervise]\nauto = false\n");
	begin(&session, "deck");
	assert_not_enabled();
	machine_write(config, 0600, "");
	session_stop(&session, NULL);
	(void)deck_ok(NULL, WORDS("session", "start", session.id, "--no-supervise", "--json"));
	assert_not_enabled();
}

/* Its user types this when the terminal shows that. */
static void answer_with(const char *keys, const char *shown, const char *typed)
{
	WAIT_FOR(strstr(attach_output(keys), shown), "no '%s': %s", shown, attach_output(keys));
	attach_press(keys, typed);
}

TEST(ReturnToTheAgentEnablesNoSupervisor)
{
	install_package();
	machine_user_ok(
		WORDS("sh", "-c",
		      "mkdir -p \"$1\" && cd \"$1\" && git init -q && git -c user.name=a -c "
		      "user.email=a@b commit -q --allow-empty -m one",
		      "sh", at_home("repo")));
	const char *keys = terminal_open(
		kept("agentdeck launch %s -t deck --agent demo --worktree --no-supervise --attach",
		     at_home("repo")),
		"terminal");
	WAIT_FOR(deck_look(WORDS("session", "path", "deck", "--json")).status == 0, "not made: %s",
		 attach_output(keys));
	struct json_object *tree = deck_look_ok(WORDS("session", "path", "deck", "--json"));
	machine_write(kept("%s/new", json_get_string(tree, "path", NULL)), 0640, "work\n");
	answer_with(keys, "Ctrl-Q: leave", "hello\\r");
	answer_with(keys, "reply 1", "\\004");
	answer_with(keys, "Enter: Continue", "\\r");
	answer_with(keys, "How should this session end?", "\\r");
	WAIT_FOR(strstr(attach_output(keys), "resumed"), "not resumed: %s",
		 strstr(attach_output(keys), "Enter: Continue"));
	assert_not_enabled();
}

static void restore_manager(void)
{
	(void)machine_login(WORDS("systemctl", "--user", "unset-environment", "XDG_STATE_HOME"));
}

static void restore_and_remove(void)
{
	restore_manager();
	remove_package();
}

/* The supervisor would look after the sessions of another directory. */
TEST(ManagerWithOtherPlacesEnablesNoSupervisor)
{
	struct session session;
	install_package();
	at_end(restore_and_remove);
	(void)machine_login(WORDS("systemctl", "--user", "set-environment",
				  kept("XDG_STATE_HOME=%s", in_real_home("elsewhere"))));
	begin(&session, "deck");
	assert_not_enabled();
	restore_manager();
	session_restart(&session, NULL);
	WAIT_FOR(has("enabled", "enabled") && has("active", "active"), "it is %s",
		 json_print(status()));
}

/* Also where an earlier version wrote a whole unit, which would hide the shipped one. */
TEST(ShippedUnitIsChangedByADropInOnly)
{
	install_package();
	at_end(restore_and_remove);
	const char *whole = in_real_home(".config/systemd/user/agentdeck.service");
	const char *dropin = kept("%s.d/agentdeck.conf", whole);
	(void)deck_ok(NULL, WORDS("supervise", "--install", "--json"));
	ASSERT(!machine_exists(whole) && !machine_exists(dropin), "the shipped unit is changed");
	machine_write(whole, 0600,
		      "# Written by \"agentdeck supervise --install\", removed by --uninstall. For "
		      "changes of your own: \n[Service]\nExecStart=/bin/false\n");
	(void)machine_login(WORDS("systemctl", "--user", "set-environment",
				  kept("XDG_STATE_HOME=%s", in_real_home("elsewhere"))));
	(void)deck_ok(NULL, WORDS("supervise", "--install", "--json"));
	ASSERT(!machine_exists(whole), "the unit of an earlier version is left");
	ASSERT(machine_exists(dropin), "there is no drop-in");
	/* It runs for our sessions, and not for those of the manager's directory. */
	WAIT_FOR(has("active", "active") && json_get_bool(status(), "running", false), "it is %s",
		 json_print(status()));
	ASSERT(!json_get_bool(status(), "file_is_ours", true), "another unit is loaded: %s",
	       json_print(status()));
	(void)deck_ok(NULL, WORDS("supervise", "--uninstall", "--json"));
	ASSERT(!machine_exists(dropin) && machine_exists(SYSTEM_UNIT), "what is left is wrong");
}

/* Of two first starts one enables it; the other one passes by. */
TEST(OneOfTwoFirstStartsEnablesTheSupervisor)
{
	struct session session;
	install_package();
	const char *choice = in_real_home(".local/state/agentdeck/supervise.choice");
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	struct process other = machine_background(
		WORDS("python3", "-c",
		      "import fcntl,struct,sys,time\n"
		      "f=open(sys.argv[1]+'.lock','w')\n"
		      "fcntl.fcntl(f,37,struct.pack('hhqqi4x',fcntl.F_WRLCK,0,0,0,0))\n"
		      "open(sys.argv[2],'w').close()\n"
		      "time.sleep(1000)\n",
		      choice, at_home("locked")),
		at_home("lock.out"));
	WAIT_FOR(machine_exists(at_home("locked")), "no lock: %s",
		 or_empty(machine_read(at_home("lock.out"))));
	session_start(&session, NULL);
	assert_not_enabled();
	ASSERT(!machine_exists(choice), "it made a choice: %s", or_empty(machine_read(choice)));
	machine_destroy(&other);
	session_restart(&session, NULL);
	WAIT_FOR(has("enabled", "enabled") && has("active", "active"), "it is %s",
		 json_print(status()));
}
