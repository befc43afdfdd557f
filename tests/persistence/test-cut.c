/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * As test-crash.c, for the commands that remove a session, that take an agent's report, and that
 * restart many sessions: each is killed at every step.
 */
#include "persistence/census.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <signal.h>
#include <string.h>

enum { SESSIONS = 3, SAMPLES = 5 };

/* Enough of the cuts took place for the test to mean something. */
static void assert_cuts(const char *what, size_t cuts, const struct points *some,
			const struct points *all)
{
	enum { LEAST = 8 };
	print_message("%s: %zu cuts at %zu of the %zu steps that it takes\n", what, cuts,
		      some->count, all->count);
	ASSERT(cuts >= LEAST && cuts * 4 >= some->count * 3, "only %zu cuts took place", cuts);
}

/* ---- remove ------------------------------------------------------------------------------ */

/* The cut leaves either a whole session, which can be removed, or none. */
static void remove_what_is_left(struct session *session, const char *where)
{
	const char *session_id = session->session_id;
	struct reply show = deck_look(WORDS("session", "show", session->id, "--json"));
	ASSERT(show.status == 0 || show.status == 2, "%s: neither there nor gone: %s%s", where,
	       show.errors, show.output);
	if (show.status == 0)
		(void)assert_manifest(session, session_id, NULL, where);
	struct reply reply = deck_look(WORDS("remove", "--force", session->id));
	ASSERT(reply.status == show.status, "%s: remove: %s%s", where, reply.errors, reply.output);
	assert_census(0, where);
}

TEST(RemoveCutAnywhereConverges)
{
	struct session session;
	size_t cuts = 0;
	strace_required();
	session_make_running(&session);
	struct points all = strace_watch(deck_words(WORDS("remove", "--force", session.id)));
	struct points some = strace_sample(&all, SAMPLES);
	session_make_running(&session);
	for (size_t i = 0; i < some.count; i++) {
		const char *id = session.id;
		const char *where = kept("remove cut at %s", some.points[i].line);
		cuts += strace_kill(deck_words(WORDS("remove", "--force", id)), &some.points[i],
				    where);
		remove_what_is_left(&session, where);
		/* The next "add" clears the remains of other sessions. */
		session_make_running(&session);
		assert_forgotten(id, where);
		assert_no_remnants(where);
	}
	assert_cuts("remove", cuts, &some, &all);
}

/* ---- hook -------------------------------------------------------------------------------- */

static void report(const struct session *session, const char *session_id, const char *where)
{
	struct answer answer = machine_user(report_words(session, session_id));
	ASSERT(answer.status == 0 && !*answer.output && !*answer.errors, "%s: hook: %d %s%s", where,
	       answer.status, answer.errors, answer.output);
	(void)assert_manifest(session, session_id, NULL, where);
}

/* The hint beside the manifest is one id or the other, not a part of one. */
static void assert_hint(const struct session *session, const char *before, const char *after,
			const char *where)
{
	const char *path = at_home(kept(".local/state/agentdeck/hooks/%s.sid", session->id));
	const char *hint = or_empty(machine_read(path));
	ASSERT(streq(hint, before) || streq(hint, after), "%s: the hint is '%s'", where, hint);
}

TEST(HookCutAnywhereConverges)
{
	struct session session;
	size_t cuts = 0;
	strace_required();
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	session_say(&session, "cut me off");
	const char *own = session.session_id, *before = new_uuid();
	struct points all = strace_watch(report_words(&session, before)),
		      some = strace_sample(&all, SAMPLES);
	for (size_t i = 0; i < some.count; i++) {
		const char *after = new_uuid(),
			   *where = kept("hook cut at %s", some.points[i].line);
		cuts += strace_kill(report_words(&session, after), &some.points[i], where);
		(void)assert_manifest(&session, after, before, where);
		assert_hint(&session, before, after, where);
		assert_census(1, where);
		report(&session, after, where);
		before = after;
	}
	assert_cuts("hook", cuts, &some, &all);
	report(&session, own, "in the end");
	session_stop(&session, NULL);
	assert_no_remnants("in the end");
	session_start(&session, NULL);
	assert_came_back(&session, own, "cut me off", 1);
}

/* ---- recover ----------------------------------------------------------------------------- */

static void begin_all(struct session sessions[SESSIONS])
{
	for (size_t i = 0; i < SESSIONS; i++) {
		session_add(&sessions[i], NULL, kept("deck-%zu", i), WORDS("--agent", "demo"));
		session_start(&sessions[i], NULL);
		session_say(&sessions[i], kept("marker %zu", i));
	}
}

static void kill_all(struct session sessions[SESSIONS])
{
	struct process servers[SESSIONS];
	for (size_t i = 0; i < SESSIONS; i++) {
		(void)session_look(&sessions[i]);
		servers[i] = session_server(&sessions[i]);
	}
	for (size_t i = 0; i < SESSIONS; i++)
		machine_kill(&servers[i], SIGKILL);
	for (size_t i = 0; i < SESSIONS; i++)
		WAIT_FOR(!machine_alive(&servers[i]), "server %d lives", (int)servers[i].pid);
}

/* Whatever the first one left, and whichever of its workers still run: one more recover restarts
 * all, each with its own conversation. */
static void recover_the_rest(struct session sessions[SESSIONS], const char *where)
{
	struct reply reply = deck_look(WORDS("recover"));
	ASSERT(reply.status == 0, "%s: recover: %s%s", where, reply.errors, reply.output);
	for (size_t i = 0; i < SESSIONS; i++) {
		const char *session_id = sessions[i].session_id;
		(void)session_look(&sessions[i]);
		ASSERT(streq(sessions[i].status, "running"), "%s: %s is %s", where,
		       sessions[i].title, sessions[i].status);
		(void)assert_manifest(&sessions[i], session_id, NULL, where);
		assert_flag(&sessions[i], "--resume", session_id);
		assert_isolated(&sessions[i]);
	}
	assert_census(SESSIONS, where);
}

/* words: recover, or the command that it runs for the first session. */
static void cut_recovery(struct session sessions[SESSIONS], const char *what,
			 const char *const *words)
{
	size_t cuts = 0;
	kill_all(sessions);
	struct points all = strace_watch(words), some = strace_sample(&all, SAMPLES);
	recover_the_rest(sessions, "uncut");
	for (size_t i = 0; i < some.count; i++) {
		const char *where = kept("%s cut at %s", what, some.points[i].line);
		kill_all(sessions);
		cuts += strace_kill(words, &some.points[i], where);
		recover_the_rest(sessions, where);
		assert_no_remnants(where);
	}
	assert_cuts(what, cuts, &some, &all);
	for (size_t i = 0; i < SESSIONS; i++)
		assert_came_back(&sessions[i], sessions[i].session_id, kept("marker %zu", i), 1);
}

TEST(RecoverCutAnywhereConverges)
{
	struct session sessions[SESSIONS];
	strace_required();
	begin_all(sessions);
	cut_recovery(sessions, "recover", deck_words(WORDS("recover", "--json")));
}

/* recover starts one process for each session. */
TEST(RecoverOfOneCutAnywhereConverges)
{
	struct session sessions[SESSIONS];
	strace_required();
	begin_all(sessions);
	cut_recovery(sessions, "revive", deck_words(WORDS("revive", sessions[0].id)));
}
