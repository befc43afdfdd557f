/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A scratch directory for each test of a program, and an end for a test that hangs.
 */
#pragma once

#include "unit/test.h"

#include "base/fsutil.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { HUNG_S = 60 };

static char scratch[] = "/tmp/agentdeck-test-XXXXXX";
static int here = -1;

static int set_up(void **state UNUSED)
{
	memcpy(scratch + sizeof(scratch) - 7, "XXXXXX", 6);
	if (!mkdtemp(scratch))
		return -1;
	here = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	alarm(HUNG_S);
	return here < 0 ? -1 : 0;
}

static int tear_down(void **state UNUSED)
{
	alarm(0);
	(void)close(here);
	return fs_remove_tree(AT_FDCWD, scratch, NULL);
}

static UNUSED void put(const char *name, const char *text)
{
	assert_int_equal(fs_replace(here, name, text, strlen(text), FS_VOLATILE, NULL), 0);
}

static UNUSED char *get(const char *name)
{
	struct strbuf text = { 0 };
	assert_int_equal(fs_read(here, name, 1 << 20, &text, NULL), 0);
	return strbuf_take(&text);
}
