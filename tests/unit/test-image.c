/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/engine-fixture.h"

#include "base/program.h"
#include "engine/place/container/image.h"
#include "engine/place/container/nestedwish.h"
#include "engine/place/container/resolve.h"

/* Instead of mmdebstrap. */
static void put_program(const char *lines)
{
	cleanup_free char *text = xasprintf("#!/bin/sh\necho \"$@\" >%s/words\n%s\n", scratch,
					    lines);
	put("mmdebstrap", text);
	assert_int_equal(fchmodat(here, "mmdebstrap", 0700, 0), 0);
}

static int set_up_path(void **state)
{
	(void)setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	if (engine_set_up(state) < 0)
		return -1;
	cleanup_free char *path = xasprintf("%s:/usr/bin:/bin", scratch);
	return setenv("PATH", path, 1);
}

static struct strvec phases;

static void take_phase(const char *phase, void *data UNUSED)
{
	strvec_push(&phases, phase);
}

static const struct strvec *apt;

static int build(const char *mirror, char **ret_id)
{
	cleanup_image_made struct image_made made = { 0 };
	const struct image_order order = {
		.engine = fixture.address.url, .mirror = mirror, .apt = apt, .progress = take_phase
	};
	strvec_clear(&phases);
	if (image_build_default(&order, &made, &fixture.err) < 0)
		return -1;
	*ret_id = TAKE_PTR(made.id);
	return 0;
}

static char *id_of(const char *reference)
{
	cleanup_engine_image struct engine_image image = { 0 };
	int r = engine_inspect_image(fixture.engine, reference, &image, &fixture.err);
	return r == ENGINE_ABSENT ? NULL : TAKE_PTR(image.id);
}

static void the_image_replaces_the_one_before(void **state UNUSED)
{
	cleanup_free char *first = NULL, *second = NULL;
	put_program("printf 'tar 1'");
	EXPECT(build(NULL, &first), 0);
	put_program("printf 'tar 2'");
	cleanup_strvec struct strvec options = { 0 };
	strvec_push(&options, "Acquire::Retries \"3\"");
	apt = &options;
	EXPECT(build("http://mirror.example", &second), 0);
	apt = NULL;
	assert_string_not_equal(first, second);
	cleanup_free char *now = id_of(CONTAINER_DEFAULT_IMAGE);
	cleanup_free char *scratch_name = id_of(CONTAINER_DEFAULT_REPOSITORY ":new");
	cleanup_free char *words = get("words");
	assert_string_equal(now, second);
	assert_null(scratch_name);
	assert_non_null(
		strstr(words, "--aptopt=Acquire::Retries \"3\" stable - http://mirror.example\n"));
}

/* Beside the default one.  Nothing in it makes root of its user. */
static void the_image_of_a_docker_inside_is_another_one(void **state UNUSED)
{
	const struct image_order order = { .is_docker = true, .engine = fixture.address.url };
	cleanup_image_made struct image_made made = { 0 };
	cleanup_free char *first = NULL;
	put_program("printf 'tar 1'");
	EXPECT(build(NULL, &first), 0);
	put_program("printf 'tar 2'");
	EXPECT(image_build_default(&order, &made, &fixture.err), 0);
	cleanup_free char *now = id_of(NESTED_IMAGE), *usual = id_of(CONTAINER_DEFAULT_IMAGE);
	cleanup_free char *unfinished = id_of(NESTED_REPOSITORY ":new"), *words = get("words");
	assert_string_equal(now, made.id);
	assert_string_equal(usual, first);
	assert_null(unfinished);
	assert_non_null(strstr(words, "rootlesskit"));
	assert_non_null(strstr(words, "-perm /6000 -exec chmod ug-s"));
}

static void it_says_what_it_does(void **state UNUSED)
{
	cleanup_free char *id = NULL;
	put_program("echo 'I: chosen mode: root' >&2; echo 'I: extracting archives...' >&2\n"
		    "printf 'tar 1'");
	EXPECT(build(NULL, &id), 0);
	assert_int_equal(phases.count, 2);
	assert_string_equal(phases.items[0], "extracting archives");
	assert_string_equal(phases.items[1], "giving it to the engine");
	strvec_clear(&phases);
}

static void a_failure_keeps_the_one_before(void **state UNUSED)
{
	static const struct {
		const char *program, *words;
	} cases[] = {
		{ "echo 'E: no mirror' >&2; exit 1", "no image: no mirror. If" },
		{ "printf 'tar half'; echo 'E: disk full' >&2; exit 1", "no image: disk full. If" },
		{ "echo 'I: running apt-get update...' >&2; echo 'E: it is expired' >&2;"
		  " echo 'E: mmdebstrap failed to run' >&2; exit 1",
		  "it is expired. If a download failed" },
		{ "printf 'Err:1 http://m stable\\n  404  Not Found\\nE: no Release file\\n' >&2; exit 1",
		  "no Release file (the mirror: 404  Not Found). If" },
		/* more than a pipe holds */
		{ "yes 'I: noise' | head -n 30000 >&2; echo 'E: at last' >&2; exit 1", "at last" },
		{ "kill -9 $$", "mmdebstrap made no image" },
		{ "printf nonsense", "invalid tar header" },
		{ "printf nonsense; head -c 3000000 /dev/zero", "invalid tar header" },
	};
	cleanup_free char *first = NULL;
	put_program("printf 'tar 1'");
	EXPECT(build(NULL, &first), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *none = NULL;
		put_program(cases[i].program);
		EXPECT_ERROR(build(NULL, &none), ERROR_CHILD, cases[i].words);
		cleanup_free char *now = id_of(CONTAINER_DEFAULT_IMAGE);
		cleanup_free char *scratch_name = id_of(CONTAINER_DEFAULT_REPOSITORY ":new");
		assert_string_equal(now, first);
		assert_null(scratch_name);
	}
}

static void without_the_program_it_says_what_to_do(void **state UNUSED)
{
	char *none = NULL;
	(void)setenv("PATH", scratch, 1);
	EXPECT_ERROR(build(NULL, &none), ERROR_UNAVAILABLE, "Install it");
}

static void without_an_engine_nothing_is_made(void **state UNUSED)
{
	char *none = NULL;
	put_program("printf 'tar 1'");
	fake_end(&fixture);
	EXPECT_ERROR(build(NULL, &none), ERROR_UNAVAILABLE, "it does not run");
	assert_int_equal(faccessat(here, "words", F_OK, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_path, engine_tear_down)
		TEST(the_image_replaces_the_one_before),
		TEST(the_image_of_a_docker_inside_is_another_one),
		TEST(it_says_what_it_does),
		TEST(a_failure_keeps_the_one_before),
		TEST(without_the_program_it_says_what_to_do),
		TEST(without_an_engine_nothing_is_made),
#undef TEST
	};
	if (!program_is_installed("python3"))
		return skip_all("python3 is not installed");
	fixture.dialect = "docker";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
