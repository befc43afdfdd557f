/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/fsutil.h"
#include "engine/deck/configfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What fsync(2) does, which the linker sends here: 0 succeeds, else the number of the call that
 * fails or, in a child, ends the process. */
static int fsync_fails, fsync_kills;

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	if (fsync_kills && --fsync_kills == 0)
		_exit(0);
	if (fsync_fails && --fsync_fails == 0) {
		errno = EIO;
		return -1;
	}
	return __real_fsync(fd);
}

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

static size_t count_names(const struct place *place, const char *prefix)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = open(place->deck.paths.config, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t count = 0;
	assert_int_equal(fs_list(fd, &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++)
		count += starts_with(names.items[i], prefix);
	return count;
}

static void what_a_kill_left_goes_with_the_next_change(void **state)
{
	struct place *place = *state;
	cleanup_configfile struct configfile file = { 0 };
	cleanup_free char *path = path_join(place->deck.paths.config, "config.toml");
	int status;
	assert_int_equal(mkdir(place->deck.paths.config, 0700), 0);
	write_text(path, "# old\n", 0600);
	assert_int_equal(configfile_read(&place->deck, &file, NULL), 0);
	const pid_t child = fork();
	if (child == 0) {
		fsync_kills = 1;
		_exit(replace(place, &file, "# killed\n", NULL) == 0 ? 1 : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_text(path, "# old\n");
	assert_int_equal(count_names(place, ""), 2);
	assert_int_equal(count_names(place, ".agentdeck-config-"), 1);
	assert_int_equal(replace(place, &file, "# new\n", NULL), 0);
	assert_text(path, "# new\n");
	assert_int_equal(count_names(place, ""), 1);
}

static void the_users_own_files_stay(void **state)
{
	struct place *place = *state;
	static const char *const kept[] = { ".agentdeck-config-",
					    ".agentdeck-config-0123456789abcde",
					    ".agentdeck-config-0123456789abcdef0",
					    ".agentdeck-config-0123456789abcdeF",
					    ".agentdeck-edit-AbCdEf.toml",
					    ".tmp-0123456789abcdef" };
	cleanup_configfile struct configfile file = { 0 };
	assert_int_equal(mkdir(place->deck.paths.config, 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		cleanup_free char *path = path_join(place->deck.paths.config, kept[i]);
		write_text(path, kept[i], 0600);
	}
	assert_int_equal(configfile_read(&place->deck, &file, NULL), 0);
	assert_int_equal(replace(place, &file, "# new\n", NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		cleanup_free char *path = path_join(place->deck.paths.config, kept[i]);
		assert_text(path, kept[i]);
	}
}

/* The first sync is that of the temporary file, the second one that of the directory. */
static void a_failed_sync_says_which_text_the_file_has(void **state)
{
	struct place *place = *state;
	cleanup_configfile struct configfile file = { 0 };
	cleanup_error struct error before = { 0 }, after = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = path_join(place->deck.paths.config, "config.toml");
	struct stat st;
	assert_int_equal(mkdir(place->deck.paths.config, 0700), 0);
	write_text(path, "# old\n", 0640);
	assert_int_equal(configfile_read(&place->deck, &file, NULL), 0);
	strbuf_adds(&text, "# new\n");
	fsync_fails = 1;
	assert_int_equal(replace(place, &file, "# new\n", &before), -1);
	assert_null(strstr(before.message, "power cut"));
	assert_false(configfile_has(&place->deck, &text));
	assert_text(path, "# old\n");
	fsync_fails = 2;
	assert_int_equal(replace(place, &file, "# new\n", &after), -1);
	assert_non_null(
		strstr(after.message, "config.toml is changed, but a power cut may undo it"));
	assert_non_null(strstr(after.message, strerror(EIO)));
	assert_true(configfile_has(&place->deck, &text));
	assert_text(path, "# new\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
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
		cmocka_unit_test_setup_teardown(what_a_kill_left_goes_with_the_next_change, begin,
						end),
		cmocka_unit_test_setup_teardown(the_users_own_files_stay, begin, end),
		cmocka_unit_test_setup_teardown(a_failed_sync_says_which_text_the_file_has, begin,
						end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
