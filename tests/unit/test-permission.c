/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions for a permission, read with the entries that come with agentdeck.
 */
#include "unit/test.h"

#include "base/fsutil.h"
#include "model/agent/display.h"
#include "model/agent/permission.h"
#include "model/agent/registry.h"

#include <fcntl.h>

#define RULE "────────────────────────────────────────\n"
#define END                                             \
	" Do you want to proceed?\n"                    \
	" ❯ 1. Yes\n"                                 \
	"   2. Yes, and always allow access to tmp/ \n" \
	"   3. No\n\n"                                  \
	" Esc to cancel · Tab to amend · ctrl+e to explain\n"
#define ASKS(command) RULE " Bash command\n\n   " command "\n   Do it\n\n" END
#define BOX           RULE "❯ \n" RULE "  ? for shortcuts\n"

static enum permission_form read_as(const char *name, const char *screen, struct permission *ret)
{
	cleanup_registry struct registry registry = { 0 };
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	return permission_read(registry_find(&registry, name), screen, ret);
}

static void check(const char *screen, enum permission_form expected)
{
	cleanup_permission struct permission permission = { 0 };
	const enum permission_form form = read_as("claude", screen, &permission);
	if (form != expected)
		fail_msg("%d, not %d:\n%s", (int)form, (int)expected, screen);
	assert_true((permission.text != NULL) == (expected == PERMISSION_WHOLE));
}

static void a_question_is_read_from_its_title_to_its_end(void **state UNUSED)
{
	cleanup_permission struct permission permission = { 0 };
	assert_int_equal(read_as("claude", "● Bash(rm x)\n" ASKS("rm x") "\n\n", &permission),
			 PERMISSION_WHOLE);
	assert_string_equal(permission.text,
			    " Bash command\n\n   rm x\n   Do it\n\n Do you want to proceed?\n"
			    "   1. Yes\n   2. Yes, and always allow access to tmp/\n   3. No\n\n"
			    " Esc to cancel · Tab to amend · ctrl+e to explain\n");
	char digest[SHA256_TEXT_SIZE];
	assert_string_equal(permission.digest, sha256_text(permission.text, digest));
}

static void wide_characters_are_kept(void **state UNUSED)
{
	cleanup_permission struct permission permission = { 0 };
	assert_int_equal(read_as("claude", ASKS("echo 日本語 ❯ 1. Yes"), &permission),
			 PERMISSION_WHOLE);
	assert_non_null(strstr(permission.text, "   echo 日本語 ❯ 1. Yes\n"));
}

static void digest_of(const char *screen, char ret[static SHA256_TEXT_SIZE])
{
	cleanup_permission struct permission permission = { 0 };
	assert_int_equal(read_as("claude", screen, &permission), PERMISSION_WHOLE);
	memcpy(ret, permission.digest, SHA256_TEXT_SIZE);
}

static void the_digest_is_of_the_question_and_not_of_the_mark(void **state UNUSED)
{
	char first[SHA256_TEXT_SIZE], moved[SHA256_TEXT_SIZE], other[SHA256_TEXT_SIZE];
	digest_of(RULE " Bash command\n\n   ls\n\n Do you want to proceed?\n"
		       " ❯ 1. Yes\n   2. No\n\n Esc to cancel\n",
		  first);
	digest_of("more above\n" RULE " Bash command\n\n   ls\n\n Do you want to proceed?\n"
		  "   1. Yes\n ❯ 2. No\n\n Esc to cancel\n\n",
		  moved);
	digest_of(RULE " Bash command\n\n   ls ❯\n\n Do you want to proceed?\n"
		       " ❯ 1. Yes\n   2. No\n\n Esc to cancel\n",
		  other);
	assert_string_equal(first, moved);
	assert_string_not_equal(first, other);
}

static void a_question_without_its_beginning_is_cut(void **state UNUSED)
{
	check("   rm x\n   Do it\n\n" END, PERMISSION_CUT);
	check(" Bash command\n\n   rm x\n" END, PERMISSION_CUT);
	check(END, PERMISSION_CUT);
	/* What says so may be on an edge. */
	check(RULE
	      " Fetch\n ↑ 3 more lines ╌╌╌\n Do you want to allow Claude to fetch this content?\n"
	      " ❯ 1. Yes\n   2. No, and tell Claude what to do differently (esc)\n",
	      PERMISSION_CUT);
}

static void a_question_without_its_end_is_none(void **state UNUSED)
{
	check(RULE " Bash command\n\n   rm x\n", PERMISSION_NONE);
	check(RULE " Bash command\n\n   rm x\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n",
	      PERMISSION_NONE);
	check("", PERMISSION_NONE);
	check("\n\n", PERMISSION_NONE);
	check(" Esc to cancel\n", PERMISSION_NONE);
}

static void what_an_agent_prints_is_none(void **state UNUSED)
{
	check(ASKS("rm x") BOX, PERMISSION_NONE);
	check(ASKS("rm x") "● Done\n", PERMISSION_NONE);
	/* A question that we do not know is below it. */
	check(ASKS("rm x") RULE " Select model\n ❯ 1. Opus\n   2. Haiku\n\n Esc to cancel\n",
	      PERMISSION_NONE);
	/* A line that the command draws is not the line above the question. */
	check("   rm -rf x\n   " RULE " Bash command\n" END, PERMISSION_CUT);
}

static void other_questions_are_none(void **state UNUSED)
{
	check(RULE " Edit image\n x.c\n╌╌\n 1\n╌╌\n Do you want to make this edit to x.c?\n"
		   " ❯ 1. Yes\n   2. No\n\n Esc to cancel\n",
	      PERMISSION_NONE);
	check(RULE " Fetch\n\n   x\n" END, PERMISSION_NONE);
	/* The first choice is another one. */
	check(RULE " Bash command\n\n   ls\n\n Do you want to proceed?\n ❯ 1. No\n   2. Yes\n\n"
		   " Esc to cancel\n",
	      PERMISSION_NONE);
	check(RULE " Bash command\n\n   ls\n\n Do you want to proceed?\n ❯ 1. Yes\n"
		   "      to all that follows\n   2. No\n\n Esc to cancel\n",
	      PERMISSION_NONE);
}

/* What real agents showed (tests/unit/screens).  key: NULL where nothing approves. */
static const struct {
	const char *agent, *screen, *key;
	const char *first, *about; /* its first line, and one of the others */
	enum permission_form form;
} real[] = {
	{ "claude", "claude-2.1.197-edit", "1", " Edit file\n", "\n 3 -  return 1;\n",
	  PERMISSION_WHOLE },
	{ "claude", "claude-2.1.197-create", "1", " Create file\n", "\n new.txt\n",
	  PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-edit", "1", " Edit file\n", "\n 3 +  return 0;\n",
	  PERMISSION_WHOLE },
	/* The text of the file looks like a question. */
	{ "claude", "claude-2.1.332-create", "1", " Create file\n", "\n evil.txt\n",
	  PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-overwrite-cut", NULL, NULL, NULL, PERMISSION_CUT },
	{ "claude", "claude-2.1.197-plan", "2", " Ready to code?\n", "\n 3. Do step 3\n",
	  PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-plan", "2", "   Ready to code?\n", "\n   3. Do step 3\n",
	  PERMISSION_WHOLE },
	{ "claude", "claude-2.1.197-plan-cut", NULL, NULL, NULL, PERMISSION_CUT },
	{ "claude", "claude-2.1.332-plan-cut", NULL, NULL, NULL, PERMISSION_CUT },
	{ "claude", "claude-2.1.332-exit-plan", NULL, NULL, NULL, PERMISSION_NONE },
	{ "claude", "claude-2.1.332-question", NULL, " ☐ Library\n", "\nWhich library?\n",
	  PERMISSION_WHOLE },
	{ "claude", "claude-2.1.197-notebook", "1", " Edit notebook\n", "  2 +print(2)  ",
	  PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-notebook", "1", " Edit notebook\n", "\n  1 +print(2)\n",
	  PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-notebook-delete", "1", " Edit notebook\n",
	  "\n Delete cell for cell c1\n", PERMISSION_WHOLE },
	/* What it looks for looks like the question. */
	{ "claude", "claude-2.1.197-fetch", "1", " Fetch\n", "\n    ❯ 1. Yes\"\n",
	  PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-fetch", "1", " Fetch\n", "\n │  ❯ 1. Yes\n", PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-fetch-cut", NULL, NULL, NULL, PERMISSION_CUT },
	{ "claude", "claude-2.1.332-fetch-moved", "1", " Fetch\n",
	  "\n   3. No, and tell Claude what to do differently (esc)\n", PERMISSION_WHOLE },
	{ "claude", "claude-2.1.197-tool", "1", " Tool use\n",
	  "\n   stub - echo(text: \"hello there\") (MCP)\n", PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-tool", "1", " Tool use\n", "\n text: \"hello there\"\n",
	  PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-tool-cut", NULL, NULL, NULL, PERMISSION_CUT },
	{ "claude", "claude-2.1.332-questions", NULL, "←  ☐ Library  ☐ Color  ✔ Submit  →\n",
	  "\nWhich library?\n", PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-questions-2", NULL, "←  ☒ Library  ☐ Color  ✔ Submit  →\n",
	  "\nWhich color?\n", PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-questions-submit", "1", "←  ☒ Library  ☒ Color  ✔ Submit  →\n",
	  "\n   → Beta\n", PERMISSION_WHOLE },
	{ "claude", "claude-2.1.197-questions-submit", "1", "←  ☒ Library  ☒ Color  ✔ Submit  →\n",
	  "\n   → Beta\n", PERMISSION_WHOLE },
	{ "claude", "claude-2.1.332-multi", NULL, NULL, NULL, PERMISSION_NONE },
	{ "gemini", "gemini-0.61.0-edit", "1", " ? Edit  x.c: return 1 => return 0\n",
	  " │ 3 +     return 0;  ", PERMISSION_WHOLE },
	{ "codex", "codex-0.171.0-run", "y", "  Would you like to run the following command?\n",
	  "\n  $ touch /home/dev/work/made\n", PERMISSION_WHOLE },
	/* A line of the command looks like the title. */
	{ "codex", "codex-0.171.0-evil", "y", "  Would you like to run the following command?\n",
	  "\n  $ rm x\n", PERMISSION_WHOLE },
	{ "codex", "codex-0.171.0-run-cut", NULL, NULL, NULL, PERMISSION_NONE },
	/* Its model said what looks like a difference. */
	{ "codex", "codex-0.171.0-edit-also", "y", "• Edited x.c (+1 -1)\n    3 -  return 1;\n",
	  "\n    3 +  return 0;\n", PERMISSION_WHOLE },
	{ "codex", "codex-0.171.0-edit-outside", "y", "• Added ~/other/new.txt (+1 -0)\n",
	  "\n    1 +one\n", PERMISSION_WHOLE },
	{ "codex", "codex-0.171.0-edit-cut", NULL, NULL, NULL, PERMISSION_CUT },
	/* The line that it adds is longer than what is shown. */
	{ "codex", "codex-0.171.0-edit-wide", NULL, NULL, NULL, PERMISSION_CUT },
	{ "codex", "codex-0.171.0-edit-two", NULL, NULL, NULL, PERMISSION_NONE },
	{ "gemini", "gemini-0.61.0-run", "1", " ? Shell  touch /home/dev/work/made\n",
	  " │ touch /home/dev/work/made  ", PERMISSION_WHOLE },
	{ "gemini", "gemini-0.61.0-write", "1", " ? WriteFile  Writing to new.txt\n", " │ 2 two  ",
	  PERMISSION_WHOLE },
	{ "gemini", "gemini-0.61.0-run-cut", NULL, NULL, NULL, PERMISSION_CUT },
	{ "copilot", "copilot-1.0.102-run", "1", " stub\n", " │ touch /home/dev/work/made  ",
	  PERMISSION_WHOLE },
	{ "copilot", "copilot-1.0.102-write", "1", " Create file\n", "\n new.txt +2 -0\n",
	  PERMISSION_WHOLE },
	{ "copilot", "copilot-1.0.102-edit", "1", " Edit file\n", "\n x.c +1 -1\n",
	  PERMISSION_WHOLE },
	{ "qwen", "qwen-0.15.10-edit", "1", " ?  Edit x.c: return 1 => return 0 ←\n",
	  "\n 3 +     return 0;\n", PERMISSION_WHOLE },
	{ "copilot", "copilot-1.0.102-run-cut", NULL, NULL, NULL, PERMISSION_CUT },
	{ "copilot", "copilot-1.0.102-write-cut", NULL, NULL, NULL, PERMISSION_CUT },
	{ "qwen", "qwen-0.15.10-run", "1", " ?  Shell touch /home/dev/work/made ←\n",
	  "\n   touch /home/dev/work/made\n", PERMISSION_WHOLE },
	{ "qwen", "qwen-0.15.10-write", "1", " ?  WriteFile Writing to new.txt ←\n", "\n 2 two\n",
	  PERMISSION_WHOLE },
	{ "qwen", "qwen-0.15.10-run-cut", NULL, NULL, NULL, PERMISSION_CUT },
	{ "qwen", "qwen-0.15.10-write-cut", NULL, NULL, NULL, PERMISSION_CUT },
	{ "qwen", "qwen-0.24.4-run", "1", "  ? Shell touch /home/dev/work/made ←\n",
	  "\n     touch /home/dev/work/made\n", PERMISSION_WHOLE },
	{ "qwen", "qwen-0.24.4-command", "1", "  ? Shell touch /home/dev/work/made ←\n",
	  "\n     touch /home/dev/work/made\n", PERMISSION_WHOLE },
	{ "qwen", "qwen-0.24.4-command-moved", "1", "  ? Shell touch /home/dev/work/made ←\n",
	  "\n     touch /home/dev/work/made\n", PERMISSION_WHOLE },
	{ "qwen", "qwen-0.24.4-write", "1", "  ? WriteFile Writing to new.txt ←\n", "\n   2 two\n",
	  PERMISSION_WHOLE },
	{ "qwen", "qwen-0.24.4-edit", "1", "  ? Edit x.c ←\n", "\n   3 +   return 0;\n",
	  PERMISSION_WHOLE },
	{ "qwen", "qwen-0.24.4-write-cut", NULL, NULL, NULL, PERMISSION_CUT },
};

/* With its attributes. */
static char *styled_screen(const char *name)
{
	cleanup_strbuf struct strbuf styled = { 0 };
	cleanup_free char *path = xasprintf("%s/tests/unit/screens/%s", getenv("top_srcdir") ?: ".",
					    name);
	assert_int_equal(fs_read(AT_FDCWD, path, 1 << 20, &styled, NULL), 0);
	return strbuf_take(&styled);
}

static char *real_screen(const char *name)
{
	cleanup_free char *styled = styled_screen(name);
	cleanup_display_screen struct display_screen screen = { 0 };
	display_read(styled, &screen);
	return TAKE_PTR(screen.text);
}

static void real_questions_are_read_as_they_are_meant(void **state UNUSED)
{
	cleanup_registry struct registry registry = { 0 };
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(real); i++) {
		cleanup_permission struct permission found = { 0 };
		cleanup_free char *styled = styled_screen(real[i].screen);
		cleanup_free char *screen = real_screen(real[i].screen);
		const enum permission_form form = permission_read(
			registry_find(&registry, real[i].agent), styled, &found);
		if (form != real[i].form)
			fail_msg("%s: %d", real[i].screen, (int)form);
		if (form != PERMISSION_WHOLE)
			continue;
		assert_string_equal(or_empty(found.yes_key), or_empty(real[i].key));
		assert_string_equal(found.no_key, "Escape");
		if (!starts_with(found.text, real[i].first) || !strstr(found.text, real[i].about))
			fail_msg("%s: %s", real[i].screen, found.text);
		/* Where it asks, its list says so. */
		assert_int_equal(display_activity(registry_find(&registry, real[i].agent), screen),
				 ACTIVITY_WAITING);
	}
}

/* No line of a question can be missing or be another one. */
static void a_real_question_without_one_of_its_lines_is_refused(void **state UNUSED)
{
	static const char *const needed[] = { " Ready to code?", "╌╌╌╌╌╌╌╌", "proceed?",
					      "2. Yes, manually", "ctrl+g to edit" };
	cleanup_free char *whole = real_screen("claude-2.1.332-plan");
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		cleanup_free char *screen = xstrdup(whole);
		for (char *found = screen; (found = strstr(found, needed[i]));)
			memset(found, 'x', strlen(needed[i]));
		cleanup_permission struct permission permission = { 0 };
		if (read_as("claude", screen, &permission) == PERMISSION_WHOLE)
			fail_msg("without %s:\n%s", needed[i], screen);
	}
}

/* The screen with another text in place of this one. */
static char *replaced(const char *screen, const char *old, const char *new)
{
	const char *found = strstr(screen, old);
	assert_non_null(found);
	return xasprintf("%.*s%s%s", (int)(found - screen), screen, new, found + strlen(old));
}

/* What a model says is among what codex draws, and counts for nothing. */
static void a_difference_is_the_agents_own_or_none(void **state UNUSED)
{
	static const char hint[] = "    + Show details";
	static const struct {
		const char *old, *new;
		enum permission_form form;
	} cases[] = {
		{ "\033[48;2;33;58;43m    \033[2m3", "\033[49m    \033[2m3", PERMISSION_NONE },
		{ "(\033[38;5;2m+1", "(\033[38;5;2m+2", PERMISSION_CUT },
		{ "-1\033[39m)", "-0\033[39m)", PERMISSION_CUT },
		{ "/home/dev/work/x.c", "/home/dev/work/y.c", PERMISSION_NONE },
		{ "/home/dev/work/x.c", "/home/dev/work/ax.c", PERMISSION_NONE },
		{ "Apply proposed file edits", "as said", PERMISSION_WHOLE },
	};
	cleanup_free char *screen = styled_screen("codex-0.171.0-edit");
	cleanup_permission struct permission found = { 0 };
	assert_int_equal(read_as("codex", screen, &found), PERMISSION_WHOLE);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *other = replaced(screen, cases[i].old, cases[i].new);
		cleanup_permission struct permission now = { 0 };
		const enum permission_form form = read_as("codex", other, &now);
		if (form != cases[i].form)
			fail_msg("%zu: %d", i, (int)form);
	}
	/* The same lines between the difference and the question, as words. */
	cleanup_free char *said = replaced(
		screen, hint, "    + Show details\n\n• Edited x.c (+1 -1)\n    3 -  a\n    3 +  b");
	cleanup_free char *prose = replaced(screen, hint, "    + Show details\n\n• Done.");
	/* A message of its user's has a colour behind it, too. */
	cleanup_free char *typed = replaced(screen, hint,
					    "\033[48;5;8m› one\n  two\n\033[49m    + Show details");
	cleanup_free char *plain = real_screen("codex-0.171.0-edit");
	const char *const none[] = { said, prose, typed, plain, strstr(screen, hint) };
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		cleanup_permission struct permission now = { 0 };
		if (read_as("codex", none[i], &now) == PERMISSION_WHOLE)
			fail_msg("%zu: %s", i, now.text);
	}
}

/* The bar goes after a while.  The end of a command may look like one. */
static void a_bar_at_the_edge_is_no_part_of_a_question(void **state UNUSED)
{
	char digest[SHA256_TEXT_SIZE];
	cleanup_permission struct permission with = { 0 }, without = { 0 }, other = { 0 };
	cleanup_free char *bar = styled_screen("qwen-0.24.4-command");
	cleanup_free char *moved = styled_screen("qwen-0.24.4-command-moved");
	assert_int_equal(read_as("qwen", bar, &with), PERMISSION_WHOLE);
	memcpy(digest, with.digest, sizeof(digest));
	assert_int_equal(read_as("qwen", moved, &without), PERMISSION_WHOLE);
	assert_string_equal(digest, without.digest);
	cleanup_free char *plain = real_screen("qwen-0.24.4-command-moved");
	cleanup_free char *longer = replaced(plain, "     touch /home/dev/work/made",
					     "     touch /home/dev/work/made█\n");
	assert_int_equal(read_as("qwen", longer, &other), PERMISSION_NONE);
}

/* All but the one that takes a text, and those below it. */
static void choices_are_offered_by_their_keys(void **state UNUSED)
{
	cleanup_permission struct permission found = { 0 }, marked = { 0 };
	cleanup_free char *screen = real_screen("claude-2.1.332-question");
	assert_int_equal(read_as("claude", screen, &found), PERMISSION_WHOLE);
	assert_int_equal(found.choices.count, 2);
	assert_string_equal(found.choices.items[0], "1");
	assert_string_equal(found.choices.items[1], "2");
	assert_string_equal(found.labels.items[1], "2. Beta");
	/* A digit would be a part of the text now. */
	memcpy(strstr(screen, "❯ 1."), "  1.  ", strlen("❯ 1."));
	cleanup_strbuf struct strbuf moved = { 0 };
	char *typed = strstr(screen, "  3. Type");
	strbuf_addf(&moved, "%.*s❯%s", (int)(typed - screen), screen, typed + 1);
	assert_int_equal(read_as("claude", moved.data, &marked), PERMISSION_NONE);
	/* Without the lines below it, it is another dialog. */
	*strstr(screen,
		"\n────────────────────────────────────────────────────────────────────────────────\n  4.") =
		'\0';
	assert_int_equal(read_as("claude", screen, &marked), PERMISSION_NONE);
}

static void only_entries_with_questions_are_answered(void **state UNUSED)
{
	cleanup_registry struct registry registry = { 0 };
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	for (size_t i = 0; i < registry.count; i++) {
		const struct agent *agent = registry.agents[i];
		cleanup_free char *name = xasprintf(" %s ", agent->name);
		const bool is_known = strstr(" claude demo codex gemini copilot qwen ", name);
		assert_true((agent->questions.count != 0) == is_known);
	}
	cleanup_permission struct permission permission = { 0 };
	assert_int_equal(read_as("pi", ASKS("rm x"), &permission), PERMISSION_NONE);
}

/* A user's entry changes one value of one question, and adds another question. */
static void an_entry_of_the_user_changes_single_values(void **state UNUSED)
{
	static const char own[] = "[question.command]\ntitle = '^ Own command$'\nmark = ''\n"
				  "[question.other]\ntitle = '^ Other$'\nchoice = '^  [0-9]'\n"
				  "yes = '^  ([0-9]) fine$'\nbelow = '^ End$'\ndeny = 'n'\n";
	cleanup_registry struct registry registry = { 0 };
	cleanup_permission struct permission first = { 0 }, second = { 0 };
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	assert_int_equal(registry_override(&registry, "demo", own, strlen(own), "x.toml", NULL), 0);
	const struct agent *agent = registry_find(&registry, "demo");
	assert_int_equal(agent->questions.count, 2);
	assert_null(agent->questions.items[0].mark);
	assert_int_equal(permission_read(agent,
					 RULE
					 " Own command\n\n Do you want to proceed?\n   1. Yes\n"
					 "   2. No\n\n Esc to cancel\n",
					 &first),
			 PERMISSION_WHOLE);
	assert_string_equal(first.yes_key, "1");
	assert_string_equal(first.no_key, "Escape");
	assert_int_equal(permission_read(agent, "\n Other\n\n  6 wrong\n  7 fine\n End\n", &second),
			 PERMISSION_WHOLE);
	assert_string_equal(second.yes_key, "7");
	assert_string_equal(second.no_key, "n");
	/* Nothing says which of the two would be taken. */
	cleanup_permission struct permission none = { 0 };
	assert_int_equal(permission_read(agent, "\n Other\n\n  6 fine\n  7 fine\n End\n", &none),
			 PERMISSION_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_read_from_its_title_to_its_end),
		cmocka_unit_test(wide_characters_are_kept),
		cmocka_unit_test(the_digest_is_of_the_question_and_not_of_the_mark),
		cmocka_unit_test(a_question_without_its_beginning_is_cut),
		cmocka_unit_test(a_question_without_its_end_is_none),
		cmocka_unit_test(what_an_agent_prints_is_none),
		cmocka_unit_test(other_questions_are_none),
		cmocka_unit_test(an_entry_of_the_user_changes_single_values),
		cmocka_unit_test(real_questions_are_read_as_they_are_meant),
		cmocka_unit_test(a_real_question_without_one_of_its_lines_is_refused),
		cmocka_unit_test(a_difference_is_the_agents_own_or_none),
		cmocka_unit_test(a_bar_at_the_edge_is_no_part_of_a_question),
		cmocka_unit_test(choices_are_offered_by_their_keys),
		cmocka_unit_test(only_entries_with_questions_are_answered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
