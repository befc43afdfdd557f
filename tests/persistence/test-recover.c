/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * After an incident: `agentdeck recover`, the sessions that it does not touch, and how listings
 * show sessions whose end nobody was left to record.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

enum { SESSIONS = 4 };

static const char *marker(size_t i)
{
	return kept("marker number %zu", i);
}

/* A session of the demo agent with one turn. */
static void begin(struct session *session, const char *title, const char *text,
		  const char *const *words)
{
	session_add(session, NULL, title, words);
	session_start(session, NULL);
	session_say(session, text);
	(void)session_look(session);
}

static void begin_all(struct session sessions[SESSIONS])
{
	for (size_t i = 0; i < SESSIONS; i++)
		begin(&sessions[i], kept("deck-%zu", i), marker(i), NULL);
}

/* kill -9 for all of their servers at once. */
static void kill_all(const struct session *sessions, size_t count)
{
	struct process servers[SESSIONS];
	for (size_t i = 0; i < count; i++)
		servers[i] = session_server(&sessions[i]);
	for (size_t i = 0; i < count; i++)
		machine_kill(&servers[i], SIGKILL);
	for (size_t i = 0; i < count; i++)
		WAIT_FOR(!machine_alive(&servers[i]), "server %d lives", (int)servers[i].pid);
}

/* ---- what recover says ---------------------------------------------------------------------- */

struct recovery {
	int status;
	const char *output;
	struct json_object *summary;
};

/* The line of JSON about this session; for NULL: the last line. */
static struct json_object *find_line(const char *output, const char *id)
{
	struct json_object *found = NULL;
	char *rest = keep(xstrdup(output));
	for (const char *line; (line = strsep(&rest, "\n"));) {
		struct json_object *object = NULL;
		if (!*line)
			continue;
		ASSERT(json_parse(line, strlen(line), "recover", &object, NULL) == 0,
		       "no line of JSON: %s", line);
		keep_json(object);
		if (!id || streq(json_get_string(object, "id", ""), id))
			found = object;
	}
	return found;
}

static struct recovery read_recovery(int status, const char *output)
{
	struct recovery recovery = { .status = status,
				     .output = output,
				     .summary = find_line(output, NULL) };
	ASSERT(recovery.summary && json_get_int(recovery.summary, "total", -1) >= 0,
	       "no summary: %s", output);
	return recovery;
}

static struct recovery recover(const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("recover", "--json"));
	if (words)
		strvec_push_array(argv, words);
	struct reply reply = deck(NULL, (const char *const *)argv->items);
	return read_recovery(reply.status, reply.output);
}

static void assert_count(const struct recovery *recovery, const char *what, int64_t expected)
{
	int64_t count = json_get_int(recovery->summary, what, -1);
	ASSERT(count == expected, "%s is %lld, not %lld:\n%s", what, (long long)count,
	       (long long)expected, recovery->output);
}

static void assert_row(const struct recovery *recovery, const struct session *session,
		       const char *outcome)
{
	struct json_object *row = find_line(recovery->output, session->id);
	const char *is = row ? json_get_string(row, "outcome", "") : "not there";
	ASSERT(streq(is, outcome), "%s is %s, not %s:\n%s", session->title, is, outcome,
	       recovery->output);
}

static const char *manifest(const struct session *session)
{
	return or_empty(machine_read(
		at_home(kept(".local/state/agentdeck/default/%s/instance.json", session->id))));
}

static const char *show(const struct session *session)
{
	return machine_user_ok(WORDS("agentdeck", "session", "show", session->id));
}

/* ---- recover -------------------------------------------------------------------------------- */

static void assert_all_came_back(struct session sessions[SESSIONS])
{
	for (size_t i = 0; i < SESSIONS; i++) {
		const char *id = sessions[i].session_id;
		assert_came_back(&sessions[i], id, marker(i), 1);
		assert_isolated(&sessions[i]);
		assert_logged("resume: id=%s", id);
	}
}

/* They were started in the order of the array. */
static void assert_newest_first(const struct recovery *recovery, const struct session *sessions,
				size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const char *newer = strstr(recovery->output, sessions[i].id);
		const char *older = strstr(recovery->output, sessions[i - 1].id);
		ASSERT(newer && older && newer < older, "%s does not come before %s:\n%s",
		       sessions[i].title, sessions[i - 1].title, recovery->output);
	}
}

TEST(RecoverBringsAllBackAfterIncident)
{
	struct session sessions[SESSIONS];
	begin_all(sessions);
	kill_all(sessions, SESSIONS - 1);
	struct recovery recovery = recover(NULL);
	ASSERT(recovery.status == 0, "status %d: %s", recovery.status, recovery.output);
	assert_count(&recovery, "total", SESSIONS - 1);
	assert_count(&recovery, "revived", SESSIONS - 1);
	for (size_t i = 0; i < SESSIONS - 1; i++) {
		struct json_object *row = find_line(recovery.output, sessions[i].id);
		ASSERT(row && streq(json_get_string(row, "rung", ""), "resume") &&
			       streq(json_get_string(row, "session_id", ""),
				     sessions[i].session_id),
		       "%s did not come back by its own id:\n%s", sessions[i].title,
		       recovery.output);
		const char *id = sessions[i].session_id;
		assert_came_back(&sessions[i], id, marker(i), 1);
	}
	/* The last used comes first, and a restart does not change that. */
	for (int time = 0; time < 2; time++) {
		kill_all(sessions, SESSIONS - 1);
		recovery = recover(WORDS("--jobs", "1"));
		assert_newest_first(&recovery, sessions, SESSIONS - 1);
		for (size_t i = 0; i < SESSIONS - 1; i++)
			(void)session_look(&sessions[i]);
	}
	/* Nothing is left to do. */
	recovery = recover(NULL);
	ASSERT(recovery.status == 0, "status %d: %s", recovery.status, recovery.output);
	assert_count(&recovery, "total", 0);
}

TEST(RecoverAfterPowerCut)
{
	struct session sessions[SESSIONS];
	begin_all(sessions);
	session_stop(&sessions[0], NULL);
	machine_powercut();
	machine_boot();
	struct recovery recovery = recover(WORDS("--jobs", "2"));
	ASSERT(recovery.status == 0, "status %d: %s", recovery.status, recovery.output);
	assert_count(&recovery, "revived", SESSIONS - 1);
	(void)session_look(&sessions[0]);
	ASSERT(streq(sessions[0].status, "stopped"), "what was stopped is %s", sessions[0].status);
	session_start(&sessions[0], NULL);
	assert_all_came_back(sessions);
}

/* How often a run of this session was started. */
static unsigned starts(const struct session *session)
{
	const char *text = kept("instance=%s started: ", session->id);
	unsigned count = 0;
	for (const char *line = or_empty(deck_log()); (line = strstr(line, text)); line++)
		count++;
	return count;
}

TEST(RecoverTwiceSideBySideStartsNoneTwice)
{
	struct session sessions[SESSIONS];
	begin_all(sessions);
	kill_all(sessions, SESSIONS);
	struct answer answer = machine_login(WORDS(
		"sh", "-c",
		"agentdeck recover --json > \"$HOME/first\" & agentdeck recover --json > \"$HOME/second\"; "
		"status=$?; wait $! && exit $status"));
	ASSERT(answer.status == 0, "status %d: %s", answer.status, answer.errors);
	struct recovery first = read_recovery(0, or_empty(machine_read(at_home("first"))));
	struct recovery second = read_recovery(0, or_empty(machine_read(at_home("second"))));
	int64_t revived = json_get_int(first.summary, "revived", 0) +
			  json_get_int(second.summary, "revived", 0);
	ASSERT(revived == SESSIONS, "%lld were restarted:\n%s%s", (long long)revived, first.output,
	       second.output);
	for (size_t i = 0; i < SESSIONS; i++)
		ASSERT(starts(&sessions[i]) == 2, "%s was started %u times", sessions[i].title,
		       starts(&sessions[i]));
	assert_all_came_back(sessions);
}

TEST(RecoverLeavesWhatWasStopped)
{
	struct session stopped, ended, killed;
	begin(&stopped, "stopped", marker(0), NULL);
	begin(&ended, "ended", marker(1), NULL);
	begin(&killed, "killed", marker(2), NULL);
	session_stop(&stopped, NULL);
	session_type(&ended, "/exit");
	session_press(&ended, "Enter");
	WAIT_FOR(session_look(&ended) && streq(ended.status, "stopped"), "it is %s", ended.status);
	session_kill_server(&killed);
	struct recovery recovery = recover(NULL);
	assert_count(&recovery, "total", 1);
	assert_count(&recovery, "revived", 1);
	/* recover offers it, but not a session that somebody stopped. */
	assert_count(&recovery, "ended_by_themselves", 1);
	(void)session_look(&stopped);
	(void)session_look(&ended);
	ASSERT(streq(stopped.status, "stopped"), "what was stopped is %s", stopped.status);
	ASSERT(streq(ended.status, "stopped"), "what ended by itself is %s", ended.status);
	struct reply reply = deck(NULL, WORDS("revive", stopped.id));
	ASSERT(reply.json && streq(json_get_string(reply.json, "outcome", ""), "not-wanted"),
	       "%s%s", reply.output, reply.errors);
}

TEST(RecoverDryRunChangesNothing)
{
	struct session session;
	begin(&session, "deck", marker(0), NULL);
	const char *id = session.session_id;
	kill_all(&session, 1);
	const char *before = manifest(&session);
	struct recovery recovery = recover(WORDS("--dry-run"));
	ASSERT(recovery.status == 0, "status %d: %s", recovery.status, recovery.output);
	struct json_object *row = find_line(recovery.output, session.id);
	ASSERT(row && streq(json_get_string(row, "rung", ""), "resume") &&
		       streq(json_get_string(row, "session_id", ""), id),
	       "it does not tell what it would do:\n%s", recovery.output);
	ASSERT(streq(manifest(&session), before), "the manifest was changed");
	ASSERT(starts(&session) == 1, "it was started");
	/* And then recover does it. */
	(void)recover(NULL);
	assert_came_back(&session, id, marker(0), 1);
}

TEST(RecoverOnlyErrorAndGroup)
{
	struct session api, web, calm;
	begin(&api, "api", marker(0), WORDS("-g", "work/api"));
	begin(&web, "web", marker(1), WORDS("-g", "workshop"));
	/* It should run again, but it ended in good order, so "--only error" leaves it out. */
	begin(&calm, "calm", marker(2), WORDS("-g", "workshop", "--restart", "always"));
	session_type(&calm, "/exit");
	session_press(&calm, "Enter");
	WAIT_FOR(session_look(&calm) && streq(calm.status, "stopped"), "it is %s", calm.status);
	session_kill_server(&api);
	session_kill_server(&web);
	struct recovery recovery = recover(WORDS("--group", "work"));
	assert_count(&recovery, "total", 1);
	assert_row(&recovery, &api, "revived");
	recovery = recover(WORDS("--only", "error"));
	assert_count(&recovery, "total", 1);
	assert_row(&recovery, &web, "revived");
	recovery = recover(NULL);
	assert_count(&recovery, "total", 1);
	assert_row(&recovery, &calm, "revived");
	struct reply reply = deck(NULL, WORDS("recover", "--only", "stopped"));
	ASSERT(reply.status == 64, "status %d: %s", reply.status, reply.errors);
}

TEST(RecoverReportsFailures)
{
	struct session lost, other;
	begin(&lost, "lost", marker(0), NULL);
	begin(&other, "other", marker(1), NULL);
	const char *id = lost.session_id;
	session_kill_server(&lost);
	session_kill_server(&other);
	machine_user_ok(WORDS("mv", lost.directory, at_home("elsewhere")));
	struct recovery recovery = recover(NULL);
	ASSERT(recovery.status == 1, "status %d: %s", recovery.status, recovery.output);
	assert_count(&recovery, "revived", 1);
	assert_count(&recovery, "failed", 1);
	assert_row(&recovery, &lost, "failed");
	const char *why = json_get_string(find_line(recovery.output, lost.id), "error", "");
	ASSERT(strstr(why, lost.directory), "the reason is: %s", why);
	(void)session_look(&lost);
	ASSERT(streq(lost.status, "error"), "status %s", lost.status);
	ASSERT(strstr(show(&lost), "is missing"), "show does not tell why:\n%s", show(&lost));
	machine_user_ok(WORDS("mv", at_home("elsewhere"), lost.directory));
	recovery = recover(NULL);
	ASSERT(recovery.status == 0, "status %d: %s", recovery.status, recovery.output);
	assert_came_back(&lost, id, marker(0), 1);
}

/* ---- revive --------------------------------------------------------------------------------- */

static struct json_object *revive(const struct session *session)
{
	return deck_ok(NULL, WORDS("revive", "--automatic", session->id));
}

TEST(ReviveHoldsAfterTooManyRestarts)
{
	enum { BURST = 2 };
	struct session session;
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      kept("[restart]\nburst = %d\ndelay = 0\n", BURST));
	begin(&session, "deck", marker(0), NULL);
	const char *id = session.session_id;
	for (int i = 0; i < BURST; i++) {
		session_kill_server(&session);
		struct json_object *answer = revive(&session);
		ASSERT(streq(json_get_string(answer, "outcome", ""), "revived"), "%s",
		       json_print(answer));
	}
	session_kill_server(&session);
	struct json_object *answer = revive(&session);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "held"), "%s", json_print(answer));
	struct json_object *shown = session_look(&session);
	ASSERT(streq(session.status, "error") &&
		       strstr(json_get_string(shown, "held", ""), "3 times"),
	       "%s", json_print(shown));
	ASSERT(strstr(show(&session), kept("agentdeck start %s", session.title)),
	       "show has no remedy:\n%s", show(&session));
	/* A start by hand resets the count. */
	session_start(&session, NULL);
	assert_came_back(&session, id, marker(0), 1);
	ASSERT(!json_get_string(session_look(&session), "held", NULL), "it is held still");
	session_kill_server(&session);
	answer = revive(&session);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "revived"), "%s", json_print(answer));
}

TEST(LoginThatIsDeadIsHeld)
{
	struct session session;
	install_claude_stand_in();
	begin(&session, "deck", marker(0), WORDS("--agent", "claude"));
	const char *id = session.session_id;
	session_kill_server(&session);
	machine_write(at_home("bin/claude"), 0755,
		      "#!/bin/sh\necho 'Invalid API key · Please run /login'\nexit 1\n");
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status == 1, "status %d: %s%s", reply.status, reply.output, reply.errors);
	WAIT_FOR(session_look(&session) && streq(session.status, "error") && !session.server_pid,
		 "it is %s:\n%s", session.status, or_empty(session_screen(&session)));
	struct json_object *shown = session_look(&session);
	ASSERT(strstr(json_get_string(shown, "held", ""), "Please run /login"), "%s",
	       json_print(shown));
	ASSERT(streq(json_get_string(shown, "desired", ""), "running"), "it is to be stopped");
	/* No other rung was tried for it: the conversation is unchanged. */
	ASSERT(streq(or_empty(session.session_id), id), "the conversation is %s",
	       or_empty(session.session_id));
	assert_not_logged("next is");
	ASSERT(strstr(show(&session), "Please run /login"), "show does not tell:\n%s",
	       show(&session));
	struct json_object *answer = revive(&session);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "held"), "%s", json_print(answer));
	/* Its user has logged in. */
	install_claude_stand_in();
	struct recovery recovery = recover(NULL);
	assert_row(&recovery, &session, "revived");
	assert_came_back(&session, id, marker(0), 1);
	ASSERT(!json_get_string(session_look(&session), "held", NULL), "it is held still");
}

#define IN_BACKGROUND "is currently running as a background agent (bg)"

TEST(RefusedResumeIsHeld)
{
	struct session session;
	install_claude_stand_in();
	begin(&session, "deck", marker(0), WORDS("--agent", "claude"));
	const char *id = session.session_id;
	session_kill_server(&session);
	/* It would begin a new conversation when asked. */
	machine_write(at_home("bin/claude"), 0755,
		      "#!/bin/sh\n"
		      "case \"$*\" in *--resume*)\n"
		      "	id=${*##*--resume }\n"
		      "	echo \"Session ${id%% *} " IN_BACKGROUND
		      ". Use \\`claude agents\\` to attach.\"\n"
		      "	exit 1\n"
		      "esac\n"
		      "exec agentdeck-demo-agent \"$@\"\n");
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status == 1, "status %d: %s%s", reply.status, reply.output, reply.errors);
	ASSERT(strstr(reply.errors, "claude agents"), "its words are not told: %s", reply.errors);
	WAIT_FOR(session_look(&session) && streq(session.status, "error") && !session.server_pid,
		 "it is %s:\n%s", session.status, or_empty(session_screen(&session)));
	struct json_object *shown = session_look(&session);
	ASSERT(strstr(json_get_string(shown, "held", ""), "in the background of claude: "), "%s",
	       json_print(shown));
	ASSERT(streq(or_empty(session.session_id), id), "the conversation is %s",
	       or_empty(session.session_id));
	assert_not_logged("next is");
	reply = deck_look(WORDS("list", "--json"));
	ASSERT(strstr(reply.output, "in the background of claude"), "not named: %s", reply.output);
	struct json_object *answer = revive(&session);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "held"), "%s", json_print(answer));
	/* Its user has ended the background agent. */
	install_claude_stand_in();
	struct recovery recovery = recover(NULL);
	assert_row(&recovery, &session, "revived");
	assert_came_back(&session, id, marker(0), 1);
}

TEST(ConversationInTheBackgroundIsNotResumed)
{
	struct session session;
	install_claude_stand_in();
	begin(&session, "deck", marker(0), WORDS("--agent", "claude", "--restart", "always"));
	const char *id = session.session_id;
	session_kill_server(&session);
	/* What claude's /background leaves on the screen, and its exit status. */
	machine_write(at_home("bin/claude"), 0755,
		      "#!/bin/sh\necho 'backgrounded · 7c5dcf5d'\nexit 0\n");
	(void)deck(NULL, WORDS("session", "start", session.id));
	WAIT_FOR(session_look(&session) && !session.server_pid, "it is %s", session.status);
	struct json_object *shown = session_look(&session);
	ASSERT(strstr(json_get_string(shown, "held", ""),
		      "in the background of claude: backgrounded"),
	       "%s", json_print(shown));
	struct json_object *answer = revive(&session);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "held"), "%s", json_print(answer));
	ASSERT(streq(or_empty(session.session_id), id), "the conversation is %s",
	       or_empty(session.session_id));
}

/* Its agent goes to its background, as claude does on /background: with a daemon in the session's
 * scope.  Returns the daemon. */
static struct process go_to_background(struct session *session)
{
	install_claude_stand_in();
	begin(session, "deck", marker(0), WORDS("--agent", "claude"));
	session_kill_server(session);
	machine_write(at_home("bin/claude"), 0755,
		      "#!/bin/sh\n"
		      "trap '' HUP\n" /* of the pane, before setsid has begun */
		      "setsid sleep 1000 </dev/null >/dev/null 2>&1 &\n"
		      "echo $! >\"$HOME/daemon.pid\"\n"
		      "echo 'backgrounded · 7c5dcf5d'\n");
	(void)deck(NULL, WORDS("session", "start", session->id));
	WAIT_FOR(session_look(session) && !session->server_pid, "it is %s", session->status);
	install_claude_stand_in();
	int64_t pid = 0;
	const char *text = or_empty(machine_read(at_home("daemon.pid")));
	ASSERT(parse_int64(kept("%.*s", (int)strcspn(text, "\n"), text), 1, INT32_MAX, &pid),
	       "no daemon: %s", text);
	return machine_process((pid_t)pid);
}

TEST(BackgroundAgentIsNotEndedByAStart)
{
	struct session session;
	const struct process daemon = go_to_background(&session);
	const char *id = session.session_id;
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "in the background of claude") &&
		       strstr(reply.errors, "agentdeck session stop deck"),
	       "status %d: %s%s", reply.status, reply.output, reply.errors);
	struct recovery recovery = recover(NULL);
	assert_row(&recovery, &session, "held");
	ASSERT(strstr(recovery.output, "still in its scope"), "no reason: %s", recovery.output);
	ASSERT(machine_alive(&daemon), "the background agent was ended");
	ASSERT(json_get_string(session_look(&session), "held", NULL), "it is not held any more");
	/* Its user ends it. */
	session_stop(&session, NULL);
	WAIT_FOR(!machine_alive(&daemon), "a stop leaves it");
	session_start(&session, NULL);
	assert_came_back(&session, id, marker(0), 1);
}

TEST(BackgroundAgentIsNotEndedByARemoval)
{
	struct session session;
	const struct process daemon = go_to_background(&session);
	struct reply reply = deck(NULL, WORDS("remove", session.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "was not removed") &&
		       strstr(reply.errors, "still in its scope"),
	       "status %d: %s%s", reply.status, reply.output, reply.errors);
	ASSERT(machine_alive(&daemon), "the background agent was ended");
	ASSERT(json_get_string(session_look(&session), "held", NULL), "it is not held any more");
	reply = deck(NULL, WORDS("remove", "--force", session.id));
	ASSERT(reply.status == 0, "status %d: %s", reply.status, reply.errors);
	WAIT_FOR(!machine_alive(&daemon), "--force leaves it");
}

TEST(BackgroundHoldEndsWithTheBoot)
{
	struct session session;
	(void)go_to_background(&session);
	const char *id = session.session_id;
	struct json_object *answer = revive(&session);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "held"), "%s", json_print(answer));
	machine_powercut();
	machine_boot();
	answer = revive(&session);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "revived"), "%s", json_print(answer));
	assert_came_back(&session, id, marker(0), 1);
	ASSERT(!json_get_string(session_look(&session), "held", NULL), "it is held still");
}

TEST(RestartAlwaysBringsBackACleanEnd)
{
	struct session always, usual;
	begin(&always, "always", marker(0), WORDS("--restart", "always"));
	begin(&usual, "usual", marker(1), NULL);
	const char *id = always.session_id;
	struct session *const sessions[] = { &always, &usual };
	for (size_t i = 0; i < ARRAY_SIZE(sessions); i++) {
		session_type(sessions[i], "/exit");
		session_press(sessions[i], "Enter");
		WAIT_FOR(session_look(sessions[i]) && streq(sessions[i]->status, "stopped"),
			 "it is %s", sessions[i]->status);
	}
	struct json_object *answer = revive(&usual);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "not-wanted"), "%s",
	       json_print(answer));
	answer = revive(&always);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "revived"), "%s", json_print(answer));
	assert_came_back(&always, id, marker(0), 1);
	/* Except for a stop. */
	session_stop(&always, NULL);
	answer = revive(&always);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "not-wanted"), "%s",
	       json_print(answer));
	/* Its policy can be changed while it runs. */
	session_start(&always, NULL);
	deck_ok(NULL, WORDS("session", "set", always.id, "restart", "no", "--json"));
	session_kill_server(&always);
	answer = revive(&always);
	ASSERT(streq(json_get_string(answer, "outcome", ""), "left"), "%s", json_print(answer));
}

/* ---- listings ------------------------------------------------------------------------------- */

static bool stands_as(const struct session *session, const char *state)
{
	return strstr(manifest(session), kept("\"state\": \"%s\"", state));
}

TEST(ListCorrectsWhatIsNotTrue)
{
	struct session killed, wedged;
	begin(&killed, "killed", marker(0), NULL);
	begin(&wedged, "wedged", marker(1), NULL);
	const char *id = killed.session_id;
	struct process server = session_server(&wedged);
	kill_all(&killed, 1);
	machine_kill(&server, SIGSTOP);
	ASSERT(stands_as(&killed, "running"), "it was written down before anybody has looked:\n%s",
	       manifest(&killed));
	struct reply list = deck_look(WORDS("list", "--json"));
	ASSERT(list.status == 0, "status %d: %s", list.status, list.errors);
	ASSERT(stands_as(&killed, "error") &&
		       strstr(manifest(&killed), "its tmux server was killed"),
	       "it stands as it was:\n%s", manifest(&killed));
	ASSERT(strstr(manifest(&killed), "\"desired\": \"running\""), "the wish was changed");
	/* "Unknown" does not mean dead. */
	(void)session_look(&wedged);
	ASSERT(streq(wedged.status, "unknown"), "status %s", wedged.status);
	ASSERT(stands_as(&wedged, "running"), "what does not answer was written off:\n%s",
	       manifest(&wedged));
	machine_kill(&server, SIGCONT);
	struct recovery recovery = recover(NULL);
	assert_count(&recovery, "total", 1);
	assert_came_back(&killed, id, marker(0), 1);
	WAIT_FOR(session_look(&wedged) && streq(wedged.status, "running"), "status %s",
		 wedged.status);
}

/* ---- the size of the incident ------------------------------------------------------------------ */

enum { INCIDENT = 72 };

/* Title, id of the conversation and status of all sessions, as the listing has them. */
static const char *listed(void)
{
	struct json_object *list = deck_look_ok(WORDS("list", "--json"));
	struct strbuf text = { 0 };
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const struct json_object *row = json_object_array_get_idx(list, i);
		strbuf_addf(&text, "%s %s %s\n", json_get_string(row, "title", "?"),
			    json_get_string(row, "session_id", "?"),
			    json_get_string(row, "status", "?"));
	}
	return keep(strbuf_take(&text));
}

static long count_user_processes(const char *how, const char *pattern)
{
	return strtol(
		machine_user(WORDS("pgrep", "-c", "-u", machine_user_name(), how, pattern)).output,
		NULL, 10);
}

TEST(SeventyTwoComeBackByOneCommand)
{
	const char *start = kept(
		"for i in $(seq %d); do agentdeck add \"$HOME\" -t n$i --agent demo && "
		"agentdeck session start n$i --no-wait; done",
		INCIDENT);
	struct answer answer = machine_user(WORDS("sh", "-c", start));
	ASSERT(answer.status == 0, "status %d: %s", answer.status, answer.errors);
	WAIT_FOR(count_user_processes("-f", "^agentdeck-demo-agent") == INCIDENT,
		 "not all have begun");
	const char *before = listed();
	ASSERT(!strstr(before, "?") && !strstr(before, "error"), "they do not all run:\n%s",
	       before);
	(void)machine_root_ok(
		WORDS("pkill", "-9", "-u", machine_user_name(), "-f", "tmux.*new-session"));
	WAIT_FOR(count_user_processes("-f", "^agentdeck-demo-agent") == 0, "the agents outlive it");
	struct recovery recovery = recover(NULL);
	ASSERT(recovery.status == 0, "status %d: %s", recovery.status, recovery.output);
	assert_count(&recovery, "revived", INCIDENT);
	assert_count(&recovery, "failed", 0);
	WAIT_FOR(count_user_processes("-f", "^agentdeck-demo-agent") == INCIDENT, "%ld agents",
		 count_user_processes("-f", "^agentdeck-demo-agent"));
	ASSERT(count_user_processes("-x", "tmux: server") == INCIDENT, "%ld servers",
	       count_user_processes("-x", "tmux: server"));
	/* Each has its own conversation. */
	ASSERT(streq(before, listed()), "before:\n%s\nafter:\n%s", before, listed());
	(void)machine_root_ok(
		WORDS("pkill", "-9", "-u", machine_user_name(), "-f", "tmux.*new-session"));
}
