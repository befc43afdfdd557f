/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * src/base/loop.h
 */
#include "unit/test.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

struct scene {
	struct loop *loop;
	struct loop_source *source, *other;
	int calls;
	uint32_t events;
	int signal_number;
	int pipe[2];
	struct strvec order;
};

static int setup(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	if (loop_new(&scene->loop, NULL) != 0 || pipe2(scene->pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;
	loop_free(scene->loop);
	if (scene->pipe[0] >= 0)
		(void)close(scene->pipe[0]);
	if (scene->pipe[1] >= 0)
		(void)close(scene->pipe[1]);
	strvec_clear(&scene->order);
	free(scene);
	return 0;
}

static void run(struct scene *scene)
{
	struct error err = { 0 };
	if (loop_run(scene->loop, &err) != 0)
		fail_msg("%s", err.message);
}

static void exit_on_timer(void *context)
{
	struct scene *scene = context;
	loop_exit(scene->loop, 0);
}

/* By then all sources that are ready now have been handled, because the loop serves them in
 * turn. */
static void exit_soon(struct scene *scene)
{
	assert_int_equal(
		loop_add_timer(scene->loop, clock_ms() + 30, exit_on_timer, scene, NULL, NULL), 0);
}

static void write_byte(const struct scene *scene)
{
	assert_int_equal(write(scene->pipe[1], "x", 1), 1);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void exit_with_seven(void *context)
{
	struct scene *scene = context;
	loop_exit(scene->loop, 7);
}

static void run_returns_the_code_of_exit(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_timer(scene->loop, 0, exit_with_seven, scene, NULL, NULL), 0);
	assert_int_equal(loop_run(scene->loop, NULL), 7);
}

static void count_timer(void *context)
{
	struct scene *scene = context;
	scene->calls++;
}

static void nothing(void *context UNUSED)
{
}

static void an_exit_before_the_run_counts(void **state)
{
	struct scene *scene = *state;
	loop_exit(scene->loop, 3);
	assert_int_equal(loop_run(scene->loop, NULL), 3);
}

static void a_second_run_is_refused(void **state)
{
	struct scene *scene = *state;
	cleanup_error struct error err = { 0 };
	loop_exit(scene->loop, 0);
	run(scene);
	assert_true(loop_run(scene->loop, &err) < 0);
	assert_int_equal(err.code, ERROR_SYSTEM);
}

static void a_turn_handles_one_event(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_timer(scene->loop, 0, count_timer, scene, NULL, NULL), 0);
	assert_int_equal(loop_add_timer(scene->loop, 0, count_timer, scene, NULL, NULL), 0);
	assert_int_equal(loop_turn(scene->loop, INT64_MAX, NULL), 1);
	assert_int_equal(scene->calls, 1);
	assert_int_equal(loop_turn(scene->loop, 0, NULL), 1);
	assert_int_equal(scene->calls, 2);
}

static void a_turn_ends_at_its_deadline(void **state)
{
	struct scene *scene = *state;
	const int64_t deadline_ms = clock_ms() + 20;
	assert_int_equal(loop_turn(scene->loop, deadline_ms, NULL), 0);
	assert_true(clock_ms() >= deadline_ms);
	assert_int_equal(loop_turn(scene->loop, 0, NULL), 0);
}

static void set_the_timer_until_three(void *context)
{
	struct scene *scene = context;
	if (++scene->calls <= 3)
		assert_int_equal(loop_set_timer(scene->source, 0, NULL), 0);
}

static void what_prepares_runs_before_each_wait(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(
		loop_add_timer(scene->loop, INT64_MAX, nothing, scene, &scene->source, NULL), 0);
	loop_add_prepare(scene->loop, set_the_timer_until_three, scene, &scene->other);
	for (int i = 0; i < 3; i++)
		assert_int_equal(loop_turn(scene->loop, INT64_MAX, NULL), 1);
	assert_int_equal(loop_turn(scene->loop, 0, NULL), 0);
	assert_int_equal(scene->calls, 4);
	loop_remove(scene->other);
	assert_int_equal(loop_turn(scene->loop, 0, NULL), 0);
	assert_int_equal(scene->calls, 4);
}

static void nothing_and_null_can_be_removed(void **state UNUSED)
{
	loop_remove(NULL);
	loop_free(NULL);
}

/* --- descriptors ------------------------------------------------------------------------------ */

static void note_io(int fd, uint32_t events, void *context)
{
	struct scene *scene = context;
	char c;
	scene->calls++;
	scene->events = events;
	(void)!read(fd, &c, 1);
	loop_exit(scene->loop, 0);
}

static void a_descriptor_with_data_is_handled(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_io(scene->loop,
				     &(struct loop_io){ scene->pipe[0], EPOLLIN, note_io, scene },
				     &scene->source, NULL),
			 0);
	write_byte(scene);
	run(scene);
	assert_int_equal(scene->calls, 1);
	assert_int_equal(scene->events, EPOLLIN);
}

static void the_end_of_the_other_side_is_told(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_io(scene->loop,
				     &(struct loop_io){ scene->pipe[0], EPOLLIN, note_io, scene },
				     &scene->source, NULL),
			 0);
	(void)close(scene->pipe[1]);
	scene->pipe[1] = -1;
	run(scene);
	assert_true(scene->events & EPOLLHUP);
}

static void note_and_stay(int fd UNUSED, uint32_t events, void *context)
{
	struct scene *scene = context;
	scene->events |= events;
	if (++scene->calls == 3)
		loop_exit(scene->loop, 0);
}

static void what_is_left_unread_is_told_again(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(
		loop_add_io(scene->loop,
			    &(struct loop_io){ scene->pipe[0], EPOLLIN, note_and_stay, scene },
			    NULL, NULL),
		0);
	write_byte(scene);
	run(scene);
	assert_int_equal(scene->calls, 3);
}

static void only_the_events_asked_for_are_told(void **state)
{
	struct scene *scene = *state;
	int pair[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(loop_add_io(scene->loop,
				     &(struct loop_io){ pair[0], EPOLLIN, note_and_stay, scene },
				     &scene->source, NULL),
			 0);
	assert_int_equal(write(pair[1], "x", 1), 1);
	assert_int_equal(loop_set_io(scene->source, EPOLLOUT, NULL), 0);
	run(scene);
	assert_int_equal(scene->events, EPOLLOUT);
	loop_remove(scene->source);
	(void)close(pair[0]);
	(void)close(pair[1]);
}

static void a_descriptor_that_cannot_be_waited_for_is_an_error(void **state)
{
	struct scene *scene = *state;
	cleanup_error struct error err = { 0 };
	cleanup_error struct error twice = { 0 };
	cleanup_close int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(loop_add_io(scene->loop, &(struct loop_io){ fd, EPOLLIN, note_io, scene },
				&scene->source, &err) < 0);
	assert_int_equal(err.os_errno, EPERM);
	assert_null(scene->source);
	assert_int_equal(loop_add_io(scene->loop,
				     &(struct loop_io){ scene->pipe[0], EPOLLIN, note_io, scene },
				     NULL, NULL),
			 0);
	assert_true(loop_add_io(scene->loop,
				&(struct loop_io){ scene->pipe[0], EPOLLIN, note_io, scene },
				&scene->source, &twice) < 0);
	assert_int_equal(twice.os_errno, EEXIST);
}

/* --- removing in handlers --------------------------------------------------------------------- */

static void remove_oneself(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct scene *scene = context;
	scene->calls++;
	loop_remove(scene->source);
	scene->source = NULL;
	exit_soon(scene);
}

static void a_handler_may_remove_its_own_source(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(
		loop_add_io(scene->loop,
			    &(struct loop_io){ scene->pipe[0], EPOLLIN, remove_oneself, scene },
			    &scene->source, NULL),
		0);
	write_byte(scene);
	run(scene);
	assert_int_equal(scene->calls, 1);
}

static void remove_both(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct scene *scene = context;
	scene->calls++;
	loop_remove(scene->source);
	loop_remove(scene->other);
	exit_soon(scene);
}

static void a_removed_source_is_not_called_for_what_is_pending(void **state)
{
	struct scene *scene = *state;
	int copy = fcntl(scene->pipe[0], F_DUPFD_CLOEXEC, 0);
	assert_true(copy >= 0);
	assert_int_equal(
		loop_add_io(scene->loop,
			    &(struct loop_io){ scene->pipe[0], EPOLLIN, remove_both, scene },
			    &scene->source, NULL),
		0);
	assert_int_equal(loop_add_io(scene->loop,
				     &(struct loop_io){ copy, EPOLLIN, remove_both, scene },
				     &scene->other, NULL),
			 0);
	write_byte(scene);
	run(scene);
	assert_int_equal(scene->calls, 1);
	(void)close(copy);
}

static void remove_timer_and_exit(void *context)
{
	struct scene *scene = context;
	scene->calls++;
	loop_remove(scene->source);
	scene->source = NULL;
	loop_exit(scene->loop, 0);
}

static void a_timer_may_remove_itself(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_timer(scene->loop, 0, remove_timer_and_exit, scene,
					&scene->source, NULL),
			 0);
	run(scene);
	assert_int_equal(scene->calls, 1);
}

static void add_another(int fd, uint32_t events UNUSED, void *context)
{
	struct scene *scene = context;
	loop_remove(scene->source);
	assert_int_equal(loop_add_io(scene->loop, &(struct loop_io){ fd, EPOLLIN, note_io, scene },
				     NULL, NULL),
			 0);
}

static void a_handler_may_put_another_in_its_place(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(
		loop_add_io(scene->loop,
			    &(struct loop_io){ scene->pipe[0], EPOLLIN, add_another, scene },
			    &scene->source, NULL),
		0);
	write_byte(scene);
	run(scene);
	assert_int_equal(scene->calls, 1);
}

/* --- timers ----------------------------------------------------------------------------------- */

static void a_timer_runs_once(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_timer(scene->loop, -5, count_timer, scene, NULL, NULL), 0);
	exit_soon(scene);
	run(scene);
	assert_int_equal(scene->calls, 1);
}

static void a_timer_is_never_early(void **state)
{
	struct scene *scene = *state;
	for (int i = 0; i < 20; i++) {
		struct loop *loop;
		assert_int_equal(loop_new(&loop, NULL), 0);
		struct scene inner = { .loop = loop };
		int64_t at_ms = clock_ms() + i % 5 + 1;
		assert_int_equal(loop_add_timer(loop, at_ms, exit_on_timer, &inner, NULL, NULL), 0);
		assert_int_equal(loop_run(loop, NULL), 0);
		assert_true(clock_ms() >= at_ms);
		loop_free(loop);
	}
	assert_int_equal(scene->calls, 0);
}

static void first(void *context)
{
	struct scene *scene = context;
	strvec_push(&scene->order, "first");
}

static void second(void *context)
{
	struct scene *scene = context;
	strvec_push(&scene->order, "second");
	loop_exit(scene->loop, 0);
}

static void timers_come_in_the_order_of_their_times(void **state)
{
	struct scene *scene = *state;
	int64_t now = clock_ms();
	assert_int_equal(loop_add_timer(scene->loop, now + 20, second, scene, NULL, NULL), 0);
	assert_int_equal(loop_add_timer(scene->loop, now + 5, first, scene, NULL, NULL), 0);
	run(scene);
	assert_int_equal(scene->order.count, 2);
	assert_string_equal(scene->order.items[0], "first");
}

static void a_timer_for_never_waits_until_it_is_set(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_timer(scene->loop, INT64_MAX, count_timer, scene, &scene->source,
					NULL),
			 0);
	assert_int_equal(loop_add_timer(scene->loop, clock_ms() + 20, exit_on_timer, scene,
					&scene->other, NULL),
			 0);
	assert_int_equal(loop_set_timer(scene->source, 0, NULL), 0);
	run(scene);
	assert_int_equal(scene->calls, 1);
}

static void never_is_never(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_timer(scene->loop, 0, count_timer, scene, &scene->source, NULL),
			 0);
	assert_int_equal(loop_set_timer(scene->source, INT64_MAX, NULL), 0);
	exit_soon(scene);
	run(scene);
	assert_int_equal(scene->calls, 0);
}

static void set_the_timer(int fd, uint32_t events UNUSED, void *context)
{
	struct scene *scene = context;
	char c;
	(void)!read(fd, &c, 1);
	assert_int_equal(loop_set_timer(scene->source, clock_ms() + 5, NULL), 0);
}

static void a_timer_may_be_set_by_another_handler(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_timer(scene->loop, INT64_MAX, exit_on_timer, scene,
					&scene->source, NULL),
			 0);
	assert_int_equal(
		loop_add_io(scene->loop,
			    &(struct loop_io){ scene->pipe[0], EPOLLIN, set_the_timer, scene },
			    NULL, NULL),
		0);
	write_byte(scene);
	run(scene);
}

static void remove_the_other(void *context)
{
	struct scene *scene = context;
	loop_remove(scene->other);
	scene->other = NULL;
	exit_soon(scene);
}

static void a_timer_that_is_due_and_removed_runs_no_other(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_timer(scene->loop, 0, remove_the_other, scene, NULL, NULL), 0);
	assert_int_equal(loop_add_timer(scene->loop, 1, count_timer, scene, &scene->other, NULL),
			 0);
	assert_int_equal(loop_add_timer(scene->loop, clock_ms() + 600000, count_timer, scene, NULL,
					NULL),
			 0);
	run(scene);
	assert_int_equal(scene->calls, 0);
}

static void again_until_three(void *context)
{
	struct scene *scene = context;
	if (++scene->calls == 3)
		loop_exit(scene->loop, 0);
	else
		assert_int_equal(loop_set_timer(scene->source, 0, NULL), 0);
}

static void a_timer_may_be_set_again_by_its_handler(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(
		loop_add_timer(scene->loop, 0, again_until_three, scene, &scene->source, NULL), 0);
	run(scene);
	assert_int_equal(scene->calls, 3);
}

static void again_for_ever(void *context)
{
	struct scene *scene = context;
	assert_int_equal(loop_set_timer(scene->source, 0, NULL), 0);
}

static void a_timer_that_is_always_due_starves_nobody(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(
		loop_add_timer(scene->loop, 0, again_for_ever, scene, &scene->source, NULL), 0);
	assert_int_equal(loop_add_io(scene->loop,
				     &(struct loop_io){ scene->pipe[0], EPOLLIN, note_io, scene },
				     NULL, NULL),
			 0);
	write_byte(scene);
	run(scene);
	assert_int_equal(scene->calls, 1);
}

/* --- ends of processes ------------------------------------------------------------------------ */

static void note_end(void *context)
{
	struct scene *scene = context;
	scene->calls++;
	exit_soon(scene);
}

/* A child that lives until it is killed. */
static pid_t living_child(struct process_id *ret)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			(void)pause();
	assert_int_equal(process_identify(pid, ret, NULL), 0);
	return pid;
}

static void reap(pid_t pid)
{
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void the_end_of_a_process_is_told_once_before_it_is_reaped(void **state)
{
	struct scene *scene = *state;
	struct process_id id;
	pid_t pid = living_child(&id);
	assert_int_equal(loop_add_end(scene->loop, &id, note_end, scene, &scene->source, NULL), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	run(scene);
	assert_int_equal(scene->calls, 1);
	reap(pid);
}

static void the_end_of_a_process_that_is_no_child_is_told(void **state)
{
	struct scene *scene = *state;
	struct process_id id;
	pid_t grandchild = 0;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		grandchild = fork();
		if (grandchild == 0)
			for (;;)
				(void)pause();
		(void)!write(scene->pipe[1], &grandchild, sizeof(grandchild));
		_exit(0);
	}
	reap(pid);
	assert_int_equal(read(scene->pipe[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	assert_int_equal(process_identify(grandchild, &id, NULL), 0);
	assert_int_equal(loop_add_end(scene->loop, &id, note_end, scene, NULL, NULL), 0);
	assert_int_equal(kill(grandchild, SIGKILL), 0);
	run(scene);
	assert_int_equal(scene->calls, 1);
}

static void a_process_that_has_ended_is_gone(void **state)
{
	struct scene *scene = *state;
	struct error err = { 0 };
	struct process_id id;
	pid_t pid = living_child(&id);
	siginfo_t info;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(loop_add_end(scene->loop, &id, note_end, scene, &scene->source, &err),
			 LOOP_GONE);
	reap(pid);
	assert_int_equal(loop_add_end(scene->loop, &id, note_end, scene, &scene->source, &err),
			 LOOP_GONE);
	assert_null(scene->source);
	assert_int_equal(err.code, ERROR_NONE);
}

static void another_process_of_the_same_pid_does_not_count(void **state)
{
	struct scene *scene = *state;
	struct process_id id;
	pid_t pid = living_child(&id);
	id.start--;
	assert_int_equal(loop_add_end(scene->loop, &id, note_end, scene, &scene->source, NULL),
			 LOOP_GONE);
	assert_int_equal(kill(pid, SIGKILL), 0);
	reap(pid);
}

static void remove_end(void *context)
{
	struct scene *scene = context;
	scene->calls++;
	loop_remove(scene->source);
	loop_exit(scene->loop, 0);
}

static size_t open_descriptors(void)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_list(fd, &names, NULL), 0);
	return names.count;
}

static void the_handler_of_an_end_may_remove_it_and_leaves_no_descriptor(void **state)
{
	struct scene *scene = *state;
	struct process_id id;
	pid_t pid = living_child(&id);
	size_t before = open_descriptors();
	assert_int_equal(loop_add_end(scene->loop, &id, remove_end, scene, &scene->source, NULL),
			 0);
	assert_int_equal(open_descriptors(), before + 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	run(scene);
	assert_int_equal(scene->calls, 1);
	assert_int_equal(open_descriptors(), before);
	reap(pid);
}

/* --- signals ---------------------------------------------------------------------------------- */

static void note_signal(int signal_number, void *context)
{
	struct scene *scene = context;
	scene->calls++;
	scene->signal_number = signal_number;
	loop_exit(scene->loop, 0);
}

static void a_signal_is_handled_by_the_loop(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(loop_add_signal(scene->loop, SIGUSR1, note_signal, scene, NULL, NULL), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(scene->calls, 0);
	run(scene);
	assert_int_equal(scene->calls, 1);
	assert_int_equal(scene->signal_number, SIGUSR1);
}

static void a_second_handler_of_a_signal_is_refused(void **state)
{
	struct scene *scene = *state;
	cleanup_error struct error err = { 0 };
	assert_int_equal(loop_add_signal(scene->loop, SIGUSR1, note_signal, scene, NULL, NULL), 0);
	assert_true(loop_add_signal(scene->loop, SIGUSR1, note_signal, scene, &scene->source,
				    &err) < 0);
	assert_int_equal(err.os_errno, EBUSY);
	assert_null(scene->source);
}

static void a_number_that_is_no_signal_is_an_error(void **state)
{
	struct scene *scene = *state;
	cleanup_error struct error err = { 0 };
	assert_true(loop_add_signal(scene->loop, 4711, note_signal, scene, NULL, &err) < 0);
	assert_int_equal(err.code, ERROR_SYSTEM);
}

/* --- the service manager ---------------------------------------------------------------------- */

struct manager {
	char directory[32], path[64];
	int fd;
};

static void manager_open(struct manager *manager)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	(void)snprintf(manager->directory, sizeof(manager->directory), "/tmp/agentdeck-XXXXXX");
	assert_non_null(mkdtemp(manager->directory));
	(void)snprintf(manager->path, sizeof(manager->path), "%s/notify", manager->directory);
	memcpy(address.sun_path, manager->path, strlen(manager->path));
	manager->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(manager->fd, (const void *)&address, sizeof(address)), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", manager->path, 1), 0);
}

static void manager_close(const struct manager *manager)
{
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	(void)close(manager->fd);
	assert_int_equal(fs_remove_tree(AT_FDCWD, manager->directory, NULL), 0);
}

/* The text that the manager got; "" for none. */
static const char *told(const struct manager *manager, char buffer[256])
{
	ssize_t n = recv(manager->fd, buffer, 255, MSG_DONTWAIT);
	buffer[n > 0 ? n : 0] = '\0';
	return buffer;
}

static void the_service_manager_is_told(void **state)
{
	struct scene *scene = *state;
	struct manager manager;
	char buffer[256];
	manager_open(&manager);
	loop_ready(scene->loop, "3 instances");
	assert_string_equal(told(&manager, buffer), "READY=1\nSTATUS=3 instances");
	loop_status(scene->loop, "one\nWATCHDOG=trigger");
	assert_string_equal(told(&manager, buffer), "STATUS=one\\nWATCHDOG=trigger");
	loop_stopping(scene->loop);
	assert_string_equal(told(&manager, buffer), "STOPPING=1");
	assert_string_equal(told(&manager, buffer), "");
	manager_close(&manager);
}

static void readiness_needs_no_status(void **state)
{
	struct scene *scene = *state;
	struct manager manager;
	char buffer[256];
	manager_open(&manager);
	loop_ready(scene->loop, NULL);
	assert_string_equal(told(&manager, buffer), "READY=1");
	manager_close(&manager);
}

static void where_nobody_asked_nothing_happens(void **state)
{
	struct scene *scene = *state;
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	loop_ready(scene->loop, "ready");
	loop_status(scene->loop, "running");
	loop_stopping(scene->loop);
	exit_soon(scene);
	run(scene);
}

static void count_signs(int fd, uint32_t events UNUSED, void *context)
{
	struct scene *scene = context;
	char buffer[256];
	ssize_t n = recv(fd, buffer, sizeof(buffer) - 1, MSG_DONTWAIT);
	buffer[n > 0 ? n : 0] = '\0';
	if (streq(buffer, "WATCHDOG=1") && ++scene->calls == 3)
		loop_exit(scene->loop, 0);
}

static void the_watchdog_is_fed_again_and_again(void **state)
{
	struct scene *scene = *state;
	struct manager manager;
	char pid[16];
	manager_open(&manager);
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	assert_int_equal(setenv("WATCHDOG_PID", pid, 1) | setenv("WATCHDOG_USEC", "40000", 1), 0);
	loop_ready(scene->loop, NULL);
	assert_int_equal(loop_add_io(scene->loop,
				     &(struct loop_io){ manager.fd, EPOLLIN, count_signs, scene },
				     &scene->source, NULL),
			 0);
	run(scene);
	assert_int_equal(scene->calls, 3);
	loop_remove(scene->source);
	assert_int_equal(unsetenv("WATCHDOG_PID") | unsetenv("WATCHDOG_USEC"), 0);
	manager_close(&manager);
}

static void the_watchdog_of_another_process_is_not_fed(void **state)
{
	struct scene *scene = *state;
	struct manager manager;
	char buffer[256];
	manager_open(&manager);
	assert_int_equal(setenv("WATCHDOG_PID", "1", 1) | setenv("WATCHDOG_USEC", "4000", 1), 0);
	loop_ready(scene->loop, NULL);
	exit_soon(scene);
	run(scene);
	assert_string_equal(told(&manager, buffer), "READY=1");
	assert_string_equal(told(&manager, buffer), "");
	assert_int_equal(unsetenv("WATCHDOG_PID") | unsetenv("WATCHDOG_USEC"), 0);
	manager_close(&manager);
}

#define LOOP_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOOP_TEST(run_returns_the_code_of_exit),
		LOOP_TEST(an_exit_before_the_run_counts),
		LOOP_TEST(a_second_run_is_refused),
		LOOP_TEST(a_turn_handles_one_event),
		LOOP_TEST(a_turn_ends_at_its_deadline),
		LOOP_TEST(what_prepares_runs_before_each_wait),
		LOOP_TEST(nothing_and_null_can_be_removed),
		LOOP_TEST(a_descriptor_with_data_is_handled),
		LOOP_TEST(the_end_of_the_other_side_is_told),
		LOOP_TEST(what_is_left_unread_is_told_again),
		LOOP_TEST(only_the_events_asked_for_are_told),
		LOOP_TEST(a_descriptor_that_cannot_be_waited_for_is_an_error),
		LOOP_TEST(a_handler_may_remove_its_own_source),
		LOOP_TEST(a_removed_source_is_not_called_for_what_is_pending),
		LOOP_TEST(a_timer_may_remove_itself),
		LOOP_TEST(a_handler_may_put_another_in_its_place),
		LOOP_TEST(a_timer_runs_once),
		LOOP_TEST(a_timer_is_never_early),
		LOOP_TEST(timers_come_in_the_order_of_their_times),
		LOOP_TEST(a_timer_for_never_waits_until_it_is_set),
		LOOP_TEST(never_is_never),
		LOOP_TEST(a_timer_may_be_set_by_another_handler),
		LOOP_TEST(a_timer_that_is_due_and_removed_runs_no_other),
		LOOP_TEST(a_timer_may_be_set_again_by_its_handler),
		LOOP_TEST(a_timer_that_is_always_due_starves_nobody),
		LOOP_TEST(the_end_of_a_process_is_told_once_before_it_is_reaped),
		LOOP_TEST(the_end_of_a_process_that_is_no_child_is_told),
		LOOP_TEST(a_process_that_has_ended_is_gone),
		LOOP_TEST(another_process_of_the_same_pid_does_not_count),
		LOOP_TEST(the_handler_of_an_end_may_remove_it_and_leaves_no_descriptor),
		LOOP_TEST(a_signal_is_handled_by_the_loop),
		LOOP_TEST(a_second_handler_of_a_signal_is_refused),
		LOOP_TEST(a_number_that_is_no_signal_is_an_error),
		LOOP_TEST(the_service_manager_is_told),
		LOOP_TEST(readiness_needs_no_status),
		LOOP_TEST(where_nobody_asked_nothing_happens),
		LOOP_TEST(the_watchdog_is_fed_again_and_again),
		LOOP_TEST(the_watchdog_of_another_process_is_not_fed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
