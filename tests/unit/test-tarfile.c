/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is written is read back by tar(1).
 */
#include "unit/scratch.h"

#include "base/child.h"
#include "base/tarfile.h"

static struct error err;

static int open_tar(void)
{
	int fd = openat(here, "x.tar", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

/* The caller frees. */
static char *tar(const char *words)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *path = path_join(scratch, "x.tar");
	const char *const argv[] = { "tar", "--utc", "--full-time", "--numeric-owner",
				     words, path,    "--directory", scratch,
				     NULL };
	const struct child_request request = { .argv = argv };
	assert_int_equal(child_run(&request, 10000, &result, NULL), 0);
	if (result.exit_status || result.errors.length)
		fail_msg("%s: %s", words, strbuf_text(&result.errors));
	return strbuf_take(&result.output);
}

static void tar_reads_what_was_written(void **state UNUSED)
{
	struct tarfile file;
	char digest[SHA256_TEXT_SIZE];
	put("content", "hello\n");
	cleanup_close int fd = open_tar(), content = openat(here, "content", O_RDONLY | O_CLOEXEC);
	tarfile_begin(fd, &file);
	assert_int_equal(tarfile_add_directory(&file, "d", 0755, &err), 0);
	assert_int_equal(tarfile_add_file(&file, "d/f", 04751, content, 6, &err), 0);
	assert_int_equal(tarfile_add_link(&file, "d/l", "../f", &err), 0);
	assert_int_equal(tarfile_end(&file, digest, &err), 0);
	cleanup_free char *list = tar("-tvf");
	assert_string_equal(list,
			    "drwxr-xr-x 0/0               0 1980-01-02 00:00:00 d/\n"
			    "-rwxr-x--x 0/0               6 1980-01-02 00:00:00 d/f\n"
			    "lrwxrwxrwx 0/0               0 1980-01-02 00:00:00 d/l -> ../f\n");
	free(tar("-xf"));
	cleanup_free char *text = get("d/f");
	assert_string_equal(text, "hello\n");
}

/* At these lengths the header is full, and the record counts one digit more. */
static void names_of_any_length_are_kept(void **state UNUSED)
{
	static const size_t lengths[] = { 99, 100, 101, 155, 200, 990, 3000 };
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct tarfile file;
		char digest[SHA256_TEXT_SIZE];
		cleanup_free char *name = xcalloc(1, lengths[i] + 1);
		for (size_t j = 0; j < lengths[i]; j++)
			name[j] = (char)(j % 50 == 49 ? '/' : 'a' + (int)(i % 26));
		name[lengths[i] - 1] = 'z';
		cleanup_close int fd = open_tar();
		tarfile_begin(fd, &file);
		assert_int_equal(tarfile_add_link(&file, name, name, &err), 0);
		assert_int_equal(tarfile_end(&file, digest, &err), 0);
		cleanup_free char *wanted = xasprintf(" %s -> %s\n", name, name);
		cleanup_free char *list = tar("-tvf");
		if (!ends_with(list, wanted))
			fail_msg("%zu: %s", lengths[i], list);
	}
}

/* A file of 8 GiB has more digits than the header. */
static void a_great_size_is_kept(void **state UNUSED)
{
	struct tarfile file;
	cleanup_close int fd = open_tar(), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	tarfile_begin(fd, &file);
	assert_int_equal(tarfile_add_file(&file, "f", 0644, nothing, UINT64_C(1) << 33, &err), -1);
	assert_non_null(strstr(err.message, "f became shorter"));
	error_clear(&err);
	assert_int_equal(file.length, 3 * 512);
	char header[64] = { 0 };
	assert_int_equal(pread(fd, header, 20, 512), 20);
	assert_string_equal(header, "19 size=8589934592\n");
}

static void the_digest_is_of_the_bytes_and_needs_no_file(void **state UNUSED)
{
	char digests[3][SHA256_TEXT_SIZE];
	cleanup_close int fd = open_tar();
	for (int i = 0; i < 3; i++) {
		struct tarfile file;
		tarfile_begin(i ? -1 : fd, &file);
		assert_int_equal(tarfile_add_link(&file, "l", i == 2 ? "b" : "a", &err), 0);
		assert_int_equal(tarfile_end(&file, digests[i], &err), 0);
	}
	assert_string_equal(digests[0], digests[1]);
	assert_string_not_equal(digests[0], digests[2]);
	cleanup_strbuf struct strbuf bytes = { 0 };
	struct sha256 hash;
	char digest[SHA256_TEXT_SIZE];
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fs_read_fd(fd, "x.tar", 1 << 20, &bytes, NULL), 0);
	sha256_begin(&hash);
	sha256_add(&hash, bytes.data, bytes.length);
	sha256_end(&hash, digest);
	assert_string_equal(digest, digests[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(tar_reads_what_was_written),
		TEST(names_of_any_length_are_kept),
		TEST(a_great_size_is_kept),
		TEST(the_digest_is_of_the_bytes_and_needs_no_file),
#undef TEST
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
