/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Callers of agentdeck with ignored or blocked signals, or with an environment that lacks what the
 * agent needs.
 */
#include "persistence/faults.h"

#include "base/fsutil.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void stop_deck(const struct fault *fault UNUSED)
{
	tell_deck("stop");
}

static void kill_deck(const struct fault *fault UNUSED)
{
	session_kill_server(&world.deck);
}

static const char *environment_of_agent(void)
{
	(void)session_look(&world.deck);
	return machine_root_ok(WORDS("sh", "-c", "tr '\\0' '\\n' <\"/proc/$1/environ\"", "sh",
				     kept("%d", (int)world.deck.agent_pid)));
}

/* A signal mask from /proc/PID/status. */
static unsigned long mask_of_agent(const char *name)
{
	(void)session_look(&world.deck);
	const char *status = machine_read(kept("/proc/%d/status", (int)world.deck.agent_pid));
	const char *line = strstr(or_empty(status), kept("\n%s:", name));
	ASSERT(line, "no %s: %s", name, or_empty(status));
	return strtoul(line + strlen(name) + 2, NULL, 16);
}

#define BIT(number) (1ul << ((number)-1))

/* Except for those that the demo agent and tmux set themselves, and those of libc. */
static void assert_agent_has_signals(const struct fault *fault)
{
	const unsigned long own = BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGTERM) | BIT(SIGWINCH);
	const unsigned long blocked = mask_of_agent("SigBlk") & ~own;
	const unsigned long usual = BIT(SIGPIPE) | BIT(SIGTTIN) | BIT(SIGTTOU) | BIT(32) | BIT(33);
	const unsigned long ignored = mask_of_agent("SigIgn") & ~usual;
	ASSERT(!blocked, "%s: the agent blocks %lx", fault->name, blocked);
	ASSERT(!ignored, "%s: the agent ignores %lx", fault->name, ignored);
}

/* In the agent, and kept for the next start. */
static void assert_usual_path(const struct fault *fault)
{
	const char *entry = kept("PATH=%s", machine_search_path());
	const char *found = environment_of_agent();
	ASSERT(strstr(kept("\n%s", found), kept("\n%s\n", entry)),
	       "%s: the agent has another PATH:\n%s", fault->name, found);
	ASSERT(strstr(or_empty(machine_read(manifest_path(&world.deck))), entry),
	       "%s: the PATH is not kept", fault->name);
}

/* agentdeck by its full path, with only these variables and HOME, which is the test's. */
#define BARE(assignments, ...)                                                                 \
	WORDS("sh", "-c",                                                                      \
	      "exec env -i \"HOME=$HOME\" " assignments " \"$(command -v agentdeck)\" \"$@\"", \
	      "sh", __VA_ARGS__)
#define LIMITED(limit) \
	WORDS("sh", "-c", "ulimit " limit "; exec agentdeck session restart \"$0\"", "@deck")
#define WITH_SIGNALS(...) WORDS("env", __VA_ARGS__, "agentdeck", "session", "start", "@deck")
/* Status 124: the signal ended it; 137: it had to be killed. */
#define SIGNALLED(number, status_, ...)                                                     \
	{                                                                                   \
		.words = WORDS("timeout", "-k", "2", "-s", number, "1", "env", __VA_ARGS__, \
			       "agentdeck", "events"),                                      \
		.status = (status_)                                                         \
	}

static const struct fault of_callers[] = {
	{ .name = "sigchld-ignored",
	  .strike = stop_deck,
	  .steps = { SHOWS(WITH_SIGNALS("--ignore-signal=CHLD"), "resumed"),
		     SHOWS(WORDS("env", "--ignore-signal=CHLD", "agentdeck", "session", "restart",
				 "@deck"),
			   "resumed") },
	  .mend = assert_agent_has_signals,
	  .run = NEW_RUN },
	{ .name = "signals-ignored",
	  .strike = stop_deck,
	  .steps = { SHOWS(WITH_SIGNALS("--ignore-signal"), "resumed") },
	  .mend = assert_agent_has_signals,
	  .run = NEW_RUN },
	{ .name = "signals-blocked",
	  .strike = stop_deck,
	  .steps = { SHOWS(WITH_SIGNALS("--block-signal"), "resumed"),
		     SIGNALLED("TERM", 124, "--block-signal=TERM") },
	  .mend = assert_agent_has_signals,
	  .run = NEW_RUN },
	{ .name = "hangup-ignored",
	  .strike = stop_deck,
	  .steps = { SHOWS(WITH_SIGNALS("--ignore-signal=HUP"), "resumed"),
		     SIGNALLED("HUP", 137, "--ignore-signal=HUP") },
	  .mend = assert_agent_has_signals,
	  .run = NEW_RUN },
	{ .name = "environment-empty",
	  .strike = stop_deck,
	  .steps = { SHOWS(BARE("", "session", "start", "@deck"), "resumed"),
		     SHOWS(BARE("", "list", "--json"), RUNNING) },
	  .mend = assert_usual_path,
	  .run = NEW_RUN },
	{ .name = "environment-empty-at-a-restart",
	  .steps = { SHOWS(BARE("", "session", "restart", "@deck"), "resumed") },
	  .mend = assert_usual_path,
	  .run = NEW_RUN },
	{ .name = "environment-empty-after-a-kill",
	  .strike = kill_deck,
	  .steps = { SHOWS(BARE("", "recover", "--json"), "\"revived\":1") },
	  .mend = assert_usual_path,
	  .run = NEW_RUN },
	{ .name = "path-empty",
	  .strike = stop_deck,
	  .steps = { SHOWS(BARE("PATH=", "session", "start", "@deck"), "resumed") },
	  .mend = assert_usual_path,
	  .run = NEW_RUN },
	{ .name = "path-of-cron",
	  .strike = stop_deck,
	  .steps = { SHOWS(BARE("SHELL=/bin/sh PATH=/usr/bin:/bin", "session", "start", "@deck"),
			   "resumed") },
	  .mend = assert_usual_path,
	  .run = NEW_RUN },
	{ .name = "few-open-files",
	  .steps = { FAILS(LIMITED("-n 7"), 1, "raise the limit of open files (ulimit -n)"),
		     SHOWS(LIST_JSON, RUNNING) } },
	{ .name = "small-stack",
	  .steps = { FAILS(LIMITED("-s 64"), 1, "raise the limit of the stack (ulimit -s)"),
		     SHOWS(LIST_JSON, RUNNING) } },
};

TEST(FaultsOfCallers)
{
	run_faults(of_callers, ARRAY_SIZE(of_callers));
}

/* An agent as a version manager of node installs it: "#!/usr/bin/env node", with node only in the
 * agent's own PATH. */
static void install_script_agent(void)
{
	machine_write(at_home(".local/bin/keeper"), 0755, "#!/usr/bin/env nod\n");
	machine_write(at_home(".nvm/bin/nod"), 0755, "#!/bin/sh\nexec sleep 1000\n");
}

static struct reply call_bare(const char *const *words)
{
	struct strvec *argv = kept_vector();
	const char *program = kept("%s/bin/agentdeck", getenv("AGENTDECK_TEST_PREFIX"));
	strvec_push_array(argv, WORDS("env", "-i", kept("HOME=%s", home()), "PATH=/usr/bin:/bin",
				      program));
	strvec_push_array(argv, words);
	struct answer answer = machine_user((const char *const *)argv->items);
	return (struct reply){ .status = answer.status,
			       .output = answer.output,
			       .errors = answer.errors };
}

/* The program is found by its full path, but its interpreter is not.  The PATH is that of "add":
 * there was no start yet. */
TEST(EmptyEnvironmentTakesTheKeptPath)
{
	struct session session;
	install_script_agent();
	machine_set("PATH", kept("%s:%s", at_home(".nvm/bin"), machine_search_path()));
	session_add(&session, NULL, "deck", WORDS("-c", at_home(".local/bin/keeper")));
	struct reply reply = call_bare(WORDS("session", "start", session.id));
	ASSERT(reply.status == 0, "start: %s%s", reply.output, reply.errors);
	(void)session_look(&session);
	ASSERT(streq(session.status, "running"), "it is %s", session.status);
}

/* No known PATH has it: no run is begun, which would only end in a shell. */
TEST(EmptyEnvironmentWithoutAKeptPathIsRefused)
{
	struct session session;
	install_script_agent();
	session_add(&session, NULL, "deck", WORDS("-c", at_home(".local/bin/keeper")));
	struct reply reply = call_bare(WORDS("session", "start", session.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "program 'nod' not found in PATH"),
	       "status %d: %s%s", reply.status, reply.output, reply.errors);
	(void)session_look(&session);
	ASSERT(streq(session.status, "stopped") && !session.server_pid, "it is %s", session.status);
}

/* "start", "session show", the log and the pane say the same. */
static void assert_says_why(const char *program, const char *why)
{
	struct session session;
	session_add(&session, NULL, path_basename(program),
		    WORDS("--agent", "demo", "-c", program));
	struct reply reply = deck_look(WORDS("session", "start", session.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, why), "%s: status %d: %s%s", program,
	       reply.status, reply.output, reply.errors);
	const char *shown = json_print(session_look(&session));
	ASSERT(strstr(json_get_string(session_look(&session), "reason", ""), why),
	       "%s: its reason is not '%s': %s", program, why, shown);
	ASSERT(strstr(or_empty(deck_log()), why), "%s: the log does not say '%s'", program, why);
	session_stop(&session, NULL);
}

/* The header of an ELF file for a machine that does not exist. */
static const char elf_script[] =
	"printf '\\177ELF\\002\\001\\001\\000\\000\\000\\000\\000\\000\\000\\000\\000"
	"\\002\\000\\001\\000' >\"$1\" && head -c 200 /dev/zero >>\"$1\" && chmod 755 \"$1\"";

TEST(ProgramThatDoesNotRunSaysWhy)
{
	machine_write(at_home("bin/empty"), 0755, "");
	assert_says_why(at_home("bin/empty"), "the file is empty");
	machine_write(at_home("bin/uninterpreted"), 0755, "#!/no/such/interpreter\n");
	assert_says_why(at_home("bin/uninterpreted"),
			"its interpreter /no/such/interpreter is missing");
	machine_user_ok(WORDS("sh", "-c", elf_script, "sh", at_home("bin/foreign")));
	assert_says_why(at_home("bin/foreign"), "it was built for another machine");
	machine_user_ok(WORDS("sh", "-c", "head -c 300 /dev/zero >\"$1\" && chmod 755 \"$1\"", "sh",
			      at_home("bin/zeros")));
	assert_says_why(at_home("bin/zeros"), "it is neither a program for this machine");
	machine_write(at_home("bin/wrapper"), 0755, "#!/bin/sh\nno-such-interpreter \"$0\"\n");
	assert_says_why(at_home("bin/wrapper"), "no-such-interpreter: not found");
	machine_write(at_home("bin/silent"), 0755,
		      "#!/bin/sh\nexec 2>/dev/null\nno-such-program\n");
	assert_says_why(at_home("bin/silent"),
			"exit 127, which means that a program was not found");
	/* Shells run a text that has no "#!" line. */
	machine_write(at_home("bin/plain"), 0755, "exec sleep 1000\n");
	struct session session;
	session_add(&session, NULL, "plain", WORDS("--agent", "demo", "-c", at_home("bin/plain")));
	struct reply reply = deck_look(WORDS("session", "start", session.id, "--no-wait"));
	ASSERT(reply.status == 0, "plain: %s%s", reply.output, reply.errors);
	machine_write(at_home("bin/locked"), 0644, "#!/bin/sh\n");
	session_add(&session, NULL, "locked",
		    WORDS("--agent", "demo", "-c", at_home("bin/locked")));
	reply = deck_look(WORDS("session", "start", session.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "is not executable: chmod +x it"),
	       "locked: status %d: %s", reply.status, reply.errors);
}
