/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/report.h"

#include "base/clock.h"
#include "base/jsoncut.h"

#include <errno.h>
#include <poll.h>

int report_read(int fd, int64_t deadline_ms, struct strbuf *ret, struct error *err)
{
	cleanup_json_cut struct json_cut cut = { .string_max = REPORT_STRING_MAX };
	bool too_large = false;
	char chunk[16384];
	for (size_t total = 0; total <= REPORT_DRAIN_MAX;) {
		struct pollfd event = { .fd = fd, .events = POLLIN };
		int n = poll(&event, 1, clock_left_ms(deadline_ms));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(err, ERROR_TIMEOUT, "the report is incomplete");
		ssize_t length = read(fd, chunk, sizeof(chunk));
		if (length < 0)
			return error_set_errno(err, errno, "read the report");
		if (length == 0 && too_large)
			break;
		if (length == 0) {
			*ret = cut.text;
			cut.text = (struct strbuf){ 0 };
			return 0;
		}
		total += (size_t)length;
		if (!too_large)
			json_cut_add(&cut, chunk, (size_t)length);
		too_large = cut.text.length > REPORT_MAX;
	}
	return error_set(err, ERROR_CORRUPT,
			 "the report is too large: %d bytes without its long texts", REPORT_MAX);
}
