/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/cgroup/cgroup.h"

#include "base/fsutil.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

/* Bytes that we read of one file. memory.events is some hundred bytes; a record of the log at most
 * 8 KB (CONSOLE_EXT_LOG_MAX). */
enum { MAX_FILE = 4 << 20, MAX_EVENTS = 4096, MAX_RECORD = 8192 + 1, MAX_DEPTH = 64 };

/* systemd's "hybrid" layout has the unified hierarchy in the second place. The first one is then a
 * tmpfs, hence the look at the type. */
static int open_group(const char *group_path)
{
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	if (*group_path != '/' || strstr(group_path, "/../") || ends_with(group_path, "/.."))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		cleanup_free char *path = path_join(roots[i], group_path + 1);
		cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		struct statfs fs;
		if (fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
			return TAKE_FD(fd);
	}
	return -1;
}

/* --- processes -------------------------------------------------------------------------------- */

struct process_list {
	struct process_id *items;
	size_t count, size;
};

static void process_list_free(struct process_list *list)
{
	free(list->items);
}

static void process_list_add(struct process_list *list, const struct process_id *id)
{
	if (list->count == list->size) {
		list->size = list->size ? list->size * 2 : 32;
		list->items = xreallocarray(list->items, list->size, sizeof(*list->items));
	}
	list->items[list->count++] = *id;
}

/* CGROUP_ABSENT. */
static int read_members(int group, struct process_list *list, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct error local = { 0 };
	int r = fs_read(group, "cgroup.procs", MAX_FILE, &text, &local);
	if (r < 0 && local.os_errno == EOPNOTSUPP) {
		/* A threaded group: the group above lists its processes. */
		error_clear(&local);
		return 0;
	}
	if (r == FS_ABSENT || (r < 0 && local.os_errno == ENODEV)) {
		error_clear(&local);
		return CGROUP_ABSENT;
	}
	if (r < 0)
		return error_move(err, &local);
	char *rest = text.data;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		struct process_id id;
		int64_t pid;
		/* 0 means a process outside of our PID namespace. */
		if (!parse_int64(line, 1, INT32_MAX, &pid))
			continue;
		r = process_identify((pid_t)pid, &id, err);
		if (r < 0)
			return r;
		if (r == 0)
			process_list_add(list, &id);
	}
	return 0;
}

/* Closes fd. */
static int walk(int fd, unsigned depth, struct process_list *list, struct error *err)
{
	DIR *group = fdopendir(fd);
	if (!group) {
		int saved = errno;
		(void)close(fd);
		return error_set_errno(err, saved, "read a control group");
	}
	int r = read_members(fd, list, err);
	for (const struct dirent *entry; r == 0 && (entry = readdir(group));) {
		if (entry->d_type != DT_DIR || streq(entry->d_name, ".") ||
		    streq(entry->d_name, ".."))
			continue;
		if (depth == MAX_DEPTH) {
			r = error_set(err, ERROR_SYSTEM, "more than %d control groups deep",
				      MAX_DEPTH);
			break;
		}
		int below = openat(fd, entry->d_name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0 && errno != ENOENT)
			r = error_set_errno(err, errno, "read control group %s", entry->d_name);
		else if (below >= 0 && walk(below, depth + 1, list, err) < 0)
			r = -1;
	}
	(void)closedir(group);
	return r;
}

int cgroup_processes(const char *group_path, struct process_id **ret, size_t *ret_count,
		     struct error *err)
{
	CLEANUP(process_list_free) struct process_list list = { 0 };
	int group = open_group(group_path);
	if (group < 0)
		return CGROUP_ABSENT;
	int r = walk(group, 0, &list, err);
	if (r < 0)
		return error_prefix(err, "processes of %s", group_path);
	if (r > 0)
		return r;
	*ret = list.items ? TAKE_PTR(list.items) : xcalloc(1, sizeof(**ret));
	*ret_count = list.count;
	return 0;
}

int cgroup_controllers(const char *group_path, struct strvec *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_close int group = open_group(group_path);
	if (group < 0 || fs_read(group, "cgroup.controllers", MAX_FILE, &text, NULL) != 0)
		return CGROUP_ABSENT;
	char *rest = text.data;
	for (const char *word; (word = strsep(&rest, " \n"));)
		if (*word)
			strvec_push(ret, word);
	return 0;
}

/* --- what a group uses ------------------------------------------------------------------------ */

/* A file that holds one number, or "max". */
static int64_t read_number(int group, const char *name)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int64_t value = -1;
	if (fs_read(group, name, MAX_FILE, &text, NULL) != 0 || !text.length)
		return -1;
	text.data[strcspn(text.data, "\n")] = '\0';
	if (streq(text.data, "max"))
		return INT64_MAX;
	(void)parse_int64(text.data, 0, INT64_MAX, &value);
	return value;
}

/* The value of key in a file of lines "key value". */
static int64_t read_keyed(int group, const char *name, const char *key)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int64_t value = -1;
	if (fs_read(group, name, MAX_FILE, &text, NULL) != 0)
		return -1;
	char *rest = text.data;
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (starts_with(line, key) && line[strlen(key)] == ' ')
			(void)parse_int64(line + strlen(key) + 1, 0, INT64_MAX, &value);
	return value;
}

/* "some avg10=1.23 avg60=...": 123. Without PSI the file is missing or not readable. */
static int64_t read_pressure(int group, const char *name)
{
	static const char start[] = "some avg10=";
	cleanup_strbuf struct strbuf text = { 0 };
	int64_t whole, part;
	if (fs_read(group, name, MAX_FILE, &text, NULL) != 0 ||
	    !starts_with(strbuf_text(&text), start))
		return -1;
	char *number = text.data + strlen(start);
	number[strcspn(number, " \n")] = '\0';
	char *fraction = strchr(number, '.');
	if (!fraction || strlen(fraction) != strlen(".00"))
		return -1;
	*fraction++ = '\0';
	if (!parse_int64(number, 0, 100, &whole) || !parse_int64(fraction, 0, 99, &part))
		return -1;
	return whole * 100 + part;
}

void cgroup_usage_at(int group, struct cgroup_usage *ret)
{
	*ret = (struct cgroup_usage){
		.memory = read_number(group, "memory.current"),
		.memory_peak = read_number(group, "memory.peak"),
		.swap = read_number(group, "memory.swap.current"),
		.memory_high = read_number(group, "memory.high"),
		.memory_max = read_number(group, "memory.max"),
		.cpu_us = read_keyed(group, "cpu.stat", "usage_usec"),
		.tasks = read_number(group, "pids.current"),
		.tasks_max = read_number(group, "pids.max"),
		.oom_kills = read_keyed(group, "memory.events", "oom_kill"),
		.cpu_pressure = read_pressure(group, "cpu.pressure"),
		.memory_pressure = read_pressure(group, "memory.pressure"),
		.io_pressure = read_pressure(group, "io.pressure"),
	};
}

int cgroup_usage(const char *control_group, struct cgroup_usage *ret)
{
	cleanup_close int group = open_group(control_group);
	if (group < 0)
		return CGROUP_ABSENT;
	cgroup_usage_at(group, ret);
	return 0;
}

/* --- what the kernel killed ------------------------------------------------------------------- */

int cgroup_oom_open(const char *control_group, struct error *err)
{
	cleanup_close int group = open_group(control_group);
	if (group < 0)
		return error_set(err, ERROR_UNAVAILABLE, "control group %s does not exist",
				 control_group);
	int fd = openat(group, "memory.events", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return error_set(err, ERROR_UNAVAILABLE,
				 "the memory of %s is not watched by the kernel: its "
				 "memory controller is off",
				 control_group);
	return fd < 0 ? error_set_errno(err, errno, "open memory.events of %s", control_group) : fd;
}

int64_t cgroup_oom_read(int fd)
{
	char text[MAX_EVENTS];
	int64_t kills = -1;
	/* Reading from the start also makes the kernel report the next change. */
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

int64_t cgroup_oom_kills(const char *control_group)
{
	cleanup_close int fd = cgroup_oom_open(control_group, NULL);
	return fd < 0 ? -1 : cgroup_oom_read(fd);
}

/* "oom-kill:constraint=CONSTRAINT_MEMCG,...,task_memcg=/a/b.scope,task=node,pid=4711,uid=1000"
 * (mm/oom_kill.c, dump_oom_summary()). The log has the path of the host: in a container ours lacks
 * its start. A process in a group below ours counts. A name may hold commas and equals signs, so we
 * look for the fields behind it from the end. */
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

int cgroup_oom_last_at(int log, const char *control_group, pid_t pid, char **ret_name,
		       pid_t *ret_pid)
{
	cleanup_free char *record = xcalloc(1, MAX_RECORD);
	cleanup_free char *name = NULL;
	pid_t found = 0;
	for (;;) {
		ssize_t length = read(log, record, MAX_RECORD - 1);
		/* EPIPE: the next record was overwritten. The one after it was not. */
		if (length < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (length <= 0)
			break;
		record[length] = '\0';
		(void)read_record(record, control_group, pid, &name, &found);
	}
	if (!name)
		return CGROUP_ABSENT;
	*ret_name = TAKE_PTR(name);
	*ret_pid = found;
	return 0;
}

int cgroup_oom_last(const char *control_group, pid_t pid, char **ret_name, pid_t *ret_pid)
{
	cleanup_close int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return log < 0 ? CGROUP_ABSENT
		       : cgroup_oom_last_at(log, control_group, pid, ret_name, ret_pid);
}

char *cgroup_oom_victim(const char *control_group)
{
	cleanup_free char *name = NULL;
	pid_t pid;
	if (cgroup_oom_last(control_group, 0, &name, &pid) != 0)
		return NULL;
	cleanup_free char *shown = visible(name);
	return xasprintf("%s (pid %d)", shown, (int)pid);
}
