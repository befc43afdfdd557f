/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/fsutil.h"
#include "engine/deck/deck.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct place {
	char root[64];
	struct deck deck;
};

static int begin(void **state)
{
	struct place *place = xcalloc(1, sizeof(*place));
	(void)snprintf(place->root, sizeof(place->root), "/tmp/agentdeck-deck-XXXXXX");
	if (!mkdtemp(place->root))
		return -1;
	cleanup_free char *agents = path_join(place->root, "agents");
	place->deck.paths.config = xstrdup(place->root);
	*state = place;
	return mkdir(agents, 0700);
}

static int end(void **state)
{
	struct place *place = *state;
	int r = fs_remove_tree(AT_FDCWD, place->root, NULL);
	deck_close(&place->deck);
	free(place);
	return r;
}

static void write_file(const struct place *place, const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/agents/%s.toml", place->root, name);
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
}

static const struct agent *get(struct place *place, const char *name)
{
	const struct agent *agent = NULL;
	struct error err = { 0 };
	if (deck_agent(&place->deck, name, &agent, &err) < 0)
		fail_msg("%s", err.message);
	return agent;
}

static const struct registry *all(struct place *place)
{
	const struct registry *registry = NULL;
	assert_int_equal(deck_registry(&place->deck, &registry, NULL), 0);
	return registry;
}

static void write_config(const struct place *place, const char *text)
{
	cleanup_free char *path = path_join(place->root, "config.toml");
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
}

static void clear_variables(void)
{
	static const char *const names[] = { ENV_INSTANCE, ENV_INSTANCE_PROFILE,
					     ENV_SHARED_INSTANCE, ENV_PROFILE };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(unsetenv(names[i]), 0);
}

static void variables_of_agent_deck_do_not_count(void **state)
{
	(void)state;
	assert_int_equal(setenv(ENV_PROFILE, "work", 1), 0);
	assert_string_equal(deck_env_profile(), "work");
	assert_null(deck_env_foreign_profile());
	assert_int_equal(setenv(ENV_SHARED_INSTANCE, "409a6ace-1795308038", 1), 0);
	assert_null(deck_env_instance());
	assert_null(deck_env_profile());
	assert_string_equal(deck_env_foreign_profile(), "work");
	/* Theirs, in a terminal of ours. */
	assert_int_equal(setenv(ENV_INSTANCE, "0123abcd", 1), 0);
	assert_int_equal(setenv(ENV_INSTANCE_PROFILE, "mine", 1), 0);
	assert_string_equal(deck_env_instance(), "0123abcd");
	assert_string_equal(deck_env_profile(), "mine");
	clear_variables();
}

static void a_session_is_known_by_its_own_variables(void **state)
{
	(void)state;
	assert_int_equal(setenv(ENV_INSTANCE, "0123abcd", 1), 0);
	assert_int_equal(setenv(ENV_INSTANCE_PROFILE, "mine", 1), 0);
	assert_string_equal(deck_env_instance(), "0123abcd");
	assert_string_equal(deck_env_profile(), "mine");
	/* The user's own choice takes precedence. */
	assert_int_equal(setenv(ENV_PROFILE, "work", 1), 0);
	assert_string_equal(deck_env_profile(), "work");
	clear_variables();
}

static void a_session_of_an_earlier_version_is_known(void **state)
{
	(void)state;
	assert_int_equal(setenv(ENV_SHARED_INSTANCE, "0123abcd", 1), 0);
	assert_int_equal(setenv(ENV_PROFILE, "work", 1), 0);
	assert_string_equal(deck_env_instance(), "0123abcd");
	assert_string_equal(deck_env_profile(), "work");
	assert_int_equal(setenv(ENV_SHARED_INSTANCE, "neither", 1), 0);
	assert_null(deck_env_instance());
	assert_string_equal(deck_env_profile(), "work");
	clear_variables();
}

static void a_broken_configuration_is_replaced_by_the_last_good_one(void **state)
{
	struct place *place = *state;
	cleanup_deck struct deck good = { 0 }, kept = { 0 }, none = { 0 }, empty = { 0 };
	cleanup_free char *copy = path_join(place->root, "config.good.toml");
	cleanup_free char *config = path_join(place->root, "config.toml");
	assert_int_equal(setenv("AGENTDECK_HOME", place->root, 1), 0);
	write_config(place, "[stop]\ntimeout = 7\n");
	assert_int_equal(deck_open("default", "test", &good, NULL), 0);
	assert_null(good.config_problem);
	write_config(place, "[stop]\ntimeout = never\n");
	assert_int_equal(deck_open("default", "test", &none, NULL), -1);
	assert_false(deck_config_has_changed(&good));
	write_config(place, "[stop]\ntimeout = 7\n");
	assert_false(deck_config_has_changed(&good));
	write_config(place, "[stop]\ntimeout = 9\n");
	assert_true(deck_config_has_changed(&good));
	write_config(place, "[stop]\ntimeout = never\n");
	assert_int_equal(deck_open_anyway("default", "test", &kept, NULL), 0);
	assert_non_null(strstr(kept.config_problem, "config.toml"));
	assert_int_equal(kept.settings.stop_timeout_s, 7);
	assert_string_equal(deck_config_in_use(&kept), "the last good configuration");
	assert_int_equal(unlink(copy), 0);
	assert_int_equal(deck_open_anyway("default", "test", &none, NULL), 0);
	assert_int_equal(none.settings.stop_timeout_s, 10);
	assert_string_equal(deck_config_in_use(&none), "the defaults");
	/* A file that is gone is valid, and what it once said does not count any more. */
	write_config(place, "[stop]\ntimeout = 8\n");
	deck_close(&good);
	assert_int_equal(deck_open("default", "test", &good, NULL), 0);
	assert_int_equal(access(copy, F_OK), 0);
	assert_int_equal(unlink(config), 0);
	assert_int_equal(deck_open("default", "test", &empty, NULL), 0);
	assert_int_equal(access(copy, F_OK), -1);
	assert_int_equal(unsetenv("AGENTDECK_HOME"), 0);
}

static void one_agent_costs_one_entry(void **state)
{
	struct place *place = *state;
	write_file(place, "other", "command = [");
	assert_string_equal(get(place, "claude")->title, "Claude Code");
	assert_int_equal(place->deck.registry.count, 1);
	assert_int_equal(place->deck.warnings.count, 0);
}

static void the_users_file_is_over_it(void **state)
{
	struct place *place = *state;
	write_file(place, "claude", "title = 'Mine'\n");
	write_file(place, "new", "command = ['new']\n");
	assert_string_equal(get(place, "claude")->title, "Mine");
	assert_string_equal(get(place, "new")->command.items[0], "new");
	assert_int_equal(place->deck.registry.count, 2);
}

static void what_was_asked_for_stays_where_it_is(void **state)
{
	struct place *place = *state;
	write_file(place, "claude", "title = 'Mine'\n");
	write_file(place, "codex", "title = 'Mine, too'\n");
	const struct agent *claude = get(place, "claude");
	write_file(place, "claude", "title = 'Changed'\n");
	const struct registry *registry = all(place);
	assert_true(registry->count > 2);
	assert_ptr_equal(registry_find(registry, "claude"), claude);
	assert_string_equal(claude->title, "Mine");
	assert_string_equal(registry_find(registry, "codex")->title, "Mine, too");
	assert_ptr_equal(get(place, "codex"), registry_find(registry, "codex"));
}

static void a_broken_file_is_left_out_and_named_once(void **state)
{
	struct place *place = *state;
	write_file(place, "claude", "title = [");
	assert_string_equal(get(place, "claude")->title, "Claude Code");
	(void)get(place, "claude");
	(void)all(place);
	assert_int_equal(place->deck.warnings.count, 1);
	assert_non_null(strstr(place->deck.warnings.items[0], "agents/claude.toml:1:"));
	assert_non_null(strstr(place->deck.warnings.items[0], "(this file is ignored)"));
}

static void an_unknown_name_is_told_the_known_ones(void **state)
{
	struct place *place = *state;
	const struct agent *agent = NULL;
	cleanup_error struct error err = { 0 };
	write_file(place, "mine", "command = ['mine']\n");
	assert_true(deck_agent(&place->deck, "../agents/mine", &agent, &err) < 0);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(err.message, "'../agents/mine'"));
	assert_non_null(strstr(err.message, "claude, "));
	assert_non_null(strstr(err.message, ", mine, "));
	assert_null(agent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_of_agent_deck_do_not_count),
		cmocka_unit_test(a_session_is_known_by_its_own_variables),
		cmocka_unit_test(a_session_of_an_earlier_version_is_known),
		cmocka_unit_test_setup_teardown(
			a_broken_configuration_is_replaced_by_the_last_good_one, begin, end),
		cmocka_unit_test_setup_teardown(one_agent_costs_one_entry, begin, end),
		cmocka_unit_test_setup_teardown(the_users_file_is_over_it, begin, end),
		cmocka_unit_test_setup_teardown(what_was_asked_for_stays_where_it_is, begin, end),
		cmocka_unit_test_setup_teardown(a_broken_file_is_left_out_and_named_once, begin,
						end),
		cmocka_unit_test_setup_teardown(an_unknown_name_is_told_the_known_ones, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
