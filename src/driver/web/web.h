/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sending to a web server, and following what it says.  The library (libcurl) is loaded with the
 * first call.  Only http and https, and no redirection: a request carries a secret.
 */
#pragma once

#include "base/error.h"

struct web_request {
	const char *url;
	const char *authorization; /* "Bearer ..."; NULL: none */
	const char *body;          /* JSON, which is posted; NULL: GET */
	int timeout_ms;            /* of all of it */
};

/* ERROR_UNAVAILABLE: there is no libcurl, or the server cannot be reached; ERROR_TIMEOUT;
 * ERROR_CHILD: the server refuses, with its status.  No message has more of the URL than its host,
 * since the rest may be a secret. */
int web_post(const struct web_request *request, struct error *err);

/* Hand each line of the answer to the handler, until the server ends or the time is over, which is
 * no failure once it has said something.  Longer lines than WEB_LINE_MAX are left out. */
enum { WEB_LINE_MAX = 1 << 16 };
typedef void (*web_handler)(const char *line, void *context);
int web_follow(const struct web_request *request, web_handler handler, void *context,
	       struct error *err);
