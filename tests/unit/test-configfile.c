/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/fsutil.h"
#include "engine/deck/configfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
	char root[64];
	struct deck deck;
};

static int begin(void **state)
{
	struct place *place = xcalloc(1, sizeof(*place));
	(void)snprintf(place->root, sizeof(place->root), "/tmp/agentdeck-configfile-XXXXXX");
	if (!mkdtemp(place->root))
		return -1;
	place->deck.paths.config = path_join(place->root, "config");
	place->deck.paths.state = path_join(place->root, "state");
	*state = place;
	return 0;
}

static int end(void **state)
{
	struct place *place = *state;
	int r = fs_remove_tree(AT_FDCWD, place->root, NULL);
	deck_close(&place->deck);
	free(place);
	return r;
}

static void write_text(const char *path, const char *text, mode_t mode)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
	assert_int_equal(fchmod(fd, mode), 0);
}

static void assert_text(const char *path, const char *expected)
{
	cleanup_strbuf struct strbuf text = { 0 };
	assert_int_equal(fs_read(AT_FDCWD, path, DECK_CONFIG_MAX, &text, NULL), 0);
	assert_string_equal(strbuf_text(&text), expected);
}

static int replace(struct place *place, const struct configfile *file, const char *text,
		   struct error *err)
{
	cleanup_strbuf struct strbuf buf = { 0 };
	strbuf_adds(&buf, text);
	return configfile_replace(&place->deck, file, &buf, err);
}

static void the_first_one_is_made_with_its_directory(void **state)
{
	struct place *place = *state;
	cleanup_configfile struct configfile file = { 0 };
	assert_int_equal(configfile_read(&place->deck, &file, NULL), 0);
	assert_false(file.exists);
	assert_int_equal(replace(place, &file, "resume_agents = true\n", NULL), 0);
	assert_text(file.path, "resume_agents = true\n");
}

static void permissions_and_links_stay(void **state)
{
	struct place *place = *state;
	cleanup_configfile struct configfile file = { 0 };
	cleanup_free char *collection = path_join(place->root, "collection"),
			  *target = path_join(collection, "deck.toml"),
			  *link = path_join(place->deck.paths.config, "config.toml");
	struct stat st;
	assert_int_equal(mkdir(collection, 0755), 0);
	assert_int_equal(mkdir(place->deck.paths.config, 0700), 0);
	write_text(target, "# old\n", 0640);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(configfile_read(&place->deck, &file, NULL), 0);
	assert_int_equal(replace(place, &file, "# new\n", NULL), 0);
	assert_text(target, "# new\n");
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(target, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

static void what_is_not_valid_does_not_replace(void **state)
{
	struct place *place = *state;
	cleanup_configfile struct configfile file = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_free char *path = path_join(place->deck.paths.config, "config.toml");
	assert_int_equal(mkdir(place->deck.paths.config, 0700), 0);
	write_text(path, "# old\n", 0600);
	assert_int_equal(configfile_read(&place->deck, &file, NULL), 0);
	assert_int_equal(replace(place, &file, "mouse = 1\n", &err), -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_text(path, "# old\n");
}

static void a_change_by_somebody_else_is_not_lost(void **state)
{
	struct place *place = *state;
	cleanup_configfile struct configfile file = { 0 }, none = { 0 };
	cleanup_free char *path = path_join(place->deck.paths.config, "config.toml");
	assert_int_equal(configfile_read(&place->deck, &none, NULL), 0);
	assert_int_equal(mkdir(place->deck.paths.config, 0700), 0);
	write_text(path, "# old\n", 0600);
	assert_int_equal(replace(place, &none, "# mine\n", NULL), CONFIGFILE_CHANGED);
	assert_int_equal(configfile_read(&place->deck, &file, NULL), 0);
	write_text(path, "# theirs\n", 0600);
	assert_int_equal(replace(place, &file, "# mine\n", NULL), CONFIGFILE_CHANGED);
	assert_text(path, "# theirs\n");
}

static void a_link_to_nothing_is_refused(void **state)
{
	struct place *place = *state;
	cleanup_configfile struct configfile file = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_free char *path = path_join(place->deck.paths.config, "config.toml");
	assert_int_equal(mkdir(place->deck.paths.config, 0700), 0);
	assert_int_equal(symlink("/nonexistent/agentdeck.toml", path), 0);
	assert_int_equal(configfile_read(&place->deck, &file, &err), -1);
	assert_true(ends_with(err.message, "make the file that it names, or remove it"));
}

/* A rename over it would end the FIFO, or a device, for whoever else uses it. */
static void only_a_regular_file_is_replaced(void **state)
{
	struct place *place = *state;
	cleanup_configfile struct configfile file = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_free char *path = path_join(place->deck.paths.config, "config.toml");
	assert_int_equal(mkdir(place->deck.paths.config, 0700), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(configfile_read(&place->deck, &file, &err), -1);
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_true(ends_with(err.message, "is a FIFO and not a regular file: put a regular file "
					   "in its place, or change it by hand"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_first_one_is_made_with_its_directory, begin,
						end),
		cmocka_unit_test_setup_teardown(permissions_and_links_stay, begin, end),
		cmocka_unit_test_setup_teardown(what_is_not_valid_does_not_replace, begin, end),
		cmocka_unit_test_setup_teardown(a_change_by_somebody_else_is_not_lost, begin, end),
		cmocka_unit_test_setup_teardown(a_link_to_nothing_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(only_a_regular_file_is_replaced, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
