/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Cuts off a command at every step: strace kills it as it enters a system call that changes
 * something, or stops it there and the machine's power fails.  Whatever is left, the next command
 * makes one run with the same conversation of it, or none.
 *
 * The command's children are not traced and live on, as they would if the command's terminal died.
 * They start with clone3(2) and have become other programs when that returns (vfork(2)), so that
 * the calls before and after it cover a death on either side of their execve(2).
 */
#include "persistence/census.h"
#include "persistence/deck.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <string.h>

#define MARKER "cut me off"
enum { SAMPLES = 10 };

/* "session VERB" of this session. */
static const char *const *words_of(const struct session *session, const char *verb)
{
	struct strvec *words = kept_vector();
	strvec_push_array(words, WORDS("agentdeck", "session", verb, session->id));
	return (const char *const *)words->items;
}

/* ---- what must hold ---------------------------------------------------------------------- */

static void command(const struct session *session, const char *verb, const char *where)
{
	struct reply reply = deck_look(WORDS("session", verb, session->id));
	ASSERT(reply.status == 0, "%s: session %s: %s%s", where, verb, reply.errors, reply.output);
}

static void assert_starts(struct session *session, const char *session_id, const char *where)
{
	command(session, "start", where);
	assert_resumed(session, session_id, where);
}

static void assert_stops(struct session *session, const char *where)
{
	command(session, "stop", where);
	(void)session_look(session);
	ASSERT(streq(session->status, "stopped"), "%s: status %s", where, session->status);
	ASSERT(!machine_exists(session->socket ? session->socket : at_home("no-socket")),
	       "%s: the socket is left", where);
	assert_census(0, where);
}

/* ---- cuts -------------------------------------------------------------------------------- */

static const char *begin(struct session *session)
{
	strace_required();
	session_add(session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
	write_decoy(session);
	/* From now on every start resumes. */
	session_restart(session, NULL);
	return session->session_id;
}

static void end(struct session *session, const char *session_id)
{
	session_stop(session, NULL);
	session_start(session, NULL);
	assert_came_back(session, session_id, MARKER, 1);
}

static void set_up(struct session *session, const char *verb)
{
	command(session, streq(verb, "start") ? "stop" : "start", "before the cut");
}

/* ways: 1, start what is left, or by turns stop and then start it; 2, do both each time. */
static void cut_everywhere(const char *verb, unsigned ways)
{
	struct session session;
	size_t cuts = 0;
	const char *session_id = begin(&session);
	set_up(&session, verb);
	const char *const *words = words_of(&session, verb);
	struct points all = strace_watch(words), some = strace_sample(&all, SAMPLES);
	for (size_t i = 0; i < some.count * ways; i++) {
		const struct point *point = &some.points[i % some.count];
		bool stops = ways == 1 ? i % 2 : i >= some.count;
		const char *where = kept("%s cut at %s %u, then %s", verb, point->call,
					 point->ordinal, stops ? "stop" : "start");
		set_up(&session, verb);
		cuts += strace_kill(words, point, where);
		if (stops)
			assert_stops(&session, where);
		assert_starts(&session, session_id, where);
	}
	print_message("%s: %zu cuts at %zu of the %zu steps that it takes\n", verb, cuts,
		      some.count, all.count);
	ASSERT(cuts >= 20 && cuts * 4 >= some.count * ways * 3, "only %zu cuts took place", cuts);
	end(&session, session_id);
}

TEST(StartCutAnywhereConverges)
{
	cut_everywhere("start", 2);
}

TEST(StopCutAnywhereConverges)
{
	cut_everywhere("stop", 1);
}

TEST(RestartCutAnywhereConverges)
{
	cut_everywhere("restart", 1);
}

/* ---- power ------------------------------------------------------------------------------- */

enum which { FIRST, MIDDLE, LAST };

static struct point pick(const struct points *all, const char *verb, const char *call,
			 enum which which)
{
	struct points same = { 0 };
	for (size_t i = 0; i < all->count; i++)
		if (streq(all->points[i].call, call))
			same.points[same.count++] = all->points[i];
	ASSERT(same.count, "%s does no %s any more: choose another call", verb, call);
	return same.points[which == FIRST ? 0 : which == LAST ? same.count - 1 : same.count / 2];
}

/* Unlike SIGKILL, SIGSTOP lets the call happen: the command stops right after it. */
static void cut_power(struct session *session, const char *verb, struct point point,
		      const char *where)
{
	const char *trace = kept("trace=%s", point.call);
	const char *inject = kept("inject=%s:signal=STOP:when=%u", point.call, point.ordinal);
	const char *output = at_home("cut.out");
	machine_write(strace_output(), 0644, "");
	(void)machine_background(strace_argv(words_of(session, verb), trace, inject), output);
	WAIT_FOR(strstr(or_empty(machine_read(strace_output())), "stopped by SIGSTOP"),
		 "%s: it does not stop there:\n%s%s", where,
		 or_empty(machine_read(strace_output())), or_empty(machine_read(output)));
	machine_powercut();
	machine_boot();
}

TEST(PowerCutInsideStartOrStopConverges)
{
	static const struct {
		const char *verb, *call;
		enum which which;
	} cuts[] = {
		/* The intent: before and after it is on disk. */
		{ "start", "fsync", FIRST },
		{ "start", "renameat", LAST },
		/* The gate, its scope, and the program that it became: before and after they are
		 * recorded. */
		{ "start", "clone3", LAST },
		{ "start", "sendmsg", LAST },
		{ "start", "fsync", LAST },
		{ "stop", "renameat", FIRST },
		{ "stop", "pidfd_send_signal", FIRST },
		{ "stop", "unlinkat", MIDDLE },
		{ "stop", "renameat", LAST },
	};
	struct session session;
	const char *session_id = begin(&session);
	struct points stop = strace_watch(words_of(&session, "stop"));
	struct points start = strace_watch(words_of(&session, "start"));
	for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
		const char *verb = cuts[i].verb;
		struct point point = pick(streq(verb, "start") ? &start : &stop, verb, cuts[i].call,
					  cuts[i].which);
		const char *where = kept("power cut in %s at %s %u", verb, point.call,
					 point.ordinal);
		const char *boot_id = machine_boot_id();
		set_up(&session, verb);
		cut_power(&session, verb, point, where);
		ASSERT(!streq(machine_boot_id(), boot_id), "%s: the same boot", where);
		assert_census(0, where);
		if (i % 2)
			assert_stops(&session, where);
		assert_starts(&session, session_id, where);
	}
	end(&session, session_id);
}
