/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The nine tests that CLAUDE.md names.  Their names are promises and do not change:
 * tests/check-claude-md.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER "the password is swordfish"

static void begin_claude(struct session *session, struct login *login, const char *title)
{
	install_claude_stand_in();
	session_add(session, login, title, WORDS("--agent", "claude"));
	session_start(session, login);
}

/* What happened on 2026-04-14: logind removed several logins at once, each of which had started
 * sessions. */
TEST(TestPersistence_TmuxSurvivesLoginSessionRemoval)
{
	enum { LOGINS = 3 };
	struct login *logins[LOGINS];
	struct session sessions[LOGINS];
	struct process servers[LOGINS], agents[LOGINS];
	for (size_t i = 0; i < LOGINS; i++) {
		logins[i] = login_open();
		begin_claude(&sessions[i], logins[i], kept("deck-%zu", i));
		session_say(&sessions[i], MARKER);
		servers[i] = session_server(&sessions[i]);
		agents[i] = session_agent(&sessions[i]);
	}
	for (size_t i = 0; i < LOGINS; i++)
		login_terminate(logins[i]);
	for (size_t i = 0; i < LOGINS; i++) {
		ASSERT(machine_alive(&servers[i]), "server %d died with its login",
		       (int)servers[i].pid);
		ASSERT(machine_alive(&agents[i]), "agent %d died with its login",
		       (int)agents[i].pid);
		struct answer list = machine_login(
			WORDS("tmux", "-S", sessions[i].socket, "display-message", "-p", "#{pid}"));
		ASSERT(streq(list.output, kept("%d\n", (int)servers[i].pid)),
		       "a new login finds another server: %s%s", list.output, list.errors);
		(void)session_look(&sessions[i]);
		ASSERT(streq(sessions[i].status, "running"), "status %s", sessions[i].status);
		assert_isolated(&sessions[i]);
		ASSERT(session_shows(&sessions[i], MARKER), "the screen is lost");
	}
}

/* The same teardown on the same machine, without the scope: so it is the scope that keeps sessions
 * alive. */
TEST(TestPersistence_TmuxDiesWithoutUserScope)
{
	struct session session;
	machine_write(at_home(".config/agentdeck/config.toml"), 0644,
		      "[tmux]\nlaunch_in_user_scope = false\n");
	struct login *login = login_open();
	begin_claude(&session, login, "deck");
	session_say(&session, MARKER);
	write_decoy(&session);
	const char *session_id = session.session_id;
	struct process server = session_server(&session);
	ASSERT(ends_with(machine_cgroup(server.pid), login_scope(login)), "the server is in %s",
	       machine_cgroup(server.pid));
	assert_logged("tmux cgroup isolation: disabled (config override)");
	login_terminate(login);
	WAIT_FOR(!machine_alive(&server),
		 "the server outlives its login without a scope of its own");
	(void)session_look(&session);
	ASSERT(streq(session.status, "error"), "status %s", session.status);
	/* Even then nothing is lost. */
	session_start(&session, NULL);
	assert_came_back(&session, session_id, MARKER, 1);
}

TEST(TestPersistence_LinuxDefaultIsUserScope)
{
	struct session session;
	const char *config = at_home(".config/agentdeck/config.toml");
	begin_claude(&session, NULL, "deck");
	ASSERT(!machine_exists(config), "%s is there: this is not the default", config);
	assert_isolated(&session);
	const char *unit = kept("agentdeck-tmux-%s.scope", session.id);
	struct answer state = machine_login(WORDS("systemctl", "--user", "is-active", unit));
	ASSERT(streq(state.output, "active\n"), "%s is %s%s", unit, state.output, state.errors);
	assert_logged("tmux cgroup isolation: enabled (systemd-run detected)");
	assert_not_logged("tmux cgroup isolation: disabled");
}

/* A PATH that has every program but systemd-run. */
static const char *path_without_systemd_run(void)
{
	const char *all = at_home("all-but-one");
	machine_make_directory(all);
	/* The first link in PATH stays: a later one of the same name fails. */
	machine_user_ok(WORDS("sh", "-c",
			      "IFS=:; for d in $2; do ln -s \"$d\"/* \"$1\"; done 2>&-; "
			      "rm \"$1/systemd-run\"",
			      "sh", all, machine_search_path()));
	return all;
}

TEST(TestPersistence_MacOSDefaultIsDirect)
{
	struct session session;
	install_claude_stand_in();
	machine_set("PATH", path_without_systemd_run());
	struct answer found = machine_login(WORDS("sh", "-c", "command -v systemd-run"));
	ASSERT(found.status != 0, "systemd-run is still in PATH: %s", found.output);
	session_add(&session, NULL, "deck", WORDS("--agent", "claude"));
	struct reply reply = deck(NULL, WORDS("session", "start", session.id, "--json"));
	ASSERT(reply.status == 0, "no start: %s%s", reply.errors, reply.output);
	ASSERT(*reply.errors == '\0', "not silent: %s", reply.errors);
	(void)session_look(&session);
	ASSERT(streq(session.status, "running"), "status %s", session.status);
	const char *cgroup = machine_cgroup(session_server(&session).pid);
	ASSERT(!strstr(cgroup, "agentdeck"), "not started directly: %s", cgroup);
	assert_logged("tmux cgroup isolation: disabled (systemd-run not available)");
	assert_not_logged(" warning ");
	assert_not_logged(" error ");
}

TEST(TestPersistence_RestartResumesConversation)
{
	struct session session;
	begin_claude(&session, NULL, "deck");
	session_say(&session, MARKER);
	write_decoy(&session);
	const char *session_id = session.session_id;
	const char *transcript = claude_transcript(&session, session_id);
	struct process first = session_agent(&session);
	ASSERT(machine_exists(transcript), "no transcript %s", transcript);

	session_stop(&session, NULL);
	ASSERT(!machine_alive(&first), "the agent outlives session stop");
	session_restart(&session, NULL);
	assert_came_back(&session, session_id, MARKER, 1);

	/* Also the transcript of a running session. */
	struct process second = session_agent(&session);
	session_restart(&session, NULL);
	ASSERT(!machine_alive(&second), "session restart left the agent running");
	assert_came_back(&session, session_id, MARKER, 2);
	ASSERT(machine_exists(transcript), "the transcript %s is gone", transcript);
}

TEST(TestPersistence_StartAfterSIGKILLResumesConversation)
{
	struct session session;
	begin_claude(&session, NULL, "deck");
	session_say(&session, MARKER);
	write_decoy(&session);
	const char *session_id = session.session_id;
	ASSERT(machine_exists(claude_transcript(&session, session_id)), "no transcript");
	session_kill_server(&session);
	(void)session_look(&session);
	ASSERT(streq(session.status, "error"), "status %s after SIGKILL", session.status);
	ASSERT(streq(or_empty(session.session_id), session_id), "SIGKILL cost the id");
	session_start(&session, NULL);
	assert_came_back(&session, session_id, MARKER, 1);
}

TEST(TestPersistence_ClaudeSessionIDSurvivesHookSidecarDeletion)
{
	struct session session;
	begin_claude(&session, NULL, "deck");
	session_say(&session, MARKER);
	write_decoy(&session);
	const char *session_id = session.session_id;
	const char *sidecar = at_home(kept(".local/state/agentdeck/hooks/%s.sid", session.id));
	session_kill_server(&session);
	const char *text = machine_read(sidecar);
	ASSERT(text && strstr(text, session_id), "the sidecar %s was not there to be lost",
	       sidecar);
	machine_remove(sidecar);
	struct json_object *shown = session_look(&session);
	ASSERT(streq(json_get_string(shown, "claude_session_id", ""), session_id),
	       "the id is lost");
	session_start(&session, NULL);
	assert_came_back(&session, session_id, MARKER, 1);
}

TEST(TestPersistence_FreshSessionUsesSessionIDNotResume)
{
	struct session session;
	begin_claude(&session, NULL, "deck");
	ASSERT(session.session_id && strlen(session.session_id) == 36, "no id: %s",
	       or_empty(session.session_id));
	assert_flag(&session, "--session-id", session.session_id);
	assert_no_flag(&session, "--resume");
	assert_no_flag(&session, "-r");
	assert_no_flag(&session, "--continue");
	assert_logged("resume: none reason=fresh_session");
	assert_not_logged("resume: id=");
}

/* A user's script that starts claude in its own way. */
static const char *install_wrapper(void)
{
	const char *path = at_home("my-wrapper.sh");
	install_claude_stand_in();
	machine_write(path, 0755, "#!/bin/sh\nexec claude --model opus \"$@\"\n");
	return path;
}

static void add_wrapped(struct session *session, const char *title, const char *wrapper)
{
	session_add(session, NULL, title, WORDS("--agent", "claude", "-c", wrapper));
	struct json_object *shown = session_look(session);
	const char *id = json_get_string(shown, "claude_session_id", NULL);
	ASSERT(!id, "a custom command got the id %s before anybody has used it", id);
}

TEST(TestPersistence_CustomCommandResumesFromLatestJSONL)
{
	enum { LATER_S = 3600 };
	struct session session, other;
	const char *older = new_uuid(), *newer = new_uuid(), *owned = new_uuid();
	const char *wrapper = install_wrapper();

	/* Two transcripts without an owner, and a newer one that belongs to another instance. */
	add_wrapped(&session, "deck", wrapper);
	machine_set_time(write_transcript(&session, newer, MARKER), 1776157700);
	machine_set_time(write_transcript(&session, older, "long ago"), 1776157600);
	machine_set_time(write_transcript(&session, owned, "not yours"), 1776157800);
	struct json_object *added = deck_ok(NULL,
					    WORDS("add", session.directory, "-t", "other", "--json",
						  "--agent", "claude", "--session-id", owned));
	other = (struct session){ .title = "other",
				  .directory = session.directory,
				  .id = json_get_string(added, "id", "") };

	session_start(&session, NULL);
	assert_flag(&session, "--model", "opus");
	assert_came_back(&session, newer, MARKER, 1);
	struct json_object *shown = session_look(&session);
	ASSERT(streq(json_get_string(shown, "claude_session_id", ""), newer),
	       "the id was not kept");

	/* From now on the id counts and not the newest file. */
	machine_set_time(claude_transcript(&session, older), clock_wall_us() / 1000000 + LATER_S);
	session_kill_server(&session);
	session_start(&session, NULL);
	assert_came_back(&session, newer, MARKER, 2);

	session_start(&other, NULL);
	assert_came_back(&other, owned, "not yours", 1);

	/* All but the oldest have owners now; then none is left. */
	struct session third = { 0 }, fourth = { 0 };
	struct session *const more[] = { &third, &fourth };
	for (size_t i = 0; i < ARRAY_SIZE(more); i++) {
		struct json_object *object = deck_ok(
			NULL, WORDS("add", session.directory, "-t", kept("more-%zu", i), "--json",
				    "--agent", "claude", "-c", wrapper));
		*more[i] = (struct session){ .title = "more",
					     .directory = session.directory,
					     .id = json_get_string(object, "id", "") };
		session_start(more[i], NULL);
	}
	assert_came_back(&third, older, "long ago", 1);
	assert_no_flag(&fourth, "--resume");
	ASSERT(fourth.session_id && !streq(fourth.session_id, newer) &&
		       !streq(fourth.session_id, older) && !streq(fourth.session_id, owned),
	       "a conversation was given away: %s", or_empty(fourth.session_id));
}
