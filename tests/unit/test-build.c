/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The image of a Dockerfile, from a fake engine.
 */
#include "unit/engine-fixture.h"

#include "base/program.h"
#include "engine/place/container/bases.h"
#include "engine/place/container/build.h"
#include "engine/place/container/pull.h"

#define BASE "localhost/base:1"
#define KEEP "agentdeck/keep:ad-0123abcd-api-demo"

static struct deck deck;
static struct recipe *recipe;
static struct strbuf heard;

static void hear(const char *line, bool is_failure)
{
	strbuf_addf(&heard, "%s%s\n", is_failure ? "! " : "", line);
}

static void dockerfile(const char *text)
{
	cleanup_free char *path = path_join(scratch, "context/Dockerfile");
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
}

static int set_up_build(void **state)
{
	if (engine_set_up(state) < 0 || mkdirat(here, "context", 0700) < 0)
		return -1;
	cleanup_close int tar = open_file("image.tar");
	cleanup_free char *id = NULL, *directory = path_join(scratch, "context");
	EXPECT(engine_import(fixture.engine, tar, "localhost/base", "1", &id, &fixture.err), 0);
	dockerfile("FROM " BASE "\nRUN ok\n");
	deck = (struct deck){ .paths.state = scratch, .on_progress = hear };
	recipe = recipe_new();
	recipe->engine = xstrdup(fixture.dialect);
	recipe->build = TAKE_PTR(directory);
	return 0;
}

static int tear_down_build(void **state)
{
	recipe_free(recipe);
	strbuf_free(&heard);
	return engine_tear_down(state);
}

static int build(void)
{
	return build_image(&deck, fixture.engine, recipe, &fixture.err);
}

static void built(void)
{
	EXPECT(build(), 0);
	replace_string(&recipe->keep_tag, KEEP);
	EXPECT(build_settle(fixture.engine, recipe, &fixture.err), 0);
}

static int find(const char *reference, struct engine_image *ret)
{
	return engine_inspect_image(fixture.engine, reference, ret, &fixture.err);
}

static void the_recipe_says_what_was_built(void **state UNUSED)
{
	cleanup_engine_image struct engine_image base = { 0 }, image = { 0 };
	EXPECT(find(BASE, &base), 0);
	EXPECT(build(), 0);
	EXPECT(find(recipe->image, &image), 0);
	assert_string_equal(recipe->image_id, image.id);
	assert_true(strvec_equal(&recipe->layers, &image.layers));
	cleanup_free char *entry = xasprintf(BASE " %s", base.id);
	assert_true(starts_with(recipe->bases.items[0], entry));
	assert_int_equal(strlen(recipe->build_hash), 64);
	assert_string_equal(json_get_string(image.labels, "io.agentdeck.build", ""),
			    recipe->build_hash);
	/* It was quick. */
	assert_string_equal(strbuf_text(&heard), "");
}

static void an_image_is_kept_by_the_name_of_its_session_alone(void **state UNUSED)
{
	cleanup_engine_image struct engine_image image = { 0 };
	EXPECT(build(), 0);
	cleanup_free char *name UNUSED = xstrdup(recipe->image);
	replace_string(&recipe->keep_tag, KEEP);
	EXPECT(build_settle(fixture.engine, recipe, &fixture.err), 0);
	EXPECT(find(KEEP, &image), 0);
	assert_string_equal(image.id, recipe->image_id);
	assert_int_equal(image.tags.count, 1);
	EXPECT(build_settle(fixture.engine, recipe, &fixture.err), 0);
	EXPECT(build(), 0);
	assert_string_equal(recipe->image, KEEP);
}

static void an_image_that_nobody_wants_goes(void **state UNUSED)
{
	cleanup_engine_image struct engine_image image = { 0 };
	EXPECT(build(), 0);
	build_discard(fixture.engine, recipe);
	EXPECT(find(recipe->image_id, &image), ENGINE_ABSENT);
}

static void a_build_that_fails_costs_nothing_and_says_its_last_lines(void **state UNUSED)
{
	cleanup_engine_image struct engine_image image = { 0 };
	built();
	cleanup_json struct json_object *before = recipe_to_json(recipe);
	dockerfile("FROM " BASE "\nRUN bad\n");
	EXPECT_ERROR(build(), ERROR_CHILD, "3");
	cleanup_json struct json_object *after = recipe_to_json(recipe);
	assert_true(json_object_equal(before, after));
	assert_true(ends_with(strbuf_text(&heard), "! line 18\n! line 19\n"));
	assert_true(starts_with(strbuf_text(&heard), "! line 10\n"));
	EXPECT(find(KEEP, &image), 0);
	assert_string_equal(image.id, recipe->image_id);
}

static void whatever_goes_wrong_in_a_build_leaves_the_recipe(void **state UNUSED)
{
	static const struct {
		const char *call, *kind;
		enum error_code code;
	} faults[] = {
		{ "build", "refuse", ERROR_CHILD },
		{ "build", "dropped", ERROR_UNAVAILABLE },
		{ "build", "lost", ERROR_UNAVAILABLE },
		{ "build", "half", ERROR_UNAVAILABLE },
		{ "build", "nonsense", ERROR_CHILD },
		{ "image_inspect", "refuse", ERROR_CHILD },
		{ "image_inspect", "half", ERROR_UNAVAILABLE },
	};
	built();
	cleanup_json struct json_object *before = recipe_to_json(recipe);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		tell("/fake/fault?call=%s&kind=%s", faults[i].call, faults[i].kind);
		if (build() != -1 || fixture.err.code != faults[i].code)
			fail_msg("%s %s: %s %s", faults[i].call, faults[i].kind,
				 error_code_name(fixture.err.code), or_empty(fixture.err.message));
		error_clear(&fixture.err);
		cleanup_json struct json_object *after = recipe_to_json(recipe);
		assert_true(json_object_equal(before, after));
	}
}

static void a_base_that_is_missing_is_named(void **state UNUSED)
{
	/* An engine downloads each of these by itself. */
	static const char *const texts[] = {
		"FROM localhost/none:2 AS x\nFROM " BASE "\nRUN ok\n",
		"ARG X=localhost/none:2\nFROM $X AS x\nFROM " BASE "\nRUN ok\n",
		"FROM " BASE "\nCOPY --from=localhost/none:2 / /\nRUN ok\n",
		"FROM " BASE "\nRUN --mount=type=bind,from=localhost/none:2 ok\n",
		"# syntax=localhost/none:2\nFROM " BASE "\nRUN ok\n",
	};
	/* Only Docker obeys the last one. */
	const size_t count = ARRAY_SIZE(texts) - !streq(fixture.dialect, "docker");
	for (size_t i = 0; i < count; i++) {
		cleanup_build_facts struct build_facts facts = { 0 };
		dockerfile(texts[i]);
		EXPECT_ERROR(build(), ERROR_NOT_FOUND, "begins from localhost/none:2");
		assert_null(recipe->build_hash);
		EXPECT(build_look(fixture.engine, recipe, &facts, &fixture.err), 0);
		assert_int_equal(facts.base, IMAGE_GONE);
		assert_string_equal(facts.base_name, "localhost/none:2");
	}
	dockerfile("FROM " BASE "\nCOPY --from=$X / /\nRUN ok\n");
	EXPECT_ERROR(build(), ERROR_INVALID, "not known which image");
	/* An engine may find a sense in a name that we see none in. */
	dockerfile("FROM localhost/x:1..2\nRUN ok\n");
	EXPECT_ERROR(build(), ERROR_INVALID, "localhost/x:1..2");
}

/* The name means another image now. */
static void a_build_begins_from_the_base_of_the_first_one(void **state UNUSED)
{
	cleanup_engine_image struct engine_image first = { 0 }, image = { 0 };
	cleanup_close int tar = open_file("image.tar");
	cleanup_free char *id = NULL;
	EXPECT(find(BASE, &first), 0);
	EXPECT(engine_tag(fixture.engine, first.id, "localhost/base", "0", &fixture.err), 0);
	built();
	EXPECT(engine_import(fixture.engine, tar, "localhost/base", "1", &id, &fixture.err), 0);
	assert_string_not_equal(id, first.id);
	built();
	EXPECT(find(KEEP, &image), 0);
	assert_string_equal(image.layers.items[0], first.layers.items[0]);
	assert_non_null(strstr(recipe->bases.items[0], first.id));
	assert_null(strstr(strbuf_text(&heard), "!"));
	/* Nothing of the name for the build is left, and the one of the user is as it was. */
	cleanup_engine_image struct engine_image now = { 0 }, then = { 0 };
	EXPECT(find(BASE, &now), 0);
	assert_string_equal(now.id, id);
	EXPECT(find("localhost/base:0", &then), 0);
	assert_int_equal(then.tags.count, 1);
	/* A second session that begins from it has another name for that. */
	cleanup_bases struct bases ours = { 0 }, others = { 0 };
	EXPECT(bases_settle(fixture.engine, recipe, &ours, &fixture.err), 0);
	replace_string(&recipe->keep_tag, "agentdeck/keep:ad-0123abce-web-demo");
	EXPECT(bases_settle(fixture.engine, recipe, &others, &fixture.err), 0);
	assert_true(ends_with(ours.pins.items[0], "-ad-0123abcd-api-demo"));
	assert_true(ends_with(others.pins.items[0], "-ad-0123abce-web-demo"));
	/* Without it nothing is built. */
	EXPECT(engine_untag(fixture.engine, "localhost/base:0", &fixture.err), 0);
	EXPECT_ERROR(build(), ERROR_NOT_FOUND, "begins from localhost/base");
}

static void a_failure_of_a_download_says_what_to_do(void **state UNUSED)
{
	/* As docker 20.10 and podman 4.3 say it. */
	static const struct {
		const char *words;
		enum error_code code;
		const char *remedy;
	} cases[] = {
		{ "failed to register layer: write /x: no space left on device", ERROR_CHILD,
		  "free space" },
		{ "toomanyrequests: You have reached your pull rate limit.", ERROR_CHILD, "wait" },
		{ "pull access denied for x, repository does not exist or may require 'docker "
		  "login'",
		  ERROR_NOT_FOUND, "check its name" },
		{ "unauthorized: authentication required", ERROR_CHILD, "log in" },
		{ "manifest for x:9 not found: manifest unknown", ERROR_NOT_FOUND, "tag" },
		{ "dial tcp: lookup example.com: no such host", ERROR_UNAVAILABLE, "network" },
		{ "Client.Timeout exceeded while awaiting headers", ERROR_UNAVAILABLE, "network" },
		{ "x509: certificate signed by unknown authority", ERROR_UNAVAILABLE,
		  "the certificate" },
		{ "something else", ERROR_CHILD, "by hand" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *remedy = NULL;
		assert_int_equal(pull_explain(cases[i].words, &remedy), cases[i].code);
		assert_non_null(strstr(remedy, cases[i].remedy));
	}
}

/* A stranger can put a name of ours into a registry. */
static void what_no_registry_has_is_not_downloaded(void **state UNUSED)
{
	static const char *const names[] = { "sha256:0123456789ab", "localhost/web:1",
					     "agentdeck/default:latest" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_false(pull_is_possible(names[i]));
	assert_true(pull_is_possible("debian:12"));
	assert_true(pull_is_possible("localhost:5000/web:1"));
}

static void a_look_says_what_has_changed(void **state UNUSED)
{
	struct build_facts facts = { 0 };
	built();
	EXPECT(build_look(fixture.engine, recipe, &facts, &fixture.err), 0);
	assert_true(facts.is_there);
	assert_false(facts.has_changed);
	assert_int_equal(facts.base, IMAGE_SAME);
	dockerfile("FROM " BASE "\nRUN ok\n# more\n");
	EXPECT(build_look(fixture.engine, recipe, &facts, &fixture.err), 0);
	assert_true(facts.has_changed);
	assert_int_equal(unlinkat(here, "context/Dockerfile", 0), 0);
	facts = (struct build_facts){ 0 };
	EXPECT(build_look(fixture.engine, recipe, &facts, &fixture.err), 0);
	assert_false(facts.is_there);
	EXPECT_ERROR(build(), ERROR_NOT_FOUND, "Dockerfile");
}

static void a_directory_to_build_from_has_a_dockerfile(void **state UNUSED)
{
	cleanup_free char *found = NULL, *link = path_join(scratch, "link");
	char *none = NULL;
	assert_int_equal(symlinkat("context", here, "link"), 0);
	EXPECT(build_find(link, &found, &fixture.err), 0);
	assert_string_equal(found, recipe->build);
	EXPECT_ERROR(build_find(scratch, &none, &fixture.err), ERROR_NOT_FOUND, "--image IMAGE");
	EXPECT_ERROR(build_find("/no/such/place", &none, &fixture.err), ERROR_NOT_FOUND,
		     "/no/such/place/Dockerfile");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_build, tear_down_build)
		TEST(the_recipe_says_what_was_built),
		TEST(an_image_is_kept_by_the_name_of_its_session_alone),
		TEST(an_image_that_nobody_wants_goes),
		TEST(a_build_that_fails_costs_nothing_and_says_its_last_lines),
		TEST(whatever_goes_wrong_in_a_build_leaves_the_recipe),
		TEST(a_base_that_is_missing_is_named),
		TEST(a_build_begins_from_the_base_of_the_first_one),
		TEST(a_failure_of_a_download_says_what_to_do),
		TEST(what_no_registry_has_is_not_downloaded),
		TEST(a_look_says_what_has_changed),
		TEST(a_directory_to_build_from_has_a_dockerfile),
#undef TEST
	};
	if (!program_is_installed("python3"))
		return skip_all("python3 is not installed");
	fixture.dialect = "docker";
	int failed = cmocka_run_group_tests_name("docker", tests, NULL, NULL);
	fixture.dialect = "podman";
	return failed + cmocka_run_group_tests_name("podman", tests, NULL, NULL);
}
