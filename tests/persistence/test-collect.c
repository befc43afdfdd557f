/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a session on this host has goes with it: by purge and prune, wherever they are killed, and
 * by doctor --fix when its manifest is gone.  Work that exists nowhere else stays.
 */
#include "persistence/deck.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include <string.h>

static void make_repository(void)
{
	machine_user_ok(WORDS("sh", "-c",
			      "mkdir -p \"$1\" && cd \"$1\" && git init -q && echo one >file && "
			      "git add file && git -c user.name=a -c user.email=a@b commit -qm one",
			      "sh", at_home("deck")));
}

static struct reply must(const char *const *words, const char *where)
{
	struct reply reply = deck_look(words);
	ASSERT(reply.status == 0, "%s: %s: %d %s%s", where, words[0], reply.status, reply.errors,
	       reply.output);
	return reply;
}

/* With a worktree that its agent has worked in. */
static void begin(struct session *session, const char *title, const char *where)
{
	*session = (struct session){ .title = title };
	struct reply reply = must(WORDS("add", at_home("deck"), "--agent", "demo", "--worktree",
					"-t", title, "--json"),
				  where);
	session->id = json_get_string(reply.json, "id", NULL);
	ASSERT(session->id, "%s: add: %s", where, reply.output);
	must(WORDS("session", "start", session->id), where);
	reply = must(WORDS("session", "path", session->id, "--json"), where);
	session->directory = json_get_string(reply.json, "path", NULL);
	ASSERT(machine_exists(kept("%s/file", session->directory)), "%s: no tree", where);
}

static const char *write_work(const struct session *session)
{
	const char *file = kept("%s/new", session->directory);
	machine_write(file, 0640, "work\n");
	return file;
}

/* Also in the repository: its branch stays. */
static void assert_tree_gone(const struct session *session, const char *where)
{
	const char *left = machine_user_ok(WORDS("find", at_home(".local/state/agentdeck/default"),
						 "-name", kept("*%s*", session->id)));
	ASSERT(!*left, "%s: left: %s", where, left);
	const char *trees = machine_user_ok(
		WORDS("git", "-C", at_home("deck"), "worktree", "list"));
	ASSERT(!strstr(trees, session->id), "%s: git has %s", where, trees);
	const char *branches = machine_user_ok(WORDS("git", "-C", at_home("deck"), "branch",
						     "--list",
						     kept("agentdeck/%s", session->title)));
	ASSERT(*branches, "%s: its branch is gone", where);
}

static void assert_gone(const struct session *session, const char *where)
{
	assert_forgotten(session->id, where);
	assert_tree_gone(session, where);
}

/* ---- purge ------------------------------------------------------------------------------- */

TEST(PurgeDeletesAllButWork)
{
	struct session session;
	make_repository();
	begin(&session, "one", "at first");
	const char *file = write_work(&session);
	must(WORDS("session", "stop", session.id), "at first");
	struct reply reply = deck_look(WORDS("purge", "--force", session.id));
	ASSERT(reply.status != 0 && strstr(reply.errors, "?? new") &&
		       strstr(reply.errors, "--discard"),
	       "purge: %d %s%s", reply.status, reply.errors, reply.output);
	ASSERT(streq(or_empty(machine_read(file)), "work\n"), "the work is gone");
	must(WORDS("session", "start", session.id), "after a refusal");
	must(WORDS("purge", "--force", "--discard", session.id), "in the end");
	assert_gone(&session, "after purge");
	reply = deck_look(WORDS("undo", session.id));
	ASSERT(reply.status == 2, "undo: %d %s%s", reply.status, reply.errors, reply.output);
}

/* ---- prune, killed ----------------------------------------------------------------------- */

/* What moves or removes something. */
static struct points steps_of(const struct points *all)
{
	struct points some = { 0 };
	for (size_t i = 0; i < all->count; i++)
		if (starts_with(all->points[i].call, "rename") ||
		    starts_with(all->points[i].call, "unlink") ||
		    starts_with(all->points[i].call, "rmdir"))
			some.points[some.count++] = all->points[i];
	return some;
}

static void begin_removed(struct session *session, const char *title, const char *where)
{
	begin(session, title, where);
	must(WORDS("remove", "--force", session->id), where);
	ASSERT(machine_exists(kept("%s/file", session->directory)), "%s: remove took the tree",
	       where);
}

/* Whoever takes it back instead has it whole. */
static void take_back(const struct session *session, const char *where)
{
	if (deck_look(WORDS("undo", session->id)).status != 0)
		return;
	struct reply reply = must(WORDS("session", "start", session->id), where);
	ASSERT(machine_exists(kept("%s/file", session->directory)), "%s: no tree", where);
	ASSERT(!strstr(reply.errors, "is lost"), "%s: nothing is lost: %s", where, reply.errors);
	must(WORDS("remove", "--force", session->id), where);
}

TEST(PruneCutAnywhereConverges)
{
	enum { LEAST = 6 };
	struct session session;
	size_t cuts = 0;
	strace_required();
	make_repository();
	begin_removed(&session, "first", "at first");
	const char *const *words = deck_words(WORDS("prune", "--force"));
	struct points all = strace_watch(words), some = steps_of(&all);
	assert_gone(&session, "at first");
	for (size_t i = 0; i < some.count; i++) {
		const char *where = kept("prune cut at %s", some.points[i].line);
		begin_removed(&session, kept("cut-%zu", i), where);
		cuts += strace_kill(words, &some.points[i], where);
		if (i % 2)
			take_back(&session, where);
		must(WORDS("prune", "--force"), where);
		assert_gone(&session, where);
		assert_no_remnants(where);
	}
	print_message("prune: %zu cuts at %zu steps\n", cuts, some.count);
	ASSERT(cuts >= LEAST && cuts * 4 >= some.count * 3, "only %zu cuts took place", cuts);
}

/* ---- prune, by age ----------------------------------------------------------------------- */

/* As if it had been removed long ago. */
static void age(const struct session *session)
{
	machine_user_ok(WORDS("sh", "-c",
			      "for it in \"$1\"/*\"$2\"*; do "
			      "mv \"$it\" \"$1/2026-01-01T00:00:00.000Z-${it#*Z-}\"; done",
			      "sh", at_home(".local/state/agentdeck/default/.trash"), session->id));
}

static void assert_kept(const struct session *session, const char *where)
{
	must(WORDS("undo", session->id), where);
	must(WORDS("session", "start", session->id), where);
	ASSERT(machine_exists(kept("%s/file", session->directory)), "%s: no tree", where);
	must(WORDS("remove", "--force", session->id), where);
}

TEST(PruneTakesOnlyWhatIsOldEnough)
{
	struct session old, older, young;
	make_repository();
	begin_removed(&old, "old", "at first");
	begin_removed(&older, "older", "at first");
	begin_removed(&young, "young", "at first");
	age(&old);
	must(WORDS("prune", "--force", "--older", "30"), "by --older");
	assert_gone(&old, "by --older");
	assert_kept(&older, "by --older");
	age(&older);
	must(WORDS("config", "set", "trash.keep", "30"), "by config.toml");
	must(WORDS("prune", "--force"), "by config.toml");
	assert_gone(&older, "by config.toml");
	assert_kept(&young, "by config.toml");
	must(WORDS("prune", "--force", "--older", "0"), "in the end");
	assert_gone(&young, "in the end");
}

/* ---- doctor --fix ------------------------------------------------------------------------ */

static void delete_manifest(const struct session *session)
{
	machine_user_ok(WORDS("sh", "-c", "rm -r \"$1\"/*\"$2\"*", "sh",
			      at_home(".local/state/agentdeck/default"), session->id));
}

/* What the report says of this session's tree: "free", "keep"; "": nothing. */
static const char *action_of(const struct reply *reply, const struct session *session)
{
	struct json_object *found = json_get_array(reply->json, "found");
	ASSERT(found, "doctor: %d %s%s", reply->status, reply->errors, reply->output);
	for (size_t i = 0; i < json_object_array_length(found); i++) {
		struct json_object *stray = json_object_array_get_idx(found, i);
		if (streq(json_get_string(stray, "id", ""), session->id) &&
		    streq(json_get_string(stray, "kind", ""), "tree"))
			return json_get_string(stray, "action", "");
	}
	return "";
}

TEST(DoctorFreesTreesWithoutASession)
{
	struct session safe, unsafe, busy, listed;
	make_repository();
	begin(&safe, "safe", "at first");
	begin(&unsafe, "unsafe", "at first");
	begin(&busy, "busy", "at first");
	begin(&listed, "listed", "at first");
	const char *file = write_work(&unsafe);
	must(WORDS("session", "stop", safe.id, unsafe.id, listed.id), "at first");
	(void)session_look(&busy);
	const struct process server = session_server(&busy), agent = session_agent(&busy);
	delete_manifest(&safe);
	delete_manifest(&unsafe);
	delete_manifest(&busy);
	for (unsigned i = 0; i < 2; i++) {
		struct reply reply = must(
			WORDS("doctor", "--fix", i ? "--force" : "--dry-run", "--json"), "doctor");
		ASSERT(streq(action_of(&reply, &safe), "free") &&
			       streq(action_of(&reply, &unsafe), "keep") &&
			       streq(action_of(&reply, &busy), "keep") &&
			       streq(action_of(&reply, &listed), ""),
		       "doctor: %s", reply.output);
		ASSERT(i || machine_exists(safe.directory), "--dry-run frees");
	}
	assert_tree_gone(&safe, "after doctor --fix");
	ASSERT(streq(or_empty(machine_read(file)), "work\n"), "the work is gone");
	ASSERT(machine_alive(&agent) && machine_exists(kept("%s/file", busy.directory)),
	       "what runs has lost its tree");
	ASSERT(machine_exists(kept("%s/file", listed.directory)), "a session has lost its tree");
	machine_destroy(&server);
	machine_sweep(&agent);
	WAIT_FOR(!machine_alive(&agent), "its agent lives");
	must(WORDS("doctor", "--fix", "--force", "--json"), "when nothing runs");
	assert_tree_gone(&busy, "when nothing runs");
}
