/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/plan/ending.h"
#include "model/settings/settings.h"

#include <signal.h>
#include <string.h>

static void only_status_0_is_a_wish(void **state UNUSED)
{
	static const struct {
		struct exit_record record;
		bool is_wish;
	} cases[] = {
		{ { .present = true }, true },
		{ { 0 }, false },
		{ { .present = true, .code = 1 }, false },
		{ { .present = true, .code = 128 + SIGHUP }, false },
		{ { .present = true, .code = 128 + SIGINT }, false },
		{ { .present = true, .code = 128 + SIGTERM }, false },
		/* a container that was stopped: engine/place/container/look.c */
		{ { .present = true, .signal = SIGTERM }, false },
		{ { .present = true, .signal = SIGKILL }, false },
		{ { .present = true, .oom = true }, false },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(ending_is_wish(&cases[i].record), cases[i].is_wish);
}

/* Whatever the facts are. */
enum { EVERY = 1 << 5 };
static struct ending_facts facts_of(unsigned bits)
{
	return (struct ending_facts){
		.has_container = bits & 1,
		.has_tree = bits & 2,
		.is_safe = bits & 4,
		.is_as_made = bits & 8,
		.has_processes = bits & 16,
	};
}

static bool is_at_risk(const struct ending_facts *facts)
{
	return (facts->has_tree && !facts->is_safe) || facts->has_processes;
}

static void keep_frees_nothing(void **state UNUSED)
{
	for (unsigned bits = 0; bits < EVERY; bits++) {
		struct ending_facts facts = facts_of(bits);
		facts.policy = END_KEEP;
		const struct ending_plan plan = ending_decide(&facts);
		assert_true(plan.act == ENDING_LEAVE && !plan.frees_container && !plan.frees_tree);
	}
}

static void ask_frees_what_can_be_made_again(void **state UNUSED)
{
	for (unsigned bits = 0; bits < EVERY; bits++) {
		struct ending_facts facts = facts_of(bits);
		facts.policy = END_ASK;
		const struct ending_plan plan = ending_decide(&facts);
		const bool asks = is_at_risk(&facts);
		assert_int_equal(plan.act, asks ? ENDING_ASK : ENDING_LEAVE);
		assert_int_equal(plan.frees_container, !asks && facts.has_container);
		assert_int_equal(plan.frees_tree, !asks && facts.has_tree && facts.is_as_made);
	}
}

static void clean_removes_what_loses_nothing(void **state UNUSED)
{
	for (unsigned bits = 0; bits < EVERY; bits++) {
		struct ending_facts facts = facts_of(bits);
		facts.policy = END_CLEAN;
		assert_int_equal(ending_decide(&facts).act,
				 is_at_risk(&facts) ? ENDING_ASK : ENDING_REMOVE);
	}
}

static void an_answer_counts_more_than_the_policy(void **state UNUSED)
{
	static const enum end_policy policies[] = { END_ASK, END_KEEP, END_CLEAN };
	for (unsigned bits = 0; bits < EVERY * ARRAY_SIZE(policies); bits++) {
		struct ending_facts facts = facts_of(bits);
		facts.policy = policies[bits / EVERY];
		facts.wish = ENDING_KEEP_IT;
		const struct ending_plan plan = ending_decide(&facts);
		assert_true(plan.act == ENDING_LEAVE && !plan.frees_tree);
		assert_int_equal(plan.frees_container, facts.has_container);
		facts.wish = ENDING_CLEAN_IT;
		assert_int_equal(ending_decide(&facts).act, ENDING_REMOVE);
	}
}

static void the_nearest_policy_counts(void **state UNUSED)
{
	static const char text[] = "[workspace]\non_end = \"clean\"\n"
				   "[groups.work.workspace]\non_end = \"keep\"\n"
				   "[groups.\"work/api\".limits]\ntasks_max = 9\n";
	static const struct {
		char group[16];
		enum end_policy own, expected;
	} cases[] = {
		{ "", END_DEFAULT, END_CLEAN },         { "other", END_DEFAULT, END_CLEAN },
		{ "work", END_DEFAULT, END_KEEP },      { "work/api", END_DEFAULT, END_KEEP },
		{ "workshop", END_DEFAULT, END_CLEAN }, { "work", END_ASK, END_ASK },
	};
	cleanup_settings struct settings settings = { 0 };
	assert_int_equal(settings_parse(text, strlen(text), "it", &settings, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char group[sizeof(cases[i].group)];
		memcpy(group, cases[i].group, sizeof(group));
		const struct instance instance = { .group = group, .end_policy = cases[i].own };
		assert_int_equal(settings_end_policy(&settings, &instance), cases[i].expected);
	}
	cleanup_settings struct settings usual = { 0 };
	settings_init(&usual);
	assert_int_equal(settings_end_policy(&usual, &(struct instance){ 0 }), END_ASK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_status_0_is_a_wish),
		cmocka_unit_test(keep_frees_nothing),
		cmocka_unit_test(ask_frees_what_can_be_made_again),
		cmocka_unit_test(clean_removes_what_loses_nothing),
		cmocka_unit_test(an_answer_counts_more_than_the_policy),
		cmocka_unit_test(the_nearest_policy_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
