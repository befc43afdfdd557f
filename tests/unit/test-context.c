/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/scratch.h"

#include "base/child.h"
#include "driver/context/context.h"

static struct error err;
static char digest[SHA256_TEXT_SIZE];

static int set_up_context(void **state)
{
	if (set_up(state) < 0 || mkdirat(here, "c", 0700) < 0 || mkdirat(here, "c/d", 0750) < 0)
		return -1;
	put("secret", "not for the build\n");
	return 0;
}

static void put_in(const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/%s", scratch, name);
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_int_equal(fs_write_all(fd, text, strlen(text), name, NULL), 0);
}

static int pack(uint64_t max_bytes)
{
	cleanup_free char *directory = path_join(scratch, "c");
	cleanup_close int fd = openat(here, "x.tar", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	const struct context context = { .directory = directory, .max_bytes = max_bytes };
	return context_pack(&context, fd, digest, &err);
}

/* The names in the tar file.  The caller frees. */
static char *names(void)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *path = path_join(scratch, "x.tar");
	const char *const argv[] = { "tar", "-tf", path, NULL };
	const struct child_request request = { .argv = argv };
	assert_int_equal(pack(0), 0);
	assert_int_equal(child_run(&request, 10000, &result, NULL), 0);
	assert_int_equal(result.exit_status, 0);
	char *text = strbuf_take(&result.output);
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return text;
}
#define ASSERT_NAMES(wanted)                        \
	do {                                        \
		cleanup_free char *found = names(); \
		assert_string_equal(found, wanted); \
	} while (0)

static void the_order_is_that_of_the_names(void **state UNUSED)
{
	put_in("c/z", "");
	put_in("c/Dockerfile", "FROM scratch\n");
	put_in("c/d/b", "b");
	put_in("c/d/a", "a");
	ASSERT_NAMES("Dockerfile d/ d/a d/b z ");
}

static void nothing_outside_comes_along(void **state UNUSED)
{
	put_in("c/Dockerfile", "FROM scratch\n");
	assert_int_equal(symlinkat("../secret", here, "c/link"), 0);
	assert_int_equal(symlinkat("..", here, "c/up"), 0);
	assert_int_equal(mkfifoat(here, "c/pipe", 0600), 0);
	ASSERT_NAMES("Dockerfile d/ link up ");
	cleanup_strbuf struct strbuf bytes = { 0 };
	assert_int_equal(fs_read(here, "x.tar", 1 << 20, &bytes, NULL), 0);
	assert_null(memmem(bytes.data, bytes.length, "not for the build", 17));
}

static void what_is_ignored_stays_here(void **state UNUSED)
{
	put_in("c/Dockerfile", "FROM scratch\n");
	put_in("c/.dockerignore", "*\n!d/keep\n");
	put_in("c/d/keep", "");
	put_in("c/d/drop", "");
	put_in("c/drop", "");
	ASSERT_NAMES(".dockerignore Dockerfile d/keep ");
	put_in("c/.dockerignore", "d\n");
	ASSERT_NAMES(".dockerignore Dockerfile drop ");
}

static void the_digest_changes_with_what_matters_only(void **state UNUSED)
{
	char before[SHA256_TEXT_SIZE];
	const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	put_in("c/Dockerfile", "FROM scratch\n");
	put_in("c/d/f", "one");
	assert_int_equal(pack(0), 0);
	memcpy(before, digest, sizeof(before));
	assert_int_equal(utimensat(here, "c/d/f", old, 0), 0);
	put_in("c/.dockerignore", "x\n");
	assert_int_equal(unlinkat(here, "c/.dockerignore", 0), 0);
	assert_int_equal(pack(0), 0);
	assert_string_equal(digest, before);
	put_in("c/d/f", "two");
	assert_int_equal(pack(0), 0);
	assert_string_not_equal(digest, before);
	put_in("c/d/f", "one");
	assert_int_equal(fchmodat(here, "c/d/f", 0755, 0), 0);
	assert_int_equal(pack(0), 0);
	assert_string_not_equal(digest, before);
}

static void too_much_is_refused_with_what_to_do(void **state UNUSED)
{
	put_in("c/Dockerfile", "FROM scratch\n");
	put_in("c/d/f", "0123456789");
	assert_int_equal(pack(23), 0);
	assert_int_equal(pack(22), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_non_null(strstr(err.message, "c/.dockerignore"));
	error_clear(&err);
}

static void without_a_dockerfile_there_is_no_context(void **state UNUSED)
{
	cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
	cleanup_free char *gone = path_join(scratch, "gone"), *directory = path_join(scratch, "c");
	const struct context nowhere = { .directory = gone }, context = { .directory = directory };
	assert_int_equal(pack(0), CONTEXT_NONE);
	assert_int_equal(context_pack(&nowhere, -1, digest, &err), CONTEXT_NONE);
	assert_int_equal(context_bases(&nowhere, &bases, &err), CONTEXT_NONE);
	assert_int_equal(context_bases(&context, &bases, &err), CONTEXT_NONE);
	put_in("c/Dockerfile", "FROM a\n");
	assert_int_equal(context_bases(&context, &bases, &err), 0);
	assert_string_equal(bases.all.items[0], "a");
}

/* As with the usual name: what is ignored around it stays out. */
static void a_dockerfile_elsewhere_is_never_left_out(void **state UNUSED)
{
	cleanup_free char *directory = path_join(scratch, "c"), *path = path_join(scratch, "x.tar");
	const struct context context = { .directory = directory, .dockerfile = "d/Other" };
	cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	const char *const argv[] = { "tar", "-tf", path, NULL };
	const struct child_request request = { .argv = argv };
	cleanup_close int fd = openat(here, "x.tar", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	put_in("c/d/Other", "FROM a\n");
	put_in("c/d/secret", "");
	put_in("c/.dockerignore", "d\n");
	assert_int_equal(context_pack(&context, fd, digest, &err), 0);
	assert_int_equal(context_bases(&context, &bases, &err), 0);
	assert_string_equal(bases.all.items[0], "a");
	assert_int_equal(child_run(&request, 10000, &result, NULL), 0);
	assert_string_equal(strbuf_text(&result.output), ".dockerignore\n"
							 "d/Other\n");
}

static void a_whole_directory_has_what_is_ignored(void **state UNUSED)
{
	cleanup_free char *directory = path_join(scratch, "c");
	const struct context context = { .directory = directory, .is_whole = true };
	char before[SHA256_TEXT_SIZE];
	put_in("c/.dockerignore", "*\n");
	put_in("c/d/a", "1");
	assert_int_equal(context_pack(&context, -1, before, &err), 0);
	put_in("c/d/a", "2");
	assert_int_equal(context_pack(&context, -1, digest, &err), 0);
	assert_string_not_equal(before, digest);
}

static void its_text_may_be_that_which_was_read(void **state UNUSED)
{
	cleanup_free char *directory = path_join(scratch, "c");
	const struct context context = { .directory = directory, .text = "FROM a\nRUN b\n" };
	char before[SHA256_TEXT_SIZE];
	put_in("c/Dockerfile", "FROM a\nRUN b\n");
	assert_int_equal(context_pack(&context, -1, before, &err), 0);
	assert_int_equal(pack(0), 0);
	assert_string_equal(before, digest);
	put_in("c/Dockerfile", "FROM c\n");
	assert_int_equal(context_pack(&context, -1, digest, &err), 0);
	assert_string_equal(before, digest);
}

static void a_directory_that_became_a_link_is_refused(void **state UNUSED)
{
	cleanup_free char *below = path_join(scratch, "c/d");
	const struct context context = { .directory = below };
	cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
	put_in("c/d/Dockerfile", "FROM a\n");
	assert_int_equal(context_pack(&context, -1, digest, &err), 0);
	assert_int_equal(renameat(here, "c", here, "other"), 0);
	assert_int_equal(symlinkat("other", here, "c"), 0);
	assert_int_equal(context_pack(&context, -1, digest, &err), -1);
	assert_non_null(strstr(err.message, "has become a link"));
	error_clear(&err);
	assert_int_equal(context_bases(&context, &bases, &err), -1);
	error_clear(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_context, tear_down)
		TEST(the_order_is_that_of_the_names),
		TEST(nothing_outside_comes_along),
		TEST(what_is_ignored_stays_here),
		TEST(the_digest_changes_with_what_matters_only),
		TEST(too_much_is_refused_with_what_to_do),
		TEST(without_a_dockerfile_there_is_no_context),
		TEST(a_dockerfile_elsewhere_is_never_left_out),
		TEST(a_whole_directory_has_what_is_ignored),
		TEST(its_text_may_be_that_which_was_read),
		TEST(a_directory_that_became_a_link_is_refused),
#undef TEST
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
