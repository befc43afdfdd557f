/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run whose terminal is real: the installed tmux, with a shell script in its pane.  The script's
 * environment names the session, as that of an agent does.
 */
#pragma once

#include "unit/fake-place.h"

#include "base/child.h"
#include "base/clock.h"
#include "driver/tmux/tmux.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

enum { TERMINAL_PLENTY_MS = 20000, TERMINAL_LOOK_MS = 20 };

/* The pane runs script, and sleeps when that has ended. */
static inline void terminal_start(struct instance *instance, const char *script)
{
	cleanup_strvec struct strvec argv = { 0 }, pane = { 0 }, environment = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error err = { 0 };
	struct tmux_started started;
	cleanup_free char *line = xasprintf("test $" ENV_PANE_DIED " && exec sleep 100; %s",
					    script);
	strvec_push_array(&pane, (const char *const[]){ "/bin/sh", "-c", line, NULL });
	strvec_push_array(&environment,
			  (const char *const[]){ "LC_ALL=C.UTF-8", "TERM=xterm-256color", NULL });
	/* Not for each test: a start in another test ends what has the mark of its session. */
#ifdef TERMINAL_IS_MARKED
	strvec_push(&environment, ENV_INSTANCE "=" FAKE_ID);
#endif
	strvec_pushf(&environment, "PATH=%s", getenv("PATH"));
	const struct tmux_options options = {
		.conf_file = "/dev/null", .title = "t", .pane = &pane, .columns = 80, .rows = 24
	};
	tmux_start_argv(instance->run.socket, &options, &argv);
	const struct child_request request = { .argv = (const char *const *)argv.items,
					       .environment = environment.items,
					       .new_session = true };
	if (child_run(&request, TERMINAL_PLENTY_MS, &result, &err) != 0 ||
	    tmux_parse_started(&result, &started, &err) != 0 ||
	    process_identify(started.server, &instance->run.server, &err) != 0 ||
	    process_identify(started.pane, &instance->run.pane, &err) != 0)
		fail_msg("no server: %s", or_empty(err.message));
}

static inline void terminal_stop(const struct instance *instance)
{
	(void)process_signal(&instance->run.server, SIGKILL, NULL);
	(void)process_wait_end(&instance->run.server, clock_ms() + TERMINAL_PLENTY_MS, NULL);
}

/* What the screen shows; the caller frees.  A loaded machine may be late with its answer, so it is
 * asked again. */
static inline char *terminal_capture(const struct instance *instance)
{
	const int64_t deadline = clock_ms() + TERMINAL_PLENTY_MS;
	cleanup_error struct error err = { 0 };
	char *screen = NULL;
	int r;
	do
		r = tmux_capture(instance->run.socket, 0, &screen, &err);
	while (r == TMUX_UNKNOWN && clock_ms() < deadline);
	if (r != 0)
		fail_msg("no screen: outcome %d, the server %s, its socket %s: %s", r,
			 process_alive(&instance->run.server) ? "lives" : "has ended",
			 access(instance->run.socket, F_OK) == 0 ? "is there" : "is not there",
			 or_empty(err.message));
	return screen;
}

/* Wait until the screen shows words. */
static inline void terminal_await(const struct instance *instance, const char *words)
{
	const int64_t deadline = clock_ms() + TERMINAL_PLENTY_MS;
	for (;; (void)poll(NULL, 0, TERMINAL_LOOK_MS)) {
		cleanup_free char *screen = terminal_capture(instance);
		if (strstr(screen, words))
			return;
		if (clock_ms() > deadline)
			fail_msg("the screen does not show \"%s\":\n%s", words, screen);
	}
}

/* 77 for main() when the installed tmux is of no use. */
static inline int terminal_skip(void)
{
	cleanup_free char *version = NULL;
	unsetenv("TMUX");
	if (tmux_version(&version, NULL) == 0 && tmux_version_is_enough(version))
		return 0;
	fprintf(stderr, "skipped: no tmux " TMUX_OLDEST " or newer\n");
	return 77;
}
