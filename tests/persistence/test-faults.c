/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Processes that are killed, hang or are missing, or many at once.
 */
#include "persistence/faults.h"

#include <signal.h>
#include <string.h>

#define NO_MANAGER         "the user manager is not reachable"
#define BUSY               "agentdeck: another agentdeck is working on session "
#define STOPPED_BY_ANOTHER "agentdeck: deck: another command stopped it before it was up\n"

/* ---- processes --------------------------------------------------------------------------- */

static void kill_server(const struct fault *fault UNUSED)
{
	session_kill_server(&world.deck);
}

static void kill_agent(const struct fault *fault)
{
	struct process agent = session_agent(&world.deck);
	machine_destroy(&agent);
	WAIT_FOR(session_look(&world.deck) && streq(world.deck.status, "error"), "%s: status %s",
		 fault->name, world.deck.status);
}

static void kill_both(const struct fault *fault UNUSED)
{
	struct process server = session_server(&world.deck), agent = session_agent(&world.deck);
	/* The agent first: it may end with its server before kill(1) comes to it. */
	machine_root_ok(
		WORDS("kill", "-9", kept("%d", (int)agent.pid), kept("%d", (int)server.pid)));
	WAIT_FOR(!machine_alive(&server) && !machine_alive(&agent), "they survive SIGKILL");
}

static void kill_supervisor(const struct fault *fault UNUSED)
{
	struct process supervisor = machine_background(WORDS("agentdeck", "supervise"),
						       at_home("supervise.out"));
	WAIT_FOR(strstr(or_empty(deck_log()), "supervising "), "no supervisor");
	machine_destroy(&supervisor);
}

static struct process halted;

static void halt(struct process process)
{
	halted = process;
	machine_kill(&halted, SIGSTOP);
}

static void halt_server(const struct fault *fault UNUSED)
{
	halt(session_server(&world.deck));
}

static void halt_agent(const struct fault *fault UNUSED)
{
	halt(session_agent(&world.deck));
}

static struct process manager(void)
{
	const char *pids = machine_root_ok(
		WORDS("pgrep", "-o", "-u", machine_user_name(), "-f", "systemd --user"));
	return machine_process((pid_t)strtol(pids, NULL, 10));
}

static void halt_manager(const struct fault *fault UNUSED)
{
	halt(manager());
}

static void resume(const struct fault *fault UNUSED)
{
	if (machine_alive(&halted))
		machine_kill(&halted, SIGCONT);
}

static void kill_manager(const struct fault *fault UNUSED)
{
	struct process server = session_server(&world.deck), killed = manager();
	machine_destroy(&killed);
	WAIT_FOR(!machine_alive(&server), "the session outlives its manager: this proves nothing");
}

static void end_manager(const struct fault *fault UNUSED)
{
	machine_root_ok(WORDS("systemctl", "stop", kept("user@%u.service", machine_uid())));
}

/* A session started meanwhile has no scope, and keeps running until its next restart. */
static void bring_manager(const struct fault *fault UNUSED)
{
	struct answer answer = machine_login(WORDS("true"));
	ASSERT(answer.status == 0, "no login: %s", answer.errors);
	tell_deck("stop");
}

static const struct fault of_processes[] = {
	{ .name = "server-killed",
	  .strike = kill_server,
	  .steps = { SHOWS(LIST, "error: its tmux server was killed") },
	  .run = NEW_RUN },
	{ .name = "agent-killed",
	  .strike = kill_agent,
	  .steps = { SHOWS(LIST, "error: killed by SIGKILL") },
	  .run = NEW_RUN },
	{ .name = "server-and-agent-killed",
	  .strike = kill_both,
	  .steps = { SHOWS(DECK("recover", "--json"), "\"revived\":1") },
	  .run = NEW_RUN },
	{ .name = "supervisor-killed",
	  .strike = kill_supervisor,
	  .steps = { SHOWS(LIST_JSON, RUNNING) } },
	{ .name = "server-stopped",
	  .strike = halt_server,
	  .steps = { FAILS(START, 1, "does not answer: it was not started a second time"),
		     SHOWS(LIST, "unknown: its tmux server does not answer"),
		     SHOWS(DECK("recover", "--json"), "\"total\":0") },
	  .mend = resume },
	{ .name = "server-stopped-and-restarted",
	  .strike = halt_server,
	  .steps = { SHOWS(RESTART, "resumed") },
	  .run = NEW_RUN },
	{ .name = "agent-stopped-and-ended",
	  .strike = halt_agent,
	  .steps = { SHOWS(STOP, "stopped") },
	  .mend = resume,
	  .run = NEW_RUN },
	{ .name = "manager-stopped",
	  .strike = halt_manager,
	  .steps = { SHOWS(LIST_JSON, RUNNING),
		     WARNS(RESTART, NO_MANAGER " (the user manager does not answer)", NULL),
		     DONE(STOP) },
	  .mend = resume,
	  .run = NEW_RUN },
	{ .name = "manager-killed",
	  .strike = kill_manager,
	  .steps = { SHOWS(LIST, "error: its tmux server was killed"),
		     WARNS(START, NO_MANAGER, "resumed") },
	  .mend = bring_manager,
	  .run = NEW_RUN },
	{ .name = "manager-gone",
	  .strike = end_manager,
	  .steps = { SHOWS(LIST, "error: its tmux server was killed"),
		     WARNS(START, NO_MANAGER, "resumed") },
	  .mend = bring_manager,
	  .run = NEW_RUN },
};

TEST(FaultsOfProcesses)
{
	run_faults(of_processes, ARRAY_SIZE(of_processes));
}

/* ---- many at once ------------------------------------------------------------------------ */

/* Run fault->number commands at the same time; the shell makes each from fault->argument.  Returns
 * the output and message of each, and "failed" if it did. */
static const char *at_once(const struct fault *fault)
{
	struct answer answer = machine_user(
		WORDS("sh", "-c",
		      "id=$1 directory=$2 out=$3; i=0; mkdir \"$out\"\n"
		      "while [ $((i += 1)) -le $4 ]; do\n"
		      "	{ eval \"$5\" || echo failed; } >\"$out/$i\" 2>&1 &\n"
		      "done; wait; cd \"$out\" && cat -- * && rm -r \"$out\"",
		      "sh", world.deck.id, world.deck.directory, at_home("at-once"),
		      kept("%zu", fault->number), fault->argument));
	ASSERT(answer.status == 0, "%s: %s%s", fault->name, answer.errors, answer.output);
	return answer.output;
}

static const char *all_succeed(const struct fault *fault)
{
	const char *output = at_once(fault);
	/* A session in the directory of a running one comes with a note. */
	const size_t notes = count_of(output, "both can change the same files");
	ASSERT(!strstr(output, "failed\n") && count_of(output, "agentdeck: ") == notes,
	       "%s: some failed: %s", fault->name, output);
	return output;
}

static void do_at_once(const struct fault *fault)
{
	(void)all_succeed(fault);
}

static void start_at_once(const struct fault *fault)
{
	tell_deck("stop");
	const char *output = all_succeed(fault);
	ASSERT(count_of(output, "resumed conversation") == 1, "%s: not one of them started it: %s",
	       fault->name, output);
}

static size_t row_count(void)
{
	struct reply list = deck_look(WORDS("list", "--json"));
	ASSERT(list.status == 0 && list.json, "list: status %d: %s", list.status, list.errors);
	return json_object_array_length(list.json);
}

static void add_and_remove_at_once(const struct fault *fault)
{
	size_t before = row_count();
	(void)all_succeed(fault);
	ASSERT(row_count() == before + fault->number, "%s: %zu sessions, not %zu more than %zu",
	       fault->name, row_count(), fault->number, before);
	struct fault removal = *fault;
	removal.argument = "agentdeck remove new-$i";
	(void)all_succeed(&removal);
}

/* A start that meets a stop gets a message, and so does a command that waits for more than ten
 * seconds.  A stop comes last, so that the crowd leaves a known state. */
static void start_and_stop_at_once(const struct fault *fault)
{
	const char *output = at_once(fault);
	size_t failed = count_of(output, "failed\n"), messages = count_of(output, "agentdeck: ");
	size_t told = count_of(output, STOPPED_BY_ANOTHER) + count_of(output, BUSY);
	size_t waits = count_of(output, "agentdeck: deck: waiting for demo to report its start");
	ASSERT(failed == told && messages == told + waits, "%s: some failed: %s", fault->name,
	       output);
	tell_deck("stop");
}

#define ONE_START "agentdeck session start \"$id\""
#define ONE_ADD   "agentdeck add \"$directory\" -t new-$i --agent demo"
#define MIX                                                                                                  \
	"case $(((i + 5) % 6)) in 0) agentdeck session stop \"$id\";; 1) agentdeck session start \"$id\";; " \
	"2) agentdeck session start --no-wait \"$id\";; 3) agentdeck rename \"$id\" deck;; *) agentdeck list;; esac"
#define LOOK \
	"case $((i % 2)) in 0) agentdeck list --json;; *) agentdeck session show \"$id\";; esac"

static const struct fault of_crowds[] = {
	{ .name = "two-starts",
	  .strike = start_at_once,
	  .argument = ONE_START,
	  .number = 2,
	  .run = NEW_RUN },
	{ .name = "twenty-starts",
	  .strike = start_at_once,
	  .argument = ONE_START,
	  .number = 20,
	  .run = NEW_RUN },
	{ .name = "fifty-starts",
	  .strike = start_at_once,
	  .argument = ONE_START,
	  .number = 50,
	  .run = NEW_RUN },
	{ .name = "two-adds", .strike = add_and_remove_at_once, .argument = ONE_ADD, .number = 2 },
	{ .name = "twenty-adds",
	  .strike = add_and_remove_at_once,
	  .argument = ONE_ADD,
	  .number = 20 },
	{ .name = "fifty-adds",
	  .strike = add_and_remove_at_once,
	  .argument = ONE_ADD,
	  .number = 50 },
	{ .name = "two-of-each-kind",
	  .strike = start_and_stop_at_once,
	  .argument = MIX,
	  .number = 2,
	  .run = NEW_RUN },
	{ .name = "twenty-of-each-kind",
	  .strike = start_and_stop_at_once,
	  .argument = MIX,
	  .number = 20,
	  .run = NEW_RUN },
	{ .name = "fifty-of-each-kind",
	  .strike = start_and_stop_at_once,
	  .argument = MIX,
	  .number = 50,
	  .run = NEW_RUN },
	{ .name = "fifty-looks", .strike = do_at_once, .argument = LOOK, .number = 50 },
};

TEST(FaultsOfCrowds)
{
	run_faults(of_crowds, ARRAY_SIZE(of_crowds));
}

/* ---- what is not there ------------------------------------------------------------------- */

/* The home directory in the user database. */
static void set_database_home(const char *directory)
{
	machine_root_ok(WORDS("sed", "-i",
			      kept("s|^\\(%s:.*\\):[^:]*:\\([^:]*\\)$|\\1:%s:\\2|",
				   machine_user_name(), directory),
			      "/etc/passwd"));
}

static void restore_database_home(void)
{
	set_database_home(kept("/home/%s", machine_user_name()));
}

/* Where it was; NULL: it is in place. */
static const char *hidden;

static void show_program(const struct fault *fault UNUSED)
{
	machine_root_ok(WORDS("mv", kept("%s.hidden", hidden), hidden));
	hidden = NULL;
}

/* Restore all that the rows have taken away. */
static void restore(void)
{
	restore_database_home();
	machine_root_ok(WORDS("chmod", "0700", kept("/run/user/%u", machine_uid())));
	if (hidden)
		show_program(NULL);
}

/* Hide it for good: a start that does not find it in its own PATH looks in the one that the session
 * has kept. */
static void hide_program(const struct fault *fault)
{
	const char *found = machine_user_ok(
		WORDS("sh", "-c", "command -v \"$1\"", "sh", fault->argument));
	hidden = kept("%.*s", (int)strcspn(found, "\n"), found);
	at_end(restore);
	machine_root_ok(WORDS("mv", hidden, kept("%s.hidden", hidden)));
	ASSERT(machine_user(WORDS("sh", "-c", "command -v \"$1\"", "sh", fault->argument)).status !=
		       0,
	       "%s is still there", fault->argument);
}

static void assert_direct_and_show_program(const struct fault *fault)
{
	(void)session_look(&world.deck);
	const char *cgroup = machine_cgroup(session_server(&world.deck).pid);
	ASSERT(!strstr(cgroup, "agentdeck-tmux"), "%s: it is in a scope: %s", fault->name, cgroup);
	show_program(fault);
	tell_deck("stop");
}

static void hide_program_from_stopped(const struct fault *fault)
{
	tell_deck("stop");
	hide_program(fault);
}

static void stop_deck(const struct fault *fault UNUSED)
{
	tell_deck("stop");
}

/* The manager's sockets: its own, and the bus. */
static void move_sockets(const char *from, const char *to)
{
	static const char *const sockets[] = { "bus", "systemd/private" };
	for (size_t i = 0; i < ARRAY_SIZE(sockets); i++) {
		const char *path = kept("/run/user/%u/%s", machine_uid(), sockets[i]);
		machine_root_ok(WORDS("mv", kept("%s%s", path, from), kept("%s%s", path, to)));
	}
}

static void hide_bus(const struct fault *fault UNUSED)
{
	tell_deck("stop");
	move_sockets("", ".hidden");
}

static void show_bus(const struct fault *fault)
{
	move_sockets(".hidden", "");
	stop_deck(fault);
}

static void take_home_away(const struct fault *fault UNUSED)
{
	tell_deck("stop");
	at_end(restore);
	set_database_home(home());
}

static void give_home_back(const struct fault *fault UNUSED)
{
	restore_database_home();
	(void)session_look(&world.deck);
	const char *found = machine_root_ok(WORDS("sh", "-c",
						  "tr '\\0' '\\n' <\"/proc/$1/environ\"", "sh",
						  kept("%d", (int)world.deck.agent_pid)));
	ASSERT(strstr(found, kept("HOME=%s\n", home())), "the agent has no HOME:\n%s", found);
	tell_deck("stop");
}

/* The user manager runs, but nothing can be created beside its sockets. */
static void close_runtime(const struct fault *fault UNUSED)
{
	const char *runtime = kept("/run/user/%u", machine_uid());
	tell_deck("stop");
	at_end(restore);
	machine_root_ok(WORDS("rm", "-rf", kept("%s/agentdeck", runtime)));
	machine_root_ok(WORDS("chmod", "0500", runtime));
}

static void open_runtime(const struct fault *fault)
{
	(void)session_look(&world.deck);
	ASSERT(starts_with(world.deck.socket, kept("/tmp/agentdeck-%u/", machine_uid())),
	       "%s: its socket is %s", fault->name, world.deck.socket);
	assert_isolated(&world.deck);
	machine_root_ok(WORDS("chmod", "0700", kept("/run/user/%u", machine_uid())));
	tell_deck("stop");
}

static const char *scope_name(void)
{
	return kept("agentdeck-tmux-%s.scope", world.deck.id);
}

static void take_scope_name(const struct fault *fault UNUSED)
{
	const char *runtime = kept("XDG_RUNTIME_DIR=/run/user/%u", machine_uid());
	tell_deck("stop");
	halted = machine_background(WORDS("env", runtime, "systemd-run", "--user", "--scope",
					  "--unit", scope_name(), "sleep", "infinity"),
				    at_home("squatter.out"));
	WAIT_FOR(ends_with(machine_cgroup(halted.pid), scope_name()), "the name is not taken");
}

static void assert_scope_is_ours(const struct fault *fault)
{
	ASSERT(!machine_alive(&halted), "%s: it lives on in the session's scope", fault->name);
	assert_logged("1 processes of an earlier run are still in %s", scope_name());
	stop_deck(fault);
}

#define START_WITH(...) WORDS("env", __VA_ARGS__, "agentdeck", "session", "start", "@deck")
#define LIST_WITH(...)  WORDS("env", __VA_ARGS__, "agentdeck", "list")

static const struct fault of_surroundings[] = {
	{ .name = "tmux-missing",
	  .strike = hide_program_from_stopped,
	  .argument = "tmux",
	  .steps = { FAILS(START, 1, "tmux is not installed: install tmux"), SHOWS(LIST, "stopped"),
		     SHOWS_FAILURE(DECK("doctor"), 1, "install tmux") },
	  .mend = show_program,
	  .run = NEW_RUN },
	{ .name = "tmux-missing-while-it-runs",
	  .strike = hide_program,
	  .argument = "tmux",
	  .steps = { FAILS(START, 1, "tmux is not installed"),
		     FAILS(RESTART, 1, "tmux is not installed"), SHOWS(LIST_JSON, RUNNING) },
	  .mend = show_program },
	{ .name = "systemd-run-missing",
	  .strike = hide_program_from_stopped,
	  .argument = "systemd-run",
	  .steps = { SHOWS(START, "resumed") },
	  .mend = assert_direct_and_show_program,
	  .run = NEW_RUN },
	{ .name = "bus-missing",
	  .strike = hide_bus,
	  .steps = { WARNS(START, NO_MANAGER, "resumed"), SHOWS(LIST_JSON, RUNNING) },
	  .mend = show_bus,
	  .run = NEW_RUN },
	{ .name = "bus-address-wrong",
	  .strike = stop_deck,
	  .steps = { SHOWS(START_WITH("DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere"), "resumed") },
	  .run = NEW_RUN },
	{ .name = "home-missing",
	  .strike = take_home_away,
	  .steps = { SHOWS(START_WITH("-u", "HOME"), "resumed") },
	  .mend = give_home_back,
	  .run = NEW_RUN },
	{ .name = "home-empty",
	  .steps = { FAILS(LIST_WITH("HOME="), 64, "set HOME to an absolute path") } },
	{ .name = "home-not-there",
	  .steps = { FAILS(LIST_WITH("HOME=/nowhere"), 1,
			   "make directory /nowhere: Permission denied") } },
	{ .name = "runtime-directory-not-there",
	  .strike = stop_deck,
	  .steps = { SHOWS(START_WITH("XDG_RUNTIME_DIR=/nowhere"), "resumed"),
		     SHOWS(WORDS("sh", "-c", "XDG_RUNTIME_DIR=/nowhere agentdeck doctor || :"),
			   "/nowhere is not a directory that you own") },
	  .run = NEW_RUN },
	{ .name = "runtime-directory-of-another-user",
	  .strike = stop_deck,
	  .steps = { SHOWS(START_WITH("XDG_RUNTIME_DIR=/root"), "resumed") },
	  .run = NEW_RUN },
	{ .name = "runtime-directory-is-a-file",
	  .strike = stop_deck,
	  .steps = { SHOWS(START_WITH("XDG_RUNTIME_DIR=/etc/passwd"), "resumed") },
	  .run = NEW_RUN },
	{ .name = "runtime-directory-open-to-all",
	  .strike = stop_deck,
	  .steps = { SHOWS(START_WITH("XDG_RUNTIME_DIR=/tmp"), "resumed") },
	  .run = NEW_RUN },
	{ .name = "runtime-directories-not-writable",
	  .strike = close_runtime,
	  .steps = { SHOWS(START, "resumed"), SHOWS(LIST_JSON, RUNNING),
		     SHOWS(WORDS("sh", "-c", "agentdeck doctor || :"),
			   "and can write to: the files of running sessions are in /tmp/agentdeck-") },
	  .mend = open_runtime,
	  .run = NEW_RUN },
	{ .name = "runtime-directory-missing",
	  .strike = stop_deck,
	  .steps = { SHOWS(START_WITH("-u", "XDG_RUNTIME_DIR"), "resumed") },
	  .run = NEW_RUN },
	{ .name = "locale-missing",
	  .strike = stop_deck,
	  .steps = { SHOWS(START_WITH("-u", "LANG", "LC_ALL=xx_YY.UTF-8"), "resumed"),
		     SHOWS(WORDS("env", "LC_ALL=", "LANG=", "agentdeck", "list", "--json"),
			   RUNNING) },
	  .run = NEW_RUN },
	{ .name = "unit-name-taken",
	  .strike = take_scope_name,
	  .steps = { SHOWS(START, "resumed") },
	  .mend = assert_scope_is_ours,
	  .run = NEW_RUN },
};

TEST(FaultsOfSurroundings)
{
	run_faults(of_surroundings, ARRAY_SIZE(of_surroundings));
}
