/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The machine that the sessions live on, and the ways into it.
 *
 * It is a test host (tests/testbed/testhost): a whole Debian with systemd, logind and sshd, where
 * logins end, power fails and users come and go.  With AGENTDECK_TEST_LOCAL=1 it is this machine
 * and this user; tests that would log the developer out are then skipped.  AGENTDECK_TEST_ROOT is
 * the directory of another system, which the test host then has (tests/testbed/testroot).
 *
 * Each test has its own home directory there, with the user's agents, settings and state in their
 * usual places: only HOME tells agentdeck where they are.
 *
 * The results of these functions live until the test is over.  The functions fail the test when the
 * machine does not do as it should; a command's own failure is in the answer.
 */
#pragma once

#include "persistence/suite.h"

#include <sys/types.h>

/* Call it once for the suite.  Returns NULL, or why there is no such machine here (static or never
 * freed).  with_engines: it gets Docker and podman, if these are installed. */
const char *machine_up(bool with_engines);
void machine_down(void);
/* NULL, or why the machine has no container engines. */
const char *machine_lacks_engines(void);
/* Where agentdeck is installed, inside and outside. */
const char *machine_prefix(void);
/* A path of the machine as seen from outside. */
const char *machine_path(const char *path);
bool machine_is_local(void);
/* The user who owns the sessions, in the machine. */
unsigned machine_uid(void);
const char *machine_user_name(void);

/* Call these around each test: they make and remove its home and end its remaining processes. */
void machine_begin_test(const char *name);
/* Returns NULL, or a description of what the test left behind (it is gone now). */
const char *machine_end_test(void);

/* The test's home directory, by its path inside. */
const char *home(void);
/* "<home>/<path>". */
const char *at_home(const char *path);
/* NAME=VALUE for everything that the test runs as the user from now on.  It replaces an earlier one
 * of the same NAME. */
void machine_set(const char *name, const char *value);
/* PATH without machine_set(). */
const char *machine_search_path(void);

/* A process in the machine: a pid with its start time, because pids are reused. */
struct process {
	pid_t pid; /* 0: there is none */
	const char *start;
};

struct answer {
	int status; /* exit status, or 128 + signal */
	const char *output, *errors;
};

/* One real SSH login that runs the command and ends.  Locally: just the command. */
struct answer machine_login(const char *const *argv);
/* As the user without any login, as cron runs commands: no session, no XDG_RUNTIME_DIR, no bus. */
struct answer machine_user(const char *const *argv);
/* A login of another user, unrelated to ours. */
struct answer machine_other_login(const char *const *argv);
/* As root.  Locally the test is skipped. */
struct answer machine_root(const char *const *argv);
/* The same, and anything but exit status 0 fails the test.  Returns the output. */
const char *machine_root_ok(const char *const *argv);
const char *machine_user_ok(const char *const *argv);
/* As machine_user(), but it keeps running until it ends, machine_stop() or the end of the test.
 * Returns its process. */
struct process machine_background(const char *const *argv, const char *output_path);
/* The same as root. */
struct process machine_root_background(const char *const *argv, const char *output_path);

/* For logins that stay: the argv of an SSH client with a terminal, and a shell script that runs
 * argv as machine_login() would. */
const char *const *machine_ssh(const char *const *argv);
const char *machine_script(const char *const *argv);

/* Not in the machine, but where the suite runs, with its environment. */
struct answer outside(const char *const *argv, int timeout_ms);
/* Path of a file of the checkout's tests, outside. */
const char *machine_source(const char *path);
/* A directory outside that survives the suite, and that the machine's user can read. */
const char *machine_cache(void);

/* The machine's power.  An orderly end waits for ever for what machine_background() runs. */
void machine_reboot(void); /* an orderly reboot, until it is up again */
/* All but the kernel and systemd, which must have it (254 and later), ends and starts again. */
void machine_soft_reboot(void);
void machine_powercut(void); /* ends every process at once */
void machine_boot(void);
const char *machine_boot_id(void);

/* Processes in the machine. */
/* pid 0 when it does not exist or is a zombie. */
struct process machine_process(pid_t pid);
bool machine_alive(const struct process *process);
void machine_kill(const struct process *process, int signal_number);
/* Kill it if it still exists, at a test's end, for processes that are about to end anyway. */
void machine_sweep(const struct process *process);
/* Kill -9 and wait until it is gone. */
void machine_destroy(const struct process *process);
const struct strvec *machine_argv(pid_t pid);
/* Path in the unified hierarchy: the line "0::" of /proc/PID/cgroup. */
const char *machine_cgroup(pid_t pid);

/* Files in the machine, by their names in there. */
const char *machine_read(const char *path); /* NULL: it does not exist */
bool machine_exists(const char *path);
/* With missing parents; owned by the user. */
void machine_write(const char *path, mode_t mode, const char *text);
void machine_make_directory(const char *path);
/* Set the modification time, in seconds since the Epoch. */
void machine_set_time(const char *path, int64_t seconds);
void machine_remove(const char *path);
/* Copy a file of the checkout's tests into it, executable. */
void machine_bring(const char *tests_path, const char *path);
