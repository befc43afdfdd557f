/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a role is made of, and whether its user trusts it.
 */
#include "unit/scratch.h"
#include "unit/test.h"

#include "engine/role/built.h"
#include "engine/role/trust.h"

#include <string.h>
#include <sys/stat.h>

static struct deck deck;

static int begin(void **state)
{
	cleanup_free char *root = NULL;
	if (set_up(state) < 0 || mkdirat(here, "state", 0700) < 0 || mkdirat(here, "p", 0700) < 0 ||
	    mkdirat(here, "p/.devcontainer", 0700) < 0)
		return -1;
	root = path_join(scratch, "state");
	deck.paths.state = TAKE_PTR(root);
	return store_open(deck.paths.state, "default", &deck.store, NULL);
}

static int end(void **state)
{
	store_close(deck.store);
	free(deck.paths.state);
	deck = (struct deck){ 0 };
	return tear_down(state);
}

static void put_in(const char *name, const char *text)
{
	cleanup_close int fd = openat(here, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), name, NULL), 0);
}

static void put_role(void)
{
	put_in("p/.devcontainer/devcontainer.json",
	       "{\n\"build\": {\"dockerfile\": \"Dockerfile\", \"context\": \"..\"},\n"
	       "\"mounts\": [\"type=bind,source=${localEnv:HOME},target=/h\"]\n}\n");
	put_in("p/.devcontainer/Dockerfile", "FROM a\nRUN b\n");
	put_in("p/.dockerignore", "left-out\n");
	put_in("p/code", "1");
	put_in("p/left-out", "1");
}

static struct role_source read_role(void)
{
	struct role_source source = { 0 };
	struct error err = { 0 };
	cleanup_free char *path = path_join(scratch, "p");
	if (role_source_read(&deck, path, NULL, NULL, &source, &err) < 0 ||
	    role_source_digest(&source, &err) < 0)
		fail_msg("%s", err.message);
	return source;
}

static enum trust look(struct strvec *ret_changes)
{
	cleanup_role_source struct role_source source = read_role();
	enum trust trust = TRUST_NONE;
	assert_int_equal(trust_look(&deck, &source, &trust, ret_changes, NULL), 0);
	return trust;
}

static void give(void)
{
	cleanup_role_source struct role_source source = read_role();
	assert_int_equal(trust_give(&deck, &source, NULL), 0);
}

static void assert_trust(enum trust expected)
{
	cleanup_strvec struct strvec changes = { 0 };
	assert_int_equal(look(&changes), expected);
}

static void trust_is_in_all_that_a_role_is_made_of(void **state UNUSED)
{
	static const struct {
		const char *name, *other, *as_it_was;
		enum trust then;
	} changes[] = {
		{ "p/.devcontainer/Dockerfile", "FROM other\n", "FROM a\nRUN b\n", TRUST_CHANGED },
		{ "p/code", "2", "1", TRUST_CHANGED },
		{ "p/left-out", "2", "1", TRUST_SAME },
		{ "p/.devcontainer/script", "more", NULL, TRUST_CHANGED },
	};
	put_role();
	assert_trust(TRUST_NONE);
	give();
	assert_trust(TRUST_SAME);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		put_in(changes[i].name, changes[i].other);
		assert_trust(changes[i].then);
		if (changes[i].as_it_was)
			put_in(changes[i].name, changes[i].as_it_was);
		else
			assert_int_equal(unlinkat(here, changes[i].name, 0), 0);
		assert_trust(TRUST_SAME);
	}
}

/* Another process changes it after it was read, and before it is digested. */
static void trust_is_in_the_dockerfile_that_was_read(void **state UNUSED)
{
	cleanup_role_source struct role_source source = { 0 };
	cleanup_free char *path = path_join(scratch, "p");
	put_role();
	assert_int_equal(role_source_read(&deck, path, NULL, NULL, &source, NULL), 0);
	put_in("p/.devcontainer/Dockerfile", "FROM other\n");
	assert_int_equal(role_source_digest(&source, NULL), 0);
	assert_int_equal(trust_give(&deck, &source, NULL), 0);
	assert_trust(TRUST_CHANGED);
}

/* The same file, and another directory of this machine. */
static void trust_is_in_what_a_role_asks_for(void **state UNUSED)
{
	cleanup_free char *home = xstrdup(getenv("HOME") ?: "/root");
	put_role();
	assert_int_equal(setenv("HOME", "/home/a", true), 0);
	give();
	assert_int_equal(setenv("HOME", "/home/b", true), 0);
	assert_trust(TRUST_CHANGED);
	assert_int_equal(setenv("HOME", home, true), 0);
}

static void a_change_is_shown_line_by_line(void **state UNUSED)
{
	cleanup_strvec struct strvec changes = { 0 };
	put_role();
	give();
	put_in("p/.devcontainer/Dockerfile", "FROM a\nRUN c\n");
	assert_int_equal(look(&changes), TRUST_CHANGED);
	assert_int_equal(changes.count, 2);
	assert_string_equal(changes.items[0], "-RUN b");
	assert_string_equal(changes.items[1], "+RUN c");
}

static void trust_is_listed_and_taken_back(void **state UNUSED)
{
	cleanup_trusted_list struct trusted_list list = { 0 }, none = { 0 };
	put_role();
	give();
	give();
	assert_int_equal(trust_list(&deck, &list, NULL), 0);
	assert_int_equal(list.count, 1);
	assert_true(ends_with(list.items[0].file, "/p/.devcontainer/devcontainer.json"));
	assert_true(list.items[0].at > 0);
	assert_int_equal(strlen(list.items[0].digest), SHA256_TEXT_SIZE - 1);
	assert_int_equal(trust_take(&deck, list.items[0].file, NULL), 0);
	assert_int_equal(trust_take(&deck, list.items[0].file, NULL), TRUST_ABSENT);
	assert_trust(TRUST_NONE);
	assert_int_equal(trust_list(&deck, &none, NULL), 0);
	assert_int_equal(none.count, 0);
}

/* A guess would be trust that nobody gave, or a role that is asked for again. */
static void who_was_told_of_a_role_does_not_trust_it(void **state UNUSED)
{
	cleanup_trusted_list struct trusted_list list = { 0 };
	put_role();
	cleanup_role_source struct role_source source = read_role();
	assert_int_equal(trust_hint(&deck, source.file, NULL), TRUST_HINT);
	assert_int_equal(trust_hint(&deck, source.file, NULL), 0);
	assert_trust(TRUST_NONE);
	assert_int_equal(trust_list(&deck, &list, NULL), 0);
	assert_int_equal(list.count, 0);
	assert_int_equal(trust_take(&deck, source.file, NULL), TRUST_ABSENT);
	give();
	assert_int_equal(trust_hint(&deck, source.file, NULL), 0);
	assert_trust(TRUST_SAME);
}

static void a_damaged_file_is_an_error(void **state UNUSED)
{
	static const char *const texts[] = { "{", "[]" };
	put_role();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_role_source struct role_source source = read_role();
		cleanup_strvec struct strvec changes = { 0 };
		cleanup_error struct error err = { 0 };
		enum trust trust = TRUST_SAME;
		put_in("state/roles.json", texts[i]);
		assert_int_equal(trust_look(&deck, &source, &trust, &changes, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
		assert_int_equal(trust_give(&deck, &source, NULL), -1);
	}
}

static struct built built_of(const char *commit, const char *dockerfile, const char *inputs,
			     const char *base)
{
	struct built built = { .address = xstrdup("unix:///e"),
			       .image_id = xstrdup("sha256:1"),
			       .commit = xstrdup_or_null(commit),
			       .dockerfile = xstrdup(dockerfile),
			       .inputs = xstrdup(inputs),
			       .version = xstrdup("1") };
	strvec_push(&built.bases, base);
	return built;
}

static void what_was_built_is_kept_with_the_trust(void **state UNUSED)
{
	cleanup_role_source struct role_source source = { 0 };
	cleanup_built struct built built = built_of("c", "d", "i", "a:1 sha256:2"), found = { 0 };
	put_role();
	source = read_role();
	assert_int_equal(built_save(&deck, source.name, &built, NULL), 0);
	assert_int_equal(built_load(&deck, source.name, &found, NULL), BUILT_NONE);
	assert_int_equal(trust_give(&deck, &source, NULL), 0);
	assert_int_equal(built_save(&deck, source.name, &built, NULL), 0);
	assert_int_equal(trust_give(&deck, &source, NULL), 0);
	assert_int_equal(built_load(&deck, source.name, &found, NULL), 0);
	assert_null(built_difference(&built, &found));
	assert_string_equal(found.image_id, "sha256:1");
	assert_int_equal(trust_take(&deck, source.name, NULL), 0);
	cleanup_built struct built gone = { 0 };
	assert_int_equal(built_load(&deck, source.name, &gone, NULL), BUILT_NONE);
}

static void what_has_changed_since_a_build_is_named(void **state UNUSED)
{
	cleanup_built struct built before = built_of("c", "d", "i", "a:1 sha256:2");
	const struct {
		struct built now;
		const char *difference;
	} cases[] = {
		{ built_of("x", "d", "i", "a:1 sha256:2"), "its commit" },
		{ built_of("c", "x", "x", "b:1 sha256:2"), "its Dockerfile" },
		{ built_of("c", "d", "x", "a:1 sha256:2"),
		  "the files or the arguments of its build" },
		{ built_of(NULL, "d", "i", "a:1 sha256:3"), "its commit, its base a:1" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct built now = cases[i].now;
		cleanup_free char *difference = built_difference(&before, &now);
		assert_string_equal(difference, cases[i].difference);
		built_clear(&now);
	}
	replace_string(&before.version, "0");
	cleanup_built struct built now = built_of("c", "d", "i", "a:1 sha256:2");
	cleanup_free char *difference = built_difference(&before, &now);
	assert_string_equal(difference, "agentdeck");
}

int main(void)
{
#define WITH_A_STORE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		WITH_A_STORE(trust_is_in_all_that_a_role_is_made_of),
		WITH_A_STORE(trust_is_in_the_dockerfile_that_was_read),
		WITH_A_STORE(trust_is_in_what_a_role_asks_for),
		WITH_A_STORE(a_change_is_shown_line_by_line),
		WITH_A_STORE(trust_is_listed_and_taken_back),
		WITH_A_STORE(who_was_told_of_a_role_does_not_trust_it),
		WITH_A_STORE(a_damaged_file_is_an_error),
		WITH_A_STORE(what_was_built_is_kept_with_the_trust),
		WITH_A_STORE(what_has_changed_since_a_build_is_named),
	};
#undef WITH_A_STORE
	return cmocka_run_group_tests(tests, NULL, NULL);
}
