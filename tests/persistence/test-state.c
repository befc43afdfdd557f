/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A wrong state: a manifest that somebody has edited, run directories that are missing or not ours,
 * a state directory behind a link.  docs/security.md has the table of all that is read from state,
 * and the check of each.
 */
#include "persistence/census.h"
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define WORD "remember this"

static const char *manifest_of(const struct session *session)
{
	return at_home(kept(".local/state/agentdeck/default/%s/instance.json", session->id));
}

static const char *scope_place(const struct session *session)
{
	return kept("/run/user/%u/agentdeck/%s", machine_uid(), session->id);
}

/* Put a value, as JSON, into the manifest's "run".  NULL: remove the key. */
static void edit_run(const struct session *session, const char *key, const char *value)
{
	struct json_object *manifest, *json = NULL;
	struct error err = { 0 };
	const char *text = machine_read(manifest_of(session));
	ASSERT(text && json_parse(text, strlen(text), "manifest", &manifest, &err) == 0,
	       "the manifest cannot be read");
	keep_json(manifest);
	if (value) {
		json = json_tokener_parse(value);
		ASSERT(json, "%s is not JSON", value);
	}
	struct json_object *run = json_get_object(manifest, "run");
	ASSERT(run, "there is no run: %s", text);
	if (json)
		json_set(run, key, json);
	else
		json_object_object_del(run, key);
	machine_write(manifest_of(session), 0600, json_print(manifest));
}

static void edit_text(const struct session *session, const char *key, const char *text)
{
	edit_run(session, key, kept("\"%s\"", text));
}

static void edit_process(const struct session *session, const char *who,
			 const struct process *process)
{
	edit_run(session, kept("%s_pid", who), kept("%d", (int)process->pid));
	edit_run(session, kept("%s_start", who), process->start);
}

static void without_scopes(void)
{
	machine_write(at_home(".config/agentdeck/config.toml"), 0644,
		      "[tmux]\nlaunch_in_user_scope = false\n");
}

static void begin(struct session *session, const char *title)
{
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, WORD);
}

/* Whatever its manifest says: it stops, nothing of it is left, and it can be resumed. */
static void assert_stops_and_returns(struct session *session)
{
	const char *id = session->session_id;
	struct reply reply = deck(NULL, WORDS("session", "stop", session->id));
	ASSERT(reply.status == 0, "status %d: %s", reply.status, reply.errors);
	assert_census(0, "after the stop");
	session_start(session, NULL);
	assert_came_back(session, id, WORD, 1);
	assert_census(1, "after the start");
}

/* ---- what is deleted ---------------------------------------------------------------------- */

static const char *plant_tree(const char *directory)
{
	machine_write(kept("%s/thesis.txt", directory), 0644, "mine\n");
	machine_write(kept("%s/chapters/1.txt", directory), 0644, "mine\n");
	return directory;
}

static void assert_tree(const char *directory)
{
	const char *one = machine_read(kept("%s/thesis.txt", directory));
	const char *two = machine_read(kept("%s/chapters/1.txt", directory));
	ASSERT(one && two && streq(one, "mine\n") && streq(two, "mine\n"), "what was in %s is gone",
	       directory);
}

/* All the places that an edit may name: a tree of the user's, one with our name, one in our own
 * place. */
static void live_with_forged_directories(struct session *session)
{
	const char *const trees[] = {
		plant_tree(at_home("thesis")),
		plant_tree(at_home(kept("thesis/%s", session->id))),
		plant_tree(at_home(kept("agentdeck/%s", session->id))),
		plant_tree(kept("%s.other", scope_place(session))),
	};
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		const char *own = kept("%s", session->socket);
		edit_text(session, "directory", trees[i]);
		if (i % 2)
			edit_text(session, "socket", kept("%s/tmux.sock", trees[i]));
		assert_stops_and_returns(session);
		for (size_t j = 0; j < ARRAY_SIZE(trees); j++)
			assert_tree(trees[j]);
		ASSERT(streq(session->socket, own), "it runs at %s, and ran at %s", session->socket,
		       own);
	}
	/* Replace its own directory by a link. */
	const char *place = kept("%.*s", (int)(strrchr(session->socket, '/') - session->socket),
				 session->socket);
	/* A report may make the directory again in between. */
	machine_user_ok(WORDS(
		"sh", "-c",
		"n=0; until [ -L \"$0\" ]; do mv \"$0\" \"$0.aside$n\"; n=$((n + 1)); ln -sT \"$1\" \"$0\"; done",
		place, trees[0]));
	struct reply reply = deck(NULL, WORDS("session", "stop", session->id));
	ASSERT(reply.status == 0, "status %d: %s", reply.status, reply.errors);
	assert_tree(trees[0]);
	assert_census(0, "with a link in the place of the run's directory");
	machine_user_ok(WORDS("rm", place));
	machine_user_ok(WORDS("sh", "-c", "rm -rf \"$0\".aside* \"$1\"", place, trees[3]));
	session_start(session, NULL);
	assert_came_back(session, session->session_id, WORD, 1);
	session_stop(session, NULL);
	ASSERT(!machine_exists(place), "%s is left", place);
}

TEST(EditedDirectoryIsNotRemoved)
{
	struct session scoped, direct;
	begin(&scoped, "scoped");
	live_with_forged_directories(&scoped);
	without_scopes();
	begin(&direct, "direct");
	live_with_forged_directories(&direct);
}

/* ---- who is killed ------------------------------------------------------------------------ */

static struct process bystander(void)
{
	return machine_background(WORDS("sleep", "1000"), "/dev/null");
}

static void all_commands(const struct session *session)
{
	static const char *const commands[][3] = {
		{ "list" },    { "status" }, { "session", "show" }, { "session", "output" },
		{ "recover" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		bool is_named = commands[i][1];
		(void)deck(NULL,
			   WORDS(commands[i][0], is_named ? commands[i][1] : NULL, session->id));
	}
}

static void live_with_forged_processes(struct session *session)
{
	static const char *const whose[][2] = { { "pane", NULL },
						{ "server", NULL },
						{ "server", "pane" } };
	for (size_t i = 0; i < ARRAY_SIZE(whose); i++) {
		struct process innocent = bystander(), server = session_server(session);
		for (size_t j = 0; j < 2 && whose[i][j]; j++)
			edit_process(session, whose[i][j], &innocent);
		all_commands(session);
		ASSERT(machine_alive(&innocent), "a process of nobody's was ended by a look");
		ASSERT(machine_alive(&server), "its server was ended by a look");
		assert_census(1, "before the stop");
		assert_stops_and_returns(session);
		ASSERT(machine_alive(&innocent), "a process of nobody's was ended by a stop");
		ASSERT(!machine_alive(&server), "its own server lives on");
		machine_kill(&innocent, SIGKILL);
	}
}

TEST(EditedProcessesAreNotKilled)
{
	struct session scoped, direct;
	begin(&scoped, "scoped");
	live_with_forged_processes(&scoped);
	session_stop(&scoped, NULL);
	without_scopes();
	begin(&direct, "direct");
	live_with_forged_processes(&direct);
}

/* Pids of no process, another boot id: it stays the same run all the time. */
static void run_that_is_written_down_wrongly(struct session *session)
{
	struct process server = session_server(session);
	const struct process nobody = { .pid = 4194303, .start = "1" };
	edit_process(session, "server", &nobody);
	struct json_object *listed = deck_look_ok(WORDS("list", "--json"));
	ASSERT(strstr(json_print(listed), "\"running\""), "%s", json_print(listed));
	edit_text(session, "boot_id", "00000000-0000-4000-8000-000000000000");
	struct json_object *started = deck_ok(NULL,
					      WORDS("session", "start", session->id, "--json"));
	ASSERT(machine_alive(&server), "it was started a second time: %s", json_print(started));
	assert_census(1, "after the start of one that runs");
	session_say(session, "still here");
	edit_process(session, "server", &nobody);
	edit_text(session, "boot_id", "00000000-0000-4000-8000-000000000000");
	session_stop(session, NULL);
	ASSERT(!machine_alive(&server), "it was stopped, and lives");
	assert_census(0, "after the stop");
}

TEST(EditedRunIsStillFound)
{
	struct session scoped, direct;
	begin(&scoped, "scoped");
	run_that_is_written_down_wrongly(&scoped);
	without_scopes();
	begin(&direct, "direct");
	run_that_is_written_down_wrongly(&direct);
}

/* ---- who is spoken to --------------------------------------------------------------------- */

TEST(EditedSocketReachesNoOtherServer)
{
	struct session session;
	begin(&session, "deck");
	const char *own = at_home("own.sock"), *elsewhere = at_home("run/tmux.sock");
	machine_make_directory(at_home("run"));
	for (int i = 0; i < 2; i++)
		machine_user_ok(WORDS("tmux", "-f", "/dev/null", "-S", i ? elsewhere : own,
				      "new-session", "-d", "-s", "agent", "cat"));
	for (int i = 0; i < 2; i++) {
		const char *socket = i ? elsewhere : own;
		edit_text(&session, "socket", socket);
		if (i)
			edit_text(&session, "directory", at_home("run"));
		(void)deck(NULL, WORDS("session", "send", session.id, "for the agent only"));
		all_commands(&session);
		struct reply stopped = deck(NULL, WORDS("session", "stop", session.id));
		ASSERT(stopped.status == 0, "status %d: %s", stopped.status, stopped.errors);
		const char *screen = machine_user_ok(
			WORDS("tmux", "-S", socket, "capture-pane", "-p", "-t", "agent"));
		ASSERT(!strstr(screen, "for the agent only"), "another server was typed into:\n%s",
		       screen);
		session_start(&session, NULL);
		const char *text = session_screen(&session);
		ASSERT(text && strstr(text, "for the agent only"), "the agent did not get it:\n%s",
		       or_empty(text));
	}
	machine_user_ok(WORDS("tmux", "-S", own, "kill-server"));
	machine_user_ok(WORDS("tmux", "-S", elsewhere, "kill-server"));
}

/* A server of the user's own, at the session's socket. */
TEST(ForeignServerInItsPlaceIsLeftAlone)
{
	struct session session;
	without_scopes();
	begin(&session, "deck");
	const char *socket = session.socket, *aside = kept("%s.aside", socket);
	machine_user_ok(WORDS("mv", socket, aside));
	machine_user_ok(WORDS("tmux", "-f", "/dev/null", "-S", socket, "new-session", "-d", "-s",
			      "agent", "cat"));
	struct reply sent = deck(NULL, WORDS("session", "send", session.id, "for the agent only"));
	ASSERT(sent.status == 1 && strstr(sent.errors, "in the place of this session's server"),
	       "status %d: %s", sent.status, sent.errors);
	struct reply again = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(again.status == 1 && strstr(again.errors, "in the place of this session's server"),
	       "status %d: %s", again.status, again.errors);
	struct process server = session_server(&session);
	struct reply stopped = deck(NULL, WORDS("session", "stop", session.id));
	ASSERT(stopped.status == 0 && !machine_alive(&server), "status %d: %s", stopped.status,
	       stopped.errors);
	const char *pid = machine_root_ok(
		WORDS("pgrep", "-u", machine_user_name(), "-x", "tmux: server"));
	ASSERT(*pid, "the user's own server was ended");
	machine_root_ok(WORDS("kill", "-9", kept("%.*s", (int)strcspn(pid, "\n"), pid)));
}

/* ---- units -------------------------------------------------------------------------------- */

TEST(EditedUnitIsNotTouched)
{
	struct session session;
	begin(&session, "deck");
	machine_write(
		at_home("unit.sh"), 0755,
		"#!/bin/sh\nexec systemd-run --user --scope --unit=mine.scope -- sleep 1000\n");
	(void)machine_login(
		WORDS("sh", "-c", kept("setsid %s >/dev/null 2>&1 & sleep 1", at_home("unit.sh"))));
	const char *is_active =
		"systemctl --user is-active mine.scope; systemctl --user show -p MemoryMax mine.scope";
	struct answer before = machine_login(WORDS("sh", "-c", is_active));
	ASSERT(starts_with(before.output, "active\n"), "no unit to look at: %s%s", before.output,
	       before.errors);
	edit_text(&session, "unit", "mine.scope");
	(void)deck(NULL, WORDS("session", "limit", session.id, "--memory-max", "1G"));
	assert_stops_and_returns(&session);
	struct answer after = machine_login(WORDS("sh", "-c", is_active));
	ASSERT(streq(after.output, before.output), "it was\n%s, and is\n%s", before.output,
	       after.output);
	assert_isolated(&session);
	/* The manifest names a scope that the run does not have; then the other way round. */
	edit_run(&session, "unit", NULL);
	assert_stops_and_returns(&session);
	(void)machine_login(WORDS("systemctl", "--user", "stop", "mine.scope"));
}

/* ---- runs of other versions --------------------------------------------------------------- */

TEST(UnmarkedDirectoryIsLeftWithAMessage)
{
	struct session session;
	begin(&session, "deck");
	const char *place = scope_place(&session);
	/* While its agent lives, that can prove which run it is, and its last report makes the
	 * files again. */
	const struct process agent = session_agent(&session);
	session_kill_server(&session);
	WAIT_FOR(!machine_alive(&agent), "its agent is left");
	machine_user_ok(WORDS("rm", kept("%s/run", place), kept("%s/token", place)));
	struct reply reply = deck(NULL, WORDS("session", "stop", session.id));
	ASSERT(reply.status == 0 && strstr(reply.errors, place) &&
		       strstr(reply.errors, "remove it yourself"),
	       "status %d: %s", reply.status, reply.errors);
	assert_census(0, "after the stop");
	ASSERT(machine_exists(kept("%s/tmux.conf", place)), "it was removed on a guess");
	/* The next run uses the same directory, and clears it. */
	session_start(&session, NULL);
	assert_came_back(&session, session.session_id, WORD, 1);
	session_stop(&session, NULL);
	ASSERT(!machine_exists(place), "%s is left", place);
}

TEST(RunOfAnEarlierVersionIsCleared)
{
	struct session session;
	begin(&session, "deck");
	const char *place = scope_place(&session);
	/* A live server would have it marked. */
	session_kill_server(&session);
	machine_user_ok(WORDS("rm", kept("%s/run", place)));
	session_stop(&session, NULL);
	assert_census(0, "after the stop");
	ASSERT(!machine_exists(place), "%s is left", place);
}

/* ---- the directory goes under a run ------------------------------------------------------- */

static void assert_turn_counts(const struct session *session, const char *text)
{
	deck_ok(NULL, WORDS("session", "send", session->id, text, "--json"));
	WAIT_FOR(strstr(json_print(deck_look_ok(WORDS("list", "--json"))), "\"idle\""),
		 "no report of the agent counts");
	session_say(session, text);
}

/* A report of the last turn may still be putting files there. */
static void take_away(const char *what)
{
	WAIT_FOR(machine_user(WORDS("rm", "-rf", what)).status == 0, "%s cannot be removed", what);
}

static void live_without_directory(struct session *session, const char *what)
{
	struct process server = session_server(session), agent = session_agent(session);
	static const char *const first[] = { "list", "send", "output", "start", "recover", "hook" };
	for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
		take_away(what);
		const char *listed = json_print(deck_look_ok(WORDS("list", "--json")));
		ASSERT(strstr(listed, "\"running\"") || strstr(listed, "\"unknown\""), "%s",
		       listed);
		struct reply reply = { 0 };
		if (streq(first[i], "send"))
			reply = deck(NULL, WORDS("session", "send", session->id, "hello again"));
		else if (streq(first[i], "output"))
			reply = deck(NULL, WORDS("session", "output", "--pane", session->id));
		else if (streq(first[i], "start"))
			reply = deck(NULL, WORDS("session", "start", session->id));
		else if (streq(first[i], "recover"))
			reply = deck(NULL, WORDS("recover"));
		ASSERT(reply.status == 0, "%s without %s: status %d: %s", first[i], what,
		       reply.status, reply.errors);
		session_look(session);
		ASSERT(streq(session->status, "running"), "%s: it is %s", first[i],
		       session->status);
		ASSERT(machine_alive(&server) && machine_alive(&agent), "%s ended it", first[i]);
		const char *mode = machine_root_ok(WORDS("stat", "-c", "%a %U", what));
		ASSERT(streq(mode, kept("700 %s\n", machine_user_name())), "%s has %s", what, mode);
		assert_turn_counts(session, kept("turn %zu", i));
	}
	assert_census(1, what);
	take_away(what);
	session_stop(session, NULL);
	ASSERT(!machine_alive(&server), "it was stopped, and lives");
	assert_census(0, "after the stop");
	session_start(session, NULL);
	assert_came_back(session, session->session_id, WORD, 1 + 2 * ARRAY_SIZE(first) + 1);
	session_stop(session, NULL);
}

TEST(RuntimeDirectoryRemovedUnderALiveRun)
{
	struct session one, all, direct;
	begin(&one, "one");
	live_without_directory(&one, scope_place(&one));
	begin(&all, "all");
	live_without_directory(&all, kept("/run/user/%u/agentdeck", machine_uid()));
	without_scopes();
	begin(&direct, "direct");
	live_without_directory(&direct, kept("/tmp/agentdeck-%u", machine_uid()));
}

/* The agent's own reports count, without an earlier command. */
TEST(ReportsCountWhenTheDirectoryWasRemoved)
{
	struct session session;
	begin(&session, "deck");
	machine_user_ok(WORDS("rm", "-rf", scope_place(&session)));
	const char *token = machine_root_ok(WORDS("sh", "-c",
						  "tr '\\0' '\\n' <\"/proc/$1/environ\" |"
						  "sed -n 's/^AGENTDECK_REPORT_TOKEN=//p'",
						  "sh", kept("%d", (int)session.agent_pid)));
	const char *report = kept(
		"{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"%s\"}",
		session.session_id);
	struct answer answer = machine_user(WORDS(
		"sh", "-c",
		"printf %s \"$1\" | AGENTDECK_REPORT_TOKEN=$2 agentdeck hook --instance \"$3\"",
		"sh", report, kept("%.*s", (int)strcspn(token, "\n"), token), session.id));
	ASSERT(answer.status == 0, "%s", answer.errors);
	const char *activity = machine_read(kept("%s/activity.json", scope_place(&session)));
	ASSERT(activity && strstr(activity, "busy"), "the report did not count: %s",
	       or_empty(activity));
	struct answer forged = machine_user(WORDS(
		"sh", "-c",
		"printf %s \"$1\" | AGENTDECK_REPORT_TOKEN=$2 agentdeck hook --instance \"$3\"",
		"sh",
		kept("{\"hook_event_name\":\"Stop\",\"session_id\":\"%s\"}", session.session_id),
		new_uuid(), session.id));
	ASSERT(forged.status == 0, "%s", forged.errors);
	activity = machine_read(kept("%s/activity.json", scope_place(&session)));
	ASSERT(activity && strstr(activity, "busy"), "a forged report counted: %s",
	       or_empty(activity));
}

/* systemd-tmpfiles removes old files in /tmp, and a session may be older. */
TEST(TmpfilesSpareALiveRun)
{
	struct session session;
	without_scopes();
	machine_make_directory(at_home("tmp"));
	machine_set("TMPDIR", at_home("tmp"));
	begin(&session, "deck");
	const char *place = at_home(kept("tmp/agentdeck-%u/%s", machine_uid(), session.id));
	ASSERT(starts_with(session.socket, place), "it runs at %s", session.socket);
	machine_write(at_home("tmp/old"), 0644, "old\n");
	machine_write(at_home("clean.conf"), 0644, kept("d %s - - - 0\n", at_home("tmp")));
	struct process server = session_server(&session), agent = session_agent(&session);
	const char *token = machine_read(kept("%s/token", place));
	struct answer cleaned = machine_root(
		WORDS("systemd-tmpfiles", "--clean", at_home("clean.conf")));
	ASSERT(!machine_exists(at_home("tmp/old")), "nothing was cleaned: %s", cleaned.errors);
	ASSERT(machine_exists(session.socket),
	       "the socket of a server that lives was cleaned away");
	session_say(&session, "still here");
	ASSERT(machine_alive(&server) && machine_alive(&agent), "it was ended");
	assert_turn_counts(&session, "and reports");
	const char *now = machine_read(kept("%s/token", place));
	ASSERT(now && token && streq(now, token), "the token was %s, and is %s", or_empty(token),
	       or_empty(now));
	ASSERT(machine_exists(kept("%s/settings.json", place)), "the agent's settings are gone");
	machine_root_ok(WORDS("systemd-tmpfiles", "--clean", at_home("clean.conf")));
	session_stop(&session, NULL);
	machine_root_ok(WORDS("systemd-tmpfiles", "--clean", at_home("clean.conf")));
	ASSERT(!machine_exists(place), "%s is left", place);
}

/* ---- the state directory behind a link ---------------------------------------------------- */

static const char *state(void)
{
	return at_home(".local/state/agentdeck");
}

static void assert_refused(const char *path, const char *text)
{
	struct reply reply = deck_look(WORDS("list"));
	ASSERT(reply.status == 1 && strstr(reply.errors, text) && strstr(reply.errors, path),
	       "status %d, not \"%s\": %s", reply.status, text, reply.errors);
}

TEST(StateDirectoryBehindALinkOfTheUsersIsUsed)
{
	struct session session;
	begin(&session, "deck");
	const char *moved = at_home("data/agentdeck");
	session_stop(&session, NULL);
	machine_make_directory(at_home("data"));
	machine_user_ok(WORDS("mv", state(), moved));
	machine_user_ok(WORDS("ln", "-s", "../../data/agentdeck", state()));
	session_start(&session, NULL);
	assert_came_back(&session, session.session_id, WORD, 1);
	const char *listed = json_print(deck_look_ok(WORDS("list", "--json")));
	ASSERT(strstr(listed, session.id), "%s", listed);
	ASSERT(machine_exists(kept("%s/logs/agentdeck.log", moved)), "there is no log");
	machine_user_ok(WORDS("chmod", "0777", moved));
	assert_refused(moved, "can be written by others");
	machine_user_ok(WORDS("chmod", "0700", moved));
	/* Below it links are still refused. */
	machine_user_ok(WORDS("mv", kept("%s/default", moved), at_home("data/default")));
	machine_user_ok(WORDS("ln", "-s", at_home("data/default"), kept("%s/default", moved)));
	struct reply reply = deck_look(WORDS("list"));
	ASSERT(reply.status == 1, "a link below the state directory was followed: %s",
	       reply.output);
	machine_user_ok(WORDS("rm", kept("%s/default", moved)));
	machine_user_ok(WORDS("mv", at_home("data/default"), kept("%s/default", moved)));
	session_stop(&session, NULL);
	/* One link, and no more. */
	machine_user_ok(WORDS("ln", "-s", moved, at_home("data/again")));
	machine_user_ok(WORDS("ln", "-sfn", at_home("data/again"), state()));
	assert_refused(state(), "another link");
	machine_user_ok(WORDS("ln", "-sfn", at_home("data/gone"), state()));
	assert_refused(state(), "which does not exist");
	ASSERT(!machine_exists(at_home("data/gone")), "what a link leads to was made");
	machine_user_ok(WORDS("ln", "-sfn", moved, state()));
	machine_root_ok(WORDS("chown", "-h", "other", state()));
	assert_refused(state(), "belongs to user");
	machine_root_ok(WORDS("chown", "-h", machine_user_name(), state()));
	machine_root_ok(WORDS("chown", "other", moved));
	assert_refused(moved, "belongs to user");
	machine_root_ok(WORDS("chown", machine_user_name(), moved));
	session_start(&session, NULL);
	assert_came_back(&session, session.session_id, WORD, 1);
}
