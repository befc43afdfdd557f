/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/store-fixture.h"

#include "base/jsonio.h"
#include "base/machine.h"
#include "base/version.h"
#include "engine/place/runfiles.h"
#include "engine/supervise/notify.h"

struct bell {
	char *root, *program, *result;
	struct deck deck; /* only its settings are used */
};

static int bell_set_up(void **state)
{
	struct bell *bell = xcalloc(1, sizeof(*bell));
	bell->root = xstrdup("/tmp/agentdeck-notify-XXXXXX");
	if (!mkdtemp(bell->root))
		return -1;
	bell->program = path_join(bell->root, "tell");
	bell->result = path_join(bell->root, "told");
	settings_init(&bell->deck.settings);
	*state = bell;
	return 0;
}

static int bell_tear_down(void **state)
{
	struct bell *bell = *state;
	int r = fs_remove_tree(AT_FDCWD, bell->root, NULL);
	settings_free(&bell->deck.settings);
	free(bell->root);
	free(bell->program);
	free(bell->result);
	free(bell);
	return r;
}

#define BELL_TEST(function) cmocka_unit_test_setup_teardown(function, bell_set_up, bell_tear_down)

/* Make the command a script of these lines, with the file for its results as its argument. */
static void set_command(struct bell *bell, const char *lines)
{
	cleanup_free char *text = xasprintf("#!/bin/sh\n%s\n", lines);
	int fd = open(bell->program, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), "the script", NULL), 0);
	assert_int_equal(close(fd), 0);
	strvec_clear(&bell->deck.settings.notify.command);
	strvec_push(&bell->deck.settings.notify.command, bell->program);
	strvec_push(&bell->deck.settings.notify.command, bell->result);
}

static struct roster_entry entry = {
	.profile = "default",
	.row = {
		.id = (char *)"0123abcd",
		.base = (char *)"0123abcd",
		.title = (char *)"a \"quoted\"\nand \033[31mred $(title)",
		.group = (char *)"work/api",
		.agent = (char *)"claude",
	},
	.view = { .state = STATE_RUNNING, .activity = ACTIVITY_WAITING },
	.since_us = INT64_C(1776157681000000),
};
static const struct notification example = { .occasion = "waiting", .entry = &entry };

struct waiting {
	struct loop *loop;
	struct error *err;
};

static void on_done(const struct error *failure, void *context)
{
	const struct waiting *waiting = context;
	if (failure && waiting->err)
		(void)error_set(waiting->err, failure->code, "%s", failure->message);
	loop_exit(waiting->loop, failure != NULL);
}

static struct loop *start(const struct bell *bell, const struct notification *notification,
			  int timeout_ms, struct waiting *waiting)
{
	cleanup_free char *payload = notify_payload(notification);
	const struct notify_call call = { notification->occasion, payload, timeout_ms };
	assert_int_equal(loop_new(&waiting->loop, NULL), 0);
	assert_int_equal(notify_start(&bell->deck, waiting->loop, &call, on_done, waiting), 0);
	return waiting->loop;
}

/* To its end: 0, or 1 with *err. */
static int tell(const struct bell *bell, const struct notification *notification, int timeout_ms,
		struct error *err)
{
	struct waiting waiting = { .err = err };
	cleanup_loop struct loop *loop = start(bell, notification, timeout_ms, &waiting);
	return loop_run(loop, NULL);
}

static char *read_result(const struct bell *bell)
{
	struct strbuf text = { 0 };
	assert_int_equal(fs_read(AT_FDCWD, bell->result, 1 << 20, &text, NULL), 0);
	return strbuf_take(&text);
}

static void the_command_reads_one_line_of_json(void **state)
{
	struct bell *bell = *state;
	cleanup_json struct json_object *object = NULL;
	set_command(bell, "cat > \"$1\"");
	assert_int_equal(tell(bell, &example, LONG_MS, NULL), 0);
	cleanup_free char *text = read_result(bell);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_int_equal(json_parse(text, strlen(text), "payload", &object, NULL), 0);
	assert_string_equal(json_get_string(object, "occasion", ""), "waiting");
	assert_string_equal(json_get_string(object, "id", ""), "0123abcd");
	assert_string_equal(json_get_string(object, "title", ""), entry.row.title);
	assert_string_equal(json_get_string(object, "group", ""), "work/api");
	assert_string_equal(json_get_string(object, "profile", ""), "default");
	assert_string_equal(json_get_string(object, "agent", ""), "claude");
	assert_string_equal(json_get_string(object, "status", ""), "running");
	assert_string_equal(json_get_string(object, "activity", ""), "waiting");
	assert_string_equal(json_get_string(object, "message", ""), "it is waiting for you");
	assert_string_equal(json_get_string(object, "since_at", ""), "2026-04-14T09:08:01.000Z");
	assert_int_equal(json_get_int(object, "protocol", 0), JSON_PROTOCOL);
	assert_string_equal(json_get_string(object, "host", ""), machine_host());
	struct json_object *reason;
	assert_true(json_object_object_get_ex(object, "reason", &reason));
	assert_null(reason);
}

static void long_texts_are_cut_so_that_nothing_is_waited_for(void **state)
{
	struct bell *bell = *state;
	cleanup_strbuf struct strbuf text = { 0 };
	for (int i = 0; i < 20000; i++)
		strbuf_adds(&text, i % 2 ? "\001" : "é");
	struct roster_entry long_entry = entry;
	long_entry.profile = long_entry.row.id = long_entry.row.title = long_entry.row.group =
		long_entry.row.agent = long_entry.view.reason = text.data;
	const struct notification notification = { "error", &long_entry, text.data };
	cleanup_free char *payload = notify_payload(&notification);
	assert_in_range(strlen(payload), 4000, 64 << 10);
	assert_true(is_utf8(payload, strlen(payload)));
	/* It never reads. */
	set_command(bell, "exec sleep 1000");
	cleanup_error struct error err = { 0 };
	assert_int_equal(tell(bell, &notification, 1, &err), 1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
}

static void a_turn_that_failed_names_its_error(void **state UNUSED)
{
	struct roster_entry failed = entry;
	failed.view = (struct view){ .state = STATE_RUNNING,
				     .activity = ACTIVITY_IDLE,
				     .note = VIEW_FAILED,
				     .reason = (char *)"failed: rate limit" };
	cleanup_free char *payload = notify_payload(
		&(struct notification){ .occasion = "error", .entry = &failed });
	assert_non_null(strstr(payload, "\"message\":\"failed: rate limit\""));
}

static void only_the_occasions_that_are_asked_for_are_told(void **state)
{
	struct bell *bell = *state;
	struct notification notification = example;
	struct notify_call call = { "waiting", "", LONG_MS };
	assert_int_equal(notify_start(&bell->deck, NULL, &call, on_done, NULL), NOTIFY_UNWANTED);
	set_command(bell, "exit 0");
	notification.occasion = call.occasion = "idle";
	assert_int_equal(notify_start(&bell->deck, NULL, &call, on_done, NULL), NOTIFY_UNWANTED);
	strvec_push(&bell->deck.settings.notify.on, "idle");
	assert_int_equal(tell(bell, &notification, LONG_MS, NULL), 0);
}

static void the_command_is_no_part_of_a_run(void **state)
{
	struct bell *bell = *state;
	setenv(ENV_TOKEN, "secret", 1);
	setenv(ENV_INSTANCE, "0123abcd", 1);
	setenv(ENV_RUN, "run-1", 1);
	setenv("AGENTDECK_TEST_KEPT", "kept", 1);
	set_command(bell, "cat > /dev/null; env > \"$1\"");
	struct waiting waiting = { 0 };
	cleanup_loop struct loop *loop = start(bell, &example, LONG_MS, &waiting);
	unsetenv(ENV_TOKEN);
	unsetenv(ENV_INSTANCE);
	unsetenv(ENV_RUN);
	unsetenv("AGENTDECK_TEST_KEPT");
	assert_int_equal(loop_run(loop, NULL), 0);
	cleanup_free char *text = read_result(bell);
	assert_null(strstr(text, ENV_TOKEN));
	assert_null(strstr(text, ENV_INSTANCE));
	assert_null(strstr(text, ENV_RUN "="));
	assert_non_null(strstr(text, "AGENTDECK_TEST_KEPT=kept"));
}

static void no_shell_reads_the_command(void **state)
{
	struct bell *bell = *state;
	set_command(bell, "printf '%s' \"$2\" > \"$1\"");
	strvec_push(&bell->deck.settings.notify.command, "; $(touch x) *");
	assert_int_equal(tell(bell, &example, LONG_MS, NULL), 0);
	cleanup_free char *text = read_result(bell);
	assert_string_equal(text, "; $(touch x) *");
}

static void one_that_hangs_is_killed_with_what_it_started(void **state)
{
	struct bell *bell = *state;
	cleanup_error struct error err = { 0 };
	set_command(bell, "sleep 1000 & echo $! > \"$1.new\"; mv \"$1.new\" \"$1\"; wait");
	struct waiting waiting = { .err = &err };
	/* Its time is over when the loop begins to look. */
	cleanup_loop struct loop *loop = start(bell, &example, 1, &waiting);
	struct process_id helper = { 0 };
	for (int64_t deadline = clock_ms() + LONG_MS; access(bell->result, F_OK) < 0;)
		assert_true(clock_ms() < deadline);
	cleanup_free char *text = read_result(bell);
	int64_t pid;
	text[strcspn(text, "\n")] = '\0';
	assert_true(parse_int64(text, 1, INT32_MAX, &pid));
	assert_int_equal(process_identify((pid_t)pid, &helper, NULL), 0);
	assert_int_equal(loop_run(loop, NULL), 1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	assert_non_null(strstr(err.message, bell->program));
	assert_int_equal(process_wait_end(&helper, clock_ms() + LONG_MS, NULL), 0);
}

static void one_that_is_not_there_is_an_error(void **state)
{
	struct bell *bell = *state;
	cleanup_error struct error err = { 0 };
	strvec_push(&bell->deck.settings.notify.command, "/there/is/no/such/program");
	assert_int_equal(tell(bell, &example, LONG_MS, &err), 1);
	assert_int_equal(err.code, ERROR_UNAVAILABLE);
	assert_non_null(strstr(err.message, "/there/is/no/such/program"));
}

static void one_that_fails_is_quoted(void **state)
{
	struct bell *bell = *state;
	cleanup_error struct error err = { 0 };
	set_command(bell, "echo 'no display' >&2; exit 3");
	assert_int_equal(tell(bell, &example, LONG_MS, &err), 1);
	assert_int_equal(err.code, ERROR_CHILD);
	assert_non_null(strstr(err.message, "status 3: no display"));
}

/* A SIGPIPE from it would end the caller. */
static void one_that_does_not_read_harms_nobody(void **state)
{
	struct bell *bell = *state;
	set_command(bell, "exec <&-; exit 0");
	for (int i = 0; i < 20; i++)
		assert_int_equal(tell(bell, &example, LONG_MS, NULL), 0);
}

static void an_event_is_an_occasion_once(void **state UNUSED)
{
	struct roster_entry changed = entry;
	struct roster_event event = { ROSTER_ACTIVITY, &changed,      ROSTER_DOING,
				      STATE_RUNNING,   ACTIVITY_BUSY, false };
	assert_string_equal(notify_doing(&event), "waiting");
	changed.view.activity = ACTIVITY_IDLE;
	assert_string_equal(notify_doing(&event), "idle");
	changed.view.note = VIEW_FAILED;
	assert_string_equal(notify_doing(&event), "error");
	changed.view.note = VIEW_PLAIN;
	event.activity_before = ACTIVITY_UNKNOWN;
	assert_null(notify_doing(&event));
	event.differs = ROSTER_STATE;
	changed.view.activity = ACTIVITY_WAITING;
	assert_null(notify_doing(&event));
	assert_null(notify_end(&event, true));
	changed.view.state = STATE_ERROR;
	assert_string_equal(notify_end(&event, true), "error");
	assert_null(notify_end(&event, false));
	changed.row.held = (char *)"it needs a login";
	assert_string_equal(notify_end(&event, false), "held");
	event.was_held = true;
	event.state_before = STATE_ERROR;
	assert_null(notify_end(&event, true));
	event.what = ROSTER_ADDED;
	event.was_held = false;
	assert_null(notify_end(&event, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_an_occasion_once),
		BELL_TEST(the_command_reads_one_line_of_json),
		BELL_TEST(long_texts_are_cut_so_that_nothing_is_waited_for),
		cmocka_unit_test(a_turn_that_failed_names_its_error),
		BELL_TEST(only_the_occasions_that_are_asked_for_are_told),
		BELL_TEST(the_command_is_no_part_of_a_run),
		BELL_TEST(no_shell_reads_the_command),
		BELL_TEST(one_that_hangs_is_killed_with_what_it_started),
		BELL_TEST(one_that_is_not_there_is_an_error),
		BELL_TEST(one_that_fails_is_quoted),
		BELL_TEST(one_that_does_not_read_harms_nobody),
	};
	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
