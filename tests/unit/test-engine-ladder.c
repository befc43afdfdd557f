/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What every engine must do, step by step: the fake one in both dialects, and real ones
 * (scripts/test engines).
 */
#include "unit/engine-fixture.h"

#include "base/program.h"

#define REPOSITORY "agentdeck/ladder"
#define IMAGE      REPOSITORY ":1"
#define NAME       "ad-ladder-one"
#define OTHER      "ad-ladder-two"
#define NETWORK    "ad-ladder-net"
#define API        "/v1.41"

static char *image_id;

static struct json_object *labels_of(const char *deck)
{
	struct json_object *labels = json_object_new_object();
	json_set_string(labels, "io.agentdeck.base", "ladder");
	json_set_string(labels, "io.agentdeck.home", deck);
	return labels;
}

/* Its first process ends with 7 when it hears SIGTERM. */
static int create(const char *name, const char *network, struct engine_order *order, char **ret_id)
{
	cleanup_strvec struct strvec program = { 0 };
	cleanup_strvec struct strvec environment = { 0 };
	cleanup_json struct json_object *labels = labels_of("first=deck, of two");
	static const char *const words[] = {
		"/bin/sh", "-c", "trap 'exit 7' TERM; : >/out/ready; while :; do sleep 0.1; done",
		NULL
	};
	strvec_push_array(&program, words);
	strvec_push(&environment, "COLOR=blue");
	cleanup_free char *out = path_join(scratch, "out");
	struct engine_mount mount = { out, (char[]){ "/out" }, false };
	struct engine_order ours = order ? *order : (struct engine_order){ 0 };
	if (!ours.mounts) {
		ours.mounts = &mount;
		ours.mount_count = 1;
	}
	ours.name = name;
	ours.image_id = ours.image_id ? ours.image_id : image_id;
	ours.entrypoint = &program;
	ours.user = "0:0";
	ours.directory = "/";
	ours.environment = &environment;
	ours.labels = labels;
	ours.network = network;
	return engine_create(fixture.engine, &ours, ret_id, &fixture.err);
}

static char *created(const char *name)
{
	char *id = NULL;
	EXPECT(create(name, "none", NULL, &id), 0);
	return id;
}

/* Until then it would not hear SIGTERM.  podman pauses a container while it looks for a file in it,
 * so the file is here. */
static void wait_ready(void)
{
	int64_t deadline_ms = clock_ms() + 20000;
	while (!fixture.dialect && faccessat(here, "out/ready", F_OK, 0) < 0) {
		assert_true(clock_ms() < deadline_ms);
		clock_pause_until(clock_ms() + 20);
	}
	(void)unlinkat(here, "out/ready", 0);
}

static char *started(const char *name)
{
	char *id = created(name);
	EXPECT(engine_start(fixture.engine, id, &fixture.err), 0);
	wait_ready();
	return id;
}

static void expect_state(const char *id, enum container_state state)
{
	cleanup_container struct container container = { 0 };
	EXPECT(engine_inspect(fixture.engine, id, &container, &fixture.err), 0);
	assert_int_equal(container.state, state);
	if (state == CONTAINER_RUNNING || state == CONTAINER_PAUSED)
		assert_true(container.pid > 1);
	else
		assert_int_equal(container.pid, 0);
}

/* Docker sets the state of a container that it pauses, and sets it again when it hears of the pause
 * from containerd.  That can be after the container is resumed: until Docker hears of that, too, it
 * says that the container is paused. */
static void await_running(const char *id)
{
	const int64_t deadline_ms = clock_ms() + 20000;
	for (;;) {
		cleanup_container struct container container = { 0 };
		EXPECT(engine_inspect(fixture.engine, id, &container, &fixture.err), 0);
		if (container.state != CONTAINER_PAUSED || clock_ms() >= deadline_ms)
			break;
		clock_pause_until(clock_ms() + 20);
	}
	expect_state(id, CONTAINER_RUNNING);
}

static int set_up_group(void **state)
{
	if (engine_set_up(state) < 0)
		return -1;
	cleanup_close int tar = open_file("image.tar");
	assert_int_equal(mkdirat(here, "out", 0700), 0);
	EXPECT(engine_import(fixture.engine, tar, REPOSITORY, "1", &image_id, &fixture.err), 0);
	return 0;
}

static int tear_down_group(void **state)
{
	EXPECT(engine_untag(fixture.engine, IMAGE, &fixture.err), 0);
	free(image_id);
	image_id = NULL;
	return engine_tear_down(state);
}

/* By what they leave behind, tests on a real engine would fail each other. */
static int clean(void **state UNUSED)
{
	EXPECT(engine_remove(fixture.engine, NAME, &fixture.err), 0);
	EXPECT(engine_remove(fixture.engine, OTHER, &fixture.err), 0);
	EXPECT(engine_remove_network(fixture.engine, NETWORK, &fixture.err), 0);
	EXPECT(engine_untag(fixture.engine, REPOSITORY ":kept", &fixture.err), 0);
	EXPECT(engine_untag(fixture.engine, REPOSITORY ":built", &fixture.err), 0);
	return 0;
}

/* ---- images ----------------------------------------------------------------------------------- */

static void an_engine_says_what_it_is(void **state UNUSED)
{
	struct engine_facts facts;
	EXPECT(engine_facts(fixture.engine, &facts, &fixture.err), 0);
	assert_true(*facts.version >= '0' && *facts.version <= '9');
	assert_true(starts_with(facts.api_version, "1.4"));
	if (fixture.dialect) {
		assert_string_equal(engine_kind_name(facts.kind), fixture.dialect);
		assert_true(facts.is_rootless);
		assert_true(facts.counts_memory);
		assert_false(facts.counts_pids);
		assert_true(facts.counts_cpus);
	}
}

static void an_image_is_found_by_id_and_by_name(void **state UNUSED)
{
	cleanup_engine_image struct engine_image by_id = { 0 };
	cleanup_engine_image struct engine_image by_name = { 0 };
	EXPECT(engine_inspect_image(fixture.engine, image_id, &by_id, &fixture.err), 0);
	EXPECT(engine_inspect_image(fixture.engine, IMAGE, &by_name, &fixture.err), 0);
	assert_string_equal(by_id.id, image_id);
	assert_string_equal(by_name.id, image_id);
	assert_int_equal(by_id.layers.count, 1);
	assert_true(starts_with(by_id.layers.items[0], "sha256:"));
	EXPECT(engine_inspect_image(fixture.engine, REPOSITORY ":none", &by_id, &fixture.err),
	       ENGINE_ABSENT);
	EXPECT(engine_inspect_image(
		       fixture.engine,
		       "sha256:0000000000000000000000000000000000000000000000000000000000000000",
		       &by_id, &fixture.err),
	       ENGINE_ABSENT);
}

static void a_name_is_given_and_taken_alone(void **state UNUSED)
{
	cleanup_engine_image struct engine_image named = { 0 };
	cleanup_engine_image struct engine_image left = { 0 };
	EXPECT(engine_tag(fixture.engine, image_id, REPOSITORY, "kept", &fixture.err), 0);
	EXPECT(engine_tag(fixture.engine, image_id, REPOSITORY, "kept", &fixture.err), 0);
	EXPECT(engine_inspect_image(fixture.engine, REPOSITORY ":kept", &named, &fixture.err), 0);
	assert_string_equal(named.id, image_id);
	assert_int_equal(named.tags.count, 2);
	EXPECT(engine_untag(fixture.engine, REPOSITORY ":kept", &fixture.err), 0);
	EXPECT(engine_untag(fixture.engine, REPOSITORY ":kept", &fixture.err), 0);
	EXPECT(engine_inspect_image(fixture.engine, IMAGE, &left, &fixture.err), 0);
	assert_int_equal(left.tags.count, 1);
}

static void the_last_name_of_an_image_that_a_container_needs_stays(void **state UNUSED)
{
	cleanup_engine_image struct engine_image image = { 0 };
	cleanup_free char *id = created(NAME);
	EXPECT(engine_untag(fixture.engine, IMAGE, &fixture.err), ENGINE_IN_USE);
	EXPECT(engine_inspect_image(fixture.engine, IMAGE, &image, &fixture.err), 0);
	expect_state(id, CONTAINER_CREATED);
}

static void only_a_name_with_a_tag_is_taken_from_an_image(void **state UNUSED)
{
	EXPECT_ERROR(engine_untag(fixture.engine, image_id, &fixture.err), ERROR_INVALID, "tag");
	EXPECT_ERROR(engine_untag(fixture.engine, REPOSITORY, &fixture.err), ERROR_INVALID, "tag");
}

static void note_line(const char *line, void *data)
{
	strbuf_addf(data, "%s\n", line);
}

static int build(const char *file, struct json_object *labels, struct strbuf *lines, char **ret_id)
{
	cleanup_close int context = open_file(file);
	struct engine_build wish = {
		.context = context,
		.tag = REPOSITORY ":built",
		.labels = labels,
		.progress = note_line,
		.data = lines,
		.deadline_ms = clock_ms() + 120000,
	};
	return engine_build(fixture.engine, &wish, ret_id, &fixture.err);
}

static void an_image_is_built_on_one_of_ours(void **state UNUSED)
{
	cleanup_free char *id = NULL;
	cleanup_strbuf struct strbuf lines = { 0 };
	cleanup_engine_image struct engine_image base = { 0 };
	cleanup_engine_image struct engine_image image = { 0 };
	cleanup_json struct json_object *labels = labels_of("built & labelled");
	EXPECT(build("good.tar", labels, &lines, &id), 0);
	EXPECT(engine_inspect_image(fixture.engine, REPOSITORY ":built", &image, &fixture.err), 0);
	EXPECT(engine_inspect_image(fixture.engine, IMAGE, &base, &fixture.err), 0);
	assert_string_equal(image.id, id);
	assert_true(engine_has_labels(image.labels, labels));
	assert_true(image.layers.count > base.layers.count);
	assert_string_equal(image.layers.items[0], base.layers.items[0]);
	assert_non_null(strstr(strbuf_text(&lines), "tagged"));
	if (fixture.dialect)
		assert_non_null(strstr(strbuf_text(&lines), "\nSTEP 2: RUN\n"));
}

static void a_build_that_fails_says_why_and_names_nothing(void **state UNUSED)
{
	char *id = NULL;
	cleanup_strbuf struct strbuf lines = { 0 };
	cleanup_engine_image struct engine_image image = { 0 };
	EXPECT_ERROR(build("bad.tar", NULL, &lines, &id), ERROR_CHILD, "3");
	assert_null(id);
	EXPECT(engine_inspect_image(fixture.engine, REPOSITORY ":built", &image, &fixture.err),
	       ENGINE_ABSENT);
}

static void what_is_no_archive_is_not_imported(void **state UNUSED)
{
	char *id = NULL;
	put("broken.tar", "This is not an archive.\n");
	cleanup_free char *path = path_join(scratch, "broken.tar");
	cleanup_close int tar = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT_ERROR(engine_import(fixture.engine, tar, REPOSITORY, "kept", &id, &fixture.err),
		     ERROR_CHILD, "import the image " REPOSITORY ":kept");
	assert_null(id);
}

/* ---- containers ------------------------------------------------------------------------------- */

static void a_container_is_created_as_wished(void **state UNUSED)
{
	cleanup_container struct container container = { 0 };
	cleanup_json struct json_object *labels = labels_of("first=deck, of two");
	cleanup_free char *id = created(NAME);
	EXPECT(engine_inspect(fixture.engine, NAME, &container, &fixture.err), 0);
	assert_string_equal(container.id, id);
	assert_string_equal(container.name, NAME);
	assert_string_equal(container.image_id, image_id);
	assert_int_equal(container.state, CONTAINER_CREATED);
	assert_true(engine_has_labels(container.labels, labels));
}

static void a_container_has_no_rights_and_no_restarts(void **state UNUSED)
{
	cleanup_free char *id = NULL;
	struct engine_facts facts;
	EXPECT(engine_facts(fixture.engine, &facts, &fixture.err), 0);
	struct engine_order order = { .memory = facts.counts_memory ? 64 << 20 : 0,
				      .pids = facts.counts_pids ? 50 : 0,
				      .cpus = facts.counts_cpus ? 0.5 : 0 };
	EXPECT(create(NAME, "none", &order, &id), 0);
	cleanup_json struct json_object *all = say("GET", API "/containers/%s/json", id);
	struct json_object *host = json_get_object(all, "HostConfig");
	cleanup_strvec struct strvec options = { 0 };
	json_get_strings(host, "SecurityOpt", &options);
	assert_true(strvec_contains(&options, "no-new-privileges") ||
		    strvec_contains(&options, "no-new-privileges:true"));
	assert_true(json_object_array_length(json_get_array(host, "CapDrop")) > 0);
	assert_int_equal(json_get_int(host, "Memory", 0), order.memory);
	if (order.pids)
		assert_int_equal(json_get_int(host, "PidsLimit", 0), 50);
	assert_int_equal(json_get_int(host, "NanoCpus", 0), order.cpus > 0 ? 500000000 : 0);
	assert_false(json_get_bool(host, "Init", false));
	const char *policy = json_get_string(json_get_object(host, "RestartPolicy"), "Name", "");
	assert_true(streq(policy, "no") || streq(policy, ""));
	assert_string_equal(json_get_string(json_get_object(host, "LogConfig"), "Type", ""),
			    "none");
}

static void a_container_starts_and_stops_and_starts_again(void **state UNUSED)
{
	cleanup_container struct container container = { 0 };
	cleanup_free char *id = started(NAME);
	expect_state(id, CONTAINER_RUNNING);
	EXPECT(engine_start(fixture.engine, id, &fixture.err), 0);
	EXPECT(engine_unpause(fixture.engine, id, &fixture.err), 0);
	EXPECT(engine_stop(fixture.engine, id, 5000, &fixture.err), 0);
	EXPECT(engine_inspect(fixture.engine, id, &container, &fixture.err), 0);
	assert_int_equal(container.state, CONTAINER_EXITED);
	assert_int_equal(container.exit_code, fixture.dialect ? 143 : 7);
	EXPECT(engine_stop(fixture.engine, id, 0, &fixture.err), 0);
	EXPECT(engine_start(fixture.engine, id, &fixture.err), 0);
	expect_state(id, CONTAINER_RUNNING);
	EXPECT(engine_remove(fixture.engine, id, &fixture.err), 0);
	EXPECT(engine_remove(fixture.engine, id, &fixture.err), 0);
	EXPECT(engine_inspect(fixture.engine, id, &container, &fixture.err), ENGINE_ABSENT);
}

static void a_container_that_never_ran_counts_as_stopped(void **state UNUSED)
{
	cleanup_free char *id = created(NAME);
	EXPECT(engine_stop(fixture.engine, id, 0, &fixture.err), 0);
	expect_state(id, CONTAINER_CREATED);
}

static void a_paused_container_is_not_started(void **state UNUSED)
{
	cleanup_free char *id = started(NAME);
	tell(API "/containers/%s/pause", id);
	expect_state(id, CONTAINER_PAUSED);
	EXPECT_ERROR(engine_start(fixture.engine, id, &fixture.err), ERROR_INVALID, "paused");
	EXPECT(engine_unpause(fixture.engine, id, &fixture.err), 0);
	await_running(id);
}

/* A container of its own: of one that was paused before, Docker may still hear that it was resumed.
 */
static void a_paused_container_hears_that_it_must_stop(void **state UNUSED)
{
	cleanup_container struct container container = { 0 };
	cleanup_free char *id = started(NAME);
	tell(API "/containers/%s/pause", id);
	EXPECT(engine_stop(fixture.engine, id, 5000, &fixture.err), 0);
	EXPECT(engine_inspect(fixture.engine, id, &container, &fixture.err), 0);
	assert_int_equal(container.state, CONTAINER_EXITED);
	assert_int_equal(container.exit_code, fixture.dialect ? 143 : 7);
}

static void a_paused_container_can_be_removed(void **state UNUSED)
{
	cleanup_free char *id = started(NAME);
	tell(API "/containers/%s/pause", id);
	EXPECT(engine_remove(fixture.engine, id, &fixture.err), 0);
}

static void a_name_belongs_to_one_container(void **state UNUSED)
{
	char *id = NULL;
	cleanup_free char *first = created(NAME);
	EXPECT(create(NAME, "none", NULL, &id), ENGINE_TAKEN);
	assert_null(id);
	expect_state(first, CONTAINER_CREATED);
}

static void what_is_absent_is_said_to_be(void **state UNUSED)
{
	char *id = NULL;
	cleanup_container struct container container = { 0 };
	struct engine_order order = {
		.image_id = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	};
	EXPECT(engine_inspect(fixture.engine, NAME, &container, &fixture.err), ENGINE_ABSENT);
	EXPECT(engine_start(fixture.engine, NAME, &fixture.err), ENGINE_ABSENT);
	EXPECT(engine_unpause(fixture.engine, NAME, &fixture.err), ENGINE_ABSENT);
	EXPECT(engine_stop(fixture.engine, NAME, 0, &fixture.err), 0);
	EXPECT(engine_remove(fixture.engine, NAME, &fixture.err), 0);
	EXPECT(create(NAME, "none", &order, &id), ENGINE_ABSENT);
	EXPECT_ERROR(engine_has_file(fixture.engine, NAME, "/bin/sleep", &fixture.err),
		     ERROR_NOT_FOUND, NAME);
}

static void a_file_of_the_image_is_seen_without_a_start(void **state UNUSED)
{
	cleanup_free char *id = created(NAME);
	EXPECT(engine_has_file(fixture.engine, id, "/bin/sleep", &fixture.err), 1);
	if (fixture.dialect)
		EXPECT(engine_has_file(fixture.engine, id, "/etc/a b&c", &fixture.err), 1);
	EXPECT(engine_has_file(fixture.engine, id, "/bin/none", &fixture.err), 0);
	EXPECT(engine_has_file(fixture.engine, id, "/none/at/all", &fixture.err), 0);
}

static void a_directory_that_is_missing_is_named_before_and_at_the_start(void **state UNUSED)
{
	cleanup_free char *id = NULL, *source = path_join(scratch, "work"),
			  *moved = path_join(scratch, "moved");
	struct engine_mount mount = { source, source, false };
	struct engine_order order = { .mounts = &mount, .mount_count = 1 };
	EXPECT_ERROR(create(NAME, "none", &order, &id), ERROR_NOT_FOUND, source);
	assert_int_equal(mkdir(source, 0700), 0);
	EXPECT(create(NAME, "none", &order, &id), 0);
	assert_int_equal(rename(source, moved), 0);
	EXPECT_ERROR(engine_start(fixture.engine, id, &fixture.err), ERROR_NOT_FOUND, source);
	assert_int_equal(rename(moved, source), 0);
	EXPECT(engine_start(fixture.engine, id, &fixture.err), 0);
	EXPECT(engine_stop(fixture.engine, id, 5000, &fixture.err), 0);
	EXPECT(engine_remove(fixture.engine, id, &fixture.err), 0);
	assert_int_equal(rmdir(source), 0);
}

static void containers_are_listed_by_all_their_labels(void **state UNUSED)
{
	cleanup_strvec struct strvec ids = { 0 };
	cleanup_json struct json_object *ours = labels_of("first=deck, of two");
	cleanup_json struct json_object *theirs = labels_of("second");
	cleanup_free char *one = created(NAME), *two = started(OTHER);
	EXPECT(engine_list(fixture.engine, theirs, &ids, &fixture.err), 0);
	assert_int_equal(ids.count, 0);
	EXPECT(engine_list(fixture.engine, ours, &ids, &fixture.err), 0);
	assert_int_equal(ids.count, 2);
	assert_true(strvec_contains(&ids, one));
	assert_true(strvec_contains(&ids, two));
}

/* ---- networks --------------------------------------------------------------------------------- */

static void a_network_is_made_once(void **state UNUSED)
{
	cleanup_free char *id = NULL, *found = NULL;
	char *none = NULL;
	cleanup_json struct json_object *labels = labels_of("net");
	EXPECT(engine_find_network(fixture.engine, NETWORK, NULL, &none, &fixture.err),
	       ENGINE_ABSENT);
	EXPECT(engine_make_network(fixture.engine, NETWORK, true, labels, &id, &fixture.err), 0);
	EXPECT(engine_make_network(fixture.engine, NETWORK, true, labels, &none, &fixture.err),
	       ENGINE_TAKEN);
	EXPECT(engine_find_network(fixture.engine, NETWORK, labels, &found, &fixture.err), 0);
	cleanup_json struct json_object *others = labels_of("others");
	EXPECT(engine_find_network(fixture.engine, NETWORK, others, &none, &fixture.err),
	       ENGINE_TAKEN);
	assert_string_equal(found, id);
	/* The beginning of an id is not a name. */
	cleanup_free char *part = xstrndup(id, 12);
	EXPECT(engine_find_network(fixture.engine, part, NULL, &none, &fixture.err), ENGINE_ABSENT);
	EXPECT(engine_remove_network(fixture.engine, id, &fixture.err), 0);
	EXPECT(engine_remove_network(fixture.engine, id, &fixture.err), 0);
}

/* Real ones have another form for what they were given. */
static void podman_isolates_a_network_that_leads_out(void **state UNUSED)
{
	cleanup_free char *id = NULL;
	EXPECT(engine_make_network(fixture.engine, NETWORK, false, NULL, &id, &fixture.err), 0);
	cleanup_json struct json_object *made = say("GET", API "/networks/" NETWORK);
	const bool is_podman = streq(or_empty(fixture.dialect), "podman");
	const char *isolate = json_get_string(json_get_object(made, "Options"), "isolate", "");
	if (fixture.dialect)
		assert_string_equal(isolate, is_podman ? "strict" : "");
	EXPECT(engine_remove_network(fixture.engine, id, &fixture.err), 0);
}

static void networks_are_listed_by_all_their_labels(void **state UNUSED)
{
	cleanup_free char *id = NULL, *label = NULL;
	cleanup_strvec struct strvec names = { 0 };
	cleanup_json struct json_object *ours = labels_of("first=deck, of two");
	cleanup_json struct json_object *theirs = labels_of("second");
	EXPECT(engine_make_network(fixture.engine, NETWORK, true, ours, &id, &fixture.err), 0);
	EXPECT(engine_list_networks(fixture.engine, theirs, &names, &fixture.err), 0);
	assert_int_equal(names.count, 0);
	EXPECT(engine_list_networks(fixture.engine, ours, &names, &fixture.err), 0);
	assert_int_equal(names.count, 1);
	assert_string_equal(names.items[0], NETWORK);
	EXPECT(engine_network_label(fixture.engine, NETWORK, "none", &label, &fixture.err), 0);
	assert_string_equal(label, "");
	EXPECT(engine_remove_network(fixture.engine, id, &fixture.err), 0);
}

/* podman writes a registry before them. */
static void names_of_images_are_listed_as_we_gave_them(void **state UNUSED)
{
	cleanup_strvec struct strvec names = { 0 }, none = { 0 };
	EXPECT(engine_list_names(fixture.engine, "agentdeck/ladder", &names, &fixture.err), 0);
	assert_true(strvec_contains(&names, IMAGE));
	EXPECT(engine_list_names(fixture.engine, "deck/ladder", &none, &fixture.err), 0);
	assert_int_equal(none.count, 0);
}

static void a_network_in_use_stays(void **state UNUSED)
{
	cleanup_free char *network = NULL, *id = NULL;
	cleanup_container struct container container = { 0 };
	EXPECT(engine_make_network(fixture.engine, NETWORK, true, NULL, &network, &fixture.err), 0);
	EXPECT(create(NAME, NETWORK, NULL, &id), 0);
	EXPECT(engine_start(fixture.engine, id, &fixture.err), 0);
	EXPECT(engine_inspect(fixture.engine, id, &container, &fixture.err), 0);
	assert_string_equal(container.network, NETWORK);
	EXPECT(engine_remove_network(fixture.engine, network, &fixture.err), ENGINE_IN_USE);
	expect_state(id, CONTAINER_RUNNING);
}

static void a_container_joins_a_network_once(void **state UNUSED)
{
	cleanup_free char *network = NULL, *id = NULL;
	EXPECT(engine_make_network(fixture.engine, NETWORK, true, NULL, &network, &fixture.err), 0);
	EXPECT(create(NAME, "default", NULL, &id), 0);
	EXPECT(engine_connect(fixture.engine, NETWORK, id, &fixture.err), 0);
	EXPECT(engine_connect(fixture.engine, NETWORK, id, &fixture.err), 0);
	EXPECT_ERROR(engine_connect(fixture.engine, "ad-ladder-none", id, &fixture.err),
		     ERROR_NOT_FOUND, "ad-ladder-none");
}

/* ------------------------------------------------------------------------------------------------ */

static int run(const char *dialect)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, clean, clean)
		TEST(an_engine_says_what_it_is),
		TEST(an_image_is_found_by_id_and_by_name),
		TEST(a_name_is_given_and_taken_alone),
		TEST(the_last_name_of_an_image_that_a_container_needs_stays),
		TEST(only_a_name_with_a_tag_is_taken_from_an_image),
		TEST(an_image_is_built_on_one_of_ours),
		TEST(a_build_that_fails_says_why_and_names_nothing),
		TEST(what_is_no_archive_is_not_imported),
		TEST(a_container_is_created_as_wished),
		TEST(a_container_has_no_rights_and_no_restarts),
		TEST(a_container_starts_and_stops_and_starts_again),
		TEST(a_container_that_never_ran_counts_as_stopped),
		TEST(a_paused_container_is_not_started),
		TEST(a_paused_container_hears_that_it_must_stop),
		TEST(a_paused_container_can_be_removed),
		TEST(a_name_belongs_to_one_container),
		TEST(what_is_absent_is_said_to_be),
		TEST(a_file_of_the_image_is_seen_without_a_start),
		TEST(a_directory_that_is_missing_is_named_before_and_at_the_start),
		TEST(containers_are_listed_by_all_their_labels),
		TEST(a_network_is_made_once),
		TEST(podman_isolates_a_network_that_leads_out),
		TEST(networks_are_listed_by_all_their_labels),
		TEST(names_of_images_are_listed_as_we_gave_them),
		TEST(a_network_in_use_stays),
		TEST(a_container_joins_a_network_once),
#undef TEST
	};
	fixture.dialect = dialect;
	return cmocka_run_group_tests_name(dialect ? dialect : "real", tests, set_up_group,
					   tear_down_group);
}

int main(void)
{
	if (getenv("AGENTDECK_TEST_ENGINE"))
		return run(NULL);
	if (!program_is_installed("python3"))
		return skip_all("python3 is not installed");
	return run("docker") + run("podman");
}
