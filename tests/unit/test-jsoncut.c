/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON that is made small while it comes.
 */
#include "unit/test.h"

#include "base/jsoncut.h"
#include "base/jsonio.h"

#include <string.h>

enum { MAX = 2 * JSON_CUT_OVERLAP };

static void add_many(struct strbuf *text, const char *unit, size_t least)
{
	for (const size_t end = text->length + least; text->length < end;)
		strbuf_adds(text, unit);
}

/* In pieces of so many bytes.  The value is the caller's. */
static struct json_object *cut_in(struct json_cut *cut, const struct strbuf *text, size_t piece)
{
	struct json_object *value = NULL;
	cleanup_error struct error err = { 0 };
	for (size_t at = 0; at < text->length; at += piece)
		json_cut_add(cut, text->data + at,
			     text->length - at < piece ? text->length - at : piece);
	if (json_parse(strbuf_text(&cut->text), cut->text.length, "cut", &value, &err) < 0)
		fail_msg("%s", err.message);
	return value;
}

static void what_is_small_stays_as_it_is(void **state UNUSED)
{
	static const char text[] = "{\"a\": [\"x\\\"\\u00e9\\\\\", 1e5, {}], \"\": null}";
	for (size_t piece = 1; piece < sizeof(text); piece++) {
		cleanup_json_cut struct json_cut cut = { .string_max = MAX };
		for (size_t at = 0; at < strlen(text); at += piece)
			json_cut_add(&cut, text + at, strnlen(text + at, piece));
		assert_string_equal(strbuf_text(&cut.text), text);
	}
}

static void what_is_nested_too_deeply_becomes_null(void **state UNUSED)
{
	cleanup_json_cut struct json_cut cut = { .string_max = MAX };
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_adds(&text, "{\"deep\":");
	add_many(&text, "[", 200000);
	strbuf_adds(&text, "{\"a\":\"]}\"}");
	add_many(&text, "]", 200000);
	strbuf_adds(&text, ",\"after\":\"words\"}");
	cleanup_json struct json_object *value = cut_in(&cut, &text, 4096);
	assert_string_equal(json_get_string(value, "after", ""), "words");
	assert_true(cut.text.length < 200);
}

static bool has_needle(const char *piece, size_t length, void *data)
{
	size_t *asked = data;
	assert_true(length < MAX + 16);
	++*asked;
	return memmem(piece, length, "needle", 6) != NULL;
}

/* Whatever is at the border of a piece. */
static void the_first_piece_that_is_wanted_is_kept(void **state UNUSED)
{
	static const char *const units[] = { "x", "\\\\", "\\u00e9", "\xc3\xa9",
					     "\xf0\x9f\x98\x80" };
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		for (size_t shift = 0; shift < 40; shift++) {
			size_t asked = 0;
			cleanup_json_cut struct json_cut cut = { .string_max = MAX,
								 .wants = has_needle,
								 .data = &asked };
			cleanup_strbuf struct strbuf text = { 0 };
			strbuf_adds(&text, "[\"beginning");
			add_many(&text, units[i], (shift % 8 + 1) * (MAX / 3) - 11 - shift);
			strbuf_adds(&text, "needle");
			add_many(&text, units[i], 3 * MAX);
			strbuf_adds(&text, "needle\"]");
			cleanup_json struct json_object *value = cut_in(&cut, &text, 1000 + shift);
			const char *string = json_object_get_string(
				json_object_array_get_idx(value, 0));
			assert_true(starts_with(string, "beginning"));
			assert_non_null(strstr(string, "needle"));
			assert_true(cut.text.length < 3 * MAX);
			assert_true(asked > 0);
		}
}

static void bytes_that_are_no_text_are_bounded(void **state UNUSED)
{
	size_t asked = 0;
	cleanup_json_cut struct json_cut cut = { .string_max = MAX,
						 .wants = has_needle,
						 .data = &asked };
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_adds(&text, "[\"");
	add_many(&text, "\x80", 20 * MAX);
	strbuf_adds(&text, "needle\"]");
	json_cut_add(&cut, text.data, text.length);
	assert_non_null(strstr(strbuf_text(&cut.text), "needle\"]"));
	assert_true(cut.text.length < 3 * MAX);
}

static void another_value_begins_empty(void **state UNUSED)
{
	cleanup_json_cut struct json_cut cut = { .string_max = MAX };
	json_cut_add(&cut, "[[\"torn", 7);
	json_cut_clear(&cut);
	json_cut_add(&cut, "\"next\"", 6);
	assert_string_equal(strbuf_text(&cut.text), "\"next\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_small_stays_as_it_is),
		cmocka_unit_test(what_is_nested_too_deeply_becomes_null),
		cmocka_unit_test(the_first_piece_that_is_wanted_is_kept),
		cmocka_unit_test(bytes_that_are_no_text_are_bounded),
		cmocka_unit_test(another_value_begins_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
