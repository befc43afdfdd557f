/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/procusage.h"

#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Fields of /proc/PID/stat after the name, counted from the state, which is 3 in proc(5). */
enum {
	STAT_UTIME = 14 - 3,
	STAT_STIME,
	STAT_CUTIME,
	STAT_CSTIME,
	STAT_THREADS = 20 - 3,
	STAT_RSS = 24 - 3,
	STAT_COUNT
};
enum { MAX_STAT = 4096 };

int process_usage(pid_t pid, struct process_usage *ret, struct error *err)
{
	cleanup_free char *path = xasprintf("/proc/%d/stat", (int)pid);
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error local = { 0 };
	int64_t fields[STAT_COUNT] = { 0 };
	int r = fs_read(AT_FDCWD, path, MAX_STAT, &text, &local);
	if (r == FS_ABSENT || (r < 0 && local.os_errno == ESRCH))
		return PROCESS_GONE;
	if (r < 0)
		return error_set(err, local.code, "%s", local.message);
	/* The name may contain anything, but nothing after it contains a ")". */
	char *rest = strrchr(strbuf_text(&text), ')');
	if (rest)
		rest += strspn(rest, ") ");
	for (int i = 0; i < STAT_COUNT; i++) {
		const char *field = strsep(&rest, " ");
		if (!field || (i > 0 && !parse_int64(field, INT64_MIN, INT64_MAX, &fields[i])))
			return error_set(err, ERROR_SYSTEM,
					 "%s has an unexpected format (see proc(5))", path);
	}
	const int64_t ticks = fields[STAT_UTIME] + fields[STAT_STIME] + fields[STAT_CUTIME] +
			      fields[STAT_CSTIME];
	*ret = (struct process_usage){
		.memory = fields[STAT_RSS] * sysconf(_SC_PAGESIZE),
		.cpu_us = ticks * (1000000 / sysconf(_SC_CLK_TCK)),
		.threads = fields[STAT_THREADS],
	};
	return 0;
}

struct process_usage process_usage_sum(const struct process_id *ids, size_t count)
{
	struct process_usage sum = { 0 }, one;
	for (size_t i = 0; i < count; i++) {
		if (process_usage(ids[i].pid, &one, NULL) != 0)
			continue;
		sum.memory += one.memory;
		sum.cpu_us += one.cpu_us;
		sum.threads += one.threads;
	}
	return sum;
}
