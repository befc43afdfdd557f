/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view/window-internal.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>

void window_begin(struct window *ret)
{
	*ret = (struct window){ 0 };
	if (tcgetattr(STDIN_FILENO, &ret->before) < 0)
		return;
	struct termios raw = ret->before;
	cfmakeraw(&raw);
	ret->is_raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void window_end(const struct window *window)
{
	if (window->is_raw)
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &window->before);
}

struct frame_size window_size(void)
{
	struct winsize size = { 0 };
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) < 0 &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return (struct frame_size){ 0 };
	return (struct frame_size){ size.ws_col, size.ws_row };
}

void window_write(const void *data, size_t length)
{
	const char *next = data;
	while (length > 0) {
		ssize_t n = write(STDOUT_FILENO, next, length);
		if (n < 0 && errno == EAGAIN) {
			struct pollfd event = { .fd = STDOUT_FILENO, .events = POLLOUT };
			(void)poll(&event, 1, -1);
			continue;
		}
		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			next += n;
			length -= (size_t)n;
		}
	}
}
