/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The reports of an agent in a container, which can write whatever it likes into their directory.
 */
#include "unit/store-fixture.h"

#include "base/fsutil.h"
#include "driver/capsule/capsule.h"
#include "engine/place/activityfile.h"
#include "engine/place/runfiles.h"
#include "engine/run/collect.h"

#include <fcntl.h>
#include <sys/stat.h>

#define ID      "0123abcd"
#define SESSION "0aaaaaaa-0000-4000-8000-000000000001"

struct desk {
	char *root, *capsule, *reports, *run;
	struct deck deck;
};

static void write_file(const char *directory, const char *name, const char *text)
{
	cleanup_close int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fs_replace(fd, name, text, strlen(text), FS_VOLATILE, NULL), 0);
}

static void make_directory(const char *path)
{
	cleanup_close int fd = -1;
	assert_int_equal(fs_open_private_directory(path, &fd, NULL), 0);
}

/* A run of claude in a container, before its first turn. */
static void make_run(struct desk *desk)
{
	const struct agent *agent;
	cleanup_instance struct instance *instance = new_instance(ID, "one");
	const struct attempt attempt = { .rung = RUNG_ASSIGN, .session_id = (char *)SESSION };
	instance->conversation.session_id = xstrdup(SESSION);
	instance->conversation.origin = ORIGIN_MINTED;
	instance->observed.state = STATE_RUNNING;
	instance->run.id = xstrdup("run-1");
	instance->run.directory = xstrdup(desk->run);
	instance->run.socket = path_join(desk->run, RUN_SOCKET);
	instance->run.capsule = xstrdup(desk->capsule);
	run_add_attempt(&instance->run, &attempt);
	assert_int_equal(deck_agent(&desk->deck, "claude", &agent, NULL), 0);
	assert_int_equal(create_instance(desk->deck.store, instance, NULL), 0);
	make_directory(desk->reports);
	assert_int_equal(runfiles_write(&desk->deck, instance, agent, NULL), 0);
	cleanup_free char *token = runfiles_token(instance);
	write_file(desk->capsule, CAPSULE_TOKEN, token);
}

static int set_up(void **state)
{
	struct desk *desk = xcalloc(1, sizeof(*desk));
	desk->root = xstrdup("/tmp/agentdeck-collect-XXXXXX");
	if (!mkdtemp(desk->root))
		return -1;
	setenv("AGENTDECK_HOME", desk->root, 1);
	setenv("HOME", desk->root, 1);
	unsetenv("AGENTDECK_PROFILE");
	if (deck_open("default", "test", &desk->deck, NULL) < 0 ||
	    deck_open_store(&desk->deck, NULL) < 0)
		return -1;
	desk->run = xasprintf("%s/run/" ID, desk->root);
	desk->capsule = xasprintf("%s/default/" ID "/capsule", desk->deck.paths.state);
	desk->reports = path_join(desk->capsule, CAPSULE_REPORTS);
	make_run(desk);
	*state = desk;
	return 0;
}

static int tear_down(void **state)
{
	struct desk *desk = *state;
	int r = fs_remove_tree(AT_FDCWD, desk->root, NULL);
	deck_close(&desk->deck);
	free(desk->root);
	free(desk->run);
	free(desk->capsule);
	free(desk->reports);
	free(desk);
	return r;
}

static void collect(struct desk *desk)
{
	struct error err = { 0 };
	if (collect_reports(&desk->deck, ID, &err) != 0)
		fail_msg("%s", or_empty(err.message));
}

static size_t count_reports(const struct desk *desk)
{
	cleanup_close int fd = open(desk->reports, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	size_t count = 0;
	assert_int_equal(fs_list(fd, &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++)
		count += names.items[i][0] != '.';
	return count;
}

static enum instance_activity activity(const struct desk *desk)
{
	cleanup_activity struct activity now = { 0 };
	activity_read(desk->run, &now);
	return now.activity;
}

#define FROM           "from run-1 7/1000\n"
#define PROMPT_MEMBERS "\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"" SESSION "\""
#define PROMPT         FROM "{" PROMPT_MEMBERS "}"
#define STOP           FROM "{\"hook_event_name\":\"Stop\",\"session_id\":\"" SESSION "\"}"

static void reports_are_taken_in_their_order(void **state)
{
	struct desk *desk = *state;
	write_file(desk->reports, "0002-8.json", STOP);
	write_file(desk->reports, "0001-9.json", PROMPT);
	collect(desk);
	assert_int_equal(activity(desk), ACTIVITY_IDLE);
	assert_int_equal(count_reports(desk), 0);
	cleanup_instance struct instance *after = NULL;
	assert_int_equal(store_load(desk->deck.store, ID, &after, NULL), 0);
	assert_true(after->conversation.first_turn_seen);
}

static void what_is_no_report_goes_and_changes_nothing(void **state)
{
	struct desk *desk = *state;
	write_file(desk->reports, "0001-1.json", PROMPT);
	collect(desk);
	assert_int_equal(activity(desk), ACTIVITY_BUSY);
	write_file(desk->reports, "0002-1.json", "not JSON");
	write_file(desk->reports, "0003-1.json", "");
	cleanup_free char *pipe = path_join(desk->reports, "0004-1.json");
	assert_int_equal(mkfifo(pipe, 0600), 0);
	collect(desk);
	assert_int_equal(activity(desk), ACTIVITY_BUSY);
	assert_int_equal(count_reports(desk), 0);
}

/* A tool's whole output may be in it. */
static void of_a_long_report_counts_what_counts(void **state)
{
	struct desk *desk = *state;
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_adds(&text, FROM "{\"output\":\"");
	for (size_t i = 0; i < 200000; i++)
		strbuf_adds(&text, "0123456789");
	strbuf_adds(&text, "\"," PROMPT_MEMBERS "}");
	write_file(desk->reports, "0001-1.json", strbuf_text(&text));
	collect(desk);
	assert_int_equal(activity(desk), ACTIVITY_BUSY);
}

/* Whoever writes the reports can put a link there: neither it nor the directory is followed. */
static void a_link_is_not_followed(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *outside = path_join(desk->root, "outside");
	cleanup_free char *link = path_join(desk->reports, "0001-1.json");
	cleanup_error struct error err = { 0 };
	make_directory(outside);
	write_file(outside, "report.json", PROMPT);
	cleanup_free char *target = path_join(outside, "report.json");
	assert_int_equal(symlink(target, link), 0);
	collect(desk);
	assert_int_equal(activity(desk), ACTIVITY_UNKNOWN);
	assert_int_equal(access(target, F_OK), 0);
	assert_int_equal(fs_remove_tree(AT_FDCWD, desk->reports, NULL), 0);
	assert_int_equal(symlink(outside, desk->reports), 0);
	assert_int_equal(collect_reports(&desk->deck, ID, &err), -1);
	assert_int_equal(access(target, F_OK), 0);
	assert_int_equal(activity(desk), ACTIVITY_UNKNOWN);
}

static void a_report_of_another_run_does_not_count(void **state)
{
	struct desk *desk = *state;
	write_file(desk->reports, "0001-1.json", "from run-0 7/1000\n{" PROMPT_MEMBERS "}");
	write_file(desk->reports, "0002-1.json", "from - 7/1000\n{" PROMPT_MEMBERS "}");
	write_file(desk->reports, "0003-1.json", "{" PROMPT_MEMBERS "}");
	collect(desk);
	assert_int_equal(activity(desk), ACTIVITY_UNKNOWN);
	assert_int_equal(count_reports(desk), 0);
}

static void a_session_without_a_container_has_none(void **state)
{
	struct desk *desk = *state;
	assert_int_equal(collect_reports(&desk->deck, "0123abce", NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(reports_are_taken_in_their_order),
		TEST(what_is_no_report_goes_and_changes_nothing),
		TEST(of_a_long_report_counts_what_counts),
		TEST(a_link_is_not_followed),
		TEST(a_report_of_another_run_does_not_count),
		TEST(a_session_without_a_container_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
