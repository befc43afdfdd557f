/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * start and attach, in each phase of the table of states (model/session/state.h), whatever is left
 * of the run: on this host, where the window is the run, and in a container, which can lose its
 * window.
 */
#include "unit/fake-place.h"

#include "engine/roster/roster.h"
#include "engine/run/start.h"
#include "model/session/state.h"

/* What is left of the run. */
enum world { NOTHING, ALL, ALL_BUT_ITS_WINDOW, NO_ANSWER, WORLD_COUNT };

static const char *const world_names[] = { "nothing", "all", "all but its window", "no answer" };

static const struct {
	enum instance_state state;
	enum instance_desired desired;
	const char *name;
} phases[PHASE_COUNT] = {
	[PHASE_STOPPED] = { STATE_STOPPED, DESIRED_STOPPED, "stopped" },
	[PHASE_STARTING] = { STATE_STARTING, DESIRED_RUNNING, "starting" },
	[PHASE_RUNNING] = { STATE_RUNNING, DESIRED_RUNNING, "running" },
	[PHASE_STOPPING] = { STATE_STOPPING, DESIRED_STOPPED, "stopping" },
	[PHASE_RESTARTING] = { STATE_STOPPING, DESIRED_RUNNING, "restarting" },
	[PHASE_ERROR] = { STATE_ERROR, DESIRED_RUNNING, "error" },
};

static void put(const struct fake_desk *desk, enum state_phase phase, enum world world)
{
	static const enum presence seen[] = { PRESENCE_NONE, PRESENCE_ALIVE, PRESENCE_ALIVE,
					      PRESENCE_UNKNOWN };
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->observed.state = phases[phase].state;
	instance->desired = phases[phase].desired;
	fake.presence = seen[world];
	fake.why = world == NO_ANSWER ? "it does not answer" : "it is gone";
	fake.lacks_window = world == ALL_BUT_ITS_WINDOW;
	fake_put(desk, instance);
}

/* "already", "started" or the error; the steps; the state then. */
static char *start(struct fake_desk *desk)
{
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	cleanup_error struct error err = { 0 };
	int r = lifecycle_start(&desk->deck, FAKE_ID, &(struct lifecycle_order){ 0 }, &started,
				&err);
	cleanup_strbuf struct strbuf steps = { 0 };
	for (size_t i = 0; i < fake.steps.count; i++)
		strbuf_addf(&steps, " %s", fake.steps.items[i]);
	cleanup_instance struct instance *after = fake_load(desk);
	return xasprintf("%s:%s: %s",
			 r == 0 ? started.already ? "already" : "started"
				: error_code_name(err.code),
			 strbuf_text(&steps), instance_state_name(after->observed.state));
}

/* What attach goes by: a session that is listed as running is attached to, any other one is started
 * first. */
static char *attach(struct fake_desk *desk)
{
	cleanup_roster struct roster *roster = fake_list(&desk->deck);
	assert_int_equal(roster_count(roster), 1);
	const struct view *view = &roster_at(roster, 0)->view;
	return xstrdup(state_is_running(view->state) ? "attaches" : "starts");
}

#define BEGUN    "started: end prepare launch: running"
#define REPLACED "started: probe end prepare launch: running"
#define THERE    "already:: running"
#define WINDOW   "already: open-window: running"

/* Without an answer nothing is started a second time, but an end that was cut off is brought to its
 * end first.  A state that is untrue is corrected by the start. */
static const struct {
	const char *start, *attach;
} expected[PHASE_COUNT][WORLD_COUNT] = {
	[PHASE_STOPPED] = { { BEGUN, "starts" },
			    { THERE, "starts" },
			    { WINDOW, "starts" },
			    { "TIMEOUT:: stopped", "starts" } },
	[PHASE_STARTING] = { { BEGUN, "starts" },
			     { THERE, "starts" },
			     { WINDOW, "starts" },
			     { "TIMEOUT:: starting", "starts" } },
	[PHASE_RUNNING] = { { BEGUN, "starts" },
			    { THERE, "attaches" },
			    { WINDOW, "attaches" },
			    { "TIMEOUT:: running", "attaches" } },
	[PHASE_STOPPING] = { { BEGUN, "starts" },
			     { REPLACED, "starts" },
			     { REPLACED, "starts" },
			     { REPLACED, "starts" } },
	[PHASE_RESTARTING] = { { BEGUN, "starts" },
			       { REPLACED, "starts" },
			       { REPLACED, "starts" },
			       { REPLACED, "starts" } },
	[PHASE_ERROR] = { { BEGUN, "starts" },
			  { THERE, "starts" },
			  { WINDOW, "starts" },
			  { "TIMEOUT:: error", "starts" } },
};

typedef char *(*command)(struct fake_desk *desk);

static void check(void **state, command run, bool is_start)
{
	for (int phase = 0; phase < PHASE_COUNT; phase++) {
		for (int world = 0; world < WORLD_COUNT; world++) {
			assert_int_equal(fake_set_up(state), 0);
			put(*state, (enum state_phase)phase, (enum world)world);
			cleanup_free char *text = run(*state);
			const char *wanted = is_start ? expected[phase][world].start
						      : expected[phase][world].attach;
			if (!streq(text, wanted))
				fail_msg("%s, %s: %s", phases[phase].name, world_names[world],
					 text);
			assert_int_equal(fake_tear_down(state), 0);
		}
	}
}

static void each_phase_starts(void **state)
{
	check(state, start, true);
}

static void each_phase_is_attached_to(void **state)
{
	check(state, attach, false);
}

static void assert_starts_in(struct fake_desk *desk, struct termsize terminal, unsigned columns,
			     unsigned rows)
{
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	const struct lifecycle_order order = { .kind = START_AFTER_STOP, .terminal = terminal };
	assert_int_equal(lifecycle_start(&desk->deck, FAKE_ID, &order, &started, NULL), 0);
	cleanup_instance struct instance *instance = fake_load(desk);
	const struct termsize size = place_screen_size(&desk->deck, instance);
	assert_int_equal(size.columns, columns);
	assert_int_equal(size.rows, rows);
}

static void a_start_has_the_size_of_the_last_terminal(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_instance(desk);
	struct strvec *options = &desk->deck.settings.tmux.options;
	fake_put(desk, instance);
	assert_starts_in(desk, (struct termsize){ 0 }, 200, 50);
	assert_starts_in(desk, (struct termsize){ 87, 31 }, 87, 30);
	assert_starts_in(desk, (struct termsize){ 0 }, 87, 30);
	assert_starts_in(desk, (struct termsize){ 39, 31 }, 87, 30);
	assert_starts_in(desk, (struct termsize){ 87, 201 }, 87, 30);
	strvec_push_array(options, (const char *const[]){ "status", "off", NULL });
	assert_starts_in(desk, (struct termsize){ 0 }, 87, 31);
	replace_string(&options->items[options->count - 1], "2");
	assert_starts_in(desk, (struct termsize){ 0 }, 87, 29);
	/* Agents are read in a terminal of 80x24 at least. */
	assert_starts_in(desk, (struct termsize){ 45, 15 }, 80, 22);
}

static void a_size_is_read_within_its_bounds(void **state UNUSED)
{
	static const char *const wrong[] = { "",       "x",      "87",     "87x",
					     "x31",    "39x31",  "87x11",  "501x31",
					     "87x201", "87x31x", "87x-31", "87 x31" };
	struct termsize size = { 1, 2 };
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(termsize_parse(wrong[i], &size));
	assert_int_equal(size.columns, 1);
	assert_true(termsize_parse("87x31", &size));
	assert_int_equal(size.columns, 87);
	assert_int_equal(size.rows, 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_phase_starts),
		cmocka_unit_test(each_phase_is_attached_to),
		FAKE_TEST(a_start_has_the_size_of_the_last_terminal),
		cmocka_unit_test(a_size_is_read_within_its_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
