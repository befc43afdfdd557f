/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Those who listen to the supervisor on the user bus.
 */
#include "unit/service-fixture.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

static void append(const struct service_session *session, void *closure)
{
	strbuf_addf(closure, "%s %s %s %s %d %lld;", session->id, session->status,
		    or_empty(session->title), or_empty(session->directory), session->desired,
		    (long long)session->since_us);
}

/* Read what is there, after waiting for it where that is necessary. */
static int listen_to(struct fixture *f, struct service_client *client, struct strbuf *heard)
{
	struct pollfd wait = { .fd = service_client_descriptor(client), .events = POLLIN };
	size_t before = heard->length;
	int r = service_client_read(client, append, heard, &f->err);
	if (r != 0 || heard->length > before)
		return r;
	assert_int_equal(service_client_deadline(client), INT64_MAX);
	assert_int_equal(poll(&wait, 1, PLENTY_MS), 1);
	return service_client_read(client, append, heard, &f->err);
}

static void changes_are_heard(void **state)
{
	struct fixture *f = *state;
	struct service_client *client;
	cleanup_strbuf struct strbuf heard = { 0 };
	assert_int_equal(service_client_open(f->directory, NULL, &client, &f->err), 0);
	service_changed(f->service, &api);
	service_removed(f->service, "77aa");
	while (!strstr(strbuf_text(&heard), "77aa"))
		assert_int_equal(listen_to(f, client, &heard), 0);
	assert_string_equal(strbuf_text(&heard),
			    "3f2a running api /home/\\377 1 1700000000000001;77aa removed   0 0;");
	service_client_close(client);
}

static void what_others_say_in_its_name_is_not_heard(void **state)
{
	struct fixture *f = *state;
	struct service_client *client;
	cleanup_strbuf struct strbuf heard = { 0 };
	sd_bus_message *signal = NULL;
	assert_int_equal(service_client_open(f->directory, NULL, &client, &f->err), 0);
	/* Whichever of these is the client. */
	for (unsigned i = 0; i < 9; i++) {
		cleanup_free char *to = xasprintf(":1.%u", i);
		assert_true(sd_bus_message_new_signal(f->caller, &signal, PATH, NAME, "InstanceRemoved") >= 0);
		assert_true(sd_bus_message_append(signal, "s", "forged") >= 0);
		assert_true(sd_bus_message_set_destination(signal, to) >= 0);
		assert_true(sd_bus_send(f->caller, signal, NULL) >= 0);
		signal = sd_bus_message_unref(signal);
	}
	/* The answer comes after the bus has handed those out. */
	sd_bus_message_unref(call(f, "Get", "api"));
	service_removed(f->service, "77aa");
	while (!heard.length)
		assert_int_equal(listen_to(f, client, &heard), 0);
	assert_string_equal(strbuf_text(&heard), "77aa removed   0 0;");
	service_client_close(client);
}

static void a_supervisor_that_goes_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct service_client *client;
	cleanup_strbuf struct strbuf heard = { 0 };
	assert_int_equal(service_client_open(f->directory, NULL, &client, &f->err), 0);
	service_changed(f->service, &web);
	service_close(TAKE_PTR(f->service));
	/* Another one is another one. */
	assert_int_equal(open_service(f), 0);
	int r = 0;
	while (r == 0)
		r = listen_to(f, client, &heard);
	assert_int_equal(r, SERVICE_ABSENT);
	assert_string_equal(strbuf_text(&heard), "77aa stopped web  0 0;");
	service_client_close(client);

	assert_int_equal(service_client_open(f->directory, NULL, &client, &f->err), 0);
	child_abandon(&f->daemon);
	r = 0;
	while (r == 0)
		r = listen_to(f, client, &heard);
	assert_int_equal(r, SERVICE_ABSENT);
	service_client_close(client);
}

/* The question is asked by another process, since the service answers in this one. */
static int opened_for(struct fixture *f, const char *state)
{
	struct service_client *client = NULL;
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(service_client_open(f->directory, state, &client, NULL));
	assert_true(child > 0);
	while (waitpid(child, &status, WNOHANG) == 0)
		(void)sd_event_run(f->event, 10 * 1000);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void only_the_supervisor_of_the_wished_directory_is_followed(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(opened_for(f, "/other"), SERVICE_ABSENT);
	assert_int_equal(opened_for(f, "/state"), 0);
	assert_int_equal(opened_for(f, NULL), 0);
}

static void without_a_supervisor_there_is_none(void **state)
{
	struct fixture *f = *state;
	struct service_client *client;
	pid_t pid;
	assert_int_equal(service_owner(f->directory, &pid, &f->err), SERVICE_ABSENT);
	assert_int_equal(service_client_open(f->directory, NULL, &client, &f->err), SERVICE_ABSENT);
}

static void its_process_is_known(void **state)
{
	struct fixture *f = *state;
	pid_t pid = 0;
	assert_int_equal(service_owner(f->directory, &pid, &f->err), 0);
	assert_int_equal(pid, getpid());
}

int main(int argc UNUSED, char *argv[])
{
	const struct CMUnitTest tests[] = {
		TEST(changes_are_heard),
		TEST(only_the_supervisor_of_the_wished_directory_is_followed),
		TEST(what_others_say_in_its_name_is_not_heard),
		TEST(a_supervisor_that_goes_is_noticed),
		BUS_ONLY(without_a_supervisor_there_is_none),
		TEST(its_process_is_known),
	};
	int r = begin(argv);
	return r ? r : cmocka_run_group_tests(tests, NULL, NULL);
}
