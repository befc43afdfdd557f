/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/report-text.h"
#include "unit/store-fixture.h"

#include "base/fsutil.h"
#include "engine/place/activityfile.h"
#include "engine/place/runfiles.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#define ID    "0123abcd"
#define OLD   "0aaaaaaa-0000-4000-8000-000000000001"
#define NEW   "0bbbbbbb-0000-4000-8000-000000000002"
#define THIRD "0ccccccc-0000-4000-8000-000000000003"

struct desk {
	char *root;
	struct deck deck;
	char *token;
};

/* A run as a start leaves it, before the agent's first report. */
static void make_run(struct desk *desk)
{
	const struct agent *agent;
	cleanup_instance struct instance *instance = new_instance(ID, "one");
	struct attempt attempt = { .rung = RUNG_ASSIGN, .session_id = (char *)OLD };
	instance->conversation.session_id = xstrdup(OLD);
	instance->conversation.origin = ORIGIN_MINTED;
	strvec_push(&instance->resume_argv, "claude");
	strvec_push(&instance->resume_argv, "--resume");
	strvec_push(&instance->resume_argv, OLD);
	instance->observed.state = STATE_RUNNING;
	instance->run.id = xstrdup("run-1");
	instance->run.directory = xasprintf("%s/run/" ID, desk->root);
	instance->run.socket = xasprintf("%s/run/" ID "/" RUN_SOCKET, desk->root);
	run_add_attempt(&instance->run, &attempt);
	assert_int_equal(deck_agent(&desk->deck, "claude", &agent, NULL), 0);
	assert_int_equal(runfiles_write(&desk->deck, instance, agent, NULL), 0);
	assert_int_equal(create_instance(desk->deck.store, instance, NULL), 0);
	desk->token = runfiles_token(instance);
	assert_non_null(desk->token);
}

static int set_up(void **state)
{
	struct desk *desk = xcalloc(1, sizeof(*desk));
	desk->root = xstrdup("/tmp/agentdeck-report-XXXXXX");
	if (!mkdtemp(desk->root))
		return -1;
	setenv("AGENTDECK_HOME", desk->root, 1);
	setenv("HOME", desk->root, 1);
	unsetenv("AGENTDECK_PROFILE");
	if (deck_open("default", "test", &desk->deck, NULL) < 0 ||
	    deck_open_store(&desk->deck, NULL) < 0)
		return -1;
	make_run(desk);
	*state = desk;
	return 0;
}

static int tear_down(void **state)
{
	struct desk *desk = *state;
	int r = fs_remove_tree(AT_FDCWD, desk->root, NULL);
	deck_close(&desk->deck);
	free(desk->token);
	free(desk->root);
	free(desk);
	return r;
}

static int take_as(struct desk *desk, const char *id, const char *token, const char *text,
		   struct error *err)
{
	return report_text(&desk->deck, id, &(struct sender){ .token = token }, text, strlen(text),
			   err);
}

static void take(struct desk *desk, const char *text)
{
	struct error err = { 0 };
	if (take_as(desk, ID, desk->token, text, &err) != 0)
		fail_msg("%s: %s", text, or_empty(err.message));
}

#define EVENT(event, id, more) \
	"{\"hook_event_name\":\"" event "\",\"session_id\":\"" id "\"" more "}"
#define START(id, source) EVENT("SessionStart", id, ",\"source\":\"" source "\"")

static struct instance *load(struct desk *desk)
{
	struct instance *instance = NULL;
	assert_int_equal(store_load(desk->deck.store, ID, &instance, NULL), 0);
	return instance;
}

static void expect_id(struct desk *desk, const char *id, const char *previous)
{
	cleanup_instance struct instance *instance = load(desk);
	const struct strvec *old = &instance->conversation.previous;
	assert_string_equal(instance->conversation.session_id, id);
	assert_string_equal(old->count ? old->items[old->count - 1] : "", previous);
}

/* Assert that the test's block does not change the manifest. */
static char *manifest(struct desk *desk)
{
	return content(desk->deck.store, ID "/instance.json");
}

static void a_start_of_the_given_conversation_is_the_proof_that_the_agent_is_up(void **state)
{
	struct desk *desk = *state;
	take(desk, EVENT("SessionStart", OLD,
			 ",\"source\":\"startup\","
			 "\"transcript_path\":\"/t/x.jsonl\""));
	cleanup_instance struct instance *instance = load(desk);
	assert_true(instance->run.reported);
	assert_string_equal(instance->conversation.session_id, OLD);
	assert_int_equal(instance->conversation.origin, ORIGIN_MINTED);
	assert_string_equal(instance->conversation.transcript_path, "/t/x.jsonl");
	assert_false(instance->conversation.first_turn_seen);
	assert_true(instance->conversation.captured_at > 0);
}

static void only_the_token_of_the_present_run_counts(void **state)
{
	struct desk *desk = *state;
	static const char *const tokens[] = { NULL, "", "run-1", OLD };
	cleanup_free char *before = manifest(desk);
	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++)
		assert_int_equal(take_as(desk, ID, tokens[i], START(NEW, "clear"), NULL),
				 REPORT_FOREIGN);
	cleanup_free char *longer = xasprintf("%sx", desk->token);
	assert_int_equal(take_as(desk, ID, longer, START(NEW, "clear"), NULL), REPORT_FOREIGN);
	cleanup_free char *after = manifest(desk);
	assert_string_equal(after, before);
}

static void an_instance_that_is_not_there_has_no_reports(void **state)
{
	struct desk *desk = *state;
	static const char *const ids[] = { "zzzzzzzz", "", ("../default/" ID), ".", "0123abc" };
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_int_equal(take_as(desk, ids[i], desk->token, START(NEW, "clear"), NULL),
				 REPORT_FOREIGN);
	expect_id(desk, OLD, "");
}

static void a_run_that_is_over_has_no_reports(void **state)
{
	struct desk *desk = *state;
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	cleanup_instance struct instance *instance = load(desk);
	run_clear(&instance->run);
	assert_int_equal(store_save(lock, instance, NULL), 0);
	store_unlock(TAKE_PTR(lock));
	assert_int_equal(take_as(desk, ID, desk->token, START(NEW, "clear"), NULL), REPORT_FOREIGN);
	expect_id(desk, OLD, "");
}

static void clear_and_resume_inside_the_agent_move_the_id(void **state)
{
	struct desk *desk = *state;
	take(desk, START(OLD, "startup"));
	take(desk, EVENT("UserPromptSubmit", OLD, ""));
	take(desk, START(NEW, "clear"));
	expect_id(desk, NEW, OLD);
	cleanup_instance struct instance *instance = load(desk);
	assert_int_equal(instance->conversation.origin, ORIGIN_REPORTED);
	assert_false(instance->conversation.first_turn_seen);
	assert_string_equal(instance->resume_argv.items[2], NEW);
	take(desk, START(THIRD, "resume"));
	expect_id(desk, THIRD, NEW);
	take(desk, START(OLD, "resume"));
	expect_id(desk, OLD, THIRD);
	cleanup_free char *sidecar = xasprintf("%s/hooks/" ID ".sid", desk->root);
	cleanup_strbuf struct strbuf text = { 0 };
	assert_int_equal(fs_read(AT_FDCWD, sidecar, 100, &text, NULL), 0);
	assert_string_equal(text.data, OLD);
}

/* The disk is full, but a small file elsewhere can still be written. */
static void fail_to_take(struct desk *desk, const char *text)
{
	struct rlimit before, tiny;
	cleanup_error struct error err = { 0 };
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tiny = (struct rlimit){ .rlim_cur = 512, .rlim_max = before.rlim_max };
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	int r = take_as(desk, ID, desk->token, text, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(r, -1);
	assert_int_equal(err.os_errno, EFBIG);
}

static void a_move_that_could_not_be_saved_is_made_up_for_by_its_first_turn(void **state)
{
	struct desk *desk = *state;
	take(desk, START(OLD, "startup"));
	fail_to_take(desk, START(NEW, "clear"));
	expect_id(desk, OLD, "");
	/* An agent inside the agent: not announced, so not believed. */
	take(desk, START(THIRD, "startup"));
	take(desk, EVENT("UserPromptSubmit", THIRD, ""));
	expect_id(desk, OLD, "");
	take(desk, EVENT("UserPromptSubmit", NEW, ""));
	expect_id(desk, NEW, OLD);
	cleanup_instance struct instance *instance = load(desk);
	assert_true(instance->conversation.first_turn_seen);
	/* Once is enough: the session does not return to it. */
	take(desk, START(THIRD, "resume"));
	take(desk, EVENT("UserPromptSubmit", NEW, ""));
	expect_id(desk, THIRD, NEW);
}

static void the_first_start_may_tell_another_id_and_no_later_one(void **state)
{
	struct desk *desk = *state;
	/* A wrapper that drops our arguments. */
	take(desk, START(NEW, "startup"));
	expect_id(desk, NEW, OLD);
	/* A sub-agent, or another agent that inherited the environment. */
	take(desk, START(THIRD, "startup"));
	take(desk, START(THIRD, ""));
	expect_id(desk, NEW, OLD);
}

/* The report of a rung that failed may arrive when the next one already runs. */
static void the_start_of_the_id_that_the_attempt_was_given_is_always_believed(void **state)
{
	struct desk *desk = *state;
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	cleanup_instance struct instance *instance = load(desk);
	struct attempt fresh = { .rung = RUNG_FRESH, .session_id = (char *)NEW };
	run_add_attempt(&instance->run, &fresh);
	instance->run.attempt = 1;
	assert_int_equal(store_save(lock, instance, NULL), 0);
	store_unlock(TAKE_PTR(lock));
	/* A report of the failed attempt arrives late. */
	assert_int_equal(take_as(desk, ID, desk->token, START(OLD, "startup"), NULL),
			 REPORT_FOREIGN);
	take(desk, START(NEW, "startup"));
	expect_id(desk, NEW, OLD);
}

static void an_end_never_moves_the_id(void **state)
{
	struct desk *desk = *state;
	take(desk, START(OLD, "startup"));
	cleanup_free char *before = manifest(desk);
	take(desk, EVENT("SessionEnd", NEW, ",\"reason\":\"clear\",\"source\":\"clear\""));
	take(desk, EVENT("SessionEnd", NEW, ",\"reason\":\"other\""));
	take(desk, EVENT("Stop", NEW, ""));
	take(desk, EVENT("UserPromptSubmit", NEW, ""));
	cleanup_free char *after = manifest(desk);
	assert_string_equal(after, before);
}

static void a_prompt_is_the_first_turn_of_its_conversation(void **state)
{
	struct desk *desk = *state;
	take(desk, EVENT("UserPromptSubmit", NEW, ""));
	cleanup_instance struct instance *before = load(desk);
	assert_false(before->conversation.first_turn_seen);
	take(desk, EVENT("UserPromptSubmit", OLD, ",\"prompt\":\"x\""));
	cleanup_instance struct instance *after = load(desk);
	assert_true(after->conversation.first_turn_seen);
}

static void events_tell_what_the_agent_does(void **state)
{
	struct desk *desk = *state;
	static const struct {
		const char *text;
		enum instance_activity expected;
		int64_t prompts;
		bool asks;
	} table[] = {
		{ START(OLD, "startup"), ACTIVITY_IDLE, 0, false },
		{ EVENT("UserPromptSubmit", OLD, ""), ACTIVITY_BUSY, 1, false },
		{ EVENT("Notification", OLD, ""), ACTIVITY_WAITING, 1, false },
		/* A task in the background asks while the agent waits for words. */
		{ EVENT("PermissionRequest", OLD, ""), ACTIVITY_WAITING, 1, true },
		{ EVENT("PostToolUse", OLD, ""), ACTIVITY_BUSY, 1, false },
		{ EVENT("NoSuchEvent", OLD, ""), ACTIVITY_BUSY, 1, false },
		{ EVENT("Notification", OLD, ",\"notification_type\":\"permission_prompt\""),
		  ACTIVITY_WAITING, 1, true },
		{ EVENT("Stop", OLD, ""), ACTIVITY_IDLE, 1, false },
		/* It has asked, and a mere notification of that changes nothing. */
		{ EVENT("PermissionRequest", OLD, ""), ACTIVITY_WAITING, 1, true },
		{ EVENT("Notification", OLD, ""), ACTIVITY_WAITING, 1, true },
		{ EVENT("Stop", OLD, ""), ACTIVITY_IDLE, 1, false },
		{ EVENT("Notification", OLD, ",\"notification_type\":\"idle_prompt\""),
		  ACTIVITY_IDLE, 1, false },
		{ EVENT("UserPromptSubmit", OLD, ""), ACTIVITY_BUSY, 2, false },
	};
	cleanup_free char *directory = xasprintf("%s/run/" ID, desk->root);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_activity struct activity activity = { 0 };
		cleanup_announced struct announced announced = { 0 };
		take(desk, table[i].text);
		activity_read(directory, &activity);
		announced_read(directory, &announced);
		assert_int_equal(activity.activity, table[i].expected);
		assert_int_equal(activity.asks, table[i].asks);
		assert_int_equal(announced.prompts, table[i].prompts);
		assert_true(activity.since > 0);
	}
}

/* An agent that went elsewhere for a while still belongs to the session of its directory. */
static void the_directory_of_a_report_moves_no_session(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *before = load(desk);
	take(desk, EVENT("SessionStart", OLD, ",\"source\":\"startup\",\"cwd\":\"/elsewhere\""));
	take(desk, EVENT("UserPromptSubmit", OLD, ",\"cwd\":\"/elsewhere\""));
	take(desk, EVENT("SessionStart", NEW, ",\"source\":\"clear\",\"cwd\":\"/elsewhere\""));
	cleanup_instance struct instance *after = load(desk);
	assert_true(after->run.reported);
	assert_string_equal(after->cwd, before->cwd);
}

static void a_transcript_path_must_be_absolute(void **state)
{
	struct desk *desk = *state;
	take(desk, EVENT("SessionStart", OLD, ",\"transcript_path\":\"../../etc/passwd\""));
	cleanup_instance struct instance *instance = load(desk);
	assert_null(instance->conversation.transcript_path);
}

static void garbage_is_refused_and_changes_nothing(void **state)
{
	struct desk *desk = *state;
	static const char *const garbage[] = {
		"",
		"x",
		"{",
		"[]",
		"null",
		"7",
		"{}",
		"{\"hook_event_name\":7}",
		"{\"hook_event_name\":\"SessionStart\",\"session_id\":\"../x\"}",
		"{\"hook_event_name\":\"SessionStart\",\"session_id\":\"-x\"}",
		"{\"hook_event_name\":\"SessionStart\",\"session_id\":\"\"}",
		"{\"hook_event_name\":\"SessionStart\",\"session_id\":\"a b\"}",
		"{\"hook_event_name\":\"SessionStart\"} {}",
		"\xff\xfe",
	};
	cleanup_free char *before = manifest(desk);
	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		cleanup_error struct error err = { 0 };
		if (take_as(desk, ID, desk->token, garbage[i], &err) != -1)
			fail_msg("taken: %s", garbage[i]);
		assert_int_equal(err.code, ERROR_CORRUPT);
	}
	cleanup_free char *after = manifest(desk);
	assert_string_equal(after, before);
}

static void types_that_do_not_fit_are_as_good_as_absent(void **state)
{
	struct desk *desk = *state;
	take(desk, "{\"hook_event_name\":\"SessionStart\",\"session_id\":7,\"source\":[],"
		   "\"transcript_path\":{}}");
	expect_id(desk, OLD, "");
}

static void ten_megabytes_are_read_and_not_kept(void **state)
{
	enum { SIZE = 10 << 20 };
	struct desk *desk = *state;
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *prompt = xcalloc(SIZE + 1, 1);
	memset(prompt, 'x', SIZE);
	strbuf_adds(&text, "{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"" OLD
			   "\",\"prompt\":\"");
	strbuf_add(&text, prompt, SIZE);
	strbuf_adds(&text, "\"}");
	assert_int_equal(report_text(&desk->deck, ID, &(struct sender){ .token = desk->token },
				     text.data, text.length, NULL),
			 0);
	cleanup_instance struct instance *instance = load(desk);
	assert_true(instance->conversation.first_turn_seen);
	cleanup_free char *after = manifest(desk);
	assert_true(strlen(after) < 10000);
}

static void a_hand_made_run_without_attempts_is_no_trap(void **state)
{
	struct desk *desk = *state;
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	cleanup_instance struct instance *instance = load(desk);
	attempt_clear(&instance->run.attempts[0]);
	instance->run.attempt_count = 0;
	instance->run.reported = true;
	assert_int_equal(store_save(lock, instance, NULL), 0);
	store_unlock(TAKE_PTR(lock));
	take(desk, START(NEW, "startup"));
	take(desk, START(NEW, "clear"));
	expect_id(desk, NEW, OLD);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_start_of_the_given_conversation_is_the_proof_that_the_agent_is_up),
		TEST(only_the_token_of_the_present_run_counts),
		TEST(an_instance_that_is_not_there_has_no_reports),
		TEST(a_run_that_is_over_has_no_reports),
		TEST(clear_and_resume_inside_the_agent_move_the_id),
		TEST(a_move_that_could_not_be_saved_is_made_up_for_by_its_first_turn),
		TEST(the_first_start_may_tell_another_id_and_no_later_one),
		TEST(the_start_of_the_id_that_the_attempt_was_given_is_always_believed),
		TEST(an_end_never_moves_the_id),
		TEST(a_prompt_is_the_first_turn_of_its_conversation),
		TEST(events_tell_what_the_agent_does),
		TEST(the_directory_of_a_report_moves_no_session),
		TEST(a_transcript_path_must_be_absolute),
		TEST(garbage_is_refused_and_changes_nothing),
		TEST(types_that_do_not_fit_are_as_good_as_absent),
		TEST(ten_megabytes_are_read_and_not_kept),
		TEST(a_hand_made_run_without_attempts_is_no_trap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
