/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/unit-cgroup.h"

#include "base/fsutil.h"
#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

enum { MAX_DEPTH = 64 };

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
		list->items = reallocarray(list->items, list->size, sizeof(*list->items));
		if (!list->items)
			abort();
	}
	list->items[list->count++] = *id;
}

/* Second: where systemd's "hybrid" layout has the unified hierarchy,
 * below a tmpfs, which must not be taken for it. */
int unit_open_group(const char *control_group)
{
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	if (*control_group != '/' || strstr(control_group, "/../") ||
	    ends_with(control_group, "/.."))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		cleanup_free char *path = path_join(roots[i], control_group + 1);
		cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		struct statfs fs;
		if (fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
			return TAKE_FD(fd);
	}
	return -1;
}

/* UNIT_ABSENT: the group went away. */
static int read_members(int group, struct process_list *list, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct error local = { 0 };
	int r = fs_read(group, "cgroup.procs", UNIT_MAX_FILE, &text, &local);
	if (r < 0 && local.os_errno == EOPNOTSUPP) {
		/* A threaded group: its processes stand in the group above. */
		error_clear(&local);
		return 0;
	}
	if (r == FS_ABSENT || (r < 0 && local.os_errno == ENODEV)) {
		error_clear(&local);
		return UNIT_ABSENT;
	}
	if (r < 0)
		return error_move(err, &local);
	char *rest = text.data;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		struct process_id id;
		int64_t pid;
		/* 0 stands for a process outside of our PID namespace. */
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

/* Takes over the descriptor. */
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

int unit_processes(const char *control_group, struct process_id **ret, size_t *ret_count,
		   struct error *err)
{
	CLEANUP(process_list_free) struct process_list list = { 0 };
	int group = unit_open_group(control_group);
	if (group < 0)
		return UNIT_ABSENT;
	int r = walk(group, 0, &list, err);
	if (r < 0)
		return error_prefix(err, "processes of %s", control_group);
	if (r > 0)
		return r;
	*ret = list.items ? TAKE_PTR(list.items) : xcalloc(1, sizeof(**ret));
	*ret_count = list.count;
	return 0;
}
