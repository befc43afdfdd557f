/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the driver makes of an engine that refuses, hangs up, hangs or talks nonsense, at each call.
 */
#include "unit/engine-fixture.h"

#include "base/program.h"

#include <sys/socket.h>
#include <sys/un.h>

#define NAME    "ad-calls"
#define NETWORK "ad-calls-net"
#define IMAGE   "agentdeck/ladder:1"

/* For what never comes; else a slow machine may take its time. */
enum { PATIENCE_MS = 300 };

static struct json_object *labels(void)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "io.agentdeck.base", "calls");
	return object;
}

static int create(struct json_object *marks, char **ret_id)
{
	cleanup_strvec struct strvec program = { 0 };
	strvec_push(&program, "/agentdeck/bin/agentdeck-capsule");
	struct engine_order order = { .name = NAME,
				      .image_id = IMAGE,
				      .entrypoint = &program,
				      .labels = marks,
				      .network = "none" };
	return engine_create(fixture.engine, &order, ret_id, &fixture.err);
}

static void must_create(void)
{
	cleanup_free char *id = NULL;
	cleanup_json struct json_object *marks = labels();
	EXPECT(create(marks, &id), 0);
}

static void must_run(void)
{
	must_create();
	EXPECT(engine_start(fixture.engine, NAME, &fixture.err), 0);
}

static void must_pause(void)
{
	must_run();
	tell("/fake/set?container=" NAME "&status=paused");
}

static void must_make_network(void)
{
	cleanup_free char *id = NULL;
	EXPECT(engine_make_network(fixture.engine, NETWORK, false, NULL, &id, &fixture.err), 0);
}

static void must_connectable(void)
{
	must_make_network();
	must_create();
}

static void must_have_name(void)
{
	char *id = NULL;
	cleanup_engine_image struct engine_image image = { 0 };
	EXPECT(engine_inspect_image(fixture.engine, IMAGE, &image, &fixture.err), 0);
	EXPECT(engine_tag(fixture.engine, image.id, "agentdeck/keep", "x", &fixture.err), 0);
	free(id);
}

static void nothing(void)
{
}

/* An engine whose oldest version may be newer than ours. */
static void must_be_new(void)
{
	tell("/fake/set?version=1.52&least=1.40");
}

/* ---- the calls -------------------------------------------------------------------------------- */

static int do_create(void)
{
	cleanup_free char *id = NULL;
	cleanup_json struct json_object *marks = labels();
	int r = create(marks, &id);
	assert_int_equal(r == 0, id != NULL);
	return r;
}

static int do_start(void)
{
	return engine_start(fixture.engine, NAME, &fixture.err);
}

static int do_unpause(void)
{
	return engine_unpause(fixture.engine, NAME, &fixture.err);
}

static int do_update(void)
{
	const struct engine_limits limits = { .memory = 64 << 20, .pids = 50 };
	return engine_update(fixture.engine, NAME, &limits, &fixture.err);
}

static int do_stop(void)
{
	return engine_stop(fixture.engine, NAME, 0, &fixture.err);
}

static int do_remove(void)
{
	return engine_remove(fixture.engine, NAME, &fixture.err);
}

static int do_inspect(void)
{
	cleanup_container struct container container = { 0 };
	return engine_inspect(fixture.engine, NAME, &container, &fixture.err);
}

static int do_list(void)
{
	cleanup_strvec struct strvec ids = { 0 };
	cleanup_json struct json_object *marks = labels();
	return engine_list(fixture.engine, marks, &ids, &fixture.err);
}

static int do_list_networks(void)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_json struct json_object *marks = labels();
	return engine_list_networks(fixture.engine, marks, &names, &fixture.err);
}

static int do_list_names(void)
{
	cleanup_strvec struct strvec names = { 0 };
	return engine_list_names(fixture.engine, "agentdeck/ladder", &names, &fixture.err);
}

static int do_has_file(void)
{
	return engine_has_file(fixture.engine, NAME, "/bin/sleep", &fixture.err);
}

static int do_inspect_image(void)
{
	cleanup_engine_image struct engine_image image = { 0 };
	return engine_inspect_image(fixture.engine, IMAGE, &image, &fixture.err);
}

static int do_tag(void)
{
	cleanup_engine_image struct engine_image image = { 0 };
	assert_int_equal(engine_inspect_image(fixture.engine, IMAGE, &image, NULL), 0);
	return engine_tag(fixture.engine, image.id, "agentdeck/keep", "x", &fixture.err);
}

static int do_untag(void)
{
	return engine_untag(fixture.engine, "agentdeck/keep:x", &fixture.err);
}

static int do_import(void)
{
	cleanup_free char *id = NULL;
	cleanup_close int tar = open_file("image.tar");
	int r = engine_import(fixture.engine, tar, "agentdeck/ladder", "2", &id, &fixture.err);
	assert_int_equal(r == 0, id != NULL);
	return r;
}

static int do_build(void)
{
	cleanup_free char *id = NULL;
	cleanup_close int context = open_file("good.tar");
	struct engine_build build = { .context = context,
				      .tag = "agentdeck/built:1",
				      .deadline_ms = clock_ms() + 10000 };
	int r = engine_build(fixture.engine, &build, &id, &fixture.err);
	assert_int_equal(r == 0, id != NULL);
	return r;
}

static int do_find_network(void)
{
	cleanup_free char *id = NULL;
	return engine_find_network(fixture.engine, NETWORK, NULL, &id, &fixture.err);
}

static int do_make_network(void)
{
	cleanup_free char *id = NULL;
	cleanup_json struct json_object *marks = labels();
	int r = engine_make_network(fixture.engine, NETWORK, false, marks, &id, &fixture.err);
	assert_int_equal(r == 0, id != NULL);
	return r;
}

static int do_connect(void)
{
	return engine_connect(fixture.engine, NETWORK, NAME, &fixture.err);
}

static int do_remove_network(void)
{
	return engine_remove_network(fixture.engine, NETWORK, &fixture.err);
}

static int do_facts(void)
{
	struct engine_facts facts;
	return engine_facts(fixture.engine, &facts, &fixture.err);
}

static int do_open(void)
{
	int patience_ms = fixture.engine->patience_ms;
	cleanup_engine struct engine *engine = NULL;
	return engine_open_within(&fixture.address, patience_ms, &engine, &fixture.err);
}

/* ---- the faults ------------------------------------------------------------------------------- */

enum fault { REFUSE, LOST, DROPPED, HALF, SILENT, NONSENSE, FAULT_COUNT };
static const char *const faults[] = { "refuse", "lost", "dropped", "half", "silent", "nonsense" };

/* What kind of call it is decides what is known afterwards. */
enum kind {
	LOOKS,   /* its answer is all that it is for */
	CHANGES, /* what it changed can be seen */
	MAKES,   /* its answer names what was made */
};

static const struct {
	const char *name; /* of the fake */
	enum kind kind;
	void (*prepare)(void);
	int (*call)(void);
} calls[] = {
	{ "create", CHANGES, nothing, do_create },
	{ "start", CHANGES, must_create, do_start },
	{ "unpause", CHANGES, must_pause, do_unpause },
	{ "update", CHANGES, must_run, do_update },
	{ "stop", CHANGES, must_run, do_stop },
	{ "remove", CHANGES, must_run, do_remove },
	{ "tag", CHANGES, nothing, do_tag },
	{ "untag", CHANGES, must_have_name, do_untag },
	{ "network_create", CHANGES, nothing, do_make_network },
	{ "network_connect", CHANGES, must_connectable, do_connect },
	{ "network_remove", CHANGES, must_make_network, do_remove_network },
	{ "imported", MAKES, nothing, do_import },
	{ "build", MAKES, nothing, do_build },
	{ "inspect", LOOKS, must_create, do_inspect },
	{ "list", LOOKS, must_create, do_list },
	{ "list_networks", LOOKS, must_make_network, do_list_networks },
	{ "list_images", LOOKS, nothing, do_list_names },
	{ "has_file", LOOKS, must_create, do_has_file },
	{ "image_inspect", LOOKS, nothing, do_inspect_image },
	{ "network_inspect", LOOKS, must_make_network, do_find_network },
	{ "info", LOOKS, nothing, do_facts },
	{ "version", LOOKS, must_be_new, do_open },
	{ "ping", LOOKS, nothing, do_open },
};

/* Is the call done, although something went wrong?  Then it must succeed. */
static bool is_done(enum kind kind, enum fault fault)
{
	return kind == CHANGES && fault != REFUSE && fault != DROPPED;
}

/* podman 4.3 has no such call. */
static bool is_missing(size_t call)
{
	return streq(calls[call].name, "update") && streq(fixture.dialect, "podman");
}

static bool is_harmless(size_t call, enum fault fault)
{
	const char *name = calls[call].name;
	/* An answer to HEAD is its status alone. */
	if (streq(name, "has_file") || streq(name, "ping"))
		return fault == NONSENSE || (streq(name, "ping") && fault == REFUSE);
	return false;
}

static enum error_code code_of(enum fault fault)
{
	static const enum error_code codes[] = {
		[REFUSE] = ERROR_CHILD,        [LOST] = ERROR_UNAVAILABLE,
		[DROPPED] = ERROR_UNAVAILABLE, [HALF] = ERROR_UNAVAILABLE,
		[SILENT] = ERROR_TIMEOUT,      [NONSENSE] = ERROR_CORRUPT,
	};
	return codes[fault];
}

static void reset(void)
{
	cleanup_free char *id = NULL;
	cleanup_close int tar = open_file("image.tar");
	tell("/fake/reset");
	error_clear(&fixture.err);
	EXPECT(engine_import(fixture.engine, tar, "agentdeck/ladder", "1", &id, &fixture.err), 0);
}

static void try(size_t call, enum fault fault)
{
	reset();
	calls[call].prepare();
	fixture.engine->facts.version = NULL;
	/* A look is repeated when an old connection turns out to be closed, and a refused network
	 * is asked for in other words. */
	tell("/fake/fault?call=%s&kind=%s&times=%d", calls[call].name, faults[fault],
	     calls[call].kind == LOOKS || fault == REFUSE ? 9 : 1);
	fixture.engine->patience_ms = fault == SILENT ? PATIENCE_MS : 0;
	int r = calls[call].call();
	fixture.engine->patience_ms = 0;
	bool is_good = is_done(calls[call].kind, fault) || is_harmless(call, fault);
	if (is_good ? r < 0 : r != -1)
		fail_msg("%s, %s: %d: %s", calls[call].name, faults[fault], r,
			 or_empty(fixture.err.message));
	/* What comes of half a story, or of one in no JSON, is the end of it. */
	enum error_code code = calls[call].kind == MAKES && fault == NONSENSE ? ERROR_CHILD
									      : code_of(fault);
	if (!is_good && fixture.err.code != code)
		fail_msg("%s, %s: %s: %s", calls[call].name, faults[fault],
			 error_code_name(fixture.err.code), or_empty(fixture.err.message));
	error_clear(&fixture.err);
}

static void with_each_fault_a_call_says_what_is_known(void **state UNUSED)
{
	for (size_t call = 0; call < ARRAY_SIZE(calls); call++)
		for (enum fault fault = 0; fault < FAULT_COUNT && !is_missing(call); fault++)
			try(call, fault);
}

/* The change is lost, and so is the look at what came of it. */
static void what_cannot_be_seen_is_unknown(void **state UNUSED)
{
	static const char *const looks[] = { "inspect", "network_inspect", "image_inspect" };
	for (size_t call = 0; call < ARRAY_SIZE(calls); call++) {
		if (calls[call].kind != CHANGES || is_missing(call) ||
		    streq(calls[call].name, "network_connect") ||
		    streq(calls[call].name, "network_remove") || streq(calls[call].name, "tag"))
			continue;
		reset();
		calls[call].prepare();
		tell("/fake/fault?call=%s&kind=lost", calls[call].name);
		for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
			tell("/fake/fault?call=%s&kind=dropped&times=9", looks[i]);
		EXPECT_ERROR(calls[call].call(), ERROR_UNAVAILABLE, "did not complete");
	}
}

static void an_answer_without_end_is_given_up(void **state UNUSED)
{
	reset();
	must_create();
	tell("/fake/fault?call=inspect&kind=endless");
	EXPECT_ERROR(do_inspect(), ERROR_CORRUPT, "too long");
	tell("/fake/fault?call=build&kind=endless");
	EXPECT_ERROR(do_build(), ERROR_CORRUPT, "too long");
}

/* Another program made it while we asked: nobody takes it for ours. */
static void a_lost_answer_does_not_make_a_strangers_container_ours(void **state UNUSED)
{
	char *id = NULL;
	cleanup_json struct json_object *marks = labels();
	reset();
	must_create();
	json_set_string(marks, "io.agentdeck.base", "other");
	tell("/fake/fault?call=create&kind=dropped");
	EXPECT(create(marks, &id), ENGINE_TAKEN);
	tell("/fake/fault?call=create&kind=dropped");
	EXPECT(create(NULL, &id), ENGINE_TAKEN);
	assert_null(id);
}

static void a_removal_by_somebody_else_is_waited_for(void **state UNUSED)
{
	reset();
	must_create();
	tell("/fake/set?container=" NAME "&status=removing");
	EXPECT(do_remove(), 0);
	EXPECT(do_inspect(), ENGINE_ABSENT);
}

static void no_call_is_made_twice(void **state UNUSED)
{
	reset();
	must_create();
	json_object_put(say("POST", "/fake/calls"));
	EXPECT(do_start(), 0);
	EXPECT(do_stop(), 0);
	cleanup_json struct json_object *all = say("POST", "/fake/calls");
	assert_int_equal(json_get_int(all, "start", 0), 1);
	assert_int_equal(json_get_int(all, "stop", 0), 1);
}

/* ---- names, versions -------------------------------------------------------------------------- */

static void what_could_be_another_request_is_not_sent(void **state UNUSED)
{
	static const char *const bad[] = { "",     "../images", "a/json", "a?force=1", "a b",
					   "a%2f", ".",         "-a",     "a\r\nX: y", "a#b" };
	reset();
	json_object_put(say("POST", "/fake/calls"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_container struct container container = { 0 };
		cleanup_engine_image struct engine_image image = { 0 };
		EXPECT_ERROR(engine_inspect(fixture.engine, bad[i], &container, &fixture.err),
			     ERROR_INVALID, "invalid container name");
		EXPECT_ERROR(engine_remove(fixture.engine, bad[i], &fixture.err), ERROR_INVALID,
			     "invalid container name");
		EXPECT_ERROR(engine_remove_network(fixture.engine, bad[i], &fixture.err),
			     ERROR_INVALID, "invalid network name");
		if (!streq(bad[i], "a/json"))
			EXPECT_ERROR(engine_inspect_image(fixture.engine, bad[i], &image,
							  &fixture.err),
				     ERROR_INVALID, "invalid image");
	}
	cleanup_json struct json_object *made = say("POST", "/fake/calls");
	assert_int_equal(json_object_object_length(made), 0);
}

static void the_version_is_one_that_both_speak(void **state UNUSED)
{
	static const struct {
		const char *most, *least, *used;
	} cases[] = {
		{ "1.41", "1.12", "1.41" },
		{ "1.44", "1.24", "1.41" },
		{ "1.44", "1.44", "1.44" },
		{ "1.52", "1.40", "1.41" },
		/* No such engine: its oldest version is not asked for. */
		{ "1.43", "1.44", "1.41" },
		{ "1.56", "1.44", "1.44" },
		{ "1.40", "1.12", "1.40" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_engine struct engine *engine = NULL;
		tell("/fake/set?version=%s&least=%s", cases[i].most, cases[i].least);
		EXPECT(engine_open(&fixture.address, &engine, &fixture.err), 0);
		assert_string_equal(engine->api_version, cases[i].used);
	}
	tell("/fake/set?version=1.39&least=1.12");
	EXPECT_ERROR(do_open(), ERROR_UNAVAILABLE, "too old");
	tell("/fake/set?version=one&least=1.12");
	EXPECT_ERROR(do_open(), ERROR_UNAVAILABLE, "does not say its API version");
}

static void a_container_is_limited_in_place(void **state UNUSED)
{
	reset();
	if (streq(fixture.dialect, "podman")) {
		must_run();
		assert_int_equal(do_update(), -1);
		assert_int_equal(fixture.err.code, ERROR_CHILD);
		error_clear(&fixture.err);
		return;
	}
	EXPECT(do_update(), ENGINE_ABSENT);
	must_run();
	EXPECT(do_update(), 0);
}

/* A user of podman calls it "web", and podman calls it "localhost/web". */
static void a_short_name_is_also_a_local_one_in_podman(void **state UNUSED)
{
	cleanup_engine_image struct engine_image image = { 0 };
	cleanup_free char *id = NULL;
	cleanup_close int tar = open_file("image.tar");
	reset();
	EXPECT(engine_import(fixture.engine, tar, "localhost/web", "1", &id, &fixture.err), 0);
	int wanted = streq(fixture.dialect, "podman") ? 0 : ENGINE_ABSENT;
	EXPECT(engine_inspect_image(fixture.engine, "web:1", &image, &fixture.err), wanted);
}

/* ---- the connection --------------------------------------------------------------------------- */

static void a_context_that_does_not_come_is_not_waited_for(void **state UNUSED)
{
	int ends[2];
	char *id = NULL;
	reset();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	struct engine_build build = { .context = ends[0],
				      .tag = "agentdeck/built:1",
				      .deadline_ms = clock_ms() + 300 };
	EXPECT_ERROR(engine_build(fixture.engine, &build, &id, &fixture.err), ERROR_TIMEOUT, "tar");
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void programs_that_we_start_do_not_get_our_connection(void **state UNUSED)
{
	size_t sockets = 0;
	reset();
	for (int fd = 3; fd < 64; fd++) {
		struct sockaddr_un peer;
		socklen_t size = sizeof(peer);
		/* A pair that libcurl makes for itself has no names. */
		if (getpeername(fd, (struct sockaddr *)&peer, &size) < 0 ||
		    size <= sizeof(peer.sun_family))
			continue;
		sockets++;
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	assert_true(sockets > 0);
}

static void an_engine_that_is_gone_is_unavailable(void **state UNUSED)
{
	reset();
	must_create();
	fake_end(&fixture);
	EXPECT_ERROR(do_inspect(), ERROR_UNAVAILABLE, "it does not run");
	EXPECT_ERROR(do_start(), ERROR_UNAVAILABLE, "it does not run");
	EXPECT_ERROR(do_remove(), ERROR_UNAVAILABLE, "it does not run");
	EXPECT_ERROR(do_create(), ERROR_UNAVAILABLE, "it does not run");
}

static bool has_libcurl(void)
{
	cleanup_strbuf struct strbuf maps = { 0 };
	assert_int_equal(fs_read(AT_FDCWD, "/proc/self/maps", 1 << 20, &maps, NULL), 0);
	return strstr(strbuf_text(&maps), "libcurl") != NULL;
}

/* ------------------------------------------------------------------------------------------------ */

static int run(const char *dialect)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_each_fault_a_call_says_what_is_known),
		cmocka_unit_test(what_cannot_be_seen_is_unknown),
		cmocka_unit_test(an_answer_without_end_is_given_up),
		cmocka_unit_test(a_lost_answer_does_not_make_a_strangers_container_ours),
		cmocka_unit_test(a_removal_by_somebody_else_is_waited_for),
		cmocka_unit_test(no_call_is_made_twice),
		cmocka_unit_test(what_could_be_another_request_is_not_sent),
		cmocka_unit_test(a_container_is_limited_in_place),
		cmocka_unit_test(a_short_name_is_also_a_local_one_in_podman),
		cmocka_unit_test(a_context_that_does_not_come_is_not_waited_for),
		cmocka_unit_test(programs_that_we_start_do_not_get_our_connection),
		cmocka_unit_test(the_version_is_one_that_both_speak),
		cmocka_unit_test(an_engine_that_is_gone_is_unavailable),
	};
	fixture.dialect = dialect;
	return cmocka_run_group_tests_name(dialect, tests, engine_set_up, engine_tear_down);
}

int main(void)
{
	if (!program_is_installed("python3"))
		return skip_all("python3 is not installed");
	/* Every other command must not pay for it. */
	if (has_libcurl()) {
		(void)fprintf(stderr, "libcurl is loaded before an engine is opened\n");
		return 1;
	}
	return run("docker") + run("podman");
}
