/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/pager.h"

#include "base/argsplit.h"
#include "base/child.h"
#include "base/fsutil.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int pager_argv(struct strvec *ret, struct error *err)
{
	const char *value = getenv("PAGER");
	if (!is_empty(value) && argsplit(value, ret, err) < 0)
		return error_prefix(err, "PAGER");
	/* Short texts stay on the screen. */
	if (!ret->count)
		strvec_push_array(ret, (const char *const[]){ "less", "-FX", NULL });
	return 0;
}

/* The pager reads it as standard input, and its keys from the terminal. */
static int put_before_us(const char *text, struct error *err)
{
	cleanup_close int fd = memfd_create("agentdeck-text", MFD_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "make a file in memory");
	if (fs_write_all(fd, text, strlen(text), "the text", err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0)
		return error_set_errno(err, errno, "give the text to the pager");
	return 0;
}

int pager_show(const char *text, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	int status = 0;
	if (!isatty(STDOUT_FILENO)) {
		(void)fputs(text, stdout);
		return 0;
	}
	if (pager_argv(&argv, err) < 0 || put_before_us(text, err) < 0)
		return -1;
	(void)fflush(stdout);
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	const int r = child_foreground((const char *const *)strvec_argv(&argv), NULL, NULL, &status,
				       err);
	(void)signal(SIGINT, interrupt);
	if (r == CHILD_NOT_INSTALLED)
		(void)fputs(text, stdout);
	return r < 0 ? -1 : 0;
}
