/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replaces web.c in a build --without-libcurl.
 */
#include "driver/web/web.h"

static int refuse(struct error *err)
{
	return error_set(err, ERROR_UNAVAILABLE, "this agentdeck was built without libcurl");
}

int web_post(const struct web_request *request UNUSED, struct error *err)
{
	return refuse(err);
}

int web_follow(const struct web_request *request UNUSED, web_handler handler UNUSED,
	       void *context UNUSED, struct error *err)
{
	return refuse(err);
}
