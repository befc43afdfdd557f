/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * D-Bus with a deadline on every wait: against tests/helper/fake-systemd1, which is the peer itself,
 * and against sockets on which nobody speaks. The attachment to a loop is in test-service.c.
 */
#include "unit/unit-fixture.h"

#include "driver/systemd/bus.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#define NAME      "org.freedesktop.systemd1"
#define PATH      "/org/freedesktop/systemd1"
#define INTERFACE NAME ".Manager"

static char *address_in(const struct fixture *f, const char *name)
{
	cleanup_free char *path = path_join(f->directory, name);
	return bus_address_of_path(path);
}

static sd_bus *connect_to_fake(struct fixture *f)
{
	sd_bus *bus = NULL;
	start_fake(f, "direct");
	cleanup_free char *address = address_in(f, "systemd/private");
	if (bus_connect(address, true, "the fake", clock_ms() + PLENTY_MS, &bus, &f->err) < 0)
		fail_msg("%s", f->err.message);
	return bus;
}

static sd_bus_message *new_call(sd_bus *bus, const char *method, const char *argument)
{
	struct error err = { 0 };
	sd_bus_message *call = NULL;
	assert_int_equal(bus_new_call(bus, &(struct bus_method){ NAME, PATH, INTERFACE, method },
				      &call, &err, argument ? "s" : NULL, argument),
			 0);
	return call;
}

static void an_address_escapes_what_is_not_plain(void **state UNUSED)
{
	cleanup_free char *plain = bus_address_of_path("/run/user/1000/bus-1_2.x");
	assert_string_equal(plain, "unix:path=/run/user/1000/bus-1_2.x");
	cleanup_free char *odd = bus_address_of_path("/a b,c;d%e:f=\xff");
	assert_string_equal(odd, "unix:path=/a%20b%2cc%3bd%25e%3af%3d%ff");
}

static void a_call_is_answered(void **state)
{
	struct fixture *f = *state;
	cleanup_bus sd_bus *bus = connect_to_fake(f);
	cleanup_message sd_bus_message *call = new_call(bus, "Subscribe", NULL), *answer = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	assert_int_equal(bus_call(bus, call, clock_ms() + PLENTY_MS, &answer, &refusal, &f->err),
			 0);
	assert_non_null(answer);
	/* the answer may be unwanted */
	cleanup_message sd_bus_message *again = new_call(bus, "Subscribe", NULL);
	assert_int_equal(bus_call(bus, again, clock_ms() + PLENTY_MS, NULL, &refusal, &f->err), 0);
}

static void a_refusal_is_an_outcome_with_its_text(void **state)
{
	struct fixture *f = *state;
	cleanup_bus sd_bus *bus = connect_to_fake(f);
	cleanup_message sd_bus_message *call = new_call(bus, "NoSuchMethod", NULL);
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	assert_int_equal(bus_call(bus, call, clock_ms() + PLENTY_MS, NULL, &refusal, &f->err),
			 BUS_REFUSED);
	assert_int_equal(f->err.code, ERROR_NONE);
	assert_true(sd_bus_error_has_name(&refusal, SD_BUS_ERROR_UNKNOWN_METHOD));
	assert_non_null(strstr(bus_refusal_text(&refusal), "NoSuchMethod"));
}

static void a_refusal_without_a_message_has_its_name(void **state UNUSED)
{
	const sd_bus_error named = { .name = "org.example.No" }, none = { 0 };
	assert_string_equal(bus_refusal_text(&named), "org.example.No");
	assert_string_equal(bus_refusal_text(&none), "refused without a reason");
}

static void nobody_listens_is_unavailable(void **state)
{
	struct fixture *f = *state;
	sd_bus *bus = NULL;
	cleanup_free char *address = address_in(f, "nobody");
	int r = bus_connect(address, true, "nobody", clock_ms() + PLENTY_MS, &bus, &f->err);
	assert_error(f, r, ERROR_UNAVAILABLE, "nobody");
	assert_null(bus);
}

/* A socket whose owner accepts nothing.  Returns its descriptor. */
static int silent_listener(const struct fixture *f, char **ret_address)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_free char *path = path_join(f->directory, "silent");
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 0), 0);
	*ret_address = bus_address_of_path(path);
	return fd;
}

static void a_peer_that_says_nothing_is_given_up_at_the_deadline(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *address = NULL;
	cleanup_close int listener UNUSED = silent_listener(f, &address);
	cleanup_bus sd_bus *bus = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	assert_int_equal(bus_connect(address, true, "silence", clock_ms() + PLENTY_MS, &bus, NULL),
			 0);
	cleanup_message sd_bus_message *call = new_call(bus, "Subscribe", NULL);
	int r = bus_call(bus, call, clock_ms() + SOON_MS, NULL, &refusal, &f->err);
	assert_error(f, r, ERROR_TIMEOUT, "silence does not answer");
	/* its queue is full now */
	sd_bus *second = NULL;
	r = bus_connect(address, true, "silence", clock_ms() + SOON_MS, &second, &f->err);
	assert_error(f, r, ERROR_TIMEOUT, "silence does not take connections");
	assert_null(second);
}

static void a_call_that_nobody_answers_ends_at_its_deadline(void **state)
{
	struct fixture *f = *state;
	cleanup_bus sd_bus *bus = connect_to_fake(f);
	cleanup_message sd_bus_message *call = new_call(bus, "StartTransientUnit", NULL);
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	assert_true(sd_bus_message_append(call, "ssa(sv)a(sa(sv))", "mute.scope", "fail", 0, 0) >=
		    0);
	int r = bus_call(bus, call, clock_ms() + SOON_MS, NULL, &refusal, &f->err);
	assert_error(f, r, ERROR_TIMEOUT, "the fake does not answer");
}

static void a_peer_that_goes_away_is_unavailable(void **state)
{
	struct fixture *f = *state;
	cleanup_bus sd_bus *bus = connect_to_fake(f);
	cleanup_message sd_bus_message *call = new_call(bus, "StartTransientUnit", NULL);
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	assert_true(sd_bus_message_append(call, "ssa(sv)a(sa(sv))", "vanish.scope", "fail", 0, 0) >=
		    0);
	int r = bus_call(bus, call, clock_ms() + PLENTY_MS, NULL, &refusal, &f->err);
	assert_error(f, r, ERROR_UNAVAILABLE, "the fake");
}

static void a_wait_ends_at_once_when_it_is_done(void **state)
{
	struct fixture *f = *state;
	cleanup_bus sd_bus *bus = connect_to_fake(f);
	bool done = true;
	assert_int_equal(bus_wait(bus, &done, 0, &f->err), 0);
	done = false;
	int r = bus_wait(bus, &done, clock_ms() + SOON_MS, &f->err);
	assert_error(f, r, ERROR_TIMEOUT, "the fake does not answer");
}

static void an_answer_of_the_wrong_type_is_told(void **state)
{
	struct fixture *f = *state;
	assert_error(f, bus_message_error(&f->err, -EBADMSG), ERROR_UNAVAILABLE,
		     "not what the interface promises");
	assert_error(f, bus_message_error(&f->err, -ENOBUFS), ERROR_SYSTEM, "D-Bus message");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_address_escapes_what_is_not_plain),
		TEST(a_call_is_answered),
		TEST(a_refusal_is_an_outcome_with_its_text),
		TEST(a_refusal_without_a_message_has_its_name),
		TEST(nobody_listens_is_unavailable),
		TEST(a_peer_that_says_nothing_is_given_up_at_the_deadline),
		TEST(a_call_that_nobody_answers_ends_at_its_deadline),
		TEST(a_peer_that_goes_away_is_unavailable),
		TEST(a_wait_ends_at_once_when_it_is_done),
		TEST(an_answer_of_the_wrong_type_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
