/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a process uses, by proc(5).
 */
#include "unit/test.h"

#include "base/procusage.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void a_process_tells_its_memory_and_threads(void **state UNUSED)
{
	enum { MORE = 32 << 20 };
	struct process_usage before, after;
	struct process_id self, ids[2];
	assert_int_equal(process_usage(getpid(), &before, NULL), 0);
	char *block = mmap(NULL, MORE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(block != MAP_FAILED);
	memset(block, 1, MORE);
	assert_int_equal(process_usage(getpid(), &after, NULL), 0);
	assert_true(after.memory > before.memory + MORE / 2);
	assert_true(after.cpu_us >= before.cpu_us);
	assert_true(after.threads >= 1);
	assert_int_equal(process_identify(getpid(), &self, NULL), 0);
	ids[0] = ids[1] = self;
	assert_true(process_usage_sum(ids, 2).memory > after.memory * 3 / 2);
	assert_int_equal(munmap(block, MORE), 0);
	assert_int_equal(process_usage(INT32_MAX, &after, NULL), PROCESS_GONE);
}

static void the_sum_leaves_out_who_is_gone(void **state UNUSED)
{
	struct process_id ids[] = { { 0 }, { .pid = INT32_MAX } };
	struct process_usage none, both;
	assert_int_equal(process_identify(getpid(), &ids[0], NULL), 0);
	both = process_usage_sum(ids, 2);
	assert_true(both.memory > 0);
	assert_true(both.threads >= 1);
	none = process_usage_sum(ids + 1, 1);
	assert_int_equal(none.memory + none.cpu_us + none.threads, 0);
}

static void a_name_that_looks_like_fields_is_no_field(void **state UNUSED)
{
	struct process_usage usage;
	char name[16];
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_int_equal(prctl(PR_SET_NAME, ") S 1 2 (x y"), 0);
	assert_int_equal(process_usage(getpid(), &usage, NULL), 0);
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
	assert_true(usage.threads >= 1 && usage.threads < 100);
	assert_true(usage.memory > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_tells_its_memory_and_threads),
		cmocka_unit_test(the_sum_leaves_out_who_is_gone),
		cmocka_unit_test(a_name_that_looks_like_fields_is_no_field),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
