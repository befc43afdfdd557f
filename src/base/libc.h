/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Functions that glibc has and musl lacks, by the same names.  Include this header instead of the
 * system's.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef HAVE_SYS_PIDFD_H
#include <sys/pidfd.h>
#else
static inline int pidfd_open(pid_t pid, unsigned int flags)
{
	return (int)syscall(SYS_pidfd_open, pid, flags);
}

static inline int pidfd_send_signal(int pidfd, int signal_number, siginfo_t *info,
				    unsigned int flags)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, signal_number, info, flags);
}
#endif

#ifndef HAVE_CLOSE_RANGE
static inline int close_range(unsigned int first, unsigned int last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}
#endif

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

#ifndef HAVE_RENAMEAT2
#include <linux/fs.h>

static inline int renameat2(int from, const char *old_name, int to, const char *new_name,
			    unsigned int flags)
{
	return (int)syscall(SYS_renameat2, from, old_name, to, new_name, flags);
}
#endif

#ifndef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
/* The descriptors of this process get close-on-exec instead: all of ours have it already. */
static inline int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions,
							   int first)
{
	(void)actions;
	return close_range((unsigned int)first, ~0U, CLOSE_RANGE_CLOEXEC) < 0 ? errno : 0;
}
#endif

#ifndef HAVE_SIGABBREV_NP
/* The signals that end processes in practice; NULL for another one. */
static inline const char *sigabbrev_np(int signal_number)
{
	static const struct {
		int number;
		const char *name;
	} known[] = {
		{ SIGHUP, "HUP" },   { SIGINT, "INT" },   { SIGQUIT, "QUIT" }, { SIGILL, "ILL" },
		{ SIGTRAP, "TRAP" }, { SIGABRT, "ABRT" }, { SIGBUS, "BUS" },   { SIGFPE, "FPE" },
		{ SIGKILL, "KILL" }, { SIGUSR1, "USR1" }, { SIGSEGV, "SEGV" }, { SIGUSR2, "USR2" },
		{ SIGPIPE, "PIPE" }, { SIGALRM, "ALRM" }, { SIGTERM, "TERM" }, { SIGXCPU, "XCPU" },
		{ SIGXFSZ, "XFSZ" }, { SIGSYS, "SYS" },
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].number == signal_number)
			return known[i].name;
	return NULL;
}
#endif
