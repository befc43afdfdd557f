/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The supervisor's interface on the user bus, and who may use it.
 */
#include "unit/service-fixture.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/wait.h>

static void assert_refused(sd_bus_message *answer, const char *name, const char *part)
{
	const sd_bus_error *error = sd_bus_message_get_error(answer);
	assert_non_null(error);
	assert_string_equal(error->name, name);
	if (!strstr(error->message, part))
		fail_msg("\"%s\" is not in \"%s\"", part, error->message);
	sd_bus_message_unref(answer);
}

/* "key=value key=value ..." of one a{sv}. */
static char *read_dictionary(sd_bus_message *answer)
{
	struct strbuf text = { 0 };
	assert_true(sd_bus_message_enter_container(answer, 'a', "{sv}") > 0);
	while (sd_bus_message_enter_container(answer, 'e', "sv") > 0) {
		const char *key, *contents, *string;
		uint64_t number;
		int flag;
		assert_true(sd_bus_message_read(answer, "s", &key) > 0);
		assert_true(sd_bus_message_peek_type(answer, NULL, &contents) > 0);
		if (streq(contents, "s")) {
			assert_true(sd_bus_message_read(answer, "v", "s", &string) > 0);
			strbuf_addf(&text, "%s=%s;", key, string);
		} else if (streq(contents, "b")) {
			assert_true(sd_bus_message_read(answer, "v", "b", &flag) > 0);
			strbuf_addf(&text, "%s=%s;", key, flag ? "yes" : "no");
		} else {
			assert_true(sd_bus_message_read(answer, "v", "t", &number) > 0);
			strbuf_addf(&text, "%s=%llu;", key, (unsigned long long)number);
		}
		assert_true(sd_bus_message_exit_container(answer) >= 0);
	}
	assert_true(sd_bus_message_exit_container(answer) >= 0);
	return strbuf_take(&text);
}

#define API                                                                                 \
	"id=3f2a;profile=default;title=api;group=work;agent=claude;path=/home/\\377;"       \
	"session_id=11-22;status=running;activity=busy;desired=yes;since=1700000000000001;" \
	"activity_since=1700000000000002;"
#define WEB "id=77aa;title=web;status=stopped;reason=stopped by hand;desired=no;"

static void assert_outcome(sd_bus_message *answer, const char *outcome)
{
	const char *text = NULL;
	assert_true(sd_bus_message_read(answer, "s", &text) > 0);
	assert_string_equal(text, outcome);
	sd_bus_message_unref(answer);
}

static void every_session_is_listed_with_what_is_known_of_it(void **state)
{
	sd_bus_message *answer = call(*state, "List", NULL);
	assert_true(sd_bus_message_enter_container(answer, 'a', "a{sv}") > 0);
	cleanup_free char *first = read_dictionary(answer), *second = read_dictionary(answer);
	assert_string_equal(first, API);
	assert_string_equal(second, WEB);
	assert_int_equal(sd_bus_message_at_end(answer, 0), 1);
	sd_bus_message_unref(answer);
}

static void one_session_is_shown(void **state)
{
	sd_bus_message *answer = call(*state, "Get", "api");
	cleanup_free char *session = read_dictionary(answer);
	assert_string_equal(session, API);
	sd_bus_message_unref(answer);
}

static void an_unknown_session_is_an_error_with_a_name(void **state)
{
	static const char *const methods[] = { "Get", "Start", "Stop", "Restart" };
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		assert_refused(call(f, methods[i], "no\nsuch"), "io.agentdeck.Error.NotFound",
			       "\"no\\nsuch\"");
	assert_int_equal(f->acted, 0);
}

static void a_verb_is_answered_when_it_is_done(void **state)
{
	static const struct {
		const char *method;
		enum service_verb verb;
	} cases[] = { { "Start", SERVICE_START },
		      { "Stop", SERVICE_STOP },
		      { "Restart", SERVICE_RESTART } };
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		sd_bus_message *answer = NULL;
		send_call(f, cases[i].method, "api", &answer);
		wait_for_act(f);
		assert_int_equal(f->verb, cases[i].verb);
		assert_string_equal(f->target, "api");
		/* Other callers get answers in the meantime. */
		sd_bus_message_unref(call(f, "Get", "api"));
		assert_null(answer);
		service_answer(TAKE_PTR(f->waiting), "running");
		while (!answer)
			turn(f);
		assert_outcome(answer, "running");
	}
}

static void what_went_wrong_is_told(void **state)
{
	struct fixture *f = *state;
	sd_bus_message *answer = NULL;
	send_call(f, "Start", "api", &answer);
	wait_for_act(f);
	service_answer_failure(TAKE_PTR(f->waiting), "no such directory: /\xff");
	while (!answer)
		turn(f);
	assert_refused(answer, "io.agentdeck.Error.Failed", "no such directory: /\\377");
}

static void recover_says_how_many_came_back(void **state)
{
	struct fixture *f = *state;
	sd_bus_message *answer = NULL;
	uint32_t revived, failed;
	send_call(f, "Recover", NULL, &answer);
	wait_for_act(f);
	assert_int_equal(f->verb, SERVICE_RECOVER);
	assert_null(f->target);
	service_answer_recovered(TAKE_PTR(f->waiting), 71, 1);
	while (!answer)
		turn(f);
	assert_true(sd_bus_message_read(answer, "uu", &revived, &failed) > 0);
	assert_int_equal(revived, 71);
	assert_int_equal(failed, 1);
	sd_bus_message_unref(answer);
}

/* No message arrives: the loop itself knows when the time is over. */
static void a_caller_may_stop_waiting(void **state)
{
	struct fixture *f = *state;
	sd_bus_message *answer = NULL;
	assert_true(sd_bus_set_method_call_timeout(f->caller, 50000) >= 0);
	send_call(f, "Start", "api", &answer);
	wait_for_act(f);
	while (!answer)
		turn(f);
	assert_refused(answer, "org.freedesktop.DBus.Error.NoReply", "timed out");
	service_answer(TAKE_PTR(f->waiting), "running");
}

static void calls_that_nobody_answers_end_together(void **state)
{
	struct fixture *f = *state;
	sd_bus_message *answers[20] = { NULL };
	sd_bus_message_unref(call(f, "Get", "api"));
	assert_int_equal(kill(f->daemon.pid, SIGSTOP), 0);
	assert_true(sd_bus_set_method_call_timeout(f->caller, 50000) >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		send_call(f, "Get", "api", &answers[i]);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		while (!answers[i])
			turn(f);
		assert_refused(answers[i], "org.freedesktop.DBus.Error.NoReply", "timed out");
	}
}

static void a_caller_that_has_gone_is_no_trouble(void **state)
{
	struct fixture *f = *state;
	sd_bus_message *answer = NULL;
	send_call(f, "Start", "api", &answer);
	wait_for_act(f);
	disconnect_caller(f);
	service_answer(TAKE_PTR(f->waiting), "running");
	connect_caller(f);
	sd_bus_message_unref(call(f, "Get", "api"));
	assert_null(answer);
}

static void who_waits_when_it_closes_is_told(void **state)
{
	struct fixture *f = *state;
	sd_bus_message *answer = NULL;
	send_call(f, "Start", "api", &answer);
	wait_for_act(f);
	service_close(TAKE_PTR(f->service));
	while (!answer)
		turn(f);
	assert_refused(answer, "io.agentdeck.Error.Failed", "ends");
	service_answer_failure(TAKE_PTR(f->waiting), "too late to tell");
}

/* ---- who may call --------------------------------------------------------------------------- */

/* Returns 0 if it was refused as it should be. */
static int call_as_nobody(const char *address, const char *method, const char *target)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus *bus;
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return 2;
	if (sd_bus_new(&bus) < 0 || sd_bus_set_address(bus, address) < 0 ||
	    sd_bus_set_bus_client(bus, 1) < 0 || sd_bus_start(bus) < 0)
		return 3;
	int r = sd_bus_call_method(bus, NAME, PATH, NAME, method, &error, NULL, target ? "s" : NULL,
				   target);
	return r < 0 && sd_bus_error_has_name(&error, SD_BUS_ERROR_ACCESS_DENIED) ? 0 : 4;
}

static void note_end(void *context)
{
	*(bool *)context = true;
}

static void assert_refused_to_nobody(struct fixture *f, const char *method, const char *target)
{
	bool has_ended = false;
	struct loop_source *end;
	struct process_id id;
	int status;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(call_as_nobody(f->address, method, target));
	assert_int_equal(process_identify(pid, &id, NULL), 0);
	assert_int_equal(loop_add_end(f->loop, &id, note_end, &has_ended, &end, NULL), 0);
	while (!has_ended)
		turn(f);
	loop_remove(end);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		fail_msg("%s as another user: %d", method, status);
}

static void another_user_is_refused(void **state)
{
	struct fixture *f = *state;
	if (geteuid() != 0)
		skip();
	assert_refused_to_nobody(f, "List", NULL);
	assert_refused_to_nobody(f, "Get", "api");
	assert_refused_to_nobody(f, "Start", "api");
	assert_refused_to_nobody(f, "Recover", NULL);
	assert_int_equal(f->listed + f->acted, 0);
}

/* ---- coming and going ----------------------------------------------------------------------- */

static void a_second_supervisor_is_told_that_the_name_is_taken(void **state)
{
	struct fixture *f = *state;
	struct service *second = NULL;
	int r = service_open(f->directory, f->loop, &operations, f, &second, &f->err);
	assert_int_equal(r, SERVICE_TAKEN);
	assert_null(second);
	sd_bus_message_unref(call(f, "Get", "api"));
	/* It gets the name when the first one has gone. */
	service_close(TAKE_PTR(f->service));
	assert_int_equal(open_service(f), 0);
}

static void no_bus_is_an_outcome(void **state)
{
	struct fixture *f = *state;
	pid_t pid;
	child_abandon(&f->daemon);
	assert_int_equal(open_service(f), SERVICE_NO_BUS);
	assert_int_equal(service_owner(f->directory, &pid, &f->err), SERVICE_NO_BUS);
	assert_int_equal(service_owner("/nonexistent", &pid, &f->err), SERVICE_NO_BUS);
	assert_int_equal(f->err.code, ERROR_NONE);
}

static void without_one_below_the_runtime_directory_the_bus_of_the_environment_counts(void **state)
{
	struct fixture *f = *state;
	pid_t pid = 0;
	(void)setenv("DBUS_SESSION_BUS_ADDRESS", f->address, 1);
	int r = service_owner("/nonexistent", &pid, &f->err);
	(void)setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
	int below = service_owner(f->directory, &pid, &f->err);
	(void)unsetenv("DBUS_SESSION_BUS_ADDRESS");
	assert_int_equal(r, 0);
	assert_int_equal(below, 0);
	assert_int_equal(pid, getpid());
}

static void a_bus_that_does_not_answer_is_given_up_on(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(kill(f->daemon.pid, SIGSTOP), 0);
	int r = open_service(f);
	assert_int_equal(kill(f->daemon.pid, SIGCONT), 0);
	assert_int_equal(r, -1);
	assert_string_equal(error_code_name(f->err.code), "TIMEOUT");
}

static void without_a_bus_the_loop_goes_on(void **state)
{
	struct fixture *f = *state;
	sd_bus_message *answer = NULL;
	send_call(f, "Start", "api", &answer);
	wait_for_act(f);
	assert_false(service_is_lost(f->service));
	child_abandon(&f->daemon);
	while (!service_is_lost(f->service) || !answer)
		turn(f);
	assert_true(sd_bus_message_is_method_error(answer, NULL));
	sd_bus_message_unref(answer);
	service_changed(f->service, &api);
	service_removed(f->service, "3f2a");
	service_answer(TAKE_PTR(f->waiting), "running");
	disconnect_caller(f);
	/* Wait until nothing is left that would wake the loop. */
	while (loop_turn(f->loop, 0, NULL) > 0)
		;
	assert_int_equal(loop_turn(f->loop, clock_ms() + 20, NULL), 0);
}

static void without_a_supervisor_there_is_none(void **state)
{
	struct fixture *f = *state;
	pid_t pid;
	assert_int_equal(service_owner(f->directory, &pid, &f->err), SERVICE_ABSENT);
}

static void its_process_is_known(void **state)
{
	struct fixture *f = *state;
	pid_t pid = 0;
	assert_int_equal(service_owner(f->directory, &pid, &f->err), 0);
	assert_int_equal(pid, getpid());
}

static int hear(sd_bus_message *signal, void *userdata, sd_bus_error *error UNUSED)
{
	const char *id;
	assert_true(sd_bus_message_read(signal, "s", &id) > 0);
	strbuf_addf(userdata, "%s %s ", sd_bus_message_get_member(signal), id);
	if (streq(sd_bus_message_get_member(signal), "InstanceChanged")) {
		cleanup_free char *text = read_dictionary(signal);
		strbuf_adds(userdata, text);
	}
	return 0;
}

static void changes_are_signalled(void **state)
{
	struct fixture *f = *state;
	cleanup_strbuf struct strbuf heard = { 0 };
	assert_true(sd_bus_match_signal_async(f->caller, NULL, NAME, PATH, NAME, NULL, hear, NULL,
					      &heard) >= 0);
	/* The answer comes when the match is in force. */
	sd_bus_message_unref(call(f, "Get", "api"));
	service_changed(f->service, &api);
	service_changed(f->service, &web);
	service_removed(f->service, "77aa");
	while (!strstr(strbuf_text(&heard), "InstanceRemoved"))
		turn(f);
	assert_string_equal(strbuf_text(&heard),
			    "InstanceChanged 3f2a " API "InstanceChanged 77aa " WEB
			    "InstanceRemoved 77aa ");
}

/* ---- the interface -------------------------------------------------------------------------- */

/* Copy the part of text between before and after; NULL when before does not occur. */
static char *between(const char *text, const char *before, const char *after)
{
	const char *start = strstr(text, before);
	if (!start)
		return NULL;
	start += strlen(before);
	const char *end = strstr(start, after);
	assert_non_null(end);
	return xstrndup(start, (size_t)(end - start));
}

/* "t name, t name" of the arguments in this direction. */
static char *arguments(const char *member, const char *direction)
{
	struct strbuf text = { 0 };
	for (const char *at = member; (at = strstr(at, "<arg ")); at++) {
		cleanup_free char *argument = between(at, "<arg ", "/>");
		cleanup_free char *type = between(argument, "type=\"", "\"");
		cleanup_free char *name = between(argument, "name=\"", "\"");
		cleanup_free char *way = between(argument, "direction=\"", "\"");
		assert_non_null(name);
		if (way && !streq(way, direction))
			continue;
		strbuf_addf(&text, "%s%s %s", text.length ? ", " : "", type, name);
	}
	return strbuf_take(&text);
}

static void add_members(struct strvec *lines, const char *interface, const char *kind)
{
	cleanup_free char *open = xasprintf("<%s name=", kind);
	cleanup_free char *end = xasprintf("</%s>", kind);
	for (const char *at = interface; (at = strstr(at, open)); at++) {
		cleanup_free char *member = between(at, open, end);
		cleanup_free char *name = between(member, "\"", "\"");
		cleanup_free char *in = arguments(member, "in"), *out = arguments(member, "out");
		if (streq(kind, "signal"))
			strvec_pushf(lines, "| `%s(%s)` |", name, in);
		else if (*out)
			strvec_pushf(lines, "| `%s(%s) -> (%s)` |", name, in, out);
	}
}

static void the_interface_is_the_documented_one(void **state)
{
	struct fixture *f = *state;
	sd_bus_message *answer = NULL;
	cleanup_strvec struct strvec lines = { 0 };
	cleanup_strbuf struct strbuf manual = { 0 };
	const char *xml, *source = getenv("top_srcdir");
	unsigned rows = 0;

	int r = sd_bus_call_method_async(f->caller, NULL, NAME, PATH,
					 "org.freedesktop.DBus.Introspectable", "Introspect", take,
					 &answer, "");
	assert_true(r >= 0);
	while (!answer)
		turn(f);
	assert_true(sd_bus_message_read(answer, "s", &xml) > 0);
	cleanup_free char *interface = between(xml, "<interface name=\"" NAME "\">",
					       "</interface>");
	assert_non_null(interface);
	add_members(&lines, interface, "method");
	add_members(&lines, interface, "signal");
	assert_int_equal(lines.count, 8);
	assert_non_null(
		strstr(interface, "<property name=\"Version\" type=\"s\" access=\"read\">"));
	assert_non_null(
		strstr(interface, "<property name=\"StateDirectory\" type=\"s\" access=\"read\">"));
	strvec_push(&lines, "| `StateDirectory` (`s`) |");
	strvec_push(&lines, "| `Version` (`s`) |");

	cleanup_free char *file = path_join(source ? source : ".", "docs/bus.md");
	assert_int_equal(fs_read(AT_FDCWD, file, 1 << 20, &manual, NULL), 0);
	for (size_t i = 0; i < lines.count; i++)
		if (!strstr(manual.data, lines.items[i]))
			fail_msg("not in docs/bus.md: %s", lines.items[i]);
	cleanup_free char *table = between(manual.data, "| member | what |", "\n\n");
	for (const char *at = table; at && (at = strstr(at, "\n| `")); at++)
		rows++;
	assert_int_equal(rows, lines.count);
	sd_bus_message_unref(answer);
}

int main(int argc UNUSED, char *argv[])
{
	const struct CMUnitTest tests[] = {
		TEST(every_session_is_listed_with_what_is_known_of_it),
		TEST(one_session_is_shown),
		TEST(an_unknown_session_is_an_error_with_a_name),
		TEST(a_verb_is_answered_when_it_is_done),
		TEST(what_went_wrong_is_told),
		TEST(recover_says_how_many_came_back),
		TEST(a_caller_may_stop_waiting),
		TEST(calls_that_nobody_answers_end_together),
		TEST(a_caller_that_has_gone_is_no_trouble),
		TEST(who_waits_when_it_closes_is_told),
		TEST(another_user_is_refused),
		TEST(a_second_supervisor_is_told_that_the_name_is_taken),
		BUS_ONLY(no_bus_is_an_outcome),
		TEST(without_one_below_the_runtime_directory_the_bus_of_the_environment_counts),
		BUS_ONLY(a_bus_that_does_not_answer_is_given_up_on),
		TEST(without_a_bus_the_loop_goes_on),
		BUS_ONLY(without_a_supervisor_there_is_none),
		TEST(its_process_is_known),
		TEST(changes_are_signalled),
		TEST(the_interface_is_the_documented_one),
	};
	int r = begin(argv);
	return r ? r : cmocka_run_group_tests(tests, NULL, NULL);
}
