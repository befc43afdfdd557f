/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/text.h"
#include "model/settings/paths.h"

#include <string.h>

/* The environment of one test: NAME, value, ..., NULL. */
static const char *const *environment;

static const char *lookup(const char *name)
{
	for (const char *const *entry = environment; *entry; entry += 2)
		if (streq(entry[0], name))
			return entry[1];
	return NULL;
}

#define ENVIRONMENT(...)                    \
	environment = (const char *const[]) \
	{                                   \
		__VA_ARGS__                 \
	}

static struct paths find(const char *passwd_home)
{
	struct paths paths = { 0 };
	struct error err = { 0 };
	if (paths_find(lookup, passwd_home, 1000, &paths, &err) != 0)
		fail_msg("%s", err.message);
	return paths;
}

static void assert_usage(const char *passwd_home, const char *part)
{
	struct paths paths = { .home = (char *)"untouched" };
	cleanup_error struct error err = { 0 };
	assert_int_equal(paths_find(lookup, passwd_home, 1000, &paths, &err), -1);
	assert_int_equal(err.code, ERROR_USAGE);
	assert_string_equal(paths.home, "untouched");
	if (!strstr(err.message, part))
		fail_msg("\"%s\" does not say \"%s\"", err.message, part);
}

static void a_bare_environment_has_the_defaults_of_xdg(void **state)
{
	(void)state;
	ENVIRONMENT("HOME", "/home/u", NULL);
	cleanup_paths struct paths paths = find(NULL);
	assert_string_equal(paths.home, "/home/u");
	assert_string_equal(paths.config, "/home/u/.config/agentdeck");
	assert_string_equal(paths.state, "/home/u/.local/state/agentdeck");
	assert_string_equal(paths.runtime, "/run/user/1000/agentdeck");
	assert_string_equal(paths.user_runtime, "/run/user/1000");
	assert_string_equal(paths.direct, "/tmp/agentdeck-1000");
}

static void xdg_variables_move_their_own_part(void **state)
{
	(void)state;
	ENVIRONMENT("HOME", "/home/u", "XDG_CONFIG_HOME", "/c/", "XDG_STATE_HOME", "/s",
		    "XDG_RUNTIME_DIR", "/r", "TMPDIR", "/var/tmp/", NULL);
	cleanup_paths struct paths paths = find(NULL);
	assert_string_equal(paths.config, "/c/agentdeck");
	assert_string_equal(paths.state, "/s/agentdeck");
	assert_string_equal(paths.runtime, "/r/agentdeck");
	assert_string_equal(paths.user_runtime, "/r");
	assert_string_equal(paths.direct, "/var/tmp/agentdeck-1000");
}

static void relative_and_empty_values_are_ignored(void **state)
{
	(void)state;
	ENVIRONMENT("HOME", "/home/u", "XDG_CONFIG_HOME", "c", "XDG_STATE_HOME", "",
		    "XDG_RUNTIME_DIR", "./r", "TMPDIR", "tmp", "AGENTDECK_HOME", "", NULL);
	cleanup_paths struct paths paths = find(NULL);
	assert_string_equal(paths.config, "/home/u/.config/agentdeck");
	assert_string_equal(paths.state, "/home/u/.local/state/agentdeck");
	assert_string_equal(paths.runtime, "/run/user/1000/agentdeck");
	assert_string_equal(paths.direct, "/tmp/agentdeck-1000");
}

static void agentdeck_home_holds_everything_but_the_sockets_of_direct_runs(void **state)
{
	(void)state;
	ENVIRONMENT("HOME", "/home/u", "AGENTDECK_HOME", "/deck//", "XDG_CONFIG_HOME", "/c",
		    "XDG_STATE_HOME", "/s", "XDG_RUNTIME_DIR", "/r", NULL);
	cleanup_paths struct paths paths = find(NULL);
	assert_string_equal(paths.home, "/home/u");
	assert_string_equal(paths.config, "/deck");
	assert_string_equal(paths.state, "/deck");
	assert_string_equal(paths.runtime, "/deck/run");
	assert_string_equal(paths.user_runtime, "/r");
	assert_string_equal(paths.direct, "/tmp/agentdeck-1000");
}

static void the_user_database_stands_in_for_home(void **state)
{
	(void)state;
	ENVIRONMENT(NULL);
	cleanup_paths struct paths paths = find("/home/p/");
	assert_string_equal(paths.home, "/home/p");
	ENVIRONMENT("HOME", "relative", NULL);
	cleanup_paths struct paths other = find("/home/p");
	assert_string_equal(other.config, "/home/p/.config/agentdeck");
	ENVIRONMENT("HOME", "/", NULL);
	cleanup_paths struct paths root = find("/home/p");
	assert_string_equal(root.config, "/.config/agentdeck");
}

static void no_home_at_all_is_refused(void **state)
{
	(void)state;
	ENVIRONMENT(NULL);
	assert_usage(NULL, "set HOME");
	ENVIRONMENT("HOME", "", NULL);
	assert_usage("", "set HOME");
}

static void a_relative_agentdeck_home_is_refused(void **state)
{
	(void)state;
	ENVIRONMENT("HOME", "/home/u", "AGENTDECK_HOME", "deck", NULL);
	assert_usage(NULL, "AGENTDECK_HOME is \"deck\"");
}

/* "/" and letters, length bytes in all; the caller frees. */
static char *root_of(size_t length)
{
	char *root = xcalloc(1, length + 1);
	memset(root, 'r', length);
	root[0] = '/';
	return root;
}

static void a_run_lives_below_its_root_while_its_socket_fits(void **state)
{
	(void)state;
	size_t tail = strlen("/0123abcd/" PATHS_SOCKET_NAME);
	cleanup_free char *fits = root_of(PATHS_SOCKET_MAX - tail);
	cleanup_free char *too_long = root_of(PATHS_SOCKET_MAX - tail + 1);
	cleanup_free char *expected = xasprintf("%s/0123abcd", fits);
	cleanup_free char *directory = paths_run_directory(fits, "/tmp/ad", "0123abcd");
	assert_string_equal(directory, expected);
	cleanup_free char *hashed = paths_run_directory(too_long, "/tmp/ad", "0123abcd");
	assert_true(starts_with(hashed, "/tmp/ad/"));
	assert_true(ends_with(hashed, "/0123abcd"));
	assert_int_equal(strlen(hashed), strlen("/tmp/ad/12345678/0123abcd"));
	assert_int_equal(strspn(hashed + strlen("/tmp/ad/"), "0123456789abcdef"), 8);
}

static void long_roots_do_not_meet_and_stay_where_they_are(void **state)
{
	(void)state;
	cleanup_free char *one = root_of(120);
	cleanup_free char *two = root_of(121);
	cleanup_free char *a = paths_run_directory(one, "/tmp/ad", "0123abcd");
	cleanup_free char *b = paths_run_directory(two, "/tmp/ad", "0123abcd");
	cleanup_free char *again = paths_run_directory(one, "/tmp/ad", "0123abcd");
	assert_string_not_equal(a, b);
	assert_string_equal(a, again);
	/* A later version must find a running server, too: the hash must not change. */
	cleanup_free char *known = paths_run_directory(one, "/s", "0123abcd");
	assert_string_equal(known, "/s/3e9e7fa8/0123abcd");
}

static void a_run_directory_is_known_by_its_name(void **state)
{
	(void)state;
	static const char *const ours[] = {
		"/run/user/1000/agentdeck/0123abcd",
		"/tmp/agentdeck-1000/0123abcd",
		"/home/x/deck/run/0123abcd",
		"/tmp/agentdeck-1000/3e9e7fa8/0123abcd",
	};
	static const char *const foreign[] = {
		"",
		"/",
		"/0123abcd",
		"agentdeck/0123abcd",
		"/home/x",
		"/home/x/projects/0123abcd",
		"/run/user/1000/agentdeck/abcd0123",
		"/run/user/1000/agentdeck/0123abcd/",
		"/run/user/1000/agentdeck/../0123abcd",
		"/home/x/agentdeck//0123abcd",
		"/home/x/agentdeck/./0123abcd",
		"/home/../agentdeck/0123abcd",
		"/home/x/3e9e7fa8/0123abcd",
		"/tmp/agentdeck-x/0123abcd",
		"/tmp/agentdeck-/0123abcd",
	};
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (!paths_is_run_directory(ours[i], "0123abcd"))
			fail_msg("%s is refused", ours[i]);
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
		if (paths_is_run_directory(foreign[i], "0123abcd"))
			fail_msg("%s is taken", foreign[i]);
	assert_false(paths_is_run_directory("/home/x/run/", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bare_environment_has_the_defaults_of_xdg),
		cmocka_unit_test(xdg_variables_move_their_own_part),
		cmocka_unit_test(relative_and_empty_values_are_ignored),
		cmocka_unit_test(agentdeck_home_holds_everything_but_the_sockets_of_direct_runs),
		cmocka_unit_test(the_user_database_stands_in_for_home),
		cmocka_unit_test(no_home_at_all_is_refused),
		cmocka_unit_test(a_relative_agentdeck_home_is_refused),
		cmocka_unit_test(a_run_lives_below_its_root_while_its_socket_fits),
		cmocka_unit_test(long_roots_do_not_meet_and_stay_where_they_are),
		cmocka_unit_test(a_run_directory_is_known_by_its_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
