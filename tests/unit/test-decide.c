/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/process.h"
#include "engine/supervise/decide.h"

#define NOW_US (INT64_C(1700000000) * 1000000)
enum { NOW_MS = 1000000, RETRY_MS = 2000, MOST_MS = 60000 };

/* What is known of one session, and what is to be done for each cause. */
struct row {
	const char *name;
	enum instance_state state;
	enum instance_desired desired;
	struct supervise_facts facts;
	bool of_earlier_boot, has_pane;
	enum restart_policy policy;
	enum supervise_act changed, due, nudged;
};

static const struct row table[] = {
	{ "runs",
	  STATE_RUNNING,
	  DESIRED_RUNNING,
	  { .is_live = true },
	  .changed = ACT_NONE,
	  .due = ACT_NONE },
	{ "rests", STATE_STOPPED, DESIRED_STOPPED, { 0 }, .changed = ACT_NONE, .due = ACT_NONE },
	{ "failed, and is to rest",
	  STATE_ERROR,
	  DESIRED_STOPPED,
	  { 0 },
	  .changed = ACT_NONE,
	  .due = ACT_NONE },
	{ "was killed",
	  STATE_ERROR,
	  DESIRED_RUNNING,
	  { 0 },
	  .changed = ACT_REVIVE,
	  .due = ACT_REVIVE },
	{ "was killed, and a command is at work",
	  STATE_ERROR,
	  DESIRED_RUNNING,
	  { .is_working = true },
	  .changed = ACT_NONE,
	  .due = ACT_NONE },
	{ "was killed on another machine",
	  STATE_RUNNING,
	  DESIRED_RUNNING,
	  { .is_elsewhere = true },
	  .changed = ACT_NONE,
	  .due = ACT_NONE },
	{ "was killed, and could not be started just now",
	  STATE_ERROR,
	  DESIRED_RUNNING,
	  { .failures = 1, .not_before_ms = NOW_MS + 250 },
	  .changed = ACT_WAIT,
	  .due = ACT_REVIVE },
	{ "was killed, and its policy is no",
	  STATE_ERROR,
	  DESIRED_RUNNING,
	  { 0 },
	  .policy = RESTART_NO,
	  .changed = ACT_NONE,
	  .due = ACT_REVIVE },
	{ "ended with its user manager, and its policy is no",
	  STATE_ERROR,
	  DESIRED_RUNNING,
	  { .lost_manager = true },
	  .policy = RESTART_NO,
	  .changed = ACT_REVIVE,
	  .due = ACT_REVIVE },
	{ "somebody stops it",
	  STATE_STOPPING,
	  DESIRED_STOPPED,
	  { .is_live = true },
	  .changed = ACT_WAIT,
	  .due = ACT_REVIVE },
	{ "its stop was cut",
	  STATE_STOPPING,
	  DESIRED_STOPPED,
	  { 0 },
	  .changed = ACT_WAIT,
	  .due = ACT_REVIVE },
	{ "its restart was cut",
	  STATE_STOPPING,
	  DESIRED_RUNNING,
	  { 0 },
	  .changed = ACT_WAIT,
	  .due = ACT_REVIVE },
	{ "somebody starts it",
	  STATE_STARTING,
	  DESIRED_RUNNING,
	  { 0 },
	  .changed = ACT_WAIT,
	  .due = ACT_REVIVE },
	{ "climbs the ladder",
	  STATE_STARTING,
	  DESIRED_RUNNING,
	  { .is_live = true },
	  .changed = ACT_NONE,
	  .due = ACT_NONE },
	{ "its start was cut by a restart of the machine",
	  STATE_STARTING,
	  DESIRED_RUNNING,
	  { 0 },
	  .of_earlier_boot = true,
	  .changed = ACT_REVIVE,
	  .due = ACT_REVIVE },
	{ "its agent has ended",
	  STATE_RUNNING,
	  DESIRED_RUNNING,
	  { .is_live = true, .is_between = true },
	  .has_pane = true,
	  .changed = ACT_NONE,
	  .due = ACT_NONE },
	{ "nothing shows it",
	  STATE_RUNNING,
	  DESIRED_RUNNING,
	  { .is_live = true, .lacks_window = true },
	  .has_pane = true,
	  .changed = ACT_REVIVE,
	  .due = ACT_REVIVE },
	{ "nothing shows it, and its agent has ended",
	  STATE_RUNNING,
	  DESIRED_RUNNING,
	  { .is_live = true, .is_between = true, .lacks_window = true },
	  .has_pane = true,
	  .changed = ACT_REVIVE,
	  .due = ACT_REVIVE },
	{ "nobody saw its agent",
	  STATE_STARTING,
	  DESIRED_RUNNING,
	  { .is_live = true, .is_between = true },
	  .changed = ACT_NONE,
	  .due = ACT_NONE,
	  .nudged = ACT_REVIVE },
	{ "nobody saw its agent, and a command is at work",
	  STATE_STARTING,
	  DESIRED_RUNNING,
	  { .is_live = true, .is_between = true, .is_working = true },
	  .changed = ACT_NONE,
	  .due = ACT_NONE },
	{ "is stopped between two agents",
	  STATE_STOPPING,
	  DESIRED_STOPPED,
	  { .is_live = true, .is_between = true },
	  .changed = ACT_WAIT,
	  .due = ACT_REVIVE },
};

static struct instance *instance_of(const struct row *row)
{
	struct instance *instance = instance_new();
	replace_string(&instance->id, "0123abcd");
	instance->observed.state = row->state;
	instance->desired = row->desired;
	instance->observed.since = NOW_US;
	instance->observed.boot_id = xstrdup(row->of_earlier_boot ? "earlier" : process_boot_id());
	instance->restart_policy = row->policy;
	if (row->has_pane)
		instance->run.pane = (struct process_id){ .pid = 2, .start = 1 };
	return instance;
}

static struct supervise_decision decide(const struct row *row, enum supervise_cause cause)
{
	cleanup_settings struct settings settings = { 0 };
	cleanup_instance struct instance *instance = instance_of(row);
	struct supervise_facts facts = row->facts;
	settings_init(&settings);
	facts.instance = instance;
	return supervise_decide(&facts, cause, &settings, NOW_MS, NOW_US);
}

static void each_cause_has_its_act(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct row *row = &table[i];
		const enum supervise_act acts[] = { row->changed, row->due, row->nudged };
		for (enum supervise_cause cause = CAUSE_CHANGED; cause <= CAUSE_NUDGED; cause++) {
			const struct supervise_decision decision = decide(row, cause);
			if (decision.act != acts[cause])
				fail_msg("%s: for cause %d it is %d, not %d", row->name, (int)cause,
					 (int)decision.act, (int)acts[cause]);
		}
	}
}

static const struct row *named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (streq(table[i].name, name))
			return &table[i];
	fail_msg("there is no row \"%s\"", name);
	abort();
}

static void what_lives_makes_failures_forgotten(void **state UNUSED)
{
	assert_true(decide(named("runs"), CAUSE_CHANGED).forget_failures);
	assert_false(decide(named("was killed"), CAUSE_CHANGED).forget_failures);
	/* It may end in a moment. */
	assert_false(decide(named("its agent has ended"), CAUSE_CHANGED).forget_failures);
}

/* Whoever stops or starts it by hand is let alone. */
static void an_intent_is_finished_only_if_nobody_is_at_it(void **state UNUSED)
{
	static const char *const names[] = { "somebody stops it", "its stop was cut",
					     "its restart was cut", "somebody starts it" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_true(decide(named(names[i]), CAUSE_DUE).unless_locked);
		assert_int_equal(decide(named(names[i]), CAUSE_CHANGED).delay_ms,
				 SUPERVISE_INTENT_MS);
	}
	assert_false(decide(named("was killed"), CAUSE_DUE).unless_locked);
}

static void a_failure_is_waited_for(void **state UNUSED)
{
	struct row row = *named("was killed, and could not be started just now");
	assert_int_equal(decide(&row, CAUSE_CHANGED).delay_ms, 250);
	row.facts.not_before_ms = NOW_MS;
	assert_int_equal(decide(&row, CAUSE_CHANGED).act, ACT_REVIVE);
	row = *named("its stop was cut");
	row.facts.failures = 3;
	assert_int_equal(decide(&row, CAUSE_CHANGED).delay_ms, 4 * SUPERVISE_INTENT_MS);
}

static void what_its_policy_leaves_is_said(void **state UNUSED)
{
	const struct supervise_decision left = decide(named("was killed, and its policy is no"),
						      CAUSE_CHANGED);
	assert_true(left.is_left);
	assert_false(left.is_planned);
	const struct supervise_decision revived = decide(named("was killed"), CAUSE_CHANGED);
	assert_false(revived.is_left);
	assert_true(revived.is_planned);
}

/* The reader of a row that lives and runs, or rests and is to, gives no instance. */
static void without_an_instance_nothing_is_started(void **state UNUSED)
{
	cleanup_settings struct settings settings = { 0 };
	settings_init(&settings);
	for (unsigned i = 0; i < 4; i++)
		for (enum supervise_cause cause = CAUSE_CHANGED; cause <= CAUSE_NUDGED; cause++) {
			const struct supervise_facts facts = { .is_live = i & 1,
							       .is_between = i == 3 };
			const enum supervise_act act =
				supervise_decide(&facts, cause, &settings, NOW_MS, NOW_US).act;
			assert_true(act == ACT_NONE || act == ACT_KEEP);
		}
}

static void an_end_that_is_due_is_seen_to(void **state UNUSED)
{
	cleanup_settings struct settings settings = { 0 };
	settings_init(&settings);
	struct instance instance = { .desired = DESIRED_STOPPED, .ending.stage = ENDING_DUE };
	struct supervise_facts facts = { .instance = &instance };
	assert_int_equal(supervise_decide(&facts, CAUSE_CHANGED, &settings, NOW_MS, NOW_US).act,
			 ACT_REVIVE);
	facts.is_live = true;
	assert_int_equal(supervise_decide(&facts, CAUSE_CHANGED, &settings, NOW_MS, NOW_US).act,
			 ACT_NONE);
	facts.is_live = false;
	facts.not_before_ms = NOW_MS + 1;
	assert_int_equal(supervise_decide(&facts, CAUSE_CHANGED, &settings, NOW_MS, NOW_US).act,
			 ACT_NONE);
	facts.not_before_ms = 0;
	instance.ending.stage = ENDING_UNDECIDED;
	assert_int_equal(supervise_decide(&facts, CAUSE_CHANGED, &settings, NOW_MS, NOW_US).act,
			 ACT_NONE);
}

static void patience_doubles_up_to_its_bound(void **state UNUSED)
{
	static const int64_t expected[] = { 2000, 2000, 4000, 8000, 16000, 32000, 60000, 60000 };
	for (unsigned i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(supervise_patience_ms(i, RETRY_MS, MOST_MS), expected[i]);
	assert_int_equal(supervise_patience_ms(1000000, RETRY_MS, MOST_MS), MOST_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cause_has_its_act),
		cmocka_unit_test(what_lives_makes_failures_forgotten),
		cmocka_unit_test(an_intent_is_finished_only_if_nobody_is_at_it),
		cmocka_unit_test(a_failure_is_waited_for),
		cmocka_unit_test(what_its_policy_leaves_is_said),
		cmocka_unit_test(without_an_instance_nothing_is_started),
		cmocka_unit_test(patience_doubles_up_to_its_bound),
		cmocka_unit_test(an_end_that_is_due_is_seen_to),
	};
	return cmocka_run_group_tests_name("decide", tests, NULL, NULL);
}
