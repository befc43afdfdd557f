/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the options of a container become in a recipe, as far as no engine is asked.
 */
#include "unit/scratch.h"

#include "engine/place/container/logins.h"
#include "engine/place/container/nestedwish.h"
#include "engine/place/container/resolve.h"

#include <string.h>
#include <sys/stat.h>

static struct strvec list(const char *text)
{
	struct strvec vec = { 0 };
	if (text)
		strvec_push(&vec, text);
	return vec;
}

struct texts {
	const char *mount, *variable, *secret, *capability;
	struct container_order order;
};

static int apply(const struct texts *texts, struct recipe *recipe, struct error *err)
{
	cleanup_strvec struct strvec mounts = list(texts->mount),
				     environment = list(texts->variable),
				     secrets = list(texts->secret),
				     capabilities = list(texts->capability);
	struct container_order order = texts->order;
	order.mounts = &mounts;
	order.environment = &environment;
	order.secrets = &secrets;
	order.cap_add = &capabilities;
	return container_apply(&order, recipe, err);
}

static struct recipe *applied(struct texts texts)
{
	cleanup_error struct error err = { 0 };
	struct recipe *recipe = recipe_new();
	recipe->directory = xstrdup("/srv/api");
	if (apply(&texts, recipe, &err) < 0)
		fail_msg("%s", err.message);
	return recipe;
}

static void an_order_of_nothing_is_a_recipe_of_defaults(void **state UNUSED)
{
	cleanup_recipe struct recipe *recipe = applied((struct texts){ 0 });
	assert_int_equal(recipe->mount_count, 0);
	assert_int_equal(recipe->login, LOGIN_IGNORE);
	assert_string_equal(recipe->network, NETWORK_OWN);
	assert_false(recipe->cpus > 0);
}

static void options_are_written_into_the_recipe(void **state UNUSED)
{
	cleanup_recipe struct recipe *recipe = applied((struct texts){
		.mount = "/usr/../etc:/data:ro",
		.variable = "A=b=c",
		.secret = "KEY",
		.capability = "CAP_NET_ADMIN",
		.order = { .network = "internal",
			   .auth = "token",
			   .program = "host",
			   .cpus = "1.5" },
	});
	assert_string_equal(recipe->mounts[0].source, "/etc");
	assert_string_equal(recipe->mounts[0].target, "/data");
	assert_true(recipe->mounts[0].read_only);
	assert_string_equal(recipe->environment.items[0], "A=b=c");
	assert_string_equal(recipe->secrets[0].source, "env:KEY");
	assert_string_equal(recipe->cap_add.items[0], "NET_ADMIN");
	assert_string_equal(recipe->network, "internal");
	assert_int_equal(recipe->login, LOGIN_TOKEN);
	assert_int_equal(recipe->program, PROGRAM_FROM_HOST);
	assert_true(recipe->cpus > 1.499 && recipe->cpus < 1.501);

	cleanup_recipe struct recipe *same = applied((struct texts){
		.mount = "/etc",
		.secret = "K=file:/run/k",
		.order = { .network = "default" },
	});
	assert_string_equal(same->mounts[0].target, "/etc");
	assert_false(same->mounts[0].read_only);
	assert_string_equal(same->secrets[0].source, "file:/run/k");
	assert_string_equal(same->network, NETWORK_OWN);
	cleanup_recipe struct recipe *shared = applied((struct texts){
		.order = { .network = "shared" },
	});
	assert_null(shared->network);
}

/* Programs inside find it, unless its user says where another one is. */
static void a_docker_inside_is_named_to_what_runs_there(void **state UNUSED)
{
	cleanup_recipe struct recipe *recipe = applied(
		(struct texts){ .order = { .docker = "rootless" } });
	assert_int_equal(recipe->docker, DOCKER_ROOTLESS);
	nested_name(recipe, "base");
	assert_string_equal(recipe->environment.items[0],
			    "DOCKER_HOST=unix:///agentdeck/docker/docker.sock");
	cleanup_recipe struct recipe *other = applied((struct texts){
		.variable = "DOCKER_HOST=tcp://other", .order = { .docker = "rootless" } });
	nested_name(other, "base");
	nested_unname(other, "base");
	assert_int_equal(other->environment.count, 1);
	nested_unname(recipe, "base");
	assert_int_equal(recipe->environment.count, 0);
	cleanup_recipe struct recipe *tcp = applied((struct texts){
		.variable = "NO_PROXY=mine", .order = { .docker = "rootless-tcp" } });
	nested_name(tcp, "ad-1-x-demo");
	cleanup_free char *names = strvec_join(&tcp->environment, " ");
	assert_string_equal(names, "NO_PROXY=mine DOCKER_HOST=tcp://ad-1-x-demo-dind:2376 "
				   "DOCKER_TLS_VERIFY=1 DOCKER_CERT_PATH=/agentdeck/certificates "
				   "AGENTDECK_DIND_HOSTNAME=ad-1-x-demo-dind "
				   "DOCKER_TLS_SAN=ad-1-x-demo-dind no_proxy=ad-1-x-demo-dind "
				   "TESTCONTAINERS_HOST_OVERRIDE=ad-1-x-demo-dind");
	nested_unname(tcp, "ad-1-x-demo");
	assert_int_equal(tcp->environment.count, 1);
	cleanup_recipe struct recipe *none = applied(
		(struct texts){ .order = { .docker = "none" } });
	assert_int_equal(none->docker, DOCKER_NONE);
	nested_name(none, "base");
	assert_int_equal(none->environment.count, 0);
}

static void what_makes_no_sense_is_refused_with_what_to_do(void **state UNUSED)
{
	static const struct {
		struct texts texts;
		enum error_code code;
		const char *says;
	} bad[] = {
		{ { .mount = "/etc:data" }, ERROR_USAGE, "absolute path" },
		{ { .mount = "/etc:/a/../b" }, ERROR_USAGE, "absolute path" },
		{ { .mount = ":/data" }, ERROR_USAGE, "examples" },
		{ { .mount = "/etc:" }, ERROR_USAGE, "examples" },
		{ { .mount = "/etc:/" }, ERROR_USAGE, "choose another place" },
		{ { .mount = "/etc:/agentdeck/bin" }, ERROR_USAGE, "choose another place" },
		{ { .mount = "/etc:/proc/x" }, ERROR_USAGE, "choose another place" },
		{ { .mount = "/etc:/srv/api" }, ERROR_USAGE, "mounted already" },
		{ { .mount = "/no/such/place" }, ERROR_NOT_FOUND, "create it first" },
		{ { .variable = "KEY" }, ERROR_USAGE, "--env NAME=VALUE" },
		{ { .variable = "a b=c" }, ERROR_USAGE, "--env NAME=VALUE" },
		{ { .secret = "KEY=sk-ant-123" }, ERROR_USAGE, "env:KEY" },
		{ { .secret = "a b" }, ERROR_USAGE, "invalid variable" },
		{ { .capability = "ALL" }, ERROR_USAGE, "capabilities(7)" },
		{ { .capability = "net_admin" }, ERROR_USAGE, "capabilities(7)" },
		{ { .order = { .network = "a b" } }, ERROR_USAGE, "choose default" },
		{ { .order = { .network = "-x" } }, ERROR_USAGE, "choose default" },
		{ { .order = { .cpus = "0" } }, ERROR_USAGE, "examples" },
		{ { .order = { .cpus = "1,5" } }, ERROR_USAGE, "examples" },
		{ { .order = { .cpus = "1e3" } }, ERROR_USAGE, "examples" },
		{ { .order = { .cpus = "-1" } }, ERROR_USAGE, "examples" },
		{ { .order = { .cpus = "99999999" } }, ERROR_USAGE, "examples" },
		{ { .order = { .auth = "magic" } }, ERROR_USAGE, "sync, token or ignore" },
		{ { .order = { .program = "x" } }, ERROR_USAGE, "image or host" },
		{ { .order = { .docker = "privileged" } }, ERROR_USAGE, "root on this machine" },
		{ { .order = { .docker = "rootful" } }, ERROR_USAGE, "rootless-tcp or none" },
		{ { .order = { .auth = "token" } }, ERROR_USAGE, "--secret NAME" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		cleanup_recipe struct recipe *recipe = recipe_new();
		recipe->directory = xstrdup("/srv/api");
		if (apply(&bad[i].texts, recipe, &err) != -1)
			fail_msg("%zu was accepted", i);
		assert_int_equal(err.code, bad[i].code);
		if (!strstr(err.message, bad[i].says))
			fail_msg("\"%s\" does not say \"%s\"", err.message, bad[i].says);
		/* It may be the secret itself, and this is written into the log. */
		assert_null(strstr(err.message, "sk-ant"));
	}
}

/* The values are in no recipe. */
static void a_token_is_what_the_agent_reads_and_is_set(void **state UNUSED)
{
	static const char *const names[] = { "TEST_TOKEN", "TEST_KEY", "TEST_OTHER", NULL };
	cleanup_strvec struct strvec login = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_recipe struct recipe *none = recipe_new();
	struct texts texts = { .order = { .auth = "token", .login = &login } };
	strvec_push_array(&login, names);
	(void)setenv("TEST_KEY", "canary", 1);
	(void)setenv("TEST_OTHER", "", 1);
	cleanup_recipe struct recipe *found = applied(texts);
	assert_int_equal(found->secret_count, 1);
	assert_string_equal(found->secrets[0].name, "TEST_KEY");
	assert_string_equal(found->secrets[0].source, "env:TEST_KEY");

	texts.secret = "OTHER=file:/run/other";
	cleanup_recipe struct recipe *both = applied(texts);
	assert_int_equal(both->secret_count, 2);

	texts.secret = "TEST_TOKEN=file:/run/token";
	cleanup_recipe struct recipe *named = applied(texts);
	assert_int_equal(named->secret_count, 1);
	assert_string_equal(named->secrets[0].source, "file:/run/token");

	texts.secret = NULL;
	(void)unsetenv("TEST_KEY");
	none->directory = xstrdup("/srv/api");
	assert_int_equal(apply(&texts, none, &err), -1);
	assert_int_equal(err.code, ERROR_USAGE);
	assert_non_null(strstr(err.message, "TEST_TOKEN, TEST_KEY, TEST_OTHER"));

	texts.order.auth = "ignore";
	(void)setenv("TEST_KEY", "canary", 1);
	cleanup_recipe struct recipe *ignored = applied(texts);
	assert_int_equal(ignored->secret_count, 0);
}

static void open_deck(struct deck *ret)
{
	cleanup_error struct error err = { 0 };
	(void)setenv("AGENTDECK_HOME", scratch, 1);
	(void)unsetenv("AGENTDECK_PROFILE");
	if (deck_open("default", "test", ret, &err) < 0)
		fail_msg("%s", err.message);
}

/* The container gets the logins that the order or the role names, and no others. */
static void each_login_gets_in_as_its_user_says(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_recipe struct recipe *recipe = recipe_new(), *refused = recipe_new();
	cleanup_strvec struct strvec words = { 0 }, bad = { 0 };
	cleanup_strvec struct strvec of_role = { 0 };
	struct container_defaults defaults = { .auth = (char[]){ "sync" } };
	struct logins_order order = { .agent = "claude",
				      .of_role = &of_role,
				      .defaults = &defaults };
	struct deck deck = { 0 };
	open_deck(&deck);
	assert_string_equal(logins_how(&order, "claude"), "sync");
	strvec_push_array(&defaults.logins, (const char *const[]){ "claude", "ignore", "gemini",
								   "token", "qwen", "sync", NULL });
	assert_string_equal(logins_how(&order, "claude"), "ignore");
	assert_null(logins_how(&order, "codex"));
	strvec_push_array(&words, (const char *const[]){ "token", "codex=sync", "github=token",
							 "github=token", NULL });
	strvec_push_array(&of_role,
			  (const char *const[]){ "gemini", "codex", "claude", "aider", NULL });
	order.words = &words;
	assert_string_equal(logins_how(&order, "claude"), "token");
	(void)setenv("GEMINI_API_KEY", "canary", 1);
	(void)setenv("GITHUB_TOKEN", "canary", 1);
	if (logins_add(&deck, &order, recipe, &err) < 0)
		fail_msg("%s", err.message);
	static const struct {
		const char *name;
		enum recipe_login login;
	} slots[] = { { "codex", LOGIN_SYNC },
		      { "github", LOGIN_TOKEN },
		      { "gemini", LOGIN_TOKEN },
		      { "aider", LOGIN_IGNORE } };
	assert_int_equal(recipe->slot_count, ARRAY_SIZE(slots));
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++) {
		assert_string_equal(recipe->slots[i].name, slots[i].name);
		assert_int_equal(recipe->slots[i].login, slots[i].login);
	}
	assert_int_equal(recipe->secret_count, 2);
	assert_string_equal(recipe->secrets[0].source, "env:GITHUB_TOKEN");
	assert_string_equal(recipe->secrets[1].source, "env:GEMINI_API_KEY");

	strvec_push(&bad, "codex=magic");
	order.words = &bad;
	assert_int_equal(logins_add(&deck, &order, refused, &err), -1);
	assert_non_null(strstr(err.message, "--auth codex must be sync, token or ignore"));
	error_clear(&err);
	strvec_clear(&bad);
	strvec_push(&bad, "nothing=token");
	assert_int_equal(logins_add(&deck, &order, refused, &err), -1);
	assert_non_null(strstr(err.message, "nothing"));
	strvec_clear(&bad);
	strvec_clear(&defaults.logins);
	deck_close(&deck);
}

/* gh knows a token that no variable has. */
static void a_token_of_github_comes_from_its_program(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_recipe struct recipe *recipe = recipe_new(), *none = recipe_new();
	cleanup_strvec struct strvec words = { 0 };
	const struct container_defaults defaults = { 0 };
	const struct logins_order order = { "claude", &words, NULL, &defaults };
	struct deck deck = { 0 };
	cleanup_free char *path = xstrdup(getenv("PATH"));
	strvec_push(&words, "github=token");
	(void)unsetenv("GITHUB_TOKEN");
	(void)unsetenv("GH_TOKEN");
	(void)setenv("PATH", scratch, 1);
	assert_int_equal(logins_add(&deck, &order, none, &err), -1);
	assert_non_null(strstr(err.message, "GH_TOKEN, GITHUB_TOKEN"));
	error_clear(&err);
	put("gh", "");
	assert_int_equal(fchmodat(here, "gh", 0700, 0), 0);
	const int r = logins_add(&deck, &order, recipe, &err);
	(void)setenv("PATH", path, 1);
	assert_int_equal(r, 0);
	assert_int_equal(recipe->secret_count, 1);
	assert_string_equal(recipe->secrets[0].name, "GH_TOKEN");
	assert_string_equal(recipe->secrets[0].source, "command:[\"gh\",\"auth\",\"token\"]");
}

static void an_instance_takes_its_place(void **state UNUSED)
{
	cleanup_instance struct instance *instance = instance_new();
	struct deck deck = { .paths.state = xstrdup("/state"), .profile = xstrdup("default") };
	instance->id = xstrdup("k7p9m2xq");
	instance->agent = xstrdup("claude");
	struct recipe *recipe = recipe_new();
	recipe->directory = xstrdup("/srv/api");
	container_place(&deck, instance, recipe);
	assert_string_equal(instance->backend, "container");
	assert_string_equal(instance->base, "ad-k7p9m2xq-api-claude");
	assert_string_equal(instance->recipe->home, "/state/default/ad-k7p9m2xq-api-claude/home");
	assert_string_equal(instance->recipe->keep_tag, "agentdeck/keep:ad-k7p9m2xq-api-claude");
	free(deck.paths.state);
	free(deck.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_of_nothing_is_a_recipe_of_defaults),
		cmocka_unit_test(options_are_written_into_the_recipe),
		cmocka_unit_test(a_docker_inside_is_named_to_what_runs_there),
		cmocka_unit_test(what_makes_no_sense_is_refused_with_what_to_do),
		cmocka_unit_test(a_token_is_what_the_agent_reads_and_is_set),
		cmocka_unit_test_setup_teardown(each_login_gets_in_as_its_user_says, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_token_of_github_comes_from_its_program, set_up,
						tear_down),
		cmocka_unit_test(an_instance_takes_its_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
