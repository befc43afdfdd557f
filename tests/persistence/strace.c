/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/strace.h"

#include <string.h>

enum { KILLED = 128 + 9 };

/* The calls that reach the kernel, the disk, the manager, the bus, the tmux server or the user.
 * "?": not on every machine. */
static const char *const calls[] = {
	"clone",     "?clone3",
	"?fork",     "?vfork",
	"connect",   "sendmsg",
	"sendto",    "write",
	"writev",    "pwrite64",
	"pwritev",   "fsync",
	"fdatasync", "?renameat",
	"renameat2", "?rename",
	"openat",    "?mkdir",
	"mkdirat",   "unlinkat",
	"?unlink",   "?rmdir",
	"linkat",    "symlinkat",
	"ftruncate", "fchmod",
	"fchmodat",  "utimensat",
	"fallocate", "copy_file_range",
	"sendfile",  "kill",
	"tgkill",    "pidfd_send_signal",
	"fcntl",
};

void strace_required(void)
{
	if (machine_user(WORDS("strace", "-V")).status != 0)
		skip_test("strace is not installed");
}

const char *strace_output(void)
{
	return at_home("trace");
}

/* With a shell in between: the way into the machine would not distinguish a command's death from
 * its own. */
const char *const *strace_argv(const char *const *words, const char *trace, const char *inject)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("sh", "-c", "\"$@\"; exit $?", "sh", "strace", "-qq", "-y",
				      "-o", strace_output(), "-e", trace));
	if (inject)
		strvec_push_array(argv, WORDS("-e", inject));
	strvec_push_array(argv, words);
	return (const char *const *)argv->items;
}

/* These changed nothing: a failed call, a file that was only opened, and fcntl(2) except for a
 * lock. */
static bool changed_something(const char *line)
{
	return !strstr(line, " = -1 ") &&
	       (!starts_with(line, "openat(") || strstr(line, "O_CREAT")) &&
	       (!starts_with(line, "fcntl(") || strstr(line, "F_OFD_SETLK"));
}

static struct points read_trace(const char *text)
{
	struct points all = { 0 };
	for (const char *line = text, *next; *line; line = next) {
		size_t length = strcspn(line, "\n"), name = strcspn(line, "(\n");
		next = line + length + (line[length] == '\n');
		if (line[name] != '(' || strchr("+-", *line))
			continue;
		struct point point = { .call = kept("%.*s", (int)name, line),
				       .line = kept("%.*s", (int)length, line),
				       .ordinal = 1 };
		for (const char *l = text; l < line; l = strchr(l, '\n') + 1)
			point.ordinal += starts_with(l, point.call) && l[name] == '(';
		ASSERT(all.count < POINTS_MAX, "the command does not come to an end");
		if (changed_something(point.line))
			all.points[all.count++] = point;
	}
	return all;
}

struct points strace_watch(const char *const *words)
{
	struct strbuf names = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		strbuf_addf(&names, "%s%s", i ? "," : "trace=", calls[i]);
	struct answer answer = machine_user(strace_argv(words, keep(strbuf_take(&names)), NULL));
	ASSERT(answer.status == 0, "under strace: %s%s", answer.errors, answer.output);
	return read_trace(or_empty(machine_read(strace_output())));
}

struct points strace_sample(const struct points *all, size_t most)
{
	struct points some = { 0 };
	for (size_t i = 0; i < all->count; i++) {
		const struct point *point = &all->points[i];
		size_t before = 0, total = 0;
		for (size_t k = 0; k < all->count; k++)
			if (streq(all->points[k].call, point->call)) {
				before += k < i;
				total++;
			}
		/* Divide all into "most" equal parts, and take the first one of each. */
		bool taken = total <= most || before == total - 1 ||
			     (before * (most - 1)) % (total - 1) < most - 1;
		if (taken)
			some.points[some.count++] = *point;
	}
	return some;
}

static struct answer run_injected(const char *const *words, const struct point *point,
				  const char *what)
{
	const char *trace = kept("trace=%s", point->call);
	const char *inject = kept("inject=%s:%s:when=%u", point->call, what, point->ordinal);
	return machine_user(strace_argv(words, trace, inject));
}

bool strace_kill(const char *const *words, const struct point *point, const char *where)
{
	struct answer answer = run_injected(words, point, "signal=KILL");
	ASSERT(answer.status == 0 || answer.status == KILLED, "%s: it ended with %d: %s", where,
	       answer.status, answer.errors);
	return answer.status == KILLED;
}

struct answer strace_fail(const char *const *words, const struct point *point, const char *error,
			  const char **ret_line)
{
	struct answer answer = run_injected(words, point, kept("error=%s", error));
	const char *text = or_empty(machine_read(strace_output()));
	const char *line = strstr(text, "(INJECTED)");
	while (line && line > text && line[-1] != '\n')
		line--;
	*ret_line = line ? kept("%.*s", (int)strcspn(line, "\n"), line) : NULL;
	return answer;
}
