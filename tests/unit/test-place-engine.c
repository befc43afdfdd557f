/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A container's place when its engine does not answer, or is elsewhere: nothing counts as gone, and
 * nothing is changed.  The engine is tests/unit/fake-engine.
 */
#include "unit/engine-fixture.h"

#include "base/machine.h"
#include "base/program.h"
#include "driver/store/store.h"
#include "engine/place/container/container-internal.h"
#include "engine/place/container/resolve.h"

#include <sys/stat.h>

#define ID    "0aaaaaaa"
#define BASE  "ad-0aaaaaaa-work-claude"
#define IMAGE "agentdeck/ladder:1"

enum { SOON_MS = 20000, AT_ONCE_MS = 50 };

static struct deck deck;
static struct store_lock *lock;
static struct instance *instance;

/* ---- a session whose container the engine has ------------------------------------------------ */

static char *below(const char *name)
{
	char *path = path_join(scratch, name);
	assert_int_equal(mkdir(path, 0700), 0);
	return path;
}

static void make_instance(void)
{
	instance = instance_new();
	instance->id = xstrdup(ID);
	instance->base = xstrdup(BASE);
	instance->profile = xstrdup("default");
	instance->title = xstrdup("far");
	instance->cwd = below("work");
	instance->agent = xstrdup("claude");
	instance->backend = xstrdup("container");
	instance->created_at = INT64_C(1776157681000000);
	strvec_push(&instance->argv, "claude");
	struct recipe *recipe = instance->recipe = recipe_new();
	recipe->engine = xstrdup("docker");
	recipe->address = xstrdup(fixture.address.url);
	recipe->tls = xstrdup_or_null(fixture.address.tls);
	recipe->image = xstrdup(IMAGE);
	recipe->image_id = xstrdup(IMAGE);
	recipe->keep_tag = xstrdup("agentdeck/keep:" BASE);
	recipe->user = xstrdup("0:0");
	recipe->directory = xstrdup(instance->cwd);
	recipe->home = below("agent-home");
}

static void make_run(void)
{
	struct run *run = &instance->run;
	run->id = xstrdup("run-1");
	run->directory = below("run-directory");
	run->socket = path_join(run->directory, "tmux.sock");
	run->boot_id = xstrdup(process_boot_id());
	run->machine_id = xstrdup_or_null(machine_id());
	run->capsule = container_capsule_directory(&deck, instance);
}

static void make_programs(void)
{
	cleanup_free char *programs UNUSED = below("container");
	free(deck.gate);
	deck.gate = path_join(scratch, "agentdeck-gate");
}

static void must_import(void)
{
	cleanup_close int tar = open_file("image.tar");
	cleanup_free char *id = NULL;
	EXPECT(engine_import(fixture.engine, tar, "agentdeck/ladder", "1", &id, &fixture.err), 0);
	replace_string(&instance->recipe->image_id, id);
}

static int set_up_session(void **state)
{
	cleanup_store_profile_lock struct store_profile_lock *profile = NULL;
	fixture.dialect = "docker";
	if (engine_set_up(state) < 0)
		return -1;
	(void)setenv("AGENTDECK_HOME", scratch, 1);
	(void)unsetenv("AGENTDECK_PROFILE");
	EXPECT(deck_open("default", "test", &deck, &fixture.err), 0);
	EXPECT(deck_open_store(&deck, &fixture.err), 0);
	make_programs();
	make_instance();
	make_run();
	must_import();
	EXPECT(store_lock_profile(deck.store, clock_ms() + SOON_MS, &profile, &fixture.err), 0);
	EXPECT(store_create(profile, instance, NULL, &fixture.err), 0);
	EXPECT(container_make_directories(&deck, instance, &fixture.err), 0);
	EXPECT(container_write_files(&deck, instance, &fixture.err), 0);
	EXPECT(store_lock(deck.store, BASE, clock_ms() + SOON_MS, &lock, &fixture.err), 0);
	return 0;
}

static int tear_down_session(void **state)
{
	store_unlock(lock);
	instance_free(instance);
	deck_close(&deck);
	return engine_tear_down(state);
}

static struct ladder ladder_of(void)
{
	static struct agent agent;
	return (struct ladder){ .deck = &deck,
				.instance = instance,
				.order = { .lock = lock, .agent = &agent } };
}

/* Its container runs, and no capsule is in it. */
static void must_climb(void)
{
	cleanup_ladder struct ladder ladder = ladder_of();
	EXPECT(ladder_open(&ladder, &fixture.err), 0);
	EXPECT(ladder_climb(&ladder, &fixture.err), 0);
	assert_non_null(instance->container_id);
	json_object_put(say("POST", "/fake/calls"));
}

static void assert_state(enum container_state state)
{
	cleanup_container struct container seen = { 0 };
	EXPECT(engine_inspect(fixture.engine, BASE, &seen, &fixture.err), 0);
	assert_int_equal(seen.state, state);
}

/* podman says so while it still cleans up after the last run. */
static void a_start_waits_until_the_address_is_free(void **state UNUSED)
{
	must_climb();
	tell("/fake/set?container=%s&status=exited", BASE);
	tell("/fake/fault?call=start&kind=taken&times=3");
	must_climb();
	assert_state(CONTAINER_RUNNING);
}

/* ---- elsewhere ------------------------------------------------------------------------------- */

static int await(struct error *err)
{
	cleanup_ladder struct ladder ladder = ladder_of();
	cleanup_capsule struct capsule *capsule = NULL;
	if (ladder_open(&ladder, err) < 0)
		return -1;
	return reach_await_capsule(&ladder, clock_ms() + AT_ONCE_MS, &capsule, err);
}

static void another_machine_is_refused_when_its_capsule_is_silent(void **state UNUSED)
{
	must_climb();
	tell("/fake/set?elsewhere=1");
	EXPECT_ERROR(await(&fixture.err), ERROR_UNAVAILABLE, "is on another machine");
	assert_state(CONTAINER_EXITED);
}

static void a_virtual_machine_is_refused_when_its_capsule_is_silent(void **state UNUSED)
{
	must_climb();
	EXPECT_ERROR(await(&fixture.err), ERROR_UNAVAILABLE, "virtual machine");
	assert_state(CONTAINER_EXITED);
	cleanup_close int fd = open(instance->run.capsule, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	assert_int_equal(fs_list(fd, &names, NULL), 0);
	for (size_t i = 0; i < names.count; i++)
		assert_false(starts_with(names.items[i], "here-"));
}

static void what_is_in_the_place_of_a_file_is_named(void **state UNUSED)
{
	cleanup_free char *capsule = container_capsule_directory(&deck, instance);
	cleanup_free char *token = path_join(capsule, "token");
	cleanup_free char *reports = path_join(capsule, "reports");
	(void)mkdir(instance->recipe->home, 0700);
	EXPECT(container_make_directories(&deck, instance, &fixture.err), 0);
	(void)unlink(token);
	assert_int_equal(mkdir(token, 0700), 0);
	EXPECT_ERROR(container_write_files(&deck, instance, &fixture.err), ERROR_SYSTEM,
		     "capsule/token cannot be written: move away what is there");
	assert_int_equal(rmdir(token), 0);
	assert_int_equal(rmdir(reports), 0);
	EXPECT(container_write_files(&deck, instance, &fixture.err), 0);
	assert_int_equal(rename(token, reports), 0);
	EXPECT_ERROR(container_make_directories(&deck, instance, &fixture.err), ERROR_SYSTEM,
		     "capsule/reports cannot be written: move away what is there");
	assert_int_equal(unlink(reports), 0);
}

static void a_step_that_the_engine_refuses_names_the_next_tier(void **state UNUSED)
{
	must_climb();
	cleanup_ladder struct ladder ladder = ladder_of();
	cleanup_error struct error err = { 0 };
	EXPECT(engine_stop(fixture.engine, BASE, 0, &fixture.err), 0);
	tell("/fake/fault?call=start&kind=refuse");
	EXPECT(ladder_open(&ladder, &fixture.err), 0);
	assert_int_equal(ladder_climb(&ladder, &err), -1);
	assert_non_null(strstr(err.message, "(tier 1)"));
	assert_non_null(strstr(err.message, "the fake refuses"));
	assert_non_null(strstr(err.message, "agentdeck session eject"));
}

static void a_container_that_ended_says_its_status(void **state UNUSED)
{
	must_climb();
	tell("/fake/set?container=" BASE "&status=exited");
	EXPECT_ERROR(await(&fixture.err), ERROR_CHILD, "ended at once");
}

/* Over TCP that is asked before anything runs there. */
static void another_machine_is_refused_before_the_start(void **state UNUSED)
{
	cleanup_ladder struct ladder ladder = ladder_of();
	EXPECT(ladder_open(&ladder, &fixture.err), 0);
	ladder.engine->is_remote = true;
	tell("/fake/set?elsewhere=1");
	EXPECT_ERROR(ladder_climb(&ladder, &fixture.err), ERROR_UNAVAILABLE,
		     "is on another machine");
	assert_state(CONTAINER_CREATED);
}

static void an_engine_over_tcp_may_be_this_machine(void **state UNUSED)
{
	cleanup_ladder struct ladder ladder = ladder_of();
	EXPECT(ladder_open(&ladder, &fixture.err), 0);
	ladder.engine->is_remote = true;
	EXPECT(ladder_climb(&ladder, &fixture.err), 0);
	assert_state(CONTAINER_RUNNING);
}

static void an_engine_that_lacks_our_directories_is_elsewhere(void **state UNUSED)
{
	cleanup_ladder struct ladder ladder = ladder_of();
	struct error refusal = { 0 };
	(void)error_set(&refusal, ERROR_CHILD,
			"docker did not create it: bind source path does not exist: /x");
	EXPECT_ERROR(reach_blame(&ladder, &fixture.err, &refusal), ERROR_UNAVAILABLE,
		     "has other files than this machine");
	(void)error_set(&refusal, ERROR_CHILD, "docker did not create it: no space");
	EXPECT_ERROR(reach_blame(&ladder, &fixture.err, &refusal), ERROR_CHILD, "no space");
}

/* The socket may lead to another engine tomorrow: what that one lacks is not gone. */
static void another_engine_at_its_address_is_not_asked(void **state UNUSED)
{
	cleanup_ladder struct ladder ladder = ladder_of();
	must_climb();
	replace_string(&instance->recipe->engine, "podman");
	EXPECT_ERROR(ladder_open(&ladder, &fixture.err), ERROR_UNAVAILABLE, "is docker now");
	assert_false(ladder.exists);
}

/* As after docker save and docker load into another kind of image store. */
static void an_image_with_another_id_and_the_same_layers_will_do(void **state UNUSED)
{
	cleanup_close int tar = open_file("image.tar");
	cleanup_free char *id = NULL;
	cleanup_engine_image struct engine_image image = { 0 };
	struct recipe *recipe = instance->recipe;
	EXPECT(engine_inspect_image(fixture.engine, recipe->image_id, &image, &fixture.err), 0);
	strvec_push_all(&recipe->layers, &image.layers);
	EXPECT(engine_import(fixture.engine, tar, "agentdeck/keep", BASE, &id, &fixture.err), 0);
	EXPECT(engine_untag(fixture.engine, "agentdeck/ladder:1", &fixture.err), 0);
	assert_string_not_equal(id, recipe->image_id);
	must_climb();
	assert_state(CONTAINER_RUNNING);
}

static void a_network_without_our_labels_stays(void **state UNUSED)
{
	cleanup_free char *id = NULL, *still = NULL;
	EXPECT(engine_make_network(fixture.engine, BASE "-net", true, NULL, &id, &fixture.err), 0);
	must_climb();
	EXPECT(place_container.discard(&deck, instance, DISCARD_FOR_NOW, &fixture.err), 0);
	EXPECT(engine_find_network(fixture.engine, id, NULL, &still, &fixture.err), 0);
	/* It is not joined either. */
	replace_string(&instance->recipe->network, "internal");
	cleanup_ladder struct ladder ladder = ladder_of();
	EXPECT(ladder_open(&ladder, &fixture.err), 0);
	EXPECT_ERROR(ladder_climb(&ladder, &fixture.err), ERROR_EXISTS, "is not this session's");
}

static void a_session_of_an_earlier_version_keeps_its_network(void **state UNUSED)
{
	cleanup_free char *id = NULL;
	must_climb();
	EXPECT_ERROR(container_change(&deck, instance, CONTAINER_NETWORK, "default", &fixture.err),
		     ERROR_INVALID, "agentdeck session eject");
	EXPECT(engine_find_network(fixture.engine, BASE "-net", NULL, &id, &fixture.err),
	       ENGINE_ABSENT);
	EXPECT(place_container.discard(&deck, instance, DISCARD_FOR_NOW, &fixture.err), 0);
	EXPECT(container_change(&deck, instance, CONTAINER_NETWORK, "default", &fixture.err), 0);
	must_climb();
	EXPECT(engine_find_network(fixture.engine, BASE "-net", NULL, &id, &fixture.err), 0);
}

static void must_have_network(const char *name, const char *base)
{
	cleanup_free char *id = NULL;
	cleanup_json struct json_object *labels = ladder_deck_labels(&deck);
	json_set_string(labels, LABEL_BASE, base);
	EXPECT(engine_make_network(fixture.engine, name, false, labels, &id, &fixture.err), 0);
}

static bool has_network(const char *name)
{
	cleanup_free char *id = NULL;
	return engine_find_network(fixture.engine, name, NULL, &id, &fixture.err) == 0;
}

/* Of the networks of a full engine, only those go whose session runs in no container, and is not
 * being started. */
static void a_full_engine_gets_back_networks_of_stopped_sessions(void **state UNUSED)
{
	static const char stopped[] = "ad-11111111-work-claude", busy[] = "ad-22222222-work-claude",
			  strange[] = "ad-33333333-work-claude";
	cleanup_store_lock struct store_lock *held = NULL;
	replace_string(&instance->recipe->network, NETWORK_OWN);
	cleanup_free char *first = path_join(scratch, "default/ad-11111111-work-claude"),
			  *second = path_join(scratch, "default/ad-22222222-work-claude");
	assert_int_equal(mkdir(first, 0700) | mkdir(second, 0700), 0);
	EXPECT(store_lock(deck.store, busy, clock_ms() + SOON_MS, &held, &fixture.err), 0);
	must_have_network("stopped-net", stopped);
	must_have_network("busy-net", busy);
	must_have_network("strange-net", strange);
	tell("/fake/set?pools=3");
	must_climb();
	assert_true(has_network(BASE "-net") && has_network("busy-net") &&
		    has_network("strange-net"));
	assert_false(has_network("stopped-net"));
	EXPECT(place_container.discard(&deck, instance, DISCARD_FOR_NOW, &fixture.err), 0);
	assert_false(has_network(BASE "-net"));
	tell("/fake/set?pools=2");
	cleanup_ladder struct ladder ladder = ladder_of();
	EXPECT(ladder_open(&ladder, &fixture.err), 0);
	EXPECT_ERROR(ladder_climb(&ladder, &fixture.err), ERROR_BUSY, "--network shared");
	assert_true(has_network("busy-net") && has_network("strange-net"));
}

static void run_another(const char *name)
{
	cleanup_free char *id = NULL;
	cleanup_strvec struct strvec program = { 0 };
	const struct engine_order order = {
		.name = name,
		.image_id = instance->recipe->image_id,
		.entrypoint = &program,
		.network = BASE "-net",
	};
	strvec_push(&program, "/bin/sh");
	EXPECT(engine_create(fixture.engine, &order, &id, &fixture.err), 0);
	EXPECT(engine_start(fixture.engine, id, &fixture.err), 0);
}

/* A user of its network that is not the session's keeps that from going. */
static void a_network_with_another_container_is_found_before_the_end(void **state UNUSED)
{
	static const char other[] = "ad-76543210-other-claude";
	replace_string(&instance->recipe->network, "internal");
	must_climb();
	EXPECT(place_container.check_discard(&deck, instance, &fixture.err), 0);
	run_another(other);
	EXPECT_ERROR(place_container.check_discard(&deck, instance, &fixture.err), ERROR_BUSY,
		     "is used by another container");
	assert_state(CONTAINER_RUNNING);
}

/* ---- secrets --------------------------------------------------------------------------------- */

static int resolve_secret(const char *source, struct strvec *ret)
{
	cleanup_recipe struct recipe *recipe = recipe_new();
	recipe_add_secret(recipe, "KEY", source);
	return container_resolve_secrets(recipe, ret, &fixture.err);
}

static void a_secret_is_what_a_program_prints_first(void **state UNUSED)
{
	struct strvec secrets = { 0 };
	EXPECT(resolve_secret("command:[\"printf\",\"%s-%s\\nmore\",\"a b\",\"$HOME\"]", &secrets),
	       0);
	assert_int_equal(secrets.count, 1);
	assert_string_equal(secrets.items[0], "KEY=a b-$HOME");
	container_wipe(&secrets);
	EXPECT_ERROR(resolve_secret("command:[\"false\"]", &secrets), ERROR_CHILD,
		     "secret KEY: false ended with status 1");
	EXPECT_ERROR(resolve_secret("command:[\"no-such-program\"]", &secrets), ERROR_NOT_FOUND,
		     "secret KEY: no-such-program is not installed");
	assert_int_equal(secrets.count, 0);
}

/* Run by an ordinary user: root can change every file. */
static void a_secret_in_anothers_file_has_a_remedy_that_works(void **state UNUSED)
{
	static struct deck asked;
	cleanup_recipe struct recipe *recipe = recipe_new();
	recipe_add_secret(recipe, "KEY", "file:/etc/passwd");
	const uid_t user = geteuid();
	if (user == 0)
		assert_int_equal(seteuid(65534), 0);
	container_warn_of_secrets(&asked, recipe);
	assert_int_equal(seteuid(user), 0);
	assert_int_equal(asked.warnings.count, 1);
	assert_null(strstr(asked.warnings.items[0], "chmod"));
	assert_non_null(strstr(asked.warnings.items[0], "recipe.secret KEY=file:PATH"));
	strvec_clear(&asked.warnings);
}

/* ---- unknown is not gone --------------------------------------------------------------------- */

static int probe(struct error *err)
{
	return place_container.probe(&deck, instance, err);
}

static int discard(struct error *err)
{
	return place_container.discard(&deck, instance, DISCARD_FOR_NOW, err);
}

static int check_discard(struct error *err)
{
	return place_container.check_discard(&deck, instance, err);
}

static int open_window(struct error *err)
{
	const struct place_order order = { .lock = lock };
	return place_container.open_window(&deck, instance, &order, err);
}

static int climb(struct error *err)
{
	cleanup_ladder struct ladder ladder = ladder_of();
	return ladder_open(&ladder, err) < 0 ? -1 : ladder_climb(&ladder, err);
}

static int change_image(struct error *err)
{
	return container_change(&deck, instance, CONTAINER_IMAGE, IMAGE, err);
}

/* Whoever asks the engine, and the calls that it needs to know what is there. */
static const struct question {
	const char *name;
	int (*ask)(struct error *err);
	const char *calls[3];
} questions[] = {
	{ "probe", probe, { "inspect" } },
	{ "discard", discard, { "inspect" } },
	{ "may it discard", check_discard, { "inspect" } },
	{ "open a window", open_window, { "inspect" } },
	{ "climb", climb, { "inspect", "image_inspect" } },
	{ "change the image", change_image, { "image_inspect" } },
};
static const char *const first_calls[] = { "ping", "version" };

enum { MANY = 9 };

static const char *const faults[] = { "refuse", "dropped", "half", "nonsense" };

/* Which of these calls change what an engine has? */
static void assert_nothing_was_changed(const char *what)
{
	static const char *const changes[] = { "create", "start",          "stop",
					       "remove", "network_create", "network_remove",
					       "tag",    "untag",          "unpause" };
	cleanup_json struct json_object *calls = say("POST", "/fake/calls");
	cleanup_instance struct instance *saved = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		if (json_get_int(calls, changes[i], 0))
			fail_msg("%s: the engine was asked to %s", what, changes[i]);
	assert_int_equal(store_load(deck.store, BASE, &saved, NULL), 0);
	assert_string_equal(or_empty(saved->container_id), instance->container_id);
	assert_state(CONTAINER_RUNNING);
	json_object_put(say("POST", "/fake/calls"));
}

/* Of this answer only the headers count. */
static bool is_harmless(const char *call, const char *fault)
{
	return streq(call, "ping") && (streq(fault, "nonsense") || streq(fault, "refuse"));
}

static void must_not_know(const struct question *question, const char *call, const char *fault)
{
	cleanup_free char *what = xasprintf("%s, %s: %s", question->name, call, fault);
	cleanup_error struct error err = { 0 };
	tell("/fake/fault?call=%s&kind=%s&times=%d", call, fault, MANY);
	int r = question->ask(&err);
	tell("/fake/fault?forget=1");
	if (r != -1)
		fail_msg("%s: %d", what, r);
	if (err.code == ERROR_NOT_FOUND || err.code == ERROR_INVALID)
		fail_msg("%s counts as %s: %s", what, error_code_name(err.code), err.message);
	assert_nothing_was_changed(what);
}

static void a_fault_of_the_engine_is_no_answer(void **state UNUSED)
{
	must_climb();
	/* So new that /version is asked. */
	tell("/fake/set?version=1.52&least=1.40");
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		for (size_t fault = 0; fault < ARRAY_SIZE(faults); fault++) {
			for (size_t call = 0; call < ARRAY_SIZE(first_calls); call++)
				if (!is_harmless(first_calls[call], faults[fault]))
					must_not_know(&questions[i], first_calls[call],
						      faults[fault]);
			for (size_t call = 0; questions[i].calls[call]; call++)
				must_not_know(&questions[i], questions[i].calls[call],
					      faults[fault]);
		}
}

static void an_engine_that_is_not_there_is_no_answer(void **state UNUSED)
{
	must_climb();
	fake_end(&fixture);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		if (questions[i].ask(&fixture.err) != -1 || fixture.err.code != ERROR_UNAVAILABLE)
			fail_msg("%s: %s", questions[i].name, or_empty(fixture.err.message));
		error_clear(&fixture.err);
		assert_non_null(instance->container_id);
	}
}

/* The capsule hangs, and only the engine could say that the container is paused. */
static void a_run_whose_engine_is_not_there_is_unknown(void **state UNUSED)
{
	must_climb();
	assert_int_equal(process_identify(getpid(), &instance->run.server, NULL), 0);
	EXPECT(store_save(lock, instance, &fixture.err), 0);
	fake_end(&fixture);
	assert_int_equal(container_observe(&deck, instance, OBSERVE_ANSWER).presence,
			 PRESENCE_UNKNOWN);
	assert_int_equal(container_observe(&deck, instance, OBSERVE_PROCESS).presence,
			 PRESENCE_ALIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_session, tear_down_session)
		TEST(a_start_waits_until_the_address_is_free),
		TEST(another_machine_is_refused_when_its_capsule_is_silent),
		TEST(a_virtual_machine_is_refused_when_its_capsule_is_silent),
		TEST(a_container_that_ended_says_its_status),
		TEST(a_step_that_the_engine_refuses_names_the_next_tier),
		TEST(what_is_in_the_place_of_a_file_is_named),
		TEST(another_machine_is_refused_before_the_start),
		TEST(an_engine_over_tcp_may_be_this_machine),
		TEST(an_engine_that_lacks_our_directories_is_elsewhere),
		TEST(another_engine_at_its_address_is_not_asked),
		TEST(a_network_without_our_labels_stays),
		TEST(a_network_with_another_container_is_found_before_the_end),
		TEST(a_session_of_an_earlier_version_keeps_its_network),
		TEST(a_full_engine_gets_back_networks_of_stopped_sessions),
		TEST(an_image_with_another_id_and_the_same_layers_will_do),
		TEST(a_fault_of_the_engine_is_no_answer),
		TEST(an_engine_that_is_not_there_is_no_answer),
		TEST(a_run_whose_engine_is_not_there_is_unknown),
#undef TEST
		cmocka_unit_test(a_secret_is_what_a_program_prints_first),
		cmocka_unit_test(a_secret_in_anothers_file_has_a_remedy_that_works),
	};
	if (!program_is_installed("python3"))
		return skip_all("python3 is missing");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
