/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conversations that go to another account in a file, and a deck that comes back from its backup:
 * each is continued by one session, whenever a command was killed.
 */
#include "persistence/census.h"
#include "persistence/steps.h"
#include "persistence/strace.h"

#include "base/fsutil.h"

#include <string.h>

#define MARKER  "the cat is on the roof"
#define ROLLOUT ".codex/sessions/2026/11/25/rollout-2026-11-25T19-55-04-%s.jsonl"

enum { SAMPLES = 4, LEAST_CUTS = 8 };

/* As codex: resumes a conversation by its id, and writes down what it is told. */
static const char stand_in[] =
	"#!/bin/sh\n"
	"id=\n"
	"while [ $# -gt 0 ]; do [ \"$1\" = resume ] && id=$2; shift; done\n"
	"file=$(find \"$HOME/.codex/sessions\" -name \"rollout-*-$id.jsonl\" 2>/dev/null)\n"
	"[ \"$id\" ] && [ \"$file\" ] || { echo \"No saved session found with ID $id\"; exit 1; }\n"
	"sed -n 's/.*\"said\":\"\\(.*\\)\".*/it was said: \\1/p' \"$file\"\n"
	"printf '› '\n"
	"while read -r line; do\n"
	"	printf '{\"type\":\"event\",\"said\":\"%s\"}\\n' \"$line\" >>\"$file\"\n"
	"	printf 'noted: %s\\n› ' \"$line\"\n"
	"done\n";

/* It never reports, so that each start would wait for the default, 10 s. */
static const char settings[] = "[resume]\nprobation = 1\n";

/* ---- this account ------------------------------------------------------------------------- */

/* One session of the demo agent, and one with the files of codex; both have said something. */
static struct {
	struct session demo, codex;
} here;

static const char *rollout(void)
{
	return at_home(kept(ROLLOUT, here.codex.session_id));
}

static const char *transcript(void)
{
	char *slug = keep(xstrdup(here.demo.directory));
	for (char *c = slug; (c = strpbrk(c, "/._"));)
		*c = '-';
	return at_home(kept(".local/share/agentdeck-demo-agent/projects/%s/%s.jsonl", slug,
			    here.demo.session_id));
}

static void begin_here(void)
{
	const char *id = new_uuid();
	machine_write(at_home(".config/agentdeck/config.toml"), 0600, settings);
	session_add(&here.demo, NULL, "demo", NULL);
	session_start(&here.demo, NULL);
	session_say(&here.demo, MARKER);
	session_stop(&here.demo, NULL);
	machine_write(at_home("bin/codex"), 0755, stand_in);
	machine_write(at_home(kept(ROLLOUT, id)), 0600,
		      kept("{\"type\":\"session_meta\",\"payload\":{\"id\":\"%s\"}}\n"
			   "{\"type\":\"event\",\"said\":\"" MARKER "\"}\n",
			   id));
	machine_write(at_home(".codex/auth.json"), 0600, "{\"token\":\"canary-5f1d90\"}\n");
	session_add(&here.codex, NULL, "codex", WORDS("--agent", "codex", "--session-id", id));
}

static struct json_object *backup(const char *path)
{
	struct json_object *done = deck_ok(NULL, WORDS("backup", path, "--json"));
	ASSERT(!strstr(or_empty(machine_read(path)), "canary-5f1d90"), "it has a login");
	return done;
}

/* ---- the other account -------------------------------------------------------------------- */

/* Another user of the machine, with a home for this test. */
static const char *far_home;

struct far {
	const char *title, *session_id, *socket, *status;
};

static const char *at_far(const char *path)
{
	return kept("%s/%s", far_home, path);
}

static struct answer far_run(const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push(argv, "env");
	strvec_pushf(argv, "HOME=%s", far_home);
	strvec_pushf(argv, "PATH=%s/bin:%s/bin:/usr/local/bin:/usr/bin:/bin", far_home,
		     machine_prefix());
	strvec_push_array(argv, words);
	return machine_other_login((const char *const *)argv->items);
}

static struct reply far_deck(const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push(argv, "agentdeck");
	strvec_push_array(argv, words);
	struct answer answer = far_run((const char *const *)argv->items);
	struct reply reply = { answer.status, answer.output, answer.errors, NULL };
	if (json_parse(reply.output, strlen(reply.output), "it", &reply.json, NULL) == 0)
		keep_json(reply.json);
	return reply;
}

static struct json_object *far_ok(const char *const *words)
{
	struct reply reply = far_deck(words);
	ASSERT(reply.status == 0 && reply.json, "over there, %s: %d: %s%s", words[0], reply.status,
	       reply.errors, reply.output);
	return reply.json;
}

/* A start there lets that user linger, who did not before. */
static void end_there(void)
{
	(void)far_deck(WORDS("stop", "--all"));
	(void)machine_root(WORDS("loginctl", "disable-linger", "other"));
	(void)machine_root(WORDS("rm", "-rf", far_home));
}

static void begin_there(void)
{
	far_home = kept("/home/other/%s", path_basename(home()));
	machine_root_ok(WORDS("install", "-d", "-o", "other", "-g", "other", "-m", "700", far_home,
			      at_far("bin"), at_far("demo"), at_far("codex")));
	at_end(end_there);
	machine_root_ok(WORDS("install", "-o", "other", "-m", "755", at_home("bin/codex"),
			      at_far("bin/codex")));
	machine_root_ok(WORDS("install", "-D", "-o", "other", "-m", "644",
			      at_home(".config/agentdeck/config.toml"),
			      at_far(".config/agentdeck/config.toml")));
}

/* The file comes to the other account; returns its name there. */
static const char *carry(const char *path)
{
	const char *there = at_far(path_basename(path));
	machine_root_ok(WORDS("install", "-o", "other", "-g", "other", "-m", "600", path, there));
	return there;
}

static struct far far_look(const char *title)
{
	struct json_object *shown = far_ok(WORDS("session", "show", title, "--json"));
	const struct json_object *tmux = json_get_object(shown, "tmux");
	return (struct far){
		.title = title,
		.session_id = json_get_string(shown, "session_id", ""),
		.status = json_get_string(shown, "status", ""),
		.socket = tmux ? json_get_string(tmux, "socket", "") : "",
	};
}

static bool far_shows(const struct far *far, const char *text)
{
	struct answer answer = far_run(
		WORDS("tmux", "-S", far->socket, "capture-pane", "-p", "-S", "-"));
	return answer.status == 0 && strstr(answer.output, text);
}

/* Its session runs over there, has this conversation, and goes on with it. */
static void assert_goes_on_there(const struct session *session, const char *history,
				 const char *answer)
{
	(void)far_ok(WORDS("session", "start", session->title, "--json"));
	struct far far = far_look(session->title);
	ASSERT(streq(far.status, "running"), "%s is %s over there", far.title, far.status);
	ASSERT(streq(far.session_id, session->session_id), "%s has conversation %s over there",
	       far.title, far.session_id);
	WAIT_FOR(far_shows(&far, history), "%s does not show '%s' over there", far.title, history);
	(void)far_run(WORDS("tmux", "-S", far.socket, "send-keys", "-l", "said elsewhere"));
	(void)far_run(WORDS("tmux", "-S", far.socket, "send-keys", "Enter"));
	WAIT_FOR(far_shows(&far, answer), "%s does not answer '%s' over there", far.title, answer);
}

#define DEMO_GOES_ON  "> " MARKER, "I remember 2 of your messages; the first was \"" MARKER "\"."
#define CODEX_GOES_ON "it was said: " MARKER, "noted: said elsewhere"

/* ---- to another account ------------------------------------------------------------------- */

TEST(BackupGoesOnInAnotherAccount)
{
	begin_here();
	begin_there();
	const char *before = machine_read(rollout()), *file = at_home("deck.tar");
	struct json_object *sessions = json_get_array(backup(file), "sessions");
	for (size_t i = 0; i < json_object_array_length(sessions); i++)
		ASSERT(json_get_bool(json_object_array_get_idx(sessions, i), "has_conversation",
				     false),
		       "a conversation is left out: %s", json_print(sessions));
	const char *map = kept("%s=%s", home(), far_home);
	(void)far_ok(WORDS("restore", carry(file), "--map", map, "--apply", "--json"));
	assert_goes_on_there(&here.demo, DEMO_GOES_ON);
	assert_goes_on_there(&here.codex, CODEX_GOES_ON);

	/* Here nothing has changed. */
	ASSERT(streq(or_empty(machine_read(rollout())), before), "codex wrote here");
	const char *session_id = here.demo.session_id;
	session_start(&here.demo, NULL);
	assert_came_back(&here.demo, session_id, MARKER, 1);
	session_start(&here.codex, NULL);
	WAIT_FOR(session_shows(&here.codex, "it was said: " MARKER), "codex has no history:\n%s",
		 or_empty(session_screen(&here.codex)));
}

static void assert_taken(struct reply reply, const char *where)
{
	ASSERT(reply.status != 0 && strstr(reply.errors, "is here already"), "%s: %d: %s%s", where,
	       reply.status, reply.errors, reply.output);
}

TEST(ImportRefusesAConversationThatLivesThere)
{
	begin_here();
	begin_there();
	const struct session *const both[] = { &here.demo, &here.codex };
	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		const char *title = both[i]->title, *file = at_home(kept("%s.tar", title));
		(void)deck_ok(NULL, WORDS("session", "export", title, file, "--json"));
		const char *there = carry(file), *work = at_far(title);
		assert_taken(deck(NULL, WORDS("session", "import", file, "-t", "again")), "here");
		(void)far_ok(WORDS("session", "import", there, "--directory", work, "--json"));
		assert_taken(far_deck(WORDS("session", "import", there, "--directory", work, "-t",
					    "again")),
			     "over there");
	}
	assert_goes_on_there(&here.demo, DEMO_GOES_ON);
	assert_goes_on_there(&here.codex, CODEX_GOES_ON);
}

/* ---- a deck that was lost ----------------------------------------------------------------- */

static void lose_sessions(void)
{
	machine_user_ok(WORDS("rm", "-rf", at_home(".local/state/agentdeck")));
}

static void lose_all(void)
{
	lose_sessions();
	machine_user_ok(WORDS("rm", "-rf", at_home(".local/share/agentdeck-demo-agent"),
			      at_home(".codex/sessions")));
}

TEST(RestoreReplacesNoConversation)
{
	static const char other[] = "{\"type\":\"event\",\"said\":\"another\"}\n";
	begin_here();
	const char *file = at_home("deck.tar"), *demo = machine_read(transcript());
	(void)backup(file);
	lose_sessions();
	machine_write(rollout(), 0600, other);
	const char *grown = kept("%s{\"type\":\"mode\"}\n", or_empty(demo));
	machine_write(transcript(), 0600, grown);
	(void)deck_ok(NULL, WORDS("restore", file, "--apply", "--json"));
	ASSERT(streq(or_empty(machine_read(rollout())), other), "codex has lost another one");
	ASSERT(streq(or_empty(machine_read(transcript())), grown), "demo has lost its last words");
	assert_census(0, "after the restore");
	struct json_object *rows = deck_look_ok(WORDS("list", "--json"));
	ASSERT(json_object_array_length(rows) == 1, "not one session: %s", json_print(rows));
}

/* Both sessions, once, with their conversations as they were. */
static void assert_restored(const char *demo, const char *codex, const char *where)
{
	struct reply list = deck_look(WORDS("list", "--json"));
	ASSERT(list.status == 0 && list.json, "%s: list: %s", where, list.errors);
	ASSERT(json_object_array_length(list.json) == 2, "%s: not two sessions: %s", where,
	       list.output);
	ASSERT(strstr(list.output, here.demo.session_id) &&
		       strstr(list.output, here.codex.session_id),
	       "%s: a conversation is missing: %s", where, list.output);
	ASSERT(streq(or_empty(machine_read(transcript())), demo), "%s: demo's differs", where);
	ASSERT(streq(or_empty(machine_read(rollout())), codex), "%s: codex's differs", where);
	struct answer rest = machine_user(
		WORDS("find", at_home(".local/share"), at_home(".codex/sessions"), "-name", ".*"));
	ASSERT(rest.status == 0 && !*rest.output, "%s: this is left: %s%s", where, rest.output,
	       rest.errors);
}

static void assert_enough(const char *what, size_t cuts, const struct points *some)
{
	print_message("%s: %zu cuts at %zu steps\n", what, cuts, some->count);
	ASSERT(cuts >= LEAST_CUTS && cuts * 4 >= some->count * 3, "only %zu cuts", cuts);
}

TEST(RestoreCutAnywhereIsMadeUpFor)
{
	size_t cuts = 0;
	strace_required();
	begin_here();
	const char *file = at_home("deck.tar");
	const char *demo = machine_read(transcript()), *codex = machine_read(rollout());
	(void)backup(file);
	const char *const *words = deck_words(WORDS("restore", file, "--apply"));
	lose_all();
	struct points all = strace_watch(words), some = strace_sample(&all, SAMPLES);
	for (size_t i = 0; i < some.count; i++) {
		const char *where = kept("restore cut at %s", some.points[i].line);
		lose_all();
		cuts += strace_kill(words, &some.points[i], where);
		struct reply reply = deck_look(WORDS("restore", file, "--apply"));
		ASSERT(reply.status == 0, "%s: again: %s%s", where, reply.errors, reply.output);
		assert_restored(demo, codex, where);
		assert_no_remnants(where);
	}
	assert_enough("restore", cuts, &some);
	here.codex.id = here.codex.title;
	session_start(&here.codex, NULL);
	WAIT_FOR(session_shows(&here.codex, "it was said: " MARKER), "codex has no history:\n%s",
		 or_empty(session_screen(&here.codex)));
}

/* ---- a session that moves ----------------------------------------------------------------- */

/* Whatever the cut left: the session is here, or a whole file has it, which a second account
 * takes. */
static void assert_somewhere(const char *file, const char *where)
{
	const bool is_here = deck_look(WORDS("session", "show", here.codex.id)).status == 0;
	const bool is_packed = machine_exists(file);
	ASSERT(is_here || is_packed, "%s: it is nowhere", where);
	if (!is_packed)
		return;
	machine_user_ok(WORDS("mkdir", "-p", at_home("second")));
	struct answer taken = machine_user(WORDS("env", kept("HOME=%s", at_home("second")),
						 "agentdeck", "session", "import", file));
	ASSERT(taken.status == 0, "%s: the file is no use: %s", where, taken.errors);
	machine_user_ok(WORDS("rm", "-rf", at_home("second")));
}

TEST(ExportThatRemovesLosesNothingWhenCut)
{
	size_t cuts = 0;
	strace_required();
	begin_here();
	const char *file = at_home("codex.tar"), *id = here.codex.id;
	const char *const *words = deck_words(WORDS("session", "export", id, file, "--remove"));
	struct points all = strace_watch(words), some = strace_sample(&all, SAMPLES);
	ASSERT(deck_look(WORDS("session", "show", id)).status == 2, "it is still here");
	for (size_t i = 0; i < some.count; i++) {
		const char *where = kept("export cut at %s", some.points[i].line);
		machine_user_ok(WORDS("rm", "-f", file));
		if (deck_look(WORDS("session", "show", id)).status != 0)
			(void)deck_ok(NULL, WORDS("undo", "--json"));
		cuts += strace_kill(words, &some.points[i], where);
		assert_somewhere(file, where);
	}
	assert_enough("export", cuts, &some);
}
