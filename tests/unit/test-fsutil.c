/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Atomic replacement of files, locks, and removal.
 */
#include "unit/scratch.h"

#include "base/clock.h"
#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Long, for what must happen; short, for what never does. */
enum { PLENTY_MS = 20000, SOON_MS = 100 };

static bool is_there(const char *name)
{
	struct stat st;
	return fstatat(here, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* As on FAT, which has no hard links, when this is set. */
static bool has_no_links;

/* How often a directory is there when it is made, and gone when it is opened. */
static int removals;

int mkdirat(int from, const char *name, mode_t mode)
{
	if (removals == 0)
		return (int)syscall(SYS_mkdirat, from, name, mode);
	removals--;
	errno = EEXIST;
	return -1;
}

int linkat(int from, const char *old_name, int to, const char *new_name, int flags)
{
	if (!has_no_links)
		return (int)syscall(SYS_linkat, from, old_name, to, new_name, flags);
	errno = EPERM;
	return -1;
}

static void a_new_name_replaces_nothing(void **state UNUSED)
{
	for (int i = 0; i < 2; i++) {
		has_no_links = i == 1;
		put("from", "new");
		put("taken", "old");
		assert_int_equal(fs_rename_new(here, "from", "taken"), -1);
		assert_int_equal(errno, EEXIST);
		cleanup_free char *old = get("taken");
		assert_string_equal(old, "old");
		assert_true(is_there("from"));
		assert_int_equal(unlinkat(here, "taken", 0), 0);
		assert_int_equal(fs_rename_new(here, "from", "taken"), 0);
		cleanup_free char *new = get("taken");
		assert_string_equal(new, "new");
		assert_false(is_there("from"));
	}
	has_no_links = false;
}

static void a_replaced_file_is_private_and_whole(void **state UNUSED)
{
	struct stat st;
	mode_t old = umask(0);
	put("f", "one");
	put("f", "two");
	(void)umask(old);
	cleanup_free char *text = get("f");
	assert_string_equal(text, "two");
	assert_int_equal(fstatat(here, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	cleanup_strvec struct strvec names = { 0 };
	assert_int_equal(fs_list(here, &names, NULL), 0);
	assert_int_equal(names.count, 1);
}

static void a_replace_that_fails_leaves_the_old_file_and_no_temporary(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_strvec struct strvec names = { 0 };
	assert_int_equal(mkdirat(here, "taken", 0700), 0);
	assert_int_equal(fs_replace(here, "taken", "x", 1, FS_DURABLE, &err), -1);
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_non_null(strstr(err.message, "taken"));
	assert_int_equal(fs_list(here, &names, NULL), 0);
	assert_int_equal(names.count, 1);
}

static void a_replace_may_have_its_temporary_in_another_directory(void **state UNUSED)
{
	cleanup_strvec struct strvec names = { 0 };
	assert_int_equal(mkdirat(here, "other", 0700), 0);
	cleanup_close int other = openat(here, "other", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace_from(other, here, "f",
					 &(struct fs_content){ "new", 3, FS_DURABLE, NULL, NULL },
					 NULL),
			 0);
	cleanup_free char *text = get("f");
	assert_string_equal(text, "new");
	/* The temporary file is made in the other directory, and removed when it cannot become the
	 * file. */
	assert_int_equal(fs_replace_from(-1, here, "f",
					 &(struct fs_content){ "newer", 5, FS_DURABLE, NULL, NULL },
					 NULL),
			 -1);
	assert_int_equal(fs_replace_from(other, -1, "f",
					 &(struct fs_content){ "newer", 5, FS_DURABLE, NULL, NULL },
					 NULL),
			 -1);
	assert_int_equal(fs_list(other, &names, NULL), 0);
	assert_int_equal(names.count, 0);
	cleanup_free char *after = get("f");
	assert_string_equal(after, "new");
}

static void a_replace_takes_the_place_of_a_link_and_does_not_follow_it(void **state UNUSED)
{
	put("target", "mine");
	assert_int_equal(symlinkat("target", here, "link"), 0);
	put("link", "new");
	cleanup_free char *target = get("target"), *link = get("link");
	assert_string_equal(target, "mine");
	assert_string_equal(link, "new");
}

static void reading_refuses_what_is_no_small_file_of_that_name(void **state UNUSED)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error err = { 0 };
	strbuf_adds(&text, "untouched");
	assert_int_equal(fs_read(here, "none", 10, &text, &err), FS_ABSENT);
	put("f", "12345678901");
	assert_int_equal(fs_read(here, "f", 10, &text, &err), -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	error_clear(&err);
	assert_int_equal(symlinkat("f", here, "link"), 0);
	assert_int_equal(fs_read(here, "link", 100, &text, &err), -1);
	error_clear(&err);
	/* A FIFO would wait for its other side for ever. */
	assert_int_equal(mkfifoat(here, "fifo", 0600), 0);
	assert_int_equal(fs_read(here, "fifo", 100, &text, &err), -1);
	error_clear(&err);
	assert_int_equal(fs_read(here, ".", 100, &text, &err), -1);
	assert_string_equal(text.data, "untouched");
	assert_int_equal(fs_read(here, "f", 11, &text, NULL), 0);
	assert_string_equal(text.data, "12345678901");
}

static void a_directory_of_others_is_refused_with_the_remedy(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_close int made = -1;
	int wrong = -1;
	cleanup_free char *deep = xasprintf("%s/a/b/c", scratch);
	assert_int_equal(fs_open_private_directory(deep, &made, &err), 0);
	assert_int_equal(fs_open_private_directory_at(here, "none", false, &wrong, &err),
			 FS_ABSENT);
	assert_int_equal(mkdirat(here, "open", 0700), 0);
	assert_int_equal(fchmodat(here, "open", 0777, 0), 0);
	assert_int_equal(fs_open_private_directory_at(here, "open", true, &wrong, &err), -1);
	assert_non_null(strstr(err.message, "chmod 700"));
	error_clear(&err);
	assert_int_equal(symlinkat("a", here, "link"), 0);
	assert_int_equal(fs_open_private_directory_at(here, "link", true, &wrong, &err), -1);
	error_clear(&err);
	/* With a slash after it the kernel would follow it. */
	cleanup_free char *link = xasprintf("%s/link//", scratch);
	assert_int_equal(fs_open_private_directory(link, &wrong, &err), -1);
	error_clear(&err);
	if (geteuid() == 0) {
		assert_int_equal(mkdirat(here, "theirs", 0700), 0);
		assert_int_equal(fchownat(here, "theirs", 12345, 12345, 0), 0);
		assert_int_equal(fs_open_private_directory_at(here, "theirs", true, &wrong, &err),
				 -1);
		/* Root must not take it or remove it. */
		assert_non_null(
			strstr(err.message,
			       "belongs to user 12345, not to you: run agentdeck as that user"));
	}
	assert_int_equal(wrong, -1);
}

/* Root may write everywhere, so somebody else removes it. */
/* An unused profile is removed by the command that did not need it. */
static void a_directory_that_goes_in_between_is_made_again(void **state UNUSED)
{
	cleanup_close int fd = -1;
	removals = 2;
	assert_int_equal(fs_open_private_directory_at(here, "d", true, &fd, NULL), 0);
	assert_true(is_there("d"));
	assert_int_equal(removals, 0);
}

static void a_tree_without_the_right_to_write_is_removed(void **state UNUSED)
{
	enum { NOBODY = 65534 };
	static const char *const directories[] = { "tree", "tree/sub", "tree/sub/closed" };
	const uid_t own = geteuid();
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		assert_int_equal(mkdirat(here, directories[i], 0700), 0);
	put("tree/sub/file", "x");
	assert_int_equal(fchmodat(here, "tree/sub/closed", 0, 0), 0);
	assert_int_equal(fchmodat(here, "tree/sub", 0500, 0), 0);
	if (own == 0) {
		assert_int_equal(fchown(here, NOBODY, (gid_t)-1), 0);
		for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
			assert_int_equal(fchownat(here, directories[i], NOBODY, (gid_t)-1, 0), 0);
		assert_int_equal(seteuid(NOBODY), 0);
	}
	int r = fs_remove_tree(here, "tree", NULL);
	assert_int_equal(seteuid(own), 0);
	assert_int_equal(r, 0);
	assert_false(is_there("tree"));
}

/* With all of it open at once, a process has no descriptor left. */
static void a_deep_tree_is_removed(void **state UNUSED)
{
	enum { DEPTH = 3000, DESCRIPTORS = 256 };
	struct rlimit limit, few;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){ DESCRIPTORS, limit.rlim_max };
	cleanup_close int fd = fcntl(here, F_DUPFD_CLOEXEC, 0);
	for (int i = 0; i < DEPTH; i++) {
		const char *name = i ? "d" : "tree";
		assert_int_equal(mkdirat(fd, name, 0700), 0);
		const int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(below >= 0);
		(void)close(fd);
		fd = below;
	}
	/* A name that is taken, and one that nobody may write. */
	put("tree/.lifted-0", "x");
	assert_int_equal(fchmod(fd, 0), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	const int r = fs_remove_tree(here, "tree", NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(r, 0);
	assert_false(is_there("tree"));
}

/* One of the same file system has the same device. */
static void what_is_mounted_in_a_tree_stays(void **state UNUSED)
{
	char path[PATH_MAX];
	assert_int_equal(fchdir(here), 0);
	assert_non_null(getcwd(path, sizeof(path)));
	assert_int_equal(mkdirat(here, "elsewhere", 0700), 0);
	put("elsewhere/precious", "x");
	assert_int_equal(mkdirat(here, "tree", 0700), 0);
	assert_int_equal(mkdirat(here, "tree/mounted", 0700), 0);
	pid_t pid = fork();
	if (pid == 0) {
		/* 77: there are no user namespaces.  Its directory is still in those of its parent.
		 */
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || chdir(path) < 0 ||
		    mount("elsewhere", "tree/mounted", NULL, MS_BIND, NULL) < 0)
			_exit(77);
		_exit(fs_remove_tree(AT_FDCWD, "tree", NULL) < 0 ? 0 : 1);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(is_there("elsewhere/precious"));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(fs_remove_tree(here, "tree", NULL), 0);
}

/* 0 or an exit status for _exit(2): what a child does in this directory, whose "readonly" it has
 * mounted so. */
static int make_below_read_only(void)
{
	cleanup_error struct error err = { 0 };
	int fd;
	if (fs_open_private_directory("readonly/old/a/b", &fd, &err) == 0 ||
	    err.os_errno != EROFS || !strstr(err.message, "mount it writable"))
		return 1;
	error_clear(&err);
	return fs_open_private_directory("readonly/old", &fd, &err) == 0 ? 0 : 2;
}

static void a_read_only_file_system_is_named(void **state UNUSED)
{
	char path[PATH_MAX];
	assert_int_equal(fchdir(here), 0);
	assert_non_null(getcwd(path, sizeof(path)));
	assert_int_equal(mkdirat(here, "readonly", 0700), 0);
	assert_int_equal(mkdirat(here, "readonly/old", 0700), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || chdir(path) < 0 ||
		    mount("readonly", "readonly", NULL, MS_BIND, NULL) < 0 ||
		    mount(NULL, "readonly", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0 ||
		    chdir(path) < 0)
			_exit(77);
		_exit(make_below_read_only());
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_tree_is_removed_without_following_links(void **state UNUSED)
{
	assert_int_equal(mkdirat(here, "keep", 0700), 0);
	put("keep/precious", "x");
	assert_int_equal(mkdirat(here, "tree", 0700), 0);
	assert_int_equal(mkdirat(here, "tree/sub", 0700), 0);
	put("tree/sub/file", "x");
	assert_int_equal(symlinkat("../keep", here, "tree/link"), 0);
	assert_int_equal(fs_remove_tree(here, "tree", NULL), 0);
	assert_int_equal(fs_remove_tree(here, "tree", NULL), 0);
	assert_false(is_there("tree"));
	assert_true(is_there("keep/precious"));
}

static void temporaries_are_swept_and_nothing_else(void **state UNUSED)
{
	put(".tmp-0123", "x");
	put("tmp-x", "x");
	fs_sweep_temporaries(here);
	assert_false(is_there(".tmp-0123"));
	assert_true(is_there("tmp-x"));
}

static void a_prefix_is_swept_with_its_digits_only(void **state UNUSED)
{
	static const char *const kept[] = { ".x-0123456789abcde", ".x-0123456789abcdef0",
					    ".x-0123456789abcdeF", ".tmp-0123456789abcdef" };
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		put(kept[i], "x");
	put(".x-0123456789abcdef", "x");
	fs_sweep_prefix(here, ".x-");
	assert_false(is_there(".x-0123456789abcdef"));
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		assert_true(is_there(kept[i]));
}

static void a_lock_excludes_and_ends_with_its_holder(void **state UNUSED)
{
	struct fs_lock first = FS_UNLOCKED, second = FS_UNLOCKED;
	assert_int_equal(fs_lock(here, "l", 0, &first, NULL), 0);
	assert_true(fs_lock_is_held(here, "l"));
	assert_false(fs_lock_is_held(here, "none"));
	assert_int_equal(fs_lock(here, "l", 0, &second, NULL), FS_LOCK_BUSY);
	assert_int_equal(fs_lock(here, "l", clock_ms() + 30, &second, NULL), FS_LOCK_BUSY);
	assert_int_equal(second.fd, -1);
	fs_unlock(&first);
	assert_int_equal(fs_lock(here, "l", 0, &second, NULL), 0);
	fs_unlock(&second);
	pid_t pid = fork();
	if (pid == 0) {
		struct fs_lock held = FS_UNLOCKED;
		(void)!fs_lock(here, "l", 0, &held, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(fs_lock(here, "l", 0, &second, NULL), 0);
	fs_unlock(&second);
}

/* Whether some process has drawn this ticket. */
static bool is_drawn(off_t ticket)
{
	struct flock range = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = ticket, .l_len = 1
	};
	cleanup_close int fd = openat(here, "t", O_RDWR | O_CLOEXEC);
	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

static pid_t fork_waiter(char name, int out, const struct fs_lock *held)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	struct fs_lock lock = FS_UNLOCKED;
	(void)close(held->fd);
	if (fs_lock_in_turn(here, "t", clock_ms() + PLENTY_MS, &lock, NULL) != 0)
		name = '!';
	(void)!write(out, &name, 1);
	_exit(0);
}

static void who_asks_first_gets_the_lock_first(void **state UNUSED)
{
	enum { WAITERS = 6 };
	struct fs_lock held = FS_UNLOCKED, other = FS_UNLOCKED;
	char order[WAITERS + 1] = "";
	pid_t pids[WAITERS];
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fs_lock_in_turn(here, "t", 0, &held, NULL), 0);
	assert_int_equal(fs_lock_in_turn(here, "t", 0, &other, NULL), FS_LOCK_BUSY);
	assert_int_equal(fs_lock_in_turn(here, "t", clock_ms() + 30, &other, NULL), FS_LOCK_BUSY);
	for (int i = 0; i < WAITERS; i++) {
		pids[i] = fork_waiter((char)('a' + i), ends[1], &held);
		for (int64_t deadline = clock_ms() + PLENTY_MS;
		     !is_drawn(2 + i) && clock_ms() < deadline;)
			(void)poll(NULL, 0, 1);
	}
	/* Nobody waits for a killed process. */
	assert_int_equal(kill(pids[2], SIGKILL), 0);
	assert_int_equal(waitpid(pids[2], NULL, 0), pids[2]);
	fs_unlock(&held);
	for (int i = 0; i < WAITERS; i++)
		if (i != 2)
			assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	assert_int_equal(read(ends[0], order, sizeof(order)), WAITERS - 1);
	assert_string_equal(order, "abdef");
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void a_lock_file_that_was_replaced_is_not_mistaken_for_the_new_one(void **state UNUSED)
{
	struct fs_lock held = FS_UNLOCKED;
	int status;
	assert_int_equal(fs_lock(here, "l", 0, &held, NULL), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct fs_lock lock = FS_UNLOCKED;
		struct stat locked, named;
		/* The child has its own descriptor of the lock that the parent holds. */
		(void)close(held.fd);
		if (fs_lock(here, "l", clock_ms() + PLENTY_MS, &lock, NULL) != 0 ||
		    fstat(lock.fd, &locked) < 0 || fstatat(here, "l", &named, 0) < 0)
			_exit(2);
		_exit(locked.st_ino != named.st_ino);
	}
	/* Give it time to open the file and to find it locked. */
	(void)poll(NULL, 0, SOON_MS);
	assert_int_equal(unlinkat(here, "l", 0), 0);
	put("l", "");
	fs_unlock(&held);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* How long somebody waits who looks again by himself only half a second after the release. */
static int64_t wait_after_release_ms(void)
{
	struct fs_lock held = FS_UNLOCKED;
	assert_int_equal(fs_lock(here, "l", 0, &held, NULL), 0);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct fs_lock lock = FS_UNLOCKED;
		(void)close(held.fd);
		_exit(fs_lock(here, "l", clock_ms() + PLENTY_MS, &lock, NULL));
	}
	(void)poll(NULL, 0, 600);
	const int64_t before = clock_ms();
	fs_unlock(&held);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return clock_ms() - before;
}

/* One prompt wake-up proves it. A busy machine may be late several times. */
static void a_released_lock_wakes_its_next_owner(void **state UNUSED)
{
	enum { TRIES = 10 };
	int tries = 1;
	while (tries <= TRIES && wait_after_release_ms() >= 300)
		tries++;
	assert_in_range(tries, 1, TRIES);
}

static void a_new_file_that_is_not_made_says_nothing_of_its_name(void **state UNUSED)
{
	bool has_name = false;
	assert_int_equal(fs_open_new(-1, "t", &has_name), -1);
	assert_int_equal(errno, EBADF);
	assert_false(has_name);
}

static void a_real_directory_is_one_that_exists(void **state UNUSED)
{
	cleanup_free char *real = NULL, *link = path_join(scratch, "link"),
			  *file = path_join(scratch, "f"), *none = path_join(file, "x");
	put("f", "");
	assert_int_equal(symlinkat(".", here, "link"), 0);
	assert_int_equal(fs_real_directory(file, &real, NULL), FS_ABSENT);
	assert_int_equal(fs_real_directory(none, &real, NULL), FS_ABSENT);
	assert_null(real);
	assert_int_equal(fs_real_directory(link, &real, NULL), 0);
	assert_string_equal(real, scratch);
	assert_string_equal(path_basename("/a/b"), "b");
	assert_string_equal(path_basename("b"), "b");
}

static void assert_link(const char *name, const char *expected)
{
	cleanup_free char *path = path_join(scratch, name), *link = path_find_link(path);
	cleanup_free char *whole = expected ? path_join(scratch, expected) : NULL;
	assert_int_equal(link != NULL, expected != NULL);
	if (link)
		assert_string_equal(link, whole);
}

static void the_first_link_of_a_path_is_found(void **state UNUSED)
{
	assert_int_equal(mkdirat(here, "a", 0700), 0);
	assert_int_equal(symlinkat("a", here, "b"), 0);
	assert_int_equal(symlinkat("..", here, "a/c"), 0);
	assert_int_equal(symlinkat("nowhere", here, "d"), 0);
	assert_link("a", NULL);
	assert_link("a/none/b", NULL);
	assert_link("b", "b");
	assert_link("b/c/d", "b");
	assert_link("a//c/", "a//c");
	assert_link("d", "d");
}

static void a_path_is_below_a_directory_by_its_names(void **state UNUSED)
{
	assert_true(path_is_below("/a/b", "/a/b"));
	assert_true(path_is_below("/a/b/c", "/a/b"));
	assert_true(path_is_below("/a", "/"));
	assert_false(path_is_below("/a/bc", "/a/b"));
	assert_false(path_is_below("/a", "/a/b"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_name_replaces_nothing),
		TEST(a_replaced_file_is_private_and_whole),
		TEST(a_replace_that_fails_leaves_the_old_file_and_no_temporary),
		TEST(a_replace_may_have_its_temporary_in_another_directory),
		TEST(a_replace_takes_the_place_of_a_link_and_does_not_follow_it),
		TEST(reading_refuses_what_is_no_small_file_of_that_name),
		TEST(a_directory_of_others_is_refused_with_the_remedy),
		TEST(a_directory_that_goes_in_between_is_made_again),
		TEST(a_tree_without_the_right_to_write_is_removed),
		TEST(a_read_only_file_system_is_named),
		TEST(a_tree_is_removed_without_following_links),
		TEST(a_deep_tree_is_removed),
		TEST(what_is_mounted_in_a_tree_stays),
		TEST(temporaries_are_swept_and_nothing_else),
		TEST(a_prefix_is_swept_with_its_digits_only),
		TEST(a_lock_excludes_and_ends_with_its_holder),
		TEST(who_asks_first_gets_the_lock_first),
		TEST(a_lock_file_that_was_replaced_is_not_mistaken_for_the_new_one),
		TEST(a_released_lock_wakes_its_next_owner),
		TEST(a_new_file_that_is_not_made_says_nothing_of_its_name),
		TEST(a_real_directory_is_one_that_exists),
		cmocka_unit_test(a_path_is_below_a_directory_by_its_names),
		TEST(the_first_link_of_a_path_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
