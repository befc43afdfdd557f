/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session in a container with a tree to itself: git works inside at every tier, and what an agent
 * writes there does not run outside.
 */
#include "persistence/containers.h"
#include "persistence/deck.h"
#include "persistence/steps.h"

#include <string.h>

#define GIT "/usr/bin/git"

static void add(struct session *session, enum engine engine, const char *how)
{
	engine_prepare_libraries(engine, LIBRARIES_IMAGE("git"), GIT);
	machine_user_ok(WORDS("sh", "-c",
			      "mkdir -p \"$1/src\" && cd \"$1\" && git init -q && "
			      "echo one >src/file && git add src && "
			      "git -c user.name=a -c user.email=a@b commit -qm one",
			      "sh", at_home("deck")));
	session_add(session, NULL, "deck",
		    WORDS("--agent", "demo", how, "--container", "--image", LIBRARIES_IMAGE("git"),
			  "--engine", engine_address(engine), "--mount", GIT ":" GIT ":ro"));
	struct json_object *object = deck_look_ok(WORDS("session", "path", session->id, "--json"));
	session->directory = json_get_string(object, "path", "");
	ASSERT(strstr(session->directory, "/trees/"), "session path: %s", session->directory);
}

static void begin(struct session *session, enum engine engine, const char *how)
{
	add(session, engine, how);
	session_start(session, NULL);
}

/* In the container, in the tree. */
static struct reply inside(const struct session *session, const char *script)
{
	return deck_look(WORDS("session", "exec", session->id, "--", "/bin/sh", "-c",
			       kept("cd '%s' && %s", session->directory, script)));
}

static const char *inside_ok(const struct session *session, const char *script)
{
	struct reply reply = inside(session, script);
	ASSERT(reply.status == 0, "%s: %d %s%s", script, reply.status, reply.output, reply.errors);
	return reply.output;
}

static const char *out_there(const char *directory, const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("git", "-C", directory));
	strvec_push_array(argv, words);
	return machine_user_ok((const char *const *)argv->items);
}

static void commit(const struct session *session, const char *subject)
{
	(void)inside_ok(session,
			kept("echo '%s' >>src/file && " GIT " add src && " GIT " commit -qm '%s'",
			     subject, subject));
	ASSERT(streq(inside_ok(session, GIT " status --porcelain"), ""), "git status is not clean");
	const char *log = out_there(session->directory, WORDS("log", "-1", "--format=%s"));
	ASSERT(strstr(log, subject), "outside the tree is at %s", log);
}

/* The agent's home is its own, and the configuration of a worktree's repository is the user's. */
static void is_configured(const struct session *session, bool has_own_repository)
{
	(void)inside_ok(session, GIT " config --global user.name a && " GIT
				     " config --global user.email a@b");
	struct reply reply = inside(session, GIT " config core.fsmonitor /bin/false");
	ASSERT((reply.status == 0) == has_own_repository, "git config: %d %s", reply.status,
	       reply.errors);
	if (has_own_repository)
		(void)inside_ok(session, GIT " config --unset core.fsmonitor");
}

static void lose_container(struct session *session, enum engine engine)
{
	const char *id = engine_say(engine,
				    WORDS("ps", "--quiet", "--filter",
					  kept("label=io.agentdeck.instance=%s", session->id)));
	(void)engine_say(engine, WORDS("rm", "--force", id));
	WAIT_FOR((session_look(session), !streq(session->status, "running")), "it seems to run");
	session_start(session, NULL);
}

/* In two commands, while it runs. */
static void is_brought_home(const struct session *session, const char *source)
{
	const struct json_object *changes = json_get_object(
		deck_look_ok(WORDS("session", "changes", session->id, "--json")), "changes");
	struct json_object *merge = deck_look_ok(WORDS("session", "merge", session->id, "--json"));
	ASSERT(json_object_array_length(json_get_array(changes, "commits")) == 2,
	       "its changes are not two commits");
	ASSERT(streq(json_get_string(merge, "result", ""), "fast-forward"), "the merge is %s",
	       json_get_string(merge, "result", ""));
	const char *file = machine_user_ok(WORDS("cat", kept("%s/src/file", source)));
	ASSERT(streq(file, "one\nfirst inside\nsecond inside\n"), "the file has %s", file);
	ASSERT(streq(out_there(source, WORDS("status", "--porcelain")), ""), "it is not clean");
}

static void keeps_its_worktree(enum engine engine)
{
	struct session session;
	const char *source = at_home("deck");
	begin(&session, engine, "--worktree");
	is_configured(&session, false);
	commit(&session, "first inside");
	lose_container(&session, engine);
	commit(&session, "second inside");
	const char *log = out_there(source, WORDS("log", "--format=%s", "agentdeck/deck"));
	ASSERT(streq(log, "second inside\nfirst inside\none\n"), "its branch has %s", log);
	static const char *const names[] = { "config",
					     "hooks/post-checkout",
					     "commondir",
					     "config.worktree",
					     "worktrees/other/commondir",
					     "worktrees/deck/commondir",
					     "worktrees/deck/gitdir",
					     "objects/info/alternates" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct reply reply = inside(&session,
					    kept("mkdir -p '%s/.git/worktrees/other'; "
						 "rm -f '%s/.git/%s'; "
						 "echo x >>'%s/.git/%s'",
						 source, source, names[i], source, names[i]));
		ASSERT(reply.status != 0, "the agent can write %s", names[i]);
	}
	is_brought_home(&session, source);
}

TEST(ContainerHasItsWorktreeDocker)
{
	keeps_its_worktree(ENGINE_DOCKER);
}

TEST(ContainerHasItsWorktreePodman)
{
	keeps_its_worktree(ENGINE_PODMAN);
}

/* ---- Git LFS and a submodule --------------------------------------------------------------- */

#define LFS "/usr/bin/git-lfs"

/* A repository with a large file and a submodule, both set up. */
static const char source_script[] =
	"set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
	"GIT_COMMITTER_EMAIL=a@b; mkdir -p \"$1/lib\" \"$1/deck\"; cd \"$1/lib\"; git init -q; "
	"echo one >l; git add l; git commit -qm lib; cd \"$1/deck\"; git init -q; "
	"git lfs install --local --skip-repo >/dev/null; "
	"echo '*.bin filter=lfs diff=lfs merge=lfs -text' >.gitattributes; seq 99 >old.bin; "
	"git -c protocol.file.allow=always submodule --quiet add \"$1/lib\" lib; git add .; git commit -qm one";

static void add_with_large_files(struct session *session, enum engine engine)
{
	engine_prepare_libraries(engine, LIBRARIES_IMAGE("git"), GIT);
	(void)machine_user_ok(WORDS("sh", "-c", source_script, "sh", at_home(".")));
	session_add(session, NULL, "deck",
		    WORDS("--agent", "demo", "--worktree", "--container", "--image",
			  LIBRARIES_IMAGE("git"), "--engine", engine_address(engine), "--mount",
			  GIT ":" GIT ":ro", "--mount", LFS ":" LFS ":ro"));
	session_start(session, NULL);
	struct json_object *object = deck_look_ok(WORDS("session", "path", session->id, "--json"));
	session->directory = json_get_string(object, "path", "");
	/* As agentdeck says. */
	(void)out_there(session->directory, WORDS("-c", "protocol.file.allow=always", "submodule",
						  "--quiet", "update", "--init"));
}

/* Its agent commits both, and two commands bring them home. */
static void brings_home_large_files(enum engine engine)
{
	struct session session;
	const char *source = at_home("deck");
	if (!machine_exists(LFS))
		skip_test("git-lfs is not installed");
	add_with_large_files(&session, engine);
	(void)inside_ok(
		&session,
		"g=" GIT "; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
		"GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && (cd lib && echo two >l && "
		"$g commit -qam lib) && echo large >new.bin && $g add . && $g commit -qm two");
	const struct json_object *changes = json_get_object(
		deck_look_ok(WORDS("session", "changes", session.id, "--json")), "changes");
	ASSERT(json_object_array_length(json_get_array(changes, "files")) == 2,
	       "its changes are not two files");
	struct json_object *merge = deck_look_ok(WORDS("session", "merge", session.id, "--json"));
	ASSERT(streq(json_get_string(merge, "result", ""), "fast-forward"), "the merge is %s",
	       json_get_string(merge, "result", ""));
	(void)out_there(source, WORDS("submodule", "--quiet", "update"));
	ASSERT(streq(or_empty(machine_read(kept("%s/new.bin", source))), "large\n"),
	       "new.bin has %s", or_empty(machine_read(kept("%s/new.bin", source))));
	ASSERT(streq(or_empty(machine_read(kept("%s/lib/l", source))), "two\n"), "lib/l has %s",
	       or_empty(machine_read(kept("%s/lib/l", source))));
	ASSERT(strstr(out_there(source, WORDS("show", "HEAD:new.bin")), "\noid sha256:"),
	       "its commit has the content");
	ASSERT(streq(out_there(source, WORDS("status", "--porcelain")), ""), "it is not clean");
}

TEST(ContainerHasLargeFilesAndASubmoduleDocker)
{
	brings_home_large_files(ENGINE_DOCKER);
}

TEST(ContainerHasLargeFilesAndASubmodulePodman)
{
	brings_home_large_files(ENGINE_PODMAN);
}

/* What its agent has made of git's record of it: git outside would wait for ever, or give up. */
static void goes_with_a_damaged_record(enum engine engine)
{
	struct session session;
	const char *source = at_home("deck");
	const char *record = kept("%s/.git/worktrees/deck", source);
	begin(&session, engine, "--worktree");
	(void)inside_ok(&session, kept("cd '%s' && rm HEAD index && mkfifo HEAD index locked-2 && "
				       "rm -f locked && mkfifo locked",
				       record));
	struct reply reply = deck(NULL, WORDS("purge", "--force", "--discard", session.id));
	ASSERT(reply.status == 0, "purge: %d %s", reply.status, reply.errors);
	ASSERT(!machine_exists(record), "git's record is left");
	ASSERT(strstr(out_there(source, WORDS("branch")), "agentdeck/deck"), "no branch");
}

TEST(ContainerGoesWithADamagedRecordDocker)
{
	goes_with_a_damaged_record(ENGINE_DOCKER);
}

static void keeps_its_clone(enum engine engine)
{
	struct session session;
	const char *source = at_home("deck");
	begin(&session, engine, "--clone");
	is_configured(&session, true);
	commit(&session, "first inside");
	lose_container(&session, engine);
	commit(&session, "second inside");
	ASSERT(inside(&session, kept("test -e '%s'", source)).status != 0, "the container has %s",
	       source);
	const char *log = out_there(source, WORDS("log", "--format=%s", "--all"));
	ASSERT(streq(log, "one\n"), "the source has %s", log);
	struct reply reply = deck_look(WORDS("remove", "--force", "--discard", session.id));
	ASSERT(reply.status == 0, "remove --discard: %s", reply.errors);
}

TEST(ContainerHasItsCloneDocker)
{
	keeps_its_clone(ENGINE_DOCKER);
}

TEST(ContainerHasItsClonePodman)
{
	keeps_its_clone(ENGINE_PODMAN);
}

static const char *setup_runs(const struct session *session)
{
	return or_empty(machine_read(kept("%s/runs", session->directory)));
}

/* Before its agent, again after a failure, and not after that. */
static void is_set_up_inside(enum engine engine)
{
	struct session session;
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      kept("[workspace]\nsetup = [\"/bin/sh\", \"-c\", \"echo x >>runs; "
			   "echo some words; test ! -e %s && test -e ready\"]\n",
			   at_home("deck")));
	add(&session, engine, "--clone");
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "some words") &&
		       strstr(reply.errors, "--no-setup"),
	       "start: %d %s", reply.status, reply.errors);
	ASSERT(streq(setup_runs(&session), "x\n"), "it ran: %s", setup_runs(&session));
	const char *log = machine_read(kept("%s/../setup.log", session.directory));
	ASSERT(strstr(or_empty(log), "some words"), "setup.log: %s", or_empty(log));
	machine_write(kept("%s/ready", session.directory), 0644, "");
	session_start(&session, NULL);
	ASSERT(streq(setup_runs(&session), "x\nx\n"), "it ran: %s", setup_runs(&session));
	session_restart(&session, NULL);
	ASSERT(streq(setup_runs(&session), "x\nx\n"), "it ran again: %s", setup_runs(&session));
	reply = deck_look(WORDS("remove", "--force", "--discard", session.id));
	ASSERT(reply.status == 0, "remove --discard: %s", reply.errors);
}

TEST(ContainerSetupRunsInsideDocker)
{
	is_set_up_inside(ENGINE_DOCKER);
}

TEST(ContainerSetupRunsInsidePodman)
{
	is_set_up_inside(ENGINE_PODMAN);
}
