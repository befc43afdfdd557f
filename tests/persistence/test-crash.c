/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command is cut off at every step it takes: strace kills it as it enters a system call, the first
 * time, the second, and so on until there is no further one.  Whatever it leaves, the next "session
 * start" makes one run of it, with the same conversation.
 *
 * What it has started is not traced and lives on, as it would if the command's terminal died.
 */
#include "persistence/deck.h"

#include <string.h>

#define MARKER "cut me off"
enum { STEPS_MAX = 200, KILLED = 128 + 9 };

/* Where the disk, the manager, the bus and the tmux server are told something. */
static const char *const steps[] = { "fsync", "renameat,renameat2", "connect", "sendmsg",
				     "unlinkat", "mkdirat,mkdir", "pidfd_send_signal,kill" };

/* Did it die of the cut?  Else it took fewer steps than that, and has done its work.  A shell is between:
 * ssh would not tell a command's death from its own. */
static bool cut(const struct session *session, const char *verb, const char *step, unsigned when)
{
	const char *inject = kept("inject=%s:signal=KILL:when=%u", step, when);
	struct answer answer = machine_login(
		WORDS("sh", "-c", "\"$@\"; exit $?", "sh", "strace", "-qq", "-o", "/dev/null", "-e",
		      kept("trace=%s", step), "-e", inject, "agentdeck", "session", verb,
		      session->id));
	ASSERT(answer.status == 0 || answer.status == KILLED, "%s, cut at %s %u, ended with %d: %s",
	       verb, step, when, answer.status, answer.errors);
	return answer.status == KILLED;
}

static long count(const char *how, const char *pattern)
{
	return strtol(machine_root(WORDS("pgrep", "-c", "-u", machine_user_name(), how, pattern))
			      .output,
		      NULL, 10);
}

static void assert_converges(struct session *session, const char *session_id, const char *where)
{
	struct reply reply = deck(NULL, WORDS("session", "start", session->id));
	ASSERT(reply.status == 0, "%s: session start: %s%s", where, reply.errors, reply.output);
	(void)session_look(session);
	ASSERT(streq(session->status, "running"), "%s: status %s", where, session->status);
	ASSERT(streq(or_empty(session->session_id), session_id), "%s: the id became %s", where,
	       or_empty(session->session_id));
	assert_flag(session, "--resume", session_id);
	long servers = count("-x", "tmux: server"), agents = count("-f", "^agentdeck-demo-agent");
	ASSERT(servers == 1 && agents == 1, "%s: %ld servers and %ld agents", where, servers,
	       agents);
}

static const char *begin(struct session *session)
{
	if (machine_user(WORDS("strace", "-V")).status != 0)
		skip_test("strace is not installed");
	session_add(session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
	write_decoy(session);
	/* From now on every run is one that resumes. */
	session_restart(session, NULL);
	return session->session_id;
}

static void cut_everywhere(const char *verb, bool running)
{
	struct session session;
	unsigned cuts = 0;
	const char *session_id = begin(&session);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		for (unsigned when = 1;; when++) {
			ASSERT(when < STEPS_MAX, "%s does not come to an end", verb);
			if (!running)
				session_stop(&session, NULL);
			bool was_cut = cut(&session, verb, steps[i], when);
			assert_converges(&session, session_id,
					 kept("%s cut at %s %u", verb, steps[i], when));
			if (!was_cut)
				break;
			cuts++;
		}
	}
	print_message("%s: %u cuts\n", verb, cuts);
	/* Saving alone takes several. */
	ASSERT(cuts > 5, "only %u cuts: strace did not cut", cuts);
	session_stop(&session, NULL);
	session_start(&session, NULL);
	assert_came_back(&session, session_id, MARKER, 1);
}

static void StartCutAnywhereConverges(void)
{
	cut_everywhere("start", false);
}

static void StopCutAnywhereConverges(void)
{
	cut_everywhere("stop", true);
}

const struct test crash_tests[] = {
	TEST(StartCutAnywhereConverges),
	TEST(StopCutAnywhereConverges),
	{ 0 },
};
