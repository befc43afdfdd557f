/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions beside those of another program: agent-deck sets and reads variables of its own, leaves
 * hooks in the agents' settings, and runs agents in the user's tmux.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER   "the ladder is in the shed"
#define THEIR_ID "409a6ace-1795308038"

/* As `agent-deck hook-handler`: without the variable it does nothing. */
#define HOOK_HANDLER                            \
	"#!/bin/sh\n"                           \
	"echo called >>\"$HOME/called\"\n"      \
	"[ -z \"$AGENTDECK_INSTANCE_ID\" ] || " \
	"echo \"$AGENTDECK_INSTANCE_ID $AGENTDECK_PROFILE\" >>\"$HOME/acted\"\n"
/* As claude, it runs the hooks of its user's settings. */
#define HOOKED_CLAUDE                                                                       \
	"#!/bin/sh\n"                                                                       \
	"sed -n 's/.*\"command\": \"\\([^\"]*\\)\".*/\\1/p' ~/.claude/settings.json | sh\n" \
	"env >\"$HOME/environment\"\n"                                                      \
	"export AGENTDECK_DEMO_CONFIG_DIR=\"${CLAUDE_CONFIG_DIR:-$HOME/.claude}\"\n"        \
	"exec agentdeck-demo-agent \"$@\"\n"

TEST(HooksOfAgentDeckDoNothingInOurSessions)
{
	struct session session;
	machine_write(at_home("bin/agent-deck"), 0755, HOOK_HANDLER);
	machine_write(at_home("bin/claude"), 0755, HOOKED_CLAUDE);
	machine_write(at_home(".claude/settings.json"), 0600,
		      "{\"hooks\": {\"SessionStart\": [{\"hooks\": [\n"
		      "{\"type\": \"command\", \"command\": \"agent-deck hook-handler\"}\n"
		      "]}]}}\n");
	/* As in a pane of agent-deck's. */
	machine_set("AGENTDECK_INSTANCE_ID", THEIR_ID);
	machine_set("AGENTDECK_PROFILE", "work");
	machine_user_ok(WORDS("claude", "--version"));
	ASSERT(streq(or_empty(machine_read(at_home("acted"))), THEIR_ID " work\n"),
	       "the hook does not act in a pane of theirs: %s",
	       or_empty(machine_read(at_home("acted"))));
	machine_remove(at_home("acted"));

	session_add(&session, NULL, "ours", WORDS("--agent", "claude"));
	session_start(&session, NULL);
	session_say(&session, MARKER);
	ASSERT(streq(or_empty(machine_read(at_home("called"))), "called\ncalled\n"),
	       "the hook did not run: %s", or_empty(machine_read(at_home("called"))));
	ASSERT(!machine_exists(at_home("acted")), "it acts in a session of ours: %s",
	       or_empty(machine_read(at_home("acted"))));
	const char *environment = or_empty(machine_read(at_home("environment")));
	ASSERT(strstr(environment, kept("AGENTDECK_INSTANCE=%s\n", session.id)) &&
		       strstr(environment, "AGENTDECK_INSTANCE_PROFILE=default\n"),
	       "the session does not know its name:\n%s", environment);
	const char *const id = session.session_id;
	session_restart(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
}

/* --- agents of agent-deck's ----------------------------------------------------------------------
 */

/* An agent in a session of agent-deck's, in its user's tmux; argv: what runs there.  Returns its
 * process; *ret_id gets its conversation. */
static struct process run_theirs(struct login *login, const char *const *argv, const char **ret_id)
{
	cleanup_strvec struct strvec words = { 0 };
	strvec_push_array(&words, WORDS("tmux", "new-session", "-d", "-s", "agentdeck_api_409a6ace",
					"-x", "150", "-y", "40", "-c", at_home("work"), "-e",
					"AGENTDECK_INSTANCE_ID=" THEIR_ID, "-e",
					"AGENTDECK_PROFILE=default"));
	strvec_push_array(&words, argv);
	machine_make_directory(at_home("work"));
	struct answer answer = login_run(login, (const char *const *)strvec_argv(&words));
	ASSERT(answer.status == 0, "tmux: %s", answer.errors);
	const char *const *look = WORDS("tmux", "capture-pane", "-p", "-J", "-t",
					"agentdeck_api_409a6ace");
	WAIT_FOR(strstr(machine_user(look).output, "❯"), "no prompt");
	machine_user_ok(WORDS("tmux", "send-keys", "-t", "agentdeck_api_409a6ace", "-l", MARKER));
	machine_user_ok(WORDS("tmux", "send-keys", "-t", "agentdeck_api_409a6ace", "Enter"));
	WAIT_FOR(strstr(machine_user(look).output, "You said: \"" MARKER "\""), "no reply:\n%s",
		 machine_user(look).output);
	struct json_object *finds = deck_ok(NULL, WORDS("adopt", "--json"));
	struct json_object *find = json_object_array_get_idx(finds, 0);
	ASSERT(json_object_array_length(finds) == 1, "not one: %s", json_print(finds));
	*ret_id = json_get_string(find, "session_id", "");
	return machine_process((pid_t)json_get_int(find, "pid", 0));
}

/* What agent-deck has on disk.  The id of the conversation is an old one: it may be behind. */
static void write_theirs(void)
{
	machine_write(at_home(".agent-deck/profiles/default/sessions.json"), 0600,
		      kept("{\"instances\": [{\"id\": \"" THEIR_ID "\", \"title\": \"api\", "
			   "\"project_path\": \"%s\", \"group_path\": \"shop/back\", "
			   "\"tool\": \"demo\", \"notes\": \"mind the gap\", "
			   "\"demo_session_id\": \"%s\"}]}",
			   at_home("work"), new_uuid()));
}

static struct json_object *step_of(struct json_object *plan)
{
	const struct json_object *steps = json_get_array(plan, "sessions");
	ASSERT(steps && json_object_array_length(steps) == 1, "not one: %s", json_print(plan));
	return json_object_array_get_idx(steps, 0);
}

static size_t count_sessions(void)
{
	return json_object_array_length(deck_look_ok(WORDS("list", "--json")));
}

TEST(ImportAdoptsWhatRunsThereOnRequest)
{
	const char *id;
	struct login *login = login_open();
	struct process theirs = run_theirs(login, WORDS("bash", "-c", "agentdeck-demo-agent; true"),
					   &id);
	write_theirs();
	struct json_object *step = step_of(
		deck_ok(NULL, WORDS("import", "agent-deck", "--apply", "--json")));
	ASSERT(streq(json_get_string(step, "decision", ""), "runs") &&
		       streq(json_get_string(step, "session_id", ""), id),
	       "the plan: %s", json_print(step));
	struct reply reply = deck(NULL, WORDS("import", "agent-deck", "--apply", "--adopt"));
	ASSERT(reply.status == 64 && strstr(reply.errors, "--yes"), "status %d: %s", reply.status,
	       reply.errors);
	ASSERT(machine_alive(&theirs) && !count_sessions(), "it was taken over without consent");
	/* A file that may have hooks, and cannot be read, is no reason to leave the agent there. */
	machine_write(at_home(".gemini/settings.json"), 0600, "{");
	reply = deck(login, WORDS("import", "agent-deck", "--apply", "--adopt", "--yes",
				  "--remove-hooks", "--json"));
	step = step_of(reply.json);
	ASSERT(reply.status == 1 && strstr(reply.output, ".gemini/settings.json"), "status %d: %s",
	       reply.status, reply.output);
	ASSERT(json_get_bool(step, "took_over", false), "not taken over: %s", json_print(step));
	ASSERT(!machine_alive(&theirs), "the old process lives");
	struct session session = { .title = "api",
				   .directory = at_home("work"),
				   .id = json_get_string(step, "id", "") };
	struct json_object *shown = session_look(&session);
	ASSERT(streq(json_get_string(shown, "group", ""), "shop/back") &&
		       streq(json_get_string(shown, "notes", ""), "mind the gap"),
	       "it lost something: %s", json_print(shown));
	assert_came_back(&session, id, MARKER, 1);
	assert_isolated(&session);
	step = step_of(deck_ok(NULL, WORDS("import", "agent-deck", "--apply", "--adopt", "--yes",
					   "--json")));
	ASSERT(streq(json_get_string(step, "decision", ""), "done") && count_sessions() == 1,
	       "imported twice: %s", json_print(step));
	login_terminate(login);
}

TEST(ImportLeavesRunningWhatItCannotAdopt)
{
	const char *id;
	struct login *login = login_open();
	struct process theirs = run_theirs(login, WORDS("agentdeck-demo-agent"), &id);
	write_theirs();
	machine_write(
		at_home("fake/tmux"), 0755,
		"#!/bin/sh\ncase $* in *new-session*) exit 1;; esac\nexec /usr/bin/tmux \"$@\"\n");
	machine_set("PATH", kept("%s:%s", at_home("fake"), machine_search_path()));
	struct reply reply = deck(NULL, WORDS("import", "agent-deck", "--apply", "--adopt", "--yes",
					      "--json"));
	struct json_object *step = step_of(reply.json);
	ASSERT(reply.status == 1 && !json_get_bool(step, "took_over", true) &&
		       json_get_string(step, "error", NULL),
	       "status %d: %s", reply.status, reply.output);
	ASSERT(machine_alive(&theirs), "it was ended");
	ASSERT(!count_sessions(), "there is a session");
	machine_set("PATH", machine_search_path());
	login_terminate(login);
}

/* Stopped, it cannot end; so the command waits for it, and is killed there.  tmux would let it go
 * on if it were the pane itself. */
TEST(ImportKilledWhileItAdoptsGoesOn)
{
	const char *id;
	struct login *login = login_open();
	struct process theirs = run_theirs(
		login, WORDS("python3", "-c", "import pty; pty.spawn(['agentdeck-demo-agent'])"),
		&id);
	write_theirs();
	machine_write(at_home(".config/agentdeck/config.toml"), 0600, "[stop]\ntimeout = 600\n");
	machine_kill(&theirs, SIGSTOP);
	struct process command = machine_background(WORDS("agentdeck", "import", "agent-deck",
							  "--apply", "--adopt", "--yes"),
						    at_home("importing"));
	const char *const manifests = at_home(".local/state/agentdeck/default");
	WAIT_FOR(machine_user(WORDS("grep", "-rq", "taken_from", manifests)).status == 0,
		 "nothing is written: %s", or_empty(machine_read(at_home("importing"))));
	machine_destroy(&command);
	ASSERT(machine_alive(&theirs), "it was ended without the command");
	struct reply reply = deck(NULL, WORDS("start", "api"));
	ASSERT(reply.status == 1 && strstr(reply.errors, kept("process %d", (int)theirs.pid)),
	       "started beside it: status %d, %s%s", reply.status, reply.output, reply.errors);
	machine_write(at_home(".config/agentdeck/config.toml"), 0600, "[stop]\ntimeout = 2\n");
	struct json_object *step = step_of(deck_ok(NULL, WORDS("import", "agent-deck", "--apply",
							       "--adopt", "--yes", "--json")));
	ASSERT(json_get_bool(step, "took_over", false), "not taken over: %s", json_print(step));
	ASSERT(!machine_alive(&theirs), "the old process lives");
	ASSERT(count_sessions() == 1, "there is a second session");
	struct session session = { .title = "api",
				   .directory = at_home("work"),
				   .id = json_get_string(step, "id", "") };
	assert_came_back(&session, id, MARKER, 1);
	login_terminate(login);
}
