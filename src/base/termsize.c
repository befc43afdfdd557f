/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/termsize.h"

#include "base/text.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_LEAST = 40, COLUMNS_MOST = 500, ROWS_LEAST = 12, ROWS_MOST = 200 };

bool termsize_is_usual(const struct termsize *size)
{
	return size->columns >= COLUMNS_LEAST && size->columns <= COLUMNS_MOST &&
	       size->rows >= ROWS_LEAST && size->rows <= ROWS_MOST;
}

struct termsize termsize_here(void)
{
	struct winsize size;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row)
			return (struct termsize){ size.ws_col, size.ws_row };
	return (struct termsize){ 0 };
}

char *termsize_here_text(void)
{
	const struct termsize size = termsize_here();
	return termsize_is_usual(&size) ? xasprintf("%ux%u", size.columns, size.rows) : NULL;
}

bool termsize_parse(const char *text, struct termsize *ret)
{
	cleanup_free char *columns = xstrndup(text, strcspn(text, "x"));
	const char *x = strchr(text, 'x');
	int64_t width, height;
	if (!x || !parse_int64(columns, COLUMNS_LEAST, COLUMNS_MOST, &width) ||
	    !parse_int64(x + 1, ROWS_LEAST, ROWS_MOST, &height))
		return false;
	*ret = (struct termsize){ (unsigned)width, (unsigned)height };
	return true;
}
