/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replaces http.c in a build --without-libcurl.
 */
#include "driver/engine/http-internal.h"

int http_open(const struct engine_address *address, struct http **ret UNUSED, struct error *err)
{
	return error_set(
		err, ERROR_UNAVAILABLE,
		"cannot speak to the container engine at %s: this agentdeck was built without libcurl",
		address->url);
}

void http_close(struct http *http UNUSED)
{
}

void http_answer_clear(struct http_answer *answer)
{
	*answer = (struct http_answer){ 0 };
}

int http_request(struct http *http UNUSED, const struct http_call *call UNUSED,
		 struct http_answer *ret UNUSED, struct error *err)
{
	return error_set(err, ERROR_UNAVAILABLE, "built without libcurl");
}
