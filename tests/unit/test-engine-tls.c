/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An engine behind TLS: it is spoken to when both sides have proved who they are, and never else.
 * The engine is tests/unit/fake-engine, and the certificates are made for each test.
 */
#include "unit/engine-fixture.h"

#include "base/child.h"
#include "base/program.h"

/* What is wrong with an engine or with us. */
struct trouble {
	const char *name; /* of the engine's certificate */
	const char *days;
	bool other_authority; /* we trust another one than the engine's */
	bool no_certificate;  /* of ours */
	const char *words;
};

static void make_certificates(const char *directory, const char *name, const char *days)
{
	const char *source = getenv("top_srcdir");
	cleanup_error struct error err = { 0 };
	cleanup_free char *program = xasprintf("%s/tests/helper/make-certificates",
					       source ? source : ".");
	cleanup_free char *path = path_join(scratch, directory);
	cleanup_child_result struct child_result result = { 0 };
	const char *const argv[] = { program, path, name, days, NULL };
	const struct child_request request = { .argv = argv, .max_output = 4096 };
	assert_int_equal(child_run(&request, 1000 * HUNG_S, &result, &err), 0);
	assert_int_equal(result.exit_status, 0);
}

static void forget(const char *name)
{
	cleanup_free char *path = path_join(fixture.address.tls, name);
	assert_int_equal(unlink(path), 0);
}

static void begin(const char *name, const char *days)
{
	make_certificates("engine", name, days);
	fixture.dialect = "docker";
	fake_start_tls(&fixture, "engine");
	fixture.address.tls = xasprintf("%s/engine/client", scratch);
}

static int end(void **state)
{
	engine_close(fixture.engine);
	engine_address_clear(&fixture.address);
	error_clear(&fixture.err);
	fake_end(&fixture);
	fixture = (struct fixture){ 0 };
	return tear_down(state);
}

static void both_sides_prove_who_they_are(void **state UNUSED)
{
	cleanup_json struct json_object *labels = json_object_new_object();
	cleanup_strvec struct strvec ids = { 0 };
	begin("IP:127.0.0.1", "1");
	/* An engine of this machine is not reached through a proxy. */
	(void)setenv("https_proxy", "http://127.0.0.1:1", 1);
	EXPECT(engine_open(&fixture.address, &fixture.engine, &fixture.err), 0);
	EXPECT(engine_list(fixture.engine, labels, &ids, &fixture.err), 0);
	(void)unsetenv("https_proxy");
}

static void expect_distrust(const struct trouble *trouble)
{
	begin(trouble->name, trouble->days);
	if (trouble->other_authority) {
		make_certificates("other", "IP:127.0.0.1", "1");
		assert_int_equal(renameat(here, "other/ca.pem", here, "engine/client/ca.pem"), 0);
	}
	if (trouble->no_certificate) {
		forget("cert.pem");
		forget("key.pem");
	}
	/* Not an answer: whoever asked does not know what is there. */
	EXPECT_ERROR(engine_open(&fixture.address, &fixture.engine, &fixture.err),
		     ERROR_UNAVAILABLE, trouble->words);
}

static void an_unknown_authority_is_not_trusted(void **state UNUSED)
{
	const struct trouble trouble = { "IP:127.0.0.1", "1", .other_authority = true,
					 .words = "no trusted connection" };
	expect_distrust(&trouble);
}

static void an_expired_certificate_is_not_trusted(void **state UNUSED)
{
	const struct trouble trouble = { "IP:127.0.0.1", "-1", .words = "no trusted connection" };
	expect_distrust(&trouble);
}

static void a_certificate_for_another_name_is_not_trusted(void **state UNUSED)
{
	const struct trouble trouble = { "DNS:elsewhere", "1", .words = "no trusted connection" };
	expect_distrust(&trouble);
}

static void an_engine_may_ask_for_a_certificate(void **state UNUSED)
{
	const struct trouble trouble = { "IP:127.0.0.1", "1", .no_certificate = true,
					 .words = "certificates: " };
	expect_distrust(&trouble);
}

static void the_authorities_of_the_system_are_not_enough(void **state UNUSED)
{
	begin("IP:127.0.0.1", "1");
	forget("ca.pem");
	EXPECT_ERROR(engine_open(&fixture.address, &fixture.engine, &fixture.err),
		     ERROR_UNAVAILABLE, "no trusted connection");
}

static void missing_certificates_are_named(void **state UNUSED)
{
	begin("IP:127.0.0.1", "1");
	replace_string(&fixture.address.tls, "/nowhere/certificates");
	EXPECT_ERROR(engine_open(&fixture.address, &fixture.engine, &fixture.err),
		     ERROR_UNAVAILABLE, "cannot read the certificates");
}

/* Neither a word of ours goes to a server without TLS, nor is its answer taken. */
static void an_engine_without_tls_is_not_spoken_to(void **state UNUSED)
{
	begin("IP:127.0.0.1", "1");
	replace_string(&fixture.address.tls, NULL);
	EXPECT_ERROR(engine_open(&fixture.address, &fixture.engine, &fixture.err),
		     ERROR_UNAVAILABLE, "did not complete its answer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, end)
		TEST(both_sides_prove_who_they_are),
		TEST(an_unknown_authority_is_not_trusted),
		TEST(an_expired_certificate_is_not_trusted),
		TEST(a_certificate_for_another_name_is_not_trusted),
		TEST(an_engine_may_ask_for_a_certificate),
		TEST(the_authorities_of_the_system_are_not_enough),
		TEST(missing_certificates_are_named),
		TEST(an_engine_without_tls_is_not_spoken_to),
#undef TEST
	};
	if (!program_is_installed("python3") || !program_is_installed("openssl"))
		return skip_all("python3 or openssl is missing");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
