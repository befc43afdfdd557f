/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A container engine for a test: tests/unit/fake-engine in one of its dialects, or the real one
 * that AGENTDECK_TEST_ENGINE names, with the files of AGENTDECK_TEST_ENGINE_FILES (tests/engines).
 */
#pragma once

#include "unit/scratch.h"

#include "base/clock.h"
#include "driver/engine/engine-internal.h"
#include "driver/engine/http-internal.h"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Files: image.tar, a root file system; good.tar and bad.tar, contexts of a build on it. */
struct fixture {
	const char *dialect; /* NULL: a real engine */
	char *files;
	struct engine_address address;
	struct engine *engine;
	struct error err;
	pid_t pid;
	int input; /* the fake ends with it */
};

static struct fixture fixture;

static inline int skip_all(const char *why)
{
	(void)fprintf(stderr, "skip: %s\n", why);
	return 77;
}

/* what, how: the further words of its command line.  Returns what it says: "ready", and the port. */
static inline char *fake_run(struct fixture *f, const char *what, const char *how)
{
	int input[2], output[2];
	char ready[32] = "";
	const char *source = getenv("top_srcdir");
	cleanup_free char *program = xasprintf("%s/tests/unit/fake-engine", source ? source : ".");
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	f->pid = fork();
	if (f->pid == 0) {
		(void)dup2(input[0], 0);
		(void)dup2(output[1], 1);
		(void)execlp("python3", "python3", program, f->dialect, what, how, NULL);
		_exit(127);
	}
	(void)close(input[0]);
	(void)close(output[1]);
	f->input = input[1];
	assert_true(read(output[0], ready, sizeof(ready) - 1) > 0);
	(void)close(output[0]);
	return xstrdup(ready);
}

static inline void fake_start(struct fixture *f)
{
	cleanup_free char *socket = path_join(scratch, f->dialect);
	cleanup_free char *ready UNUSED = fake_run(f, socket, NULL);
	f->address.url = xasprintf("unix://%s", socket);
}

/* With the certificates of this directory. */
static inline void fake_start_tls(struct fixture *f, const char *directory)
{
	cleanup_free char *path = path_join(scratch, directory);
	cleanup_free char *ready = fake_run(f, path, "tls");
	assert_true(starts_with(ready, "ready "));
	const char *port = ready + strlen("ready ");
	f->address.url = xasprintf("tcp://127.0.0.1:%.*s", (int)strspn(port, "0123456789"), port);
}

static inline void fake_end(struct fixture *f)
{
	if (f->pid <= 0)
		return;
	(void)close(f->input);
	(void)kill(f->pid, SIGKILL);
	assert_int_equal(waitpid(f->pid, NULL, 0), f->pid);
	f->pid = 0;
}

/* A request that the driver does not make: what it answers, or NULL. */
static inline struct json_object *say(const char *method, const char *format, ...)
	PRINTF_LIKE(2, 3);
static inline struct json_object *say(const char *method, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cleanup_free char *path = xvasprintf(format, args);
	va_end(args);
	struct http *http = NULL;
	cleanup_http_answer struct http_answer answer = { 0 };
	struct http_call call = { .method = method, .path = path, .timeout_ms = 20000 };
	assert_int_equal(http_open(&fixture.address, &http, &fixture.err), 0);
	if (http_request(http, &call, &answer, &fixture.err) < 0)
		fail_msg("%s: %s", path, fixture.err.message);
	assert_in_range(answer.status, 200, 299);
	http_close(http);
	return TAKE_PTR(answer.json);
}
#define tell(...) json_object_put(say("POST", __VA_ARGS__))

static inline int engine_set_up(void **state)
{
	if (set_up(state) < 0)
		return -1;
	alarm(fixture.dialect ? HUNG_S : 10 * HUNG_S);
	if (fixture.dialect) {
		fake_start(&fixture);
		fixture.files = xstrdup(scratch);
		put("image.tar", "tar");
		put("good.tar", "agentdeck/ladder:1 ok");
		put("bad.tar", "agentdeck/ladder:1 bad");
	} else {
		fixture.address.url = xstrdup(getenv("AGENTDECK_TEST_ENGINE"));
		fixture.files = xstrdup(getenv("AGENTDECK_TEST_ENGINE_FILES"));
	}
	if (engine_open(&fixture.address, &fixture.engine, &fixture.err) < 0)
		fail_msg("%s", fixture.err.message);
	return 0;
}

static inline int engine_tear_down(void **state)
{
	engine_close(fixture.engine);
	engine_address_clear(&fixture.address);
	error_clear(&fixture.err);
	free(fixture.files);
	fake_end(&fixture);
	fixture = (struct fixture){ .dialect = fixture.dialect };
	return tear_down(state);
}

static inline int open_file(const char *name)
{
	cleanup_free char *path = path_join(fixture.files, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s is missing", path);
	return fd;
}

/* The result, and its message if it is an error that was not expected. */
static inline void expect(int result, int wanted, const char *what)
{
	if (result != wanted)
		fail_msg("%s: %d instead of %d: %s", what, result, wanted,
			 or_empty(fixture.err.message));
	error_clear(&fixture.err);
}
#define EXPECT(call, wanted) expect(call, wanted, #call)

static inline void expect_error(int result, enum error_code code, const char *words,
				const char *what)
{
	if (result != -1 || fixture.err.code != code || !strstr(fixture.err.message, words))
		fail_msg("%s: %d, %s, instead of %s '%s': %s", what, result,
			 error_code_name(fixture.err.code), error_code_name(code), words,
			 or_empty(fixture.err.message));
	error_clear(&fixture.err);
}
#define EXPECT_ERROR(call, code, words) expect_error(call, code, words, #call)
