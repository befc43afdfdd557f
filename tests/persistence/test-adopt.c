/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions adopt agents that run in the user's own tmux, and never by a guess.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER "the key is under the mat"

static const char *screen_of(const char *pane)
{
	return machine_user(WORDS("tmux", "capture-pane", "-p", "-J", "-t", pane)).output;
}

static void say_in(const char *pane, const char *text)
{
	const char *reply = kept("You said: \"%s\"", text);
	WAIT_FOR(strstr(screen_of(pane), "❯"), "no prompt in %s:\n%s", pane, screen_of(pane));
	machine_user_ok(WORDS("tmux", "send-keys", "-t", pane, "-l", text));
	machine_user_ok(WORDS("tmux", "send-keys", "-t", pane, "Enter"));
	WAIT_FOR(strstr(screen_of(pane), reply), "no reply in %s:\n%s", pane, screen_of(pane));
}

/* Run the demo agent in a pane of the user's tmux, whose server is in that login.  Returns the
 * pane's id. */
static const char *run_by_hand(struct login *login, const char *window)
{
	const char *directory = at_home("work");
	struct answer answer;
	machine_make_directory(directory);
	if (machine_user(WORDS("tmux", "has-session", "-t", "=hand")).status == 0)
		answer = login_run(login, WORDS("tmux", "new-window", "-d", "-P", "-F",
						"#{pane_id}", "-n", window, "-t", "hand", "-c",
						directory, "agentdeck-demo-agent"));
	else
		answer = login_run(login,
				   WORDS("tmux", "new-session", "-d", "-P", "-F", "#{pane_id}",
					 "-s", "hand", "-n", window, "-x", "150", "-y", "40", "-c",
					 directory, "agentdeck-demo-agent"));
	ASSERT(answer.status == 0, "tmux: %s", answer.errors);
	return kept("%.*s", (int)strcspn(answer.output, "\n"), answer.output);
}

static struct json_object *find_at(const char *pane)
{
	struct json_object *finds = deck_ok(NULL, WORDS("adopt", "--json"));
	for (size_t i = 0; i < json_object_array_length(finds); i++) {
		struct json_object *find = json_object_array_get_idx(finds, i);
		if (streq(json_get_string(find, "pane", ""), pane))
			return find;
	}
	fail_test("nothing is found at %s: %s", pane, json_print(finds));
}

static struct process process_of(struct json_object *find)
{
	return machine_process((pid_t)json_get_int(find, "pid", 0));
}

/* A tmux that was built with systemd gives each pane a scope of its own in the user manager.  Its
 * server stays in the login. */
static void assert_in_login(const struct process *agent, const struct login *login)
{
	const char *cgroup = machine_cgroup(agent->pid);
	const char *server = machine_user_ok(WORDS("tmux", "display-message", "-p", "#{pid}"));
	if (strstr(cgroup, "/tmux-spawn-"))
		cgroup = machine_cgroup((pid_t)strtol(server, NULL, 10));
	ASSERT(strstr(cgroup, login_scope(login)), "it is not in the login: %s", cgroup);
}

static size_t session_count(void)
{
	return json_object_array_length(deck_look_ok(WORDS("list", "--json")));
}

TEST(AdoptBringsAnAgentOutOfTheLogin)
{
	struct login *login = login_open();
	const char *pane = run_by_hand(login, "one");
	say_in(pane, MARKER);
	struct json_object *find = find_at(pane);
	struct process by_hand = process_of(find);
	const char *id = json_get_string(find, "session_id", "");
	assert_in_login(&by_hand, login);
	struct reply reply = deck(login, WORDS("adopt", pane, "--yes", "--json", "-t", "adopted"));
	ASSERT(reply.status == 0, "adopt: %s%s", reply.output, reply.errors);
	ASSERT(!machine_alive(&by_hand), "the old process lives");
	struct json_object *started = json_object_array_get_idx(reply.json, 0);
	struct session session = { .title = "adopted",
				   .directory = at_home("work"),
				   .id = json_get_string(started, "id", "") };
	session_look(&session);
	assert_came_back(&session, id, MARKER, 1);
	assert_isolated(&session);
	struct process server = session_server(&session);
	login_terminate(login);
	ASSERT(machine_alive(&server), "it ended with the login");
}

TEST(AdoptAsksAndDoesNothingWithoutAnAnswer)
{
	struct login *login = login_open();
	const char *pane = run_by_hand(login, "one");
	say_in(pane, MARKER);
	struct process by_hand = process_of(find_at(pane));
	struct reply reply = deck(NULL, WORDS("adopt", pane));
	ASSERT(reply.status == 64 && strstr(reply.errors, "--yes"), "status %d: %s", reply.status,
	       reply.errors);
	reply = deck(NULL, WORDS("adopt", pane, "--dry-run"));
	ASSERT(reply.status == 0, "--dry-run: %s", reply.errors);
	ASSERT(machine_alive(&by_hand), "the process was ended");
	ASSERT(!json_object_array_length(deck_look_ok(WORDS("list", "--json"))),
	       "there is a session");
	login_terminate(login);
}

TEST(AdoptNeverGuessesBetweenTwoInOneDirectory)
{
	struct login *login = login_open();
	const char *one = run_by_hand(login, "one"), *two = run_by_hand(login, "two");
	say_in(one, "I am one");
	say_in(two, "I am two");
	struct process first = process_of(find_at(one)), second = process_of(find_at(two));
	struct reply reply = deck(NULL, WORDS("adopt", "--all", "--yes", "--json"));
	ASSERT(reply.status == 1 && strstr(reply.output, "--session-id"), "status %d: %s",
	       reply.status, reply.output);
	ASSERT(machine_alive(&first) && machine_alive(&second), "one was ended on a guess");
	ASSERT(!json_object_array_length(deck_look_ok(WORDS("list", "--json"))),
	       "there is a session");
	login_terminate(login);
}

/* The user has resumed a session's conversation by hand. */
TEST(AdoptLeavesASessionsConversationToIt)
{
	struct session session;
	session_add(&session, NULL, "work", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	session_say(&session, MARKER);
	const char *id = session.session_id;
	session_stop(&session, NULL);
	struct login *login = login_open();
	struct answer answer = login_run(
		login, WORDS("tmux", "new-session", "-d", "-P", "-F", "#{pane_id}", "-s", "hand",
			     "-c", session.directory, "agentdeck-demo-agent", "--resume", id));
	ASSERT(answer.status == 0, "tmux: %s", answer.errors);
	const char *pane = kept("%.*s", (int)strcspn(answer.output, "\n"), answer.output);
	say_in(pane, "by hand");
	struct process by_hand = process_of(find_at(pane));
	struct reply reply = deck(NULL, WORDS("adopt", pane, "--yes", "--session-id", id));
	ASSERT(reply.status != 0 && strstr(reply.errors, session.id), "status %d: %s", reply.status,
	       reply.errors);
	ASSERT(machine_alive(&by_hand), "the process was ended");
	login_terminate(login);
}

/* The user has resumed a session's conversation by hand, and wants it back in the session. */
static const char *resume_by_hand(struct login *login, struct session *session, const char *title)
{
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
	session_stop(session, NULL);
	struct answer answer = login_run(login, WORDS("tmux", "new-session", "-d", "-P", "-F",
						      "#{pane_id}", "-s", "hand", "-c",
						      session->directory, "agentdeck-demo-agent",
						      "--resume", session->session_id));
	ASSERT(answer.status == 0, "tmux: %s", answer.errors);
	const char *pane = kept("%.*s", (int)strcspn(answer.output, "\n"), answer.output);
	say_in(pane, "by hand");
	return pane;
}

TEST(AdoptContinuesInTheStoppedSessionThatHasTheConversation)
{
	struct session session;
	struct login *login = login_open();
	const char *pane = resume_by_hand(login, &session, "work");
	const char *id = session.session_id;
	struct json_object *find = find_at(pane);
	struct process by_hand = process_of(find);
	ASSERT(streq(json_get_string(find, "session", ""), session.id), "it is not found: %s",
	       json_print(find));
	struct reply reply = deck(login, WORDS("adopt", "--all", "--yes", "--json"));
	ASSERT(reply.status == 0, "adopt: %s%s", reply.output, reply.errors);
	ASSERT(!machine_alive(&by_hand), "the old process lives");
	ASSERT(session_count() == 1, "there is a second session");
	assert_came_back(&session, id, MARKER, 2);
	login_terminate(login);
}

TEST(AdoptLeavesAloneWhatARunningSessionHas)
{
	struct session session;
	struct login *login = login_open();
	const char *pane = resume_by_hand(login, &session, "work");
	struct process by_hand = process_of(find_at(pane));
	session_start(&session, NULL);
	struct reply reply = deck(NULL, WORDS("adopt", pane, "--yes"));
	ASSERT(reply.status != 0 && strstr(reply.errors, session.id), "status %d: %s", reply.status,
	       reply.errors);
	ASSERT(machine_alive(&by_hand), "the process was ended");
	login_terminate(login);
}

#define IN_ITS_OWN_TERMINAL "import pty; pty.spawn(['agentdeck-demo-agent'])"

/* An agent with its conversation, and a command that is killed while it takes that agent over.
 * Stopped, the agent cannot end, so the command waits for it.  tmux would let it go on. */
static struct process kill_while_taking(struct login *login, const char **ret_id)
{
	machine_make_directory(at_home("work"));
	struct answer answer = login_run(login, WORDS("tmux", "new-session", "-d", "-P", "-F",
						      "#{pane_id}", "-s", "hand", "-x", "150", "-y",
						      "40", "-c", at_home("work"), "python3", "-c",
						      IN_ITS_OWN_TERMINAL));
	ASSERT(answer.status == 0, "tmux: %s", answer.errors);
	say_in(kept("%.*s", (int)strcspn(answer.output, "\n"), answer.output), MARKER);
	struct json_object *finds = deck_ok(NULL, WORDS("adopt", "--json"));
	struct json_object *find = json_object_array_get_idx(finds, 0);
	ASSERT(json_object_array_length(finds) == 1, "not one: %s", json_print(finds));
	struct process by_hand = process_of(find);
	const char *const pid = kept("%d", (int)by_hand.pid);
	*ret_id = json_get_string(find, "session_id", "");
	machine_write(at_home(".config/agentdeck/config.toml"), 0600, "[stop]\ntimeout = 600\n");
	machine_kill(&by_hand, SIGSTOP);
	struct process command = machine_background(
		WORDS("agentdeck", "adopt", pid, "--yes", "-t", "work"), at_home("adopting"));
	const char *const manifests = at_home(".local/state/agentdeck/default");
	WAIT_FOR(machine_user(WORDS("grep", "-rq", "taken_from", manifests)).status == 0,
		 "nothing is written: %s", or_empty(machine_read(at_home("adopting"))));
	machine_destroy(&command);
	ASSERT(machine_alive(&by_hand), "it was ended without the command");
	return by_hand;
}

TEST(AdoptKilledInBetweenStartsNoSecondAgent)
{
	struct login *login = login_open();
	const char *id;
	struct process by_hand = kill_while_taking(login, &id);
	struct session session = { .title = "work", .directory = at_home("work") };
	session.id = json_get_string(
		json_object_array_get_idx(deck_look_ok(WORDS("list", "--json")), 0), "id", "");
	struct reply reply = deck(NULL, WORDS("start", "work"));
	ASSERT(reply.status == 1 && strstr(reply.errors, kept("process %d", (int)by_hand.pid)),
	       "started beside it: status %d, %s%s", reply.status, reply.output, reply.errors);
	machine_destroy(&by_hand);
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
	login_terminate(login);
}

TEST(AdoptGoesOnAfterAKill)
{
	struct login *login = login_open();
	const char *id;
	struct process by_hand = kill_while_taking(login, &id);
	const char *const pid = kept("%d", (int)by_hand.pid);
	machine_write(at_home(".config/agentdeck/config.toml"), 0600, "[stop]\ntimeout = 2\n");
	struct reply reply = deck(NULL, WORDS("adopt", pid, "--yes", "--json"));
	ASSERT(reply.status == 0, "adopt: %s%s", reply.output, reply.errors);
	ASSERT(!machine_alive(&by_hand), "the old process lives");
	ASSERT(session_count() == 1, "there is a second session");
	struct session session = { .title = "work", .directory = at_home("work") };
	session.id = json_get_string(json_object_array_get_idx(reply.json, 0), "id", "");
	assert_came_back(&session, id, MARKER, 1);
	login_terminate(login);
}

/* --- what is only said at the end --------------------------------------------------------------- */

/* An agent that records its arguments and its home, and on Ctrl-C says its id and ends.  "deaf"
 * does neither, "mute" says nothing. */
#define SPEAKER                                                                                \
	"#!/usr/bin/env python3\n"                                                             \
	"import os, sys, time, tty\n"                                                          \
	"note = ' '.join(sys.argv[1:]) + '|' + os.environ.get('SPEAKER_HOME', '') + '\\n'\n"   \
	"open(os.environ['HOME'] + '/argv', 'a').write(note)\n"                                \
	"tty.setraw(0)\n"                                                                      \
	"print('ready', end='\\r\\n', flush=True)\n"                                           \
	"while 'deaf' in sys.argv or b'\\x03' not in os.read(0, 100):\n"                       \
	"    time.sleep(0.05)\n"                                                               \
	"if 'mute' not in sys.argv:\n"                                                         \
	"    print(f'\\r\\nto come back: speaker resume talk-{os.getpid()}\\r', flush=True)\n" \
	"time.sleep(0.3)\n"
#define SPEAKER_ENTRY                                                                                 \
	"command = [\"speaker\"]\n[session]\nid = \"any\"\nresume = [\"resume\", \"{session_id}\"]\n" \
	"[arguments]\nprompt_positional = true\n[home]\nvariable = \"SPEAKER_HOME\"\n"

/* Run it in a pane of its user's, with its own home.  Returns the pane's id. */
static const char *run_speaker(struct login *login, const char *entry, const char *word)
{
	machine_write(at_home("bin/speaker"), 0755, SPEAKER);
	machine_write(at_home(".config/agentdeck/agents/speaker.toml"), 0644,
		      kept(SPEAKER_ENTRY "%s", entry));
	machine_write(at_home(".config/agentdeck/config.toml"), 0600, "[stop]\ntimeout = 3\n");
	machine_make_directory(at_home("work"));
	struct answer answer = login_run(login, WORDS("tmux", "new-session", "-d", "-P", "-F",
						      "#{pane_id}", "-s", "hand", "-x", "150", "-y",
						      "40", "-c", at_home("work"), "-e",
						      kept("SPEAKER_HOME=%s", at_home("elsewhere")),
						      at_home("bin/speaker"), word, "--flag"));
	ASSERT(answer.status == 0, "tmux: %s", answer.errors);
	const char *pane = kept("%.*s", (int)strcspn(answer.output, "\n"), answer.output);
	WAIT_FOR(strstr(screen_of(pane), "ready"), "it does not start:\n%s", screen_of(pane));
	return pane;
}

#define WITH_KEYS \
	"[screen]\nexit_banner = '^to come back: speaker resume (talk-[0-9]+)'\n[keys]\nbanner = [\"C-c\"]\n"

TEST(AdoptHearsTheIdInTheLastWords)
{
	struct login *login = login_open();
	const char *pane = run_speaker(login, WITH_KEYS, "a prompt");
	struct process by_hand = process_of(find_at(pane));
	struct reply reply = deck(NULL, WORDS("adopt", pane, "--dry-run"));
	ASSERT(strstr(reply.output, "read from what it prints when it ends"),
	       "it is not told: %s%s", reply.output, reply.errors);
	ASSERT(strstr(reply.output, at_home("elsewhere")), "its home is not told: %s",
	       reply.output);
	ASSERT(machine_alive(&by_hand), "the process was ended");
	reply = deck(NULL, WORDS("adopt", pane, "--yes", "--json", "-t", "adopted"));
	ASSERT(reply.status == 0, "adopt: %s%s", reply.output, reply.errors);
	ASSERT(!machine_alive(&by_hand), "the old process lives");
	/* With its own arguments except for the prompt, in its own home. */
	const char *expected = kept("a prompt --flag|%s\n--flag resume talk-%d|%s\n",
				    at_home("elsewhere"), (int)by_hand.pid, at_home("elsewhere"));
	WAIT_FOR(streq(or_empty(machine_read(at_home("argv"))), expected),
		 "started with:\n%s, not\n%s", machine_read(at_home("argv")), expected);
	login_terminate(login);
}

TEST(AdoptLeavesOneRunningThatDoesNotEndWhenAsked)
{
	struct login *login = login_open();
	const char *pane = run_speaker(login, WITH_KEYS, "deaf");
	struct process by_hand = process_of(find_at(pane));
	struct reply reply = deck(NULL, WORDS("adopt", pane, "--yes"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "--fresh"), "status %d: %s", reply.status,
	       reply.errors);
	ASSERT(machine_alive(&by_hand), "it was ended, and with it what nobody knows");
	ASSERT(!session_count(), "there is a session");
	login_terminate(login);
}

TEST(AdoptSaysWhenNothingWasSaid)
{
	struct login *login = login_open();
	const char *pane = run_speaker(login, WITH_KEYS, "mute");
	struct reply reply = deck(NULL, WORDS("adopt", pane, "--yes", "-t", "adopted"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "session-id ID"), "status %d: %s",
	       reply.status, reply.errors);
	struct session session = { .title = "adopted", .directory = at_home("work") };
	session.id = json_get_string(
		json_object_array_get_idx(deck_look_ok(WORDS("list", "--json")), 0), "id", "");
	session_look(&session);
	ASSERT(streq(session.status, "stopped") && !session.session_id, "it is %s, in %s",
	       session.status, or_empty(session.session_id));
	login_terminate(login);
}

/* Only keys that we do not know would make it say its id. */
TEST(AdoptEndsNothingUnknownWithoutFresh)
{
	struct login *login = login_open();
	const char *pane = run_speaker(login, "[screen]\nexit_banner = 'resume (talk-[0-9]+)'\n",
				       "a prompt");
	struct process by_hand = process_of(find_at(pane));
	/* It is not even asked for consent. */
	struct reply reply = deck(NULL, WORDS("adopt", pane));
	ASSERT(reply.status != 0 && strstr(reply.errors, "--fresh") &&
		       strstr(reply.output, "unknown"),
	       "status %d: %s%s", reply.status, reply.output, reply.errors);
	reply = deck(NULL, WORDS("adopt", pane, "--yes"));
	ASSERT(reply.status != 0 && machine_alive(&by_hand), "status %d: it was ended",
	       reply.status);
	ASSERT(!session_count(), "there is a session");
	reply = deck(NULL, WORDS("adopt", pane, "--yes", "--fresh"));
	ASSERT(reply.status == 0, "--fresh: %s", reply.errors);
	const char *expected = kept("\n--flag|%s\n", at_home("elsewhere"));
	WAIT_FOR(strstr(or_empty(machine_read(at_home("argv"))), expected), "started with:\n%s",
		 machine_read(at_home("argv")));
	login_terminate(login);
}

/* A program "hidden" in a pane whose PATH has it, or one that only has that name. */
static const char *run_hidden(struct login *login, const char *script)
{
	machine_write(at_home(".config/agentdeck/agents/hidden.toml"), 0644,
		      "command = [\"hidden\"]\n");
	machine_make_directory(at_home("aside"));
	machine_make_directory(at_home("work"));
	machine_user_ok(WORDS("ln", "-s", "/bin/cat", at_home("aside/hidden")));
	struct answer answer = login_run(login, WORDS("tmux", "new-session", "-d", "-P", "-F",
						      "#{pane_id}", "-s", "hand", "-c",
						      at_home("work"), "bash", "-c", script));
	ASSERT(answer.status == 0, "tmux: %s", answer.errors);
	const char *pane = kept("%.*s", (int)strcspn(answer.output, "\n"), answer.output);
	WAIT_FOR(strstr(deck(NULL, WORDS("adopt")).output, "hidden"), "it is not found");
	return pane;
}

TEST(AdoptTakesTheProgramFromItsOwnPath)
{
	struct login *login = login_open();
	const char *pane = run_hidden(login, kept("PATH=%s:$PATH exec hidden", at_home("aside")));
	struct reply reply = deck(NULL, WORDS("adopt", pane, "--yes", "--fresh", "-t", "adopted",
					      "--json"));
	ASSERT(reply.status == 0, "adopt: %s%s", reply.output, reply.errors);
	struct json_object *started = json_object_array_get_idx(reply.json, 0);
	const char *program = json_object_get_string(json_object_array_get_idx(
		json_get_array(json_get_object(started, "resume"), "argv"), 0));
	ASSERT(streq(program, at_home("aside/hidden")), "it is %s", program);
	login_terminate(login);
}

TEST(AdoptEndsNothingThatCannotBeStartedAgain)
{
	struct login *login = login_open();
	const char *pane = run_hidden(login, "exec -a hidden cat");
	struct process by_hand = process_of(find_at(pane));
	struct reply reply = deck(NULL, WORDS("adopt", pane, "--yes", "--fresh"));
	ASSERT(reply.status != 0 && strstr(reply.errors, "nothing was ended"), "status %d: %s",
	       reply.status, reply.errors);
	ASSERT(machine_alive(&by_hand), "it was ended");
	ASSERT(!session_count(), "there is a session");
	login_terminate(login);
}

/* The tmux here is the user's, and nobody asks it to make a server. */
TEST(AdoptEndsNothingWithABrokenTmux)
{
	struct login *login = login_open();
	const char *pane = run_by_hand(login, "one");
	say_in(pane, MARKER);
	struct process by_hand = process_of(find_at(pane));
	machine_write(
		at_home("fake/tmux"), 0755,
		"#!/bin/sh\ncase $* in *new-session*) exit 1;; esac\nexec /usr/bin/tmux \"$@\"\n");
	machine_set("PATH", kept("%s:%s", at_home("fake"), machine_search_path()));
	struct reply reply = deck(NULL, WORDS("adopt", pane, "--yes"));
	ASSERT(reply.status == 1 && strstr(reply.errors, "nothing was ended"), "status %d: %s",
	       reply.status, reply.errors);
	ASSERT(machine_alive(&by_hand), "it was ended");
	ASSERT(!session_count(), "there is a session");
	machine_set("PATH", machine_search_path());
	reply = deck(NULL, WORDS("adopt", pane, "--yes"));
	ASSERT(reply.status == 0, "adopt: %s%s", reply.output, reply.errors);
	login_terminate(login);
}

/* One of claude's on disk, as from before there was agentdeck. */
TEST(DiscoverContinuesTheSameConversation)
{
	struct session session = { .title = "before", .directory = at_home("before") };
	const char *id = new_uuid();
	install_claude_stand_in();
	machine_make_directory(session.directory);
	write_transcript(&session, id, MARKER);
	struct json_object *found = deck_ok(NULL, WORDS("discover", id, "--add", "--json"));
	const struct json_object *list = json_get_array(found, "conversations");
	ASSERT(list && json_object_array_length(list) == 1, "discover: %s", json_print(found));
	session.id = json_get_string(json_object_array_get_idx(list, 0), "id", "");
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);

	/* It has an owner now. */
	ASSERT(deck(NULL, WORDS("discover", id, "--add")).status == 1, "it was added twice");
}
