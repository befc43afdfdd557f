/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck-assess verdict|branch|record
 *
 * verdict: may the tree of the record on descriptor 0 be deleted, and if not, what would be lost?
 * The answer is one verdict as JSON on descriptor 1.  branch: the same of its branch alone, whose
 * tree may be gone.  record: the record on descriptor 0, completed with what the tree has now, on
 * descriptor 1.  docs/workspaces.md has both formats.
 *
 * A process of its own, because the tree may be hostile: it reads nothing but the tree and its
 * source repository, writes nothing, starts nothing, and ends soon.  Its caller
 * (driver/assess) takes everything but a verdict for "unsafe".  Exit status: 0 with an answer, 1
 * with a message, 64 for wrong arguments.
 */
#include "assess/assess.h"
#include "assess/open.h"
#include "assess/sandbox.h"
#include "assess/staged.h"
#include "base/clock.h"
#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { WINDOW = 32 << 20, MAPPED_MOST = 256 << 20, LATE_MS = LOOK_BUDGET_MS + 1000 };

static int set_up_git(struct error *err)
{
	static const char *const extensions[] = { "worktreeconfig" };
	static const int levels[] = { GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_GLOBAL,
				      GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_PROGRAMDATA };
	int r = git_libgit2_init();
	/* We compare the tree's owner ourselves.  No settings of the user or the system. */
	if (r >= 0)
		r = git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	if (r >= 0)
		r = git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, ARRAY_SIZE(extensions));
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(levels); i++)
		r = git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	/* A pack is mapped in parts, within the limit of memory. */
	if (r >= 0)
		r = git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, (size_t)WINDOW);
	if (r >= 0)
		r = git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, (size_t)MAPPED_MOST);
	return r < 0 ? error_set(err, ERROR_UNAVAILABLE, "libgit2 does not start") : 0;
}

/* ---- when libgit2 does not return ---- */

/* An object that was cut keeps libgit2 1.5 in a loop.  This answer is ready before, since a signal
 * handler can do no more than write it. */
static char *late_answer;
static volatile sig_atomic_t is_answered;

static void answer_late(int number UNUSED)
{
	if (is_answered)
		return;
	if (!late_answer)
		_exit(1);
	for (size_t done = 0, length = strlen(late_answer); done < length;) {
		ssize_t n = write(STDOUT_FILENO, late_answer + done, length - done);
		if (n <= 0)
			_exit(1);
		done += (size_t)n;
	}
	_exit(0);
}

/* The time is counted from now on. */
static int set_timer(struct error *err)
{
	const struct sigaction action = { .sa_handler = answer_late, .sa_flags = SA_RESTART };
	const struct itimerval timer = { .it_value.tv_sec = LATE_MS / 1000 };
	if (sigaction(SIGALRM, &action, NULL) < 0 || setitimer(ITIMER_REAL, &timer, NULL) < 0)
		return error_set_errno(err, errno, "cannot set a timer");
	return 0;
}

#define LATE "it takes too long to look at; git fsck says whether it is damaged"

static void prepare_late_answer(const struct confinement *confinement)
{
	struct verdict verdict = { .confinement = *confinement };
	verdict_unknown(&verdict, "", LATE);
	cleanup_json struct json_object *json = verdict_to_json(&verdict);
	late_answer = xstrdup(json_print(json));
	verdict_free(&verdict);
}

static void prepare_late_changes(void)
{
	cleanup_changes struct changes changes = { 0 };
	strvec_push(&changes.unknown, LATE);
	cleanup_json struct json_object *json = changes_to_json(&changes);
	late_answer = xstrdup(json_print(json));
}

/* Ask these remotes themselves, because the tree may contain forged claims about them.  A remote
 * that does not exist now has nothing. */
static void find_remotes_here(struct look *look)
{
	for (size_t i = 0; i < look->origin.remote_count; i++) {
		const char *address = look->origin.remotes[i].value;
		cleanup_free char *path = open_path_of(look->origin.path, address);
		char *common = NULL;
		if (path && open_common_of(path, &common, NULL) == 0)
			strvec_push_take(&look->remotes_here, common);
	}
}

/* No process may trace us or read our memory, and the environment is empty. */
static int set_up(struct look *look, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_strvec struct strvec readable = { 0 };
	if (clearenv() != 0)
		return error_set(err, ERROR_SYSTEM, "the environment cannot be cleared");
	if (fs_read_fd(STDIN_FILENO, "record", ORIGIN_JSON_MOST, &text, err) < 0 ||
	    origin_parse(strbuf_text(&text), text.length, &look->origin, err) < 0 ||
	    open_common_of(look->origin.source, &look->source_common, err) < 0 ||
	    open_settings(&look->settings, err) < 0 || sandbox_limit(err) < 0 || set_timer(err) < 0)
		return -1;
	find_remotes_here(look);
	strvec_push_all(&readable, &look->remotes_here);
	/* A tree that is gone still has its branch. */
	if (access(look->origin.path, F_OK) == 0 || errno != ENOENT)
		strvec_push(&readable, look->origin.path);
	strvec_push(&readable, look->origin.source);
	strvec_push(&readable, look->source_common);
	/* libgit2 starts in between: it would load the certificates of all authorities, and may
	 * need calls that are closed then. */
	if (sandbox_close_files(&readable, &look->verdict.confinement, err) < 0 ||
	    set_up_git(err) < 0)
		return -1;
	staged_start();
	return sandbox_close_calls(&look->verdict.confinement, err);
}

/* ---- the answer ---- */

static int print(struct json_object *json, struct error *err)
{
	const char *text = json_print(json);
	is_answered = 1;
	return fs_write_all(STDOUT_FILENO, text, strlen(text), "the answer", err);
}

static int answer_changes(struct look *look, bool has_diff, struct error *err)
{
	cleanup_changes struct changes changes = { 0 };
	cleanup_strbuf struct strbuf diff = { 0 };
	look->diff = has_diff ? &diff : NULL;
	prepare_late_changes();
	assess_changes(look, &changes);
	changes.diff = has_diff ? xstrdup(strbuf_text(&diff)) : NULL;
	cleanup_json struct json_object *json = changes_to_json(&changes);
	return print(json, err);
}

static int answer(const char *word, struct look *look, struct error *err)
{
	cleanup_json struct json_object *json = NULL;
	if (streq(word, "changes") || streq(word, "diff"))
		return answer_changes(look, streq(word, "diff"), err);
	if (!streq(word, "record")) {
		prepare_late_answer(&look->verdict.confinement);
		if (streq(word, "branch"))
			assess_branch(look);
		else
			assess_tree(look);
		json = verdict_to_json(&look->verdict);
		return print(json, err);
	}
	assess_origin(look);
	if (look->verdict.count)
		return error_set(err, ERROR_INVALID, "%s", look->verdict.findings[0].detail);
	json = origin_to_json(&look->origin);
	return print(json, err);
}

int main(int argc, char *argv[])
{
	static const char *const questions[] = { "verdict", "branch", "record",
						 "changes", "diff",   NULL };
	cleanup_error struct error err = { 0 };
	struct look look = { .deadline_ms = clock_ms() + LOOK_BUDGET_MS, .settings = -1 };
	bool is_known = false;
	for (size_t i = 0; argc == 2 && questions[i]; i++)
		is_known |= streq(argv[1], questions[i]);
	if (!is_known) {
		fprintf(stderr, "agentdeck-assess: part of agentdeck, not for people\n");
		return 64;
	}
	if (set_up(&look, &err) == 0 && answer(argv[1], &look, &err) == 0)
		_exit(0);
	fprintf(stderr, "agentdeck-assess: %s\n", err.message);
	_exit(1);
}
