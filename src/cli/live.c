/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/live.h"

#include "base/clock.h"
#include "base/fsutil.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>

/* The alternate screen, no cursor, and lines that are cut and not wrapped; and the reverse (console_codes(4)). */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

struct live {
	struct termios before;
	sigset_t mask_before;
	int signals;
};

bool live_is_possible(void)
{
	const char *term = getenv("TERM");
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !is_empty(term) && !streq(term, "dumb");
}

static int write_text(const char *text, size_t length, struct error *err)
{
	return fs_write_all(STDOUT_FILENO, text, length, "the terminal", err);
}

/* Keys come one by one and unseen; Ctrl-C and Ctrl-Z stay signals. */
static int enter(const struct live *live, struct error *err)
{
	struct termios keys = live->before;
	keys.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &keys) < 0)
		return error_set_errno(err, errno, "set the terminal");
	return write_text(ENTER, strlen(ENTER), err);
}

static void leave(const struct live *live)
{
	(void)write_text(LEAVE, strlen(LEAVE), NULL);
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &live->before);
}

int live_open(struct live **ret, struct error *err)
{
	sigset_t signals;
	struct live *live = xcalloc(1, sizeof(*live));
	(void)fflush(stdout);
	if (tcgetattr(STDIN_FILENO, &live->before) < 0) {
		free(live);
		return error_set_errno(err, errno, "read the terminal's settings");
	}
	(void)sigemptyset(&signals);
	for (const int *number = (const int[]){ SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, 0 };
	     *number; number++)
		(void)sigaddset(&signals, *number);
	(void)sigprocmask(SIG_BLOCK, &signals, &live->mask_before);
	live->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (live->signals < 0 || enter(live, err) < 0) {
		int r = live->signals < 0 ? error_set_errno(err, errno, "wait for signals") : -1;
		live_close(live);
		return r;
	}
	*ret = live;
	return 0;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	leave(live);
	if (live->signals >= 0)
		(void)close(live->signals);
	(void)sigprocmask(SIG_SETMASK, &live->mask_before, NULL);
	free(live);
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
	/* Home, each line with what is behind it cleared, then all below: nothing flickers. */
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

/* Only from live_wait(): the signal that would have ended or stopped us does so, with the terminal as it was. */
static int obey(struct live *live, int number, struct error *err)
{
	sigset_t one;
	if (number == SIGWINCH)
		return LIVE_RESIZED;
	if (number == SIGINT)
		return LIVE_ENDED;
	leave(live);
	(void)sigemptyset(&one);
	(void)sigaddset(&one, number);
	(void)raise(number);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	/* Back from Ctrl-Z. */
	(void)sigprocmask(SIG_BLOCK, &one, NULL);
	return enter(live, err) < 0 ? -1 : LIVE_RESIZED;
}

static int read_keys(void)
{
	char typed[64];
	ssize_t length = read(STDIN_FILENO, typed, sizeof(typed));
	if (length < 0 && errno == EINTR)
		return LIVE_RESIZED;
	/* A terminal that is gone reads as its end. */
	return length <= 0 || memchr(typed, 'q', (size_t)length) || memchr(typed, 'Q', (size_t)length)
		       ? LIVE_ENDED
		       : LIVE_TIMEOUT;
}

int live_wait(struct live *live, int64_t deadline_ms, struct error *err)
{
	struct pollfd sources[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				    { .fd = live->signals, .events = POLLIN } };
	for (;;) {
		int n = poll(sources, ARRAY_SIZE(sources), clock_left_ms(deadline_ms));
		if (n < 0 && errno != EINTR)
			return error_set_errno(err, errno, "wait for the terminal");
		if (n == 0)
			return LIVE_TIMEOUT;
		struct signalfd_siginfo signal_info;
		if (n > 0 && sources[1].revents &&
		    read(live->signals, &signal_info, sizeof(signal_info)) == sizeof(signal_info))
			return obey(live, (int)signal_info.ssi_signo, err);
		if (n > 0 && sources[0].revents && read_keys() == LIVE_ENDED)
			return LIVE_ENDED;
	}
}
