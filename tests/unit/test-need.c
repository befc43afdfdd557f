/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "engine/run/need.h"

static void what_a_session_needs_depends_on_these(void **state UNUSED)
{
	enum { SHELL = 1, BETWEEN = 2, NO_WINDOW = 4 };
	static const struct {
		enum instance_state state;
		enum instance_desired desired;
		enum presence presence;
		unsigned flags;
		enum need expected;
	} table[] = {
		{ STATE_STOPPED, DESIRED_STOPPED, PRESENCE_NONE, 0, NEED_REST },
		{ STATE_STOPPING, DESIRED_STOPPED, PRESENCE_ALIVE, 0, NEED_REST },
		{ STATE_STOPPING, DESIRED_RUNNING, PRESENCE_ALIVE, 0, NEED_FINISH },
		{ STATE_STOPPING, DESIRED_RUNNING, PRESENCE_UNKNOWN, 0, NEED_FINISH },
		{ STATE_STOPPING, DESIRED_RUNNING, PRESENCE_NONE, SHELL, NEED_FINISH },
		{ STATE_RUNNING, DESIRED_RUNNING, PRESENCE_UNKNOWN, 0, NEED_ANSWER },
		{ STATE_ERROR, DESIRED_RUNNING, PRESENCE_UNKNOWN, SHELL, NEED_ANSWER },
		{ STATE_RUNNING, DESIRED_RUNNING, PRESENCE_ALIVE, 0, NEED_NOTHING },
		{ STATE_STARTING, DESIRED_RUNNING, PRESENCE_ALIVE, 0, NEED_NOTHING },
		{ STATE_RUNNING, DESIRED_RUNNING, PRESENCE_ALIVE, BETWEEN, NEED_VERDICT },
		{ STATE_RUNNING, DESIRED_RUNNING, PRESENCE_ALIVE, NO_WINDOW, NEED_WINDOW },
		{ STATE_RUNNING, DESIRED_RUNNING, PRESENCE_ALIVE, BETWEEN | NO_WINDOW,
		  NEED_WINDOW },
		{ STATE_STOPPED, DESIRED_STOPPED, PRESENCE_ALIVE, NO_WINDOW, NEED_REST },
		{ STATE_RUNNING, DESIRED_RUNNING, PRESENCE_UNKNOWN, NO_WINDOW, NEED_ANSWER },
		{ STATE_RUNNING, DESIRED_RUNNING, PRESENCE_NONE, NO_WINDOW, NEED_START },
		{ STATE_ERROR, DESIRED_RUNNING, PRESENCE_ALIVE, SHELL, NEED_START },
		{ STATE_RUNNING, DESIRED_RUNNING, PRESENCE_NONE, 0, NEED_START },
		{ STATE_ERROR, DESIRED_RUNNING, PRESENCE_NONE, SHELL, NEED_START },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct need_facts facts = {
			.state = table[i].state,
			.desired = table[i].desired,
			.presence = table[i].presence,
			.is_shell = table[i].flags & SHELL,
			.is_between = table[i].flags & BETWEEN,
			.lacks_window = table[i].flags & NO_WINDOW,
		};
		if (need_of(&facts) != table[i].expected)
			fail_msg("row %zu: %d", i, (int)need_of(&facts));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_session_needs_depends_on_these),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
