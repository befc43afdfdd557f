/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The caller of agentdeck-assess, with programs that misbehave in its place; and the program itself
 * on a small clone.  tests/workspaces has the hostile trees and the random histories.
 */
#include "unit/scratch.h"
#include "unit/tracing.h"

#include "base/child.h"
#include "base/fsutil.h"
#include "driver/assess/assess.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct verdict ask_about(const struct origin *origin, const char *script, int timeout_ms)
{
	struct verdict verdict = { 0 };
	cleanup_free char *path = path_join(scratch, "program");
	put("program", script);
	assert_int_equal(chmod(path, 0700), 0);
	setenv(ASSESS_PROGRAM_VARIABLE, path, 1);
	assess_verdict(origin, timeout_ms, &verdict);
	return verdict;
}

static struct verdict ask_with(const char *script, int timeout_ms)
{
	const struct origin origin = { .source = scratch, .path = scratch };
	return ask_about(&origin, script, timeout_ms);
}

static void assert_unknown(const char *script, const char *why)
{
	struct verdict verdict = ask_with(script, 30000);
	assert_false(verdict_is_safe(&verdict));
	assert_int_equal(verdict.count, 1);
	assert_int_equal(verdict.findings[0].kind, FINDING_UNKNOWN);
	if (!strstr(verdict.findings[0].detail, why))
		fail_msg("%s", verdict.findings[0].detail);
	verdict_free(&verdict);
}

#define SAFE "{\"schema\":1,\"verdict\":\"safe\",\"findings\":[]}"

static void a_whole_answer_counts(void **state UNUSED)
{
	struct verdict verdict = ask_with("#!/bin/sh\ncat >/dev/null\necho '" SAFE "'\n", 30000);
	assert_true(verdict_is_safe(&verdict));
	verdict_free(&verdict);
}

static void every_other_end_is_unsafe(void **state UNUSED)
{
	assert_unknown("#!/bin/sh\nexit 0\n", "end of the text");
	assert_unknown("#!/bin/sh\necho '" SAFE "'\nexit 1\n", "status 1");
	assert_unknown("#!/bin/sh\necho 'it is cold' >&2\nexit 1\n", "it is cold");
	assert_unknown("#!/bin/sh\necho '" SAFE "'\nkill -9 $$\n", "signal 9");
	assert_unknown("#!/bin/sh\necho '{\"schema\":1,\"verdict\":\"sa'\n", "verdict:");
	assert_unknown("#!/bin/sh\necho '" SAFE SAFE "'\n", "verdict:");
	assert_unknown("#!/bin/sh\nexec head -c 99000000 /dev/zero\n", "");
}

/* As while git collects garbage.  Three times are enough: then it is not known. */
static void what_is_unclear_for_a_moment_is_asked_again(void **state UNUSED)
{
	static const char unclear[] =
		"echo '{\"schema\":1,\"verdict\":\"unsafe\",\"findings\":[{\"kind\":\"unknown\","
		"\"where\":\"\",\"name\":\"\",\"detail\":\"it changed\"}]}'";
	cleanup_free char *once = xasprintf("#!/bin/sh\ncat >/dev/null\ntest -e \"$0.asked\" && "
					    "exec echo '" SAFE "'\n: >\"$0.asked\"\n%s\n",
					    unclear);
	cleanup_free char *always = xasprintf("#!/bin/sh\ncat >/dev/null\n"
					      "echo >>\"$0.count\"\n%s\n",
					      unclear);
	cleanup_free char *count = path_join(scratch, "program.count");
	struct stat status;
	struct verdict verdict = ask_with(once, 30000);
	assert_true(verdict_is_safe(&verdict));
	verdict_free(&verdict);
	assert_unknown(always, "it changed");
	assert_int_equal(stat(count, &status), 0);
	assert_int_equal(status.st_size, 3);
}

static void a_slow_answer_is_unsafe(void **state UNUSED)
{
	struct verdict verdict = ask_with("#!/bin/sh\nexec sleep 600\n", 300);
	assert_false(verdict_is_safe(&verdict));
	verdict_free(&verdict);
}

static void without_the_program_nothing_is_safe(void **state UNUSED)
{
	struct origin origin = { .source = scratch, .path = scratch };
	struct verdict verdict = { 0 };
	struct error err = { 0 };
	setenv(ASSESS_PROGRAM_VARIABLE, "/nonexistent/agentdeck-assess", 1);
	assess_verdict(&origin, 30000, &verdict);
	assert_false(verdict_is_safe(&verdict));
	assert_string_equal(verdict.findings[0].detail, "agentdeck-assess is not installed");
	verdict_free(&verdict);
	assert_int_equal(assess_origin(&origin, 30000, &err), -1);
	assert_int_equal(err.code, ERROR_UNAVAILABLE);
	error_clear(&err);
}

/* ---- the program ---- */

static void run(const char *const *argv)
{
	struct child_result result = { 0 };
	const struct child_request request = { .argv = argv, .directory = here };
	assert_int_equal(child_run(&request, 30000, &result, NULL), 0);
	if (result.exit_status != 0)
		fail_msg("%s: %s", argv[3], strbuf_text(&result.errors));
	child_result_free(&result);
}

#define GIT(...)                                                                             \
	run((const char *const[]){ "git", "-c", "user.name=n", "-c", "user.email=n@invalid", \
				   __VA_ARGS__, NULL })

static struct verdict verdict_of(const struct origin *origin)
{
	struct verdict verdict = { 0 };
	assess_verdict(origin, 60000, &verdict);
	return verdict;
}

static struct origin make_clone(void)
{
	struct origin origin = { .kind = ORIGIN_CLONE };
	GIT("init", "-q", "source");
	GIT("-C", "source", "commit", "-q", "--allow-empty", "-m", "first");
	GIT("clone", "-q", "--no-hardlinks", "--template=", "source", "tree");
	origin.source = path_join(scratch, "source");
	origin.path = path_join(scratch, "tree");
	assert_int_equal(assess_origin(&origin, 60000, NULL), 0);
	return origin;
}

static void a_fresh_clone_is_safe_and_work_in_it_is_not(void **state UNUSED)
{
	cleanup_free char *program = xasprintf("%s/agentdeck-assess",
					       or_empty(getenv("top_builddir")));
	if (access(program, X_OK) != 0)
		skip();
	setenv(ASSESS_PROGRAM_VARIABLE, program, 1);
	struct origin origin = make_clone();
	assert_int_equal(origin.remote_count, 1);
	assert_true(origin.ref_count >= 2);

	struct verdict verdict = verdict_of(&origin);
	assert_int_equal(verdict.count, 0);
	assert_true(verdict_is_safe(&verdict));
	verdict_free(&verdict);

	put("tree/work", "mine");
	GIT("-C", "tree", "commit", "-q", "--allow-empty", "-m", "second");
	verdict = verdict_of(&origin);
	assert_false(verdict_is_safe(&verdict));
	assert_int_equal(verdict.count, 2);
	assert_string_equal(verdict.findings[0].name, "?? work");
	assert_int_equal(verdict.findings[1].kind, FINDING_BRANCH);
	assert_non_null(strstr(verdict.findings[1].detail, "1 commit not on origin/"));
	verdict_free(&verdict);
	origin_free(&origin);
}

/* How many calls of fstatat() the C library makes for a directory differs.  Returns whether the
 * when-th was that of the file. */
static bool ask_without_a_file(const struct origin *origin, const char *program, int when)
{
	cleanup_free char *script = xasprintf(
		"#!/bin/sh\nexec strace -qq -o '%s/trace' -P '%s/tree/.git/logs' "
		"-e trace=openat,newfstatat -e inject=openat:error=ENOENT "
		"-e inject=newfstatat:error=ENOENT:when=%d '%s' \"$@\"\n",
		scratch, scratch, when, program);
	cleanup_free char *trace = path_join(scratch, "trace");
	cleanup_strbuf struct strbuf text = { 0 };
	struct verdict verdict = ask_about(origin, script, 60000);
	assert_int_equal(fs_read(AT_FDCWD, trace, 1 << 20, &text, NULL), 0);
	const char *file = strstr(strbuf_text(&text), "\"HEAD\"");
	const char *end = file ? strchr(file, '\n') : NULL;
	cleanup_free char *line = end ? xstrndup(file, (size_t)(end - file)) : NULL;
	const bool is_hit = line && strstr(line, "INJECTED");
	if (is_hit && verdict.count)
		fail_msg("%s %s", verdict.findings[0].name, verdict.findings[0].detail);
	assert_true(!is_hit || strstr(strbuf_text(&text), "\"refs\""));
	verdict_free(&verdict);
	return is_hit;
}

/* They are listed, and gone when they are looked at, as locks of git's and objects that it packs. */
static void what_git_removes_meanwhile_is_no_finding(void **state UNUSED)
{
	enum { CALLS = 4 };
	cleanup_free char *program = xasprintf("%s/agentdeck-assess",
					       or_empty(getenv("top_builddir")));
	if (access(program, X_OK) != 0)
		skip();
	skip_without_strace();
	setenv(ASSESS_PROGRAM_VARIABLE, program, 1);
	struct origin origin = make_clone();
	bool is_hit = false;
	for (int when = 1; when <= CALLS && !is_hit; when++)
		is_hit = ask_without_a_file(&origin, program, when);
	assert_true(is_hit);
	origin_free(&origin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_whole_answer_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_other_end_is_unsafe, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_slow_answer_is_unsafe, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_unclear_for_a_moment_is_asked_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(without_the_program_nothing_is_safe, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_fresh_clone_is_safe_and_work_in_it_is_not, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_git_removes_meanwhile_is_no_finding, set_up,
						tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
