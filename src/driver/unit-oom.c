/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * That the kernel ended something for lack of memory, and whom.
 */
#include "driver/unit-cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* memory.events is some hundred bytes; a record of the log at most 8 KB (CONSOLE_EXT_LOG_MAX). */
enum { MAX_EVENTS = 4096, MAX_RECORD = 8192 + 1 };

int unit_oom_open(const char *control_group, struct error *err)
{
	cleanup_close int group = unit_open_group(control_group);
	if (group < 0)
		return error_set(err, ERROR_UNAVAILABLE, "there is no control group %s", control_group);
	int fd = openat(group, "memory.events", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return error_set(err, ERROR_UNAVAILABLE, "the memory of %s is not watched by the kernel: its "
				 "memory controller is off", control_group);
	return fd < 0 ? error_set_errno(err, errno, "open memory.events of %s", control_group) : fd;
}

int64_t unit_oom_read(int fd)
{
	char text[MAX_EVENTS];
	int64_t kills = -1;
	/* From the start, which is also what makes the kernel tell of the next change. */
	ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
	if (length < 0)
		return -1;
	text[length] = '\0';
	char *rest = text;
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (starts_with(line, "oom_kill "))
			(void)parse_int64(line + strlen("oom_kill "), 0, INT64_MAX, &kills);
	return kills;
}

/* "oom-kill:constraint=CONSTRAINT_MEMCG,...,task_memcg=/a/b.scope,task=node,pid=4711,uid=1000" (mm/oom_kill.c,
 * dump_oom_summary()).  Seen from a container our path lacks the start of what stands there; a process in a group below
 * ours is one of ours.  A name may hold commas and equals signs, so what follows it is looked for from the end. */
static bool read_record(char *record, const char *control_group, pid_t wanted, char **ret_name,
			pid_t *ret_pid)
{
	static const char memcg[] = ",task_memcg=";
	int64_t pid;
	char *end = strchr(record, '\n');
	if (end)
		*end = '\0';
	char *group = strstr(record, ";oom-kill:");
	group = group ? strstr(group, memcg) : NULL;
	if (!group)
		return false;
	group += strlen(memcg);
	char *task = strstr(group, ",task=");
	char *uid = task ? strrchr(task, ',') : NULL;
	if (!uid || !starts_with(uid, ",uid="))
		return false;
	*uid = '\0';
	char *number = strrchr(task + 1, ',');
	if (!number || !starts_with(number, ",pid=") ||
	    !parse_int64(number + strlen(",pid="), 1, INT32_MAX, &pid) || (wanted && pid != wanted))
		return false;
	*task = *number = '\0';
	const char *ours = strstr(group, control_group);
	if (!ours || (ours[strlen(control_group)] && ours[strlen(control_group)] != '/'))
		return false;
	replace_string(ret_name, task + strlen(",task="));
	*ret_pid = (pid_t)pid;
	return true;
}

int unit_oom_last_at(int log, const char *control_group, pid_t pid, char **ret_name, pid_t *ret_pid)
{
	cleanup_free char *record = xcalloc(1, MAX_RECORD);
	cleanup_free char *name = NULL;
	pid_t found = 0;
	for (;;) {
		ssize_t length = read(log, record, MAX_RECORD - 1);
		/* EPIPE: what we were about to read has been overwritten, and what follows has not. */
		if (length < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (length <= 0)
			break;
		record[length] = '\0';
		(void)read_record(record, control_group, pid, &name, &found);
	}
	if (!name)
		return UNIT_ABSENT;
	*ret_name = TAKE_PTR(name);
	*ret_pid = found;
	return 0;
}

int unit_oom_last(const char *control_group, pid_t pid, char **ret_name, pid_t *ret_pid)
{
	cleanup_close int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return log < 0 ? UNIT_ABSENT : unit_oom_last_at(log, control_group, pid, ret_name, ret_pid);
}

char *unit_oom_victim(const char *control_group)
{
	cleanup_free char *name = NULL;
	pid_t pid;
	if (unit_oom_last(control_group, 0, &name, &pid) != 0)
		return NULL;
	cleanup_free char *shown = visible(name);
	return xasprintf("%s (pid %d)", shown, (int)pid);
}
