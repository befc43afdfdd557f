/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/filelock.h"

#include "base/fsutil.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LOCKS = 1 << 20 };

/* Does it have this file open?  The kernel's list names the device of the file system, which is not
 * always that of stat(2), so a number of a file alone is not enough. */
static bool has_open(pid_t pid, const struct stat *file)
{
	cleanup_free char *path = xasprintf("/proc/%d/fd", (int)pid);
	cleanup_close int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	if (directory < 0 || fs_list(directory, &names, NULL) < 0)
		return false;
	for (size_t i = 0; i < names.count; i++) {
		struct stat st;
		if (fstatat(directory, names.items[i], &st, 0) == 0 && st.st_dev == file->st_dev &&
		    st.st_ino == file->st_ino)
			return true;
	}
	return false;
}

/* "1: FLOCK  ADVISORY  WRITE 708 fe:00:13393 0 EOF".  A line with "->" is one that waits. */
static bool parse_line(const char *line, pid_t *ret_pid, unsigned long long *ret_inode)
{
	char mode[8];
	int pid;
	/* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers */
	if (sscanf(line, "%*u: %*[A-Z] %*[A-Z] %7[A-Z] %d %*x:%*x:%llu", mode, &pid, ret_inode) !=
		    3 ||
	    !streq(mode, "WRITE") || pid <= 1)
		return false;
	*ret_pid = pid;
	return true;
}

int filelock_holder(const struct stat *file, struct process_id *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	if (fs_read(AT_FDCWD, "/proc/locks", MAX_LOCKS, &text, NULL) != 0)
		return FILELOCK_NONE;
	char *rest = text.data;
	for (char *line; (line = strsep(&rest, "\n"));) {
		struct process_id process;
		unsigned long long inode;
		pid_t pid;
		if (!parse_line(line, &pid, &inode) || inode != file->st_ino ||
		    process_identify(pid, &process, NULL) != 0 || !has_open(pid, file) ||
		    !process_alive(&process))
			continue;
		*ret = process;
		return 0;
	}
	return FILELOCK_NONE;
}
