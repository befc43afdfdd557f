/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/filelimit.h"

#include <stddef.h>

void filelimit_raise(struct rlimit *ret_usual)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	*ret_usual = limit;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

const struct rlimit *filelimit_usual(const struct rlimit *usual)
{
	return usual->rlim_max ? usual : NULL;
}

void filelimit_restore(const struct rlimit *usual)
{
	if (usual->rlim_max)
		(void)setrlimit(RLIMIT_NOFILE, usual);
}
