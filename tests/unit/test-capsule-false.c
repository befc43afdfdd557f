/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Capsules that agentdeck cannot use: an agent can put a socket of its own in the place of its
 * capsule, and a capsule may be where its process cannot be seen.
 */
#include "unit/capsule-fixture.h"

#include "capsule/frame.h"
#include "engine/place/container/container-internal.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

static int listener;

static int set_up_listener(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (set_up(state) < 0)
		return -1;
	put("token", TOKEN "\n");
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", here,
		       CAPSULE_SOCKET);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
			       listen(listener, 1) < 0
		       ? -1
		       : 0;
}

static int tear_down_listener(void **state)
{
	(void)close(listener);
	return tear_down(state);
}

/* A process that accepts one connection, and speaks on it. */
static pid_t speak(void (*words)(int fd))
{
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const int fd = accept(listener, NULL, NULL);
		if (fd >= 0)
			words(fd);
		_exit(fd < 0);
	}
	return pid;
}

static int ended(pid_t pid)
{
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void put_greeting(struct strbuf *out)
{
	const struct frame_hello hello = { .version = FRAME_VERSION };
	frame_put_hello(out, &hello);
}

static void put_end(struct strbuf *out)
{
	const struct frame_status status = { FRAME_ENDED, { "one", 1 }, 7, 0, false };
	frame_put_status(out, FRAME_STATUS, &status);
}

static void say(int fd, const struct strbuf *out)
{
	(void)send(fd, out->data, out->length, MSG_NOSIGNAL);
}

/* Until the client has gone. */
static void linger(int fd)
{
	char text[4096];
	while (recv(fd, text, sizeof(text), 0) > 0)
		;
}

/* --- descriptors ------------------------------------------------------------------------------ */

enum { MESSAGES = 50, EACH = 2 };

static void pass_descriptors(int fd, const struct strbuf *text)
{
	union {
		struct cmsghdr align;
		char data[CMSG_SPACE(EACH * sizeof(int))];
	} ancillary = { 0 };
	const int passed[EACH] = { listener, listener };
	struct iovec part = { text->data, text->length };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &ancillary,
				  .msg_controllen = sizeof(ancillary) };
	struct cmsghdr *item = CMSG_FIRSTHDR(&message);
	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_RIGHTS;
	item->cmsg_len = CMSG_LEN(sizeof(passed));
	memcpy(CMSG_DATA(item), passed, sizeof(passed));
	(void)sendmsg(fd, &message, MSG_NOSIGNAL);
}

static void pass_many(int fd)
{
	struct strbuf greeting = { 0 }, beat = { 0 }, end = { 0 };
	put_greeting(&greeting);
	put_end(&end);
	frame_put_number(&beat, FRAME_HEARTBEAT, 1);
	say(fd, &greeting);
	for (int i = 0; i < MESSAGES; i++)
		pass_descriptors(fd, &beat);
	say(fd, &end);
	linger(fd);
}

static size_t count_descriptors(void)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_list(fd, &names, NULL), 0);
	return names.count;
}

static void descriptors_that_it_passes_are_closed(void **state UNUSED)
{
	const size_t before = count_descriptors();
	const pid_t speaker = speak(pass_many);
	struct capsule *capsule = connected();
	assert_int_equal(status_of(capsule).code, 7);
	capsule_close(capsule);
	assert_int_equal(ended(speaker), 0);
	assert_int_equal(count_descriptors(), before);
}

/* --- time ------------------------------------------------------------------------------------- */

/* All of it is there before the client asks. */
static void say_much(int fd)
{
	struct strbuf out = { 0 };
	put_greeting(&out);
	for (int i = 0; i < MESSAGES; i++)
		frame_put_number(&out, FRAME_HEARTBEAT, 1);
	put_end(&out);
	say(fd, &out);
	linger(fd);
}

static void one_that_talks_is_late_all_the_same(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	struct capsule_status status;
	const pid_t speaker = speak(say_much);
	struct capsule *capsule = connected();
	assert_int_equal(capsule_status(capsule, clock_ms(), &status, &err), -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	capsule_close(capsule);
	assert_int_equal(ended(speaker), 0);
}

/* --- memory ----------------------------------------------------------------------------------- */

enum { FLOOD = 16 << 20 };

/* Ends with 1 if the window has taken it all. */
static void ask_without_end(int fd)
{
	struct strbuf out = { 0 }, greeting = { 0 };
	put_greeting(&greeting);
	say(fd, &greeting);
	while (out.length < (64 << 10))
		frame_put_number(&out, FRAME_HEARTBEAT, 1);
	for (size_t sent = 0; sent < FLOOD; sent += out.length)
		if (send(fd, out.data, out.length, MSG_NOSIGNAL) < 0)
			_exit(0);
	_exit(1);
}

static void a_window_keeps_no_answers_that_nobody_reads(void **state UNUSED)
{
	cleanup_free char *program = built("agentdeck-view");
	int typed[2];
	const pid_t speaker = speak(ask_without_end);
	assert_int_equal(pipe(typed), 0);
	const pid_t view = fork();
	if (view == 0) {
		(void)dup2(typed[0], STDIN_FILENO);
		(void)close(listener);
		(void)execl(program, "agentdeck-view", scratch, RUN, "1", NULL);
		_exit(127);
	}
	assert_int_equal(ended(speaker), 0);
	assert_int_equal(ended(view), ENDPOINT_EXIT_GONE);
	(void)close(typed[0]);
	(void)close(typed[1]);
}

/* --- agentdeck in a container ----------------------------------------------------------------- */

/* In namespaces of its own, in which the capsule has no number. */
static void await_in_a_container(struct ladder *ladder)
{
	cleanup_error struct error err = { 0 };
	cleanup_capsule struct capsule *capsule = NULL;
	if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
		_exit(77);
	const pid_t pid = fork();
	if (pid > 0)
		_exit(ended(pid));
	put("said", reach_await_capsule(ladder, soon(), &capsule, &err) < 0 ? err.message : "");
	_exit(0);
}

static void agentdeck_in_a_container_is_refused(void **state UNUSED)
{
	cleanup_instance struct instance *instance = instance_new();
	struct ladder ladder = { .instance = instance };
	instance->recipe = recipe_new();
	instance->recipe->address = xstrdup("unix:///run/docker.sock");
	instance->run.capsule = xstrdup(scratch);
	capsule_close(connected());
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		await_in_a_container(&ladder);
	const int status = ended(pid);
	if (status == 77)
		skip();
	assert_int_equal(status, 0);
	cleanup_free char *said = get("said");
	if (!strstr(said, "agentdeck not in a container itself"))
		fail_msg("%s", said);
	/* A capsule that holds no agent is told to end. */
	assert_int_equal(capsule_ended(), 0);
}

#define FALSE(test) cmocka_unit_test_setup_teardown(test, set_up_listener, tear_down_listener)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FALSE(descriptors_that_it_passes_are_closed),
		FALSE(one_that_talks_is_late_all_the_same),
		FALSE(a_window_keeps_no_answers_that_nobody_reads),
		cmocka_unit_test_setup_teardown(agentdeck_in_a_container_is_refused, set_up_capsule,
						tear_down_capsule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
