/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The text of a terminal whose server or socket is missing.  With a server: tests/persistence.
 */
#include "unit/fake-place.h"

#include "engine/screen/screen.h"

static void what_does_not_run_has_no_text(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	cleanup_free char *text = NULL;
	fake.presence = PRESENCE_NONE;
	assert_int_equal(screen_text(&desk->deck, instance, 0, &text, NULL), TERMINAL_NONE);
	assert_null(text);
	assert_int_equal(fake.looks, 0);
}

static void a_missing_socket_is_looked_for_once(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	cleanup_free char *text = NULL;
	assert_int_equal(screen_text(&desk->deck, instance, 0, &text, NULL), TERMINAL_NONE);
	assert_int_equal(fake.looks, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(what_does_not_run_has_no_text),
		FAKE_TEST(a_missing_socket_is_looked_for_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
