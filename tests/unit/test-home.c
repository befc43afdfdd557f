/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The directory in which an agent keeps the conversations of one instance.
 */
#include "unit/files.h"
#include "unit/store-fixture.h"

#include "engine/deck/home.h"

#include <sys/stat.h>

static char *root;
static struct deck deck;

static int set_up(void **state UNUSED)
{
	static const char apart[] = "command = [\"apart\"]\n[session]\nid = \"none\"\n"
				    "continue = [\"-c\"]\n[isolation]\n"
				    "arguments = [\"--dir\", \"{state}\"]\n";
	root = xstrdup("/tmp/agentdeck-home-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	setenv("AGENTDECK_HOME", root, 1);
	unsetenv("AGENTDECK_PROFILE");
	cleanup_free char *agents = path_join(root, "agents");
	cleanup_free char *file = path_join(agents, "apart.toml");
	if (mkdir(agents, 0700) < 0)
		return -1;
	write_path(file, apart, strlen(apart));
	if (deck_open("default", "test", &deck, NULL) < 0)
		return -1;
	return deck_open_store(&deck, NULL);
}

static int tear_down(void **state UNUSED)
{
	int r = fs_remove_tree(AT_FDCWD, root, NULL);
	deck_close(&deck);
	free(root);
	return r;
}

static const struct agent *agent_of(const char *name)
{
	const struct agent *agent = NULL;
	assert_int_equal(deck_agent(&deck, name, &agent, NULL), 0);
	return agent;
}

static void its_path_is_that_of_the_instance(void **state UNUSED)
{
	cleanup_free char *path = home_path(&deck, "0123abcd");
	cleanup_free char *expected = xasprintf("%s/default/conversations/0123abcd",
						deck.paths.state);
	assert_string_equal(path, expected);
}

static void only_an_agent_that_wants_one_gets_one(void **state UNUSED)
{
	struct stat st;
	cleanup_instance struct instance *instance = new_instance("0123abcd", "title");
	cleanup_free char *path = home_path(&deck, "0123abcd");
	assert_int_equal(home_make(&deck, instance, agent_of("shell"), NULL), 0);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(home_make(&deck, instance, agent_of("apart"), NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0700);
	/* a second time is fine */
	assert_int_equal(home_make(&deck, instance, agent_of("apart"), NULL), 0);
}

static void a_link_in_its_place_is_refused(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *instance = new_instance("0123abcd", "title");
	cleanup_free char *all = path_join(deck.paths.state, "default/conversations");
	assert_int_equal(symlink("/tmp", all), 0);
	assert_int_equal(home_make(&deck, instance, agent_of("apart"), &err), -1);
	assert_non_null(strstr(err.message, "0123abcd"));
}

static void a_place_with_something_in_it_stays(void **state UNUSED)
{
	struct stat st;
	cleanup_instance struct instance *apart = new_instance("0123abcd", "apart");
	cleanup_free char *path = home_path(&deck, "0123abcd");
	assert_int_equal(home_remove(&deck, "0123abcd", NULL), 0);
	assert_int_equal(home_make(&deck, apart, agent_of("apart"), NULL), 0);
	cleanup_free char *file = path_join(path, "talk");
	write_path(file, "hello", 5);
	assert_int_equal(home_remove(&deck, "0123abcd", NULL), HOME_KEPT);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(home_remove(&deck, "0123abcd", NULL), 0);
	assert_int_equal(stat(path, &st), -1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(its_path_is_that_of_the_instance),
		TEST(only_an_agent_that_wants_one_gets_one),
		TEST(a_link_in_its_place_is_refused),
		TEST(a_place_with_something_in_it_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
