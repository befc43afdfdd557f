/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent ends, and what was made for its session is freed, kept or asked about, as the policy
 * says; nothing else is.
 */
#include "persistence/attach.h"
#include "persistence/deck.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <signal.h>
#include <string.h>

#define MARKER "this is the marker"

/* Launches and ends under each policy; AGENTDECK_TEST_ENDS says another number. */
enum { ENDS = 3 };

static void make_repository(void)
{
	machine_user_ok(WORDS("sh", "-c",
			      "mkdir -p \"$1\" && cd \"$1\" && git init -q && echo one >file && "
			      "git add file && git -c user.name=a -c user.email=a@b commit -qm one",
			      "sh", at_home("deck")));
}

static void begin(struct session *session, const char *how, const char *policy)
{
	machine_user_ok(WORDS("mkdir", "-p", at_home("deck")));
	session_add(session, NULL, "deck", WORDS("--agent", "demo", how, policy));
	struct json_object *object = deck_look_ok(WORDS("session", "path", session->id, "--json"));
	session->directory = json_get_string(object, "path", NULL);
	session_start(session, NULL);
}

static const char *text_of(const struct session *session, const char *group, const char *key)
{
	struct json_object *object = deck_look_ok(WORDS("session", "show", session->id, "--json"));
	return json_get_string(group ? json_get_object(object, group) : object, key, "");
}

static const char *stage_of(const struct session *session)
{
	return text_of(session, "on_end", "stage");
}

/* Its user quits it. */
static void quit(const struct session *session)
{
	session_press(session, "C-d");
	WAIT_FOR(streq(text_of(session, NULL, "status"), "stopped"), "it does not end: %s",
		 session_screen(session));
}

/* Its work is on its branch, and a question for the tree is answered with that. */
static void assert_said_freed(const struct session *session)
{
	static const char work[] = "1 commit on agentdeck/deck";
	const char *reason = text_of(session, NULL, "reason");
	const struct reply path = deck_look(WORDS("session", "path", session->id));
	const struct reply check = deck_look(WORDS("session", "check", session->id));
	const struct reply shown = deck_look(WORDS("session", "show", session->id));
	ASSERT(streq(reason, kept("tree freed, %s", work)), "reason: %s", reason);
	ASSERT(strstr(shown.output, kept("ended, tree freed, %s", work)), "show: %s", shown.output);
	ASSERT(path.status != 0 && strstr(path.errors, work), "path: %s%s", path.output,
	       path.errors);
	ASSERT(check.status == 0 && strstr(check.output, work), "check: %s", check.output);
	ASSERT(strstr(shown.output, "merge agentdeck/deck"), "show: %s", shown.output);
}

TEST(EndByItselfFreesTheTree)
{
	struct session session;
	make_repository();
	begin(&session, "--worktree", NULL);
	machine_user_ok(WORDS("git", "-C", session.directory, "-c", "user.name=a", "-c",
			      "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "two"));
	session_say(&session, MARKER);
	(void)session_look(&session);
	const char *id = session.session_id;
	quit(&session);
	ASSERT(streq(stage_of(&session), "due"), "stage: %s", stage_of(&session));
	(void)deck(NULL, WORDS("recover"));
	ASSERT(streq(stage_of(&session), "freed"), "stage: %s", stage_of(&session));
	ASSERT(!machine_exists(session.directory), "its tree is still there");
	assert_said_freed(&session);
	session_start(&session, NULL);
	ASSERT(machine_exists(kept("%s/file", session.directory)), "its tree did not come back");
	assert_came_back(&session, id, MARKER, 1);
}

TEST(EndByItselfKeepsIgnoredFiles)
{
	struct session session;
	make_repository();
	machine_user_ok(WORDS("sh", "-c",
			      "cd \"$1\" && echo '*.db' >.gitignore && git add .gitignore && "
			      "git -c user.name=a -c user.email=a@b commit -qm ignore",
			      "sh", at_home("deck")));
	begin(&session, "--worktree", NULL);
	const char *file = kept("%s/data.db", session.directory);
	machine_write(file, 0640, "measured for three weeks\n");
	quit(&session);
	(void)deck(NULL, WORDS("recover"));
	ASSERT(!streq(stage_of(&session), "due") && !streq(stage_of(&session), "undecided"),
	       "stage: %s", stage_of(&session));
	ASSERT(machine_exists(file), "an ignored file was deleted");
}

TEST(CleanPutsAQueueIntoTheTrash)
{
	struct session session;
	make_repository();
	begin(&session, "--clean", NULL);
	/* A draft keeps the message in the queue. */
	session_type(&session, "half a");
	(void)deck_ok(NULL, WORDS("session", "send", "--when-idle", "--json", session.id, "later"));
	session_press(&session, "C-u");
	quit(&session);
	(void)deck(NULL, WORDS("recover"));
	ASSERT(deck_look(WORDS("session", "show", session.id)).status != 0, "clean left it");
	(void)deck_ok(NULL, WORDS("undo", "--json"));
	const struct reply shown = deck_look(WORDS("session", "queue", session.id));
	ASSERT(strstr(shown.output, "later"), "the queue is gone: %s", shown.output);
}

/* By the policy, and by an answer. */
TEST(CleanPutsIgnoredFilesIntoTheTrash)
{
	struct session session;
	make_repository();
	machine_user_ok(WORDS("sh", "-c",
			      "cd \"$1\" && echo .env >.gitignore && git add .gitignore && "
			      "git -c user.name=a -c user.email=a@b commit -qm ignore",
			      "sh", at_home("deck")));
	begin(&session, "--worktree", "--clean");
	const char *file = kept("%s/.env", session.directory);
	machine_write(file, 0600, "KEY=1\n");
	quit(&session);
	(void)deck(NULL, WORDS("recover"));
	ASSERT(deck_look(WORDS("session", "show", session.id)).status != 0, "clean left it");
	ASSERT(machine_exists(file), "clean deleted an .env for good");
	(void)deck_ok(NULL, WORDS("undo", "--json"));
	ASSERT(streq(machine_read(file), "KEY=1\n"), "undo brought it back without its .env");
	session_start(&session, NULL);
	quit(&session);
	(void)deck_ok(NULL, WORDS("session", "set", session.id, "on-end", "clean", "--json"));
	(void)deck(NULL, WORDS("recover"));
	ASSERT(deck_look(WORDS("session", "show", session.id)).status != 0, "clean left it");
	ASSERT(machine_exists(file), "the answer deleted an .env for good");
	ASSERT(deck_look(WORDS("prune", "--force")).status == 0 && !machine_exists(file),
	       "prune left it");
}

TEST(EndByAKillFreesNothing)
{
	static const int signals[] = { SIGKILL, SIGTERM, SIGHUP };
	struct session session;
	make_repository();
	begin(&session, "--worktree", "--clean");
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		const struct process agent = session_agent(&session);
		machine_kill(&agent, signals[i]);
		WAIT_FOR(!streq(text_of(&session, NULL, "status"), "running"), "it still runs");
		ASSERT(streq(stage_of(&session), ""), "signal %d: stage %s", signals[i],
		       stage_of(&session));
		(void)deck(NULL, WORDS("recover"));
		ASSERT(machine_exists(kept("%s/file", session.directory)),
		       "signal %d has deleted its tree", signals[i]);
		session_start(&session, NULL);
	}
}

TEST(EndWithWorkIsUndecided)
{
	struct session session;
	make_repository();
	begin(&session, "--worktree", "--clean");
	const char *file = kept("%s/new", session.directory);
	machine_write(file, 0640, "work\n");
	quit(&session);
	(void)deck(NULL, WORDS("recover"));
	ASSERT(streq(stage_of(&session), "undecided"), "stage: %s", stage_of(&session));
	const struct reply shown = deck_look(WORDS("session", "show", session.id));
	ASSERT(strstr(shown.output, "?? new") && strstr(shown.output, "on-end keep") &&
		       strstr(shown.output, "remove --discard"),
	       "session show: %s", shown.output);
	ASSERT(machine_exists(file), "the work is gone");
	(void)deck_ok(NULL, WORDS("session", "set", session.id, "on-end", "keep", "--json"));
	ASSERT(streq(stage_of(&session), "kept") && machine_exists(file), "stage: %s",
	       stage_of(&session));
	/* It is no work any more. */
	machine_remove(file);
	const struct reply started = deck(NULL, WORDS("session", "start", session.id, "--json"));
	ASSERT(started.status == 0 && strstr(started.output, "gone: ?? new") &&
		       strstr(started.errors, "has changed since it was kept"),
	       "session start: %s%s", started.output, started.errors);
	quit(&session);
	(void)deck_ok(NULL, WORDS("session", "set", session.id, "on-end", "clean", "--json"));
	ASSERT(!machine_exists(session.directory), "clean left the tree");
	ASSERT(deck_look(WORDS("session", "show", session.id)).status != 0,
	       "clean left the session");
	const char *branches = machine_user_ok(
		WORDS("git", "-C", at_home("deck"), "branch", "--list", "agentdeck/*"));
	ASSERT(!*branches, "clean left a branch without a commit of its own: %s", branches);
}

/* A shell beside the agent, and any other program, is in the tree. */
TEST(EndUnderAShellKeepsTheTree)
{
	struct session session;
	make_repository();
	begin(&session, "--worktree", "--clean");
	const char *keys = terminal_open(kept("agentdeck session shell %s", session.id), "shell");
	attach_press(keys, "echo it is $PWD\r");
	WAIT_FOR(strstr(attach_output(keys), kept("it is %s", session.directory)), "no shell: %s",
		 attach_output(keys));
	quit(&session);
	(void)deck(NULL, WORDS("recover"));
	ASSERT(streq(stage_of(&session), "undecided"), "stage: %s", stage_of(&session));
	const struct reply refused = deck_look(WORDS("purge", "--force", session.id));
	ASSERT(refused.status != 0 && strstr(refused.errors, "works in its tree"), "purge: %s",
	       refused.errors);
	ASSERT(deck_look(WORDS("remove", "--force", session.id)).status == 0, "remove");
	const struct reply pruned = deck_look(WORDS("prune", "--force"));
	ASSERT(strstr(pruned.errors, "works in it"), "prune: %s", pruned.errors);
	ASSERT(machine_exists(kept("%s/file", session.directory)),
	       "the tree was deleted under a shell");
	attach_press(keys, "exit\r");
	WAIT_FOR(deck_look(WORDS("prune", "--force")).status == 0 &&
			 !machine_exists(session.directory),
		 "the tree stays without the shell");
}

/* What an earlier deletion has left is in use, so that no other can begin. */
TEST(EndWhoseTreeCannotBeFreedYetIsTriedAgain)
{
	struct session session;
	make_repository();
	begin(&session, "--worktree", NULL);
	const char *place = kept("%s/../.removed", session.directory);
	machine_user_ok(WORDS("mkdir", place));
	const char *keys = terminal_open(kept("sh -c 'cd %s && echo in it && exec cat'", place),
					 "cat");
	WAIT_FOR(strstr(attach_output(keys), "in it"), "no program: %s", attach_output(keys));
	quit(&session);
	const struct reply first = deck_look(WORDS("recover"));
	ASSERT(streq(stage_of(&session), "due"), "stage: %s", stage_of(&session));
	ASSERT(first.status != 0, "recover says that all is done");
	ASSERT(machine_exists(kept("%s/file", session.directory)), "the tree is gone");
	attach_press(keys, "\004");
	WAIT_FOR(deck_look(WORDS("recover")).status == 0, "it is not tried again");
	ASSERT(streq(stage_of(&session), "freed"), "stage: %s", stage_of(&session));
	ASSERT(!machine_exists(session.directory), "its tree is still there");
}

/* Type this when the terminal shows that, and nothing else yet. */
static void answer(const char *keys, const char *shown, const char *typed)
{
	WAIT_FOR(strstr(attach_output(keys), shown), "no '%s': %s", shown, attach_output(keys));
	attach_press(keys, typed);
}

TEST(UndecidedEndIsAskedAbout)
{
	static const char work[] = "Enter: Continue", end[] = "How should this session end?";
	struct session session;
	make_repository();
	begin(&session, "--worktree", NULL);
	const char *file = kept("%s/new", session.directory);
	machine_write(file, 0640, "work\n");
	quit(&session);
	(void)deck(NULL, WORDS("recover"));
	/* Ctrl-C changes nothing, at each of the questions. */
	const char *keys = terminal_open("agentdeck start deck", "first");
	answer(keys, work, "\\003");
	WAIT_FOR(strstr(attach_output(keys), "remove --discard"), "%s", attach_output(keys));
	keys = terminal_open("agentdeck start deck", "second");
	answer(keys, work, "\\r");
	answer(keys, end, "\\003");
	WAIT_FOR(strstr(attach_output(keys), "remove --discard"), "%s", attach_output(keys));
	ASSERT(streq(stage_of(&session), "undecided"), "stage: %s", stage_of(&session));
	ASSERT(streq(text_of(&session, NULL, "status"), "stopped"), "it was started");
	keys = terminal_open("agentdeck start deck", "third");
	answer(keys, work, "\\r");
	answer(keys, end, "3\\r");
	WAIT_FOR(deck_look(WORDS("session", "show", session.id)).status != 0,
		 "it is still there: %s", attach_output(keys));
	ASSERT(!machine_exists(file), "clean up left the tree");
}

/* After its first start, its user lingers: a start needs no login. */
static void start_again(struct session *session)
{
	(void)deck_look_ok(WORDS("session", "start", session->id, "--json"));
	(void)session_look(session);
}

/* Of each system call that changes something. */
enum { SAMPLES = 4 };

/* Whoever frees it is killed at each step: the next one that looks brings it to its end. */
TEST(EndCutAnywhereConverges)
{
	struct session session;
	strace_required();
	make_repository();
	begin(&session, "--worktree", NULL);
	session_say(&session, MARKER);
	(void)session_look(&session);
	const char *id = session.session_id;
	quit(&session);
	const char *const *words = WORDS("agentdeck", "revive", session.id);
	struct points all = strace_watch(words), some = strace_sample(&all, SAMPLES);
	ASSERT(streq(stage_of(&session), "freed"), "stage: %s", stage_of(&session));
	for (size_t i = 0; i < some.count; i++) {
		const char *where = kept("cut at %s %u", some.points[i].call,
					 some.points[i].ordinal);
		start_again(&session);
		ASSERT(machine_exists(kept("%s/file", session.directory)), "%s: no tree", where);
		quit(&session);
		(void)strace_kill(words, &some.points[i], where);
		(void)deck_look(WORDS("recover"));
		ASSERT(streq(stage_of(&session), "freed"), "%s: stage %s", where,
		       stage_of(&session));
		ASSERT(!machine_exists(session.directory), "%s: its tree", where);
	}
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
}

static int64_t count_of_ends(void)
{
	const char *text = getenv("AGENTDECK_TEST_ENDS");
	int64_t count = ENDS;
	ASSERT(!text || parse_int64(text, 1, 10000, &count), "AGENTDECK_TEST_ENDS=%s", text);
	return count;
}

/* How many entries this has: branches, worktrees, the trees of ours. */
static const char *count_in_state(void)
{
	return machine_user_ok(WORDS(
		"sh", "-c",
		"cd \"$1\" && git worktree list | wc -l; git stash list | wc -l; git status -s | wc -l",
		"sh", at_home("deck")));
}

static void end_often(const char *how, const char *policy, const char *stage)
{
	struct session session;
	begin(&session, how, policy);
	for (int64_t i = 0; i < count_of_ends(); i++) {
		if (i)
			start_again(&session);
		quit(&session);
		(void)deck_look(WORDS("recover"));
		if (stage && !streq(stage_of(&session), stage))
			fail_test("%s %s, end %d: stage %s", how, or_empty(policy), (int)i,
				  stage_of(&session));
		ASSERT(machine_exists(session.directory) == (stage && streq(stage, "kept")),
		       "%s: its tree", or_empty(policy));
		if (!stage) {
			ASSERT(deck_look(WORDS("session", "show", session.id)).status != 0,
			       "clean left the session");
			begin(&session, how, policy);
		}
	}
	const struct reply reply = deck_look(WORDS("remove", "--force", session.id));
	ASSERT(reply.status == 0, "remove: %s", reply.errors);
	ASSERT(deck_look(WORDS("prune", "--force")).status == 0, "prune");
}

TEST(EndsLeaveWhatThePolicySays)
{
	make_repository();
	const char *before = kept("%s", count_in_state());
	static const char *const kinds[] = { "--worktree", "--clone" };
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		end_often(kinds[i], NULL, "freed");
		end_often(kinds[i], "--keep", "kept");
		end_often(kinds[i], "--clean", NULL);
	}
	ASSERT(streq(count_in_state(), before), "the repository: %s, before: %s", count_in_state(),
	       before);
	ASSERT(streq(machine_read(kept("%s/file", at_home("deck"))), "one\n"), "its own file");
}
