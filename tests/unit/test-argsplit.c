/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/argsplit.h"
#include "base/child.h"

#include <string.h>

static void assert_words(const char *line, size_t count, const char *const *words)
{
	cleanup_strvec struct strvec got = { 0 };
	cleanup_error struct error err = { 0 };
	assert_int_equal(argsplit(line, &got, &err), 0);
	assert_int_equal(err.code, ERROR_NONE);
	assert_int_equal(got.count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(got.items[i], words[i]);
}
#define assert_split(line, ...)                                                \
	assert_words(line, ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })), \
		     (const char *const[]){ __VA_ARGS__ })

static void assert_refused(const char *line, const char *named)
{
	cleanup_strvec struct strvec got = { 0 };
	cleanup_error struct error err = { 0 };
	strvec_push(&got, "kept");
	assert_int_equal(argsplit(line, &got, &err), -1);
	assert_int_equal(err.code, ERROR_USAGE);
	if (!strstr(err.message, named))
		fail_msg("\"%s\" is not in: %s", named, err.message);
	assert_int_equal(got.count, 1);
	assert_string_equal(got.items[0], "kept");
}

static void blanks_separate_words(void **state UNUSED)
{
	assert_split("agent", "agent");
	assert_split(" \tagent  --flag\tvalue ", "agent", "--flag", "value");
	assert_words("", 0, NULL);
	assert_words(" \t ", 0, NULL);
}

static void words_are_appended(void **state UNUSED)
{
	cleanup_strvec struct strvec got = { 0 };
	strvec_push(&got, "env");
	assert_int_equal(argsplit("A=1 agent", &got, NULL), 0);
	assert_int_equal(got.count, 3);
	assert_string_equal(got.items[0], "env");
	assert_string_equal(got.items[2], "agent");
}

static void single_quotes_keep_everything(void **state UNUSED)
{
	assert_split("'a b' '$HOME `x` \\' '*?[' '# ~'", "a b", "$HOME `x` \\", "*?[", "# ~");
	assert_split("'two\nlines'", "two\nlines");
	assert_split("a'b'\"c\"d", "abcd");
	assert_split("'it'\\''s'", "it's");
}

static void double_quotes_know_five_escapes(void **state UNUSED)
{
	assert_split("\"a b\"", "a b");
	assert_split("\"\\$ \\` \\\" \\\\ \\n \\'\"", "$ ` \" \\ \\n \\'");
	assert_split("\"a\\\nb\"", "ab");
	assert_split("\"a\nb | & ; < > ( ) * ? [ # ~ '\"", "a\nb | & ; < > ( ) * ? [ # ~ '");
}

static void backslash_quotes_one_character(void **state UNUSED)
{
	assert_split("a\\ b \\| \\$x \\# \\~ \\\\", "a b", "|", "$x", "#", "~", "\\");
	assert_split("\\ü", "ü");
}

static void escaped_line_break_disappears(void **state UNUSED)
{
	assert_split("agent \\\n --flag", "agent", "--flag");
	assert_split("age\\\nnt", "agent");
	assert_split("agent \\\n", "agent");
}

static void empty_quotes_make_an_empty_word(void **state UNUSED)
{
	assert_split("a '' \"\" b", "a", "", "", "b");
}

static void hash_and_tilde_mean_something_at_word_start_only(void **state UNUSED)
{
	assert_split("a#b a~b --x=~", "a#b", "a~b", "--x=~");
	assert_refused("a #b", "#");
	assert_refused("~/agent", "~");
	assert_refused("a \\\n#b", "#");
}

static void shell_syntax_is_refused_and_named(void **state UNUSED)
{
	static const char *const characters[] = { "|", "&", ";", "<", ">", "(",
						  ")", "$", "`", "*", "?", "[" };
	for (size_t i = 0; i < ARRAY_SIZE(characters); i++) {
		cleanup_free char *inside = xasprintf("agent a%sb", characters[i]);
		cleanup_free char *alone = xasprintf("agent %s b", characters[i]);
		assert_refused(inside, characters[i]);
		assert_refused(alone, characters[i]);
	}
	assert_refused("agent\nother", "line break");
	assert_refused("\"$HOME\"", "$");
	assert_refused("\"`x`\"", "`");
}

static void refusal_says_where_and_how_to_quote(void **state UNUSED)
{
	assert_refused("ägent | less", "character 7");
	assert_refused("agent | less", "\\|");
	assert_refused("agent | less", "no shell");
}

static void open_quotes_are_refused(void **state UNUSED)
{
	assert_refused("agent 'a", "'");
	assert_refused("agent \"a", "\"");
	assert_refused("agent \"a\\", "\"");
	assert_refused("agent \\", "backslash");
}

static char *join(const char *const *argv)
{
	return argjoin((char *const *)argv);
}

static void join_leaves_plain_words_alone(void **state UNUSED)
{
	const char *const argv[] = { "/usr/bin/agent-1.2", "--flag=a,b", "x@y%z:+/_", NULL };
	cleanup_free char *line = join(argv);
	assert_string_equal(line, "/usr/bin/agent-1.2 --flag=a,b x@y%z:+/_");
	const char *const none[] = { NULL };
	cleanup_free char *empty = join(none);
	assert_string_equal(empty, "");
}

static void join_quotes_what_begins_a_command_differently(void **state UNUSED)
{
	const char *const keyword[] = { "if", "if", NULL };
	const char *const assignment[] = { "A=b", "A=b", NULL };
	cleanup_free char *a = join(keyword), *b = join(assignment);
	assert_string_equal(a, "'if' if");
	assert_string_equal(b, "'A=b' A=b");
}

static const char *const awkward[] = { "printf", "[%s]",  "",      "a b",  "it's",    "''",
				       "\"",     "\\",    "$HOME", "`id`", "*",       "#x",
				       "~",      "~root", "a\nb",  "ü ❯",  "{a,b}",   "!x",
				       "=ls",    "-n",    "a;b",   "a=~",  "\t tab ", "\\'",
				       "\177",   "(",     "100%",  NULL };

static void join_then_split_is_the_same(void **state UNUSED)
{
	cleanup_free char *line = join(awkward);
	cleanup_strvec struct strvec got = { 0 };
	assert_int_equal(argsplit(line, &got, NULL), 0);
	assert_int_equal(got.count, ARRAY_SIZE(awkward) - 1);
	for (size_t i = 0; i < got.count; i++)
		assert_string_equal(got.items[i], awkward[i]);
}

static void shell_reads_a_joined_line_the_same(void **state UNUSED)
{
	cleanup_free char *line = join(awkward);
	const char *const argv[] = { "sh", "-c", line, NULL };
	const struct child_request request = { .argv = argv };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strbuf struct strbuf expected = { 0 };
	assert_int_equal(child_run(&request, 20000, &result, NULL), 0);
	for (size_t i = 2; awkward[i]; i++)
		strbuf_addf(&expected, "[%s]", awkward[i]);
	assert_string_equal(strbuf_text(&result.output), expected.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_separate_words),
		cmocka_unit_test(words_are_appended),
		cmocka_unit_test(single_quotes_keep_everything),
		cmocka_unit_test(double_quotes_know_five_escapes),
		cmocka_unit_test(backslash_quotes_one_character),
		cmocka_unit_test(escaped_line_break_disappears),
		cmocka_unit_test(empty_quotes_make_an_empty_word),
		cmocka_unit_test(hash_and_tilde_mean_something_at_word_start_only),
		cmocka_unit_test(shell_syntax_is_refused_and_named),
		cmocka_unit_test(refusal_says_where_and_how_to_quote),
		cmocka_unit_test(open_quotes_are_refused),
		cmocka_unit_test(join_leaves_plain_words_alone),
		cmocka_unit_test(join_quotes_what_begins_a_command_differently),
		cmocka_unit_test(join_then_split_is_the_same),
		cmocka_unit_test(shell_reads_a_joined_line_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
