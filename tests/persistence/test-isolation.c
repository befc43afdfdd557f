/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run is separate: it has its own server, nobody else's end ends it, and there are never two of
 * one session.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER        "keep it apart"
#define NO_SECOND_RUN "it was not started a second time"

static const char *unit_of(const struct session *session)
{
	return kept("agentdeck-tmux-%s.scope", session->id);
}

/* Number of our user's processes with this name. */
static long count_processes(const char *how, const char *pattern)
{
	struct answer answer = machine_root(
		WORDS("pgrep", "-c", "-u", machine_user_name(), how, pattern));
	ASSERT(answer.status <= 1, "pgrep: %s", answer.errors);
	return strtol(answer.output, NULL, 10);
}

static void assert_one_run(void)
{
	long servers = count_processes("-x", "tmux: server");
	long agents = count_processes("-f", "^agentdeck-demo-agent");
	ASSERT(servers == 1 && agents == 1, "%ld servers and %ld agents instead of one", servers,
	       agents);
}

static void assert_nothing_runs(void)
{
	long servers = count_processes("-x", "tmux: server");
	long agents = count_processes("-f", "^agentdeck-demo-agent");
	ASSERT(servers == 0 && agents == 0, "%ld servers and %ld agents are left", servers, agents);
}

static void begin(struct session *session, struct login *login, const char *title)
{
	session_add(session, login, title, WORDS("--agent", "demo"));
	session_start(session, login);
	session_say(session, MARKER);
}

/* As tmux does with a pane, where it is built with systemd: a scope of its own in the slice of the
 * server.  Nothing of the session is its parent or its terminal. */
#define PANE(number, slice) \
	"systemd-run --user --scope --quiet --slice=" slice " --unit=tmux-spawn-" number "-$$ "
#define OWN_SLICE "agentdeck-$AGENTDECK_INSTANCE.slice"

static struct process process_of(const char *pattern)
{
	struct answer answer = machine_root(
		WORDS("pgrep", "-u", machine_user_name(), "-x", "-f", pattern));
	return answer.status == 0 ? machine_process((pid_t)strtol(answer.output, NULL, 10))
				  : (struct process){ 0 };
}

static struct process wait_for_pane(const char *pattern)
{
	struct process pane;
	WAIT_FOR((pane = process_of(pattern), pane.pid) &&
			 strstr(machine_cgroup(pane.pid), "tmux-spawn-"),
		 "no %s has left the scope", pattern);
	return pane;
}

static bool has_slice(const struct session *session)
{
	const char *slice = kept("agentdeck-%s.slice", session->id);
	return machine_login(WORDS("systemctl", "--user", "--quiet", "is-active", slice)).status ==
	       0;
}

/* An agent that starts a tmux server, whose panes are moved out of the session's scope. */
TEST(StopEndsWhatTheAgentsTmuxMovedOut)
{
	struct session session, other;
	const char *asked = at_home("asked");
	machine_write(at_home("window.sh"), 0755,
		      kept("trap 'touch %s; exit' TERM\nsleep 7777 & wait\n", asked));
	/* What has no environment is known by its slice, and what is in another slice by its
	 * environment. */
	machine_write(at_home("agent.sh"), 0755,
		      kept("trap '' HUP\n"
			   "(setsid " PANE(
				   "1", OWN_SLICE) "sh %s &)\n"
						   "(setsid " PANE(
							   "2", OWN_SLICE) "env -i sleep 4444 &)\n"
									   "exec sleep 8888\n",
			   at_home("window.sh")));
	machine_write(at_home("other.sh"), 0755,
		      "trap '' HUP\n"
		      "(trap '' TERM; setsid " PANE("3", "agentdeck.slice") "sleep 5555 &)\n"
									    "exec sleep 6666\n");
	session_add(&other, NULL, "other", WORDS("-c", kept("sh %s", at_home("other.sh"))));
	session_add(&session, NULL, "deck", WORDS("-c", kept("sh %s", at_home("agent.sh"))));
	session_start(&other, NULL);
	session_start(&session, NULL);
	struct process moved = wait_for_pane("[a-z/]*sleep 7777");
	struct process bare = wait_for_pane("[a-z/]*sleep 4444");
	struct process strangers = wait_for_pane("[a-z/]*sleep 5555");
	session_stop(&session, NULL);
	ASSERT(!machine_alive(&moved) && !machine_alive(&bare), "it outlived its session");
	ASSERT(machine_exists(asked), "it was killed before it could save its work");
	ASSERT(machine_alive(&strangers), "that of another session has ended");
	WAIT_FOR(!has_slice(&session), "the slice is still there");
	session_stop(&other, NULL);
	ASSERT(!machine_alive(&strangers), "it outlived its session");
}

TEST(StartEndsWhatTheAgentsTmuxLeft)
{
	struct session session;
	machine_write(
		at_home("agent.sh"), 0755,
		kept("trap '' HUP\n"
		     "test -e %s && exec sleep 8888\n"
		     "(setsid " PANE(
			     "1",
			     OWN_SLICE) "env -i sleep 4444 &)\n"
					"until pgrep -x -f '[a-z/]*sleep 4444'; do sleep 0.1; done\n",
		     at_home("stay")));
	session_add(&session, NULL, "deck", WORDS("-c", kept("sh %s", at_home("agent.sh"))));
	(void)deck(NULL, WORDS("session", "start", session.id, "--no-wait"));
	struct process left = wait_for_pane("[a-z/]*sleep 4444");
	WAIT_FOR((session_look(&session), !streq(session.status, "running")),
		 "its agent does not end");
	ASSERT(machine_alive(&left) && has_slice(&session), "nothing is left of it");
	machine_write(at_home("stay"), 0644, "");
	session_start(&session, NULL);
	ASSERT(!machine_alive(&left), "it still sits in the slice");
	assert_isolated(&session);
	assert_logged("1 processes of an earlier run are still in %s", unit_of(&session));
}

/* Move all processes of the run into a scope that systemd-run would make. */
static void move_into_scope(const struct session *session, const char *unit)
{
	const char *group = kept("/sys/fs/cgroup%s/cgroup.procs",
				 machine_cgroup(session_server(session).pid));
	const char *script =
		"set -- \"$0\" $(cat \"$1\")\nunit=$1\nshift\n"
		"busctl --user --quiet call org.freedesktop.systemd1 /org/freedesktop/systemd1 "
		"org.freedesktop.systemd1.Manager StartTransientUnit 'ssa(sv)a(sa(sv))' $unit fail "
		"3 Slice s agentdeck.slice CollectMode s inactive-or-failed PIDs au $# \"$@\" 0\n"
		"until systemctl --user --quiet is-active $unit; do sleep 0.1; done\n";
	struct answer answer = machine_login(WORDS("sh", "-c", script, unit, group));
	ASSERT(answer.status == 0, "%s: %s", unit, answer.errors);
	WAIT_FOR(ends_with(machine_cgroup(session_server(session).pid),
			   kept("/agentdeck.slice/%s", unit)),
		 "it is not in %s", unit);
}

/* A run that was started before there were slices. */
TEST(RunWithoutASliceOfItsOwnWorksOn)
{
	struct session session;
	begin(&session, NULL, "deck");
	struct process server = session_server(&session);
	move_into_scope(&session, "between.scope");
	WAIT_FOR(!has_slice(&session), "the slice is still there");
	move_into_scope(&session, unit_of(&session));
	struct json_object *limit = deck_ok(NULL, WORDS("session", "limit", session.id,
							"--tasks-max", "321", "--json"));
	ASSERT(streq(json_get_string(limit, "effect", ""), "now"), "it says %s", json_print(limit));
	struct answer shown = machine_login(
		WORDS("systemctl", "--user", "show", "-P", "TasksMax", unit_of(&session)));
	ASSERT(streq(shown.output, "321\n"), "the scope has %s", shown.output);
	struct json_object *line = deck_ok(NULL, WORDS("top", "--json"));
	ASSERT(json_get_bool(line, "in_scope", false), "top: %s", json_print(line));
	session_say(&session, "still there");
	session_restart(&session, NULL);
	ASSERT(!machine_alive(&server), "its server outlived it");
	ASSERT(has_slice(&session), "it did not get its slice");
	assert_isolated(&session);
}

TEST(OwnServerEvenIfDefaultServerIsInLogin)
{
	struct session session;
	machine_set("TMUX_TMPDIR", home());
	struct login *login = login_open();
	struct answer made = login_run(login, WORDS("tmux", "new-session", "-d", "-P", "-F",
						    "#{pid} #{socket_path}"));
	char *end;
	struct process own = machine_process((pid_t)strtol(made.output, &end, 10));
	ASSERT(made.status == 0 && own.pid, "no default server: %s", made.errors);
	ASSERT(ends_with(machine_cgroup(own.pid), login_scope(login)), "it is in %s",
	       machine_cgroup(own.pid));
	/* As from within a pane of that server. */
	machine_set("TMUX", kept("%.*s,%d,0", (int)strcspn(end + 1, "\n"), end + 1, (int)own.pid));
	begin(&session, login, "deck");
	struct process server = session_server(&session), agent = session_agent(&session);
	ASSERT(server.pid != own.pid, "the session went into the user's own server");
	assert_isolated(&session);
	login_terminate(login);
	WAIT_FOR(!machine_alive(&own), "the user's own server outlives its login");
	ASSERT(machine_alive(&server) && machine_alive(&agent), "the session went with it");
	(void)session_look(&session);
	ASSERT(streq(session.status, "running"), "status %s", session.status);
}

TEST(UnreachableManagerStartsDirect)
{
	struct session session;
	machine_set("XDG_RUNTIME_DIR", at_home("no-runtime"));
	machine_set("DBUS_SESSION_BUS_ADDRESS", kept("unix:path=%s", at_home("no-bus")));
	machine_make_directory(at_home("no-runtime"));
	struct answer version = machine_login(WORDS("systemd-run", "--user", "--version"));
	ASSERT(version.status == 0, "systemd-run does not even tell its version: %s",
	       version.errors);
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status == 0, "no start: %s%s", reply.errors, reply.output);
	const char *warning = strstr(reply.errors, "the user manager is not reachable");
	ASSERT(warning, "no warning: '%s'", reply.errors);
	ASSERT(!strstr(strchr(reply.errors, '\n') + 1, "warning"), "more than one warning: %s",
	       reply.errors);
	assert_logged("tmux cgroup isolation: disabled (user manager not reachable");
	(void)session_look(&session);
	ASSERT(streq(session.status, "running"), "status %s", session.status);
	const char *cgroup = machine_cgroup(session_server(&session).pid);
	ASSERT(!strstr(cgroup, "agentdeck-tmux"), "not started directly: %s", cgroup);
	session_stop(&session, NULL);
	assert_nothing_runs();
}

TEST(StopOfOneSparesOthers)
{
	struct session one, other;
	begin(&one, NULL, "one");
	begin(&other, NULL, "other");
	struct process server = session_server(&other), agent = session_agent(&other);
	const char *session_id = one.session_id;
	session_stop(&one, NULL);
	assert_one_run();
	session_start(&one, NULL);
	assert_came_back(&one, session_id, MARKER, 1);

	struct process ended = session_server(&one);
	struct answer stop = machine_login(WORDS("systemctl", "--user", "stop", unit_of(&one)));
	ASSERT(stop.status == 0, "systemctl stop: %s", stop.errors);
	WAIT_FOR(!machine_alive(&ended), "the scope's end does not end its server");
	(void)session_look(&one);
	ASSERT(!streq(one.status, "running"), "status %s", one.status);
	ASSERT(machine_alive(&server) && machine_alive(&agent), "the other session went with it");
	assert_one_run();
	session_start(&one, NULL);
	assert_came_back(&one, session_id, MARKER, 2);
	ASSERT(machine_alive(&server) && machine_alive(&agent), "the start ended the other one");
}

/* A server that does not answer is neither dead nor started again.  These commands must return in
 * time; else "timeout" ends them with status 124. */
static struct answer bounded(const char *verb, const char *id)
{
	return machine_user(WORDS("timeout", "60", "agentdeck", "session", verb, id));
}

/* The status in listings and in "session show" if both agree, else NULL. */
static const char *shown_status(const struct session *session)
{
	struct reply list = deck_look(WORDS("list", "--json"));
	struct reply show = deck_look(WORDS("session", "show", session->id, "--json"));
	ASSERT(list.status == 0 && list.json && show.status == 0 && show.json,
	       "list %d, show %d: %s%s", list.status, show.status, list.errors, show.errors);
	const char *status = json_get_string(show.json, "status", "none");
	for (size_t i = 0; i < json_object_array_length(list.json); i++) {
		struct json_object *row = json_object_array_get_idx(list.json, i);
		if (streq(json_get_string(row, "id", ""), session->id))
			return streq(json_get_string(row, "status", ""), status) ? status : NULL;
	}
	fail_test("the list lacks it: %s", list.output);
}

static void assert_shown(const struct session *session, const char *status)
{
	const char *shown = NULL;
	WAIT_FOR((shown = shown_status(session)) && streq(shown, status),
		 "it is shown as %s, not as %s", shown ? shown : "this and that", status);
}

static void assert_unknown(const struct session *session)
{
	assert_shown(session, "unknown");
	struct answer start = bounded("start", session->id);
	ASSERT(start.status != 0 && start.status != 124, "session start ended with %d: %s%s",
	       start.status, start.output, start.errors);
	ASSERT(strstr(start.errors, NO_SECOND_RUN), "it does not say why: %s", start.errors);
	assert_shown(session, "unknown");
	assert_one_run();
}

static void assert_same_run(struct session *session, const struct process *server,
			    const struct process *agent)
{
	assert_shown(session, "running");
	session_start(session, NULL);
	ASSERT(session->server_pid == server->pid && session->agent_pid == agent->pid,
	       "another run: server %d", (int)session->server_pid);
	assert_one_run();
	session_say(session, "still there");
}

TEST(WedgedServerIsUnknown)
{
	struct session session;
	begin(&session, NULL, "deck");
	struct process server = session_server(&session), agent = session_agent(&session);
	machine_kill(&server, SIGSTOP);
	assert_unknown(&session);
	machine_kill(&server, SIGCONT);
	assert_same_run(&session, &server, &agent);

	/* It can still be ended in this state. */
	machine_kill(&server, SIGSTOP);
	struct answer stop = bounded("stop", session.id);
	ASSERT(stop.status == 0, "session stop ended with %d: %s", stop.status, stop.errors);
	assert_nothing_runs();
}

TEST(ProtocolMismatchIsUnknown)
{
	struct session session;
	begin(&session, NULL, "deck");
	struct process server = session_server(&session), agent = session_agent(&session);
	machine_write(at_home("bin/tmux"), 0755,
		      "#!/bin/sh\n"
		      "[ \"$1\" = -V ] && exec /usr/bin/tmux -V\n"
		      "echo 'protocol version mismatch (client 9, server 8)' >&2\n"
		      "exit 1\n");
	assert_unknown(&session);
	ASSERT(machine_alive(&server) && machine_alive(&agent), "it was ended");
	machine_remove(at_home("bin/tmux"));
	assert_same_run(&session, &server, &agent);
}

TEST(ConcurrentStartsGiveOneRun)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	struct answer answer = machine_login(WORDS(
		"sh", "-c",
		"i=0; while [ $((i += 1)) -le 20 ]; do\n"
		"	{ agentdeck session start \"$1\" || echo \"status $?\"; } >\"$2.$i\" 2>&1 &\n"
		"done; wait; cat \"$2\".* | grep status",
		"sh", session.id, at_home("start")));
	ASSERT(*answer.output == '\0', "some starts failed:\n%s", answer.output);
	assert_one_run();
	(void)session_look(&session);
	ASSERT(streq(session.status, "running"), "status %s", session.status);
	assert_flag(&session, "--session-id", session.session_id);
	assert_isolated(&session);
	session_say(&session, MARKER);
}

/* Two processes that outlive their terminal; when one ends the other starts a third.  So do
 * programs that supervise their workers. */
static void install_twins(void)
{
	machine_write(at_home("bin/twins"), 0755,
		      "#!/bin/sh\n"
		      "trap '' HUP TERM\n"
		      "cd && mkfifo one two\n"
		      "rest='read x <&3; sleep 86398 & : >born'\n"
		      "setsid sh -c \"exec 4>one 3<two; : >ready; $rest\" >/dev/null 2>&1 &\n"
		      "setsid sh -c \"exec 3<one 4>two; $rest\" >/dev/null 2>&1 &\n"
		      "exec cat\n");
}

static void check_stop_of_what_grows(void)
{
	struct session session;
	if (machine_user(WORDS("strace", "-V")).status != 0)
		skip_test("strace is not installed");
	install_twins();
	session_add(&session, NULL, "twins", WORDS("-c", "twins"));
	session_start(&session, NULL);
	WAIT_FOR(machine_exists(at_home("ready")), "the two do not start");
	/* After each signal the third one has time to start. */
	struct answer stop = machine_user(WORDS("strace", "-qq", "-o", at_home("trace"), "-e",
						"trace=pidfd_send_signal,kill", "-e",
						"inject=pidfd_send_signal,kill:delay_exit=200000",
						"agentdeck", "session", "stop", session.id));
	ASSERT(stop.status == 0, "session stop: %s", stop.errors);
	ASSERT(machine_exists(at_home("born")), "no third was started: this proves nothing");
	long left = count_processes("-f", "^sleep 86398");
	ASSERT(left == 0, "%ld processes were started meanwhile and are left", left);
}

TEST(StopLeavesNoProcess)
{
	struct session session;
	machine_set("AGENTDECK_DEMO_IGNORE_SIGNALS", "1");
	machine_set("AGENTDECK_DEMO_LEAVE_CHILD", "1");
	begin(&session, NULL, "deck");
	long agents = count_processes("-f", "^agentdeck-demo-agent");
	ASSERT(agents == 2, "%ld agents and daemons, not 2: this proves nothing", agents);
	session_stop(&session, NULL);
	assert_nothing_runs();
	struct answer state = machine_login(
		WORDS("systemctl", "--user", "is-active", unit_of(&session)));
	ASSERT(!streq(state.output, "active\n"), "%s is still active", unit_of(&session));
	check_stop_of_what_grows();
}

TEST(AgentThatEndsByItselfLeavesNoServer)
{
	struct session session;
	begin(&session, NULL, "deck");
	struct process server = session_server(&session);
	const char *socket = session.socket;
	session_type(&session, "/exit");
	session_press(&session, "Enter");
	WAIT_FOR(!machine_alive(&server), "the server outlives its agent:\n%s",
		 or_empty(session_screen(&session)));
	WAIT_FOR(!machine_exists(socket), "%s is left", socket);
	(void)session_look(&session);
	ASSERT(streq(session.status, "stopped"), "status %s", session.status);
	assert_nothing_runs();
}

TEST(LadderEndsInShell)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	machine_set("AGENTDECK_DEMO_EXIT_AT_START", "3");
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status != 0, "a start that failed says nothing: %s", reply.output);
	(void)session_look(&session);
	ASSERT(streq(session.status, "error"), "status %s", session.status);
	WAIT_FOR(session_shows(&session, "does not start (exit 3)"), "the screen says nothing:\n%s",
		 or_empty(session_screen(&session)));
	ASSERT(count_processes("-x", "tmux: server") == 1, "the shell is not there");
	machine_set("AGENTDECK_DEMO_EXIT_AT_START", "");
	session_start(&session, NULL);
	assert_one_run();
	session_say(&session, MARKER);
}

static const char *link_target(const char *path)
{
	return machine_user_ok(WORDS("readlink", "-n", path));
}

TEST(SshAgentLinkFollowsLogins)
{
	struct session session;
	const char *first = at_home("agent-1"), *second = at_home("agent-2");
	const char *link = kept("/run/user/%u/agentdeck/ssh-auth.sock", machine_uid());
	if (machine_user(WORDS("sh", "-c", "command -v ssh-agent")).status != 0)
		skip_test("ssh-agent is not installed");
	struct process agent = machine_background(WORDS("ssh-agent", "-D", "-a", first),
						  at_home("agent-1.out"));
	(void)machine_background(WORDS("ssh-agent", "-D", "-a", second), at_home("agent-2.out"));
	WAIT_FOR(machine_exists(first) && machine_exists(second), "ssh-agent does not start");
	machine_set("SSH_AUTH_SOCK", first);
	begin(&session, NULL, "deck");
	const char *environment = machine_root_ok(WORDS("sh", "-c",
							"tr '\\0' '\\n' <\"/proc/$1/environ\"",
							"sh", kept("%d", (int)session.agent_pid)));
	ASSERT(strstr(environment, kept("\nSSH_AUTH_SOCK=%s\n", link)),
	       "the agent's is not %s:\n%s", link, environment);
	ASSERT(streq(link_target(link), first), "the link goes to %s", link_target(link));
	machine_destroy(&agent);
	machine_set("SSH_AUTH_SOCK", second);
	(void)deck_look_ok(WORDS("list", "--json"));
	ASSERT(streq(link_target(link), second), "after another login's command it goes to %s",
	       link_target(link));
}
