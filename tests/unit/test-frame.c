/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "capsule/frame.h"

#include <string.h>

static const struct frame_attempt attempt = { "run-1", 3 };

/* One frame, out of exactly these bytes. */
static struct frame only_frame(const struct strbuf *bytes)
{
	struct frame frame;
	size_t size;
	assert_int_equal(frame_next(bytes->data, bytes->length, &frame, &size, NULL), 0);
	assert_int_equal(size, bytes->length);
	return frame;
}

/* Nothing reads what STARTED contains.  It is how a VIEW begins. */
static int get_attempt(const struct frame *started, struct frame_attempt *ret)
{
	unsigned char payload[64] = { 0 };
	const struct frame frame = { FRAME_VIEW, payload, started->length + 4 };
	struct frame_view view;
	assert_true(frame.length <= sizeof(payload));
	memcpy(payload, started->payload, started->length);
	const int r = frame_get_view(&frame, &view, NULL);
	if (r == 0)
		*ret = view.attempt;
	return r;
}

static void put_start(struct strbuf *bytes)
{
	cleanup_frame_start struct frame_start start = { .attempt = attempt,
							 .directory = xstrdup("/src/a b"),
							 .size = { 80, 24 } };
	strvec_push(&start.argv, "agent");
	strvec_push(&start.argv, "");
	strvec_push(&start.environment, "A=1");
	strvec_push(&start.environment, "B=");
	frame_put_start(bytes, &start);
}

static void a_start_says_all_that_an_agent_needs(void **state UNUSED)
{
	cleanup_strbuf struct strbuf bytes = { 0 };
	cleanup_frame_start struct frame_start got = { 0 };
	put_start(&bytes);
	const struct frame frame = only_frame(&bytes);
	assert_int_equal(frame.type, FRAME_START);
	assert_int_equal(frame_get_start(&frame, &got, NULL), 0);
	assert_true(frame_same_attempt(&got.attempt, &attempt));
	assert_int_equal(got.argv.count, 2);
	assert_string_equal(got.argv.items[0], "agent");
	assert_string_equal(got.argv.items[1], "");
	assert_int_equal(got.environment.count, 2);
	assert_string_equal(got.environment.items[1], "B=");
	assert_string_equal(got.directory, "/src/a b");
	assert_int_equal(got.size.columns, 80);
	assert_int_equal(got.size.rows, 24);
}

static void secrets_say_of_which_run_they_are(void **state UNUSED)
{
	cleanup_strbuf struct strbuf bytes = { 0 };
	cleanup_frame_secrets struct frame_secrets secrets = { .run = "run-1", .keep_ms = 7 },
						   got = { 0 };
	strvec_push(&secrets.variables, "A=1");
	frame_put_secrets(&bytes, &secrets);
	const struct frame frame = only_frame(&bytes);
	assert_int_equal(frame.type, FRAME_SECRETS);
	assert_int_equal(frame_get_secrets(&frame, &got, NULL), 0);
	assert_string_equal(got.run, "run-1");
	assert_int_equal(got.keep_ms, 7);
	assert_int_equal(got.variables.count, 1);
	assert_string_equal(got.variables.items[0], "A=1");
	for (size_t length = 0; length < frame.length; length++) {
		cleanup_frame_secrets struct frame_secrets cut = { 0 };
		const struct frame part = { frame.type, frame.payload, length };
		assert_int_equal(frame_get_secrets(&part, &cut, NULL), -1);
	}
}

static void a_guest_says_where_it_is_and_whose(void **state UNUSED)
{
	char directory[] = "/state/rooms/1", variable[] = "NAME=value", relative[] = "rooms/1";
	cleanup_strbuf struct strbuf bytes = { 0 }, wrong = { 0 };
	cleanup_frame_guest struct frame_guest got = { 0 };
	const struct frame_guest guest = { directory, variable, true };
	const struct frame_guest other = { relative, variable, true };
	frame_put_guest(&bytes, &guest);
	frame_put_guest(&wrong, &other);
	const struct frame frame = only_frame(&bytes), refused = only_frame(&wrong);
	assert_int_equal(frame_get_guest(&refused, &got, NULL), -1);
	assert_int_equal(frame_get_guest(&frame, &got, NULL), 0);
	assert_string_equal(got.directory, directory);
	assert_string_equal(got.variable, variable);
	assert_true(got.ends_with_it);
	for (size_t length = 0; length < frame.length; length++) {
		cleanup_frame_guest struct frame_guest cut = { 0 };
		const struct frame part = { frame.type, frame.payload, length };
		assert_int_equal(frame_get_guest(&part, &cut, NULL), -1);
	}
}

static void a_status_says_how_the_agent_ended(void **state UNUSED)
{
	cleanup_strbuf struct strbuf bytes = { 0 };
	const struct frame_status status = { FRAME_ENDED, attempt, 7, 9, true };
	struct frame_status got;
	frame_put_status(&bytes, FRAME_EXIT, &status);
	const struct frame frame = only_frame(&bytes);
	assert_int_equal(frame.type, FRAME_EXIT);
	assert_int_equal(frame_get_status(&frame, &got, NULL), 0);
	assert_int_equal(got.phase, FRAME_ENDED);
	assert_true(frame_same_attempt(&got.attempt, &attempt));
	assert_int_equal(got.code, 7);
	assert_int_equal(got.signal, 9);
	assert_true(got.by_stop);
}

static void small_frames_survive_the_way(void **state UNUSED)
{
	cleanup_strbuf struct strbuf bytes = { 0 };
	struct frame_hello hello = { .version = 1, .token = "secret" };
	struct frame_view view = { attempt, { 120, 40 } };
	struct frame_attempt started;
	struct frame_refused refused;
	struct frame frame;
	uint32_t number;

	frame_put_hello(&bytes, &hello);
	frame = only_frame(&bytes);
	memset(&hello, 0, sizeof(hello));
	assert_int_equal(frame_get_hello(&frame, &hello, NULL), 0);
	assert_string_equal(hello.token, "secret");
	bytes.length = 0;
	frame_put_view(&bytes, &view);
	frame = only_frame(&bytes);
	memset(&view, 0, sizeof(view));
	assert_int_equal(frame_get_view(&frame, &view, NULL), 0);
	assert_true(frame_same_attempt(&view.attempt, &attempt));
	assert_int_equal(view.size.rows, 40);
	bytes.length = 0;
	frame_put_resize(&bytes, &(struct frame_size){ 65535, 1 });
	frame = only_frame(&bytes);
	assert_int_equal(frame_get_resize(&frame, &view.size, NULL), 0);
	assert_int_equal(view.size.columns, 65535);
	bytes.length = 0;
	frame_put_started(&bytes, &attempt);
	frame = only_frame(&bytes);
	assert_int_equal(frame.type, FRAME_STARTED);
	assert_int_equal(get_attempt(&frame, &started), 0);
	assert_true(frame_same_attempt(&started, &attempt));
	bytes.length = 0;
	frame_put_number(&bytes, FRAME_STOP, 4000000000);
	frame = only_frame(&bytes);
	assert_int_equal(frame_get_number(&frame, &number, NULL), 0);
	assert_true(number == 4000000000);
	bytes.length = 0;
	frame_put_refused(&bytes, FRAME_NOT_EXECUTED, "no such file");
	frame = only_frame(&bytes);
	assert_int_equal(frame_get_refused(&frame, &refused, NULL), 0);
	assert_int_equal(refused.why, FRAME_NOT_EXECUTED);
	assert_string_equal(refused.text, "no such file");
	free(refused.text);
}

static void long_output_becomes_several_frames(void **state UNUSED)
{
	enum { LENGTH = 2 * FRAME_OUTPUT_MAX + 5 };
	cleanup_strbuf struct strbuf bytes = { 0 };
	cleanup_free char *data = xcalloc(LENGTH, 1);
	size_t at = 0, total = 0, count = 0;
	memset(data, 'x', LENGTH);
	frame_put_bytes(&bytes, FRAME_OUTPUT, data, LENGTH);
	for (; at < bytes.length; count++) {
		struct frame frame;
		size_t size;
		assert_int_equal(
			frame_next(bytes.data + at, bytes.length - at, &frame, &size, NULL), 0);
		assert_int_equal(frame.type, FRAME_OUTPUT);
		total += frame.length;
		at += size;
	}
	assert_int_equal(count, 3);
	assert_int_equal(total, LENGTH);
	bytes.length = 0;
	frame_put_bytes(&bytes, FRAME_OUTPUT, data, 0);
	assert_int_equal(bytes.length, 0);
}

static void a_frame_that_is_cut_anywhere_is_partial(void **state UNUSED)
{
	cleanup_strbuf struct strbuf bytes = { 0 };
	struct frame frame;
	size_t size;
	put_start(&bytes);
	for (size_t length = 0; length < bytes.length; length++) {
		/* On the heap, so that a byte too many is seen. */
		cleanup_free char *part = xcalloc(length + 1, 1);
		memcpy(part, bytes.data, length);
		assert_int_equal(frame_next(part, length, &frame, &size, NULL), FRAME_PARTIAL);
	}
}

/* The payload of a START that is cut at every byte, with a header that is right for the cut one. */
static void a_payload_that_is_cut_anywhere_is_refused(void **state UNUSED)
{
	cleanup_strbuf struct strbuf bytes = { 0 };
	put_start(&bytes);
	const struct frame whole = only_frame(&bytes);
	for (size_t length = 0; length < whole.length; length++) {
		cleanup_frame_start struct frame_start got = { 0 };
		cleanup_error struct error err = { 0 };
		const struct frame cut = { whole.type, whole.payload, length };
		assert_int_equal(frame_get_start(&cut, &got, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
		assert_null(got.directory);
	}
}

static void bytes_that_are_left_over_are_refused(void **state UNUSED)
{
	static const unsigned char five[] = { 1, 0, 0, 0, 0 };
	const struct frame frame = { FRAME_STOP, five, sizeof(five) };
	uint32_t number = 42;
	assert_int_equal(frame_get_number(&frame, &number, NULL), -1);
	assert_int_equal(number, 42);
}

static void refuse(const unsigned char *header)
{
	cleanup_error struct error err = { 0 };
	struct frame frame;
	size_t size;
	assert_int_equal(frame_next(header, FRAME_HEADER, &frame, &size, &err), -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
}

static void what_is_no_frame_is_refused_by_its_header(void **state UNUSED)
{
	refuse((const unsigned char[]){ 0, 0, 0, 0, 0, 0, 0, 0 });
	refuse((const unsigned char[]){ 0, 0, 0, 0, FRAME_TYPE_COUNT, 0, 0, 0 });
	refuse((const unsigned char[]){ 0, 0, 0, 0, FRAME_BYE, 0, 0, 1 });
	refuse((const unsigned char[]){ 1, 0, 0, 0, FRAME_BYE, 0, 0, 0 });
	refuse((const unsigned char[]){ 1, 0, 1, 0, FRAME_OUTPUT, 0, 0, 0 });
	refuse((const unsigned char[]){ 0xff, 0xff, 0xff, 0xff, FRAME_START, 0, 0, 0 });
	refuse((const unsigned char *)"GET / HT");
}

static void a_text_holds_no_nul_and_a_name_is_bounded(void **state UNUSED)
{
	cleanup_strbuf struct strbuf bytes = { 0 };
	struct frame_attempt got;
	struct frame frame;
	frame_put(&bytes, FRAME_STARTED, "\2\0\0\0a\0\1\0\0\0", 10);
	frame = only_frame(&bytes);
	assert_int_equal(get_attempt(&frame, &got), -1);

	enum { LONG = FRAME_RUN_MAX + 1 };
	unsigned char payload[4 + LONG + 4] = { LONG };
	memset(payload + 4, 'a', LONG);
	frame = (struct frame){ FRAME_STARTED, payload, sizeof(payload) };
	assert_int_equal(get_attempt(&frame, &got), -1);
}

static void a_huge_count_costs_nothing(void **state UNUSED)
{
	cleanup_frame_start struct frame_start got = { 0 };
	/* run "a", attempt 1, 80x24, directory "", and 4 billion arguments */
	static const unsigned char payload[] = { 1,  0, 0, 0, 'a', 1, 0,    0,    0,    80,  0,
						 24, 0, 0, 0, 0,   0, 0xff, 0xff, 0xff, 0xff };
	const struct frame frame = { FRAME_START, payload, sizeof(payload) };
	assert_int_equal(frame_get_start(&frame, &got, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_says_all_that_an_agent_needs),
		cmocka_unit_test(secrets_say_of_which_run_they_are),
		cmocka_unit_test(a_guest_says_where_it_is_and_whose),
		cmocka_unit_test(a_status_says_how_the_agent_ended),
		cmocka_unit_test(small_frames_survive_the_way),
		cmocka_unit_test(long_output_becomes_several_frames),
		cmocka_unit_test(a_frame_that_is_cut_anywhere_is_partial),
		cmocka_unit_test(a_payload_that_is_cut_anywhere_is_refused),
		cmocka_unit_test(bytes_that_are_left_over_are_refused),
		cmocka_unit_test(what_is_no_frame_is_refused_by_its_header),
		cmocka_unit_test(a_text_holds_no_nul_and_a_name_is_bounded),
		cmocka_unit_test(a_huge_count_costs_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
