/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/process.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/libc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* More than arguments and environment can take together (execve(2)). */
enum { PROC_FILE_MAX = 8 << 20, ROUND_MS = 500 };

struct stat_line {
	char state;
	pid_t parent;
	uint64_t start;
};

static int read_proc(pid_t pid, const char *file, struct strbuf *ret, struct error *err)
{
	char path[64];
	struct error local = { 0 };
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	int r = fs_read(AT_FDCWD, path, PROC_FILE_MAX, ret, &local);
	/* A process that ends between open and read gives ESRCH. */
	if (r == FS_ABSENT || (r < 0 && (local.os_errno == ESRCH || local.os_errno == ENOENT))) {
		error_clear(&local);
		return PROCESS_GONE;
	}
	return r < 0 ? error_move(err, &local) : r;
}

static int read_stat(pid_t pid, struct stat_line *ret, struct error *err)
{
	cleanup_strbuf struct strbuf line = { 0 };
	int r = read_proc(pid, "stat", &line, err);
	if (r != 0)
		return r;
	/* The command name may hold spaces and parentheses: fields count from the last ')'. */
	const char *rest = strrchr(strbuf_text(&line), ')');
	unsigned long long start;
	int parent;
	struct stat_line result = { 0 };
	if (!rest ||
	    sscanf(rest + 1,
		   " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		   "%*d %llu",
		   &result.state, &parent, &start) != 3)
		return error_set(err, ERROR_SYSTEM,
				 "/proc/%d/stat has an unexpected format (see proc(5))", (int)pid);
	result.parent = parent;
	result.start = start;
	*ret = result;
	return 0;
}

/* A process that we may not examine is not ours. */
static bool is_hidden(const struct error *err)
{
	return err->os_errno == EPERM || err->os_errno == EACCES;
}

int process_identify(pid_t pid, struct process_id *ret, struct error *err)
{
	cleanup_error struct error local = { 0 };
	struct stat_line line;
	if (pid <= 0)
		return PROCESS_GONE;
	int r = read_stat(pid, &line, &local);
	if (r < 0)
		return is_hidden(&local) ? PROCESS_GONE : error_move(err, &local);
	if (r != 0)
		return r;
	if (line.state == 'Z' || line.state == 'X')
		return PROCESS_GONE;
	*ret = (struct process_id){ .pid = pid, .start = line.start };
	return 0;
}

bool process_alive(const struct process_id *id)
{
	struct process_id now = { 0 };
	int r = process_identify(id->pid, &now, NULL);
	return r < 0 || (r == 0 && now.start == id->start);
}

/* The signals of a line like "ShdPnd:\t0000000000000100" (proc(5)), as bits. */
static unsigned long long signals_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);
	return line ? strtoull(line + strlen(name), NULL, 16) : 0;
}

bool process_is_ending(const struct process_id *id)
{
	cleanup_strbuf struct strbuf status = { 0 };
	if (!process_alive(id))
		return true;
	const int r = read_proc(id->pid, "status", &status, NULL);
	if (r != 0)
		return r > 0;
	const unsigned long long pending = signals_of(strbuf_text(&status), "\nSigPnd:") |
					   signals_of(strbuf_text(&status), "\nShdPnd:");
	return pending & 1ULL << (SIGKILL - 1);
}

bool process_is_zombie(const struct process_id *id)
{
	struct stat_line line;
	return id->pid > 0 && read_stat(id->pid, &line, NULL) == 0 && line.state == 'Z' &&
	       line.start == id->start;
}

bool process_is_stopped(const struct process_id *id)
{
	struct stat_line line;
	return id->pid > 0 && read_stat(id->pid, &line, NULL) == 0 &&
	       (line.state == 'T' || line.state == 't') && line.start == id->start;
}

int process_open(const struct process_id *id, int *ret, struct error *err)
{
	if (id->pid <= 0)
		return PROCESS_GONE;
	cleanup_close int fd = pidfd_open(id->pid, 0);
	if (fd < 0 && errno == ESRCH)
		return PROCESS_GONE;
	if (fd < 0)
		return error_set_errno(err, errno, "open process %d", (int)id->pid);
	/* Compared after the open: the descriptor stays with this process from here on. */
	struct process_id now = { 0 };
	int r = process_identify(id->pid, &now, err);
	if (r < 0)
		return r;
	if (r == PROCESS_GONE || now.start != id->start)
		return PROCESS_GONE;
	*ret = TAKE_FD(fd);
	return 0;
}

int process_signal(const struct process_id *id, int signal_number, struct error *err)
{
	cleanup_close int fd = -1;
	int r = process_open(id, &fd, err);
	if (r != 0)
		return r;
	if (pidfd_send_signal(fd, signal_number, NULL, 0) < 0) {
		if (errno == ESRCH)
			return PROCESS_GONE;
		return error_set_errno(err, errno, "signal process %d", (int)id->pid);
	}
	return 0;
}

int process_wait_end(const struct process_id *id, int64_t deadline_ms, struct error *err)
{
	cleanup_close int fd = -1;
	int r = process_open(id, &fd, err);
	if (r != 0)
		return r < 0 ? r : 0;
	for (;;) {
		struct pollfd event = { .fd = fd, .events = POLLIN };
		int n = poll(&event, 1, clock_left_ms(deadline_ms));
		if (n > 0)
			return 0;
		if (n == 0)
			return PROCESS_STILL_ALIVE;
		if (errno != EINTR)
			return error_set_errno(err, errno, "wait for process %d", (int)id->pid);
	}
}

static bool is_pid(const char *name, pid_t *ret)
{
	int64_t value;
	if (!isdigit((unsigned char)*name) || !parse_int64(name, 1, INT32_MAX, &value))
		return false;
	*ret = (pid_t)value;
	return true;
}

struct process_row {
	struct process_id id;
	pid_t parent;
	bool member;
};

/* PROCESS_GONE: there is no such process. */
static int read_row(pid_t pid, struct process_row *ret, struct error *err)
{
	cleanup_error struct error local = { 0 };
	struct stat_line line;
	int r = read_stat(pid, &line, &local);
	if (r < 0 && !is_hidden(&local))
		return error_move(err, &local);
	if (r != 0 || line.state == 'Z' || line.state == 'X')
		return PROCESS_GONE;
	*ret = (struct process_row){ .id = { .pid = pid, .start = line.start },
				     .parent = line.parent };
	return 0;
}

static int has_environment(pid_t pid, const char *entry, bool *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error local = { 0 };
	bool found = false;
	if (read_proc(pid, "environ", &text, &local) < 0 && !is_hidden(&local))
		return error_move(err, &local);
	for (size_t i = 0; i < text.length && !found; i += strlen(text.data + i) + 1)
		found = streq(text.data + i, entry);
	*ret = found;
	return 0;
}

/* Most have it not, and one file tells.  The environment is looked at again, since another process
 * may have taken the pid in between. */
static int read_row_with(pid_t pid, const char *entry, struct process_row *ret, struct error *err)
{
	bool has = false;
	int r = has_environment(pid, entry, &has, err);
	if (r == 0)
		r = has ? read_row(pid, ret, err) : PROCESS_GONE;
	if (r == 0)
		r = has_environment(pid, entry, &has, err);
	return r != 0 || has ? r : PROCESS_GONE;
}

/* entry: only those with this in their environment; NULL: all. */
static int read_rows(DIR *proc, const char *entry, struct process_row **ret, size_t *ret_count,
		     struct error *err)
{
	cleanup_free struct process_row *rows = NULL;
	size_t count = 0, size = 0;
	for (const struct dirent *found; (found = readdir(proc));) {
		pid_t pid;
		struct process_row row;
		int r = PROCESS_GONE;
		if (is_pid(found->d_name, &pid))
			r = entry ? read_row_with(pid, entry, &row, err) : read_row(pid, &row, err);
		if (r < 0)
			return r;
		if (r == PROCESS_GONE)
			continue;
		if (count == size) {
			size = size ? size * 2 : 256;
			rows = xreallocarray(rows, size, sizeof(*rows));
		}
		rows[count++] = row;
	}
	*ret = TAKE_PTR(rows);
	*ret_count = count;
	return 0;
}

static int snapshot(const char *entry, struct process_row **ret, size_t *ret_count,
		    struct error *err)
{
	DIR *proc = opendir("/proc");
	if (!proc)
		return error_set_errno(err, errno, "open /proc");
	int r = read_rows(proc, entry, ret, ret_count, err);
	(void)closedir(proc);
	return r;
}

/* Where the kernel has no list of children (it needs CONFIG_PROC_CHILDREN). */
static size_t find_children(pid_t pid, pid_t *ret, size_t size)
{
	cleanup_free struct process_row *rows = NULL;
	size_t count = 0, found = 0;
	if (snapshot(NULL, &rows, &count, NULL) < 0)
		return 0;
	for (size_t i = 0; i < count && found < size; i++)
		if (rows[i].parent == pid)
			ret[found++] = rows[i].id.pid;
	return found;
}

size_t process_children(pid_t pid, pid_t *ret, size_t size)
{
	cleanup_strbuf struct strbuf list = { 0 };
	char name[32];
	size_t found = 0;
	(void)snprintf(name, sizeof(name), "task/%d/children", (int)pid);
	if (read_proc(pid, name, &list, NULL) != 0)
		return find_children(pid, ret, size);
	char *rest = list.data;
	for (const char *word; found < size && rest && (word = strsep(&rest, " "));)
		if (is_pid(word, &ret[found]))
			found++;
	return found;
}

int process_tree(const struct process_id *root, struct process_id **ret, size_t *ret_count,
		 struct error *err)
{
	cleanup_free struct process_row *rows = NULL;
	size_t count = 0, members = 0;
	if (snapshot(NULL, &rows, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		rows[i].member = process_same(&rows[i].id, root);
		members += rows[i].member;
	}
	/* Mark until nothing new is found: a child may come before its parent in /proc. */
	for (bool grew = members > 0; grew;) {
		grew = false;
		for (size_t i = 0; i < count; i++) {
			for (size_t j = 0; j < count && !rows[i].member; j++) {
				if (rows[j].member && rows[j].id.pid == rows[i].parent) {
					rows[i].member = grew = true;
					members++;
				}
			}
		}
	}
	struct process_id *tree = xcalloc(members, sizeof(*tree));
	size_t next = 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].member)
			tree[next++] = rows[i].id;
	*ret = tree;
	*ret_count = members;
	return 0;
}

int process_find_by_environment(const char *entry, struct process_id **ret, size_t *ret_count,
				struct error *err)
{
	cleanup_free struct process_row *rows = NULL;
	size_t count = 0;
	if (snapshot(entry, &rows, &count, err) < 0)
		return -1;
	struct process_id *ids = xcalloc(count, sizeof(*ids));
	for (size_t i = 0; i < count; i++)
		ids[i] = rows[i].id;
	*ret = ids;
	*ret_count = count;
	return 0;
}

int process_list_own(struct process_id **ret, size_t *ret_count, struct error *err)
{
	cleanup_free struct process_row *rows = NULL;
	size_t count = 0, found = 0;
	if (snapshot(NULL, &rows, &count, err) < 0)
		return -1;
	struct process_id *ids = xcalloc(count, sizeof(*ids));
	for (size_t i = 0; i < count; i++) {
		char path[64];
		struct stat st;
		snprintf(path, sizeof(path), "/proc/%d", (int)rows[i].id.pid);
		if (stat(path, &st) == 0 && st.st_uid == geteuid())
			ids[found++] = rows[i].id;
	}
	*ret = ids;
	*ret_count = found;
	return 0;
}

int process_inner_pid(pid_t pid, pid_t *ret, struct error *err)
{
	cleanup_strbuf struct strbuf status = { 0 };
	int r = read_proc(pid, "status", &status, err);
	if (r != 0)
		return r;
	const char *line = strstr(strbuf_text(&status), "\nNSpid:");
	const char *end = line ? strchr(line + 1, '\n') : NULL;
	while (end && end[-1] >= '0' && end[-1] <= '9')
		end--;
	const long inner = end ? strtol(end, NULL, 10) : 0;
	if (inner <= 0)
		return error_set(err, ERROR_SYSTEM, "/proc/%d/status has no NSpid (see proc(5))",
				 (int)pid);
	*ret = (pid_t)inner;
	return 0;
}

int process_parent(pid_t pid, pid_t *ret, struct error *err)
{
	struct stat_line line;
	int r = read_stat(pid, &line, err);
	if (r == 0)
		*ret = line.parent;
	return r;
}

int process_listening(const char *path, struct process_id *ret, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t length = sizeof(peer);
	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(err, ERROR_INVALID, "%s: too long for a socket", path);
	memcpy(address.sun_path, path, strlen(path));
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const bool is_open = fd >= 0 &&
			     connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
	if (fd >= 0 && !is_open && (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR))
		return PROCESS_GONE;
	if (!is_open || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return error_set_errno(err, errno, "connect to %s", path);
	if (peer.uid != geteuid())
		return error_set(err, ERROR_INVALID, "%s belongs to user %u", path,
				 (unsigned)peer.uid);
	return process_identify(peer.pid, ret, err);
}

bool process_peer_is_ours(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

size_t process_ancestors(pid_t pid, struct process_id *ret, size_t size)
{
	struct stat_line line, parent, again;
	size_t count = 0;
	int r = read_stat(pid, &line, NULL);
	while (r == 0 && count < size && line.parent > 0) {
		/* A child that still has the same parent had it all the time: no other process got
		 * that pid. */
		r = read_stat(line.parent, &parent, NULL);
		if (r != 0 || read_stat(pid, &again, NULL) != 0 || again.start != line.start ||
		    again.parent != line.parent)
			break;
		ret[count++] = (struct process_id){ .pid = line.parent, .start = parent.start };
		pid = line.parent;
		line = parent;
	}
	return count;
}

static int read_link(pid_t pid, const char *name, char **ret, struct error *err)
{
	char path[64], target[PATH_MAX + sizeof(" (deleted)")];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	if (length < 0 && (errno == ENOENT || errno == ESRCH))
		return PROCESS_GONE;
	if (length < 0)
		return error_set_errno(err, errno, "read %s", path);
	*ret = xstrndup(target, (size_t)length);
	return 0;
}

/* A directory may end like that by its own name. */
static bool is_deleted(pid_t pid, const char *directory)
{
	char path[64];
	struct stat own, named;
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	return ends_with(directory, " (deleted)") &&
	       !(stat(path, &own) == 0 && stat(directory, &named) == 0 &&
		 own.st_dev == named.st_dev && own.st_ino == named.st_ino);
}

int process_directory(pid_t pid, char **ret, struct error *err)
{
	cleanup_free char *path = NULL;
	int r = read_link(pid, "cwd", &path, err);
	if (r == 0 && is_deleted(pid, path))
		return PROCESS_GONE;
	if (r == 0)
		*ret = TAKE_PTR(path);
	return r;
}

int process_terminal(pid_t pid, char **ret, struct error *err)
{
	cleanup_free char *path = NULL;
	struct process_id id;
	int r = read_link(pid, "fd/0", &path, err);
	/* A process without a descriptor 0 still exists. */
	if (r == PROCESS_GONE && process_identify(pid, &id, NULL) == 0)
		r = 0;
	if (r != 0)
		return r;
	bool is_terminal = path &&
			   (starts_with(path, "/dev/pts/") || starts_with(path, "/dev/tty"));
	*ret = is_terminal ? TAKE_PTR(path) : NULL;
	return 0;
}

int process_variable(pid_t pid, const char *name, char **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	size_t length = strlen(name);
	char *value = NULL;
	int r = read_proc(pid, "environ", &text, err);
	if (r != 0)
		return r;
	for (size_t i = 0; i < text.length && !value; i += strlen(text.data + i) + 1)
		if (starts_with(text.data + i, name) && text.data[i + length] == '=')
			value = xstrdup(text.data + i + length + 1);
	*ret = value;
	return 0;
}

/* The strings of a file of /proc, one after the other. */
static int read_strings(pid_t pid, const char *file, struct strvec *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct strvec strings = { 0 };
	int r = read_proc(pid, file, &text, err);
	if (r != 0)
		return r;
	for (size_t i = 0; i < text.length; i += strlen(text.data + i) + 1)
		strvec_push(&strings, text.data + i);
	strvec_clear(ret);
	*ret = strings;
	return 0;
}

int process_environment(pid_t pid, struct strvec *ret, struct error *err)
{
	return read_strings(pid, "environ", ret, err);
}

int process_cgroup(pid_t pid, char **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int r = read_proc(pid, "cgroup", &text, err);
	if (r != 0)
		return r;
	char *rest = text.data;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		if (starts_with(line, "0::")) {
			*ret = xstrdup(line + 3);
			return 0;
		}
	}
	return error_set(err, ERROR_SYSTEM, "process %d is not in a control group of cgroup v2",
			 (int)pid);
}

int process_argv(pid_t pid, struct strvec *ret, struct error *err)
{
	return read_strings(pid, "cmdline", ret, err);
}

bool process_same_boot(const char *boot_id)
{
	const char *now = process_boot_id();
	return boot_id && (!*boot_id || !*now || streq(boot_id, now));
}

const char *process_boot_id(void)
{
	static char id[64];
	cleanup_strbuf struct strbuf text = { 0 };
	if (!*id && fs_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64, &text, NULL) == 0)
		snprintf(id, sizeof(id), "%.*s", (int)strcspn(text.data, "\n"), text.data);
	return id;
}

static bool is_among(const struct process_id *id, const struct process_id *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (process_same(&ids[i], id))
			return true;
	return false;
}

/* The processes below root and those with the entry in their environment, each once. */
static int find_family(const struct process_id *root, const char *entry, struct process_id **ret,
		       size_t *ret_count)
{
	cleanup_free struct process_id *below = NULL, *marked = NULL;
	size_t count = 0, more = 0;
	if ((root && process_tree(root, &below, &count, NULL) < 0) ||
	    process_find_by_environment(entry, &marked, &more, NULL) < 0)
		return -1;
	below = xreallocarray(below, count + more + 1, sizeof(*below));
	for (size_t i = 0; i < more; i++)
		if (!is_among(&marked[i], below, count))
			below[count++] = marked[i];
	*ret = TAKE_PTR(below);
	*ret_count = count;
	return 0;
}

/* Returns how many there were; the last one, if any, is *ret. */
static size_t signal_family(const struct process_id *root, const char *entry, int number,
			    struct process_id *ret)
{
	cleanup_free struct process_id *family = NULL;
	size_t count = 0, left = 0;
	if (find_family(root, entry, &family, &count) < 0)
		return SIZE_MAX;
	for (size_t i = 0; i < count; i++) {
		if (family[i].pid == getpid() || (root && process_same(&family[i], root)))
			continue;
		left++;
		*ret = family[i];
		(void)process_signal(&family[i], number, NULL);
	}
	return left;
}

size_t process_end_all(const struct process_id *root, const char *entry, int64_t soft_ms,
		       int64_t deadline_ms, void (*on_round)(void))
{
	for (;;) {
		struct process_id last = { 0 };
		const int64_t now_ms = clock_ms();
		const int64_t round_ms = now_ms < soft_ms ? soft_ms : deadline_ms;
		const int64_t soon_ms = now_ms + ROUND_MS;
		if (on_round)
			on_round();
		const size_t left = signal_family(root, entry, now_ms < soft_ms ? SIGTERM : SIGKILL,
						  &last);
		if (left == 0 || now_ms >= deadline_ms)
			return left;
		const int64_t until_ms = round_ms < soon_ms ? round_ms : soon_ms;
		/* /proc could not be read: descriptors or memory may be free soon. */
		if (last.pid)
			(void)process_wait_end(&last, until_ms, NULL);
		else
			clock_pause_until(until_ms);
	}
}
