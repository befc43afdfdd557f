/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The base layer but for processes, argsplit and toml, which have tests of their own.
 */
#include "unit/scratch.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Long, for what must happen; short, for what never does. */
enum { PLENTY_MS = 20000, SOON_MS = 100 };

static bool is_there(const char *name)
{
	struct stat st;
	return fstatat(here, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* --- error ------------------------------------------------------------------------------------ */

static void error_carries_code_errno_and_message(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	assert_int_equal(error_set_errno(&err, ENOSPC, "write %s", "x"), -1);
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_int_equal(err.os_errno, ENOSPC);
	assert_string_equal(err.message, "write x: No space left on device");
	assert_int_equal(error_prefix(&err, "save %d", 7), -1);
	assert_string_equal(err.message, "save 7: write x: No space left on device");
	error_clear(&err);
	assert_int_equal(err.code, ERROR_NONE);
	assert_int_equal(error_set(&err, ERROR_BUSY, "again"), -1);
	assert_string_equal(err.message, "again");
}

static void a_disk_that_refuses_is_told_with_what_to_do(void **state UNUSED)
{
	static const struct {
		int number;
		const char *remedy;
	} cases[] = { { ENOSPC, "make room" }, { EDQUOT, "make room" }, { EIO, "dmesg" }, { EROFS, "mount" },
		      { EFBIG, "ulimit" },     { ENOLCK, "locks" } };
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_error struct error err = { 0 };
		assert_int_equal(error_set_file(&err, cases[i].number, "write %s", "x"), -1);
		assert_int_equal(err.code, ERROR_SYSTEM);
		assert_int_equal(err.os_errno, cases[i].number);
		assert_true(starts_with(err.message, "write x: "));
		assert_non_null(strstr(err.message, strerror(cases[i].number)));
		assert_non_null(strstr(err.message, cases[i].remedy));
		assert_true(ends_with(err.message, "then try again"));
	}
	cleanup_error struct error other = { 0 };
	assert_int_equal(error_set_file(&other, ENOENT, "open x"), -1);
	assert_string_equal(other.message, "open x: No such file or directory");
	assert_int_equal(error_set_file(NULL, EIO, "x"), -1);
}

static void error_of_a_caller_who_does_not_want_it_is_fine(void **state UNUSED)
{
	assert_int_equal(error_set(NULL, ERROR_BUSY, "x"), -1);
	assert_int_equal(error_set_errno(NULL, EIO, "x"), -1);
	assert_int_equal(error_prefix(NULL, "x"), -1);
	error_clear(NULL);
}

static void each_code_has_its_word_and_exit_status(void **state UNUSED)
{
	for (int i = ERROR_NONE + 1; i < ERROR_CODE_COUNT; i++) {
		const char *name = error_code_name((enum error_code)i);
		int expected = i == ERROR_USAGE                                 ? 64
			       : i == ERROR_NOT_FOUND || i == ERROR_AMBIGUOUS   ? 2
			       : i == ERROR_REFUSED                             ? 3
										: 1;
		assert_true(*name && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(name));
		assert_int_equal(error_exit_status((enum error_code)i), expected);
	}
	assert_string_equal(error_code_name(ERROR_EXISTS), "ALREADY_EXISTS");
	assert_string_equal(error_code_name(ERROR_INVALID), "INVALID_OPERATION");
}

/* --- text ------------------------------------------------------------------------------------- */

static void strbuf_grows_and_is_always_terminated(void **state UNUSED)
{
	cleanup_strbuf struct strbuf buf = { 0 };
	assert_string_equal(strbuf_text(&buf), "");
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&buf, "%d,", i);
	strbuf_add(&buf, "a\0b", 3);
	assert_int_equal(buf.length, 3890 + 3);
	assert_int_equal(buf.data[buf.length], '\0');
	cleanup_free char *taken = strbuf_take(&buf);
	assert_true(starts_with(taken, "0,1,2,"));
	assert_null(buf.data);
	cleanup_free char *empty = strbuf_take(&buf);
	assert_string_equal(empty, "");
}

static void strvec_is_an_argv_at_any_time(void **state UNUSED)
{
	cleanup_strvec struct strvec vec = { 0 }, other = { 0 };
	assert_null(*strvec_argv(&vec));
	for (int i = 0; i < 100; i++) {
		strvec_pushf(&vec, "%d", i);
		assert_null(vec.items[vec.count]);
	}
	strvec_push_all(&other, &vec);
	assert_true(strvec_equal(&vec, &other));
	strvec_push(&other, "");
	assert_false(strvec_equal(&vec, &other));
	assert_true(strvec_contains(&vec, "99"));
	assert_false(strvec_contains(&vec, "9 "));
}

static void replace_string_takes_a_part_of_what_it_replaces(void **state UNUSED)
{
	cleanup_free char *slot = xstrdup("abcdef");
	replace_string(&slot, slot + 3);
	assert_string_equal(slot, "def");
	replace_string(&slot, NULL);
	assert_null(slot);
}

static void visible_text_cannot_play_with_a_terminal(void **state UNUSED)
{
	static const char *const table[][2] = {
		{ "plain", "plain" },
		{ "Ünï €😀", "Ünï €😀" },
		{ "a\nb\tc\rd", "a\\nb\\tc\\rd" },
		{ "\033[31m", "\\033[31m" },
		{ "\x7f", "\\177" },
		{ "\xc2\x9b" "31m", "\\302\\23331m" }, /* C1: CSI */
		{ "a\u202eb\u2066c", "a\\342\\200\\256b\\342\\201\\246c" }, /* what follows reads backwards */
		{ "\xff\xfe", "\\377\\376" },
		{ "\xc0\xaf", "\\300\\257" },           /* overlong */
		{ "\xed\xa0\x80", "\\355\\240\\200" },  /* surrogate */
		{ "\xf5\x80\x80\x80", "\\365\\200\\200\\200" },
		{ "\xe2\x82", "\\342\\202" },           /* torn */
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_free char *shown = visible(table[i][0]);
		assert_string_equal(shown, table[i][1]);
		assert_int_equal(is_utf8(table[i][0], strlen(table[i][0])), i < 7);
	}
}

static void an_argv_for_reading_shows_where_words_end(void **state UNUSED)
{
	char *argv[] = { (char *)"a", (char *)"b c", (char *)"", (char *)"\n", NULL };
	cleanup_free char *shown = visible_argv(argv);
	assert_string_equal(shown, "a 'b c' '' '\\n'");
}

static void a_number_is_the_whole_text_in_its_range(void **state UNUSED)
{
	static const char *const bad[] = { "", " 1", "1 ", "+1", "1x", "0x1", "-6", "11", "-",
					   "99999999999999999999", "1.0" };
	int64_t value = 77;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_false(parse_int64(bad[i], -5, 10, &value));
		assert_int_equal(value, 77);
	}
	assert_true(parse_int64("-5", -5, 10, &value));
	assert_int_equal(value, -5);
	assert_true(parse_int64("9223372036854775807", 0, INT64_MAX, &value));
	assert_true(value == INT64_MAX);
}

/* --- clock ------------------------------------------------------------------------------------ */

static void times_survive_writing_and_reading(void **state UNUSED)
{
	char buffer[CLOCK_TEXT_SIZE];
	assert_string_equal(clock_format(INT64_C(1776157681007000), buffer),
			    "2026-04-14T09:08:01.007Z");
	assert_int_equal(clock_parse(buffer), INT64_C(1776157681007000));
	assert_int_equal(clock_parse("2026-04-14T09:08:01Z"), INT64_C(1776157681000000));
	static const char *const bad[] = { "", "2026-04-14", "2026-04-14T09:08:01",
					   "2026-04-14T09:08:01.5Z", "2026-04-14T09:08:01.000",
					   "2026-04-14T09:08:01.000Zx", "yesterday",
					   " 2026-04-14T09:08:01Z", "2026-4-14T09:08:01Z",
					   "2026-04-14T09:08:01.-12Z", "2026-04-14T09:08:01. 12Z",
					   "2026-02-30T09:08:01.000Z", "1969-12-31T23:59:59.000Z",
					   "9999-12-31T23:59:60.000Z", "12026-04-14T09:08:01Z" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(clock_parse(bad[i]), -1);
}

static void what_is_left_is_never_negative(void **state UNUSED)
{
	assert_int_equal(clock_left_ms(0), 0);
	assert_int_equal(clock_left_ms(INT64_MAX / 2), INT_MAX);
}

/* --- fsutil ----------------------------------------------------------------------------------- */

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
	assert_int_equal(fs_replace_from(other, here, "f", "new", 3, FS_DURABLE, NULL), 0);
	cleanup_free char *text = get("f");
	assert_string_equal(text, "new");
	/* It is made there, and goes when it cannot become the file. */
	assert_int_equal(fs_replace_from(-1, here, "f", "newer", 5, FS_DURABLE, NULL), -1);
	assert_int_equal(fs_replace_from(other, -1, "f", "newer", 5, FS_DURABLE, NULL), -1);
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
	assert_int_equal(fs_open_private_directory_at(here, "none", false, &wrong, &err), FS_ABSENT);
	assert_int_equal(mkdirat(here, "open", 0700), 0);
	assert_int_equal(fchmodat(here, "open", 0777, 0), 0);
	assert_int_equal(fs_open_private_directory_at(here, "open", true, &wrong, &err), -1);
	assert_non_null(strstr(err.message, "chmod 700"));
	error_clear(&err);
	assert_int_equal(symlinkat("a", here, "link"), 0);
	assert_int_equal(fs_open_private_directory_at(here, "link", true, &wrong, &err), -1);
	error_clear(&err);
	/* A slash behind it would have it followed. */
	cleanup_free char *link = xasprintf("%s/link//", scratch);
	assert_int_equal(fs_open_private_directory(link, &wrong, &err), -1);
	error_clear(&err);
	if (geteuid() == 0) {
		assert_int_equal(mkdirat(here, "theirs", 0700), 0);
		assert_int_equal(fchownat(here, "theirs", 12345, 12345, 0), 0);
		assert_int_equal(fs_open_private_directory_at(here, "theirs", true, &wrong, &err), -1);
		/* It is not root's to take, or to remove. */
		assert_non_null(strstr(err.message, "belongs to user 12345, not to you: run agentdeck as that user"));
	}
	assert_int_equal(wrong, -1);
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

static void a_lock_excludes_and_ends_with_its_holder(void **state UNUSED)
{
	struct fs_lock first = FS_UNLOCKED, second = FS_UNLOCKED;
	assert_int_equal(fs_lock(here, "l", 0, &first, NULL), 0);
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

static void a_lock_file_that_was_replaced_is_not_mistaken_for_the_new_one(void **state UNUSED)
{
	struct fs_lock held = FS_UNLOCKED;
	int status;
	assert_int_equal(fs_lock(here, "l", 0, &held, NULL), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct fs_lock lock = FS_UNLOCKED;
		struct stat locked, named;
		/* The child has a descriptor of its own for what the parent holds. */
		(void)close(held.fd);
		if (fs_lock(here, "l", clock_ms() + PLENTY_MS, &lock, NULL) != 0 ||
		    fstat(lock.fd, &locked) < 0 || fstatat(here, "l", &named, 0) < 0)
			_exit(2);
		_exit(locked.st_ino != named.st_ino);
	}
	/* Time for it to open the file and to find it locked. */
	(void)poll(NULL, 0, SOON_MS);
	assert_int_equal(unlinkat(here, "l", 0), 0);
	put("l", "");
	fs_unlock(&held);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
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

/* --- jsonio ----------------------------------------------------------------------------------- */

static int parse(const char *text, size_t length, struct json_object **ret, struct error *err)
{
	/* Without a byte behind it, so that reading on is seen. */
	cleanup_free char *exact = xcalloc(length, 1);
	memcpy(exact, text, length);
	return json_parse(exact, length, "what", ret, err);
}

static void json_is_one_strict_value(void **state UNUSED)
{
	static const char *const good[] = { "{}", "[1]", " {\"a\":1} \n", "1", "null", "\"x\"" };
	static const char *const bad[] = { "", " ", "{", "{}x", "{} {}", "['a']", "[1,]", "{\"a\":1,}",
					   "\"\xff\"", "nul", "{\"a\" 1}", "01" };
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		cleanup_json struct json_object *object = NULL;
		assert_int_equal(parse(good[i], strlen(good[i]), &object, NULL), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		struct json_object *object = NULL;
		if (parse(bad[i], strlen(bad[i]), &object, &err) == 0)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(err.code, ERROR_CORRUPT);
		assert_true(starts_with(err.message, "what:"));
		assert_null(object);
	}
}

static void json_errors_say_where(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	struct json_object *object = NULL;
	assert_int_equal(json_parse("{\n \"a\": x}", 10, "f.json", &object, &err), -1);
	assert_true(starts_with(err.message, "f.json:2:7: "));
}

static void json_that_is_too_deep_is_refused(void **state UNUSED)
{
	struct json_object *object = NULL;
	char text[20000];
	memset(text, '[', sizeof(text));
	assert_int_equal(parse(text, sizeof(text), &object, NULL), -1);
	assert_null(object);
}

static void json_getters_check_the_type(void **state UNUSED)
{
	cleanup_json struct json_object *object = NULL;
	const char *text = "{\"s\":\"x\",\"i\":7,\"b\":true,\"n\":null,\"t\":\"7\",\"z\":\"a\\u0000b\","
			   "\"a\":[\"p\",1,\"q\"],\"big\":1e99}";
	cleanup_strvec struct strvec list = { 0 };
	assert_int_equal(parse(text, strlen(text), &object, NULL), 0);
	assert_string_equal(json_get_string(object, "s", NULL), "x");
	assert_null(json_get_string(object, "i", NULL));
	assert_null(json_get_string(object, "z", NULL));
	assert_null(json_get_string(object, "n", NULL));
	assert_null(json_get_string(NULL, "n", NULL));
	assert_int_equal(json_get_int(object, "i", -1), 7);
	assert_int_equal(json_get_int(object, "t", -1), -1);
	assert_int_equal(json_get_int(object, "big", -1), -1);
	assert_true(json_get_bool(object, "b", false));
	assert_false(json_get_bool(object, "i", false));
	assert_null(json_get_object(object, "a"));
	json_get_strings(object, "a", &list);
	assert_int_equal(list.count, 2);
	json_set_string(object, "s", "\xff");
	assert_string_equal(json_get_string(object, "s", NULL), "\\377");
}

/* --- log -------------------------------------------------------------------------------------- */

static void a_log_line_is_one_line_of_visible_text(void **state UNUSED)
{
	log_open(here, "test");
	log_set_instance("0123abcd");
	log_info("two\nlines \033[31m");
	log_debug("not at this level");
	log_set_instance(NULL);
	log_warning("plain");
	cleanup_free char *text = get("agentdeck.log");
	assert_non_null(strstr(text, "Z info test pid="));
	assert_non_null(strstr(text, " instance=0123abcd two\\nlines \\033[31m\n"));
	assert_null(strstr(text, "level"));
	assert_true(ends_with(text, " plain\n"));
	struct stat st;
	assert_int_equal(fstatat(here, "agentdeck.log", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void a_log_is_moved_aside_when_it_is_large(void **state UNUSED)
{
	cleanup_free char *filler = xcalloc(65536, 1);
	memset(filler, 'x', 65535);
	log_open(here, "test");
	for (int i = 0; i < 140; i++)
		log_info("%s", filler);
	struct stat now, old;
	assert_int_equal(fstatat(here, "agentdeck.log", &now, 0), 0);
	assert_int_equal(fstatat(here, "agentdeck.log.1", &old, 0), 0);
	assert_true(now.st_size < 5 << 20 && old.st_size < 5 << 20);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(error_carries_code_errno_and_message),
		TEST(a_disk_that_refuses_is_told_with_what_to_do),
		TEST(error_of_a_caller_who_does_not_want_it_is_fine),
		TEST(each_code_has_its_word_and_exit_status),
		TEST(strbuf_grows_and_is_always_terminated),
		TEST(strvec_is_an_argv_at_any_time),
		TEST(replace_string_takes_a_part_of_what_it_replaces),
		TEST(visible_text_cannot_play_with_a_terminal),
		TEST(an_argv_for_reading_shows_where_words_end),
		TEST(a_number_is_the_whole_text_in_its_range),
		TEST(times_survive_writing_and_reading),
		TEST(what_is_left_is_never_negative),
		TEST(a_replaced_file_is_private_and_whole),
		TEST(a_replace_that_fails_leaves_the_old_file_and_no_temporary),
		TEST(a_replace_may_have_its_temporary_in_another_directory),
		TEST(a_replace_takes_the_place_of_a_link_and_does_not_follow_it),
		TEST(reading_refuses_what_is_no_small_file_of_that_name),
		TEST(a_directory_of_others_is_refused_with_the_remedy),
		TEST(a_tree_is_removed_without_following_links),
		TEST(temporaries_are_swept_and_nothing_else),
		TEST(a_lock_excludes_and_ends_with_its_holder),
		TEST(a_lock_file_that_was_replaced_is_not_mistaken_for_the_new_one),
		TEST(a_real_directory_is_one_that_exists),
		TEST(json_is_one_strict_value),
		TEST(json_errors_say_where),
		TEST(json_that_is_too_deep_is_refused),
		TEST(json_getters_check_the_type),
		TEST(a_log_line_is_one_line_of_visible_text),
		TEST(a_log_is_moved_aside_when_it_is_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
