/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The disk refuses: each system call with which a command writes state fails once, with each of its
 * possible errors.  The command does its work anyway, or says in one line what failed, where, and
 * what to do.  Nothing is lost or left behind, and the next command succeeds.
 */
#include "persistence/census.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define MARKER "the disk is full"

/* The errors that the manual pages list.  ENOSPC of unlinkat(2) is btrfs's. */
static const struct {
	const char *call, *errors[3];
} faults[] = {
	{ "write", { "ENOSPC", "EIO", "EINTR" } },
	{ "writev", { "ENOSPC", "EIO", "EINTR" } },
	{ "pwrite64", { "ENOSPC", "EIO", "EINTR" } },
	{ "openat", { "ENOSPC", "EIO", "EINTR" } },
	{ "fsync", { "ENOSPC", "EIO", "EINTR" } },
	{ "fdatasync", { "ENOSPC", "EIO", "EINTR" } },
	{ "ftruncate", { "EIO", "EINTR" } },
	{ "fallocate", { "ENOSPC", "EIO", "EINTR" } },
	{ "renameat", { "ENOSPC", "EIO" } },
	{ "renameat2", { "ENOSPC", "EIO" } },
	{ "rename", { "ENOSPC", "EIO" } },
	{ "mkdir", { "ENOSPC", "EIO" } },
	{ "mkdirat", { "ENOSPC", "EIO" } },
	{ "unlinkat", { "ENOSPC", "EIO" } },
	{ "unlink", { "ENOSPC", "EIO" } },
	{ "rmdir", { "ENOSPC", "EIO" } },
	{ "linkat", { "ENOSPC", "EIO" } },
	{ "symlinkat", { "ENOSPC", "EIO" } },
	{ "fcntl", { "ENOLCK", "EINTR" } },
};

static const struct {
	const char *name;
	int number;
} numbers[] = { { "ENOSPC", ENOSPC }, { "EIO", EIO }, { "ENOLCK", ENOLCK }, { "EINTR", EINTR } };

static const char *text_of(const char *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (streq(numbers[i].name, error))
			return strerror(numbers[i].number);
	fail_test("no number for %s", error);
}

/* A command whose calls are made to fail. */
struct subject {
	const char *name;
	/* Before each failure: bring the session into the state that the command needs. */
	void (*prepare)(struct session *session, const char *where);
	const char *const *(*words)(const struct session *session);
	/* After it: nothing is lost, whether the command succeeded or not. */
	void (*inspect)(struct session *session, const struct answer *answer, const char *error,
			const char *where);
	/* The same command again, undisturbed: now it succeeds. */
	void (*repeat)(struct session *session, const char *where);
	bool is_silent;   /* its messages go to the log */
	bool speaks_json; /* its messages are JSON, too */
	/* Each call fails with each of its errors; else with one of them, in turn.  Stop, restart
	 * and remove begin with the same calls, and get different errors. */
	bool all;
	size_t turn;
};

struct tally {
	size_t cases, done, refused;
};

/* ---- one failure ------------------------------------------------------------------------- */

static bool is_state(const char *line)
{
	return strstr(line, "/.local/state/agentdeck") || strstr(line, "/agentdeck/") ||
	       strstr(line, "/agentdeck>");
}

/* What its user reads: what failed, on what file, why, and what to do. */
static void assert_told(const char *text, const char *error, const char *where)
{
	ASSERT(starts_with(text, "agentdeck: ") && strchr(text, '\n') == strrchr(text, '\n') &&
		       strchr(text, '\n'),
	       "%s: not one message: '%s'", where, text);
	ASSERT(strstr(text, text_of(error)), "%s: it does not say why: %s", where, text);
	ASSERT(strstr(text, home()) || strstr(text, "/run/user/"), "%s: it names no file: %s",
	       where, text);
	ASSERT(ends_with(text, "then try again\n"), "%s: it does not say what to do: %s", where,
	       text);
}

static const char *message_in(const char *output)
{
	struct json_object *object = NULL;
	ASSERT(json_parse(output, strlen(output), "output", &object, NULL) == 0, "not JSON: %s",
	       output);
	keep_json(object);
	return kept("agentdeck: %s\n", json_get_string(object, "error", ""));
}

static void fail_once(const struct subject *subject, struct session *session,
		      const struct point *point, const char *error, struct tally *tally)
{
	const char *line, *where = kept("%s with %s in %s", subject->name, error, point->line);
	subject->prepare(session, where);
	struct answer answer = strace_fail(subject->words(session), point, error, &line);
	/* Its steps vary a little: the injection may have hit a call that cannot have this
	 * error. */
	if (!line || !is_state(line) ||
	    (starts_with(line, "openat(") && !strstr(line, "O_CREAT")) ||
	    (starts_with(line, "fcntl(") && !strstr(line, "F_OFD_SETLK"))) {
		subject->repeat(session, where);
		return;
	}
	where = kept("%s with %s in %s", subject->name, error, line);
	ASSERT(answer.status == 0 || answer.status == 1, "%s: it ended with %d: %s", where,
	       answer.status, answer.errors);
	/* A signal is no reason to leave work undone. */
	ASSERT(answer.status == 0 || !streq(error, "EINTR"), "%s: %s", where, answer.errors);
	ASSERT(!subject->is_silent || (answer.status == 0 && !*answer.output && !*answer.errors),
	       "%s: it says %s%s", where, answer.output, answer.errors);
	if (answer.status != 0)
		assert_told(subject->speaks_json ? message_in(answer.output) : answer.errors, error,
			    where);
	subject->inspect(session, &answer, error, where);
	subject->repeat(session, where);
	tally->cases++;
	tally->done += answer.status == 0;
	tally->refused += answer.status != 0;
}

static void fail_each(const struct subject *subject, struct session *session,
		      const struct point *point, size_t turn, struct tally *tally)
{
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!streq(faults[i].call, point->call))
			continue;
		size_t count = 0;
		while (count < ARRAY_SIZE(faults[i].errors) && faults[i].errors[count])
			count++;
		for (size_t k = 0; k < count; k++)
			if (subject->all || k == turn % count)
				fail_once(subject, session, point, faults[i].errors[k], tally);
	}
}

static void fail_everywhere(const struct subject *subject, struct session *session)
{
	struct tally tally = { 0 };
	size_t calls = 0;
	subject->prepare(session, "undisturbed");
	struct points all = strace_watch(subject->words(session));
	subject->repeat(session, "undisturbed");
	for (size_t i = 0; i < all.count; i++)
		if (is_state(all.points[i].line))
			fail_each(subject, session, &all.points[i], subject->turn + calls++,
				  &tally);
	print_message(
		"%s: %zu failures of %zu calls: done all the same %zu times, refused %zu times\n",
		subject->name, tally.cases, calls, tally.done, tally.refused);
	ASSERT(tally.cases * 4 >= calls * 3 && calls >= 8, "only %zu failures at %zu calls",
	       tally.cases, calls);
}

/* ---- the commands ------------------------------------------------------------------------ */

static void command(const char *const *words, const char *where)
{
	struct reply reply = deck_look(words);
	ASSERT(reply.status == 0, "%s: %s %s: %s%s", where, words[0], words[1], reply.errors,
	       reply.output);
}

static void set_stopped(struct session *session, const char *where)
{
	command(WORDS("session", "stop", session->id), where);
}

static void set_running(struct session *session, const char *where)
{
	command(WORDS("session", "start", session->id), where);
}

static void inspect_whole(struct session *session, const struct answer *answer UNUSED,
			  const char *error UNUSED, const char *where)
{
	(void)assert_manifest(session, session->session_id, NULL, where);
	assert_no_remnants(where);
}

static void assert_runs(struct session *session, const char *where)
{
	assert_resumed(session, session->session_id, where);
}

/* A start that was refused leaves nothing running, unless the message says so. */
static void inspect_started(struct session *session, const struct answer *answer, const char *error,
			    const char *where)
{
	inspect_whole(session, answer, error, where);
	assert_census(answer->status == 0 || strstr(answer->errors, " is running, but ") ? 1 : 0,
		      where);
}

/* Perhaps only the first half of a restart was done. */
static void inspect_restarted(struct session *session, const struct answer *answer,
			      const char *error, const char *where)
{
	inspect_whole(session, answer, error, where);
	if (answer->status == 0 || strstr(answer->errors, " is running, but "))
		assert_census(1, where);
	else if (strstr(answer->errors, " was stopped and could not "))
		assert_census(0, where);
}

static const char *const *start_words(const struct session *session)
{
	return deck_words(WORDS("session", "start", session->id));
}

static void repeat_start(struct session *session, const char *where)
{
	command(WORDS("session", "start", session->id), where);
	assert_runs(session, where);
}

static const char *const *restart_words(const struct session *session)
{
	return deck_words(WORDS("session", "restart", session->id));
}

static void repeat_restart(struct session *session, const char *where)
{
	command(WORDS("session", "restart", session->id), where);
	assert_runs(session, where);
}

static const char *const *stop_words(const struct session *session)
{
	return deck_words(WORDS("session", "stop", session->id));
}

static void repeat_stop(struct session *session, const char *where)
{
	command(WORDS("session", "stop", session->id), where);
	(void)session_look(session);
	ASSERT(streq(session->status, "stopped"), "%s: status %s", where, session->status);
	assert_census(0, where);
}

static void begin(struct session *session)
{
	strace_required();
	session_add(session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
	write_decoy(session);
	/* From now on every start resumes. */
	session_restart(session, NULL);
}

static void end(struct session *session)
{
	session_stop(session, NULL);
	session_start(session, NULL);
	assert_came_back(session, session->session_id, MARKER, 1);
}

TEST(StartThatCannotWriteLosesNothing)
{
	static const struct subject start = { .name = "start",
					      .prepare = set_stopped,
					      .words = start_words,
					      .inspect = inspect_started,
					      .repeat = repeat_start,
					      .all = true };
	struct session session;
	begin(&session);
	fail_everywhere(&start, &session);
	end(&session);
}

TEST(StopThatCannotWriteLosesNothing)
{
	static const struct subject stop = { .name = "stop",
					     .prepare = set_running,
					     .words = stop_words,
					     .inspect = inspect_whole,
					     .repeat = repeat_stop };
	struct session session;
	begin(&session);
	fail_everywhere(&stop, &session);
	end(&session);
}

TEST(RestartThatCannotWriteLosesNothing)
{
	static const struct subject restart = { .name = "restart",
						.prepare = set_running,
						.words = restart_words,
						.inspect = inspect_restarted,
						.repeat = repeat_restart,
						.turn = 1 };
	struct session session;
	begin(&session);
	fail_everywhere(&restart, &session);
	end(&session);
}

/* ---- remove ------------------------------------------------------------------------------ */

static void make_another(struct session *session, const char *where UNUSED)
{
	session_make_running(session);
}

static const char *const *remove_words(const struct session *session)
{
	return deck_words(WORDS("remove", "--force", session->id));
}

/* It is whole, or gone; the next "add" clears what is left of it. */
static void inspect_removed(struct session *session, const struct answer *answer, const char *error,
			    const char *where)
{
	struct reply show = deck_look(WORDS("session", "show", session->id));
	ASSERT(show.status == (answer->status == 0 ? 2 : 0), "%s: show: %d %s%s", where,
	       show.status, show.errors, show.output);
	if (answer->status != 0)
		inspect_whole(session, answer, error, where);
}

static void repeat_remove(struct session *session, const char *where)
{
	struct session next;
	struct reply reply = deck_look(WORDS("remove", "--force", session->id));
	ASSERT(reply.status == 0 || reply.status == 2, "%s: remove: %s", where, reply.errors);
	assert_census(0, where);
	session_make_running(&next);
	assert_forgotten(session->id, where);
	assert_no_remnants(where);
	command(WORDS("remove", "--force", next.id), where);
}

TEST(RemoveThatCannotWriteLosesNothing)
{
	static const struct subject removal = { .name = "remove",
						.prepare = make_another,
						.words = remove_words,
						.inspect = inspect_removed,
						.repeat = repeat_remove,
						.turn = 2 };
	struct session session;
	strace_required();
	fail_everywhere(&removal, &session);
}

/* ---- hook -------------------------------------------------------------------------------- */

/* The conversations that the agent reports, one after the other. */
static const char *reported, *reported_before;

static void choose_report(struct session *session, const char *where UNUSED)
{
	reported_before = reported ? reported : session->session_id;
	reported = new_uuid();
}

static const char *const *hook_words(const struct session *session)
{
	return report_words(session, reported);
}

static void inspect_report(struct session *session, const struct answer *answer UNUSED,
			   const char *error, const char *where)
{
	const char *now = assert_manifest(session, reported, reported_before, where);
	const char *log = or_empty(deck_log()), *refusal = strstr(log, "report not taken: ");
	for (const char *next; refusal && (next = strstr(refusal + 1, "report not taken: "));)
		refusal = next;
	bool refused = !streq(error, "EINTR") && refusal && strstr(refusal, text_of(error));
	ASSERT(refused || streq(now, reported),
	       "%s: it was not taken, and the log does not say why", where);
	assert_no_remnants(where);
	assert_census(1, where);
}

static void repeat_report(struct session *session, const char *where)
{
	struct answer answer = machine_user(hook_words(session));
	ASSERT(answer.status == 0, "%s: hook: %s", where, answer.errors);
	(void)assert_manifest(session, reported, NULL, where);
}

TEST(HookThatCannotWriteLosesNothing)
{
	static const struct subject hook = { .name = "hook",
					     .prepare = choose_report,
					     .words = hook_words,
					     .inspect = inspect_report,
					     .repeat = repeat_report,
					     .is_silent = true,
					     .all = true };
	struct session session;
	begin(&session);
	reported = NULL;
	fail_everywhere(&hook, &session);
	reported = session.session_id;
	repeat_report(&session, "in the end");
	end(&session);
}

/* ---- recover ----------------------------------------------------------------------------- */

static void kill_it(struct session *session, const char *where)
{
	set_running(session, where);
	session_kill_server(session);
}

/* The command that recover runs for each session: that one writes. */
static const char *const *revive_words(const struct session *session)
{
	return deck_words(WORDS("revive", session->id));
}

static void repeat_recover(struct session *session, const char *where)
{
	command(WORDS("recover", "--json"), where);
	assert_runs(session, where);
}

TEST(RecoverThatCannotWriteLosesNothing)
{
	static const struct subject recovery = { .name = "recover",
						 .prepare = kill_it,
						 .words = revive_words,
						 .inspect = inspect_whole,
						 .repeat = repeat_recover,
						 .speaks_json = true };
	struct session session;
	begin(&session);
	fail_everywhere(&recovery, &session);
	end(&session);
}

/* ---- short writes ------------------------------------------------------------------------ */

static const char *const *short_words(const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("env", kept("LD_PRELOAD=%s", at_home("short-writes.so"))));
	strvec_push_array(argv, words);
	return (const char *const *)argv->items;
}

static void make_writes_short(void)
{
	const char *source = at_home("short-writes.c"), *library = at_home("short-writes.so");
	machine_bring("persistence/short-writes.c", source);
	if (machine_user(WORDS("cc", "--version")).status != 0)
		skip_test("there is no C compiler in the machine");
	(void)machine_user_ok(WORDS("cc", "-shared", "-fPIC", "-o", library, source));
}

/* The command succeeds although no file was written in one piece. */
static void write_shortly(const struct session *session,
			  const char *const *(*words)(const struct session *session))
{
	struct points points = strace_watch(short_words(words(session)));
	size_t writes = 0, files = 0;
	for (size_t i = 0; i < points.count; i++) {
		bool temporary = strstr(points.points[i].line, "/.tmp-") != NULL;
		writes += temporary && streq(points.points[i].call, "write");
		files += temporary && streq(points.points[i].call, "openat");
	}
	ASSERT(files > 0 && writes > 2 * files, "%zu writes for %zu files: none was short", writes,
	       files);
}

TEST(ShortWritesAreCompleted)
{
	struct session session;
	begin(&session);
	make_writes_short();
	write_shortly(&session, stop_words);
	write_shortly(&session, start_words);
	assert_runs(&session, "started with short writes");
	write_shortly(&session, restart_words);
	assert_runs(&session, "restarted with short writes");
	for (size_t i = 0; i < 2; i++) {
		reported = i ? session.session_id : new_uuid();
		write_shortly(&session, hook_words);
		(void)assert_manifest(&session, reported, NULL, "hook with short writes");
	}
	session_kill_server(&session);
	write_shortly(&session, revive_words);
	assert_runs(&session, "recovered with short writes");
	end(&session);
	write_shortly(&session, remove_words);
	assert_forgotten(session.id, "removed with short writes");
}

/* The kernel writes as much as the limit allows, and refuses the rest. */
static struct answer run_limited(const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"));
	strvec_push_array(argv, words);
	return machine_user((const char *const *)argv->items);
}

static void refuse_limited(struct session *session,
			   const char *const *(*words)(const struct session *session),
			   const char *where)
{
	struct answer answer = run_limited(words(session));
	ASSERT(answer.status == 1 && strstr(answer.errors, strerror(EFBIG)), "%s: %d %s%s", where,
	       answer.status, answer.errors, answer.output);
	inspect_whole(session, &answer, NULL, where);
}

TEST(WriteThatIsCutOffLeavesNoHalfFile)
{
	struct session session;
	begin(&session);
	reported = new_uuid();
	refuse_limited(&session, restart_words, "restart");
	assert_runs(&session, "refused");
	/* These end it first, and cannot save that. */
	refuse_limited(&session, stop_words, "stop");
	refuse_limited(&session, remove_words, "remove");
	assert_census(0, "ended, and not saved");
	repeat_start(&session, "started again");
	struct answer answer = run_limited(hook_words(&session));
	ASSERT(answer.status == 0 && !*answer.errors, "hook: %d %s", answer.status, answer.errors);
	inspect_whole(&session, &answer, NULL, "hook");
	session_stop(&session, NULL);
	refuse_limited(&session, start_words, "start");
	assert_census(0, "start");
	session_start(&session, NULL);
	assert_runs(&session, "without the limit");
}

/* ---- standard output --------------------------------------------------------------------- */

static void refuse_to_print(const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("sh", "-c", "exec \"$@\" >/dev/full", "sh"));
	strvec_push_array(argv, deck_words(words));
	struct answer answer = machine_user((const char *const *)argv->items);
	ASSERT(answer.status == 1 && strstr(answer.errors, "standard output: ") &&
		       strstr(answer.errors, strerror(ENOSPC)),
	       "%s: %d %s", words[0], answer.status, answer.errors);
}

/* The disk is full only for the first of several writes. */
static void refuse_to_print_a_part(struct session *session)
{
	const char *line, *const *words = deck_words(WORDS("recover", "--json"));
	session_kill_server(session);
	struct points all = strace_watch(words);
	size_t i = 0;
	while (i < all.count && !starts_with(all.points[i].line, "write(1<"))
		i++;
	ASSERT(i < all.count, "recover writes nothing");
	(void)session_look(session);
	session_kill_server(session);
	struct answer answer = strace_fail(words, &all.points[i], "ENOSPC", &line);
	ASSERT(line && answer.status == 1 && strstr(answer.errors, "standard output: "),
	       "recover: %d %s%s", answer.status, answer.errors, answer.output);
}

TEST(AnswerThatCannotBePrintedIsAFailure)
{
	struct session session;
	begin(&session);
	refuse_to_print_a_part(&session);
	assert_runs(&session, "recovered with half a word");
	refuse_to_print(WORDS("session", "stop", session.id));
	refuse_to_print(WORDS("session", "start", session.id, "--json"));
	assert_runs(&session, "started without a word");
	refuse_to_print(WORDS("session", "restart", session.id));
	assert_runs(&session, "restarted without a word");
	session_kill_server(&session);
	refuse_to_print(WORDS("recover", "--json"));
	assert_runs(&session, "recovered without a word");
	refuse_to_print(WORDS("list"));
	refuse_to_print(WORDS("remove", "--force", session.id, "--json"));
	assert_forgotten(session.id, "removed without a word");
}

/* ---- what cannot be looked at ------------------------------------------------------------ */

/* No process of the command can open the file. */
static const char *const *blind_words(const char *file, const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("strace", "-f", "-qq", "-o", strace_output(), "-P", file,
				      "-e", "trace=openat", "-e", "inject=openat:error=ENFILE"));
	strvec_push_array(argv, deck_words(words));
	return (const char *const *)argv->items;
}

TEST(WhatCannotBeLookedAtIsNotDead)
{
	struct session session;
	strace_required();
	begin(&session);
	const struct session was = session;
	const char *const files[] = { kept("/proc/%d/stat", (int)was.server_pid),
				      kept("/proc/%d/stat", (int)was.agent_pid),
				      "/proc/sys/kernel/random/boot_id" };
	const char *const *const commands[] = { WORDS("list", "--json"), WORDS("status"),
						WORDS("recover", "--json"),
						WORDS("session", "start", was.id, "--json") };
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(commands); j++) {
			struct answer answer = machine_user(blind_words(files[i], commands[j]));
			const char *traced = or_empty(machine_read(strace_output()));
			ASSERT(i == 1 || strstr(traced, "ENFILE"), "%s does not look at %s",
			       commands[j][0], files[i]);
			(void)session_look(&session);
			ASSERT(session.server_pid == was.server_pid &&
				       session.agent_pid == was.agent_pid &&
				       streq(session.status, "running"),
			       "%s without %s made it %s: %s%s", commands[j][0], files[i],
			       session.status, answer.output, answer.errors);
		}
	}
	assert_runs(&session, "looked at again");
}
