/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/text.h"
#include "model/session/look.h"

#include <string.h>

static const struct strvec none;

static bool same_style(const struct style *a, const struct style *b)
{
	return a->attributes == b->attributes && a->foreground == b->foreground &&
	       a->background == b->background;
}

/* A sign is enough to know the state, but for the two that mean "it runs", and the two that mean
 * "it waits for you". */
static void states_differ_without_colours(void **state UNUSED)
{
	for (enum doing a = 0; a < DOING_COUNT; a++) {
		assert_int_equal(strlen(doing_sign(a, true)), 1);
		for (enum doing b = 0; b < a; b++) {
			const bool is_alike = (b == DOING_IDLE && a == DOING_RUNNING) ||
					      (b == DOING_ASKS && a == DOING_WAITING);
			assert_string_not_equal(doing_name(a), doing_name(b));
			assert_string_not_equal(doing_phrase(a), doing_phrase(b));
			for (int plain = 0; plain < 2; plain++)
				assert_int_equal(streq(doing_sign(a, plain), doing_sign(b, plain)),
						 is_alike);
		}
	}
}

static void each_theme_tells_the_urgent_ones_apart(void **state UNUSED)
{
	static const enum tone tones[] = { TONE_WAITING, TONE_ERROR, TONE_BUSY, TONE_IDLE };
	for (enum theme theme = 0; theme < THEME_COUNT; theme++) {
		struct skin skin;
		assert_non_null(theme_names[theme]);
		skin_init(&skin, theme, &none);
		for (size_t a = 0; a < ARRAY_SIZE(tones); a++)
			for (size_t b = 0; b < a; b++)
				assert_false(
					same_style(&skin.styles[tones[a]], &skin.styles[tones[b]]));
		/* A text that is drawn in no style would be black on black. */
		for (size_t i = 0; i < TONE_COUNT; i++)
			assert_int_equal(skin.styles[i].background, STYLE_DEFAULT);
	}
}

/* Neither yellow, blue, cyan nor white, which one of the two does not show well. */
static void the_default_suits_a_light_and_a_dark_background(void **state UNUSED)
{
	struct skin skin;
	skin_init(&skin, THEME_DEFAULT, &none);
	for (size_t i = 0; i < TONE_COUNT; i++) {
		const int color = skin.styles[i].foreground;
		assert_true(color == STYLE_DEFAULT || color == 1 || color == 2 || color == 5);
	}
}

static void a_user_changes_one_part(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_strvec struct strvec colors = { 0 };
	struct skin usual, own;
	strvec_push(&colors, "waiting=underline 208");
	strvec_push(&colors, "nonsense");
	skin_init(&usual, THEME_DARK, &none);
	skin_init(&own, THEME_DARK, &colors);
	assert_int_equal(own.styles[TONE_WAITING].foreground, 208);
	assert_int_equal(own.styles[TONE_WAITING].attributes, STYLE_UNDERLINE);
	assert_true(same_style(&own.styles[TONE_ERROR], &usual.styles[TONE_ERROR]));
	assert_int_equal(skin_set(&own, "wait=red", &err), -1);
	assert_non_null(strstr(err.message, "\"wait=red\" is not PART=COLOUR: the parts are text, "
					    "faint, header, group, waiting, error, warning, busy, "
					    "idle, key"));
	error_clear(&err);
	assert_int_equal(skin_set(&own, "waiting", &err), -1);
	error_clear(&err);
	assert_int_equal(skin_set(&own, "error=puce", &err), -1);
	assert_non_null(strstr(err.message, "\"puce\" is no colour"));
	assert_true(same_style(&own.styles[TONE_ERROR], &usual.styles[TONE_ERROR]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_differ_without_colours),
		cmocka_unit_test(each_theme_tells_the_urgent_ones_apart),
		cmocka_unit_test(the_default_suits_a_light_and_a_dark_background),
		cmocka_unit_test(a_user_changes_one_part),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
