/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/scratch.h"
#include "unit/test.h"

#include "base/sha256.h"
#include "engine/role/fetch.h"

#include <string.h>
#include <sys/stat.h>

#define IMAGE "{\"image\": \"x\"}"

static struct deck deck;

static void make_directory(const char *name)
{
	assert_int_equal(mkdirat(here, name, 0700), 0);
}

static void put_in(const char *directory, const char *name, const char *text)
{
	cleanup_close int fd = openat(here, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fs_replace(fd, name, text, strlen(text), FS_VOLATILE, NULL), 0);
}

/* name: below the scratch directory. */
static int read_source(const char *name, struct role_source *ret, struct error *err)
{
	cleanup_free char *path = path_join(scratch, name);
	return role_source_read(&deck, path, NULL, NULL, ret, err);
}

static void assert_file(const char *directory, const char *file)
{
	cleanup_role_source struct role_source source = { 0 };
	struct error err = { 0 };
	if (read_source(directory, &source, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(source.file + strlen(scratch) + 1, file);
}

static void assert_refused(const char *directory, enum error_code code, const char *why)
{
	cleanup_role_source struct role_source source = { 0 };
	cleanup_error struct error err = { 0 };
	assert_int_equal(read_source(directory, &source, &err), -1);
	if (err.code != code || !strstr(err.message, why))
		fail_msg("%s", err.message);
	assert_null(source.file);
}

static void the_usual_places_are_searched_in_their_order(void **state UNUSED)
{
	make_directory("p");
	make_directory("p/.devcontainer");
	assert_refused("p", ERROR_NOT_FOUND, "has no role");
	put_in("p", "devcontainer.json", IMAGE);
	assert_file("p", "p/devcontainer.json");
	make_directory("p/.devcontainer/a");
	put_in("p/.devcontainer/a", "devcontainer.json", IMAGE);
	put_in("p", ".devcontainer.json", IMAGE);
	assert_file("p", "p/.devcontainer.json");
	put_in("p/.devcontainer", "devcontainer.json", IMAGE);
	assert_file("p", "p/.devcontainer/devcontainer.json");
	assert_file("p/.devcontainer/a", "p/.devcontainer/a/devcontainer.json");
	assert_refused("gone", ERROR_NOT_FOUND, "is no directory");
}

static void one_of_several_must_be_named(void **state UNUSED)
{
	make_directory("p");
	make_directory("p/.devcontainer");
	make_directory("p/.devcontainer/a");
	put_in("p/.devcontainer/a", "devcontainer.json", IMAGE);
	assert_file("p", "p/.devcontainer/a/devcontainer.json");
	make_directory("p/.devcontainer/b");
	put_in("p/.devcontainer/b", "devcontainer.json", IMAGE);
	assert_refused("p", ERROR_USAGE, "several");
	assert_file("p/.devcontainer/b", "p/.devcontainer/b/devcontainer.json");
	assert_file("p/.devcontainer/a/devcontainer.json", "p/.devcontainer/a/devcontainer.json");
}

static void a_context_may_be_all_of_the_project(void **state UNUSED)
{
	cleanup_role_source struct role_source source = { 0 };
	make_directory("p");
	make_directory("p/.devcontainer");
	put_in("p/.devcontainer", "Dockerfile", "FROM debian:12\n");
	put_in("p/.devcontainer", "devcontainer.json",
	       "{\"build\": {\"dockerfile\": \"Dockerfile\", \"context\": \"..\"}}");
	assert_int_equal(read_source("p/.devcontainer", &source, NULL), 0);
	assert_string_equal(source.context, source.root);
	assert_true(ends_with(source.root, "/p"));
	assert_true(ends_with(source.dockerfile, "/p/.devcontainer/Dockerfile"));
	assert_string_equal(source.dockerfile_text, "FROM debian:12\n");
}

/* A directory further above that has such a name is not the project's. */
static void its_project_is_the_nearest(void **state UNUSED)
{
	static const struct {
		const char *directory, *project;
	} roles[] = {
		{ ".devcontainer/p", ".devcontainer/p" },
		{ ".devcontainer/p/.devcontainer", ".devcontainer/p" },
		{ ".devcontainer/p/.devcontainer/a", ".devcontainer/p" },
		{ ".devcontainer/p/b/c", ".devcontainer/p/b/c" },
		{ ".devcontainer.old/q/.devcontainer", ".devcontainer.old/q" },
	};
	static const char *const made[] = { ".devcontainer",
					    ".devcontainer/p",
					    ".devcontainer/p/.devcontainer",
					    ".devcontainer/p/.devcontainer/a",
					    ".devcontainer/p/b",
					    ".devcontainer/p/b/c",
					    ".devcontainer.old",
					    ".devcontainer.old/q",
					    ".devcontainer.old/q/.devcontainer" };
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		make_directory(made[i]);
	put_in(".devcontainer/p/.devcontainer", "devcontainer.json", IMAGE);
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		cleanup_role_source struct role_source source = { 0 };
		put_in(roles[i].directory, "devcontainer.json", IMAGE);
		assert_int_equal(read_source(roles[i].directory, &source, NULL), 0);
		assert_string_equal(source.root + strlen(scratch) + 1, roles[i].project);
	}
}

static void nothing_leads_out_of_the_directory(void **state UNUSED)
{
	make_directory("p");
	put("secret", "FROM mine\n");
	put_in("p", "devcontainer.json", "{\"build\": {\"dockerfile\": \"../secret\"}}");
	assert_refused("p", ERROR_INVALID, "which is not in");
	put_in("p", "devcontainer.json",
	       "{\"build\": {\"dockerfile\": \"secret\", \"context\": \"..\"}}");
	assert_refused("p", ERROR_INVALID, "which is not in");
	assert_int_equal(symlinkat("../secret", here, "p/link"), 0);
	put_in("p", "devcontainer.json", "{\"build\": {\"dockerfile\": \"link\"}}");
	assert_refused("p", ERROR_INVALID, "which is not in");
	put_in("p", "devcontainer.json", "{\"build\": {\"dockerfile\": \"gone\"}}");
	assert_refused("p", ERROR_NOT_FOUND, "does not exist");
	/* The file itself, too. */
	make_directory("q");
	assert_int_equal(symlinkat("../p/devcontainer.json", here, "q/devcontainer.json"), 0);
	assert_refused("q", ERROR_INVALID, "which is not in");
}

static void only_the_variables_that_the_user_names_are_read(void **state UNUSED)
{
	cleanup_role_source struct role_source before = { 0 }, after = { 0 };
	make_directory("p");
	put_in("p", "devcontainer.json",
	       "{\"image\": \"x\", \"containerEnv\": {\"A\": \"${localEnv:TEST_ROLE}\"}}");
	assert_int_equal(setenv("TEST_ROLE", "value", true), 0);
	assert_int_equal(read_source("p", &before, NULL), 0);
	assert_int_equal(before.role.environment.count, 0);
	strvec_push(&deck.settings.container.role_env, "TEST_ROLE");
	assert_int_equal(read_source("p", &after, NULL), 0);
	strvec_clear(&deck.settings.container.role_env);
	assert_string_equal(after.role.environment.items[0], "A=value");
}

/* Another process may fetch from there for minutes.  A directory cannot be locked at all. */
static void files_that_are_there_need_no_lock(void **state UNUSED)
{
	static const char url[] = "https://example.com/roles.git";
	char digest[SHA256_TEXT_SIZE];
	cleanup_free char *here_files = xasprintf("roles.cache/%s", sha256_text(url, digest));
	cleanup_free char *commit = xasprintf("%s/0123", here_files);
	cleanup_free char *lock = xasprintf("%s.lock", here_files);
	make_directory("roles.cache");
	make_directory(here_files);
	make_directory(lock);
	deck.paths.state = xstrdup(scratch);
	assert_int_equal(role_restore(&deck, url, "0123", url, NULL), -1);
	make_directory(commit);
	assert_int_equal(role_restore(&deck, url, "0123", url, NULL), 0);
	replace_string(&deck.paths.state, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_usual_places_are_searched_in_their_order,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_of_several_must_be_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_context_may_be_all_of_the_project, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(its_project_is_the_nearest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(files_that_are_there_need_no_lock, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(nothing_leads_out_of_the_directory, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(only_the_variables_that_the_user_names_are_read,
						set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
