/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A library for ld.so.preload(5) of a test host: agentdeck and its agents see a wall clock that is
 * ahead of the kernel's by the seconds in SHIFT_FILE.  The kernel's own clock belongs to the whole
 * machine and cannot be set inside.
 *
 *   cc -shared -fPIC -o shifted-clock.so shifted-clock.c
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SHIFT_FILE "/var/lib/shifted-clock" /* one int64_t */

static const volatile int64_t *shift;

__attribute__((constructor)) static void map_shift(void)
{
	if (strncmp(program_invocation_short_name, "agentdeck", strlen("agentdeck")) != 0)
		return;
	int fd = open(SHIFT_FILE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	void *map = mmap(NULL, sizeof(*shift), PROT_READ, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		shift = map;
	close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);
	if (r == 0 && shift && clock == CLOCK_REALTIME)
		ret->tv_sec += *shift;
	return r;
}
