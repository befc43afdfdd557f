/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tests of src/driver/systemd/unit.h: tests/helper/fake-systemd1 plays the user manager.
 */
#pragma once

#include "unit/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "driver/systemd/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

/* Long, for what must happen; short, for what never does. */
enum { PLENTY_MS = 20000, SOON_MS = 50 };

struct fixture {
	char *directory; /* the "user_runtime", with every character that an address must escape */
	char *log;
	struct child manager;
	struct unit_bus *bus;
	struct error err;
};

static inline void start_fake(struct fixture *f, const char *mode)
{
	cleanup_free char *self = realpath("/proc/self/exe", NULL);
	assert_non_null(self);
	*strrchr(self, '/') = '\0';
	cleanup_free char *program = path_join(self, "../helper/fake-systemd1");
	cleanup_free char *socket = path_join(f->directory, "systemd/private");
	const char *const direct[] = { program, mode, socket, f->log, NULL };
	const char *const bus[] = { program, mode, f->log, NULL };
	const struct child_request request = { .argv = streq(mode, "direct") ? direct : bus,
					       .gate = true };
	char line[16];

	assert_int_equal(child_start(&request, &f->manager, NULL), 0);
	assert_int_equal(read(f->manager.output, line, sizeof(line)), strlen("ready\n"));
}

static inline int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	char root[] = "/tmp/test-unit-XXXXXX";
	assert_non_null(mkdtemp(root));
	f->directory = path_join(root, "a b,c;d%e:f=");
	f->log = path_join(f->directory, "log");
	cleanup_free char *systemd = path_join(f->directory, "systemd");
	assert_int_equal(mkdir(f->directory, 0700), 0);
	assert_int_equal(mkdir(systemd, 0700), 0);
	*state = f;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;
	if (!f)
		return 0;
	unit_bus_close(f->bus);
	child_abandon(&f->manager);
	error_clear(&f->err);
	*strrchr(f->directory, '/') = '\0';
	assert_int_equal(fs_remove_tree(AT_FDCWD, f->directory, NULL), 0);
	free(f->directory);
	free(f->log);
	free(f);
	return 0;
}

static inline int start_with(struct fixture *f, const char *name, int64_t deadline_ms)
{
	static const struct limits limits = {
		.memory_high = 1000, .memory_max = 2000, .tasks_max = 30, .cpu_weight = 40
	};
	const struct unit_scope scope = { .name = name,
					  .slice = "agentdeck-0123abcd.slice",
					  .description = "a scope",
					  .pid = 4711,
					  .limits = limits,
					  .stop_timeout_s = 5 };
	return unit_start_scope(f->bus, &scope, deadline_ms, &f->err);
}

static inline int start(struct fixture *f, const char *name)
{
	return start_with(f, name, clock_ms() + PLENTY_MS);
}

static inline void assert_error(struct fixture *f, int r, enum error_code code, const char *part)
{
	assert_int_equal(r, -1);
	assert_string_equal(error_code_name(f->err.code), error_code_name(code));
	if (!strstr(f->err.message, part))
		fail_msg("\"%s\" is not in \"%s\"", part, f->err.message);
	error_clear(&f->err);
}

/* How many of the calls that the fake has seen start like this. */
static inline unsigned count_calls(const struct fixture *f, const char *prefix)
{
	cleanup_strbuf struct strbuf log = { 0 };
	unsigned count = 0;
	assert_int_equal(fs_read(AT_FDCWD, f->log, 1 << 20, &log, NULL), 0);
	char *rest = log.data;
	for (const char *line; (line = strsep(&rest, "\n"));)
		count += starts_with(line, prefix);
	return count;
}

static inline char *last_call(const struct fixture *f)
{
	cleanup_strbuf struct strbuf log = { 0 };
	assert_int_equal(fs_read(AT_FDCWD, f->log, 1 << 20, &log, NULL), 0);
	assert_true(log.length > 1);
	log.data[log.length - 1] = '\0';
	const char *newline = strrchr(log.data, '\n');
	return xstrdup(newline ? newline + 1 : log.data);
}
