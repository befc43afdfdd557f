/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/look.h"

#include "base/clock.h"
#if __has_include(<git2/sys/errors.h>) /* newer versions of libgit2 have git_error_clear() there */
#include <git2/sys/errors.h>
#endif

bool look_is_over(struct look *look)
{
	if (!look->out_of_time && clock_ms() >= look->deadline_ms) {
		look->out_of_time = true;
		verdict_unknown(&look->verdict, "", "it takes too long to look at");
	}
	return look->out_of_time;
}

void look_failed(const struct repository *repository, const char *format, ...)
{
	const git_error *error = git_error_last();
	va_list args;
	va_start(args, format);
	cleanup_free char *what = xvasprintf(format, args);
	va_end(args);
	verdict_unknown(&repository->look->verdict, repository->where, "%s: %s", what,
			error && error->message ? error->message : "no reason given");
	git_error_clear();
}
