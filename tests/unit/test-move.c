/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of a move in every order that a lost link, a late request or a kill can make of them.
 */
#include "unit/test.h"

#include "base/macro.h"
#include "model/session/move.h"

#include <string.h>

#define ID "11111111-2222-4333-8444-555555555555"

/* Both ends, and what the one that leads the move has seen: a step that it could have asked for may
 * be done at any later time, and more than once. */
struct world {
	uint8_t from, to; /* enum move_state */
	bool was_here;    /* the copy came into the session that it had left */
	bool may_import;  /* the session was LEAVING */
	bool may_let_go;  /* the copy was READY */
	bool may_take;    /* the session was MOVED */
	bool may_reclaim; /* the copy was dropped */
	bool is_refused;  /* and no import of this move is taken any more */
};

static bool can_start(uint8_t state)
{
	return !move_blocks((enum move_state)state);
}

static bool step(uint8_t *state, bool was_here, enum move_step step)
{
	const struct move move = { .id = (char[]){ ID },
				   .state = (enum move_state) * state,
				   .was_here = was_here };
	enum move_state next;
	if (move_plan(&move, step, ID, &next) < 0)
		return false;
	*state = (uint8_t)next;
	return true;
}

enum { ACTIONS = 7 };

/* What an action makes of the world; false: it cannot happen. */
static bool act(struct world *world, int action)
{
	const uint8_t away = world->was_here ? MOVE_MOVED : MOVE_NONE;
	switch (action) {
	case 0:
		world->may_import |= step(&world->from, false, MOVE_STEP_LEAVE);
		return world->may_import;
	case 1: /* the import, in its two halves */
		if (!world->may_import || world->is_refused ||
		    (world->to != away && world->to != MOVE_ARRIVING))
			return false;
		world->to = world->to == away ? MOVE_ARRIVING : MOVE_READY;
		world->may_let_go |= world->to == MOVE_READY;
		return true;
	case 2:
		world->may_take |= world->may_let_go && step(&world->from, false, MOVE_STEP_LET_GO);
		return world->may_take;
	case 3:
		return world->may_take && world->to != away &&
		       step(&world->to, world->was_here, MOVE_STEP_TAKE);
	case 4:
		return step(&world->from, false, MOVE_STEP_BACK);
	case 5: /* by --abandon of one that is MOVED, or after MOVE_STEP_BACK */
		if (world->to == away || !step(&world->to, world->was_here, MOVE_STEP_DROP))
			return false;
		world->is_refused = world->may_reclaim = true;
		return true;
	default:
		return world->may_reclaim && step(&world->from, false, MOVE_STEP_RECLAIM);
	}
}

static void check(const struct world *world)
{
	/* A session that was never there cannot be started there. */
	const bool is_there = world->to != MOVE_NONE;
	assert_false(can_start(world->from) && is_there && can_start(world->to));
	/* What is here is kept until the copy is whole. */
	assert_true(world->from != MOVE_MOVED || world->may_let_go);
}

static bool is_known(const struct world *worlds, size_t count, const struct world *world)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(&worlds[i], world, sizeof(*world)) == 0)
			return true;
	return false;
}

static size_t visit(bool was_here)
{
	static struct world worlds[4096];
	size_t count = 1;
	worlds[0] = (struct world){ .to = was_here ? MOVE_MOVED : MOVE_NONE, .was_here = was_here };
	for (size_t i = 0; i < count; i++)
		for (int action = 0; action < ACTIONS; action++) {
			struct world next = worlds[i];
			if (!act(&next, action) || is_known(worlds, count, &next))
				continue;
			check(&next);
			assert_true(count < ARRAY_SIZE(worlds));
			worlds[count++] = next;
		}
	return count;
}

static void no_order_of_the_steps_makes_two(void **state UNUSED)
{
	assert_true(visit(false) > 10);
	assert_true(visit(true) > 10);
}

static void a_step_of_another_move_is_refused(void **state UNUSED)
{
	for (int state_of = MOVE_NONE + 1; state_of < MOVE_STATES; state_of++)
		for (int which = 0; which < MOVE_STEPS; which++) {
			const struct move move = { .id = (char[]){ "another" },
						   .state = (enum move_state)state_of };
			enum move_state next;
			const bool begins = which == MOVE_STEP_LEAVE && state_of == MOVE_ARRIVED;
			assert_int_equal(move_plan(&move, (enum move_step)which, ID, &next),
					 begins ? 0 : MOVE_REFUSED);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_of_the_steps_makes_two),
		cmocka_unit_test(a_step_of_another_move_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
