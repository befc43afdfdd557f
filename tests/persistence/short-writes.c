/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For LD_PRELOAD: every write to a file writes half of its data, as write(2) may.  Only in
 * agentdeck itself, not in its parents or children.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool active;

__attribute__((constructor)) static void begin(void)
{
	active = strcmp(program_invocation_short_name, "agentdeck") == 0;
	if (active)
		(void)unsetenv("LD_PRELOAD");
}

ssize_t write(int fd, const void *data, size_t size)
{
	struct stat st;
	bool cut = active && size > 1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	return syscall(SYS_write, fd, data, cut ? size / 2 : size);
}
