/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/report.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>

/* JSON that comes in pieces, with its long strings cut: valid if the whole is.  A cut is made where
 * no escape and no character is torn. */
struct shortener {
	bool in_string, is_cut;
	bool after_backslash;
	int digits_left; /* of \uXXXX */
	size_t length;   /* of the present string */
};

/* Inside a string: does c belong to the character before it? */
static bool continues(struct shortener *shortener, unsigned char c)
{
	if (shortener->after_backslash) {
		shortener->after_backslash = false;
		shortener->digits_left = c == 'u' ? 4 : 0;
		return true;
	}
	if (shortener->digits_left > 0) {
		shortener->digits_left--;
		return true;
	}
	return (c & 0xc0) == 0x80;
}

static bool keeps(struct shortener *shortener, unsigned char c)
{
	if (!shortener->in_string) {
		*shortener = (struct shortener){ .in_string = c == '"' };
		return true;
	}
	if (!continues(shortener, c)) {
		if (c == '"') {
			shortener->in_string = false;
			return true;
		}
		shortener->after_backslash = c == '\\';
		shortener->is_cut = shortener->length >= REPORT_STRING_MAX;
	}
	shortener->length++;
	return !shortener->is_cut;
}

int report_read(int fd, int64_t deadline_ms, struct strbuf *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct shortener shortener = { 0 };
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
			*ret = text;
			text = (struct strbuf){ 0 };
			return 0;
		}
		total += (size_t)length;
		for (ssize_t i = 0; i < length && !too_large; i++) {
			if (!keeps(&shortener, (unsigned char)chunk[i]))
				continue;
			too_large = text.length == REPORT_MAX;
			if (!too_large)
				strbuf_add(&text, &chunk[i], 1);
		}
	}
	return error_set(err, ERROR_CORRUPT,
			 "the report is too large: %d bytes without its long texts", REPORT_MAX);
}
