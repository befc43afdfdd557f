/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of a test, by their paths; fs_replace() takes a name in an open directory.
 */
#pragma once

#include "unit/test.h"

#include "base/fsutil.h"

#include <fcntl.h>

static inline void write_path(const char *path, const void *data, size_t length)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, data, length, path, NULL), 0);
}
