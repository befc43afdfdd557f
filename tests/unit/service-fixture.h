/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tests of src/driver/systemd/service.h: the supervisor on a test bus, which other users may
 * enter, and its callers, all in this process and on one event loop.
 */
#pragma once

#include "unit/files.h"
#include "unit/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/loop.h"
#include "base/program.h"
#include "driver/systemd/bus.h"
#include "driver/systemd/service.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>

#define NAME "io.agentdeck.Supervisor1"
#define PATH "/io/agentdeck/Supervisor1"

enum { PLENTY_MS = 20000, NOBODY = 65534 };

struct fixture {
	char *directory; /* the "user_runtime": its bus is <directory>/bus */
	char *address, *config;
	struct child daemon;
	struct loop *loop;
	sd_bus *caller;
	struct bus_attachment *attachment;
	struct service *service;
	struct error err;

	struct service_call *waiting; /* the call that act() got and nobody has answered yet */
	enum service_verb verb;
	char *target;
	unsigned listed, acted;
};

static const struct facts api = {
	.key = { .profile = "default", .id = "3f2a" },
	.title = "api",
	.group = "work",
	.agent = "claude",
	.directory = "/home/\xff",
	.session_id = "11-22",
	.state = STATE_RUNNING,
	.activity = "busy",
	.is_desired = true,
	.state_since_us = 1700000000000001,
	.activity_since_us = 1700000000000002,
};
static const struct facts web = {
	.key.id = "77aa", .title = "web", .state = STATE_STOPPED, .reason = "stopped by hand"
};

static inline void list(service_each each, void *closure, void *context)
{
	((struct fixture *)context)->listed++;
	each(&api, closure);
	each(&web, closure);
}

static inline bool get(const char *target, service_each each, void *closure, void *context UNUSED)
{
	if (!streq(target, "api") && !streq(target, "3f2a"))
		return false;
	each(&api, closure);
	return true;
}

static inline void act(enum service_verb verb, const char *target, struct service_call *call,
		       void *context)
{
	struct fixture *f = context;
	assert_null(f->waiting);
	f->waiting = call;
	f->verb = verb;
	replace_string(&f->target, target);
	f->acted++;
}

static const struct service_operations operations = { "/state", list, get, act };

/* ---- the bus -------------------------------------------------------------------------------- */

static inline void start_daemon(struct fixture *f)
{
	cleanup_strbuf struct strbuf config = { 0 };
	char line[256];
	strbuf_addf(&config,
		    "<busconfig><type>session</type><listen>%s</listen><auth>EXTERNAL</auth>"
		    "<policy context='default'><allow user='*'/><allow own='*'/>"
		    "<allow send_destination='*'/><allow receive_sender='*'/></policy></busconfig>",
		    f->address);
	write_path(f->config, config.data, config.length);
	const char *const argv[] = { "dbus-daemon",   "--nofork", "--print-address",
				     "--config-file", f->config,  NULL };
	const struct child_request request = { .argv = argv, .gate = true };
	assert_int_equal(child_start(&request, &f->daemon, NULL), 0);
	assert_true(read(f->daemon.output, line, sizeof(line)) > 0);
}

static inline void connect_caller(struct fixture *f)
{
	assert_int_equal(systemd_load(&f->err), 0);
	assert_true(sd_bus_new(&f->caller) >= 0);
	assert_true(sd_bus_set_address(f->caller, f->address) >= 0);
	assert_true(sd_bus_set_bus_client(f->caller, 1) >= 0);
	assert_true(sd_bus_start(f->caller) >= 0);
	assert_int_equal(bus_attach(f->caller, f->loop, &f->attachment, &f->err), 0);
}

static inline void disconnect_caller(struct fixture *f)
{
	(void)sd_bus_close_unref(TAKE_PTR(f->caller));
	bus_detach(TAKE_PTR(f->attachment));
}

static inline int set_up_bus(void **state)
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
	assert_int_equal(loop_new(&f->loop, NULL), 0);
	connect_caller(f);
	return 0;
}

static inline int open_service(struct fixture *f)
{
	return service_open(f->directory, f->loop, &operations, f, &f->service, &f->err);
}

static inline int set_up(void **state)
{
	(void)set_up_bus(state);
	assert_int_equal(open_service(*state), 0);
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;
	service_close(f->service);
	if (f->waiting)
		service_answer(f->waiting, "late");
	disconnect_caller(f);
	loop_free(f->loop);
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

/* ---- one who calls -------------------------------------------------------------------------- */

static inline void turn(struct fixture *f)
{
	assert_int_equal(loop_turn(f->loop, clock_ms() + PLENTY_MS, NULL), 1);
}

static inline int take(sd_bus_message *answer, void *userdata, sd_bus_error *error UNUSED)
{
	*(sd_bus_message **)userdata = sd_bus_message_ref(answer);
	return 1;
}

/* The answer goes to *slot.  target NULL: a method without arguments. */
static inline void send_call(struct fixture *f, const char *method, const char *target,
			     sd_bus_message **slot)
{
	int r = sd_bus_call_method_async(f->caller, NULL, NAME, PATH, NAME, method, take, slot,
					 target ? "s" : NULL, target);
	assert_true(r >= 0);
}

static inline sd_bus_message *call(struct fixture *f, const char *method, const char *target)
{
	sd_bus_message *answer = NULL;
	send_call(f, method, target, &answer);
	while (!answer)
		turn(f);
	return answer;
}

static inline void wait_for_act(struct fixture *f)
{
	while (!f->waiting)
		turn(f);
}

#define TEST(test)     cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define BUS_ONLY(test) cmocka_unit_test_setup_teardown(test, set_up_bus, tear_down)

/* 0: continue; else the exit status of a test that cannot run here. */
static inline int begin(char *argv[])
{
	if (!program_is_installed("dbus-daemon")) {
		(void)fprintf(stderr, "skipped: no dbus-daemon\n");
		return getenv("AGENTDECK_TEST_STRICT") ? 1 : 77;
	}
	(void)unsetenv("DBUS_SESSION_BUS_ADDRESS");
	if (argv[1])
		cmocka_set_test_filter(argv[1]);
	return 0;
}
