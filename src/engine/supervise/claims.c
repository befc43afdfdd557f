/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/claims.h"

#include "base/clock.h"
#include "base/fsutil.h"

#include <string.h>

enum { LOCK_MS = 200, FILE_MAX = 1 << 20 };

/* A line is a time, a space, and a name.  Those that still count are added to *ret; true: name is
 * among them. */
static bool read_claims(char *text, const char *name, int64_t now_us, struct strbuf *ret)
{
	bool is_taken = false;
	char *rest = NULL;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *space = strchr(line, ' ');
		int64_t at_us;
		if (!space)
			continue;
		*space = '\0';
		if (!parse_int64(line, 0, INT64_MAX, &at_us) || at_us > now_us ||
		    now_us - at_us > (int64_t)CLAIMS_KEPT_MS * 1000)
			continue;
		strbuf_addf(ret, "%s %s\n", line, space + 1);
		is_taken |= streq(space + 1, name);
	}
	return is_taken;
}

bool claims_take(const struct deck *deck, const char *name)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_strbuf struct strbuf before = { 0 }, after = { 0 };
	cleanup_close int state = -1;
	const int64_t now_us = clock_wall_us();
	if (fs_open_private_directory(deck->paths.state, &state, NULL) < 0)
		return true;
	(void)fs_lock(state, CLAIMS_LOCK, clock_ms() + LOCK_MS, &lock, NULL);
	if (fs_read(state, CLAIMS, FILE_MAX, &before, NULL) == 0 && before.length &&
	    read_claims(before.data, name, now_us, &after))
		return false;
	strbuf_addf(&after, "%lld %s\n", (long long)now_us, name);
	(void)fs_replace(state, CLAIMS, after.data, after.length, FS_VOLATILE, NULL);
	return true;
}
