/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/session/fields.h"
#include "model/session/recipe.h"

#include <string.h>

static const char full[] =
	"{\"engine\":\"docker\",\"address\":\"tcp://10.0.0.1:2376\",\"tls\":\"/home/u/.docker\",\"context\":\"far\","
	"\"image\":\"debian:12\",\"image_id\":\"sha256:11\",\"keep_tag\":\"agentdeck/keep:a\","
	"\"build\":\"/srv/api/image\",\"build_hash\":\"ab\",\"bases\":[\"a:1 sha256:22\"],"
	"\"build_file\":\"docker/Other\",\"build_target\":\"dev\",\"build_args\":[\"V=1\"],"
	"\"role\":\"https://h/r#devcontainer.json\",\"role_digest\":\"cd\",\"role_url\":\"https://h/r\",\"role_ref\":\"v1\",\"role_commit\":\"ef\","
	"\"user\":\"1000:1000\",\"home\":\"/h\",\"directory\":\"/srv/api\","
	"\"program_directory\":\"/opt/claude\",\"program_file\":\"2.1.0\",\"program_mount\":\"/opt/claude/2.1.0\",\"network\":\"internal\","
	"\"layers\":[\"sha256:1\",\"sha256:2\"],"
	"\"environment\":[\"A=b c\"],\"cap_add\":[\"NET_ADMIN\"],\"docker\":\"rootless\",\"workspace\":\"/workspaces/api\","
	"\"mounts\":[{\"source\":\"/data\",\"target\":\"/in\",\"read_only\":true},"
	"{\"source\":\"/x\",\"target\":\"/x\"}],"
	"\"secrets\":[{\"name\":\"KEY\",\"source\":\"env:KEY\"},"
	"{\"name\":\"T\",\"source\":\"file:/run/t\"}],"
	"\"logins\":[{\"name\":\"github\",\"login\":\"token\"},{\"name\":\"codex\",\"login\":\"ignore\"}],"
	"\"commands\":[{\"when\":\"postStartCommand\",\"each_start\":true,\"argv\":[\"make\"]}],"
	"\"program\":\"host\",\"login\":\"token\",\"memory\":1073741824,\"pids\":100,"
	"\"cpus\":1.5}";

#define LEAST                                                                         \
	"\"engine\":\"docker\",\"address\":\"unix:///s\",\"image_id\":\"sha256:11\"," \
	"\"user\":\"1:1\",\"home\":\"/h\",\"directory\":\"/d\""

static struct json_object *parse(const char *text)
{
	struct json_object *object = NULL;
	struct error err = { 0 };
	if (json_parse(text, strlen(text), "test", &object, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	return object;
}

static struct recipe *read_recipe(const char *text)
{
	struct error err = { 0 };
	cleanup_json struct json_object *object = parse(text);
	struct recipe *recipe = fields_parse(object, "test", "recipe.", &recipe_fields, &err);
	if (!recipe)
		fail_msg("%s", err.message);
	return recipe;
}

static void assert_same_json(const struct recipe *recipe, const char *text)
{
	cleanup_json struct json_object *before = parse(text), *after = recipe_to_json(recipe);
	if (!json_object_equal(before, after))
		fail_msg("%s is not %s", json_print(after), text);
}

static void every_member_is_read_and_written_as_it_was(void **state UNUSED)
{
	cleanup_recipe struct recipe *recipe = read_recipe(full);
	assert_string_equal(recipe->engine, "docker");
	assert_string_equal(recipe->address, "tcp://10.0.0.1:2376");
	assert_string_equal(recipe->layers.items[1], "sha256:2");
	assert_int_equal(recipe->mount_count, 2);
	assert_string_equal(recipe->mounts[0].target, "/in");
	assert_true(recipe->mounts[0].read_only);
	assert_false(recipe->mounts[1].read_only);
	assert_string_equal(recipe->secrets[1].source, "file:/run/t");
	assert_int_equal(recipe->program, PROGRAM_FROM_HOST);
	assert_int_equal(recipe->login, LOGIN_TOKEN);
	assert_true(recipe->memory == 1 << 30 && recipe->pids == 100);
	assert_true(recipe->cpus > 1.49 && recipe->cpus < 1.51);
	/* Without the source, so that each member comes from the struct. */
	json_object_put(recipe->unknown);
	recipe->unknown = NULL;
	assert_same_json(recipe, full);
}

static void a_copy_is_equal_and_separate(void **state UNUSED)
{
	cleanup_recipe struct recipe *recipe = read_recipe(full), *copy = recipe_copy(recipe);
	recipe_add_mount(recipe, "/more", "/more", false);
	recipe_add_secret(recipe, "KEY", "env:OTHER");
	replace_string(&recipe->image, "other");
	strvec_push(&recipe->layers, "sha256:3");
	assert_same_json(copy, full);
	json_object_put(copy->unknown);
	copy->unknown = NULL;
	assert_same_json(copy, full);
	assert_null(recipe_copy(NULL));
}

static void absent_members_have_their_defaults(void **state UNUSED)
{
	cleanup_recipe struct recipe *recipe = read_recipe("{" LEAST "}");
	assert_null(recipe->network);
	assert_int_equal(recipe->program, PROGRAM_IN_IMAGE);
	assert_int_equal(recipe->login, LOGIN_SYNC);
	assert_false(recipe->cpus > 0);
	assert_same_json(recipe, "{" LEAST ",\"program\":\"image\",\"login\":\"sync\"}");
}

static void unknown_keys_survive(void **state UNUSED)
{
	cleanup_recipe struct recipe *recipe = read_recipe(
		"{" LEAST ",\"x-top\":[1],\"mounts\":[{\"source\":\"/a\",\"target\":\"/b\","
		"\"x-mount\":1}],\"secrets\":[{\"name\":\"K\",\"source\":\"env:K\",\"x-secret\":1}]}");
	replace_string(&recipe->image_id, "sha256:99");
	recipe_add_mount(recipe, "/c", "/d", true);
	recipe_add_secret(recipe, "K", "env:L");
	cleanup_json struct json_object *object = recipe_to_json(recipe);
	const char *text = json_print(object);
	assert_non_null(strstr(text, "x-top"));
	assert_non_null(strstr(text, "x-mount"));
	assert_non_null(strstr(text, "x-secret"));
	assert_non_null(strstr(text, "sha256:99"));
	assert_non_null(strstr(text, "env:L"));
	assert_null(strstr(json_print(recipe->unknown), "sha256:99"));

	replace_string(&recipe->mounts[0].target, "/elsewhere");
	cleanup_json struct json_object *moved = recipe_to_json(recipe);
	assert_null(strstr(json_print(moved), "x-mount"));
	assert_non_null(strstr(json_print(recipe->unknown), "x-mount"));
}

static void what_is_not_a_recipe_is_refused_by_name(void **state UNUSED)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "[]", "is not a JSON object" },
		{ "{}", "recipe.engine is missing" },
		{ "{" LEAST ",\"image_id\":\"\"}", "recipe.image_id is empty" },
		{ "{" LEAST ",\"home\":\"h\"}", "recipe.home is not an absolute path" },
		{ "{" LEAST ",\"directory\":7}", "recipe.directory is not a string" },
		{ "{" LEAST ",\"layers\":[7]}", "recipe.layers holds something" },
		{ "{" LEAST ",\"mounts\":[7]}", "recipe.mounts holds something" },
		{ "{" LEAST ",\"mounts\":[{\"source\":\"/a\"}]}", "mounts[].target is missing" },
		{ "{" LEAST ",\"mounts\":[{\"source\":\"a\",\"target\":\"/a\"}]}",
		  "mounts[].source is not an absolute path" },
		{ "{" LEAST ",\"secrets\":[{\"name\":\"../x\",\"source\":\"env:X\"}]}",
		  "secrets[].name is not the name of a variable" },
		{ "{" LEAST ",\"secrets\":[{\"name\":\"X\"}]}", "secrets[].source is missing" },
		{ "{" LEAST ",\"program\":\"floppy\"}", "recipe.program has an unknown value" },
		{ "{" LEAST ",\"login\":\"magic\"}", "recipe.login has an unknown value" },
		{ "{" LEAST ",\"memory\":-1}", "recipe.memory is out of range" },
		{ "{" LEAST ",\"cpus\":-0.5}", "recipe.cpus is out of range" },
		{ "{" LEAST ",\"cpus\":1e999}", "recipe.cpus is out of range" },
		{ "{" LEAST ",\"cpus\":\"2\"}", "recipe.cpus is not a number" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		cleanup_json struct json_object *object = parse(bad[i].text);
		if (fields_parse(object, "the-file", "recipe.", &recipe_fields, &err))
			fail_msg("accepted: %s", bad[i].text);
		assert_int_equal(err.code, ERROR_CORRUPT);
		if (!strstr(err.message, bad[i].says) || !strstr(err.message, "the-file"))
			fail_msg("\"%s\" does not say \"%s\"", err.message, bad[i].says);
	}
}

/* ---- any recipe ------------------------------------------------------------------------------ */

/* A small generator: the same numbers in every run. */
static unsigned next(unsigned *seed, unsigned below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 16) % below;
}

/* A text of any bytes; the caller frees. */
static char *any_text(unsigned *seed, const char *prefix)
{
	struct strbuf text = { 0 };
	strbuf_adds(&text, prefix);
	for (unsigned i = 0, count = next(seed, 12); i < count; i++) {
		char byte = (char)(1 + next(seed, 255));
		strbuf_add(&text, &byte, 1);
	}
	return strbuf_take(&text);
}

static void set_any(char **slot, unsigned *seed, const char *prefix)
{
	cleanup_free char *text = any_text(seed, prefix);
	replace_string(slot, text);
}

static void push_any(struct strvec *vec, unsigned *seed)
{
	for (unsigned i = 0, count = next(seed, 3); i < count; i++)
		strvec_push_take(vec, any_text(seed, ""));
}

static struct recipe *any_recipe(unsigned *seed)
{
	static const double cpus[] = { 0, 0.1, 1, 1.5, 1e-300, RECIPE_MOST_CPUS };
	struct recipe *recipe = recipe_new();
	set_any(&recipe->engine, seed, "e");
	set_any(&recipe->address, seed, "unix://");
	set_any(&recipe->image_id, seed, "sha256:");
	set_any(&recipe->user, seed, "1");
	set_any(&recipe->home, seed, "/");
	set_any(&recipe->directory, seed, "/");
	char **optional[] = {
		&recipe->tls,        &recipe->image,   &recipe->keep_tag,         &recipe->build,
		&recipe->build_hash, &recipe->network, &recipe->program_directory
	};
	for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
		if (next(seed, 2))
			set_any(optional[i], seed, "");
	push_any(&recipe->layers, seed);
	push_any(&recipe->bases, seed);
	push_any(&recipe->environment, seed);
	push_any(&recipe->cap_add, seed);
	for (unsigned i = 0, count = next(seed, 3); i < count; i++) {
		cleanup_free char *source = any_text(seed, "/"), *target = any_text(seed, "/");
		recipe_add_mount(recipe, source, target, next(seed, 2));
	}
	for (unsigned i = 0, count = next(seed, 3); i < count; i++) {
		cleanup_free char *name = xasprintf("K%u", next(seed, 9));
		cleanup_free char *source = any_text(seed, "env:");
		recipe_add_secret(recipe, name, source);
	}
	recipe->program = recipe->program_directory && next(seed, 2) ? PROGRAM_FROM_HOST
								     : PROGRAM_IN_IMAGE;
	recipe->login = (enum recipe_login)next(seed, 3);
	recipe->docker = (enum recipe_docker)next(seed, 2);
	recipe->memory = next(seed, 2) ? INT64_MAX - next(seed, 9) : 0;
	recipe->pids = next(seed, 100);
	recipe->cpus = cpus[next(seed, ARRAY_SIZE(cpus))];
	return recipe;
}

static void any_recipe_is_written_and_read_as_it_was(void **state UNUSED)
{
	unsigned seed = 1;
	for (int i = 0; i < 2000; i++) {
		cleanup_recipe struct recipe *recipe = any_recipe(&seed);
		cleanup_json struct json_object *first = recipe_to_json(recipe);
		cleanup_free char *text = xstrdup(json_print(first));
		cleanup_recipe struct recipe *again = read_recipe(text);
		assert_string_equal(again->directory, recipe->directory);
		assert_true(strvec_equal(&again->environment, &recipe->environment));
		assert_int_equal(again->mount_count, recipe->mount_count);
		assert_int_equal(again->secret_count, recipe->secret_count);
		json_object_put(again->unknown);
		again->unknown = NULL;
		cleanup_json struct json_object *second = recipe_to_json(again);
		assert_string_equal(json_print(second), text);
		cleanup_recipe struct recipe *copy = recipe_copy(recipe);
		cleanup_json struct json_object *third = recipe_to_json(copy);
		assert_string_equal(json_print(third), text);
		cleanup_free char *one = recipe_digest(recipe), *two = recipe_digest(again);
		assert_string_equal(one, two);
	}
}

/* ---- digests and names ----------------------------------------------------------------------- */

static void the_digest_changes_with_what_the_container_is_made_of(void **state UNUSED)
{
	cleanup_recipe struct recipe *recipe = read_recipe(full);
	cleanup_free char *before = recipe_digest(recipe);
	assert_int_equal(strlen(before), 64);

	replace_string(&recipe->image, "debian:13");
	replace_string(&recipe->build_hash, "cd");
	recipe_add_secret(recipe, "NEW", "env:NEW");
	recipe->login = LOGIN_IGNORE;
	recipe->memory = 3 << 20;
	recipe->pids = 30;
	cleanup_free char *same = recipe_digest(recipe);
	assert_string_equal(same, before);

	recipe_add_mount(recipe, "/m", "/m", true);
	cleanup_free char *mount = recipe_digest(recipe);
	assert_string_not_equal(mount, before);
	replace_string(&recipe->image_id, "sha256:33");
	cleanup_free char *image = recipe_digest(recipe);
	assert_string_not_equal(image, mount);
	recipe->cpus = 2;
	cleanup_free char *cpus = recipe_digest(recipe);
	assert_string_not_equal(cpus, image);
	replace_string(&recipe->workspace, "/w");
	cleanup_free char *workspace = recipe_digest(recipe);
	assert_string_not_equal(workspace, cpus);
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool has_workspace(const char *workspace, const char *tree, const char *mount)
{
	cleanup_recipe struct recipe *recipe = read_recipe("{" LEAST "}");
	cleanup_free struct recipe_place *places = NULL;
	replace_string(&recipe->workspace, workspace);
	replace_string(&recipe->directory, "/s/api/web");
	if (tree)
		recipe_add_tree_mount(recipe, tree, false);
	if (mount)
		recipe_add_mount(recipe, "/m", mount, false);
	const size_t count = recipe_places(recipe, &places);
	bool has = false;
	for (size_t i = 0; i < count; i++)
		has |= streq(places[i].target, or_empty(workspace)) &&
		       streq(places[i].source, recipe->directory);
	assert_true(has == recipe_has_workspace(recipe) ||
		    streq(or_empty(workspace), recipe->directory));
	return recipe_has_workspace(recipe);
}

/* An engine makes a directory where one place is in another. */
static void the_second_place_of_a_workspace_is_apart_from_all_others(void **state UNUSED)
{
	assert_true(has_workspace("/workspaces/web", NULL, NULL));
	assert_true(has_workspace("/workspaces/web", "/s/api/web", NULL));
	assert_true(has_workspace("/workspaces/web", NULL, "/workspaces/other"));
	assert_false(has_workspace(NULL, NULL, NULL));
	assert_false(has_workspace("/workspaces/web", NULL, "/workspaces"));
	assert_false(has_workspace("/workspaces/web", NULL, "/workspaces/web/cache"));
	assert_false(has_workspace("/s/api/web", NULL, NULL));
	assert_false(has_workspace("/s/api/web/in", NULL, NULL));
	assert_false(has_workspace("/s", NULL, NULL));
	assert_false(has_workspace("/h/in", NULL, NULL));
	assert_false(has_workspace("/etc", NULL, NULL));
	/* The agent writes the directory above. */
	assert_false(has_workspace("/workspaces/web", "/s/api", NULL));
}

static void a_digest_is_the_same_in_every_version(void **state UNUSED)
{
	cleanup_recipe struct recipe *recipe = read_recipe("{" LEAST ",\"x-new\":1}");
	cleanup_free char *digest = recipe_digest(recipe);
	assert_string_equal(digest,
			    "84c1f733290446f2e64b0d83cacd4d59774a38d35f1a3dca0141af6057ab0e37");
}

static void names_of_containers_are_short_and_plain(void **state UNUSED)
{
	static const struct {
		const char *directory, *agent, *base;
	} names[] = {
		{ "/srv/api", "claude", "ad-k7p9m2xq-api-claude" },
		{ "/home/u/Chainargos_Project", "cursor-agent",
		  "ad-k7p9m2xq-chainargosproject-cursoragent" },
		{ "/w/workspace-name-with-a-very-long-human-friendly-label",
		  "role-name-with-a-very-long-human-friendly-label",
		  "ad-k7p9m2xq-workspacenamewitha4d9a-rolenamewithaveryloffb8" },
		{ "/", "---", "ad-k7p9m2xq-dir-agent" },
		{ "/srv/M\xc3\xbcller \xff", "a", "ad-k7p9m2xq-mller-a" },
		{ "/aaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbb",
		  "ad-k7p9m2xq-aaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbbbbbbbbb" },
		{ "/aaaaaaaaaaaaaaaaaaaaaaa", "b", "ad-k7p9m2xq-aaaaaaaaaaaaaaaaaa897d-b" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *base = recipe_base("k7p9m2xq", names[i].directory,
						      names[i].agent);
		assert_string_equal(base, names[i].base);
		assert_true(strlen(base) <= RECIPE_BASE_MAX);
	}
}

static void sources_of_secrets_are_references(void **state UNUSED)
{
	static const char *const good[] = { "env:KEY", "env:_k9", "file:/run/k y",
					    "command:[\"pass\",\"show\",\"\"]" };
	static const char *const bad[] = { "",
					   "KEY",
					   "sk-ant-123",
					   "env:",
					   "env:9",
					   "env:A B",
					   "file:k",
					   "file:",
					   "command:pass show",
					   "command:[]",
					   "command:[7]",
					   "command:[\"\"]",
					   "command:{\"a\":1}",
					   "command:[\"a\\u0000b\"]" };
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(recipe_check_secret("KEY", good[i], NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		assert_int_equal(recipe_check_secret("THE_KEY", bad[i], &err), -1);
		assert_int_equal(err.code, ERROR_USAGE);
		assert_non_null(strstr(err.message, "THE_KEY"));
		/* It may be the secret itself. */
		assert_null(strstr(err.message, "sk-ant"));
	}
	static const char *const names[] = { "", "9A", "A B", "A=B", "../A", "\xc3\xa4" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_error struct error err = { 0 };
		assert_int_equal(recipe_check_secret(names[i], "env:KEY", &err), -1);
		assert_non_null(strstr(err.message, "invalid variable"));
	}
}

static void each_word_means_its_value_and_no_other(void **state UNUSED)
{
	enum recipe_program program = PROGRAM_FROM_HOST;
	assert_true(recipe_program_parse("image", &program));
	assert_int_equal(program, PROGRAM_IN_IMAGE);
	assert_false(recipe_program_parse("x", &program));
	assert_true(recipe_program_parse("host", &program));
	assert_int_equal(program, PROGRAM_FROM_HOST);
	static const char *const logins[] = { "sync", "token", "ignore" };
	for (size_t i = 0; i < ARRAY_SIZE(logins); i++) {
		enum recipe_login login = (enum recipe_login)((i + 1) % ARRAY_SIZE(logins));
		assert_true(recipe_login_parse(logins[i], &login));
		assert_string_equal(recipe_login_name(login), logins[i]);
		assert_false(recipe_login_parse("x", &login));
	}
}

static void only_the_number_0_is_root(void **state UNUSED)
{
	struct {
		char user[8];
		bool is_root;
	} cases[] = { { "0:0", true },
		      { "0", true },
		      { "0:5", true },
		      { "1000:0", false },
		      { "00:0", false } };
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(recipe_is_root(&(struct recipe){ .user = cases[i].user }),
				 cases[i].is_root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_is_read_and_written_as_it_was),
		cmocka_unit_test(a_copy_is_equal_and_separate),
		cmocka_unit_test(absent_members_have_their_defaults),
		cmocka_unit_test(unknown_keys_survive),
		cmocka_unit_test(what_is_not_a_recipe_is_refused_by_name),
		cmocka_unit_test(any_recipe_is_written_and_read_as_it_was),
		cmocka_unit_test(the_second_place_of_a_workspace_is_apart_from_all_others),
		cmocka_unit_test(the_digest_changes_with_what_the_container_is_made_of),
		cmocka_unit_test(a_digest_is_the_same_in_every_version),
		cmocka_unit_test(names_of_containers_are_short_and_plain),
		cmocka_unit_test(sources_of_secrets_are_references),
		cmocka_unit_test(each_word_means_its_value_and_no_other),
		cmocka_unit_test(only_the_number_0_is_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
