/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/editor.h"

#include "base/argsplit.h"
#include "base/child.h"
#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DRAFT_NAME   "agentdeck-XXXXXX"
#define DRAFT_SUFFIX ".md"

int editor_argv(struct strvec *ret, struct error *err)
{
	static const char *const names[] = { "VISUAL", "EDITOR" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);
		if (is_empty(value))
			continue;
		if (argsplit(value, ret, err) < 0)
			return error_prefix(err, "%s", names[i]);
		if (ret->count)
			return 0;
	}
	strvec_push(ret, "editor");
	return 0;
}

int editor_run(const struct strvec *argv, struct error *err)
{
	const char *name = argv->items[0];
	int status = 0;
	/* The terminal's Ctrl-C is for the editor. */
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
	const int r = child_foreground((const char *const *)argv->items, NULL, NULL, &status, err);
	(void)signal(SIGINT, interrupt);
	(void)signal(SIGQUIT, quit);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE,
				 "there is no editor '%s': set VISUAL or EDITOR to one", name);
	if (r == 0 && status != 0)
		return error_set(err, ERROR_CHILD, "the editor '%s' ended with exit status %d",
				 name, status);
	return r;
}

static char *draft_path(void)
{
	const char *directory = getenv("TMPDIR");
	return path_join(is_empty(directory) ? "/tmp" : directory, DRAFT_NAME DRAFT_SUFFIX);
}

int editor_write(char **ret_path, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_free char *path = draft_path();
	struct stat st;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, ERROR_USAGE, "an editor needs a terminal");
	if (editor_argv(&argv, err) < 0)
		return -1;
	cleanup_close int fd = mkostemps(path, (int)strlen(DRAFT_SUFFIX), O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "make %s", path);
	strvec_push(&argv, path);
	const int r = editor_run(&argv, err);
	if (stat(path, &st) == 0 && st.st_size == 0) {
		(void)unlink(path);
		return r < 0 ? -1 : error_set(err, ERROR_INVALID, "the text is empty");
	}
	/* Nothing that the user has typed is lost. */
	if (r < 0)
		return error_prefix(err, "your text is in %s", path);
	*ret_path = TAKE_PTR(path);
	return 0;
}
