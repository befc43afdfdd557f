/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session with a tree to itself comes back in it, with the work that only the tree has; and that
 * work is not deleted by accident.
 */
#include "persistence/deck.h"
#include "persistence/steps.h"

#include <string.h>

#define MARKER "this is the marker"
/* In the directory itself. */
#define PLAIN "--quick"

static const char *tree_of(const struct session *session)
{
	struct json_object *object = deck_look_ok(WORDS("session", "path", session->id, "--json"));
	const char *path = json_get_string(object, "path", NULL);
	ASSERT(path && strstr(path, "/trees/"), "session path: %s", json_print(object));
	return path;
}

static void begin(struct session *session, const char *how)
{
	machine_user_ok(WORDS("sh", "-c",
			      "mkdir -p \"$1\" && cd \"$1\" && git init -q && echo one >file && "
			      "git add file && git -c user.name=a -c user.email=a@b commit -qm one",
			      "sh", at_home("deck")));
	session_add(session, NULL, "deck", WORDS("--agent", "demo", how));
	if (!streq(how, PLAIN))
		session->directory = tree_of(session);
	session_start(session, NULL);
	session_say(session, MARKER);
	(void)session_look(session);
}

static void refuse_and_give_up(const struct session *session, const char *file)
{
	struct reply reply = deck_look(WORDS("session", "check", session->id));
	ASSERT(reply.status == 1 && strstr(reply.output, "?? new"), "check: %d %s", reply.status,
	       reply.output);
	reply = deck_look(WORDS("remove", "--force", session->id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "?? new"), "remove: %d %s", reply.status,
	       reply.errors);
	reply = deck_look(WORDS("remove", "--force", "--discard", session->id));
	ASSERT(reply.status == 0, "remove --discard: %s", reply.errors);
	ASSERT(machine_exists(file), "remove alone deleted the tree");
	reply = deck_look(WORDS("prune", "--force"));
	ASSERT(reply.status == 0, "prune: %s", reply.errors);
	ASSERT(!machine_exists(file), "prune left the tree");
}

static void live(const char *how)
{
	struct session session;
	begin(&session, how);
	const char *id = session.session_id, *tree = tree_of(&session);
	const char *file = kept("%s/new", tree);
	machine_write(file, 0640, "work\n");
	machine_reboot();
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
	ASSERT(streq(tree_of(&session), tree), "it has another tree");
	ASSERT(machine_exists(file), "the work in its tree is gone");
	refuse_and_give_up(&session, file);
}

TEST(WorktreeOfASessionOutlivesAReboot)
{
	live("--worktree");
}

TEST(CloneOfASessionOutlivesAReboot)
{
	live("--clone");
}

/* A fork works in a tree to itself, at the commit of its parent, with the conversation; and comes
 * back without its parent. */
static void fork_into(const char *first, const char *const *words)
{
	struct session one, fork = { .title = "other" };
	machine_set("AGENTDECK_DEMO_OWN_DIRECTORY", "1");
	begin(&one, first);
	const char *tree = one.directory;
	machine_user_ok(WORDS("git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@b",
			      "commit", "-q", "--allow-empty", "-m", "second"));
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("session", "fork", one.id, "-t", "other", "--json"));
	strvec_push_array(argv, words);
	struct json_object *started = deck_ok(NULL, (const char *const *)argv->items);
	fork.id = json_get_string(started, "id", "");
	fork.directory = tree_of(&fork);
	session_look(&fork);
	ASSERT(!streq(fork.directory, tree), "both work in %s", tree);
	const char *log = machine_user_ok(WORDS("git", "-C", fork.directory, "log", "--format=%s"));
	ASSERT(streq(log, "second\none\n"), "the fork has %s", log);
	WAIT_FOR(session_shows(&fork, MARKER), "the copy is empty:\n%s",
		 or_empty(session_screen(&fork)));
	const char *copy = fork.session_id;
	session_say(&fork, "only in the copy");
	ASSERT(deck(NULL, WORDS("remove", "--force", "--discard", one.id)).status == 0 &&
		       deck(NULL, WORDS("prune", "--force")).status == 0,
	       "its parent is not removed");
	session_kill_server(&fork);
	session_start(&fork, NULL);
	assert_came_back(&fork, copy, MARKER, 2);
	ASSERT(deck(NULL, WORDS("remove", "--force", "--discard", fork.id)).status == 0,
	       "the fork is not removed");
}

TEST(ForkOfAWorktreeHasItsOwn)
{
	fork_into("--worktree", WORDS(NULL));
}

TEST(ForkOfACloneHasItsOwn)
{
	fork_into("--clone", WORDS(NULL));
}

TEST(ForkOfASessionCanHaveAWorktree)
{
	fork_into(PLAIN, WORDS("--worktree", "--branch", "mine"));
}

static const char *setup_runs(const struct session *session)
{
	return or_empty(machine_read(kept("%s/runs", session->directory)));
}

/* It runs before the first start, again after a failure, and not after that. */
TEST(SetupOfATreeRunsUntilItIsDone)
{
	struct session session = { .title = "deck" };
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      "[workspace]\ncopy = [\".env\"]\n"
		      "setup = [\"sh\", \"-c\", \"echo x >>runs; test -e ready\"]\n");
	machine_user_ok(
		WORDS("sh", "-c",
		      "mkdir \"$1\" && cd \"$1\" && git init -q && echo key >.env && "
		      "printf 'runs\\n.env\\nready\\n' >.gitignore && git add .gitignore && "
		      "git -c user.name=a -c user.email=a@b commit -qm one",
		      "sh", at_home("deck")));
	struct reply reply = deck(NULL, WORDS("launch", at_home("deck"), "--agent", "demo",
					      "--worktree"));
	ASSERT(reply.status == 1 && strstr(reply.errors, "--no-setup"), "launch: %d %s",
	       reply.status, reply.errors);
	session.id = "deck";
	session.directory = tree_of(&session);
	session.id = json_get_string(session_look(&session), "id", "");
	ASSERT(streq(session.status, "stopped"), "it is %s", session.status);
	ASSERT(streq(machine_read(kept("%s/.env", session.directory)), "key\n"), ".env is missing");
	ASSERT(streq(setup_runs(&session), "x\n"), "it ran: %s", setup_runs(&session));
	machine_write(kept("%s/ready", session.directory), 0600, "");
	session_start(&session, NULL);
	ASSERT(streq(setup_runs(&session), "x\nx\n"), "it ran: %s", setup_runs(&session));
	session_restart(&session, NULL);
	ASSERT(streq(setup_runs(&session), "x\nx\n"), "it ran again: %s", setup_runs(&session));
}

/* The shutdown ends it, and has not failed. */
TEST(RebootDuringASetupIsNoFailure)
{
	struct session session = { .title = "deck", .id = "deck" };
	machine_write(
		at_home(".config/agentdeck/config.toml"), 0600,
		"[workspace]\n"
		"setup = [\"sh\", \"-c\", \"echo x >>runs; test -e ready || exec sleep 3600\"]\n");
	machine_user_ok(WORDS("sh", "-c",
			      "mkdir \"$1\" && cd \"$1\" && git init -q && "
			      "printf 'runs\nready\n' >.gitignore && git add .gitignore && "
			      "git -c user.name=a -c user.email=a@b commit -qm one",
			      "sh", at_home("deck")));
	struct login *login = login_open();
	struct answer begun = login_run(
		login,
		WORDS("sh", "-c", "agentdeck launch \"$1\" --agent demo --worktree >\"$2\" 2>&1 &",
		      "sh", at_home("deck"), at_home("launched")));
	ASSERT(begun.status == 0, "launch: %s", begun.errors);
	WAIT_FOR(deck_look(WORDS("session", "path", "deck", "--json")).status == 0,
		 "there is no tree: %s", or_empty(machine_read(at_home("launched"))));
	session.directory = tree_of(&session);
	WAIT_FOR(streq(setup_runs(&session), "x\n"), "no setup: %s",
		 or_empty(machine_read(at_home("launched"))));
	machine_reboot();
	session.id = json_get_string(session_look(&session), "id", "");
	ASSERT(!streq(session.status, "error"), "it is %s", session.status);
	struct reply shown = deck(NULL, WORDS("session", "show", session.id));
	ASSERT(strstr(shown.output, "runs before its first start"), "the setup: %s", shown.output);
	machine_write(kept("%s/ready", session.directory), 0600, "");
	session_start(&session, NULL);
	ASSERT(streq(setup_runs(&session), "x\nx\n"), "it ran: %s", setup_runs(&session));
	session_say(&session, MARKER);
}

/* Both would change the same files.  One that does not run changes nothing. */
TEST(SecondSessionOfADirectoryIsOfferedAWorktree)
{
	struct session one;
	session_add(&one, NULL, "deck", NULL);
	/* Elsewhere there is no worktree to offer. */
	machine_user_ok(WORDS("git", "init", "-q", one.directory));
	struct reply reply = deck_look(WORDS("add", one.directory, "--agent", "demo"));
	ASSERT(reply.status == 0 && !strstr(reply.errors, "--worktree"), "add: %s", reply.errors);
	session_start(&one, NULL);
	reply = deck_look(WORDS("add", one.directory, "--agent", "demo"));
	ASSERT(reply.status == 0 &&
		       strstr(reply.errors, kept("launch --worktree %s", one.directory)),
	       "add beside a live one: %d %s", reply.status, reply.errors);
}
