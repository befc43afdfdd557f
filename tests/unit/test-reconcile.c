/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/text.h"
#include "model/plan/reconcile.h"

#include <string.h>

#define THERE   .presence = STRAY_THERE
#define OURS    .is_ours = true
#define REMOVED .session = STRAY_OF_REMOVED
#define LISTED  .session = STRAY_OF_LISTED

static void each_case_has_its_answer(void **state UNUSED)
{
	static const struct {
		struct stray_facts facts;
		enum stray_action action;
		const char *why;
	} cases[] = {
		{ { STRAY_CONTAINER, THERE, OURS, LISTED }, STRAY_FINE, "" },
		{ { STRAY_CONTAINER, THERE, OURS, REMOVED }, STRAY_KEEP, "undo" },
		{ { STRAY_CONTAINER, THERE, OURS }, STRAY_FREE, "no session" },
		{ { STRAY_CONTAINER, THERE, OURS, .runs = true }, STRAY_KEEP, "runs" },
		{ { STRAY_CONTAINER, THERE, OURS, .is_renamed = true },
		  STRAY_KEEP,
		  "did not make it" },
		{ { STRAY_CONTAINER, THERE, OURS, .has_directory = true },
		  STRAY_KEEP,
		  "the directory of one" },
		{ { STRAY_TREE, THERE, OURS, .is_safe = true, .runs = true }, STRAY_KEEP, "runs" },
		{ { STRAY_CONTAINER, THERE, LISTED }, STRAY_KEEP, "is not ours" },
		{ { STRAY_CONTAINER, THERE }, STRAY_FINE, "" },
		{ { STRAY_CONTAINER, .presence = STRAY_MISSING, LISTED, .missed = 2 },
		  STRAY_KEEP,
		  "next start" },
		{ { STRAY_CONTAINER, .presence = STRAY_MISSING, LISTED, .missed = 1 },
		  STRAY_FINE,
		  "" },
		{ { STRAY_CONTAINER, .presence = STRAY_MISSING, REMOVED, .missed = 2 },
		  STRAY_FINE,
		  "" },
		{ { STRAY_ENGINE, LISTED }, STRAY_ASK_LATER, "nothing counts as gone" },
		{ { STRAY_NETWORK, THERE, OURS }, STRAY_FREE, "no session" },
		{ { STRAY_NETWORK, THERE, OURS, REMOVED }, STRAY_KEEP, "undo" },
		{ { STRAY_IMAGE_NAME, THERE, OURS }, STRAY_KEEP, "another deck" },
		{ { STRAY_IMAGE_NAME, THERE, OURS, LISTED }, STRAY_FINE, "" },
		{ { STRAY_TREE, THERE, OURS, LISTED }, STRAY_FINE, "" },
		{ { STRAY_TREE, THERE, OURS, REMOVED }, STRAY_FINE, "" },
		{ { STRAY_TREE, THERE, OURS, .is_safe = true }, STRAY_FREE, "nothing is lost" },
		{ { STRAY_TREE, THERE, OURS }, STRAY_KEEP, "nowhere else" },
		{ { STRAY_TREE, .presence = STRAY_MISSING, LISTED, .missed = 2 },
		  STRAY_KEEP,
		  "branch" },
		{ { STRAY_DIRECTORY, THERE, OURS, .is_safe = true }, STRAY_FREE, "" },
		{ { STRAY_DIRECTORY, THERE, OURS }, STRAY_KEEP, "conversations" },
		{ { STRAY_CONVERSATIONS, THERE, OURS }, STRAY_KEEP, "conversations" },
		{ { STRAY_BRANCH, THERE, OURS }, STRAY_KEEP, "no session" },
		{ { STRAY_BRANCH, THERE, OURS, .is_safe = true }, STRAY_FREE, "no session" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct stray_judgement got = reconcile_judge(&cases[i].facts);
		if (got.action != cases[i].action || !strstr(got.why, cases[i].why))
			fail_msg("case %zu: %s: %s", i, stray_action_name(got.action), got.why);
	}
}

/* Whatever is not known, runs, is not ours or has a session is never freed. */
static void nothing_is_freed_on_a_guess(void **state UNUSED)
{
	for (unsigned bits = 0; bits < 1U << 5; bits++)
		for (unsigned kind = 0; kind < STRAY_KIND_COUNT; kind++)
			for (unsigned at = 0; at < 9; at++) {
				const struct stray_facts facts = {
					.kind = kind,
					.session = at % 3,
					.presence = at / 3,
					.missed = bits >> 3,
					.is_ours = bits & 1,
					.runs = bits & 2,
					.is_safe = bits & 4,
				};
				if (reconcile_judge(&facts).action != STRAY_FREE)
					continue;
				assert_int_equal(facts.session, STRAY_OF_NONE);
				assert_int_equal(facts.presence, STRAY_THERE);
				assert_true(facts.is_ours);
				assert_false(facts.runs);
				assert_true(facts.is_safe || kind == STRAY_CONTAINER ||
					    kind == STRAY_NETWORK);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_case_has_its_answer),
		cmocka_unit_test(nothing_is_freed_on_a_guess),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
