/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/plan/ready.h"

#include <string.h>

enum { LATER = INT32_MAX };

static bool is_ready(const struct ready_facts *facts)
{
	struct ready_wait wait = { .is_patient = true, .deadline_ms = LATER };
	const char *why;
	return ready_judge(&wait, facts, 1, &why) == READY_NOW;
}

static void assert_reason(const struct ready_facts *facts, struct ready_wait wait,
			  enum ready expected, const char *words)
{
	const char *why = "";
	assert_int_equal(ready_judge(&wait, facts, 1, &why), expected);
	if (!strstr(why, words))
		fail_msg("\"%s\" is not \"%s\"", why, words);
}

static void readiness_follows_the_table(void **state UNUSED)
{
	static const struct {
		const char *what;
		struct ready_facts facts;
		bool ready;
	} cases[] = {
		{ "reported, box",
		  { .can_report = true,
		    .has_reported = true,
		    .has_box_pattern = true,
		    .display = DISPLAY_READY },
		  true },
		{ "box, not reported yet",
		  { .can_report = true,
		    .has_box_pattern = true,
		    .display = DISPLAY_READY,
		    .lived_ms = 500 },
		  false },
		{ "box, never reported",
		  { .can_report = true,
		    .has_box_pattern = true,
		    .display = DISPLAY_READY,
		    .lived_ms = 10000 },
		  true },
		{ "dialog whatever else",
		  { .can_report = true,
		    .has_reported = true,
		    .has_box_pattern = true,
		    .display = DISPLAY_DIALOG,
		    .waited_ms = 99999,
		    .lived_ms = 99999,
		    .quiet_ms = 99999 },
		  false },
		{ "reported, busy, no box",
		  { .can_report = true,
		    .has_reported = true,
		    .has_box_pattern = true,
		    .activity = ACTIVITY_BUSY },
		  true },
		{ "reported, idle, no box",
		  { .can_report = true,
		    .has_reported = true,
		    .has_box_pattern = true,
		    .activity = ACTIVITY_IDLE,
		    .waited_ms = 500 },
		  false },
		{ "reported, idle, never a box",
		  { .can_report = true,
		    .has_reported = true,
		    .has_box_pattern = true,
		    .activity = ACTIVITY_IDLE,
		    .waited_ms = 2000 },
		  true },
		{ "reported, waits, no box",
		  { .can_report = true,
		    .has_reported = true,
		    .has_box_pattern = true,
		    .activity = ACTIVITY_WAITING,
		    .waited_ms = 99999 },
		  false },
		{ "reported, waits, box",
		  { .can_report = true,
		    .has_reported = true,
		    .has_box_pattern = true,
		    .activity = ACTIVITY_WAITING,
		    .display = DISPLAY_READY },
		  true },
		{ "reported, the known box is hidden",
		  { .can_report = true,
		    .has_reported = true,
		    .has_box_pattern = true,
		    .has_box = true,
		    .activity = ACTIVITY_IDLE,
		    .waited_ms = 99999 },
		  false },
		{ "the same, busy",
		  { .can_report = true,
		    .has_reported = true,
		    .has_box_pattern = true,
		    .has_box = true,
		    .activity = ACTIVITY_BUSY },
		  false },
		{ "a view whatever else",
		  { .can_report = true,
		    .has_reported = true,
		    .has_box_pattern = true,
		    .display = DISPLAY_ELSEWHERE,
		    .waited_ms = 99999,
		    .quiet_ms = 99999 },
		  false },
		{ "no reports, box", { .has_box_pattern = true, .display = DISPLAY_READY }, true },
		{ "no reports, quiet, no box",
		  { .has_box_pattern = true, .quiet_ms = 99999 },
		  false },
		{ "no reports, no pattern, moving", { .quiet_ms = 100 }, false },
		{ "no reports, no pattern, quiet", { .quiet_ms = 300 }, true },
		{ "nothing on the screen yet", { .quiet_ms = 300, .is_blank = true }, false },
		{ "nothing on the screen ever", { .quiet_ms = 1500, .is_blank = true }, true },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (is_ready(&cases[i].facts) != cases[i].ready)
			fail_msg("%s: expected %s", cases[i].what,
				 cases[i].ready ? "ready" : "not ready");
}

static void the_first_reason_is_named(void **state UNUSED)
{
	static const struct {
		struct ready_facts facts;
		const char *why;
	} cases[] = {
		{ { .display = DISPLAY_DIALOG }, "asks something" },
		{ { .display = DISPLAY_ELSEWHERE }, "a view" },
		{ { .can_report = true, .has_box = true }, "has not reported" },
		{ { .can_report = true, .has_reported = true, .activity = ACTIVITY_WAITING },
		  "waits for your answer" },
		{ { .has_box_pattern = true }, "no input box" },
		{ { .is_blank = true }, "keeps changing" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_reason(&cases[i].facts, (struct ready_wait){ .is_patient = true }, READY_NOT,
			      cases[i].why);
}

static void only_who_is_patient_waits_for_the_end_of_a_turn(void **state UNUSED)
{
	const struct ready_facts busy = { .can_report = true,
					  .has_reported = true,
					  .activity = ACTIVITY_BUSY };
	assert_reason(&busy, (struct ready_wait){ .deadline_ms = LATER }, READY_NOT, "of a turn");
	assert_true(is_ready(&busy));
}

/* What is judged when the same facts have been true for so long. */
static enum ready after(const struct ready_facts *facts, struct ready_wait wait, int64_t ms)
{
	const char *why;
	wait.deadline_ms = LATER;
	(void)ready_judge(&wait, facts, 1, &why);
	return ready_judge(&wait, facts, 1 + ms, &why);
}

static void what_only_its_user_can_change_is_not_waited_for(void **state UNUSED)
{
	const struct ready_wait wait = { .is_patient = true };
	const struct ready_facts hidden = { .has_reported = true,
					    .has_box = true,
					    .activity = ACTIVITY_IDLE,
					    .waited_ms = 2000,
					    .lived_ms = 10000 };
	struct ready_facts other = { .display = DISPLAY_DIALOG };
	assert_int_equal(after(&other, wait, 699), READY_WAIT);
	assert_int_equal(after(&other, wait, 700), READY_NOT);
	assert_int_equal(after(&hidden, wait, 699), READY_WAIT);
	assert_int_equal(after(&hidden, wait, 700), READY_NOT);
	other = hidden, other.activity = ACTIVITY_BUSY;
	assert_int_equal(after(&other, wait, 99999), READY_WAIT);
	other = hidden, other.waited_ms = 1999;
	assert_int_equal(after(&other, wait, 99999), READY_WAIT);
	other = hidden, other.lived_ms = 9999;
	assert_int_equal(after(&other, wait, 99999), READY_WAIT);
}

static void a_text_in_the_box_becomes_a_draft(void **state UNUSED)
{
	const struct ready_facts facts = { .display = DISPLAY_READY,
					   .has_box = true,
					   .has_text = true };
	const struct ready_wait patient = { .is_patient = true };
	const struct ready_wait replacing = { .is_patient = true, .replaces_draft = true };
	assert_int_equal(after(&facts, patient, 1499), READY_WAIT);
	assert_int_equal(after(&facts, patient, 1500), READY_DRAFT);
	assert_int_equal(after(&facts, (struct ready_wait){ 0 }, 599), READY_WAIT);
	assert_int_equal(after(&facts, (struct ready_wait){ 0 }, 600), READY_DRAFT);
	assert_int_equal(after(&facts, replacing, 99999), READY_EMPTY_BOX);
	assert_reason(&facts, (struct ready_wait){ .replaces_draft = true }, READY_DRAFT,
		      "unsent text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readiness_follows_the_table),
		cmocka_unit_test(the_first_reason_is_named),
		cmocka_unit_test(only_who_is_patient_waits_for_the_end_of_a_turn),
		cmocka_unit_test(what_only_its_user_can_change_is_not_waited_for),
		cmocka_unit_test(a_text_in_the_box_becomes_a_draft),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
