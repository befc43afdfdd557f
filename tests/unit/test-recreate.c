/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/plan/recreate.h"

#include <string.h>

enum { CONTAINERS = RECREATE_OURS_BROKEN + 1, IMAGES = IMAGE_GONE + 1 };

/* Position of the step in the plan; -1: it is not in it. */
static int place_of(const struct recreate_plan *plan, enum recreate_step step)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i] == step)
			return (int)i;
	return -1;
}

static bool has(const struct recreate_plan *plan, enum recreate_step step)
{
	return place_of(plan, step) >= 0;
}

/* If both are in the plan, the first comes before the second. */
static void assert_order(const struct recreate_plan *plan, enum recreate_step first,
			 enum recreate_step second)
{
	assert_true(!has(plan, first) || !has(plan, second) ||
		    place_of(plan, first) < place_of(plan, second));
}

static void check_steps(const struct recreate_plan *plan)
{
	bool seen[STEP_COUNT] = { false };
	assert_true(plan->count >= 1 && plan->count <= RECREATE_STEPS);
	for (size_t i = 0; i < plan->count; i++) {
		assert_false(seen[plan->steps[i]]);
		seen[plan->steps[i]] = true;
	}
	/* Nothing is destroyed before what replaces it is there. */
	assert_order(plan, STEP_BUILD, STEP_TAG);
	assert_order(plan, STEP_BUILD, STEP_STOP);
	assert_order(plan, STEP_TAG, STEP_REMOVE);
	assert_order(plan, STEP_STOP, STEP_REMOVE);
	assert_order(plan, STEP_REMOVE, STEP_CREATE);
	assert_order(plan, STEP_TAG, STEP_CREATE);
	assert_order(plan, STEP_NETWORK, STEP_CREATE);
	assert_order(plan, STEP_NETWORK, STEP_START);
	assert_order(plan, STEP_CREATE, STEP_START);
	assert_order(plan, STEP_STOP, STEP_START);
	assert_true(!has(plan, STEP_REMOVE) || has(plan, STEP_CREATE));
	assert_true(has(plan, STEP_WINDOW) != has(plan, STEP_START));
	assert_int_equal(has(plan, STEP_CREATE), has(plan, STEP_TAG));
	/* The tier is what the steps are. */
	assert_int_equal(plan->tier, has(plan, STEP_BUILD)    ? 3
				     : has(plan, STEP_CREATE) ? 2
				     : has(plan, STEP_START)  ? 1
							      : 0);
	assert_true(plan->tier > 0 || !has(plan, STEP_STOP));
}

static bool is_ours(enum recreate_container container)
{
	return container >= RECREATE_OURS_RUNNING;
}

static void check_plan(const struct recreate_facts *facts, const struct recreate_plan *plan)
{
	check_steps(plan);
	if (facts->answers) {
		assert_int_equal(plan->tier, 0);
		assert_int_equal(plan->count, 1);
		return;
	}
	assert_int_not_equal(facts->container, RECREATE_UNKNOWN);
	assert_int_not_equal(facts->container, RECREATE_FOREIGN);
	assert_true(is_ours(facts->container) ||
		    (!has(plan, STEP_STOP) && !has(plan, STEP_REMOVE)));
	if (has(plan, STEP_UNPAUSE))
		assert_true(facts->container == RECREATE_OURS_PAUSED && facts->may_unpause);
	assert_int_equal(has(plan, STEP_STOP), facts->container == RECREATE_OURS_RUNNING);
	if (plan->tier == 1)
		assert_true(facts->recipe_is_same);
	if (plan->tier >= 1) {
		assert_null(facts->missing_mount);
		assert_null(facts->linked_mount);
		assert_int_equal(has(plan, STEP_NETWORK), !facts->network_is_there);
	}
	/* Its writable layer is given up only for another recipe, or when it is broken. */
	if (has(plan, STEP_REMOVE))
		assert_true(!facts->recipe_is_same || facts->container == RECREATE_OURS_BROKEN);
	if (plan->tier == 2)
		assert_true(facts->image == IMAGE_SAME || facts->image == IMAGE_SAME_LAYERS);
	if (plan->tier == 3)
		assert_true(facts->image == IMAGE_GONE && facts->may_rebuild && facts->has_build &&
			    (facts->base == IMAGE_SAME || facts->base == IMAGE_SAME_LAYERS));
	assert_int_equal(plan->lost != NULL, plan->tier >= 2 && !facts->is_new);
}

static void assert_says(const struct error *err, const char *part)
{
	if (!strstr(err->message, part))
		fail_msg("\"%s\" does not say \"%s\"", err->message, part);
}

static void check_refusal(const struct recreate_facts *facts, const struct error *err)
{
	assert_false(facts->answers);
	assert_says(err, "api");
	assert_says(err, "agentdeck start api");
	assert_null(strstr(err->message, "(null)"));
	switch (err->code) {
	case ERROR_UNAVAILABLE:
		assert_true(facts->container == RECREATE_UNKNOWN || facts->image == IMAGE_UNKNOWN ||
			    facts->base == IMAGE_UNKNOWN);
		assert_says(err, "nothing was changed");
		assert_null(strstr(err->message, "is gone"));
		break;
	case ERROR_INVALID:
		if (facts->container != RECREATE_FOREIGN &&
		    facts->container != RECREATE_OURS_PAUSED && facts->linked_mount) {
			assert_says(err, "/data/src is a link now");
			assert_says(err, "recipe.mount DIRECTORY:/out:ro");
			break;
		}
		assert_says(err, "(tier");
		if (facts->container == RECREATE_FOREIGN) {
			assert_says(err, "(tier 2)");
		} else if (facts->container == RECREATE_OURS_PAUSED) {
			assert_says(err, "(tier 0)");
			assert_false(facts->may_unpause);
		} else {
			assert_says(err, "(tier 3)");
			assert_says(err, "agentdeck start api --rebuild");
			assert_false(facts->may_rebuild);
			assert_true(facts->has_build);
			assert_int_equal(facts->image, IMAGE_GONE);
		}
		break;
	case ERROR_NOT_FOUND:
		if (facts->missing_mount)
			assert_says(err, facts->missing_mount);
		else if (facts->has_build)
			assert_true(facts->image == IMAGE_GONE && facts->base == IMAGE_GONE);
		else
			assert_int_equal(facts->image, IMAGE_GONE);
		break;
	default:
		fail_msg("code %d: %s", err->code, err->message);
	}
}

static const struct recipe_place linked = { "/data/src/out", "/out", true, RECIPE_MOUNT };

enum { FLAGS = 9 };

static struct recreate_facts facts_of(unsigned container, unsigned image, unsigned base,
				      unsigned flags)
{
	return (struct recreate_facts){
		.container = (enum recreate_container)container,
		.image = (enum recreate_image)image,
		.base = (enum recreate_image)base,
		.answers = flags & 1,
		.recipe_is_same = flags & 2,
		.network_is_there = flags & 4,
		.missing_mount = flags & 8 ? "/data/gone" : NULL,
		.has_build = flags & 16,
		.may_rebuild = flags & 32,
		.may_unpause = flags & 64,
		.is_new = flags & 128,
		.linked_mount = flags & 256 ? &linked : NULL,
		.link = "/data/src",
	};
}

static void every_combination_of_facts_has_one_sane_answer(void **state UNUSED)
{
	unsigned tiers[4] = { 0 }, refused = 0;
	for (unsigned container = 0; container < CONTAINERS; container++)
		for (unsigned image = 0; image < IMAGES; image++)
			for (unsigned base = 0; base < IMAGES; base++)
				for (unsigned flags = 0; flags < 1u << FLAGS; flags++) {
					struct recreate_facts facts = facts_of(container, image,
									       base, flags);
					cleanup_recreate_plan struct recreate_plan plan = { 0 };
					cleanup_error struct error err = { 0 };
					int r = recreate_plan(&facts, "api", &plan, &err);
					assert_true(r == 0 || r == -1);
					if (r == 0) {
						check_plan(&facts, &plan);
						tiers[plan.tier]++;
					} else {
						assert_int_equal(plan.count, 0);
						check_refusal(&facts, &err);
						refused++;
					}
				}
	/* None of the answers above was left out. */
	for (size_t i = 0; i < ARRAY_SIZE(tiers); i++)
		assert_true(tiers[i] > 0);
	assert_true(refused > 0);
}

/* ---- what users meet ------------------------------------------------------------------------- */

/* "1: STOP START", or the code of the error.  The caller frees. */
static char *answer_to(const struct recreate_facts *facts)
{
	static const char *const names[] = {
		[STEP_WINDOW] = "window", [STEP_UNPAUSE] = "unpause", [STEP_STOP] = "stop",
		[STEP_REMOVE] = "remove", [STEP_NETWORK] = "network", [STEP_BUILD] = "build",
		[STEP_TAG] = "tag",       [STEP_CREATE] = "create",   [STEP_START] = "start",
	};
	cleanup_recreate_plan struct recreate_plan plan = { 0 };
	cleanup_error struct error err = { 0 };
	if (recreate_plan(facts, "api", &plan, &err) < 0)
		return xstrdup(error_code_name(err.code));
	struct strbuf text = { 0 };
	strbuf_addf(&text, "%u:", plan.tier);
	for (size_t i = 0; i < plan.count; i++)
		strbuf_addf(&text, " %s", names[plan.steps[i]]);
	return strbuf_take(&text);
}

#define GOOD .recipe_is_same = true, .network_is_there = true

static void what_happened_to_a_container_has_its_tier(void **state UNUSED)
{
	static const struct {
		const char *what;
		struct recreate_facts facts;
		const char *answer;
	} cases[] = {
		{ "the window was killed",
		  { .container = RECREATE_OURS_RUNNING, .answers = true, GOOD },
		  "0: window" },
		{ "the engine was stopped, and the container lives on",
		  { .container = RECREATE_UNKNOWN, .answers = true },
		  "0: window" },
		{ "somebody renamed it",
		  { .container = RECREATE_NONE, .image = IMAGE_SAME, .answers = true },
		  "0: window" },
		{ "the engine hangs, and so does the capsule",
		  { .container = RECREATE_UNKNOWN, GOOD },
		  "UNAVAILABLE" },
		{ "docker pause, and a start",
		  { .container = RECREATE_OURS_PAUSED, .may_unpause = true, GOOD },
		  "0: unpause window" },
		{ "docker pause, and a supervisor",
		  { .container = RECREATE_OURS_PAUSED, GOOD },
		  "INVALID_OPERATION" },
		{ "the capsule hangs",
		  { .container = RECREATE_OURS_RUNNING, GOOD },
		  "1: stop start" },
		{ "docker stop, a reboot, a power cut",
		  { .container = RECREATE_OURS_STOPPED, .image = IMAGE_SAME, GOOD },
		  "1: start" },
		{ "rmi -f under a stopped container",
		  { .container = RECREATE_OURS_STOPPED, .image = IMAGE_GONE, GOOD },
		  "1: start" },
		{ "docker network rm",
		  { .container = RECREATE_OURS_STOPPED, .recipe_is_same = true },
		  "1: network start" },
		{ "a directory that it mounts was deleted",
		  { .container = RECREATE_OURS_STOPPED, .missing_mount = "/data", GOOD },
		  "NOT_FOUND" },
		{ "docker rm -f, container prune, eject",
		  { .container = RECREATE_NONE, .image = IMAGE_SAME, .network_is_there = true },
		  "2: tag create start" },
		{ "the engine moved to another image store",
		  { .container = RECREATE_NONE, .image = IMAGE_SAME_LAYERS },
		  "2: tag network create start" },
		{ "session set recipe.image",
		  { .container = RECREATE_OURS_STOPPED,
		    .image = IMAGE_SAME,
		    .network_is_there = true },
		  "2: tag remove create start" },
		{ "an interrupted removal",
		  { .container = RECREATE_OURS_BROKEN, .image = IMAGE_SAME, GOOD },
		  "2: tag remove create start" },
		{ "a stranger has the name",
		  { .container = RECREATE_FOREIGN, .image = IMAGE_SAME, .may_rebuild = true, GOOD },
		  "INVALID_OPERATION" },
		{ "the image was pruned, too",
		  { .container = RECREATE_NONE,
		    .image = IMAGE_GONE,
		    .base = IMAGE_SAME,
		    .has_build = true,
		    GOOD },
		  "INVALID_OPERATION" },
		{ "and its user consents",
		  { .container = RECREATE_NONE,
		    .image = IMAGE_GONE,
		    .base = IMAGE_SAME,
		    .has_build = true,
		    .may_rebuild = true,
		    GOOD },
		  "3: build tag create start" },
		{ "a new recipe whose image is gone",
		  { .container = RECREATE_OURS_RUNNING,
		    .image = IMAGE_GONE,
		    .base = IMAGE_SAME,
		    .has_build = true,
		    .may_rebuild = true },
		  "3: build tag stop remove network create start" },
		{ "the image is pruned while its container is only stopped",
		  { .container = RECREATE_OURS_STOPPED,
		    .image = IMAGE_GONE,
		    .base = IMAGE_GONE,
		    .has_build = true,
		    .build_changed = true,
		    GOOD },
		  "1: start" },
		{ "the image is gone, and its build directory has changed",
		  { .container = RECREATE_NONE,
		    .image = IMAGE_GONE,
		    .base = IMAGE_SAME,
		    .has_build = true,
		    .may_rebuild = true,
		    .build = "/srv/api",
		    .build_changed = true,
		    GOOD },
		  "3: build tag create start" },
		{ "the build directory is gone, too",
		  { .container = RECREATE_NONE,
		    .image = IMAGE_GONE,
		    .may_rebuild = true,
		    .build = "/srv/api",
		    GOOD },
		  "NOT_FOUND" },
		{ "the image was not built here",
		  { .container = RECREATE_NONE, .image = IMAGE_GONE, .may_rebuild = true, GOOD },
		  "NOT_FOUND" },
		{ "the base is gone",
		  { .container = RECREATE_NONE,
		    .image = IMAGE_GONE,
		    .base = IMAGE_GONE,
		    .has_build = true,
		    .may_rebuild = true,
		    GOOD },
		  "NOT_FOUND" },
		{ "nobody knows whether the image is gone",
		  { .container = RECREATE_NONE, .has_build = true, .may_rebuild = true, GOOD },
		  "UNAVAILABLE" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *answer = answer_to(&cases[i].facts);
		if (!streq(answer, cases[i].answer))
			fail_msg("%s: %s, not %s", cases[i].what, answer, cases[i].answer);
	}
}

static void messages_name_what_is_missing(void **state UNUSED)
{
	cleanup_recreate_plan struct recreate_plan plan = { 0 };
	struct recreate_facts facts = { .container = RECREATE_NONE,
					.image = IMAGE_GONE,
					.image_name = "debian:12",
					.base = IMAGE_GONE,
					.base_name = "debian:slim",
					.has_build = true };
	cleanup_error struct error base = { 0 }, image = { 0 }, name = { 0 }, directory = { 0 },
				   same = { 0 }, changed = { 0 };
	assert_int_equal(recreate_plan(&facts, "my api", &plan, &base), -1);
	assert_says(&base, "debian:slim");
	facts.has_build = false;
	assert_int_equal(recreate_plan(&facts, "my api", &plan, &image), -1);
	assert_says(&image, "debian:12");
	assert_says(&image, "recipe.image IMAGE");
	facts.build = "/srv/my api";
	assert_int_equal(recreate_plan(&facts, "my api", &plan, &directory), -1);
	assert_says(&directory, "/srv/my api/Dockerfile");
	assert_says(&directory, "recipe.image IMAGE");
	facts.has_build = true;
	facts.base = IMAGE_SAME;
	assert_int_equal(recreate_plan(&facts, "api", &plan, &same), -1);
	assert_says(&same, "needs a rebuild from /srv/my api (tier 3): agentdeck start api "
			   "--rebuild");
	facts.build_changed = true;
	assert_int_equal(recreate_plan(&facts, "api", &plan, &changed), -1);
	assert_says(&changed, "/srv/my api, which has changed since (tier 3)");
	facts.container = RECREATE_FOREIGN;
	facts.name = "ad-0123abcd-api-claude";
	assert_int_equal(recreate_plan(&facts, "my api", &plan, &name), -1);
	assert_says(&name, "ad-0123abcd-api-claude");
	/* The title is one word of the command. */
	assert_null(strstr(name.message, "start my api"));
}

static void a_tier_that_failed_names_the_next(void **state UNUSED)
{
	for (unsigned tier = 0; tier <= 3; tier++) {
		cleanup_free char *text = recreate_next_text(tier, true, "api");
		cleanup_free char *next = xasprintf("(tier %u)", tier + 1);
		assert_int_equal(strstr(text, next) != NULL, tier < 3);
		assert_non_null(strstr(text, "agentdeck s"));
		assert_true(starts_with(recreate_tier_text(tier), "its "));
	}
	cleanup_free char *unbuilt = recreate_next_text(2, false, "api");
	assert_non_null(strstr(unbuilt, "no further tier"));
	for (unsigned step = 0; step < STEP_COUNT; step++)
		assert_true(strlen(recreate_step_text((enum recreate_step)step)) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_combination_of_facts_has_one_sane_answer),
		cmocka_unit_test(what_happened_to_a_container_has_its_tier),
		cmocka_unit_test(messages_name_what_is_missing),
		cmocka_unit_test(a_tier_that_failed_names_the_next),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
