/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/pty-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

int pty_open(struct pty *ret, struct error *err)
{
	struct pty pty = { .master = -1, .slave = -1, .size = { 80, 24 } };
	cleanup_close int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return error_set_errno(err, errno, "make a terminal");
	/* By descriptor: the image need not have the name. */
	cleanup_close int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 || tcgetattr(slave, &pty.plain) < 0)
		return error_set_errno(err, errno, "open the terminal's other end");
	pty.master = TAKE_FD(master);
	pty.slave = TAKE_FD(slave);
	*ret = pty;
	pty_resize(ret, &pty.size);
	return 0;
}

void pty_close(struct pty *pty)
{
	(void)close(pty->master);
	(void)close(pty->slave);
}

void pty_reset(struct pty *pty)
{
	(void)tcsetattr(pty->slave, TCSANOW, &pty->plain);
	(void)tcflush(pty->slave, TCIOFLUSH);
}

static void set_size(const struct pty *pty, const struct frame_size *size)
{
	const struct winsize window = { .ws_row = size->rows, .ws_col = size->columns };
	(void)ioctl(pty->master, TIOCSWINSZ, &window);
}

void pty_resize(struct pty *pty, const struct frame_size *size)
{
	if (size->columns == 0 || size->rows == 0)
		return;
	pty->size = *size;
	set_size(pty, size);
}

void pty_nudge(const struct pty *pty)
{
	struct frame_size other = pty->size;
	/* Rows, since fewer columns make programs wrap their lines again. */
	other.rows = other.rows > 1 ? (uint16_t)(other.rows - 1) : 2;
	set_size(pty, &other);
}
