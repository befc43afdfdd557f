/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/store-fixture.h"

#include "engine/deck/hint.h"

#include <stdlib.h>

static void expect(const struct deck *deck, const char *title, const char *id, const char *words)
{
	cleanup_free char *hint = hint_session(deck, title, id);
	assert_string_equal(hint, words);
}

static void a_session_is_named_by_its_title(void **state)
{
	struct fixture *fixture = *state;
	const struct deck deck = { .store = fixture->store, .profile = (char[]){ "default" } };
	unsetenv(ENV_PROFILE);
	make(fixture->store, "11111111", "api");
	make(fixture->store, "22222222", "it's mine; rm");
	make(fixture->store, "33333333", "-p");
	make(fixture->store, "44444444", "22222222");
	make(fixture->store, "55555555", "exe\u202etxt");
	expect(&deck, "api", "11111111", "api");
	expect(&deck, "it's mine; rm", "22222222", "'it'\\''s mine; rm'");
	expect(&deck, "-p", "33333333", "33333333");
	/* A title that is the id of another session still finds its own. */
	expect(&deck, "22222222", "44444444", "22222222");
	expect(&deck, "exe\u202etxt", "55555555", "55555555");
	expect(&deck, "removed", "66666666", "66666666");
}

static void a_title_that_two_have_is_not_enough(void **state)
{
	struct fixture *fixture = *state;
	const struct deck deck = { .store = fixture->store, .profile = (char[]){ "default" } };
	make(fixture->store, "11111111", "api");
	make(fixture->store, "22222222", "api");
	expect(&deck, "api", "11111111", "11111111");
	expect(&deck, "api", "22222222", "22222222");
}

static void another_profile_is_named(void **state)
{
	struct fixture *fixture = *state;
	struct deck deck = { .store = fixture->store, .profile = (char[]){ "work" } };
	make(fixture->store, "11111111", "my api");
	expect(&deck, "my api", "11111111", "-p work 'my api'");
	deck.profile = (char[]){ "default" };
	setenv(ENV_PROFILE, "work", 1);
	expect(&deck, "my api", "11111111", "-p default 'my api'");
	setenv(ENV_PROFILE, "default", 1);
	expect(&deck, "my api", "11111111", "'my api'");
	unsetenv(ENV_PROFILE);
}

static void a_deck_without_a_store_has_ids(void **state UNUSED)
{
	const struct deck deck = { 0 };
	expect(&deck, "api", "11111111", "11111111");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_session_is_named_by_its_title),
		STORE_TEST(a_title_that_two_have_is_not_enough),
		STORE_TEST(another_profile_is_named),
		STORE_TEST(a_deck_without_a_store_has_ids),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
