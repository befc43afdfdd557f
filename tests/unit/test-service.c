/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The supervisor on a bus of its own, which other users may enter, and those who talk to it: all in this process, by one
 * event loop, but for the other user.
 */
#include "unit/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "driver/service.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#define NAME "io.agentdeck.Supervisor1"
#define PATH "/io/agentdeck/Supervisor1"

enum { PLENTY_MS = 20000, NOBODY = 65534 };

struct fixture {
	char *directory; /* the "user_runtime": its bus is <directory>/bus */
	char *address, *config;
	struct child daemon;
	sd_event *event;
	sd_bus *caller;
	struct service *service;
	struct error err;

	struct service_call *waiting; /* what act() was given and nobody has answered yet */
	enum service_verb verb;
	char *target;
	unsigned listed, acted;
};

static const struct service_session api = {
	.id = "3f2a", .profile = "default", .title = "api", .group = "work", .agent = "claude",
	.directory = "/home/\xff", .session_id = "11-22", .status = "running", .activity = "busy",
	.desired = true, .since_us = 1700000000000001, .activity_since_us = 1700000000000002,
};
static const struct service_session web = { .id = "77aa", .title = "web", .status = "stopped",
					    .reason = "stopped by hand" };

static void list(service_each each, void *closure, void *context)
{
	((struct fixture *)context)->listed++;
	each(&api, closure);
	each(&web, closure);
}

static bool get(const char *target, service_each each, void *closure, void *context UNUSED)
{
	if (!streq(target, "api") && !streq(target, "3f2a"))
		return false;
	each(&api, closure);
	return true;
}

static void act(enum service_verb verb, const char *target, struct service_call *call, void *context)
{
	struct fixture *f = context;
	assert_null(f->waiting);
	f->waiting = call;
	f->verb = verb;
	replace_string(&f->target, target);
	f->acted++;
}

static const struct service_operations operations = { list, get, act };

/* ---- the bus ------------------------------------------------------------------------------------ */

static void start_daemon(struct fixture *f)
{
	cleanup_strbuf struct strbuf config = { 0 };
	char line[256];
	strbuf_addf(&config,
		    "<busconfig><type>session</type><listen>%s</listen><auth>EXTERNAL</auth>"
		    "<policy context='default'><allow user='*'/><allow own='*'/>"
		    "<allow send_destination='*'/><allow receive_sender='*'/></policy></busconfig>",
		    f->address);
	assert_int_equal(fs_replace(AT_FDCWD, f->config, config.data, config.length, FS_VOLATILE, NULL), 0);
	const char *const argv[] = { "dbus-daemon", "--nofork", "--print-address", "--config-file",
				     f->config, NULL };
	const struct child_request request = { .argv = argv, .gate = true };
	assert_int_equal(child_start(&request, &f->daemon, NULL), 0);
	assert_true(read(f->daemon.output, line, sizeof(line)) > 0);
}

static void connect_to(struct fixture *f, sd_bus **ret)
{
	assert_true(sd_bus_new(ret) >= 0);
	assert_true(sd_bus_set_address(*ret, f->address) >= 0);
	assert_true(sd_bus_set_bus_client(*ret, 1) >= 0);
	assert_true(sd_bus_start(*ret) >= 0);
	assert_true(sd_bus_attach_event(*ret, f->event, 0) >= 0);
}

static int set_up_bus(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	char root[] = "/tmp/test-service-XXXXXX";
	assert_non_null(mkdtemp(root));
	assert_int_equal(chmod(root, 0755), 0);
	f->directory = xstrdup(root);
	f->address = xasprintf("unix:path=%s/bus", root);
	f->config = path_join(root, "bus.conf");
	*state = f;
	start_daemon(f);
	assert_true(sd_event_new(&f->event) >= 0);
	connect_to(f, &f->caller);
	return 0;
}

static int open_service(struct fixture *f)
{
	return service_open(f->directory, f->event, &operations, f, &f->service, &f->err);
}

static int set_up(void **state)
{
	(void)set_up_bus(state);
	assert_int_equal(open_service(*state), 0);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	service_close(f->service);
	if (f->waiting)
		service_answer(f->waiting, "late");
	(void)sd_bus_close_unref(f->caller);
	(void)sd_event_unref(f->event);
	child_abandon(&f->daemon);
	error_clear(&f->err);
	assert_int_equal(fs_remove_tree(AT_FDCWD, f->directory, NULL), 0);
	free(f->target);
	free(f->directory);
	free(f->address);
	free(f->config);
	free(f);
	return 0;
}

/* ---- one who calls -------------------------------------------------------------------------------- */

static void turn(struct fixture *f)
{
	assert_true(sd_event_run(f->event, (uint64_t)PLENTY_MS * 1000) > 0);
}

static int take(sd_bus_message *answer, void *userdata, sd_bus_error *error UNUSED)
{
	*(sd_bus_message **)userdata = sd_bus_message_ref(answer);
	return 1;
}

/* The answer goes to *slot.  target NULL: a method without arguments. */
static void send_call(struct fixture *f, const char *method, const char *target, sd_bus_message **slot)
{
	int r = sd_bus_call_method_async(f->caller, NULL, NAME, PATH, NAME, method, take, slot,
					 target ? "s" : NULL, target);
	assert_true(r >= 0);
}

static sd_bus_message *call(struct fixture *f, const char *method, const char *target)
{
	sd_bus_message *answer = NULL;
	send_call(f, method, target, &answer);
	while (!answer)
		turn(f);
	return answer;
}

static void wait_for_act(struct fixture *f)
{
	while (!f->waiting)
		turn(f);
}

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

#define API                                                                                       \
	"id=3f2a;profile=default;title=api;group=work;agent=claude;path=/home/\\377;"             \
	"session_id=11-22;status=running;activity=busy;desired=yes;since=1700000000000001;"       \
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
	} cases[] = { { "Start", SERVICE_START }, { "Stop", SERVICE_STOP },
		      { "Restart", SERVICE_RESTART } };
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		sd_bus_message *answer = NULL;
		send_call(f, cases[i].method, "api", &answer);
		wait_for_act(f);
		assert_int_equal(f->verb, cases[i].verb);
		assert_string_equal(f->target, "api");
		/* Others are served in the meantime. */
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

static void a_caller_that_has_gone_is_no_trouble(void **state)
{
	struct fixture *f = *state;
	sd_bus_message *answer = NULL;
	send_call(f, "Start", "api", &answer);
	wait_for_act(f);
	(void)sd_bus_close_unref(TAKE_PTR(f->caller));
	service_answer(TAKE_PTR(f->waiting), "running");
	connect_to(f, &f->caller);
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

/* ---- who may call --------------------------------------------------------------------------------- */

/* 0: refused as it should be. */
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
	int r = sd_bus_call_method(bus, NAME, PATH, NAME, method, &error, NULL, target ? "s" : NULL, target);
	return r < 0 && sd_bus_error_has_name(&error, SD_BUS_ERROR_ACCESS_DENIED) ? 0 : 4;
}

static int on_child(sd_event_source *source UNUSED, const siginfo_t *info, void *userdata)
{
	*(int *)userdata = info->si_code == CLD_EXITED ? info->si_status : 128;
	return 0;
}

static void assert_refused_to_nobody(struct fixture *f, const char *method, const char *target)
{
	int status = -1;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(call_as_nobody(f->address, method, target));
	assert_true(sd_event_add_child(f->event, NULL, pid, WEXITED, on_child, &status) >= 0);
	while (status < 0)
		turn(f);
	if (status != 0)
		fail_msg("%s as another user: %d", method, status);
}

static void another_user_is_refused(void **state)
{
	struct fixture *f = *state;
	sigset_t mask;
	if (geteuid() != 0)
		skip();
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &mask, NULL);
	assert_refused_to_nobody(f, "List", NULL);
	assert_refused_to_nobody(f, "Get", "api");
	assert_refused_to_nobody(f, "Start", "api");
	assert_refused_to_nobody(f, "Recover", NULL);
	assert_int_equal(f->listed + f->acted, 0);
}

/* ---- coming and going ----------------------------------------------------------------------------- */

static void a_second_supervisor_is_told_that_the_name_is_taken(void **state)
{
	struct fixture *f = *state;
	struct service *second = NULL;
	int r = service_open(f->directory, f->event, &operations, f, &second, &f->err);
	assert_int_equal(r, SERVICE_TAKEN);
	assert_null(second);
	sd_bus_message_unref(call(f, "Get", "api"));
	/* And gets it when the first one has gone. */
	service_close(TAKE_PTR(f->service));
	assert_int_equal(open_service(f), 0);
}

static void no_bus_is_an_outcome(void **state)
{
	struct fixture *f = *state;
	pid_t pid;
	struct service_client *client;
	child_abandon(&f->daemon);
	assert_int_equal(open_service(f), SERVICE_NO_BUS);
	assert_int_equal(service_owner(f->directory, &pid, &f->err), SERVICE_NO_BUS);
	assert_int_equal(service_client_open(f->directory, &client, &f->err), SERVICE_NO_BUS);
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
	(void)sd_bus_close_unref(TAKE_PTR(f->caller));
	/* Nothing is left that would wake the loop. */
	while (sd_event_run(f->event, 0) > 0)
		;
	assert_int_equal(sd_event_run(f->event, 20000), 0);
}

/* ---- the other side ------------------------------------------------------------------------------- */

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
	assert_int_equal(service_client_open(f->directory, &client, &f->err), 0);
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
	assert_int_equal(service_client_open(f->directory, &client, &f->err), 0);
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
	assert_int_equal(service_client_open(f->directory, &client, &f->err), 0);
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

	assert_int_equal(service_client_open(f->directory, &client, &f->err), 0);
	child_abandon(&f->daemon);
	r = 0;
	while (r == 0)
		r = listen_to(f, client, &heard);
	assert_int_equal(r, SERVICE_ABSENT);
	service_client_close(client);
}

static void without_a_supervisor_there_is_none(void **state)
{
	struct fixture *f = *state;
	struct service_client *client;
	pid_t pid;
	assert_int_equal(service_owner(f->directory, &pid, &f->err), SERVICE_ABSENT);
	assert_int_equal(service_client_open(f->directory, &client, &f->err), SERVICE_ABSENT);
}

static void its_process_is_known(void **state)
{
	struct fixture *f = *state;
	pid_t pid = 0;
	assert_int_equal(service_owner(f->directory, &pid, &f->err), 0);
	assert_int_equal(pid, getpid());
}

/* ---- the interface -------------------------------------------------------------------------------- */

/* Copy what stands between before and after in text; NULL when before is not there. */
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

	int r = sd_bus_call_method_async(f->caller, NULL, NAME, PATH, "org.freedesktop.DBus.Introspectable",
					 "Introspect", take, &answer, "");
	assert_true(r >= 0);
	while (!answer)
		turn(f);
	assert_true(sd_bus_message_read(answer, "s", &xml) > 0);
	cleanup_free char *interface = between(xml, "<interface name=\"" NAME "\">", "</interface>");
	assert_non_null(interface);
	add_members(&lines, interface, "method");
	add_members(&lines, interface, "signal");
	assert_int_equal(lines.count, 8);
	assert_non_null(strstr(interface, "<property name=\"Version\" type=\"s\" access=\"read\">"));
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

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define BUS_ONLY(test) cmocka_unit_test_setup_teardown(test, set_up_bus, tear_down)

int main(int argc UNUSED, char *argv[])
{
	const struct CMUnitTest tests[] = {
		TEST(every_session_is_listed_with_what_is_known_of_it),
		TEST(one_session_is_shown),
		TEST(an_unknown_session_is_an_error_with_a_name),
		TEST(a_verb_is_answered_when_it_is_done),
		TEST(what_went_wrong_is_told),
		TEST(recover_says_how_many_came_back),
		TEST(a_caller_that_has_gone_is_no_trouble),
		TEST(who_waits_when_it_closes_is_told),
		TEST(another_user_is_refused),
		TEST(a_second_supervisor_is_told_that_the_name_is_taken),
		BUS_ONLY(no_bus_is_an_outcome),
		TEST(without_one_below_the_runtime_directory_the_bus_of_the_environment_counts),
		BUS_ONLY(a_bus_that_does_not_answer_is_given_up_on),
		TEST(without_a_bus_the_loop_goes_on),
		TEST(changes_are_heard),
		TEST(what_others_say_in_its_name_is_not_heard),
		TEST(a_supervisor_that_goes_is_noticed),
		BUS_ONLY(without_a_supervisor_there_is_none),
		TEST(its_process_is_known),
		TEST(the_interface_is_the_documented_one),
	};
	cleanup_free char *program = NULL;
	if (child_find_program("dbus-daemon", NULL, NULL, &program, NULL) != 0) {
		(void)fprintf(stderr, "skipped: no dbus-daemon\n");
		return getenv("AGENTDECK_TEST_STRICT") ? 1 : 77;
	}
	(void)unsetenv("DBUS_SESSION_BUS_ADDRESS");
	if (argv[1])
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
