/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where engines are found.  What they are asked: test-engine-calls.c.
 */
#include "unit/scratch.h"

#include "driver/engine/engine.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Docker calls the directories of contexts by the SHA-256 of their names: own, far, broken. */
#define OWN    "5b3975651c3cab92d044c096dc30a1c2d9525497457472de48c51ecb363d1f4a"
#define FAR    "512eea46ceb3921dff4363c7069d89d4964d1d9fccaa0f411851a7aa60a5c868"
#define BROKEN "f526795c95399cea27c055c842c3d6ab018ed0fa4f66f701c28ab22dec28237b"

#define OWN_CONTEXT \
	"{\"Name\": \"own\", \"Endpoints\": {\"docker\": {\"Host\": \"unix:///run/own.sock\"}}}"
#define FAR_CONTEXT \
	"{\"Name\": \"far\", \"Endpoints\": {\"docker\": {\"Host\": \"tcp://far:2376\"}}}"

#define PLAIN_CONTEXT \
	"{\"Name\": \"far\", \"Endpoints\": {\"docker\": {\"Host\": \"tcp://far:2375\"}}}"

#define SSH_CONTEXT "{\"Name\": \"own\", \"Endpoints\": {\"docker\": {\"Host\": \"ssh://me@far\"}}}"

static int set_up_user(void **state)
{
	if (set_up(state) < 0)
		return -1;
	static const char *const names[] = { "DOCKER_HOST",      "DOCKER_CONTEXT",
					     "DOCKER_TLS",       "DOCKER_TLS_VERIFY",
					     "DOCKER_CERT_PATH", "DOCKER_CONFIG",
					     "CONTAINER_HOST" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)unsetenv(names[i]);
	(void)setenv("HOME", scratch, 1);
	(void)setenv("XDG_RUNTIME_DIR", scratch, 1);
	return 0;
}

static void make(const char *directory)
{
	cleanup_free char *path = xstrdup(directory);
	for (char *slash = path; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		(void)mkdirat(here, path, 0700);
	}
	(void)mkdirat(here, path, 0700);
}

static void put_below(const char *directory, const char *name, const char *text)
{
	make(directory);
	cleanup_close int fd = openat(here, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace(fd, name, text, strlen(text), FS_VOLATILE, NULL), 0);
}

static void make_contexts(const char *current)
{
	cleanup_free char *config = xasprintf("{\"currentContext\": \"%s\"}", current);
	put_below(".docker", "config.json", config);
	put_below(".docker/contexts/meta/" OWN, "meta.json", OWN_CONTEXT);
	put_below(".docker/contexts/meta/" FAR, "meta.json", FAR_CONTEXT);
	put_below(".docker/contexts/meta/" BROKEN, "meta.json", "{");
	make(".docker/contexts/tls/" FAR "/docker");
}

static void expect_url(const char *wish, const char *url)
{
	cleanup_engine_address struct engine_address address = { 0 };
	cleanup_error struct error err = { 0 };
	if (engine_find(wish, NULL, &address, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(address.url, url);
}

static void expect_refusal(const char *wish, enum error_code code, const char *words)
{
	cleanup_engine_address struct engine_address address = { 0 };
	cleanup_error struct error err = { 0 };
	assert_int_equal(engine_find(wish, NULL, &address, &err), -1);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.message, words));
	assert_null(address.url);
}

static void an_engine_is_named_by_its_url(void **state UNUSED)
{
	expect_url("unix:///run/docker.sock", "unix:///run/docker.sock");
	expect_url("tcp://[::1]:2375", "tcp://[::1]:2375");
	expect_url("tcp://localhost", "tcp://localhost:2375");
	expect_url("tcp://[::1]/", "tcp://[::1]:2375");
	(void)setenv("DOCKER_TLS_VERIFY", "1", 1);
	expect_url("tcp://far", "tcp://far:2376");
	expect_url("tcp://far:99", "tcp://far:99");
}

/* Without TLS only this machine is reached, whatever a name looks like. */
static void a_network_needs_tls(void **state UNUSED)
{
	static const char *const far[] = { "tcp://far:2375",       "tcp://10.0.0.1:2375",
					   "tcp://127.far:2375",   "tcp://localhost.far:2375",
					   "tcp://[fe80::1]:2375", "tcp://[::1].far:2375" };
	for (size_t i = 0; i < ARRAY_SIZE(far); i++)
		expect_refusal(far[i], ERROR_INVALID, "DOCKER_TLS_VERIFY");
	(void)setenv("DOCKER_HOST", "tcp://far", 1);
	expect_refusal("docker", ERROR_INVALID, "engine = \"tcp://far:2375\"");
	(void)setenv("CONTAINER_HOST", "tcp://far", 1);
	expect_refusal("podman", ERROR_INVALID, "ssh -nNT");
	(void)unsetenv("DOCKER_HOST");
	put_below(".docker/contexts/meta/" FAR, "meta.json", PLAIN_CONTEXT);
	(void)setenv("DOCKER_CONTEXT", "far", 1);
	expect_refusal("docker", ERROR_INVALID, "docker context update");
}

static void its_user_may_trust_a_network(void **state UNUSED)
{
	static const char *const trusted[] = { "tcp://far:2375", "tcp://far" };
	cleanup_error struct error err = { 0 };
	cleanup_engine_address struct engine_address other = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(trusted); i++) {
		cleanup_engine_address struct engine_address address = { 0 };
		assert_int_equal(engine_find("tcp://far", trusted[i], &address, NULL), 0);
		assert_string_equal(address.url, "tcp://far:2375");
		assert_null(address.tls);
	}
	assert_int_equal(engine_find("tcp://further", "tcp://far", &other, &err), -1);
}

static void what_is_no_engine_is_refused(void **state UNUSED)
{
	static const char *const bad[] = {
		"",
		"dockr",
		"unix://relative",
		"tcp://",
		"tcp://a b",
		"tcp://u@h",
		"tcp://h\033[2J",
		"tcp://h:1?x=y",
		"file:///etc/passwd",
		"http://h",
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		expect_refusal(bad[i], ERROR_INVALID, "examples");
}

static void ssh_is_refused_with_a_way_out(void **state UNUSED)
{
	(void)setenv("DOCKER_HOST", "ssh://me@far", 1);
	expect_refusal("docker", ERROR_UNAVAILABLE,
		       "ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock ssh://me@far\"");
	make_contexts("own");
	(void)unsetenv("DOCKER_HOST");
	put_below(".docker/contexts/meta/" OWN, "meta.json", SSH_CONTEXT);
	expect_refusal("docker", ERROR_UNAVAILABLE, "context 'own'");
}

static void the_environment_wins_over_a_context(void **state UNUSED)
{
	make_contexts("own");
	(void)setenv("DOCKER_CONTEXT", "far", 1);
	(void)setenv("DOCKER_HOST", "unix:///run/mine.sock", 1);
	expect_url("docker", "unix:///run/mine.sock");
	(void)unsetenv("DOCKER_HOST");
	expect_url("docker", "tcp://far:2376");
	(void)unsetenv("DOCKER_CONTEXT");
	expect_url("docker", "unix:///run/own.sock");
}

static void a_context_brings_its_certificates(void **state UNUSED)
{
	cleanup_engine_address struct engine_address address = { 0 };
	cleanup_free char *tls = path_join(scratch, ".docker/contexts/tls/" FAR "/docker");
	make_contexts("far");
	assert_int_equal(engine_find("docker", NULL, &address, NULL), 0);
	assert_string_equal(address.tls, tls);
	assert_string_equal(address.context, "far");
}

/* Else a change of the variables would be taken for one of the context. */
static void only_a_context_is_named_as_one(void **state UNUSED)
{
	cleanup_engine_address struct engine_address address = { 0 };
	make_contexts("far");
	(void)setenv("DOCKER_HOST", "unix:///run/mine.sock", 1);
	assert_int_equal(engine_find("docker", NULL, &address, NULL), 0);
	assert_null(address.context);
}

static void a_context_without_certificates_is_plain(void **state UNUSED)
{
	make_contexts("far");
	assert_int_equal(unlinkat(here, ".docker/contexts/tls/" FAR "/docker", AT_REMOVEDIR), 0);
	expect_refusal("docker", ERROR_INVALID, "context 'far'");
}

static void docker_host_has_certificates_only_when_asked(void **state UNUSED)
{
	cleanup_engine_address struct engine_address plain = { 0 };
	cleanup_engine_address struct engine_address safe = { 0 };
	(void)setenv("DOCKER_HOST", "tcp://far:2376", 1);
	(void)setenv("DOCKER_CERT_PATH", "/certificates", 1);
	assert_int_equal(engine_find("docker", "tcp://far:2376", &plain, NULL), 0);
	assert_null(plain.tls);
	(void)setenv("DOCKER_TLS_VERIFY", "1", 1);
	assert_int_equal(engine_find("docker", NULL, &safe, NULL), 0);
	assert_string_equal(safe.tls, "/certificates");
	(void)setenv("DOCKER_CERT_PATH", "certificates", 1);
	expect_refusal("docker", ERROR_INVALID, "absolute");
}

/* The default engine would be another one than the one that the user chose. */
static void a_context_that_is_missing_is_not_replaced(void **state UNUSED)
{
	make_contexts("gone");
	expect_refusal("docker", ERROR_UNAVAILABLE, "'gone'");
	make_contexts("broken");
	expect_refusal("docker", ERROR_CORRUPT, "meta.json");
	put_below(".docker", "config.json", "{");
	expect_refusal("docker", ERROR_CORRUPT, "config.json");
}

static void podman_is_where_its_user_has_it(void **state UNUSED)
{
	cleanup_free char *url = xasprintf("unix://%s/podman/podman.sock", scratch);
	(void)setenv("CONTAINER_HOST", "unix:///run/pod.sock", 1);
	expect_url("podman", "unix:///run/pod.sock");
	(void)unsetenv("CONTAINER_HOST");
	if (geteuid() == 0 && access("/run/podman/podman.sock", F_OK) == 0)
		skip();
	expect_refusal("podman", ERROR_UNAVAILABLE, scratch);
	put_below("podman", "podman.sock", "");
	expect_url("podman", url);
}

static void without_a_wish_every_answer_is_named(void **state UNUSED)
{
	cleanup_free char *docker = xasprintf("unix://%s/docker", scratch);
	cleanup_free char *podman = xasprintf("unix://%s/podman", scratch);
	(void)setenv("DOCKER_HOST", docker, 1);
	(void)setenv("CONTAINER_HOST", podman, 1);
	expect_refusal(NULL, ERROR_UNAVAILABLE, docker);
	expect_refusal(NULL, ERROR_UNAVAILABLE, podman);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_user, tear_down)
		TEST(an_engine_is_named_by_its_url),
		TEST(what_is_no_engine_is_refused),
		TEST(a_network_needs_tls),
		TEST(its_user_may_trust_a_network),
		TEST(ssh_is_refused_with_a_way_out),
		TEST(the_environment_wins_over_a_context),
		TEST(a_context_brings_its_certificates),
		TEST(only_a_context_is_named_as_one),
		TEST(a_context_without_certificates_is_plain),
		TEST(docker_host_has_certificates_only_when_asked),
		TEST(a_context_that_is_missing_is_not_replaced),
		TEST(podman_is_where_its_user_has_it),
		TEST(without_a_wish_every_answer_is_named),
#undef TEST
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
