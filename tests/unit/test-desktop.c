/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Notifications over a message bus of the test, with a process that plays the desktop.
 */
#include "unit/service-fixture.h"

#include "driver/systemd/desktop.h"

#include <sys/wait.h>

#define DESKTOP "org.freedesktop.Notifications"

static const struct desktop_text text = { "api <b>", "waits for you", true };

struct shown {
	int fd;
	bool done;
};

static int on_notify(sd_bus_message *message, void *userdata, sd_bus_error *error UNUSED)
{
	const char *app, *icon, *summary, *body, *key;
	uint32_t id;
	uint8_t urgency;
	struct shown *shown = userdata;
	if (sd_bus_message_is_method_call(message, DESKTOP, "Notify") <= 0)
		return 0;
	if (sd_bus_message_read(message, "susss", &app, &id, &icon, &summary, &body) < 0 ||
	    sd_bus_message_skip(message, "as") < 0 ||
	    sd_bus_message_read(message, "a{sv}", 1, &key, "y", &urgency) < 0)
		_exit(2);
	dprintf(shown->fd, "%s|%s|%s|%s=%u", app, summary, body, key, urgency);
	shown->done = true;
	return sd_bus_reply_method_return(message, "u", 7);
}

/* In a process of its own: the notifier waits for the answer. */
static void play_desktop(const char *address, int ready, int fd)
{
	sd_bus *bus = NULL;
	struct shown shown = { .fd = fd };
	if (sd_bus_new(&bus) < 0 || sd_bus_set_address(bus, address) < 0 ||
	    sd_bus_set_bus_client(bus, 1) < 0 || sd_bus_start(bus) < 0 ||
	    sd_bus_request_name(bus, DESKTOP, 0) < 0 ||
	    sd_bus_add_filter(bus, NULL, on_notify, &shown) < 0 || write(ready, "", 1) != 1)
		_exit(1);
	while (!shown.done) {
		if (sd_bus_process(bus, NULL) == 0)
			(void)sd_bus_wait(bus, UINT64_C(20000000));
	}
	(void)sd_bus_flush(bus);
	_exit(0);
}

static void the_desktop_shows_the_texts(void **state)
{
	struct fixture *f = *state;
	int ready[2], said[2], status;
	char word, line[200] = "";
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(said, O_CLOEXEC), 0);
	pid_t desktop = fork();
	assert_true(desktop >= 0);
	if (desktop == 0)
		play_desktop(f->address, ready[1], said[1]);
	assert_int_equal(read(ready[0], &word, 1), 1);
	assert_int_equal(desktop_notify(f->directory, &text, clock_ms() + PLENTY_MS, &f->err), 0);
	assert_true(read(said[0], line, sizeof(line) - 1) > 0);
	assert_string_equal(line, "agentdeck|api <b>|waits for you|urgency=2");
	assert_int_equal(waitpid(desktop, &status, 0), desktop);
	assert_int_equal(status, 0);
	for (int i = 0; i < 2; i++) {
		(void)close(ready[i]);
		(void)close(said[i]);
	}
}

static void without_a_desktop_nothing_happens(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(desktop_notify(f->directory, &text, clock_ms() + PLENTY_MS, &f->err),
			 DESKTOP_NONE);
	assert_int_equal(desktop_notify("/nonexistent", &text, clock_ms() + PLENTY_MS, &f->err),
			 DESKTOP_NONE);
	assert_null(f->err.message);
}

static void a_desktop_that_hangs_holds_nobody(void **state)
{
	struct fixture *f = *state;
	/* The caller has the name and never answers: nothing turns its loop. */
	assert_true(sd_bus_request_name_async(f->caller, NULL, DESKTOP, 0, NULL, NULL) >= 0);
	turn(f);
	int r = desktop_notify(f->directory, &text, clock_ms() + 200, &f->err);
	while (r == DESKTOP_NONE) {
		turn(f);
		r = desktop_notify(f->directory, &text, clock_ms() + 200, &f->err);
	}
	assert_int_equal(r, -1);
	assert_int_equal(f->err.code, ERROR_TIMEOUT);
}

int main(int argc UNUSED, char *argv[])
{
	const struct CMUnitTest tests[] = {
		BUS_ONLY(the_desktop_shows_the_texts),
		BUS_ONLY(without_a_desktop_nothing_happens),
		BUS_ONLY(a_desktop_that_hangs_holds_nobody),
	};
	int r = begin(argv);
	return r ? r : cmocka_run_group_tests(tests, NULL, NULL);
}
