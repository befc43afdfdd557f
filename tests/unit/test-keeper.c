/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The capsule as its windows and hooks see it, frame by frame.
 */
#include "unit/capsule-fixture.h"

#include "capsule/channel.h"

#include <poll.h>
#include <sys/socket.h>

/* --- a client --------------------------------------------------------------------------------- */

static void dial(struct channel *channel)
{
	int fd = -1;
	UNTIL(endpoint_connect(here, &fd, NULL) == 0);
	channel_init(channel, fd);
}

static void send_all(struct channel *channel)
{
	while (channel_flush(channel, NULL) == CHANNEL_AGAIN)
		assert_true(channel_wait(channel, POLLOUT, soon()));
}

static void hello(struct channel *channel, const char *token)
{
	struct frame_hello frame = { .version = FRAME_VERSION };
	(void)snprintf(frame.token, sizeof(frame.token), "%s", token);
	frame_put_hello(channel_out(channel), &frame);
	send_all(channel);
}

/* The next frame.  False: the connection has ended. */
static bool next(struct channel *channel, struct frame *ret)
{
	for (;;) {
		int r = channel_take(channel, ret, NULL);
		assert_true(r >= 0);
		if (r == 0)
			return true;
		r = channel_receive(channel, NULL);
		assert_true(r >= 0);
		if (r == CHANNEL_ENDED)
			return false;
		if (r == CHANNEL_AGAIN)
			assert_true(channel_wait(channel, POLLIN, soon()));
	}
}

static struct frame expect(struct channel *channel, enum frame_type type)
{
	struct frame frame = { 0 };
	do
		assert_true(next(channel, &frame));
	while (frame.type != type);
	return frame;
}

static void greet(struct channel *channel)
{
	dial(channel);
	hello(channel, TOKEN);
	(void)expect(channel, FRAME_HELLO);
}

static void ask_view(struct channel *channel, unsigned attempt)
{
	const struct frame_view view = { { RUN, attempt }, { 80, 24 } };
	frame_put_view(channel_out(channel), &view);
	send_all(channel);
}

static void view(struct channel *channel, unsigned attempt)
{
	greet(channel);
	ask_view(channel, attempt);
}

/* Take output until it has this text. */
static void await_text(struct channel *channel, const char *text)
{
	cleanup_strbuf struct strbuf seen = { 0 };
	while (!strstr(strbuf_text(&seen), text)) {
		struct frame frame;
		assert_true(next(channel, &frame));
		if (frame.type == FRAME_OUTPUT || frame.type == FRAME_REPLAY)
			strbuf_add(&seen, frame.payload, frame.length);
	}
}

static void type(struct channel *channel, const char *text)
{
	frame_put_bytes(channel_out(channel), FRAME_INPUT, text, strlen(text));
	send_all(channel);
}

/* Starts an agent by a connection that ends at once. */
static void start(unsigned attempt, const char *script)
{
	cleanup_capsule struct capsule *capsule = connected();
	(void)started(capsule, attempt, script);
}

/* --- windows ---------------------------------------------------------------------------------- */

static void input_goes_in_and_output_comes_out(void **state UNUSED)
{
	struct channel window;
	start(1, "read line; echo got $line; exec sleep 100");
	view(&window, 1);
	type(&window, "some words\n");
	await_text(&window, "got some words");
	channel_close(&window);
}

static void a_window_that_comes_late_sees_what_was_before(void **state UNUSED)
{
	struct channel window;
	start(1, "echo before; touch up; exec sleep 100");
	UNTIL(exists("up"));
	view(&window, 1);
	await_text(&window, "before");
	channel_close(&window);
}

static void a_second_window_makes_the_agent_draw_again(void **state UNUSED)
{
	struct channel first, second;
	/* As programs do: draw when the size is another one. */
	start(1, "trap 's=$(stty size); echo drawn $s' WINCH; echo up;"
		 " while :; do read line || :; done");
	view(&first, 1);
	await_text(&first, "up");
	channel_close(&first);
	view(&second, 1);
	await_text(&second, "drawn 24 80");
	channel_close(&second);
}

static void the_size_is_the_last_writers(void **state UNUSED)
{
	struct channel first, second;
	start(1, "while read line; do stty size; done");
	view(&first, 1);
	view(&second, 1);
	frame_put_resize(channel_out(&first), &(struct frame_size){ 100, 30 });
	type(&first, "\n");
	await_text(&first, "30 100");
	frame_put_resize(channel_out(&second), &(struct frame_size){ 120, 40 });
	type(&second, "\n");
	await_text(&second, "40 120");
	frame_put_resize(channel_out(&second), &(struct frame_size){ 0, 0 });
	type(&second, "\n");
	await_text(&second, "40 120");
	channel_close(&first);
	channel_close(&second);
}

static void a_window_that_was_killed_costs_nothing(void **state UNUSED)
{
	struct channel first, second;
	start(1, "echo up; while read line; do echo got $line; done");
	view(&first, 1);
	await_text(&first, "up");
	frame_put_bytes(channel_out(&first), FRAME_INPUT, "half a frame", 12);
	(void)send(first.fd, first.out.data, first.out.length - 3, MSG_NOSIGNAL);
	channel_close(&first);
	view(&second, 1);
	type(&second, "word\n");
	await_text(&second, "got word");
	channel_close(&second);
}

static void a_window_that_does_not_read_is_dropped_and_the_agent_goes_on(void **state UNUSED)
{
	struct channel stuck, reading;
	start(1, "read line; head -c 20000000 /dev/zero; touch written; exec sleep 100");
	view(&stuck, 1);
	view(&reading, 1);
	type(&reading, "\n");
	UNTIL(({
		struct frame frame;
		while (channel_take(&reading, &frame, NULL) == 0)
			;
		assert_true(channel_receive(&reading, NULL) != CHANNEL_ENDED);
		exists("written");
	}));
	/* What is left for it ends with the end of the connection. */
	struct frame frame;
	while (next(&stuck, &frame))
		assert_int_not_equal(frame.type, FRAME_EXIT);
	channel_close(&stuck);
	channel_close(&reading);
}

static void the_exit_comes_after_all_output(void **state UNUSED)
{
	struct channel window;
	struct frame_status status;
	struct strbuf seen = { 0 };
	struct frame frame;
	start(1, "read line; for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; exit 7");
	view(&window, 1);
	type(&window, "\n");
	while (assert_true(next(&window, &frame)), frame.type != FRAME_EXIT)
		if (frame.type == FRAME_OUTPUT)
			strbuf_add(&seen, frame.payload, frame.length);
	assert_non_null(strstr(strbuf_text(&seen), "line 9"));
	assert_int_equal(frame_get_status(&frame, &status, NULL), 0);
	assert_int_equal(status.code, 7);
	assert_int_equal(status.attempt.number, 1);
	/* The record is there before anybody is told. */
	assert_true(exists("exit.json"));
	strbuf_free(&seen);
	channel_close(&window);
}

static void who_views_an_attempt_that_has_ended_is_told(void **state UNUSED)
{
	struct channel window;
	struct frame_status status;
	start(1, "echo last words; kill -9 $$");
	UNTIL(exists("exit.json"));
	view(&window, 1);
	await_text(&window, "last words");
	const struct frame frame = expect(&window, FRAME_EXIT);
	assert_int_equal(frame_get_status(&frame, &status, NULL), 0);
	assert_int_equal(status.signal, SIGKILL);
	channel_close(&window);
}

static void another_attempt_is_not_shown(void **state UNUSED)
{
	struct channel window;
	struct frame_refused refused;
	start(1, "exec sleep 100");
	view(&window, 2);
	const struct frame frame = expect(&window, FRAME_REFUSED);
	assert_int_equal(frame_get_refused(&frame, &refused, NULL), 0);
	assert_int_equal(refused.why, FRAME_OTHER_ATTEMPT);
	free(refused.text);
	channel_close(&window);
}

static void a_hundred_windows_see_the_same(void **state UNUSED)
{
	enum { COUNT = 100 };
	struct channel windows[COUNT];
	start(1, "read line; echo to all of you; exec sleep 100");
	for (size_t i = 0; i < COUNT; i++)
		view(&windows[i], 1);
	type(&windows[0], "\n");
	for (size_t i = 0; i < COUNT; i++)
		await_text(&windows[i], "to all of you");
	for (size_t i = 0; i < COUNT; i++)
		channel_close(&windows[i]);
}

static void a_heartbeat_is_answered(void **state UNUSED)
{
	struct channel window;
	uint32_t number;
	greet(&window);
	frame_put_number(channel_out(&window), FRAME_HEARTBEAT, 4711);
	send_all(&window);
	const struct frame frame = expect(&window, FRAME_HEARTBEAT);
	assert_int_equal(frame_get_number(&frame, &number, NULL), 0);
	assert_int_equal(number, 4711);
	channel_close(&window);
}

static void the_end_of_the_capsule_is_said(void **state UNUSED)
{
	struct channel window;
	struct frame frame;
	greet(&window);
	(void)kill(capsule_pid, SIGTERM);
	(void)expect(&window, FRAME_BYE);
	assert_false(next(&window, &frame));
	assert_int_equal(capsule_ended(), 0);
	channel_close(&window);
}

/* --- hostile clients -------------------------------------------------------------------------- */

static void expect_refusal(struct channel *channel)
{
	struct frame frame;
	(void)expect(channel, FRAME_REFUSED);
	assert_false(next(channel, &frame));
	channel_close(channel);
}

static void without_the_token_nothing_is_obeyed(void **state UNUSED)
{
	struct channel stranger;
	dial(&stranger);
	frame_put_number(channel_out(&stranger), FRAME_STOP, 0);
	send_all(&stranger);
	expect_refusal(&stranger);
	dial(&stranger);
	hello(&stranger, "guessed");
	expect_refusal(&stranger);
	dial(&stranger);
	hello(&stranger, "");
	expect_refusal(&stranger);
	greet(&stranger);
	channel_close(&stranger);
}

static void what_is_no_frame_ends_the_connection(void **state UNUSED)
{
	struct channel stranger;
	greet(&stranger);
	strbuf_adds(channel_out(&stranger), "GET / HTTP/1.1\r\n");
	send_all(&stranger);
	expect_refusal(&stranger);
	greet(&stranger);
	channel_close(&stranger);
}

static void a_frame_may_come_byte_by_byte(void **state UNUSED)
{
	struct channel window;
	struct strbuf bytes = { 0 };
	struct frame_hello frame = { .version = FRAME_VERSION, .token = TOKEN };
	dial(&window);
	frame_put_hello(&bytes, &frame);
	frame_put_number(&bytes, FRAME_HEARTBEAT, 1);
	for (size_t i = 0; i < bytes.length; i++)
		assert_int_equal(send(window.fd, bytes.data + i, 1, MSG_NOSIGNAL), 1);
	(void)expect(&window, FRAME_HEARTBEAT);
	strbuf_free(&bytes);
	channel_close(&window);
}

static void a_newer_client_is_answered_with_our_version(void **state UNUSED)
{
	struct channel window;
	struct frame_hello frame = { .version = FRAME_VERSION + 7, .token = TOKEN };
	dial(&window);
	frame_put_hello(channel_out(&window), &frame);
	send_all(&window);
	const struct frame answer = expect(&window, FRAME_HELLO);
	assert_int_equal(frame_get_hello(&answer, &frame, NULL), 0);
	assert_int_equal(frame.version, FRAME_VERSION);
	channel_close(&window);
}

static void another_user_is_not_served(void **state UNUSED)
{
	enum { STRANGER = 12345 };
	int status;
	if (geteuid() != 0)
		skip();
	/* Even if everybody could reach the socket, and read the token. */
	UNTIL(exists("capsule.sock"));
	assert_int_equal(fchmodat(here, "capsule.sock", 0777, 0), 0);
	assert_int_equal(fchmod(here, 0755), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct channel channel;
		struct frame frame;
		int fd;
		if (setresuid(STRANGER, STRANGER, STRANGER) < 0 ||
		    endpoint_connect(here, &fd, NULL) != 0)
			_exit(2);
		channel_init(&channel, fd);
		hello(&channel, TOKEN);
		_exit(next(&channel, &frame) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* --- hooks ------------------------------------------------------------------------------------ */

static void a_report_is_announced_to_the_windows(void **state UNUSED)
{
	struct channel window;
	cleanup_free char *program = built("agentdeck-capsule");
	cleanup_free char *script = xasprintf(
		"ln -s %s agentdeck; read line;"
		" echo '{\"word\":1}' | ./agentdeck hook --instance api; echo hook ended with $?;"
		" exec sleep 100",
		program);
	start(1, script);
	view(&window, 1);
	type(&window, "\n");
	(void)expect(&window, FRAME_REPORT);
	/* It was durable by then. */
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int reports = openat(here, "reports", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_list(reports, &names, NULL), 0);
	assert_int_equal(names.count, 1);
	cleanup_free char *name = xasprintf("reports/%s", names.items[0]);
	cleanup_free char *text = get(name);
	assert_non_null(strstr(text, "\n{\"word\":1}\n"));
	await_text(&window, "hook ended with 0");
	channel_close(&window);
}

static void nothing_wakes_an_idle_capsule(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	struct channel window;
	start(1, "echo up; exec sleep 100");
	view(&window, 1);
	await_text(&window, "up");
	(void)status_of(capsule);
	/* The first timer that nobody needs would be seen here, however late. */
	cleanup_free char *path = xasprintf("/proc/%d/fdinfo", capsule_pid);
	cleanup_close int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	size_t clocks = 0;
	assert_int_equal(fs_list(directory, &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++) {
		struct strbuf text = { 0 };
		assert_int_equal(fs_read(directory, names.items[i], 1 << 16, &text, NULL), 0);
		if (strstr(strbuf_text(&text), "it_value: ")) {
			clocks++;
			assert_non_null(strstr(strbuf_text(&text), "it_value: (0, 0)"));
		}
		strbuf_free(&text);
	}
	assert_int_equal(clocks, 1);
	channel_close(&window);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_capsule, tear_down_capsule)
	const struct CMUnitTest tests[] = {
		TEST(input_goes_in_and_output_comes_out),
		TEST(a_window_that_comes_late_sees_what_was_before),
		TEST(a_second_window_makes_the_agent_draw_again),
		TEST(the_size_is_the_last_writers),
		TEST(a_window_that_was_killed_costs_nothing),
		TEST(a_window_that_does_not_read_is_dropped_and_the_agent_goes_on),
		TEST(the_exit_comes_after_all_output),
		TEST(who_views_an_attempt_that_has_ended_is_told),
		TEST(another_attempt_is_not_shown),
		TEST(a_hundred_windows_see_the_same),
		TEST(a_heartbeat_is_answered),
		TEST(the_end_of_the_capsule_is_said),
		TEST(without_the_token_nothing_is_obeyed),
		TEST(what_is_no_frame_ends_the_connection),
		TEST(a_frame_may_come_byte_by_byte),
		TEST(a_newer_client_is_answered_with_our_version),
		TEST(another_user_is_not_served),
		TEST(a_report_is_announced_to_the_windows),
		TEST(nothing_wakes_an_idle_capsule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
