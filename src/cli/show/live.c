/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/live.h"

#include "base/crash.h"
#include "base/fsutil.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <termios.h>

/* Switch to the alternate screen, hide the cursor, cut lines instead of wrapping them; and the
 * reverse (console_codes(4)). */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

struct live {
	struct termios before;
	sigset_t mask_before;
	void (*resized)(void *context);
	void *context;
	bool is_over;
};

bool live_is_possible(void)
{
	const char *term = getenv("TERM");
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !is_empty(term) &&
	       !streq(term, "dumb");
}

static int write_text(const char *text, size_t length, struct error *err)
{
	return fs_write_all(STDOUT_FILENO, text, length, "the terminal", err);
}

/* Read keys one by one, without echo.  Ctrl-C and Ctrl-Z stay signals. */
static int enter(const struct live *live, struct error *err)
{
	struct termios keys = live->before;
	keys.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	crash_set_terminal(&live->before, LEAVE);
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &keys) < 0)
		return error_set_errno(err, errno, "set the terminal");
	return write_text(ENTER, strlen(ENTER), err);
}

static void leave(const struct live *live)
{
	(void)write_text(LEAVE, strlen(LEAVE), NULL);
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &live->before);
	crash_clear_terminal();
}

static struct winsize size(void)
{
	struct winsize now;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) < 0 || now.ws_row == 0 || now.ws_col == 0)
		return (struct winsize){ .ws_row = 24, .ws_col = 80 };
	return now;
}

size_t live_width(const struct live *live UNUSED)
{
	return size().ws_col;
}

int live_show(struct live *live UNUSED, const char *text, struct error *err)
{
	/* Go home, and clear the end of each line and all below it: so nothing flickers. */
	cleanup_strbuf struct strbuf page = { 0 };
	unsigned rows = size().ws_row;
	strbuf_adds(&page, "\033[H");
	for (unsigned row = 0; *text && row < rows; row++) {
		size_t length = strcspn(text, "\n");
		strbuf_addf(&page, "%s%.*s\033[K", row ? "\r\n" : "", (int)length, text);
		text += length + (text[length] == '\n');
	}
	strbuf_adds(&page, "\033[0m\033[J");
	return write_text(page.data, page.length, err);
}

bool live_is_over(const struct live *live)
{
	return live->is_over;
}

/* Restore the terminal, and let the signal end or stop us. */
static void obey(struct live *live, int number)
{
	sigset_t one;
	leave(live);
	(void)sigemptyset(&one);
	(void)sigaddset(&one, number);
	(void)raise(number);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	/* Back from Ctrl-Z. */
	(void)sigprocmask(SIG_BLOCK, &one, NULL);
	live->is_over = enter(live, NULL) < 0;
}

static void on_signal(int number, void *context)
{
	struct live *live = context;
	if (number == SIGINT)
		live->is_over = true;
	else if (number != SIGWINCH)
		obey(live, number);
	if (!live->is_over)
		live->resized(live->context);
}

static void on_keys(int fd, uint32_t events UNUSED, void *context)
{
	struct live *live = context;
	char typed[64];
	const ssize_t length = read(fd, typed, sizeof(typed));
	/* A terminal that is gone reads as the end of the input. */
	live->is_over |= length == 0 || (length < 0 && errno != EINTR) ||
			 (length > 0 && (memchr(typed, 'q', (size_t)length) ||
					 memchr(typed, 'Q', (size_t)length)));
}

static int watch(struct live *live, struct loop *loop, struct error *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH };
	struct loop_source *source;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (loop_add_signal(loop, signals[i], on_signal, live, &source, err) < 0)
			return -1;
	return loop_add_io(loop, &(struct loop_io){ STDIN_FILENO, EPOLLIN, on_keys, live }, &source,
			   err);
}

int live_open(struct loop *loop, void (*resized)(void *context), void *context, struct live **ret,
	      struct error *err)
{
	struct termios before;
	(void)fflush(stdout);
	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return error_set_errno(err, errno, "read the terminal's settings");
	cleanup_live struct live *live = xcalloc(1, sizeof(*live));
	*live = (struct live){ .before = before, .resized = resized, .context = context };
	(void)sigprocmask(SIG_BLOCK, NULL, &live->mask_before);
	if (watch(live, loop, err) < 0 || enter(live, err) < 0)
		return -1;
	*ret = TAKE_PTR(live);
	return 0;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	leave(live);
	(void)sigprocmask(SIG_SETMASK, &live->mask_before, NULL);
	free(live);
}
