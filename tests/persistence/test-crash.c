/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command is cut off at every step that it takes: strace kills it as it enters a system call that changes
 * something, or stops it there and the machine's power fails.  Whatever is left, the next command makes one
 * run of it, with the same conversation, or none.
 *
 * What it has started is not traced and lives on, as it would if the command's terminal died.  Its own children
 * are begun with clone3(2) and have become other programs when that returns (vfork(2)), so that the calls
 * before and after stand for a death on either side of their execve(2).
 */
#include "persistence/deck.h"

#include <string.h>

#define MARKER "cut me off"
enum { KILLED = 128 + 9, POINTS_MAX = 400, SAMPLES = 10 };

/* What tells the kernel, the disk, the manager, the bus, the tmux server or the user something.  "?": not on
 * every machine. */
static const char *const calls[] = {
	"clone",     "?clone3",	  "?fork",     "?vfork",     "connect",	 "sendmsg",
	"sendto",    "write",	  "writev",    "pwrite64",   "pwritev",	 "fsync",
	"fdatasync", "?renameat", "renameat2", "?rename",    "openat",	 "?mkdir",
	"mkdirat",   "unlinkat",  "?unlink",   "?rmdir",     "linkat",	 "symlinkat",
	"ftruncate", "fchmod",	  "fchmodat",  "utimensat",  "fallocate", "copy_file_range",
	"sendfile",  "kill",	  "tgkill",    "pidfd_send_signal",
};

/* A system call that took place: the ordinal-th of its name. */
struct point {
	const char *call;
	unsigned ordinal;
};

struct points {
	struct point points[POINTS_MAX];
	size_t count;
};

static const char *strace_names(void)
{
	struct strbuf names = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		strbuf_addf(&names, "%s%s", i ? "," : "trace=", calls[i]);
	return keep(strbuf_take(&names));
}

/* "session VERB" under strace, which writes down what it traces.  A shell is between: the way into the machine
 * would not tell a command's death from its own. */
static const char *const *traced(const struct session *session, const char *verb, const char *trace,
				 const char *inject)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("sh", "-c", "\"$@\"; exit $?", "sh", "strace", "-qq", "-o",
				      at_home("trace"), "-e", trace));
	if (inject)
		strvec_push_array(argv, WORDS("-e", inject));
	strvec_push_array(argv, WORDS("agentdeck", "session", verb, session->id));
	return (const char *const *)argv->items;
}

/* A call that failed, and a file that was only opened, changed nothing. */
static bool changed_something(const char *line, size_t length)
{
	cleanup_free char *text = xstrndup(line, length);
	return !strstr(text, " = -1 ") && (!starts_with(text, "openat(") || strstr(text, "O_CREAT"));
}

static struct points read_trace(const char *text)
{
	struct points all = { 0 };
	for (const char *line = text, *next; *line; line = next) {
		size_t length = strcspn(line, "\n"), name = strcspn(line, "(\n");
		next = line + length + (line[length] == '\n');
		if (line[name] != '(' || strchr("+-", *line))
			continue;
		const char *call = kept("%.*s", (int)name, line);
		unsigned ordinal = 1;
		for (const char *l = text; l < line; l = strchr(l, '\n') + 1)
			ordinal += starts_with(l, call) && l[name] == '(';
		ASSERT(all.count < POINTS_MAX, "the command does not come to an end");
		if (changed_something(line, length))
			all.points[all.count++] = (struct point){ .call = call, .ordinal = ordinal };
	}
	return all;
}

/* Of each call its first, its last, and what lies evenly between. */
static struct points sample(const struct points *all)
{
	struct points some = { 0 };
	for (size_t i = 0; i < all->count; i++) {
		const struct point *point = &all->points[i];
		size_t before = 0, total = 0;
		for (size_t k = 0; k < all->count; k++)
			if (streq(all->points[k].call, point->call)) {
				before += k < i;
				total++;
			}
		/* The one in each of SAMPLES equal parts that begins it. */
		bool taken = total <= SAMPLES || before == total - 1 ||
			     (before * (SAMPLES - 1)) % (total - 1) < SAMPLES - 1;
		if (taken)
			some.points[some.count++] = *point;
	}
	return some;
}

/* ---- what must hold ---------------------------------------------------------------------- */

static void command(const struct session *session, const char *verb, const char *where)
{
	struct reply reply = deck_look(WORDS("session", verb, session->id));
	ASSERT(reply.status == 0, "%s: session %s: %s%s", where, verb, reply.errors, reply.output);
}

struct census {
	unsigned servers, agents, strays;
	const char *text;
};

/* agentdeck-watch ends by itself, with the probation. */
static struct census take_census(void)
{
	struct census census = {
		.text = machine_root(WORDS("ps", "-u", machine_user_name(), "-o", "comm=,pid=,stat=,args="))
				.output,
	};
	for (const char *line = census.text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (starts_with(line, "tmux: server"))
			census.servers++;
		else if (starts_with(line, "agentdeck-demo-"))
			census.agents++;
		else if ((starts_with(line, "agentdeck") && !starts_with(line, "agentdeck-watch")) ||
			 starts_with(line, "tmux") || starts_with(line, "strace"))
			census.strays++;
	}
	return census;
}

/* Servers and agents at once; what the dead command was about to do may take a moment to end. */
static void assert_census(unsigned expected, const char *where)
{
	struct census census = take_census();
	ASSERT(census.servers == expected && census.agents == expected,
	       "%s: %u servers and %u agents instead of %u:\n%s", where, census.servers, census.agents,
	       expected, census.text);
	WAIT_FOR((census = take_census()).strays == 0, "%s: %u processes are left over:\n%s", where,
		 census.strays, census.text);
	ASSERT(census.servers == expected && census.agents == expected,
	       "%s: later, %u servers and %u agents instead of %u:\n%s", where, census.servers,
	       census.agents, expected, census.text);
}

static void assert_starts(struct session *session, const char *session_id, const char *where)
{
	command(session, "start", where);
	(void)session_look(session);
	ASSERT(streq(session->status, "running"), "%s: status %s", where, session->status);
	ASSERT(streq(or_empty(session->session_id), session_id), "%s: the id became %s", where,
	       or_empty(session->session_id));
	assert_flag(session, "--resume", session_id);
	assert_isolated(session);
	assert_census(1, where);
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

static void end(struct session *session, const char *session_id)
{
	session_stop(session, NULL);
	session_start(session, NULL);
	assert_came_back(session, session_id, MARKER, 1);
}

/* What verb does when nobody cuts it. */
static struct points watch(struct session *session, const char *verb)
{
	struct answer answer = machine_user(traced(session, verb, strace_names(), NULL));
	ASSERT(answer.status == 0, "%s under strace: %s%s", verb, answer.errors, answer.output);
	return read_trace(or_empty(machine_read(at_home("trace"))));
}

static void set_up(struct session *session, const char *verb)
{
	command(session, streq(verb, "start") ? "stop" : "start", "before the cut");
}

/* False: this time it needed fewer of these calls, and was done before. */
static bool cut(struct session *session, const char *verb, const struct point *point, const char *where)
{
	const char *trace = kept("trace=%s", point->call);
	const char *inject = kept("inject=%s:signal=KILL:when=%u", point->call, point->ordinal);
	struct answer answer = machine_user(traced(session, verb, trace, inject));
	ASSERT(answer.status == 0 || answer.status == KILLED, "%s: it ended with %d: %s", where,
	       answer.status, answer.errors);
	return answer.status == KILLED;
}

/* ways: 1, what is left is started, or by turns stopped and then started; 2, both each time. */
static void cut_everywhere(const char *verb, unsigned ways)
{
	struct session session;
	size_t cuts = 0;
	const char *session_id = begin(&session);
	set_up(&session, verb);
	struct points all = watch(&session, verb), some = sample(&all);
	for (size_t i = 0; i < some.count * ways; i++) {
		const struct point *point = &some.points[i % some.count];
		bool stops = ways == 1 ? i % 2 : i >= some.count;
		const char *where = kept("%s cut at %s %u, then %s", verb, point->call, point->ordinal,
					 stops ? "stop" : "start");
		set_up(&session, verb);
		cuts += cut(&session, verb, point, where);
		if (stops)
			assert_stops(&session, where);
		assert_starts(&session, session_id, where);
	}
	print_message("%s: %zu cuts at %zu of the %zu steps that it takes\n", verb, cuts, some.count,
		      all.count);
	ASSERT(cuts >= 20 && cuts * 4 >= some.count * ways * 3, "only %zu cuts took place", cuts);
	end(&session, session_id);
}

static void StartCutAnywhereConverges(void)
{
	cut_everywhere("start", 2);
}

static void StopCutAnywhereConverges(void)
{
	cut_everywhere("stop", 1);
}

static void RestartCutAnywhereConverges(void)
{
	cut_everywhere("restart", 1);
}

/* ---- power ------------------------------------------------------------------------------- */

enum which { FIRST, MIDDLE, LAST };

static struct point pick(const struct points *all, const char *verb, const char *call, enum which which)
{
	struct points same = { 0 };
	for (size_t i = 0; i < all->count; i++)
		if (streq(all->points[i].call, call))
			same.points[same.count++] = all->points[i];
	ASSERT(same.count, "%s does no %s any more: choose another call", verb, call);
	return same.points[which == FIRST ? 0 : which == LAST ? same.count - 1 : same.count / 2];
}

/* Unlike SIGKILL, SIGSTOP lets the call happen: the command stands right behind it. */
static void cut_power(struct session *session, const char *verb, struct point point, const char *where)
{
	const char *inject = kept("inject=%s:signal=STOP:when=%u", point.call, point.ordinal);
	machine_write(at_home("trace"), 0644, "");
	(void)machine_background(traced(session, verb, kept("trace=%s", point.call), inject),
				 at_home("cut.out"));
	WAIT_FOR(strstr(or_empty(machine_read(at_home("trace"))), "stopped by SIGSTOP"),
		 "%s: it does not stop there:\n%s%s", where, or_empty(machine_read(at_home("trace"))),
		 or_empty(machine_read(at_home("cut.out"))));
	machine_powercut();
	machine_boot();
}

static void PowerCutInsideStartOrStopConverges(void)
{
	static const struct {
		const char *verb, *call;
		enum which which;
	} cuts[] = {
		/* The intent: not there yet, there. */
		{ "start", "fsync", FIRST },
		{ "start", "renameat", LAST },
		/* The gate, its scope, and what it became: not written down, written down. */
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
	struct points stop = watch(&session, "stop"), start = watch(&session, "start");
	for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
		const char *verb = cuts[i].verb;
		struct point point = pick(streq(verb, "start") ? &start : &stop, verb, cuts[i].call,
					  cuts[i].which);
		const char *where = kept("power cut in %s at %s %u", verb, point.call, point.ordinal);
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

const struct test crash_tests[] = {
	TEST(StartCutAnywhereConverges),
	TEST(StopCutAnywhereConverges),
	TEST(RestartCutAnywhereConverges),
	TEST(PowerCutInsideStartOrStopConverges),
	{ 0 },
};
