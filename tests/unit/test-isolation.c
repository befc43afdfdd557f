/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a run gets a scope: by the settings, by what is installed, and by whether a user manager
 * answers (tests/helper/fake-systemd1).
 */
#include "unit/unit-fixture.h"

#include "base/log.h"
#include "engine/place/isolation.h"

static struct deck deck;

static int begin(void **state)
{
	if (set_up(state) < 0)
		return -1;
	struct fixture *f = *state;
	setenv("AGENTDECK_HOME", f->directory, 1);
	setenv("HOME", f->directory, 1);
	setenv("XDG_RUNTIME_DIR", f->directory, 1);
	unsetenv("AGENTDECK_PROFILE");
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	if (deck_open("default", "test", &deck, NULL) < 0)
		return -1;
	/* no test changes the machine */
	deck.settings.tmux.linger = OFF;
	return 0;
}

static int end(void **state)
{
	deck_close(&deck);
	return tear_down(state);
}

static char *log_text(const struct fixture *f)
{
	struct strbuf text = { 0 };
	cleanup_free char *path = path_join(f->directory, "agentdeck.log");
	assert_int_equal(fs_read(AT_FDCWD, path, 1 << 20, &text, NULL), 0);
	return strbuf_take(&text);
}

static void assert_decided(struct fixture *f, enum isolation expected, const char *words)
{
	cleanup_close int directory = open(f->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	log_open(directory, "test");
	assert_int_equal(isolation_decide(&deck), expected);
	cleanup_free char *text = log_text(f);
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, text);
}

static void the_user_can_turn_it_off(void **state)
{
	start_fake(*state, "direct");
	deck.settings.tmux.launch_in_user_scope = OFF;
	assert_decided(*state, ISOLATION_DIRECT,
		       "tmux cgroup isolation: disabled (config override)");
	assert_int_equal(deck.warnings.count, 0);
}

static void without_systemd_run_there_is_none_and_no_warning(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *path = xstrdup(or_empty(getenv("PATH")));
	start_fake(f, "direct");
	setenv("PATH", f->directory, 1);
	assert_decided(f, ISOLATION_DIRECT,
		       "tmux cgroup isolation: disabled (systemd-run not available)");
	assert_int_equal(deck.warnings.count, 0);
	/* who asks for it gets it: the program itself is not needed */
	deck.settings.tmux.launch_in_user_scope = ON;
	assert_decided(f, ISOLATION_SCOPE, "tmux cgroup isolation: enabled");
	setenv("PATH", path, 1);
}

static void a_manager_that_answers_gives_a_scope(void **state)
{
	struct fixture *f = *state;
	const char *why = NULL;
	start_fake(f, "direct");
	deck.settings.tmux.launch_in_user_scope = ON;
	assert_decided(f, ISOLATION_SCOPE, "tmux cgroup isolation: enabled (systemd-run detected)");
	assert_int_equal(isolation_examine(&deck, &why), ISOLATION_SCOPE);
	assert_string_equal(why, "systemd-run detected");
	assert_int_equal(deck.warnings.count, 0);
}

static void a_manager_that_is_not_there_gives_none_and_says_why(void **state)
{
	const char *why = NULL;
	deck.settings.tmux.launch_in_user_scope = ON;
	assert_decided(*state, ISOLATION_DIRECT,
		       "tmux cgroup isolation: disabled (user manager not reachable: ");
	assert_int_equal(isolation_examine(&deck, &why), ISOLATION_DIRECT);
	assert_non_null(why);
	/* where systemd runs, the user can mend it */
	assert_int_equal(deck.warnings.count, access("/run/systemd/system", F_OK) == 0);
}

static void a_run_lives_below_the_root_of_its_kind(void **state UNUSED)
{
	cleanup_free char *direct = isolation_run_directory(&deck, ISOLATION_DIRECT, "0123abcd");
	assert_true(starts_with(direct, deck.paths.direct));
	assert_non_null(strstr(direct, "0123abcd"));
	assert_ptr_equal(isolation_root(&deck, ISOLATION_DIRECT), deck.paths.direct);
	assert_ptr_equal(isolation_root(&deck, ISOLATION_SCOPE), deck.paths.runtime);
}

static void nobody_turns_lingering_on_against_the_settings(void **state)
{
	struct fixture *f = *state;
	cleanup_close int directory = open(f->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	log_open(directory, "test");
	log_info("begin");
	isolation_ensure_linger(&deck);
	cleanup_free char *text = log_text(f);
	assert_null(strstr(text, "linger"));
	assert_int_equal(deck.warnings.count, 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_user_can_turn_it_off),
		TEST(without_systemd_run_there_is_none_and_no_warning),
		TEST(a_manager_that_answers_gives_a_scope),
		TEST(a_manager_that_is_not_there_gives_none_and_says_why),
		TEST(a_run_lives_below_the_root_of_its_kind),
		TEST(nobody_turns_lingering_on_against_the_settings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
