/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/enter.h"

#include "persistence/suite.h"

#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>

enum word { OPTION = 1, PID, START, CGROUP, ID, USER, WORDS_BEFORE };

struct strvec *enter_argv(const struct process_id *host, const char *cgroup, unsigned uid,
			  const char *user)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("/proc/self/exe", ENTER_OPTION));
	strvec_pushf(argv, "%d", (int)host->pid);
	strvec_pushf(argv, "%" PRIu64, host->start);
	strvec_push(argv, cgroup);
	strvec_pushf(argv, "%u", uid);
	strvec_push(argv, user);
	return argv;
}

static int lost(const char *what)
{
	fprintf(stderr, "enter: %s: %s\n", what, strerror(errno));
	return ENTER_LOST;
}

/* Become a member of this control group: "0" is the process that writes it. */
static bool join(const char *cgroup)
{
	const char *path = kept("%s/cgroup.procs", cgroup);
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, "0", 1) == 1;
}

/* A machine with cgroup v1, too, has a second tree for the host. */
static bool join_both(const char *cgroup)
{
	const char *name = strrchr(cgroup, '/');
	if (!join(kept("%s/payload/system.slice/testhost.service", cgroup)))
		return false;
	(void)join(kept("/sys/fs/cgroup/systemd%s/payload", name));
	return true;
}

/* The root directory comes before the namespaces: afterwards there is another /proc. */
static int go_inside(const struct process_id *host, const char *cgroup)
{
	const int namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
			       CLONE_NEWPID | CLONE_NEWNET;
	struct error err = { 0 };
	cleanup_close int root = open(kept("/proc/%d/root", (int)host->pid),
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int pidfd = -1;
	if (process_open(host, &pidfd, &err) != 0)
		return lost(or_empty(err.message));
	if (root < 0 || !join_both(cgroup))
		return lost(cgroup);
	if (setns(pidfd, namespaces) < 0 || fchdir(root) < 0 || chroot(".") < 0)
		return lost("the host");
	return 0;
}

static bool become(const char *user, unsigned uid)
{
	return uid == 0 || (initgroups(user, uid) == 0 && setresgid(uid, uid, uid) == 0 &&
			    setresuid(uid, uid, uid) == 0);
}

/* As a login shell would have it, and nothing of ours. */
static void set_environment(const char *user, const char *home, bool is_root)
{
	(void)clearenv();
	(void)setenv("PATH",
		     is_root ? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
			     : "/usr/local/bin:/usr/bin:/bin",
		     true);
	(void)setenv("HOME", home, true);
	(void)setenv("USER", user, true);
	(void)setenv("LOGNAME", user, true);
	(void)setenv("SHELL", "/bin/bash", true);
	(void)setenv("LANG", "C.UTF-8", true);
}

static void execute(char *words[])
{
	while (*words && strchr(*words, '='))
		(void)putenv(*words++);
	if (*words)
		(void)execvp(*words, words);
	fprintf(stderr, "%s: %s\n", or_empty(*words), strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

int enter_main(int argc, char *argv[])
{
	int64_t pid, start, uid;
	int status;
	if (argc <= WORDS_BEFORE || !parse_int64(argv[PID], 2, INT32_MAX, &pid) ||
	    !parse_int64(argv[START], 0, INT64_MAX, &start) ||
	    !parse_int64(argv[ID], 0, INT32_MAX, &uid))
		return 64;
	const struct process_id host = { .pid = (pid_t)pid, .start = (uint64_t)start };
	int r = go_inside(&host, argv[CGROUP]);
	if (r != 0)
		return r;
	pid_t child = fork(); /* only a child is in the PID namespace */
	if (child < 0)
		return lost("fork");
	if (child == 0) {
		const char *home = uid ? kept("/home/%s", argv[USER]) : "/root";
		if (!become(argv[USER], (unsigned)uid) || chdir(uid ? home : "/") < 0)
			_exit(lost(argv[USER]));
		set_environment(argv[USER], home, uid == 0);
		execute(argv + WORDS_BEFORE);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return lost("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
