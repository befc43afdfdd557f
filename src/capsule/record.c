/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/record.h"

#include "base/fsutil.h"
#include "capsule/endpoint.h"

#include <string.h>

enum { RECORD_MAX = 512 };

#define RUN_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

static const char *const reasons[] = { "agent", "stop" };

bool record_is_run(const char *run)
{
	const size_t length = strspn(run, RUN_CHARACTERS);
	return length > 0 && length <= FRAME_RUN_MAX && !run[length];
}

int record_write(int dirfd, const struct frame_status *status, struct error *err)
{
	cleanup_free char *text = xasprintf("{\"run\":\"%s\",\"attempt\":%u,\"by\":\"%s\","
					    "\"code\":%u,\"signal\":%u}\n",
					    status->attempt.run, status->attempt.number,
					    reasons[status->by_stop], status->code, status->signal);
	return fs_replace(dirfd, ENDPOINT_EXIT, text, strlen(text), FS_DURABLE, err);
}

/* We only read what record_write() wrote: the same members in the same order. */
static bool parse(const char *text, struct frame_status *ret)
{
	struct frame_status status = { .phase = FRAME_ENDED };
	unsigned code, signal_number;
	char by[8];
	int length = 0;
	_Static_assert(FRAME_RUN_MAX == 39, "the width below");
	if (sscanf(text,
		   "{\"run\":\"%39[" RUN_CHARACTERS "]\",\"attempt\":%u,\"by\":\"%7[a-z]\","
		   "\"code\":%u,\"signal\":%u}%n",
		   status.attempt.run, &status.attempt.number, by, &code, &signal_number,
		   &length) != 5 ||
	    !streq(text + length, "\n") || code > UINT8_MAX || signal_number > UINT8_MAX)
		return false;
	status.code = (uint8_t)code;
	status.signal = (uint8_t)signal_number;
	status.by_stop = streq(by, reasons[true]);
	if (!streq(by, reasons[status.by_stop]))
		return false;
	*ret = status;
	return true;
}

int record_read(int dirfd, struct frame_status *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int r = fs_read(dirfd, ENDPOINT_EXIT, RECORD_MAX, &text, err);
	if (r == 0 && !parse(strbuf_text(&text), ret))
		return error_set(err, ERROR_CORRUPT, "%s is not the record of an agent's end",
				 ENDPOINT_EXIT);
	return r;
}
