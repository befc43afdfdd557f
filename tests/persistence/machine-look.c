/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Processes and files of the machine.  We read them from outside, through the root directory of the
 * machine's first process, so that reading changes nothing inside.
 */
#include "persistence/machine-internal.h"

#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

enum { READ_MAX = 64 << 20, LEFT_MS = 10000 };

const char *machine_path(const char *path)
{
	return kept("%s%s", or_empty(machine.root), path);
}

/* The whole file with its length, because files of proc(5) hold NULs.  False: it does not exist. */
static bool read_bytes(const char *path, struct strbuf *ret)
{
	return fs_read(AT_FDCWD, machine_path(path), READ_MAX, ret, NULL) == 0;
}

const char *machine_read(const char *path)
{
	struct strbuf text = { 0 };
	return read_bytes(path, &text) ? keep(strbuf_take(&text)) : NULL;
}

bool machine_exists(const char *path)
{
	return access(machine_path(path), F_OK) == 0;
}

static void give_to_user(const char *outside)
{
	if (!machine.local && lchown(outside, machine.uid, machine.uid) < 0)
		fail_test("chown %s: %s", outside, strerror(errno));
}

void machine_make_directory(const char *path)
{
	for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
		const char *parent = machine_path(kept("%.*s", (int)(slash - path), path));
		if (mkdir(parent, 0755) == 0)
			give_to_user(parent);
	}
	const char *outside = machine_path(path);
	if (mkdir(outside, 0755) == 0)
		give_to_user(outside);
	else if (errno != EEXIST)
		fail_test("mkdir %s: %s", outside, strerror(errno));
}

void machine_write(const char *path, mode_t mode, const char *text)
{
	const char *outside = machine_path(path);
	struct error err = { 0 };
	machine_make_directory(kept("%.*s", (int)(strrchr(path, '/') - path), path));
	cleanup_close int fd = open(outside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0 || fchmod(fd, mode) < 0 || fs_write_all(fd, text, strlen(text), path, &err) < 0)
		fail_test("write %s: %s", outside, strerror(errno));
	give_to_user(outside);
}

void machine_set_time(const char *path, int64_t seconds)
{
	const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	if (utimensat(AT_FDCWD, machine_path(path), times, 0) < 0)
		fail_test("set the time of %s: %s", path, strerror(errno));
}

void machine_remove(const char *path)
{
	if (unlink(machine_path(path)) < 0)
		fail_test("remove %s: %s", path, strerror(errno));
}

void machine_bring(const char *tests_path, const char *path)
{
	struct strbuf text = { 0 };
	struct error err = { 0 };
	const char *source = machine_source(tests_path);
	if (fs_read(AT_FDCWD, source, READ_MAX, &text, &err) != 0)
		fail_test("%s: %s", source, err.message ? err.message : "not there");
	machine_write(path, 0755, keep(strbuf_take(&text)));
}

/* Start time of a process, field 22 of its stat; NULL when it is gone or a zombie. */
static const char *start_time(pid_t pid)
{
	const char *stat = machine_read(kept("/proc/%d/stat", (int)pid));
	const char *field = stat ? strrchr(stat, ')') : NULL;
	if (!field || field[1] == '\0' || strchr("ZX", field[2]))
		return NULL;
	for (int i = 2; i < 22 && field; i++)
		field = strchr(field + 1, ' ');
	return field ? kept("%.*s", (int)strcspn(field + 1, " "), field + 1) : NULL;
}

struct process machine_process(pid_t pid)
{
	const char *start = pid > 0 ? start_time(pid) : NULL;
	return start ? (struct process){ .pid = pid, .start = start } : (struct process){ 0 };
}

bool machine_alive(const struct process *process)
{
	const char *start = process->pid ? start_time(process->pid) : NULL;
	return start && streq(start, process->start);
}

void machine_kill(const struct process *process, int signal_number)
{
	const char *signal_word = kept("-%d", signal_number);
	const char *pid = kept("%d", (int)process->pid);
	ASSERT(machine_alive(process), "process %s is gone already", pid);
	if (machine.local) {
		if (kill(process->pid, signal_number) < 0)
			fail_test("kill %s: %s", pid, strerror(errno));
		return;
	}
	machine_root_ok(WORDS("kill", signal_word, pid));
}

void machine_sweep(const struct process *process)
{
	if (!machine_alive(process))
		return;
	if (machine.local)
		(void)kill(process->pid, SIGKILL);
	else
		(void)machine_root(WORDS("kill", "-9", kept("%d", (int)process->pid)));
}

void machine_destroy(const struct process *process)
{
	machine_kill(process, SIGKILL);
	WAIT_FOR(!machine_alive(process), "process %d survives SIGKILL", (int)process->pid);
}

static const struct strvec *read_strings(const char *path)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct strvec *strings = kept_vector();
	if (read_bytes(path, &text))
		for (size_t i = 0; i < text.length; i += strlen(text.data + i) + 1)
			strvec_push(strings, text.data + i);
	return strings;
}

const struct strvec *machine_argv(pid_t pid)
{
	return read_strings(kept("/proc/%d/cmdline", (int)pid));
}

const char *machine_cgroup(pid_t pid)
{
	/* Read it inside: the path is relative to the reader's own cgroup namespace. */
	const char *path = kept("/proc/%d/cgroup", (int)pid);
	const char *text = machine.local ? or_empty(machine_read(path))
					 : machine_root(WORDS("cat", path)).output;
	const char *line = starts_with(text, "0::") ? text : strstr(text, "\n0::");
	ASSERT(line, "process %d is in no cgroup (of version 2)", (int)pid);
	line = strstr(line, "0::") + 3;
	return kept("%.*s", (int)strcspn(line, "\n"), line);
}

/* Pids of the processes with this entry in their environment. */
static void find_processes(const char *entry, struct strvec *ret)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = open(machine_path("/proc"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fs_list(fd, &names, NULL) < 0)
		fail_test("/proc of the machine cannot be read");
	for (size_t i = 0; i < names.count; i++) {
		int64_t pid;
		if (parse_int64(names.items[i], 2, INT32_MAX, &pid) && start_time((pid_t)pid) &&
		    strvec_contains(read_strings(kept("/proc/%d/environ", (int)pid)), entry))
			strvec_push(ret, names.items[i]);
	}
}

const char *machine_kill_rest(const char *entry)
{
	cleanup_strvec struct strvec pids = { 0 };
	struct strbuf names = { 0 };
	int64_t deadline = clock_ms() + LEFT_MS;
	do {
		strvec_clear(&pids);
		find_processes(entry, &pids);
	} while (pids.count && look_again(deadline));
	if (!pids.count)
		return NULL;
	for (size_t i = 0; i < pids.count; i++) {
		struct process process = machine_process((pid_t)strtol(pids.items[i], NULL, 10));
		const struct strvec *argv = machine_argv(process.pid);
		cleanup_free char *shown = visible_argv(strvec_argv(argv));
		strbuf_addf(&names, "%s[%s] %s", i ? ", " : "", pids.items[i], shown);
		machine_sweep(&process);
	}
	return keep(strbuf_take(&names));
}
