/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { CPU_S = 15, FILES_MOST = 256 };

/* The address sanitizer maps terabytes. */
#if defined(__SANITIZE_ADDRESS__)
#define MEMORY_MOST RLIM_INFINITY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEMORY_MOST RLIM_INFINITY
#endif
#endif
#ifndef MEMORY_MOST
#define MEMORY_MOST ((rlim_t)1 << 30)
#endif

static int limit(int resource, rlim_t most, struct error *err)
{
	struct rlimit now;
	if (getrlimit(resource, &now) < 0)
		return error_set_errno(err, errno, "cannot read a limit");
	if (now.rlim_max > most)
		now.rlim_max = most;
	now.rlim_cur = now.rlim_max;
	return setrlimit(resource, &now) < 0 ? error_set_errno(err, errno, "cannot set a limit")
					     : 0;
}

int sandbox_limit(struct error *err)
{
	if (limit(RLIMIT_CPU, CPU_S, err) < 0 || limit(RLIMIT_AS, MEMORY_MOST, err) < 0 ||
	    limit(RLIMIT_FSIZE, 0, err) < 0 || limit(RLIMIT_NOFILE, FILES_MOST, err) < 0 ||
	    limit(RLIMIT_CORE, 0, err) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set_errno(err, errno, "cannot give up new privileges");
	return 0;
}

/* ---- Landlock ---- */

/* All that the first version knows.  A later one adds truncate(2) and refer, which our seccomp
 * filter refuses, too. */
static const uint64_t every_access = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

static int allow(int rules, const char *directory, struct error *err)
{
	cleanup_close int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct landlock_path_beneath_attr rule = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
		.parent_fd = fd,
	};
	if (fd < 0 ||
	    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return error_set_errno(err, errno, "cannot allow reading %s", directory);
	return 0;
}

int sandbox_close_files(const struct strvec *readable, struct confinement *ret, struct error *err)
{
	const struct landlock_ruleset_attr attributes = { .handled_access_fs = every_access };
	cleanup_close int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes,
					       sizeof(attributes), 0);
	if (rules < 0 && (errno == ENOSYS || errno == EOPNOTSUPP))
		return 0;
	if (rules < 0)
		return error_set_errno(err, errno, "cannot make rules for Landlock");
	for (size_t i = 0; i < readable->count; i++)
		if (allow(rules, readable->items[i], err) < 0)
			return -1;
	if (syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		return error_set_errno(err, errno, "cannot enforce the rules of Landlock");
	ret->landlock = true;
	return 0;
}

/* ---- seccomp ---- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The low half of an argument, where its flags and descriptors are. */
#define LOAD_ARGUMENT(n) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (n))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define ALLOW(name) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), RETURN(SECCOMP_RET_ALLOW)
#define KILL(name) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS)
/* Allowed if the argument has none of these bits. */
#define ALLOW_WITHOUT(name, argument, bits)                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD_ARGUMENT(argument),     \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0), RETURN(SECCOMP_RET_ALLOW), \
		RETURN(SECCOMP_RET_ERRNO | EPERM)
#define WRITES ((uint32_t)(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND))

/* What is not here fails with EPERM, and the reader reports that it does not know. */
static struct sock_filter filter[] = {
	LOAD(arch),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
	ALLOW(read),
	ALLOW(pread64),
	ALLOW(close),
	ALLOW(fstat),
	ALLOW(newfstatat),
	ALLOW(statx),
	ALLOW(fstatfs),
	ALLOW(statfs),
	ALLOW(lseek),
	ALLOW(getdents64),
	ALLOW(readlinkat),
	ALLOW(faccessat),
	ALLOW(faccessat2),
	ALLOW(getcwd),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(madvise),
	ALLOW(brk),
	ALLOW(futex),
	ALLOW(getrandom),
	ALLOW(clock_gettime),
	ALLOW(gettimeofday),
	ALLOW(getpid),
	ALLOW(gettid),
	ALLOW(getuid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getegid),
	ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigreturn),
	ALLOW(sigaltstack),
	ALLOW(restart_syscall),
	ALLOW(sysinfo),
	ALLOW(uname),
	ALLOW(exit),
	ALLOW(exit_group),
#ifdef __NR_open
	ALLOW(stat),
	ALLOW(lstat),
	ALLOW(readlink),
	ALLOW(access),
	ALLOW_WITHOUT(open, 1, WRITES),
#endif
	ALLOW_WITHOUT(openat, 2, WRITES),
	ALLOW_WITHOUT(mmap, 2, PROT_EXEC),
	ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
	/* Descriptors 0 to 3.  Of these, only 1 and 2 were opened for writing. */
	ALLOW_WITHOUT(write, 0, ~3U),
	ALLOW_WITHOUT(writev, 0, ~3U),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fcntl, 0, 5),
	LOAD_ARGUMENT(1),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_GETFL, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETFD, 1, 0),
	RETURN(SECCOMP_RET_ERRNO | EPERM),
	RETURN(SECCOMP_RET_ALLOW),
	KILL(execve),
	KILL(execveat),
	KILL(clone),
#ifdef __NR_clone3
	KILL(clone3),
#endif
#ifdef __NR_fork
	KILL(fork),
	KILL(vfork),
#endif
	KILL(socket),
	KILL(ptrace),
	RETURN(SECCOMP_RET_ERRNO | EPERM),
};

/* The number of a thread that cannot have the filter is a failure, too. */
static int filter_calls(struct confinement *ret, struct error *err)
{
	const struct sock_fprog program = { .len = ARRAY_SIZE(filter), .filter = filter };
	const long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			       &program);
	if (r < 0 && (errno == EINVAL || errno == ENOSYS))
		return 0;
	if (r != 0)
		return error_set_errno(err, r < 0 ? errno : ESRCH,
				       "cannot enforce the filter of system calls");
	ret->seccomp = true;
	return 0;
}
#else
static int filter_calls(struct confinement *ret UNUSED, struct error *err UNUSED)
{
	return 0;
}
#endif

int sandbox_close_calls(struct confinement *ret, struct error *err)
{
	return limit(RLIMIT_NPROC, 0, err) < 0 ? -1 : filter_calls(ret, err);
}
