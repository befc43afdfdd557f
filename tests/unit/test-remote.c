/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/child.h"
#include "model/host/remote.h"

#include <string.h>

static void names_and_destinations_are_words(void **state UNUSED)
{
	static const char *const names[] = { "gpu1", "a", "0.x_-" };
	static const char *const no_names[] = { "", "local", "-a", "a:b", "a b", "a/b", "\033" };
	static const char *const destinations[] = { "gpu1", "ann@gpu1", "ssh://ann@[::1]:22" };
	static const char *const no_destinations[] = {
		"", "-oProxyCommand=x", "a b", "$(x)", "a;b", "a\nb", "`x`"
	};
	static const char *const programs[] = { "agentdeck", "/opt/a/agentdeck",
						"~/bin/agentdeck" };
	static const char *const no_programs[] = { "",    "bin/agentdeck", "~ann/agentdeck",
						   "a b", "~/$x",          "-c" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_true(remote_is_name(names[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no_names); i++)
		assert_false(remote_is_name(no_names[i]));
	for (size_t i = 0; i < ARRAY_SIZE(destinations); i++)
		assert_true(remote_is_destination(destinations[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no_destinations); i++)
		assert_false(remote_is_destination(no_destinations[i]));
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		assert_true(remote_is_program(programs[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no_programs); i++)
		assert_false(remote_is_program(no_programs[i]));
}

static void a_session_is_split_from_its_host(void **state UNUSED)
{
	CLEANUP(remotes_free) struct remotes remotes = { 0 };
	const struct remote *remote = NULL;
	const char *session = NULL;
	remotes_add(&remotes, &(struct remote){ .name = (char[]){ "gpu1" } });
	assert_string_equal(remotes.items[0].ssh, "gpu1");
	assert_string_equal(remotes.items[0].program, REMOTE_PROGRAM);
	assert_int_equal(remotes.items[0].timeout_s, REMOTE_TIMEOUT_S);
	assert_true(remotes_split(&remotes, "gpu1:a:b", &remote, &session));
	assert_ptr_equal(remote, &remotes.items[0]);
	assert_string_equal(session, "a:b");
	assert_true(remotes_split(&remotes, "local:gpu1:a", &remote, &session));
	assert_null(remote);
	assert_string_equal(session, "gpu1:a");
	assert_false(remotes_split(&remotes, "gpu2:a", &remote, &session));
	assert_false(remotes_split(&remotes, "gpu1", &remote, &session));
	assert_false(remotes_split(&remotes, ":a", &remote, &session));
}

static const char *const words[] = {
	"",           "plain",  "it's",    "''",  "a\\b\\",     "\\n",      "!history",
	"$HOME;`id`", "a b\tc", "*?[]{}~", "=ls", "\"double\"", "#comment", "\xc3\xbc\xff",
};

/* -c of this shell prints the words that it reads, each on a line. */
static void assert_shell_reads(const char *shell)
{
	cleanup_strbuf struct strbuf line = { 0 }, expected = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error err = { 0 };
	strbuf_adds(&line, "printf '<%s>\\n' ");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		remote_quote(&line, words[i]);
		strbuf_addf(&expected, "<%s>\n", words[i]);
	}
	const struct child_request request = { .argv = (const char *const[]){ shell, "-c",
									      line.data, NULL } };
	const int r = child_run(&request, 10000, &result, &err);
	if (r == CHILD_NOT_INSTALLED)
		return;
	assert_int_equal(r, 0);
	assert_string_equal(strbuf_text(&result.output), expected.data);
}

static void every_shell_reads_the_same_words(void **state UNUSED)
{
	static const char *const shells[] = { "sh", "bash", "zsh", "fish", "csh", "tcsh" };
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		assert_shell_reads(shells[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_destinations_are_words),
		cmocka_unit_test(a_session_is_split_from_its_host),
		cmocka_unit_test(every_shell_reads_the_same_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
