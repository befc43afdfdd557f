/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's own agents.  These tests use the entries and the script of docs/adding-an-agent.md
 * exactly as they are there.
 */
#include "persistence/deck.h"

#include "base/fsutil.h"

#include <fcntl.h>
#include <string.h>

#define CONFIG ".config/agentdeck"

enum { MANUAL_MAX = 1 << 20 };

static const char *manual(void)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error err = { 0 };
	const char *path = machine_source("../docs/adding-an-agent.md");
	ASSERT(fs_read(AT_FDCWD, path, MANUAL_MAX, &text, &err) == 0, "%s: %s", path,
	       or_empty(err.message));
	return keep(strbuf_take(&text));
}

/* Write each block that begins with "```<language> <file>" to its file.  Returns how many. */
static unsigned write_blocks(const char *language, mode_t mode, const char *directory)
{
	const char *opening = kept("\n```%s ", language);
	unsigned count = 0;
	for (const char *s = manual(); (s = strstr(s, opening)); count++) {
		s += strlen(opening);
		const char *text = strchr(s, '\n'), *end = text ? strstr(text, "\n```") : NULL;
		ASSERT(end, "a block of the manual has no end: %.40s", s);
		const char *file = kept("%.*s", (int)(text - s), s);
		machine_write(at_home(kept("%s/%s", directory, file)), mode,
			      kept("%.*s", (int)(end - text), text + 1));
		s = end;
	}
	return count;
}

static void install_parrot(void)
{
	ASSERT(write_blocks("sh", 0755, "bin") == 1, "the manual has not got one script");
	ASSERT(write_blocks("toml", 0644, CONFIG) > 3, "the manual has too few entries");
}

static struct json_object *named(struct json_object *array, const char *name)
{
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		struct json_object *object = json_object_array_get_idx(array, i);
		if (streq(json_get_string(object, "name", ""), name))
			return object;
	}
	fail_test("no %s in %s", name, json_print(array));
}

static void assert_member(struct json_object *object, const char *key, const char *value)
{
	const char *is = json_get_string(object, key, "");
	ASSERT(streq(is, value), "%s is %s, not %s", key, is, value);
}

/* The parrot repeats what it was told, now or earlier. */
static void wait_for_words(const struct session *session, const char *text)
{
	WAIT_FOR(session_shows(session, kept("parrot says: %s", text)), "no '%s':\n%s", text,
		 or_empty(session_screen(session)));
}

static void say(const struct session *session, const char *text)
{
	WAIT_FOR(session_shows(session, "> "), "no prompt:\n%s", or_empty(session_screen(session)));
	for (const char *c = text; *c; c++)
		session_press(session, kept("%c", *c));
	session_press(session, "Enter");
	wait_for_words(session, text);
}

static struct session launch_parrot(const char *title)
{
	struct session session = { .title = title, .directory = at_home(title) };
	machine_make_directory(session.directory);
	struct json_object *object = deck_ok(NULL, WORDS("launch", session.directory, "-t", title,
							 "--agent", "parrot", "--json"));
	session.id = json_get_string(object, "id", NULL);
	ASSERT(session.id, "launch gives no id: %s", json_print(object));
	(void)session_look(&session);
	ASSERT(streq(session.status, "running"), "status %s", session.status);
	return session;
}

TEST(EntriesOfTheManualAreValid)
{
	install_parrot();
	struct json_object *check = deck_ok(NULL, WORDS("agents", "check", "--json"));
	ASSERT(json_get_int(check, "problem_count", -1) == 0, "%s", json_print(check));
	ASSERT(json_object_array_length(json_get_array(check, "warnings")) == 0, "%s",
	       json_print(check));
	named(json_get_array(check, "files"), "parrot");
	struct json_object *parrot = deck_look_ok(WORDS("agents", "show", "parrot", "--json"));
	assert_member(parrot, "source", "user");
	assert_member(parrot, "strategy", "A");
	assert_member(parrot, "installed", at_home("bin/parrot"));
	assert_member(parrot, "version", "1.0.2");
	struct json_object *list = deck_look_ok(WORDS("agents", "list", "--json"));
	assert_member(named(list, "parrot"), "version", "1.0.2");
	assert_member(named(list, "jay"), "strategy", "A'");
	assert_member(named(list, "heron"), "strategy", "R");
	assert_member(named(list, "egret"), "strategy", "R");
	assert_member(named(list, "magpie"), "strategy", "B");
	assert_member(named(list, "claude"), "source", "overridden");
}

TEST(AgentOfTheManualComesBack)
{
	install_parrot();
	struct session session = launch_parrot("deck");
	const char *session_id = session.session_id;
	assert_flag(&session, "--session-id", session_id);
	assert_isolated(&session);
	say(&session, "swordfish");

	session_kill_server(&session);
	session_start(&session, NULL);
	ASSERT(streq(or_empty(session.session_id), session_id), "another id: %s",
	       or_empty(session.session_id));
	assert_flag(&session, "--resume", session_id);
	assert_no_flag(&session, "--session-id");
	wait_for_words(&session, "swordfish");
	say(&session, "hammerhead");

	machine_powercut();
	machine_boot();
	session_start(&session, NULL);
	assert_flag(&session, "--resume", session_id);
	wait_for_words(&session, "swordfish");
	wait_for_words(&session, "hammerhead");
}

TEST(BrokenEntryConcernsNoOtherAgent)
{
	install_parrot();
	const char *broken = at_home(CONFIG "/agents/claude.toml");
	const char *place = kept("%s:2:1: ", broken);
	machine_write(broken, 0644, "[session]\nassing = []\n");
	/* The file is elsewhere behind a link, as some people keep such files. */
	machine_user_ok(WORDS("mv", at_home(CONFIG "/agents/parrot.toml"), at_home("kept.toml")));
	machine_user_ok(
		WORDS("ln", "-s", at_home("kept.toml"), at_home(CONFIG "/agents/parrot.toml")));
	struct reply check = deck(NULL, WORDS("agents", "check"));
	ASSERT(check.status == 1 && starts_with(check.output, place), "status %d: %s%s",
	       check.status, check.output, check.errors);
	struct reply list = deck_look(WORDS("agents", "list", "--json"));
	ASSERT(list.status == 0 && strstr(list.errors, place), "no warning: %s", list.errors);
	assert_member(named(list.json, "claude"), "source", "builtin");
	assert_member(named(list.json, "parrot"), "source", "user");
	struct session session = launch_parrot("deck");
	say(&session, "swordfish");
}
