/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Screens of real agents, captured by tmux with their attributes (screens/), read with the entries
 * that come with agentdeck.
 */
#include "unit/test.h"

#include "base/fsutil.h"
#include "model/agent/display.h"

#include <fcntl.h>
#include <stdlib.h>

/* input: the text typed in the box; NULL: there is no box.  It does not matter behind a dialog or a
 * view. */
static const struct {
	const char *agent, *screen;
	enum display_state state;
	const char *input;
} screens[] = {
	{ "claude", "claude-2.1.197-empty", DISPLAY_READY, "" },
	{ "claude", "claude-2.1.197-draft", DISPLAY_READY, "a draft of the user" },
	{ "claude", "claude-2.1.197-two-rows", DISPLAY_READY,
	  "日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語\n  back\\" },
	{ "claude", "claude-2.1.197-pasted", DISPLAY_READY, "[Pasted text #2 +39 lines]" },
	{ "claude", "claude-2.1.197-slash", DISPLAY_READY, "/con" },
	{ "claude", "claude-2.1.197-queued", DISPLAY_READY, "" },
	{ "claude", "claude-2.1.197-bang", DISPLAY_MODE, NULL },
	{ "claude", "claude-2.1.197-config", DISPLAY_OTHER, NULL },
	{ "claude", "claude-2.1.197-transcript", DISPLAY_ELSEWHERE, NULL },
	{ "claude", "claude-2.1.197-agents", DISPLAY_ELSEWHERE, "" },
	{ "claude", "claude-2.1.197-agents-draft", DISPLAY_ELSEWHERE, "foo" },
	{ "claude", "claude-2.1.197-model", DISPLAY_DIALOG, NULL },
	{ "claude", "claude-2.1.197-resume", DISPLAY_DIALOG, NULL },
	{ "claude", "claude-2.1.330-empty", DISPLAY_READY, "" },
	{ "claude", "claude-2.1.330-draft", DISPLAY_READY, "a draft of the user" },
	{ "claude", "claude-2.1.330-wide", DISPLAY_READY,
	  "日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語\n"
	  "  日本語日本語日本語日本語" },
	{ "claude", "claude-2.1.330-pasted", DISPLAY_READY, "[Pasted text #2 +39 lines]" },
	{ "claude", "claude-2.1.330-slash", DISPLAY_READY, "/con" },
	{ "claude", "claude-2.1.330-bang", DISPLAY_MODE, NULL },
	{ "claude", "claude-2.1.330-config", DISPLAY_OTHER, NULL },
	{ "claude", "claude-2.1.330-transcript", DISPLAY_ELSEWHERE, NULL },
	{ "claude", "claude-2.1.330-agents", DISPLAY_ELSEWHERE, "" },
	{ "claude", "claude-2.1.330-agents-draft", DISPLAY_ELSEWHERE, "foo" },
	{ "claude", "claude-2.1.330-model", DISPLAY_DIALOG, NULL },
	{ "claude", "claude-2.1.330-resume", DISPLAY_OTHER, NULL },
	{ "codex", "codex-0.169.0-empty", DISPLAY_READY, "" },
	{ "codex", "codex-0.169.0-draft", DISPLAY_READY, "a draft of the user" },
	{ "codex", "codex-0.169.0-draft2", DISPLAY_READY, "one\n  two" },
	{ "codex", "codex-0.169.0-pasted", DISPLAY_READY, "[Pasted Content 1491 chars]" },
	{ "codex", "codex-0.169.0-slash", DISPLAY_READY, "/con" },
	{ "codex", "codex-0.169.0-queued", DISPLAY_READY, "" },
	{ "codex", "codex-0.169.0-bang", DISPLAY_MODE, NULL },
	{ "codex", "codex-0.169.0-browsing", DISPLAY_ELSEWHERE, "" },
	{ "codex", "codex-0.169.0-model", DISPLAY_DIALOG, NULL },
	{ "qwen", "qwen-0.15.10-empty", DISPLAY_READY, "" },
	{ "qwen", "qwen-0.15.10-draft", DISPLAY_READY, "back" },
	{ "qwen", "qwen-0.15.10-model", DISPLAY_DIALOG, NULL },
	{ "qwen", "qwen-0.15.10-settings", DISPLAY_OTHER, NULL },
	{ "gemini", "gemini-0.61.0-empty", DISPLAY_READY, "" },
	{ "gemini", "gemini-0.61.0-draft", DISPLAY_READY, "a draft of the user" },
	{ "gemini", "gemini-0.61.0-yolo-empty", DISPLAY_READY, "" },
	{ "gemini", "gemini-0.61.0-yolo-draft", DISPLAY_READY, "a draft of the user" },
	{ "gemini", "gemini-0.61.0-pasted", DISPLAY_READY, "[Pasted Text: 40 lines]" },
	{ "gemini", "gemini-0.61.0-two-rows", DISPLAY_READY, "one\n   two" },
	{ "gemini", "gemini-0.61.0-bang", DISPLAY_MODE, NULL },
	{ "gemini", "gemini-0.61.0-ask", DISPLAY_DIALOG, "" },
	{ "gemini", "gemini-0.61.0-after", DISPLAY_READY, "" },
	{ "qwen", "qwen-0.15.10-yolo-empty", DISPLAY_READY, "" },
	{ "qwen", "qwen-0.15.10-yolo-draft", DISPLAY_READY, "a draft of the user" },
	{ "qwen", "qwen-0.15.10-pasted", DISPLAY_READY, "[Pasted Content 110 chars]" },
	{ "qwen", "qwen-0.15.10-ask", DISPLAY_DIALOG, NULL },
	{ "qwen", "qwen-0.15.10-bang", DISPLAY_MODE, NULL },
	{ "copilot", "copilot-1.0.102-empty", DISPLAY_READY, "" },
	{ "copilot", "copilot-1.0.102-draft", DISPLAY_READY, "a draft of the user" },
	{ "copilot", "copilot-1.0.102-yolo-empty", DISPLAY_READY, "" },
	{ "copilot", "copilot-1.0.102-pasted", DISPLAY_READY, "[Paste #1 - 40 lines]" },
	{ "copilot", "copilot-1.0.102-bang", DISPLAY_MODE, NULL },
	{ "copilot", "copilot-1.0.102-busy", DISPLAY_READY, "" },
	{ "copilot", "copilot-1.0.102-ask", DISPLAY_DIALOG, NULL },
	{ "opencode", "opencode-1.18.33-empty", DISPLAY_READY, "" },
	{ "opencode", "opencode-1.18.33-draft", DISPLAY_READY, "a draft of the user" },
	{ "opencode", "opencode-1.18.33-pasted", DISPLAY_READY, "[Pasted ~40 lines]" },
	{ "opencode", "opencode-1.18.33-bang", DISPLAY_ELSEWHERE, "" },
	{ "opencode", "opencode-1.18.33-beside", DISPLAY_READY, "draft two" },
	{ "opencode", "opencode-1.18.33-ask", DISPLAY_DIALOG, NULL },
	{ "pi", "pi-0.73.1-empty", DISPLAY_READY, "" },
	{ "pi", "pi-0.73.1-draft", DISPLAY_READY, "a draft of the user" },
	{ "pi", "pi-0.73.1-slash", DISPLAY_READY, "/mod" },
	{ "pi", "pi-0.73.1-pasted", DISPLAY_READY, "[paste #1 +40 lines]" },
	{ "pi", "pi-0.73.1-scrolled", DISPLAY_READY,
	  "and more and more and more and more and more and more and more and more and\n"
	  "more and more and more and more and more and more and more and more" },
	{ "cn", "cn-1.5.47-empty", DISPLAY_READY, "" },
	{ "cn", "cn-1.5.47-draft", DISPLAY_READY, "a draft of the user" },
	{ "cn", "cn-1.5.47-two-rows", DISPLAY_READY, "one\n  two" },
	{ "cn", "cn-1.5.47-ask", DISPLAY_DIALOG, NULL },
};

static struct display_screen read_screen(const char *name)
{
	cleanup_strbuf struct strbuf styled = { 0 };
	cleanup_error struct error err = { 0 };
	struct display_screen screen;
	cleanup_free char *path = xasprintf("%s/tests/unit/screens/%s", getenv("top_srcdir") ?: ".",
					    name);
	if (fs_read(AT_FDCWD, path, 1 << 20, &styled, &err) != 0)
		fail_msg("%s: %s", path, err.message);
	display_read(strbuf_text(&styled), &screen);
	return screen;
}

static void real_screens_are_read_as_they_are_meant(void **state UNUSED)
{
	cleanup_registry struct registry registry = { 0 };
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(screens); i++) {
		const struct agent *agent = registry_find(&registry, screens[i].agent);
		cleanup_display_screen struct display_screen screen = read_screen(
			screens[i].screen);
		enum display_state found = display_judge(agent, screen.text, NULL);
		if (found != screens[i].state)
			fail_msg("%s: state %d", screens[i].screen, (int)found);
		cleanup_free char *input = display_input(agent, &screen);
		if (found == DISPLAY_READY && !streq(or_empty(input), screens[i].input))
			fail_msg("%s: '%s'", screens[i].screen, or_empty(input));
		if (!screens[i].input && found == DISPLAY_OTHER && input)
			fail_msg("%s: '%s' is no input", screens[i].screen, input);
	}
}

/* codex ends its box with an empty line, and a message can have some. */
static void an_empty_line_may_be_one_of_the_text(void **state UNUSED)
{
	static const struct {
		const char *screen, *paragraphs;
	} cases[] = {
		{ "codex-0.169.0-draft2", "one\n  two\n\n    indented four" },
		{ "codex-0.169.0-draft", NULL },
		{ "codex-0.169.0-empty", NULL },
		{ "codex-0.169.0-queued", NULL },
	};
	cleanup_registry struct registry registry = { 0 };
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	const struct agent *agent = registry_find(&registry, "codex");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_display_screen struct display_screen screen = read_screen(cases[i].screen);
		cleanup_free char *found = display_paragraphs(agent, &screen);
		if (!streq(or_empty(found), or_empty(cases[i].paragraphs)))
			fail_msg("%s: '%s'", cases[i].screen, or_empty(found));
	}
}

/* A box of one line that reaches to the end of the screen. */
static char *typed_on(const char *styled)
{
	struct agent agent = { .has_box = true };
	cleanup_display_screen struct display_screen screen;
	strvec_push(&agent.ready, "^> ");
	strvec_push(&agent.placeholder, "^Say something$");
	display_read(styled, &screen);
	char *input = display_input(&agent, &screen);
	strvec_clear(&agent.ready);
	strvec_clear(&agent.placeholder);
	return input;
}

#define CHECK_TYPED(styled, expected)                              \
	do {                                                       \
		cleanup_free char *input_ = typed_on(styled);      \
		assert_string_equal(or_empty(input_), (expected)); \
	} while (0)

static void dim_text_is_not_typed(void **state UNUSED)
{
	CHECK_TYPED("> \033[2mTry this\033[0m", "");
	CHECK_TYPED("> typed \033[2mand proposed\033[22m more", "typed              more");
	CHECK_TYPED("> \033[0;1;2mTry\033[m this", "this");
	CHECK_TYPED("> \033[2;38;5;246mTry\033[39m this\033[22m", "");
}

static void colours_are_not_dim(void **state UNUSED)
{
	CHECK_TYPED("> \033[38;2;2;2;2mtyped", "typed");
	CHECK_TYPED("> \033[48;5;2;1mtyped", "typed");
	CHECK_TYPED("> \033[38;5;2;2mproposed", "");
	CHECK_TYPED("> \033[4:2mtyped", "typed");
}

static void a_cursor_on_a_proposal_is_a_part_of_it(void **state UNUSED)
{
	CHECK_TYPED("> \033[7mT\033[0;2mry this", "");
	CHECK_TYPED("> typed\033[7m \033[0m", "typed");
	CHECK_TYPED("> \033[7mt\033[0myped", "typed");
}

static void a_placeholder_is_not_typed(void **state UNUSED)
{
	CHECK_TYPED("> Say something  ", "");
	CHECK_TYPED("> Say something else", "Say something else");
	assert_null(typed_on("no box"));
}

static void a_line_of_a_draft_is_no_dialog(void **state UNUSED)
{
	struct agent agent = { .has_box = true };
	strvec_push(&agent.ready, "^> ");
	strvec_push(&agent.box_below, "^---");
	strvec_push(&agent.waiting, "^ *Do you want to");
	strvec_push(&agent.elsewhere, "^ *Esc to leave");
	assert_int_equal(display_judge(&agent, "> one\n  Do you want to eat\n  Esc to leave\n---",
				       NULL),
			 DISPLAY_READY);
	agent.has_box = false;
	assert_int_equal(display_judge(&agent, "> one\n  Do you want to eat\n---", NULL),
			 DISPLAY_DIALOG);
	assert_int_equal(display_judge(&agent, "> one\n  Esc to leave\n---", NULL),
			 DISPLAY_ELSEWHERE);
	assert_int_equal(display_judge(&agent, "> one\n  no end", NULL), DISPLAY_OTHER);
	strvec_clear(&agent.ready);
	strvec_clear(&agent.box_below);
	strvec_clear(&agent.waiting);
	strvec_clear(&agent.elsewhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_screens_are_read_as_they_are_meant),
		cmocka_unit_test(an_empty_line_may_be_one_of_the_text),
		cmocka_unit_test(dim_text_is_not_typed),
		cmocka_unit_test(colours_are_not_dim),
		cmocka_unit_test(a_cursor_on_a_proposal_is_a_part_of_it),
		cmocka_unit_test(a_placeholder_is_not_typed),
		cmocka_unit_test(a_line_of_a_draft_is_no_dialog),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
