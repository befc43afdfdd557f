/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "engine/deck/agentversion.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A directory for the programs, the state and the number of runs. */
static char *scratch;

static const char *at(const char *name)
{
	static char path[4096];
	(void)snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	struct error err = { 0 };
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	if (fs_write_all(fd, text, strlen(text), name, &err) < 0)
		fail_msg("%s", err.message);
	close(fd);
}

/* A program that counts its runs. */
static void write_program(const char *name, const char *body)
{
	cleanup_free char *text = xasprintf("#!/bin/sh\necho \"$0 $*\" >>%s/asked\n%s\n", scratch,
					    body);
	write_file(name, text, 0700);
}

static size_t questions(void)
{
	cleanup_strbuf struct strbuf text = { 0 };
	size_t count = 0;
	if (fs_read(AT_FDCWD, at("asked"), 1 << 20, &text, NULL) != 0)
		return 0;
	for (const char *s = strbuf_text(&text); *s; s++)
		count += *s == '\n';
	return count;
}

static int setup(void **state)
{
	char directory[] = "/tmp/test-agentversion-XXXXXX";
	(void)state;
	assert_non_null(mkdtemp(directory));
	scratch = xstrdup(directory);
	assert_int_equal(mkdir(at("state"), 0700), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(fs_remove_tree(AT_FDCWD, scratch, NULL), 0);
	free(scratch);
	return 0;
}

/* The entry of a program in the scratch directory. */
static const struct agent *entry(struct registry *registry, const char *name, const char *more)
{
	struct error err = { 0 };
	cleanup_free char *text = xasprintf("command = ['%s']\n%s\n", at(name), more);
	if (registry_override(registry, name, text, strlen(text), "x.toml", &err) != 0)
		fail_msg("%s", err.message);
	return registry_find(registry, name);
}

static void assert_version(const char *name, const char *more, const char *version)
{
	cleanup_registry struct registry registry = { 0 };
	const struct agent *agent = entry(&registry, name, more);
	cleanup_free char *state = xstrdup(at("state"));
	CLEANUP(agent_seen_clear) struct agent_seen seen;
	agentversion_look(state, &agent, 1, &seen);
	if (version)
		assert_string_equal(or_empty(seen.version), version);
	else
		assert_null(seen.version);
}

#define ASKED "version = ['--version']"

static void a_version_is_found_in_what_programs_say(void **state)
{
	(void)state;
	static const struct {
		const char *text, *version;
	} cases[] = {
		{ "1.2.3", "1.2.3" },
		{ "2.1.329 (Claude Code)\n", "2.1.329" },
		{ "codex-cli 0.98.0-alpha.2\n", "0.98.0-alpha.2" },
		{ "v18.1", "18.1" },
		{ "2026.01.28-fd13201", "2026.01.28-fd13201" },
		{ "Version: 1.0.", "1.0" },
		{ "since 2024, it is 3.4", "3.4" },
		{ "7 8 .9 10. 11.x", NULL },
		{ "", NULL },
		{ "no such option", NULL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *version = agentversion_find(cases[i].text);
		if (!streq(or_empty(version), or_empty(cases[i].version)))
			fail_msg("%s: %s", cases[i].text, or_empty(version));
	}
}

static void a_program_is_asked_once_until_it_changes(void **state)
{
	(void)state;
	write_program("bird", "echo bird 1.0.0; echo 2.0.0 >&2");
	assert_version("bird", ASKED, "1.0.0");
	assert_version("bird", ASKED, "1.0.0");
	assert_int_equal(questions(), 1);
	/* With the same size and the same time of modification. */
	struct stat st;
	assert_int_equal(stat(at("bird"), &st), 0);
	write_program("bird", "echo bird 1.0.1; echo 2.0.0 >&2");
	assert_int_equal(utimensat(AT_FDCWD, at("bird"),
				   (const struct timespec[]){ st.st_atim, st.st_mtim }, 0),
			 0);
	assert_version("bird", ASKED, "1.0.1");
	assert_version("bird", "version = ['-V']", "1.0.1");
	assert_int_equal(questions(), 3);
}

static void who_cannot_be_asked_has_no_version(void **state)
{
	(void)state;
	write_program("bird", "echo 1.0");
	write_program("fails", "echo 1.0; exit 1");
	write_program("mumbles", "echo what?");
	write_program("on-errors", "echo 3.1 >&2");
	assert_version("bird", "", NULL);
	assert_version("not-there", ASKED, NULL);
	/* The version would be npx's. */
	cleanup_free char *through = xasprintf("command = ['npx', '%s']\n", at("bird"));
	cleanup_registry struct registry registry = { 0 };
	struct error err = { 0 };
	cleanup_free char *text = xasprintf("%s" ASKED "\n", through);
	assert_int_equal(registry_override(&registry, "x", text, strlen(text), "x", &err), 0);
	CLEANUP(agent_seen_clear) struct agent_seen seen;
	cleanup_free char *directory = xstrdup(at("state"));
	agentversion_look(directory, (const struct agent *const *)registry.agents, 1, &seen);
	assert_null(seen.version);
	assert_int_equal(questions(), 0);
	assert_version("fails", ASKED, NULL);
	assert_version("mumbles", ASKED, NULL);
	assert_version("on-errors", ASKED, "3.1");
}

static void silence_is_remembered_too(void **state)
{
	(void)state;
	write_program("mute", "exit 0");
	assert_version("mute", ASKED, NULL);
	assert_version("mute", ASKED, NULL);
	assert_int_equal(questions(), 1);
	/* But not for ever. */
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *cache = NULL;
	assert_int_equal(fs_read(AT_FDCWD, at("state/agent-versions.json"), 1 << 20, &text, NULL),
			 0);
	assert_int_equal(json_parse(strbuf_text(&text), text.length, "x", &cache, NULL), 0);
	json_set_int(json_get_object(cache, at("mute")), "asked_us", 1);
	write_file("state/agent-versions.json", json_print(cache), 0600);
	assert_version("mute", ASKED, NULL);
	assert_int_equal(questions(), 2);
}

static void a_damaged_memory_is_begun_anew(void **state)
{
	(void)state;
	write_program("bird", "echo 1.0");
	write_file("state/agent-versions.json", "{", 0600);
	assert_version("bird", ASKED, "1.0");
	assert_version("bird", ASKED, "1.0");
	assert_int_equal(questions(), 1);
}

static void one_that_hangs_does_not_keep_the_others(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = { 0 };
	struct agent_seen seen[6];
	const char *const names[] = { "a", "b", "c", "d", "e", "f" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		write_program(names[i], i ? "echo 1.0" : "exec tail -f /dev/null");
		entry(&registry, names[i], ASKED);
	}
	cleanup_free char *directory = xstrdup(at("state"));
	agentversion_look(directory, (const struct agent *const *)registry.agents,
			  ARRAY_SIZE(names), seen);
	assert_null(seen[0].version);
	assert_non_null(seen[0].path);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (i)
			assert_string_equal(or_empty(seen[i].version), "1.0");
		agent_seen_clear(seen + i);
	}
}

static void nowhere_to_keep_it_is_no_reason_not_to_ask(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = { 0 };
	CLEANUP(agent_seen_clear) struct agent_seen seen;
	write_program("bird", "echo 1.0");
	write_file("file", "", 0600);
	const struct agent *agent = entry(&registry, "bird", ASKED);
	agentversion_look(at("file"), &agent, 1, &seen);
	assert_string_equal(or_empty(seen.version), "1.0");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_version_is_found_in_what_programs_say),
		TEST(a_program_is_asked_once_until_it_changes),
		TEST(who_cannot_be_asked_has_no_version),
		TEST(silence_is_remembered_too),
		TEST(a_damaged_memory_is_begun_anew),
		TEST(one_that_hangs_does_not_keep_the_others),
		TEST(nowhere_to_keep_it_is_no_reason_not_to_ask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
