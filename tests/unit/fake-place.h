/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A place in memory: what a run in it is, and what goes wrong, is what the test says.  With a real
 * store and a real registry it shows the order of the steps of a start, a stop or a revival, which
 * needs no tmux and no root then.
 */
#pragma once

#include "unit/store-fixture.h"

#include "engine/deck/deck.h"
#include "engine/place/place.h"
#include "engine/run/correct.h"

/* A start ends each process of this machine whose environment has the id, so that no other test may
 * have it. */
#define FAKE_ID "fake0001"

enum fake_step {
	FAKE_NONE,
	FAKE_PATH,
	FAKE_PROBE,
	FAKE_PREPARE,
	FAKE_LAUNCH,
	FAKE_END,
	FAKE_HOW_ENDED,
	FAKE_LEAVE,
	FAKE_WINDOW,
	FAKE_DISCARD,
	FAKE_CHECK_DISCARD,
	FAKE_BEGIN,
	FAKE_SURVIVORS,
};

/* Called first thing in each member that has a step, and, as FAKE_NONE, when a launch is done. */
typedef void (*fake_hook)(enum fake_step step, void *context);

extern struct fake_place {
	enum presence presence;   /* what a look says; a launch makes it alive, an end none */
	const char *why;          /* for none and unknown */
	enum fake_step fails;     /* this step fails, with the message "the fake fails" */
	struct exit_record exit;  /* how its agent ended; last_words: borrowed */
	const char *words;        /* what end() hears */
	bool lacks_window;        /* while it is alive; open_window() mends it */
	bool lacks_agent;         /* while it is alive; nobody has started it */
	bool begins;              /* begin_attempt() is a step */
	int how;                  /* what how_ended() returns instead of exit, when it is not 0 */
	enum limit_effect limits; /* what set_limits() says */
	const char *survivors;    /* what survivors() says */
	int grace_ms;             /* of the last end() */
	char *left; /* what leave() ended: "<id> <run id> <socket>"; or end_unknown(): the id */
	struct strvec steps; /* "prepare", "launch", ...: in the order of the calls */
	unsigned looks;      /* calls of observe() */
	fake_hook hook;
	void *context;
} fake;

/* A deck in a directory of its own, with the fake place as "fake".  For setup and teardown. */
struct fake_desk {
	char *root;
	struct deck deck;
};
int fake_set_up(void **state);
int fake_tear_down(void **state);
#define FAKE_TEST(function) cmocka_unit_test_setup_teardown(function, fake_set_up, fake_tear_down)

/* An instance that lives in the fake, stopped, in desk's directory; its agent's program is
 * true(1).  The caller's. */
struct instance *fake_instance(const struct fake_desk *desk);
/* The same as it is while it runs: its manifest names this process as server and agent.  Its
 * attempts are a resume, a fresh start and a shell. */
struct instance *fake_running(const struct fake_desk *desk);
void fake_put(const struct fake_desk *desk, const struct instance *instance);
struct instance *fake_load(const struct fake_desk *desk);
/* What a listing knows, corrected (engine/run/correct.h).  The caller's. */
struct roster *fake_list(struct deck *deck);

/* Were exactly these steps taken, in this order?  Words with a blank between. */
void fake_assert_steps(const char *expected);
