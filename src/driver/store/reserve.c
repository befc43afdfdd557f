/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/store/reserve.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A profile has no dot in its name. */
#define RESERVE "disk.reserve"

enum { RESERVE_SIZE = 64 << 10, PLENTY = 1 << 20 };

void reserve_keep(const struct store *store)
{
	struct statvfs space;
	const int state = store_state_directory(store);
	if (faccessat(state, RESERVE, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	    fstatvfs(state, &space) < 0 || space.f_bavail * space.f_frsize < PLENTY)
		return;
	cleanup_close int fd = openat(state, RESERVE,
				      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && posix_fallocate(fd, 0, RESERVE_SIZE) != 0)
		(void)unlinkat(state, RESERVE, 0);
}

bool reserve_spend(const struct store *store)
{
	return unlinkat(store_state_directory(store), RESERVE, 0) == 0;
}
