/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "driver/transcript/shelf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/time.h>

#define PROJECTS agent_files_named("projects")

#define ID_1 "11111111-1111-4111-8111-111111111111"
#define ID_2 "22222222-2222-4222-8222-222222222222"
#define ID_3 "33333333-3333-4333-8333-333333333333"
#define CWD  "/srv/work"

/* A record as agents write it: header (no turn), the user's words, the agent's words. */
#define HEADER(id) "{\"type\":\"mode\",\"cwd\":\"" CWD "\",\"sessionId\":\"" id "\"}\n"
#define USER(id, text)                                               \
	"{\"type\":\"user\",\"cwd\":\"" CWD "\",\"sessionId\":\"" id \
	"\",\"message\":{\"role\":\"user\",\"content\":\"" text "\"}}\n"
#define REPLY(text, time)                                                           \
	"{\"type\":\"assistant\",\"timestamp\":\"" time "\",\"message\":{\"role\":" \
	"\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}\n"

/* The scratch directory, used as the agent's home. */
static char home[] = "/tmp/test-transcript-XXXXXX";

static int set_up(void **state UNUSED)
{
	memcpy(home + sizeof(home) - 7, "XXXXXX", 6);
	return mkdtemp(home) ? 0 : -1;
}

static int tear_down(void **state UNUSED)
{
	return fs_remove_tree(AT_FDCWD, home, NULL);
}

/* Write <home>/projects/<folder>/<name>; the path is the caller's. */
static char *put_data(const char *folder, const char *name, const char *data, size_t length)
{
	cleanup_free char *directory = xasprintf("%s/projects/%s", home, folder);
	cleanup_close int fd = -1;
	assert_int_equal(fs_open_private_directory(directory, &fd, NULL), 0);
	assert_int_equal(fs_replace(fd, name, data, length, FS_VOLATILE, NULL), 0);
	return path_join(directory, name);
}

static char *put(const char *folder, const char *name, const char *text)
{
	return put_data(folder, name, text, strlen(text));
}

static void put_forget(const char *folder, const char *name, const char *text)
{
	free(put(folder, name, text));
}

static void set_age(const char *path, time_t seconds_ago)
{
	struct timeval now;
	gettimeofday(&now, NULL);
	now.tv_sec -= seconds_ago;
	const struct timeval times[] = { now, now };
	assert_int_equal(utimes(path, times), 0);
}

static int find(const char *id, const char *hint, struct transcript *ret)
{
	cleanup_error struct error err = { 0 };
	int r = transcript_find(home, CWD, id, hint, ret, &err);
	assert_int_equal(err.code, ERROR_NONE);
	return r;
}

/* Bytes that this process has read so far; 0 when the kernel does not count them. */
static int64_t bytes_read(void)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int64_t count;
	if (fs_read(AT_FDCWD, "/proc/self/io", 4096, &text, NULL) != 0)
		return 0;
	const char *number = strbuf_text(&text) + strlen("rchar: ");
	cleanup_free char *line = xstrndup(number, strcspn(number, "\n"));
	return parse_int64(line, 0, INT64_MAX, &count) ? count : 0;
}

static void assert_slug(const char *path, const char *expected)
{
	cleanup_free char *slug = transcript_slug(path);
	assert_string_equal(slug, expected);
}

static void slug_replaces_all_but_letters_digits_and_dash(void **state UNUSED)
{
	assert_slug("/", "-");
	assert_slug("/home/me/a.b_c d-9", "-home-me-a-b-c-d-9");
	assert_slug("/x/@+=,()~#%&'", "-x------------");
}

static void slug_counts_utf16_units(void **state UNUSED)
{
	assert_slug("/ü", "--");
	assert_slug("/❯", "--");
	assert_slug("/😀", "---");
	assert_slug("/a\xff"
		    "b",
		    "-a-b");
}

static void slug_of_a_long_path_ends_with_its_hash(void **state UNUSED)
{
	cleanup_strbuf struct strbuf path = { 0 }, expected = { 0 }, wide = { 0 }, dashes = { 0 };
	strbuf_adds(&path, "/");
	strbuf_adds(&expected, "-");
	for (int i = 0; i < 199; i++) {
		strbuf_adds(&path, "a");
		strbuf_adds(&expected, "a");
	}
	assert_slug(path.data, expected.data);
	strbuf_adds(&path, "a");
	strbuf_adds(&expected, "-b6ymvl");
	assert_slug(path.data, expected.data);

	strbuf_adds(&wide, "/");
	for (int i = 0; i < 100; i++) {
		strbuf_adds(&wide, "ü😀");
		strbuf_adds(&dashes, "--");
	}
	strbuf_adds(&wide, "x");
	strbuf_adds(&dashes, "-w6x07");
	assert_slug(wide.data, dashes.data);
}

static void found_in_the_folder_of_the_directory(void **state UNUSED)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_free char *path = put("-srv-work", ID_1 ".jsonl", HEADER(ID_1) USER(ID_1, "hello"));
	assert_int_equal(find(ID_1, NULL, &found), 0);
	assert_string_equal(found.path, path);
	assert_string_equal(found.session_id, ID_1);
	assert_string_equal(found.cwd, CWD);
	assert_true(found.has_turns);
	assert_true(found.modified_ns > 0);
}

static void absent_is_none(void **state UNUSED)
{
	struct transcript found = { 0 };
	assert_int_equal(find(ID_1, NULL, &found), TRANSCRIPT_NONE);
	put_forget("-srv-work", ID_2 ".jsonl", USER(ID_2, "hello"));
	assert_int_equal(find(ID_1, NULL, &found), TRANSCRIPT_NONE);
	assert_null(found.path);
}

static void an_id_that_is_no_file_name_is_none(void **state UNUSED)
{
	struct transcript found = { 0 };
	put_forget("-srv-work", ID_1 ".jsonl", USER(ID_1, "hello"));
	assert_int_equal(find("../-srv-work/" ID_1, NULL, &found), TRANSCRIPT_NONE);
	assert_int_equal(find("", NULL, &found), TRANSCRIPT_NONE);
}

static void hint_wins_when_it_bears_the_name(void **state UNUSED)
{
	cleanup_transcript struct transcript found = { 0 }, other = { 0 };
	cleanup_free char *usual = put("-srv-work", ID_1 ".jsonl", USER(ID_1, "hello"));
	cleanup_free char *hint = put("moved", ID_1 ".jsonl", HEADER(ID_1));
	cleanup_free char *wrong = put("moved", ID_2 ".jsonl", USER(ID_2, "hello"));
	assert_int_equal(find(ID_1, hint, &found), 0);
	assert_string_equal(found.path, hint);
	assert_false(found.has_turns);
	assert_int_equal(find(ID_1, wrong, &other), 0);
	assert_string_equal(other.path, usual);
}

static void hint_that_is_gone_is_passed_over(void **state UNUSED)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_free char *usual = put("-srv-work", ID_1 ".jsonl", USER(ID_1, "hello"));
	assert_int_equal(find(ID_1, "/nowhere/" ID_1 ".jsonl", &found), 0);
	assert_string_equal(found.path, usual);
}

static void elsewhere_only_with_the_same_directory_inside(void **state UNUSED)
{
	cleanup_transcript struct transcript found = { 0 };
	put_forget("-other", ID_1 ".jsonl",
		   "{\"type\":\"user\",\"cwd\":\"/other\",\"message\":{}}\n");
	put_forget("-third", ID_1 ".jsonl", "{\"type\":\"user\",\"message\":{}}\n");
	assert_int_equal(find(ID_1, NULL, &found), TRANSCRIPT_NONE);
	cleanup_free char *path = put("-renamed", ID_1 ".jsonl", USER(ID_1, "hello"));
	assert_int_equal(find(ID_1, NULL, &found), 0);
	assert_string_equal(found.path, path);
}

static void has_turns(const char *text, bool expected)
{
	cleanup_transcript struct transcript found = { 0 };
	put_forget("-srv-work", ID_1 ".jsonl", text);
	assert_int_equal(find(ID_1, NULL, &found), 0);
	if (found.has_turns != expected)
		fail_msg("expected %s turn in: %s", expected ? "a" : "no", text);
}

static void only_user_and_assistant_records_with_a_message_are_turns(void **state UNUSED)
{
	has_turns("", false);
	has_turns("\n\n", false);
	has_turns(HEADER(ID_1), false);
	has_turns("{\"type\":\"summary\",\"about\":\"user\",\"message\":{}}\n", false);
	has_turns("{\"type\":\"user\",\"cwd\":\"/x\"}\n", false);
	has_turns("{\"type\":\"user\",\"message\":\"text\"}\n", false);
	has_turns("[{\"type\":\"user\",\"message\":{}}]\n", false);
	has_turns("\"user\"\n", false);
	has_turns(USER(ID_1, "hello"), true);
	has_turns(REPLY("hello", "t"), true);
	has_turns("{ \"type\" : \"user\", \"message\" : {} }", true);
}

static void torn_and_broken_lines_are_passed_over(void **state UNUSED)
{
	has_turns("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"cont", false);
	has_turns("{\"type\":\"user\",\"message\":{}}garbage\n", false);
	has_turns("{\"type\":\"user\",\"mess" USER(ID_1, "glued"), false);
	has_turns("\xff\xfe \"user\"\n" USER(ID_1, "hello"), true);
	has_turns(USER(ID_1, "hello") "{\"type\":\"assist", true);
}

static void the_first_directory_in_the_file_counts(void **state UNUSED)
{
	cleanup_transcript struct transcript found = { 0 };
	put_forget("-srv-work", ID_1 ".jsonl",
		   "{\"type\":\"mode\"}\n{\"cwd\":\"/first\"}\n" USER(ID_1, "hello"));
	assert_int_equal(find(ID_1, NULL, &found), 0);
	assert_string_equal(found.cwd, "/first");
}

static void line_over_16_mib_is_cut_and_is_no_reply(void **state UNUSED)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *filler = xcalloc(1, (17 << 20) + 1);
	cleanup_free char *reply = NULL;
	memset(filler, 'x', 17 << 20);
	strbuf_addf(&text,
		    "{\"type\":\"user\",\"cwd\":\"/huge\",\"message\":{\"content\":\"%s\"}}\n",
		    filler);
	strbuf_adds(&text, USER(ID_1, "hello") REPLY("found", "t"));
	strbuf_addf(&text, "{\"type\":\"assistant\",\"message\":{\"content\":\"%s\"}}\n", filler);
	cleanup_free char *path = put_data("-srv-work", ID_1 ".jsonl", text.data, text.length);
	assert_int_equal(find(ID_1, NULL, &found), 0);
	assert_string_equal(found.cwd, "/huge");
	assert_true(found.has_turns);
	assert_int_equal(shelf_last_reply(PROJECTS, path, &reply, NULL, NULL), 0);
	assert_string_equal(reply, "found");
}

static void line_just_under_the_limit_is_read(void **state UNUSED)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *filler = xcalloc(1, (15 << 20) + 1);
	cleanup_free char *reply = NULL;
	memset(filler, 'x', 15 << 20);
	strbuf_addf(&text, "{\"type\":\"assistant\",\"message\":{\"content\":\"%s\"}}\n", filler);
	cleanup_free char *path = put_data("-srv-work", ID_1 ".jsonl", text.data, text.length);
	assert_int_equal(shelf_last_reply(PROJECTS, path, &reply, NULL, NULL), 0);
	assert_string_equal(reply, filler);
}

/* Make a file with a GB (a hole) between its first lines and its last. */
static char *put_giant(const char *first, const char *last)
{
	char *path = put("-srv-work", ID_1 ".jsonl", first);
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 1 << 30);
	assert_int_equal(fs_write_all(fd, last, strlen(last), path, NULL), 0);
	return path;
}

static void a_gigabyte_is_not_read_for_the_first_turn(void **state UNUSED)
{
	cleanup_transcript struct transcript found = { 0 };
	free(put_giant(USER(ID_1, "hello"), "\n"));
	int64_t before = bytes_read();
	assert_int_equal(find(ID_1, NULL, &found), 0);
	assert_true(found.has_turns);
	assert_true(bytes_read() - before < 1 << 20);
}

static void a_gigabyte_is_not_read_for_the_last_reply(void **state UNUSED)
{
	cleanup_free char *reply = NULL;
	cleanup_free char *path = put_giant(REPLY("old", "t"), "\n" REPLY("new", "t"));
	int64_t before = bytes_read();
	assert_int_equal(shelf_last_reply(PROJECTS, path, &reply, NULL, NULL), 0);
	assert_string_equal(reply, "new");
	assert_true(bytes_read() - before < 1 << 20);
}

#define MODEL(name, text) \
	"{\"type\":\"assistant\",\"message\":{\"model\":\"" name "\",\"content\":\"" text "\"}}\n"
#define SIDE(name) \
	"{\"type\":\"assistant\",\"isSidechain\":true,\"message\":{\"model\":\"" name "\"}}\n"
#define TYPED(text)    "{\"type\":\"user\",\"message\":{\"content\":\"" text "\"}}\n"
#define META(text)     "{\"type\":\"user\",\"isMeta\":true,\"message\":{\"content\":\"" text "\"}}\n"
#define TOOL           "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\"}]}}\n"
#define IS_ABOUT(m, p) assert_about(path, m, p)

static void assert_about(const char *path, const char *model, const char *prompt)
{
	cleanup_shelf_about struct shelf_about about = { 0 };
	assert_int_equal(shelf_describe(PROJECTS, path, &about, NULL), 0);
	assert_string_equal(or_empty(about.model), model);
	assert_string_equal(or_empty(about.words), prompt);
}

static void the_first_prompt_is_what_somebody_typed(void **state UNUSED)
{
	cleanup_free char *path = put("-srv-work", ID_1 ".jsonl",
				      META("Caveat: these were generated") TOOL TYPED(
					      "<command-name>/model</command-name>")
					      TYPED("<local-command-stdout></local-command-stdout>")
						      TYPED("fix\\nit") TYPED("more"));
	IS_ABOUT("", "fix\nit");
}

static void the_model_is_that_of_the_last_reply(void **state UNUSED)
{
	cleanup_free char *path = put(
		"-srv-work", ID_1 ".jsonl",
		TYPED("a") MODEL("old", "x") MODEL("new", "y") SIDE("small")
			MODEL("<synthetic>", "API error")
				TYPED("b") "{\"type\":\"assistant\",\"message\":{\"model\":\"torn");
	IS_ABOUT("new", "a");
}

static void nothing_is_known_of_an_empty_transcript(void **state UNUSED)
{
	struct shelf_about about = { 0 };
	cleanup_free char *path = put("-srv-work", ID_1 ".jsonl", "");
	IS_ABOUT("", "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(shelf_describe(PROJECTS, path, &about, NULL), TRANSCRIPT_NONE);
}

static void a_gigabyte_is_not_read_for_a_description(void **state UNUSED)
{
	cleanup_free char *path = put_giant(TYPED("first"), "\n" MODEL("m", "new"));
	int64_t before = bytes_read();
	IS_ABOUT("m", "first");
	assert_true(bytes_read() - before < 4 << 20);
	/* Nothing that is looked for is at its ends. */
	free(path);
	path = put_giant(META("x"), "\n" TOOL);
	before = bytes_read();
	IS_ABOUT("", "");
	assert_true(bytes_read() - before < 4 << 20);
}

static void the_last_turns_are_in_order_and_bounded(void **state UNUSED)
{
	cleanup_transcript_turns struct transcript_turns turns = { 0 };
	cleanup_free char *path = put("-srv-work", ID_1 ".jsonl",
				      TYPED("one") MODEL("m", "two") TOOL SIDE("small") META("x")
					      TYPED("three") MODEL("m", "four"));
	assert_int_equal(shelf_last_turns(PROJECTS, path, 3, &turns, NULL), 0);
	assert_int_equal(turns.count, 3);
	assert_string_equal(turns.items[0].text, "two");
	assert_true(turns.items[0].is_reply);
	assert_string_equal(turns.items[1].text, "three");
	assert_false(turns.items[1].is_reply);
	assert_string_equal(turns.items[2].text, "four");
	transcript_turns_free(&turns);
	/* Fewer than wanted, and only the end of a large one. */
	free(path);
	path = put_giant(TYPED("first"), "\n" MODEL("m", "new"));
	const int64_t before = bytes_read();
	assert_int_equal(shelf_last_turns(PROJECTS, path, 20, &turns, NULL), 0);
	assert_int_equal(turns.count, 1);
	assert_string_equal(turns.items[0].text, "new");
	assert_true(bytes_read() - before < 4 << 20);
	free(path);
	path = put("-srv-work", ID_1 ".jsonl", TOOL);
	transcript_turns_free(&turns);
	assert_int_equal(shelf_last_turns(PROJECTS, path, 20, &turns, NULL), TRANSCRIPT_NONE);
}

static void links_are_not_followed(void **state UNUSED)
{
	struct transcript found = { 0 };
	cleanup_free char *reply = NULL;
	cleanup_free char *target = put("-elsewhere", ID_2 ".jsonl",
					USER(ID_2, "hello") REPLY("x", "t"));
	cleanup_free char *link = put("-srv-work", ID_1 ".jsonl", "");
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(find(ID_1, NULL, &found), TRANSCRIPT_NONE);
	assert_int_equal(find(ID_1, link, &found), TRANSCRIPT_NONE);
	assert_int_equal(shelf_latest(home, CWD, NULL, NULL, &found, NULL), TRANSCRIPT_NONE);
	assert_int_equal(shelf_last_reply(PROJECTS, link, &reply, NULL, NULL), TRANSCRIPT_NONE);
}

static void what_is_no_file_is_passed_over(void **state UNUSED)
{
	struct transcript found = { 0 };
	cleanup_free char *path = put("-srv-work", ID_1 ".jsonl", "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(find(ID_1, NULL, &found), TRANSCRIPT_NONE);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(find(ID_1, NULL, &found), TRANSCRIPT_NONE);
}

static void another_users_file_is_passed_over(void **state UNUSED)
{
	struct transcript found = { 0 };
	cleanup_free char *reply = NULL;
	if (geteuid() != 0)
		skip();
	cleanup_free char *path = put("-srv-work", ID_1 ".jsonl",
				      USER(ID_1, "hello") REPLY("x", "t"));
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(find(ID_1, NULL, &found), TRANSCRIPT_NONE);
	assert_int_equal(shelf_latest(home, CWD, NULL, NULL, &found, NULL), TRANSCRIPT_NONE);
	assert_int_equal(shelf_last_reply(PROJECTS, path, &reply, NULL, NULL), TRANSCRIPT_NONE);
}

static bool is_this(const char *session_id, void *data)
{
	return streq(session_id, data);
}

static void assert_latest(const char *expected, bool (*is_owned)(const char *, void *), void *data)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_error struct error err = { 0 };
	int r = shelf_latest(home, CWD, is_owned, data, &found, &err);
	assert_int_equal(err.code, ERROR_NONE);
	assert_int_equal(r, expected ? 0 : TRANSCRIPT_NONE);
	if (expected)
		assert_string_equal(found.session_id, expected);
}

static void latest_is_the_newest_that_nobody_owns(void **state UNUSED)
{
	char own_2[] = ID_2;
	assert_latest(NULL, NULL, NULL);
	cleanup_free char *oldest = put("-srv-work", ID_1 ".jsonl", USER(ID_1, "hello"));
	cleanup_free char *newest = put("-srv-work", ID_2 ".jsonl", USER(ID_2, "hello"));
	cleanup_free char *middle = put("-srv-work", ID_3 ".jsonl", USER(ID_3, "hello"));
	set_age(oldest, 300);
	set_age(newest, 100);
	set_age(middle, 200);
	assert_latest(ID_2, NULL, NULL);
	assert_latest(ID_3, is_this, own_2);
}

static void latest_wants_turns_and_the_same_directory(void **state UNUSED)
{
	put_forget("-srv-work", ID_1 ".jsonl", HEADER(ID_1));
	put_forget("-srv-work", ID_2 ".jsonl",
		   "{\"type\":\"user\",\"cwd\":\"/srv.work\",\"message\":{}}\n");
	put_forget("-srv-work", ID_3 ".jsonl", "{\"type\":\"user\",\"message\":{}}\n");
	assert_latest(NULL, NULL, NULL);
}

static void latest_wants_a_uuid_for_a_name(void **state UNUSED)
{
	put_forget("-srv-work", "agent-" ID_1 ".jsonl", USER(ID_1, "hello"));
	put_forget("-srv-work", "agent-a1b2.jsonl", USER(ID_1, "hello"));
	put_forget("-srv-work", ID_1 ".jsonl.bak", USER(ID_1, "hello"));
	put_forget("-srv-work", ID_1, USER(ID_1, "hello"));
	put_forget("-srv-work", ".jsonl", USER(ID_1, "hello"));
	assert_latest(NULL, NULL, NULL);
}

static void assert_reply(const char *text, const char *expected, const char *expected_time)
{
	cleanup_free char *reply = NULL, *reply_time = NULL;
	cleanup_error struct error err = { 0 };
	cleanup_free char *path = put("-srv-work", ID_1 ".jsonl", text);
	int r = shelf_last_reply(PROJECTS, path, &reply, &reply_time, &err);
	assert_int_equal(err.code, ERROR_NONE);
	assert_int_equal(r, expected ? 0 : TRANSCRIPT_NONE);
	if (!expected)
		return;
	assert_string_equal(reply, expected);
	assert_string_equal(reply_time, expected_time);
}

static void last_reply_is_the_last_assistant_text(void **state UNUSED)
{
	assert_reply(USER(ID_1, "q1") REPLY("a1", "t1") USER(ID_1, "q2") REPLY("a2", "t2"), "a2",
		     "t2");
	assert_reply(REPLY("a1", "t1") USER(ID_1, "the \\\"assistant\\\" said"), "a1", "t1");
	assert_reply("\n" REPLY("a1", "t1") "\n\n", "a1", "t1");
	assert_reply("{\"type\":\"assistant\",\"message\":{\"content\":\"plain\"}}", "plain", "");
}

static void blocks_of_text_are_joined(void **state UNUSED)
{
	assert_reply("{\"type\":\"assistant\",\"timestamp\":\"t\",\"message\":{\"content\":["
		     "{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"tool_use\",\"name\":\"no\"},"
		     "{\"type\":\"text\",\"text\":\"two\\u001b[31m\"}]}}\n",
		     "one\ntwo\033[31m", "t");
}

static void records_without_text_are_no_reply(void **state UNUSED)
{
	assert_reply("", NULL, NULL);
	assert_reply(USER(ID_1, "\\\"assistant\\\""), NULL, NULL);
	assert_reply("{\"type\":\"assistant\",\"message\":{\"content\":"
		     "[{\"type\":\"tool_use\"}]}}\n",
		     NULL, NULL);
	assert_reply(REPLY("", "t"), NULL, NULL);
	assert_reply(REPLY("a1", "t1") "{\"type\":\"assistant\",\"message\":{\"content\":"
				       "[{\"type\":\"tool_use\"}]}}\n",
		     "a1", "t1");
	assert_reply(REPLY("a1", "t1") "{\"type\":\"assistant\",\"isSidechain\":true,\"message\":"
				       "{\"content\":\"of a sub-agent\"}}\n",
		     "a1", "t1");
}

static void torn_last_reply_is_not_it(void **state UNUSED)
{
	assert_reply(REPLY("a1", "t1") "{\"type\":\"assistant\",\"message\":{\"content\":\"a2",
		     "a1", "t1");
}

static void no_file_is_no_reply(void **state UNUSED)
{
	cleanup_free char *reply = NULL;
	cleanup_free char *path = path_join(home, "none.jsonl");
	assert_int_equal(shelf_last_reply(PROJECTS, path, &reply, NULL, NULL), TRANSCRIPT_NONE);
}

/* Line ends around the borders of the chunks that are read. */
static void replies_are_found_across_chunk_borders(void **state UNUSED)
{
	for (size_t padding = (64 << 10) - 160; padding < (64 << 10) + 160; padding += 7) {
		cleanup_strbuf struct strbuf text = { 0 };
		cleanup_free char *filler = xcalloc(1, padding + 1);
		memset(filler, 'x', padding);
		strbuf_adds(&text, REPLY("wanted", "t"));
		strbuf_addf(&text, "{\"type\":\"user\",\"message\":{\"content\":\"%s\"}}\n",
			    filler);
		strbuf_addf(&text, "{\"type\":\"tool\"}\n{\"x\":\"%s%s\"}\n", filler, filler);
		assert_reply(text.data, "wanted", "t");
	}
}

struct visited {
	size_t count, stop_after;
	struct strbuf texts;
};

static bool note(struct json_object *record, void *data)
{
	struct visited *visited = data;
	struct transcript_turn turn = { 0 };
	const bool has_text = shelf_turn(PROJECTS, record, &turn);
	strbuf_addf(&visited->texts, "%s;", has_text ? turn.text : "-");
	free(turn.text);
	return ++visited->count != visited->stop_after;
}

static void records_are_visited_in_order(void **state UNUSED)
{
	struct visited all = { 0 }, one = { .stop_after = 1 };
	cleanup_free char *path = put("-srv-work", ID_1 ".jsonl",
				      HEADER(ID_1)
					      USER(ID_1, "q") "broken\n" REPLY("a", "t") "{\"torn");
	assert_int_equal(transcript_visit(path, 0, note, &all, NULL), 0);
	assert_string_equal(all.texts.data, "-;q;a;");
	assert_int_equal(transcript_visit(path, 0, note, &one, NULL), 0);
	assert_string_equal(one.texts.data, "-;");
	assert_int_equal(transcript_visit("/nowhere", 0, note, &one, NULL), TRANSCRIPT_NONE);
	strbuf_free(&all.texts);
	strbuf_free(&one.texts);
}

#define scratch_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slug_replaces_all_but_letters_digits_and_dash),
		cmocka_unit_test(slug_counts_utf16_units),
		cmocka_unit_test(slug_of_a_long_path_ends_with_its_hash),
		scratch_test(found_in_the_folder_of_the_directory),
		scratch_test(absent_is_none),
		scratch_test(an_id_that_is_no_file_name_is_none),
		scratch_test(hint_wins_when_it_bears_the_name),
		scratch_test(hint_that_is_gone_is_passed_over),
		scratch_test(elsewhere_only_with_the_same_directory_inside),
		scratch_test(only_user_and_assistant_records_with_a_message_are_turns),
		scratch_test(torn_and_broken_lines_are_passed_over),
		scratch_test(the_first_directory_in_the_file_counts),
		scratch_test(line_over_16_mib_is_cut_and_is_no_reply),
		scratch_test(line_just_under_the_limit_is_read),
		scratch_test(a_gigabyte_is_not_read_for_the_first_turn),
		scratch_test(a_gigabyte_is_not_read_for_the_last_reply),
		scratch_test(the_first_prompt_is_what_somebody_typed),
		scratch_test(the_model_is_that_of_the_last_reply),
		scratch_test(nothing_is_known_of_an_empty_transcript),
		scratch_test(a_gigabyte_is_not_read_for_a_description),
		scratch_test(the_last_turns_are_in_order_and_bounded),
		scratch_test(links_are_not_followed),
		scratch_test(what_is_no_file_is_passed_over),
		scratch_test(another_users_file_is_passed_over),
		scratch_test(latest_is_the_newest_that_nobody_owns),
		scratch_test(latest_wants_turns_and_the_same_directory),
		scratch_test(latest_wants_a_uuid_for_a_name),
		scratch_test(last_reply_is_the_last_assistant_text),
		scratch_test(blocks_of_text_are_joined),
		scratch_test(records_without_text_are_no_reply),
		scratch_test(torn_last_reply_is_not_it),
		scratch_test(no_file_is_no_reply),
		scratch_test(replies_are_found_across_chunk_borders),
		scratch_test(records_are_visited_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
