/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file of an export: what was written is read back, and nothing else is taken for one.
 */
#include "unit/scratch.h"

#include "driver/archive/archive.h"

#include <dirent.h>
#include <sys/stat.h>

enum { BLOCK = 512, NAME = 0, SIZE = 124, SUM = 148, TYPE = 156, LINK = 157 };

static const char description[] = "{\"format\":1}\n";
static struct error err;

/* ---- a whole file, and its changes ------------------------------------------------------------ */

static char *file_path(void)
{
	return path_join(scratch, "file");
}

static void source_of(const char *text, struct archive_source *ret)
{
	put("source", text);
	ret->fd = openat(here, "source", O_RDONLY | O_CLOEXEC);
	assert_true(ret->fd >= 0);
	assert_int_equal(archive_measure(ret->fd, "source", ret, &err), 0);
	assert_int_equal(unlinkat(here, "source", 0), 0);
}

/* One with two conversations; the second has two blocks. */
static void write_file(struct archive_source sources[static 2])
{
	cleanup_free char *path = file_path();
	char text[BLOCK + 2];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	source_of("hello\n", &sources[0]);
	source_of(text, &sources[1]);
	assert_int_equal(archive_write(path, description, sources, 2, &err), 0);
	(void)close(sources[0].fd);
	(void)close(sources[1].fd);
}

/* Where the blocks of that file are. */
enum { HEADER_0, TEXT_0, HEADER_1, TEXT_1, HEADER_2, TEXT_2, TEXT_2B, END_1, END_2, BLOCKS };

static void read_file(struct strbuf *ret)
{
	assert_int_equal(fs_read(here, "file", 1 << 20, ret, &err), 0);
	assert_int_equal(ret->length, BLOCKS * BLOCK);
}

static void replace_file(const char *data, size_t size)
{
	assert_int_equal(fs_replace(here, "file", data, size, FS_VOLATILE, &err), 0);
}

static void fix_sum(char *block)
{
	unsigned sum = 0;
	memset(block + SUM, ' ', 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)block[i];
	(void)snprintf(block + SUM, 7, "%06o", sum);
}

/* The file is refused for this reason, and leaves nothing behind. */
static void refused(const char *why)
{
	struct archive archive = { .fd = -2 };
	cleanup_free char *path = file_path();
	assert_int_equal(archive_open(path, &archive, &err), -1);
	if (err.code != ERROR_CORRUPT || !strstr(err.message, why))
		fail_msg("%s, and not: %s", err.message, why);
	assert_int_equal(archive.fd, -2);
	error_clear(&err);
}

static size_t count_files(void)
{
	size_t count = 0;
	cleanup_free char *path = path_join(scratch, ".");
	DIR *directory = opendir(path);
	assert_non_null(directory);
	while (readdir(directory))
		count++;
	(void)closedir(directory);
	return count - 2;
}

static void what_is_written_is_read_back(void **state UNUSED)
{
	struct archive_source sources[2];
	cleanup_archive struct archive archive = { .fd = -1 };
	cleanup_free char *path = file_path();
	struct stat st;
	write_file(sources);
	assert_int_equal(fstatat(here, "file", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(archive_open(path, &archive, &err), 0);
	assert_int_equal(archive.count, 2);
	assert_string_equal(archive.description, description);
	assert_int_equal(archive.members[2].size, BLOCK + 1);
	cleanup_close int copy = openat(here, "copy", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(archive_copy(&archive, 1, sources[0].digest, copy, &err), 0);
	cleanup_free char *text = get("copy");
	assert_string_equal(text, "hello\n");
	assert_int_equal(archive_copy(&archive, 1, sources[1].digest, -1, &err), -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	error_clear(&err);
}

static void a_file_that_exists_stays(void **state UNUSED)
{
	cleanup_free char *path = file_path();
	put("file", "mine");
	assert_int_equal(archive_write(path, description, NULL, 0, &err), -1);
	assert_int_equal(err.code, ERROR_EXISTS);
	error_clear(&err);
	cleanup_free char *text = get("file");
	assert_string_equal(text, "mine");
	assert_int_equal(count_files(), 1);
}

/* It is an agent's, and may be written while it is copied. */
static void a_source_that_changed_leaves_no_file(void **state UNUSED)
{
	struct archive_source sources[1];
	cleanup_free char *path = file_path();
	source_of("hello\n", &sources[0]);
	sources[0].digest[0] = sources[0].digest[0] == '0' ? '1' : '0';
	assert_int_equal(archive_write(path, description, sources, 1, &err), -1);
	assert_non_null(strstr(err.message, "try again"));
	error_clear(&err);
	sources[0].size += BLOCK;
	assert_int_equal(archive_write(path, description, sources, 1, &err), -1);
	error_clear(&err);
	(void)close(sources[0].fd);
	assert_int_equal(count_files(), 0);
}

/* ---- what is not such a file ------------------------------------------------------------------ */

/* At every block, and beside it. */
static void a_file_that_was_cut_off_is_refused(void **state UNUSED)
{
	struct archive_source sources[2];
	cleanup_strbuf struct strbuf whole = { 0 };
	write_file(sources);
	read_file(&whole);
	for (size_t size = 0; size < whole.length; size += BLOCK) {
		replace_file(whole.data, size);
		refused("not a whole file");
		replace_file(whole.data, size + 1);
		refused("not a whole file");
	}
}

static void every_bit_of_a_header_counts(void **state UNUSED)
{
	struct archive_source sources[2];
	cleanup_strbuf struct strbuf whole = { 0 };
	write_file(sources);
	read_file(&whole);
	for (size_t i = 0; i < BLOCK; i++) {
		/* what is behind the digits of the sum */
		if (i == SUM + 6 || i == SUM + 7)
			continue;
		whole.data[HEADER_1 * BLOCK + i] ^= 1;
		replace_file(whole.data, whole.length);
		refused("a checksum is wrong");
		whole.data[HEADER_1 * BLOCK + i] ^= 1;
	}
}

static void no_other_name_is_taken(void **state UNUSED)
{
	static const char *const names[] = {
		"../outside",
		"/etc/passwd",
		"conversations/../x",
		"conversations/2.jsonl",
		"conversations/0.jsonl",
		"conversations/01.jsonl",
		"./conversations/1.jsonl",
		"conversations/1.jsonl/",
		"agentdeck.json",
		"",
	};
	struct archive_source sources[2];
	cleanup_strbuf struct strbuf whole = { 0 };
	write_file(sources);
	read_file(&whole);
	char *header = whole.data + (size_t)HEADER_1 * BLOCK;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		memset(header + NAME, 0, 100);
		memcpy(header + NAME, names[i], strlen(names[i]));
		fix_sum(header);
		replace_file(whole.data, whole.length);
		refused("does not belong there");
	}
	assert_int_equal(count_files(), 1);
}

/* Links, devices, directories, pipes, sparse files and the extensions of pax and GNU. */
static void only_regular_files_are_taken(void **state UNUSED)
{
	static const char types[] = { '1', '2', '3', '4', '5', '6', '7', 'S', 'x', 'g', 'L', 0 };
	struct archive_source sources[2];
	cleanup_strbuf struct strbuf whole = { 0 };
	write_file(sources);
	read_file(&whole);
	char *header = whole.data + (size_t)HEADER_1 * BLOCK;
	memcpy(header + LINK, "/etc/passwd", sizeof("/etc/passwd"));
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		header[TYPE] = types[i];
		fix_sum(header);
		replace_file(whole.data, whole.length);
		refused("not a regular file");
	}
}

static void a_size_that_is_not_there_is_refused(void **state UNUSED)
{
	static const struct {
		const char *size, *why;
	} cases[] = {
		{ "77777777777", "cut off" },
		{ "00000010000", "cut off" },
		{ "-0000000001", "not a number" },
		{ "0x000000001", "not a number" },
		{ "          6", "not a number" },
		{ "\200\0\0\0\0\0\0\0\0\0\6", "not a number" }, /* GNU's numbers over 8 GiB */
		{ "\377\377\377\377\377\377\377\377\377\377\377", "not a number" },
	};
	struct archive_source sources[2];
	cleanup_strbuf struct strbuf whole = { 0 };
	write_file(sources);
	read_file(&whole);
	char *header = whole.data + (size_t)HEADER_2 * BLOCK;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memcpy(header + SIZE, cases[i].size, 11);
		fix_sum(header);
		replace_file(whole.data, whole.length);
		refused(cases[i].why);
	}
	/* A digit more, in the place of the end. */
	memcpy(header + SIZE, "000000010017", 12);
	fix_sum(header);
	replace_file(whole.data, whole.length);
	refused("not a number");
}

/* A sparse file of that size costs nobody anything, and must not be read into memory. */
static void a_large_description_is_refused(void **state UNUSED)
{
	struct archive_source sources[2];
	cleanup_strbuf struct strbuf whole = { 0 };
	write_file(sources);
	read_file(&whole);
	memcpy(whole.data + SIZE, "00100000001", 11);
	fix_sum(whole.data);
	replace_file(whole.data, whole.length);
	cleanup_close int fd = openat(here, "file", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, 32 << 20), 0);
	refused("description is too large");
}

static void the_members_are_in_order_and_once(void **state UNUSED)
{
	struct archive_source sources[2];
	cleanup_strbuf struct strbuf whole = { 0 }, changed = { 0 };
	write_file(sources);
	read_file(&whole);
	/* the first again */
	strbuf_add(&changed, whole.data, (size_t)HEADER_2 * BLOCK);
	strbuf_add(&changed, whole.data + (size_t)HEADER_1 * BLOCK,
		   whole.length - (size_t)HEADER_1 * BLOCK);
	replace_file(changed.data, changed.length);
	refused("does not belong there");
	/* without the description */
	replace_file(whole.data + (size_t)HEADER_1 * BLOCK,
		     whole.length - (size_t)HEADER_1 * BLOCK);
	refused("does not belong there");
	/* and nothing but the end */
	replace_file(whole.data + (size_t)END_1 * BLOCK, (size_t)2 * BLOCK);
	refused("it is empty");
}

static void nothing_is_behind_the_end(void **state UNUSED)
{
	struct archive_source sources[2];
	cleanup_strbuf struct strbuf whole = { 0 }, longer = { 0 };
	write_file(sources);
	read_file(&whole);
	strbuf_add(&longer, whole.data, whole.length);
	strbuf_add(&longer, whole.data + (size_t)HEADER_1 * BLOCK, (size_t)2 * BLOCK);
	replace_file(longer.data, longer.length);
	refused("its end is wrong");
	/* between the two blocks of the end */
	memcpy(whole.data + (size_t)END_2 * BLOCK, whole.data + (size_t)HEADER_1 * BLOCK, BLOCK);
	replace_file(whole.data, (size_t)BLOCKS * BLOCK);
	refused("its end is wrong");
}

static void a_description_is_a_text(void **state UNUSED)
{
	struct archive_source sources[2];
	cleanup_strbuf struct strbuf whole = { 0 };
	write_file(sources);
	read_file(&whole);
	whole.data[(size_t)TEXT_0 * BLOCK + 3] = '\0';
	replace_file(whole.data, whole.length);
	refused("not a text");
}

/* A pipe that nobody writes would hang its reader. */
static void only_a_regular_file_is_read(void **state UNUSED)
{
	struct archive archive;
	cleanup_free char *pipe = path_join(scratch, "pipe");
	assert_int_equal(mkfifoat(here, "pipe", 0600), 0);
	const char *const paths[] = { pipe, scratch, "/dev/zero" };
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_int_equal(archive_open(paths[i], &archive, &err), -1);
		assert_int_equal(err.code, ERROR_INVALID);
		error_clear(&err);
	}
}

/* ---- parts of a file -------------------------------------------------------------------------- */

/* Where the whole lines of a text end, and whether the text is as long as that. */
static void lines_end_at(const char *text, uint64_t size)
{
	struct archive_source lines, start;
	put("source", text);
	cleanup_close int fd = openat(here, "source", O_RDONLY | O_CLOEXEC);
	assert_int_equal(archive_measure_lines(fd, "source", &lines, &err), 0);
	assert_int_equal(lines.size, size);
	assert_int_equal(archive_measure_start(fd, "source", size, &start, &err), 0);
	assert_string_equal(start.digest, lines.digest);
}

static void a_line_that_is_being_written_is_left_out(void **state)
{
	(void)state;
	lines_end_at("", 0);
	lines_end_at("half", 0);
	lines_end_at("one\n", 4);
	lines_end_at("one\ntwo\nhalf", 8);
	/* The last line is longer than what is read at a time. */
	const size_t long_one = 200000;
	char *text = xcalloc(long_one + 5, 1);
	memcpy(text, "one\n", 4);
	memset(text + 4, 'x', long_one);
	lines_end_at(text, 4);
	text[long_one] = '\n';
	lines_end_at(text, long_one + 1);
	free(text);
}

static void a_start_that_is_not_there_is_told(void **state)
{
	(void)state;
	struct archive_source source = { .fd = -2 };
	put("source", "one\n");
	cleanup_close int fd = openat(here, "source", O_RDONLY | O_CLOEXEC);
	assert_int_equal(archive_measure_start(fd, "source", 5, &source, &err), ARCHIVE_SHORT);
	assert_int_equal(source.fd, -2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(what_is_written_is_read_back),
		TEST(a_file_that_exists_stays),
		TEST(a_source_that_changed_leaves_no_file),
		TEST(a_file_that_was_cut_off_is_refused),
		TEST(every_bit_of_a_header_counts),
		TEST(no_other_name_is_taken),
		TEST(only_regular_files_are_taken),
		TEST(a_size_that_is_not_there_is_refused),
		TEST(a_large_description_is_refused),
		TEST(the_members_are_in_order_and_once),
		TEST(nothing_is_behind_the_end),
		TEST(a_description_is_a_text),
		TEST(only_a_regular_file_is_read),
		TEST(a_line_that_is_being_written_is_left_out),
		TEST(a_start_that_is_not_there_is_told),
#undef TEST
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
