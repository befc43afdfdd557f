/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The places in a container are compared with those outside.  Here the container is this machine.
 */
#include "unit/scratch.h"

#include "engine/place/container/container-internal.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int check(const char *source, const char *target, struct error *err)
{
	struct process_id self;
	cleanup_recipe struct recipe *recipe = recipe_new();
	cleanup_free char *from = path_join(scratch, source), *to = path_join(scratch, target);
	assert_int_equal(process_identify(getpid(), &self, NULL), 0);
	recipe_add_mount(recipe, from, to, false);
	return mounts_check_inside(recipe, &self, err);
}

static void make(const char *name)
{
	assert_int_equal(mkdirat(here, name, 0700), 0);
}

static void another_place_is_seen(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	make("out");
	make("keys");
	assert_int_equal(symlinkat("keys", here, "link"), 0);
	assert_int_equal(check("out", "out", NULL), 0);
	assert_int_equal(check("out", "keys", &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_int_equal(check("link", "keys", NULL), -1);
	assert_int_equal(check("missing", "keys", NULL), -1);
}

/* --- a link for a moment ---------------------------------------------------------------------- */

enum { LOOKS = 8000 };

/* Exchange the directory and a link again and again, as an agent can. */
static pid_t begin_exchange(void)
{
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)renameat2(here, "out", here, "link", RENAME_EXCHANGE);
	}
	return pid;
}

static void a_link_that_is_there_for_a_moment_is_not_followed(void **state UNUSED)
{
	int passed = 0;
	make("out");
	make("keys");
	assert_int_equal(symlinkat("keys", here, "link"), 0);
	const pid_t pid = begin_exchange();
	for (int i = 0; i < LOOKS; i++)
		passed += check("out", "keys", NULL) == 0;
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(passed, 0);
}

/* --- a filter of system calls ----------------------------------------------------------------- */

static int refuse_openat2(unsigned error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = ARRAY_SIZE(filter), .filter = filter };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
		       ? -1
		       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* What cannot be seen is unknown, and no other place. */
static void without_openat2_nothing_is_seen(void **state UNUSED)
{
	enum { NO_FILTERS = 77 };
	static const unsigned errors[] = { ENOSYS, EPERM };
	make("out");
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		int status;
		const pid_t pid = fork();
		if (pid == 0 && refuse_openat2(errors[i]) < 0)
			_exit(NO_FILTERS);
		if (pid == 0)
			_exit(check("out", "out", NULL) != 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTERS) {
			print_message("there are no filters of system calls here\n");
			skip();
		}
		assert_int_equal(status, 0);
	}
}

#define OWN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN(another_place_is_seen),
		OWN(a_link_that_is_there_for_a_moment_is_not_followed),
		OWN(without_openat2_nothing_is_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
